"""One table on the floor's first page, and in which order tables stand there.

Owns what is shown of a table, its shape and its rank. Must not know how that is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable

from shaker_ctl.floor.tables import ShownTable
from shaker_ctl.frozen import frozen
from shaker_ctl.link.messages import Result


@frozen
class TableCard:
    """One table on the floor's first page."""

    name: str
    title: str
    life: str
    phase: str
    round: int | None
    room: str
    """The sentence that everybody may read."""
    waits_for: str
    needs: tuple[str, ...]
    """Roles that it waits for."""
    since_s: float | None
    """Wall time from which on it has stood where it is, by its own clock."""
    ended: str
    """Wall time of its newest result."""
    result: Result | None
    """Of the round in hand."""
    marks: tuple[str, ...]
    alarms: tuple[str, ...]
    behind: int | None
    shape: str
    """`circle`: plays; `square`: closed; `triangle`: somebody is waited for; `cross`: wrong."""
    rank: int


def card_of(table: ShownTable, history: str) -> TableCard:
    """Return what the first page shows of a table; `history`: an alarm of its record."""
    state = table.state
    alarms = tuple(sorted([*table.alarms, *([history] if history else [])]))
    life = "no link" if not table.is_online else table.life or "no service"
    is_wrong = bool(alarms) or life in ("no link", "no service", "out of service")
    shape = "cross" if is_wrong else "square"
    if not is_wrong and life == "open":
        is_waiting = state.get("shape") in ("triangle", "cross")
        shape = "triangle" if is_waiting else "circle"
    result = table.result
    ended = result["wall"] if result else ""
    if result and (result["round"] != state.get("round_id") or state.get("shape") == "cross"):
        result = None  # of another round: beside a void it would be read as this one's
    title = table.birth["table"] if table.birth else ""
    return TableCard(
        name=table.place.table,
        title=title or table.place.table,
        life=life,
        phase=state.get("phase", ""),
        round=state.get("round_id"),
        room=state.get("room", ""),
        waits_for=state.get("waits_for", ""),
        needs=tuple(state.get("needs", ())),
        since_s=state.get("since_s"),
        ended=ended,
        result=result,
        marks=tuple(table.marks),
        alarms=alarms,
        behind=table.behind,
        shape=shape,
        rank=("cross", "triangle", "circle", "square").index(shape),
    )


def in_order(cards: Iterable[TableCard]) -> list[TableCard]:
    """Who needs somebody comes first, and of these who has waited longest."""

    def rank(card: TableCard) -> tuple[object, ...]:
        waited_since = (card.since_s or 0.0) if card.rank < 2 else 0.0
        return card.rank, waited_since, len(card.name), card.name

    return sorted(cards, key=rank)
