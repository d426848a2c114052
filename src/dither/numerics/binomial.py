"""The upper tail of the binomial distribution, exact also where it is far from normal."""

from __future__ import annotations

import math

import numpy as np

from dither.errors import InvalidParameter

_STANDARD_DEVIATIONS = 40.0  # beyond these a normal tail is below the smallest float
_MORE = 800  # and beyond these, in counts, a Poisson tail with a small mean is


def binomial_threshold(tail: float, n: int, probability: float) -> int:
    """Return the smallest k with P(X > k) ≤ tail, for X ~ Binomial(n, probability).

    The probabilities of single counts are added from the far end of the tail, so that small tails keep their
    digits.

    >>> binomial_threshold(0.01, 3000, 0.001)
    8
    """
    if not (n >= 0 and 0.0 < probability < 1.0 and 0.0 < tail < 1.0):
        raise InvalidParameter("n is at least 0, and both probabilities lie strictly between 0 and 1")
    mean = n * probability
    reach = _STANDARD_DEVIATIONS * math.sqrt(mean * (1.0 - probability)) + _MORE
    first, last = max(0, math.floor(mean - reach)), min(n, math.ceil(mean + reach))
    counts = np.arange(first, last + 1)
    start = min(max(math.floor(mean), first), last)  # a likely count, from which ratios lead to the others
    single = (
        math.lgamma(n + 1)
        - math.lgamma(start + 1)
        - math.lgamma(n - start + 1)
        + start * math.log(probability)
        + (n - start) * math.log1p(-probability)
    )
    odds = math.log(probability) - math.log1p(-probability)
    logs = np.concatenate([[0.0], np.cumsum(np.log(n - counts[:-1]) - np.log(counts[1:]) + odds)])
    chances = np.exp(single + logs - logs[start - first])
    above = np.concatenate([np.cumsum(chances[::-1])[::-1][1:], [0.0]])  # P(X > count)
    return int(counts[np.flatnonzero(above <= tail)[0]])
