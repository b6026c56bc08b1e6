"""The rig as text: where everything listens, and what happens. A live table on a terminal, plain
lines elsewhere.

Owns how it looks. Must not know the parts: it is given a status.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

REFRESH_S = 0.25

Status = Mapping[str, Any]


def show(
    console: Console, addresses: Status, status: Callable[[], Status], ended: threading.Event
) -> None:
    """Print the addresses, then what happens, until `ended`."""
    if console.is_terminal:
        with Live(
            picture(addresses, status()), console=console, auto_refresh=False, transient=False
        ) as live:
            while not ended.wait(REFRESH_S):
                live.update(picture(addresses, status()), refresh=True)
        return
    for line in plain_addresses(addresses):
        console.print(line, highlight=False, soft_wrap=True, markup=False)
    before = ""
    while not ended.wait(REFRESH_S):
        line = plain_line(status())
        if line != before:
            console.print(line, highlight=False, soft_wrap=True, markup=False)
            before = line


def plain_addresses(addresses: Status) -> list[str]:
    """Where everything listens, one line each."""
    console = addresses["console"]
    return [
        f"pigpiod     {addresses['pigpiod']['host']}:{addresses['pigpiod']['port']}",
        f"camera      {addresses['camera']['url']}",
        f"lamp box    {addresses['lamp']['device']}  115200 8N1, unit 1",
        f"technician  {console['technician']['service']} <-> {console['technician']['person']}",
        f"dealer      {console['dealer']['service']} <-> {console['dealer']['person']}",
        f"control     {addresses['control']}",
        f"truth       {addresses['truth']}",
        f"seed        {addresses['seed']}",
    ]


def plain_line(status: Status) -> str:
    """What happens, on one line."""
    lamp = status["lamp"]
    parts = [
        f"motor {'running' if status['speed_rpm'] else 'still'}",
        f"toss {status['tosses']}",
        f"lamps {' '.join(lamp['glowing']) or 'dark'} ({lamp['state']} {lamp['round']})",
        f"phase {lamp['phase']}",
    ]
    if status["faults"]:
        parts.append("faults " + ", ".join(status["faults"]))
    return "; ".join(parts)


def picture(addresses: Status, status: Status) -> RenderableType:
    """The whole screen."""
    where = Table.grid(padding=(0, 2))
    for line in plain_addresses(addresses):
        name, _, rest = line.partition("  ")
        where.add_row(Text(name, style="bold"), rest.strip())
    lamp = status["lamp"]
    contacts = Text(" ").join(
        Text(name, style="bold red" if is_bad else "green")
        for name, is_bad in status["contacts"].items()
    )
    what = Table.grid(padding=(0, 2))
    what.add_row("motor", f"{status['speed_rpm']:4.0f} rpm  {status['current_a']:4.1f} A")
    what.add_row("", f"duty {status['duty']:.2f}  EN {'high' if status['enabled'] else 'low'}")
    what.add_row("contacts", contacts)
    what.add_row("light", f"{status['light']:.0%}")
    what.add_row("tosses", str(status["tosses"]))
    what.add_row("last dice", status["last_dice"])
    camera = status["camera"]
    seen = f"{camera['frames']} frames, {camera['late']} late, {camera['skipped']} left out"
    what.add_row("camera", f"{camera['clients']} looking; {seen}; {camera['frame_ms']:.0f} ms each")
    what.add_row("lamps", f"{lamp['state']}, round {lamp['round']}, phase {lamp['phase']}")
    what.add_row("", Text(" ".join(lamp["glowing"]) or "dark", style="yellow"))
    what.add_row("faults", Text(", ".join(status["faults"]) or "none", style="red"))
    what.add_row("", f"late turns {status['late_turns']}  GPIO clients {status['gpio_clients']}")
    hint = Text("shaker-rig inject 'tach_silent after 12 edges' · heal all · faults · quit: Ctrl-C")
    return Group(Panel(where, title="shaker rig"), Panel(what, title="now"), hint)
