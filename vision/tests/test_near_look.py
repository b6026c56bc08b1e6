"""What the close look at one die is shown: cut along its top face, an upright die drawn over it."""

import cv2
import numpy as np
import pytest

from vision.networks.near_look import CHANNELS, FACE, NearReader, Window, cut, windows
from vision.networks.windows import SIDE
from vision.tests.drawing import TABLE

DIE = TABLE.die_mm


def faces(place: tuple[float, float], turn: float) -> tuple[np.ndarray, np.ndarray]:
    """Top and bottom face, pixels, of an upright die of the table."""
    angle = turn + np.arange(4) * np.pi / 2
    ring = np.array(place) + DIE / np.sqrt(2) * np.c_[np.cos(angle), np.sin(angle)]
    return TABLE.to_px(np.c_[ring, np.full(4, DIE)]), TABLE.to_px(np.c_[ring, np.zeros(4)])


def inside(points: np.ndarray, seen: Window) -> np.ndarray:
    return points @ seen.matrix[:, :2].T + seen.matrix[:, 2]


def sorted_by_place(points: np.ndarray) -> np.ndarray:
    return np.array(sorted(points.round(6).tolist()))


@pytest.mark.parametrize("turn", [-0.6, 0.0, 0.3, 0.7])
@pytest.mark.parametrize("first", range(4))
def test_the_top_face_stands_upright_in_the_middle_whatever_its_first_corner(turn, first):
    top, _ = faces((12.0, -8.0), turn)
    (seen,) = windows([np.roll(top, first, axis=0)], TABLE)
    found = inside(top, seen)
    middle = (SIDE - 1) / 2
    assert np.allclose(found.mean(axis=0), middle, atol=1e-6)
    assert np.allclose(np.abs(found - middle), FACE / 2, atol=0.6)


@pytest.mark.parametrize("place", [(-25.0, 0.0), (25.0, 0.0), (0.0, 30.0), (15.0, -20.0)])
@pytest.mark.parametrize("size", [0.9, 1.0, 1.1])
def test_the_die_that_is_drawn_is_an_upright_one_at_that_place(place, size):
    top, bottom = faces(place, 0.4)
    middle = top.mean(axis=0)
    (seen,) = windows([(top - middle) * size + middle], TABLE)
    assert np.allclose(sorted_by_place(seen.top), sorted_by_place(inside(top, seen)), atol=0.1)
    assert np.allclose(
        sorted_by_place(seen.bottom), sorted_by_place(inside(bottom, seen)), atol=0.2
    )
    assert np.allclose(sorted_by_place(seen.upright[:4]), sorted_by_place(top), atol=0.2)


def test_what_is_shown_is_the_picture_and_both_drawings():
    top, _ = faces((20.0, 10.0), 0.2)
    image = np.random.default_rng(1).integers(0, 255, (*TABLE.image_size[::-1], 3)).astype(np.uint8)
    (seen,) = windows([top], TABLE)
    shown = cut(image, seen)
    assert shown.shape == (SIDE, SIDE, CHANNELS)
    assert shown.dtype == np.uint8
    face, outline = shown[..., 3] > 127, shown[..., 4] > 127
    assert face.sum() == pytest.approx(FACE**2, rel=0.12), "its border included"
    assert (outline & face).sum() == face.sum()
    # Beyond the top face are the side faces that the camera sees, and nothing else.
    whole = cv2.convexHull(np.concatenate([seen.top, seen.bottom]).astype(np.float32))
    sides = (cv2.contourArea(whole) - cv2.contourArea(seen.top.astype(np.float32))) / FACE**2
    assert sides > 0.03
    assert (outline & ~face).sum() / FACE**2 == pytest.approx(sides, abs=0.03)


def test_a_second_look_sees_the_same_without_streaks():
    top, _ = faces((20.0, 10.0), 0.2)
    plain = np.full((*TABLE.image_size[::-1], 3), 90, np.uint8)
    streaked = plain.copy()
    streaked[::12] = 200
    shown = []

    def tell(windows):
        shown.append(windows)
        return [np.zeros((len(windows), 3), np.float32)]

    reader = NearReader.__new__(NearReader)
    reader._tell = tell  # type: ignore[assignment]  # shows what it is asked
    reader.look(streaked, [top], TABLE)
    first, second = shown
    assert first[..., :3].max() > 150
    assert np.abs(second[..., :3].astype(int) - 90).max() < 10
    assert (second[0, ..., 3:] == first[0, ..., 3:].swapaxes(0, 1)).all()
