"""What the wall shows, from the table's view and the page's own tables.

Owns which figure is shown when: values and their picture are those of the round in hand, once their
lamps are lit or the round has ended. Nobody reads a result here before the table has shown it, nor
that of another round. What only staff reads stands in `Staff`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shaker_ctl.frozen import frozen
from shaker_ctl.journal.history import Round
from shaker_ctl.rules.outcome import AREAS, EVEN, ODD

ROAD = 20
"""Results in the road, the row of the newest ones."""


@frozen
class Staff:
    """What staff reads beside the wall, and the room does not."""

    life: str
    shape: str
    phase: str
    says: str
    waits_for: str
    roles: tuple[str, ...]
    faults: tuple[tuple[str, str, str], ...]
    """(code, cause, remedy)."""


@frozen
class Wall:
    """One moment of the wall: the round in hand and nothing else. All of it is public."""

    is_known: bool
    """Whether a table has answered since the page started."""
    table: str
    says: str
    odds: str
    """Multipliers in force."""
    shape: str
    round: int | None
    call: str
    """Shown in the place of a result: `void`, `dispute`, ..."""
    wagers: str
    clause: str
    values: tuple[int, ...]
    """Of the round in hand, once their lamps are measured lit or the round has ended."""
    picture: str
    areas: frozenset[str]
    """That this table offers."""
    lit: frozenset[str] | None
    """As measured; None where the lamp box does not answer."""
    commanded: frozenset[str]
    broken: frozenset[str]

    @property
    def total(self) -> int | None:
        return sum(self.values) if self.values else None

    @property
    def kind(self) -> str:
        return kind_of(self.values)


NO_TABLE = Staff("no table", "cross", "", "", "", (), ())


def kind_of(values: Sequence[int]) -> str:
    """Small, big or triple; `none` for no values."""
    if len(values) != 3:
        return "none"
    if len(set(values)) == 1:
        return "triple"
    return "big" if sum(values) > 10 else "small"


def staff(view: Mapping[str, Any] | None) -> Staff:
    """Return what staff reads of a view."""
    if view is None:
        return NO_TABLE
    pending = view["pending"] or {}
    return Staff(
        life=view["life"],
        shape=view["room"]["shape"],
        phase=view["phase"],
        says=view["says"],
        waits_for=pending.get("text") or view["next_step"],
        roles=tuple(pending.get("roles") or ()),
        faults=tuple((f["code"], f["cause"], f["remedy"]) for f in view["faults"]),
    )


def wall(view: Mapping[str, Any] | None, in_hand: Round | None, table: str) -> Wall:
    """Return what the wall shows. `in_hand`: the round of the view as far as the journal tells."""
    if view is None:
        return _unknown(table)
    lamps, room = view["lamps"], view["room"]
    lit = None if lamps["measured"] is None else frozenset(lamps["measured"])
    commanded = frozenset(lamps["commanded"])
    values = () if room["call"] or view["life"] != "open" else _values(view, lit, in_hand)
    picture = in_hand.picture if values and in_hand is not None else None
    return Wall(
        is_known=True,
        table=view["table"],
        says=room["says"],
        odds=room["odds"],
        shape=room["shape"],
        round=view["round_id"],
        call=room["call"],
        wagers=room["wagers"],
        clause=room["clause"],
        values=values,
        picture=picture or "",
        areas=frozenset(view["areas"]),
        lit=lit,
        commanded=commanded,
        broken=frozenset(lamps["broken"]),
    )


def _values(
    view: Mapping[str, Any], lit: frozenset[str] | None, in_hand: Round | None
) -> tuple[int, ...]:
    """The values of the round in hand, where the table has shown them."""
    if (values := view["last_result"]) is None:
        return (in_hand.values or ()) if in_hand is not None and in_hand.ending else ()
    is_lit = bool(lit) and lit == frozenset(view["lamps"]["commanded"])
    return tuple(values) if is_lit or view["phase"] == "clearing" else ()


def _unknown(table: str) -> Wall:
    """Of a table that has not answered yet."""
    return Wall(
        is_known=False,
        table=table,
        says="",
        odds="",
        shape="cross",
        round=None,
        call="",
        wagers="",
        clause="",
        values=(),
        picture="",
        areas=frozenset(AREAS) - {EVEN, ODD},  # most tables offer neither
        lit=None,
        commanded=frozenset(),
        broken=frozenset(),
    )


def seen_in(part: str, wall: Wall) -> tuple[object, ...]:
    """What a part of the wall shows: it is drawn anew where this differs."""
    if part == "layout":
        return wall.areas, wall.odds, wall.lit, wall.commanded, wall.broken, wall.is_known
    if part == "result":
        return (
            wall.values,
            wall.call,
            wall.wagers,
            wall.clause,
            wall.shape,
            wall.picture,
            wall.is_known,
        )
    return (wall.says, wall.shape, wall.round, wall.is_known) if part != "road" else ()
