"""The rig as text: all addresses, then a line for each change of what happens.

Owns the words. Must not know the parts: it gets a status.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

REFRESH_S = 0.25

Status = Mapping[str, Any]


def show(
    console: Console,
    addresses: Status,
    status: Callable[[], Status],
    ended: threading.Event,
    told: Sequence[str] = (),
) -> None:
    """Print the addresses and the lines `told`, then what happens, until `ended`."""
    told_last = ""
    for line in [*_addresses(addresses), *told]:
        console.print(line, highlight=False, soft_wrap=True, markup=False)
    while not ended.wait(REFRESH_S):
        line = _happens(status())
        if line != told_last:
            console.print(line, highlight=False, soft_wrap=True, markup=False)
            told_last = line


def _pins(addresses: Status) -> str:
    if "gpiochip" in addresses:
        return f"{addresses['gpiochip']['chip']}, entered by {addresses['gpiochip']['door']}"
    return f"pigpiod {addresses['pigpiod']['host']}:{addresses['pigpiod']['port']}"


def _addresses(addresses: Status) -> list[str]:
    """Where everything listens, one line each."""
    console = addresses["console"]
    return [
        f"pins        {_pins(addresses)}",
        f"camera      {addresses['camera']['url']}",
        f"lamp box    {addresses['lamp']['device']}  {addresses['lamp']['baudrate']} 8N1, "
        f"unit {addresses['lamp']['unit']}",
        f"technician  {console['technician']['service']} <-> {console['technician']['person']}",
        f"dealer      {console['dealer']['service']} <-> {console['dealer']['person']}",
        f"control     {addresses['control']}",
        f"truth       {addresses['truth']}",
        f"seed        {addresses['seed']}",
        "by hand     shaker-rig inject tach_silent after 12 edges --dir "
        f"{Path(addresses['truth']).parent}",
    ]


def _happens(status: Status) -> str:
    """What happens, on one line."""
    lamp = status["lamp"]
    parts = [
        "shaking" if status["speed_rpm"] else "still",
        f"toss {status['tosses']}" + (f": {status['last_dice']}" if status["last_dice"] else ""),
        *([f"lamps {_lamps(lamp)}", f"phase {_phase(lamp['phase'])}"] if lamp else []),
        *(words for name, (level, words) in UNUSUAL.items() if status["contacts"][name] is level),
    ]
    if status["faults"]:
        parts.append("faults " + ", ".join(status["faults"]))
    return "; ".join(parts)


UNUSUAL = {
    "compartment": (True, "compartment open"),
    "lid flag": (True, "LID FLAG FALLEN"),
    "cover": (False, "cover closed"),
    "e-stop": (True, "E-STOP PRESSED"),
    "button": (True, "button pressed"),
    "driver fault": (True, "DRIVER FAULT"),
}
"""What a contact does not say on a table at rest, and how that is told."""

PHASES = (
    *("blank", "closed", "inspection", "bets open", "no more bets", "tossing", "reading"),
    *("awaiting dealer", "result", "no roll", "void", "settle by hand", "fault", "out of service"),
)
"""Phases of the lamp box's display, from REGISTERS.md."""


def _lamps(lamp: Status) -> str:
    if not lamp["glowing"]:
        return "dark"
    return f"round {lamp['round']}: {' '.join(lamp['glowing'])}"


def _phase(word: int) -> str:
    code = word & 0xFF
    name = PHASES[code] if code < len(PHASES) else str(code)
    return f"{name} (demonstration)" if word & 0x0100 else name
