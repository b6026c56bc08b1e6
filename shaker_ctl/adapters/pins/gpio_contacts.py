"""Which level of a contact means what, whoever reads the pins.

A broken wire reads high, and high is the unsafe statement, but for the two open-collector lines
(driver fault, button) whose wires pull low to speak. It must not know what follows from a contact.
"""

from __future__ import annotations

from shaker_ctl.adapters.pins.gpio_parameters import PinParameters
from shaker_ctl.ports import Interlocks


def contact_pins(pins: PinParameters) -> tuple[int, ...]:
    """The pins that `decode` looks at."""
    always = (pins.compartment, pins.cover, pins.estop, pins.driver_fault, pins.button)
    return (*always, *(pin for pin in (pins.lid_flag, pins.motor_supply) if pin is not None))


def decode(word: int, pins: PinParameters) -> Interlocks:
    """Return what the level word of GPIO 0-31 says. A lid whose flag has fallen counts as open."""

    def high(pin: int) -> bool:
        return bool(word >> pin & 1)

    flag_stands = pins.lid_flag is not None and not high(pins.lid_flag)
    has_fallen = pins.lid_flag is not None and not flag_stands
    return Interlocks(
        compartment_open=high(pins.compartment) or has_fallen,
        cover_open=high(pins.cover),
        estop_pressed=high(pins.estop),
        driver_fault=not high(pins.driver_fault),
        button_pressed=not high(pins.button),
        lid_flag_stands=flag_stands,
        motor_supplied=None if pins.motor_supply is None else high(pins.motor_supply),
        coil_broken=high(pins.compartment) or high(pins.estop),
    )
