"""Every event that the exploration offers to every state.

Owns the representatives. Numbers: a state is brought to round 2 and serial 2 before it is stepped
(`explore.normal`), so 2 is the present and 1 the past; events of both are offered, and of the
wrong purpose, and of none. Outcomes: one verified toss, one other that a dealer may enter, one no
roll, one unreadable. Deadlines: each timer, passed, for the present and the past. Persons: one of
each role.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import product
from typing import Any

from hil_tests.proofs.tables import ExploredTable
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.outcome import Values
from shaker_ctl.rules.table_text import EVENTS
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
FRESH = ("a", "b", "c")
"""Serials of the representative dice."""
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


Choices = dict[str, Iterable[Any]]
"""The representatives of a field, by its name."""

FIELDS: Choices = {
    "person": PEOPLE,
    "round": (NOW, BEFORE),
    "values": (READ, OTHER),
    "verdict": VERDICTS,
    "multipliers": (LAWFUL, UNLAWFUL, ()),
    "plan": (PLAN,),
    "proof": (PROOF,),
    "timer": Timer,
    "answered_at_s": (0.0,),
    "reason": ("lamps-stale", "interlock"),
    "code": ("representative",),
    "kind": FaultKind,
    "part": Part,
    "area": ("small", "no such area"),
    "step": WalkStep,
    "tossed": (True, False),
    "stayed": (True, False),
    "serials": (FRESH,),
    "steps": (frozenset(RetireStep), frozenset()),
    "rpm": (100.0,),
    "seconds": (1.0,),
}


def _every(kinds: Iterable[type[ev.Event]], of: Choices) -> Iterator[ev.Event]:
    """Yield each of these events in every way; a field that is not named keeps its default."""
    for kind in kinds:
        names = [each.name for each in dataclasses.fields(kind) if each.name in of]
        for values in product(*(of[name] for name in names)):
            yield kind(**dict(zip(names, values, strict=True)))


def _kinds(base: type[ev.Event]) -> list[type[ev.Event]]:
    return [kind for kind in EVENTS.values() if issubclass(kind, base)]


def _clock(table: ExploredTable) -> list[dict[str, Any]]:
    """What the clock may say: of a day to play on, of others, and of one that nobody trusts."""
    others = (table.day + timedelta(days=32), table.day + 2 * DICE_AT, *table.bad_days)
    return [
        {"at": table.day, "trust": TimeTrust.RTC},
        {"at": table.day, "trust": TimeTrust.NONE},
        {"at": table.day, "trust": TimeTrust.SYNCHRONISED, "behind_last_record": True},
        *({"at": other, "trust": TimeTrust.CONFIRMED} for other in others),
    ]


def _answers(table: ExploredTable, o: Occasion) -> list[ev.Event]:
    areas = table.rules.areas
    of = FIELDS | {"occasion": (o,), "areas": (areas, areas[1:])}
    of_the_clock = {ev.TossPlanDrawn, ev.TimeChecked}
    kinds = [kind for kind in _kinds(ev.Answer) if kind not in of_the_clock]
    plans = [ev.TossPlanDrawn(o, PLAN, **said) for said in _clock(table)]
    return [*plans, *_every((*kinds, ev.TimerExpired), of)]


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
    newest, earlier = Occasion(Purpose.CLOCK, NOW), Occasion(Purpose.CLOCK, BEFORE)
    return [
        *(ev.TimeChecked(newest, said.pop("at"), **said) for said in _clock(table)),
        *(ev.TimeChecked(o, table.day, TimeTrust.RTC) for o in (earlier, OCCASIONS[0])),
    ]


def _facts(present: Occasion) -> list[ev.Event]:
    occasions = (None, present, Occasion(present.purpose, BEFORE))
    of = FIELDS | {"occasion": occasions, "what": (Condition.LIGHT, Condition.SETTINGS)}
    told = (ev.ShakerFault, ev.LampFault, ev.ReaderFault, ev.ControllerFault, ev.ConditionChanged)
    contacts = (ev.CompartmentOpened, ev.CompartmentClosed, ev.EstopPressed, ev.EstopReleased)
    cover = (ev.CoverClosed, ev.CoverOpened)
    restarts = product((False, True), (False,), (False, True), (False, True))
    return [
        *_every((*told, *contacts, *cover, ev.PlayerPressed), of),
        *(ev.Restarted(*each) for each in restarts),
        ev.Restarted(False, True, False),
    ]


def _acts(day: datetime) -> list[ev.Event]:
    of = FIELDS | {"at": (day, day - LONG_AGO)}
    results: Choices = {"values": (READ, OTHER, None)}
    own: dict[type[ev.Event], Choices] = {
        ev.DisputeDecided: {"values": (READ, OTHER, THIRD, None)},
        ev.CorrectionNamed: results,
        ev.CorrectionAgreed: results,
        ev.InspectionRequested: {"at": (day,)},
        ev.DiceChanged: {"at": (day + DICE_AT,)},
        ev.DiceLogged: {"what": (DiceStep.INSPECTED,), "serials": (("a",), ("new",))},
    }
    kinds = (*_kinds(ev.Act), ev.ShiftBegan)
    every: list[Any] = [each for kind in kinds for each in _every((kind,), of | own.get(kind, {}))]
    # One person's acts stand together: a scattered walk, which follows the newest, gets far by it.
    return [*_by_others(of, day), *sorted(every, key=lambda each: PEOPLE.index(each.person))]


def _by_others(of: Choices, day: datetime) -> list[ev.Event]:
    """Acts of who did not begin, of who is both sides of a duty, begun long ago, or careless."""
    looks = (ev.LampValuesEntered, ev.LampsSeen, ev.CycleJudged, ev.Signed, ev.DiceKept)
    enters = (ev.ValuesEntered, ev.NoRollCalled)
    both = (ev.PresenceGiven, ev.WagersSettled, ev.RevealRequested, ev.CompartmentWatched)
    decides = (ev.DisputeDecided, ev.CorrectionAgreed)
    now = of | {"round": (NOW,), "stayed": (True,)}
    sets = (FRESH, ("a", "b"), ("a", "A", "b"), ("a", "b", "c", "d"), (" Used", "b", "c"))
    old: Choices = {"person": (PEOPLE[1],), "part": (Part.LAMPS, Part.ALL), "at": (day - LONG_AGO,)}
    return [
        *_every((*looks, *enters), now | {"person": (ANOTHER,)}),
        *_every(both, now | {"person": (BOTH_TRADES,)}),
        *_every(decides, now | {"person": (BOTH_TRADES,), "values": (READ, OTHER, None)}),
        *_every((ev.InspectionRequested,), old),
        ev.CorrectionAgreed(PEOPLE[1], NOW, NOTHING),
        ev.ShiftBegan(None),
        *(ev.DiceChanged(ANOTHER, serials, day + DICE_AT) for serials in sets),
        *(ev.DiceCorrected(PEOPLE[1], serials) for serials in (("a", "b"), ("used", "b", "c"))),
    ]
