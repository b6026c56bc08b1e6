"""What the room's sign shows, and the staff's view: from the table's view and the page's tables.

Owns which figure is shown when: values and their picture are those of the round in hand, once their
lamps are lit or the round has ended. Nobody reads a result here before the table has shown it, nor
that of another round. What only staff reads stands in `Staff`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from shaker_ctl.frozen import frozen
from shaker_ctl.journal.history import Round
from shaker_ctl.rules.layout import AREAS, sic_bo
from shaker_ctl.rules.outcome import FACES

ROAD = 20
"""Results in the road, the row of the newest ones."""

COUNTED = 100
"""Newest rounds in the shares, and in what is hot or cold."""


@frozen
class Staff:
    """What staff reads beside the layout, and the room does not."""

    life: str
    shape: str
    phase: str
    says: str
    waits_for: str
    roles: tuple[str, ...]
    since_s: float | None
    """Wall time from which on somebody is waited for."""
    faults: tuple[tuple[str, str, str], ...]
    """(code, cause, remedy)."""


UNKNOWN_ODDS = dict.fromkeys(sic_bo().areas, "")
"""Of a table that has not answered yet; most offer neither Even nor Odd."""


@frozen(kw_only=True)
class Sign:
    """One moment of the sign: the round in hand and nothing else. All of it is public."""

    table: str
    is_known: bool = False
    """Whether a table has answered since the page started."""
    rules: str = ""
    """Title of the rule text in force."""
    marks: tuple[str, ...] = ()
    says: str = ""
    are_bets_open: bool = False
    scene: str = "board"
    shape: str = "cross"
    round: int | None = None
    call: str = ""
    """Shown in the place of a result: `void`, `dispute`, ..."""
    wagers: str = ""
    clause: str = ""
    values: tuple[int, ...] = ()
    """Of the round in hand, once their lamps are measured lit or the round has ended."""
    picture: str = ""
    odds: Mapping[str, str] = field(default_factory=lambda: UNKNOWN_ODDS)
    """Areas that this table offers, with what each pays."""
    multipliers: Mapping[str, str] = field(default_factory=dict)
    """Odds in force this round, in place of those."""
    lit: frozenset[str] | None = None
    """As measured; None where the lamp box does not answer."""
    commanded: frozenset[str] = frozenset()
    """Once something is lit: before that it would tell the result."""
    broken: frozenset[str] = frozenset()

    @property
    def total(self) -> int | None:
        return sum(self.values) if self.values else None

    @property
    def own(self) -> tuple[str, ...]:
        """Areas of the house, beside those of Sic Bo."""
        return tuple(area for area in self.odds if area not in AREAS)

    @property
    def kind(self) -> str:
        return kind_of(self.values)


@frozen
class Figures:
    """What the newest rounds came to."""

    rounds: int
    shares: tuple[tuple[str, int], ...]
    """Percent of Small, Big and triples."""
    hot: int
    cold: int
    """Faces seen most and least often; 0 before there were results."""


NO_TABLE = Staff("no table", "cross", "", "", "", (), None, ())


def kind_of(values: Sequence[int]) -> str:
    """Small, big or triple; `none` for no values."""
    if len(values) != 3:
        return "none"
    if len(set(values)) == 1:
        return "triple"
    return "big" if sum(values) > 10 else "small"


def figures(rounds: Sequence[Round]) -> Figures:
    """Count the newest results."""
    results = [one.values for one in rounds if one.values]
    kinds = Counter(kind_of(values) for values in results)
    faces = Counter(dict.fromkeys(FACES, 0))
    faces.update(face for values in results for face in values)
    order = [face for face, _ in faces.most_common()] if results else [0]
    shares = tuple((kind, round(100 * kinds[kind] / max(1, len(results)))) for kind in KINDS)
    return Figures(len(results), shares, order[0], order[-1])


KINDS = ("small", "triple", "big")


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
        since_s=view["since_s"] if pending or view["next_step"] else None,
        faults=tuple((f["code"], f["cause"], f["remedy"]) for f in view["faults"]),
    )


def sign(view: Mapping[str, Any] | None, in_hand: Round | None, table: str) -> Sign:
    """Return what the sign shows. `in_hand`: the round of the view as far as the journal tells."""
    if view is None:
        return Sign(table=table)
    lamps, room = view["lamps"], view["room"]
    lit = None if lamps["measured"] is None else frozenset(lamps["measured"])
    values = () if room["call"] or view["life"] != "open" else _values(view, lit, in_hand)
    picture = in_hand.picture if values and in_hand is not None else None
    return Sign(
        is_known=True,
        table=view["table"],
        rules=view["profile"]["title"],
        marks=tuple(view["marks"]),
        says=room["says"],
        are_bets_open=room["are_bets_open"],
        scene="dice" if values else room["scene"],
        shape=room["shape"],
        round=view["round_id"],
        call=room["call"],
        wagers=room["wagers"],
        clause=room["clause"],
        values=values,
        picture=picture or "",
        odds=view["odds"],
        multipliers=dict(room["multipliers"]),
        lit=lit,
        commanded=frozenset(lamps["commanded"] if lit else ()),
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
