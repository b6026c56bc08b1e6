"""What stands beside a closed volume, or in its place, is never applied to it, and is noticed."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from hil_tests.contracts.test_journal_volumes import both, changed, grown, turn
from shaker_ctl.adapters.disk import stray_sqlite_files
from shaker_ctl.adapters.disk.copy_rebuild import rebuild
from shaker_ctl.adapters.disk.journal_copies import open_copies, survey
from shaker_ctl.adapters.disk.records_watch import RecordsWatch
from shaker_ctl.adapters.disk.sqlite_journal import SqliteJournal, volume_path
from shaker_ctl.adapters.disk.volume_archive import archive, fetch
from shaker_ctl.errors import JournalCorruptError, JournalError, JournalWriteError, RefusedError
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.recovery import FETCH

FORGED = (
    "UPDATE record SET body = CAST(replace(body, '\"n\":6', '\"n\":7') AS BLOB) WHERE sequence = 7"
)


@pytest.fixture
def parameters(tmp_path: Path) -> JournalParameters:
    """Two copies of three volumes."""
    (tmp_path / "card").mkdir()
    (tmp_path / "stick").mkdir()
    found = JournalParameters(
        path=tmp_path / "card" / "journal.sqlite", second=tmp_path / "stick" / "journal.sqlite"
    )
    both(found, 3)
    return found


def second_of(parameters: JournalParameters) -> Path:
    assert parameters.second is not None
    return parameters.second


def log_beside(file: Path) -> Path:
    """Leave a write-ahead log beside `file` that changes one of its records."""
    forged = _forged(file)
    with closing(sqlite3.connect(forged, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute(FORGED)
        shutil.copy(f"{forged}-wal", f"{file}-wal")
    return Path(f"{file}-wal")


def shared_memory_beside(file: Path) -> Path:
    Path(f"{file}-shm").write_bytes(bytes(32768))
    return Path(f"{file}-shm")


def rollback_beside(file: Path) -> Path:
    """Leave a hot rollback journal beside `file` that changes one of its records."""
    forged = _forged(file)
    changed(forged, FORGED)
    with closing(sqlite3.connect(forged, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous=OFF")
        db.execute("BEGIN IMMEDIATE")
        db.execute("UPDATE record SET round = 99 WHERE sequence BETWEEN 1 AND 30")
        shutil.copy(f"{forged}-journal", f"{file}-journal")
    return Path(f"{file}-journal")


def _forged(file: Path) -> Path:
    """A copy of it that may be changed."""
    folder = file.parent.parent / "forger"
    folder.mkdir(exist_ok=True)
    forged = folder / file.name
    shutil.copy(file, forged)
    changed(forged, "PRAGMA application_id")
    return forged


PLANTED = [log_beside, shared_memory_beside, rollback_beside]
Planted = Callable[[Path], Path]


@pytest.mark.parametrize("plant", [log_beside, rollback_beside])
def test_what_is_planted_here_would_change_the_file(
    parameters: JournalParameters, plant: Planted
) -> None:
    """Else the tests below prove nothing."""
    plant(parameters.path)
    with closing(sqlite3.connect(parameters.path)) as db:
        body = db.execute("SELECT body FROM record WHERE sequence = 7").fetchone()[0]
    assert b'"n":7' in body


@pytest.mark.parametrize("plant", PLANTED)
@pytest.mark.parametrize("which", ["main", "second"])
def test_it_is_noticed_named_and_never_applied_and_fetch_ends_it(
    parameters: JournalParameters, plant: Planted, which: str
) -> None:
    path = parameters.path if which == "main" else second_of(parameters)
    whole = path.read_bytes()
    planted = plant(path)
    forged = planted.read_bytes()
    _, findings = survey(parameters)
    assert planted.name in findings[0].text
    assert findings[0].remedy == FETCH
    if plant is rollback_beside:  # a crash can leave one, and the file is whole
        open_copies(parameters).close()
        (aside,) = path.parent.glob("*.replaced-*-journal")
        assert aside.read_bytes() == forged
    else:
        with pytest.raises(JournalCorruptError, match=planted.name) as halted:
            open_copies(parameters)
        assert halted.value.remedy == FETCH
        assert path.read_bytes() == whole
        assert planted.read_bytes() == forged
        (evidence,) = path.parent.glob("*.evidence-*")
        assert (evidence / path.name).read_bytes() == whole
        assert [one.file for one in fetch(parameters)] == [path]
        (aside,) = path.parent.glob(f"*.replaced-*{planted.name.removeprefix(path.name)}")
        assert aside.read_bytes() == forged
    assert path.read_bytes() == whole
    assert stray_sqlite_files.beside(path) == []
    open_copies(parameters).close()
    assert survey(parameters)[1] == []


@pytest.mark.parametrize("plant", PLANTED)
def test_without_another_copy_a_fetch_moves_it_aside(
    parameters: JournalParameters, plant: Planted
) -> None:
    alone = JournalParameters(path=parameters.path)
    whole = alone.path.read_bytes()
    planted = plant(alone.path)
    assert [one.file for one in fetch(alone)] == [alone.path]
    assert alone.path.read_bytes() == whole
    assert not planted.exists()


@pytest.mark.parametrize("plant", PLANTED)
def test_no_copy_is_written_anew_from_it_and_none_keeps_it(
    parameters: JournalParameters, plant: Planted
) -> None:
    planted = plant(parameters.path)
    with pytest.raises(RefusedError, match=planted.name) as refused:
        rebuild(parameters, main=False)
    assert refused.value.remedy == FETCH
    assert not list(second_of(parameters).parent.glob("*.replaced-*"))
    rebuild(parameters, main=True)
    assert stray_sqlite_files.beside(parameters.path) == []
    assert survey(parameters)[1] == []


@pytest.mark.parametrize("plant", PLANTED)
def test_an_archive_takes_no_volume_with_it_and_fetch_takes_none_from_there(
    parameters: JournalParameters, tmp_path: Path, plant: Planted
) -> None:
    folder = tmp_path / "archive"
    planted = plant(parameters.path)
    with pytest.raises(JournalCorruptError, match=planted.name):
        list(archive(parameters.path, folder))
    list(fetch(parameters))
    list(archive(parameters.path, folder))
    whole = (folder / "journal.sqlite").read_bytes()
    there = plant(folder / "journal.sqlite")
    with pytest.raises(JournalCorruptError, match=there.name):
        list(archive(parameters.path, folder))
    for path in (parameters.path, second_of(parameters)):
        path.unlink()
    list(fetch(parameters, folder))
    assert there.exists()
    assert (folder / "journal.sqlite").read_bytes() == whole
    assert survey(parameters)[1] == []


@pytest.mark.parametrize("plant", PLANTED)
def test_what_comes_while_the_table_runs_bars_opening_and_halts_it(
    parameters: JournalParameters, plant: Planted
) -> None:
    opened = open_copies(parameters)
    assert opened.second is not None
    watch = RecordsWatch([opened.main, opened.second])
    watch.start()
    await_words(watch, "closed volumes verified")
    planted = plant(parameters.path)
    with pytest.raises(RefusedError, match="1 volumes"):
        watch.require_proved()
    await_words(watch, "broken")
    found = watch.broken()
    assert found is not None
    assert planted.name in found.line
    watch.stop()
    opened.close()


def await_words(watch: RecordsWatch, words: str) -> None:
    for _ in range(600):
        if words in watch.words():
            return
        time.sleep(0.1)
    raise AssertionError(watch.words())


@pytest.mark.parametrize("suffix", stray_sqlite_files.BESIDE)
@pytest.mark.parametrize(
    ("number", "kind"), [(1, "link"), (1, "folder"), (1, "pipe"), (3, "link"), (3, "pipe")]
)
def test_no_file_by_such_a_name_is_followed_or_waited_for(
    parameters: JournalParameters, tmp_path: Path, number: int, suffix: str, kind: str
) -> None:
    """Beside a closed volume, and beside the open one."""
    planted = Path(f"{volume_path(parameters.path, number)}{suffix}")
    secret = tmp_path / "secret"
    secret.write_text("somebody's")
    if kind == "link":
        planted.symlink_to(secret)
    elif kind == "folder":
        planted.mkdir()
    else:
        os.mkfifo(planted)
    with pytest.raises(JournalError, match=planted.name):
        open_copies(parameters)
    assert secret.read_text() == "somebody's"
    assert not list(parameters.path.parent.glob(f"*.evidence-*/*{suffix}"))
    rebuild(parameters, main=True)
    assert survey(parameters)[1] == []
    assert secret.read_text() == "somebody's"


@pytest.mark.parametrize("suffix", stray_sqlite_files.BESIDE)
def test_no_volume_is_begun_where_such_a_name_is_taken(tmp_path: Path, suffix: str) -> None:
    store = SqliteJournal(tmp_path / "journal.sqlite")
    grown(store, 1)
    planted = tmp_path / f"journal-000002.sqlite{suffix}"
    planted.write_text("what somebody put there")
    with pytest.raises(JournalWriteError, match=planted.name):
        turn(store)
    assert planted.read_text() == "what somebody put there"
    store.close()


def test_a_log_of_its_own_is_folded_in_only_where_the_volume_verifies_with_it(
    parameters: JournalParameters,
) -> None:
    """A reader kept the log from being folded in, and then somebody put another one there."""
    with closing(sqlite3.connect(parameters.path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA user_version=2")
        kept = [Path(f"{parameters.path}{suffix}").read_bytes() for suffix in ("", "-wal")]
    for suffix, content in zip(("", "-wal"), kept, strict=True):
        Path(f"{parameters.path}{suffix}").write_bytes(content)
    open_copies(parameters).close()
    assert stray_sqlite_files.look(parameters.path).beside == ()
    assert not stray_sqlite_files.look(parameters.path).has_log
    parameters.path.write_bytes(kept[0])
    log_beside(parameters.path)
    with pytest.raises(JournalCorruptError, match="record 7"):
        open_copies(parameters)
    assert parameters.path.read_bytes() == kept[0]
    list(fetch(parameters))
    open_copies(parameters).close()
    assert survey(parameters)[1] == []


# ── Another closed volume is bad in each copy ───────────────────────────────


def test_what_is_bad_in_either_copy_is_taken_from_the_other_one(
    parameters: JournalParameters,
) -> None:
    changed(parameters.path, "DELETE FROM record WHERE sequence = 3")
    volume_path(second_of(parameters), 2).unlink()
    remedies = {finding.remedy for finding in survey(parameters)[1]}
    assert remedies == {FETCH}
    for is_main in (True, False):
        with pytest.raises(RefusedError) as refused:
            rebuild(parameters, main=is_main)
        assert refused.value.remedy == FETCH
    assert [one.number for one in fetch(parameters)] == [1, 2]
    assert survey(parameters)[1] == []


def test_a_copy_whose_open_volume_is_broken_keeps_nothing_from_being_fetched_for_the_other(
    parameters: JournalParameters,
) -> None:
    volume_path(parameters.path, 3).write_bytes(b"")
    volume_path(second_of(parameters), 2).unlink()
    with pytest.raises(RefusedError) as refused:
        rebuild(parameters, main=True)
    assert refused.value.remedy == FETCH
    with pytest.raises(JournalError):
        list(fetch(parameters))
    rebuild(parameters, main=True)
    assert survey(parameters)[1] == []


def test_what_is_bad_in_both_copies_is_asked_of_an_archive(
    parameters: JournalParameters, tmp_path: Path
) -> None:
    list(archive(parameters.path, tmp_path / "archive"))
    for path in (parameters.path, second_of(parameters)):
        changed(path, "DELETE FROM record WHERE sequence = 3")
    with pytest.raises(JournalCorruptError, match=r"40 records .*: 3, 4$") as refused:
        list(fetch(parameters))
    assert "fetch FOLDER" in refused.value.remedy
    assert not list(tmp_path.glob("*/*.replaced-*"))
    assert len(list(fetch(parameters, tmp_path / "archive"))) == 2
    assert survey(parameters)[1] == []


# ── Nothing half done ───────────────────────────────────────────────────────


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_dangling_link_in_a_volumes_place_is_moved_aside(
    parameters: JournalParameters, number: int
) -> None:
    link = volume_path(parameters.path, number)
    link.unlink()
    link.symlink_to("nowhere")
    with pytest.raises(JournalError):
        open_copies(parameters)
    with pytest.raises(JournalError if number == 3 else RefusedError):
        rebuild(parameters, main=False)
    assert not list(second_of(parameters).parent.glob("*.replaced-*"))
    rebuild(parameters, main=True)
    (aside,) = link.parent.glob(f"{link.name}.replaced-*")
    assert aside.is_symlink()
    assert survey(parameters)[1] == []


def test_nothing_is_moved_aside_where_the_copy_has_no_room(
    parameters: JournalParameters, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(parameters.path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    with pytest.raises(RefusedError, match="1,000 bytes free"):
        rebuild(parameters, main=True)
    assert not list(parameters.path.parent.glob("*.replaced-*"))


def test_a_medium_that_is_not_there_or_refuses_is_named(
    parameters: JournalParameters, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EROFS, os.strerror(errno.EROFS))

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", refused)
        with pytest.raises(JournalWriteError, match="moved aside: Read-only"):
            rebuild(parameters, main=True)
        rollback_beside(parameters.path)
        with pytest.raises(JournalWriteError, match="moved aside: Read-only"):
            open_copies(parameters)
    Path(f"{parameters.path}-journal").unlink()
    shutil.rmtree(second_of(parameters).parent)
    with pytest.raises(JournalWriteError, match="stick: No such file"):
        rebuild(parameters, main=False)
