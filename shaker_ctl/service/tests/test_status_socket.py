"""The status socket, where its folder is unusual."""

from __future__ import annotations

from pathlib import Path

import pytest

from shaker_ctl.errors import SettingsError
from shaker_ctl.service.status_socket import SOCKET_NAME, StatusSocket, read_status


@pytest.mark.parametrize("length", [1, 80, 120, 250])
def test_a_table_answers_however_long_its_folders_name_is(tmp_path: Path, length: int) -> None:
    folder = tmp_path / ("y" * length)
    served = StatusSocket(folder, lambda: {"life": "open"})
    served.start()
    try:
        assert (folder / SOCKET_NAME).is_socket()
        assert read_status(folder) == {"life": "open"}
    finally:
        served.stop()
    assert list(folder.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_a_matter_of_the_settings(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    served = StatusSocket(tmp_path / "file" / "below", dict)
    with pytest.raises(SettingsError, match="Not a directory"):
        served.start()
    served.stop()


def test_no_table_is_an_os_error_in_a_long_folder_too(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        read_status(tmp_path / ("y" * 200))
