"""Whole rounds, told as stories; and what irregularities do to them."""

# mypy: disable-error-code="comparison-overlap,union-attr,assignment"
# The phase is asked for again after each act, which mypy takes for one and the same value.

from __future__ import annotations

from itertools import permutations

import pytest

from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.machine import Machine, gravest_first
from shaker_ctl.rules.row import Guard, Row
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.tests.playing import (
    DEALER,
    FLOOR,
    PLAN,
    SUPERVISOR,
    TECHNICIAN,
    TILTED,
    UNREADABLE,
    Playing,
)
from shaker_ctl.rules.vocabulary import (
    Cause,
    Condition,
    Ending,
    FaultKind,
    Multiplied,
    Notice,
    Person,
    Role,
    Source,
    Timer,
    TimeTrust,
    TossProof,
    WagersDo,
)
from vision.reading import NoRoll, Verified

READ = Verified((1, 4, 4))
ANOTHER = Person("Fiona", Role.FLOORPERSON)
COVERED = {"profile": "md", "cover_fitted": True, "cover_driven": True}
HOUSE = {"profile": "house-auto", "attended": False, "autonomous": True}
SUPER = {"profile": "pa-625b"}


# ── Life of a table ─────────────────────────────────────────────────────────


def test_a_table_plays_a_round_with_its_dealer():
    t = Playing().open()
    t.lit().cleared()
    assert t.phase is Phase.READY
    assert t.state.round == 1
    records = [c for _, s in t.history for c in s.commands if isinstance(c, do.RecordRound)]
    assert [(r.ending, r.values, r.source) for r in records] == [
        (Ending.SETTLED, (1, 4, 4), Source.CONFIRMED)
    ]


def test_an_unattended_table_plays_rounds_by_itself():
    t = Playing(**HOUSE).open()
    for number in (1, 2):
        t.lit().cleared()
        assert t.state.round == number
    assert t.phase is Phase.ADMITTING


def test_the_reveal_order_keeps_light_and_reader_off_under_the_cover():
    t = Playing(**COVERED).open().betting()
    start = len(t.history)
    t.settled()
    assert t.phase is Phase.COVERED
    kinds = [type(c) for _, s in t.history[start:] for c in s.commands]
    assert do.LightOff in kinds
    assert do.StartReading not in kinds
    assert do.LightOn not in kinds[kinds.index(do.LightOff) :]
    t.no_more_bets().do(ev.RevealRequested(DEALER, t.state.round), ev.CoverOpened())
    assert t.commands[:2] == [do.LightOn, do.StartReading]


def test_only_the_role_of_the_profile_signs():
    t = Playing().locked().lamps_inspected()
    for _ in range(3):
        t.cycled()
    for person in (DEALER, TECHNICIAN, SUPERVISOR, ANOTHER):
        assert t.tell(ev.Signed(person, t.now)).refused
    t.do(ev.Signed(FLOOR, t.now))
    md = Playing(**COVERED).inspected(SUPERVISOR)
    assert md.phase is Phase.INSPECTED


@pytest.mark.parametrize("event", [ev.CompartmentOpened(), ev.ConditionChanged(Condition.LIGHT)])
def test_what_disturbs_an_open_table_makes_an_inspection_due(event):
    t = Playing().open().do(event)
    assert t.phase is Phase.INSPECTION_DUE


def test_untrusted_time_bars_until_a_named_person_confirms_it():
    t = Playing().inspected().do(ev.OpenRequested(FLOOR)).clock(TimeTrust.NONE)
    assert t.phase is Phase.INSPECTED
    assert t.tell(ev.TimeConfirmed(DEALER)).refused
    t.do(ev.TimeConfirmed(FLOOR))
    assert do.TrustTime in t.commands
    t.do(ev.OpenRequested(FLOOR)).clock(TimeTrust.CONFIRMED)
    assert t.phase is Phase.READY


