"""Mutants of the table: does a wrong row get caught?

Owns their making and their judging. Made mechanically, from the rows as they are:

- each row deleted;
- each guard of each row negated;
- each target changed, to a fixed other phase, and each phase change suppressed;
- each note left out, and each act left out;
- each act misdirected: its command belongs to another occasion, or drives the other way.

A mutant is judged by the properties of `properties` and nothing else. It is run from nodes of the
original exploration at which the changed row is taken, in each way that it is taken, or might be
taken now; and from there on through nodes that the original does not have, up to a bound. It is
killed by the first property that does not hold, by a crash, or by a node from which no path leads
home any more: one where the changed row was met, or one that the original does not have.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from hil_tests.proofs.alphabet import alphabet
from hil_tests.proofs.explore import HOME, Exploration, transition
from hil_tests.proofs.properties import check
from hil_tests.proofs.remembered import Node
from hil_tests.proofs.tables import ExploredTable
from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.guards import negated
from shaker_ctl.rules.machine import MACHINE, ROWS, Machine
from shaker_ctl.rules.row import Act, Context, Row
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.vocabulary import Occasion, Purpose

MAX_NEW_NODES = 300
"""How far a mutant is followed into nodes that the original never reaches."""

MAX_TRIALS = 1500
"""Original transitions that a mutant is tried on, per table: at least one of each way in which its
row was taken or might be taken now, the others spread evenly over these ways."""

MAX_STEPS_HOME = 400
"""Nodes that are looked at for a path home; where something leads there, fewer than ten are."""

Trial = tuple[int, ev.Event]
"""A node's number, and an event that it meets."""


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
            yield Mutant(f"{row.name}: leads to {other.value}", row, replace(row, to=other))
            if row.on is not None and row.phases != {row.to}:
                yield Mutant(f"{row.name}: leads nowhere", row, replace(row, to=None))
        for number, note in enumerate(row.notes):
            notes = (*row.notes[:number], *row.notes[number + 1 :])
            name = f"{row.name}: note `{note.__name__}` left out"
            yield Mutant(name, row, replace(row, notes=notes))
        for number, act in enumerate(row.do):
            rest = (*row.do[:number], *row.do[number + 1 :])
            name = f"{row.name}: act `{act.__name__}`"
            yield Mutant(f"{name} left out", row, replace(row, do=rest))
            wrong = (*row.do[:number], _misdirected(act), *row.do[number + 1 :])
            yield Mutant(f"{name} misdirected", row, replace(row, do=wrong))


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
                next_round: do.Command = replace(command, round=command.round + 1)
                return next_round
            case do.StopMotor() | do.StopReading() | do.TrustTime():
                return do.CancelTimer()
            case do.RaiseFault(kind=kind):
                return do.ClearFaults(kind)
            case do.ClearFaults(kind=kind):
                return do.RaiseFault(kind, "misdirected")
        elsewhere: do.Command = replace(command, occasion=Occasion(Purpose.PLAY, 77))
        return elsewhere

    return wrong


