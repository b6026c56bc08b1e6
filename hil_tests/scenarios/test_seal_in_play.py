"""A sealed table plays: its camera process is started again, and then a sealed file changes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hil_tests.processes import BenchError
from hil_tests.report.record import TestRecord
from hil_tests.scenarios.conftest import telling
from hil_tests.scenarios.table import Table
from hil_tests.table_under_test.session import Plan, Session
from hil_tests.table_under_test.world import World
from hil_tests.waiting import until
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.seal import fault, manifest, place
from shaker_ctl.service.status_socket import read_status

pytestmark = [pytest.mark.rig, pytest.mark.timeout(400)]

LIT_S = 25.0
"""How long winners are paid at this table: the break is found while the result is lit, and a busy
computer takes long to start the camera process."""


class SealedTable(Table):
    """A table whose program is a copy that a test may damage, sealed by an approver."""

    def __init__(self, folder: Path) -> None:
        plan = Plan(pace="brisk", seed=9, changes={"table": {"payout_s": LIT_S}})
        self.program = folder / "program"
        super().__init__(Session(plan, folder, world=World(folder, self.program)))
        for package in ("shaker_ctl", "vision", "models"):
            shutil.copytree(
                manifest.ROOT / package,
                self.program / package,
                ignore=shutil.ignore_patterns("tests", "training", "__pycache__"),
            )

    def __enter__(self) -> SealedTable:
        super().__enter__()
        self.session.stop_service()
        self.leave_consoles()
        folder = self.session.folder
        key = str(folder / "approver.key")
        self.seal("keys", "--no-passphrase", key, str(folder / place.PUBLIC_KEY))
        self.seal("write", "--key", key, "--by", "Ann", "--config", str(self.config))
        self.session.start_service()
        return self

    @property
    def config(self) -> Path:
        return self.session.folder / "settings.toml"

    def seal(self, *words: str, answer: str = "") -> str:
        """Run `shaker-ctl seal` of that program; return what it said."""
        ran = subprocess.run(
            [sys.executable, "-P", "-c", "from shaker_ctl.main import app; app()", "seal", *words],
            env={**os.environ, "PYTHONPATH": str(self.program)},
            input=answer,
            capture_output=True,
            text=True,
            start_new_session=True,  # a passphrase is asked for here, and not at the terminal
        )
        self.story.did("approver", f"seal {words[0]}: {ran.stdout.strip()[-100:]}")
        self.story.expect(f"seal {words[0]} ends well", ran.returncode == 0, ran.stderr)
        return ran.stdout

    def kill_camera(self) -> int:
        """SIGKILL to the camera process; return which it was."""
        pid = int(read_status(self.session.runtime_dir)["camera_pid"])
        os.kill(pid, signal.SIGKILL)
        return pid

    def ended_with(self, status: int) -> str:
        """Wait until the service has ended; return what it said last."""
        self.await_end(150.0)
        with pytest.raises(BenchError, match=f"ended with status {status}") as ended:
            self.session.check()
        return str(ended.value)

    def refused(self) -> str:
        """Start the service, which must refuse; return its reason."""
        with pytest.raises(BenchError, match="ended with status 65") as refused:
            self.session.start_service()
        return str(refused.value)


@pytest.fixture
def table(tmp_path: Path, record: TestRecord) -> Iterator[SealedTable]:
    with SealedTable(tmp_path / "table") as table, telling(table, record):
        yield table


def test_a_camera_is_started_again_under_the_seal_and_a_break_bars_the_table_after_the_round(
    table: SealedTable,
) -> None:
    table.be_open()
    before = table.kill_camera()

    def is_another() -> bool:
        return read_status(table.session.runtime_dir).get("camera_pid") not in (before, None, 0)

    until(is_another, 60.0, every_s=0.1)
    table.be_open()
    number = table.read_round()
    table.held_against_truth(number)

    # ── A sealed file changes while a result is lit, and the camera process falls ──
    def lamp() -> dict[str, Any] | None:
        seen: dict[str, Any] = table.ask_rig("status")["lamp"]
        return seen if seen["state"] == "result" and seen["round"] > number else None

    lit = until(lamp, 180.0, every_s=0.05)  # a round may be no roll
    number = lit["round"]
    changed = table.program / "vision" / "table" / "rim.py"
    sound = changed.read_bytes()
    changed.write_bytes(sound + b"# nothing\n")
    table.kill_camera()
    table.wait("the break is told", lambda seen: "seal" in seen["faults"])
    still = table.ask_rig("status")["lamp"]
    table.story.expect("the result is still lit", still["glowing"] == lit["glowing"], still)
    said = table.ended_with(65)
    table.story.expect("it names the file", "vision/table/rim.py" in said, said)
    book = DiskJournal(table.session.folder / "journal.jsonl", read_only=True)
    plain = [record.plain for record in book.read()]
    book.close()
    ended = [
        command["ending"]
        for each in plain
        for command in each.get("decision", ())
        if command["type"] == "RecordRound" and command["round"] == number
    ]
    table.story.expect("the round in hand was settled", ended == ["settled"], ended)
    broken = [each for each in plain if each["kind"] == fault.BROKEN]
    table.story.expect("the break is on record once", len(broken) == 1, broken)

    # ── Restored, it stands until a person clears it ──
    table.story.expect("no start", "vision/table/rim.py" in table.refused())
    changed.write_bytes(sound)
    table.story.expect("still none", "stands since" in table.refused())
    tom = f"{table.session.passphrases['tom']}\n"
    words = ("--by", "tom", "--reason", "file restored", "--config", str(table.config))
    table.seal("clear", *words, answer=tom)
    table.session.start_service()
    table.be_open()
    table.read_round()
