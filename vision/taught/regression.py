"""A logistic regression, and how far a row of measurements is from those that were taught."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MOST = 6.0
"""Log-odds; one place, whatever it looks like, says no more."""
_RIDGE, _STEPS = 0.02, 30
"""Of a regression: penalty on a standardised weight, and most of Newton's steps."""
_FAR = 5.0
"""Standard deviations; what a feature says farther from its mean counts no more."""
_GRAIN = 1.0
"""Variance, grey levels squared, that every measurement of a picture has at least."""


@dataclass(frozen=True, slots=True, eq=False)
class Logistic:
    """Log-odds by standardised features and their squares."""

    mean: np.ndarray
    spread: np.ndarray
    weights: np.ndarray

    @classmethod
    def fit(cls, features: np.ndarray, truth: np.ndarray, *, ridge: float = _RIDGE) -> Logistic:
        """Learn from (N, K) features and (N,) bool. Both classes count alike, however many rows
        either has."""
        mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-3
        rows = _rows((features - mean) / spread)
        share = np.where(truth, 0.5 / max(truth.sum(), 1), 0.5 / max((~truth).sum(), 1))
        penalty = np.full(rows.shape[1], ridge)
        penalty[0] = 0.0
        weights = np.zeros(rows.shape[1])
        for _ in range(_STEPS):
            p = 1 / (1 + np.exp(-rows @ weights))
            slope = rows.T @ ((p - truth) * share) + penalty * weights
            bend = (rows * (p * (1 - p) * share)[:, None]).T @ rows + np.diag(penalty + 1e-6)
            step = np.linalg.solve(bend, slope)
            weights = weights - step
            if np.abs(step).max() < 1e-4:
                break
        return cls(mean, spread, weights)

    def odds(self, features: np.ndarray) -> np.ndarray:
        """(...) log-odds of (..., K) features, at most `MOST` either way."""
        z = np.asarray(features, np.float32) - self.mean.astype(np.float32)
        z *= (1 / self.spread).astype(np.float32)
        np.clip(z, -_FAR, _FAR, out=z)
        start, one, two = np.split(self.weights.astype(np.float32), (1, 1 + len(self.mean)))
        odds = z @ one + np.square(z, out=z) @ two + start
        return np.asarray(np.clip(odds, -MOST, MOST))


def _rows(z: np.ndarray) -> np.ndarray:
    z = np.clip(z, -_FAR, _FAR)
    return np.concatenate([np.ones((*z.shape[:-1], 1)), z, z * z], axis=-1)


@dataclass(frozen=True, slots=True, eq=False)
class Usual:
    """What rows of measurements usually are."""

    mean: np.ndarray
    inverse: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray) -> Usual:
        spread = np.cov(rows.T) + _GRAIN * np.eye(rows.shape[1])
        return cls(rows.mean(axis=0), np.linalg.inv(spread))

    def distance(self, rows: np.ndarray) -> np.ndarray:
        """(...) Mahalanobis distances of (..., K) rows."""
        away = np.asarray(rows - self.mean, np.float32)
        spread = away @ self.inverse.astype(np.float32)
        return np.asarray(np.sqrt(np.einsum("...i,...i", spread, away)))
