"""Each trouble of the motor is named, within its time, and never without cause."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shaker_ctl.motion.parameters import WatchParameters
from shaker_ctl.motion.watch import DriveVerdict, DriveWatch, MotorTrouble, RestWatch, Sample

P = WatchParameters()
LOOP_S = 0.008

GOOD = Sample(
    now_s=0.0,
    target_rpm=720.0,
    speed_rpm=720.0,
    turn_rpm=720.0,
    silence_s=0.005,
    edges=100,
    irregular_share=0.0,
    driver_fault=False,
)


def watch() -> DriveWatch:
    return DriveWatch(P, reach_rpm=660.0, started_s=0.0)


def first_verdict(
    judge: DriveWatch, *changes: dict[str, object], limit_s: float = 3.0
) -> DriveVerdict:
    """Run a good start, then hold `changes` until something is said."""
    for n in range(100):
        assert judge.judge(replace(GOOD, now_s=0.4 + n * LOOP_S)) is None
    began_s = 0.4 + 100 * LOOP_S
    for n in range(int(limit_s / LOOP_S)):
        sample = replace(GOOD, now_s=began_s + n * LOOP_S)
        for change in changes:
            values = {
                key: value(n * LOOP_S) if callable(value) else value
                for key, value in change.items()
            }
            sample = replace(sample, **values)  # type: ignore[arg-type]
        if verdict := judge.judge(sample):
            return replace(verdict, after_s=verdict.after_s - began_s)
    raise AssertionError("nothing was said")


def test_a_good_run_is_never_judged() -> None:
    judge = watch()
    for n in range(400):
        now_s = n * LOOP_S
        speed = min(720.0, 720.0 * now_s / 0.3)
        turn = speed if now_s > 0.2 else 0.0
        sample = replace(GOOD, now_s=now_s, speed_rpm=speed, turn_rpm=turn, edges=n)
        assert judge.judge(replace(sample, silence_s=min(0.02, now_s))) is None


@pytest.mark.parametrize(
    ("change", "trouble", "within_s"),
    [
        ({"driver_fault": True}, MotorTrouble.DRIVER_FAULT, 0.0),
        ({"silence_s": lambda t: t}, MotorTrouble.TACH_SILENT, P.stall_gap_s + LOOP_S),
        ({"turn_rpm": 930.0}, MotorTrouble.OVERSPEED, 0.0),
        ({"turn_rpm": 640.0}, MotorTrouble.STALL, 0.0),
        ({"speed_rpm": 400.0}, MotorTrouble.STALL, P.stall_s + LOOP_S),
        ({"irregular_share": 0.2}, MotorTrouble.TACH_UNRELIABLE, 0.0),
    ],
)
def test_trouble_in_a_running_toss_is_named_in_time(
    change: dict[str, object], trouble: MotorTrouble, within_s: float
) -> None:
    verdict = first_verdict(watch(), change)
    assert verdict.trouble is trouble
    assert verdict.after_s <= within_s + 1e-9
    assert verdict.reason


def test_edges_that_slow_down_before_they_cease_are_a_stall() -> None:
    slowing: dict[str, object] = {
        "speed_rpm": lambda t: max(0.0, 720.0 - 6000.0 * t),
        "silence_s": lambda t: max(0.005, t - 0.10),
    }
    assert first_verdict(watch(), slowing).trouble is MotorTrouble.STALL


def never_turning(judge: DriveWatch, **values: object) -> DriveVerdict:
    for n in range(200):
        now_s = n * LOOP_S
        sample = replace(GOOD, now_s=now_s, speed_rpm=0.0, turn_rpm=0.0, silence_s=now_s, edges=0)
        if verdict := judge.judge(replace(sample, **values)):  # type: ignore[arg-type]
            return verdict
    raise AssertionError("nothing was said")


def test_driven_without_one_edge_is_tach_silent() -> None:
    verdict = never_turning(watch())
    assert verdict.trouble is MotorTrouble.TACH_SILENT
    assert verdict.after_s <= P.first_edge_s + LOOP_S


def test_turning_too_slowly_from_the_start_is_a_slow_start() -> None:
    verdict = never_turning(watch(), edges=40, speed_rpm=500.0, silence_s=0.01)
    assert verdict.trouble is MotorTrouble.SLOW_START
    assert verdict.after_s <= P.start_s + LOOP_S
    assert "660" in verdict.reason


def at_rest(speed_rpm: float, now_s: float) -> Sample:
    return replace(GOOD, now_s=now_s, target_rpm=0.0, speed_rpm=speed_rpm)


def test_a_motor_that_does_not_stop_is_named_after_its_time() -> None:
    judge = RestWatch(P, enable_fell_s=0.0)
    said = [n * LOOP_S for n in range(300) if judge.judge(at_rest(600.0, n * LOOP_S))]
    assert P.stop_s <= said[0] <= P.stop_s + 0.1 + LOOP_S


def test_the_cam_swinging_back_is_not_motion() -> None:
    judge = RestWatch(P, enable_fell_s=0.0)
    assert all(judge.judge(at_rest(90.0, n * LOOP_S)) is None for n in range(500))


def test_motion_long_after_rest_is_named_too() -> None:
    judge = RestWatch(P, enable_fell_s=0.0)
    for n in range(1000):
        assert judge.judge(at_rest(0.0, n * LOOP_S)) is None
    began_s = 1000 * LOOP_S
    said = next(v for n in range(100) if (v := judge.judge(at_rest(300.0, began_s + n * LOOP_S))))
    assert said.trouble is MotorTrouble.NO_STOP


def test_quiet_is_a_silent_tach_for_its_time() -> None:
    judge = RestWatch(P, enable_fell_s=0.0)
    assert not judge.is_quiet(replace(GOOD, silence_s=P.quiet_s - 0.01))
    assert judge.is_quiet(replace(GOOD, silence_s=P.quiet_s))
