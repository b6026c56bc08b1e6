"""Levels of the contacts in words: a broken wire is the unsafe statement."""

from __future__ import annotations

from shaker_ctl.adapters.pins.gpio_contacts import contact_pins, decode
from shaker_ctl.adapters.pins.gpio_parameters import PinParameters

FLAGGED = PinParameters(lid_flag=26)
CLOSED = 1 << FLAGGED.driver_fault | 1 << FLAGGED.button
"""Compartment, cover and e-stop closed, driver and button silent, flag standing."""


def test_a_standing_flag_is_evidence_and_a_fallen_one_an_open_compartment() -> None:
    stands, fallen = decode(CLOSED, FLAGGED), decode(CLOSED | 1 << 26, FLAGGED)
    assert (stands.lid_flag_stands, stands.compartment_open) == (True, False)
    assert (fallen.lid_flag_stands, fallen.compartment_open) == (False, True)


def test_without_a_flag_a_closed_contact_is_no_evidence() -> None:
    read = decode(CLOSED, PinParameters())
    assert (read.lid_flag_stands, read.compartment_open) == (False, False)
    assert 26 not in contact_pins(PinParameters())
    assert 26 in contact_pins(FLAGGED)
