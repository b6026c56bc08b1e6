"""The shape of the transition table: rows, what they see, and what a step returns.

Owns `Row`, `Context`, `Guard` and `Step`. Must not know any particular row.

A row says: in these phases, on this event, when all these guards hold, go there, note this, do
that, because of this clause. A comment above a row or a group of rows says in a few words what the
clause says; the key after the event leads to the clause of each text. Rows are data and not code.
So the same table can be run, drawn, listed with its clauses, explored in every state, and mutated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from shaker_ctl.frozen import frozen
from shaker_ctl.rules.commands import Command
from shaker_ctl.rules.events import Event
from shaker_ctl.rules.rulebook import Citation, Rulebook
from shaker_ctl.rules.state import Phase, TableState


class Context(NamedTuple):
    """What guards, notes and acts may look at."""

    state: TableState
    event: Any
    """The event of the step; each row knows which type it is written for."""
    rules: Rulebook


Words = str | Callable[[Context], str]
"""What a refusal says: always the same, or by what it was taken on."""


class Guard(NamedTuple):
    """A condition with the words of its refusal."""

    holds: Callable[[Context], bool]
    otherwise: Words
    """Why the event is refused when this does not hold; completes "refused: …"."""
    name: str = ""
    """As the rows' text spells it, which gives it."""

    def why(self, context: Context) -> str:
        """Return these words for this refusal."""
        return self.otherwise if isinstance(self.otherwise, str) else self.otherwise(context)


class ByCause(NamedTuple):
    """A citation that follows the cause, for a row that several causes lead to."""

    what: Callable[[Context], Any]
    """Finds the cause, in what the row was taken on and the state after it."""
    keys: Mapping[Any, str]
    """A `cites` for each cause."""

    def __call__(self, context: Context) -> str:
        return self.keys[self.what(context)]


Cites = str | ByCause


def cited(cites: Cites, context: Context) -> str:
    """Return the key, or the words, that are cited in this context."""
    return cites if isinstance(cites, str) else cites(context)


Note = Callable[[Context], dict[str, Any]]
"""Changes to the state, computed from the state before the row."""

Act = Callable[[Context], Command | None]
"""A command, built from the state after the row; None where there is nothing to do."""


@frozen(eq=False)
class Row:
    """One line of the table. The first row whose phase, event and guards fit is taken."""

    name: str
    phases: frozenset[Phase]
    on: type[Event] | None
    """None: taken at once, within the step that reached the phase."""
    cites: Cites
    """Key of the profile (`no_roll.wagers`) or, for the device's own duties, plain words."""
    when: tuple[Guard, ...] = ()
    to: Phase | None = None
    """None: the phase stays."""
    notes: tuple[Note, ...] = ()
    do: tuple[Act, ...] = ()

    @property
    def may_cite(self) -> tuple[str, ...]:
        """Each key or word that this row cites, whatever the cause."""
        if isinstance(self.cites, str):
            return (self.cites,)
        return tuple(dict.fromkeys(self.cites.keys.values()))


@frozen
class Refusal:
    """Why nothing happened. `code` is stable; `reason` is for people."""

    code: str
    reason: str


class Step(NamedTuple):
    """What one event led to."""

    state: TableState
    commands: tuple[Command, ...]
    rows: tuple[Row, ...]
    """The rows taken: one for the event, then those taken at once."""
    refused: Refusal | None = None
    """Set when no row fitted: the state is unchanged and there are no commands."""
    seen: tuple[Context, ...] = ()
    """Of each row: the context after it."""

    def because(self) -> tuple[tuple[str, Citation], ...]:
        """Return each row's name with the clause that it rests on, for journal and console."""
        return tuple(
            (row.name, after.rules.cite(cited(row.cites, after)))
            for row, after in zip(self.rows, self.seen, strict=True)
        )
