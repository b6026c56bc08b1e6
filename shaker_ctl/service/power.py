"""What the computer says about its supply, for the screens and for `doctor`.

Owns where Linux says it. `hwmon` first: its `in0_lcrit_alarm` is the firmware's word on
undervoltage, asked for every 2 s (raspberrypi/linux, drivers/hwmon/raspberrypi-hwmon.c). The
firmware's own file also knows throttling; it is deprecated, and a Raspberry Pi 5 has it elsewhere.
"""

from __future__ import annotations

from pathlib import Path

UNDERVOLTAGE_NOW, UNDERVOLTAGE_BEFORE = "undervoltage now", "undervoltage since start"

_FLAGS = {
    0: UNDERVOLTAGE_NOW,
    16: UNDERVOLTAGE_BEFORE,
    1: "frequency capped now",
    2: "throttled now",
    3: "soft temperature limit now",
    17: "frequency was capped since start",
    18: "throttled since start",
    19: "soft temperature limit since start",
}
"""Bits of the firmware's word, the gravest first (documented with vcgencmd get_throttled)."""


def read_power(root: Path = Path("/")) -> tuple[str, ...] | None:
    """Return what is wrong with the supply; None where nothing says whether it holds."""
    for name in sorted(root.glob("sys/class/hwmon/hwmon*/name")):
        if _text(name) == "rpi_volt":
            alarm = _text(name.parent / "in0_lcrit_alarm")
            if alarm in ("0", "1"):
                return (UNDERVOLTAGE_NOW,) if alarm == "1" else ()
    for path in sorted(root.glob("sys/devices/platform/soc*/*firmware/get_throttled")):
        try:
            word = int(_text(path), 16)
        except ValueError:
            continue
        return tuple(text for bit, text in _FLAGS.items() if word >> bit & 1)
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
