"""What hangs on serial lines: the lamp box with its lamps, and the consoles.

Owns nothing of what is shown: the table is closed while this looks, and the lamps stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator

from shaker_ctl.adapters.lines.modbus_lamp import ModbusLamp
from shaker_ctl.adapters.lines.serial_port import SerialPort
from shaker_ctl.console.parameters import ConsoleParameters, PortParameters
from shaker_ctl.doctor.finding import Finding, fail, ok, warn
from shaker_ctl.errors import ConsoleLineError, LampError
from shaker_ctl.lamp.parameters import LampParameters
from shaker_ctl.lamp.registers import Flag, LampStatus
from shaker_ctl.rules.layout import Layout

WIRE = (
    "Check its supply, A and B of the RS-485 pair, the ends' 120 Ω, and lamp.baudrate; "
    "ls -l /dev/shaker-lamps shows the adapter"
)


def lamp_box(parameters: LampParameters, layout: Layout) -> Iterator[Finding]:
    """Ask the box who it is and how its lamps are."""
    box = ModbusLamp(parameters, layout)
    try:
        identity = box.identify()
        yield ok(
            "lamp box",
            f"number {identity.serial_number}, map {_version(identity.map_version)}, firmware "
            f"{_version(identity.firmware)}, {identity.areas_fitted} areas",
        )
        yield lamps(box.status())
    except LampError as error:
        yield fail("lamp box", str(error), error.remedy or WIRE)
    finally:
        box.close()


def lamps(status: LampStatus) -> Finding:
    """What the box says of its lamps and of itself."""
    replace = "Replace the bulb or mend its wire; then light it once: `lamp test` at the console"
    if status.stuck_bulbs:
        return fail(
            "lamps",
            f"burning without being driven: {_names(status.stuck_bulbs)}",
            "Replace their driver: a lamp that burns by itself names a winner that is none",
        )
    if status.open_bulbs:
        return fail("lamps", f"burnt out: {_names(status.open_bulbs)}", replace)
    if Flag.SUPPLY in status.flags:
        return fail(
            "lamps", f"their supply is at {status.supply_v:.1f} V", "Check the lamps' supply"
        )
    if Flag.MEMORY in status.flags:
        return fail(
            "lamps",
            "the box's retained memory cannot be trusted",
            "Replace its memory or battery: it anchors the journal's end",
        )
    if not status.is_healthy:
        return fail("lamps", "the box is not healthy", "Read its state at the console: `lamps`")
    if status.result_round:
        return warn(
            "lamps",
            f"the result of round {status.result_round} is lit",
            "Start the table: it clears or keeps it as its journal says",
        )
    return ok("lamps", f"none open or stuck; supply {status.supply_v:.1f} V")


def consoles(parameters: ConsoleParameters) -> Iterator[Finding]:
    """Open each console's line for a moment."""
    for name in ("technician", "dealer"):
        yield console(f"{name}'s console", getattr(parameters, name))


def console(name: str, port: PortParameters) -> Finding:
    """Whether the line can be opened by the service's user, and by nobody else now."""
    if not port.device:
        return ok(name, "switched off")
    try:
        SerialPort(port.device, port.baud).close()
    except ConsoleLineError as error:
        return fail(name, str(error), error.remedy)
    return ok(name, f"{port.device} opens at {port.baud} baud")


def _version(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


def _names(areas: frozenset[str]) -> str:
    return ", ".join(sorted(areas))
