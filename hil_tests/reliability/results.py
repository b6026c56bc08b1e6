"""Results in a folder: what was played, what became of it, and the report of all.

Owns the report and the lines made of a campaign of rows. Must not know how a row is played.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from hil_tests.campaign import Campaign
from hil_tests.reliability.catalogue import CatalogueFault
from hil_tests.reliability.moments import Moment
from hil_tests.reliability.required import Observation, Required
from hil_tests.reliability.trial import Result
from hil_tests.report import files
from hil_tests.report.header import header
from hil_tests.report.measurement import Measure
from hil_tests.report.record import TestRecord
from hil_tests.report.story import FOUND

Row = tuple[CatalogueFault, Moment]


def kept_in(folder: Path) -> Campaign[Result]:
    """The rows that were played into a folder. Raises OSError where it cannot be made."""
    return Campaign(folder / "results.jsonl", Result)


def name(row: Row) -> str:
    """What a row is called."""
    fault, moment = row
    return f"{fault.name}@{moment.name.lower()}"


def case(row: Row) -> str:
    """What a row is called in a campaign: a row that was changed since is another case."""
    fault, moment = row
    played = repr(replace(fault, required={moment: fault.required[moment]}))
    return f"{name(row)}, {hashlib.sha256(played.encode()).hexdigest()[:8]}"


def open_rows(kept: Campaign[Result], wanted: Sequence[Row]) -> list[Row]:
    """Rows that are still to be played: those without a result, and those that differed."""
    found = [(row, kept.find(case(row))) for row in wanted]
    return [row for row, result in found if result is None or not result.is_as_required]


def count(kept: Campaign[Result], rows: Iterable[Row]) -> tuple[int, int]:
    """How many of these rows differ, and how many have no result."""
    found = [kept.find(case(row)) for row in rows]
    differ = sum(result is not None and not result.is_as_required for result in found)
    return differ, found.count(None)


def write_report(kept: Campaign[Result], rows: Sequence[Row], folder: Path) -> None:
    """Write the report of those of these rows that were played. `rows`: all that may ever be played
    into this folder, so that a run of a few of them leaves none of the others out."""
    found = [(row, kept.find(case(row))) for row in rows]
    files.write(
        folder,
        rig="virtual, faults",
        at=datetime.now().astimezone().isoformat(timespec="seconds"),
        began_s=time.monotonic(),
        about=header(None, None),
        tests=[as_test(row, result) for row, result in found if result is not None],
        is_ended=all(result is not None for _, result in found),
    )


def wanted(row: Row) -> str:
    """What a row requires, in a few words."""
    fault, moment = row
    return " or ".join(words(one) for one in fault.required[moment])


def measured(row: Row, result: Result, measure: Measure) -> None:
    """Take the times of a row, with what is required of them as their limits."""
    fault, moment = row
    required = fault.required[moment]
    for what, seen_s, limits in (
        ("EN low", result.seen.motor_after_s, [one.motor_within_s for one in required]),
        ("cam still", result.seen.still_after_s, [one.still_within_s for one in required]),
        ("lamps dark", result.seen.dark_after_s, [one.dark_within_s for one in required]),
        ("detected", result.seen.detected_after_s, [one.within_s for one in required]),
    ):
        known = [limit for limit in limits if limit is not None]
        if seen_s is not None and known:
            measure(f"fault to {what}", seen_s, "s", upper=max(known))


def as_test(row: Row, result: Result) -> dict[str, Any]:
    """One row as a test of the stories' report."""
    fault, moment = row
    record = TestRecord(
        f"faults::{name(row)}",
        f"{fault.name.replace('-', ' ')}, {moment.value}",
        f"Required: {wanted(row)}.",
    )
    record.t1 = record.t0 + result.took_s
    measured(row, result, record.measure)
    record.story.saw("table", seen_words(result.seen))
    if result.attempts > 1:
        why = result.note or "the computer was late"
        record.story.saw("bench", f"{result.attempts} attempts: {why}")
    record.outcome = "passed" if result.is_as_required else "failed"
    if result.differences:
        record.reason = f"expected: {wanted(row)}{FOUND}{'; '.join(result.differences)}"
    return record.as_dict()


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


def seen_words(seen: Observation) -> str:
    """What was seen in a few words."""
    said = [str(seen.ending).replace("_", " ")]
    if seen.motor is not None:
        after = seen.motor_after_s if seen.motor == "stopped" else None
        said.append(f"motor {seen.motor}" + (f" {after:.3f} s" if after is not None else ""))
    if seen.still_after_s is not None:
        said.append(f"cam still {seen.still_after_s:.2f} s")
    dark = f" {seen.dark_after_s:.3f} s" if seen.dark_after_s is not None else ""
    said.append(f"lamps {seen.lamps}{dark}")
    said.append("/".join(seen.codes) or "no fault")
    if seen.source == "entered":
        said.append("dealer entered")
    said.append(f"then {seen.life}")
    return ", ".join(said)
