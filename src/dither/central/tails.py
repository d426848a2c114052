"""Tail probabilities of the noise, for error bars only: computed in floats."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

SMALL: Final = 0.35  # below this ε every law here is approximated by a Laplace law of its variance
_REACH: Final = 20.0  # steps beyond 20/ε have a probability below 1e-8

Weights = tuple[float, float]


def laplace(weights: Weights, deviation: float, size: float) -> float:
    """Return P(|w₁·x + w₂·y| > size) for independent Laplace x and y of this standard deviation."""
    low, high = sorted(abs(weight) * deviation / math.sqrt(2.0) for weight in weights)
    if size <= 0.0:
        return 1.0
    if high - low < 1e-6 * high:
        return (1.0 + size / (2.0 * high)) * math.exp(-size / high)
    inner = low * low * math.exp(-size / low) if low > 0.0 else 0.0
    return (high * high * math.exp(-size / high) - inner) / (high * high - low * low)


def rings(weights: Weights, gamma: float, epsilon: float, size: float) -> float:
    """Return P(|w₁·x + w₂·y| > size) for the 2-D staircase.

    It is a mixture of uniform laws on squares |x| + |y| < γ + j, on which x + y and x − y are independent and
    uniform; so w₁·x + w₂·y is a sum of two uniform variables, whose tail is piecewise quadratic.
    """
    count = math.ceil(_REACH / epsilon) + 1
    radii = gamma + np.arange(count)
    masses = np.exp(-epsilon * (radii - gamma)) * radii**2
    low, high = sorted((abs(weights[0] + weights[1]) / 2.0, abs(weights[0] - weights[1]) / 2.0))
    short, long = low * radii, high * radii
    flat = 1.0 - size / long
    slope = np.maximum(long + short - size, 0.0) ** 2 / (4.0 * np.maximum(long * short, 1e-300))
    beyond = np.where(size <= long - short, flat, np.minimum(slope, 1.0))
    return float(np.dot(masses, beyond) / masses.sum())


def hourglass(weights: Weights, gamma: float, epsilon: float, size: float) -> float:
    """Return P(|w₁·x + w₂·y| > size) for the hourglass: x uniform on its step, x + y two-sided geometric."""
    count = math.ceil(_REACH / epsilon)
    level = np.arange(-count, count + 1)
    ratio = np.exp(-epsilon * np.abs(level))
    half = np.where(level == 0, gamma, 0.5)
    centre = np.sign(level) * (np.abs(level) + gamma - 0.5)
    slope = weights[0] - weights[1]
    middle = np.add.outer(slope * centre + weights[1] * level, weights[1] * level)
    reach = np.maximum(np.abs(slope) * half, 1e-12)[:, None]
    inside = np.minimum(middle + reach, size) - np.maximum(middle - reach, -size)
    beyond = 1.0 - np.clip(inside / (2.0 * reach), 0.0, 1.0)
    masses = (ratio * half)[:, None] * ratio[None, :]
    return float((masses * beyond).sum() / masses.sum())
