"""Exhaustive exploration of one table, under the product's own state type and step.

Owns the walk. The only abstractions are those of `alphabet` and of `normal`; both are stated there
and tested. No state is left out and nothing is bounded in depth: the walk ends when no new state is
left.

A *watch* (`watch`) remembers what has happened to the table. It learns this from events and
commands, and in a few places from the phase that the machine went to. The explored node is state
and watch.

Every event meets every node, and the properties judge the result. The result is computed once for
all nodes that agree in the fields that were read (`remembered`); figures and verdicts stay the same
(`test_what_is_remembered_is_what_is_worked_out`). If no row of a phase handles an event, the event
is refused and the node stays as it is. All such events are judged together.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from hil_tests.proofs.alphabet import ANOTHER, FRESH, NOW, READ, UNREADABLE, VERDICTS, alphabet
from hil_tests.proofs.posted import is_posted
from hil_tests.proofs.properties import Case, Violation, asked, check
from hil_tests.proofs.remembered import PHASE, PURPOSE, Code, Node, Nodes, Remembered
from hil_tests.proofs.tables import ExploredTable
from hil_tests.proofs.watch import LIGHTING, WORLD, Watch, watched
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.agreement import About, Agreement
from shaker_ctl.rules.machine import MACHINE, Machine, initial
from shaker_ctl.rules.state import After, Lamps, Phase, TableState
from shaker_ctl.rules.vocabulary import (
    Barrier,
    Cause,
    Correction,
    DiceSet,
    Ending,
    Person,
    Purpose,
    Role,
    Shown,
    Source,
)
from vision.reading import Unreadable

FLOORPERSON = Person("floorperson", Role.FLOORPERSON)
_BY = (Person("dealer", Role.DEALER), FLOORPERSON)
CORRECTED_VALUES, CORRECTED_NO_ROLL = Correction(READ, *_BY), Correction(None, *_BY)

ANY_SHOWN = frozenset({Shown.TRIPLE})
_CAUSES = {
    Ending.VOID: Cause.SHAKER,
    Ending.NOT_STARTED: Cause.ESTOP,
    Ending.NO_ROLL: Cause.NOT_FLAT,
}


def _by_any(named: Agreement) -> Agreement:
    return replace(named, by=FLOORPERSON, at=None)


MAX_KEPT = 64
"""Fewer nodes than this are kept of each way."""

HOME = frozenset({Phase.READY, Phase.OUT_OF_SERVICE})
"""Where some path must lead from everywhere: open between rounds, or out of service."""


def first(table: ExploredTable) -> Node:
    """Return where every walk begins: a table without a journal, before its first start."""
    state = normal(initial(table.rules))
    return state, normal_watch(Watch(shift_due=bool(table.expected.shift)), state)


READ_LATE = VERDICTS[0]
"""Stands for whatever a reader reads late."""

_ALIKE: dict[str, Callable[[Any], Any]] = {
    "round": lambda _: NOW,
    "serial": lambda _: NOW,
    "signed_by": lambda it: it and FLOORPERSON,
    "reading": lambda it: UNREADABLE if isinstance(it, Unreadable) else it,
    "correction": lambda it: it and (CORRECTED_VALUES if it.first else CORRECTED_NO_ROLL),
    "used_dice": lambda it: ("used",) if it else (),
    "dice": lambda it: it and DiceSet(FRESH, it.installed_at),
    "by_eye": lambda it: UNREADABLE if isinstance(it, Unreadable) else it and READ_LATE,
    "source": lambda it: Source.ENTERED if it is Source.DECIDED else it,
    "barred": lambda it: it if it in (None, Barrier.TIME_UNTRUSTED) else Barrier.CLOCK_SILENT,
    "shown": lambda it: ANY_SHOWN if it else it,
    "inspector": lambda it: FLOORPERSON if it == ANOTHER else it,
    "stated": lambda it: _by_any(it) if it and it.about is About.DICE else it,
}
"""Fields of which not everything decides, with what stands for all that decides alike.

