"""What each pin is in use as, and who may change it.

The daemon remembers per pin whether it was last written, pulsed or clocked; queries and the
hand-over from one use to the next depend on that, not on the pin's mode. Owns: this memory, the
permission and range checks. Must not know: frequencies, sockets.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from virtual_pigpiod.pins.board import GPIOS, Board
from virtual_pigpiod.pins.chip import LAST_GPIO, LAST_USER_GPIO, PERMITTED
from virtual_pigpiod.pins.pin import Mode
from virtual_pigpiod.refusals import Reason, refuse_if


class Use(Enum):
    """Last use of a pin."""

    UNDEFINED = auto()
    WRITE = auto()
    PWM = auto()
    SERVO = auto()
    HARDWARE_CLOCK = auto()
    HARDWARE_PWM = auto()


@dataclass(slots=True, frozen=True)
class PwmSetting:
    """PWM of a pin as it was set last: the duty of the range, the steps in a period, and Hz."""

    duty: int
    range: int
    real_range: int
    frequency: int


class Uses:
    """Use and pulse setting of every pin, empty when the daemon starts."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.use = [Use.UNDEFINED] * GPIOS
        self.width = [0] * GPIOS
        """Soft PWM duty, or servo pulse in microseconds, as it was set."""

    def check(self, gpio: int) -> None:
        """Refuse numbers that are no GPIO."""
        refuse_if(gpio > LAST_GPIO, Reason.BAD_GPIO)

    def check_user(self, gpio: int) -> None:
        """Refuse GPIO outside bank 1 (no soft PWM, filters or notifications there)."""
        refuse_if(gpio > LAST_USER_GPIO, Reason.BAD_USER_GPIO)

    def permit(self, gpio: int) -> None:
        """Refuse to change a GPIO that the daemon must leave alone. Comes before range checks."""
        refuse_if(gpio <= LAST_GPIO and not PERMITTED >> gpio & 1, Reason.NOT_PERMITTED)

    def stop(self, gpio: int) -> None:
        """End soft PWM or servo pulses; the latch goes low. Hardware peripherals run on."""
        if self.use[gpio] in (Use.PWM, Use.SERVO):
            self.board.set_pwm(gpio, None, level=0)
        self.width[gpio] = 0

    def set_mode(self, gpio: int, mode: Mode) -> None:
        """Change the pin's function; a real change ends what it was in use as."""
        if mode != self.board.mode(gpio):
            self.stop(gpio)
            self.use[gpio] = Use.UNDEFINED
            self.board.set_mode(gpio, mode)
