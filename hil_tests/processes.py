"""Programs as processes of their own: started, waited for, ended by their ids, and what they cost.

Must not know what a program does.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from shaker_ctl.errors import ShakerError

START_S = 120.0
"""Only ends a start that is broken: a machine that is busy with other work takes its time."""

LOOK_S = 0.02
ENVIRONMENT = {**os.environ, "PYTHONUNBUFFERED": "1"}
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class BenchError(ShakerError):
    """A bench or a demonstration could not start or go on; the remedy says what to look at."""

    code = "bench"


class TrialError(Exception):
    """The bench itself could not go on: nothing is known about the table."""


def program(module: str, *words: str) -> list[str]:
    """The command line of the app in a module."""
    return [sys.executable, "-P", "-c", f"from {module} import app; app()", *words]


def end_with_parent() -> None:
    """In the child: be sent SIGTERM when whoever started it dies (prctl(2), PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


@dataclass
class Program:
    """One program, started again as often as wanted; what it says is added to its log."""

    name: str
    command: list[str]
    log: Path
    user: str | None = None
    nice: int = 0
    """As its unit's `Nice=`. Where that is not permitted, nice(1) says so in the log and runs the
    program all the same."""
    ends_its_own: bool = False
    """Signals go to the process alone, which ends those that it started; else to all of them."""
    process: subprocess.Popen[bytes] | None = None
    starts: int = 0
    _begun_at: int = field(default=0, init=False)
    """Bytes of the log before this start."""

    def start(self) -> None:
        """Start it; whatever ends the bench, it does not go on alone."""
        self.starts += 1
        command = self.command
        if self.nice:
            command = ["nice", "-n", str(self.nice), *command]
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._begun_at = log.tell()
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=ENVIRONMENT,
                start_new_session=True,  # Ctrl-C goes to the bench, which stops all in order
                user=self.user,
                preexec_fn=self._prepare,
            )

    def _prepare(self) -> None:
        end_with_parent()
        # The kernel may weigh whole sessions against each other (autogroup, see sched(7)).
        with contextlib.suppress(OSError):
            Path("/proc/self/autogroup").write_text(str(self.nice), "ascii")

    def said(self) -> str:
        """What it has said since its last start."""
        with self.log.open("rb") as log:
            log.seek(self._begun_at)
            return log.read().decode(errors="replace")

    def wait_until(self, is_there: Callable[[], object]) -> None:
        """Wait for what its start brings about. Raises BenchError where it ends or is too late."""
        ends_s = time.monotonic() + START_S
        while not is_there():
            self.check()
            if time.monotonic() > ends_s:
                raise self._failed(f"is not ready after {START_S:g} s")
            time.sleep(LOOK_S)

    def wait_for(self, word: str) -> str:
        """Wait until it says that; return the rest of the line. Raises `BenchError`, as above."""
        self.wait_until(lambda: "\n" in self.said().partition(word)[2])
        return self.said().partition(word)[2].splitlines()[0]

    def check(self) -> None:
        """Raise `BenchError` where it was started and has ended by itself."""
        if self.process is not None and self.process.poll() is not None:
            raise self._failed(f"ended with status {self.process.returncode}")

    def _failed(self, what: str) -> BenchError:
        lines = self.said().strip().splitlines()
        said = lines[-1] if lines else "it said nothing"
        return BenchError(f"{self.name} {what}: {said}", remedy=f"See {self.log}")

    def kill(self) -> None:
        """SIGKILL, and wait. Idempotent."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """SIGTERM, SIGKILL after ten seconds, and wait. Idempotent."""
        self._end(signal.SIGTERM)

    def signal(self, number: int) -> None:
        """Send a signal that does not end it."""
        (os.kill if self.ends_its_own else os.killpg)(self.pid, number)

    def _end(self, number: int) -> None:
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self.signal(number)
            if number != signal.SIGKILL:
                self.signal(signal.SIGCONT)  # it may be stopped
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            self.process.wait(10)
        self.process = None

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def pid(self) -> int:
        assert self.process is not None, f"{self.name} does not run"
        return self.process.pid

    def cpu_s(self) -> float:
        """CPU seconds of the process and of those that it started and still run."""
        # With the children that have ended: PostgreSQL has a process for each connection.
        return sum(cpu_s(pid, with_children=True) for pid in _family(self.pid))

    def memory_mb(self) -> float:
        """Proportional set size of the same processes, in MB."""
        total = 0.0
        for pid in _family(self.pid):
            with contextlib.suppress(OSError):
                total += in_rollup(pid)["Pss"]
        return total


def cpu_s(pid: int, *, with_children: bool = False) -> float:
    """CPU time of a process so far, seconds (proc(5), stat); 0 where it has gone.

    `with_children`: of those that it has started, too, and that have ended.
    """
    with contextlib.suppress(OSError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11 : 15 if with_children else 13])) / TICKS_PER_S
    return 0.0


@contextlib.contextmanager
def mounted(folder: Path, megabytes: int, *options: str) -> Iterator[bool]:
    """A file system of its own (ext4 in a sparse file beside it) at `folder`; False where this user
    may not mount. `options`: of mkfs.ext4(8)."""
    folder.mkdir(parents=True, exist_ok=True)
    image = folder.with_suffix(".ext4")
    with image.open("wb") as file:
        file.truncate(megabytes << 20)
    commands = (
        ["mkfs.ext4", "-q", *options, str(image)],
        ["mount", "-o", "loop", str(image), str(folder)],
    )
    is_there = all(subprocess.run(one, check=False).returncode == 0 for one in commands)
    try:
        if is_there:
            (folder / "lost+found").rmdir()  # initdb wants an empty folder
        yield is_there
    finally:
        if is_there:
            subprocess.run(["umount", str(folder)], check=True)


def end_at_once(pid: int) -> None:
    """SIGKILL; at idle priority a process would outlive it for minutes beside a busy computer."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))
        os.kill(pid, signal.SIGKILL)


def in_rollup(pid: int) -> dict[str, float]:
    """What a process has in memory, MB by kind (proc(5), smaps_rollup)."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    rows = (line.replace(":", "").split() for line in lines)
    return {name: int(kb) / 1024 for name, kb, _ in rows}


def in_status(pid: int, name: str) -> int:
    """A number that the kernel keeps of a process, such as `VmHWM` in kB (proc(5), status)."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{name}:")), 0)


def resident_mb(pid: int) -> float:
    """Resident memory of a process, MB (proc(5), statm)."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _family(pid: int) -> list[int]:
    found = [pid]
    for each in found:
        with contextlib.suppress(OSError):
            children = Path(f"/proc/{each}/task/{each}/children").read_text().split()
            found += [int(child) for child in children]
    return found
