"""What the start made does not keep the garbage of play, and no thread keeps the others out."""

from __future__ import annotations

import subprocess
import sys

import pytest

PLAY = """
import gc, sys
from shaker_ctl.commands.run import set_start_aside

class Knot:
    def __init__(self):
        self.me = self

start = [[] for _ in range(300_000)]
if sys.argv[1] == "aside":
    gc.disable()  # as `run` does
    set_start_aside()
else:
    gc.collect()
    gc.freeze()
most, held = 0, []
for number in range(200_000):
    held = [*held[-500:], Knot()]
    if number % 1000 == 0:
        most = max(most, len(gc.get_objects()))
print(most)
"""

BOUND = 16_000
"""Ten collections of the middle generation, each of ten of the youngest, wait for a full one."""


def max_objects(how: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", PLAY, how], capture_output=True, text=True, check=True, timeout=600
    )
    return int(done.stdout)


def test_garbage_of_play_stays_bounded_however_much_the_start_made() -> None:
    assert max_objects("aside") < BOUND


@pytest.mark.skipif(
    sys.version_info >= (3, 13), reason="Python 3.13 stays below the bound by itself (10,946)"
)
def test_setting_aside_alone_would_let_it_grow() -> None:
    """Why it is counted anew: where this fails, the interpreter does so by itself."""
    assert max_objects("frozen only") > BOUND


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
