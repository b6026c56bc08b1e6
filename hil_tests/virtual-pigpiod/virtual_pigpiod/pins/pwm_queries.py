"""GDC, PRG, PRRG, PFG: what a pin's PWM is, soft, hardware or clock, by its present use.

Owns: which of the three answers. Must not know: how they work.
"""

from __future__ import annotations

from virtual_pigpiod.pins.hardware_pwm import HardwarePwm
from virtual_pigpiod.pins.soft_pwm import SoftPwm
from virtual_pigpiod.pins.uses import PwmSetting, Use, Uses
from virtual_pigpiod.refusals import Reason, refuse_if
from virtual_pigpiod.results import Handlers
from virtual_pigpiod.wire import Command, Request

IN_HARDWARE = (Use.HARDWARE_PWM, Use.HARDWARE_CLOCK)


class PwmQueries:
    """Handlers of the PWM queries."""

    def __init__(self, uses: Uses, soft: SoftPwm, hardware: HardwarePwm) -> None:
        self._uses, self._soft, self._hardware = uses, soft, hardware
        self.handlers: Handlers = {
            Command.GDC: self._duty,
            Command.PRG: lambda r: self._setting(r.p1).range,
            Command.PRRG: lambda r: self._setting(r.p1).real_range,
            Command.PFG: lambda r: self._setting(r.p1).frequency,
        }

    def _duty(self, request: Request) -> int:
        setting = self._setting(request.p1)
        refuse_if(self._uses.use[request.p1] not in (Use.PWM, *IN_HARDWARE), Reason.NOT_PWM_GPIO)
        return setting.duty

    def _setting(self, gpio: int) -> PwmSetting:
        self._uses.check_user(gpio)
        is_hardware = self._uses.use[gpio] in IN_HARDWARE
        return self._hardware.setting(gpio) if is_hardware else self._soft.setting(gpio)
