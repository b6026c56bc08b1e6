"""One round, or one day, read from the journal itself: with its hashes, and whether they hold.

Owns the way from records to what a person reads of them. It opens the journal for looking and
closes it again; the service may run or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from datetime import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from shaker_ctl.adapters.disk.dispute_list import Dispute, DisputeList
from shaker_ctl.adapters.disk.gaming_days import GamingDays
from shaker_ctl.adapters.disk.shown_journal import opened
from shaker_ctl.errors import DisputesError
from shaker_ctl.frozen import frozen
from shaker_ctl.journal import history
from shaker_ctl.journal.day_sheet import DaySheet
from shaker_ctl.journal.history import STAGES, Round, until_ended
from shaker_ctl.journal.record import Chain, Head, Record
from shaker_ctl.rules.vocabulary import words

MAX_RECORDS = 20_000
"""Records of one round that are read; more are none that a table wrote."""


@frozen
class RoundRecord:
    """A round with the records that tell it, and whether they hold."""

    told: Round
    identity: str
    records: tuple[Record, ...]
    before: Head
    """The record that the first one follows."""
    damage: str
    """What does not fit the chain; empty where all of it holds."""
    happened: tuple[tuple[Record, Mapping[str, Any], float], ...]
    """Each record, its content, and seconds since the first one."""
    digests: Mapping[str, str]
    disputes: tuple[Dispute, ...]

    @property
    def number(self) -> int:
        return self.told.number

    @property
    def head(self) -> str:
        """Hash of the last record."""
        return self.records[-1].hash.hex()

    @property
    def stages(self) -> tuple[tuple[str, float], ...]:
        """Name and length in seconds, in order."""
        pairs = pairwise(self.told.moments)
        return tuple((STAGES.get(kind, "bets"), ends - began) for (kind, began), (_, ends) in pairs)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What the reader said, in words."""
        return tuple(_verdict(dict(one)) for one in self.told.verdicts)

    @property
    def measured(self) -> str:
        """What the lamp box answered, in order."""
        return "; then ".join(_MEASURED.get(kind) or words(kind) for kind in self.told.lamps)


_MEASURED = {
    "LampsShown": "read back and measured lit as commanded",
    "LampsDark": "read back and measured dark",
}


def _verdict(told: dict[str, Any]) -> str:
    kind = words(told.pop("type"))
    values = " ".join(map(str, told.pop("values", None) or ()))
    rest = ", ".join(f"{words(key)} {_short(value)}" for key, value in told.items())
    return ": ".join(part for part in (kind, values, rest) if part)


def _short(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value).replace("_", " ")


def read_round(path: Path, pictures: Path, number: int) -> RoundRecord | None:
    """Return what the journal holds of a round; None where it knows none. Raises JournalError."""
    with closing(opened(path)) as book:
        found = book.read_round(number)[:MAX_RECORDS]
        if not found:
            return None
        before = book.head_before(found[0].sequence)
        disputes = tuple(one for one in _disputes(pictures) if one.round == number)
        told = round_of(number, book.identity, before, found, str(path), disputes)
        if not told.damage and (damage := book.round_damage(number)) is not None:
            return replace(told, damage=damage.line())
        return told


def round_of(
    number: int,
    identity: str,
    before: Head,
    found: list[Record],
    where: str,
    disputes: tuple[Dispute, ...] = (),
) -> RoundRecord:
    """Return what these records, which follow `before`, tell of a round; `where`: they lie there.

    Raises JournalCorruptError.
    """
    chain = Chain(where)
    records = tuple(chain.over(before, until_ended(found, number)))
    plains = [record.plain for record in records]
    return RoundRecord(
        told=history.round_of(records, number),
        identity=identity,
        records=records,
        before=before,
        damage="" if chain.damage is None else chain.damage.line(),
        happened=tuple(
            (record, plain, plain["monotonic"] - plains[0]["monotonic"])
            for record, plain in zip(records, plains, strict=True)
        ),
        digests=plains[-1].get("digests", {}),
        disputes=disputes,
    )


def _disputes(pictures: Path) -> tuple[Dispute, ...]:
    try:
        return DisputeList(pictures).acts()
    except DisputesError:
        return ()


# ── A day ───────────────────────────────────────────────────────────────────


def read_day(path: Path, day: str, begins: time) -> DaySheet:
    """Count the records of a gaming day, which begins at a local time. Raises JournalError."""
    with closing(opened(path)) as book:
        return GamingDays(book, begins).sheet(day, Chain(str(path)))
