"""How fast the consoles of a whole table are: `python -m hil_tests.scenarios.console_bench`.

Owns the figures of the consoles' README: how long `status` takes while the table tosses, without
its camera, with the GPIO daemon hung and under noise at the other port; how long files take.
"""

from __future__ import annotations

import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hil_tests.demo.session import Plan, Session
from hil_tests.scenarios.console_sessions import break_it, client, mend_it, open_table
from shaker_ctl.adapters.serial_port import SerialPort
from shaker_ctl.console.client import Console
from shaker_ctl.console.fuzz import pieces
from shaker_ctl.errors import ConsoleLineError

BYTES_PER_S = 11_520
"""What 115200 baud carry; a pseudo-terminal takes more and drops it."""


@dataclass(frozen=True, slots=True)
class Answered:
    """Times until the whole answer to `status` was here, in seconds."""

    times_s: tuple[float, ...]

    @property
    def p99_s(self) -> float:
        return sorted(self.times_s)[int(len(self.times_s) * 0.99)]

    def line(self) -> str:
        median_s, worst_s = statistics.median(self.times_s), max(self.times_s)
        ms = [f"{seconds * 1e3:.0f} ms" for seconds in (median_s, self.p99_s, worst_s)]
        return f"median {ms[0]}, p99 {ms[1]}, worst {ms[2]} of {len(self.times_s)}"


def ask_status(
    asked: Console, seconds: float, while_: Callable[[dict[str, object]], bool] = lambda _: True
) -> Answered:
    """Ask for `status` for so long; keep the times of those answers that fulfil `while_`."""
    times = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.monotonic()
        answer = asked.status()
        if while_(answer):
            times.append(time.monotonic() - began)
        time.sleep(0.01)
    return Answered(tuple(times))


def is_tossing(status: dict[str, object]) -> bool:
    return status["phase"] in ("starting", "tossing", "coming to rest", "reading")


def kill_camera(session: Session) -> None:
    """SIGKILL to the camera's process; the service starts another."""
    listed = subprocess.run(
        ["pgrep", "-f", "-P", str(session.service_pid), "camera_process"],
        capture_output=True,
        text=True,
        check=True,
    )
    for pid in listed.stdout.split():
        os.kill(int(pid), signal.SIGKILL)


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


def resident_kb(session: Session) -> int:
    """Memory that the service's process holds."""
    text = Path(f"/proc/{session.service_pid}/status").read_text("ascii")
    return int(text.split("VmRSS:")[1].split()[0])


def main() -> None:
    """Run a table, and print one line a figure."""

    def say(what: str, figure: str) -> None:
        sys.stdout.write(f"{what:<34} {figure}\n")
        sys.stdout.flush()

    folder = Path(tempfile.mkdtemp())
    with Session(Plan(pace="brisk", seed=5), folder) as session:
        open_table(session)
        asked = client(session, "technician")
        say("status, table playing", ask_status(asked, 20).line())
        say("status, in a toss", ask_status(asked, 20, is_tossing).line())
        before_kb = resident_kb(session)
        with noise(session, "dealer") as fed:
            say("status, noise at the other port", ask_status(asked, 30).line())
            say("  bytes of noise", f"{fed()}, memory {resident_kb(session) - before_kb:+d} kB")
        asked.login("technician", "tom", session.passphrases["tom"])
        for command in ("camera snap", "log bundle", "export"):
            began = time.monotonic()
            size = len(asked.fetch(command).content)
            say(command, f"{size} bytes in {time.monotonic() - began:.1f} s")
        kill_camera(session)
        say("status, camera process killed", ask_status(asked, 6).line())
        break_it(session, "pigpiod_hang")
        say("status, GPIO daemon hung", ask_status(asked, 10).line())
        mend_it(session, "pigpiod_hang")
        asked.close()


if __name__ == "__main__":
    main()
