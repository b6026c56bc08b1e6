"""The one thing that both ends of a console need: bytes, with deadlines."""

from __future__ import annotations

from typing import Protocol


class ByteStream(Protocol):
    """An open line. All calls raise `ShakerError` once it is gone."""

    def read(self, timeout_s: float) -> bytes:
        """Return what came, as soon as anything did; empty when nothing came in time."""

    def write(self, data: bytes) -> None:
        """Hand `data` to the line. Raises when it does not take it within a second or so."""

    def close(self) -> None:
        """Close it; idempotent."""
