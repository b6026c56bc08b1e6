"""One record and the chain that binds it to all before it.

Owns the layout: canonical JSON (sorted keys, no spaces, UTF-8), a sequence number from 1 without
gaps, and SHA-256 over the previous hash and the body. It must not know files. Of what
events mean it knows which round they name, and no more: `history` tells the rest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from shaker_ctl.errors import JournalCorruptError, JournalVersionError
from shaker_ctl.frozen import frozen

SCHEMA = 2
"""Version of what a record says. 1 had no `schema` key. A program reads its own version and all
before it."""

Plain = Any
"""What `json.loads` returns."""

RESERVED = frozenset(
    {"schema", "sequence", "monotonic", "wall", "kind", "round", "digests", "pictures"}
)
"""Keys that the chain itself writes; a fact may not bring its own."""

STEP_MARK = b'"kind":"step"'
"""Stands in the body of every step of the rules, and of no other record."""


LINE = b'{"hash":"%s","record":%s}'
"""A record as every file has it: its hash in hexadecimal digits, and its body to the byte."""

BODY_AT = len(LINE % (bytes(64), b"")) - 1
"""Where the body begins."""


@frozen
class Entry:
    """What the service wants remembered: one fact, already plain."""

    kind: str
    """What sort of fact: `step`, `refused`, `opening`, ..."""
    body: Mapping[str, Plain]
    """The fact itself: the event, what was decided on it, and whatever else belongs to it."""
    round: int | None = None
    """Number of the round that it belongs to, where it says so."""


@frozen
class Record:
    """One link of the chain, as written."""

    sequence: int
    hash: bytes
    body: bytes
    is_lost: bool = False
    """A mark in the place of a record whose loss a person has accepted: its hash is the lost
    record's, and not the mark's."""

    @property
    def plain(self) -> dict[str, Plain]:
        """The body decoded: what was to be remembered, and beside it `RESERVED`.

        Raises JournalCorruptError where the body is none that was ever written, and
        JournalVersionError where a newer program wrote it.
        """
        decoded = _decoded(self, "journal")
        if isinstance(decoded, Damage):
            raise _unreadable(decoded)
        return decoded

    @property
    def exported(self) -> bytes:
        """The record as it was hashed, to the byte, with its hash: a line of every export."""
        return LINE % (self.hash.hex().encode(), self.body) + b"\n"


@frozen
class Head:
    """Where the chain ends: what another medium must agree with."""

    sequence: int
    hash: bytes

    def line(self) -> str:
        """For screens and consoles."""
        return f"{self.sequence} {self.hash.hex()[:16]}"


@frozen
class Anchor:
    """Where a journal stood after a round, kept out of reach of whoever can write its files."""

    table: bytes
    """Mark of the journal: `table_mark`."""
    round: int
    head: Head


def canonical(plain: Plain) -> bytes:
    """Return the one spelling of `plain`. Raises TypeError or ValueError where it has none."""
    return json.dumps(
        plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def checked(kind: str, body: Mapping[str, Plain]) -> Entry:
    """Return the entry for a fact, its round found in it.

    Raises ValueError or TypeError where the body uses a reserved key or has no JSON form: then, in
    the thread that made it, and not later in the writer's.
    """
    if taken := RESERVED & body.keys() - {"round"}:
        raise ValueError(f"a record's body may not bring its own {sorted(taken)}")
    canonical(body)
    return Entry(kind, body, round_of(body))


def round_of(body: Mapping[str, Plain]) -> int | None:
    """Return the round of play that a fact names: itself, by its event, or by the occasion.

    What the fact itself says of its round holds, and where it says that there is none, there is
    none: an act that was refused may name a round that was never played.
    """
    if "round" in body:
        return _played(body["round"])
    event = body.get("event")
    for owner in (body, event if isinstance(event, dict) else {}):
        if isinstance(number := owner.get("round"), int):
            return _played(number)
        occasion = owner.get("occasion")
        if isinstance(occasion, dict) and occasion.get("purpose") == "play":
            return _played(occasion.get("number"))
    return None


_SHAPES: Mapping[str, type] = {"event": dict, "decision": list, "findings": list}
"""What a start looks into where a record has it; lists are of objects."""


def out_of_frame(plain: Mapping[str, Plain], sequence: int) -> str:
    """Say what is wrong with the frame of a decoded record; empty where nothing is.

    A right hash says that a record is the one that was written, and not that a table wrote it.
    `sequence`: its place in the chain.
    """
    if type(plain.get("sequence")) is not int or plain["sequence"] != sequence:
        return f"it says that it is record {plain.get('sequence')!r:.40}"
    kind = plain.get("kind")
    if not isinstance(kind, str):
        return "it says no kind"
    try:
        datetime.fromisoformat(plain.get("wall", ""))
    except (TypeError, ValueError):
        return "it says no time"
    for key, shape in _SHAPES.items():
        value = plain.get(key, shape())
        parts = value if isinstance(value, list) else []
        if not isinstance(value, shape) or not all(isinstance(part, dict) for part in parts):
            return f"its `{key}` is none that a table writes"
    return ""


def is_seen_framed(body: bytes, sequence: int) -> bool:
    """Whether a body is seen, without being decoded, to be a step in its frame, at this place.

    False says nothing: then decode it. As for `number_in`, what follows the mark is of the body.
    """
    at = body.rfind(b',"sequence":%d,"wall":"' % sequence)
    return (
        at >= 0
        and body.find(b"}", at) == len(body) - 1
        and body.rfind(STEP_MARK) >= 0  # from the end, where keys as these stand
        and body.rfind(b'"event":{') >= 0
        and (b'"decision":[{' in body or b'"decision":[]' in body)
    )


def misframed(record: Record, where: str) -> Damage | None:
    """Say why a record that fits the chain is none that a table writes; None where it is one.

    Raises JournalVersionError where a newer program wrote it.
    """
    if is_seen_framed(record.body, record.sequence):
        return None
    decoded = _decoded(record, where)
    return decoded if isinstance(decoded, Damage) else None


def _decoded(record: Record, where: str) -> dict[str, Plain] | Damage:
    try:
        decoded = json.loads(record.body)
    except (ValueError, RecursionError):
        return Damage(where, record.sequence, *_wrong_byte(record.body))
    if not isinstance(decoded, dict):
        return Damage(where, record.sequence, None, "its body is no record")
    if decoded.get("schema", 1) not in range(1, SCHEMA + 1):
        raise newer(f"record {record.sequence}", decoded["schema"], SCHEMA)
    what = out_of_frame(decoded, record.sequence)
    return Damage(where, record.sequence, None, what) if what else decoded


NOT_UNDERSTOOD = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What reading a record raises whose chain is right and whose content makes no sense."""

