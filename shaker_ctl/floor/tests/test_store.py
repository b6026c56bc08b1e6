"""Records lie as they came, old ones are removed by a named person, and every schema leads on."""

from __future__ import annotations

import json
from contextlib import closing

import pytest
from sqlalchemy import Connection, inspect, text

from shaker_ctl.errors import RefusedError
from shaker_ctl.floor import migrate
from shaker_ctl.floor import store as stores
from shaker_ctl.floor.parameters import FloorParameters
from shaker_ctl.floor.store import Store, StoreError
from shaker_ctl.journal.record import Entry, Head, Record, genesis, link
from shaker_ctl.link import packing
from shaker_ctl.link.packing import Batch, Have

IDENTITY = "pit-1 founded 2026-11-23T06:00:00+00:00"
RECORDS_A_ROUND = 4


def played(rounds: int) -> list[Record]:
    head, made = genesis(IDENTITY), list[Record]()
    for number in range(1, rounds + 1):
        command = {"type": "RecordRound", "round": number, "ending": "settled", "values": [1, 2, 3]}
        for n in range(RECORDS_A_ROUND):
            decision = [command] if n == RECORDS_A_ROUND - 1 else []
            body = {"event": {"type": "Tick", "n": n}, "decision": decision}
            wall = f"2026-{1 + number % 12:02}-23T06:00:00.000+00:00"
            entry = Entry("step", body, number)
            made.append(link(head, entry, monotonic_s=0, wall=wall, digests={}))
            head = Head(made[-1].sequence, made[-1].hash)
    return made


def fill(store: Store, records: list[Record], *, each: int) -> int:
    """Hand records over, so many together; return the line's id."""
    head = genesis(IDENTITY)
    with store.committing() as db:
        id_, _ = store.found(db, "pit-1", IDENTITY)
    for at in range(0, len(records), each):
        part = tuple(records[at : at + each])
        sent = packing.unpack(packing.pack(Batch(IDENTITY, head, part, len(records))))
        with store.committing() as db:
            store.add(db, [(id_, head, sent)])
        head = sent.end
    return id_


def rows(store: Store) -> list[tuple[int, int, bytes]]:
    with store.committing() as db:
        found = db.execute(text("SELECT first, last, lines FROM batch ORDER BY last"))
        return [(row[0], row[1], row[2]) for row in found]


def test_a_batch_lies_as_it_came_until_sixty_four_records_are_packed_together(store: Store) -> None:
    records = played(30)
    id_ = fill(store, records[:60], each=3)
    assert [(first, last) for first, last, _ in rows(store)] == [
        (n, n + 2) for n in range(1, 60, 3)
    ]
    assert rows(store)[0][2] == packing.packed(records[:3])
    fill_on(store, id_, records[:60], records[60:], each=5)
    assert rows(store)[0][:2] == (1, 65)
    assert list(store.records(id_)) == records
    assert list(store.records(id_, 64, 67)) == records[63:67]
    (stored,) = store.lines()
    assert store.broken(stored) == ""
    assert [row.number for row in store.rounds("pit-1", count=99)] != []
    assert store.round_records("pit-1", 17) == records[64:68]
    assert store.before("pit-1", 1) == Have(IDENTITY, genesis(IDENTITY))


def fill_on(
    store: Store, id_: int, before: list[Record], records: list[Record], *, each: int
) -> None:
    head = Head(before[-1].sequence, before[-1].hash)
    for at in range(0, len(records), each):
        part = tuple(records[at : at + each])
        sent = Batch(IDENTITY, head, part, 1 << 40, packing.packed(part))
        with store.committing() as db:
            store.add(db, [(id_, head, sent)])
        head = sent.end


def test_thirteen_records_of_a_round_take_less_than_three_kilobytes(store: Store) -> None:
    """Each came alone; the bench of a house counts a real database, with its indexes."""
    fill(store, played(64), each=1)
    with store.committing() as db:
        stored = db.execute(text("SELECT sum(length(lines)) FROM batch")).scalar_one()
    assert 13 * stored / (64 * RECORDS_A_ROUND) < 3000


def tear(db: Connection, last: int, lines: bytes) -> None:
    """Have the batch that ends there hold something else."""
    changing = text("UPDATE batch SET lines = :lines WHERE last = :last")
    db.execute(changing, {"lines": lines, "last": last})


def test_a_changed_byte_of_the_database_is_found(store: Store) -> None:
    fill(store, played(20), each=7)
    (stored,) = store.lines()
    first, last, lines = rows(store)[1]
    with store.committing() as db:
        changed = packing.packed([Record(first, bytes(32), b"{}")] * (last - first + 1))
        tear(db, last, changed)
    assert f"record {first}" in store.broken(stored)
    assert lines != changed


