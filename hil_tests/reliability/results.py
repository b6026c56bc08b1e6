"""Results in a folder: what was played, what became of it, and the matrix of all.

Owns one JSON file a row, and the page and the file made of them. A run that was broken off is taken
up from the rows that are there. Must not know how a row is played.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from hil_tests.reliability.catalogue import CatalogueFault
from hil_tests.reliability.moments import Moment
from hil_tests.reliability.required import Observation, Required
from hil_tests.reliability.trial import Result
from hil_tests.report import files
from hil_tests.report.header import header
from hil_tests.report.measurement import Measure
from hil_tests.report.story import FOUND
from shaker_ctl.whole_file import mode, put

Row = tuple[CatalogueFault, Moment]
MATRIX_JSON = "matrix.json"
MATRIX_PAGE = "matrix.md"
HEAD = ("fault", "moment", "required", "seen", "detected after", "verdict")

RESULT, SEEN = TypeAdapter(Result), TypeAdapter(Observation)


class Results:
    """One folder of results. Raises OSError where it cannot be made."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def _path(self, row: Row) -> Path:
        fault, moment = row
        return self.folder / f"{fault.name}@{moment.value.replace(' ', '-')}.json"

    def keep(self, row: Row, result: Result) -> None:
        """Write one result, whole."""
        write_result(self._path(row), result)

    def find(self, row: Row) -> Result | None:
        """The result of a row, or None where there is none that can be read whole."""
        return read_result(self._path(row), (row[0].name, row[1].value))

    def damaged(self, rows: Iterable[Row]) -> list[str]:
        """Names of the files of these rows that cannot be read whole: `find` has none of them."""
        paths = [self._path(row) for row in rows if self.find(row) is None]
        return [path.name for path in paths if path.exists()]

    def open_rows(self, wanted: Sequence[Row]) -> list[Row]:
        """Rows that are still to be played: those without a result, and those that differed."""
        open_ = []
        for row in wanted:
            result = self.find(row)
            if result is None or not result.is_as_required:
                open_.append(row)
        return open_

    def forget(self, rows: Iterable[Row]) -> None:
        """Begin these rows anew; whatever else was played stays."""
        for row in rows:
            self._path(row).unlink(missing_ok=True)

    def count(self, rows: Iterable[Row]) -> tuple[int, int]:
        """How many of these rows differ, and how many have no result."""
        found = [self.find(row) for row in rows]
        differ = sum(result is not None and not result.is_as_required for result in found)
        return differ, found.count(None)

    def write_matrix(self, rows: Iterable[Row]) -> None:
        """Write page and file over these rows: all that may ever be played into this folder, so
        that a run of a few of them leaves none of the others out."""
        lines, table = [], []
        for row in rows:
            result = self.find(row)
            lines.append(line(row, result))
            table.append({"fault": row[0].name, "moment": row[1].value} | _plain(row, result))
        text = json.dumps(table, indent=1, default=str)
        (self.folder / MATRIX_JSON).write_text(text + "\n", "utf-8")
        (self.folder / MATRIX_PAGE).write_text(page(lines), "utf-8")

    def write_report(self, rows: Iterable[Row]) -> None:
        """Write the rows that were played in the form of the stories' report, beside the matrix."""
        played = [(row, result) for row in rows if (result := self.find(row)) is not None]
        files.write(
            self.folder,
            rig="virtual, faults",
            at=datetime.now().astimezone().isoformat(timespec="seconds"),
            began_s=time.monotonic(),
            about=header(None, None),
            tests=[as_test(row, result) for row, result in played],
        )


def as_test(row: Row, result: Result) -> dict[str, Any]:
    """One row as a test of the stories' report; its times are limits of what is required."""
    fault, moment = row
    required = fault.required[moment]
    measure = Measure(lambda taken: None)
    for name, seen_s, limits in (
        ("EN low", result.seen["motor_after_s"], [one.motor_within_s for one in required]),
        ("cam still", result.seen["still_after_s"], [one.still_within_s for one in required]),
        ("lamps dark", result.seen["dark_after_s"], [one.dark_within_s for one in required]),
        ("detected", result.seen["detected_after_s"], [one.within_s for one in required]),
    ):
        known = [limit for limit in limits if limit is not None]
        if seen_s is not None and known:
            measure(f"fault to {name}", seen_s, "s", upper=max(known))
    what = " or ".join(words(one) for one in required)
    found = "; ".join(result.differences)
    return {
        "node": f"faults::{fault.name}@{moment.name.lower()}",
        "title": f"{fault.name.replace('-', ' ')}, {moment.value}",
        "promise": f"Required: {what}.",
        "outcome": "passed" if result.is_as_required else "failed",
        "reason": f"expected: {what}{FOUND}{found}" if found else "",
        "trace": "",
        "t0": time.monotonic(),
        "seconds": result.took_s,
        "measurements": [taken.as_dict() for taken in measure.taken],
        "story": [],
        "evidence": {},
        "attached": [],
    }


