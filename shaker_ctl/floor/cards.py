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
    life = "no link" if not table.is_online else str(state.get("life") or "no service")[:40]
    is_wrong = bool(alarms) or life in ("no link", "no service", "out of service")
    waits = str(state.get("waits_for") or "")[:200]
    shape = "cross" if is_wrong else "square"
    if not is_wrong and life == "open":
        is_waiting = state.get("shape") in ("triangle", "cross")
        shape = "triangle" if is_waiting else "circle"
    rank = ("cross", "triangle", "circle", "square").index(shape)
    round_id, since_s, needs = state.get("round_id"), state.get("since_s"), state.get("needs")
    result = table.last_result()
    ended = result["wall"] if result else ""
    if result is None or result["round"] != round_id or state.get("shape") == "cross":
        result = None  # of another round: beside a void it would be read as this one's
    return TableCard(
        name=table.place.table,
        title=table.runs()["title"] or table.place.table,
        life=life,
        phase=str(state.get("phase") or "")[:40],
        round=round_id if isinstance(round_id, int) else None,
        room=str(state.get("room") or "")[:200],
        waits_for=waits,
        needs=tuple(str(role)[:20] for role in needs[:4]) if isinstance(needs, list) else (),
        since_s=since_s if isinstance(since_s, int | float) else None,
        ended=ended,
        result=result,
        marks=table.runs()["marks"],
        alarms=alarms,
        behind=table.behind,
        shape=shape,
        rank=rank,
    )


def in_order(cards: Iterable[TableCard]) -> list[TableCard]:
    """Who needs somebody comes first, and of these who has waited longest."""

    def rank(card: TableCard) -> tuple[object, ...]:
        waited_since = (card.since_s or 0.0) if card.rank < 2 else 0.0
        return card.rank, waited_since, len(card.name), card.name

    return sorted(cards, key=rank)
