"""Three dice at rest.

Owns the die value, all outcomes, and what an area is called by. Must not know images, confidence,
how the values were found, or what they win (`layout`).
"""

from __future__ import annotations

from itertools import product

Values = tuple[int, int, int]
"""Top faces of the three dice, each 1 to 6. Order carries no meaning."""

Area = str
"""Name of a betting area: `small`, `triple-4`, `pair-2-5`."""

FACES = range(1, 7)

OUTCOMES: tuple[Values, ...] = tuple((a, b, c) for a, b, c in product(FACES, repeat=3))
"""All 216 equally likely outcomes of three fair, distinguishable dice."""


def is_values(values: tuple[int, ...]) -> bool:
    """True when `values` is what a toss can show: three whole numbers of 1 to 6."""
    return len(values) == 3 and all(value in FACES for value in values)
