"""Traces as SVG, for a page that needs nothing else.

Owns how lines over time are drawn. Must not know where they come from.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hil_tests.report.html import filled

LEFT = 118
"""The plot lies between LEFT and RIGHT, pixels; names stand before it, values behind it."""
RIGHT = 978
WIDTH = 1070
ROW = 30
HIGH, LOW = 4, 24
"""Of a wave in its row, pixels from the row's top."""
AXIS = 24
TOP = 16
LETTER = 6.2
"""Width of a letter of a lamp's name, pixels."""

NAMES = {
    "enable": "EN (motor)",
    "duty": "motor PWM",
    "rpm": "cam speed",
    "tach": "tach edges",
    "light": "ring light",
    "compartment": "compartment",
    "cover": "cover",
    "estop": "e-stop",
    "button": "player button",
    "fault": "driver fault",
    "cover_drive": "cover drive",
    "latch": "latch release",
    "lamps": "lamps lit",
}
SAID = {
    "compartment": ("closed", "OPEN"),
    "cover": ("closed", "open"),
    "estop": ("out", "PRESSED"),
    "button": ("up", "pressed"),
    "fault": ("no", "FAULT"),
    "cover_drive": ("close", "open"),
    "latch": ("locked", "released"),
    "enable": ("low", "high"),
}
ALWAYS = ("enable", "duty", "rpm", "tach", "light")
WHEN_MOVED = ("estop", "compartment", "cover", "fault", "button", "cover_drive", "latch")

Signals = Sequence[Mapping[str, Any]]


def trace(
    signals: Signals,
    t0: float,
    t1: float,
    *,
    origin: float,
    lamps: Sequence[Mapping[str, Any]] = (),
    marks: Sequence[tuple[float, str, str]] = (),
) -> str:
    """Draw the lines from `t0` to `t1`; times are shown in seconds since `origin`.

    `marks` are vertical lines (time, text, class). Empty where there is nothing to draw.
    """
    if not signals or t1 <= t0:
        return ""
    scale = _Scale(t0, t1)
    moved = {key for line in signals[1:] for key in line}
    moved |= {key for key, value in signals[0].items() if key in SAID and value}
    names = [*ALWAYS, *(name for name in WHEN_MOVED if name in moved)]
    rows = [_row(name, signals, scale) for name in names]
    if lamps:
        rows.append({**EMPTY, "name": NAMES["lamps"], "lit": list(_lit(lamps, scale))})
    bottom = TOP + ROW * len(rows)
    return filled(
        "report/trace.svg",
        width=WIDTH,
        height=bottom + AXIS,
        top=TOP,
        bottom=bottom,
        left=LEFT,
        right=RIGHT,
        low=LOW,
        begin_s=t0 - origin,
        end_s=t1 - origin,
        ticks=list(_ticks(scale, origin)),
        rows=[{**row, "y": TOP + ROW * number} for number, row in enumerate(rows)],
        marks=[(scale.x(t), text, kind) for t, text, kind in marks if t0 <= t <= t1],
    )


EMPTY: dict[str, Any] = {"wave": "", "edges": "", "lit": (), "said": ""}


class _Scale:
    def __init__(self, t0: float, t1: float) -> None:
        self.t0, self.t1 = t0, t1

    def x(self, t: float) -> float:
        share = (min(max(t, self.t0), self.t1) - self.t0) / (self.t1 - self.t0)
        return round(LEFT + (RIGHT - LEFT) * share, 1)


def _ticks(scale: _Scale, origin: float) -> Iterator[tuple[float, float]]:
    """Where the axis is labelled, and with how many seconds."""
    step = _round_step((scale.t1 - scale.t0) / 8)
    at = math.ceil((scale.t0 - origin) / step) * step
    while origin + at <= scale.t1:
        yield scale.x(origin + at), at
        at += step


def _round_step(wanted: float) -> float:
    power = 10 ** math.floor(math.log10(max(wanted, 1e-6)))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= wanted)


def _row(name: str, signals: Signals, scale: _Scale) -> dict[str, Any]:
    """One line over time: its wave or its edges, and what is said behind it."""
    row = {**EMPTY, "name": NAMES[name]}
    if name == "tach":
        edges = [line["t"] + us * 1e-6 for line in signals for us in line.get("tach", ())]
        edges = [edge for edge in edges if scale.t0 <= edge <= scale.t1]
        path = "".join(f"M{scale.x(edge)} {HIGH}V{LOW}" for edge in edges)
        return {**row, "edges": path, "said": len(edges)}
    points = [(line["t"], float(line[name])) for line in signals if name in line]
    if not points:
        return row
    most = max(value for _, value in points)
    full = max(1000.0, most) if name == "rpm" else 1.0
    path = ""
    for t, value in points:
        path += f"H{scale.x(t)}" if path else f"M{scale.x(t)} {LOW}"
        path += f"V{round(LOW - (LOW - HIGH) * value / full, 1)}"
    if name in SAID:
        said = SAID[name][1 if points[-1][1] else 0]
    else:
        said = f"max {most:.0f} rpm" if name == "rpm" else f"max {most:.0%}"
    return {**row, "wave": f"{path}H{RIGHT}", "said": said}


def _lit(lamps: Sequence[Mapping[str, Any]], scale: _Scale) -> Iterator[dict[str, Any]]:
    """The times in which lamps burnt, with their names as far as there is room."""
    for index, change in enumerate(lamps):
        ends = lamps[index + 1]["t"] if index + 1 < len(lamps) else scale.t1
        x, width = scale.x(change["t"]), scale.x(ends) - scale.x(change["t"])
        if not change["areas"] or width <= 0:
            continue
        said = " ".join(change["areas"])
        room = int(width / LETTER)
        short = said if len(said) <= room else said[: room - 1] + "…"
        yield {"x": x, "width": width, "said": said, "short": short if room > 6 else ""}
