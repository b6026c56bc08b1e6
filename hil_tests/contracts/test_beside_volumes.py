"""What stands in the place of a volume is never taken for it, and is noticed and mended."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from hil_tests.contracts.test_journal_volumes import both
from shaker_ctl.adapters.disk.copy_rebuild import rebuild
from shaker_ctl.adapters.disk.disk_journal import volume_path
from shaker_ctl.adapters.disk.journal_copies import open_copies, survey
from shaker_ctl.adapters.disk.volume_archive import archive, fetch
from shaker_ctl.adapters.tests.written import changed, gone
from shaker_ctl.errors import JournalCorruptError, JournalError, JournalWriteError, RefusedError
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.recovery import FETCH


@pytest.fixture
def parameters(tmp_path: Path) -> JournalParameters:
    """Two copies of three volumes."""
    (tmp_path / "card").mkdir()
    (tmp_path / "stick").mkdir()
    found = JournalParameters(
        path=tmp_path / "card" / "journal.jsonl", second=tmp_path / "stick" / "journal.jsonl"
    )
    both(found, 3)
    return found


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_nothing_but_a_file_of_its_own_is_read_in_its_place(
    parameters: JournalParameters, tmp_path: Path, number: int, kind: str
) -> None:
    """A closed volume, and the open one: a link is not followed, a pipe not waited for."""
    planted = volume_path(parameters.path, number)
    content = planted.read_bytes()
    planted.unlink()
    if kind == "link":
        (tmp_path / "somebody's").write_bytes(content)
        planted.symlink_to(tmp_path / "somebody's")
    elif kind == "folder":
        planted.mkdir()
    else:
        os.mkfifo(planted)
    with pytest.raises(JournalError, match=planted.name):
        open_copies(parameters)
    rebuild(parameters, main=True)
    assert survey(parameters)[1] == []
    if kind == "link":
        assert (tmp_path / "somebody's").read_bytes() == content


# ── Another closed volume is bad in each copy ───────────────────────────────


def test_what_is_bad_in_either_copy_is_taken_from_the_other_one(
    parameters: JournalParameters,
) -> None:
    changed(parameters.path, 3, gone)
    volume_path(parameters.copies[1], 2).unlink()
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
    volume_path(parameters.copies[1], 2).unlink()
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
    list(archive(parameters, tmp_path / "archive"))
    for path in parameters.copies:
        changed(path, 3, gone)
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
    assert not list(parameters.copies[1].parent.glob("*.replaced-*"))
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
    shutil.rmtree(parameters.copies[1].parent)
    with pytest.raises(JournalWriteError, match="stick: No such file"):
        rebuild(parameters, main=False)