P = ParamSpec("P")
Made = TypeVar("Made")


def names_its_record(
    reading: Callable[Concatenate[Iterable[Record], P], Made],
) -> Callable[Concatenate[Iterable[Record], P], Made]:
    """Have a function that reads records at a start end with the number of the record that it
    cannot understand, whatever that holds. Such a function raises JournalCorruptError."""

    @wraps(reading)
    def read(records: Iterable[Record], /, *args: P.args, **options: P.kwargs) -> Made:
        at = 0

        def counted() -> Iterator[Record]:
            nonlocal at
            for record in records:
                at = record.sequence
                yield record

        try:
            return reading(counted(), *args, **options)
        except NOT_UNDERSTOOD as error:
            what = f"it says what this program does not understand: {error!r:.80}"
            raise _unreadable(Damage("journal", at, None, what)) from error

    return read


MAX_INTEGER = (1 << 63) - 1
"""No record and no round is beyond it."""


def number_in(body: bytes, key: str) -> int | None:
    """Return the number that a body has under a key of its own; None where it has none there.

    Mostly seen without decoding. In a string, a quotation mark follows a backslash and no comma, so
    what is found is a key with its value; no object but the body ends after it, so it is its own.
    """
    mark = b',"%s":' % key.encode()
    at = body.rfind(mark)
    if at >= 0 and body.find(b"}", at) == len(body) - 1:
        spelled = body[at + len(mark) : body.find(b",", at + 1)]
        if spelled == b"null" or (spelled.isdigit() and len(spelled) < 19):
            return None if spelled == b"null" else int(spelled)
    try:
        number = json.loads(body)[key]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return number if type(number) is int and abs(number) <= MAX_INTEGER else None


def _played(number: Plain) -> int | None:
    """Rounds are numbered from 1; 0 is the time before the first, which is no round."""
    return number or None if isinstance(number, int) else None


def genesis(identity: str) -> Head:
    """Return the head of an empty journal: bound to its identity, so chains cannot be swapped."""
    return Head(0, hashlib.sha256(b"shaker journal 1\n" + identity.encode()).digest())


def table_mark(identity: str) -> bytes:
    """Return 8 bytes that say which journal an anchor belongs to.

    They only name it: what proves it is the head, whose chain begins with the whole identity.
    """
    return genesis(identity).hash[:8]


