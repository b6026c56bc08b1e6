"""A line without time or thread for unit tests: requests put in, replies taken out."""

from __future__ import annotations

from hil_tests.rig.lamp_box.box import LampBox
from hil_tests.rig.lamp_box.firmware import FirmwareBox
from hil_tests.rig.lamp_box.modbus_unit import ModbusUnit


class Pause:
    """A clock that moves only when told, and notes what it was asked to sleep."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)


class ListedWire:
    """Brings `arrivals` one after the other (b"" is a silence), keeps what is sent, then ends."""

    def __init__(self, *arrivals: bytes) -> None:
        self._arrivals = list(arrivals)
        self.sent: list[bytes] = []

    def receive(self, timeout_s: float | None) -> bytes | None:
        if not self._arrivals:
            return None
        return self._arrivals.pop(0)

    def send(self, data: bytes) -> None:
        self.sent.append(data)


def replies(
    box: LampBox | FirmwareBox, *arrivals: bytes, pause: Pause | None = None
) -> list[bytes]:
    """Return what a unit in front of `box` sends when these bytes arrive."""
    if isinstance(box, FirmwareBox):
        return box.replies(*arrivals)
    wire = ListedWire(*arrivals)
    unit = ModbusUnit(box, wire, sleep=(pause or Pause()).sleep)
    unit.thread.start()  # its own: it raises the priority of the thread that it runs in
    unit.thread.join()
    return wire.sent
