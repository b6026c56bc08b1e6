"""How fast the consoles of a whole table are: `python -m hil_tests.scenarios.console_bench`.

Owns the figures of the consoles' README: how long `status` takes while the table tosses, without
its camera, with the GPIO daemon hung and under noise at the other port; how long files take.

Two ports are asked. At `technician` the service has a pseudo-terminal of this program, without a
line: its own time, to which 87 us a character of line come. At `dealer` there is the rig's line,
paced at its baud rate by the process that also moves the dice and draws the pictures.
"""

from __future__ import annotations

import os
import pty
import random
import select
import signal
import statistics
import sys
import tempfile
import threading
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hil_tests.processes import resident_mb
from hil_tests.proofs.console_fuzz import pieces
from hil_tests.table_under_test.session import Plan, Session
from hil_tests.table_under_test.table import TableUnderTest
from shaker_ctl.adapters.lines.serial_port import SerialPort
from shaker_ctl.console import json_voice
from shaker_ctl.console.client import Console
from shaker_ctl.errors import ConsoleLineError
from shaker_ctl.service.status_socket import read_status

BYTES_PER_S = 11_520
"""What 115200 baud carry; a pseudo-terminal takes more and drops it."""


@dataclass(frozen=True, slots=True)
class AnswerTimes:
    """Times until the whole answer to `status` was here, in seconds."""

    times_s: tuple[float, ...]
    characters: int
    """Of the longest answer, about."""

    @property
    def p99_s(self) -> float:
        return sorted(self.times_s)[int(len(self.times_s) * 0.99)]

    def line(self) -> str:
        median_s, worst_s = statistics.median(self.times_s), max(self.times_s)
        ms = [f"{seconds * 1e3:.0f} ms" for seconds in (median_s, self.p99_s, worst_s)]
        line_ms = self.characters / BYTES_PER_S * 1e3
        return (
            f"median {ms[0]}, p99 {ms[1]}, worst {ms[2]} of {len(self.times_s)}; "
            f"up to {self.characters} characters, {line_ms:.0f} ms of line"
        )


def ask_status(
    asked: Console, seconds: float, while_: Callable[[dict[str, object]], bool] = lambda _: True
) -> AnswerTimes:
    """Ask for `status` for so long; keep the times of those answers that fulfil `while_`."""
    times, longest = [], 0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.monotonic()
        answer = asked.status()
        if while_(answer):
            times.append(time.monotonic() - began)
            longest = max(longest, len(json_voice.line(answer)))
        time.sleep(0.01)
    return AnswerTimes(tuple(times), longest)


def is_tossing(status: dict[str, object]) -> bool:
    return status["phase"] in ("starting", "tossing", "coming to rest", "reading")


def kill_camera(session: Session) -> None:
    """SIGKILL to the camera's process; the service starts another."""
    os.kill(read_status(session.runtime_dir)["camera_pid"], signal.SIGKILL)


@contextmanager
def noise(session: Session, port: str, seed: int = 1) -> Iterator[Callable[[], int]]:
    """Feed random and mutated bytes to a port at the pace of its line; yields a count of them."""
    ended, fed = threading.Event(), [0]
    line = SerialPort(session.rig["console"][port]["person"])

    def feed() -> None:
        for piece in pieces(random.Random(seed)):
            if ended.is_set():
                return
            try:
                line.write(piece)
                line.read(0.0)
            except ConsoleLineError:
                continue
            fed[0] += len(piece)
            ended.wait(len(piece) / BYTES_PER_S)

    thread = threading.Thread(target=feed, daemon=True)
    thread.start()
    try:
        yield lambda: fed[0]
    finally:
        ended.set()
        thread.join(5.0)
        line.close()


class OwnStream:
    """A `ByteStream` on this process's end of a pseudo-terminal."""

    def __init__(self, end: int) -> None:
        self._end = end

    def read(self, timeout_s: float) -> bytes:
        ready, _, _ = select.select([self._end], [], [], timeout_s)
        return os.read(self._end, 4096) if ready else b""

    def write(self, data: bytes) -> None:
        os.write(self._end, data)

    def close(self) -> None:
        os.close(self._end)


def main() -> None:
    """Run a table, and print one line a figure."""

    def say(what: str, figure: str) -> None:
        sys.stdout.write(f"{what:<34} {figure}\n")
        sys.stdout.flush()

    near, far = pty.openpty()
    tty.setraw(far)
    own = {"console": {"technician": {"device": os.ttyname(far)}}}
    session = Session(Plan(pace="brisk", seed=5, changes=own), Path(tempfile.mkdtemp()))
    with session:
        asked = Console(OwnStream(near))
        asked.connect()
        TableUnderTest(session, technician=asked).be_open()
        over_the_line = session.console("dealer")
        say("status, in a toss", ask_status(asked, 30, is_tossing).line())
        say("  over the rig's line", ask_status(over_the_line, 20, is_tossing).line())
        began = time.monotonic()
        size = len(over_the_line.fetch("camera snap").content)
        say("camera snap, over the line", f"{size} bytes in {time.monotonic() - began:.1f} s")
        over_the_line.ask("mode people")
        over_the_line.close()
        assert session.service_pid is not None
        before_mb = resident_mb(session.service_pid)
        with noise(session, "dealer") as fed:
            say("status, noise at the other port", ask_status(asked, 30).line())
            grown_mb = resident_mb(session.service_pid) - before_mb
            say("  bytes of noise", f"{fed()}, memory {grown_mb:+.1f} MB")
        kill_camera(session)
        say("status, camera process killed", ask_status(asked, 6).line())
        session.ask_rig("inject pigpiod_hang")
        say("status, GPIO daemon hung", ask_status(asked, 10).line())
        session.ask_rig("heal pigpiod_hang")
        asked.close()


if __name__ == "__main__":
    main()
