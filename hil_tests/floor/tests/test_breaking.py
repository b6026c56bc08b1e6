"""Disk full, clocks that step, a network that is cut: the table plays on, and all of it arrives."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from hil_tests.floor.house import House
from hil_tests.floor.journals import InventedTable, RunningLink
from hil_tests.floor.tests.conftest import running
from hil_tests.floor.tests.test_handing_on import equal, metrics, stored_as
from hil_tests.waiting import until
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.journal.record import Entry, Head
from shaker_ctl.journal.record import link as chained
from shaker_ctl.link import link

FULL = """
    CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
    END $$;
    CREATE TRIGGER full_disk BEFORE INSERT ON batch EXECUTE FUNCTION full_disk()
"""


def test_a_full_disk_of_the_floor_costs_no_record(own_house: House, tmp_path: Path) -> None:
    """A trigger answers as PostgreSQL does where its disk is full (SQLSTATE 53100)."""
    house = own_house
    table = InventedTable(tmp_path / "table", "pit-1")
    table.play(2)
    with closing(house.store()) as store:
        with RunningLink(house.link_parameters("pit-1", table.settings, again_s=0.5)):
            until(lambda: stored_as(store, table))
            before = table.head()
            with store.committing() as db:
                db.exec_driver_sql(FULL)
            table.play(3)
            until(lambda: "No space left" in house.collector.log.read_text(), every_s=0.05)
            with store.committing() as db:
                db.exec_driver_sql("DROP TRIGGER full_disk ON batch")
            assert store.kept("pit-1").line is not None
            assert before.sequence < table.head().sequence, "the table played on"
            until(lambda: stored_as(store, table), limit_s=90.0)
        assert equal(store, table)


def test_a_clock_that_steps_changes_neither_order_nor_count(house: House, tmp_path: Path) -> None:
    table = InventedTable(tmp_path, "pit-clock")
    walls = (
        "2026-11-23T06:00:00+00:00",
        "1970-01-01T00:00:00+00:00",
        "9999-12-31T23:59:59+00:00",
        "2026-11-23T05:59:59+00:00",
    )
    with closing(DiskJournal(table.path)) as book:
        head = book.head()
        for wall in walls * 3:
            entry = Entry("step", {"event": {"type": "TimeChecked"}})
            record = chained(head, entry, monotonic_s=0.0, wall=wall, digests={})
            book.write([record])
            head = Head(record.sequence, record.hash)
    with closing(house.store()) as store:
        with RunningLink(house.link_parameters("pit-clock", table.settings)):
            until(lambda: stored_as(store, table))
        assert equal(store, table)


def test_an_hour_without_a_network_arrives_when_it_is_back(
    own_house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixty rounds while the broker is away."""
    monkeypatch.setattr(link, "ALIVE_S", 0.5)
    house = own_house
    table = InventedTable(tmp_path / "table", "pit-2")
    table.play(1)
    with closing(house.store()) as store:
        with RunningLink(house.link_parameters("pit-2", table.settings, again_s=0.5)):
            until(lambda: stored_as(store, table))
            house.broker.kill()
            table.play(60)
            house.broker.start()
            house.await_broker()
            until(lambda: stored_as(store, table), limit_s=90.0)
            until(lambda: 'shaker_table_behind_records{table="pit-2"} 0.0' in metrics(house))
        assert equal(store, table)


def test_of_two_brokers_either_may_die(tmp_path: Path) -> None:
    """Each in turn. They are joined: at first, table and collector are at different ones."""
    table = InventedTable(tmp_path / "table", "pit-1")
    with running(brokers=2) as house, closing(house.store()) as store:
        hosts = [f"127.0.0.1:{port}" for port in (house.second_port, house.port)]
        parameters = house.link_parameters("pit-1", table.settings, again_s=0.5, hosts=hosts)
        with RunningLink(parameters):
            for victim in (*house.brokers_of_it, house.broker):
                table.play(1)
                until(lambda: stored_as(store, table), limit_s=60.0)
                victim.kill()
                table.play(1)
                until(lambda: stored_as(store, table), limit_s=60.0)
                victim.start()
        assert equal(store, table)
        assert store.alarms() == []
