"""A rig answers in time: no collection of garbage walks all that was ever imported."""

from __future__ import annotations

import subprocess
import sys

WALK = """
import gc, sys, time
import hil_tests.rig.rig
from virtual_pigpiod.scheduling import TURN_S, answer_in_time

def walk_s():
    began = time.thread_time()
    gc.collect()
    return time.thread_time() - began

walk_s()
before_s = walk_s()
answer_in_time()
assert sys.getswitchinterval() == TURN_S
print(before_s, walk_s())
"""


def test_a_full_collection_takes_next_to_no_time() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", WALK], capture_output=True, text=True, timeout=400, check=True
    )
    before_s, after_s = map(float, ended.stdout.split())
    assert after_s < before_s / 20
