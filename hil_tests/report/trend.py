"""Measurements over many runs: where each has gone, and which nears its limit.

Owns the fit and its table. Must not know what was tested.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError
from rich.table import Table

from hil_tests.slope import slope

MIN_RUNS = 4
"""Runs below which no drift is claimed."""

SURE = 3.0
"""Standard errors by which a slope differs from none."""


class ReportError(Exception):
    """A report cannot be read; the text says which and what to give instead."""


class _Taken(BaseModel, strict=True):
    """A measurement as far as it is followed."""

    name: str
    value: float
    unit: str
    lower: float | None = None
    upper: float | None = None


class _Test(BaseModel, strict=True):
    node: str
    title: str
    measurements: list[_Taken]


class _Report(BaseModel, strict=True):
    """What must stand in a `report.json`; what else does is not looked at."""

    format: Literal[1]
    tests: list[_Test]


def load(path: Path) -> dict[str, Any]:
    """Read a report from its folder or its `report.json`. Raises `ReportError`."""
    file = path / "report.json" if path.is_dir() else path
    try:
        found: dict[str, Any] = json.loads(file.read_text("utf-8"))
        _Report.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        said = f"{where}: {first['msg']}"
        raise ReportError(f"{file} is no report ({said}). Give a folder of --rig-report") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ReportError(f"{file} is no report ({error}). Give a folder of --rig-report") from None
    return found


@dataclass(frozen=True, slots=True)
class Trend:
    """One measurement of one test, over the runs in which it was taken, oldest first."""

    test: str
    name: str
    unit: str
    values: tuple[float, ...]
    lower: float | None
    upper: float | None

    @property
    def drift(self) -> float:
        """Change from one run to the next, by least squares; 0 where it may be chance."""
        count = len(self.values)
        if count < MIN_RUNS:
            return 0.0
        change, error = slope(range(count), self.values)
        return change if abs(change) > SURE * error else 0.0

    @property
    def runs_left(self) -> float:
        """Runs until the drift reaches a limit; infinite where it leads to none."""
        drift = self.drift
        limit = self.upper if drift > 0 else self.lower
        if not drift or limit is None:
            return math.inf
        return max(0.0, (limit - self.values[-1]) / drift)

    @property
    def is_near(self) -> bool:
        """Whether the limit is reached within as many runs again, or was."""
        return self.runs_left <= len(self.values)


def trends(reports: Sequence[Mapping[str, Any]]) -> list[Trend]:
    """Every measurement of these reports, oldest first, by test and name. Limits are the newest."""
    values: dict[tuple[str, str], list[float]] = {}
    newest: dict[tuple[str, str], Mapping[str, Any]] = {}
    titles: dict[str, str] = {}
    for report in reports:
        for test in report["tests"]:
            titles[test["node"]] = test["title"]
            for taken in test["measurements"]:
                key = (test["node"], taken["name"])
                values.setdefault(key, []).append(taken["value"])
                newest[key] = taken
    return [
        Trend(
            titles[node],
            name,
            newest[node, name]["unit"],
            tuple(found),
            newest[node, name].get("lower"),
            newest[node, name].get("upper"),
        )
        for (node, name), found in values.items()
    ]


def table(found: Sequence[Trend], runs: int) -> Table:
    """Draw them for a screen, those that near a limit first."""
    near = sum(one.is_near for one in found)
    title = f"{len(found)} measurements over {runs} runs, {near} near a limit"
    drawn = Table("test", "what", "runs", "first", "last", "least to most", "a run", title=title)
    for one in sorted(found, key=lambda one: one.runs_left):
        least, most = min(one.values), max(one.values)
        drawn.add_row(
            one.test,
            f"{one.name}, {one.unit}" if one.unit else one.name,
            str(len(one.values)),
            f"{one.values[0]:.4g}",
            f"{one.values[-1]:.4g}",
            f"{least:.4g} to {most:.4g}",
            f"{one.drift:+.3g}" if one.drift else "no drift",
            style="bold red" if one.is_near else None,
        )
    return drawn
