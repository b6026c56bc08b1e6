"""I2C, SPI and serial ports: devices that are attached, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator

import pigpio
import pytest

from virtual_pigpiod.buses.attached import attach
from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.pins.pin import Mode
from virtual_pigpiod.process import VirtualPigpiod
from virtual_pigpiod.waiting import until

TTY = "/dev/ttyAMA0"
SENTENCES = (
    *("i2c:1:0x53=adxl345", "i2c:1:32=registers"),
    *("spi:1=loop", "spi:aux:2=loop", f"serial:{TTY}=loop"),
)


@pytest.fixture
def daemon(board: Board) -> Iterator[VirtualPigpiod]:
    with VirtualPigpiod(board, attached=attach(SENTENCES)) as running:
        yield running


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "i2c:1:0x53",
        "i2c:1:0x80=registers",
        "i2c:one:2=registers",
        "i2c:1:2=eeprom",
        "spi:2=loop",
        "spi:aux:3=loop",
        "serial:/tmp/line=loop",
    ],
)
def test_a_sentence_that_attaches_nothing_is_refused_with_what_would(sentence: str) -> None:
    with pytest.raises(ValueError, match=r"attaches nothing; say i2c:BUS:ADDRESS"):
        attach([sentence])


# ── I2C ─────────────────────────────────────────────────────────────────────


def test_an_accelerometer_says_who_it_is_and_keeps_what_may_be_written(pi: pigpio.pi) -> None:
    handle = pi.i2c_open(1, 0x53)
    assert pi.i2c_read_byte_data(handle, 0x00) == 0xE5
    pi.i2c_write_byte_data(handle, 0x00, 1)
    assert pi.i2c_read_byte_data(handle, 0x00) == 0xE5, "its identity is read-only"
    pi.i2c_write_device(handle, b"\x1d\x07\x08")
    pi.i2c_write_device(handle, b"\x1d")
    assert pi.i2c_read_device(handle, 2) == (2, b"\x07\x08")
    assert pi.i2c_read_byte(handle) == 0x07, "a read begins at the register written last"
    assert pi.i2c_close(handle) == 0
    with pytest.raises(pigpio.error, match="unknown handle"):
        pi.i2c_read_byte(handle)


def test_words_blocks_and_calls_are_little_endian_and_sized(pi: pigpio.pi) -> None:
    handle = pi.i2c_open(1, 32)
    pi.i2c_write_word_data(handle, 10, 0x1234)
    assert pi.i2c_read_i2c_block_data(handle, 10, 2) == (2, b"\x34\x12")
    assert pi.i2c_read_word_data(handle, 10) == 0x1234
    pi.i2c_write_block_data(handle, 40, b"abc")
    assert pi.i2c_read_i2c_block_data(handle, 40, 4) == (4, b"\x03abc")
    pi.i2c_write_i2c_block_data(handle, 40, b"xyz")
    assert pi.i2c_read_i2c_block_data(handle, 40, 3) == (3, b"xyz")
    assert pi.i2c_process_call(handle, 12, 0xBEEF) == 0xBEEF
    assert pi.i2c_write_quick(handle, 1) == 0
    pi.i2c_write_byte(handle, 10)
    assert pi.i2c_read_byte(handle) == 0x34


def test_a_zip_reads_and_writes_several_devices_in_one_go(pi: pigpio.pi) -> None:
    handle = pi.i2c_open(1, 32)
    asked = [7, 2, 5, 9, 7, 1, 5, 6, 1, 4, 0x53, 7, 1, 0, 6, 1, 0]
    assert pi.i2c_zip(handle, asked) == (2, b"\x09\xe5")
    assert pi.i2c_zip(handle, [1, 7, 2, 0, 6, 1, 1, 6, 1, 0, 0]) == (1, b"\x01"), "escaped sizes"
    wrong = ([9], [7, 9, 1, 0], [6])
    assert [pi.i2c_zip(handle, asked)[0] for asked in wrong] == [-111, -109, -110]


@pytest.mark.parametrize(
    ("open_", "why"),
    [
        ((7, 0x53), "bad I2C bus"),
        ((1, 0x80), "bad I2C addr"),
        ((1, 0x53, 1), "bad i2c/spi/ser open flags"),
    ],
)
def test_a_bus_that_is_not_there_is_not_opened(
    pi: pigpio.pi, open_: tuple[int, ...], why: str
) -> None:
    with pytest.raises(pigpio.error, match=why):
        pi.i2c_open(*open_)


def test_nobody_answers_at_an_empty_address(pi: pigpio.pi) -> None:
    handle = pi.i2c_open(1, 0x10)
    with pytest.raises(pigpio.error, match="I2C read failed"):
        pi.i2c_read_byte(handle)
    with pytest.raises(pigpio.error, match="I2C write failed"):
        pi.i2c_write_device(handle, b"\x00")
    assert pi.i2c_read_block_data(handle, 0)[0] == -107, "the Pi's driver has no such command"


def test_a_block_has_32_bytes_at_most(pi: pigpio.pi) -> None:
    handle = pi.i2c_open(1, 32)
    assert pi.i2c_write_i2c_block_data(handle, 0, bytes(32)) == 0
    with pytest.raises(pigpio.error, match="bad i2c/spi/ser parameter"):
        pi.i2c_write_i2c_block_data(handle, 0, bytes(33))


# ── SPI ─────────────────────────────────────────────────────────────────────


def test_a_loop_returns_what_was_sent_and_an_empty_channel_zeros(pi: pigpio.pi) -> None:
    looped, empty = pi.spi_open(1, 50_000), pi.spi_open(0, 50_000)
    assert pi.spi_xfer(looped, b"\x01\x80\x02") == (3, b"\x01\x80\x02")
    assert pi.spi_xfer(empty, b"\x01\x80\x02") == (3, bytes(3))
    assert pi.spi_read(looped, 2) == (2, bytes(2))
    assert pi.spi_write(looped, b"abcd") == 4
    auxiliary = pi.spi_open(2, 50_000, 1 << 8)
    assert pi.spi_xfer(auxiliary, b"\x05") == (1, b"\x05")


def test_pins_serve_the_bus_while_a_channel_is_open(board: Board, pi: pigpio.pi) -> None:
    bus = (7, 9, 10, 11)
    first, second = pi.spi_open(0, 50_000, 1 << 5), pi.spi_open(1, 50_000)
    assert [board.mode(gpio) for gpio in bus] == [Mode.ALT0] * 4
    assert board.mode(8) is Mode.INPUT, "its select was left to other uses"
    pi.spi_close(first)
    assert board.mode(9) is Mode.ALT0
    pi.spi_close(second)
    assert [board.mode(gpio) for gpio in bus] == [Mode.INPUT] * 4


@pytest.mark.parametrize(
    ("open_", "why"),
    [
        ((2, 50_000), "bad SPI channel"),
        ((3, 50_000, 1 << 8), "bad SPI channel"),
        ((0, 31_999), "bad SPI speed"),
        ((0, 50_000, 1 << 23), "bad i2c/spi/ser open flags"),
    ],
)
def test_a_channel_that_no_pi_has_is_not_opened(
    pi: pigpio.pi, open_: tuple[int, ...], why: str
) -> None:
    with pytest.raises(pigpio.error, match=why):
        pi.spi_open(*open_)


# ── Serial ports ────────────────────────────────────────────────────────────


def test_characters_come_back_at_the_pace_of_the_line(pi: pigpio.pi) -> None:
    handle = pi.serial_open(TTY, 300)
    pi.serial_write(handle, b"ab")
    with pytest.raises(pigpio.error, match="no data"):
        pi.serial_read_byte(handle)
    until(lambda: pi.serial_data_available(handle) == 2)
    assert pi.serial_read_byte(handle) == ord("a")
    assert pi.serial_read(handle, 10) == (1, b"b")
    pi.serial_write_byte(handle, 0)
    until(lambda: pi.serial_data_available(handle))
    assert pi.serial_close(handle) == 0
    again = pi.serial_open(TTY, 300)
    assert pi.serial_data_available(again) == 0, "an opened port begins empty"


@pytest.mark.parametrize(
    ("open_", "why"),
    [
        (("/dev/null", 9600), "bad serial device name"),
        (("/dev/ttyS7", 9600), "can't open serial device"),
        ((TTY, 9601), "bad serial baud rate"),
        ((TTY, 9600, 1), "bad i2c/spi/ser open flags"),
    ],
)
def test_a_port_that_is_not_there_is_not_opened(
    pi: pigpio.pi, open_: tuple[str | int, ...], why: str
) -> None:
    with pytest.raises(pigpio.error, match=why):
        pi.serial_open(*open_)


def test_sixteen_ports_are_opened_at_most(pi: pigpio.pi) -> None:
    assert [pi.serial_open(TTY, 9600) for _ in range(16)] == list(range(16))
    with pytest.raises(pigpio.error, match="no handle available"):
        pi.serial_open(TTY, 9600)
