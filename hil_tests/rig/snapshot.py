"""What the camera may see of the plant: a ring of recent poses and light in shared memory.

The plant writes it, the camera process reads it; neither knows the other. A ring and not the newest
value only, because a picture is an exposure over time and read out row by row: motion blur and a
dip of the light are in the samples between two frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from multiprocessing import shared_memory

import numpy as np
from numpy.typing import NDArray

RING = 1024

SAMPLE = np.dtype(
    [
        ("at_s", "f8"),
        ("light", "f8"),
        ("plate_mm", "f8"),
        ("position_mm", "f8", (3, 3)),
        ("rotation", "f8", (3, 3, 3)),
    ]
)
TABLE = np.dtype(
    [
        ("written", "i8"),
        ("cover_open", "f8"),
        ("hand", "f8"),
        ("coin", "i8"),
        ("lid_open", "i8"),
        ("style", "S24"),
    ]
)


@dataclass(frozen=True, slots=True)
class TableView:
    """The slow things in the picture."""

    cover_open: float
    hand: float
    coin: bool
    lid_open: bool
    style: str


class SceneBoard:
    """A ring of samples with one writer and any number of readers, in any process.

    A reader looks at samples of the last 0.2 s at most; the ring holds at least half a second, so a
    sample is never overwritten while it is read.
    """

    def __init__(self, name: str | None = None) -> None:
        """Create the memory, or with `name` open one that another process created."""
        size = TABLE.itemsize + RING * SAMPLE.itemsize
        self._owner = name is None
        self._memory = shared_memory.SharedMemory(
            name=name, create=self._owner, size=size if self._owner else 0
        )
        self._table = np.ndarray((), TABLE, self._memory.buf)
        self._ring = np.ndarray((RING,), SAMPLE, self._memory.buf, TABLE.itemsize)

    @property
    def name(self) -> str:
        return self._memory.name

    def show(self, view: TableView) -> None:
        """Write the slow things."""
        self._table["cover_open"] = view.cover_open
        self._table["hand"] = view.hand
        self._table["coin"] = view.coin
        self._table["lid_open"] = view.lid_open
        self._table["style"] = view.style.encode()

    def record(
        self,
        at_s: float,
        light: float,
        plate_mm: float,
        position_mm: NDArray[np.float64],
        rotation: NDArray[np.float64],
    ) -> None:
        """Append one sample; times must not go backwards."""
        written = int(self._table["written"])
        slot = self._ring[written % RING]
        slot["at_s"] = at_s
        slot["light"] = light
        slot["plate_mm"] = plate_mm
        slot["position_mm"] = position_mm
        slot["rotation"] = rotation
        self._table["written"] = written + 1

    def view(self) -> TableView:
        table = self._table
        return TableView(
            float(table["cover_open"]),
            float(table["hand"]),
            bool(table["coin"]),
            bool(table["lid_open"]),
            bytes(table["style"]).rstrip(b"\0").decode(),
        )

    def recent(self, since_s: float) -> NDArray[np.void]:
        """Return the samples from the last one at or before `since_s` on, oldest first."""
        written = int(self._table["written"])
        count = min(written, RING // 2)
        indices = np.arange(written - count, written) % RING
        times = self._ring["at_s"][indices]
        first = max(0, int(np.searchsorted(times, since_s, side="right")) - 1)
        return self._ring[indices[first:]]

    def close(self) -> None:
        """Let go of the memory; the creator also removes it."""
        del self._table, self._ring
        self._memory.close()
        if self._owner:
            self._memory.unlink()
