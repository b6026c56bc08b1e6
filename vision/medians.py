"""The median of a few numbers.

Owns: a median that costs a quarter of `np.median`, most of whose time is not arithmetic.
"""

from __future__ import annotations

import numpy as np


def median(values: np.ndarray) -> float:
    """The median of (N,) numbers that are all finite; N is 1 or more."""
    return float(medians(values[None])[0])


def medians(rows: np.ndarray) -> np.ndarray:
    """(M,) medians of (M, N) numbers that are all finite; N is 1 or more."""
    low, high = (rows.shape[1] - 1) // 2, rows.shape[1] // 2
    ordered = np.partition(rows, (low, high), axis=1)
    return np.asarray((ordered[:, low] + ordered[:, high]) / 2)
