"""Handles of what clients open and store: small numbers, the lowest free one first.

Owns the numbers. Must not know what they stand for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from virtual_pigpiod.refusals import CommandRefusedError, Reason
from virtual_pigpiod.wire import Request

Opened = TypeVar("Opened")


class Slots(Generic[Opened]):
    """So many handles."""

    def __init__(self, count: int, unknown: int = Reason.BAD_HANDLE) -> None:
        """`unknown`: how a number is refused that stands for nothing."""
        self._slots: list[Opened | None] = [None] * count
        self._unknown = unknown

    @property
    def free(self) -> int | None:
        """The lowest free handle; None where there is none."""
        return self._slots.index(None) if None in self._slots else None

    def open(self, device: Opened) -> int:
        """Take the lowest free handle. Raises `CommandRefusedError` where there is none."""
        handle = self.free
        if handle is None:
            raise CommandRefusedError(Reason.NO_HANDLE)
        self._slots[handle] = device
        return handle

    def of(self, request: Request) -> Opened:
        """What the handle in p1 stands for. Raises `CommandRefusedError`."""
        device = self._slots[request.p1] if request.p1 < len(self._slots) else None
        if device is None:
            raise CommandRefusedError(self._unknown)
        return device

    def close(self, request: Request) -> Opened:
        """Free the handle in p1, and return what it stood for. Raises `CommandRefusedError`."""
        device = self.of(request)
        self._slots[request.p1] = None
        return device

    def take_out(self, is_meant: Callable[[Opened], bool]) -> list[Opened]:
        """Free the handles of all that is meant, and return it."""
        taken = []
        for handle, device in enumerate(self._slots):
            if device is not None and is_meant(device):
                self._slots[handle] = None
                taken.append(device)
        return taken

    def opened(self) -> list[Opened]:
        """Everything that is open."""
        return [device for device in self._slots if device is not None]
