"""What cannot have been measured is refused with what to do, and never divided by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from vision.calibrating.calibrate import View, calibrate, least_squares
from vision.calibrating.target import Target
from vision.calibration import CalibrationError
from vision.tests.drawing import TABLE

BLANK = np.full((480, 640), 90, np.uint8)
CARD = Target(50.0)


@pytest.mark.parametrize("height_mm", [0.0, -300.0, float("nan"), float("inf")])
def test_a_lens_at_an_impossible_height_is_refused(height_mm: float) -> None:
    with pytest.raises(CalibrationError, match="height_mm"):
        calibrate([View(BLANK, 0.3)], CARD, replace(TABLE, height_mm=height_mm))


@pytest.mark.parametrize("raised_mm", [-1.0, 300.0, 1e6, float("nan"), float("inf")])
def test_a_card_that_does_not_lie_below_the_lens_is_refused(raised_mm: float) -> None:
    with pytest.raises(CalibrationError, match="does not lie between the floor and the lens"):
        calibrate([View(BLANK, 0.3), View(BLANK, raised_mm)], CARD, TABLE)


def test_measurements_that_determine_nothing_are_said() -> None:
    with pytest.raises(CalibrationError, match="do not determine"):
        least_squares(lambda x: np.zeros(2), np.zeros(3))
    with pytest.raises(CalibrationError, match="do not determine"):
        least_squares(lambda x: np.full(2, np.nan), np.zeros(3))


@pytest.mark.parametrize("spoiled", [False, True])
def test_corners_that_do_not_fit_are_too_few_for_a_camera_without_them(
    spoiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = np.array([(x, y) for x in range(-36, 37, 24) for y in range(-40, 41, 20)], float)[:18]
    px = TABLE.to_px(np.c_[places, np.full(len(places), 0.3)])
    if spoiled:
        px[[1, 7, 16]] += [(5.0, 0.0), (-5.0, 5.0), (0.0, -5.0)]
    monkeypatch.setattr("vision.calibrating.calibrate.find_corners", lambda *_: (places, px))
    view = View(np.zeros((*TABLE.image_size[::-1],), np.uint8), 0.3)
    if not spoiled:
        assert calibrate([view], CARD, TABLE).corners == 18
        return
    with pytest.raises(CalibrationError, match="only 15 corners fit one camera"):
        calibrate([view], CARD, TABLE)


@pytest.mark.parametrize("radius_mm", [float("nan"), float("inf"), 0.0, -5.0, 0.001, 14.9, 1e9])
def test_no_card_is_made_for_an_impossible_compartment(radius_mm: float) -> None:
    with pytest.raises(CalibrationError, match="15 to 300 mm"):
        Target(radius_mm)


@pytest.mark.parametrize("scale", [float("nan"), 0.0, -1.0, 100.0])
def test_no_card_was_printed_at_an_impossible_scale(scale: float) -> None:
    with pytest.raises(CalibrationError, match="times as large"):
        Target(50.0, scale)


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_card_too_large_to_be_drawn_finely_is_drawn_less_finely(
    times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fine = CARD.picture(8.0)
    monkeypatch.setattr("vision.calibrating.target._MAX_PX", len(fine) * times)
    coarse = CARD.picture(8.0)
    assert coarse.shape == fine.shape
    assert np.abs(coarse.astype(int) - fine).mean() < 8.0
