"""Table to floor over a real broker and database: everything once, in order, and only records."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
import urllib.request
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from hil_tests.floor.house import House, count_records
from hil_tests.floor.journals import InventedTable, RunningLink
from hil_tests.floor.show import PlayingTable
from hil_tests.waiting import until
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.errors import RefusedError
from shaker_ctl.floor.collector import LOOK_S
from shaker_ctl.floor.store import Store


def stored_as(store: Store, table: InventedTable | PlayingTable) -> bool:
    """Whether the floor stands where the table does."""
    line = store.kept(table.name).line
    return line is not None and line.head == table.head()


def equal(store: Store, table: InventedTable | PlayingTable) -> bool:
    """Whether every record of the table is in the store once, with its very bytes."""
    kept = store.kept(table.name)
    assert kept.id is not None
    with closing(DiskJournal(table.path, read_only=True)) as book:
        return list(store.records(kept.id)) == list(book.read())


def metrics(house: House) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{house.metrics_port}/metrics") as answer:
        text: str = answer.read().decode()
    return text


def test_what_a_table_records_is_committed_and_acknowledged(
    house: House, tmp_path: Path, name: str
) -> None:
    table = InventedTable(tmp_path, name)
    table.play(3)
    with closing(house.store()) as store:
        parameters = house.link_parameters(name, table.settings)
        with RunningLink(parameters):
            until(lambda: stored_as(store, table))
            table.play(1)
            table.turn_volume()
            table.play(2)
            until(lambda: stored_as(store, table))
            until(lambda: f'shaker_table_online{{table="{name}"}} 1.0' in metrics(house))
            said = parameters.runtime_dir / "floor.json"
            head = table.head().sequence
            until(lambda: json.loads(said.read_text())["acknowledged"] == head)
        assert equal(store, table)
        assert [r.number for r in store.rounds(name)] == [6, 5, 4, 3, 2, 1]
        (line,) = [one for one in store.lines() if one["table_name"] == name]
        assert store.broken(line) == ""
        # The link in order gone is said so at once.
        until(lambda: f'shaker_table_online{{table="{name}"}} 0.0' in metrics(house))
        table.play(1)
        with RunningLink(parameters):
            until(lambda: stored_as(store, table))
        assert equal(store, table)


def test_collectors_share_the_tables_and_take_over_those_of_a_killed_one(
    shared_house: House, tmp_path: Path
) -> None:
    """Both under one configuration; while both are there, neither disturbs the other."""
    house = shared_house
    tables = [InventedTable(tmp_path / str(n), f"pit-{n}") for n in range(4)]
    with closing(house.store()) as store, contextlib.ExitStack() as links:
        for table in tables:
            table.play(2)
            parameters = house.link_parameters(table.name, table.settings, again_s=0.5)
            links.enter_context(RunningLink(parameters))
        for table in tables:
            until(partial(stored_as, store, table))

        def said() -> list[str]:
            return [part.log.read_text() for part in house.collecting]

        until(lambda: all(" 2 ours" in log for log in said()))
        before = said()
        time.sleep(2.5 * LOOK_S)
        assert said() == before, "they are quiet"
        house.collecting[1].kill()
        for table in tables:
            table.play(1)
        for table in tables:
            until(partial(stored_as, store, table), limit_s=60.0)
            assert equal(store, table)
        assert count_records(store) == 4 * 39
        assert store.alarms() == []


@pytest.mark.parametrize("how", ["rewritten", "rolled back", "replaced"])
def test_another_history_is_an_alarm_until_a_named_person_accepts_it(
    house: House, tmp_path: Path, how: str, name: str
) -> None:
    table = InventedTable(tmp_path / "table", name)
    table.play(2)
    older = tmp_path / "older.jsonl"
    shutil.copy(table.path, older)
    table.play(2)
    parameters = house.link_parameters(name, table.settings, again_s=0.5)
    with closing(house.store()) as store:
        with RunningLink(parameters):
            until(lambda: stored_as(store, table))
        before = table.head()
        if how == "replaced":
            table.path.unlink()
            table = InventedTable(tmp_path / "table", name, seed=9)
        else:
            shutil.copy(older, table.path)
        if how != "rolled back":
            table.play(5)  # with other outcomes than before
        trouble = {
            "rewritten": "journal-fork",
            "rolled back": "journal-rewind",
            "replaced": "journal-identity",
        }[how]
        with RunningLink(parameters):
            (alarm,) = until(lambda: [a for a in store.alarms() if a.table_name == name])
            assert alarm.trouble == trouble
            alarmed = f'shaker_table_history_alarm{{table="{name}",trouble="{trouble}"}} 1.0'
            until(lambda: alarmed in metrics(house))
            kept = store.kept(name)
            assert kept.line is not None
            assert kept.line.head == before, "nothing is taken meanwhile"
            store.accept(name, by="Ann Floor", reason="the card was exchanged")
            until(lambda: stored_as(store, table))
            assert equal(store, table)
        lines = [one for one in store.lines() if one["table_name"] == name]
        assert [(one["number"], one["accepted_by"]) for one in lines] == [
            (1, ""),
            (2, "Ann Floor"),
        ]
        assert all(store.broken(one) == "" for one in lines)
        assert lines[0]["sequence"] == before.sequence, "what was there before stays"
        with pytest.raises(RefusedError):
            store.accept(name, by="Ann Floor", reason="again")
