"""Where the reader has read nothing it looks on, until wagers are settled."""

from __future__ import annotations

import pytest

from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.tests.playing import DEALER, FLOOR, TILTED, UNREADABLE, Playing
from shaker_ctl.rules.vocabulary import Cause, Ending, FaultKind, Notice, Source
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


def test_nothing_looks_on_under_a_cover_whose_contact_says_closed():
    t = Playing(profile="pa-625a", cover_fitted=True).open().settled().revealed()
    t.at_rest().read(UNREADABLE)
    assert do.KeepLooking in t.commands
    t.do(ev.CoverClosed())
    assert t.phase is Phase.REVEALING
    assert t.commands[0] is do.StopReading
    assert t.tell(ev.ReadingMade(t.state.occasion, READ)).refused


def test_a_cover_stops_the_looking_and_it_goes_on_when_the_cover_is_off():
    t = blocked(profile="ma")
    assert t.rules.cover_must_be_absent
    t.do(ev.CoverClosed())
    assert t.commands == [do.StopReading]
    t.do(ev.CoverOpened())
    assert t.commands == [do.KeepLooking]


def test_no_lost_reader_is_asked_to_look_on():
    t = Playing().open().settled().at_rest().do(ev.ReaderFault(None, "camera-silent"))
    assert t.phase is Phase.AWAITING_DEALER
    assert do.KeepLooking not in t.commands


def test_a_wrong_value_typed_once_before_the_reading_is_a_dispute_and_not_lit():
    t = typed(blocked(), WRONG, 1).read(READ)
    assert (t.phase, t.state.entered, t.state.reading) == (Phase.DISPUTED, WRONG, READ)
    assert t.last_of(do.Announce).notice is Notice.DISPUTE
    assert t.tell(ev.DisputeDecided(DEALER, 1, WRONG)).refused
    t.do(ev.DisputeDecided(FLOOR, 1, READ.three))
    assert t.last_of(do.PushLamps).values == READ.three


def test_who_typed_once_may_put_it_right_and_does_not_decide():
    t = blocked().do(ev.ValuesEntered(FLOOR, 1, WRONG)).read(READ)
    assert t.tell(ev.DisputeDecided(FLOOR, 1, WRONG)).refused
    t.do(ev.ValuesEntered(FLOOR, 1, READ.three))
    assert (t.phase, t.state.source) == (Phase.PUSHING, Source.CONFIRMED)


def test_a_value_typed_once_that_the_reader_then_reads_is_confirmed():
    t = typed(blocked(), (6, 6, 4), 1).read(READ)
    assert (t.phase, t.state.source) == (Phase.PUSHING, Source.CONFIRMED)
    assert not t.state.by_eye
    t.do(ev.LampsShown(t.state.occasion, READ.three))
    assert ended(t).by_eye is False


def test_a_reading_before_anything_is_typed_is_one_to_confirm():
    t = blocked().read(READ)
    assert (t.phase, t.last_of(do.Announce).notice) == (Phase.AWAITING_DEALER, Notice.CONFIRM)
    assert typed(t, WRONG, 1).phase is Phase.DISPUTED


def test_a_die_seen_leaning_after_values_were_typed_is_a_dispute():
    t = typed(blocked(), WRONG, 1).read(TILTED)
    assert t.phase is Phase.DISPUTED
    t.do(ev.DisputeDecided(FLOOR, 1, None))
    assert t.state.ending is Ending.NO_ROLL


def test_dice_that_a_later_look_finds_unmoved_are_no_toss():
    t = typed(blocked(), WRONG, 1).do(ev.TossDisproved(blocked().state.occasion))
    assert (t.state.ending, t.state.cause) == (Ending.VOID, Cause.NOT_TOSSED)
    assert FaultKind.SHAKER in t.state.faults


def test_dice_that_are_found_unmoved_when_the_result_stands_put_the_shaker_out_of_use():
    t = lit_by_eye()
    t.do(ev.TossDisproved(t.state.occasion))
    assert do.RaiseFault(FaultKind.SHAKER, "dice-unmoved") in t.last.commands
    assert (t.phase, ended(t).values, t.phase) == (Phase.COLLECTING, WRONG, Phase.OUT_OF_SERVICE)


def test_another_look_that_reads_nothing_changes_nothing():
    t = typed(blocked(), WRONG, 1)
    assert t.tell(ev.ReadingMade(t.state.occasion, UNREADABLE)).refused


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


def test_a_reading_after_the_lamps_helps_two_persons_to_correct():
    t = lit_by_eye().read(READ).do(ev.CorrectionNamed(DEALER, 1, READ.three))
    t.do(ev.CorrectionAgreed(FLOOR, 1, READ.three))
    t.do(ev.LampsShown(t.state.occasion, READ.three))
    record = ended(t)
    assert (record.values, record.by_eye, record.late) == (READ.three, True, READ)


def test_a_reading_after_a_no_roll_by_eye_is_told_and_marked():
    t = blocked().do(ev.NoRollCalled(DEALER, 1))
    assert Notice.BY_EYE in [each.notice for each in t.last.commands if type(each) is do.Announce]
    t.read(READ)
    assert t.last_of(do.Announce).notice is Notice.LATE_OTHER
    record = ended(t)
    assert (record.ending, record.by_eye, record.late) == (Ending.NO_ROLL, True, READ)


def test_a_no_roll_that_the_reader_saw_before_is_none_by_eye():
    t = Playing().open().awaiting_dealer(TILTED).do(ev.NoRollCalled(DEALER, 1))
    assert t.tell(ev.ReadingMade(t.state.occasion, READ)).refused
    assert ended(t).by_eye is False


def test_the_looking_ends_when_wagers_are_settled():
    t = lit_by_eye().do(ev.WagersSettled(DEALER, 1))
    assert do.StopReading in t.commands
    assert t.tell(ev.ReadingMade(t.state.occasion, READ)).refused
    read = lit_by_eye().read(READ).do(ev.WagersSettled(DEALER, 1))
    assert do.StopReading not in read.commands, "it has ended by itself"


def test_the_looking_ends_when_the_compartment_is_opened():
    t = lit_by_eye().do(ev.CompartmentOpened())
    assert do.StopReading in t.commands
    assert t.tell(ev.ReadingMade(t.state.occasion, READ)).refused, "these may be other dice"


def test_after_an_interruption_the_reader_looks_while_the_dealer_reads_in_presence():
    t = Playing().open().settled().at_rest()
    t.do(ev.Restarted(False, False, False, compartment_stayed_locked=True))
    t.do(ev.PresenceGiven(FLOOR, 1))
    assert do.KeepLooking in t.commands
    leaning = t.read(TILTED)
    assert (leaning.phase, leaning.state.witness) == (Phase.AWAITING_DEALER, FLOOR)
    assert leaning.last_of(do.Announce).notice is Notice.NOT_FLAT
