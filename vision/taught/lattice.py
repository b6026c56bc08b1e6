"""The nine places of a face that may have a pip, and which of them each value has.

Owns: values, layouts and their likelihood. Must not know pictures.
"""

from __future__ import annotations

import numpy as np

PLACES = np.array([(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1)], float)
"""(9, 2) in spacings from the middle of a face."""
MIDDLE = len(PLACES) // 2
"""Which of them is there."""
_LAYOUTS = (
    ("....o....",),
    ("o.......o", "..o...o.."),
    ("o...o...o", "..o.o.o.."),
    ("o.o...o.o",),
    ("o.o.o.o.o",),
    ("o.oo.oo.o", "ooo...ooo"),
)
"""Of each value: which of the nine places have pips, in all its orientations."""
VALUES = np.array([value for value, drawn in enumerate(_LAYOUTS, 1) for _ in drawn])
"""(L,) the value of each layout."""
ON = np.array([[mark == "o" for mark in one] for drawn in _LAYOUTS for one in drawn])
"""(L, 9) where a layout has pips."""
_SIGNS = np.where(ON, 1.0, -1.0)


def best(odds: np.ndarray) -> tuple[int, float]:
    """The layout that explains (9,) log-odds of a pip best, and its lead over another value's."""
    scores = _SIGNS @ odds
    at = int(scores.argmax())
    return at, float(scores[at] - scores[VALUES[at] != VALUES].max())


def layout_of(value: int, odds: np.ndarray) -> int:
    """Which layout of a known value (9,) log-odds show."""
    return int(np.where(value == VALUES, _SIGNS @ odds, -np.inf).argmax())


def rivals(on: np.ndarray, unknown: np.ndarray) -> list[int]:
    """Other values that a face with pips `on` (9,) places may have if some are `unknown`."""
    fits = (on == ON)[:, ~unknown].all(axis=1)
    own = VALUES[(on == ON).all(axis=1)]
    return sorted({int(value) for value in VALUES[fits] if value not in own})


def explained(odds: np.ndarray) -> np.ndarray:
    """(...) how well the best layout explains (..., 9) log-odds against a plain floor, on which
    there are no pips either: only a pip where none should be speaks against a layout."""
    against = np.maximum(odds, 0)
    return np.asarray((odds @ ON.T - against @ ~ON.T).max(axis=-1))
