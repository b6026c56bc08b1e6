"""The protocol's bytes as a client sees them, also when they come in pieces or are wrong."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import Path

import pigpio
import pytest
from hypothesis import given
from hypothesis import strategies as st

import virtual_pigpiod
from virtual_pigpiod.refusals import Reason
from virtual_pigpiod.tests.conftest import RawClient
from virtual_pigpiod.wire import HEADER, Command, Request, reply, take_request

PIGPV = 26


def test_every_command_and_every_refusal_that_the_daemon_names_has_a_number() -> None:
    folder = Path(virtual_pigpiod.__file__).parent
    text = "".join(file.read_text() for file in folder.rglob("*.py"))
    named = set(re.findall(r"\b(Command|Reason)\.([A-Z]\w+)", text))
    assert len(named) > 150
    members = {"Command": Command.__members__, "Reason": Reason.__members__}
    assert {one for one in named if one[1] not in members[one[0]]} == set()
    assert (Command.PIGPV, Reason.BAD_GPIO) == (PIGPV, -3)


@given(
    requests=st.lists(
        st.tuples(
            st.integers(0, 200), st.integers(0, 2**32 - 1), st.integers(0, 9), st.binary(max_size=9)
        )
    ),
    cut=st.integers(1, 50),
)
def test_requests_survive_any_cutting_of_the_stream(
    requests: list[tuple[int, int, int, bytes]], cut: int
) -> None:
    stream = b"".join(HEADER.pack(c, p1, p2, len(ext)) + ext for c, p1, p2, ext in requests)
    buffer, found = bytearray(), []
    for at in range(0, len(stream), cut):
        buffer += stream[at : at + cut]
        while (request := take_request(buffer)) is not None:
            found.append(request)
    assert found == [Request(*request) for request in requests]


def test_a_tick_beyond_31_bits_is_sent_as_the_same_32_bits() -> None:
    sent = reply(Request(Command.TICK), 0xFFFFFFF0)
    assert struct.unpack("<4I", sent)[3] == 0xFFFFFFF0


def test_too_long_an_extension_closes_the_connection_without_a_word(raw: RawClient) -> None:
    raw.socket.sendall(struct.pack("<4I", PIGPV, 0, 0, 65536))
    assert raw.socket.recv(16) == b""


def test_the_longest_extension_is_accepted(raw: RawClient) -> None:
    assert raw.ask(PIGPV, extension=bytes(65535)) == 79


def test_an_unknown_command_leaves_the_connection_open(raw: RawClient) -> None:
    assert raw.ask(200) == -88
    assert raw.ask(PIGPV) == 79


def test_commands_sent_in_one_piece_are_answered_in_order(raw: RawClient) -> None:
    raw.socket.sendall(b"".join(struct.pack("<4I", 4, 17, level, 0) for level in (1, 0, 1)))
    assert [raw.reply()[2] for _ in range(3)] == [1, 0, 1]


def test_a_delay_holds_up_only_its_own_connection(
    raw: RawClient, connect: Callable[[], RawClient]
) -> None:
    other = connect()
    raw.send(47, 200)  # MILS
    raw.send(PIGPV)
    assert other.ask(PIGPV) == 79
    raw.socket.settimeout(0.1)
    with pytest.raises(TimeoutError):
        raw.socket.recv(16)
    raw.socket.settimeout(5)
    assert raw.reply()[0] == 47
    assert raw.reply()[3] == 79


def test_devices_that_are_not_there_fail_to_open(raw: RawClient) -> None:
    assert raw.ask(Command.I2CO, 1, 0x53) == -74  # no bus
    assert raw.ask(Command.SERO, 9600, 0, b"/dev/ttyAMA0") == -72
    assert raw.ask(Command.SHELL) == -88


def test_the_python_client_raises_the_daemons_reason(pi: pigpio.pi) -> None:
    with pytest.raises(pigpio.error, match="no permission to update GPIO"):
        pi.write(1, 1)
    with pytest.raises(pigpio.error, match="GPIO is not in use for PWM"):
        pi.get_PWM_dutycycle(22)


def test_the_python_client_reads_raw_words(pi: pigpio.pi) -> None:
    assert pi.get_hardware_revision() == 0xA02082
    assert pi.get_pigpio_version() == 79
    assert pi.read_bank_1() & 0x1FF == 0x1FF  # GPIO 0..8 are pulled up at power-on
    assert pi.read_bank_2() != 0
