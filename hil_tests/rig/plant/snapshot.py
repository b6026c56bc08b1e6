"""What the camera may see of the plant: a ring of recent poses and light in shared memory.

The plant writes the ring, and the camera process reads it. Neither knows the other. The newest
sample is not enough: a picture is an exposure over time, read out row by row. Motion blur and a dip
of the light are in the samples between two frames.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from multiprocessing import shared_memory

import numpy as np
from numpy.typing import NDArray

from hil_tests.rig.fault_set import Active
from hil_tests.rig.plant.geometry import MAX_DICE

RING = 1024

BEHIND_S = 0.03
"""A machine that moves is sampled every 2 ms, in turns of 8 to 15 ms. Without a sample for so long,
in seconds, its computer is late."""


def sample_of(dice: int) -> np.dtype[np.void]:
    """One moment of a compartment with so many dice."""
    return np.dtype(
        [
            ("at_s", "f8"),
            ("light", "f8"),
            ("plate_mm", "f8"),
            ("position_mm", "f8", (dice, 3)),
            ("rotation", "f8", (dice, 3, 3)),
        ]
    )


SAMPLE = sample_of(3)
_SLOT = np.dtype([("dice", "i8"), ("sample", sample_of(MAX_DICE))])
TABLE = np.dtype(
    [
        ("written", "i8"),
        ("cover_open", "f8"),
        ("hand", "f8"),
        ("coin", "i8"),
        ("lid_open", "i8"),
        ("newest_look", "i8"),
        ("looks", "S1024", (2,)),
    ]
)
"""`looks`: style and flaws of the dice as JSON. The one that is not the newest is written, since a
camera may be reading the other."""


@dataclass(frozen=True, slots=True)
class SceneryView:
    """The slow things in the picture."""

    cover_open: float
    hand: float
    coin: bool
    lid_open: bool
    style: str
    flaws: Active = field(default_factory=dict)
    """Faults of single dice that show, with their parameters as in `faults.toml`."""

    def flaws_of(self, die: int) -> Active:
        """The flaws of one die; they are numbered from 1."""
        return {name: flaw for name, flaw in self.flaws.items() if flaw["die"] == die}


class SceneBoard:
    """A ring of samples with one writer and any number of readers, in any process.

    A reader looks at samples of the last 0.2 s at most; the ring holds at least half a second, so a
    sample is never overwritten while it is read.
    """

    def __init__(self, name: str | None = None) -> None:
        """Create the memory, or with `name` open one that another process created."""
        size = TABLE.itemsize + RING * _SLOT.itemsize
        self._owner = name is None
        self._memory = shared_memory.SharedMemory(
            name=name, create=self._owner, size=size if self._owner else 0
        )
        self._table = np.ndarray((), TABLE, self._memory.buf)
        self._ring = np.ndarray((RING,), _SLOT, self._memory.buf, TABLE.itemsize)

    @property
    def name(self) -> str:
        return self._memory.name

    def show(self, view: SceneryView) -> None:
        """Write the slow things."""
        self._table["cover_open"] = view.cover_open
        self._table["hand"] = view.hand
        self._table["coin"] = view.coin
        self._table["lid_open"] = view.lid_open
        look = json.dumps({"style": view.style, "flaws": view.flaws}).encode()
        newest = int(self._table["newest_look"])
        if look != self._table["looks"][newest]:
            self._table["looks"][1 - newest] = look
            self._table["newest_look"] = 1 - newest

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
        self._ring["dice"][written % RING] = len(position_mm)
        slot = self._ring["sample"][written % RING]
        slot["at_s"] = at_s
        slot["light"] = light
        slot["plate_mm"] = plate_mm
        slot["position_mm"][: len(position_mm)] = position_mm
        slot["rotation"][: len(position_mm)] = rotation
        self._table["written"] = written + 1

    def view(self) -> SceneryView:
        table = self._table
        return SceneryView(
            float(table["cover_open"]),
            float(table["hand"]),
            bool(table["coin"]),
            bool(table["lid_open"]),
            **json.loads(table["looks"][int(table["newest_look"])]),
        )

    def recent(self, since_s: float) -> NDArray[np.void]:
        """Return the samples from the last one at or before `since_s` on, oldest first, as
        `sample_of` the dice that lie there now."""
        written = int(self._table["written"])
        count = min(written, RING // 2)
        indices = np.arange(written - count, written) % RING
        times = self._ring["sample"]["at_s"][indices]
        first = max(0, int(np.searchsorted(times, since_s, side="right")) - 1)
        slots = self._ring[indices[first:]]
        dice = int(slots["dice"][-1]) if count else 0
        slots = slots[slots["dice"] == dice]
        found = np.empty(len(slots), sample_of(dice))
        for name in sample_of(dice).names or ():
            whole = slots["sample"][name]
            found[name] = whole[:, :dice] if whole.ndim > 1 else whole
        return found

    def is_behind(self, until_s: float) -> bool:
        """Whether the samples end amid a motion, before `until_s`, because the computer is late.

        A picture of then would show tumbling dice at rest, which no camera ever sees.
        """
        written = int(self._table["written"])
        before, newest = self._ring["sample"][[(written - 2) % RING, (written - 1) % RING]]
        if written < 2 or until_s - newest["at_s"] < BEHIND_S:
            return False
        return any((newest[name] != before[name]).any() for name in ("position_mm", "rotation"))

    def close(self) -> None:
        """Let go of the memory; the creator also removes it."""
        del self._table, self._ring
        self._memory.close()
        if self._owner:
            self._memory.unlink()