Sound, and tested as such (`test_what_is_alike_steps_alike`): rows compare numbers with those of
events and count them on, nothing else. Who signed, why something was unreadable, why the clock
bars a round (but for an untrusted clock), which dice are in use and what the lamp entries showed
is recorded and told. Of two floorpersons it never matters which one inspects, and of those who may
name dice which one did: only whether it is the same person again. What the reader read late is told
and recorded; that it did decides. Of a correction only that it
was made decides, and whether values were lit before; the properties compare who made it where it
is made. Whether a person typed or decided a result is recorded, and decides alike. Unknown
lamps are brought to dark where `_proved_anew` says that it decides alike: so a row that forgets to
call them unknown is noticed there.
"""


PROVED_ANEW = frozenset(
    {
        *(Phase.INTERRUPTED, Phase.AWAITING_PRESENCE, Phase.SETTLING_BY_HAND),
        *(Phase.OUT_OF_SERVICE, Phase.CLOSED, Phase.INSPECTION_DUE, Phase.LAMP_VALUES_AWAITED),
        Phase.JOGGING,
    }
)
"""Phases from which bets open only after the lamps were proved dark again."""
BEFORE_TOSS = frozenset(
    {Phase.CYCLE_AWAITED, Phase.COVERING, Phase.PLANNING, Phase.PROVING_DARK},
)
"""The same in an inspection and in a trial: their tosses wait for the proof, too."""


def _proved_anew(state: TableState) -> bool:
    """Whether dark and unknown decide alike, since the lamps are proved dark before bets open."""
    before_toss = state.phase in BEFORE_TOSS
    return (
        state.phase in PROVED_ANEW
        or (state.after is not After.NEXT_ROUND and state.phase not in LIGHTING)
        or (before_toss and state.purpose in (Purpose.INSPECTION, Purpose.TRIAL))
    )


def normal_watch(watch: Watch, state: TableState) -> Watch:
    """Bring the watch of a state to the same representatives as `normal` does."""
    if watch.lamps is Lamps.UNKNOWN and _proved_anew(state):
        watch = watch._replace(lamps=Lamps.DARK)
    if watch.inspector == ANOTHER:
        watch = watch._replace(inspector=FLOORPERSON)
    if watch.dice_by is not None and watch.dice_by[0] != FLOORPERSON.name:
        watch = watch._replace(dice_by=(FLOORPERSON.name, watch.dice_by[1]))
    return watch


def normal(state: TableState) -> TableState:
    """Bring a state to round 2 and serial 2, and what decides alike to one representative."""
    changes = _alike(state, vars(state))
    return state.changed(changes) if changes else state


def _alike(state: TableState, names: Iterable[str]) -> dict[str, Any]:
    """Return what else stands for these fields of a state."""
    changes = {
        name: alike
        for name in names
        if (to := _ALIKE.get(name))
        and (alike := to(was := getattr(state, name))) is not was
        and alike != was
    }
    if ("ending" in names or "cause" in names) and state.ending is not None:
        cause = _CAUSES.get(state.ending, state.cause)
        if cause is not state.cause:
            changes["cause"] = cause  # told and recorded where the round ends
    if state.lamps is Lamps.UNKNOWN and _proved_anew(state):
        changes["lamps"] = Lamps.DARK
    return changes


def transition(
    machine: Machine, table: ExploredTable, node: Node, event: ev.Event
) -> tuple[Case, Node | None]:
    """Return what an event is at a node, and the node after it; None: refused, and not heard."""
    state, watch = node
    step = machine.step(state, event, table.rules)
    seen = watched(table, watch, state, event, step)
    case = Case(table, watch, seen, state, event, step)
    if case.refused and seen is watch:
        return case, None
    return case, (normal(step.state), normal_watch(seen, step.state))


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
    kept_ways: list[Way] = field(default_factory=list, repr=False)
    """Everything that came of an event, with some of the nodes; kept only when asked for."""

    @property
    def holds(self) -> bool:
        return self.complete and not self.violations and not self.stuck


def explore(
    table: ExploredTable,
    machine: Machine = MACHINE,
    *,
    max_violations: int = 20,
    max_nodes: int | None = None,
    keep: bool = False,
    checked: bool = True,
    scatter: bool = False,
) -> Exploration:
    """Visit every reachable node of `table`.

    `max_nodes` bounds it for quick tests; `keep` keeps what mutants are judged on; `checked`
    false only walks. `scatter` goes on in the phase least visited so far, so that a bounded walk
    gets everywhere.
    """
    found = Exploration(table.name)
    began = time.process_time()
    ways = _Ways(table, machine, checked)
    start = ways.nodes.code(first(table))
    index: dict[Code, int] = {start: 0}
    before: list[list[int]] = [[]]
    waiting = _Waiting(scatter)
    waiting.put(start)
    visited = 0
    reached = found.reached
    while (node := waiting.take()) is not None:
        if max_nodes is not None and visited >= max_nodes:
            found.complete = False
            break
        visited += 1
        here = index[node]
        letters, rest = ways.letters(node)
        verdict = rest(node)
        verdict.times += 1
        for name, event in verdict.broken:
            found.violations.append(ways.violation(name, node, event))
        for letter in letters:
            way = letter(node)
            way.times += 1
            if keep and way.times >= way.due:
                way.keep(here)
            for name, property_ in way.asked:
                says = property_(node)
                if says:
                    reached[name] += 1
                elif says is not None:
                    found.violations.append(ways.violation(name, node, way.event))
            if way.changes is None:
                continue
            copy = bytearray(node)
            for at, number in way.changes:
                copy[at] = number
            after = bytes(copy)
            there = index.get(after)
            if there is None:
                there = index[after] = len(index)
                before.append([])
                waiting.put(after)
            before[there].append(here)
        if len(found.violations) >= max_violations:
            found.complete = False
            break
    for way in ways.all:
        found.transitions += way.times
        found.accepted += way.times * way.accepted
        found.rows.update(way.rows if way.posted else ())
        for name in way.holds:
            found.reached[name] += way.times
    for verdict in ways.verdicts:
        found.transitions += verdict.events * verdict.times
        for name, times in verdict.held.items():
            found.reached[name] += verdict.times * times
    nodes = [ways.nodes.node(code) for code in index]
    found.nodes = len(nodes)
    found.states = len({state for state, _ in nodes})
    found.phases = {state.phase for state, _ in nodes}
    if found.complete:
        found.stuck = _stuck(nodes, before)
    if keep:
        found.kept_nodes, found.kept_before, found.kept_ways = nodes, before, ways.all
    found.seconds = time.process_time() - began
    return found


@dataclass(slots=True)
class Way:
    """What comes of an event, alike wherever the same is found by those who look."""

    event: ev.Event
    accepted: bool
    changes: tuple[tuple[int, int], ...] | None
    """(field, number) of the node after it; None: refused, and nothing heard."""
    rows: tuple[str, ...]
    posted: bool
    """The product can post the event."""
    holds: list[str] = field(default_factory=list)
    """Properties that hold, whatever else the node is."""
    asked: list[tuple[str, Remembered[bool | None]]] = field(default_factory=list)
    """Properties that look at more of the node."""
    times: int = 0
    at: list[int] = field(default_factory=list)
    """Some of the nodes where it came about, evenly spread over all of them; if kept."""
    due: int = 1
    """How many times it has come about when the next node is kept."""
    _stride: int = 1

    def keep(self, node: int) -> None:
        self.at.append(node)
        if len(self.at) == MAX_KEPT:
            del self.at[1::2]
            self._stride *= 2
        self.due = self.times + self._stride


@dataclass(slots=True)
class _Verdict:
    """What the properties say of all events that no row of a phase is for, wherever they agree."""

    events: int
    held: Counter[str] = field(default_factory=Counter)
    broken: list[tuple[str, ev.Event]] = field(default_factory=list)
    times: int = 0


class _Ways:
    """What each event leads to at each node of one table."""

    def __init__(self, table: ExploredTable, machine: Machine, checked: bool) -> None:
        self._table, self._machine, self._checked = table, machine, checked
        self._letters: dict[tuple[int, int], _Letters] = {}
        self.nodes = Nodes()
        self.all: list[Way] = []
        self.verdicts: list[_Verdict] = []

    def letters(self, code: Code) -> _Letters:
        """Return the events to try at a node, and what the properties say of all others.

        The others are those whose type no row of the phase is for: a mutant is tried with all that
        the original has rows for, and with what is true even if it is refused. They lead nowhere
        (`_refused` makes sure), so that one look at a node decides what is said of all of them.
        """
        place = code[PHASE], code[PURPOSE]
        if place not in self._letters:
            state, _ = self.nodes.node(code)
            live: list[Remembered[Way]] = []
            others: list[ev.Event] = []
            for event in alphabet(self._table, state.purpose):
                if type(event) in WORLD or any(
                    each.has_rows(state.phase, type(event)) for each in (self._machine, MACHINE)
                ):
                    way = partial(self._way, event)
                    live.append(Remembered(self.nodes, way, (PHASE, PURPOSE)))
                else:
                    others.append(event)
            refused = partial(self._refused, others)
            self._letters[place] = live, Remembered(self.nodes, refused, (PHASE, PURPOSE))
        return self._letters[place]

    def _case(self, event: ev.Event) -> Case:
        state, watch = self.nodes.state, self.nodes.watch
        step = self._machine.step(state, event, self._table.rules)
        seen = watched(self._table, watch, state, event, step)
        return Case(self._table, watch, seen, state, event, step)

    def _way(self, event: ev.Event) -> Way:
        case = self._case(event)
        changes: Any = None
        if case.accepted or case.after is not case.before:
            after: Any = case.next
            after = after.changed(_alike(after, after.changes))
            seen = normal_watch(case.after, after)
            changes = (*self.nodes.numbers(after), *self.nodes.numbers(seen))
        rows = tuple(row.name for row in case.step.rows)
        way = Way(event, case.accepted, changes, rows, is_posted(event))
        self.all.append(way)
        if self._checked:
            self._ask(way, case)
        return way

    def _ask(self, way: Way, case: Case) -> None:
        nodes, given = self.nodes, tuple(self.nodes.looked)
        for name, judge in asked(case):
            says, looked = nodes.ask(nodes.here, partial(judge, case), given)
            if looked or says is False:
                property_ = Remembered(nodes, partial(judge, case), given)
                property_.learn(nodes.here, says, looked)
                way.asked.append((name, property_))
            elif says:
                way.holds.append(name)

    def _refused(self, events: list[ev.Event]) -> _Verdict:
        """Return what the properties say of events that lead nowhere."""
        verdict = _Verdict(len(events))
        self.verdicts.append(verdict)
        for event in events if self._checked else ():
            case = self._case(event)
            if case.accepted or case.next is not case.state or case.after is not case.before:
                raise AssertionError(f"without a row, and yet something comes of {event}")
            for name, holds in check(case):
                if holds:
                    verdict.held[name] += 1
                else:
                    verdict.broken.append((name, event))
        return verdict

    def violation(self, name: str, code: Code, event: ev.Event) -> Violation:
        state, _ = self.nodes.node(code)
        step = self._machine.step(state, event, self._table.rules)
        return Violation(name, self._table.name, state, event, step)


_Letters = tuple[list[Remembered[Way]], Remembered[_Verdict]]


class _Waiting:
    """Nodes still to be visited: in order, or (scattered) the newest of the phase least visited."""

    def __init__(self, scatter: bool) -> None:
        self._scatter = scatter
        self._queues: dict[object, deque[Code]] = {}
        self._visits: Counter[object] = Counter()

    def put(self, node: Code) -> None:
        key = (node[PURPOSE], node[PHASE]) if self._scatter else None
        self._queues.setdefault(key, deque()).append(node)

    def take(self) -> Code | None:
        keys = [key for key, queue in self._queues.items() if queue]
        if not keys:
            return None
        key = min(keys, key=lambda each: self._visits[each])
        self._visits[key] += 1
        return self._queues[key].pop() if self._scatter else self._queues[key].popleft()


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
