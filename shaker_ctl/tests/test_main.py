"""The entry point: whatever the streams and the signals do, one line and a status."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = (sys.executable, "-c", "from shaker_ctl.main import app; app()")


def ran(
    *words: str, stdout: int | None = subprocess.PIPE, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *words],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env={**os.environ, **environment},
        timeout=400,
        check=False,
    )


@pytest.mark.parametrize(
    "words", [["rules", "list"], ["settings", "reference", "--plain"], ["--help"]]
)
def test_a_full_disk_under_the_output_is_one_line(words: list[str]) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        done = ran(*words, stdout=full)
    finally:
        os.close(full)
    assert done.returncode == 1
    assert done.stderr.startswith("output: cannot write what was asked for: No space left")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "encoding"),
    [
        (["rules", "list"], "ascii"),
        (["rules", "show", "pa-625a"], "ascii:strict"),
        (["settings", "reference"], "latin-1"),
    ],
)
def test_an_output_that_lacks_a_letter_is_written_all_the_same(
    words: list[str], encoding: str
) -> None:
    done = ran(*words, PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout) > 500


def test_a_file_name_that_is_no_utf8_is_told_in_the_error(tmp_path: Path) -> None:
    done = ran("journal", "last", "--journal", str(tmp_path / "n\udcff"), PYTHONIOENCODING="utf-8")
    assert done.returncode == 1
    assert "\\udcff" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_reader_that_has_enough_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = ran("rules", "list", stdout=writing)
    finally:
        os.close(writing)
    assert done.stderr == ""


@pytest.mark.parametrize(
    "module",
    ["shaker_ctl.commands.program", "typer", "shaker_ctl.commands.rules", "pydantic", "decimal"],
)
def test_ctrl_c_while_the_program_loads_is_no_traceback(module: str) -> None:
    """It comes when that module begins to load."""
    program = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # nohup has it ignored
        "from shaker_ctl.main import app\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "app()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "rules", "show", "pa-625a"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 130
