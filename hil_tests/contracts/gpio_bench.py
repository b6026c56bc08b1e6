"""A bench for the pins: one board, its daemon, and hands that move levels from outside.

Owns what a contract test may do to the wires. On the virtual rig the wires are a `Board`; on a real
bench a second Raspberry Pi holds them. Tests see only this class.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from hil_tests.rig.pigpiod.board import Board
from hil_tests.rig.pigpiod.process import VirtualPigpiod
from shaker_ctl.adapters.gpio_parameters import GpioParameters
from shaker_ctl.adapters.pigpio_interlock import PigpioInterlock
from shaker_ctl.adapters.pigpio_link import PigpioLink
from shaker_ctl.adapters.pigpio_motor import PigpioMotor
from shaker_ctl.adapters.pigpio_outputs import PigpioOutputs
from shaker_ctl.adapters.pigpio_tach import PigpioTach


class Pins:
    """The controller's side: a fresh link with every adapter on it."""

    def __init__(self, parameters: GpioParameters) -> None:
        self.link = PigpioLink(parameters)
        self.motor = PigpioMotor(self.link, parameters)
        self.tach = PigpioTach(self.link, parameters)
        self.lines = PigpioInterlock(self.link, parameters)
        self.outputs = PigpioOutputs(self.link, parameters)

    def __enter__(self) -> Pins:
        self.link.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.motor.stop()
        self.link.close()

    def keep_driving(self, seconds: float, duty: float = 0.5) -> None:
        """Do what the control loop does: refresh and drive every 8 ms."""
        until_s = time.monotonic() + seconds
        while time.monotonic() < until_s:
            self.motor.refresh()
            self.motor.drive(duty)
            time.sleep(0.008)


class GpioBench:
    """The wires' side. Contacts are at rest: compartment and cover closed, e-stop healthy."""

    def __init__(self) -> None:
        self.board = Board()
        self.daemon = VirtualPigpiod(self.board)
        self.daemon.start()
        self.parameters = GpioParameters(port=self.daemon.port)
        self.pins = self.parameters.pins
        for pin in (self.pins.compartment, self.pins.cover, self.pins.estop):
            self.board.drive(pin, 0)

    def close(self) -> None:
        self.daemon.terminate()

    def controller(self) -> Pins:
        """Return a controller's side; use as a context manager."""
        return Pins(self.parameters)

    def is_enabled(self) -> bool:
        """Whether EN is high at the driver, behind its monostable: pulses of microseconds do not
        count.
        """
        return any(self.board.level(self.pins.motor_enable) for _ in range(3))

    def duty(self) -> float:
        return self.board.duty(self.pins.motor_pwm)

    def seconds_until_off(self, limit_s: float = 1.0) -> float:
        """Wait until EN has fallen for good; return how long that took."""
        began_s = time.monotonic()
        low_since_s: float | None = None
        while (now_s := time.monotonic()) - began_s < limit_s:
            if self.is_enabled():
                low_since_s = None
            elif low_since_s is None:
                low_since_s = now_s
            elif now_s - low_since_s > 0.03:
                return low_since_s - began_s
            time.sleep(0.0005)
        raise AssertionError(f"EN was still high after {limit_s} s")

    def pulses(self, count: int, period_s: float) -> None:
        """Send tach pulses."""
        for _ in range(count):
            self.board.drive(self.pins.tach, 0)
            time.sleep(period_s / 2)
            self.board.drive(self.pins.tach, 1)
            time.sleep(period_s / 2)


def until(said: Callable[[], object], limit_s: float = 2.0) -> float:
    """Wait until `said()` is true; return how long that took."""
    began_s = time.monotonic()
    while not said():
        assert time.monotonic() - began_s < limit_s, f"not within {limit_s} s"
        time.sleep(0.001)
    return time.monotonic() - began_s


def client_threads() -> int:
    """How many threads of the pigpio client live: each link has one, and none may stay behind."""
    return sum(type(thread).__name__ == "_callback_thread" for thread in threading.enumerate())
