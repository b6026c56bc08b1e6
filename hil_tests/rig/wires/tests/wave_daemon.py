"""A pigpio daemon that only plays waves, on a clock that the test moves, and machines to play.

The daemon plays as the documents say (and as the virtual one does); each command takes its time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pigpio

from hil_tests.rig.plant.faults import PlantFaults
from hil_tests.rig.plant.motor import STEP_S, Motor, MotorDrive
from hil_tests.rig.wires.tach_player import FORESIGHT_S

GPIO = 4
TURN_S = 0.008
COMMAND_S = 0.0003


class Daemon:
    """Waves of a pigpio daemon, and what they did to the pin. Each command takes its time."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.made: dict[int, list[pigpio.pulse]] = {}
        self.answers_late_s: Callable[[], float] = lambda: 0.0
        self._pulses: list[pigpio.pulse] = []
        self._played: list[list[Any]] = []  # [pulses, begins, repeats, ends or None, id]

    def clock(self) -> float:
        return self.now_s

    def wave_add_generic(self, pulses: list[pigpio.pulse]) -> int:
        self.now_s += COMMAND_S
        self._pulses = pulses
        return len(pulses)

    def wave_create_and_pad(self, percent: int) -> int:
        self.now_s += COMMAND_S
        number = next(n for n in range(50) if n not in self.made)
        self.made[number] = self._pulses
        return number

    def wave_send_using_mode(self, number: int, mode: int) -> int:
        self.now_s += COMMAND_S
        pulses = self.made[number]
        begins_s = self.now_s + 20e-6
        if self._played and (end_s := self._end_of_last()) is not None:
            begins_s = end_s
            self._played[-1][3] = end_s
        repeats = mode == pigpio.WAVE_MODE_REPEAT_SYNC
        self._played.append([pulses, begins_s, repeats, None, number])
        self.now_s += self.answers_late_s()
        return 1

    def wave_tx_at(self) -> int:
        self.now_s += COMMAND_S
        begun = [played for played in self._played if played[1] <= self.now_s]
        return int(begun[-1][4]) if begun else 9999

    def wave_delete(self, number: int) -> int:
        del self.made[number]
        return 0

    def _end_of_last(self) -> float | None:
        pulses, begins_s, repeats, _, _ = self._played[-1]
        length_s = sum(pulse.delay for pulse in pulses) * 1e-6
        cycles = max(1, math.ceil((self.now_s - begins_s) / length_s)) if repeats else 1
        end_s = begins_s + cycles * length_s
        return end_s if end_s > self.now_s else None

    def edges(self) -> list[tuple[float, int]]:
        """Every change of the pin so far."""
        found, level = [], 0
        for pulses, begins_s, repeats, ends_s, _ in self._played:
            at_s = begins_s
            last_s = ends_s if ends_s is not None else self.now_s if repeats else math.inf
            while pulses and at_s < last_s - 1e-9:
                for pulse in pulses:
                    now = 1 if pulse.gpio_on else 0 if pulse.gpio_off else level
                    if now != level:
                        level = now
                        found.append((at_s, now))
                    at_s += pulse.delay * 1e-6
                if not repeats:
                    break
        return found

    def rises(self) -> list[float]:
        return [at_s for at_s, level in self.edges() if level]


class Steady:
    """A cam that turns at one speed: edges every `half_s`."""

    def __init__(self, half_s: float) -> None:
        self.half_s = half_s

    def __call__(self, now_s: float) -> list[tuple[float, int]]:
        first = math.floor(now_s / self.half_s) + 1
        last = math.floor((now_s + FORESIGHT_S) / self.half_s)
        return [(n * self.half_s, n % 2) for n in range(first, last + 1)]


class Driven:
    """The rig's motor, stepped to now and then looked ahead."""

    def __init__(self, at_s: float, faults: PlantFaults | None = None) -> None:
        self.faults = faults or PlantFaults()
        self.motor = Motor(self.faults, seed=3)
        self.drive = MotorDrive(0.84, True)
        self.at_s = at_s
        self.true: list[tuple[float, int]] = []

    def __call__(self, now_s: float) -> list[tuple[float, int]]:
        while self.at_s + STEP_S <= now_s:
            self.true += self.motor.step(self.at_s, self.drive)
            self.at_s += STEP_S
        return self.motor.foreseen(self.at_s, round(FORESIGHT_S / STEP_S), self.drive)
