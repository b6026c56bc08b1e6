"""`wrong_inputs.tsv`: each command gets the answer and the status that stand beside it."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

from shaker_ctl.console import accounts
from shaker_ctl.console.tests.support import PASSPHRASE
from shaker_ctl.main import app
from shaker_ctl.rules.vocabulary import Role

FILE = Path(__file__).with_name("wrong_inputs.tsv")
ROWS = [line.split("\t") for line in FILE.read_text("utf-8").splitlines()[1:]]

FILES = {
    "notes.txt": b"nothing to see\n",
    "picture.jpg": b"\xff\xd8\xff\xe0 no picture",
    "empty.jpg": b"",
    "broken.toml": b"[table\n",
    "unknown.toml": b"[lamp]\nbaud = 9600\n",
    "bound.toml": b"[lamp]\nbaudrate = 3\n",
    "profile.toml": b"[table]\nprofile = 'nope'\n",
    "auto.toml": b"[table]\nentry_mode = 'auto'\n",
    "cover.toml": b"[table]\nprofile = 'md'\n",
    "paytable.toml": b"[table]\npaytable = 'Z'\n",
    "deep.toml": b"a = " + b"[" * 5000 + b"]" * 5000,
    "number.toml": b"a = " + b"9" * 5000,
    "list.toml": b"lamp = 3\n",
    "users-bad.toml": b"[[user]]\nname = 1\n",
    "users-damaged.toml": b"digest = '00'\n",
    "users-empty.toml": b"",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("wrong")
    (made / "folder").mkdir()
    for name, content in FILES.items():
        (made / name).write_bytes(content)
    noise = np.random.default_rng(0).integers(0, 255, (200, 300, 3), dtype=np.uint8)
    whole = cv2.imencode(".jpg", noise)[1].tobytes()
    (made / "half.jpg").write_bytes(whole[: len(whole) // 2])
    accounts.add(made / "users.toml", "ann", Role.DEALER, PASSPHRASE, "ann-1")
    return made


def test_no_command_stands_there_twice() -> None:
    assert len(ROWS) >= 200
    assert len({command for command, _, _ in ROWS}) == len(ROWS)


@pytest.mark.parametrize(("command", "status", "begins"), ROWS, ids=[row[0] for row in ROWS])
def test_a_wrong_input_is_answered_in_a_line_and_changes_nothing(
    command: str,
    status: str,
    begins: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "argv", ["shaker-ctl", *shlex.split(command)])
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    with pytest.raises(SystemExit) as ended:
        app()
    heard = capsys.readouterr()
    said = re.sub(r"[\s│╭╮╰╯─]+", " ", heard.err or heard.out)
    assert str(ended.value.code) == status, said
    assert begins in said
    assert "Traceback" not in said
    if status != "2":
        assert heard.err.count("\n") == 1
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
