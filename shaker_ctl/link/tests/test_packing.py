"""Batches arrive as they were sent, and everything else is refused by name."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaker_ctl.errors import SettingsError
from shaker_ctl.journal.record import Head, Record, chain_hash, genesis
from shaker_ctl.link import packing, topics
from shaker_ctl.link.messages import Alarm, Alive, Birth, Result, State
from shaker_ctl.link.packing import Batch, Have, ProtocolError

SESSION = "0123456789abcdef"
IDENTITY = "9d2c founded 2026-11-23T06:00:00+00:00"


def chain(bodies: list[bytes], before: Head) -> tuple[Record, ...]:
    made: list[Record] = []
    for body in bodies:
        hash_ = chain_hash(before.hash, body)
        before = Head(before.sequence + 1, hash_)
        made.append(Record(before.sequence, hash_, body))
    return tuple(made)


def batch(bodies: list[bytes], at: int = 0) -> Batch:
    before = Head(at, genesis(IDENTITY).hash)
    return Batch(IDENTITY, before, chain(bodies, before), at + len(bodies) + 3)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
BODIES = st.binary(max_size=200).map(lambda body: body.replace(b"\n", b"\\n"))


@given(st.lists(BODIES, max_size=30), st.integers(0, 1 << 40))
def test_a_batch_arrives_as_it_was_sent(bodies: list[bytes], at: int) -> None:
    sent = batch(bodies, at)
    got = packing.unpack(packing.pack(sent))
    assert got == sent
    assert got.packed == packing.packed(sent.records), "the lines are kept as they came"


FORMS = (Birth, State, Alive, Result, Alarm)
READERS: tuple[Callable[[bytes], object], ...] = (
    *(packing.unpack, packing.have_of),
    *(partial(packing.read, form) for form in FORMS),
)


@given(st.binary(max_size=300) | st.builds(packing.to_json, st.dictionaries(st.text(), ANY_JSON)))
def test_other_bytes_are_refused_by_name(payload: bytes) -> None:
    for reader in READERS:
        try:
            reader(payload)
        except ProtocolError:
            continue


@given(st.lists(BODIES, min_size=1, max_size=8), st.data())
def test_a_changed_byte_never_makes_another_record(
    bodies: list[bytes], data: st.DataObject
) -> None:
    sent = batch(bodies)
    payload = bytearray(packing.pack(sent))
    at = data.draw(st.integers(0, len(payload) - 1))
    payload[at] ^= data.draw(st.integers(1, 255))
    try:
        got = packing.unpack(bytes(payload))
    except ProtocolError:
        return
    assert got.records == sent.records or got.before != sent.before


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("v", 1),
        ("identity", "a\nb"),
        ("identity", 7),
        ("at", -1),
        ("at", True),
        ("at", 1 << 63),
        ("before", "00"),
        ("count", packing.BATCH_RECORDS + 1),
        ("count", 5),
        ("end", "0" * 64),
        ("head", 0),
    ],
)
def test_a_header_that_contradicts_itself_is_refused(key: str, value: object) -> None:
    line, _, rest = packing.pack(batch([b"one", b"two"])).partition(b"\n")
    header = {**json.loads(line), key: value}
    with pytest.raises(ProtocolError):
        packing.unpack(json.dumps(header).encode() + b"\n" + rest)


def test_a_small_message_cannot_unpack_into_a_large_one() -> None:
    bomb = zlib.compress(b"\0" * (packing.MAX_BYTES + 1))
    with pytest.raises(ProtocolError, match="more than"):
        packing.records_of(bomb, genesis(IDENTITY), 1)
    assert len(bomb) < 20_000


@pytest.mark.parametrize(
    "text", ['"\\ud800"', "NaN", "-Infinity", "1e999", "9" * 20, "9" * 4300], ids=lambda t: t[:9]
)
def test_what_nobody_could_show_or_store_is_refused(text: str) -> None:
    with pytest.raises(ProtocolError):
        packing.from_json(b'{"said": [' + text.encode() + b"]}")


def test_json_nested_without_end_is_refused() -> None:
    with pytest.raises(ProtocolError):
        packing.from_json(b"[" * 100_000)
    with pytest.raises(ProtocolError):
        packing.from_json(b'{"a":' + b" " * packing.MAX_JSON + b"1}")


def test_a_batch_keeps_its_bounds_and_always_goes_on() -> None:
    def taken(bodies: list[bytes]) -> int:
        begin = genesis(IDENTITY)
        return len(packing.batch_of(IDENTITY, begin, chain(bodies, begin), 0).records)

    assert taken([b"x"] * 1500) == packing.BATCH_RECORDS
    assert taken([b"x" * packing.BATCH_BYTES] * 3) == 1
    assert taken([]) == 0


def test_what_the_floor_has_arrives_as_it_was_said() -> None:
    have = Have(IDENTITY, Head(41, bytes(range(32))), SESSION)
    assert packing.have_of(packing.have_message(have)) == have


def test_a_topic_leads_back_to_its_table() -> None:
    place = topics.Place("house", "pit-1")
    assert topics.parsed(place.topic("alarm/lamp")) == (place, "alarm/lamp")
    for wrong in ("", "shaker/1/house/pit-1", "shaker/2/house/pit-1/state", "x" * 3000):
        assert topics.parsed(wrong) is None
    for taken in (*topics.RESERVED, "", "Pit", "+", "#", "a" * 41):
        assert topics.parsed(f"shaker/1/house/{taken}/state") is None
        with pytest.raises(SettingsError):
            topics.require_name(taken, "table")
