"""What a lamp box retains without power: the committed round, its lamps, and the table's anchor.

Owns the file and its damage. Must not know registers or requests.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

ANCHOR_WRITTEN = 24
"""Registers of the table's anchor."""


@dataclass
class Retained:
    """What survives a power cut, in a file where one is given."""

    path: Path | None
    last_committed: int = 0
    restarts: int = 0
    first_mask: int = 0
    mask: int = 0
    corrections: int = 0
    anchor: list[int] = field(default_factory=lambda: [0] * ANCHOR_WRITTEN)
    erasures: int = 0
    is_bad: bool = False

    def load(self) -> None:
        """Read the memory; one that cannot be read is bad, and says so instead of reading zero."""
        if self.path is None or not self.path.exists():
            return
        try:
            kept = json.loads(self.path.read_text())
            self.last_committed, self.restarts = int(kept["last"]), int(kept["restarts"])
            self.first_mask, self.mask = int(kept.get("first", 0)), int(kept.get("mask", 0))
            self.corrections, self.erasures = kept.get("corrections", 0), kept.get("erasures", 0)
            self.anchor = list(map(int, kept.get("anchor", self.anchor)))
            self.is_bad = len(self.anchor) != ANCHOR_WRITTEN
        except (OSError, ValueError, KeyError, TypeError):
            self.is_bad = True

    def store(self) -> None:
        if self.path is not None:
            text = json.dumps(
                {
                    "last": self.last_committed,
                    "restarts": self.restarts,
                    "first": self.first_mask,
                    "mask": self.mask,
                    "corrections": self.corrections,
                    "anchor": self.anchor,
                    "erasures": self.erasures,
                }
            )
            fresh = self.path.with_suffix(".new")
            fresh.write_text(text)
            fresh.replace(self.path)

    def commit(self, round_id: int, mask: int) -> None:
        """Keep a round with its lamps; the lamps of the same round are a correction of it."""
        if round_id != self.last_committed:
            self.first_mask, self.corrections = mask, 0
        elif mask != self.mask:
            self.corrections = 1
        self.last_committed, self.mask = round_id, mask
        self.store()

    def erase(self) -> None:
        """By hand, inside the housing: everything but the counts of restarts and of erasures."""
        self.last_committed = self.first_mask = self.mask = self.corrections = 0
        self.anchor = [0] * ANCHOR_WRITTEN
        self.erasures = (self.erasures + 1) % 0x10000
        self.is_bad = False
        self.store()
