"""Where the reader has read nothing it looks on, until wagers are settled."""

from __future__ import annotations

import pytest

from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.tests.playing import DEALER, FLOOR, TILTED, UNREADABLE, Playing
from shaker_ctl.rules.vocabulary import FaultKind, Notice, Source
from vision.reading import Verified

READ = Verified((6, 4, 6))
WRONG = (1, 1, 1)


def blocked(**settings: object) -> Playing:
    """A toss of 6 4 6 with a hand over the lens."""
    return Playing(**settings).open().awaiting_dealer(UNREADABLE)


def typed(t: Playing, values: tuple[int, int, int], times: int) -> Playing:
    return t.do(*times * [ev.ValuesEntered(DEALER, 1, values)])


def lit_by_eye(values: tuple[int, int, int] = WRONG) -> Playing:
    t = typed(blocked(), values, 2)
    return t.do(ev.LampsShown(t.state.occasion, values))


def ended(t: Playing) -> do.RecordRound:
    """The round's record, once wagers are settled and the lamps dark."""
    t.do(ev.WagersSettled(DEALER, 1))
    if t.phase is Phase.SETTLED_LIT:
        t.do(ev.LampsOffRequested(DEALER, 1), ev.LampsDark(t.state.occasion))
    record: do.RecordRound = t.last_of(do.RecordRound)
    return record


def test_the_reader_is_asked_to_look_on_where_it_read_nothing():
    assert do.KeepLooking in blocked().commands
    for verdict in (READ, TILTED):
        assert do.KeepLooking not in Playing().open().awaiting_dealer(verdict).commands


def test_a_wrong_value_typed_once_before_the_reading_is_a_dispute_and_not_lit():
    t = typed(blocked(), WRONG, 1).read(READ)
    assert (t.phase, t.said, t.state.reading) == (Phase.DISPUTED, WRONG, READ)
    assert t.last_of(do.Announce).notice is Notice.DISPUTE
    assert t.tell(ev.DisputeDecided(DEALER, 1, WRONG)).refused
    t.do(ev.DisputeDecided(FLOOR, 1, READ.three))
    assert t.last_of(do.PushLamps).values == READ.three


def test_a_round_by_eye_is_told_to_the_floorperson_and_marked_on_its_record():
    t = typed(blocked(), WRONG, 2)
    told = [each for each in t.last.commands if isinstance(each, do.Announce)]
    assert [each.values for each in told if each.notice is Notice.BY_EYE] == [WRONG]
    t.do(ev.LampsShown(t.state.occasion, WRONG))
    record = ended(t)
    assert (record.by_eye, record.late, record.source) == (True, None, Source.ENTERED)


@pytest.mark.parametrize(
    ("values", "notice"), [(WRONG, Notice.LATE_OTHER), ((6, 6, 4), Notice.LATE_SAME)]
)
def test_a_reading_after_the_lamps_is_told_and_marked(values, notice):
    t = lit_by_eye(values).read(READ)
    assert t.phase is Phase.COLLECTING
    assert (t.last_of(do.Announce).notice, t.last_of(do.Announce).values) == (notice, READ.three)
    assert t.tell(ev.ReadingMade(t.state.occasion, READ)).refused, "one word is enough"
    record = ended(t)
    assert (record.values, record.by_eye, record.late) == (values, True, READ)


def test_a_value_typed_once_that_the_reader_then_reads_is_confirmed():
    t = typed(blocked(), (6, 6, 4), 1).read(READ)
    assert (t.phase, t.state.source) == (Phase.PUSHING, Source.CONFIRMED)
    assert not t.state.by_eye
    t.do(ev.LampsShown(t.state.occasion, READ.three))
    assert ended(t).by_eye is False


def test_dice_that_are_found_unmoved_when_the_result_stands_put_the_shaker_out_of_use():
    t = lit_by_eye()
    t.do(ev.TossDisproved(t.state.occasion))
    assert do.RaiseFault(FaultKind.SHAKER, "dice-unmoved") in t.last.commands
    assert (t.phase, ended(t).values, t.phase) == (Phase.COLLECTING, WRONG, Phase.OUT_OF_SERVICE)


def test_no_lost_reader_is_asked_to_look_on():
    t = Playing().open().settled().at_rest().do(ev.ReaderFault(None, "camera-silent"))
    assert t.phase is Phase.AWAITING_DEALER
    assert do.KeepLooking not in t.commands
