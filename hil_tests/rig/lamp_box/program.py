"""The rig's lamp box as its own program. Its only interface is one serial device.

    python -m hil_tests.rig.lamp_box.program DEVICE [--log FILE] [--memory FILE] [--map 1.0]

For a rig whose box is "somebody else's", and for trying another controller against REGISTERS.md.
DEVICE is made as a symbolic link to a pseudo-terminal that answers until SIGTERM.
"""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Annotated, Literal

import typer

from hil_tests.rig.lamp_box.box import MAP_1_0, MAP_1_1, LampBox
from hil_tests.rig.lamp_box.modbus_unit import ModbusUnit
from hil_tests.rig.logbook import Logbook
from hil_tests.rig.wires.line import BoxEnd, Line, Terminal
from hil_tests.rig.wires.uart import Framing, Parity

SERIAL_NUMBER = 0x00C0FFEE
"""The box inside a rig has another number."""

LOOK_S = 0.2
"""Time between two observations of a box without requests, in seconds. So a test that is not
renewed ends and is logged."""


def main(
    device: Annotated[Path, typer.Argument(help="Where its line appears.")],
    log: Annotated[Path | None, typer.Option(help="Note down here which lamps burn.")] = None,
    memory: Annotated[Path | None, typer.Option(help="What it retains without power.")] = None,
    map_version: Annotated[
        Literal["1.0", "1.1"], typer.Option("--map", help="Its register map.")
    ] = "1.1",
    baudrate: Annotated[int, typer.Option(help="Of its line.")] = 115200,
    parity: Parity = Parity.NONE,
) -> None:
    """A lamp controller on a serial device, until SIGTERM."""
    box = LampBox(
        memory=memory or device.with_suffix(".memory"),
        map_version=MAP_1_0 if map_version == "1.0" else MAP_1_1,
        serial_number=SERIAL_NUMBER,
    )
    if log is not None:
        log.write_text("")
        book = Logbook(log)
        box.on_change = lambda change: book.write(change.as_dict())
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    end = BoxEnd()
    framing = Framing(baudrate, parity)
    line = Line("lamp", Terminal(device), end, framing=framing)
    ModbusUnit(box, end, reply_delay_s=framing.silence_s).thread.start()
    while not ended.wait(LOOK_S):
        box.glance()
    line.close()


if __name__ == "__main__":
    typer.run(main)
