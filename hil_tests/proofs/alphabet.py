"""Every event that the exploration offers to every state.

Owns the representatives. Numbers: a state is brought to round 2 and serial 2 before it is stepped
(`explore.normal`), so 2 is the present and 1 the past; events of both are offered, and of the
wrong purpose, and of none. Outcomes: one verified toss, one other that a dealer may enter, one no
roll, one unreadable. Deadlines: each timer, passed, for the present and the past. Persons: one of
each role.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from hil_tests.proofs.tables import ExploredTable
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.outcome import Values
from shaker_ctl.rules.vocabulary import (
    Condition,
    DiceStep,
    FaultKind,
    Multiplied,
    Occasion,
    Part,
    Person,
    Purpose,
    RetireStep,
    Role,
    Timer,
    TimeTrust,
    TossPlan,
    TossProof,
    WalkStep,
)
from vision.reading import Kind, NoRoll, Unreadable, Verified

NOW, BEFORE = 2, 1
"""Numbers of the present and of the last round, cycle or trial."""

READ: Values = (1, 4, 4)
OTHER: Values = (3, 3, 3)
THIRD: Values = (2, 2, 5)
"""Values that neither dealer nor reader names."""
PLAN = TossPlan(720.0, 3.0, "representative")
PROOF = TossProof(3.0, 700.0, 740.0, 36.0)
LAWFUL = (Multiplied("triple-3", 300), Multiplied("one-4", 7, 2))
UNLAWFUL = (Multiplied("small", 2),)
UNREADABLE = Unreadable.of("representative")
VERDICTS = (Verified(READ), NoRoll(1, Kind.TILTED, 9.0), UNREADABLE)

PEOPLE = tuple(Person(role.value, role) for role in Role)
ANOTHER = Person("another", Role.FLOORPERSON)
"""A floorperson who did not make the inspection in hand."""
BOTH_TRADES = Person(" Dealer", Role.FLOORPERSON)
"""The dealer by name, otherwise typed, logged in as a floorperson: one person is never both sides
of a duty."""
NOTHING: Any = ()
"""What no console sends: values that are none, and no `no roll` either."""
LONG_AGO = timedelta(days=8)
"""A signature of this age holds no more."""
OCCASIONS = (
    Occasion(Purpose.PLAY, NOW),
    Occasion(Purpose.PLAY, BEFORE),
    Occasion(Purpose.INSPECTION, NOW),
    Occasion(Purpose.INSPECTION, BEFORE),
    Occasion(Purpose.SHIFT, NOW),
    Occasion(Purpose.TRIAL, NOW),
)
DICE_AT = timedelta(hours=-1)
"""When the representative dice were locked in, from the table's day."""


def alphabet(table: ExploredTable, purpose: Purpose) -> tuple[ev.Event, ...]:
    """Return every event offered to a state of `table` whose devices serve `purpose`.

    Answers of the present occasion come in every kind, foreign and past ones in one kind each.
    """
    present = Occasion(purpose, NOW)
    foreign = [occasion for occasion in OCCASIONS if occasion != present]
    return (
        *_answers(table, present),
        *(event for occasion in foreign for event in _foreign(table, occasion)),
        *_times(table),
        *_facts(present),
        *_acts(table.day),
    )


