"""The shuffle model, for comparison: plain randomized response and a trusted shuffler of the reports."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from dither.arrays import Floats, Integers
from dither.domains import finite
from dither.errors import InvalidParameter, found
from dither.mechanisms.base import check_epsilon
from dither.mechanisms.joint.adversaries import Failure, least_epsilon
from dither.mechanisms.joint.tuning import plain
from dither.privacy import Approximate, Guarantee

Array = Floats | Integers

SHUFFLER: Final = "somebody trusted mixes the reports before the collector sees them"
_MOST: Final = 50_000  # people, so that the tables of coins × heads stay small
_LOST: Final = 1e-15  # more than the probability outside `_near`, by Bernstein's inequality


def shuffled(epsilon: float, *, n: int, delta: float) -> Guarantee:
    """Return the guarantee of plain RR with a local budget ε after n reports were shuffled.

    All other answers may be known. The other reports are the truth with probability 1 − 2q and a fair coin
    otherwise [Balle19]. As an upper bound, those that are the truth are assumed to be known; then only the
    fair coins hide a person's report.

    >>> round(shuffled(1.0, n=10_000, delta=1e-6).epsilon, 4)
    0.0432
    """
    budget = check_epsilon(epsilon)
    if isinstance(n, bool) or not isinstance(n, int) or not 2 <= n <= _MOST:
        raise InvalidParameter(f"n, the number of people, must be from 2 to {_MOST}, not {found(n)}")
    if not 1e-12 <= finite("delta", delta) < 1.0:
        raise InvalidParameter(f"delta must be from 1e-12 to 1, not {found(delta)}")
    spent = least_epsilon(_failure(float(plain(budget, 2)), n), delta, budget)
    return Guarantee(Approximate(spent, delta), assumes=(SHUFFLER,))


def _failure(p: float, n: int) -> Failure:
    """Return δ(ε) between the answers yes and no if only the number of ones among c + 1 reports is known."""
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    coins = _near(n - 1, 2.0 * (1.0 - p))
    chances = _binomial(np.asarray(n - 1), coins, 2.0 * (1.0 - p), logs)[:, None]
    ones = (coins // 2)[:, None] + _near(int(coins[-1]), 0.5) - int(coins[-1]) // 2
    heads = chances * _binomial(coins[:, None], ones, 0.5, logs)  # if the person's own report is 0
    fewer = chances * _binomial(coins[:, None], ones - 1, 0.5, logs)  # if it is 1
    yes, no = p * fewer + (1.0 - p) * heads, (1.0 - p) * fewer + p * heads

    def failure(loss: float) -> float:
        ratio = math.exp(loss) * (1.0 - 1e-10)  # more than the rounding errors of the tables
        return float(np.maximum(yes - ratio * no, 0.0).sum()) * (1.0 + 1e-10) + _LOST

    return failure


def _near(trials: int, chance: float) -> Integers:
    """Return the numbers of successes within nine standard deviations plus 40 of the mean."""
    reach = 9.0 * math.sqrt(trials * chance * (1.0 - chance)) + 40.0
    low, high = math.floor(trials * chance - reach), math.ceil(trials * chance + reach)
    return np.arange(max(low, 0), min(high, trials) + 2)


def _binomial(trials: Array, successes: Array, chance: float, logs: Floats) -> Floats:
    """Return binomial probabilities, which are 0 unless 0 ≤ successes ≤ trials."""
    inside = (successes >= 0) & (successes <= trials)
    wins = np.where(inside, successes, 0)
    fails = np.where(inside, trials - successes, 0)
    log = logs[trials] - logs[wins] - logs[fails] + wins * math.log(chance) + fails * math.log1p(-chance)
    return np.where(inside, np.exp(np.minimum(log, 0.0)), 0.0)
