"""What the start made does not keep the garbage of play, and no thread keeps the others out."""

from __future__ import annotations

import subprocess
import sys

import pytest

PLAY = """
import gc
from shaker_ctl.commands.run import set_start_aside

class Knot:
    def __init__(self):
        self.me = self

start = [[] for _ in range(300_000)]
gc.disable()  # as `run` does
set_start_aside()
most, held = 0, []
for number in range(200_000):
    held = [*held[-500:], Knot()]
    if number % 1000 == 0:
        most = max(most, len(gc.get_objects()))
print(most)
"""

BOUND = 16_000
"""Ten collections of the middle generation, each of ten of the youngest, wait for a full one."""


def test_garbage_of_play_stays_bounded_however_much_the_start_made() -> None:
    command = [sys.executable, "-c", PLAY]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    assert int(done.stdout) < BOUND


STARTED = """
import sys
from shaker_ctl.commands.run import _run

class Table:
    def start(self):
        print(sys.getswitchinterval())
        raise SystemExit

    def stop(self):
        pass

_run(Table())
"""


def test_a_thread_that_computes_lets_another_one_in_after_a_millisecond() -> None:
    done = subprocess.run([sys.executable, "-c", STARTED], capture_output=True, text=True)
    assert float(done.stdout) == pytest.approx(0.001)
