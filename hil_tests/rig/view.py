"""The rig as text: all addresses, and what happens. A terminal gets a live table, a file plain
lines.

Owns the layout. Must not know the parts: it gets a status.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

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
    if console.is_terminal:
        with Live(
            picture(addresses, status(), told), console=console, auto_refresh=False, transient=False
        ) as live:
            while not ended.wait(REFRESH_S):
                live.update(picture(addresses, status(), told), refresh=True)
        return
    for line in [*plain_addresses(addresses), *told]:
        console.print(line, highlight=False, soft_wrap=True, markup=False)
    before = ""
    while not ended.wait(REFRESH_S):
        line = plain_line(status())
        if line != before:
            console.print(line, highlight=False, soft_wrap=True, markup=False)
            before = line


def _pins(addresses: Status) -> str:
    if "gpiochip" in addresses:
        return f"{addresses['gpiochip']['chip']}, entered by {addresses['gpiochip']['door']}"
    return f"pigpiod {addresses['pigpiod']['host']}:{addresses['pigpiod']['port']}"


def plain_addresses(addresses: Status) -> list[str]:
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


def plain_line(status: Status) -> str:
    """What happens, on one line."""
    lamp = status["lamp"]
    parts = [
        "shaking" if status["speed_rpm"] else "still",
        f"toss {status['tosses']}" + (f": {status['last_dice']}" if status["last_dice"] else ""),
        *([f"lamps {_lamps(lamp)}", f"phase {_phase(lamp['phase'])}"] if lamp else []),
        *(contact for contact, is_quiet in _contacts(status["contacts"]) if not is_quiet),
    ]
    if status["faults"]:
        parts.append("faults " + ", ".join(status["faults"]))
    return "; ".join(parts)


def picture(addresses: Status, status: Status, told: Sequence[str] = ()) -> RenderableType:
    """The whole screen."""
    where = Table.grid(padding=(0, 2))
    for line in [*plain_addresses(addresses), *told]:
        name, _, rest = line.partition("  ")
        where.add_row(Text(name, style="bold"), rest.strip())
    contacts = Text(" · ").join(
        Text(contact, style="green" if is_quiet else "bold yellow")
        for contact, is_quiet in _contacts(status["contacts"])
    )
    camera, lamp = status["camera"], status["lamp"]
    en = Text("EN high", style="bold yellow") if status["enabled"] else Text("EN low")
    motor = (
        f"{status['speed_rpm']:4.0f} rpm {status['current_a']:5.1f} A  duty {status['duty']:.2f}"
    )
    dice = status["last_dice"] or "as laid"
    waiting = [f"{name} (after {what})" for name, what in status["waiting"].items()]
    faults = ", ".join([*status["faults"], *waiting])
    what = Table.grid(padding=(0, 2))
    what.add_row("motor", Text.assemble(motor, "  ", en))
    what.add_row("contacts", contacts)
    what.add_row("dice", f"toss {status['tosses']}: {dice}")
    what.add_row("light", f"{status['light']:.0%}")
    what.add_row("camera", _camera(camera) if camera else "a real one")
    if lamp:
        what.add_row("phase", _phase(lamp["phase"]))
        what.add_row("lamps", Text(_lamps(lamp), style="yellow" if lamp["glowing"] else ""))
    else:
        what.add_row("lamps", "a real box")
    clients = f"{status['gpio_clients']} clients; " if status["gpio_clients"] >= 0 else ""
    late = f"{status['late_turns']} late turns"
    if status["underruns"]:
        late += f", tach speed held {status['underruns']} times"
    what.add_row("GPIO", f"{clients}{late}")
    what.add_row("faults", Text(faults or "none", style="bold red" if faults else "green"))
    hint = "shaker-rig faults · inject … · heal · hands press estop · status · quit"
    return Group(
        Panel(where, title="shaker rig", title_align="left"),
        Panel(what, title="now", title_align="left"),
        Text(f" {hint} · Ctrl-C ends", style="dim"),
    )


CONTACTS = {
    "compartment": ("compartment closed", "compartment open"),
    "lid flag": ("lid flag up", "LID FLAG FALLEN"),
    "cover": ("cover closed", "cover open"),
    "e-stop": ("e-stop out", "E-STOP PRESSED"),
    "button": ("button up", "button pressed"),
    "driver fault": ("driver ok", "DRIVER FAULT"),
}
USUAL = {"cover": True}
"""What a contact says on a table at rest, where that is not False: the dome is uncovered."""

PHASES = (
    *("blank", "closed", "inspection", "bets open", "no more bets", "tossing", "reading"),
    *("awaiting dealer", "result", "no roll", "void", "settle by hand", "fault", "out of service"),
)
"""Phases of the lamp box's display, from REGISTERS.md."""


def _camera(camera: Status) -> str:
    frames = f"{camera['frames']} frames, {camera['late']} late, {camera['skipped']} left out"
    return f"{camera['clients']} looking; {frames}; {camera['frame_ms']:.0f} ms each"


def _contacts(contacts: Mapping[str, bool]) -> list[tuple[str, bool]]:
    """Each contact in words, and whether it is as usual."""
    return [
        (CONTACTS[name][is_true], is_true == USUAL.get(name, False))
        for name, is_true in contacts.items()
    ]


def _lamps(lamp: Status) -> str:
    if not lamp["glowing"]:
        return "dark"
    return f"round {lamp['round']}: {' '.join(lamp['glowing'])}"


def _phase(word: int) -> str:
    code = word & 0xFF
    name = PHASES[code] if code < len(PHASES) else str(code)
    return f"{name} (demonstration)" if word & 0x0100 else name
