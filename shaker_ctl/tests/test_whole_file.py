"""Small files are read whole, or refused: what is no ordinary file is never waited for."""

import errno
import os
from pathlib import Path

import pytest

from shaker_ctl import settings
from shaker_ctl.adapters.disk.dispute_list import NAME, DisputeList
from shaker_ctl.console import accounts
from shaker_ctl.errors import DisputesError, RefusedError, SettingsError, ShakerError
from shaker_ctl.seal import signature
from shaker_ctl.whole_file import put, read_bounded


def test_a_file_of_the_largest_size_is_taken_and_one_byte_more_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    assert read_bounded(file, 5) == b"12345"
    with pytest.raises(OSError, match="larger than 4 bytes") as caught:
        read_bounded(file, 4)
    assert caught.value.errno == errno.EFBIG


def test_a_file_is_reported_only_with_its_name_on_the_disk(tmp_path, monkeypatch) -> None:
    acts: list[str] = []
    replace, sync = os.replace, os.fsync

    def replaced(aside: str, path: Path) -> None:
        acts.append("rename")
        replace(aside, path)

    def synced(number: int) -> None:
        is_folder = os.path.isdir(f"/proc/self/fd/{number}")
        acts.append("sync of the folder" if is_folder else "sync of the file")
        sync(number)

    monkeypatch.setattr(os, "replace", replaced)
    monkeypatch.setattr(os, "fsync", synced)
    put(tmp_path / "file", "12345")
    assert acts == ["sync of the file", "rename", "sync of the folder"]


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(20_000_000_000)


def _folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("make", [_pipe, _device, _sparse, _folder])
@pytest.mark.parametrize(
    ("read", "error"),
    [
        (settings.read_text, SettingsError),
        (accounts.load, SettingsError),
        (signature.load_public, RefusedError),
        (lambda path: DisputeList(path.parent).acts(), DisputesError),
    ],
    ids=["settings", "users", "key", "disputes"],
)
def test_what_is_no_small_file_is_refused_at_once(tmp_path, make, read, error) -> None:
    make(tmp_path / NAME)
    with pytest.raises(error) as caught:
        read(tmp_path / NAME)
    assert isinstance(caught.value, ShakerError)
    assert caught.value.remedy
