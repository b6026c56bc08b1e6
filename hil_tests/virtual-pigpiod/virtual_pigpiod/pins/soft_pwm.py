"""Soft PWM and servo pulses on any GPIO of bank 1, timed by DMA in steps of one sample.

Owns: the 18 frequencies, duty ranges, and the pulse train each setting makes. Must not know: modes
of other uses, sockets.

All soft PWM rises together, because every period divides the DMA's cycle; a new setting joins at
the next rise.
"""

from __future__ import annotations

from virtual_pigpiod.pins.board import GPIOS, now_us
from virtual_pigpiod.pins.sources import SAMPLE_US, Once, PulseTrain, Several
from virtual_pigpiod.pins.timeline import LevelSource
from virtual_pigpiod.pins.uses import PwmSetting, Use, Uses
from virtual_pigpiod.refusals import Reason, refuse_if
from virtual_pigpiod.results import Handlers
from virtual_pigpiod.wire import Command, Request

CYCLES = (1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 40, 50, 80, 100, 160, 200, 400, 800)
REAL_RANGES = tuple(25 * cycles for cycles in CYCLES)
FREQUENCIES = tuple(round(1e6 / (SAMPLE_US * real)) for real in REAL_RANGES)
"""8000 Hz down to 10 Hz, with the number of steps (real range) that each period has."""

DEFAULT_FREQUENCY = FREQUENCIES.index(800)
DEFAULT_RANGE = 255
SERVO_PERIOD_US = 20_000


class SoftPwm:
    """Handlers of the soft PWM and servo commands."""

    def __init__(self, uses: Uses, origin_us: int) -> None:
        self._uses = uses
        self._board = uses.board
        self._origin_us = origin_us
        self._range = [DEFAULT_RANGE] * GPIOS
        self._frequency = [DEFAULT_FREQUENCY] * GPIOS
        self.handlers: Handlers = {
            Command.PWM: self._set_duty,
            Command.PRS: self._set_range,
            Command.PFS: self._set_frequency,
            Command.SERVO: self._set_servo,
            Command.GPW: self._get_servo,
        }

    def setting(self, gpio: int) -> PwmSetting:
        """The duty as it was set, also when it is too small to make a pulse."""
        at = self._frequency[gpio]
        duty = self._uses.width[gpio]
        return PwmSetting(duty, self._range[gpio], REAL_RANGES[at], FREQUENCIES[at])

    def _set_duty(self, request: Request) -> None:
        gpio, duty = request.p1, request.p2
        self._uses.permit(gpio)
        self._uses.check_user(gpio)
        refuse_if(duty > self._range[gpio], Reason.BAD_DUTYCYCLE)
        before = self._train(gpio) if self._uses.use[gpio] == Use.PWM else None
        self._begin(gpio, Use.PWM)
        self._uses.width[gpio] = duty
        self._show(gpio, before, self._train(gpio))

    def _set_range(self, request: Request) -> int:
        gpio, span = request.p1, request.p2
        self._uses.permit(gpio)
        self._uses.check_user(gpio)
        refuse_if(not 25 <= span <= 40_000, Reason.BAD_DUTYRANGE)
        before = self._train(gpio)
        if self._uses.use[gpio] == Use.PWM:
            self._uses.width[gpio] = self._uses.width[gpio] * span // self._range[gpio]
        self._range[gpio] = span
        self._adjust(gpio, before)
        return self.setting(gpio).real_range

    def _set_frequency(self, request: Request) -> int:
        gpio, wanted = request.p1, request.p2
        self._uses.permit(gpio)
        self._uses.check_user(gpio)
        before = self._train(gpio)
        # min() takes the first of equals, and the list begins with the highest frequency.
        nearest = min(FREQUENCIES, key=lambda frequency: abs(frequency - wanted))
        self._frequency[gpio] = FREQUENCIES.index(nearest)
        self._adjust(gpio, before)
        return nearest

    def _set_servo(self, request: Request) -> None:
        gpio, width_us = request.p1, request.p2
        self._uses.permit(gpio)
        self._uses.check_user(gpio)
        refuse_if(width_us and not 500 <= width_us <= 2500, Reason.BAD_PULSEWIDTH)
        before = self._servo_train(gpio) if self._uses.use[gpio] == Use.SERVO else None
        self._begin(gpio, Use.SERVO)
        self._uses.width[gpio] = width_us
        self._show(gpio, before, self._servo_train(gpio))

    def _get_servo(self, request: Request) -> int:
        self._uses.check_user(request.p1)
        refuse_if(self._uses.use[request.p1] != Use.SERVO, Reason.NOT_SERVO_GPIO)
        return self._uses.width[request.p1]

    def _begin(self, gpio: int, use: Use) -> None:
        if self._uses.use[gpio] != use:
            self._uses.stop(gpio)
            self._uses.use[gpio] = use

    def _adjust(self, gpio: int, before: PulseTrain) -> None:
        if self._uses.use[gpio] == Use.PWM and self._uses.width[gpio]:
            self._board.set_pwm(gpio, _overlapping(before, self._train(gpio)))

    def _show(self, gpio: int, before: PulseTrain | None, train: PulseTrain) -> None:
        if self._uses.width[gpio] == 0:
            self._board.output(gpio, 0)
        else:
            self._board.output(gpio, None, _overlapping(before, train))

    def _train(self, gpio: int) -> PulseTrain:
        real = self.setting(gpio).real_range
        steps = self._uses.width[gpio] * real // self._range[gpio]
        return PulseTrain(real * SAMPLE_US, steps * SAMPLE_US, self._origin_us)

    def _servo_train(self, gpio: int) -> PulseTrain:
        width_us = self._uses.width[gpio] // SAMPLE_US * SAMPLE_US
        return PulseTrain(SERVO_PERIOD_US, width_us, self._origin_us)


def _overlapping(before: PulseTrain | None, train: PulseTrain) -> LevelSource:
    """`train`, with the old switch-off of the present cycle kept where the new one is past.

    Without it a duty lowered in mid-pulse would leave the pin high for a whole cycle; the daemon
    keeps both switch-offs for one cycle.
    """
    if before is None or before.period_us != train.period_us or before.high_us <= train.high_us:
        return train
    cycle_us = now_us() - (now_us() - train.origin_us) % int(train.period_us)
    return Several((train, Once(int(cycle_us + before.high_us), 0)))