def test_an_expired_profile_does_not_open_and_a_demonstration_does():
    from datetime import UTC, datetime

    for shown, phase in ((False, Phase.INSPECTED), (True, Phase.READY)):
        t = Playing(profile="pa-625b", as_demonstration=shown)
        t.now = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
        t.inspected().do(ev.OpenRequested(FLOOR)).clock()
        assert t.phase is phase
        shows = [c for _, s in t.history for c in s.commands if isinstance(c, do.ShowPhase)]
        assert shows
        assert all(each.demonstration == shown for each in shows)


# ── Multipliers ─────────────────────────────────────────────────────────────


def test_multipliers_are_in_force_when_shown_before_the_toss():
    t = Playing(**SUPER).open().betting().no_more_bets()
    assert t.phase is Phase.DRAWING_MULTIPLIERS
    drawn = (Multiplied("triple-6", 999), Multiplied("one-4", 19, 2))
    o = t.state.occasion
    t.do(ev.MultipliersDrawn(o, drawn))
    assert t.last_of(do.ShowMultipliers).multipliers == drawn
    t.do(ev.MultipliersShown(o))
    t.do(ev.ActivationRequested(DEALER, 1)).tossed().at_rest().read(READ)
    t.do(ev.ValuesConfirmed(DEALER, 1, (1, 4, 4)), ev.LampsShown(o, (1, 4, 4)))
    t.do(ev.WagersSettled(DEALER, 1), ev.LampsOffRequested(DEALER, 1), ev.LampsDark(o))
    assert t.last_of(do.RecordRound).multipliers == drawn
    assert do.HideMultipliers in t.commands


def test_an_unlawful_draw_is_refused():
    t = Playing(**SUPER).open().betting().no_more_bets()
    o = t.state.occasion
    assert t.tell(ev.MultipliersDrawn(o, (Multiplied("small", 2),))).refused
    t.do(ev.TimerExpired(Timer.DRAW, o))
    assert t.phase is Phase.NO_MORE_BETS


# ── Dealer and reader ───────────────────────────────────────────────────────


@pytest.mark.parametrize("verdict", [READ, TILTED, UNREADABLE], ids=lambda v: type(v).__name__)
@pytest.mark.parametrize("act", ["confirm", "enter same", "enter other", "no roll"])
def test_dealer_and_reader_agree_or_the_floorperson_decides(verdict, act):
    t = Playing().open().awaiting_dealer(verdict)
    event: ev.Event = {
        "confirm": ev.ValuesConfirmed(DEALER, 1, (4, 1, 4)),
        "enter same": ev.ValuesEntered(DEALER, 1, (4, 4, 1)),
        "enter other": ev.ValuesEntered(DEALER, 1, (2, 2, 2)),
        "no roll": ev.NoRollCalled(DEALER, 1),
    }[act]
    refused = t.tell(event).refused
    if verdict == UNREADABLE and act.startswith("enter"):
        t.do(event)
    expected = {
        ("Verified", "confirm"): Phase.PUSHING,
        ("Verified", "enter same"): Phase.PUSHING,
        ("Verified", "enter other"): Phase.DISPUTED,
        ("Verified", "no roll"): Phase.DISPUTED,
        ("NoRoll", "confirm"): None,
        ("NoRoll", "enter same"): Phase.DISPUTED,
        ("NoRoll", "enter other"): Phase.DISPUTED,
        ("NoRoll", "no roll"): Phase.WITHOUT_RESULT,
        ("Unreadable", "confirm"): None,
        ("Unreadable", "enter same"): Phase.PUSHING,
        ("Unreadable", "enter other"): Phase.PUSHING,
        ("Unreadable", "no roll"): Phase.WITHOUT_RESULT,
    }[type(verdict).__name__, act]
    if expected is None:
        assert refused
    else:
        assert t.phase is expected


