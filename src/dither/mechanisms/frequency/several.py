"""Set response: a few items, likelier ones that meet the person's set."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from dither.core.domains import Domain, Several
from dither.core.kernels.sets.several import MOST_BYTES, SetKernel, element_rates, meeting
from dither.core.question import CategoryQuestion
from dither.errors import InvalidParameter, found
from dither.mechanisms.mechanism import Mechanism
from dither.privacy.exact import exp_below

_MOST_LEAST: Final = 6  # of a person's elements that a set may be asked to have
_PATIENCE: Final = 8  # sizes in a row without a smaller variance, after which no larger ones are tried


@dataclass(frozen=True)
class SetResponse(Mechanism[CategoryQuestion]):
    """A few of all items, more often some that meet the person's set; dummies stand for items not had.

    Promise:   pure ε between any two sets, whatever their sizes, the empty one included.
    Reports:   d ascending numbers of items and dummies, packed into up to `most_bytes` bytes.
    Use when:  people select all that apply. `dt.frequencies` estimates every item, and the sizes of sets from
               the dummies. With `most=1` it is subset selection with an answer "none of these".
    Reference: [Wang18]; here d, and how many elements must meet, are those of the smallest variance.

    >>> import dither as dt
    >>> asked = dt.SetResponse(dt.Several(1000, most=20), epsilon=1)
    >>> asked.report_bytes, round(asked.variance(), 2)
    (15, 80.58)
    """

    domain: Several

    _draws = ("several",)

    _: KW_ONLY
    most_bytes: int = 16

    _takes: ClassVar[tuple[type[Domain], ...]] = (Several,)

    def _check(self) -> None:
        given = self.most_bytes
        if isinstance(given, bool) or not isinstance(given, int) or not 4 <= given <= MOST_BYTES:
            raise InvalidParameter(f"most_bytes is a whole number from 4 to {MOST_BYTES}, not {found(given)}")
        remark = self.cut_remark
        if remark:
            warnings.warn(remark, stacklevel=4)  # where it is constructed

    @cached_property
    def cut_remark(self) -> str:
        """What the limit of a report's length costs, and what costs less; empty below twice the variance."""
        items, most = len(self.domain), self.domain.most
        free = free_variance(self.epsilon, items, most)

        def cost(length: int) -> float:
            told = 8 * length // (items + most - 1).bit_length()
            return free_variance(self.epsilon, items, most, told) / free

        own, long = cost(self.most_bytes), cost(MOST_BYTES)
        if own <= 2.0:
            return ""
        others = [] if self.most_bytes == MOST_BYTES else [f"{long:.2g} times with most_bytes={MOST_BYTES}"]
        drawn = most**2 * 4.0 * math.exp(self.epsilon) / math.expm1(self.epsilon) ** 2 / free
        if drawn < own:
            others.append(f"{drawn:.2g} times if a device draws one of {most} items and tells it by dt.OLH")
        return (
            f"reports of {self.most_bytes} bytes have {own:.3g} times the variance of unlimited ones for an "
            f"item of {items}; {', '.join([*others, 'less if rare items are grouped'])}"
        )

    @cached_property
    def _plan(self) -> SetPlan:
        return best_sets(self.epsilon, len(self.domain), self.domain.most, 8 * self.most_bytes)

    def _kernel(self) -> SetKernel:
        size, most = len(self.domain), self.domain.most
        return SetKernel.largest(self.epsilon, size, most, self._plan.chosen, self._plan.least)

    def _codebook(self, kernel: Any) -> None:
        """Return None: the kernel says which items a report tells."""

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """The exact probabilities that an item is told by who has it, and by who has it not."""
        return self.question.rates

    def variance(self, frequency: float = 0.0) -> float:
        """Return n times the variance that privacy adds to the estimate of an item of this frequency."""
        return self.question.variance(frequency)

    @property
    def bound(self) -> float:
        """A lower bound on `variance(most/k)` of every ε-LDP mechanism, if all sets of `most` are alike."""
        return least_item_variance(len(self.domain), self.domain.most, self.epsilon)

    @property
    def cut_cost(self) -> float:
        """How much larger the variance of a rare item is because of `most_bytes`, relative to no limit."""
        free = free_variance(self.epsilon, len(self.domain), self.domain.most)
        return max(float(self._plan.variance) / free - 1.0, 0.0)


