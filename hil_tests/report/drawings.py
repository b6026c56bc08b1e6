"""Traces and histograms as SVG, for a page that needs nothing else.

Owns how lines over time and spread of values are drawn. Must not know where they come from.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

LABEL = 118
PLOT = 860
RIGHT = 92
ROW = 30
WAVE = 20
AXIS = 24
TOP = 16

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

    `marks` are vertical lines (time, text, class).
    """
    if not signals or t1 <= t0:
        return ""
    scale = _Scale(t0, t1)
    moved = {key for line in signals[1:] for key in line}
    moved |= {key for key, value in signals[0].items() if key in SAID and value}
    rows = [*ALWAYS, *(name for name in WHEN_MOVED if name in moved)]
    if lamps:
        rows.append("lamps")
    height = TOP + ROW * len(rows) + AXIS
    parts = [
        f'<svg class="trace" viewBox="0 0 {LABEL + PLOT + RIGHT} {height}" role="img" '
        f'aria-label="Lines from {t0 - origin:.2f} s to {t1 - origin:.2f} s">'
    ]
    parts += _grid(scale, origin, height)
    for number, name in enumerate(rows):
        y = TOP + ROW * number
        parts.append(f'<text class="name" x="4" y="{y + 16}">{NAMES[name]}</text>')
        if name == "tach":
            parts += _ticks(signals, scale, y)
        elif name == "lamps":
            parts += _lamps(lamps, scale, y)
        else:
            parts += _line(signals, name, scale, y)
    parts += _marks(marks, scale, height)
    parts.append("</svg>")
    return "".join(parts)


class _Scale:
    def __init__(self, t0: float, t1: float) -> None:
        self.t0, self.t1 = t0, t1

    def x(self, t: float) -> float:
        share = (min(max(t, self.t0), self.t1) - self.t0) / (self.t1 - self.t0)
        return round(LABEL + PLOT * share, 1)


def _grid(scale: _Scale, origin: float, height: int) -> list[str]:
    step = _round_step((scale.t1 - scale.t0) / 8)
    at = math.ceil((scale.t0 - origin) / step) * step
    parts = []
    while origin + at <= scale.t1:
        x = scale.x(origin + at)
        parts.append(f'<line class="grid" x1="{x}" y1="{TOP}" x2="{x}" y2="{height - AXIS}"/>')
        parts.append(f'<text class="tick" x="{x}" y="{height - 8}">{at:.6g} s</text>')
        at += step
    return parts


def _round_step(wanted: float) -> float:
    power = 10 ** math.floor(math.log10(max(wanted, 1e-6)))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= wanted)


def _line(signals: Signals, name: str, scale: _Scale, y: float) -> list[str]:
    points = [(line["t"], float(line[name])) for line in signals if name in line]
    if not points:
        return []
    most = max(value for _, value in points)
    full = {"duty": 1.0, "light": 1.0, "rpm": max(1000.0, most)}.get(name, 1.0)
    path, level = [], 0.0
    for index, (t, value) in enumerate(points):
        x = scale.x(t)
        height = round(y + 4 + WAVE * (1 - value / full), 1)
        path.append(f"M{x} {height}" if index == 0 else f"L{x} {level}L{x} {height}")
        level = height
    path.append(f"L{scale.x(scale.t1)} {level}")
    base = y + 4 + WAVE
    drawn = [f'<path class="fill" d="{"".join(path)}L{LABEL + PLOT} {base}L{LABEL} {base}Z"/>']
    drawn.append(f'<path class="wave" d="{"".join(path)}"/>')
    if name in SAID:
        last = SAID[name][1 if points[-1][1] else 0]
        drawn.append(f'<text class="value" x="{LABEL + PLOT + 4}" y="{y + 17}">{last}</text>')
    else:
        said = f"{most:.0f} rpm" if name == "rpm" else f"{most:.0%}"
        drawn.append(f'<text class="value" x="{LABEL + PLOT + 4}" y="{y + 17}">max {said}</text>')
    return drawn


def _ticks(signals: Signals, scale: _Scale, y: float) -> list[str]:
    edges = [line["t"] + us * 1e-6 for line in signals for us in line.get("tach", ())]
    edges = [edge for edge in edges if scale.t0 <= edge <= scale.t1]
    path = "".join(f"M{scale.x(edge)} {y + 4}v{WAVE}" for edge in edges)
    return [
        f'<path class="edges" d="{path}"/>' if path else "",
        f'<text class="value" x="{LABEL + PLOT + 4}" y="{y + 17}">{len(edges)}</text>',
    ]


