"""The wires of a rig's machine: of the virtual board, of a cross-wired pair, or of a bench.

The virtual board is behind a daemon or behind a kernel's GPIO device. Owns the opening of each
kind, the address of the daemon that the controller uses, and which faults of that daemon this kind
can show. Must not know plants.
"""

from __future__ import annotations

import contextlib
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path

from hil_tests.rig.crossed import CrossedPair
from hil_tests.rig.door import Door
from hil_tests.rig.fault_set import Fault, FaultPart, Order
from hil_tests.rig.faults import DaemonPart
from hil_tests.rig.gpiochip.device import NODE, GpioChip
from hil_tests.rig.gpiochip.pwm import PwmFolder
from hil_tests.rig.reservation import Reservation
from hil_tests.rig.rigfile import Gpio, GpioTable, RigFile, host_and_port
from hil_tests.rig.wires.bench import BenchWires
from hil_tests.rig.wires.port import Wires
from hil_tests.rig.wires.wiring import Wiring
from virtual_pigpiod.buses.attached import attach
from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.process import VirtualPigpiod

CANNOT = "this rig cannot do that"
"""Start of a refusal whose only reason is that a part is real. A test is then skipped, not
failed."""


class AbsentPart(FaultPart):
    """Faults that a rig cannot show, because the part is a real one; each refusal says so."""

    def __init__(self, name: str, catalogue: Mapping[str, Fault], reason: str) -> None:
        self.name = name
        self.catalogue = catalogue
        self.reason = reason

    def check(self, order: Order) -> None:
        raise ValueError(f"{CANNOT}: {order.name}: {self.reason}")


class GpioSide(ABC):
    """The pins of one rig, once it is open."""

    wires: Wires
    host = ""
    """Where the controller's daemon listens, as `port`."""
    port = 0

    @property
    def connections(self) -> int:
        """Clients of the controller's daemon; -1 where nobody can know."""
        return -1

    @property
    def trouble(self) -> str:
        """Why the rig must end; empty while it must not."""
        return ""

    @property
    def underruns(self) -> int:
        """How often this computer was so busy that the tach went on at its last speed."""
        return 0

    @abstractmethod
    def fault_part(self) -> FaultPart:
        """What of the controller's daemon can be broken."""

    @abstractmethod
    def start(self, started: contextlib.ExitStack) -> None:
        """Let clients in, once the machine's contacts are on the pins. Raises OSError."""


class VirtualGpio(GpioSide):
    """A board and its daemon in this process."""

    def __init__(self, table: GpioTable, folder: Path, port: int, bind: str) -> None:
        self.board = Board()
        self.daemon = VirtualPigpiod(
            self.board, host=bind, port=port, fifo_folder=folder, attached=attach(table.attached)
        )
        self.wires = Wiring(self.board, table.pins)
        self.host = bind

    @property
    def connections(self) -> int:
        return self.daemon.connections

    def fault_part(self) -> FaultPart:
        return DaemonPart(lambda what: getattr(self.daemon, what)())

    def start(self, started: contextlib.ExitStack) -> None:
        started.enter_context(self.daemon)
        self.port = self.daemon.port


class KernelGpio(GpioSide):
    """A board behind a virtual `/dev/gpiochip0` and a folder of hardware PWM, as a Raspberry Pi 5
    has them. There is no daemon; the controller is started through `hil_tests.rig.gpiochip.enter`.
    """

    def __init__(self, table: GpioTable, folder: Path) -> None:
        self.board = Board()
        self.wires = Wiring(self.board, table.pins)
        self._folder = folder
        self.address: dict[str, str] = {}
        """Where to go in, the chip's path in there, and the folder of the PWM."""

    def fault_part(self) -> FaultPart:
        return AbsentPart(
            "pigpiod", DaemonPart.catalogue, "its pins have no daemon, but the kernel's device"
        )

    def start(self, started: contextlib.ExitStack) -> None:
        door = started.enter_context(tempfile.TemporaryDirectory(prefix="gpiochip-"))
        chip = GpioChip(self.board)
        started.callback(chip.close)
        pwm = PwmFolder(self.board, self._folder / "pwmchip0")
        started.callback(pwm.close)
        entry = Door(Path(door) / "door", chip.let_in, "gpiochip")
        started.callback(entry.close)
        self.address = {"door": entry.address, "chip": NODE, "pwm_chip": str(pwm.folder)}


class BenchGpio(GpioSide):
    """Pins of somebody else's daemon, reached as its client. `pair` is set where both daemons are
    virtual ones of ours."""

    wires: BenchWires

    def __init__(self, table: GpioTable, started: contextlib.ExitStack, rig_file: Path | None):
        """Raises `WiresError`, `ReservedError`, OSError."""
        self._pair: CrossedPair | None = None
        if table.wires is Gpio.CROSSED:
            self._pair = started.enter_context(CrossedPair(rig_file))
            self.host, self.port = "127.0.0.1", int(self._pair.where["controller"])
            there = ("127.0.0.1", int(self._pair.where["rig"]))
        else:
            self.host, self.port = host_and_port(table.controller)
            there = host_and_port(table.rig)
        self.wires = BenchWires(*there, table.wiring, motor_run_s=table.motor_run_s)
        started.callback(self.wires.close)

    @property
    def connections(self) -> int:
        return -1 if self._pair is None else self._pair.connections

    @property
    def trouble(self) -> str:
        if self._pair is not None and not self._pair.is_running:
            return "the pair of virtual daemons ended by itself"
        return self.wires.trouble

    @property
    def underruns(self) -> int:
        return self.wires.underruns

    def start(self, started: contextlib.ExitStack) -> None:
        """Nothing to do: the daemon has let clients in before."""

    def fault_part(self) -> FaultPart:
        if self._pair is not None:
            return DaemonPart(self._pair.act)
        return AbsentPart(
            "pigpiod", DaemonPart.catalogue, "the controller's GPIO daemon is a real one"
        )


def open_gpio(
    file: RigFile, folder: Path, port: int, rig_file: Path | None, started: contextlib.ExitStack
) -> GpioSide:
    """Open the wires that a rig file asks for; `port` is a virtual daemon's, and `rig_file` where
    the file came from. Raises `WiresError`, `ReservedError`, OSError."""
    if file.bench.lock:
        purpose = f"rig {file.name} in {folder}"
        started.enter_context(Reservation(Path(file.bench.lock), purpose))
    if file.gpio.wires is Gpio.GPIOCHIP:
        return KernelGpio(file.gpio, folder)
    if file.gpio.wires is Gpio.VIRTUAL:
        return VirtualGpio(file.gpio, folder, port, file.bind)
    return BenchGpio(file.gpio, started, rig_file)
