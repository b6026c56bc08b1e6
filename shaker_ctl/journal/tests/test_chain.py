"""The chain: every change, gap and swap is seen, and named."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaker_ctl.journal.record import (
    Damage,
    Entry,
    Head,
    Record,
    canonical,
    genesis,
    link,
    number_in,
    round_of,
    walk,
)

START = genesis("a table")


def chain(count: int) -> list[Record]:
    head = START
    records: list[Record] = []
    for n in range(count):
        entry = Entry("step", {"event": {"type": "Tick", "n": n}}, round=n // 3)
        record = link(
            head, entry, monotonic_s=n, wall="2026-11-21T00:00:00+00:00", digests={"model": "ab"}
        )
        records.append(record)
        head = Head(record.sequence, record.hash)
    return records


def damage_in(records: list[Record]) -> Damage | None:
    last = [None, *walk(START, records, "here")][-1]
    return last if isinstance(last, Damage) else None


def test_a_whole_chain_is_sound() -> None:
    assert damage_in(chain(20)) is None


@given(st.integers(0, 9), st.data())
def test_every_flipped_byte_is_named_with_its_record(index: int, data: st.DataObject) -> None:
    records = chain(10)
    victim = records[index]
    at = data.draw(st.integers(0, len(victim.body) - 1))
    bit = data.draw(st.integers(0, 7))
    body = bytearray(victim.body)
    body[at] ^= 1 << bit
    records[index] = Record(victim.sequence, victim.hash, bytes(body))
    damage = damage_in(records)
    assert damage is not None
    assert damage.sequence == index + 1


@given(st.integers(0, 9), st.integers(0, 31))
def test_every_flipped_byte_of_a_hash_is_seen(index: int, at: int) -> None:
    records = chain(10)
    forged = bytearray(records[index].hash)
    forged[at] ^= 1
    records[index] = Record(index + 1, bytes(forged), records[index].body)
    damage = damage_in(records)
    assert damage is not None
    assert damage.sequence == index + 1


def test_a_missing_record_is_named() -> None:
    records = chain(5)
    damage = damage_in(records[:2] + records[3:])
    assert damage == Damage("here", 3, None, "missing; 4 follows")


def test_records_of_another_journal_do_not_fit() -> None:
    assert next(iter(walk(genesis("another table"), chain(1), "here"))) == Damage(
        "here", 1, None, "its hash does not continue the chain"
    )


def test_a_rewritten_record_with_its_own_right_hash_breaks_the_next_one() -> None:
    records = chain(5)
    forged = link(
        Head(1, records[0].hash),
        Entry("step", {"event": {"type": "Tick", "n": 99}}),
        monotonic_s=1,
        wall="2026-11-21T00:00:00+00:00",
        digests={},
    )
    damage = damage_in([records[0], forged, *records[2:]])
    assert damage is not None
    assert damage.sequence == 3


@pytest.mark.parametrize(
    ("body", "number"),
    [
        ({"event": {"type": "ValuesEntered", "round": 7}}, 7),
        ({"event": {"type": "TossSettled", "occasion": {"purpose": "play", "number": 8}}}, 8),
        ({"event": {"type": "TossSettled", "occasion": {"purpose": "trial", "number": 8}}}, None),
        ({"round": 9}, 9),
        ({"round": 0, "event": {"type": "OpenRequested"}}, None),
        ({"round": None, "event": {"type": "ValuesEntered", "round": 999_999_999}}, None),
        ({"round": 4, "event": {"type": "ValuesEntered", "round": 999_999_999}}, 4),
        ({"round": "5", "event": {"type": "ValuesEntered", "round": 999_999_999}}, None),
        ({"event": {"type": "TimeChecked", "occasion": {"purpose": "play", "number": 0}}}, None),
        ({"occasion": {"purpose": "play", "number": 0}}, None),
        ({"event": {"type": "EstopPressed"}}, None),
    ],
)
def test_a_record_is_filed_under_the_round_that_it_names(
    body: dict[str, Any], number: int | None
) -> None:
    assert round_of(body) == number


KEYS = st.sampled_from(["a", "round", "wall", 'x","round":7,"y', ',"round', "}"])
VALUES = st.sampled_from([7, 70, 7.0, None, "7", 'x,"round":7,"y', "{", "}"])
FACTS = VALUES | st.dictionaries(KEYS, VALUES | st.dictionaries(KEYS, VALUES, max_size=3))


@given(st.dictionaries(KEYS, FACTS, max_size=4))
def test_a_number_that_is_seen_without_decoding_is_the_records_own(body: dict[str, Any]) -> None:
    own = body.get("round")
    assert number_in(canonical(body), "round") == (own if type(own) is int else None)


@pytest.mark.parametrize("number", [None, 1, 999_999_999])
@pytest.mark.parametrize("words", ["settled", "a brace } in words"])
def test_a_records_round_is_seen(number: int | None, words: str) -> None:
    body = {"event": {"type": "WagersSettled", "round": 999}, "rows": [words]}
    whole = link(START, Entry("step", body, number), monotonic_s=1, wall="2026-11", digests={})
    assert number_in(whole.body, "round") == number