def test_a_confirmation_of_other_values_or_another_round_is_refused():
    t = Playing().open().awaiting_dealer(READ)
    assert "differ" in t.tell(ev.ValuesConfirmed(DEALER, 1, (1, 4, 5))).refused.reason
    assert "another round" in t.tell(ev.ValuesConfirmed(DEALER, 2, (1, 4, 4))).refused.reason


@pytest.mark.parametrize(
    ("profile", "wagers"), [("pa-625a", WagersDo.RETURNED), ("ma", WagersDo.SILENT)]
)
def test_no_roll_says_what_happens_to_the_wagers(profile, wagers):
    t = Playing(profile=profile).open().awaiting_dealer(TILTED).do(ev.NoRollCalled(DEALER, 1))
    said = t.last_of(do.Announce)
    assert (said.notice, said.wagers, said.cause) == (Notice.NO_ROLL, wagers, Cause.NOT_FLAT)
    t.do(ev.WagersSettled(DEALER, 1))
    assert t.last_of(do.RecordRound).wagers is wagers


# ── Irregularities that meet ────────────────────────────────────────────────


def _moment(t: Playing, name: str) -> ev.Event:
    o = t.state.occasion
    return {
        "shaker": ev.ShakerFault(o, "motor-stall"),
        "estop": ev.EstopPressed(),
        "compartment": ev.CompartmentOpened(),
        "not moved": ev.TossDisproved(o),
        "no roll": ev.ReadingMade(o, TILTED),
        "lamp": ev.LampFault(o, "lamp-readback"),
        "reader": ev.ReaderFault(o, "camera"),
        "unreadable": ev.ReadingMade(o, UNREADABLE),
        "verified": ev.ReadingMade(o, READ),
    }[name]


def _end(t: Playing) -> tuple[str, Phase]:
    """Bring the round to its end as the dealer and the floorperson would; say how it ended."""
    if t.phase is Phase.TOSSING:
        t.do(ev.TossSettled(t.state.occasion, TossProof(3.0, 700.0, 740.0, 36.0)))
    if t.phase is Phase.COMING_TO_REST:
        t.at_rest()
    if t.phase is Phase.READING:
        t.read(READ)
    if t.phase is Phase.AWAITING_DEALER:
        flat = not isinstance(t.state.reading, NoRoll)
        act = ev.ValuesEntered(DEALER, 1, (1, 4, 4)) if flat else ev.NoRollCalled(DEALER, 1)
        t.do(act)
        if t.phase is Phase.AWAITING_DEALER:
            t.do(act)
    if t.phase is Phase.PUSHING:
        t.do(ev.LampsShown(t.state.occasion, (1, 4, 4)))
        t.do(ev.WagersSettled(DEALER, 1), ev.LampsOffRequested(DEALER, 1))
        t.do(ev.LampsDark(t.state.occasion))
    if t.phase is Phase.AWAITING_PRESENCE:
        t.do(ev.PresenceGiven(FLOOR, 1), ev.WagersSettled(DEALER, 1))
    if t.phase is Phase.WITHOUT_RESULT:
        t.do(ev.WagersSettled(DEALER, 1))
    return t.last_of(do.RecordRound).ending.value, t.phase


OUT, NEXT, DUE = Phase.OUT_OF_SERVICE, Phase.PACING, Phase.INSPECTION_DUE

