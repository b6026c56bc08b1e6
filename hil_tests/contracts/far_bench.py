"""The bench for the pins where the wires are real: hands that move levels through a second daemon.

Owns what `GpioBench` asks of a board, done as a pigpio client of the rig's daemon: levels by
writing and reading, edges by waves, PWM by listening. On a cross-wired rig both daemons are virtual
ones and the controller's can be broken; on a bench they are the Raspberry Pis of the rig file.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import Any

import pigpio
import pytest

from hil_tests.contracts.gpio_bench import GpioBench
from hil_tests.contracts.pins import Pins
from hil_tests.rig.crossed import RIGS_SAMPLE_US, cross
from hil_tests.rig.gpio_sides import CANNOT
from hil_tests.rig.reservation import Reservation
from hil_tests.rig.rigfile import Gpio, GpioTable, RigFile, host_and_port
from hil_tests.rig.wires.bench import WINDOW_S, PwmListener, duty_of
from hil_tests.rig.wires.wiring import PinMap
from shaker_ctl.adapters.pins.gpio_backend import make_pins
from shaker_ctl.adapters.pins.gpio_parameters import GpioParameters
from virtual_pigpiod.client import hang_up
from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.process import VirtualPigpiod


class FarBoard:
    """The controller's pins, as somebody at the other ends of the wires moves and sees them.

    GPIO numbers are the controller's.
    """

    def __init__(self, host: str, port: int, table: GpioTable) -> None:
        self._there = {
            getattr(table.pins, line.name): getattr(table.wiring, line.name)
            for line in fields(PinMap)
        }
        self._outputs = table.pins.outputs
        self._pwm = {table.pins.motor_pwm, table.pins.ring_light}
        self._pi = pigpio.pi(host, port, show_errors=False)
        assert self._pi.connected, f"no pigpiod answers for the rig at {host}:{port}"
        self._reports = PwmListener(host, port, table.wiring, lambda: None)
        self._reported: dict[int, int] = {}
        for here, there in self._there.items():
            pull = pigpio.PUD_DOWN if here in self._outputs else pigpio.PUD_UP
            self._pi.set_mode(there, pigpio.INPUT)
            self._pi.set_pull_up_down(there, pull)

    def close(self) -> None:
        """Leave every line open."""
        for there in self._there.values():
            self._pi.set_mode(there, pigpio.INPUT)
        self._pi.wave_tx_stop()
        self._reports.close()
        hang_up(self._pi)

    def now_us(self) -> int:
        return time.monotonic_ns() // 1000

    def level(self, gpio: int) -> int:
        """Level now; inside a listener that of its edge."""
        if gpio in self._reported:
            return self._reported[gpio]
        return int(self._pi.read(self._there[gpio]))

    def drive(self, gpio: int, level: int) -> None:
        """Hold a line."""
        self._pi.write(self._there[gpio], level)

    def release(self, gpio: int) -> None:
        """Cut the wire."""
        self._pi.set_mode(self._there[gpio], pigpio.INPUT)

    def edges(self, gpio: int, edges: Iterable[tuple[int, int]]) -> None:
        """Send edges at their moments, microseconds of CLOCK_MONOTONIC, exact to each other."""
        planned = list(edges)
        bit = 1 << self._there[gpio]
        self._pi.set_mode(self._there[gpio], pigpio.OUTPUT)
        at_us = self.now_us()
        pulses = [pigpio.pulse(0, 0, max(1, planned[0][0] - at_us))]
        ends = [*(at for at, _ in planned[1:]), planned[-1][0] + 1]
        for (began, level), end in zip(planned, ends, strict=True):
            on, off = (bit, 0) if level else (0, bit)
            pulses.append(pigpio.pulse(on, off, max(1, end - began)))
        self._pi.wave_clear()
        self._pi.wave_add_generic(pulses)
        self._pi.wave_send_once(self._pi.wave_create())

    def duty(self, gpio: int) -> float:
        """Mean over a window of whole periods; the level where there are none."""
        there = self._there[gpio]
        self._reports.take(there)
        self._pi.notify_begin(self._reports.handle, self._reports.window)
        time.sleep(2 * WINDOW_S)
        self._pi.notify_begin(self._reports.handle, self._reports.always)
        time.sleep(0.005)
        duty = duty_of(self._reports.take(there))
        return float(self._pi.read(there)) if duty is None else duty

    def on_output(self, listener: Callable[[int], None]) -> None:
        """Call `listener(gpio)` for each edge of an output that carries no PWM."""

        def told(here: int) -> Callable[[int, int, int], None]:
            def tell(_: int, level: int, __: int) -> None:
                self._reported[here] = level
                listener(here)
                del self._reported[here]

            return tell

        for here in self._outputs - self._pwm:
            self._pi.callback(self._there[here], pigpio.EITHER_EDGE, told(here))


class RealDaemon:
    """The controller's daemon on a bench: nobody here may break it."""

    connections = 0

    def __getattr__(self, manner: str) -> Callable[..., Any]:
        def refuse(*_: object) -> None:
            pytest.skip(f"{CANNOT}: the controller's GPIO daemon is a real one ({manner})")

        return refuse


class FarBench(GpioBench):
    """The pins of a rig whose wires are real, or cross-wired."""

    duty_error = 0.01

    def __init__(self, rig: RigFile) -> None:
        self._opened = ExitStack()
        table = rig.gpio
        self.daemon: Any
        if table.wires is Gpio.CROSSED:
            boards = Board(), Board()
            cross(*boards, table.pins, table.wiring)
            self.daemon = VirtualPigpiod(boards[0])
            self.daemon.start()
            self._opened.callback(self.daemon.terminate)
            there = self._opened.enter_context(VirtualPigpiod(boards[1], sample_us=RIGS_SAMPLE_US))
            address, here = ("127.0.0.1", there.port), ("127.0.0.1", self.daemon.port)
        else:
            self._opened.enter_context(Reservation(Path(rig.bench.lock), "contract suites"))
            self.daemon = RealDaemon()
            address, here = host_and_port(table.rig), host_and_port(table.controller)
        self.board = FarBoard(*address, table)  # type: ignore[assignment]
        self._opened.callback(self.board.close)  # type: ignore[attr-defined]
        pwm = {"pwm_hz": table.pwm_hz} if table.pwm_hz else {}
        self.parameters = GpioParameters(backend="pigpio", host=here[0], port=here[1], **pwm)
        self._settle()

    def run_stop_script(self) -> None:
        pytest.skip("the controller's pinctrl is another computer's")

    def close(self) -> None:
        self._opened.close()

    def controller(self) -> Pins:
        return Pins(make_pins(self.parameters, model=""))
