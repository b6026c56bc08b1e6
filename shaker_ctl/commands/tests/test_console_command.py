"""`shaker-ctl console` fed from a pipe: each line is answered, and people find it as it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from shaker_ctl.commands import console as commands
from shaker_ctl.commands.console import run_script
from shaker_ctl.console.client import Console
from shaker_ctl.console.tests.fake_desk import JPEG, FakeDesk
from shaker_ctl.console.tests.support import PASSPHRASE, SocketStream, served, users_file
from shaker_ctl.errors import SettingsError
from shaker_ctl.main import program


@pytest.fixture
def desk() -> FakeDesk:
    return FakeDesk("ready")


@pytest.fixture
def line(desk: FakeDesk, tmp_path: Path) -> Iterator[SocketStream]:
    with served(desk, users_file(tmp_path)) as stream:
        yield stream


def replies(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(row) for row in capsys.readouterr().out.splitlines()]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "MAX_S", 3.0)


def test_a_shortened_line_has_its_reply(
    line: SocketStream, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = ["fau\n", "st\n", "?\n", "\n", "journal   last   1\n", "DIGESTS\n", "frobnicate\n"]
    assert not run_script(line, tmp_path, iter(typed))
    said = replies(capsys)
    assert [reply["command"] for reply in said] == [
        *("faults", "status", "help", "journal last", "digests", "")
    ]
    assert [reply["code"] for reply in said] == [*["ok"] * 5, "unknown-command"]


def test_the_line_after_login_is_its_passphrase(
    desk: FakeDesk, line: SocketStream, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = ["login dealer dan\n", f"{PASSPHRASE}\n", "whoami\n", "bets\n"]
    assert run_script(line, tmp_path, iter(typed))
    assert [reply["text"] for reply in replies(capsys)] == [
        *("dan, dealer", "dan, dealer", "bets open")
    ]
    assert [note.kind for note in desk.notes] == ["login", "logout"]


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        (["login dealer dan\n", "not this one\n"], "wrong-passphrase"),
        (["login dealer dan\n"], "interrupted"),
        (["login nobody dan\n", f"{PASSPHRASE}\n"], "syntax"),
    ],
)
def test_a_login_that_fails_has_one_reply(
    typed: list[str],
    code: str,
    line: SocketStream,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert not run_script(line, tmp_path, iter(typed))
    assert [reply["code"] for reply in replies(capsys)] == [code]


def test_a_pipe_keeps_to_json(
    line: SocketStream, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = ["mode people\n", "mode machine\n", "digests\n"]
    assert not run_script(line, tmp_path, iter(typed))
    said = replies(capsys)
    assert [reply["status"] for reply in said] == ["error", "ok", "ok"]
    assert "JSON alone" in said[0]["text"]


def test_people_find_words_after_a_pipe(line: SocketStream, tmp_path: Path) -> None:
    assert run_script(line, tmp_path, iter(["digests\n"]))
    line.write(b"whoami\r")
    heard = b""
    while b"> " not in heard.rpartition(b"nobody is logged in")[2]:
        heard += line.read(1.0)
    assert b"{" not in heard


def test_people_find_words_after_a_pipe_that_broke(line: SocketStream, tmp_path: Path) -> None:
    def broken() -> Iterator[str]:
        yield "digests\n"
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        run_script(line, tmp_path, broken())
    line.write(b"whoami\r")
    heard = b""
    while b"nobody is logged in" not in heard:
        heard += line.read(1.0)
    assert b"{" not in heard


def test_a_picture_is_saved_and_named_in_its_reply(
    line: SocketStream, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_script(line, tmp_path, iter(["camera snap\n"]))
    (reply,) = replies(capsys)
    assert Path(reply["saved"]).read_bytes() == JPEG


def test_a_picture_that_cannot_be_saved_is_told_in_its_reply(
    line: SocketStream, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert not run_script(line, tmp_path / "file", iter(["camera snap\n", "digests\n"]))
    first, second = replies(capsys)
    assert (first["command"], first["code"]) == ("camera snap", "failed")
    assert "snap.jpg could not be saved" in first["text"]
    assert second["status"] == "ok"


def test_a_folder_that_takes_no_files_is_refused_before_the_line_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(*_: object) -> None:
        raise AssertionError("the line was opened")

    monkeypatch.setattr(commands, "SerialPort", opened)
    (tmp_path / "file").touch()
    words = ["console", "--port", "here", "--save", str(tmp_path / "file" / "[b]")]
    done = CliRunner().invoke(program, words)
    assert isinstance(done.exception, SettingsError)
    assert "[b]" in done.exception.line()
    assert "--save" in done.exception.line()


def test_a_name_with_brackets_is_told_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(commands, "candidates", lambda: [("/dev/ttyUSB0", "[red]CP2102[/x]")])
    assert commands.the_only_port() == "/dev/ttyUSB0"
    assert "[red]CP2102[/x]" in capsys.readouterr().err


def test_a_late_reply_is_not_taken_for_the_next_one(line: SocketStream) -> None:
    client = Console(line)
    client.connect()
    with pytest.raises(Exception, match="no reply"):
        client.ask("profile", timeout_s=1e-9)
    assert client.ask("st")["command"] == "status"
