"""GDC, PRG, PRRG, PFG: what a pin's PWM is, soft, hardware or clock, by its present use.

Owns: which of the three answers. Must not know: how they work.
"""

from __future__ import annotations

from hil_tests.rig.pigpiod.pins.hardware_pwm import DUTY_RANGE, HardwarePwm
from hil_tests.rig.pigpiod.pins.soft_pwm import SoftPwm
from hil_tests.rig.pigpiod.pins.uses import Use, Uses
from hil_tests.rig.pigpiod.refusals import Reason, RefusedError
from hil_tests.rig.pigpiod.results import Handlers
from hil_tests.rig.pigpiod.wire import Command, Request


class PwmQueries:
    """Handlers of the PWM queries."""

    def __init__(self, uses: Uses, soft: SoftPwm, hardware: HardwarePwm) -> None:
        self._uses, self._soft, self._hardware = uses, soft, hardware
        self.handlers: Handlers = {
            Command.GDC: self._duty,
            Command.PRG: self._range,
            Command.PRRG: self._real_range,
            Command.PFG: self._frequency,
        }

    def _duty(self, request: Request) -> int:
        match self._use(request.p1):
            case Use.PWM:
                return self._soft.duty(request.p1)
            case Use.HARDWARE_PWM:
                return self._hardware.channel(request.p1).duty
            case Use.HARDWARE_CLOCK:
                return DUTY_RANGE // 2
            case _:
                raise RefusedError(Reason.NOT_PWM_GPIO)

    def _range(self, request: Request) -> int:
        if self._use(request.p1) in (Use.HARDWARE_PWM, Use.HARDWARE_CLOCK):
            return DUTY_RANGE
        return self._soft.range(request.p1)

    def _real_range(self, request: Request) -> int:
        match self._use(request.p1):
            case Use.HARDWARE_PWM:
                return self._hardware.channel(request.p1).real_range
            case Use.HARDWARE_CLOCK:
                return DUTY_RANGE
            case _:
                return self._soft.real_range(request.p1)

    def _frequency(self, request: Request) -> int:
        match self._use(request.p1):
            case Use.HARDWARE_PWM:
                return self._hardware.channel(request.p1).frequency
            case Use.HARDWARE_CLOCK:
                return self._hardware.clock_hz(request.p1)
            case _:
                return self._soft.frequency(request.p1)

    def _use(self, gpio: int) -> Use:
        self._uses.check_user(gpio)
        return self._uses.use[gpio]
