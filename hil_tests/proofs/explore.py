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
from typing import Any

from hil_tests.proofs.alphabet import ANOTHER, NOW, READ, UNREADABLE, alphabet
from hil_tests.proofs.posted import is_posted
from hil_tests.proofs.properties import PROPERTIES, Case, Violation, check
from hil_tests.proofs.tables import Table
from hil_tests.proofs.watch import Watch, watched
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.machine import MACHINE, Machine, initial
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.vocabulary import (
    Barrier,
    Cause,
    Correction,
    DiceNamed,
    DiceSet,
    Ending,
    Person,
    Purpose,
    Role,
    Shown,
    Source,
    Unreadable,
)

Node = tuple[TableState, Watch]

FLOORPERSON = Person("floorperson", Role.FLOORPERSON)
_BY = (Person("dealer", Role.DEALER), FLOORPERSON)
CORRECTED_VALUES, CORRECTED_NO_ROLL = Correction(READ, *_BY), Correction(None, *_BY)

FRESH = ("a", "b", "c")
ANY_SHOWN = frozenset({Shown.TRIPLE})
_CAUSES = {
    Ending.VOID: Cause.SHAKER,
    Ending.NOT_STARTED: Cause.ESTOP,
    Ending.NO_ROLL: Cause.NOT_FLAT,
}

HOME = frozenset({Phase.READY, Phase.OUT_OF_SERVICE})
"""Where some path must lead from everywhere: open between rounds, or out of service."""


def first(table: Table) -> Node:
    """Return where every walk begins: a table without a journal, before its first start."""
    return normal(initial(table.rules)), Watch(shift_due=bool(table.expected.shift))


_ALIKE: dict[str, Callable[[Any], Any]] = {
    "round": lambda _: NOW,
    "serial": lambda _: NOW,
    "signed_by": lambda _: None,
    "reading": lambda it: UNREADABLE if isinstance(it, Unreadable) else it,
    "correction": lambda it: it and (CORRECTED_VALUES if it.first else CORRECTED_NO_ROLL),
    "used_dice": lambda it: ("used",) if it else (),
    "dice": lambda it: it and DiceSet(FRESH, it.installed_at),
    "source": lambda it: Source.ENTERED if it is Source.DECIDED else it,
    "barred": lambda it: it if it in (None, Barrier.TIME_UNTRUSTED) else Barrier.CLOCK_SILENT,
    "shown": lambda it: ANY_SHOWN if it else it,
    "inspector": lambda it: FLOORPERSON if it == ANOTHER else it,
    "dice_named": lambda it: it and DiceNamed(it.serials, FLOORPERSON),
}
"""Fields of which not everything decides, with what stands for all that decides alike.

Sound, and tested as such (`test_what_is_alike_steps_alike`): rows compare numbers with those of
events and count them on, nothing else. Who signed, why something was unreadable, why the clock
bars a round (but for an untrusted clock), which dice are in use and what the lamp entries showed
is recorded and told. Of two floorpersons it never matters which one inspects, and of those who may
name dice which one did: only whether it is the same person again. Of a correction only that it
was made decides, and whether values were lit before; the properties compare who made it where it
is made. Whether a person typed or decided a result is recorded, and decides alike.
"""


def normal_watch(watch: Watch) -> Watch:
    """Bring the same names to the same representatives as `normal` does."""
    if watch.inspector == ANOTHER:
        watch = watch._replace(inspector=FLOORPERSON)
    if watch.dice_by is not None and watch.dice_by[0] != FLOORPERSON.name:
        watch = watch._replace(dice_by=(FLOORPERSON.name, watch.dice_by[1]))
    return watch


def normal(state: TableState) -> TableState:
    """Bring a state to round 2 and serial 2, and what decides alike to one representative."""
    held = vars(state)
    changes = {
        name: alike
        for name, to in _ALIKE.items()
        if (alike := to(was := held[name])) is not was and alike != was
    }
    if state.ending in _CAUSES and state.cause is not _CAUSES[state.ending]:
        changes["cause"] = _CAUSES[state.ending]  # told and recorded where the round ends
    return state.changed(changes) if changes else state


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
            after: Node = (normal(step.state), normal_watch(seen))
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