IN_TOSS = {
    # in the toss: what each pair leads to, in either order and in the same moment
    frozenset({"shaker", "lamp"}): ("void", OUT),
    frozenset({"shaker", "reader"}): ("void", OUT),
    frozenset({"shaker", "compartment"}): ("void", OUT),
    frozenset({"shaker", "estop"}): ("void", OUT),
    frozenset({"lamp", "reader"}): ("settled_by_hand", OUT),
    frozenset({"lamp", "compartment"}): ("void", OUT),
    frozenset({"lamp", "estop"}): ("void", OUT),
    frozenset({"reader", "compartment"}): ("void", OUT),
    frozenset({"reader", "estop"}): ("void", OUT),
    frozenset({"compartment", "estop"}): ("void", DUE),
}
WHEN_READ = {
    # while the reader reads the dice at rest
    frozenset({"no roll", "lamp"}): ("no_roll", OUT),
    frozenset({"no roll", "shaker"}): ("no_roll", OUT),
    frozenset({"lamp", "unreadable"}): ("settled_by_hand", OUT),
    frozenset({"lamp", "verified"}): ("settled_by_hand", OUT),
    frozenset({"lamp", "shaker"}): ("settled_by_hand", OUT),
    frozenset({"lamp", "reader"}): ("settled_by_hand", OUT),
    frozenset({"lamp", "compartment"}): ("void", OUT),
    frozenset({"shaker", "verified"}): ("settled", OUT),
    frozenset({"shaker", "unreadable"}): ("settled", OUT),
    frozenset({"shaker", "reader"}): ("settled", OUT),
    frozenset({"shaker", "compartment"}): ("void", OUT),
    frozenset({"reader", "compartment"}): ("void", OUT),
}


def _pairs(table):
    return [
        (*pair, *ending) for names, ending in table.items() for pair in permutations(sorted(names))
    ]


@pytest.mark.parametrize(("first", "second", "ending", "phase"), _pairs(IN_TOSS))
@pytest.mark.parametrize("together", [False, True], ids=["one by one", "together"])
def test_faults_that_meet_in_the_toss(first, second, ending, phase, together):
    t = Playing().open().betting().no_more_bets().do(ev.ActivationRequested(DEALER, 1))
    o = t.state.occasion
    t.do(ev.TossPlanDrawn(o, PLAN, t.now), ev.LampsProvedDark(o, 0.0), ev.TossStarted(o))
    _both(t, first, second, together)
    assert _end(t) == (ending, phase)


@pytest.mark.parametrize(("first", "second", "ending", "phase"), _pairs(WHEN_READ))
@pytest.mark.parametrize("together", [False, True], ids=["one by one", "together"])
def test_faults_that_meet_when_the_dice_are_read(first, second, ending, phase, together):
    t = Playing().open().settled().at_rest()
    _both(t, first, second, together)
    assert _end(t) == (ending, phase)


def _both(t: Playing, first: str, second: str, together: bool) -> None:
    events = [_moment(t, first), _moment(t, second)]
    for event in gravest_first(events, lambda event: event) if together else events:
        t.tell(event)


def test_no_roll_against_a_lost_reader_depends_on_which_is_known():
    t = Playing().open().settled().at_rest()
    _both(t, "reader", "no roll", together=True)
    assert t.state.reading == TILTED
    assert _end(t) == ("no_roll", OUT)
    late = Playing().open().settled().at_rest()
    _both(late, "reader", "no roll", together=False)
    assert _end(late) == ("no_roll", OUT)  # read after all, before the dealer has entered


def test_a_compartment_opened_with_the_reading_voids_and_after_it_does_not():
    t = Playing().open().settled().at_rest()
    _both(t, "verified", "compartment", together=True)
    assert _end(t) == ("void", DUE)
    later = Playing().open().settled().at_rest()
    _both(later, "verified", "compartment", together=False)
    assert _end(later) == ("settled", DUE)


def test_an_unmoved_toss_is_void_and_out_of_order():
    t = Playing().open().settled()
    t.do(ev.TossDisproved(t.state.occasion))
    assert _end(t) == ("void", OUT)


