"""The rig's lamp box as its own program. Its only interface is one serial device.

    python -m hil_tests.rig.lamp_box.program DEVICE [--log FILE] [--memory FILE] [--map 1.0]

For a rig whose box is "somebody else's", and for trying another controller against REGISTERS.md.
DEVICE is made as a symbolic link to a pseudo-terminal that answers until SIGTERM.
"""

from __future__ import annotations

import argparse
import json
import signal
import threading
from pathlib import Path

from hil_tests.rig.lamp_box.box import MAP_1_0, MAP_1_1, LampBox, LampChange
from hil_tests.rig.lamp_box.modbus_unit import ModbusUnit
from hil_tests.rig.wires.line import BoxEnd, Line, Terminal
from hil_tests.rig.wires.uart import Framing, Parity

SERIAL_NUMBER = 0x00C0FFEE
"""The box inside a rig has another number."""

LOOK_S = 0.2
"""Time between two observations of a box without requests, in seconds. So a test that is not
renewed ends and is logged."""


def main() -> None:
    """Be a lamp box on DEVICE until SIGTERM."""
    parser = argparse.ArgumentParser(description="A lamp controller on a serial device.")
    parser.add_argument("device", type=Path, help="where its line appears")
    parser.add_argument("--log", type=Path, help="note down here which lamps burn")
    parser.add_argument("--memory", type=Path, help="what it retains without power")
    parser.add_argument("--map", choices=("1.0", "1.1"), default="1.1", help="its register map")
    parser.add_argument("--baudrate", type=int, default=115200, help="of its line")
    parser.add_argument("--parity", type=Parity, choices=Parity, default=Parity.NONE)
    given = parser.parse_args()
    box = LampBox(
        memory=given.memory or given.device.with_suffix(".memory"),
        map_version=MAP_1_0 if given.map == "1.0" else MAP_1_1,
        serial_number=SERIAL_NUMBER,
    )
    if given.log is not None:
        given.log.write_text("")
        box.on_change = lambda change: _note(given.log, change)
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    end = BoxEnd()
    framing = Framing(given.baudrate, given.parity)
    line = Line("lamp", Terminal(given.device), end, framing=framing)
    ModbusUnit(box, end, reply_delay_s=framing.silence_s).thread.start()
    while not ended.wait(LOOK_S):
        box.glance()
    line.close()


def _note(log: Path, change: LampChange) -> None:
    """What somebody who looks at the lamps would note down."""
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(change.as_dict()) + "\n")


if __name__ == "__main__":
    main()
