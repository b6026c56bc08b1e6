"""`shaker-ctl console` fed from a pipe: each line is answered, and people find it as it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import pytest

from shaker_ctl.adapters.lines.serial_port import SerialPort
from shaker_ctl.commands import console as commands
from shaker_ctl.commands.console import run_script
from shaker_ctl.console.client import Console
from shaker_ctl.console.tests.fake_desk import JPEG, FakeDesk
from shaker_ctl.console.tests.support import PASSPHRASE, served, users_file


@pytest.fixture
def desk() -> FakeDesk:
    return FakeDesk("ready")


@pytest.fixture
def line(desk: FakeDesk, tmp_path: Path) -> Iterator[SerialPort]:
    with served(desk, users_file(tmp_path)) as device, closing(SerialPort(device)) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "MAX_S", 3.0)


Piped = Callable[..., tuple[bool, list[dict[str, Any]]]]


@pytest.fixture
def piped(line: SerialPort, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Piped:
    """Type these lines into the pipe; return whether all were taken, and the replies."""

    def typed(*lines: str, folder: Path = tmp_path) -> tuple[bool, list[dict[str, Any]]]:
        is_fine = run_script(line, folder, iter(f"{each}\n" for each in lines))
        return is_fine, [json.loads(row) for row in capsys.readouterr().out.splitlines()]

    return typed


def test_a_shortened_line_has_its_reply(piped: Piped) -> None:
    is_fine, said = piped("fau", "st", "?", "", "journal   last   1", "DIGESTS", "frobnicate")
    assert not is_fine
    assert [reply["command"] for reply in said] == [
        *("faults", "status", "help", "journal last", "digests", ""),
    ]
    assert [reply["code"] for reply in said] == [*["ok"] * 5, "unknown-command"]


def test_the_line_after_login_is_its_passphrase(desk: FakeDesk, piped: Piped) -> None:
    is_fine, said = piped("login dealer dan", PASSPHRASE, "whoami", "bets")
    assert is_fine
    assert [reply["text"] for reply in said] == ["dan, dealer", "dan, dealer", "bets open"]
    assert [note.kind for note in desk.notes] == ["login", "logout"]


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        (["login dealer dan", "not this one"], "wrong-passphrase"),
        (["login dealer dan"], "interrupted"),
        (["login nobody dan", PASSPHRASE], "syntax"),
    ],
)
def test_a_login_that_fails_has_one_reply(typed: list[str], code: str, piped: Piped) -> None:
    is_fine, said = piped(*typed)
    assert not is_fine
    assert [reply["code"] for reply in said] == [code]


def test_a_pipe_keeps_to_json(piped: Piped) -> None:
    is_fine, said = piped("mode people", "mode machine", "digests")
    assert not is_fine
    assert [reply["status"] for reply in said] == ["error", "ok", "ok"]
    assert "JSON alone" in said[0]["text"]


@pytest.mark.parametrize("is_broken", [False, True])
def test_people_find_words_after_a_pipe(line: SerialPort, tmp_path: Path, is_broken: bool) -> None:
    def piped() -> Iterator[str]:
        yield "digests\n"
        if is_broken:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError) if is_broken else nullcontext():
        assert run_script(line, tmp_path, piped())
    line.write(b"whoami\r")
    heard = b""
    while b"> " not in heard.rpartition(b"nobody is logged in")[2]:
        heard += line.read(1.0)
    assert b"{" not in heard


def test_a_picture_is_saved_and_named_in_its_reply(piped: Piped) -> None:
    _, (reply,) = piped("camera snap")
    assert Path(reply["saved"]).read_bytes() == JPEG


def test_a_picture_that_cannot_be_saved_is_told_in_its_reply(piped: Piped, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    is_fine, (first, second) = piped("camera snap", "digests", folder=tmp_path / "file")
    assert not is_fine
    assert (first["command"], first["code"]) == ("camera snap", "failed")
    assert "snap.jpg could not be saved" in first["text"]
    assert second["status"] == "ok"


def test_a_name_with_brackets_is_told_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(commands, "candidates", lambda: [("/dev/ttyUSB0", "[red]CP2102[/x]")])
    assert commands.the_only_port() == "/dev/ttyUSB0"
    assert "[red]CP2102[/x]" in capsys.readouterr().err


def test_a_late_reply_is_not_taken_for_the_next_one(line: SerialPort) -> None:
    client = Console(line)
    client.connect()
    with pytest.raises(Exception, match="no reply"):
        client.ask("profile", timeout_s=1e-9)
    assert client.ask("st")["command"] == "status"
