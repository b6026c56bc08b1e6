"""How sure a counted share is: the same interval on every page and in every bench."""

from __future__ import annotations

import math

Z = 1.96
"""Standard deviations to either side that hold 95 % of a normal distribution."""


def bounds(part: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of `part` / `of`: Wilson's; for none or all the exact bound of one
    side, of which 3 / `of` is the usual short form."""
    if of == 0:
        return 0.0, 1.0
    if part == 0:
        return 0.0, 1 - 0.05 ** (1 / of)
    if part == of:
        return 0.05 ** (1 / of), 1.0
    share = part / of
    middle = share + Z * Z / (2 * of)
    reach = Z * math.sqrt(share * (1 - share) / of + Z * Z / (4 * of * of))
    scale = 1 + Z * Z / of
    return (middle - reach) / scale, (middle + reach) / scale
