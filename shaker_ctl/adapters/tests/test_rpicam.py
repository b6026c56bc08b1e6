"""A CSI camera is as any other: frames, controls, silence, and a name for what goes wrong.

`rpicam-vid` and libcamera exist on a Raspberry Pi only: the program of `rpicam_vid.py` stands in.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from shaker_ctl.adapters.camera.grabber import Grabber
from shaker_ctl.adapters.camera.rpicam_capture import RpicamCapture
from shaker_ctl.adapters.camera.source import make_opener
from shaker_ctl.errors import CameraError
from shaker_ctl.reading.controls import Controls
from shaker_ctl.reading.parameters import CameraParameters

ASKED = Controls(exposure_ms=8.0, gain=2.0, colour_gains=(1.5, 2.5), focus=3.4)
LEVELS = range(10, 250, 8)
"""Grey of each picture in turn: it tells which one is seen."""


class Camera:
    """The camera that the program finds, and captures of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._opened: list[RpicamCapture] = []
        self.said: list[list[str]] = []
        self.is_(cameras=1)

    def is_(self, **values: Any) -> None:
        usual = {"cameras": 1, "said": {}, "silent_after": -1, "dies_after": -1}
        (self._folder / "camera.json").write_text(json.dumps({**usual, **values}))

    @property
    def asked(self) -> dict[str, Any]:
        return dict(json.loads((self._folder / "asked.json").read_text()))

    def opener(self, controls: Controls = ASKED, device: str = "csi:0") -> Callable[[], Any]:
        p = CameraParameters(device=device, open_timeout_s=5.0, silent_after_s=0.5)
        setup = replace(p.setup(), controls=controls)
        return make_opener(setup, (64, 48), self.said.append)

    def open(self, controls: Controls = ASKED) -> RpicamCapture:
        capture = self.opener(controls)()
        assert isinstance(capture, RpicamCapture)
        self._opened.append(capture)
        return capture

    def close(self) -> None:
        for capture in self._opened:
            capture.release()


@pytest.fixture
def csi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Camera]:
    program = tmp_path / "rpicam-vid"
    shutil.copyfile(Path(__file__).with_name("rpicam_vid.py"), program)
    program.chmod(0o755)
    for number, level in enumerate(LEVELS):
        cv2.imwrite(str(tmp_path / f"{number:02}.jpg"), np.full((48, 64, 3), level, np.uint8))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    camera = Camera(tmp_path)
    yield camera
    camera.close()


def picture(capture: RpicamCapture) -> int:
    """Which one the next picture is."""
    assert capture.grab()
    taken, file = capture.retrieve()
    assert taken
    assert file is not None
    shown = cv2.imdecode(file, cv2.IMREAD_COLOR)
    assert shown is not None
    assert shown.shape == (48, 64, 3)
    return round((int(shown[20, 20, 0]) - LEVELS.start) / LEVELS.step)


def test_a_csi_camera_gives_its_own_files_in_turn(csi: Camera) -> None:
    capture = csi.open()
    seen = [picture(capture) for _ in range(8)]
    assert seen == sorted(set(seen))


def test_what_waited_in_the_pipe_is_let_go_for_the_newest(csi: Camera) -> None:
    capture = csi.open()
    before = picture(capture)
    time.sleep(0.4)  # some twelve frames
    assert picture(capture) - before >= 6


def test_a_csi_camera_is_asked_for_controls_and_an_even_stream(csi: Camera) -> None:
    assert csi.open().grab()
    asked = csi.asked
    assert (asked["width"], asked["height"], asked["framerate"]) == (64, 48, 30.0)
    assert (asked["codec"], asked["output"], asked["timeout"]) == ("mjpeg", "-", 0)
    assert (asked["shutter"], asked["gain"], asked["awbgains"]) == (8000, 2.0, "1.5,2.5")
    assert (asked["autofocus_mode"], asked["lens_position"]) == ("manual", 3.4)


@pytest.mark.parametrize(
    ("said", "controls", "named"),
    [
        ({}, ASKED, []),
        ({"ExposureTime": 16_000}, ASKED, ["exposure is 16 ms and not 8 ms"]),
        ({"ColourGains": "[ 1.5, 4.0 ]"}, ASKED, ["blue gain is 4 and not 2.5"]),
        (
            {},
            Controls(exposure_ms=8.0, white_balance_k=4500.0),
            ["white balance 4500 K is not a control of this camera"],
        ),
    ],
)
def test_a_control_that_did_not_take_is_named_from_the_metadata(
    csi: Camera, said: dict[str, Any], controls: Controls, named: list[str]
) -> None:
    csi.is_(said=said)
    capture = csi.open(controls)
    for _ in range(12):
        assert capture.grab()
    assert csi.said == [named]


def test_what_is_left_automatic_is_said(csi: Camera) -> None:
    capture = csi.open(Controls())
    for _ in range(12):
        assert capture.grab()
    assert len(csi.said) == 1
    assert ["exposure" in csi.said[0][0], "white balance" in csi.said[0][1]] == [True, True]


def test_a_csi_camera_that_falls_silent_is_lost_and_opened_again(csi: Camera) -> None:
    csi.is_(silent_after=5)
    trouble: list[str | None] = []
    grabber = Grabber("csi:0", csi.opener(), frames_per_s=30.0, on_trouble=trouble.append)
    grabber.start()
    frame = grabber.next(6, 10.0)
    grabber.stop()
    assert frame is not None
    assert "the camera 'csi:0' stopped giving frames" in trouble
    assert None in trouble


@pytest.mark.parametrize(
    ("camera", "words"),
    [({"cameras": 0}, "no cameras available"), ({"dies_after": 0}, "failed to queue buffer")],
)
def test_a_program_that_ends_says_why(csi: Camera, camera: dict[str, int], words: str) -> None:
    csi.is_(**camera)
    with pytest.raises(CameraError, match=words):
        csi.open().grab()


def test_without_the_program_the_fault_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    p = CameraParameters(device="csi:0")
    with pytest.raises(CameraError, match="apt install rpicam-apps-lite"):
        make_opener(p.setup(), (64, 48), lambda _: None)()


def test_a_released_camera_leaves_no_process(csi: Camera) -> None:
    capture = csi.open()
    assert capture.grab()
    capture.release()
    assert capture._process.returncode is not None
    assert not capture.isOpened()
    assert not capture.grab()
