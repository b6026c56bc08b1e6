"""How high the pips of a table's flat dice lie, by the two lenses of its camera.

Owns: the usual height and its spread. Must not know how a height is measured (`vision.pip_heights`)
or what else speaks for a flat die.

The second lens may be a tenth of a millimetre beside where its calibration says, which is half a
millimetre of height, the same for every die. So a die is held against the table's own flat ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vision.reading import Height

LIKENESS = 0.75
"""How alike both lenses must show the pips, -1..1. Below: their height says nothing."""
_SURE = 0.02
"""Largest distance from the usual height, in dice, at which a die may be sure to be flat. A lean of
6° raises the middle of a top by 0.047; of 120 dice of the rig that lean by 6° to 20° none is below
0.044."""
_LEAST = 0.01
"""Least distance that a table asks for: no height is measured better."""
_SPREADS = 5.0
_RISE = 0.05, 0.085
"""Least and largest rise of a flat die's pips along its face that a table asks for, in dice for a
die. Those of a die that leans by 6° rise by 0.105; of 420 flat dice of the rig by 0.021 at most, of
84 clear path-traced ones by 0.078."""
_LEANS = 0.0375
"""Distance from the usual height, in dice, from which a die surely does not lie flat: 4.7°."""


@dataclass(frozen=True, slots=True)
class UsualHeight:
    """Of a table's flat dice, above the top of a die, in dice."""

    middle: float
    reach: float
    """Largest distance from it at which a die is flat."""
    rise: float
    """Most that its pips rise along its face, in dice for a die."""

    @classmethod
    def taught(cls, heights: Sequence[Height]) -> UsualHeight | None:
        """Learn from confirmed flat dice; None where the lenses show none alike."""
        alike = [each for each in heights if each.likeness >= LIKENESS]
        if not alike:
            return None
        middle, spread = _usual([each.above for each in alike])
        slope, uneven = _usual([each.slope for each in alike if each.slope])
        return cls(
            middle,
            min(max(_SPREADS * spread, _LEAST), _SURE),
            float(np.clip(slope + _SPREADS * uneven, *_RISE)),
        )

    def odds(self, height: Height, most: float) -> float:
        """Log-odds of flat, `most` at the usual height, half of it at the reach, and as much
        against it at `_LEANS`; never for flat by pips that rise."""
        away = abs(height.above - self.middle)
        if height.slope > self.rise:
            away = max(away, (self.reach + _LEANS) / 2)
        ways = (0.0, self.reach, _LEANS, 2 * _LEANS - self.reach)
        return float(np.interp(away, ways, (most, most / 2, -most / 2, -most)))

    def is_flat(self, height: Height) -> bool:
        """True if both lenses show the pips alike, as high as a flat die's."""
        return height.likeness >= LIKENESS and self.odds(height, 1.0) >= 0.5


def _usual(numbers: Sequence[float]) -> tuple[float, float]:
    """Their median and their spread; 0 of none."""
    if not numbers:
        return 0.0, 0.0
    middle = float(np.median(numbers))
    return middle, 1.48 * float(np.median(np.abs(np.array(numbers) - middle)))
