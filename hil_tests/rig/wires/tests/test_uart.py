"""Two ports hear each other when they are set alike, and as two that are not otherwise."""

from __future__ import annotations

import os
import tty

import pytest
import serial
from hypothesis import given
from hypothesis import strategies as st

from hil_tests.rig.wires.uart import Framing, Parity, framing_of, heard

RATES = [9600, 19200, 57600, 115200, 1_000_000]
REQUEST = bytes.fromhex("01030000001044 06".replace(" ", ""))


@given(st.binary(max_size=40), st.sampled_from(list(Parity)), st.sampled_from([1, 2]))
def test_clocks_that_differ_by_two_percent_hear_all(data, parity, stop_bits):
    """As on every bench: each byte is sampled anew from its start bit."""
    ours = Framing(115200, parity, stop_bits)
    assert heard(data, ours, Framing(117500, parity, stop_bits)) == data
    assert heard(data, ours, Framing(112900, parity, stop_bits)) == data


@pytest.mark.parametrize("ours", RATES)
@pytest.mark.parametrize("theirs", RATES)
def test_a_request_gets_through_at_its_own_rate_alone(ours, theirs):
    got = heard(REQUEST, Framing(ours), Framing(theirs))
    assert (got == REQUEST) == (ours == theirs)


@pytest.mark.parametrize("parity", [Parity.EVEN, Parity.ODD])
def test_a_request_does_not_get_through_to_another_parity(parity):
    plain, checked = Framing(115200), Framing(115200, parity)
    assert heard(REQUEST, plain, checked) != REQUEST
    assert heard(REQUEST, checked, plain) != REQUEST
    other = Parity.ODD if parity is Parity.EVEN else Parity.EVEN
    assert heard(REQUEST, checked, Framing(115200, other)) == b""


def test_two_stop_bits_are_heard_by_a_port_that_wants_one():
    one, two = Framing(115200), Framing(115200, stop_bits=2)
    assert heard(REQUEST, two, one) == REQUEST
    assert heard(REQUEST, one, two) == REQUEST, "a receiver looks at the first stop bit alone"


def test_a_byte_on_the_wire_is_as_long_as_its_bits():
    assert Framing(115200).byte_s == pytest.approx(10 / 115200)
    assert Framing(9600, Parity.EVEN).bits == 11
    assert Framing(9600).silence_s == pytest.approx(0.00401, abs=1e-5)
    assert Framing(115200).silence_s == 0.00175


@pytest.mark.parametrize(("rate", "stop_bits"), [(9600, 1), (115200, 1), (250_000, 2)])
def test_a_pseudo_terminal_tells_how_the_program_set_it(rate, stop_bits):
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    port = serial.Serial(os.ttyname(theirs), rate, stopbits=stop_bits)
    assert framing_of(ours) == Framing(rate, stop_bits=stop_bits)
    port.close()
    os.close(ours)
    os.close(theirs)
