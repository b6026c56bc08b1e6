"""What the rig's own logs say about one test: its tosses, its lines, its lamps, its faults.

Owns the cutting of the logs to the time of a test, how they join to one record of each toss, and
when the rig itself was late, since what a late rig shows may be no fault of the controller.
All times are CLOCK_MONOTONIC, which every log shares. Must not know what should have happened.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

BEFORE_S = 0.5
AFTER_S = 1.5
"""How much of the lines is kept around a toss."""

LATE_MS = 25.0
"""The rig moves its machine every 8 to 15 ms while the cam turns; one after this long is late."""
TURNING_RPM = 300
"""Above this speed every turn of the rig changes a line, so that a pause is seen."""

Lines = list[dict[str, Any]]


def lines_of(path: str | Path) -> Lines:
    """The whole lines of a growing log; none where there is no such file."""
    try:
        text = Path(path).read_text("utf-8")
    except OSError:
        return []
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def between(lines: Lines, t0: float, t1: float, key: str = "t") -> Lines:
    return [line for line in lines if t0 <= line[key] <= t1]


def gather(
    rig: Mapping[str, Any],
    t0: float,
    t1: float,
    pictures: Mapping[int, bytes],
    readings: Mapping[int, Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the evidence of `t0` to `t1`, ready for JSON.

    `pictures` are a witness's by toss; `readings` what the controller recorded, by round, each with
    `at` (monotonic seconds of its toss, where one was made), `title`, `text` and `picture` (bytes).
    """
    signals = lines_of(rig["signals"])
    tosses = between(lines_of(rig["truth"]), t0, t1, "t_rest")
    return {
        "rig": {key: rig[key] for key in ("rig", "geometry", "dice", "seed")},
        "tosses": [
            {
                **toss,
                "picture": _base64(pictures.get(toss["toss"])),
                "reading": _reading_of(toss, readings),
                "signals": _window(signals, toss["t_start"] - BEFORE_S, toss["t_rest"] + AFTER_S),
            }
            for toss in tosses
        ],
        "signals": _window(signals, t0, t1),
        "lamps": between(lines_of(rig["lamps"]), t0, t1),
        "events": between(lines_of(rig["events"]), t0, t1),
        "late": _late(signals, t0, t1),
    }


def _window(signals: Lines, t0: float, t1: float) -> Lines:
    """Changes from `t0` to `t1`, headed by the state that held at `t0`; tach edges as times."""
    state: dict[str, Any] = {}
    kept: Lines = []
    for line in signals:
        if line["t"] > t1:
            break
        known = {key: value for key, value in line.items() if key not in ("t", "tach")}
        if line["t"] < t0:
            state |= known
            continue
        if not kept:
            kept.append({"t": t0, **state})
        kept.append(line)
    return kept or [{"t": t0, **state}]


def _late(signals: Lines, t0: float, t1: float) -> list[list[float]]:
    """Turns of the rig that came late while the cam turned: [when, milliseconds after the last]."""
    found = []
    rpm = 0.0
    for line, following in pairwise(signals):
        rpm = line.get("rpm", rpm)
        took_ms = 1000.0 * (following["t"] - line["t"])
        if rpm >= TURNING_RPM and took_ms > LATE_MS and t0 <= line["t"] <= t1:
            found.append([line["t"], round(took_ms, 1)])
    return found


def _reading_of(toss: Mapping[str, Any], readings: Mapping[int, Mapping[str, Any]]) -> Any:
    """What the controller recorded of this toss: of all rounds the one whose EN-on lies nearest."""
    near = [
        (abs(reading["at"] - toss["t_start"]), number)
        for number, reading in readings.items()
        if reading.get("at") is not None and abs(reading["at"] - toss["t_start"]) < 1.0
    ]
    if not near:
        return None
    number = min(near)[1]
    reading = readings[number]
    return {
        "round": number,
        "title": reading["title"],
        "text": reading["text"],
        "picture": _base64(reading.get("picture")),
    }


def _base64(picture: bytes | None) -> str:
    return base64.b64encode(picture).decode("ascii") if picture else ""