@pytest.mark.parametrize(
    ("settings", "present", "absent"),
    [
        ({"profile": "pa-625a"}, FLOOR, DEALER),
        ({"profile": "ma"}, SUPERVISOR, FLOOR),
        ({"profile": "md", "cover_fitted": True}, SUPERVISOR, TECHNICIAN),
    ],
    ids=["pa-625a", "ma", "md"],
)
def test_a_lamp_fault_after_the_toss_is_settled_in_presence_and_then_gaming_ceases(
    settings, present, absent
):
    t = Playing(**settings).open().lit()
    t.do(ev.LampFault(None, "bulb"))
    assert t.state.values == (1, 4, 4), "the result stands"
    assert t.tell(ev.WagersSettled(DEALER, 1)).refused, "nobody is present yet"
    assert t.tell(ev.PresenceGiven(absent, 1)).refused
    t.do(ev.PresenceGiven(present, 1))
    assert t.tell(ev.WagersSettled(present, 1)).refused, "the dealer settles, another is present"
    t.do(ev.WagersSettled(DEALER, 1))
    assert t.last_of(do.RecordRound).ending is Ending.SETTLED_BY_HAND
    assert t.phase is Phase.OUT_OF_SERVICE
    for act in (ev.BetsRequested(DEALER), ev.OpenRequested(FLOOR), ev.ReturnRequested(FLOOR)):
        assert t.tell(act).refused, "all gaming ceases until it is fixed"
    t.do(ev.FaultCleared(TECHNICIAN, FaultKind.LAMP), ev.ReturnRequested(FLOOR))
    assert t.phase is Phase.INSPECTION_DUE


# ── Restart ─────────────────────────────────────────────────────────────────


def _restart(t: Playing, *, latched: bool = False) -> Playing:
    return t.do(ev.Restarted(False, False, t.state.cover_closed, latched))


def test_restart_in_the_toss_is_void_and_turns_nothing():
    t = Playing().open().betting().no_more_bets().do(ev.ActivationRequested(DEALER, 1))
    o = t.state.occasion
    t.do(ev.TossPlanDrawn(o, PLAN, t.now), ev.LampsProvedDark(o, 0.0))
    _restart(t)
    assert (t.state.ending, t.state.cause) == (Ending.VOID, Cause.INTERRUPTED)
    assert do.StartToss not in t.commands
    t.do(ev.WagersSettled(DEALER, 1))
    assert t.phase is Phase.INSPECTION_DUE


def test_where_the_lids_flag_stands_the_dealer_reads_in_the_presence_of_a_floorperson():
    t = _restart(Playing(profile="md", cover_fitted=True).open().settled().revealed(), latched=True)
    for who in (DEALER, TECHNICIAN):
        assert t.tell(ev.PresenceGiven(who, 1)).refused
    t.do(ev.PresenceGiven(FLOOR, 1))
    assert t.phase is Phase.AWAITING_DEALER
    assert t.last_of(do.DriveCover).open
    assert t.last_of(do.Announce).notice is Notice.ENTER


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (DEALER, DEALER),
        (DEALER, Person(DEALER.name, Role.FLOORPERSON)),
        (DEALER, Person(f"{DEALER.name.lower()} ", Role.FLOORPERSON)),
        (FLOOR, SUPERVISOR),
        (DEALER, TECHNICIAN),
        (TECHNICIAN, FLOOR),
    ],
)
def test_one_person_or_the_wrong_two_do_not_vouch_for_the_dice(first, second):
    t = _restart(Playing().open().settled())
    t.tell(ev.CompartmentWatched(first, 1, stayed=True))
    t.tell(ev.CompartmentWatched(second, 1, stayed=True))
    assert t.phase is Phase.INTERRUPTED
    assert t.tell(ev.ValuesEntered(DEALER, 1, (1, 4, 4))).refused
    t.do(*2 * [ev.CompartmentWatched(FLOOR, 1, stayed=False)])
    assert (t.state.ending, t.state.cause) == (Ending.VOID, Cause.INTERRUPTED)


def test_restart_shows_a_committed_result_again():
    t = Playing().open().lit()
    _restart(t)
    assert t.last_of(do.PushLamps).values == (1, 4, 4)
    t.do(ev.LampsShown(t.state.occasion, (1, 4, 4)), ev.WagersSettled(DEALER, 1))
    t.do(ev.LampsOffRequested(DEALER, 1), ev.LampsDark(t.state.occasion))
    assert t.phase is Phase.INSPECTION_DUE


