"""A rig answers in time: no collection of garbage walks all that was ever imported."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

from virtual_pigpiod import scheduling

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


def test_only_the_thread_that_asks_goes_first() -> None:
    seen: list[int] = []

    def ask() -> None:
        scheduling.go_first()
        scheduling.go_first()
        seen.append(os.sched_getscheduler(0))

    before = os.sched_getscheduler(0)
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert os.sched_getscheduler(0) == before
    assert seen == [os.SCHED_RR if may_go_first() else before]


def may_go_first() -> bool:
    """Whether a process of this user gets a real-time priority."""
    tried = subprocess.run(["chrt", "--rr", "1", "true"], capture_output=True, check=False)
    return tried.returncode == 0
