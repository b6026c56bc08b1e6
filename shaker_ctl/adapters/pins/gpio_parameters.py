"""Settings of the pins: which is which, who reaches them, and how patient the way to them is.

Pin numbers are Broadcom numbers, as in `systemd/` and on the wiring page. All contacts are wired so
that a broken wire reads as the unsafe state.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from shaker_ctl.parameters import Parameters, bounded


class PinParameters(Parameters):
    """Which GPIO carries what (Broadcom numbers, 2 to 27)."""

    motor_pwm: int = Field(default=18, ge=2, le=27)
    """PWM to the motor driver. 12, 13, 18 or 19: only these have hardware PWM."""
    motor_enable: int = Field(default=23, ge=2, le=27)
    """EN of the motor driver, high = driven, through the hardware monostable of the wiring page."""
    tach: int = Field(default=24, ge=2, le=27)
    """Tach pulses, rising edges counted; pulled up for an open-collector sensor."""
    driver_fault: int = Field(default=25, ge=2, le=27)
    """Fault line of the motor driver, open collector, 0 = fault."""
    compartment: int = Field(default=5, ge=2, le=27)
    """Contact of the dice compartment, pulled up, 0 = closed and locked."""
    cover: int = Field(default=6, ge=2, le=27)
    """Contact of the cover, pulled up, 0 = closed."""
    estop: int = Field(default=13, ge=2, le=27)
    """Emergency stop loop (normally closed), pulled up, 0 = healthy."""
    button: int = Field(default=16, ge=2, le=27)
    """Player's button, pulled up, 0 = pressed."""
    ring_light: int = Field(default=12, ge=2, le=27)
    """PWM to the ring light."""
    cover_drive: int = Field(default=20, ge=2, le=27)
    """Drive of the cover, where one is fitted: 1 = open, 0 = close."""
    latch_release: int = Field(default=21, ge=2, le=27)
    """Latch of the compartment: 1 = release."""
    lid_flag: int | None = Field(default=None, ge=2, le=27)
    """Flag on the compartment's lid, pulled up, 0 = stands. Empty: none is fitted.

    It falls when the lid is raised, needs no power, and is set again by hand with a key. A fallen
    flag counts as an open compartment. Fitted, it proves after a restart that the dice are those
    of the interrupted toss; without it dealer and floorperson say so, or the round is void. GPIO 26
    is free for it (`systemd/README.md`).
    """
    motor_supply: int | None = Field(default=None, ge=2, le=27)
    """Feedback of the contactor in the motor's supply: its mirror contact, pulled up, 0 = the motor
    has no supply. Empty: none is wired, and neither `doctor` nor the table notices a welded one.
    GPIO 27 is free for it.
    """

    @model_validator(mode="after")
    def _one_use_each(self) -> Self:
        used = self.in_use()
        if len(set(used)) != len(used):
            raise ValueError("each pin has one use; two settings name the same GPIO")
        if self.motor_pwm not in (12, 13, 18, 19):
            raise ValueError("motor_pwm must be 12, 13, 18 or 19: only these have hardware PWM")
        return self

    def in_use(self) -> list[int]:
        """Every pin that something is wired to."""
        return [pin for pin in self.model_dump().values() if pin is not None]


class GpioParameters(Parameters):
    """The way to the pins, and the pins behind it."""

    backend: Literal["auto", "pigpio", "gpiod"] = "auto"
    """Who reaches the pins. `pigpio`: the daemon pigpiod, on a Raspberry Pi 3, 4, Zero 2 W, CM4.
    `gpiod`: the kernel's own interface, on a Raspberry Pi 5, 500, CM5, which pigpio does not
    support. `auto` reads the model from /proc/device-tree/model; elsewhere it is `pigpio`.
    """

    chip: str = "auto"
    """With gpiod: the device of the header's pins, such as `/dev/gpiochip0`. `auto` looks for the
    one that calls itself pinctrl-rp1: its number has changed between kernels.
    """

    pwm_chip: str = "auto"
    """With gpiod: the folder of the header's hardware PWM, such as `/sys/class/pwm/pwmchip0`.
    `auto` looks for the RP1's first PWM. For a ring light at GPIO 12 and a motor at GPIO 18 it
    needs `dtoverlay=pwm-2chan,pin=12,func=4,pin2=18,func2=2` in config.txt.
    """

    host: str = "127.0.0.1"
    """Host of the GPIO daemon. It has no authentication: keep it on this machine."""

    port: int = Field(default=8888, ge=1, le=65535)
    """TCP port of the GPIO daemon; 8888 unless it was started with -p."""

    pins: PinParameters = Field(default_factory=PinParameters)

    pwm_hz: int = Field(default=20_000, ge=1_000, le=100_000)
    """Frequency of the motor PWM. Above hearing; higher costs switching loss in the driver."""

    dead_man_s: float = bounded(0.09, at_least=0.04, at_most=0.12)
    """Time, in seconds, for which one refresh grants EN. Counted down inside the daemon by 10 ms;
    on a Raspberry Pi 5 by the dead-man process, on the clock.

    Lower: a busy processor stops good tosses (the loop refreshes every 8 ms); higher: the 150 ms
    that a killed or hung controller may drive the motor are no longer kept. At 0.12 twelve turns of
    at most 11.2 ms (measured) end 134 ms after the last refresh.
    """

    monostable: bool = True
    """EN is pulsed low for some microseconds in every 10 ms, which re-triggers the hardware
    monostable.

    It covers the death of the daemon or the dead-man itself, which may leave EN as it was. False
    where none is fitted and the driver cannot bear the pulses: then nothing covers that death.
    """

    answer_s: float = bounded(0.25, at_least=0.05, at_most=0.5)
    """Longest answer of the daemon, in seconds, before the link counts as lost.

    An answer takes 0.2 ms. Lower: a busy processor voids good tosses; higher: a hung daemon is
    found later (within 1 s in any case).
    """

    tach_glitch_us: int = Field(default=200, ge=0, le=1000)
    """Shortest tach level, in microseconds, that counts. At 900 rpm a level lasts 2,800 us."""

    contact_glitch_us: int = Field(default=500, ge=0, le=5000)
    """Shortest change of a contact, in microseconds, that is reported at once. Longer: bouncing
    contacts report less often; EN falls later by as much.
    """

    latch_pulse_s: float = bounded(3.0, at_least=0.5, at_most=5.0)
    """Time for which `lid` releases the latch of the compartment, in seconds: long enough for a
    hand. Longer heats the latch's coil; shorter: the floorperson asks twice. Estimate.
    """

    light_hz: int = Field(default=8000, ge=10, le=8000)
    """PWM frequency of the ring light. Lower: more levels, and bands in short exposures."""
