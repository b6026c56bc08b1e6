"""The network of the GPIO daemon: a namespace of its own, shared with the table's service alone.

Owns the way into it for root, and the question whether a computer has left it open. pigpiod has no
authentication: whoever reaches it moves the motor.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

UNITS = ("shaker-pigpiod.service",)

DEVICES = Path("/proc/self/net/dev")
"""Two lines of heading, then a line for each interface. A file, since the unit may open no socket
that would tell."""

NEW_NETWORK = 0x40000000
"""CLONE_NEWNET of setns(2)."""

IN_EVERY_NAMESPACE = frozenset(
    {"lo", "tunl0", "sit0", "ip6tnl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0"}
    | {"ip6gre0"}
)
"""Loopback, and the tunnels that the kernel itself may put into each."""


def is_private(interfaces: Iterable[str] | None = None) -> bool:
    """Return whether this process has a network of its own: no other program of the computer shares
    its loopback. `interfaces`: names; by default those that it sees. False where it cannot look."""
    if interfaces is None:
        try:
            lines = DEVICES.read_text().splitlines()[2:]
        except OSError:
            return False
        interfaces = [line.partition(":")[0].strip() for line in lines]
    return IN_EVERY_NAMESPACE.issuperset(interfaces)


def enter() -> None:
    """As root, move this process into the daemon's network, where the daemon runs as a unit.

    Call it before the process has threads. Nothing happens for anybody else, or without the unit.
    """
    if os.geteuid() != 0:
        return
    for unit in UNITS:
        pid = _main_process(unit)
        if pid:
            with contextlib.suppress(OSError), open(f"/proc/{pid}/ns/net") as namespace:
                ctypes.CDLL(None).setns(namespace.fileno(), NEW_NETWORK)
            return


def _main_process(unit: str) -> int:
    """Return the process number of a running unit; 0 without systemd, and where it does not run."""
    words = ["systemctl", "show", "--property=MainPID", "--value", unit]
    try:
        ran = subprocess.run(words, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    said = ran.stdout.strip()
    return int(said) if said.isdigit() else 0
