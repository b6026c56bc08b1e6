"""The tach on real wires: edges on time, and none lost however late a computer's turn comes.

On a clock that the test moves: see `wave_daemon`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from statistics import median

import pytest

from hil_tests.rig.plant.faults import PlantFaults
from hil_tests.rig.plant.motor import MotorDrive
from hil_tests.rig.wires.tach_player import FORESIGHT_S, LEAD_S, TachPlayer
from hil_tests.rig.wires.tests.wave_daemon import GPIO, TURN_S, Daemon, Driven, Steady


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
    edges = [edge for edge in daemon.edges() if edge[0] <= daemon.now_s]
    assert len(edges) == pytest.approx(1.0 / half_s, abs=6)
    assert player.underruns == 0
    for at_s, level in edges[4:]:
        n = round(at_s / half_s)
        assert n % 2 == level
        assert at_s == pytest.approx(n * half_s, abs=0.0005)


@pytest.mark.parametrize("late", ["between turns", "amid a turn", "in its answers"])
def test_a_computer_that_is_late_leaves_no_gap(late: str) -> None:
    daemon, chance = Daemon(), random.Random(5)

    def held(share: float, least_s: float, most_s: float, where: str) -> Callable[[], float]:
        is_here = where == late
        return lambda: (
            chance.uniform(least_s, most_s) if is_here and chance.random() < share else 0.0
        )

    daemon.answers_late_s = held(0.2, 0.0, 0.012, "in its answers")
    between, amid = held(0.1, 0.05, 0.11, "between turns"), held(0.1, 0.0, 0.1, "amid a turn")
    player = play(daemon, Steady(0.00325), 4.0, between, amid)
    assert (player.underruns > 5) is (late != "in its answers")
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
    assert max(one for one, at in zip(late, true, strict=True) if at < 100.6) < 0.001
    assert max(late) < 0.004  # of what was queued when the brake fell in


@pytest.mark.parametrize("seed", range(8))
def test_after_a_turn_that_came_too_late_the_edges_go_on_from_where_they_were(seed: int) -> None:
    daemon, chance = Daemon(), random.Random(seed)
    machine = Driven(daemon.now_s)
    play(
        daemon, machine, 0.5, late_s=lambda: 0.03 * chance.random() if chance.random() < 0.2 else 0
    )
    found = gaps(daemon.rises())
    shorter = [after / before for before, after in pairwise(found)]
    assert min(shorter[2:]) > 0.6  # before, a cam gathers way from rest


RAMP = (0.13, 0.17, 0.28, 0.32, 0.38, 0.43, 0.51, 0.53, 0.59, 0.64, 0.68, 0.73, 0.83)
"""Duty of a toss that begins, from turn to turn of 12 ms, as a controller gave it."""


def test_edges_do_not_jump_while_more_and_more_duty_drives_the_cam() -> None:
    """What is queued was foreseen with less duty: the cam is further on by a part of a period."""
    shortest = 1.0
    for seed in range(12):
        daemon, chance = Daemon(), random.Random(seed)
        machine, player = Driven(daemon.now_s), TachPlayer(daemon, GPIO, daemon.clock)
        for duty in RAMP:
            machine.drive = MotorDrive(duty, True)
            began_s = daemon.now_s
            player.play(machine(began_s), upto_s=began_s + FORESIGHT_S)
            daemon.now_s = max(daemon.now_s, began_s + 0.012) + 0.004 * chance.random()
        found = gaps(daemon.rises())
        usual = [median(found[max(0, n - 5) : n]) for n in range(3, len(found))]
        shortest = min(shortest, *(gap / one for gap, one in zip(found[3:], usual, strict=True)))
    assert shortest > 0.64


def test_a_slip_does_not_stay_longer_than_a_period() -> None:
    daemon = Daemon()
    machine = Driven(daemon.now_s)
    late = iter([0.0, 0.0, 0.0, 0.03, 0.03, 0.03])
    play(daemon, machine, 0.6, late_s=lambda: next(late, 0.0))
    played = daemon.rises()
    steady = [at_s for at_s, level in machine.true if level and 100.4 < at_s < 100.6]
    slips = [min(abs(at_s - one) for one in played) for at_s in steady]
    assert max(slips) < 0.004
    assert len([at_s for at_s in played if 100.4 < at_s < 100.6]) == pytest.approx(
        len(steady), abs=1
    )


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
    faults.inject("tach_silent", after=(40, "edges"))
    machine = Driven(daemon.now_s, faults)
    play(daemon, machine, 1.0)
    assert len(daemon.rises()) == 39


@pytest.mark.parametrize("seed", [9, 37, 53, 61])
def test_after_a_tach_has_fallen_silent_no_edge_comes_after_a_gap(seed: int) -> None:
    """Else a controller sees a slow turn, and names a stalled motor."""
    daemon, chance = Daemon(), random.Random(seed)
    faults = PlantFaults()
    faults.inject("tach_silent", after=(chance.randrange(40, 60), "edges"))
    daemon.answers_late_s = lambda: 0.03 * chance.random() if chance.random() < 0.1 else 0.0
    play(daemon, Driven(daemon.now_s, faults), 0.9)
    found = gaps(daemon.rises())[-8:]
    assert max(found) < 1.6 * min(found)


def test_waves_are_deleted_when_they_are_over() -> None:
    daemon = Daemon()
    play(daemon, Steady(0.00325), 3.0)
    assert len(daemon.made) < 20
