"""Binomial tails of arrays, for up to 10^10 trials, and exact confidence bounds on a probability.

The relative error of tails was compared with 50 digits: below 1e-12 up to 10^6 trials, below 1e-9
(`TAIL_ERROR`) up to 10^10, for tails down to 1e-40.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np

from dither.errors import InvalidParameter
from dither.foundation.arrays import Floats, Integers
from dither.foundation.numerics.quadrature import gauss_legendre
from dither.foundation.numerics.roots import bisect_arrays, largest_float, smallest_integer

_SLACK: Final = 1e-9  # relative reduction of a bound: more than the rounding error of its formula
_FINE: Final = 1e-11  # relative width of a bracket at which the search ends
_BLOCK: Final = 4096  # terms of a sum that are added together
_NEGLIGIBLE: Final = 1e-17


def binomial_tail(successes: int, trials: int, p: float) -> float:
    """Return the probability of at least `successes` in independent trials, 0 < p ≤ successes/trials.

    It is I_p(successes, trials − successes + 1), a regularised incomplete beta function. The terms of the sum
    decrease; the ratio of one term to the term before is (n − k)/(k + 1) · p/(1 − p).

    For one number this sum is about twenty times as fast as `at_least`. That function is for arrays and for
    10^10 trials. The bounds below need about forty of these sums each. Tests compare the two.
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
    stirling = _stirling_of_one(n) - _stirling_of_one(k) - _stirling_of_one(n - k)
    spread = math.log(n / (2.0 * math.pi * k * (n - k))) / 2.0
    return stirling - _deviance_of_one(k, n * p) - _deviance_of_one(n - k, n * (1.0 - p)) + spread


def _stirling_of_one(n: int) -> float:
    """Return ln(n!) minus Stirling's formula."""
    if n < 16:
        return math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - math.log(2.0 * math.pi) / 2.0
    square = float(n) * n
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * square)) / square) / square) / n


def _deviance_of_one(x: float, mean: float) -> float:
    """Return x·ln(x/mean) + mean − x, by a series if x and the mean are close."""
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

    [Clopper34]: the largest p at which P(at least `successes`) ≤ ω. It is the ω
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


Numbers = Integers | Floats | int | float

TAIL_ERROR: Final = 1e-9  # a generous upper bound on the relative error of a tail
MOST_TRIALS: Final = 10**10

_DEPTH: Final = 60.0  # the quadrature ends where the integrand has fallen to e^−60 of its largest value
_NODES: Final = 48  # nodes of a quadrature: twelve digits
_HALVINGS: Final = 26  # halvings of the bracket of the point where the quadrature ends
_HALF_LOG_TAU: Final = 0.5 * math.log(2.0 * math.pi)
_FEW: Final = 16
_SMALL: Final = np.array(  # the error of Stirling's formula, ln n! − (n + ½) ln n + n − ½ ln 2π
    [0.0] + [math.lgamma(n + 1.0) - (n + 0.5) * math.log(n) + n - _HALF_LOG_TAU for n in range(1, _FEW)]
)


def probability(successes: Numbers, trials: Numbers, chance: Numbers) -> Floats:
    """Return P(X = successes) for X binomial, 0 < chance < 1, by the saddle-point formula of [Loader00]."""
    k, n, p = _arrays(successes, trials, chance)
    return np.where((k >= 0) & (k <= n), _point(np.clip(k, 0.0, n), n, p, 1.0 - p), 0.0)


def at_least(successes: Numbers, trials: Numbers, chance: Numbers) -> Floats:
    """Return P(X ≥ successes) for X binomial with 0 < chance < 1."""
    k, n, p = _arrays(successes, trials, chance)
    return _upper(k, n, p, 1.0 - p)


def at_most(successes: Numbers, trials: Numbers, chance: Numbers) -> Floats:
    """Return P(X ≤ successes) for X binomial with 0 < chance < 1."""
    k, n, p = _arrays(successes, trials, chance)
    return _upper(n - k, n, 1.0 - p, p)