def test_out_of_service_survives_a_restart():
    t = Playing().open().do(ev.LampFault(None, "bulb"))
    assert _restart(t).phase is Phase.OUT_OF_SERVICE


@pytest.mark.parametrize("latched", [True, False])
@pytest.mark.parametrize("driven", [True, False])
def test_interrupted_and_covered_nobody_types_before_the_cover_is_off(driven, latched):
    t = Playing(cover_fitted=True, cover_driven=driven).open().settled().no_more_bets()
    t.do(ev.RevealRequested(DEALER, 1), ev.Restarted(False, False, True, latched))
    if not latched:
        t.do(*(ev.CompartmentWatched(who, 1, stayed=True) for who in (DEALER, FLOOR)))
    assert (t.phase, t.last_of(do.DriveCover).open) == (Phase.REVEALING, True)
    assert t.tell(ev.ValuesEntered(DEALER, 1, (6, 6, 6))).refused
    t.do(ev.CoverOpened()).at_rest().read(UNREADABLE)
    assert t.last_of(do.Announce).notice is Notice.READ_IN_PRESENCE
    t.do(ev.PresenceGiven(FLOOR, 1), *2 * [ev.ValuesEntered(DEALER, 1, (6, 6, 6))])
    assert t.last_of(do.PushLamps).values == (6, 6, 6)


def test_covered_again_before_the_dealer_has_read_it_is_uncovered_and_read_again():
    t = Playing(cover_fitted=True).open().awaiting_dealer(UNREADABLE)
    t.do(ev.ValuesEntered(DEALER, 1, (1, 4, 4)), ev.CoverClosed())
    assert (t.phase, t.said, t.last_of(do.DriveCover).open) == (
        *(Phase.REVEALING, None),
        True,
    )
    t.do(ev.CoverOpened()).at_rest().read(Verified((1, 4, 4)))
    t.do(ev.ValuesConfirmed(DEALER, 1, (1, 4, 4)))


@pytest.mark.parametrize("covered", [True, False])
def test_interrupted_before_the_reveal_nobody_reads_by_eye_alone(covered):
    t = Playing(cover_fitted=True).open().settled().no_more_bets()
    t.do(ev.Restarted(False, False, covered, True), ev.RevealRequested(DEALER, 1))
    if covered:
        t.do(ev.CoverOpened())
    t.at_rest().read(UNREADABLE)
    assert t.phase is Phase.INTERRUPTED
    for who in (DEALER, FLOOR):
        assert t.tell(ev.ValuesEntered(who, 1, (6, 6, 6))).refused
    t.do(ev.PresenceGiven(FLOOR, 1), *2 * [ev.ValuesEntered(DEALER, 1, (6, 6, 6))])


def test_what_the_reader_verifies_after_an_interruption_is_confirmed_as_usual():
    t = Playing(cover_fitted=True).open().settled()
    _restart(t, latched=True).no_more_bets().do(ev.RevealRequested(DEALER, 1), ev.CoverOpened())
    t.at_rest().read(Verified((1, 4, 4))).do(ev.ValuesConfirmed(DEALER, 1, (1, 4, 4)))
    assert t.last_of(do.PushLamps).values == (1, 4, 4)


def test_restart_never_draws_multipliers_again():
    t = Playing(profile="pa-625b", cover_fitted=True).open().settled().no_more_bets()
    o = t.state.occasion
    t.do(ev.MultipliersDrawn(o, (Multiplied("total-4", 499),)))
    _restart(t, latched=True)
    assert do.DrawMultipliers not in t.commands
    assert t.last_of(do.ShowMultipliers).multipliers == (Multiplied("total-4", 499),)


def test_a_verified_reading_that_the_dealer_is_to_enter_outlives_a_restart():
    t = Playing(entry_mode="dealer_entry").open().awaiting_dealer(Verified((1, 4, 4)))
    t.do(ev.Restarted(False, False, False))
    assert (t.phase, t.state.reading) == (Phase.AWAITING_DEALER, Verified((1, 4, 4)))
    assert t.last_of(do.Announce).notice is Notice.ENTER


