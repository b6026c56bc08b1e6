"""What a collector does with what tables say, without a broker: messages in, messages out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from shaker_ctl.floor import authority, collector
from shaker_ctl.floor.collector import Collector
from shaker_ctl.floor.parameters import FloorParameters
from shaker_ctl.floor.store import StoreError
from shaker_ctl.floor.tests.a_table import birth
from shaker_ctl.floor.tests.test_store import IDENTITY, played
from shaker_ctl.journal.record import Head, Record, genesis
from shaker_ctl.link import packing
from shaker_ctl.link.packing import Batch
from shaker_ctl.link.topics import Place

HERE = Place("house", "pit-1")
BIRTH = birth(IDENTITY)


@pytest.fixture
def said() -> list[tuple[str, bytes]]:
    return []


@pytest.fixture
def floor(
    tmp_path: Path, url: str, said: list[tuple[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Collector]:
    authority.begin(tmp_path / "authority", "test")
    folder = tmp_path / "collector"
    authority.issue(tmp_path / "authority", "collector", folder)
    files = {name: folder / f"{name}.pem" for name in ("authority", "certificate", "key")}
    made = Collector(FloorParameters(store=url, **files))
    monkeypatch.setattr(
        made._connection, "publish", lambda topic, payload, **_: said.append((topic, payload))
    )
    yield made
    made.close()


def sent(records: list[Record], at: int, until: int) -> bytes:
    before = Head(at, records[at - 1].hash) if at else genesis(IDENTITY)
    return packing.pack(Batch(IDENTITY, before, tuple(records[at:until]), len(records)))


def committed(floor: Collector) -> None:
    pending, floor._pending, floor._pending_bytes = floor._pending, {}, 0
    floor._commit(pending)


def counted(floor: Collector, name: str) -> float | None:
    return floor.figures.registry.get_sample_value(f"shaker_floor_{name}_total")


def has(said: list[tuple[str, bytes]]) -> list[int]:
    """What the table was told that the floor has, in order."""
    words = [packing.have_of(payload) for topic, payload in said if topic == HERE.topic("ack")]
    return [have.head.sequence for have in words]


def test_a_table_is_asked_from_where_the_floor_has_it_and_hears_of_each_commit(
    floor: Collector, said: list[tuple[str, bytes]]
) -> None:
    records = played(5)
    floor._received(HERE.topic("journal"), sent(records, 0, 4))
    assert counted(floor, "messages") == 0, "it is nobody's yet"
    floor._received(HERE.topic("birth"), BIRTH)
    floor._divide()
    for at, until in ((0, 8), (4, 12), (16, 20), (0, 12)):  # then a gap, and all of it again
        floor._received(HERE.topic("journal"), sent(records, at, until))
        committed(floor)
    assert has(said) == [0, 8, 12, 12, 12]
    assert list(floor._store.records(1, 1, 99)) == records[:12], (
        "what came twice in part is whole, too"
    )
    assert floor._store.broken(floor._store.lines()[0]) == ""
    assert (counted(floor, "records"), counted(floor, "repeats")) == (12, 20)


def test_nothing_is_acknowledged_that_the_database_refused(
    floor: Collector, said: list[tuple[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: object) -> None:
        raise StoreError("full", is_away=True)

    floor._received(HERE.topic("birth"), BIRTH)
    floor._divide()
    floor._received(HERE.topic("journal"), sent(played(2), 0, 8))
    with monkeypatch.context() as patched:
        patched.setattr(floor._store, "add", refuses)
        committed(floor)
    assert has(said) == [0]
    floor._received(HERE.topic("journal"), sent(played(2), 0, 8))
    committed(floor)
    assert has(said) == [0, 8]


def test_a_table_that_another_has_is_let_go_of_and_can_come_back(
    floor: Collector, said: list[tuple[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collector, "ENOUGH_BYTES", 100)
    floor._received(HERE.topic("birth"), BIRTH)
    floor._divide()
    floor._received(HERE.topic("journal"), sent(played(2), 0, 8))
    assert floor._has_enough()
    with monkeypatch.context() as patched:
        patched.setattr(floor._leases, "divide", lambda _: None)
        floor._leases.held = set()
        floor._divide()
    assert not floor._has_enough(), "or nothing more is read, ever"
    assert floor.shown() == {}
    floor._divide()
    assert has(said) == [0, 0], "it is told again what the floor has"


def test_a_torn_row_of_one_table_stops_no_other(
    floor: Collector, said: list[tuple[str, bytes]]
) -> None:
    other = Place("house", "pit-2")
    records = played(30)
    for place in (HERE, other):
        floor._received(place.topic("birth"), BIRTH)
    floor._divide()
    floor._received(HERE.topic("journal"), sent(records, 0, 40))
    committed(floor)
    with floor._store.committing() as db:
        db.exec_driver_sql("UPDATE batch SET lines = 'torn'")
    said.clear()
    for place in (HERE, other):
        at = 40 if place is HERE else 0
        floor._received(place.topic("journal"), sent(records, at, 80))
    committed(floor)
    assert [topic for topic, _ in said] == [other.topic("ack")]
    assert counted(floor, "store_failures") == 1


def test_old_records_are_removed_where_a_person_has_it_so(
    floor: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, str]] = []

    def remove(**what: str) -> int:
        asked.append(what)
        return 0

    monkeypatch.setattr(floor._store, "remove", remove)
    floor._look()
    assert asked == [], "keep_months is 0"
    floor._p = floor._p.model_copy(update={"keep_months": 12, "removed_by": "Ann Floor"})
    floor._look()
    floor._look()
    assert [one["by"] for one in asked] == ["Ann Floor"], "once an hour"
