"""What each figure may be, and what it has to become: `budgets.toml`.

Owns reading the file and judging a figure by it. Millions of instructions everywhere.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("budgets.toml")


@dataclass(frozen=True, slots=True)
class Budget:
    """Of one figure on one core."""

    most: float
    goal: float | None = None

    def verdict(self, millions: float) -> str:
        """`OVER`, `open` (within the budget, above the goal) or `ok`."""
        if millions > self.most:
            return "OVER"
        return "open" if self.goal is not None and millions > self.goal else "ok"


Budgets = dict[tuple[str, str], Budget]
"""By (what is counted, core)."""


def read(path: Path = FILE) -> Budgets:
    """Every budget of the file. Raises KeyError or TypeError where the file is not one."""
    with path.open("rb") as file:
        found = tomllib.load(file)
    return {
        (what, core): Budget(float(entry["most"]), entry.get("goal"))
        for what, cores in found.items()
        for core, entry in cores.items()
    }
