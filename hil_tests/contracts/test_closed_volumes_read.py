"""What is read from a closed volume leads to the hash that the chain has sealed in, or is named."""

from __future__ import annotations

import os
import shutil
from contextlib import closing, suppress
from datetime import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hil_tests.contracts.test_journal_volumes import EACH, turn
from shaker_ctl.adapters.disk import volume_file, volume_proofs
from shaker_ctl.adapters.disk.disk_journal import DiskJournal, volume_path
from shaker_ctl.adapters.tests.written import changed, cut_after, saying
from shaker_ctl.commands.program import program
from shaker_ctl.errors import JournalCorruptError
from shaker_ctl.journal.record import Entry, Head, Record, chain_hash, link
from shaker_ctl.page.journal import read_day, read_round

DAYS = ("2026-11-19", "2026-11-20", "2026-11-21")
FORGED = 60
"""A record of the second volume, of round 12."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Three volumes, the last one open; eight rounds in each."""
    with closing(DiskJournal(tmp_path / "journal.jsonl")) as store:
        for number, day in enumerate(DAYS):
            if number:
                turn(store, day)
            for n in range(EACH - bool(number)):
                body = {"event": {"type": "Tick", "text": "as it was"}, "at_s": float(n)}
                entry = Entry("step", body, round=1 + 8 * number + n // 5)
                wall = f"{day}T12:00:00.000+00:00"
                made = link(store.head(), entry, monotonic_s=float(n), wall=wall, digests={})
                store.write([made])
        return store.path


def forge(path: Path) -> None:
    """Write another number into one record, and hash all after it in this volume anew."""
    file = volume_file.VolumeFile(path, read_only=True)
    head, made = file.start, []
    for each in file.read():
        is_it = each.sequence == FORGED
        body = each.body.replace(b"as it was", b"FORGED") if is_it else each.body
        made.append(Record(each.sequence, chain_hash(head.hash, body), body))
        head = Head(each.sequence, made[-1].hash)
    path.unlink()
    volume_file.found(path, file.identity, file.closed, made)


def damage(path: Path, how: str) -> None:
    closed = volume_path(path, 2)
    if how == "forged":
        forge(closed)
    elif how == "another round":
        changed(closed, FORGED, saying('"round":12', '"round":13'))
    else:
        cut_after(closed, 78)


EACH_WAY = pytest.mark.parametrize("how", ["forged", "another round", "its end missing"])


@EACH_WAY
@pytest.mark.parametrize(
    "words",
    [
        ["show", "12"],
        ["last", "16"],
        ["day", DAYS[1]],
        ["events", "--day", DAYS[1], "--all"],
        ["events", "--all"],
        ["statistics"],
        ["export", "OUT"],
        ["export", "OUT", "--from", DAYS[1], "--to", DAYS[2]],
    ],
    ids=" ".join,
)
def test_a_command_names_a_closed_volume_that_is_not_the_one_sealed_in(
    path: Path, tmp_path: Path, words: list[str], how: str
) -> None:
    def act() -> BaseException | None:
        told = [str(tmp_path / "out") if word == "OUT" else word for word in words]
        return CliRunner().invoke(program, ["journal", *told, "--journal", str(path)]).exception

    assert act() is None
    shutil.rmtree(tmp_path / "out", ignore_errors=True)
    damage(path, how)
    found = act()
    assert isinstance(found, JournalCorruptError), found
    assert any(named in str(found) for named in ("journal-000002.jsonl", "record 80", "record 60"))
    assert not (tmp_path / "out" / "records.jsonl").exists()


@EACH_WAY
def test_a_sheet_of_a_day_that_is_damaged_is_not_for_signature(path: Path, how: str) -> None:
    damage(path, how)
    told = CliRunner().invoke(program, ["journal", "day", DAYS[1], "--journal", str(path)])
    top = " ".join(told.stdout.split("\n\n")[0].split())
    assert not top or "** DO NOT SIGN: " in top


@EACH_WAY
def test_the_page_names_it_too(path: Path, how: str) -> None:
    def shown() -> list[str]:
        told = read_round(path, path.parent, 12)
        assert told is not None
        return [told.damage, read_day(path, DAYS[1], time(6)).damage]

    assert shown() == ["", ""]
    damage(path, how)
    with suppress(JournalCorruptError):
        assert all(shown())


@EACH_WAY
def test_a_start_that_reads_back_through_it_stops(path: Path, how: str) -> None:
    damage(path, how)
    with closing(DiskJournal(path)) as store:
        assert (store.verify_start()[1] is None) == (how == "another round")
        with pytest.raises(JournalCorruptError, match=r"journal-000002.jsonl|record [68]0"):
            list(store.newest_first())


def test_what_follows_a_closed_volume_follows_what_is_sealed_in(path: Path) -> None:
    with closing(DiskJournal(path, read_only=True)) as store:
        sealed = store.closed[1].head
    forge(volume_path(path, 2))
    with closing(DiskJournal(path, read_only=True)) as store:
        assert store.head_before(sealed.sequence + 1) == sealed


def test_a_file_that_is_written_over_with_its_old_time_has_another_mark(path: Path) -> None:
    before, stat = volume_proofs.mark_of(path), path.stat()
    with path.open("r+b") as file:
        file.write(file.read(1))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert path.stat().st_mtime_ns == stat.st_mtime_ns
    assert volume_proofs.mark_of(path) != before


def test_a_round_that_a_removed_volume_holds_in_part_is_not_listed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(DiskJournal(path)) as store:
        entry = Entry("step", {}, round=16)
        wall = f"{DAYS[2]}T13:00:00.000+00:00"
        store.write([link(store.head(), entry, monotonic_s=0.0, wall=wall, digests={})])
        assert store.last_rounds(9) == [*range(16, 25)]
        volume_path(path, 2).unlink()
        monkeypatch.setattr(store, "removed", frozenset({2}))
        assert store.last_rounds(9) == [8, *range(17, 25)]
