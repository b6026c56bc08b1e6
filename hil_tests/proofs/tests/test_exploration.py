"""The machine as a whole: random walks, the way through a journal and back, the abstractions."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from functools import cache
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hil_tests.proofs.alphabet import ANOTHER, FRESH, NOTHING, NOW, PEOPLE, UNREADABLE, alphabet
from hil_tests.proofs.explore import (
    _ALIKE,
    CORRECTED_VALUES,
    FLOORPERSON,
    Exploration,
    explore,
    first,
    normal,
    normal_watch,
    transition,
)
from hil_tests.proofs.mutants import Ground, Mutant, judge, mutants
from hil_tests.proofs.posted import events_of, is_posted
from hil_tests.proofs.properties import Violation, check
from hil_tests.proofs.remembered import Node
from hil_tests.proofs.tables import ExploredTable, tables
from shaker_ctl.console.grammar import ACTS
from shaker_ctl.plain_form import PlainFormError
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.agreement import About, Agreement
from shaker_ctl.rules.commands import Command, RecordRound
from shaker_ctl.rules.machine import MACHINE, ROWS, Machine, permits, step
from shaker_ctl.rules.record import from_record, to_record
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.tests.playing import FLOOR
from shaker_ctl.rules.vocabulary import (
    Barrier,
    Cause,
    DiceSet,
    Ending,
    Occasion,
    Person,
    Purpose,
    Shown,
    Source,
)
from vision.reading import Unreadable, Verdict, Verified

TABLES = tables()
LETTERS = {
    (number, purpose): alphabet(table, purpose)
    for number, table in enumerate(TABLES)
    for purpose in Purpose
}
NO_RECORD = {ev.CorrectionAgreed(PEOPLE[1], NOW, NOTHING)}
"""What no console sends, and no journal can hold."""
ACCEPTED_FIRST = 8
"""A walk takes an event that is accepted, this often in nine, so that it gets somewhere."""


@given(st.integers(0, len(TABLES) - 1), st.integers(0, 2**32))
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_walks_keep_every_property_and_survive_the_journal(number, seed):
    """The same walk, through the journal and back: the recorded events give the recorded states."""
    table, luck = TABLES[number], Random(seed)
    state, watch = first(table)
    journal: list[str] = [json.dumps(to_record(state))]
    for _ in range(100):
        letters = [each for each in LETTERS[number, state.purpose] if each not in NO_RECORD]
        event = luck.choice(letters)
        if luck.randrange(ACCEPTED_FIRST + 1):
            open_now = [e for e in luck.sample(letters, 60) if permits(state, e, table.rules)]
            event = luck.choice(open_now or [event])
        case, after = transition(MACHINE, table, (state, watch), event)
        for name, holds in check(case):
            assert holds, (name, table.name, state, event, case.commands)
        assert permits(state, event, table.rules) == case.accepted
        state, watch = after or (state, watch)
        commands = [to_record(command) for command in case.commands]
        entry = {"event": to_record(event), "commands": commands, "state": to_record(state)}
        journal.append(json.dumps(entry))
    replayed = from_record(json.loads(journal[0]), TableState)
    for line in journal[1:]:
        recorded = json.loads(line)
        again = step(replayed, from_record(recorded["event"], ev.Event), table.rules)
        assert [to_record(command) for command in again.commands] == recorded["commands"]
        assert [from_record(c, Command) for c in recorded["commands"]] == list(again.commands)
        replayed = normal(again.state)
        assert replayed == from_record(recorded["state"], TableState)


SCATTERED = (0, 4, 6, 9, 12)
"""Tables of which the tests visit some states of every part of an inspection and of a round."""


@cache
def scattered(number: int) -> Exploration:
    """Some nodes of every phase, walked and not judged."""
    return explore(TABLES[number], max_nodes=5_000, keep=True, checked=False, scatter=True)


@pytest.mark.parametrize("number", [0, 4, 6, 9])
def test_a_bounded_exploration_finds_nothing(number):
    """The whole of it is `python -m hil_tests.proofs`; this is some of every phase."""
    found = explore(TABLES[number], max_nodes=500, scatter=True)
    assert not found.violations
    assert found.transitions > 50_000


def test_no_role_is_promised_an_act_that_the_rules_never_take_from_it():
    taken = {
        (type(way.event), getattr(way.event, "person", None))
        for number in SCATTERED
        for way in scattered(number).kept_ways
        if way.accepted
    }
    promised = {
        (kind, person)
        for person in PEOPLE
        for form in ACTS
        if person.role in form.roles
        for kind in events_of(form, person)
    }
    assert promised - taken == set()


@pytest.mark.parametrize("number", SCATTERED)
def test_what_is_alike_steps_alike(number):
    """The proof takes one state for all that decide alike: numbers, names, what is only told."""
    table, luck, found = TABLES[number], Random(number), scattered(number)
    played: set[Phase] = set()
    recorded = 0
    for way in found.kept_ways:
        (state, _), shift = found.kept_nodes[luck.choice(way.at)], luck.randint(1, 900)
        here = step(state, way.event, table.rules)
        there = step(_alike(state, shift), _moved(way.event, shift), table.rules)
        assert (here.refused is None) == (there.refused is None)
        assert normal(here.state) == normal(_swapped(there.state))
        assert [row.name for row in here.rows] == [row.name for row in there.rows]
        recorded += any(isinstance(each, RecordRound) for each in here.commands)
        if state.purpose is Purpose.PLAY:
            played.add(state.phase)
    assert recorded
    assert played >= {Phase.BETTING, Phase.PUSHING, Phase.COLLECTING}


@pytest.mark.parametrize("number", [9, 11], ids=["no cover", "driven cover"])
def test_dark_and_unknown_lamps_lead_to_the_same_where_they_are_proved_anew(number, monkeypatch):
    """All nodes of a table, with dark and unknown kept apart, come to those of the proof."""
    reduced = explore(TABLES[number], keep=True, checked=False)
    monkeypatch.setattr("hil_tests.proofs.explore._proved_anew", lambda _: False)
    apart = explore(TABLES[number], keep=True, checked=False)
    monkeypatch.undo()
    assert apart.nodes > reduced.nodes
    brought = {(normal(state), normal_watch(watch, state)) for state, watch in apart.kept_nodes}
    assert brought == set(reduced.kept_nodes)
    assert apart.rows == reduced.rows


def test_whatever_is_alike_is_tried_otherwise():
    """What the proof brings to one representative, the comparison brings to another one."""
    person, dice = FLOORPERSON, DiceSet(("a", "b", "c"), TABLES[0].day)
    state = TableState(
        Phase.COLLECTING,
        round=2,
        serial=2,
        signed_by=person,
        reading=UNREADABLE,
        by_eye=UNREADABLE,
        correction=CORRECTED_VALUES,
        used_dice=("used",),
        dice=dice,
        source=Source.ENTERED,
        barred=Barrier.CLOCK_SILENT,
        shown=frozenset({Shown.TRIPLE}),
        inspector=person,
        stated=Agreement(About.DICE, person, ("a", "b", "c")),
        ending=Ending.VOID,
        cause=Cause.SHAKER,
    )
    assert normal(state) == state
    other = _alike(state, 5)
    assert normal(other) == state
    same = [name for name in (*_ALIKE, "cause") if getattr(other, name) == getattr(state, name)]
    assert not same


def _otherwise(by_eye: Verdict | None) -> Verdict | None:
    if isinstance(by_eye, Unreadable):
        return Unreadable.of("else")
    return by_eye and Verified((6, 6, 6))


def _alike(state: TableState, shift: int) -> TableState:
    """Another state that decides alike, in every way at once."""
    told = state.barred not in (None, Barrier.TIME_UNTRUSTED)
    ended = state.ending in (Ending.VOID, Ending.NOT_STARTED)
    return dataclasses.replace(
        _swapped(state),
        round=state.round + shift,
        serial=state.serial + shift,
        signed_by=state.signed_by and FLOOR,
        barred=Barrier.DICE_EXPIRED if told else state.barred,
        cause=Cause.INTERRUPTED if ended else state.cause,
        reading=Unreadable.of("else") if isinstance(state.reading, Unreadable) else state.reading,
        by_eye=_otherwise(state.by_eye),
        correction=state.correction and dataclasses.replace(state.correction, agreed_by=ANOTHER),
        used_dice=state.used_dice and ("older", *state.used_dice),
        source=Source.DECIDED if state.source is Source.ENTERED else state.source,
        shown=frozenset({Shown.PAIR}) if state.shown else state.shown,
        dice=state.dice and DiceSet(tuple(_OTHER_DICE.values()), state.dice.installed_at),
        inspector=ANOTHER if state.inspector == FLOORPERSON else state.inspector,
        stated=_stated_by_another(state.stated),
    )


def _stated_by_another(stated: Agreement | None) -> Agreement | None:
    """Of who may name dice it decides alike which one did."""
    if stated is None or stated.about is About.DICE:
        return stated and dataclasses.replace(stated, by=ANOTHER)
    return dataclasses.replace(stated, by=_SWAPPED.get(stated.by, stated.by))


_OTHER_DICE = dict(zip(FRESH, ("x", "y", "z"), strict=True))
"""What `_alike` calls the dice in the shaker; an event that names one must name it so, too."""

_SWAPPED: dict[Person | None, Person] = {FLOORPERSON: ANOTHER, ANOTHER: FLOORPERSON}


def _swapped(state: TableState) -> TableState:
    """The same, with the one floorperson where the other one was."""
    return dataclasses.replace(
        state,
        witness=state.witness and _SWAPPED.get(state.witness, state.witness),
        denied_by=state.denied_by and _SWAPPED.get(state.denied_by, state.denied_by),
        stated=state.stated
        and dataclasses.replace(state.stated, by=_SWAPPED.get(state.stated.by, state.stated.by)),
    )


def _moved(event: ev.Event, shift: int) -> ev.Event:
    changes: dict[str, object] = {}
    if (person := getattr(event, "person", None)) in _SWAPPED:
        changes["person"] = _SWAPPED[person]
    occasion = getattr(event, "occasion", None)
    if occasion is not None:
        changes["occasion"] = Occasion(occasion.purpose, occasion.number + shift)
    if hasattr(event, "round"):
        changes["round"] = event.round + shift
    if isinstance(event, ev.DiceLogged):
        changes["serials"] = tuple(_OTHER_DICE.get(each, each) for each in event.serials)
    return dataclasses.replace(event, **changes)


@pytest.mark.parametrize(
    ("number", "wrong"),
    [
        (2, ""),
        (5, "compartment closed: deleted"),
        (4, "lamp entry seen: act `clear lamps` left out"),
    ],
)
def test_what_is_remembered_is_what_is_worked_out(number, wrong):
    """The same nodes, figures, rows and violations as every transition worked out by itself."""
    machine = next((m.machine() for m in mutants() if m.name == wrong), MACHINE)
    found = explore(
        TABLES[number], machine, max_nodes=150, max_violations=10**6, keep=True, scatter=True
    )
    visited = sorted({here for those in found.kept_before for here in those})
    assert len(visited) == 150
    assert bool(found.violations) == bool(wrong)
    plain = _worked_out(TABLES[number], machine, found.kept_nodes, visited)
    for name in ("transitions", "accepted", "reached", "rows"):
        assert getattr(found, name) == getattr(plain, name), name
    assert [sorted(each) for each in found.kept_before] == plain.kept_before
    assert _counted(found) == _counted(plain)
    for way in found.kept_ways:
        for at in way.at:
            taken = machine.step(found.kept_nodes[at][0], way.event, TABLES[number].rules)
            assert tuple(row.name for row in taken.rows) == way.rows


def _counted(found: Exploration) -> Counter[object]:
    return Counter((v.property, v.state, v.event) for v in found.violations)


def _worked_out(
    table: ExploredTable, machine: Machine, nodes: list[Node], visited: list[int]
) -> Exploration:
    """What an exploration has to find that visits these of its nodes."""
    found = Exploration(table.name, kept_before=[[] for _ in nodes])
    known = {node: number for number, node in enumerate(nodes)}
    for here in visited:
        state, _ = nodes[here]
        for event in LETTERS[TABLES.index(table), state.purpose]:
            case, after = transition(machine, table, nodes[here], event)
            found.transitions += 1
            found.accepted += case.accepted
            for name, holds in check(case):
                if holds:
                    found.reached[name] += 1
                else:
                    broken = Violation(name, table.name, state, event, case.step)
                    found.violations.append(broken)
            if after is not None:
                found.kept_before[known[after]].append(here)
                found.rows.update(row.name for row in case.step.rows if is_posted(event))
    return found


def test_a_mutant_is_killed_by_the_property_that_it_breaks_and_the_rules_as_they_are_by_none():
    """The last of these is seen only in nodes that the rules as they are do not have."""
    killed_by = {
        "the walk is paused: deleted": "the inspecting person may pause the walk, go on, go back",
        "lamp entry seen: act `clear lamps` left out": "who waits for a device has asked it",
        "open: in force, dice young enough: note `signature used` left out": "a signature opens",
        "lamp entry seen: note `entry seen` left out": "what a person is waited for is granted",
    }
    found = explore(TABLES[0], max_nodes=1500, keep=True, checked=False, scatter=True)
    ground = Ground.of(TABLES[0], found)
    chosen = [mutant for mutant in mutants() if mutant.name in killed_by]
    assert len(chosen) == len(killed_by)
    for mutant in chosen:
        assert judge(mutant, ground).startswith(killed_by[mutant.name]), mutant.name
        assert not judge(Mutant("as it is", mutant.row, mutant.row), ground)


ONLY_HEARD = {
    "light or calibration of a camera that is not in use",
    "dice are written into the ledger",  # which the records keep, and no state
}


def test_row_names_are_unique_and_rows_lead_somewhere():
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names)
    for row in ROWS:
        is_only_heard = row.name in ONLY_HEARD
        assert is_only_heard != bool(row.to or row.notes or row.do), row.name


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ({"type": "Nothing"}, "unknown to this version"),
        ({"type": "TossStarted"}, "occasion"),
        ({"type": "TossStarted", "occasion": None}, "occasion"),
        ({"type": "PlayerPressed", "round": "7"}, "'7' is not int"),
        ({"type": "PlayerPressed", "round": 7, "who": 1}, "no field `who`"),
        ({"type": "PlayerPressed", "round": True}, "not int"),
        ({"type": "ReadingMade", "occasion": {"type": "Occasion", "purpose": "play", "number": 1},
          "verdict": {"type": "Verified", "values": [1, 2, 9]}}, "values are 1 to 6"),
        ([], "an object"),
        ({"type": "StartTimer"}, "no field|missing|where a Event belongs"),
    ],
)  # fmt: skip
def test_a_damaged_record_is_an_error_and_not_a_strange_event(record, says):
    with pytest.raises(PlainFormError, match=says):
        from_record(record, ev.Event)
