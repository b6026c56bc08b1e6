"""Exposure that moves by itself is told from one that is fixed, however fast or slowly it moves."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from shaker_ctl.doctor.camera import CONTROLS, Dimming, _exposure, calibration
from shaker_ctl.doctor.finding import Grade
from shaker_ctl.reading.messages import CameraFault
from shaker_ctl.reading.parameters import CameraParameters

FRAME_S = 1 / 25
DIMMED = 0.35


def looked(follows_s: float | None, room: float = 0.1) -> Dimming:
    """A camera whose gain follows the picture with this time constant, above a ring light in a room
    that gives this share of the light; None: its exposure is fixed."""
    gain, levels = 1.0, []
    for number in range(82):
        light = room + (1 - room) * (DIMMED if 7 <= number < 44 else 1.0)
        grain = 1.0 + 0.01 * math.sin(number * 2.4)
        levels.append(min(255.0, 90.0 * light * gain * grain))
        if follows_s is not None:
            gain += (1 - math.exp(-FRAME_S / follows_s)) * (1.0 / light - gain)
    return Dimming(levels[:7], levels[7:44], levels[44:])


def grades(seen: Dimming | None, *standing: CameraFault) -> list[Grade]:
    return [one.verdict for one in _exposure(list(standing), seen)]


@pytest.mark.parametrize("room", [0.0, 0.1, 0.5])
def test_a_fixed_exposure_is_all_right_in_every_room(room: float):
    seen = looked(None, room)
    assert seen.answers
    assert (seen.moved, grades(seen)) == ("", [Grade.OK])


@pytest.mark.parametrize("room", [0.1, 0.5])
@pytest.mark.parametrize("follows_s", [0.1, 0.4, 1.0, 4.0])
def test_exposure_that_follows_the_light_is_named(follows_s: float, room: float):
    seen = looked(follows_s, room)
    assert seen.answers
    (found,) = _exposure([], seen)
    assert found.verdict is Grade.FAIL
    assert "moves by itself" in found.text
    assert "[camera.controls]" in found.remedy


def test_what_the_camera_says_of_its_controls_is_believed_without_a_light():
    said = CameraFault(CONTROLS, "white balance is left automatic", "")
    assert grades(None, said) == [Grade.FAIL]


def test_nothing_is_said_where_the_light_does_not_answer():
    assert grades(None) == []
    dark = Dimming([90.0] * 7, [90.0] * 30, [90.0] * 30)
    assert not dark.answers
    assert grades(dark) == []


def test_both_lenses_of_a_stereo_camera_must_have_been_measured():
    measured = {"calibration": {"measured": "2026-11-21"}}
    one = CameraParameters.model_validate(measured)
    half = CameraParameters.model_validate(measured | {"second": {"fitted": True}})
    second = {"fitted": True, "measured": "2026-11-20"}
    both = CameraParameters.model_validate(measured | {"second": second})
    source = Path("/etc/shaker-ctl/settings.toml")
    found = [calibration(each, source) for each in (one, half, both)]
    assert [each.verdict for each in found] == [Grade.OK, Grade.WARN, Grade.OK]
    assert found[1].remedy.endswith("--raised 16")
    assert "2026-11-20" in found[2].text