def _lamps(lamps: Sequence[Mapping[str, Any]], scale: _Scale, y: float) -> list[str]:
    parts = []
    for index, change in enumerate(lamps):
        ends = lamps[index + 1]["t"] if index + 1 < len(lamps) else scale.t1
        x, width = scale.x(change["t"]), scale.x(ends) - scale.x(change["t"])
        if not change["areas"] or width <= 0:
            continue
        said = " ".join(change["areas"])
        parts.append(
            f'<rect class="lit" x="{x}" y="{y + 4}" width="{max(width, 1.5):.1f}" '
            f'height="{WAVE}"><title>{escape(said)}</title></rect>'
        )
        room = int(width / 6.2)
        if room > 6:
            short = said if len(said) <= room else said[: room - 1] + "…"
            parts.append(f'<text class="areas" x="{x + 3}" y="{y + 18}">{escape(short)}</text>')
    return parts


def _marks(marks: Sequence[tuple[float, str, str]], scale: _Scale, height: int) -> list[str]:
    parts = []
    for t, text, kind in marks:
        if scale.t0 <= t <= scale.t1:
            x = scale.x(t)
            anchor = "end" if x > LABEL + PLOT * 0.8 else "start"
            parts.append(
                f'<line class="mark {kind}" x1="{x}" y1="{TOP - 4}" x2="{x}" y2="{height - AXIS}"/>'
                f'<text class="marked {kind}" x="{x}" y="{TOP - 5}" text-anchor="{anchor}">'
                f"{escape(text)}</text>"
            )
    return parts


def histogram(
    values: Sequence[float],
    unit: str,
    *,
    lower: float | None = None,
    upper: float | None = None,
    bins: int = 40,
) -> str:
    """Draw how values spread, with limits where they lie in sight."""
    finite = [value for value in values if math.isfinite(value)]
    if len(finite) < 2:
        return ""
    low, high = min(finite), max(finite)
    # A limit within reach is shown; one far away would press the values into a corner.
    span = high - low or abs(high) or 1.0
    for limit in (lower, upper):
        if limit is not None and low - 2 * span <= limit <= high + 2 * span:
            low, high = min(low, limit), max(high, limit)
    margin = 0.04 * (high - low or 1.0)
    low, high = low - margin, high + margin
    counts = [0] * bins
    for value in finite:
        counts[min(bins - 1, int((value - low) / (high - low) * bins))] += 1
    width, height = 420, 120
    most = max(counts)
    parts = [f'<svg class="histogram" viewBox="0 0 {width} {height + 34}" role="img">']
    for number, count in enumerate(counts):
        if count:
            tall = max(1.5, height * count / most)
            parts.append(
                f'<rect class="bar" x="{width * number / bins:.1f}" y="{height - tall:.1f}" '
                f'width="{width / bins - 0.8:.1f}" height="{tall:.1f}"/>'
            )
    for limit, name in ((lower, "lower limit"), (upper, "upper limit")):
        if limit is not None and low <= limit <= high:
            x = width * (limit - low) / (high - low)
            anchor = "end" if x > width * 0.7 else "start"
            parts.append(f'<line class="limit" x1="{x:.1f}" y1="0" x2="{x:.1f}" y2="{height}"/>')
            parts.append(
                f'<text class="limit" x="{x:.1f}" y="11" text-anchor="{anchor}">{name}</text>'
            )
    parts.append(f'<line class="axis" x1="0" y1="{height}" x2="{width}" y2="{height}"/>')
    for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        value = low + share * (high - low)
        parts.append(
            f'<text class="tick" x="{width * share}" y="{height + 14}" '
            f'style="text-anchor:{anchor}">{value:.4g} {escape(unit)}</text>'
        )
    ordered = sorted(finite)
    said = (
        f"{len(finite)} values, median {ordered[len(ordered) // 2]:.4g}, "
        f"least {ordered[0]:.4g}, most {ordered[-1]:.4g} {unit}"
    )
    parts.append(f'<text class="tick" x="0" y="{height + 30}" style="text-anchor:start">')
    parts.append(f"{escape(said)}</text></svg>")
    return "".join(parts)
