"""The results of cases, kept in a file: a bench that was stopped goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


def results(file: Path, count: int, case: Callable[[int], dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what `case` gives for 0 to `count`, taken from `file` as far as it goes."""
    file.parent.mkdir(parents=True, exist_ok=True)
    found = [json.loads(line) for line in file.open()] if file.exists() else []
    with file.open("a", encoding="utf-8") as kept:
        for number in range(len(found), count):
            found.append(case(number))
            kept.write(json.dumps(found[-1]) + "\n")
            kept.flush()
    return found[:count]
