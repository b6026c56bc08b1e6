"""A dead camera retires nothing: the shaker plays on, and the dealer enters every value."""

from __future__ import annotations

from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.tests.playing import DEALER, FLOOR, Playing
from shaker_ctl.rules.vocabulary import FaultKind, Notice, Source


def without_camera(**settings: object) -> Playing:
    """A table whose camera died between rounds, back in service without it."""
    t = Playing(**settings).open().do(ev.ReaderFault(None, "camera-silent"))
    return t.do(ev.ReturnRequested(FLOOR))


def inspected(t: Playing) -> Playing:
    t.lamps_inspected()
    for _ in range(3):
        t.do(ev.CycleRequested(FLOOR)).tossed()
        t.do(ev.CycleJudged(FLOOR, tossed=True))
    t.do(ev.Signed(FLOOR, t.now), ev.OpenRequested(FLOOR))
    return t.clock()


def test_the_table_stops_first_and_a_person_brings_it_back_without_the_camera():
    t = without_camera()
    assert t.phase is Phase.INSPECTION_DUE
    notices = [each.notice for each in t.last.commands if isinstance(each, do.Announce)]
    assert Notice.CAMERA_OFF in notices
    assert t.state.faults == {FaultKind.READER}, "the fault stands until it is mended"


def test_the_inspection_rests_on_the_person_and_the_round_on_the_dealer_who_types_twice():
    t = inspected(without_camera()).settled()
    assert t.last_of(do.Announce).notice is Notice.ENTER
    t.do(*2 * [ev.ValuesEntered(DEALER, 1, (1, 4, 4))])
    t.do(ev.LampsShown(t.state.occasion, (1, 4, 4))).do(ev.WagersSettled(DEALER, 1))
    t.do(ev.LampsOffRequested(DEALER, 1), ev.LampsDark(t.state.occasion))
    record = t.last_of(do.RecordRound)
    assert (record.camera_off, record.source) == (True, Source.ENTERED)
    assert t.phase is Phase.PACING, "it plays on"


def test_another_word_of_the_dead_camera_stops_nothing():
    t = inspected(without_camera()).betting()
    t.do(ev.ReaderFault(None, "camera-silent"))
    assert t.phase is Phase.BETTING


def test_any_other_fault_stops_the_table_as_ever():
    t = inspected(without_camera()).do(ev.LampFault(None, "bulb"))
    assert t.phase is Phase.OUT_OF_SERVICE
    refused = t.tell(ev.ReturnRequested(FLOOR)).refused
    assert refused is not None
    assert refused.reason == "return requested: a fault has to be cleared first"


def test_a_table_without_its_camera_that_nobody_attends_any_more_is_out_of_service():
    t = without_camera()
    t.rules = Playing(
        profile="house-auto", entry_mode="auto", attended=False, autonomous=True
    ).rules
    assert t.do(ev.Restarted(False, False, False)).phase is Phase.OUT_OF_SERVICE
