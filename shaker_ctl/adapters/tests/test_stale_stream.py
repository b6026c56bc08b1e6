"""What was seen before the toss never says anything about the toss."""

from __future__ import annotations

import pytest

from shaker_ctl.reading.messages import Rested
from shaker_ctl.reading.tests.test_toss_session import AFTER, BEFORE, PERIOD_S, Table, tumbling
from vision.reading import Reason, Unreadable, Verified


@pytest.mark.parametrize("frames", [12, 40])
def test_a_stream_that_shows_the_dice_as_they_lay_disproves_no_toss(frames: int) -> None:
    """A late stream, in which the dip is not seen: the dice were tossed, and only it does not show.

    Wagers must not go back for it, and the shaker is not at fault.
    """
    table = Table(obeys=False)
    table.begin()
    table.read()
    finished = table.watch([BEFORE] * frames)
    assert not table.of(Rested)
    assert finished is not None
    assert isinstance(finished.verdict, Unreadable)
    assert finished.verdict.reason is Reason.NO_DIP
    assert not finished.unchanged
    assert finished.frame is not None  # what there was to see is kept with the decision


def test_dice_that_lie_otherwise_are_told_as_soon_as_the_dip_is_seen() -> None:
    table = Table()
    table.begin()
    table.session.read(1, table.now)
    finished = table.watch([*tumbling(2), *[AFTER] * 12])
    assert finished is not None
    assert isinstance(finished.verdict, Verified)
    assert finished.t_dip_seen is not None
    assert table.of(Rested)[0].is_proved is True
    assert finished.t_verdict - finished.t_dip_seen < 6 * PERIOD_S