def _answers(table: ExploredTable, o: Occasion) -> list[ev.Event]:
    areas = table.rules.areas
    return [
        ev.TossPlanDrawn(o, PLAN, table.day),
        ev.TossPlanDrawn(o, PLAN, table.day + timedelta(days=32)),
        ev.TossPlanDrawn(o, PLAN, table.day + 2 * DICE_AT),
        ev.TossPlanDrawn(o, PLAN, table.day, TimeTrust.NONE),
        ev.TossPlanDrawn(o, PLAN, table.day, behind_last_record=True),
        *(ev.TossPlanDrawn(o, PLAN, bad) for bad in table.bad_days),
        ev.TossStarted(o),
        ev.TossNotStarted(o, "lamps-stale"),
        ev.TossNotStarted(o, "interlock"),
        ev.TossSettled(o, PROOF),
        ev.JogFinished(o),
        ev.AtRest(o),
        ev.TossDisproved(o),
        ev.LampsProvedDark(o, 0.0),
        ev.LampsDark(o),
        ev.EachLampProved(o, areas),
        ev.EachLampProved(o, areas[1:]),
        *(ev.ReadingMade(o, verdict) for verdict in VERDICTS),
        *(ev.LampsShown(o, values) for values in (READ, OTHER)),
        *(ev.TimerExpired(timer, o) for timer in Timer),
        ev.MultipliersDrawn(o, LAWFUL),
        ev.MultipliersDrawn(o, UNLAWFUL),
        ev.MultipliersDrawn(o, ()),
        ev.MultipliersShown(o),
        ev.MultipliersNotShown(o, "representative"),
    ]


def _foreign(table: ExploredTable, o: Occasion) -> list[ev.Event]:
    """One of each kind of answer; of timers the likeliest to come late."""
    late = (Timer.TOSS, Timer.LAMPS, Timer.BETTING, Timer.PAYOUT)
    found: dict[object, ev.Event] = {}
    for event in _answers(table, o):
        timer = event.timer if isinstance(event, ev.TimerExpired) else None
        if timer is None or timer in late:
            found.setdefault((type(event), timer), event)
    return list(found.values())


def _times(table: ExploredTable) -> list[ev.Event]:
    """Answers of the clock: to the newest question, to the one before it, and to none."""
    day, much_later = table.day, table.day + timedelta(days=32)
    newest, earlier = Occasion(Purpose.CLOCK, NOW), Occasion(Purpose.CLOCK, BEFORE)
    return [
        ev.TimeChecked(newest, day, TimeTrust.RTC),
        ev.TimeChecked(newest, day, TimeTrust.NONE),
        ev.TimeChecked(newest, day, TimeTrust.SYNCHRONISED, behind_last_record=True),
        ev.TimeChecked(newest, much_later, TimeTrust.CONFIRMED),
        ev.TimeChecked(newest, day + 2 * DICE_AT, TimeTrust.RTC),
        *(ev.TimeChecked(newest, bad, TimeTrust.RTC) for bad in table.bad_days),
        *(ev.TimeChecked(o, day, TimeTrust.RTC) for o in (earlier, OCCASIONS[0])),
    ]


def _facts(present: Occasion) -> list[ev.Event]:
    past = Occasion(present.purpose, BEFORE)
    return [
        *(
            fault(o, "representative")
            for fault in (ev.ShakerFault, ev.LampFault, ev.ReaderFault)
            for o in (None, present, past)
        ),
        ev.ControllerFault("representative"),
        *(ev.ConditionChanged(what) for what in (Condition.LIGHT, Condition.SETTINGS)),
        ev.CompartmentOpened(),
        ev.CompartmentClosed(),
        ev.EstopPressed(),
        ev.EstopReleased(),
        ev.CoverClosed(),
        ev.CoverOpened(),
        *(
            ev.Restarted(compartment, False, cover, locked)
            for compartment in (False, True)
            for cover in (False, True)
            for locked in (False, True)
        ),
        ev.Restarted(False, True, False),
        *(ev.PlayerPressed(number) for number in (NOW, BEFORE)),
    ]


def _seen_and_signed(who: Person, day: datetime) -> list[ev.Event]:
    """What only the person who makes an inspection may say."""
    return [
        *(ev.LampValuesEntered(who, values) for values in (READ, OTHER)),
        ev.LampsSeen(who),
        *(ev.CycleJudged(who, tossed) for tossed in (True, False)),
        *(ev.Signed(who, at) for at in (day, day - LONG_AGO)),
    ]


