"""Closed volumes are removed by a named person, once an archive holds them, and fetched back."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner, Result

from hil_tests.contracts.test_journal_volumes import EACH, turn
from hil_tests.reliability.bytes_cut import records_after
from shaker_ctl.adapters.disk import (
    kept_aside,
    record_tables,
    records_process,
    volume_archive,
)
from shaker_ctl.adapters.disk.disk_journal import DiskJournal, volume_numbers, volume_path
from shaker_ctl.adapters.disk.dispute_list import (
    NAME,
    NOTHING,
    Dispute,
    DisputeList,
    known,
)
from shaker_ctl.adapters.disk.journal_copies import open_copies, survey
from shaker_ctl.adapters.disk.record_tables import RecordTables, TablesReader
from shaker_ctl.adapters.disk.records_watch import RecordsWatch
from shaker_ctl.adapters.disk.volume_archive import archive, fetch
from shaker_ctl.adapters.tests.written import changed, cut_after, gone
from shaker_ctl.commands.journal import copies
from shaker_ctl.commands.program import program
from shaker_ctl.console import accounts
from shaker_ctl.errors import (
    DisputesError,
    JournalCorruptError,
    JournalError,
    RefusedError,
)
from shaker_ctl.journal import volume
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.rules.vocabulary import Role

DAYS = ("2027-11-21", "2026-09-01", "2026-09-02", "2026-11-20", "2026-11-22")
"""The clock stood a year ahead in the first volume, and was set right after it."""
WORD = "correct horse battery"


class Aged(NamedTuple):
    """A table with volumes of four days, all closed ones in an archive."""

    folder: Path
    parameters: JournalParameters
    path: Path
    second: Path
    config: Path

    @property
    def archive(self) -> Path:
        return self.folder / "archive"

    @property
    def pictures(self) -> Path:
        return self.folder / "pictures"


@pytest.fixture
def aged(parameters: JournalParameters, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Aged:
    """Such a table."""
    monkeypatch.setattr(volume_archive, "KEPT_ROUNDS", 8)
    monkeypatch.setattr(volume_archive, "KEPT_VOLUMES", 1)
    opened = open_copies(parameters)
    for number, day in enumerate(DAYS):
        written = [turn(opened.main, day)] if number else []
        wall = f"{day}T12:00:00.000+00:00"
        made = records_after(opened.main.head(), EACH, round_of_first=1 + 8 * number, wall=wall)
        opened.main.write(made)
        opened.copies[1].write([*written, *made])
    opened.close()
    list(archive(parameters, tmp_path / "archive"))
    accounts.add(tmp_path / "users.toml", "tess", Role.TECHNICIAN, WORD, "tess-1")
    config = tmp_path / "settings.toml"
    config.write_text(
        f'[journal]\npath = "{parameters.path}"\nsecond = "{parameters.copies[1]}"\n'
        f'pictures = "{tmp_path}/pictures"\n[console]\nusers_file = "{tmp_path}/users.toml"\n'
    )
    return Aged(tmp_path, parameters, parameters.path, parameters.copies[1], config)


def remove(aged: Aged, before: str = "2026-10-01", archive: str = "archive") -> Result:
    words = ["journal", "remove", str(aged.folder / archive), "--before", before]
    words += ["--by", "tess", "--reason", "the card is full", "--config", str(aged.config)]
    return CliRunner().invoke(program, words, input=WORD + "\n")


def test_removed_volumes_are_recorded_and_the_journal_goes_on_without_them(aged: Aged) -> None:
    before = list(DiskJournal(aged.path, read_only=True).read())
    done = remove(aged)
    assert "no floor: /etc/shaker-link/link.toml is not there" in done.output.split("Passphrase")[0]
    assert done.exit_code == 0, done.output
    assert volume_numbers(aged.path) == [1, 4, 5]
    assert volume_numbers(aged.second) == [1, 4, 5]
    opened = open_copies(aged.parameters)
    assert opened.notices == ()
    (last,) = list(opened.main.read(opened.main.head().sequence))
    assert last.plain["kind"] == volume.REMOVED
    assert last.plain["by"] == {"name": "tess", "role": "technician", "number": "tess-1"}
    for each in ("2026-11-23", "2026-11-24"):  # the record of it goes on from volume to volume
        opened.copies[1].write([turn(opened.main, each)])
    assert RecordsWatch(opened.copies).words().startswith("verifying: 0 of 8 ")
    opened.close()
    store = DiskJournal(aged.path, read_only=True)
    assert store.removed == {2, 3}
    assert store.verify()[1] is None
    assert survey(aged.parameters)[1] == []
    with pytest.raises(JournalError, match="volume 2 of the journal, up to record 81, was removed"):
        store.read_round(9)
    assert store.read_round(30)
    fetched = [one.number for one in fetch(aged.parameters, aged.archive)]
    assert fetched == [2, 3, 2, 3]
    assert list(DiskJournal(aged.path, read_only=True).read())[: len(before)] == before


def test_only_what_an_archive_holds_whole_is_removed(aged: Aged) -> None:
    (aged.folder / "empty").mkdir()
    assert isinstance(remove(aged, archive="empty").exception, RefusedError)
    broken = aged.archive / "journal-000002.jsonl"
    changed(broken, 50, gone)
    assert isinstance(remove(aged).exception, JournalCorruptError)
    no_day = remove(aged, before="2026-13-20").exception
    assert isinstance(no_day, RefusedError)
    assert "leave it out" not in no_day.remedy
    assert "removed: none that is here was begun before" in remove(aged, before="2026-08-01").output
    assert volume_numbers(aged.path) == [1, 2, 3, 4, 5]
    path = volume_path(aged.path, 2)
    path.unlink()
    with pytest.raises(JournalCorruptError, match="volume 2"):
        open_copies(aged.parameters)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("trouble", ["lost", "of another version", "a folder in their place"])
def test_tables_that_cannot_be_made_after_a_removal_do_not_bar_the_opening(
    aged: Aged, trouble: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert remove(aged).exit_code == 0
    tables = record_tables.place(aged.path)
    if trouble == "of another version":
        with closing(sqlite3.connect(tables)) as db:
            db.execute(f"PRAGMA user_version={RecordTables.VERSION + 1}")
    elif trouble == "a folder in their place":
        tables.mkdir()
    monkeypatch.setattr(records_process, "_AGAIN_AFTER_S", 0.0)
    pauses = iter(range(3))

    def until_the_third_pause(seconds: float = 0.0) -> None:
        if seconds == records_process.PAUSE_S and next(pauses, None) is None:
            raise SystemExit

    monkeypatch.setattr(records_process, "wait", until_the_third_pause)
    opened = open_copies(aged.parameters)
    watch = RecordsWatch(opened.copies)
    capfd.readouterr()
    with pytest.raises(SystemExit):
        records_process._work([aged.path, aged.second or Path()])
    watch.require_proved()
    opened.close()
    said = capfd.readouterr().err.splitlines()
    assert sum("the tables are not kept up" in line for line in said) == 1, said
    if trouble == "a folder in their place":
        return
    assert len(said) == 1 + (trouble != "lost"), said
    remedy = "Bring it back from its archive: shaker-ctl journal fetch FOLDER"
    assert said[-1].endswith(f"volume 2 of the journal, up to record 81, was removed. {remedy}")
    assert TablesReader(tables).counted() is None
    list(fetch(aged.parameters, aged.archive))
    with closing(RecordTables(aged.path)) as again:
        while again.keep_up():
            pass
    counted = TablesReader(tables).counted()
    assert counted is not None
    assert counted[1] == DiskJournal(aged.path, read_only=True).head().sequence


@pytest.mark.timeout(60)
def test_a_pipe_in_an_archive_is_named_and_not_waited_for(aged: Aged) -> None:
    (aged.archive / "journal-000002.jsonl").unlink()
    os.mkfifo(aged.archive / "journal-000002.jsonl")
    for done in (remove(aged), act(aged, "archive", str(aged.archive))):
        assert "is no ordinary file" in str(done.exception)


@pytest.mark.timeout(60)
def test_a_pipe_in_the_place_of_the_tables_is_made_a_file_again(aged: Aged) -> None:
    path = record_tables.place(aged.path)
    os.mkfifo(path)
    assert TablesReader(path).counted() is None
    RecordTables(aged.path).close()
    assert path.is_file()


@pytest.mark.parametrize("own", [".", "stick", "link", "linked"])
def test_a_copy_of_the_journal_is_not_taken_for_its_archive(aged: Aged, own: str) -> None:
    """What lies there would be removed, and nothing would be left."""
    (aged.folder / "link").symlink_to(aged.folder / "stick")
    (aged.folder / "linked").mkdir()
    for number in (2, 3):
        name = volume_path(aged.path, number).name
        (aged.folder / "linked" / name).hardlink_to(aged.folder / "stick" / name)
    assert "holds the journal itself" in str(remove(aged, archive=own).exception)
    assert volume_numbers(aged.path) == [1, 2, 3, 4, 5]
    assert survey(aged.parameters)[1] == []


def test_the_newest_volumes_stay_whatever_a_clock_said(
    aged: Aged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(volume_archive, "KEPT_VOLUMES", 2)
    done = remove(aged, before="2030-01-01")
    assert "volume 3 stays: the newest 2 volumes and the last 8 rounds do" in done.output
    assert volume_numbers(aged.path) == [3, 4, 5]


def test_an_archive_on_the_medium_of_a_copy_is_named(aged: Aged) -> None:
    for done in (act(aged, "archive", str(aged.archive)), remove(aged)):
        told = f"archive lies on the medium of {aged.path}: what takes that medium takes"
        assert told in done.stderr
        assert done.exit_code == 0
    gone = aged.folder / "gone" / "journal.jsonl"
    assert volume_archive.sharing_medium(aged.folder, (gone, aged.path)) == aged.path
    assert volume_archive.sharing_medium(Path("/proc"), (aged.path, aged.second)) is None


def test_disputed_rounds_and_what_the_floor_has_not_committed_stay(
    aged: Aged, monkeypatch: pytest.MonkeyPatch
) -> None:
    DisputeList(aged.pictures).add(Dispute(9, True, "fay", "a five", "2026-11-23"))
    link_config = aged.folder / "link.toml"
    link_config.write_text(f'runtime_dir = "{aged.folder}"\n')
    monkeypatch.setattr(copies, "LINK_CONFIG", link_config)
    done = remove(aged)
    assert "no floor" not in done.output
    assert "volume 2 stays: round 9 is disputed" in done.output
    assert "volume 3 stays: the floor has not committed record 122" in done.output
    assert "no volume is removed" in done.output
    with closing(DiskJournal(aged.path, read_only=True)) as book:
        own = book.head_before(123).hash.hex()
    said = {"acknowledged": 122, "acknowledged_hash": own}
    others = [said | {"acknowledged_hash": other} for other in ("", own[::-1], "ab" * 32)]
    for other in (*map(json.dumps, others), "[" * 100_000, '{"acknowledged": 1e999}', "[]", "\xff"):
        (aged.folder / "floor.json").write_text(other)  # another history, or no word of the link
        assert "volume 3 stays" in remove(aged).output
    (aged.folder / "floor.json").write_text(json.dumps(said))
    assert remove(aged).exit_code == 0
    assert volume_numbers(aged.path) == [1, 2, 4, 5]
    with closing(DiskJournal(aged.archive / "journal.jsonl", read_only=True)) as book:
        within = {"acknowledged": 100, "acknowledged_hash": book.head_before(101).hash.hex()}
    (aged.folder / "floor.json").write_text(json.dumps(within))
    again = remove(aged)  # the floor was set back, into a volume that is gone
    assert again.exit_code == 0, again.output
    assert volume_numbers(aged.path) == [1, 2, 4, 5]


def test_the_last_rounds_stay_however_old_they_are(
    aged: Aged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(volume_archive, "KEPT_ROUNDS", 9)
    done = remove(aged)
    assert "volume 3 stays: the newest 1 volumes and the last 9 rounds do" in done.output
    assert volume_numbers(aged.path) == [1, 3, 4, 5]


def test_records_behind_a_removal_are_read_back_to_the_first_that_is_there(aged: Aged) -> None:
    """A start of a table that has recorded little since then needs no more."""
    assert remove(aged).exit_code == 0
    with closing(DiskJournal(aged.path, read_only=True)) as book:
        newest = book.newest_first()
        found = [next(newest).sequence for _ in range(book.head().sequence - book.closed[2].last)]
        assert found[-1] == book.closed[2].last + 1
        with pytest.raises(JournalError, match="volume 3 of the journal, up to record"):
            next(newest)


def test_nothing_is_removed_while_the_list_of_disputes_lacks_the_end_of_its_last_line(
    aged: Aged,
) -> None:
    """That act may be a dispute which somebody was told is kept."""
    DisputeList(aged.pictures).add(Dispute(9, True, "fay", "a five", "2026-11-23"))
    kept = aged.pictures / NAME
    kept.write_bytes(kept.read_bytes()[:-1])
    assert "has no end" in str(remove(aged).exception)
    assert volume_numbers(aged.path) == [1, 2, 3, 4, 5]


def act(aged: Aged, *words: str) -> Result:
    return CliRunner().invoke(program, ["journal", *words, "--config", str(aged.config)])


def disputed(aged: Aged, number: int, *words: str) -> Result:
    return act(aged, "dispute", str(number), "--by", "fay", "--reason", "a five", *words)


@pytest.mark.parametrize("damage", ["emptied", "taken away", "another round", "cut"])
def test_a_list_of_disputes_that_is_not_the_one_on_record_is_named_and_opened_anew(
    aged: Aged, damage: str
) -> None:
    for number, words in ((9, ()), (12, ()), (12, ("--settled",)), (30, ())):
        assert disputed(aged, number, *words).exit_code == 0
    kept = aged.pictures / NAME
    whole = kept.read_bytes()
    if damage == "taken away":
        kept.unlink()
    else:
        lines = {"emptied": b"", "another round": whole.replace(b'"round":9', b'"round":8')}
        kept.write_bytes(lines.get(damage, whole[: whole.rindex(b"\n", 0, -1) + 1]))
    for refused in (act(aged, "verify"), remove(aged), disputed(aged, 10)):
        assert isinstance(refused.exception, DisputesError), refused.output
        assert "; open disputes: 9, 30" in str(refused.exception)
        assert "journal rebuild --disputes" in refused.exception.remedy
    found = kept.read_bytes() if kept.exists() else None
    done = act(aged, "rebuild", "--disputes", "--yes")
    assert done.exit_code == 0, done.output
    opened = {"another round": "8, 9, 30"}.get(damage, "9, 30")
    assert f"open disputes: {opened}" in done.output
    aside = [path.read_bytes() for path in kept.parent.glob(f"{NAME}.replaced-*")]
    assert aside == [each for each in [found] if each is not None]
    assert act(aged, "verify").exit_code == 0
    assert disputed(aged, 30, "--settled").exit_code == 0
    assert isinstance(act(aged, "rebuild", "--disputes", "--yes").exception, RefusedError)
    assert volume_numbers(aged.path) == [1, 2, 3, 4, 5]


def test_a_dispute_is_opened_while_the_service_writes_the_journal(aged: Aged) -> None:
    with closing(open_copies(aged.parameters)) as opened:
        assert "open disputes: 9" in disputed(aged, 9).output
        assert known(opened.main.milestones()) == NOTHING  # the service puts it on record


@pytest.mark.parametrize("which", ["--main", "--second"])
def test_a_copy_is_rebuilt_from_one_whose_volumes_were_removed(aged: Aged, which: str) -> None:
    assert remove(aged).exit_code == 0
    (_, head), _ = survey(aged.parameters)[0]
    done = act(aged, "rebuild", which, "--yes")
    assert done.exit_code == 0, done.output
    heads, findings = survey(aged.parameters)
    assert [each for _, each in heads] == [head, head]
    assert findings == []
    with closing(open_copies(aged.parameters)) as opened:
        assert opened.notices == ()
        assert len(opened.main.present) < len(opened.main.closed)


@pytest.mark.parametrize("end", [81, 60], ids=["at the end of a volume", "within one"])
@pytest.mark.parametrize("which", ["main", "second"])
def test_an_older_copy_is_named_though_volumes_were_removed_since(
    aged: Aged, which: str, end: int
) -> None:
    assert remove(aged).exit_code == 0
    copy = aged.path if which == "main" else aged.second
    assert copy is not None
    for number in volume_numbers(copy):
        volume_path(copy, number).unlink()
    for number in (1, 2):
        name = volume_path(aged.path, number).name
        shutil.copy(aged.archive / name, copy.with_name(name))
    cut_after(volume_path(copy, 2), end)
    code = "journal-cut" if which == "main" else "journal-second-behind"
    with pytest.raises(JournalCorruptError, match=f"ends at record {end}") as caught:
        open_copies(aged.parameters)
    assert caught.value.code == code
    assert [each.trouble.value for each in survey(aged.parameters)[1]] == [code]
    assert act(aged, "rebuild", f"--{which}", "--yes").exit_code == 0
    open_copies(aged.parameters).close()
    assert volume_numbers(copy) == [1, 4, 5]


def test_removes_no_more_than_asked_however_the_day_is_written(aged: Aged) -> None:
    """As text, 20260902 comes behind every day that is written with dashes."""
    assert remove(aged, "20260902").exit_code == 0
    with closing(DiskJournal(aged.path, read_only=True)) as journal:
        gone = [each for each in journal.closed if each not in journal.present]
        assert [each.day for each in gone] == ["2026-09-01"]


@pytest.mark.parametrize("kept", [0, 1], ids=["empty", "behind"])
def test_no_copy_is_rebuilt_from_one_that_only_ends_earlier(aged: Aged, kept: int) -> None:
    for number in volume_numbers(aged.second)[kept:]:
        volume_path(aged.second, number).unlink()
    with closing(DiskJournal(aged.path, read_only=True)) as journal:
        DiskJournal(aged.second, identity=journal.identity).close()
    before = [path.read_bytes() for path in sorted(aged.folder.glob("journal-*.jsonl"))]
    done = act(aged, "rebuild", "--main", "--yes")
    assert done.exit_code == 1
    assert isinstance(done.exception, RefusedError)
    assert "goes on to record" in str(done.exception)
    assert [path.read_bytes() for path in sorted(aged.folder.glob("journal-*.jsonl"))] == before


def test_what_is_moved_aside_in_one_second_is_all_kept(aged: Aged) -> None:
    for _ in range(3):
        assert act(aged, "rebuild", "--second", "--yes").exit_code == 0
    assert len(list((aged.folder / "stick").glob("journal.jsonl.replaced-*"))) == 3


def test_what_is_left_is_exported_and_counted_and_says_what_is_not(aged: Aged) -> None:
    assert remove(aged).exit_code == 0
    replay = ["replay", "--no-pictures"]
    for words in (["export", str(aged.folder / "out")], ["statistics"], ["events"], replay):
        done = act(aged, *words)
        assert done.exit_code == 0, done.output
        assert "are left out: volumes among them were removed" in done.stderr
        assert "shaker-ctl journal fetch FOLDER" in done.stderr
    assert act(aged, "verify", str(aged.folder / "out")).exit_code == 0


def test_a_broken_volume_is_fetched_from_an_archive_without_those_that_were_removed(
    aged: Aged,
) -> None:
    assert remove(aged).exit_code == 0
    told = f"{len(away := [2, 3])} removed volumes stay away: shaker-ctl journal fetch FOLDER"
    assert told in act(aged, "fetch").output
    with closing(DiskJournal(aged.path, read_only=True)) as journal:
        assert sorted(journal.removed) == away
        broken = journal.present[-1].number
        first = journal.present[-1].first
    for number in away:
        volume_path(aged.archive / aged.path.name, number).unlink()
    changed(volume_path(aged.path, broken), first, gone)
    assert [each.number for each in fetch(aged.parameters, aged.archive)] == [broken]
    assert survey(aged.parameters)[1] == []


@pytest.mark.parametrize(
    ("said", "instead"),
    [(b'"schema":2', b'"schema":6'), (b'"removed":[2', b'"removed":[4'), (b'"kind', b"\xff")],
    ids=["a version", "a removed volume", "no JSON"],
)
def test_damage_in_the_first_record_of_the_open_volume_is_damage_of_that_file(
    aged: Aged, said: bytes, instead: bytes
) -> None:
    """It says which volumes were removed, and is believed only once it is verified."""
    assert remove(aged).exit_code == 0
    with closing(open_copies(aged.parameters)) as opened:
        opened.copies[1].write([turn(opened.main, "2026-11-23")])
        first = opened.main.head().sequence
    path = volume_path(aged.path, 6)
    content = path.read_bytes()
    at = content.index(b"\n")
    assert said in content[at:]
    path.write_bytes(content[:at] + content[at:].replace(said, instead, 1))
    told = f"{path}: record {first}"
    with pytest.raises(JournalCorruptError, match=told) as caught:
        open_copies(aged.parameters)
    assert "rebuild --main" in caught.value.remedy
    assert list(path.parent.glob(f"{path.name}.evidence-*"))
    found = act(aged, "verify").exception
    assert isinstance(found, JournalCorruptError)
    assert told in str(found)


# ── Nothing sound is lost by mending ────────────────────────────────────────


def cut_second(aged: Aged, volumes: int) -> Path:
    """The second copy ends with a whole, open volume: its medium was taken out then."""
    for number in volume_numbers(aged.second)[volumes:]:
        volume_path(aged.second, number).unlink()
    return aged.second


def head_of(path: Path) -> int:
    with closing(DiskJournal(path, read_only=True)) as journal:
        return journal.head().sequence


@pytest.mark.parametrize("is_at_the_end", [True, False])
def test_a_copy_that_ends_early_first_gets_the_sound_records_of_the_damaged_one(
    aged: Aged, *, is_at_the_end: bool
) -> None:
    last, second = head_of(aged.path), cut_second(aged, 2)
    volume, bad = (5, last - 2) if is_at_the_end else (1, 3)
    changed(volume_path(aged.path, volume), bad, gone)
    assert act(aged, "rebuild", "--main", "--yes").exit_code == 0
    left = last - 3 if is_at_the_end else last
    assert [head_of(path) for path in (aged.path, second)] == [left, left]
    assert survey(aged.parameters)[1] == []


def test_records_behind_a_gap_wait_for_the_volume_that_is_wanted(aged: Aged) -> None:
    last = head_of(aged.path)
    cut_second(aged, 2)
    changed(volume_path(aged.path, 4), 140, gone)
    refused = act(aged, "rebuild", "--main", "--yes").exception
    assert isinstance(refused, RefusedError)
    assert f"sound records up to {last}" in str(refused)
    assert "journal fetch" in refused.remedy
    assert act(aged, "fetch", str(aged.archive)).exit_code == 0
    open_copies(aged.parameters).close()  # the second copy is caught up
    assert head_of(aged.path) == last
    assert survey(aged.parameters)[1] == []


def test_no_copy_is_rebuilt_from_an_older_one_after_a_removal(aged: Aged) -> None:
    kept = {path: path.read_bytes() for path in aged.second.parent.glob("*.jsonl")}
    assert remove(aged).exit_code == 0
    last = head_of(aged.path)
    for path, content in kept.items():
        path.write_bytes(content)
    cut_second(aged, 2)
    refused = act(aged, "rebuild", "--main", "--yes").exception
    assert isinstance(refused, RefusedError)
    assert f"goes on to record {last}" in str(refused)
    assert head_of(aged.path) == last


def test_no_copy_is_rebuilt_from_another_tables_journal(aged: Aged) -> None:
    second = cut_second(aged, 0)
    other = DiskJournal(second)
    other.write(records_after(other.head(), 200, wall="2026-11-22T12:00:00.000+00:00"))
    other.close()
    before = aged.path.read_bytes()
    for which in ("--main", "--second"):
        refused = act(aged, "rebuild", which, "--yes").exception
        assert isinstance(refused, RefusedError)
        assert "another journal" in str(refused)
    assert aged.path.read_bytes() == before


def test_no_dispute_is_opened_while_volumes_are_removed(
    aged: Aged, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_back(*words: Any) -> None:
        folder = os.open(aged.pictures, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(folder)
        volume_archive.require_archived(*words)

    monkeypatch.setattr(copies, "require_archived", read_back)
    assert remove(aged).exit_code == 0
    assert disputed(aged, 30).exit_code == 0


def test_a_damaged_volume_keeps_no_other_one_from_archive_and_fetch(aged: Aged) -> None:
    changed(volume_path(aged.path, 2), 50, gone)
    refused = act(aged, "archive", str(aged.folder / "new"))
    assert isinstance(refused.exception, JournalCorruptError)
    assert f"{volume_path(aged.path, 2)}: record 50" in str(refused.exception)
    assert "journal fetch" in refused.exception.remedy
    assert volume_numbers(aged.folder / "new" / aged.path.name) == [1, 3, 4]
    assert not list((aged.folder / "new").glob("*.part"))
    for number in (2, 3):
        for path in (aged.path, aged.second):
            volume_path(path, number).unlink()
    (aged.archive / "journal-000002.jsonl").unlink()
    refused = act(aged, "fetch", str(aged.archive))
    assert "volume 2 is wanted" in str(refused.exception)
    assert volume_path(aged.path, 3).exists()


def test_evidence_is_no_copy_of_a_file_larger_than_any_volume(
    aged: Aged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_aside, "MAX_EVIDENCE_B", 1 << 20)
    os.truncate(volume_path(aged.path, 2), 1 << 21)
    with pytest.raises(JournalCorruptError, match="volume 2"):
        open_copies(aged.parameters)
    assert not list(aged.path.parent.glob("*.evidence-*"))
    assert volume_path(aged.path, 2).stat().st_size == 1 << 21


@pytest.mark.parametrize(
    ("ours", "theirs", "lost"), [(12, 7, 0), (7, 12, 0), (7, 7, 8), (40, 3, 0)]
)
def test_two_damaged_copies_give_what_is_sound_in_either(
    aged: Aged, ours: int, theirs: int, lost: int
) -> None:
    """The last file of both is damaged, each so many records before its end."""
    last = head_of(aged.path)
    for path, back in ((aged.path, ours), (aged.second, theirs)):
        changed(volume_path(path, 5), last - back, gone)
    first = act(aged, "rebuild", "--main", "--yes")
    assert (first.exit_code != 0) == (lost > 0)
    if lost:
        assert isinstance(first.exception, RefusedError)
        assert "--sound-part" in first.exception.remedy
        assert act(aged, "rebuild", "--main", "--sound-part", "--yes").exit_code == 0
    assert act(aged, "rebuild", "--second", "--yes").exit_code == 0
    assert [head.sequence for _, head in survey(aged.parameters)[0]] == [last - lost, last - lost]
    assert survey(aged.parameters)[1] == []


def test_a_damaged_volume_at_the_table_is_evidence_and_stays(aged: Aged) -> None:
    changed(volume_path(aged.path, 2), 50, gone)
    refused = remove(aged).exception
    assert isinstance(refused, JournalCorruptError)
    assert "journal fetch" in refused.remedy
    assert volume_numbers(aged.path) == [1, 2, 3, 4, 5]


def test_rounds_before_a_removal_are_listed_and_what_is_not_is_said(aged: Aged) -> None:
    assert remove(aged).exit_code == 0
    done = act(aged, "last", "100", "--json")
    assert done.exit_code == 0, done.output
    listed = [each["round"] for each in json.loads(done.stdout)]
    assert listed == [*range(1, 9), *range(25, 41)]
    assert "records up to 122 are left out" in done.stderr
    assert act(aged, "last", "16", "--json").stderr == ""


def test_a_volume_that_stays_before_those_removed_is_exported(aged: Aged) -> None:
    assert remove(aged).exit_code == 0
    out = str(aged.folder / "out")
    done = act(aged, "export", out, "--from", "2027-11-21", "--to", "2027-11-22")
    assert done.exit_code == 0, done.output
    assert "40 records and" in done.stdout
    assert "are left out" not in done.stderr
    assert act(aged, "verify", out).exit_code == 0
    done = act(aged, "export", out, "--from", "2026-11-21")
    assert done.exit_code == 0, done.output
    assert "records up to 122 are left out" in done.stderr
    done = act(
        aged, "export", str(aged.folder / "none"), "--from", "2026-09-01", "--to", "2026-09-02"
    )
    assert isinstance(done.exception, RefusedError)
    assert "volume 2, records 41 to 81, was removed and may hold some of that time" in done.stderr


def test_a_removed_volume_may_hold_the_day_before_its_own(aged: Aged) -> None:
    """Its day was named in a time zone that the table has left."""
    assert remove(aged).exit_code == 0
    done = act(aged, "day", "2026-08-31")
    assert "volume 2 of the journal, up to record 81, was removed" in str(done.exception)
    assert "No record" in act(aged, "day", "2026-08-30").output
