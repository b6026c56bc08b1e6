"""What machines may read of a floor, as `page.door` is for one table.

Owns the form of each answer. The floor's page and store own what is in them.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from typing import Any

from shaker_ctl.described import Read, openapi
from shaker_ctl.floor.cards import TableCard
from shaker_ctl.floor.store import StoredRound, TableDay
from shaker_ctl.frozen import frozen
from shaker_ctl.page.door import RoundProof


@frozen
class FloorState:
    """The floor now."""

    tables: tuple[TableCard, ...]
    """Who needs somebody comes first."""
    age_s: float | None
    """0 while the broker is heard; None while it is not."""
    version: str
    """Of the software."""


@frozen
class FloorRounds:
    """The newest rounds of a table, newest first."""

    rounds: tuple[StoredRound, ...]


COUNTED = tuple(each.name for each in fields(TableDay))[1:]
"""What a day counts of each table."""


@frozen
class FloorDay:
    """A gaming day of the house."""

    day: str
    tables: tuple[TableDay, ...]


def public(card: TableCard) -> TableCard:
    """Return what the room of a table may read."""
    return replace(card, phase="", waits_for="", needs=(), alarms=(), behind=None)


READS = (
    Read("/state.json", FloorState, "Every table now."),
    Read(
        "/stream/state",
        None,
        "State as events: each has the fields that have changed, and always age and version.",
        "text/event-stream",
    ),
    Read("/tables/{table}/rounds.json", FloorRounds, "The newest rounds of a table."),
    Read("/tables/{table}/rounds/{number}.json", RoundProof, "One round that has ended."),
    Read("/day.json?day", FloorDay, "A gaming day of the house."),
)


@cache
def described() -> dict[str, Any]:
    """Return the description of all of it."""
    return openapi("What a floor of Sic Bo tables tells machines", READS)
