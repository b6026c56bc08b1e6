"""The tach on real wires: edges on time, and none lost however late a computer's turn comes.

The daemon here plays waves as the documents say (and as the virtual one does), on a clock that the
test moves.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pigpio
import pytest

from hil_tests.rig.motor import STEP_S, Motor, MotorDrive
from hil_tests.rig.plant_faults import PlantFaults
from hil_tests.rig.tach_player import FORESIGHT_S, LEAD_S, TachPlayer

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


def play(
    daemon: Daemon,
    machine: Callable[[float], list[tuple[float, int]]],
    seconds: float,
    late_s: Callable[[], float] = lambda: 0.0,
    held_up_s: Callable[[], float] = lambda: 0.0,
    player: TachPlayer | None = None,
) -> TachPlayer:
    player = player or TachPlayer(daemon, GPIO, daemon.clock)
    ends_s = daemon.now_s + seconds
    while daemon.now_s < ends_s:
        began_s = daemon.now_s
        coming = machine(began_s)
        daemon.now_s += held_up_s()
        player.play(coming, upto_s=began_s + FORESIGHT_S)
        daemon.now_s = max(daemon.now_s, began_s + TURN_S) + late_s()
    return player


def gaps(times: list[float]) -> list[float]:
    return [b - a for a, b in pairwise(times)]


@pytest.mark.parametrize("rpm", [510.0, 715.0, 835.0, 960.0])
def test_edges_are_on_time(rpm: float) -> None:
    daemon = Daemon()
    half_s = 60.0 / rpm / 24.0
    player = play(daemon, Steady(half_s), 1.0)
    edges = daemon.edges()
    assert len(edges) == pytest.approx(1.0 / half_s, abs=6)
    assert player.underruns == 0
    for at_s, level in edges[4:]:
        n = round(at_s / half_s)
        assert n % 2 == level
        assert at_s == pytest.approx(n * half_s, abs=0.0005)


def test_a_computer_that_is_late_leaves_no_gap() -> None:
    daemon, chance = Daemon(), random.Random(5)
    player = play(
        daemon,
        Steady(0.00325),
        4.0,
        lambda: 0.05 + 0.06 * chance.random() if chance.random() < 0.1 else 0.0,
    )
    assert player.underruns > 5
    found = gaps(daemon.rises()[2:])
    assert min(found) > 0.8 * 0.0065
    assert max(found) < 1.2 * 0.0065


def test_a_turn_that_is_held_up_in_its_middle_leaves_no_gap() -> None:
    daemon, chance = Daemon(), random.Random(7)
    play(
        daemon,
        Steady(0.00325),
        4.0,
        held_up_s=lambda: 0.1 * chance.random() if chance.random() < 0.1 else 0.0,
    )
    found = gaps(daemon.rises()[2:])
    assert min(found) > 0.8 * 0.0065
    assert max(found) < 1.2 * 0.0065


def test_answers_that_come_late_leave_no_gap() -> None:
    daemon, chance = Daemon(), random.Random(6)
    daemon.answers_late_s = lambda: 0.012 * chance.random() if chance.random() < 0.2 else 0.0
    play(daemon, Steady(0.00325), 4.0)
    found = gaps(daemon.rises()[2:])
    assert min(found) > 0.8 * 0.0065
    assert max(found) < 1.2 * 0.0065


def test_what_is_played_follows_the_motor_within_a_part_of_a_period() -> None:
    daemon = Daemon()
    machine = Driven(daemon.now_s)
    player = play(daemon, machine, 0.6)
    machine.drive = MotorDrive(0.0, False)
    play(daemon, machine, 0.6, player=player)
    true = [at_s for at_s, level in machine.true if level]
    played = daemon.rises()
    assert abs(len(true) - len(played)) <= 2
    late = [abs(min(played, key=lambda at: abs(at - one)) - one) for one in true]
    assert max(one for one, at in zip(late, true, strict=True) if at < 100.6) < 0.0005
    assert max(late) < 0.004  # of what was queued when the brake fell in


def test_a_tach_that_falls_silent_is_silent_soon() -> None:
    daemon = Daemon()
    faults = PlantFaults()
    machine = Driven(daemon.now_s, faults)
    player = play(daemon, machine, 0.5)
    faults.inject("tach_silent")
    since_s = daemon.now_s
    play(daemon, machine, 0.2, player=player)
    assert daemon.rises()[-1] < since_s + LEAD_S + 0.012


def test_a_fault_that_waits_for_edges_comes_at_its_edge() -> None:
    daemon = Daemon()
    faults = PlantFaults()
    faults.inject("tach_silent", after_edges=40)
    machine = Driven(daemon.now_s, faults)
    play(daemon, machine, 1.0)
    assert len(daemon.rises()) == 39


def test_waves_are_deleted_when_they_are_over() -> None:
    daemon = Daemon()
    play(daemon, Steady(0.00325), 3.0)
    assert len(daemon.made) < 20
