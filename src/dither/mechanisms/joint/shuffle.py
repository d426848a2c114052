"""The shuffle model beside it: plain randomized response, and somebody trusted who mixes the reports."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from dither.arrays import Floats, Integers
from dither.domains import finite
from dither.errors import InvalidParameter
from dither.mechanisms.base import check_epsilon
from dither.mechanisms.joint.adversaries import Failure, least_epsilon
from dither.mechanisms.joint.tuning import plain
from dither.privacy import Approximate, Guarantee

Array = Floats | Integers

SHUFFLER: Final = "somebody trusted mixes the reports before the collector sees them"
_MOST: Final = 50_000  # people: tables of coins × heads stay small
_LOST: Final = 1e-15  # what is beyond `_near`, by Bernstein's inequality, generously


def shuffled(epsilon: float, *, n: int, delta: float) -> Guarantee:
    """Return what plain RR with a budget of ε on the device promises once n reports were shuffled.

    Everybody else's answer may be known. Their reports are the truth with probability 1 − 2q and a fair coin
    otherwise [Balle19]. To be on the safe side all that were the truth are taken out; then a person hides
    among the fair coins of the rest.

    >>> round(shuffled(1.0, n=10_000, delta=1e-6).epsilon, 4)
    0.0432
    """
    budget = check_epsilon(epsilon)
    if isinstance(n, bool) or not isinstance(n, int) or not 2 <= n <= _MOST:
        raise InvalidParameter(f"n is the number of people, from 2 to {_MOST}")
    if not 1e-12 <= finite("delta", delta) < 1.0:
        raise InvalidParameter("delta is a probability between 1e-12 and 1")
    spent = least_epsilon(_failure(float(plain(budget, 2)), n), delta, budget)
    return Guarantee(Approximate(spent, delta), assumes=(SHUFFLER,))


def _failure(p: float, n: int) -> Failure:
    """Return δ(ε) between a person's yes and no if only the number of ones among c + 1 reports is seen."""
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    coins = _near(n - 1, 2.0 * (1.0 - p))
    chances = _binomial(np.asarray(n - 1), coins, 2.0 * (1.0 - p), logs)[:, None]
    ones = (coins // 2)[:, None] + _near(int(coins[-1]), 0.5) - int(coins[-1]) // 2
    heads = chances * _binomial(coins[:, None], ones, 0.5, logs)  # the person's report is not among them
    fewer = chances * _binomial(coins[:, None], ones - 1, 0.5, logs)  # it is
    yes, no = p * fewer + (1.0 - p) * heads, (1.0 - p) * fewer + p * heads

    def failure(loss: float) -> float:
        ratio = math.exp(loss) * (1.0 - 1e-10)  # what the tables may be off, generously
        return float(np.maximum(yes - ratio * no, 0.0).sum()) * (1.0 + 1e-10) + _LOST

    return failure


def _near(trials: int, chance: float) -> Integers:
    """Return the numbers of successes that are not beyond nine standard deviations and forty."""
    reach = 9.0 * math.sqrt(trials * chance * (1.0 - chance)) + 40.0
    low, high = math.floor(trials * chance - reach), math.ceil(trials * chance + reach)
    return np.arange(max(low, 0), min(high, trials) + 2)


def _binomial(trials: Array, successes: Array, chance: float, logs: Floats) -> Floats:
    """Return binomial probabilities, 0 where there are more successes than trials or fewer than none."""
    inside = (successes >= 0) & (successes <= trials)
    wins = np.where(inside, successes, 0)
    fails = np.where(inside, trials - successes, 0)
    log = logs[trials] - logs[wins] - logs[fails] + wins * math.log(chance) + fails * math.log1p(-chance)
    return np.where(inside, np.exp(np.minimum(log, 0.0)), 0.0)
