"""Mutants of the table: does a wrong row get caught?

Owns their making and their judging. Made mechanically, from the rows as they are:

- each row deleted;
- each guard of each row negated;
- each target changed, to a fixed other phase, and each phase change suppressed;
- each note left out, and each act left out;
- each act misdirected: its command belongs to another occasion, or drives the other way.

A mutant is judged by the properties of `properties` and nothing else. It is run from every node of
the original exploration in which the changed row, or its event in its phases, plays a part, and
from there on through nodes that are new, up to a bound. It is killed by the first property that
does not hold, by a crash, or by a node from which no path leads home any more.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from hil_tests.proofs.alphabet import alphabet
from hil_tests.proofs.explore import HOME, Exploration, Node, normal, normal_watch
from hil_tests.proofs.properties import Case, check
from hil_tests.proofs.tables import Table
from hil_tests.proofs.watch import watched
from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.guards import negated
from shaker_ctl.rules.machine import MACHINE, ROWS, Machine
from shaker_ctl.rules.row import Act, Context, Row
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.vocabulary import Occasion, Purpose

MAX_NEW_NODES = 150
"""How far a mutant is followed into nodes that the original never reaches."""

MAX_TRIALS = 1500
"""Original transitions that a mutant is tried on, per table, spread evenly."""


@dataclass(frozen=True)
class Mutant:
    """One changed row."""

    name: str
    row: Row
    instead: Row | None
    """None: deleted."""

    def machine(self) -> Machine:
        rows = []
        for row in ROWS:
            if row is not self.row:
                rows.append(row)
            elif self.instead is not None:
                rows.append(self.instead)
        return Machine(rows)


def mutants() -> Iterator[Mutant]:
    """Yield every mutant of the table."""
    for row in ROWS:
        yield Mutant(f"{row.name}: deleted", row, None)
        for number, guard in enumerate(row.when):
            when = (*row.when[:number], negated(guard, "a mutant"), *row.when[number + 1 :])
            yield Mutant(f"{row.name}: guard `{guard.name}` negated", row, replace(row, when=when))
        if row.to is not None:
            other = Phase.CLOSED if row.to is not Phase.CLOSED else Phase.READY
            yield Mutant(
                f"{row.name}: leads to {other.value}", row, dataclasses.replace(row, to=other)
            )
            if row.on is not None and row.phases != {row.to}:
                yield Mutant(f"{row.name}: leads nowhere", row, dataclasses.replace(row, to=None))
        for number, note in enumerate(row.notes):
            notes = (*row.notes[:number], *row.notes[number + 1 :])
            name = f"{row.name}: note `{note.__name__}` left out"
            yield Mutant(name, row, dataclasses.replace(row, notes=notes))
        for number, act in enumerate(row.do):
            rest = (*row.do[:number], *row.do[number + 1 :])
            name = f"{row.name}: act `{act.__name__}`"
            yield Mutant(f"{name} left out", row, dataclasses.replace(row, do=rest))
            wrong = (*row.do[:number], _misdirected(act), *row.do[number + 1 :])
            yield Mutant(f"{name} misdirected", row, dataclasses.replace(row, do=wrong))


def _misdirected(act: Act) -> Act:
    def wrong(c: Context) -> do.Command | None:
        command: Any = act(c)
        if command is None:
            return None
        match command:
            case do.DriveCover():
                return do.DriveCover(command.occasion, not command.open)
            case do.LightOn():
                return do.LightOff()
            case do.LightOff():
                return do.LightOn()
            case do.ShowPhase():
                return do.ShowPhase(command.phase, not command.demonstration)
            case do.RecordRound():
                next_round: do.Command = dataclasses.replace(command, round=command.round + 1)
                return next_round
            case do.StopMotor() | do.StopReading() | do.TrustTime():
                return do.CancelTimer()
            case do.RaiseFault(kind=kind):
                return do.ClearFaults(kind)
            case do.ClearFaults(kind=kind):
                return do.RaiseFault(kind, "misdirected")
        elsewhere: do.Command = dataclasses.replace(command, occasion=Occasion(Purpose.PLAY, 77))
        return elsewhere

    return wrong


@dataclass
class Ground:
    """What an exploration left for judging mutants: nodes, and which rows were taken where."""

    table: Table
    nodes: list[Node]
    before: list[list[int]]
    taken: dict[str, list[tuple[int, ev.Event]]]
    at: dict[Phase, list[int]] = field(default_factory=lambda: defaultdict(list))
    known: set[Node] = field(default_factory=set)

    @classmethod
    def of(cls, table: Table, found: Exploration) -> Ground:
        ground = cls(table, found.kept_nodes, found.kept_before, found.kept_taken)
        for number, (state, _) in enumerate(ground.nodes):
            ground.at[state.phase].append(number)
        ground.known = set(ground.nodes)
        return ground


@dataclass
class MutantVerdict:
    """How a mutant fared."""

    mutant: Mutant
    killed_by: str = ""
    """Name of the property, `crash`, or `stuck`; empty: survived."""


def judge(mutant: Mutant, grounds: list[Ground]) -> MutantVerdict:
    """Try a mutant on every table in which its row is ever taken."""
    machine = mutant.machine()
    for ground in grounds:
        if mutant.row.name in ground.taken:
            reason = _killed(mutant, machine, ground)
            if reason:
                return MutantVerdict(mutant, reason)
    return MutantVerdict(mutant)


def _killed(mutant: Mutant, machine: Machine, ground: Ground) -> str:
    table, known = ground.table, ground.known
    new: set[Node] = set()
    fresh: deque[Node] = deque()
    for number, event in _trials(mutant, ground):
        node = ground.nodes[number]
        reason, after = _try(machine, table, node, event)
        if reason:
            return reason
        if after is not None and after not in known and after not in new:
            new.add(after)
            fresh.append(after)
    for _ in range(MAX_NEW_NODES):
        if not fresh:
            break
        node = fresh.popleft()
        leaves = False
        for event in alphabet(table, node[0].purpose):
            if not MACHINE.has_rows(node[0].phase, type(event)):
                continue
            reason, after = _try(machine, table, node, event)
            if reason:
                return reason
            if after is not None and after[0].phase is not node[0].phase:
                leaves = True
            if after is not None and after not in known and after not in new:
                new.add(after)
                fresh.append(after)
        if not leaves and node[0].phase not in HOME:
            return "stuck: some path leads home from everywhere"
    return ""


def _try(machine: Machine, table: Table, node: Node, event: ev.Event) -> tuple[str, Node | None]:
    """Return (property that fails, or "") and the node after, or None where it was refused."""
    state, watch = node
    try:
        step = machine.step(state, event, table.rules)
        seen = watched(table, watch, state, event, step)
        for name, holds in check(Case(table, watch, seen, state, event, step)):
            if not holds:
                return name, None
    except Exception as error:  # noqa: BLE001 - a crash of any kind kills the mutant
        return f"crash: {type(error).__name__}", None
    if step.refused is not None and seen is watch:
        return "", None
    return "", (normal(step.state), normal_watch(seen))


def _trials(mutant: Mutant, ground: Ground) -> Iterator[tuple[int, ev.Event]]:
    """Where the row was taken, then wherever it might be taken now."""
    row = mutant.row
    yield from _spread(ground.taken[row.name], MAX_TRIALS)
    if mutant.instead is None or mutant.instead.when == row.when or row.on is None:
        return
    letters = {
        purpose: [event for event in alphabet(ground.table, purpose) if type(event) is row.on]
        for purpose in Purpose
    }
    places = [number for phase in row.phases for number in ground.at[phase]]
    for number in _spread(places, MAX_TRIALS // 4):
        for event in letters[ground.nodes[number][0].purpose]:
            yield number, event


def _spread(items: list[Any], most: int) -> list[Any]:
    return items if len(items) <= most else items[:: len(items) // most + 1]


__all__ = ["MACHINE", "Ground", "Mutant", "MutantVerdict", "judge", "mutants"]
