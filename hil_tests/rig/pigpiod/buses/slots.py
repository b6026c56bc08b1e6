"""Handles of opened devices: small numbers, the lowest free one first.

Owns the numbers. Must not know what they stand for.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from hil_tests.rig.pigpiod.refusals import CommandRefusedError, Reason, refuse_if
from hil_tests.rig.pigpiod.wire import Request

Opened = TypeVar("Opened")


class Slots(Generic[Opened]):
    """So many handles."""

    def __init__(self, count: int) -> None:
        self._slots: list[Opened | None] = [None] * count

    def open(self, device: Opened) -> int:
        """Take the lowest free handle. Raises `CommandRefusedError` where there is none."""
        refuse_if(None not in self._slots, Reason.NO_HANDLE)
        handle = self._slots.index(None)
        self._slots[handle] = device
        return handle

    def of(self, request: Request) -> Opened:
        """What the handle in p1 stands for. Raises `CommandRefusedError`."""
        device = self._slots[request.p1] if request.p1 < len(self._slots) else None
        if device is None:
            raise CommandRefusedError(Reason.BAD_HANDLE)
        return device

    def close(self, request: Request) -> Opened:
        """Free the handle in p1, and return what it stood for. Raises `CommandRefusedError`."""
        device = self.of(request)
        self._slots[request.p1] = None
        return device

    def opened(self) -> list[Opened]:
        """Everything that is open."""
        return [device for device in self._slots if device is not None]
