"""A recorded trace as a picture, a row per pin.

Owns: how it is drawn. Must not know: boards. Loads OpenCV; import it only where a picture is drawn.
"""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from hil_tests.rig.pigpiod.traces.recorder import Trace

PLOT_PX = 1400
LABEL_PX = 190
MARGIN_PX = 60
TOP_PX = 20
ROW_PX = 56
HIGH_PX, LOW_PX = 12, 42
_PAPER, _INK, _GRID = (255, 255, 255), (40, 40, 40), (225, 225, 225)
_FILL = np.array([235, 190, 120])  # blue, green, red


def write_png(trace: Trace, path: Path) -> None:
    """Draw the trace, a row per pin. Where edges lie too close to see, the fill shows the duty."""
    height = TOP_PX + ROW_PX * (len(trace.gpios) + 1)
    picture = np.full((height, LABEL_PX + PLOT_PX + MARGIN_PX, 3), _PAPER, np.uint8)
    _draw_time_axis(picture, trace.end_us - trace.start_us)
    for row, gpio in enumerate(trace.gpios):
        top = TOP_PX + row * ROW_PX
        _text(picture, f"GPIO {gpio}", (10, top + 34))
        _draw_row(picture[top : top + ROW_PX, LABEL_PX : LABEL_PX + PLOT_PX], trace, gpio)
    if not cv2.imwrite(str(path), picture):
        raise OSError(f"could not write {path}")


def is_drawn(path: Path) -> bool:
    """Whether a picture can be written under this name: its ending says which kind."""
    return bool(cv2.haveImageWriter(str(path)))


def _draw_row(row: np.ndarray, trace: Trace, gpio: int) -> None:
    high, has_edge = _columns(trace, gpio)
    for column in range(PLOT_PX):
        if has_edge[column]:
            shade = (np.array(_PAPER) * (1 - high[column]) + _FILL * high[column]).astype(np.uint8)
            row[HIGH_PX : LOW_PX + 1, column] = shade
            row[[HIGH_PX, LOW_PX], column] = _INK
            if not (has_edge[max(column - 1, 0)] or has_edge[min(column + 1, PLOT_PX - 1)]):
                row[HIGH_PX : LOW_PX + 1, column] = _INK  # a lone edge: a clear line
        else:
            row[HIGH_PX if high[column] else LOW_PX, column] = _INK


def _columns(trace: Trace, gpio: int) -> tuple[np.ndarray, np.ndarray]:
    """Per pixel column: share of the time that the pin was high, and whether it moved."""
    span_us = max(trace.end_us - trace.start_us, 1)
    times = [0, *(at_us - trace.start_us for at_us, _ in trace.edges(gpio)), span_us]
    levels = [trace.first_level(gpio), *(level for _, level in trace.edges(gpio))]
    # Time spent high up to each edge; between edges it grows linearly, so it can be interpolated.
    spent = np.concatenate([[0.0], np.cumsum(np.diff(times) * np.array(levels))])
    borders = np.linspace(0, span_us, PLOT_PX + 1)
    high = np.diff(np.interp(borders, times, spent)) / (span_us / PLOT_PX)
    has_edge = np.histogram(times[1:-1], borders)[0] > 0
    return np.clip(high, 0, 1), has_edge


def _draw_time_axis(picture: np.ndarray, span_us: int) -> None:
    bottom = picture.shape[0] - ROW_PX
    step_us = _round_step(span_us / 8)
    unit, scale = ("s", 1e6) if step_us >= 1e6 else ("ms", 1e3)
    for at_us in np.arange(0, span_us, step_us):
        x = LABEL_PX + int(PLOT_PX * at_us / max(span_us, 1))
        picture[:bottom, x] = _GRID
        _text(picture, f"{at_us / scale:.6g} {unit}", (x - 20, bottom + 24), 0.42)


def _round_step(wanted_us: float) -> float:
    """The next 1, 2 or 5 times a power of ten."""
    power = 10 ** np.floor(np.log10(max(wanted_us, 1)))
    return float(next(power * digit for digit in (1, 2, 5, 10) if power * digit >= wanted_us))


def _text(picture: np.ndarray, text: str, at: tuple[int, int], size: float = 0.5) -> None:
    cv2.putText(picture, text, at, cv2.FONT_HERSHEY_SIMPLEX, size, _INK, 1, cv2.LINE_AA)
