"""Which pin of the board goes to which terminal of the machine, and what a contact does to a level.

Owns the pin map and the pull-ups: a closed contact pulls a pin to ground. Must not know physics or
the daemon's protocol. A bench has the same map with real wires.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from pydantic import ConfigDict, Field

from hil_tests.rig.plant.joint import PlantInputs, PlantOutputs
from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.pins.chip import LAST_USER_GPIO

DRIVER_FILTER_S = 0.0002
"""EN low for less than this does not reach the driver's logic. The controller pulses EN low for
10 us to re-trigger the hardware monostable; one turn of the plant is much longer than that."""


Number = Annotated[int, Field(ge=0, le=LAST_USER_GPIO)]


@dataclass(frozen=True, slots=True)
class PinMap:
    """GPIO numbers, as the controller's settings have them by default."""

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)

    motor_pwm: Number = 18
    motor_enable: Number = 23
    tach: Number = 24
    driver_fault: Number = 25
    compartment: Number = 5
    cover: Number = 6
    estop: Number = 13
    button: Number = 16
    ring_light: Number = 12
    cover_drive: Number = 20
    latch_release: Number = 21
    lid_flag: Number = 26
    motor_supply: Number = 27
    """Both are wired always; a controller whose settings do not name them does not look at them."""

    @property
    def outputs(self) -> frozenset[int]:
        """Pins that the controller drives."""
        return frozenset(
            (
                self.motor_pwm,
                self.motor_enable,
                self.ring_light,
                self.cover_drive,
                self.latch_release,
            )
        )


def closed_contacts(pins: PinMap, outputs: PlantOutputs) -> dict[int, bool]:
    """By GPIO of the controller's inputs, whether the contact there is closed: that grounds its
    line, and an open one leaves the line to its pull-up."""
    return {
        pins.driver_fault: outputs.driver_fault,
        pins.compartment: not outputs.compartment_open,
        pins.lid_flag: not outputs.lid_flag_fallen,
        pins.motor_supply: not outputs.motor_supplied,
        pins.cover: not outputs.cover_open,
        pins.estop: not outputs.estop_pressed,
        pins.button: outputs.button_pressed,
    }


class Wiring:
    """The wires between one board and one plant. `apply` and `inputs` belong to one thread."""

    turn_s = 0.004
    """Tach edges carry their exact time, so that only their arrival waits for the turn: a client
    sees them at most this much late."""

    foresight_s = 0.0
    """An edge is put on its pin with its true time afterwards."""

    def __init__(self, board: Board, pins: PinMap) -> None:
        self._board = board
        self._pins = pins
        self._closed: dict[int, bool] = {}
        self._enable_pulses = 0
        self._was_enabled = False
        self._low_since = 0.0
        self._high_since = 0.0
        board.on_output(self._watch_enable)

    def on_change(self, listener: Callable[[], None]) -> None:
        """See `Wires`: the listener is called in the daemon's thread and must be quick."""

        def told(gpio: int) -> None:
            if gpio in self._pins.outputs:
                listener()

        self._board.on_output(told)

    def inputs(self) -> PlantInputs:
        """Return what the controller's outputs do to the machine now."""
        board, pins = self._board, self._pins
        return PlantInputs(
            motor_duty=board.duty(pins.motor_pwm),
            motor_enabled=self._is_enabled(),
            enable_since_s=self._enable_since_s(),
            ring_light=board.duty(pins.ring_light),
            cover_open_drive=bool(board.level(pins.cover_drive)),
            latch_release=bool(board.level(pins.latch_release)),
            enable_pulses=self._enable_pulses,
        )

    def apply(self, outputs: PlantOutputs) -> None:
        """Put what the machine says on the controller's inputs."""
        if outputs.tach_edges:
            edges = [(int(at * 1e6), level) for at, level in outputs.tach_edges]
            self._board.edges(self._pins.tach, edges)
        for gpio, is_closed in closed_contacts(self._pins, outputs).items():
            if self._closed.get(gpio) is not is_closed:
                self._closed[gpio] = is_closed
                self._board.drive(gpio, 0 if is_closed else 1)

    def _is_enabled(self) -> bool:
        if self._board.level(self._pins.motor_enable):
            return True
        return time.monotonic() - self._low_since < DRIVER_FILTER_S

    def _enable_since_s(self) -> float:
        """When the driver saw EN's latest change. A pulse that its filter swallows is none."""
        return max(self._low_since + DRIVER_FILTER_S, self._high_since)

    def _watch_enable(self, gpio: int) -> None:
        """In the daemon's thread: count EN's rising edges, for the hardware monostable."""
        if gpio != self._pins.motor_enable:
            return
        is_enabled = bool(self._board.level(gpio))
        if is_enabled and not self._was_enabled:
            self._enable_pulses += 1
            self._high_since = time.monotonic()
        elif self._was_enabled and not is_enabled:
            self._low_since = time.monotonic()
        self._was_enabled = is_enabled
