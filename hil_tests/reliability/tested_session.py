"""The table under test: rig and service as two programs, in a world that can be bent.

Owns their lives (also: killed and started again), the wall clock and the memory that the service
sees. Settings make people quick and the shake the shortest approved one; no inspection is left out.
Must not know faults or people.
"""

from __future__ import annotations

import os
import signal
import struct
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from hil_tests.processes import Program
from hil_tests.table_under_test.session import Session, merged

SETTINGS: dict[str, Any] = {
    "table": {"entry_mode": "auto", "autonomous": False},
    "motion": {"shake": {"min_s": 1.8, "max_s": 1.8}},
    "journal": {"second_lag_s": 2.0, "media_wait_s": 2.0},
}
"""Dealer's pace, so that every moment can be waited for; the shortest shake that is approved by
default; and a second copy that is missed soon."""

COVER: dict[str, Any] = {"table": {"cover_s": 2.0}}
"""A cover that takes 0.45 s counts as stuck after two seconds, not after five."""

CLOCK_FILE = "clock-offset"

MEMORY_FILE = "meminfo"

MEMINFO = Path("/proc/meminfo")

SHOWN = 'mount --bind "$1" /proc/meminfo && shift && exec "$@"'
"""Starts a program for which another file stands at /proc/meminfo, and for nobody else (unshare(1),
mount_namespaces(7)): filling the computer's memory would fail what runs the tests first."""


class TrialError(Exception):
    """The bench itself could not go on: nothing is known about the table."""


@dataclass
class TestedSession(Session):
    """A session with other settings, a service that may die, and a clock that can be stepped."""

    __test__ = False
    changes: Mapping[str, Any] = field(default_factory=lambda: SETTINGS)
    tree: Path | None = None
    """Where the service's packages lie; None: where this program's own lie."""

    def settings(self) -> dict[str, Any]:
        settings = merged(super().settings(), self.changes)
        return merged(settings, COVER) if settings["table"]["cover_fitted"] else settings

    def start_service(self) -> None:
        """Start it, its clock as it stands."""
        clock = self.folder / CLOCK_FILE
        if not clock.exists():
            clock.write_bytes(struct.pack("<d", 0.0))
        self.show_memory(None)
        super().start_service()

    def _started(self, name: str, command: list[str], log: str, *, nice: int) -> Program:
        if log != "service.log":
            return super()._started(name, command, log, nice=nice)
        places = [
            str(Path(__file__).parent / "stepped_clock"),
            str(self.tree or ""),
            os.environ.get("PYTHONPATH", ""),
        ]
        clock = [
            *("env", f"SHAKER_RIG_CLOCK={self.folder / CLOCK_FILE}"),
            *(["PYTHONSAFEPATH=1"] if self.tree else []),  # the folder of the run comes later
            f"PYTHONPATH={os.pathsep.join(filter(None, places))}",
        ]
        inside = [*clock, *self.seen_from_inside(command)]
        return super()._started(name, inside, log, nice=nice)

    def seen_from_inside(self, command: list[str]) -> list[str]:
        """That command, started where `show_memory` is seen; as it is, where none may be shown."""
        if not _may_show_memory():
            return command
        return [*UNSHARE, "sh", "-c", SHOWN, "sh", str(self.folder / MEMORY_FILE), *command]

    def show_memory(self, available_kb: int | None) -> None:
        """Have the service's system say that so much memory is available; None: as it truly is.

        Raises TrialError where this computer allows nobody a view of their own.
        """
        if available_kb is not None and not _may_show_memory():
            raise TrialError("unshare(1) is not permitted here: the service sees the true memory")
        lines = MEMINFO.read_text("utf-8").splitlines(keepends=True)
        said = f"MemAvailable: {available_kb} kB\n"
        told = [
            said if available_kb is not None and line.startswith("MemAvailable:") else line
            for line in lines
        ]
        (self.folder / MEMORY_FILE).write_text("".join(told), "utf-8")

    @property
    def journal(self) -> Path:
        return self.folder / "journal.jsonl"

    @property
    def second(self) -> Path:
        return self.folder / "journal-second.jsonl"

    def step_clock(self, offset_s: float) -> None:
        """Have the service's wall clock stand that far from the true one."""
        with (self.folder / CLOCK_FILE).open("r+b") as file:
            file.write(struct.pack("<d", offset_s))

    def kill_service(self) -> None:
        """SIGKILL, also to what it has started, as its unit does, and wait until it is gone.

        Its records process would say what it finds beside the next start. Idempotent.
        """
        if self._service is not None:
            children = self.children()
            self._service.kill()
            for pid in children:
                end_at_once(pid)

    def children(self) -> list[int]:
        """The processes that the service has started; none where it does not run."""
        tasks = Path(f"/proc/{self.service_pid}/task").glob("*/children")
        return [int(pid) for task in tasks for pid in task.read_text().split()]


def end_at_once(pid: int) -> None:
    """SIGKILL; at idle priority a process would outlive it for minutes beside a busy computer."""
    with suppress(OSError):
        os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))
        os.kill(pid, signal.SIGKILL)


UNSHARE = ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), "--mount"]


@cache
def _may_show_memory() -> bool:
    test = [*UNSHARE, "mount", "--bind", "/proc/meminfo", "/proc/meminfo"]
    try:
        return subprocess.run(test, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
