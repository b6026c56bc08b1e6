"""Logging in does not make the service larger, whichever thread does it and how often."""

from __future__ import annotations

import subprocess
import sys

import pytest

HELD_KB = 8_000
"""Far less than one block of a passphrase check (19 456 kB)."""

LOGINS = """
import sys, threading
from shaker_ctl.adapters.camera import allocator
from shaker_ctl.console.accounts import _HASHER

def held_kb():
    for line in open("/proc/self/status"):
        if line.startswith("RssAnon:"):
            return int(line.split()[1])

assert allocator.return_large_blocks()
stored = _HASHER.hash("correct horse")
before = held_kb()
at_once = threading.Barrier(4)

def console():
    for _ in range(2):
        at_once.wait()
        _HASHER.verify(stored, "correct horse")
    at_once.wait()

consoles = [threading.Thread(target=console) for _ in range(4)]
for one in consoles: one.start()
for one in consoles: one.join()
print(held_kb() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and asks glibc")
def test_memory_of_logins_goes_back_to_the_system() -> None:
    command = [sys.executable, "-c", LOGINS]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=400)
    assert int(done.stdout) < HELD_KB
