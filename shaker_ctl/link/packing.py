"""Messages as bytes: journal records as they were hashed, and small JSON objects.

Owns the form of every message, and its bounds: what comes over a network is refused where it is
too large, nested too deep, of another version, or contradicts itself. Must not know topics.

Records travel by one exchange: the floor says `Have` (a journal, and the record up to which it is
there), the table sends the `Batch` behind it. A batch is one line of JSON, then zlib of lines of a
volume. The first line says where their chain begins and ends.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import cache
from itertools import accumulate, islice
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from shaker_ctl.errors import ShakerError
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.record import BODY_AT, Head, Record, chain_hash

VERSION = 3
BATCH_RECORDS = 1000
BATCH_BYTES = 512 * 1024
"""Unpacked lines in one batch. A single record that is longer goes alone."""
MAX_BYTES = 16 * 1024 * 1024
"""Unpacked lines in one batch at most; a batch that would be larger is refused unread."""
MAX_JSON = 32 * 1024
_HEADER = 1024
_MAX_INTEGER = (1 << 63) - 1


Version = Literal[3]
Whole = Annotated[int, Field(ge=0, lt=_MAX_INTEGER)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Identity = Annotated[str, Field(pattern=r"^[\x20-\x7e]{1,120}$")]
"""Of a journal."""


class _Have(TypedDict):
    v: Version
    identity: Identity
    sequence: Whole
    hash: Sha256
    run: Annotated[str, Field(max_length=16)]


class _Header(TypedDict):
    """Of a batch."""

    v: Version
    identity: Identity
    at: Whole
    before: Sha256
    count: Annotated[int, Field(ge=0, le=BATCH_RECORDS)]
    end: Sha256
    head: Whole


class ProtocolError(ShakerError):
    """A message from the network is none of ours. Nothing was changed; the sender is named."""

    code = "protocol"


@frozen
class Have:
    """Up to which record the floor has a journal: the table sends what follows."""

    identity: str
    head: Head
    run: str = ""
    """Name of the collector's run: a new run has not seen what was sent to the run before."""


@frozen
class Batch:
    """Records of one journal in a row, proved to be one chain."""

    identity: str
    before: Head
    """What the first record follows; where there are no records, where the table says it stands."""
    records: tuple[Record, ...]
    head: int
    """Last sequence number of the sender's journal when this was sent."""
    packed: bytes = field(default=b"", compare=False, repr=False)
    """The records' lines as they came."""

    @property
    def end(self) -> Head:
        """Where the chain stands behind the last record."""
        if not self.records:
            return self.before
        return Head(self.records[-1].sequence, self.records[-1].hash)


def batch_of(identity: str, before: Head, records: Sequence[Record], head: int) -> Batch:
    """Return the next batch of `records`, which follow `before`: at least one if there are any."""
    ends = accumulate(len(record.body) + BODY_AT for record in records)
    count = max(1, sum(end <= BATCH_BYTES for end in ends))
    return Batch(identity, before, tuple(records[: min(count, BATCH_RECORDS)]), head)


def pack(batch: Batch) -> bytes:
    """Return a batch as one message."""
    header = {
        "v": VERSION,
        "identity": batch.identity,
        "at": batch.before.sequence,
        "before": batch.before.hash.hex(),
        "count": len(batch.records),
        "end": batch.end.hash.hex(),
        "head": batch.head,
    }
    return to_json(header) + b"\n" + (batch.packed or packed(batch.records))


def packed(records: Iterable[Record]) -> bytes:
    """Return records as lines, compressed."""
    return zlib.compress(b"".join(record.exported for record in records), 6)


def unpack(payload: bytes) -> Batch:
    """Return the batch of a message. Raises ProtocolError for every other bytes."""
    end = payload.find(b"\n", 0, _HEADER)
    if end < 0:
        raise ProtocolError("a message without a header")
    header, rest = read(_Header, payload[:end]), payload[end + 1 :]
    before = Head(header["at"], bytes.fromhex(header["before"]))
    if before.sequence + header["count"] > header["head"]:
        raise ProtocolError("a batch beyond the head that it names")
    records = records_of(rest, before, header["count"])
    batch = Batch(header["identity"], before, records, header["head"], rest)
    if batch.end.hash.hex() != header["end"]:
        raise ProtocolError("the records do not lead where the batch says that they do")
    return batch


def records_of(data: bytes, before: Head, count: int) -> tuple[Record, ...]:
    """Return so many records of what `packed` made, each proved by the one before it, the first by
    `before`. Raises ProtocolError. What they say is for whoever stores them."""
    opened = zlib.decompressobj()
    try:
        *lines, rest = opened.decompress(data, MAX_BYTES).split(b"\n")
    except zlib.error as error:
        raise ProtocolError(f"records that cannot be unpacked: {error}") from error
    if not opened.eof or opened.unused_data:
        raise ProtocolError(f"records that are cut short, or of more than {MAX_BYTES} bytes")
    if len(lines) != count or rest:
        raise ProtocolError("not as many records as the batch says")
    hashes = accumulate((line[BODY_AT:-1] for line in lines), chain_hash, initial=before.hash)
    numbers = range(before.sequence + 1, before.sequence + 1 + count)
    bodies = (line[BODY_AT:-1] for line in lines)
    records = tuple(map(Record, numbers, islice(hashes, 1, None), bodies))
    if any(record.exported[:-1] != line for record, line in zip(records, lines, strict=True)):
        raise ProtocolError("records that are no chain")
    return records


def have_message(have: Have) -> bytes:
    """Return what the floor has, as one message."""
    at = {"sequence": have.head.sequence, "hash": have.head.hash.hex()}
    return to_json({"v": VERSION, "identity": have.identity, **at, "run": have.run})


def have_of(payload: bytes) -> Have:
    """Return what the floor says that it has. Raises ProtocolError."""
    plain = read(_Have, payload)
    head = Head(plain["sequence"], bytes.fromhex(plain["hash"]))
    return Have(plain["identity"], head, plain["run"])


# ── JSON within bounds ──────────────────────────────────────────────────────


def to_json(plain: Mapping[str, Any]) -> bytes:
    """Return one JSON object as a message."""
    return json.dumps(plain, separators=(",", ":"), ensure_ascii=False).encode()


def from_json(payload: bytes) -> dict[str, Any]:
    """Return the JSON object of a message. Raises ProtocolError for every other bytes."""
    if len(payload) > MAX_JSON:
        raise ProtocolError(f"a message of {len(payload)} bytes, at most {MAX_JSON}")
    try:
        plain = json.loads(payload, parse_int=_number)
        # Not NaN, nor half a surrogate pair: no page or figure could be sent that shows it.
        json.dumps(plain, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise ProtocolError("a message that is not JSON") from error
    if not isinstance(plain, dict):
        raise ProtocolError("a message that is no JSON object")
    return plain


Form = TypeVar("Form")
_reader: Any = cache(TypeAdapter)


def read(form: type[Form], payload: bytes) -> Form:
    """Return the JSON object of a message, which has this form. Raises ProtocolError."""
    try:
        made: Form = _reader(form).validate_python(from_json(payload), strict=True)
    except ValidationError as error:
        (wrong, *_) = error.errors(include_url=False, include_input=False)
        where = ".".join(map(str, wrong["loc"]))
        raise ProtocolError(f"`{where}`: {wrong['msg']}") from error
    return made


def _number(digits: str) -> int:
    value = int(digits)
    if abs(value) > _MAX_INTEGER:
        raise ValueError("a number that no database holds")
    return value
