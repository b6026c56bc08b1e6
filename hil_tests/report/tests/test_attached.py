"""What a report attaches of a story holds the story."""

from __future__ import annotations

import json
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hil_tests.report.record import TestRecord
from hil_tests.scenarios.attached import files_of
from shaker_ctl.adapters.disk.disk_journal import DiskJournal, volume_numbers, volume_path
from shaker_ctl.commands.journal.export import verify_export
from shaker_ctl.journal.record import Entry, link


def written(store: DiskJournal, at: datetime, *entries: Entry) -> None:
    for entry in entries:
        wall = at.isoformat(timespec="milliseconds")
        store.write([link(store.head(), entry, monotonic_s=0.0, wall=wall, digests={})])


def ended(number: int) -> Entry:
    closed = {
        "type": "RecordRound",
        "round": number,
        "values": [1, 2, 3],
        "source": "reading",
        "ending": "settled",
        "wagers": "settled",
        "cause": "",
    }
    return Entry("step", {"event": {}, "decision": [closed]}, number)


def a_table(folder: Path) -> tuple[float, Path]:
    """A table whose story begins in its second volume; return when it begins, and its journal."""
    path = folder / "journal.jsonl"
    (folder / "settings.toml").write_text(f'[journal]\npath = "{path}"\n', "utf-8")
    now = datetime.now(UTC)
    with closing(DiskJournal(path)) as store:
        opened = Entry("opening", {"day": "2026-11-22"})
        written(store, now - timedelta(minutes=1), opened, ended(1))
        written(store, now - timedelta(minutes=1), store.next_volume("2026-11-23", {}))
        began_s = time.monotonic()
        written(store, datetime.now(UTC) + timedelta(seconds=1), ended(2))
    assert volume_numbers(path) == [1, 2]
    return began_s, path


def attach(folder: Path, files: list[Path]) -> list[Path]:
    record = TestRecord("a::test_b", "", "", folder=folder)
    record.attach(files)
    return [folder / name for name in record.attached]


def test_the_attached_export_holds_the_storys_round_and_verifies(tmp_path: Path) -> None:
    began_s, _ = a_table(tmp_path)
    attached = attach(tmp_path / "report", files_of(tmp_path, began_s))
    records = next(file for file in attached if file.name == "records.jsonl")
    rounds = [json.loads(line)["record"]["round"] for line in records.read_text().splitlines()]
    assert rounds == [2], "the story's round, and none of another story"
    assert verify_export(records.parent).sequence == 4


def test_where_nothing_can_be_exported_a_file_says_why(tmp_path: Path) -> None:
    began_s, path = a_table(tmp_path)
    volume_path(path, 2).write_bytes(b"no database" * 100)
    attached = attach(tmp_path / "report", files_of(tmp_path, began_s))
    assert "journal" in next(f for f in attached if f.name == "no-export.txt").read_text()


def test_a_table_on_another_computer_keeps_its_records(tmp_path: Path) -> None:
    assert [file.name for file in files_of(tmp_path, 0.0)] == ["settings.toml", "service.log"]