def test_what_another_collector_has_moved_is_not_stored_twice(store: Store) -> None:
    records = played(2)
    id_ = fill(store, records[:4], each=4)
    late = Batch(IDENTITY, genesis(IDENTITY), tuple(records[:4]), 8, packing.packed(records[:4]))
    with pytest.raises(StoreError, match="another collector"), store.committing() as db:
        store.add(db, [(id_, genesis(IDENTITY), late)])
    assert len(list(store.records(id_))) == 4


def test_old_records_are_removed_and_the_line_says_by_whom(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = played(40)
    monkeypatch.setattr(stores, "_now", lambda: "2024-01-01T00:00:00.000+00:00")
    id_ = fill(store, records[:96], each=96)
    monkeypatch.undo()
    fill_on(store, id_, records[:96], records[96:], each=64)
    assert store.remove(before="2025-01-01", by="Ann Floor") == 96
    assert store.remove(before="2025-01-01", by="Ann Floor") == 0
    (stored,) = store.lines()
    assert (stored["start"], stored["removed_by"]) == (96, "Ann Floor")
    assert store.broken(stored) == "", "what is left is one chain behind what is removed"
    assert list(store.records(id_)) == records[96:]
    for at in (97, 98):
        assert store.before("pit-1", at) == Have(IDENTITY, Head(at - 1, records[at - 2].hash))
    assert len(store.rounds("pit-1", count=99)) == 40, "rounds stay"


def test_rounds_are_those_of_a_tables_newest_line(store: Store) -> None:
    fill(store, played(2), each=4)
    day = ("2026", "2027")
    (counted,) = store.day(*day)
    assert (len(store.rounds("pit-1")), counted.settled, counted.void) == (2, 2, 0)
    with store.committing() as db:
        store.found(db, "pit-1", "another founded 2026-11-28T06:00:00+00:00", by="Ann", why="new")
    assert (store.rounds("pit-1"), store.day(*day)) == ([], ())


def test_a_database_of_another_kind_is_refused_by_the_settings() -> None:
    with pytest.raises(ValueError, match="a database of PostgreSQL"):
        FloorParameters(store="sqlite:///floor.sqlite")


def test_whoever_has_records_removed_is_named() -> None:
    with pytest.raises(ValueError, match="removed_by"):
        FloorParameters(keep_months=12, removed_by=" ")
    assert FloorParameters(keep_months=12, removed_by="Ann Floor").keep_months == 12


ROUNDS = 500


def test_a_schema_goes_up_and_down_with_all_that_it_holds(url: str) -> None:
    records = played(ROUNDS)
    with closing(Store(url)) as store:
        id_ = fill(store, records, each=50)
        before = store.rounds("pit-1", count=ROUNDS)
        columns = schema(store)
    Store(url, wanted="records").close()
    with pytest.raises(StoreError, match="schema records"):
        Store(url)
    with closing(Store(url, wanted="batches")) as store:
        assert list(store.records(id_)) == records
        assert store.rounds("pit-1", count=ROUNDS) == before
        assert len(rows(store)) == -(-len(records) // 64)
        assert store.broken(store.lines()[0]) == ""
        assert schema(store) == columns


def schema(store: Store) -> dict[str, list[str]]:
    with store.committing() as db:
        names = inspect(db).get_table_names()
        return {name: [str(one) for one in inspect(db).get_columns(name)] for name in names}


def test_a_way_to_another_schema_that_fails_changes_nothing(url: str) -> None:
    with closing(Store(url)) as store:
        id_ = fill(store, played(3), each=4)
        with store.committing() as db:
            tear(db, 12, b"torn")
    with pytest.raises(StoreError, match="records 9 to 12"):
        Store(url, wanted="records")
    with closing(Store(url)) as store:
        assert len(list(store.records(id_, 1, 8))) == 8


def test_a_schema_that_cannot_be_reached_is_refused_by_name(url: str) -> None:
    Store(url, wanted="batches").close()  # from nothing
    with closing(Store(url)) as store:
        fill(store, played(3), each=4)
        store.remove(before="9999", by="Ann Floor")
    with pytest.raises(RefusedError, match="old records are removed"):
        Store(url, wanted="records")
    with closing(Store(url)) as store, store.committing() as db:
        db.exec_driver_sql("UPDATE alembic_version SET version_num = 'of tomorrow'")
    with pytest.raises(StoreError, match="newer program"):
        Store(url, wanted=migrate.NEWEST)


def test_a_round_of_a_framed_record_is_the_tables_own(store: Store) -> None:
    fill(store, played(2), each=3)
    (row, _) = store.rounds("pit-1")
    assert (row.number, row.ending, row.values) == (2, "settled", (1, 2, 3))
    assert json.loads(store.round_records("pit-1", 2)[-1].body)["round"] == 2
