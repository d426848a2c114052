"""Exact confidence bounds on a probability from independent trials: quantiles of beta distributions."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np

from dither.numerics.bisection import largest_float

_SLACK: Final = 1e-9  # by which a bound is lowered, relatively: more than the rounding error of its formula
_FINE: Final = 1e-11  # the relative width of a bracket at which the search ends
_BLOCK: Final = 4096  # terms of a sum that are added together
_NEGLIGIBLE: Final = 1e-17


def binomial_tail(successes: int, trials: int, p: float) -> float:
    """Return the probability of so many successes or more in independent trials, 0 < p ≤ successes/trials.

    It is I_p(successes, trials − successes + 1), a regularised incomplete beta function. The terms of the sum
    decrease, each from the one before by (n − k)/(k + 1) · p/(1 − p).

    One number at a time this sum is about twenty times as fast as `dither.numerics.binomial.at_least`, which
    is for arrays and for 10^10 trials; a bound below needs about forty of them. Tests compare the two.
    """
    if successes <= 0:
        return 1.0
    odds = p / (1.0 - p)
    total = last = 1.0
    for begin in range(successes, trials, _BLOCK):
        k = np.arange(begin, min(begin + _BLOCK, trials))
        terms = last * np.cumprod((trials - k) / (k + 1.0) * odds)
        total += float(terms.sum())
        last = float(terms[-1])
        if last <= _NEGLIGIBLE * total:
            break
    return math.exp(_log_probability(successes, trials, p) + math.log(total))


def _log_probability(k: int, n: int, p: float) -> float:
    """Return ln P(X = k), X binomial, without the cancellation of factorials [Loader00]."""
    if k == n:
        return n * math.log(p)
    stirling = _stirling(n) - _stirling(k) - _stirling(n - k)
    spread = math.log(n / (2.0 * math.pi * k * (n - k))) / 2.0
    return stirling - _deviance(k, n * p) - _deviance(n - k, n * (1.0 - p)) + spread


def _stirling(n: int) -> float:
    """Return ln(n!) less Stirling's formula."""
    if n < 16:
        return math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - math.log(2.0 * math.pi) / 2.0
    square = float(n) * n
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * square)) / square) / square) / n


def _deviance(x: float, mean: float) -> float:
    """Return x·ln(x/mean) + mean − x, by a series where x and the mean are close."""
    if abs(x - mean) >= 0.1 * (x + mean):
        return x * math.log(x / mean) + mean - x
    v = (x - mean) / (x + mean)
    total, term, odd = (x - mean) * v, 2.0 * x * v, 1
    while True:
        term *= v * v
        odd += 2
        if total + term / odd == total:
            return total
        total += term / odd


@lru_cache(maxsize=4096)
def binomial_below(successes: int, trials: int, omega: float) -> float:
    """Return a lower bound on a probability from independent trials, wrong with probability at most ω.

    [Clopper34]: the largest p at which so many successes or more have a probability of at most ω. It is the ω
    quantile of the beta distribution with parameters successes and trials − successes + 1.

    >>> round(binomial_below(8, 10, 0.025), 6)
    0.443905
    """
    if successes == 0:
        return 0.0
    share = successes / trials

    def holds(p: float) -> bool:
        return binomial_tail(successes, trials, p) <= omega

    # Chernoff: where n·kl(share, p) ≥ ln(1/ω) the tail is below ω. Pinsker gives such a p in closed form.
    low = max(0.0, share - math.sqrt(math.log(1.0 / omega) / (2.0 * trials)))
    return largest_float(holds, low, share, tolerance=_FINE) * (1.0 - _SLACK)


def binomial_above(successes: int, trials: int, omega: float) -> float:
    """Return an upper bound on a probability from independent trials, wrong with probability at most ω."""
    return 1.0 - binomial_below(trials - successes, trials, omega)
