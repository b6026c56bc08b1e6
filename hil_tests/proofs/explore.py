"""Exhaustive exploration of one table, under the product's own state type and step.

Owns the walk. The only abstractions are those of `alphabet` and of `normal`; both are stated there
and tested. Nothing is sampled and nothing is bounded in depth: the walk ends when no new state is
left.

A *watch* (`properties`) rides along: what has happened to the table, kept from the events alone,
so that a property never asks the machine about itself. The explored node is state and watch.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from hil_tests.proofs.alphabet import NOW, READ, UNREADABLE, alphabet
from hil_tests.proofs.posted import is_posted
from hil_tests.proofs.properties import PROPERTIES, Case, Violation, check
from hil_tests.proofs.tables import Table
from hil_tests.proofs.watch import Watch, watched
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.machine import MACHINE, Machine, initial
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.vocabulary import (
    Correction,
    Person,
    Purpose,
    Role,
    Source,
    Unreadable,
)

Node = tuple[TableState, Watch]

_BY = (Person("dealer", Role.DEALER), Person("floorperson", Role.FLOORPERSON))
CORRECTED_VALUES, CORRECTED_NO_ROLL = Correction(READ, *_BY), Correction(None, *_BY)

HOME = frozenset({Phase.READY, Phase.OUT_OF_SERVICE})
"""Where some path must lead from everywhere: open between rounds, or out of service."""


def first(table: Table) -> Node:
    """Return where every walk begins: a table without a journal, before its first start."""
    return normal(initial(table.rules)), Watch(shift_due=bool(table.expected.shift))


def normal(state: TableState) -> TableState:
    """Bring a state to round 2 and serial 2, and forget who signed and reasons.

    Sound, and tested as such: rows compare numbers with those of events and count them on, nothing
    else; who signed, and why something was unreadable, is recorded and never decides. Who makes an
    inspection does decide, and stays. Of a correction only that it was made decides, and whether
    values were lit before; who made it is compared by the properties where it is made. Whether a
    person typed or decided a result is recorded, and decides the same.
    """
    reading, correction = state.reading, state.correction
    if isinstance(reading, Unreadable):
        reading = UNREADABLE
    if correction is not None:
        correction = CORRECTED_VALUES if correction.first else CORRECTED_NO_ROLL
    used = ("used",) if state.used_dice else ()
    source = Source.ENTERED if state.source is Source.DECIDED else state.source
    if (
        state.round == NOW
        and state.serial == NOW
        and state.signed_by is None
        and reading == state.reading
        and correction == state.correction
        and source is state.source
        and used == state.used_dice
    ):
        return state
    return state.changed(
        {
            "round": NOW,
            "serial": NOW,
            "signed_by": None,
            "reading": reading,
            "correction": correction,
            "source": source,
            "used_dice": used,
        }
    )


@dataclass
class Exploration:
    """What was found."""

    table: str
    states: int = 0
    nodes: int = 0
    transitions: int = 0
    accepted: int = 0
    reached: Counter[str] = field(default_factory=Counter)
    """Property to the number of transitions on which it had something to say."""
    violations: list[Violation] = field(default_factory=list)
    rows: set[str] = field(default_factory=set)
    """Rows that were taken by an event that the product can post."""
    phases: set[Phase] = field(default_factory=set)
    stuck: list[TableState] = field(default_factory=list)
    """States from which no path leads home."""
    complete: bool = True
    seconds: float = 0.0
    """Processor time."""
    kept_nodes: list[Node] = field(default_factory=list, repr=False)
    kept_before: list[list[int]] = field(default_factory=list, repr=False)
    kept_taken: dict[str, list[tuple[int, ev.Event]]] = field(default_factory=dict, repr=False)
    """Row to the transitions on which it was taken; kept only when asked for."""

    @property
    def holds(self) -> bool:
        return not self.violations and not self.stuck


def explore(
    table: Table,
    machine: Machine = MACHINE,
    *,
    max_violations: int = 20,
    max_nodes: int | None = None,
    keep: bool = False,
    checked: bool = True,
    scatter: bool = False,
    progress: Callable[[int, int], None] = lambda visited, waiting: None,
) -> Exploration:
    """Visit every reachable node of `table`.

    `max_nodes` bounds it for quick tests; `keep` keeps what mutants are judged on; `checked`
    false only walks. `scatter` goes on in the phase least visited so far, so that a bounded walk
    gets everywhere.
    """
    found = Exploration(table.name)
    began = time.process_time()
    letters = {purpose: _letters(machine, alphabet(table, purpose)) for purpose in Purpose}
    start = first(table)
    index: dict[Node, int] = {start: 0}
    before: list[list[int]] = [[]]
    waiting = _Waiting(scatter)
    waiting.put(start)
    judged: set[tuple[Purpose, Phase]] = set()
    visited = 0
    while (node := waiting.take()) is not None:
        if max_nodes is not None and visited >= max_nodes:
            found.complete = False
            break
        visited += 1
        state, watch = node
        here = index[node]
        if visited % 500 == 0:
            progress(visited, len(index))
        dead, live = letters[state.purpose][state.phase]
        if (state.purpose, state.phase) not in judged:
            judged.add((state.purpose, state.phase))
            live = (*live, *dead)
        else:
            found.transitions += len(dead)
        for event in live:
            step = machine.step(state, event, table.rules)
            found.transitions += 1
            seen = watched(table, watch, state, event, step)
            verdicts = check(Case(table, watch, seen, state, event, step)) if checked else ()
            for name, holds in verdicts:
                if holds:
                    found.reached[name] += 1
                else:
                    found.violations.append(Violation(name, table.name, state, event, step))
            if step.refused is not None and seen is watch:
                continue
            found.accepted += step.refused is None
            if step.rows and is_posted(event):
                found.rows.update(row.name for row in step.rows)
            for row in step.rows if keep else ():
                found.kept_taken.setdefault(row.name, []).append((here, event))
            after: Node = (normal(step.state), seen)
            there = index.get(after)
            if there is None:
                there = index[after] = len(index)
                before.append([])
                waiting.put(after)
            before[there].append(here)
        if len(found.violations) >= max_violations:
            found.complete = False
            break
    found.nodes = len(index)
    states = {state for state, _ in index}
    found.states = len(states)
    found.phases = {state.phase for state in states}
    if found.complete:
        found.stuck = _stuck(list(index), before)
    if keep:
        found.kept_nodes, found.kept_before = list(index), before
    found.seconds = time.process_time() - began
    return found


class _Waiting:
    """Nodes still to be visited: in order, or (scattered) the newest of the phase least visited."""

    def __init__(self, scatter: bool) -> None:
        self._scatter = scatter
        self._queues: dict[object, deque[Node]] = {}
        self._visits: Counter[object] = Counter()

    def put(self, node: Node) -> None:
        key = (node[0].purpose, node[0].phase) if self._scatter else None
        self._queues.setdefault(key, deque()).append(node)

    def take(self) -> Node | None:
        keys = [key for key, queue in self._queues.items() if queue]
        if not keys:
            return None
        key = min(keys, key=lambda each: self._visits[each])
        self._visits[key] += 1
        return self._queues[key].pop() if self._scatter else self._queues[key].popleft()


def _letters(
    machine: Machine, events: tuple[ev.Event, ...]
) -> dict[Phase, tuple[tuple[ev.Event, ...], tuple[ev.Event, ...]]]:
    """Per phase: the events that have no row at all there, and the others.

    An event type without a row in a phase is refused whatever else the state holds; this is the
    machine's own look-up. Such events are tried and judged in the first node of each phase and
    counted in the others. A mutant is tried with all that the original has rows for.
    """

    def rows(phase: Phase, kind: type[ev.Event]) -> bool:
        return machine.has_rows(phase, kind) or MACHINE.has_rows(phase, kind)

    return {
        phase: (
            tuple(event for event in events if not rows(phase, type(event))),
            tuple(event for event in events if rows(phase, type(event))),
        )
        for phase in Phase
    }


def _stuck(nodes: list[Node], before: list[list[int]]) -> list[TableState]:
    home = [number for number, (state, _) in enumerate(nodes) if state.phase in HOME]
    reached = set(home)
    todo = deque(home)
    while todo:
        for number in before[todo.popleft()]:
            if number not in reached:
                reached.add(number)
                todo.append(number)
    return [state for number, (state, _) in enumerate(nodes) if number not in reached]


__all__ = ["HOME", "PROPERTIES", "Exploration", "explore", "normal"]
