"""What machines may read of a table: the values of each view as JSON, by the one plain form.

Owns the form of each answer. The views own what is in them. Nothing here can be sent to a table: an
act has a person who answers for it (decisions/0019).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from starlette.responses import Response

from shaker_ctl.console.json_voice import plain
from shaker_ctl.described import Read, openapi
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.day_sheet import DaySheet
from shaker_ctl.journal.history import Round
from shaker_ctl.page.sign import ROAD, Figures, Sign, Staff, figures


@frozen
class Past:
    """A round in the road."""

    round: int
    values: tuple[int, ...]
    ending: str
    """`settled`, `settled_by_hand`, `no_roll`, `void`, `not_started`."""
    withdrawn: str
    """The result that a correction has replaced; empty where there was none."""
    marks: tuple[str, ...]


@frozen(kw_only=True)
class State:
    """The table now."""

    sign: Sign
    road: tuple[Past, ...]
    """Newest rounds, oldest first."""
    figures: Figures
    staff: Staff | None = None
    """For roles that see the staff view; a machine never gets it."""
    age_s: float | None = None
    """Seconds since the table spoke; a display that has not heard it for ten says so."""
    version: str = ""
    """Of the software."""
    left_s: float | None = None
    """Seconds until bets are expected to close, where the house counts down."""


@frozen
class Rounds:
    """Rounds that have ended, newest first."""

    rounds: tuple[Round, ...]
    before: int | None
    """For the next page; None on the last."""


@frozen
class RoundProof:
    """One round that has ended, read from the journal itself."""

    round: Round
    identity: str
    """Of the journal."""
    head: str
    """Hash of the round's last record, in hex."""
    damage: str
    """What does not fit the chain of hashes; empty where all of it holds."""


@frozen
class Day:
    """A gaming day: the one asked for, such as 2026-11-28, or the newest."""

    day: str
    days: tuple[str, ...]
    """Every day on record, newest first."""
    sheet: DaySheet


PARTS: dict[str, Callable[[Sign, Sequence[Round], Staff], Any]] = {
    "sign.json": lambda sign, _rounds, _staff: sign,
    "road.json": lambda _sign, rounds, _staff: tuple(map(past, rounds[-ROAD:])),
    "figures.json": lambda _sign, rounds, _staff: figures(rounds),
    "staff.json": lambda _sign, _rounds, staff: staff,
}
"""What `State` is made of, as parts of a live page."""


def past(one: Round) -> Past:
    """Return what everybody may know of a round that has ended."""
    return Past(one.number, one.values or (), one.ending or "", one.withdrawn or "", one.marks)


def text(value: Any) -> str:
    """Return a value as JSON."""
    return json.dumps(plain(value), ensure_ascii=False)


def answer(value: Any) -> Response:
    """Return a value as an answer."""
    return Response(text(value), media_type="application/json")


READS = (
    Read("/state.json", State, "The table now."),
    Read(
        "/stream/state",
        None,
        "State as events: each has the fields that have changed, and always age and version.",
        "text/event-stream",
    ),
    Read(
        "/rounds.json?number&from&to&ending&cause&person&before",
        Rounds,
        "Rounds that have ended, newest first.",
    ),
    Read("/rounds/{number}.json", RoundProof, "One round that has ended."),
    Read("/day.json?day", Day, "A gaming day."),
    Read("/picture/{sha256}", None, "A picture by its digest.", "image/jpeg"),
)


@cache
def described() -> dict[str, Any]:
    """Return the description of all of it."""
    return openapi("What a Sic Bo table tells machines", READS)
