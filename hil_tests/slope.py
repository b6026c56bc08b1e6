"""A straight line through measured points, and how sure its slope is."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence


def slope(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Return slope and standard error of the least-squares line through at least three points."""
    steepness, start = statistics.linear_regression(xs, ys)
    rest = sum((y - start - steepness * x) ** 2 for x, y in zip(xs, ys, strict=True))
    middle = statistics.fmean(xs)
    spread = sum((x - middle) ** 2 for x in xs)
    return steepness, math.sqrt(rest / (len(xs) - 2) / spread)
