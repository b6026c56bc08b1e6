"""The controller's speed loop on a bench's wires: tach as queued waves, duty as measured windows.

In simulated time: the rig's motor, looked ahead of and played through waves; the controller's own
meter, loop and watch at the other end. Also on a computer that is late.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from hil_tests.rig.plant.motor import MotorDrive
from hil_tests.rig.wires.tach_player import FORESIGHT_S, TachPlayer
from hil_tests.rig.wires.tests.wave_daemon import GPIO, TURN_S, Daemon, Driven
from shaker_ctl.motion import controller, profile
from shaker_ctl.motion.controller import ControlState
from shaker_ctl.motion.parameters import MotionParameters
from shaker_ctl.motion.speed import SpeedMeter
from shaker_ctl.motion.watch import DriveVerdict, DriveWatch, Sample

P = MotionParameters()
REPORT_S = 0.001
"""From an edge to its report."""
DUTY_LATE_S = (0.006, 0.018)
"""Age of what the bench knows of the PWM."""
SETTLED_S = 0.5
WITHIN_RPM = 40.0


def toss(
    seed: int,
    late_s: Callable[[random.Random], float] = lambda _: 0.0,
    *,
    upto_s: float = 60.0,
) -> tuple[DriveVerdict | None, float]:
    """Play one drawn toss; each turn of the rig comes `late_s` too late.

    Return what the watch said, and how far the cam was off its plan at most, rpm.
    """
    chance = random.Random(seed)
    plan = profile.unfold(profile.draw(P.shake, chance), P.shake)
    daemon = Daemon()
    began_s = daemon.now_s
    machine = Driven(began_s)
    player = TachPlayer(daemon, GPIO, daemon.clock)
    meter = SpeedMeter(P.pulses_per_turn)
    watch = DriveWatch(P.watch, reach_rpm=P.shake.band_low_rpm, started_s=began_s)
    state, asked, taken = ControlState(), [(began_s, 0.0)], 0
    loop_s = began_s + P.control.loop_s
    off_rpm = 0.0
    while daemon.now_s < began_s + min(plan.duration_s, upto_s):
        turn_s = daemon.now_s
        known = [duty for at_s, duty in asked if at_s <= turn_s - chance.uniform(*DUTY_LATE_S)]
        machine.drive = MotorDrive(known[-1] if known else 0.0, True)
        player.play(machine(turn_s), upto_s=turn_s + FORESIGHT_S)
        daemon.now_s = max(daemon.now_s, turn_s + TURN_S) + chance.uniform(0.0, 0.004)
        daemon.now_s += late_s(chance)
        rises = daemon.rises()
        while loop_s <= daemon.now_s:
            at_s = loop_s - began_s
            come = [round(at * 1e6) for at in rises if at <= loop_s - REPORT_S][taken:]
            taken += len(come)
            meter.add(come, loop_s)
            target_rpm = plan.speed_rpm(at_s)
            state, duty = controller.step(
                state,
                target_rpm=target_rpm,
                acceleration_rpm_s=plan.acceleration_rpm_s(at_s),
                speed_rpm=meter.control_rpm(loop_s),
                elapsed_s=P.control.loop_s,
                parameters=P.control,
            )
            asked.append((loop_s, duty))
            verdict = watch.judge(
                Sample(
                    now_s=loop_s,
                    target_rpm=target_rpm,
                    speed_rpm=meter.speed_rpm(loop_s),
                    turn_rpm=meter.turn_rpm(),
                    silence_s=meter.silence_s(loop_s, began_s),
                    edges=meter.edges,
                    irregular_share=meter.irregular_share(),
                    driver_fault=False,
                )
            )
            if verdict is not None:
                return verdict, off_rpm
            if SETTLED_S < at_s < plan.duration_s:
                off_rpm = max(off_rpm, abs(meter.turn_rpm() - target_rpm))
            loop_s += P.control.loop_s
    return None, off_rpm


@pytest.mark.parametrize("seed", [1, 4, 7])
def test_the_cam_keeps_to_its_plan_and_no_watch_complains(seed: int) -> None:
    verdict, off_rpm = toss(seed)
    assert verdict is None
    assert off_rpm < WITHIN_RPM


def test_turns_that_come_late_while_the_cam_gathers_way_are_no_fault_of_the_tach() -> None:
    def often_by_three_turns(chance: random.Random) -> float:
        return 0.024 * chance.random() if chance.random() < 0.15 else 0.0

    said = [toss(seed, often_by_three_turns, upto_s=0.6)[0] for seed in range(30)]
    assert said == [None] * 30