@pytest.mark.parametrize("said", [(), (DEALER, FLOOR), (FLOOR, DEALER)])
def test_after_an_interruption_the_dealer_types_and_settles_and_who_is_present_does_not(said):
    t = _restart(Playing().open().settled(), latched=not said)
    t.do(*(ev.CompartmentWatched(who, 1, stayed=True) for who in said))
    if not said:
        t.do(ev.PresenceGiven(FLOOR, 1))
    for who in (FLOOR, SUPERVISOR, Person(" FLORA", Role.DEALER)):
        assert t.tell(ev.ValuesEntered(who, 1, (1, 4, 4))).refused
        assert t.tell(ev.NoRollCalled(who, 1)).refused
    t.do(*2 * [ev.ValuesEntered(DEALER, 1, (1, 4, 4))])
    t.do(ev.LampsShown(t.state.occasion, (1, 4, 4)))
    assert t.tell(ev.WagersSettled(FLOOR, 1)).refused
    t.do(ev.WagersSettled(DEALER, 1))


def test_a_flag_that_was_set_again_after_an_outage_proves_nothing_of_it():
    t = _restart(_restart(Playing().open().settled()), latched=True)
    assert t.tell(ev.PresenceGiven(FLOOR, 1)).refused
    assert t.last.refused is not None
    t.do(*(ev.CompartmentWatched(who, 1, stayed=True) for who in (DEALER, FLOOR)))


def _words(t: Playing, *said: tuple[Person, bool]) -> Playing:
    return t.do(*(ev.CompartmentWatched(who, 1, stayed) for who, stayed in said))


def test_what_one_denies_two_others_do_not_make_true():
    t = _words(_restart(Playing().open().settled()), (SUPERVISOR, False), (FLOOR, True))
    assert t.tell(ev.CompartmentWatched(DEALER, 1, stayed=True)).refused
    assert _words(t, (FLOOR, False)).state.ending is Ending.VOID


def test_a_first_word_in_a_role_that_makes_no_pair_gives_way():
    t = _words(_restart(Playing().open().settled()), (Person(DEALER.name, Role.FLOORPERSON), True))
    assert _words(t, (DEALER, True), (FLOOR, True)).phase is Phase.AWAITING_DEALER


# ── Refusals ────────────────────────────────────────────────────────────────


def test_a_refusal_says_why_and_changes_nothing():
    t = Playing().open()
    before = t.state
    refused = t.tell(ev.BetsRequested(TECHNICIAN)).refused
    assert t.state is before
    assert refused.code == "condition"
    assert "dealer" in refused.reason
    assert "phase `ready`" in t.tell(ev.NoMoreBetsCalled(DEALER, 0)).refused.reason


def test_every_step_can_say_on_what_it_rests():
    t = Playing(profile="ma").open().awaiting_dealer(TILTED).do(ev.NoRollCalled(DEALER, 1))
    assert t.last.because()[0][1].clause == "6(a)"


def test_a_refusal_names_the_guard_of_the_row_with_the_fewest_that_fail():
    def guard(name: str, *, holds: bool) -> Guard:
        return Guard(lambda _: holds, f"{name} is missing")

    met, first, second, third = (
        guard(name, holds=name == "met") for name in ("met", "first", "second", "third")
    )
    rows = [
        Row("far", frozenset({Phase.READY}), ev.BetsRequested, "", when=(met, first, second)),
        Row("near", frozenset({Phase.READY}), ev.BetsRequested, "", when=(third, met)),
    ]
    t = Playing().open()

    state = t.state.changed({"phase": Phase.READY})
    refused = Machine(rows).step(state, ev.BetsRequested(DEALER), t.rules).refused

    assert refused is not None
    assert refused.reason == "bets requested: third is missing"
