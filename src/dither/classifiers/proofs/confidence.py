"""What a sample says about a probability, at a stated confidence: bounds that hold for every sample size."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

_TINY: Final = 1e-300
_SLACK: Final = 1e-9  # of itself is given away, for rounding


@lru_cache(maxsize=4096)
def binomial_below(successes: int, trials: int, omega: float) -> float:
    """Give a lower bound on a probability from independent trials, wrong with probability at most ω.

    [Clopper34]: the p at which so many successes or more have probability ω.
    """
    if successes == 0:
        return 0.0
    if successes == trials:
        return math.exp(math.log(omega) / trials) * (1.0 - _SLACK)
    low, high = 0.0, successes / trials
    while high - low > _SLACK * high:
        middle = (low + high) / 2.0
        if beta_share(successes, trials - successes + 1, middle) < omega:
            low = middle
        else:
            high = middle
    return low


def binomial_above(successes: int, trials: int, omega: float) -> float:
    """Give an upper bound on a probability from independent trials, wrong with probability at most ω."""
    return 1.0 - binomial_below(trials - successes, trials, omega)


def mean_below(successes: int, trials: int, omega: float) -> float:
    """Give a lower bound on the mean of many probabilities, of which each trial follows its own.

    Independent trials that are not alike obey the binomial's Chernoff bound, not quite its exact tail
    [Hoeffding63, Thm 1]: the p at which n·kl(successes/n, p) = ln(1/ω).
    """
    share, wanted = successes / trials, math.log(1.0 / omega) / trials
    low, high = 0.0, share
    while high - low > _SLACK * max(high, 1e-6):
        middle = (low + high) / 2.0
        if _divergence(share, middle) > wanted:
            low = middle
        else:
            high = middle
    return low


def bernstein(variance: float, bound: float, trials: int, omega: float) -> float:
    """Give how far the mean of numbers from 0 to `bound` may be above their sample mean: [Maurer09, Thm 4].

    `variance` is the sample variance. Wrong with probability at most ω.
    """
    log = math.log(2.0 / omega)
    return math.sqrt(2.0 * variance * log / trials) + 7.0 * bound * log / (3.0 * (trials - 1))


def hoeffding_size(omega: float, tau: float) -> int:
    """Give how many trials bring a share within τ of its mean, both ways, but for ω: [Thesis, Thm 15].

    >>> hoeffding_size(0.05, 0.01)
    18445
    """
    return math.ceil(math.log(2.0 / omega) / (2.0 * tau**2))


def _divergence(share: float, p: float) -> float:
    if p <= 0.0:
        return math.inf if share > 0.0 else 0.0
    kept = share * math.log(share / p) if share > 0.0 else 0.0
    lost = (1.0 - share) * math.log((1.0 - share) / (1.0 - p)) if share < 1.0 else 0.0
    return kept + lost


def beta_share(a: float, b: float, x: float) -> float:
    """Give I_x(a, b), the share of a beta law below x: also P(at least a of a + b − 1 trials succeed)."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - beta_share(b, a, 1.0 - x)
    log = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log) * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    """Give the continued fraction of the incomplete beta function [DLMF, 8.17.22], by Lentz's method."""
    top, bottom = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1.0))
    answer = bottom
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            bottom = 1.0 / _away(1.0 + term * bottom)
            top = _away(1.0 + term / top)
            change = top * bottom
            answer *= change
        if abs(change - 1.0) < 1e-15:
            break
    return answer


def _away(number: float) -> float:
    return number if abs(number) > _TINY else _TINY
