"""One life of the daemon: its bookkeeping, empty at the start, and the table of its commands.

Owns: which module answers which command. Must not know: sockets, processes.
"""

from __future__ import annotations

from pathlib import Path

from virtual_pigpiod.buses.attached import Attached
from virtual_pigpiod.buses.i2c import I2c
from virtual_pigpiod.buses.serial_ports import SerialPorts
from virtual_pigpiod.buses.serial_read import SerialRead
from virtual_pigpiod.buses.spi import Spi
from virtual_pigpiod.delays import DELAYS
from virtual_pigpiod.loop import Loop
from virtual_pigpiod.pins.board import Board, now_us
from virtual_pigpiod.pins.chip import REVISION
from virtual_pigpiod.pins.hardware_pwm import HardwarePwm
from virtual_pigpiod.pins.levels import Levels
from virtual_pigpiod.pins.pwm_queries import PwmQueries
from virtual_pigpiod.pins.soft_pwm import SoftPwm
from virtual_pigpiod.pins.uses import Uses
from virtual_pigpiod.refusals import CommandRefusedError, Reason
from virtual_pigpiod.reports.alerts import Alerts
from virtual_pigpiod.reports.handles import Handles
from virtual_pigpiod.results import Handlers, Result
from virtual_pigpiod.scripts.commands import Scripts
from virtual_pigpiod.waves.commands import Waves
from virtual_pigpiod.waves.transmitter import Transmitter
from virtual_pigpiod.wire import Command, Request

VERSION = 79

_ABSENT: dict[int, int] = {
    Command.WVGO: Reason.DEPRECATED,
    Command.WVGOR: Reason.DEPRECATED,
}
"""Commands that were removed from the daemon."""


class Daemon:
    """Executes requests. Everything here runs in the loop's thread."""

    def __init__(
        self, board: Board, loop: Loop, fifo_folder: Path, attached: Attached, sample_us: int
    ) -> None:
        self._board = board
        uses = Uses(board)
        levels = Levels(uses)
        soft = SoftPwm(uses, origin_us=now_us())
        hardware = HardwarePwm(uses)
        queries = PwmQueries(uses, soft, hardware)
        transmitter = Transmitter(board)
        waves = Waves(uses, transmitter, before_play=hardware.disable_all)
        hardware.on_start = transmitter.halt
        serial = SerialRead(board, loop)
        self.handles = Handles(fifo_folder)
        self.alerts = Alerts(board, loop, self.handles, sample_us)
        self.scripts = Scripts(loop, self.execute, board.locked)
        self.scripts.on_masks = self.alerts.refresh
        self.alerts.extra_mask = lambda: self.scripts.pin_mask
        self.alerts.on_changes = self.scripts.notice
        self._handlers: Handlers = {
            Command.TICK: lambda _: board.tick(),
            Command.HWVER: lambda _: REVISION,
            Command.PIGPV: lambda _: VERSION,
            **dict.fromkeys((Command.HELP, Command.CGI, Command.CSI), lambda _: 0),
            **DELAYS,
            **levels.handlers,
            **soft.handlers,
            **hardware.handlers,
            **queries.handlers,
            **waves.handlers,
            **serial.handlers,
            **I2c(attached).handlers,
            **Spi(board, attached).handlers,
            **SerialPorts(attached).handlers,
            **self.handles.handlers,
            **self.alerts.handlers,
            **self.scripts.handlers,
        }

    def execute(self, request: Request) -> Result:
        """Carry out one command; a refusal is a negative number."""
        handler = self._handlers.get(request.command)
        if handler is None:
            return _ABSENT.get(request.command, Reason.UNKNOWN_COMMAND)
        try:
            result = handler(request)
        except CommandRefusedError as refusal:
            return refusal.reason
        return 0 if result is None else result

    def close(self) -> None:
        """The process ends: handles and FIFOs go; the board stays as it is."""
        self.handles.close_all()
        self._board.watch(0, lambda _: None)
