"""What the close look at one die is shown: cut along its top face, with the calibration's word."""

import numpy as np
import pytest

from vision import lie
from vision.tests.drawing import TABLE


def square(x: float, y: float, edge: float, turn: float) -> np.ndarray:
    c, s = np.cos(turn) * edge / 2, np.sin(turn) * edge / 2
    return np.array([(x - c + s, y - s - c), (x + c + s, y + s - c),
                     (x + c - s, y + s + c), (x - c - s, y - s + c)])  # fmt: skip


@pytest.mark.parametrize("turn", [-0.6, 0.0, 0.3, 0.7])
@pytest.mark.parametrize("first", range(4))
def test_the_top_face_stands_upright_in_the_middle_whatever_its_first_corner(turn, first):
    corners = np.roll(square(200.0, 150.0, 60.0, turn), first, axis=0)
    seen = lie.window(corners, TABLE)
    inside = corners @ seen.matrix[:, :2].T + seen.matrix[:, 2]
    near, far = (lie.SIDE - 1 - lie.FACE) / 2, (lie.SIDE - 1 + lie.FACE) / 2
    wanted = np.array([(near, near), (far, near), (far, far), (near, far)])
    assert np.allclose(inside, wanted, atol=1e-6)
    assert seen.edge_px == pytest.approx(60.0)


@pytest.mark.parametrize("place", [(-25.0, 0.0), (25.0, 0.0), (0.0, 30.0), (15.0, -20.0)])
def test_the_bottom_of_an_upright_die_appears_towards_the_middle_of_the_picture(place):
    die = TABLE.die_mm
    top = TABLE.to_px(np.array([(*place, die)]))[0]
    edge = die * TABLE.px_per_mm(die)
    seen = lie.window(square(float(top[0]), float(top[1]), edge, 0.0), TABLE)
    assert seen.place[2] == pytest.approx(1.0, abs=0.02)
    inward = np.array(TABLE.centre_px) - top
    down = seen.place[:2]
    assert 0.02 < float(np.hypot(*down)) < 0.4
    assert float(down @ inward) / float(np.hypot(*down) * np.hypot(*inward)) > 0.99
