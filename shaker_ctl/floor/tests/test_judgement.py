"""What the floor makes of records: they continue, lack something, or tell another history."""

from __future__ import annotations

from functools import partial

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shaker_ctl.floor.judgement import AlarmKind, Contradiction, judge
from shaker_ctl.journal.record import Head, Record, chain_hash, genesis
from shaker_ctl.link.packing import Batch, Have

IDENTITY = "the table's"


def chain(bodies: list[bytes], identity: str = IDENTITY) -> list[Record]:
    made: list[Record] = []
    head = genesis(identity)
    for body in bodies:
        head = Head(head.sequence + 1, chain_hash(head.hash, body))
        made.append(Record(head.sequence, head.hash, body))
    return made


def head_of(records: list[Record], count: int, identity: str = IDENTITY) -> Head:
    last = records[count - 1] if count else None
    return genesis(identity) if last is None else Head(last.sequence, last.hash)


def part(records: list[Record], first: int, last: int, head: int | None = None) -> Batch:
    """The records behind `first` up to `last`."""
    before = head_of(records, first)
    return Batch(IDENTITY, before, tuple(records[first:last]), head or len(records))


def held(records: list[Record], count: int) -> Have:
    return Have(IDENTITY, head_of(records, count))


def hash_of(records: list[Record], sequence: int) -> bytes:
    return records[sequence - 1].hash


SHARED_MACHINE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
BODIES = st.lists(st.binary(min_size=1, max_size=4), min_size=1, max_size=40)


@SHARED_MACHINE
@given(BODIES, st.data())
def test_whatever_is_sent_again_each_record_is_taken_once(
    bodies: list[bytes], data: st.DataObject
) -> None:
    records = chain(bodies)
    line, stored = Have(IDENTITY, genesis(IDENTITY)), list[Record]()
    for _ in range(12):
        first = data.draw(st.integers(0, len(records)))
        last = data.draw(st.integers(first, len(records)))
        batch = part(records, first, last)
        verdict = judge(line, batch, partial(hash_of, stored))
        assert isinstance(verdict, Batch), "the same history is never an alarm"
        assert verdict.before == line.head
        assert not verdict.records or first <= len(stored)
        stored += verdict.records
        line = Have(IDENTITY, head_of(stored, len(stored)))
    assert stored == records[: len(stored)]


@SHARED_MACHINE
@given(BODIES, st.data())
def test_a_rewritten_record_is_found_wherever_the_table_goes_on(
    bodies: list[bytes], data: st.DataObject
) -> None:
    records = chain(bodies)
    at = data.draw(st.integers(1, len(records)))
    other = chain([*bodies[: at - 1], bodies[at - 1] + b"!", *bodies[at:], b"later"])
    line = held(records, len(records))
    first = data.draw(st.integers(0, len(records)))
    batch = part(other, first, data.draw(st.integers(first, len(other))))
    verdict = judge(line, batch, lambda n: records[n - 1].hash)
    if batch.end.sequence < at:
        assert isinstance(verdict, Batch), "what comes before the rewritten record is as it was"
        assert verdict.records == ()
    else:
        assert isinstance(verdict, Contradiction)
        assert verdict.trouble is AlarmKind.FORK


def test_what_is_sent_again_of_records_that_were_removed_is_no_fork() -> None:
    records = chain([b"a", b"b", b"c"])
    assert judge(held(records, 3), part(records, 0, 2), lambda _: None) == Batch(
        IDENTITY, head_of(records, 3), (), 3
    )


def test_a_journal_that_ends_earlier_is_a_rewind() -> None:
    records = chain([b"a", b"b", b"c"])
    claim = part(records, 2, 2, head=2)
    verdict = judge(held(records, 3), claim, lambda n: records[n - 1].hash)
    assert isinstance(verdict, Contradiction)
    assert verdict.trouble is AlarmKind.REWIND


def test_another_journal_is_named() -> None:
    records = chain([b"a"])
    other = Batch("another's", genesis("another's"), (), 5)
    verdict = judge(held(records, 1), other, lambda n: None)
    assert isinstance(verdict, Contradiction)
    assert verdict.trouble is AlarmKind.IDENTITY


def test_records_that_follow_nothing_are_asked_for() -> None:
    records = chain([b"a", b"b", b"c"])
    line = held(records, 1)
    asked = judge(line, part(records, 2, 3), lambda n: None)
    assert asked == Batch(IDENTITY, line.head, (), 3)


def test_a_batch_that_comes_late_is_no_rewind() -> None:
    """Over another broker, or sent twice: it says where the table stood then."""
    records = chain([b"a", b"b", b"c"])
    late = part(records, 0, 2, head=2)
    found = judge(held(records, 3), late, lambda n: records[n - 1].hash)
    assert isinstance(found, Batch)
    assert found.records == ()


def test_a_first_record_that_is_not_the_journals_own_is_a_fork() -> None:
    records = chain([b"a"])
    wrong = Batch(IDENTITY, Head(0, bytes(32)), tuple(records), 1)
    line = Have(IDENTITY, genesis(IDENTITY))
    assert isinstance(judge(line, wrong, lambda n: None), Contradiction)
