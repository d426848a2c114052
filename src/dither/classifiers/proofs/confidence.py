"""Confidence bounds on probabilities and means, from samples of any size."""

from __future__ import annotations

import math
from typing import Final

from dither.numerics.beta import binomial_above, binomial_below
from dither.numerics.bisection import largest_float

__all__ = ["bernstein", "binomial_above", "binomial_below", "hoeffding_size", "mean_below"]

_SLACK: Final = 1e-9  # by which a bound is lowered, relatively: more than the rounding error of its formula


def mean_below(successes: int, trials: int, omega: float) -> float:
    """Return a lower bound on the mean of the success probabilities of trials that need not be alike.

    Independent trials that are not alike obey the binomial's Chernoff bound, not quite its exact tail
    [Hoeffding63, Thm 1]: the p at which n·kl(successes/n, p) = ln(1/ω).
    """
    share, wanted = successes / trials, math.log(1.0 / omega) / trials
    return largest_float(lambda p: _divergence(share, p) > wanted, 0.0, share) * (1.0 - _SLACK)


def bernstein(variance: float, bound: float, trials: int, omega: float) -> float:
    """Return how far the mean of numbers from 0 to `bound` may be above their sample mean [Maurer09, Thm 4].

    `variance` is the sample variance. The bound is wrong with probability at most ω.
    """
    log = math.log(2.0 / omega)
    return math.sqrt(2.0 * variance * log / trials) + 7.0 * bound * log / (3.0 * (trials - 1))


def hoeffding_size(omega: float, tau: float) -> int:
    """Return how many trials bring a share within τ of its mean with probability 1 − ω [Thesis, Thm 15].

    >>> hoeffding_size(0.05, 0.01)
    18445
    """
    return math.ceil(math.log(2.0 / omega) / (2.0 * tau**2))


def _divergence(share: float, p: float) -> float:
    """Return the relative entropy of two Bernoulli distributions, kl(share, p)."""
    if p <= 0.0:
        return math.inf if share > 0.0 else 0.0
    kept = share * math.log(share / p) if share > 0.0 else 0.0
    lost = (1.0 - share) * math.log((1.0 - share) / (1.0 - p)) if share < 1.0 else 0.0
    return kept + lost
