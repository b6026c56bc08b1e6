"""How the computer does: temperature, power, disk, memory, clock. Linux files only, read on demand.

A figure that cannot be read is None, never zero.
"""

from __future__ import annotations

import time
from pathlib import Path

from shaker_ctl.console.desk import HealthView
from shaker_ctl.service import self_watch
from shaker_ctl.service.power import read_power
from shaker_ctl.service.wall_time import WallTime

THERMAL = Path("/sys/class/thermal/thermal_zone0/temp")


def read_health(wall: WallTime, started_s: float, disk: Path) -> HealthView:
    """Return the figures of now. `started_s`: monotonic; `disk`: a folder on the journal's disk."""
    return HealthView(
        temperature_c=_number(THERMAL, 1000.0),
        throttled=read_power(),
        disk_free_b=self_watch.free_on_disk_b(disk),
        memory_free_b=self_watch.available_memory_b(),
        uptime_s=time.monotonic() - started_s,
        wall_s=wall.now().timestamp(),
        clock_trust=wall.trust().value,
    )


def _number(path: Path, per: float) -> float | None:
    try:
        return int(path.read_text()) / per
    except (OSError, ValueError):
        return None
