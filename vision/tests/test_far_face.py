"""Pips that shine through a clear die tell how it lies; through an opaque one nothing shines."""

import cv2
import numpy as np
import pytest

from vision.faces_by_pips.far_face import REFRACTION, costs
from vision.faces_by_pips.pieces import FACE_PX
from vision.faces_by_pips.pips import SPOTS, Face, read_face

LEANS = np.arange(-16.0, 17.0)
CLEAR, NEAR, FAR = (30, 25, 170), (235, 235, 240), (60, 55, 240)
SPACING = 0.26


def disc(patch: np.ndarray, x: float, y: float, colour: tuple[int, int, int]) -> None:
    at = (round((x + 0.5) * FACE_PX * 16 - 8), round((y + 0.5) * FACE_PX * 16 - 8))
    cv2.circle(patch, at, round(0.095 * FACE_PX * 16), colour, -1, cv2.LINE_AA, 4)


def face(value: int, lean_deg: tuple[float, float], far: tuple[int, int, int] = FAR) -> Face:
    """A face of a die that leans so, with its far pips where they then are."""
    patch = np.full((FACE_PX, FACE_PX, 3), CLEAR, np.uint8)
    x0, y0 = -np.radians(lean_deg) / REFRACTION
    for x, y in SPOTS[7 - value][0]:
        disc(patch, x0 + x * SPACING, y0 + y * SPACING, far)
    for x, y in SPOTS[value][0]:
        disc(patch, x * SPACING, y * SPACING, NEAR)
    return read_face(shot(patch, value))


def shot(patch: np.ndarray, seed: int) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(0, 2.0, patch.shape)
    soft = cv2.GaussianBlur(patch.astype(np.float32) + noise, (0, 0), 0.8)
    return np.clip(np.rint(soft), 0, 255).astype(np.uint8)


def found(value: int, lean_deg: tuple[float, float], far: tuple[int, int, int] = FAR) -> np.ndarray:
    seen = face(value, lean_deg, far)
    assert seen.value == value
    return costs(seen, np.zeros(2), 1.0, LEANS)


def says_flat(costs: np.ndarray) -> float:
    """How much better flat explains what shines through than any lean of 5.5° or more."""
    lean = np.hypot(LEANS[:, None], LEANS)
    return float(costs[lean >= 5.5].min() - costs[lean <= 1.5].min())


@pytest.mark.parametrize("value", [1, 2, 3, 4, 6])
def test_far_pips_in_their_place_speak_for_flat_and_beside_it_against(value):
    assert says_flat(found(value, (0.0, 0.0))) > 2.0
    for lean_deg in ((7.0, 0.0), (0.0, -7.0), (-9.0, 4.0), (12.0, 3.0)):
        assert says_flat(found(value, lean_deg)) < -2.0


def test_where_all_far_pips_are_in_sight_they_measure_the_lean():
    for lean_deg in ((0.0, 0.0), (6.0, 0.0), (0.0, -7.0)):
        seen = found(1, lean_deg)
        best = LEANS[np.argwhere(seen <= seen.min() + 0.5)].mean(axis=0)
        assert np.hypot(*(best - lean_deg)) < 2.0


@pytest.mark.parametrize("value", [1, 2, 3, 4, 5, 6])
def test_an_opaque_die_tells_nothing(value):
    assert not found(value, (0.0, 0.0), CLEAR).any()


@pytest.mark.parametrize("value", [2, 3, 4])
def test_light_over_half_an_opaque_die_tells_nothing(value):
    half = np.full((FACE_PX, FACE_PX, 3), CLEAR, np.uint8)
    half[:, : round(0.45 * FACE_PX)] = FAR
    for x, y in SPOTS[value][0]:
        disc(half, x * SPACING, y * SPACING, NEAR)
    seen = read_face(shot(half, value))
    assert seen.value == value
    assert not costs(seen, np.zeros(2), 1.0, LEANS).any()


def test_far_pips_that_the_near_ones_hide_tell_nothing_until_a_lean_shows_them():
    assert not found(5, (0.0, 0.0)).any()
    assert found(5, (0.0, 9.0))[16, 16] > 5.0


def test_a_face_without_a_value_tells_nothing():
    assert not costs(Face(None, 0.0, 40.0), np.zeros(2), 1.0, LEANS).any()
