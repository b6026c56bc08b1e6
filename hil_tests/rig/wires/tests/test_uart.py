"""Two ports hear each other when they are set alike, and as two that are not otherwise."""

from __future__ import annotations

import os
import tty

import pytest
import serial

from hil_tests.rig.wires.uart import Framing, Parity, framing_of, heard

OURS = Framing(115200, Parity.EVEN)


@pytest.mark.parametrize(
    ("theirs", "is_heard"),
    [
        (OURS, True),
        (Framing(117500, Parity.EVEN), True),
        (Framing(112900, Parity.EVEN), True),
        (Framing(115200, Parity.EVEN, stop_bits=2), True),
        (Framing(57600, Parity.EVEN), False),
        (Framing(230400, Parity.EVEN), False),
        (Framing(115200), False),
        (Framing(115200, Parity.ODD), False),
    ],
)
def test_a_request_gets_through_at_its_own_rate_and_parity(theirs, is_heard):
    request = bytes.fromhex("0103000000104406")
    for got in (heard(request, OURS, theirs), heard(request, theirs, OURS)):
        assert got == (request if is_heard else b"")


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
