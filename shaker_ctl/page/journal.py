"""One round, or one day, read from the journal itself: with its hashes, and whether they hold.

Owns the way from records to what a person reads of them. It opens the journal for looking and
closes it again; the service may run or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from shaker_ctl.adapters.disk.dispute_list import Dispute, DisputeList
from shaker_ctl.adapters.disk.gaming_days import GamingDays
from shaker_ctl.adapters.disk.shown_journal import ShownJournal
from shaker_ctl.adapters.disk.sqlite_journal import SqliteJournal, volume_numbers
from shaker_ctl.errors import DisputesError, JournalError
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.day_sheet import UNDER, DaySheet
from shaker_ctl.journal.record import Chain, Head, Record, until_ended
from shaker_ctl.rules.vocabulary import words
from shaker_ctl.view.archive import happened_in

MAX_RECORDS = 20_000
"""Records of one round that are read; more are none that a table wrote."""

STAGES = (
    ("BetsRequested", "bets"),
    ("TossPlanDrawn", "before the toss"),
    ("TossStarted", "toss"),
    ("TossSettled", "settling"),
    ("AtRest", "reading"),
    ("ReadingMade", "decision to lit"),
    ("LampsShown", "paying"),
    ("LampsDark", "end"),
)
"""Event that begins a stage, and the stage's name."""


@contextmanager
def opened(path: Path) -> Iterator[SqliteJournal]:
    """Open a journal for looking. Raises JournalError where that is not possible."""
    if not volume_numbers(path):
        raise JournalError(f"there is no journal at {path}", remedy="The first start founds it")
    with closing(ShownJournal(path, read_only=True)) as book:
        yield book


@frozen
class Happening:
    """One record of a round, in words."""

    sequence: int
    wall: str
    after_s: float
    """Seconds since the round's first record."""
    what: str
    clauses: tuple[str, ...]
    decided: tuple[str, ...]
    hash: str
    kind: str


@frozen
class RoundRecord:
    """Everything that the journal holds of one round."""

    number: int
    identity: str
    records: tuple[Record, ...]
    before: Head
    """The record that the first one follows."""
    damage: str
    """What does not fit the chain; empty where all of it holds."""
    happened: tuple[Happening, ...]
    stages: tuple[tuple[str, float], ...]
    """Name and length in seconds, in order."""
    pictures: tuple[tuple[str, str, str], ...]
    """(what it shows, file, SHA-256)."""
    verdicts: tuple[str, ...]
    commanded: tuple[str, ...]
    measured: str
    digests: Mapping[str, str]
    under: str
    """Text, paytable, entry and layout, as the round names them; empty in older records."""
    marks: tuple[str, ...]
    disputes: tuple[Dispute, ...]

    @property
    def head(self) -> str:
        """Hash of the last record."""
        return self.records[-1].hash.hex()


def read_round(path: Path, pictures: Path, number: int) -> RoundRecord | None:
    """Return what the journal holds of a round; None where it knows none. Raises JournalError."""
    with opened(path) as book:
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
    mine = [
        one
        for one in plains
        if one.get("round") == number and one["kind"] == "step" and is_of_play(one["event"])
    ]
    return RoundRecord(
        number=number,
        identity=identity,
        records=records,
        before=before,
        damage="" if chain.damage is None else chain.damage.line(),
        happened=tuple(_happenings(records, plains)),
        stages=tuple(_stages(mine)),
        pictures=tuple(_pictures(plains)),
        verdicts=tuple(_verdicts(mine)),
        commanded=_commanded(mine),
        measured=_measured(mine),
        digests=plains[-1].get("digests", {}),
        under=next((one[UNDER] for one in plains if UNDER in one), ""),
        marks=tuple(dict.fromkeys(m for plain in plains for m in plain.get("marks", ()))),
        disputes=disputes,
    )


def is_of_play(fact: Mapping[str, Any]) -> bool:
    """Whether an event or a command concerns a round of play. What an inspection or a trial does
    goes on record under the number of the round before it, and is no part of that round.
    """
    occasion = fact.get("occasion")
    return occasion is None or occasion["purpose"] == "play"


