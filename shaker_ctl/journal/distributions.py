"""The few distributions that the statistics need, in closed or quickly converging form.

Checked against SciPy in the tests; SciPy itself is no part of a table.
"""

from __future__ import annotations

import math
from statistics import NormalDist

_TINY = 1e-15


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
    return 1.0 if x <= 0.0 else _gamma_tail(df / 2.0, x / 2.0)


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
    critical = chi_square_critical(alpha, df)
    half = noncentrality / 2.0
    spread = 12.0 * math.sqrt(half) + 30.0
    first, last = max(0, int(half - spread)), int(half + spread)
    power = 0.0
    for j in range(first, last + 1):
        log_weight = -half + (j * math.log(half) if half > 0 else 0.0) - math.lgamma(j + 1)
        if half == 0.0 and j > 0:
            break
        power += math.exp(log_weight) * chi_square_tail(critical, df + 2 * j)
    return min(1.0, power)


def normal_power(shift: float, alpha: float) -> float:
    """Chance that a two-sided normal test at `alpha` sees a mean shifted by `shift` sigmas."""
    normal = NormalDist()
    critical = normal.inv_cdf(alpha / 2.0)
    return normal.cdf(critical + shift) + normal.cdf(critical - shift)


def _gamma_tail(a: float, x: float) -> float:
    """Regularised upper incomplete gamma function: series below a + 1, continued fraction above."""
    scale = math.exp(-x + a * math.log(x) - math.lgamma(a))
    if x < a + 1.0:
        term = total = 1.0 / a
        n = a
        while abs(term) > abs(total) * _TINY:
            n += 1.0
            term *= x / n
            total += term
        return max(0.0, 1.0 - total * scale)
    b = x + 1.0 - a
    c = 1.0 / 1e-300
    d = 1.0 / b
    h = d
    for i in range(1, 10_000):
        an = -i * (i - a)
        b += 2.0
        d = 1.0 / (an * d + b)
        c = b + an / c
        h *= d * c
        if abs(d * c - 1.0) < _TINY:
            break
    return scale * h