def write_result(path: Path, result: Result) -> None:
    """Write a result, whole or not at all."""
    put(path, json.dumps(asdict(result), indent=1) + "\n", mode(0o644))


def read_result(path: Path, of: tuple[str, str]) -> Result | None:
    """The result in a file; None where it is not whole, or not of this fault and moment."""
    try:
        result = RESULT.validate_json(path.read_bytes(), strict=True)
        SEEN.validate_json(json.dumps(result.seen), strict=True)
    except (OSError, ValueError):
        return None
    is_whole = Observation().as_dict().keys() <= result.seen.keys()
    return result if is_whole and (result.fault, result.moment) == of else None


def _plain(row: Row, result: Result | None) -> dict[str, Any]:
    fault, moment = row
    required = [asdict(one) for one in fault.required[moment]]
    return {"required": required, "result": None if result is None else asdict(result)}


def shard(rows: Sequence[Row], which: str) -> list[Row]:
    """The rows of shard `i/n`, 1 ≤ i ≤ n: every n-th, so that each has a share of every kind.

    Raises ValueError.
    """
    index, _, count = which.partition("/")
    if not (index.isdigit() and count.isdigit() and 1 <= int(index) <= int(count)):
        raise ValueError(f"a shard is i/n with 1 <= i <= n, such as 2/4, not {which!r}")
    return list(rows[int(index) - 1 :: int(count)])


def line(row: Row, result: Result | None) -> tuple[str, ...]:
    """One line of the matrix, in words."""
    fault, moment = row
    required = " *or* ".join(words(one) for one in fault.required[moment])
    if result is None:
        return (fault.name, moment.value, required, "", "", "not run")
    after = result.seen["detected_after_s"]
    verdict = result.verdict
    if result.attempts > 1:
        verdict += f" ({result.attempts} attempts: {result.note or 'the computer was late'})"
    return (
        fault.name,
        moment.value,
        required,
        seen_words(result.seen),
        "" if after is None else f"{after:.2f} s",
        verdict,
    )


def words(required: Required) -> str:
    """A requirement in a few words."""
    said = [required.ending.value.replace("_", " ")]
    if required.motor is not None:
        limit = f" ≤ {required.motor_within_s:g} s" if required.motor_within_s else ""
        said.append(f"motor {required.motor}{limit}")
    if required.still_within_s is not None:
        said.append(f"cam still ≤ {required.still_within_s:g} s")
    limit = f" ≤ {required.dark_within_s:g} s" if required.dark_within_s else ""
    said.append("lamps " + "/".join(map(str, required.lamps)) + limit)
    said.append("/".join(required.codes) if required.codes else "no fault")
    if required.within_s is not None:
        said.append(f"seen ≤ {required.within_s:g} s")
    if required.start_says:
        said.append(f"start refused: “{required.start_says}”")
    said.append(f"then {required.life}")
    return ", ".join(said)


def seen_words(seen: dict[str, Any]) -> str:
    """What was seen in a few words."""
    said = [str(seen["ending"]).replace("_", " ")]
    if seen["motor"] is not None:
        after = seen["motor_after_s"] if seen["motor"] == "stopped" else None
        said.append(f"motor {seen['motor']}" + (f" {after:.3f} s" if after is not None else ""))
    if seen["still_after_s"] is not None:
        said.append(f"cam still {seen['still_after_s']:.2f} s")
    dark = f" {seen['dark_after_s']:.3f} s" if seen["dark_after_s"] is not None else ""
    said.append(f"lamps {seen['lamps']}{dark}")
    said.append("/".join(seen["codes"]) or "no fault")
    if seen["source"] == "entered":
        said.append("dealer entered")
    said.append(f"then {seen['life']}")
    return ", ".join(said)


def page(lines: Iterable[tuple[str, ...]], head: tuple[str, ...] = HEAD) -> str:
    """The matrix, or another table, as Markdown."""
    rows = [head, tuple("---" for _ in head), *lines]
    return (
        "\n".join("| " + " | ".join(cell.replace("|", "/") for cell in row) + " |" for row in rows)
        + "\n"
    )