def _happenings(records: tuple[Record, ...], plains: list[dict[str, Any]]) -> Iterator[Happening]:
    began_s = plains[0]["monotonic"]
    for record, plain in zip(records, plains, strict=True):
        event = plain.get("event")
        if event is not None:
            what = happened_in(event)
        else:
            actor = (plain.get("actor") or {}).get("name", "")
            told = (plain["kind"], plain.get("note", ""), actor)
            what = " ".join(str(one) for one in told if one)
        if plain["kind"] == "refused":
            what = f"refused: {what}: {plain.get('reason', '')}"
        yield Happening(
            sequence=plain["sequence"],
            wall=plain["wall"],
            after_s=plain["monotonic"] - began_s,
            what=what,
            clauses=tuple(dict.fromkeys(plain.get("because", ()))),
            decided=tuple(_decided(one) for one in plain.get("decision", ())),
            hash=record.hash.hex(),
            kind=plain["kind"],
        )


_QUIET = ("type", "occasion", "plan", "demonstration", "clause", "corrects", "multipliers")


def _decided(command: Mapping[str, Any]) -> str:
    told = [
        " ".join(map(str, value)) if isinstance(value, list) else str(value).replace("_", " ")
        for key, value in command.items()
        if key not in _QUIET and value not in (None, "", [], False) and not isinstance(value, dict)
    ]
    said = words(command["type"]) + (f": {', '.join(told)}" if told else "")
    return f"{said}, a correction" if command.get("corrects") else said


def _stages(steps: list[dict[str, Any]]) -> Iterator[tuple[str, float]]:
    names = dict(STAGES)
    found = [(names[kind], one["at_s"]) for one in steps if (kind := one["event"]["type"]) in names]
    if steps and (not found or found[0][1] > steps[0]["at_s"]):
        found.insert(0, ("bets", steps[0]["at_s"]))
    for (name, began), (_, ended) in pairwise(found):
        yield name, ended - began


def _pictures(plains: list[dict[str, Any]]) -> Iterator[tuple[str, str, str]]:
    for plain in plains:
        for role, kept in sorted(plain.get("pictures", {}).items(), reverse=True):
            yield role, kept["file"], kept["sha256"]


def _verdicts(steps: list[dict[str, Any]]) -> Iterator[str]:
    for step in steps:
        if step["event"]["type"] == "ReadingMade":
            told = dict(step["event"]["verdict"])
            kind = told.pop("type")
            values = " ".join(map(str, told.pop("values", None) or ()))
            rest = ", ".join(f"{key.replace('_', ' ')} {_short(v)}" for key, v in told.items())
            yield ": ".join(part for part in (words(kind), values, rest) if part)


def _short(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value).replace("_", " ")


def _commanded(steps: list[dict[str, Any]]) -> tuple[str, ...]:
    found: tuple[str, ...] = ()
    for step in steps:
        for command in step.get("decision", ()):
            if command["type"] == "PushLamps" and is_of_play(command):
                found = tuple(command["areas"])
    return found


_MEASURED = {
    "LampsShown": "read back and measured lit as commanded",
    "LampsDark": "read back and measured dark",
}


def _measured(steps: list[dict[str, Any]]) -> str:
    """What the lamp box answered, in order."""
    told = []
    for step in steps:
        event = step["event"]
        if event["type"] in _MEASURED:
            told.append(_MEASURED[event["type"]])
        elif event["type"] == "LampFault":
            told.append(happened_in(event))
    return "; then ".join(told)


def _disputes(pictures: Path) -> tuple[Dispute, ...]:
    try:
        return DisputeList(pictures).acts()
    except DisputesError:
        return ()


# ── A day ───────────────────────────────────────────────────────────────────


@frozen
class Day:
    """One gaming day."""

    day: str
    sheet: DaySheet
    damage: str


def read_day(path: Path, day: str, begins: time) -> Day:
    """Count the records of a gaming day, which begins at a local time. Raises JournalError."""
    with opened(path) as book:
        chain = Chain(str(path))
        sheet = GamingDays(book, begins).sheet(day, chain)
        return Day(day, sheet, "" if chain.damage is None else chain.damage.line())
