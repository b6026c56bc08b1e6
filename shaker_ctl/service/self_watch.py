"""The controller's own resources: does the clock step, is memory or the journal's disk running out?

Owns these three checks, and when a result is new. After a fault the round in hand is finished, then
play stops (O-10). The fault is posted while there is still room to record it. Must not know who
receives it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from shaker_ctl.ports import Clock
from shaker_ctl.service.parameters import ServiceParameters

CLOCK, MEMORY, DISK = "clock", "memory-low", "disk-low"

MEMINFO = Path("/proc/meminfo")
_KB = 1024


class SelfWatch:
    """Check regularly; each check returns the codes that are new. For one thread."""

    def __init__(
        self,
        clock: Clock,
        parameters: ServiceParameters,
        journal: Path,
        *,
        memory_free_b: Callable[[], int | None] | None = None,
        disk_free_b: Callable[[Path], int | None] | None = None,
    ) -> None:
        """`journal`: a file on the disk that must not fill up. The two callables return bytes, or
        None where the figure cannot be read: no fault is made of what is not known."""
        self._clock = clock
        self._p = parameters
        self._folder = journal.parent
        self._memory_free_b = memory_free_b or available_memory_b
        self._disk_free_b = disk_free_b or free_on_disk_b
        self._apart_s = self._wall_apart_s()
        self._standing: set[str] = set()

    def look(self) -> tuple[str, ...]:
        """Return codes of what was well at the last look and is not now. A step of the clock is
        news each time that it happens."""
        found = set(self._low())
        news = found - self._standing
        self._standing = found
        apart_s = self._wall_apart_s()
        stepped = abs(apart_s - self._apart_s) > self._p.clock_step_s
        self._apart_s = apart_s
        return (*((CLOCK,) if stepped else ()), *sorted(news))

    def _wall_apart_s(self) -> float:
        """Wall time less monotonic time: it stays the same, but for slewing, until a step."""
        return self._clock.wall() - self._clock.monotonic()

    def _low(self) -> Iterator[str]:
        for code, free_b, floor_mb in (
            (MEMORY, self._memory_free_b(), self._p.memory_floor_mb),
            (DISK, self._disk_free_b(self._folder), self._p.disk_floor_mb),
        ):
            if free_b is not None and free_b < floor_mb * 1e6:
                yield code


def available_memory_b(meminfo: Path = MEMINFO) -> int | None:
    """Memory that can be had without swapping, in bytes (proc(5), MemAvailable)."""
    try:
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * _KB
    except (OSError, ValueError, IndexError):
        pass
    return None


def free_on_disk_b(folder: Path) -> int | None:
    """Room on the disk of a folder, in bytes; None where it cannot be read."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None
