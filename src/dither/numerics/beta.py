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
    """Return the probability of so many successes or more in independent trials, 0 < p < successes/trials.

    It is I_p(successes, trials − successes + 1), a regularised incomplete beta function. The terms of the sum
    decrease, each from the one before by (n − k)/(k + 1) · p/(1 − p).
    """
    if successes <= 0:
        return 1.0
    odds = p / (1.0 - p)
    first = (
        math.lgamma(trials + 1)
        - math.lgamma(successes + 1)
        - math.lgamma(trials - successes + 1)
        + successes * math.log(p)
        + (trials - successes) * math.log1p(-p)
    )
    total = last = 1.0
    for begin in range(successes, trials, _BLOCK):
        k = np.arange(begin, min(begin + _BLOCK, trials))
        terms = last * np.cumprod((trials - k) / (k + 1.0) * odds)
        total += float(terms.sum())
        last = float(terms[-1])
        if last <= _NEGLIGIBLE * total:
            break
    return math.exp(first + math.log(total))


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
