"""Fixture `virtual_pigpiod`: a daemon on a board of its own for each test, found by clients.

pytest loads it by itself wherever the distribution is installed.
"""

from __future__ import annotations

from collections.abc import Iterator

import pigpio
import pytest

from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.process import VirtualPigpiod


@pytest.fixture
def virtual_pigpiod(monkeypatch: pytest.MonkeyPatch) -> Iterator[VirtualPigpiod]:
    """A running daemon at a free port of 127.0.0.1; its `board` has the pins.

    `pigpio.pi()`, `pigs` and gpiozero's `PiGPIOFactory` find it by themselves: PIGPIO_ADDR and
    PIGPIO_PORT name it for the time of the test.
    """
    with VirtualPigpiod(Board()) as daemon:
        monkeypatch.setenv("PIGPIO_ADDR", daemon.host)
        monkeypatch.setenv("PIGPIO_PORT", str(daemon.port))
        # `pigpio` reads both variables once, when it is imported, into the defaults of `pi()`.
        defaults = (daemon.host, daemon.port, *(pigpio.pi.__init__.__defaults__ or ())[2:])
        monkeypatch.setattr(pigpio.pi.__init__, "__defaults__", defaults)
        yield daemon
