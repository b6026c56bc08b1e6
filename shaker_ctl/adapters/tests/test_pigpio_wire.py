"""Bytes to the daemon and back: the recorded layout, whole or in pieces."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaker_ctl.adapters.pins.gpio_parameters import GpioParameters, PinParameters
from shaker_ctl.adapters.pins.pigpio_motor import DeadMan, script_text
from shaker_ctl.adapters.pins.pigpio_wire import PROCP, PROCU, WRITE, Reply, request, take_replies


def test_requests_have_the_documented_layout() -> None:
    assert request(WRITE, 23, 0) == bytes.fromhex("04000000 17000000 00000000 00000000")
    assert request(PROCU, 2, 0, (9,)) == bytes.fromhex(
        "75000000 02000000 00000000 04000000 09000000"
    )


def reply(command: int, result: int, payload: bytes = b"") -> bytes:
    return struct.pack("<IIIi", command, 0, 0, result) + payload


STREAM = (
    reply(WRITE, 0) + reply(PROCP, 44, bytes(range(44))) + reply(PROCP, -48) + reply(WRITE, -41)
)
REPLIES = [
    Reply(WRITE, 0),
    Reply(PROCP, 44, bytes(range(44))),
    Reply(PROCP, -48),
    Reply(WRITE, -41),
]


@given(st.lists(st.integers(1, 30), max_size=12))
def test_replies_are_taken_whole_however_they_arrive(pieces: list[int]) -> None:
    received, taken, rest = bytearray(), [], STREAM
    for size in [*pieces, len(STREAM)]:
        received += rest[:size]
        rest = rest[size:]
        taken += list(take_replies(received))
    assert taken == REPLIES
    assert not received


def test_the_dead_man_takes_enable_low_before_the_pwm_pin() -> None:
    for monostable in (True, False):
        hold = script_text(monostable).split("tag 9")[1]
        assert hold.index("w p2 0") < hold.index("w p1 0")


def test_two_uses_of_one_pin_are_refused() -> None:
    with pytest.raises(ValueError, match="one use"):
        PinParameters(button=5)
    with pytest.raises(ValueError, match="hardware PWM"):
        PinParameters(motor_pwm=17)


def test_no_setting_lets_a_killed_controller_drive_the_motor_for_150_ms() -> None:
    with pytest.raises(ValueError, match="dead_man_s"):
        GpioParameters(dead_man_s=0.125)
    longest = DeadMan(GpioParameters(dead_man_s=0.12))
    # A turn of the daemon's script takes up to 11.2 ms; the last refresh is one loop old.
    assert longest.ticks * 11.2 + 8 < 150
