"""The package's scripts and units keep their promises, also where no Debian is at hand."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from shaker_ctl.view import standing

LIFE_WORDS = frozenset(standing._LIFE.values())
HERE = Path(__file__).resolve().parents[3] / "systemd"
SCRIPTS = [HERE / "debian" / name for name in ("preinst", "prerm", "postinst", "postrm")]
SCRIPTS += [HERE / "table-is-closed", HERE / "build-deb"]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_each_script_is_a_shell_script(script: Path) -> None:
    subprocess.run(["sh", "-n", str(script)], check=True)


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="no shellcheck")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_shellcheck_finds_nothing(script: Path) -> None:
    subprocess.run(["shellcheck", "--shell=sh", str(script)], check=True)


@pytest.mark.parametrize(
    ("life", "may"),
    [
        *((life, True) for life in ("closed", "inspection due", "out of service")),
        *((life, False) for life in ("open", "inspected", "opening inspection", "trial", "")),
    ],
)
def test_only_a_table_that_is_not_in_play_may_be_changed(
    tmp_path: Path, life: str, may: bool
) -> None:
    program = tmp_path / "shaker-ctl"
    program.write_text(f'#!/bin/sh\nprintf \'{{\\n  "life": "{life}",\\n  "x": 1\\n}}\\n\'\n')
    program.chmod(0o755)
    text = (HERE / "table-is-closed").read_text("utf-8")
    script = tmp_path / "table-is-closed"
    script.write_text(text.replace("/usr/lib/shaker-ctl/bin/shaker-ctl", str(program)))
    ran = subprocess.run(["sh", str(script)], capture_output=True, text=True)
    assert (ran.returncode == 0) is may
    assert may or "systemctl stop shaker-ctl" in ran.stderr


def test_the_script_knows_the_words_for_a_tables_life() -> None:
    text = (HERE / "table-is-closed").read_text("utf-8")
    (permitted,) = [line.split(")")[0] for line in text.splitlines() if "exit 0" in line]
    words = {word.strip().strip('"') for word in permitted.split("|")}
    assert words < set(LIFE_WORDS)


def test_purge_never_takes_the_record_of_play() -> None:
    removals = [
        line
        for name in ("postrm", "prerm", "preinst", "postinst")
        for line in (HERE / "debian" / name).read_text("utf-8").splitlines()
        if re.search(r"\brm -|find .*-delete", line)
    ]
    assert removals
    assert [line for line in removals if "/var/lib/shaker-ctl" in line] == []
