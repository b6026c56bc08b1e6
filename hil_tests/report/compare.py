"""Two reports side by side: verdicts that changed, values that moved, measurements that are gone.

Owns the comparison and its table. Must not know what was tested.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError
from rich.table import Table

from hil_tests.report.page import UNFINISHED

NOTABLE = 0.10
"""A value that moved by this share of the earlier one, and by more than three standard errors of
its samples where there are some, is marked."""


class ReportError(Exception):
    """A report cannot be read; the text says which and what to give instead."""


class _Taken(BaseModel, strict=True):
    """A measurement as far as it is compared."""

    name: str
    value: float
    unit: str
    lower: float | None = None
    upper: float | None = None
    passed: bool
    samples: list[float]


class _Test(BaseModel, strict=True):
    node: str
    title: str
    outcome: str
    reason: str
    measurements: list[_Taken]


class _Report(BaseModel, strict=True):
    """What must stand in a `report.json`; what else does is not looked at."""

    format: Literal[1]
    rig: str
    at: str
    tests: list[_Test]


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is not as it was."""

    test: str
    what: str
    before: str
    after: str
    is_worse: bool


def load(path: Path) -> dict[str, Any]:
    """Read a report from its folder or its `report.json`. Raises `ReportError`."""
    file = path / "report.json" if path.is_dir() else path
    try:
        found: dict[str, Any] = json.loads(file.read_text("utf-8"))
        if isinstance(found, dict) and found.get("format", 1) != 1:
            raise ReportError(f"{file} is a report of another format; make a new one")
        _Report.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        said = f"{where}: {first['msg']}"
        raise ReportError(f"{file} is no report ({said}). Give a folder of --rig-report") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ReportError(f"{file} is no report ({error}). Give a folder of --rig-report") from None
    return found


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[Change]:
    """What changed from one report to the other: what is worse first, else in the later's order."""
    old = {test["node"]: test for test in before["tests"]}
    new = {test["node"]: test for test in after["tests"]}
    found = [
        Change(test["title"], "not run", test["outcome"], "-", is_worse=False)
        for node, test in old.items()
        if node not in new
    ]
    for node, test in new.items():
        if node not in old:
            outcome = test["outcome"]
            found.append(Change(test["title"], "new", "-", outcome, outcome not in OKAY))
            continue
        found += _changed(old[node], test)
    return sorted(found, key=lambda change: not change.is_worse)


OKAY = ("passed", "skipped")


def _changed(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Change]:
    if new["outcome"] == UNFINISHED:  # its verdict is missing, and no change for the worse
        yield Change(new["title"], "not run", old["outcome"], UNFINISHED, is_worse=False)
        return
    if old["outcome"] != new["outcome"]:
        after = new["outcome"] + (f": {new['reason']}" if new["reason"] else "")
        is_worse = new["outcome"] not in OKAY or old["outcome"] == "passed"
        yield Change(new["title"], "verdict", old["outcome"], after, is_worse)
    earlier = {taken["name"]: taken for taken in old["measurements"]}
    if new["outcome"] != "skipped":  # where nothing was done, the verdict says it
        still = {taken["name"] for taken in new["measurements"]}
        for name in (name for name in earlier if name not in still):
            what = f"{name}: not measured any more"
            yield Change(new["title"], what, _value(earlier[name]), "-", is_worse=True)
    for taken in new["measurements"]:
        was = earlier.get(taken["name"])
        if was is not None and (was["passed"] != taken["passed"] or has_moved(was, taken)):
            yield Change(
                new["title"], taken["name"], _value(was), _value(taken), not taken["passed"]
            )


def has_moved(was: dict[str, Any], now: dict[str, Any]) -> bool:
    """True where the difference is notable and, by the samples, not chance."""
    difference = abs(now["value"] - was["value"])
    if difference <= NOTABLE * abs(was["value"]) or difference == 0:
        return False
    if len(was["samples"]) < 2 or len(now["samples"]) < 2:
        return True
    error = math.sqrt(
        sum(statistics.variance(one["samples"]) / len(one["samples"]) for one in (was, now))
    )
    return bool(difference > 3 * error)


def _value(taken: dict[str, Any]) -> str:
    mark = "" if taken["passed"] else " FAIL"
    return f"{taken['value']:.5g} {taken['unit']}{mark}".strip()


def table(before: dict[str, Any], after: dict[str, Any], found: list[Change]) -> Table | str:
    """Draw the changes for a screen; a sentence where there are none."""
    if not found:
        return f"No changes; tests compared: {len(after['tests'])}"
    drawn = Table(
        "test",
        "what",
        f"{before['rig']} {before['at'][:16]}",
        f"{after['rig']} {after['at'][:16]}",
        title=f"{len(found)} changes in {len(after['tests'])} tests, "
        f"{sum(change.is_worse for change in found)} of them worse",
    )
    for change in found:
        drawn.add_row(
            change.test,
            change.what,
            change.before,
            change.after,
            style="bold red" if change.is_worse else None,
        )
    return drawn