def _acts(day: datetime) -> list[ev.Event]:
    steps = frozenset(RetireStep)
    found: list[ev.Event] = []
    found += [ev.CompartmentWatched(BOTH_TRADES, NOW, stayed=True)]
    found += _seen_and_signed(ANOTHER, day)
    found += [ev.ShiftBegan(None), ev.DiceChanged(ANOTHER, ("a", "b", "c"), day + DICE_AT)]
    found += [ev.DiceCorrected(PEOPLE[1], serials) for serials in (("a", "b"), ("used", "b", "c"))]
    found += [
        ev.DiceChanged(ANOTHER, serials, day + DICE_AT)
        for serials in (("a", "b"), ("a", "A", "b"), ("a", "b", "c", "d"), (" Used", "b", "c"))
    ]
    found += [
        ev.InspectionRequested(PEOPLE[1], part, day - LONG_AGO) for part in (Part.LAMPS, Part.ALL)
    ]
    found += [ev.CorrectionAgreed(PEOPLE[1], NOW, NOTHING), ev.DiceKept(ANOTHER)]
    found += [
        *(ev.DisputeDecided(BOTH_TRADES, NOW, values) for values in (READ, OTHER, None)),
        *(ev.CorrectionAgreed(BOTH_TRADES, NOW, values) for values in (OTHER, None)),
        *(ev.PresenceGiven(BOTH_TRADES, NOW), ev.WagersSettled(BOTH_TRADES, NOW)),
        ev.RevealRequested(BOTH_TRADES, NOW),
        *(ev.ValuesEntered(ANOTHER, NOW, values) for values in (READ, OTHER)),
        ev.NoRollCalled(ANOTHER, NOW),
    ]
    for who in PEOPLE:
        found += [
            ev.OpenRequested(who),
            ev.CloseRequested(who),
            *(ev.InspectionRequested(who, part, day) for part in Part),
            ev.InspectionAbandoned(who),
            ev.LampSeenWrong(who, "small"),
            ev.LampSeenWrong(who, "no such area"),
            ev.WalkRequested(who),
            *(ev.WalkSteered(who, step) for step in WalkStep),
            ev.CycleRequested(who),
            *_seen_and_signed(who, day),
            ev.ShiftBegan(who),
            *(ev.ShiftInspectionRequested(who, at) for at in (day, day - LONG_AGO)),
            ev.TimeConfirmed(who),
            ev.DiceChanged(who, ("a", "b", "c"), day + DICE_AT),
            ev.DiceCorrected(who, ("a", "b", "c")),
            ev.DiceKept(who),
            *(ev.DiceLogged(who, DiceStep.INSPECTED, (serial,)) for serial in ("a", "new")),
            ev.BetsRequested(who),
            *(ev.FaultCleared(who, kind) for kind in FaultKind),
            ev.OutOfServiceRequested(who),
            ev.ReturnRequested(who),
            ev.ShakerRetired(who, steps),
            ev.ShakerRetired(who, frozenset()),
            ev.ShakerRestored(who),
            ev.LidRequested(who),
            ev.JogRequested(who, 100.0, 1.0),
            ev.TrialTossRequested(who),
            ev.LampTrialRequested(who),
        ]
        for number in (NOW, BEFORE):
            found += [
                ev.NoMoreBetsCalled(who, number),
                ev.ActivationRequested(who, number),
                ev.RevealRequested(who, number),
                *(ev.ValuesEntered(who, number, values) for values in (READ, OTHER)),
                *(ev.ValuesConfirmed(who, number, values) for values in (READ, OTHER)),
                ev.NoRollCalled(who, number),
                *(ev.CompartmentWatched(who, number, stayed) for stayed in (True, False)),
                *(ev.DisputeDecided(who, number, values) for values in (READ, OTHER, THIRD, None)),
                *(
                    kind(who, number, values)
                    for kind in (ev.CorrectionNamed, ev.CorrectionAgreed)
                    for values in (READ, OTHER, None)
                    if number == NOW or values == OTHER
                ),
                ev.PresenceGiven(who, number),
                ev.WagersSettled(who, number),
                ev.LampsOffRequested(who, number),
            ]
    return found