def link(
    head: Head,
    entry: Entry,
    *,
    monotonic_s: float,
    wall: str,
    digests: Mapping[str, str],
    pictures: Mapping[str, Plain] | None = None,
) -> Record:
    """Forge the next link.

    `wall`: ISO 8601 with offset. `digests`: what was running. `pictures`: name and SHA-256 of each
    picture that the decision rests on.
    """
    sequence = head.sequence + 1
    body = canonical(
        {
            **entry.body,
            "schema": SCHEMA,
            "sequence": sequence,
            "monotonic": round(monotonic_s, 6),
            "wall": wall,
            "kind": entry.kind,
            "round": entry.round,
            "digests": dict(digests),
            "pictures": dict(pictures or {}),
        }
    )
    return Record(sequence, chain_hash(head.hash, body), body)


def chain_hash(before: bytes, body: bytes) -> bytes:
    """SHA-256 over the hash of the record before, and the body."""
    return hashlib.sha256(before + body).digest()


UNCHAINED = "its hash does not continue the chain"
"""What is wrong with a record that reads well: body and hash do not belong together."""


@frozen
class Damage:
    """The first thing wrong in a journal, and where."""

    where: str
    """Which copy: its path."""
    sequence: int
    """The first bad record; where a tail is missing, the first one missing."""
    byte: int | None
    """Offset in that record's body of the first byte that cannot be right, where one is known."""
    what: str

    def line(self) -> str:
        """For screens and consoles."""
        at = "" if self.byte is None else f", byte {self.byte}"
        return f"{self.where}: record {self.sequence}{at}: {self.what}"


def walk(start: Head, records: Iterable[Record], where: str) -> Iterator[Record | Damage]:
    """Yield each record that fits the chain; at the first that does not, yield Damage and stop."""
    head = start
    for record in records:
        if damage := _misfit(head, record, where):
            yield damage
            return
        head = Head(record.sequence, record.hash)
        yield record


class Chain:
    """Passes records on, sound or not, and remembers the first that does not fit the one before.

    For looking at what may be damaged: `walk` stops there, a person wants to see as far as it goes.
    """

    def __init__(self, where: str) -> None:
        """`where`: which copy is read, for the damage that is found."""
        self._where = where
        self.damage: Damage | None = None

    def over(self, before: Head, records: Iterable[Record]) -> Iterator[Record]:
        """Yield each of `records`, the first of which follows `before`."""
        head = before
        for record in records:
            if self.damage is None:
                self.damage = _misfit(head, record, self._where)
            head = Head(record.sequence, record.hash)
            yield record


def newer(what: str, version: Plain, known: int) -> JournalVersionError:
    """Return the refusal of what a newer program has written; `known`: its newest version here."""
    return JournalVersionError(
        f"{what} of the journal has version {version}; this program knows versions up to {known}",
        remedy="Start the program version that wrote it, or a newer one",
    )


def _unreadable(damage: Damage) -> JournalCorruptError:
    return JournalCorruptError(
        damage.line(), remedy="Keep the file; shaker-ctl journal verify compares both copies"
    )


def _misfit(head: Head, record: Record, where: str) -> Damage | None:
    expected = head.sequence + 1
    if record.sequence != expected:
        return Damage(where, expected, None, f"missing; {record.sequence} follows")
    if chain_hash(head.hash, record.body) == record.hash:
        return misframed(record, where)
    if record.is_lost:
        return None
    # Only a body that does not fit is looked into: a year of records must be walked in seconds.
    byte, what = _wrong_byte(record.body)
    return Damage(where, expected, byte, what)


def _wrong_byte(body: bytes) -> tuple[int | None, str]:
    """Return the first byte of `body` that cannot be right, where one is known, and why."""
    try:
        json.loads(body)
    except UnicodeDecodeError as error:
        return error.start, "not UTF-8"
    except json.JSONDecodeError as error:
        return len(error.doc[: error.pos].encode()), f"not JSON: {error.msg}"
    except (ValueError, RecursionError):
        return None, "not JSON that any program wrote: nested too deep, or a number too long"
    return None, UNCHAINED


def first_difference(body: bytes, other: bytes) -> int | None:
    """Return the offset of the first byte in which two bodies differ; None where they do not."""
    for at, (ours, theirs) in enumerate(zip(body, other, strict=False)):
        if ours != theirs:
            return at
    return None if len(body) == len(other) else min(len(body), len(other))
