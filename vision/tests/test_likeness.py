"""A speck or a highlight in the middle of a face is told from a pip and from plain face."""

import cv2
import numpy as np
import pytest

from vision.faces_by_pips.likeness import oddity
from vision.faces_by_pips.pieces import FACE_PX
from vision.faces_by_pips.pips import Face, read_face
from vision.tests.drawing import ASIAN, RED, WHITE, texture_of

LOOKS = {"white": WHITE, "red": RED, "asian": ASIAN}
PIP_PX = 0.2 * FACE_PX / 2
CORNERS = ((-1, -1), (1, -1), (-1, 1), (1, 1))
FIVE = 0.25 * np.array([*CORNERS, (0, 0)])
Y, X = np.mgrid[0:FACE_PX, 0:FACE_PX] - (FACE_PX - 1) / 2


def painted(ground, corner, middle) -> np.ndarray:
    """A face with four pips and a spot in the middle: (radius, width of its edge, colour) each."""
    patch = np.full((FACE_PX, FACE_PX, 3), ground, np.float32)
    for dx, dy in (*CORNERS, (0, 0)):
        radius, soft, colour = corner if dx else middle
        away = np.hypot(X - dx * 0.25 * FACE_PX, Y - dy * 0.25 * FACE_PX)
        cover = np.clip((radius - away) / soft + 0.5, 0, 1)[..., None]
        patch = patch * (1 - cover) + np.array(colour) * cover
    return patch


def lab_of(patch: np.ndarray) -> np.ndarray:
    return cv2.cvtColor((patch / 255).astype(np.float32), cv2.COLOR_BGR2Lab)


def face(name: str, value: int, spot: tuple[float, int, float] | None = None) -> Face:
    """A drawn face, with a spot of (radius in pips, grey, softness in pixels) on its middle."""
    patch = cv2.resize(texture_of(LOOKS[name], value), (FACE_PX, FACE_PX)).astype(np.float32)
    patch = np.asarray(cv2.GaussianBlur(patch, (0, 0), 0.8))
    if spot is not None:
        radius, grey, soft = spot
        cover = np.clip((radius * PIP_PX - np.hypot(X, Y)) / soft + 0.5, 0, 1)[..., None]
        patch = patch * (1 - cover) + grey * cover
    noise = np.random.default_rng(1).normal(0, 1.5, patch.shape)
    return read_face(np.clip(np.rint(patch + noise), 0, 255).astype(np.uint8))


@pytest.mark.parametrize("name", LOOKS)
@pytest.mark.parametrize("value", [1, 2, 3, 4, 5, 6])
def test_a_clean_face_has_nothing_odd(name, value):
    seen = face(name, value)
    assert (seen.value, seen.oddity) == (value, "")


@pytest.mark.parametrize("value", [2, 4])
@pytest.mark.parametrize("spot", [(0.8, 30, 1.0), (0.9, 90, 1.0), (1.0, 30, 6.0), (1.25, 28, 1.0)])
def test_a_dark_speck_between_pips_is_no_pip(value, spot):
    seen = face("white", value, spot)
    assert seen.value in (value, None) or "differs from the other pips" in seen.oddity


def test_the_paint_of_a_pip_is_told_though_the_face_of_a_clear_die_is_uneven():
    """The face is made so uneven that the first limit tells nothing."""
    pip = (PIP_PX, 1.0, 240)
    worn = painted((60, 140, 40), pip, (PIP_PX, 1.0, 215))
    assert "differs from the other pips" in oddity(lab_of(worn), FIVE, 0.2, 0.13)
    even = painted((60, 140, 40), pip, pip)
    assert oddity(lab_of(even), FIVE, 0.2, 0.13) == ""


@pytest.mark.parametrize(
    ("grey", "wider", "is_odd"),
    [(240, 1.0, False), (231, 1.0, False), (240, 1.03, False), (231, 1.03, True)],
)
def test_a_speck_of_nearly_a_pips_size_and_colour_is_told_by_both(grey, wider, is_odd):
    patch = painted((92, 22, 10), (PIP_PX, 1.0, 240), (PIP_PX * wider, 1.0, grey))
    soft = cv2.GaussianBlur(patch, (0, 0), 1.0).astype(np.uint8)
    lab = cv2.cvtColor(soft, cv2.COLOR_BGR2Lab).astype(np.float32)
    assert bool(oddity(lab, FIVE, 2 * PIP_PX / FACE_PX, 0.02)) == is_odd


@pytest.mark.parametrize("off", [0, 12])
def test_a_highlight_as_bright_as_the_face_is_told_by_its_hue(off):
    """An ivory face whose middle is grey of its own brightness."""
    grey = np.array((216, 224, 228)) * (12 - off) / 12 + 223 * off / 12
    patch = painted((216, 224, 228), (PIP_PX, 5, 30), (1.2 * PIP_PX, 5, grey))
    noise = np.random.default_rng(1).normal(0, 1.5, patch.shape)
    seen = read_face(np.clip(np.rint(patch + noise), 0, 255).astype(np.uint8))
    assert seen.value == 4
    assert bool(seen.oddity) == bool(off)


@pytest.mark.parametrize(("soft", "is_odd"), [(1.0, False), (5.0, True)])
def test_a_soft_speck_is_told_where_light_from_one_side_makes_all_pips_differ(soft, is_odd):
    patch = (
        painted(230, (PIP_PX, 1.0, 40), (PIP_PX, soft, 40)) * (0.8 + 0.4 * X / FACE_PX)[..., None]
    )
    seen = oddity(lab_of(patch), FIVE, 2 * PIP_PX / FACE_PX, 0.02)
    assert ("in shape" in seen) == is_odd


@pytest.mark.parametrize("value", [3, 5])
@pytest.mark.parametrize(
    "spot", [(1.1, 245, 1.0), (1.3, 215, 2.0), (1.5, 250, 5.0), (0.5, 250, 1.0)]
)
def test_a_highlight_on_a_pip_leaves_no_plain_face(value, spot):
    seen = face("white", value, spot)
    assert seen.value is None or seen.oddity
