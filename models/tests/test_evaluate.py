"""The threshold that follows from counts, and the figures with it."""

from __future__ import annotations

from models.training.evaluate import SetTally, choose_score


def tally() -> SetTally:
    """Four dice of which three are found, one with another value; two things that are none."""
    found = [
        (0.9, True, True), (0.8, True, True), (0.5, True, False),
        (0.4, False, False), (0.2, False, False),
    ]  # fmt: skip
    return SetTally(images=2, dice=4, found=found)


def test_the_threshold_leaves_out_what_is_no_die_and_keeps_the_dice():
    assert 0.4 < choose_score([tally(), tally()]) <= 0.5
    assert choose_score([SetTally()]) == 0.15, "nothing found: everything may be looked at"


def test_the_figures_are_those_of_the_threshold():
    figures = {"images": 2, "dice": 4, "found": 3, "right": 2, "spurious": 1}
    assert tally().figures(0.4) == figures
    assert tally().figures(0.7) == figures | {"found": 2, "spurious": 0}
