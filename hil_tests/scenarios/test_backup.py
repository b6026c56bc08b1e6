"""A table with 10,000 rounds goes into one file, and from it onto an empty machine, and opens."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from hil_tests.processes import program
from hil_tests.reliability.large_journal import RECORDS_A_ROUND, make
from hil_tests.table_under_test.session import Plan, Session
from hil_tests.table_under_test.table import people_at
from shaker_ctl import backup, settings
from shaker_ctl.adapters.disk.journal_lock import JournalLock
from shaker_ctl.errors import RefusedError
from shaker_ctl.installation.places import Places

ROUNDS = 10_000


def called(*words: str) -> subprocess.CompletedProcess[str]:
    command = [*program("shaker_ctl.main"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def table_below(root: Path) -> dict[str, Any]:
    """The settings of a table whose files all lie below `root`."""
    data = root / "var/lib/shaker-ctl"
    second = str(root / "media/journal.jsonl")
    paths = {"path": str(data / "journal.jsonl"), "pictures": str(data / "pictures")}
    users = {"users_file": str(root / "etc/shaker-ctl/users.toml")}
    taught = {"teaching": str(data / "teaching")}
    return {"journal": {**paths, "second": second}, "console": users, "camera": taught}


@pytest.mark.rig
@pytest.mark.timeout(400)
def test_a_table_of_ten_thousand_rounds_opens_on_an_empty_machine(tmp_path: Path) -> None:
    root, file = tmp_path / "root", tmp_path / "table.tar"
    places = Places(root)
    for name in ("etc/shaker-ctl", "var/lib/shaker-ctl", "media"):
        (root / name).mkdir(parents=True)
    session = Session(Plan(seed=9, pace="brisk", changes=table_below(root)), tmp_path / "rig")
    config = ("--config", str(places.settings))
    with closing(session):
        session.start_rig()
        session.write_settings()
        for name in ("settings.toml", "users.toml"):
            shutil.copy(session.folder / name, places.house)
        found = settings.load(places.settings)
        make(found.journal, ROUNDS * RECORDS_A_ROUND, seed=1)
        (found.journal.pictures / "1").mkdir(parents=True)
        (found.journal.pictures / "1" / "reading.jpg").write_bytes(b"a picture")
        before = called("journal", "verify", *config)
        written = called("backup", "write", str(file), *config, "--root", str(root))
        assert written.returncode == 0, written.stderr
        shutil.rmtree(root / "etc")
        shutil.rmtree(root / "var")

        restored = called("backup", "restore", str(file), "--root", str(root))
        assert restored.returncode == 0, restored.stderr
        after = called("journal", "verify", *config)
        assert (after.returncode, after.stdout) == (0, before.stdout)
        assert "head " in after.stdout
        assert (found.journal.pictures / "1" / "reading.jpg").read_bytes() == b"a picture"
        session.start_service()
        with people_at(session) as table:
            table.be_open(200.0)


@pytest.fixture
def small(tmp_path: Path) -> tuple[Places, settings.Settings, Path]:
    """A small table below a folder, and the place of its backup."""
    places = Places(tmp_path / "root")
    found = settings.parse(table_below(places.root), source="it")
    for path in (places.settings, found.console.users_file, found.journal.path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.name)
    places.settings.chmod(0o640)
    return places, found, tmp_path / "table.tar"


def test_one_flipped_byte_is_found_wherever_it_is(small: Any) -> None:
    places, found, file = small
    assert backup.write(file, places, found) == 3
    assert file.stat().st_mode & 0o777 == 0o600
    whole = file.read_bytes()
    for name in ("settings.toml", "users.toml", "journal.jsonl"):
        at = whole.index(b"\0" + name.encode() + b"\0") + 1  # its content, not its header
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(backup.BackupError, match=name):
            backup.restore(file, places.root)
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(backup.BackupError, match="not whole"):
        backup.check(file)


def test_nothing_that_is_there_is_written_over(small: Any) -> None:
    places, found, file = small
    backup.write(file, places, found)
    found.journal.path.write_text("played since")
    places.settings.unlink()
    with pytest.raises(RefusedError, match="empty machine"):
        backup.restore(file, places.root)
    assert not places.settings.exists()
    assert found.journal.path.read_text() == "played since"
    with pytest.raises(RefusedError, match="there already"):
        backup.write(file, places, found)


def test_a_table_that_runs_is_not_taken(small: Any) -> None:
    places, found, file = small
    with (
        closing(JournalLock(found.journal.path)),
        pytest.raises(RefusedError, match="writes"),
    ):
        backup.write(file, places, found)
    assert not file.exists()


def test_a_link_and_one_file_of_two_names_are_taken_as_what_they_hold(small: Any) -> None:
    places, found, file = small
    kept = found.console.users_file.rename(places.root / "kept.toml")
    found.console.users_file.symlink_to(kept)
    (places.house / "again.toml").hardlink_to(places.settings)
    assert backup.write(file, places, found) == 4
    assert backup.restore(file, places.root / "new") == 4
    (laid,) = (places.root / "new").rglob("users.toml")
    assert laid.read_text() == "users.toml"
    assert not laid.is_symlink()


def test_a_folder_that_cannot_be_read_is_not_left_out_unsaid(small: Any, monkeypatch: Any) -> None:
    places, found, file = small

    def closed_scandir(path: Any) -> Any:
        if Path(path) == places.house:
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", closed_scandir)
    with pytest.raises(backup.BackupError, match="Permission denied"):
        backup.write(file, places, found)
    assert not file.exists()


def test_a_file_outside_the_root_is_named(small: Any) -> None:
    places, found, file = small
    (places.house / "elsewhere").mkdir()
    with pytest.raises(backup.BackupError, match="cannot be written"):
        backup.write(file, Places(places.house / "elsewhere"), found)


def test_folders_are_whose_their_files_are_and_no_bit_lets_anybody_act_as_root(
    small: Any, monkeypatch: Any
) -> None:
    places, found, file = small
    found.journal.path.chmod(0o4640)
    backup.write(file, places, found)
    given: list[Path] = []
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "chown", lambda path, *_: given.append(path))
    new = places.root / "new"
    backup.restore(file, new)
    assert set(new.rglob("*")) <= set(given)
    (journal,) = new.rglob("journal.jsonl")
    assert journal.stat().st_mode & 0o7777 == 0o640
    assert journal.parent.stat().st_mode & 0o777 == 0o750


def test_a_restore_that_failed_half_way_can_be_done_again(small: Any, monkeypatch: Any) -> None:
    places, found, file = small
    backup.write(file, places, found)
    with monkeypatch.context() as full:
        full.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "no space left")))
        with pytest.raises(backup.BackupError, match="no space left"):
            backup.restore(file, places.root / "new")
    assert backup.restore(file, places.root / "new") == 3


def test_a_file_where_no_table_keeps_any_takes_a_persons_word(small: Any) -> None:
    places, found, file = small
    elsewhere = places.root / "etc/cron.d/table"
    elsewhere.parent.mkdir()
    elsewhere.write_text("* * * * * root anything")
    console = found.console.model_copy(update={"users_file": elsewhere})
    backup.write(file, places, found.model_copy(update={"console": console}))
    new = places.root / "new"
    with pytest.raises(RefusedError, match=r"holds /etc/cron\.d/table") as refused:
        backup.restore(file, new)
    assert not new.exists()
    assert "--also /etc/cron.d" in refused.value.remedy
    assert backup.restore(file, new, [Path("/etc/cron.d")]) == 4


@pytest.mark.parametrize("kind", ["link to itself", "absolute", "above", "one name twice"])
def test_a_file_that_no_table_wrote_is_refused_with_a_line(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "table.tar"
    members = {"absolute": ["/etc/x"], "above": ["a/../../x"], "one name twice": ["x", "x"]}
    with tarfile.open(file, "w") as archive:
        for name in members.get(kind, ["x"]):
            member = tarfile.TarInfo(name)
            if kind == "link to itself":
                member.type, member.linkname = tarfile.SYMTYPE, name
            archive.addfile(member)
        sums = "".join(f"{sha256(b'').hexdigest()}  {name}\n" for name in members.get(kind, ["x"]))
        last = tarfile.TarInfo(backup.SUMS)
        last.size = len(sums)
        archive.addfile(last, io.BytesIO(sums.encode()))
    with pytest.raises(backup.BackupError, match="not whole"):
        backup.restore(file, tmp_path / "new")
    assert not (tmp_path / "new").exists()
