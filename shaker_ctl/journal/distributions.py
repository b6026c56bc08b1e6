"""The few distributions that the statistics need, in closed or quickly converging form.

Checked against SciPy in the tests; SciPy itself is no part of a table.
"""

from __future__ import annotations

import math
from statistics import NormalDist


def normal_two_sided(z: float) -> float:
    """Chance of a standard normal at least as far from 0 as `z`."""
    return math.erfc(abs(z) / math.sqrt(2.0))


def share_interval(count: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval of a share that was seen `count` times of `n`."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle, spread = count + z * z / 2, z * math.sqrt(count * (n - count) / n + z * z / 4)
    return (middle - spread) / (n + z * z), (middle + spread) / (n + z * z)


def chi_square_tail(x: float, df: int) -> float:
    """Chance of a chi-square value of at least `x` with `df` degrees of freedom."""
    if x <= 0.0:
        return 1.0
    tail, a = (math.erfc(math.sqrt(x / 2)), 0.5) if df % 2 else (math.exp(-x / 2), 1.0)
    while a < df / 2:
        tail += _weight(a, x / 2)
        a += 1.0
    return min(1.0, tail)


def _weight(a: float, mean: float) -> float:
    """mean^a e^-mean / gamma(a + 1): of a Poisson number, the chance to be `a`; and what two more
    degrees of freedom than 2`a` add to a chi-square's tail behind 2`mean` (DLMF 8.8.6)."""
    return math.exp(a * math.log(mean) - mean - math.lgamma(a + 1))


def chi_square_critical(alpha: float, df: int) -> float:
    """Return the value that is reached with chance `alpha`, by bisection."""
    low, high = 0.0, df + 40.0 * math.sqrt(2.0 * df) + 100.0
    for _ in range(200):
        middle = (low + high) / 2.0
        if chi_square_tail(middle, df) > alpha:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


def chi_square_power(noncentrality: float, df: int, alpha: float) -> float:
    """Chance that the test at level `alpha` sees a deviation of this noncentrality.

    A noncentral chi-square is a Poisson mixture of central ones.
    """
    if noncentrality == 0.0:
        return alpha
    half, behind = noncentrality / 2.0, chi_square_critical(alpha, df)
    spread = 12.0 * math.sqrt(half) + 30.0
    first, last = max(0, int(half - spread)), int(half + spread)
    power, tail = 0.0, chi_square_tail(behind, df + 2 * first)
    for j in range(first, last + 1):
        power += _weight(j, half) * tail
        tail += _weight(df / 2 + j, behind / 2)
    return min(1.0, power)


def normal_power(shift: float, alpha: float) -> float:
    """Chance that a two-sided normal test at `alpha` sees a mean shifted by `shift` sigmas."""
    normal = NormalDist()
    critical = normal.inv_cdf(alpha / 2.0)
    return normal.cdf(critical + shift) + normal.cdf(critical - shift)
