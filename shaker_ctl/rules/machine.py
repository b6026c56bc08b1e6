"""The table as one pure machine: `step(state, event, rules) -> Step`.

Owns the choice of rows. Must not know clocks, threads, files or devices; nothing here waits, draws,
reads the time, or remembers anything beside the state it returns.

Theory of operation
-------------------
The table is a list of rows (`row.Row`), read from texts that each hold one idea: `table/*.rows`. A
step takes the rules of the shaker in use (`Rulebook.in_use`), looks up the rows of the present
phase and the event's type, and takes the first whose guards all hold. Its notes change the state,
its acts name the commands.
Then rows *taken at once* (those with no event) follow, until none fits: they route through passing
phases, so that one event has one outcome.

No row: refused, with the reason, state unchanged. So a late, repeated or foreign event is harmless
by construction, and the service need not filter.

Each phase runs under at most one timer (`phases.timer_of`), started and cancelled here on entering
and leaving, and never by a row.

The service performs commands in their order, after the step is journalled; `StopMotor` and
`DarkenLamps` before. PROTOCOL.md lists which event answers which command. After a start, the first
event is `Restarted`, from the last journalled state or from `initial`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from shaker_ctl.rules import events as ev
from shaker_ctl.rules import phases as ph
from shaker_ctl.rules.commands import CancelTimer, Command, StartTimer
from shaker_ctl.rules.events import Event
from shaker_ctl.rules.row import Context, Refusal, Row, Step
from shaker_ctl.rules.rulebook import Rulebook
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.table_text import entries
from shaker_ctl.rules.vocabulary import words
from vision.reading import NoRoll, Verified

Found = TypeVar("Found")

ROWS: tuple[Row, ...] = tuple(each.row for each in entries())
"""The whole table. More particular rows stand before more general ones for the same event."""


class Machine:
    """A table of rows, made quick to look up. Holds no state."""

    def __init__(self, rows: Iterable[Row] = ROWS) -> None:
        self.rows = tuple(rows)
        self._by_event: dict[tuple[Phase, type[Event] | None], list[Row]] = {}
        for row in self.rows:
            for phase in row.phases:
                self._by_event.setdefault((phase, row.on), []).append(row)

    def step(self, state: TableState, event: Event, rules: Rulebook) -> Step:
        """Return what `event` leads to. Pure; equal arguments give equal steps."""
        context = Context(state, event, rules.in_use(manual=state.manual))
        row = _first(self._by_event.get((state.phase, type(event)), ()), context)
        if not isinstance(row, Row):
            return Step(state, (), (), _refusal(state, event, row))
        taken: list[Row] = []
        seen: list[Context] = []
        commands: list[Command] = []
        reentered = False
        while isinstance(row, Row):
            context = noted(row, context)
            commands += [each for act in row.do if (each := act(context)) is not None]
            taken.append(row)
            seen.append(context)
            reentered = reentered or row.to is not None
            row = _first(self._by_event.get((context.state.phase, None), ()), context)
        if reentered:
            commands += _timers(state, context.state, context.rules)
        return Step(context.state, tuple(commands), tuple(taken), seen=tuple(seen))

    def has_rows(self, phase: Phase, kind: type[Event]) -> bool:
        """True when any row is for this phase and type of event."""
        return (phase, kind) in self._by_event

    def permits(self, state: TableState, event: Event, rules: Rulebook) -> bool:
        """True when `event` would not be refused: for consoles that show what is allowed now."""
        rows = self._by_event.get((state.phase, type(event)), ())
        context = Context(state, event, rules.in_use(manual=state.manual))
        return isinstance(_first(rows, context), Row)


def _first(rows: Sequence[Row], context: Context) -> Row | str:
    """Return the first row whose guards all hold, or why the nearest one does not."""
    for row in rows:
        if all(guard.holds(context) for guard in row.when):
            return row
    return _why_not(rows, context)


def _why_not(rows: Sequence[Row], context: Context) -> str:
    """Return the first guard that fails of the row with the fewest that do; of several such rows,
    of the one that failed last.
    """
    nearest, why = (0, 0), ""
    for row in rows:
        failing = [at for at, guard in enumerate(row.when) if not guard.holds(context)]
        rank = (-len(failing), failing[0])
        if not why or rank > nearest:
            nearest, why = rank, row.when[failing[0]].why(context)
    return why


def _refusal(state: TableState, event: Event, why: str) -> Refusal:
    """Say which guard refused the event, or that nothing awaits it in this phase."""
    what = words(type(event).__name__)
    if why:
        return Refusal("condition", f"{what}: {why}")
    where = state.phase.value.replace("_", " ")
    return Refusal("not-now", f"{what}: not while the table is in phase `{where}`")


def noted(row: Row, context: Context) -> Context:
    """Return what the rows after this one see: its phase and its notes are in the state."""
    changes: dict[str, object] = {} if row.to is None else {"phase": row.to}
    for note in row.notes:
        changes.update(note(context))
    if not changes:
        return context
    return Context(context.state.changed(changes), context.event, context.rules)


def _timers(before: TableState, now: TableState, rules: Rulebook) -> list[Command]:
    """Start the timer of the phase entered, or cancel that of the phase left."""
    timer = ph.timer_of(now.phase, rules)
    if timer is not None:
        return [StartTimer(timer, now.occasion)]
    return [CancelTimer()] if ph.timer_of(before.phase, rules) is not None else []


MACHINE = Machine()
step = MACHINE.step
permits = MACHINE.permits


def initial(rules: Rulebook) -> TableState:
    """Return the state of a table that has no journal yet: inspection due, dice unknown."""
    return TableState(Phase.INSPECTION_DUE, shift_due=rules.shift_inspection)


def gravest_first(found: Iterable[Found], event_of: Callable[[Found], Event]) -> list[Found]:
    """Order what was found in the same moment; events of one rank keep their order.

    The service puts everything that one turn of its loop finds through this, so that an outcome
    does not hang on the order in which threads happened to report.
    """
    return sorted(found, key=lambda each: precedence(event_of(each)))


def precedence(event: ev.Event) -> int:
    """Rank of an event among those of one moment; lower comes first.

    Between evidence against a result and the result, the evidence comes first: an opened
    compartment before the reading that arrives with it. Rest comes before any reading, because a
    reading is an answer to it. A reading comes before the loss of the reader that made it. A
    restart closes the old round before anything of the new life is heard.
    """
    if isinstance(event, ev.Restarted):
        return -1
    if isinstance(event, ev.EstopPressed | ev.ShakerFault):
        return 0
    if isinstance(event, ev.CompartmentOpened | ev.TossDisproved | ev.AtRest):
        return 1
    if isinstance(event, ev.ReadingMade):
        return {NoRoll: 2, Verified: 5}.get(type(event.verdict), 7)
    if isinstance(event, ev.LampFault):
        return 3
    return 6 if isinstance(event, ev.ReaderFault) else 4
