"""What each figure may be, and what it has to become: `budgets.toml`.

Owns reading the file and judging a figure by it. Millions of instructions everywhere.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("budgets.toml")
MARGIN = 1.03
"""A fresh budget over what was measured. Two runs of a reading or a command differ by less than
0.2 %."""
WAITING_MARGIN = 1.15
"""A fresh budget of what waits (`WAITING`): on a busy machine its waits cost more turns."""
WAITING = frozenset({"service to READY", "start, both processes"})
"""What waits for other processes."""


def margin(what: str) -> float:
    """A fresh budget of `what` over what was measured."""
    return WAITING_MARGIN if what in WAITING else MARGIN


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


def text(measured: Mapping[tuple[str, str], float], before: Budgets) -> str:
    """The file with budgets of what was measured, and the goals as they were."""
    lines = [
        "# Millions of arm64 instructions. A figure above `most` fails `make bench-arm64`.",
        "# `most` is what was measured and 3 % more, 15 % for a start that waits for others:",
        "# `make bench-arm64 BENCH=--write` lowers it. `goal` is where it has to come.",
    ]
    for what in dict.fromkeys(what for what, _ in measured):
        lines += ["", f'["{what}"]']
        for (named, core), millions in measured.items():
            if named == what:
                goal = before[what, core].goal if (what, core) in before else None
                aim = "" if goal is None else f", goal = {goal:g}"
                lines.append(f"{core} = {{ most = {millions * margin(what):.0f}{aim} }}")
    return "\n".join(lines) + "\n"
