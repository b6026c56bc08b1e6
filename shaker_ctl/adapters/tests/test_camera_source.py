"""Controls are set, read back, and named where they did not take; a CSI camera is as any other.

picamera2 and libcamera exist on Raspberry Pi OS only: here a module of the same interface stands in
for them (`capture_request`, requests with `make_array`, `get_metadata` and `release`), as in
picamera2 0.3.38.
"""

from __future__ import annotations

import sys
import types
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import pytest

from shaker_ctl.adapters.camera.dice_camera import setup_of
from shaker_ctl.adapters.camera.grabber import Grabber
from shaker_ctl.adapters.camera.source import hold_still, make_opener
from shaker_ctl.reading.controls import Controls, compare
from shaker_ctl.reading.parameters import CameraParameters

ASKED = Controls(exposure_ms=8.0, gain=2.0, white_balance_k=4500.0, focus=30.0)


class V4l2:
    """A capture whose camera has these controls, and keeps to the steps that it knows."""

    def __init__(self, stubborn: dict[int, float] | None = None) -> None:
        self.values: dict[int, float] = {
            cv2.CAP_PROP_AUTO_EXPOSURE: 3,
            cv2.CAP_PROP_EXPOSURE: 156,
            cv2.CAP_PROP_GAIN: 0,
            cv2.CAP_PROP_AUTO_WB: 1,
            cv2.CAP_PROP_WB_TEMPERATURE: 4000,
            cv2.CAP_PROP_AUTOFOCUS: 1,
            cv2.CAP_PROP_FOCUS: 0,
        }
        self.stubborn = stubborn or {}
        self.values.update(self.stubborn)

    def set(self, number: int, value: float) -> bool:
        if number in self.values and number not in self.stubborn:
            self.values[number] = value
        return number in self.values

    def get(self, number: int) -> float:
        return self.values.get(number, -1.0)

    def isOpened(self) -> bool:  # noqa: N802
        return True

    def grab(self) -> bool:
        return True

    def retrieve(self) -> tuple[bool, Any]:
        return True, None

    def release(self) -> None: ...


def test_a_v4l2_camera_takes_what_it_is_asked_for() -> None:
    camera = V4l2()
    assert hold_still(camera, ASKED) == []
    assert camera.values[cv2.CAP_PROP_AUTO_EXPOSURE] == 1
    assert camera.values[cv2.CAP_PROP_EXPOSURE] == 80
    assert camera.values[cv2.CAP_PROP_AUTO_WB] == 0
    assert camera.values[cv2.CAP_PROP_FOCUS] == 30


def test_what_is_not_asked_for_is_left_alone_and_what_is_automatic_said() -> None:
    camera = V4l2()
    before = dict(camera.values)
    exposure, balance = hold_still(camera, Controls())
    assert "exposure is left automatic" in exposure
    assert "white balance is left automatic" in balance
    assert camera.values == before


@pytest.mark.parametrize("has", [0.0, -1.0])
def test_white_balance_that_is_fixed_or_no_control_is_not_called_automatic(has: float) -> None:
    camera = V4l2({cv2.CAP_PROP_AUTO_WB: has})
    assert hold_still(camera, Controls(exposure_ms=8.0)) == []


@pytest.mark.parametrize(
    ("stubborn", "named"),
    [
        ({cv2.CAP_PROP_EXPOSURE: 156.0}, "exposure is 15.6 ms and not 8 ms"),
        ({cv2.CAP_PROP_AUTO_EXPOSURE: 3.0}, "exposure is still automatic"),
        ({cv2.CAP_PROP_WB_TEMPERATURE: 6500.0}, "white balance is 6500 K and not 4500 K"),
        ({cv2.CAP_PROP_AUTO_WB: 1.0}, "white balance is still automatic"),
        ({cv2.CAP_PROP_FOCUS: -1.0}, "focus 30 is not a control of this camera"),
        ({cv2.CAP_PROP_GAIN: 0.0}, "gain is 0 and not 2"),
    ],
)
def test_a_control_that_did_not_take_is_named(stubborn: dict[int, float], named: str) -> None:
    assert named in hold_still(V4l2(stubborn), ASKED)


def test_a_step_of_the_camera_is_no_complaint() -> None:
    has = Controls(exposure_ms=8.3, gain=2.2, white_balance_k=4550.0, focus=30.0)
    assert compare(ASKED, has) == []
    assert compare(Controls(colour_gains=(2.0, 1.5)), Controls(colour_gains=(2.1, 1.6))) == []


# ── CSI ─────────────────────────────────────────────────────────────────────


