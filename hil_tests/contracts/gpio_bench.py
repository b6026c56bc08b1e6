"""Benches for the pins: one board, who reaches it, and hands that move levels from outside.

Owns what a contract test may do to the wires. On the virtual rig the wires are a `Board`; on a real
bench a second Raspberry Pi holds them. Two ways lead to the pins, as on the machines that exist: a
daemon (`PigpioBench`), and the kernel's device (`GpiodBench`). Tests of what both must keep see
only `GpioBench` and `Pins`.
"""

from __future__ import annotations

import subprocess
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from functools import partial
from pathlib import Path

from hil_tests.contracts.pins import Pins, RemotePins
from hil_tests.rig import pinctrl
from hil_tests.rig.control import Control
from hil_tests.rig.door import Door
from hil_tests.rig.gpiochip.device import NODE, GpioChip
from hil_tests.rig.gpiochip.pwm import PwmFolder
from hil_tests.waiting import seconds_until_off, until
from shaker_ctl.adapters.pins.gpio_backend import make_pins
from shaker_ctl.adapters.pins.gpio_parameters import GpioParameters
from shaker_ctl.adapters.pins.sysfs_pwm import RP1_PWM0
from shaker_ctl.installation.places import shipped
from shaker_ctl.ports import Tach
from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.process import VirtualPigpiod


class GpioBench(ABC):
    """The wires' side. Contacts are at rest: compartment and cover closed, e-stop healthy."""

    parameters: GpioParameters
    duty_error = 0.001
    """How well this bench measures a duty."""

    def __init__(self) -> None:
        self.board = Board()

    def _settle(self) -> None:
        self.pins = self.parameters.pins
        for pin in (self.pins.compartment, self.pins.cover, self.pins.estop):
            self.board.drive(pin, 0)

    @abstractmethod
    def close(self) -> None:
        """End what the bench started."""

    def run_stop_script(self) -> None:
        """Do what systemd does whenever the service has ended: run the shipped `motor-off`."""
        with tempfile.TemporaryDirectory(prefix="stop-") as name:
            folder = Path(name)
            door = Control(folder / "door", {"pinctrl": partial(pinctrl.obey, self.board)})
            pinctrl.put(folder, folder / "door")
            try:
                subprocess.run(
                    ["/bin/sh", str(shipped() / "motor-off")],
                    env={
                        "PATH": f"{folder}:/usr/bin:/bin",
                        "SHAKER_PWM_CLASS": str(self.pwm_class),
                    },
                    check=True,
                )
            finally:
                door.close()

    @property
    def pwm_class(self) -> Path:
        """What stands for `/sys/class/pwm` on this bench's computer."""
        return Path("/nowhere")

    @abstractmethod
    def controller(self) -> Pins:
        """Return a controller's side, not open yet; use as a context manager."""

    def is_enabled(self) -> bool:
        """Whether EN is high at the driver, behind its monostable: pulses of microseconds do not
        count.
        """
        for _ in range(3):
            if self.board.level(self.pins.motor_enable):
                return True
            time.sleep(0.0001)
        return False

    def duty(self) -> float:
        return self.board.duty(self.pins.motor_pwm)

    def seconds_until_off(self, limit_s: float = 1.0) -> float:
        """Wait until EN has fallen for good; return how long that took."""
        return seconds_until_off(self.is_enabled, limit_s)

    def pulses(self, count: int, period_s: float) -> None:
        """Send tach pulses."""
        for _ in range(count):
            self.board.drive(self.pins.tach, 0)
            time.sleep(period_s / 2)
            self.board.drive(self.pins.tach, 1)
            time.sleep(period_s / 2)


class PigpioBench(GpioBench):
    """A board behind the virtual pigpiod; the controller's side lives in this process."""

    def __init__(self) -> None:
        super().__init__()
        self.daemon = VirtualPigpiod(self.board)
        self.daemon.start()
        self.parameters = GpioParameters(backend="pigpio", port=self.daemon.port)
        self._settle()

    def close(self) -> None:
        self.daemon.terminate()

    def controller(self) -> Pins:
        return Pins(make_pins(self.parameters, model=""))


class GpiodBench(GpioBench):
    """A board behind a virtual `/dev/gpiochip0`; the controller's side is a process of its own,
    since only a process can be put behind the filter that stands for the kernel.
    """

    def __init__(self, *, strict: bool = False) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory(prefix="gpiochip-")
        folder = Path(self._folder.name)
        self.chip = GpioChip(self.board, strict=strict)
        self.pwm = PwmFolder(self.board, folder / "pwmchip0")
        device = folder / RP1_PWM0
        device.mkdir()
        (self.pwm.folder / "device").symlink_to(device)
        self.door = Door(folder / "door", self.chip.let_in, "gpiochip")
        self.parameters = GpioParameters(backend="gpiod", chip=NODE, pwm_chip=str(self.pwm.folder))
        self._made: list[RemotePins] = []
        self._settle()

    def close(self) -> None:
        for pins in self._made:
            pins.end()
        self.door.close()
        self.chip.close()
        self.pwm.close()
        self._folder.cleanup()

    @property
    def pwm_class(self) -> Path:
        return self.pwm.folder.parent

    def controller(self) -> RemotePins:
        pins = RemotePins(Path(self.door.address), self.parameters)
        self._made.append(pins)
        return pins


def fetch_edges(tach: Tach, count: int, limit_s: float = 2.0) -> list[int]:
    """Fetch until `count` edges have come."""
    ticks: list[int] = []

    def enough() -> bool:
        ticks.extend(tach.edges())
        return len(ticks) >= count

    until(enough, limit_s)
    return ticks


def client_threads() -> int:
    """How many threads of the pigpio client live: each link has one, and none may stay behind."""
    return sum(type(thread).__name__ == "_callback_thread" for thread in threading.enumerate())