def least_item_variance(items: int, most: int, epsilon: float) -> float:
    """Return a lower bound of n times the noise variance of an item's share, for every ε-LDP mechanism.

    It holds on average over the items, for sets of `most` items that are all equally likely, and for every
    unbiased reading of reports. With s = (m/k)(1 − m/k) and x the person's set as zeros and ones: by Cauchy
    and Schwarz a reading v of mean x has E|v − m/k|² ≥ (k·s)²/A, where A is the largest |E[x|report] − m/k|².
    The law of x given a report has densities within a factor e^ε. So the shift along a unit vector w is at
    most that of a share a of all sets with the larger density: (E − 1)·√(a(1 − a)·Var(w·x))/(1 + (E − 1)a),
    which is largest for a = 1/(E + 1), and Var(w·x) = s·k/(k − 1). Hence s·(4E(k − 1)/(E − 1)² − 1).
    """
    share = most / items
    ratio = math.exp(epsilon) / math.expm1(epsilon) ** 2
    return max(share * (1.0 - share) * (4.0 * ratio * (items - 1) - 1.0), 0.0)


def free_variance(epsilon: float, items: int, most: int, largest: int | None = None) -> float:
    """Return the smallest variance of a rare item, over all numbers of elements up to the largest.

    One of them must meet the person's set.
    """
    size, ratio = items + most, math.exp(epsilon)
    told = np.arange(1.0, min(items, largest or items) + 1.0)
    missed = np.ones_like(told)  # the share of sets that miss the person's, and of those with another element
    beside = np.ones_like(told)
    for place in range(most):
        left = np.maximum(size - told - place, 0.0)
        missed, beside = missed * left / (size - place), beside * left / (size - 1 - place)
    total = ratio - (ratio - 1.0) * missed
    own, other = told / size * ratio / total, told / size * (ratio - (ratio - 1.0) * beside) / total
    with np.errstate(divide="ignore"):
        return float((other * (1.0 - other) / (own - other) ** 2).min())


class SetPlan(NamedTuple):
    """How many elements are told, how many of them must be the person's, and n·variance of a rare item."""

    variance: Fraction
    chosen: int
    least: int


@lru_cache(maxsize=256)
def best_sets(epsilon: float, items: int, most: int, bits: int) -> SetPlan:
    """Return the sets with the smallest variance of a rare item that fit into a number of bits.

    The variance is compared in fractions, so that every machine chooses the same sets.
    """
    width = (items + most - 1).bit_length()
    limit = min(items, bits // width)
    bound = exp_below(Fraction(epsilon))
    found = [
        plan
        for least in range(1, min(most, _MOST_LEAST) + 1)
        for plan in _plans(bound, items, most, least, limit)
    ]
    return min(found, key=lambda plan: (plan.variance, plan.chosen, plan.least))


def _plans(bound: Fraction, items: int, most: int, least: int, limit: int) -> Iterator[SetPlan]:
    """Yield larger and larger sets, until the variance has grown for a while."""
    smallest, grown = None, 0
    for chosen in range(least, limit + 1):
        variance = rare_variance(bound, items, most, chosen, least)
        yield SetPlan(variance, chosen, least)
        smallest, grown = (variance, 0) if smallest is None or variance < smallest else (smallest, grown + 1)
        if grown > _PATIENCE:
            return


def rare_variance(bound: Fraction, items: int, most: int, chosen: int, least: int) -> Fraction:
    """Return n times the variance of an item that nobody has: q(1 − q)/(p − q)² [Wang17, Thm 2]."""
    hits = meeting(most, items + most, chosen, least)
    chance = hits * bound / (hits * bound + math.comb(items + most, chosen) - hits)
    own, other = element_rates(items, most, chosen, least, chance)
    return other * (1 - other) / (own - other) ** 2
