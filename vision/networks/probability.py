"""From a network's logits to probabilities.

Owns: nothing but the formulas. Large logits of either sign overflow nothing.
"""

from __future__ import annotations

import math

import numpy as np


def of_logit(logit: float) -> float:
    """0..1, of one thing that is or is not."""
    power = math.exp(-abs(logit))
    return 1 / (1 + power) if logit >= 0 else power / (1 + power)


def mean_of(one: float, other: float) -> float:
    """The probability whose logit is the mean of the logits of two; ½ of 0 and 1."""
    yes, no = math.sqrt(one * other), math.sqrt((1 - one) * (1 - other))
    return yes / (yes + no) if yes + no else 0.5


def of_logits(logits: np.ndarray) -> np.ndarray:
    """(N,) float32, 0..1 and together 1, of (N,) things of which one is."""
    powers = np.exp(logits - logits.max())
    return np.asarray(powers / powers.sum(), np.float32)