class FakeRequest:
    def __init__(self, camera: FakePicamera2, number: int) -> None:
        self._camera, self._number = camera, number

    def make_array(self, name: str) -> np.ndarray:
        assert name == "main"
        width, height = self._camera.configuration["main"]["size"]
        return np.full((height, width, 3), self._number % 256, np.uint8)

    def get_metadata(self) -> dict[str, Any]:
        return {**self._camera.configuration["controls"], **self._camera.stubborn}

    def release(self) -> None:
        self._camera.out -= 1


class FakePicamera2:
    """The calls that the adapter makes, with picamera2's names, arguments and errors."""

    stubborn: dict[str, Any]
    silent_after: int
    made: list[FakePicamera2]

    def __init__(self, camera_num: int = 0) -> None:
        if camera_num != 0:
            raise IndexError("list index out of range")
        self.configuration: dict[str, Any] = {}
        self.out = self.frames = 0
        self.running = False
        self.made.append(self)

    def create_video_configuration(self, **keywords: Any) -> dict[str, Any]:
        return keywords

    def configure(self, configuration: dict[str, Any]) -> None:
        self.configuration = configuration

    def start(self) -> None:
        self.running = True

    def capture_request(self, wait: float | None = None) -> FakeRequest:
        if self.frames >= self.silent_after:
            raise TimeoutError
        assert self.out < self.configuration["buffer_count"], "a buffer was never given back"
        self.frames += 1
        self.out += 1
        return FakeRequest(self, self.frames)

    def stop(self) -> None:
        self.running = False

    def close(self) -> None: ...


@pytest.fixture
def csi(monkeypatch: pytest.MonkeyPatch) -> type[FakePicamera2]:
    module = types.ModuleType("picamera2")
    module.Picamera2 = FakePicamera2  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "picamera2", module)
    FakePicamera2.stubborn, FakePicamera2.silent_after, FakePicamera2.made = {}, 1 << 30, []
    return FakePicamera2


def open_csi(device: str, said: list[list[str]], controls: Controls = ASKED) -> Any:
    p = CameraParameters(device=device, open_timeout_s=1.0, silent_after_s=0.2)
    setup = replace(setup_of(p), controls=controls)
    return make_opener(setup, (64, 48), said.append)()


def test_a_csi_camera_gives_its_frames_and_gives_buffers_back(csi: type[FakePicamera2]) -> None:
    said: list[list[str]] = []
    capture = open_csi("csi:0", said)
    for number in range(1, 30):
        assert capture.grab()
        if number % 2:
            ok, image = capture.retrieve()
            assert ok
            assert image.shape == (48, 64, 3)
            assert image[0, 0, 0] == number
    capture.release()
    assert csi.made[0].out == 0
    assert not csi.made[0].running
    assert not capture.isOpened()


def test_a_csi_camera_is_configured_still_and_even(csi: type[FakePicamera2]) -> None:
    open_csi("csi:0", []).release()
    configuration = csi.made[0].configuration
    controls = configuration["controls"]
    assert configuration["main"] == {"size": (64, 48), "format": "RGB888"}
    assert configuration["queue"] is False
    assert controls["FrameDurationLimits"] == (33_333, 33_333)
    assert (controls["AeEnable"], controls["ExposureTime"]) == (False, 8000)
    assert (controls["AwbEnable"], controls["ColourTemperature"]) == (False, 4500)
    assert (controls["AfMode"], controls["LensPosition"]) == (0, 30.0)


def test_a_csi_control_that_did_not_take_is_named_from_the_frames(csi: type[FakePicamera2]) -> None:
    csi.stubborn = {"ExposureTime": 16_000}
    said: list[list[str]] = []
    capture = open_csi("csi:0", said)
    for _ in range(10):
        capture.grab()
    assert said == [["exposure is 16 ms and not 8 ms"]]
    capture.release()


def test_a_csi_camera_that_falls_silent_is_lost_and_opened_again(csi: type[FakePicamera2]) -> None:
    csi.silent_after = 5
    trouble: list[str | None] = []
    grabber = Grabber(
        "csi:0",
        lambda: open_csi("csi:0", []),
        frames_per_s=30.0,
        on_trouble=trouble.append,
    )
    grabber.start()
    frame = grabber.next(5, 5.0)
    grabber.stop()
    assert frame is not None
    assert any("stopped giving frames" in why for why in filter(None, trouble))
    assert len(csi.made) >= 2


def test_a_csi_camera_that_is_not_there_does_not_open(csi: type[FakePicamera2]) -> None:
    assert open_csi("csi:1", []) is None


def test_without_picamera2_the_log_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "picamera2", None)
    assert open_csi("csi:0", []) is None
    assert "apt install python3-picamera2" in caplog.text
