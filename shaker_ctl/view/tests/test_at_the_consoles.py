"""People at a table, as they type at their consoles: how it must go, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shaker_ctl.rules import events as ev
from shaker_ctl.rules.outcome import Toss
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.vocabulary import Correction, Ending, Multiplied, Person, Role
from shaker_ctl.view.tests.seated import READ, Seat, Seated
from vision.reading import Kind, NoRoll, Unreadable

GLARE = Unreadable.of("glare")
TILTED = NoRoll(1, Kind.TILTED, 11.0)
DAN = Person("dan", Role.DEALER, "dan-1")
FAY = Person("fay", Role.FLOORPERSON, "fay-1")
COVERED = {"profile": "md", "cover_fitted": True}


def last(t: Seated, words: str) -> str:
    """The newest announcement that holds these words."""
    return next(said for said in reversed(t.heard) if words in said)


def played(seat: Seat, number: int = 1) -> dict[str, Any]:
    """What `round` shows of it."""
    found: dict[str, Any] = seat.ask(f"round {number}")["round"]  # type: ignore[assignment]
    return found


# ── The opening inspection ──────────────────────────────────────────────────


def test_what_a_floorperson_enters_is_named_and_lit_until_they_say_that_they_saw_it():
    t = Seated()
    fay = t.fay
    fay.does("dice changed A1 A2 A3")
    fay.does("inspect all")
    fay.does("inspect enter 6 5 6")
    assert "big" in last(t, "Lit for: 6 5 6")
    assert t.lit == Toss((6, 5, 6)).areas(t.rules.layout)
    fay.is_refused("inspect seen")
    t.time_passes()
    assert t.lit, "nobody has said so"
    fay.does("inspect seen")
    assert not t.lit


def test_no_floorperson_walks_before_three_entries_or_signs_for_what_nobody_saw():
    t = Seated()
    fay = t.fay
    fay.does("dice changed A1 A2 A3")
    fay.does("inspect all")
    for line in ("inspect walk", "inspect cycle", "inspect tossed", "sign", "open"):
        fay.is_refused(line)
    fay.does("inspect enter 1 1 1")
    t.time_passes()
    fay.does("inspect seen")
    assert "a pair, Small, Big (the house's care)" in fay.type("mode people") + fay.type("next")
    assert "inspect walk" in fay.type("inspect walk")
    assert t.state.phase is Phase.LAMP_VALUES_AWAITED


def test_a_floorperson_pauses_the_walk_goes_back_and_has_a_lamp_repeated():
    t = Seated()
    t.walks = False
    fay = t.fay
    fay.does("inspect lamps")
    for _ in range(3):
        fay.does("inspect enter 1 2 3")
        t.time_passes()
        fay.does("inspect seen")
    fay.does("inspect walk")
    for step in ("pause", "back", "again", "on"):
        fay.does(f"inspect {step}")
    assert t.steered == ["pause", "back", "again", "on"]
    fay.does("inspect wrong total-10")
    assert t.state.phase is Phase.OUT_OF_SERVICE


def test_who_saw_is_who_signs_at_every_console():
    t = Seated()
    fay, fred = t.fay, t.seat(Role.FLOORPERSON, "fred")
    fay.does("inspect shaker")
    for cycle in range(3):
        fred.is_refused("inspect cycle")
        fay.does("inspect cycle")
        fred.is_refused("inspect tossed")
        fay.does("inspect tossed")
        assert t.state.phase in (Phase.CYCLE_AWAITED, Phase.INSPECTION_DUE), cycle
    assert t.state.phase is Phase.INSPECTION_DUE
    fred.does("inspect lamps")
    fay.is_refused("inspect enter 1 2 3")
    fred.does("cancel")
    t.inspected(fred)
    assert t.state.signed_by == Person("fred", Role.FLOORPERSON, "fred-1")
    t = Seated()
    t.fay.does("dice changed A1 A2 A3")
    t.fay.does("inspect all")
    for line in ("inspect enter 1 2 3", "inspect seen", "sign"):
        t.seat(Role.FLOORPERSON, "fred").is_refused(line)


def test_a_cycle_that_a_floorperson_saw_not_to_be_tossed_restarts_the_count():
    t = Seated()
    fay = t.fay
    fay.does("inspect shaker")
    for word in ("tossed", "tossed", "not-tossed", "tossed", "tossed"):
        fay.does("inspect cycle")
        fay.does(f"inspect {word}")
    assert (t.state.good, t.state.phase) == (2, Phase.CYCLE_AWAITED)
    fay.is_refused("sign")


def test_an_old_signature_opens_no_table():
    t = Seated(signature_h=8.0)
    fay = t.fay
    fay.does("dice changed A1 A2 A3")
    t.inspected(fay)
    t.now += timedelta(hours=8)
    fay.does("open")
    assert t.state.phase is Phase.INSPECTION_DUE
    fay.is_refused("open")
    t.inspected(fay)
    fay.does("open")
    assert t.state.phase is Phase.READY


# ── Who paces the table ─────────────────────────────────────────────────────


def test_at_a_dealer_s_table_every_step_of_a_round_is_the_dealer_s():
    t = Seated().opened()
    dan, tom = t.dan, t.tom
    dan.is_refused("activate")
    dan.does("bets")
    dan.is_refused("activate")
    dan.does("nmb")
    tom.is_refused("activate")
    dan.does("activate")
    assert not t.lit
    dan.is_refused("settled")
    dan.does("1 4 4")
    assert t.lit == Toss(READ).areas(t.rules.layout)
    for line in ("lamps-off", "bets"):
        dan.is_refused(line)
    dan.does("settled")
    assert t.lit, "it stays lit until it is cleared"
    dan.does("lamps-off")
    assert not t.lit
    dan.does("bets")


def test_a_table_that_paces_itself_shows_its_approval_and_keeps_lit_what_nobody_has_paid():
    approval = "BGLO 461a.4, letter of 2026-01-15"
    t = Seated(autonomous=True, approval=approval).opened()
    dan = t.dan
    assert f"pacing by the table by approval: {approval}" in str(dan.ask("status")["marks"])
    t.time_passes()
    dan.does("1 4 4")
    assert t.timer is None, "no clock takes the result away"
    dan.does("settled")
    assert t.lit
    dan.does("lamps-off")


# ── Interrupted after the toss ──────────────────────────────────────────────


def interrupted(profile: str = "pa-625a", *, flag: bool = False) -> tuple[Seated, Seat]:
    """A table that lost its power while dan was asked for values that nobody could read."""
    t = Seated(profile=profile).opened()
    t.read = GLARE
    dan = t.dan
    t.asked(dan).happens(ev.Restarted(False, False, False, compartment_stayed_locked=flag))
    return t, dan


def test_dealer_and_floorperson_who_kept_the_compartment_in_view_let_the_dealer_read():
    t, dan = interrupted()
    fay = t.fay
    dan.is_refused("1 4 4")
    fay.does("in-view yes")
    fay.is_refused("in-view yes")
    t.seat(Role.DEALER, "FAY").does("in-view yes")
    assert t.state.phase is Phase.INTERRUPTED, "one person makes no pair"
    dan.does("in-view yes")
    fay.does("in-view yes")
    fay.is_refused("1 4 4")
    dan.does("1 4 4")
    assert not t.lit
    dan.does("4 1 4")
    assert t.lit == Toss(READ).areas(t.rules.layout)
    fay.is_refused("settled")
    dan.does("settled")


def test_without_their_word_an_interrupted_round_is_void():
    t, dan = interrupted()
    fay = t.fay
    dan.does("in-view yes")
    fay.does("in-view no")
    assert "makes the round void" in last(t, "did not stay in view")
    fay.does("in-view no")
    assert "All wagers are returned (625a.7(c))" in last(t, "The round is void")
    dan.does("settled")
    assert (t.records[-1].ending, t.records[-1].values) == (Ending.VOID, None)


def test_one_mistaken_word_about_the_compartment_is_taken_back():
    t, dan = interrupted()
    t.fay.does("in-view yes")
    dan.does("in-view no")
    dan.does("in-view yes")
    dan.does("1 4 4")
    dan.does("1 4 4")
    assert t.lit == Toss(READ).areas(t.rules.layout)


def test_after_an_outage_two_who_watched_the_compartment_put_right_what_was_typed():
    t = Seated().opened()
    t.read = GLARE
    dan, fay = t.dan, t.fay
    t.asked(dan)
    dan.does("1 4 5")
    dan.does("1 4 5")
    t.happens(ev.Restarted(False, False, False))
    assert "`in-view`" in dan.is_refused("correct 1 4 4")
    fay.does("in-view yes")
    dan.does("in-view yes")
    dan.does("correct 1 4 4")
    fay.does("correct 1 4 4")
    assert t.lit == Toss(READ).areas(t.rules.layout)
    dan.does("settled")


def test_another_takes_the_place_of_who_was_present_by_mistake():
    t, dan = interrupted(flag=True)
    t.seat(Role.FLOORPERSON, "Dan ").does("presence")
    dan.is_refused("1 4 4")
    t.fay.does("presence")
    dan.does("1 4 4")


def test_with_the_lid_s_flag_standing_the_text_s_own_person_is_called():
    t, dan = interrupted("ma", flag=True)
    fay, sue = t.fay, t.sue
    for seat in (dan, fay):
        seat.is_refused("presence")
    dan.is_refused("in-view no")
    sue.does("presence")
    dan.does("1 4 4")
    dan.does("1 4 4")
    dan.does("settled")
    assert t.records[-1:] == []
    dan.does("lamps-off")
    assert t.records[-1].values == READ


@pytest.mark.parametrize("flag", [True, False])
def test_who_is_waited_for_after_an_interruption_is_who_the_text_names(flag):
    _, dan = interrupted("ma", flag=flag)
    waits = dan.ask("status")["pending"]
    assert isinstance(waits, dict)
    assert waits["roles"] == (["supervisor"] if flag else ["dealer", "supervisor"])
    assert "floorperson" not in waits["text"]


def test_the_lid_is_the_floorperson_s_and_stays_shut_in_a_round():
    t = Seated().opened()
    dan, fay, tom = t.dan, t.fay, t.tom
    for seat in (dan, tom):
        seat.is_refused("lid")
    dan.does("bets")
    fay.is_refused("lid")
    t = Seated().opened()
    t.fay.does("lid")
    assert t.state.phase is Phase.INSPECTION_DUE


# ── A wrong entry ───────────────────────────────────────────────────────────


def typed_wrongly(t: Seated) -> None:
    """Nobody could read 1 4 4, and dan typed 1 4 5 twice."""
    t.read = GLARE
    dan = t.dan
    t.asked(dan)
    dan.does("1 4 5")
    assert not t.lit, "typed once lights nothing"
    dan.does("1 4 5")
    assert "pair-4-5" in t.lit


def test_a_typing_error_is_corrected_by_dealer_and_floorperson_and_both_values_stand():
    t = Seated().opened()
    dan, fay = t.dan, t.fay
    typed_wrongly(t)
    fay.is_refused("correct 1 4 4")
    dan.does("correct 1 4 4")
    assert "dan names 1 4 4 in the place of 1 4 5" in str(fay.ask("status")["pending"])
    dan.does("correct 1 4 4")
    t.seat(Role.FLOORPERSON, "Dan").is_refused("correct 1 4 4")
    assert "pair-4-5" in t.lit, "one person corrects nothing"
    fay.is_refused("correct 6 6 6")
    fay.does("correct 1 4 4")
    assert t.lit == Toss(READ).areas(t.rules.layout)
    dan.is_refused("correct 6 6 6")
    dan.does("settled")
    dan.does("lamps-off")
    assert t.records[-1].values == READ
    assert t.records[-1].correction == Correction((1, 4, 5), DAN, FAY)
    was = {
        "from": "1 4 5",
        "named_by": "dan (dealer, dan-1)",
        "agreed_by": "fay (floorperson, fay-1)",
    }
    assert played(dan)["details"]["corrected"] == was
    said = " ".join((dan.type("mode people") + dan.type("status")).split())
    assert "settled: 1 4 4; corrected from 1 4 5 by dan and fay" in said


def test_after_settling_and_against_the_readers_nothing_is_corrected():
    t = Seated().opened()
    dan = t.dan
    typed_wrongly(t)
    dan.does("settled")
    dan.is_refused("correct 1 4 4")
    t = Seated().opened()
    dan = t.dan
    t.asked(dan)
    dan.does("144")
    assert "verified" in dan.is_refused("correct 1 4 5")


def test_what_was_decided_in_a_dispute_is_corrected_to_no_roll():
    t = Seated().opened()
    dan, fay = t.dan, t.fay
    t.asked(dan)
    dan.does("1 4 5")
    fay.does("decide 1 4 5")
    dan.does("correct no-roll")
    fay.does("correct no-roll")
    assert not t.lit
    dan.does("settled")
    assert t.records[-1].ending is Ending.NO_ROLL


# ── Dice ────────────────────────────────────────────────────────────────────


def test_expired_dice_are_changed_by_opening_the_compartment_and_never_to_themselves():
    t = Seated(profile="ma").opened()
    dan, fay = t.dan, t.fay
    t.now += timedelta(hours=23)
    assert "24 hours" in dan.is_refused("bets")
    fay.is_refused("dice changed A1 A2 A3")
    fay.is_refused("dice changed B1 B2 B3")
    t.happens(ev.CompartmentOpened(), ev.CompartmentClosed())
    for line in ("dice changed B1 B2", "dice changed B1 B1 B2", "dice changed b1 B1 B2"):
        fay.is_refused(line)
    assert "stay out" in fay.is_refused("dice changed B1 B2 a3")
    dan.is_refused("dice changed B1 B2 B3")
    fay.does("dice changed B1 B2 B3")
    t.inspected(fay)
    fay.does("open")
    t.shift_inspected()
    dan.does("bets")


def test_dice_that_grow_too_old_while_bets_stay_open_are_not_tossed():
    t = Seated(profile="ma").opened()
    dan = t.dan
    dan.does("bets")
    t.now += timedelta(hours=23)
    dan.does("nmb")
    dan.does("activate")
    assert "the dice are over age" in last(t, "The round does not start")
    assert not t.lit


def test_after_an_opening_somebody_says_which_dice_are_in_it_before_the_table_opens():
    t = Seated().opened().happens(ev.CompartmentOpened(), ev.CompartmentClosed())
    assert last(t, "Are the same dice")
    fay = t.fay
    t.inspected(fay)
    assert "dice same" in fay.is_refused("open")
    fay.does("dice same")
    fay.does("open")
    assert t.state.dice is not None
    assert t.state.dice.serials == ("A1", "A2", "A3")


def test_where_the_house_has_two_one_person_alone_changes_no_dice():
    t = Seated(dice_by_two=True)
    t.happens(ev.CompartmentOpened(), ev.CompartmentClosed())
    t.fay.does("dice changed A1 A2 A3")
    t.seat(Role.SUPERVISOR, "Fay").does("dice changed A1 A2 A3")
    assert t.state.dice is None
    t.sue.does("dice changed A1 A2 A3")
    assert t.state.dice is not None


def test_a_clock_that_stood_ahead_bars_the_round_and_the_dice_are_recorded_again():
    t = Seated()
    fay = t.fay
    t.now += timedelta(days=3650)
    fay.does("dice changed A1 A2 A3")
    t.now -= timedelta(days=3650)
    t.inspected(fay)
    assert "stood later than now" in fay.is_refused("open")
    t.happens(ev.CompartmentOpened(), ev.CompartmentClosed())
    fay.does("dice changed A1 A2 A3")
    t.inspected(fay)
    fay.does("open")


# ── Shifts ──────────────────────────────────────────────────────────────────


def test_the_next_day_begins_with_the_supervisor_s_inspection_though_nobody_said_so():
    t = Seated(profile="ma").opened()
    dan, fay, sue = t.dan, t.fay, t.sue
    dan.does("bets")
    for line in ("nmb", "activate", "144", "settled", "lamps-off"):
        dan.does(line)
    fay.does("close")
    fay.does("open")
    t.inspected(fay)
    fay.does("open")
    assert "shift" in dan.is_refused("bets")
    fay.is_refused("inspect shift")
    t.shift_inspected()
    dan.does("bets")
    t.happens(ev.ShiftBegan(None))
    for line in ("nmb", "activate", "144", "settled", "lamps-off"):
        dan.does(line)
    dan.is_refused("bets")
    sue.does("inspect shift")


# ── A manual shaker, and a dead camera ──────────────────────────────────────


@pytest.mark.parametrize(
    ("settings", "steps"),
    [
        ({}, "dice-removed covered-or-signed"),
        (COVERED, "dice-removed covered-or-signed"),
        ({"profile": "ma"}, "shaker-removed"),
        ({"profile": "pa-539", "as_demonstration": True}, "shaker-removed"),
    ],
    ids=["pa-625a", "md", "ma", "pa-539"],
)
def test_with_a_broken_shaker_people_play_on_by_hand_once_they_have_done_the_text_s_steps(
    settings, steps
):
    t = Seated(**settings)
    if settings is COVERED:
        t.happens(ev.CoverClosed())
    t.fay.does("dice changed A1 A2 A3")
    t.happens(ev.ShakerFault(None, "motor-stall"))
    dan, fay, tom = t.dan, t.fay, t.tom
    words = " ".join(sorted(steps.split()))
    assert f"manual shaker, then: out-of-order {words}" in t.desk.view().next_step
    fay.is_refused("out-of-order dice-removed")
    if "dice-removed" in steps:
        assert "still in it" in fay.is_refused(f"out-of-order {steps}")
        t.happens(ev.CompartmentOpened())
    fay.does(f"out-of-order {steps}")
    fay.does("dice changed M1 M2 M3")
    t.inspected(fay)
    fay.does("open")
    assert "manual shaker" in str(dan.ask("status")["marks"])
    dan.does("bets")
    dan.does("nmb")
    assert last(t, "shaken three times at least")
    dan.does("144")
    assert not t.lit
    dan.does("144")
    assert t.lit == Toss(READ).areas(t.rules.layout)
    dan.does("settled")
    dan.does("lamps-off")
    assert t.records[-1].manual_shaker
    tom.is_refused("shaker back")
    fay.does("close")
    tom.does("shaker back")
    assert t.state.phase is Phase.OUT_OF_SERVICE


def test_a_dead_camera_retires_nothing_and_the_dealer_types_every_value_twice():
    t = Seated().opened().happens(ev.ReaderFault(None, "camera-silent"))
    dan, fay, tom = t.dan, t.fay, t.tom
    tom.does("return-to-service")
    assert last(t, "no picture proves a toss")
    t.inspected(fay)
    fay.does("open")
    t.asked(dan)
    dan.does("144")
    assert not t.lit
    dan.does("144")
    dan.does("settled")
    dan.does("lamps-off")
    assert t.records[-1].camera_off
    tom.is_refused("return-to-service")


# ── Multipliers ─────────────────────────────────────────────────────────────

SUPER = {"profile": "pa-625b", "as_demonstration": True}


def test_multipliers_are_told_to_who_pays_though_the_lamps_have_failed():
    t = Seated(**SUPER).opened()
    t.odds = (Multiplied("double-4", 87), Multiplied("one-4", 19, 2))
    dan, fay = t.dan, t.fay
    t.asked(dan)
    t.is_lamp_broken = True
    dan.does("144")
    assert not t.lit
    odds = "double-4 87 to 1, one-4 on 2 dice 19 to 1"
    fay.does("presence")
    told = last(t, "Settle by hand")
    assert odds in told
    assert "double-4" in told.partition("Winning areas: ")[2]
    assert odds in str(dan.ask("status")["says"])
    assert odds in ", ".join(played(dan)["details"]["multipliers"])
    dan.does("settled")
    assert t.records[-1].multipliers == t.odds
    assert odds in ", ".join(played(dan)["details"]["multipliers"])


def test_the_opening_inspection_shows_every_multiplier_and_hears_which_is_wrong():
    t = Seated(**SUPER)
    fay = t.fay
    fay.does("inspect lamps")
    for _ in range(3):
        fay.does("inspect enter 1 2 3")
        t.time_passes()
        fay.does("inspect seen")
    fay.does("inspect walk")
    fay.does("inspect seen")
    assert last(t, "Every multiplier display shows its highest odds")
    fay.does("inspect wrong triple-3")
    assert t.state.phase is Phase.OUT_OF_SERVICE


# ── Persons ─────────────────────────────────────────────────────────────────


def test_a_third_reading_is_no_decision_and_who_entered_does_not_decide():
    t = Seated().opened()
    t.asked(t.dan)
    t.fay.is_refused("3 3 3")
    t.seat(Role.DEALER, "fay").does("3 3 3")
    assert "neither the dealer nor the reader" in t.sue.is_refused("decide 6 6 6")
    for name in ("fay", "FAY"):
        t.seat(Role.SUPERVISOR, name).is_refused("decide 3 3 3")
    t.sue.does("decide 1 4 4")
    assert t.lit == Toss(READ).areas(t.rules.layout)


def test_who_is_present_does_not_settle():
    t = Seated().opened()
    dan, fay = t.dan, t.fay
    t.asked(dan)
    t.happens(ev.LampFault(None, "lamp-timeout"))
    dan.does("144")
    dan.is_refused("settled")
    fay.does("presence")
    fay.is_refused("settled")
    t.seat(Role.DEALER, "Fay").is_refused("settled")
    dan.does("settled")
    assert t.state.phase is Phase.OUT_OF_SERVICE
    assert "manual shaker" not in t.desk.view().next_step, "it needs the lamps, too"
    for seat in (dan, fay):
        seat.is_refused("bets" if seat is dan else "open")


@pytest.mark.parametrize(("second", "cleared"), [("fay", False), ("FAY", False), ("sue", True)])
def test_one_person_clears_no_meters_however_the_name_is_typed(second, cleared):
    t = Seated()
    t.fay.does("meters clear")
    said = t.seat(Role.SUPERVISOR, second).does("meters clear")
    assert ("cleared by" in said) == cleared


# ── Smaller ─────────────────────────────────────────────────────────────────


def test_a_cover_whose_contact_is_stuck_at_the_reveal_is_no_dead_end():
    t = Seated(**COVERED).opened()
    t.read = GLARE
    dan, fay = t.dan, t.fay
    for line in ("bets", "activate", "nmb"):
        dan.does(line)
    t.is_cover_stuck = True
    dan.does("reveal")
    assert "has its time" in fay.is_refused("cover off")
    t.time_passes()
    dan.does("reveal")
    dan.is_refused("reveal")
    t.seat(Role.FLOORPERSON, "dan").does("cover off")
    assert t.state.phase is Phase.REVEALING, "one person makes no pair"
    dan.does("reveal")
    fay.does("cover off")
    dan.does("144")
    dan.does("144")
    dan.does("settled")
    dan.does("lamps-off")
    assert (t.records[-1].values, t.state.phase) == (READ, Phase.OUT_OF_SERVICE)


def test_a_leaning_die_that_the_reader_saw_is_told_to_the_dealer_as_such():
    t = Seated().opened()
    t.read = TILTED
    dan = t.dan
    t.asked(dan)
    assert last(t, "does not lie flat")
    assert "a die that does not lie flat" in str(dan.ask("status")["pending"])
    dan.does("000")
    assert "All wagers are returned (625a.7(a))" in last(t, "No roll")


def test_what_an_inspection_lights_and_reads_is_no_part_of_the_round_before_it():
    t = Seated().opened()
    dan, fay = t.dan, t.fay
    t.asked(dan)
    for line in ("144", "settled", "lamps-off"):
        dan.does(line)
    then = played(dan)
    assert (then["phase"], then["read"]) == ("ended", list(READ))
    fay.does("close")
    fay.does("open")
    t.inspected(fay)
    assert played(dan) == then


def test_multipliers_that_were_not_proved_to_be_shown_stand_in_no_round():
    t = Seated(**SUPER).opened()
    t.odds, t.are_odds_shown = (Multiplied("double-4", 87),), False
    dan = t.dan
    t.asked(dan)
    dan.does("144")
    assert "multipliers" not in played(dan)["details"]
    assert last(t, "No multipliers are in force")


def test_a_text_ends_at_midnight_where_it_holds_and_not_at_an_earlier_one_in_greenwich():
    t = Seated(profile="pa-625b")
    t.now = datetime(2026, 8, 5, 3, 0, tzinfo=UTC)
    fay, dan = t.fay, t.dan
    fay.does("dice changed A1 A2 A3")
    t.inspected(fay)
    fay.does("open")
    dan.does("bets")
    for line in ("nmb", "activate", "144", "settled", "lamps-off"):
        dan.does(line)
    t.now += timedelta(hours=1)
    assert "since the end of 2026-08-04" in dan.is_refused("bets")


def test_a_refusal_says_in_plain_words_what_stands_in_the_way():
    dan = Seated(**COVERED).opened().dan
    dan.does("bets")
    dan.does("activate")
    assert (
        dan.is_refused("reveal")
        == "reveal: not now. Tossed and settled under the cover; bets are open. "
        "Next: dealer: nmb (key *)."
    )
    sue = Seated(profile="ma").opened().sue
    assert sue.is_refused("inspect shift") == (
        "inspect shift: the shift inspection is not due. Next: dealer: bets (key +)."
    )
