"""What the wall shows, from the table's view and the page's own tables.

Owns which figure is shown when: values and their picture only once their lamps are lit or their
round has ended, so that nobody reads a result here before the table has shown it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shaker_ctl.frozen import frozen
from shaker_ctl.page.book import Round
from shaker_ctl.rules.outcome import AREAS, EVEN, ODD

ROAD = 20
"""Results in the road, the row of the newest ones."""

SHAPES = {
    "open": "circle",
    "closed": "square",
    "inspected": "square",
    "inspection due": "triangle",
    "opening inspection": "triangle",
    "shift inspection": "triangle",
    "trial": "triangle",
    "out of service": "cross",
}
"""The table's life to a shape beside its colour."""


@frozen
class Bead:
    """One result on the road."""

    round: int
    kind: str
    """`small`, `big`, `triple`, or `none` where the round has no values."""
    values: tuple[int, ...]
    total: int | None
    ending: str
    cause: str
    withdrawn: str
    """The result that a correction has replaced; empty where there was none."""
    corrected_by: str


@frozen
class Wall:
    """One moment of the wall."""

    is_known: bool
    """Whether a table has answered since the page started."""
    table: str
    life: str
    shape: str
    phase: str
    round: int | None
    says: str
    waits_for: str
    roles: tuple[str, ...]
    marks: tuple[str, ...]
    faults: tuple[tuple[str, str, str], ...]
    """(code, cause, remedy)."""
    values: tuple[int, ...]
    of_round: int | None
    """The round that the values and the picture belong to."""
    ended: str
    picture: str
    areas: frozenset[str]
    """That this table offers."""
    lit: frozenset[str] | None
    """As measured; None where the lamp box does not answer."""
    commanded: frozenset[str]
    broken: frozenset[str]
    is_turning: bool

    @property
    def total(self) -> int | None:
        return sum(self.values) if self.values else None

    @property
    def kind(self) -> str:
        return kind_of(self.values)


def kind_of(values: Sequence[int]) -> str:
    """Small, big or triple; `none` for no values."""
    if len(values) != 3:
        return "none"
    if len(set(values)) == 1:
        return "triple"
    return "big" if sum(values) > 10 else "small"


def wall(
    view: Mapping[str, Any] | None,
    rounds: Sequence[Round],
    table: str,
    in_hand: Round | None = None,
) -> Wall:
    """Return what the wall shows. `rounds`: the newest ended ones, newest last; `in_hand`: the one
    that the table plays, as far as the journal tells.
    """
    if view is None:
        return _unknown(rounds, table)
    pending = view["pending"] or {}
    lamps = view["lamps"]
    lit = None if lamps["measured"] is None else frozenset(lamps["measured"])
    values, number, ended, picture = _result(view, lit, rounds, in_hand)
    return Wall(
        is_known=True,
        table=view["table"],
        life=view["life"],
        shape=SHAPES.get(view["life"], "triangle"),
        phase=view["phase"],
        round=view["round_id"],
        says=view["says"],
        waits_for=pending.get("text") or view["next_step"],
        roles=tuple(pending.get("roles") or ()),
        marks=tuple(view["marks"]),
        faults=tuple((f["code"], f["cause"], f["remedy"]) for f in view["faults"]),
        values=values,
        of_round=number,
        ended=ended,
        picture=picture,
        areas=frozenset(view["areas"]),
        lit=lit,
        commanded=frozenset(lamps["commanded"]),
        broken=frozenset(lamps["broken"]),
        is_turning=bool(view["motor"]["is_enabled"]),
    )


def _result(
    view: Mapping[str, Any],
    lit: frozenset[str] | None,
    rounds: Sequence[Round],
    in_hand: Round | None,
) -> tuple[tuple[int, ...], int | None, str, str]:
    """The newest result that the table has shown: values, round, ending, picture."""
    newest = rounds[-1] if rounds else None
    number = view["round_id"]
    is_shown = bool(lit) and bool(view["last_result"]) and view["life"] == "open"
    if is_shown and (newest is None or newest.number != number):
        picture = in_hand.picture if in_hand is not None else None
        return tuple(view["last_result"]), number, "", picture or ""
    if newest is None:
        return (), None, "", ""
    return newest.values or (), newest.number, newest.ending or "", newest.picture or ""


def _unknown(rounds: Sequence[Round], table: str) -> Wall:
    """Of a table that has not answered yet: what the journal tells."""
    newest = rounds[-1] if rounds else None
    return Wall(
        is_known=False,
        table=table,
        life="",
        shape="cross",
        phase="",
        round=newest.number if newest else None,
        says="",
        waits_for="",
        roles=(),
        marks=(),
        faults=(),
        values=(newest.values or ()) if newest else (),
        of_round=newest.number if newest else None,
        ended=(newest.ending or "") if newest else "",
        picture=(newest.picture or "") if newest else "",
        areas=frozenset(AREAS) - {EVEN, ODD},  # most tables offer neither
        lit=None,
        commanded=frozenset(),
        broken=frozenset(),
        is_turning=False,
    )


def seen_in(part: str, wall: Wall) -> tuple[object, ...]:
    """What a part of the wall shows: it is drawn anew where this differs."""
    if part == "layout":
        return wall.areas, wall.lit, wall.commanded, wall.broken
    if part == "result":
        return wall.values, wall.of_round, wall.ended, wall.picture
    return () if part == "road" else (wall,)


def road(rounds: Sequence[Round]) -> list[Bead]:
    """The last results, oldest first."""
    return [
        Bead(
            round=one.number,
            kind=kind_of(one.values or ()),
            values=one.values or (),
            total=sum(one.values) if one.values else None,
            ending=(one.ending or "").replace("_", " "),
            cause=(one.cause or "").replace("_", " "),
            withdrawn=one.withdrawn or "",
            corrected_by=one.corrected_by or "",
        )
        for one in rounds[-ROAD:]
    ]
