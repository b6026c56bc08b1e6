"""Persons confirm values in any order; the network's finding says which die has which."""

import numpy as np
import pytest

from vision.calibration import Calibration
from vision.findings import Findings
from vision.frame import Frame
from vision.networks.classifier import FoundDie
from vision.reading import Observation, Reason, Unreadable
from vision.table.confirmed import confirmed_toss

LENS = Calibration((4, 2), 4.0, 300.0, (2.0, 1.0), 40.0, 16.0)
WHOLE = Frame(np.arange(48, dtype=np.uint8).reshape(2, 8, 3))


def found(*likely):
    """What the network found, left to right: of each die the values that it holds likely."""
    dice = []
    for x, values in enumerate(likely):
        value_p = np.full(6, 0.01)
        for rank, value in enumerate(values):
            value_p[value - 1] = 0.6 / 2**rank
        corners = np.full((4, 2), float(x))
        dice.append(FoundDie(corners, values[0], value_p, 1.0, 1.0, np.zeros(2)))
    unread = Observation(0.0, None, (), Unreadable(Reason.DOUBTFUL))
    return Findings(unread, tuple(dice), None)


@pytest.mark.parametrize(
    ("likely", "said", "each"),
    [
        ([(6,), (2,), (4,)], (2, 4, 6), (6, 2, 4)),
        ([(3, 5), (3,), (1,)], (1, 3, 5), (5, 3, 1)),
        ([(3,), (3,), (3,)], (3, 3, 4), None),
    ],
)
def test_what_persons_saw_is_given_to_the_dice_that_show_it(likely, said, each):
    toss = confirmed_toss(WHOLE, found(*likely), said, LENS)
    assert toss is not None
    assert sorted(toss.values) == sorted(said)
    assert each is None or toss.values == each


def test_a_toss_of_which_the_network_misses_a_die_teaches_nothing():
    assert confirmed_toss(WHOLE, found((6,), (2,)), (2, 4, 6), LENS) is None


def test_a_stereo_frame_gives_both_pictures():
    toss = confirmed_toss(WHOLE, found((6,), (2,), (4,)), (2, 4, 6), LENS)
    assert toss is not None
    assert toss.right is not None
    assert np.array_equal(np.hstack([toss.image, toss.right]), WHOLE.image)
