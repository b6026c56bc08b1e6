"""A thread of another process is held, answered falsely, or its process killed at an exact call."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hil_tests.reliability.tracer import Answered, Held, KilledAt, TraceError, hang, thread_id

WRITER = """
import os, sys, threading, time
from pathlib import Path

def write():
    file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
    count = 0
    while True:
        began = time.monotonic()
        try:
            os.pwrite(file, b"x", count)
            os.fsync(file)
            said = "ok"
        except OSError as error:
            said = error.strerror
        count += 1
        print(count, round(time.monotonic() - began, 2), said, flush=True)
        time.sleep(0.01)

thread = threading.Thread(target=write, daemon=True)
thread.start()
Path(f"/proc/self/task/{thread.native_id}/comm").write_text("journal")
thread.join()
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="ptrace(2) is Linux")


class Writer:
    """A process whose thread `journal` writes and syncs, and says how it went."""

    def __init__(self, file: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(file)], stdout=subprocess.PIPE, text=True
        )
        self.next()

    def next(self) -> tuple[int, float, str]:
        assert self.process.stdout is not None
        count, took_s, said = self.process.stdout.readline().split(maxsplit=2)
        return int(count), float(took_s), said.strip()

    def until(self, said: str) -> tuple[int, float, str]:
        while (line := self.next())[2] != said:
            pass
        return line


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    one = Writer(tmp_path / "file")
    until_s = time.monotonic() + 5.0
    while time.monotonic() < until_s:
        try:
            thread_id(one.process.pid, "journal")
            break
        except TraceError:
            time.sleep(0.01)
    yield one
    one.process.kill()
    one.process.communicate()


def test_a_held_thread_stands_still_for_that_long_and_goes_on(writer: Writer) -> None:
    held = Held(writer.process.pid, "journal", 0.4)
    began_s = time.monotonic()
    held.start()
    held.join()
    assert time.monotonic() - began_s >= 0.4
    assert not held.failure
    writer.until("ok")


def test_one_sync_is_late_and_the_next_is_not(writer: Writer) -> None:
    late = Answered(writer.process.pid, "journal", ("fsync",), late_s=0.4)
    late.start()
    assert late.began.wait(5.0)
    while (line := writer.next())[1] < 0.4:
        assert line[2] == "ok"
    assert writer.next()[1] < 0.4
    late.release()
    assert not late.failure
    assert late.met >= 1


@pytest.mark.skipif("x86" not in __import__("platform").machine(), reason="errors: x86-64 only")
@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        ("pwrite", "ENOSPC", "No space left on device"),
        ("pwrite", "EROFS", "Read-only file system"),
        ("fsync", "EIO", "Input/output error"),
    ],
)
def test_a_call_fails_until_it_is_released(
    writer: Writer, call: str, error: str, words: str
) -> None:
    failing = Answered(writer.process.pid, "journal", (call,), error=error)
    failing.start()
    writer.until(words)
    failing.release()
    assert not failing.failure
    writer.until("ok")


@pytest.mark.parametrize("before", [False, True])
def test_a_process_is_killed_at_the_nth_call(tmp_path: Path, writer: Writer, before: bool) -> None:
    call = "pwrite" if before else "fsync"
    killer = KilledAt(writer.process.pid, "journal", call, 3, before=before)
    killer.start()
    assert killer.began.wait(5.0)
    killer.join(10.0)
    assert killer.killed_s is not None
    assert writer.process.wait(5.0) == -signal.SIGKILL
    assert (tmp_path / "file").stat().st_size >= 2


def test_a_process_is_killed_before_the_write_that_follows_the_nth_sync(
    tmp_path: Path, writer: Writer
) -> None:
    said, _, _ = writer.next()
    killer = KilledAt(
        writer.process.pid, "journal", "pwrite", 1, before=True, since="fsync", since_count=30
    )
    killer.start()
    killer.join(20.0)
    assert writer.process.wait(5.0) == -signal.SIGKILL
    while line := writer.process.stdout and writer.process.stdout.readline():
        said = int(line.split()[0])
    written = (tmp_path / "file").stat().st_size
    assert written == said
    assert written >= 30


def test_a_hung_process_stands_still_and_is_gone_once_it_is_killed(
    tmp_path: Path, writer: Writer
) -> None:
    hang(writer.process.pid)
    written = (tmp_path / "file").stat().st_size
    time.sleep(0.2)
    assert (tmp_path / "file").stat().st_size == written
    writer.process.kill()
    assert writer.process.wait(5.0) == -signal.SIGKILL
