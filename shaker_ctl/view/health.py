"""How the computer does: temperature, power, disk, memory, clock. Linux files only, read on demand.

A figure that cannot be read is None, never zero.
"""

from __future__ import annotations

import time
from pathlib import Path

from shaker_ctl.console.desk import HealthView
from shaker_ctl.service import self_watch
from shaker_ctl.service.wall_time import WallTime

THERMAL = Path("/sys/class/thermal/thermal_zone0/temp")
THROTTLED = Path("/sys/devices/platform/soc/soc:firmware/get_throttled")
"""The Pi firmware's flags as a hexadecimal word (documented with vcgencmd get_throttled)."""

FLAGS = {
    0: "undervoltage now",
    1: "frequency capped now",
    2: "throttled now",
    3: "soft temperature limit now",
    16: "undervoltage since start",
    17: "frequency was capped since start",
    18: "throttled since start",
    19: "soft temperature limit since start",
}


def read_health(wall: WallTime, started_s: float, disk: Path) -> HealthView:
    """Return the figures of now. `started_s`: monotonic; `disk`: a folder on the journal's disk."""
    return HealthView(
        temperature_c=_number(THERMAL, 1000.0),
        throttled=_flags(),
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


def _flags() -> tuple[str, ...]:
    try:
        word = int(THROTTLED.read_text(), 16)
    except (OSError, ValueError):
        return ()
    return tuple(text for bit, text in FLAGS.items() if word >> bit & 1)
