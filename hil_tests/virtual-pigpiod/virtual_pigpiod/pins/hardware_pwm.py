"""Hardware PWM and hardware clocks: peripherals behind alternative functions of some pins.

Owns: channel settings, and which pins show them. Must not know: soft PWM, waves (they only ask for
all channels to be disabled). Peripherals run on when the daemon dies.
"""

from __future__ import annotations

from collections.abc import Callable

from virtual_pigpiod.pins.chip import (
    CLOCK,
    CLOCK_MAX_HZ,
    CLOCK_MIN_HZ,
    HARDWARE_PWM_MAX_HZ,
    OSCILLATOR_HZ,
    PLLD_HZ,
    PWM_CHANNEL,
)
from virtual_pigpiod.pins.sources import PulseTrain
from virtual_pigpiod.pins.timeline import LevelSource
from virtual_pigpiod.pins.uses import PwmSetting, Use, Uses
from virtual_pigpiod.refusals import CommandRefusedError, Reason, refuse_if
from virtual_pigpiod.results import Handlers
from virtual_pigpiod.wire import Command, Request

DUTY_RANGE = 1_000_000
CLOCK_PASSWORD = 0x5A
MASH_MAX_HZ = 23_800_000
"""Below this a clock's divider may have a fraction."""


class HardwarePwm:
    """Handlers of HP and HC."""

    def __init__(self, uses: Uses) -> None:
        self._uses = uses
        self._board = uses.board
        self._channels = [PwmSetting(0, DUTY_RANGE, 0, 0)] * 2
        self._clock_hz = [0, 0, 0]
        self.on_start: Callable[[], None] = lambda: None
        """Called before a channel starts: the daemon aborts a running wave."""
        self.handlers: Handlers = {Command.HP: self._set_pwm, Command.HC: self._set_clock}

    def setting(self, gpio: int) -> PwmSetting:
        """Of the channel or clock behind a GPIO that is in use as hardware PWM or clock."""
        if self._uses.use[gpio] == Use.HARDWARE_PWM:
            return self._channels[PWM_CHANNEL[gpio][0]]
        return PwmSetting(DUTY_RANGE // 2, DUTY_RANGE, DUTY_RANGE, self._clock_hz[CLOCK[gpio][0]])

    def disable_all(self) -> None:
        """Disable the channels in use; waves need the same peripheral for their timing."""
        for gpio in PWM_CHANNEL:
            if self._uses.use[gpio] == Use.HARDWARE_PWM:
                self._disable(gpio)

    def _set_pwm(self, request: Request) -> None:
        gpio, frequency = request.p1, request.p2
        (duty,) = request.words(1)
        self._uses.permit(gpio)
        self._uses.check(gpio)
        refuse_if(gpio not in PWM_CHANNEL, Reason.NOT_HPWM_GPIO)
        refuse_if(duty > DUTY_RANGE, Reason.BAD_HPWM_DUTY)
        refuse_if(frequency > HARDWARE_PWM_MAX_HZ, Reason.BAD_HPWM_FREQ)
        if frequency:
            self._enable(gpio, frequency, duty)
        elif self._uses.use[gpio] == Use.HARDWARE_PWM:
            self._disable(gpio)

    def _enable(self, gpio: int, frequency: int, duty: int) -> None:
        number, mode = PWM_CHANNEL[gpio]
        self.on_start()
        half_hz = PLLD_HZ / 2
        real = int(half_hz / frequency + 0.5)
        self._channels[number] = PwmSetting(duty, DUTY_RANGE, real, int(half_hz / real + 0.5))
        step_us = 1e6 / half_hz
        self._show(number, PulseTrain(real * step_us, duty * real // DUTY_RANGE * step_us))
        if self._uses.use[gpio] != Use.HARDWARE_PWM:
            self._uses.stop(gpio)
            self._board.set_mode(gpio, mode)
            self._uses.use[gpio] = Use.HARDWARE_PWM

    def _disable(self, gpio: int) -> None:
        self._show(PWM_CHANNEL[gpio][0], None)
        self._uses.use[gpio] = Use.UNDEFINED

    def _show(self, number: int, source: LevelSource | None) -> None:
        for gpio, (channel, mode) in PWM_CHANNEL.items():
            if channel == number:
                self._board.set_hardware(gpio, mode, source)

    def _set_clock(self, request: Request) -> None:
        gpio, frequency = request.p1 & 0xFFFFFF, request.p2
        self._uses.permit(gpio)
        self._uses.check(gpio)
        refuse_if(gpio not in CLOCK, Reason.NOT_HCLK_GPIO)
        if frequency and not CLOCK_MIN_HZ <= frequency <= CLOCK_MAX_HZ:
            raise CommandRefusedError(Reason.BAD_HCLK_FREQ)
        number, mode = CLOCK[gpio]
        refuse_if(number == 1 and request.p1 >> 24 != CLOCK_PASSWORD, Reason.BAD_HCLK_PASS)
        train = None
        if frequency:
            reached_hz = _nearest_clock(frequency)
            self._clock_hz[number] = int(reached_hz + 0.5)
            train = PulseTrain(1e6 / reached_hz, 5e5 / reached_hz)
            self._board.set_mode(gpio, mode)
            self._uses.use[gpio] = Use.HARDWARE_CLOCK
        elif self._uses.use[gpio] == Use.HARDWARE_CLOCK:
            self._uses.use[gpio] = Use.UNDEFINED
        for other, (clock, function) in CLOCK.items():
            if clock == number:
                self._board.set_hardware(other, function, train)


def _nearest_clock(wanted_hz: int) -> float:
    """Frequency reached by dividing the oscillator or PLLD; the later one where both are equal."""
    reached = []
    for source_hz in (OSCILLATOR_HZ, PLLD_HZ):
        parts = 4096 if wanted_hz < MASH_MAX_HZ else 1
        divider = int(source_hz / wanted_hz * parts + 0.5) / parts
        if 2 <= divider < 4096:
            reached.append(source_hz / divider)
    refuse_if(not reached, Reason.BAD_HCLK_FREQ)
    return min(reversed(reached), key=lambda hz: abs(hz - wanted_hz))
