"""Closed loop from planned and measured speed to duty: feed-forward plus PI, one pure step.

It must not know of pins, plans or time; the caller gives the time that has passed.
"""

from __future__ import annotations

from shaker_ctl.frozen import frozen
from shaker_ctl.motion.parameters import SpeedControlParameters


@frozen
class ControlState:
    """What the loop remembers: the duty that its integral has found."""

    integral_duty: float = 0.0


def step(
    state: ControlState,
    *,
    target_rpm: float,
    acceleration_rpm_s: float,
    speed_rpm: float | None,
    elapsed_s: float,
    parameters: SpeedControlParameters,
) -> tuple[ControlState, float]:
    """Return the next state and the duty, 0.0 to `max_duty`.

    `speed_rpm` is None while the speed is not known: then the plan and the integral alone count.

    The integral stands still while the duty is at a limit and the error would drive it further, so
    that a jam or a low supply does not wind it up.
    """
    if target_rpm <= 0.0:
        return ControlState(), 0.0
    error_rpm = 0.0 if speed_rpm is None else target_rpm - speed_rpm
    planned = (
        parameters.duty_offset
        + parameters.duty_per_rpm * target_rpm
        + parameters.duty_per_rpm_s * acceleration_rpm_s
    )
    integral = state.integral_duty + parameters.integral * error_rpm * elapsed_s
    wanted = planned + parameters.proportional * error_rpm + integral
    duty = min(max(wanted, 0.0), parameters.max_duty)
    if (wanted > duty and error_rpm > 0.0) or (wanted < duty and error_rpm < 0.0):
        integral = state.integral_duty
    return ControlState(integral), duty