def binomial_threshold(tail: float, n: int, probability: float) -> int:
    """Return the smallest k with P(X > k) ≤ tail, for X ~ Binomial(n, probability).

    >>> binomial_threshold(0.01, 3000, 0.001)
    8
    """
    if not (n >= 0 and 0.0 < probability < 1.0 and 0.0 < tail < 1.0):
        raise InvalidParameter(
            "expected n ≥ 0 and both probabilities strictly between 0 and 1; change the one that is not"
        )
    return smallest_integer(lambda k: float(at_least(k + 1, n, probability)) <= tail, -1, n)


def _arrays(*given: Numbers) -> list[Floats]:
    return [
        np.array(array)
        for array in np.broadcast_arrays(*(np.asarray(argument, np.float64) for argument in given))
    ]


def _upper(k: Floats, n: Floats, p: Floats, q: Floats) -> Floats:
    """Return P(X ≥ k); q = 1 − p is passed on, because a small q has digits that 1 − p has lost."""
    result = np.where(k <= 0, 1.0, 0.0)
    inside = (k >= 1) & (k <= n)
    small = inside & (k - 1.0 >= (n - 1.0) * p)  # above the mean the tail is small
    result[small] = _tail(k[small], n[small], p[small], q[small])
    large = inside & ~small
    # P(X ≥ k) = 1 − P(n − X ≥ n − k + 1), whose probability of success is q.
    result[large] = 1.0 - _tail((n - k + 1.0)[large], n[large], q[large], p[large])
    return result


def _point(k: Floats, n: Floats, p: Floats, q: Floats) -> Floats:
    """Return P(X = k) for 0 ≤ k ≤ n and q = 1 − p."""
    rest = n - k
    inner = (k > 0) & (rest > 0)
    root = 0.5 * np.log(np.maximum(n, 1.0) / np.maximum(k * rest, 1.0)) - _HALF_LOG_TAU
    error = _stirling(n) - _stirling(k) - _stirling(rest)
    return np.exp(np.where(inner, root + error, 0.0) - _deviance(k, n * p) - _deviance(rest, n * q))


def _tail(k: Floats, n: Floats, p: Floats, q: Floats) -> Floats:
    """Return P(X ≥ k) for 1 ≤ k ≤ n, k − 1 ≥ (n − 1)·p and q = 1 − p.

    d/dt P(X ≥ k | t) is f(t) = n·P(Y = k − 1 | t) with Y of n − 1 trials. It increases up to p, and ln f
    is concave. The integral of f from 0 to p begins where f has fallen to e^−60 of f(p).
    """

    def fall(down: Floats) -> Floats:
        """Return ln f(p) − ln f(p − down), along the first axis."""
        with np.errstate(divide="ignore"):
            near, far = np.log1p(-(down.T / p)), np.log1p(down.T / q)
        return np.asarray(((k - n) * far - np.where(k > 1, (k - 1.0) * near, 0.0)).T)

    # ln f falls by at least r·h + c·h²/2, with r its slope at p and c its least curvature.
    slope, curve = np.maximum((k - 1.0) / p - (n - k) / q, 0.0), (k - 1.0) / p**2 + (n - k)
    with np.errstate(divide="ignore"):
        most = np.minimum(p, 2.0 * _DEPTH / (slope + np.sqrt(slope**2 + 2.0 * _DEPTH * curve)))
    _, reach = bisect_arrays(lambda down: fall(down) >= _DEPTH, np.zeros_like(p), most, _HALVINGS)
    nodes, weights = gauss_legendre(_NODES)
    falls = fall(reach[:, None] * (nodes + 1.0) / 2.0)
    return np.asarray(n * _point(k - 1.0, n - 1.0, p, q) * reach / 2.0 * (np.exp(-falls) @ weights))


def _deviance(x: Floats, mean: Floats) -> Floats:
    """Return x·ln(x/mean) + mean − x, without cancellation where x is near the mean."""
    away = x - mean
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x > 0, x * np.log1p(away / mean) - away, mean)


def _stirling(n: Floats) -> Floats:
    """Return ln n! − (n + ½)·ln n + n − ½·ln 2π."""
    inverse = 1.0 / np.maximum(n, _FEW)
    square = inverse * inverse
    series = inverse * (
        1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square * (1 / 1188))))
    )
    return np.where(n >= _FEW, series, _SMALL[np.minimum(n, _FEW - 1).astype(np.int64)])
