"""The status socket, where its folder is unusual, and where too many look, or none is there."""

from __future__ import annotations

import errno
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from shaker_ctl.errors import RefusedError, SettingsError
from shaker_ctl.service.status_socket import (
    MAX_CLIENTS,
    MAX_HZ,
    SOCKET_NAME,
    StatusSocket,
    follow_status,
    read_status,
)


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


@pytest.mark.parametrize("rate", [b"nan", b"-nan", b"inf", b"-inf", b"1e999"])
def test_a_rate_that_is_no_number_keeps_the_table_no_busier_than_another(
    tmp_path: Path, rate: bytes
) -> None:
    """Its thread shares one interpreter with those that play."""
    served = StatusSocket(tmp_path, lambda: {"life": "open"})
    here, there = socket.socketpair()
    with here, there, served._listener:
        here.sendall(b"follow " + rate + b"\n")
        served._hear(there)
        assert 1.0 / MAX_HZ <= served._periods[there] <= 10.0


def test_a_client_too_many_is_told_so(tmp_path: Path) -> None:
    served = StatusSocket(tmp_path, lambda: {"life": "open"})
    served.start()
    try:
        with ExitStack() as open_screens:
            for _ in range(MAX_CLIENTS):
                views = follow_status(tmp_path, rate_hz=0.1)
                open_screens.callback(views.close)  # type: ignore[attr-defined]
                assert next(views) == {"life": "open"}
            with pytest.raises(RefusedError, match="8 screens are open"):
                read_status(tmp_path)
    finally:
        served.stop()


@pytest.mark.parametrize("said", [b"", b'{"life": "op'])
def test_a_table_that_goes_without_a_whole_view_does_not_answer(
    tmp_path: Path, said: bytes
) -> None:
    with socket.socket(socket.AF_UNIX) as table, ThreadPoolExecutor(1) as screen:
        table.bind(str(tmp_path / SOCKET_NAME))
        table.listen()
        view = screen.submit(read_status, tmp_path)
        client, _ = table.accept()
        client.send(said)
        client.close()
        with pytest.raises(ConnectionError):
            view.result(timeout=5)


def test_a_screen_for_which_no_descriptor_is_left_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = StatusSocket(tmp_path, lambda: {"life": "open"})
    served.start()
    refused: list[int] = []

    def accept(listener: socket.socket) -> tuple[int, object]:
        refused.append(1)
        raise OSError(errno.EMFILE, "Too many open files")

    try:
        with monkeypatch.context() as patched:
            patched.setattr(socket.socket, "_accept", accept)
            with pytest.raises(OSError):  # noqa: PT011 - the screen's own wait ends
                read_status(tmp_path, timeout_s=0.3)
        assert refused
        assert read_status(tmp_path) == {"life": "open"}
    finally:
        served.stop()
