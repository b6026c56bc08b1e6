"""How high pips lie, by the second lens of a stereo camera."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from vision.calibration import Calibration
from vision.parameters import LIMITS
from vision.pip_heights import Pips, measure_height
from vision.reading import NO_HEIGHT, Height
from vision.taught import lattice
from vision.taught.heights import LIKENESS

LENS = Calibration((640, 480), 4.0, 300.0, (320.0, 240.0), 50.0, 16.0, compartment_mm=(30.0, 0.0))
RIGHT = replace(LENS, compartment_mm=(-30.0, 0.0))
STEREO = replace(LENS, right=RIGHT)
PIP_MM, SPACING_MM = 1.4, 4.2


def painted(
    lens: Calibration,
    value: int,
    above_mm: float = 0.0,
    tilt_deg: float = 0.0,
    first_mm: float = 0.0,
) -> np.ndarray:
    """A white die with dark pips, its top face a turned square that leans about its middle; the
    first pip is so far beside its place."""
    turn, lean = np.radians((20.0, tilt_deg))
    across = np.array([np.cos(turn), np.sin(turn), 0.0])
    along = np.array([-np.sin(turn) * np.cos(lean), np.cos(turn) * np.cos(lean), np.sin(lean)])
    middle = np.array([5.0, -8.0, 16.0 + above_mm])

    def on_face(places):
        return lens.to_px(np.array([middle + u * across + v * along for u, v in places]))

    image = np.full((480, 640, 3), (60, 90, 40), np.uint8)
    corners = on_face([(-8, -8), (8, -8), (8, 8), (-8, 8)])
    ring = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    shapes = [(corners, (235, 235, 235))]
    for number, (x, y) in enumerate(places_of(value)):
        beside = first_mm if number == 0 else 0.0
        places = np.c_[np.cos(ring), np.sin(ring)] * PIP_MM + np.array((x, y)) * SPACING_MM
        places[:, 0] += beside
        shapes.append((on_face(places), (30, 30, 30)))
    for outline, colour in shapes:
        points = np.round(outline * 16).astype(np.int32)
        cv2.fillPoly(image, [points], colour, cv2.LINE_AA, 4)
    return cv2.GaussianBlur(image, (3, 3), 0)


def pips(value: int | None, x_mm: float = 5.0, y_mm: float = -8.0) -> Pips | None:
    """Where the painted die's pips are, if it lies flat; None of a die that nobody reads."""
    if value is None:
        return None
    turn = np.radians(20.0)
    across, along = (np.cos(turn), np.sin(turn)), (-np.sin(turn), np.cos(turn))
    places = np.array(places_of(value)) @ np.array((across, along)) * SPACING_MM
    return Pips(places + np.array((x_mm, y_mm)), value, 2 * PIP_MM)


def places_of(value: int) -> list[tuple[float, float]]:
    """Of the first layout of a value, in spacings."""
    on = lattice.ON[list(lattice.VALUES).index(value)]
    return [(x, y) for x, y in lattice.PLACES[on]]


def height_of(value: int | None, *, right: int | None = None, **pose: float) -> Height:
    """What both lenses say of a die with this value; `right`: the second shows another."""
    shown = value or 3
    first, second = painted(STEREO, shown, **pose), painted(RIGHT, right or shown, **pose)
    return measure_height(first, second, pips(value), STEREO)


@pytest.mark.parametrize("value", range(1, 7))
@pytest.mark.parametrize("above_mm", [0.0, 0.75, 1.6])
def test_pips_are_found_at_their_height(value, above_mm):
    height = height_of(value, above_mm=above_mm)
    assert 16 * height.above == pytest.approx(above_mm, abs=0.15)
    assert height.least > 0.9


def test_one_pip_that_is_mistaken_does_not_raise_the_others():
    right = painted(RIGHT, 5, first_mm=0.35)
    height = measure_height(painted(STEREO, 5), right, pips(5), STEREO)
    assert 16 * height.above == pytest.approx(0.0, abs=0.15)
    assert height.slope > 0.05


def test_a_leaning_face_is_as_high_as_its_middle():
    assert 16 * height_of(4, above_mm=0.9, tilt_deg=7.0).above == pytest.approx(0.9, abs=0.2)


def test_a_pip_that_only_one_lens_shows_is_unlike():
    height = height_of(5, right=4)
    assert height.least < LIMITS.pip_alike < LIKENESS < height.likeness


@pytest.mark.parametrize("value", range(2, 7))
@pytest.mark.parametrize("tilt_deg", [0.0, 6.0, 9.0])
def test_a_leaning_face_rises_by_its_lean(value, tilt_deg):
    slope = np.degrees(np.arctan(height_of(value, tilt_deg=tilt_deg).slope))
    across = 1.0 if value > 3 else np.sin(np.pi / 4)  # these show their diagonal only
    assert slope == pytest.approx(tilt_deg * across, abs=1.5)


def test_an_ace_has_no_slope():
    assert height_of(1, tilt_deg=9.0).slope == 0.0


def test_what_is_farther_from_its_place_than_any_die_is_no_pip():
    assert height_of(4, above_mm=6.0).likeness == 0.0


def test_a_face_without_a_value_has_no_height():
    assert height_of(None) == NO_HEIGHT
