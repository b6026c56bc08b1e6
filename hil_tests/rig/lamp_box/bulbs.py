"""Fifty-two lamps with filaments: which are driven, which glow, and the current of each lamp.

Owns the electrical truth of the lamps. Must not know registers or what a result is.
"""

from __future__ import annotations

import math
import random

RATED_MA = 40
WARM_TAU_S = 0.005
"""Rise of a small filament's light and current: 98 % after 20 ms (estimate from 12 V, 0.5 W panel
lamps; measuring one would settle it)."""
COLD_TAU_S = 0.002
NOISE_PERCENT = 1.5


class Bulbs:
    """Lamps behind their drivers. Not thread-safe: the box that drives them owns them."""

    def __init__(self, count: int, seed: int = 0) -> None:
        self.count = count
        self.burnt: set[int] = set()
        self.stuck: set[int] = set()
        self._chance = random.Random(seed)
        self._driven = 0
        self._switched_at = [-1e9] * count

    def drive(self, mask: int, now: float) -> None:
        """Switch the drivers to `mask`."""
        changed = mask ^ self._driven
        for lamp in range(self.count):
            if changed >> lamp & 1:
                self._switched_at[lamp] = now
        self._driven = mask

    @property
    def driven(self) -> int:
        """What the drivers' own read-back says."""
        return self._driven

    def currents(self, now: float) -> list[int]:
        """Return each lamp's current in percent of the rated one, as the converter sees it."""
        return [self._current(lamp, now) for lamp in range(self.count)]

    def _current(self, lamp: int, now: float) -> int:
        if lamp in self.burnt:
            return 0
        age_s = now - self._switched_at[lamp]
        if lamp in self.stuck:
            percent = 100.0
        elif self._driven >> lamp & 1:
            percent = 100.0 * (1.0 - math.exp(-age_s / WARM_TAU_S))
        elif age_s < 10 * COLD_TAU_S:
            percent = 100.0 * math.exp(-age_s / COLD_TAU_S)
        else:
            return 0
        return max(0, min(255, round(percent + self._chance.gauss(0.0, NOISE_PERCENT))))
