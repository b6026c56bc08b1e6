"""Controls are set, read back, and named where they did not take."""

from __future__ import annotations

from typing import Any

import cv2
import pytest

from shaker_ctl.adapters.camera.source import hold_still
from shaker_ctl.reading.controls import Controls, compare

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
