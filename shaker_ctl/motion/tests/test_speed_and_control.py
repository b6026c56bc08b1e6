"""Edges to speed, speed to duty: right at the limits, and calm when something jams."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaker_ctl.motion import controller
from shaker_ctl.motion.controller import ControlState
from shaker_ctl.motion.parameters import SpeedControlParameters
from shaker_ctl.motion.speed import SpeedMeter, turn_speeds

PULSES = 12
CONTROL = SpeedControlParameters()


def gap_us(rpm: float) -> float:
    return 60e6 / (PULSES * rpm)


def metered(rpm: float, edges: int = 40) -> SpeedMeter:
    meter = SpeedMeter(PULSES)
    for n in range(edges):
        meter.add([round(n * gap_us(rpm))], n * gap_us(rpm) / 1e6)
    return meter


@pytest.mark.parametrize("rpm", [60.0, 300.0, 720.0, 900.0])
def test_steady_edges_give_their_speed(rpm: float) -> None:
    meter = metered(rpm)
    now_s = 39 * gap_us(rpm) / 1e6
    assert meter.speed_rpm(now_s) == pytest.approx(rpm, rel=1e-3)
    assert meter.turn_rpm() == pytest.approx(rpm, rel=1e-3)
    assert meter.irregular_share() == 0.0


def test_speed_falls_while_the_next_edge_is_overdue() -> None:
    meter = metered(720.0)
    last_s = 39 * gap_us(720.0) / 1e6
    speeds = [meter.speed_rpm(last_s + wait) for wait in (0.005, 0.03, 0.06, 0.11, 0.51)]
    assert speeds[0] == pytest.approx(720.0, rel=1e-3)
    assert speeds == sorted(speeds, reverse=True)
    assert speeds[-1] < 11.0


def test_no_edges_is_no_speed() -> None:
    meter = SpeedMeter(PULSES)
    assert meter.speed_rpm(1.0) == 0.0
    assert meter.turn_rpm() == 0.0
    assert meter.silence_s(1.0, since_s=0.25) == 0.75


def test_a_full_turn_is_blind_to_the_cams_ripple() -> None:
    """Twice a turn the load changes; single gaps vary by 20 %, the turn does not."""
    meter = SpeedMeter(PULSES)
    tick = 0.0
    for n in range(60):
        tick += gap_us(720.0) * (1.2 if n % 6 < 3 else 0.8)
        meter.add([round(tick)], tick / 1e6)
    assert meter.turn_rpm() == pytest.approx(720.0, rel=1e-3)
    assert meter.irregular_share() < 0.12


@pytest.mark.parametrize("lost", [5, 10])
def test_lost_edges_make_the_tach_irregular(lost: int) -> None:
    meter = SpeedMeter(PULSES)
    for n in range(100):
        if n % lost:
            meter.add([round(n * gap_us(720.0))], n * gap_us(720.0) / 1e6)
    assert meter.irregular_share() > 0.08


def test_ticks_that_do_not_increase_are_left_out() -> None:
    meter = metered(720.0, edges=20)
    edges = meter.edges
    meter.add([5], 1.0)
    assert meter.edges == edges


@given(st.lists(st.integers(1, 10_000), min_size=13, max_size=60))
def test_every_turn_speed_belongs_to_exactly_one_full_turn(gaps: list[int]) -> None:
    ticks = [sum(gaps[: n + 1]) for n in range(len(gaps))]
    speeds = turn_speeds(ticks, PULSES)
    assert len(speeds) == len(ticks) - PULSES
    for tick, rpm in speeds:
        index = ticks.index(tick)
        assert rpm == pytest.approx(60e6 / (ticks[index] - ticks[index - PULSES]))


def drive(
    state: ControlState, speed_rpm: float | None, turns: int = 1
) -> tuple[ControlState, float]:
    duty = 0.0
    for _ in range(turns):
        state, duty = controller.step(
            state,
            target_rpm=720.0,
            acceleration_rpm_s=0.0,
            speed_rpm=speed_rpm,
            elapsed_s=0.008,
            parameters=CONTROL,
        )
    return state, duty


def test_at_the_planned_speed_the_feed_forward_alone_drives() -> None:
    _, duty = drive(ControlState(), 720.0)
    assert duty == pytest.approx(CONTROL.duty_offset + 720.0 * CONTROL.duty_per_rpm)


def test_too_slow_gets_more_and_too_fast_gets_less() -> None:
    _, even = drive(ControlState(), 720.0)
    assert drive(ControlState(), 700.0)[1] > even > drive(ControlState(), 740.0)[1]


def test_a_late_report_asks_for_no_more_duty() -> None:
    meter = metered(720.0)
    last_s = 39 * gap_us(720.0) / 1e6
    assert meter.control_rpm(last_s + 0.005) == pytest.approx(720.0, rel=1e-3)
    late = meter.control_rpm(last_s + 0.060)
    assert late is None
    assert drive(ControlState(0.01), late)[1] == drive(ControlState(0.01), 720.0)[1]
    assert drive(ControlState(0.01), meter.speed_rpm(last_s + 0.060))[1] > 0.95


def test_before_the_first_edges_the_loop_pushes() -> None:
    assert SpeedMeter(PULSES).control_rpm(0.1) == 0.0


def test_a_jam_does_not_wind_up_the_integral() -> None:
    state, duty = drive(ControlState(), 0.0, turns=500)
    assert duty == CONTROL.max_duty
    _, after = drive(state, 720.0)
    assert after <= CONTROL.max_duty
    assert state.integral_duty < 0.4


@given(st.floats(0, 2000), st.floats(0, 2000), st.floats(-5, 5), st.floats(-9000, 9000))
def test_the_duty_never_leaves_its_bounds(
    target: float, speed: float, integral: float, acceleration: float
) -> None:
    _, duty = controller.step(
        ControlState(integral),
        target_rpm=target,
        acceleration_rpm_s=acceleration,
        speed_rpm=speed,
        elapsed_s=0.008,
        parameters=CONTROL,
    )
    assert 0.0 <= duty <= CONTROL.max_duty


def test_nothing_asked_for_is_nothing_driven_and_nothing_remembered() -> None:
    state, duty = controller.step(
        ControlState(0.3),
        target_rpm=0.0,
        acceleration_rpm_s=0.0,
        speed_rpm=300.0,
        elapsed_s=0.008,
        parameters=CONTROL,
    )
    assert (state.integral_duty, duty) == (0.0, 0.0)