@dataclass
class Ground:
    """What an exploration left for judging mutants: nodes, and what came of which event where."""

    table: ExploredTable
    nodes: list[Node]
    known: set[Node]
    taken: dict[str, list[list[Trial]]] = field(default_factory=lambda: defaultdict(list))
    """By the name of a row that was taken: each way in which it was, with some of its nodes."""
    tried: dict[type[ev.Event], list[list[Trial]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    @classmethod
    def of(cls, table: ExploredTable, found: Exploration) -> Ground:
        ground = cls(table, found.kept_nodes, set(found.kept_nodes))
        for way in found.kept_ways:
            trials = [(at, way.event) for at in way.at]
            ground.tried[type(way.event)].append(trials)
            for row in way.rows:
                ground.taken[row].append(trials)
        return ground


def judge(mutant: Mutant, ground: Ground) -> str:
    """Return what kills a mutant on one table: a property, a crash, a dead end; "" if nothing."""
    machine, table = mutant.machine(), ground.table
    fresh = _Fresh(ground.known)
    met: dict[Phase, Node] = {}
    for number, event in _trials(mutant, ground):
        reason, after = _try(machine, table, ground.nodes[number], event)
        if reason:
            return reason
        fresh.put(after)
        met.setdefault(ground.nodes[number][0].phase, ground.nodes[number])
    for _ in range(MAX_NEW_NODES):
        node = fresh.take()
        if node is None:
            break
        for reason, after in _tries(machine, table, node):
            if reason:
                return reason
            fresh.put(after)
        met.setdefault(node[0].phase, node)
    if all(_leads_home(machine, table, node) for node in met.values()):
        return ""
    return "stuck: some path leads home from everywhere"


def _leads_home(machine: Machine, table: ExploredTable, node: Node) -> bool:
    """True where events lead from a node to an open table or out of service."""
    waiting = _Fresh(set())
    waiting.put(node)
    for _ in range(MAX_STEPS_HOME):
        here = waiting.take()
        if here is None or here[0].phase in HOME:
            return here is not None
        for _, after in _tries(machine, table, here):
            if after is not None and after[0].phase in HOME:
                return True
            waiting.put(after)
    return False


def _tries(machine: Machine, table: ExploredTable, node: Node) -> Iterator[tuple[str, Node | None]]:
    """Yield what comes of each event that the original has a row for."""
    for event in alphabet(table, node[0].purpose):
        if MACHINE.has_rows(node[0].phase, type(event)):
            yield _try(machine, table, node, event)


class _Fresh:
    """Nodes that only the mutant has: next, by chance, one in the phase least visited so far."""

    def __init__(self, known: set[Node]) -> None:
        self._known, self._new = known, set[Node]()
        self._waiting: dict[Phase, list[Node]] = {}
        self._visits: Counter[Phase] = Counter()
        self._luck = Random(0)

    def put(self, node: Node | None) -> None:
        if node is not None and node not in self._known and node not in self._new:
            self._new.add(node)
            self._waiting.setdefault(node[0].phase, []).append(node)

    def take(self) -> Node | None:
        phases = [phase for phase, nodes in self._waiting.items() if nodes]
        if not phases:
            return None
        phase = min(phases, key=lambda each: self._visits[each])
        self._visits[phase] += 1
        nodes = self._waiting[phase]
        return nodes.pop(self._luck.randrange(len(nodes)))


def _try(
    machine: Machine, table: ExploredTable, node: Node, event: ev.Event
) -> tuple[str, Node | None]:
    """Return (property that fails, or "") and the node after, or None where it was refused."""
    try:
        case, after = transition(machine, table, node, event)
        broken = next((name for name, holds in check(case) if not holds), "")
    except Exception as error:  # noqa: BLE001 - a crash of any kind kills the mutant
        return f"crash: {type(error).__name__}", None
    return broken, None if broken else after


def _trials(mutant: Mutant, ground: Ground) -> Iterator[Trial]:
    """Where the row was taken, then wherever it might be taken now."""
    row = mutant.row
    yield from _spread(ground.taken.get(row.name, []))
    if mutant.instead is None or mutant.instead.when == row.when:
        return
    if row.on is None:
        leads_there = [each.name for each in ROWS if each.to in row.phases]
        yield from _spread([way for name in leads_there for way in ground.taken.get(name, ())])
        return
    tried = ground.tried.get(row.on, [])
    at_row = [[each for each in way if _phase(ground, each) in row.phases] for way in tried]
    yield from _spread([way for way in at_row if way])


def _phase(ground: Ground, trial: Trial) -> Phase:
    return ground.nodes[trial[0]][0].phase


def _spread(ways: list[list[Trial]]) -> Iterator[Trial]:
    """Yield some trials of each way: one at least, however many ways there are."""
    each = max(1, MAX_TRIALS // max(1, len(ways)))
    for way in ways:
        yield from way[:: -(-len(way) // each)]
