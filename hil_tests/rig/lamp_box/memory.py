"""What a lamp box retains without power: the committed round, its lamps, and the table's anchor.

Owns the file and its damage. Must not know registers or requests.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ANCHOR_WRITTEN = 24
"""Registers of the table's anchor."""


def _check(kept: dict[str, Any]) -> str:
    """Over all that is retained."""
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:16]


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
        """Read the memory; one that fails its check is bad, and says so instead of reading zero."""
        if self.path is None or not self.path.exists():
            return
        try:
            kept = json.loads(self.path.read_text())
            self.is_bad = kept.pop("check") != _check(kept)
            if not self.is_bad:
                self.last_committed, self.restarts = kept["last"], kept["restarts"]
                self.first_mask, self.mask = kept["first"], kept["mask"]
                self.corrections, self.erasures = kept["corrections"], kept["erasures"]
                self.anchor = kept["anchor"]
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self.is_bad = True

    def store(self) -> None:
        """Write the memory whole. A bad one stays as it is until a hand erases it."""
        if self.path is None or self.is_bad:
            return
        kept = {
            "last": self.last_committed,
            "restarts": self.restarts,
            "first": self.first_mask,
            "mask": self.mask,
            "corrections": self.corrections,
            "anchor": self.anchor,
            "erasures": self.erasures,
        }
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps({**kept, "check": _check(kept)}))
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
