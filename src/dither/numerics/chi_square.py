"""Tail probabilities of the χ² distribution and of the Kolmogorov and Kuiper statistics."""

from __future__ import annotations

import math

import numpy as np


def chi_square_survival(statistic: float, freedom: int) -> float:
    """Return the probability that a χ² variable with `freedom` degrees of freedom exceeds the statistic.

    It is Q(freedom/2, x) with x = statistic/2: for even degrees e^−x·Σ x^j/j!, for odd ones erfc(√x) and the
    same sum over half-integers, e^−x·Σ x^(j+1/2)/Γ(j+3/2).
    """
    x = statistic / 2.0
    if x <= 0.0:
        return 1.0
    odd = freedom % 2
    orders = np.arange(freedom // 2) + (0.5 if odd else 0.0)
    logs = [float(order) * math.log(x) - x - math.lgamma(float(order) + 1.0) for order in orders]
    total = math.fsum(math.exp(log) for log in logs)
    return min(total + (math.erfc(math.sqrt(x)) if odd else 0.0), 1.0)


def kolmogorov_survival(statistic: float, n: float) -> float:
    """Return P(D > statistic) for the Kolmogorov–Smirnov statistic of n people.

    For two samples n is n₁n₂/(n₁ + n₂). It is the limit distribution with Stephens' correction for finite n
    [Stephens70].
    """
    root = math.sqrt(n)
    scaled = (root + 0.12 + 0.11 / root) * statistic
    if scaled < 0.2:
        return 1.0
    terms = (2.0 * (-1) ** (j - 1) * math.exp(-2.0 * (j * scaled) ** 2) for j in range(1, 101))
    return min(max(math.fsum(terms), 0.0), 1.0)


def kuiper_survival(statistic: float, n: float) -> float:
    """Return P(V > statistic) for Kuiper's statistic, which does not depend on where a circle begins."""
    root = math.sqrt(n)
    scaled = (root + 0.155 + 0.24 / root) * statistic  # [Stephens70]
    if scaled < 0.4:
        return 1.0
    terms = (
        2.0 * (4.0 * (j * scaled) ** 2 - 1.0) * math.exp(-2.0 * (j * scaled) ** 2) for j in range(1, 101)
    )
    return min(max(math.fsum(terms), 0.0), 1.0)
