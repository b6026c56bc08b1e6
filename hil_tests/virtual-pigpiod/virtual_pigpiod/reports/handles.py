"""Notification handles: who wants to hear of which pins and events, and where reports go.

Owns: the 32 slots, masks, sequence numbers, report bytes, FIFOs. Must not know: how changes are
found, or sockets (a connection is only somewhere to send bytes).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from virtual_pigpiod.pins.board import now_us
from virtual_pigpiod.refusals import CommandRefusedError, Reason, refuse_if
from virtual_pigpiod.results import Handlers
from virtual_pigpiod.slots import Slots
from virtual_pigpiod.wire import MAX_REPORTS_PER_WRITE, REPORT, Command, Request

SLOTS = 32


class Sink(Protocol):
    """Where the reports of one handle go."""

    def send(self, data: bytes) -> bool:
        """Send, or queue what cannot be sent now. False while the far end does not read."""

    def release(self) -> None:
        """The handle is closed. An in-band connection stays open for commands."""


class Fifo:
    """The named pipe of a handle opened with NO, for a reader on the daemon's own host."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.unlink(missing_ok=True)
        os.mkfifo(path, 0o664)
        # Opened for reading too: so opening does not wait for a reader, nor does losing one hurt.
        self._fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)

    def send(self, data: bytes) -> bool:
        """Write; what a full pipe does not take is lost, as with the real daemon."""
        with contextlib.suppress(BlockingIOError):
            os.write(self._fd, data)
        return True

    def release(self) -> None:
        """Remove the pipe."""
        os.close(self._fd)
        self.path.unlink(missing_ok=True)


@dataclass(slots=True)
class Handle:
    """One open handle."""

    sink: Sink
    mask: int = 0
    events: int = 0
    sequence: int = 0
    last_report_us: int = 0

    def report(self, reports: list[tuple[int, int, int]], at_us: int) -> bool:
        """Send `(flags, tick, levels)` reports. False while the far end does not read."""
        packed = bytearray()
        for flags, tick, levels in reports:
            packed += REPORT.pack(self.sequence & 0xFFFF, flags, tick & 0xFFFFFFFF, levels)
            self.sequence += 1
        self.last_report_us = at_us
        size = REPORT.size * MAX_REPORTS_PER_WRITE
        pieces = [bytes(packed[i : i + size]) for i in range(0, len(packed), size)]
        sent = [self.sink.send(piece) for piece in pieces]
        return all(sent)


class Handles:
    """The slots and the commands about them."""

    def __init__(self, fifo_folder: Path) -> None:
        self._fifo_folder = fifo_folder
        self._slots: Slots[Handle] = Slots(SLOTS)
        self.on_masks: Callable[[], None] = lambda: None
        """Called after any change of the masks."""
        self.handlers: Handlers = {
            Command.NO: self._open_fifo,
            Command.NB: lambda r: self._listen(r, r.p2),
            Command.NP: lambda r: self._listen(r, 0),
            Command.NC: self._close,
            Command.EVM: self._monitor_events,
        }

    def __iter__(self) -> Iterator[Handle]:
        """The open handles."""
        return iter(self._slots.opened())

    @property
    def mask(self) -> int:
        """Pins that any handle wants to hear of."""
        mask = 0
        for handle in self:
            mask |= handle.mask
        return mask

    def open(self, sink: Sink) -> int:
        """Open a handle whose reports go to `sink`."""
        number = self._slots.open(Handle(sink, last_report_us=now_us()))
        self.on_masks()
        return number

    def close_all_of(self, sink: Sink) -> None:
        """Free the handles bound to a connection that is gone."""
        self._slots.take_out(lambda handle: handle.sink is sink)
        self.on_masks()

    def close_all(self) -> None:
        """The daemon ends: close and remove what was opened."""
        for handle in self._slots.take_out(lambda _: True):
            handle.sink.release()

    def _open_fifo(self, _: Request) -> int:
        free = self._slots.free
        refuse_if(free is None, Reason.NO_HANDLE)
        try:
            fifo = Fifo(self._fifo_folder / f"pigpio{free}")
        except OSError as error:
            raise CommandRefusedError(Reason.NO_HANDLE) from error
        return self.open(fifo)

    def _listen(self, request: Request, mask: int) -> None:
        self._slots.of(request).mask = mask
        self.on_masks()

    def _close(self, request: Request) -> None:
        self._slots.close(request).sink.release()
        self.on_masks()

    def _monitor_events(self, request: Request) -> None:
        self._slots.of(request).events = request.p2
