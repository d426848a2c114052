"""Set response: a few items, or a polynomial; reports that meet the person's set are likelier."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Final, Literal, NamedTuple

import numpy as np

from dither.core.domains import Domain, Several
from dither.core.kernels.sets.field import MOST_BYTES as LONGEST
from dither.core.kernels.sets.field import Polynomials
from dither.core.kernels.sets.items import ItemSets
from dither.core.kernels.sets.polynomial import PolynomialKernel
from dither.core.kernels.sets.several import MOST_BYTES, SetKernel, element_rates, meeting
from dither.core.question import CategoryQuestion
from dither.errors import InvalidParameter, check_choice, found
from dither.foundation.numerics.finite_fields import least_prime
from dither.mechanisms.mechanism import ADDED, Mechanism
from dither.privacy.exact import exp_below

SetReport = Literal["elements", "polynomial"]
USUAL_BYTES: Final = 16  # size of a report of elements, unless a longer one is better
_NEARLY: Final = Fraction(103, 100)  # variances within this ratio count as equal
_MOST_LEAST: Final = 6  # largest number of a person's elements that a set may need
_PATIENCE: Final = 8  # stop after this number of larger sizes without a smaller variance


@dataclass(frozen=True)
class SetResponse(Mechanism[CategoryQuestion]):
    """A report that meets the person's set with high probability; dummies replace missing items.

    Promise:   pure ε between any two sets of any sizes, including the empty set.
    Reports:   `report="elements"`: d ascending numbers of items and dummies. `report="polynomial"`: a
               polynomial over a prime field as one number; it has the items at which its value is small. By
               default the one with the smaller variance, or the shorter one if both are within 3 %.
    Use when:  people select all that apply. `dt.frequencies` estimates every item, and the sizes of sets from
               the dummies. `pairs=True` also lets `dt.stats.joint_frequency` estimate two items together.
               With `most=1` it is subset selection with an answer "none of these".
    Reference: [Wang18]; here d and the number of required common elements minimise the variance.

    >>> import dither as dt
    >>> asked = dt.SetResponse(dt.Several(10_000, most=5), epsilon=1)
    >>> asked.report, asked.report_bytes, round(asked.variance(), 1)
    ('polynomial', 10, 20.7)
    """

    domain: Several

    _draws = ("several", "polynomial")

    _: KW_ONLY
    most_bytes: int | None = None
    report: SetReport | None = None
    pairs: bool = field(default=False, metadata=ADDED)

    _takes: ClassVar[tuple[type[Domain], ...]] = (Several,)

    def _check(self) -> None:
        given = self.most_bytes
        if given is not None and (
            isinstance(given, bool) or not isinstance(given, int) or not 4 <= given <= LONGEST
        ):
            raise InvalidParameter(
                f"expected most_bytes to be an integer from 4 to {LONGEST}, got {found(given)}"
            )
        if self.report is not None:
            check_choice("report", self.report, SetReport)
        if not isinstance(self.pairs, bool):
            raise InvalidParameter(f"expected pairs to be True or False, got {found(self.pairs)}")
        if self.pairs and self.domain.most < 2:
            raise InvalidParameter(
                "expected most ≥ 2 with pairs=True, because pairs are of people who report at least two "
                "items; choose a larger most"
            )
        object.__setattr__(self, "report", self._plan.report)
        object.__setattr__(self, "most_bytes", self._plan.limit)
        remark = self.cut_remark
        if remark:
            warnings.warn(remark, stacklevel=4)  # points at the line that constructs it

    @cached_property
    def cut_remark(self) -> str:
        """The cost of the limit on a report's length and a cheaper choice; empty below twice the variance."""
        items, most = len(self.domain), self.domain.most
        own = 1.0 + self.cut_cost
        if own <= 2.0:
            return ""
        others = ["less if rare items are grouped"]
        best = choose_report(self.epsilon, items, most, None, None, self.pairs)
        if best.variance < self._plan.variance:
            times = float(best.variance / self._plan.variance) * own
            others.insert(0, f'{times:.2g} times with report="{best.report}" in {best.length} bytes')
        return (
            f"reports of {self.most_bytes} bytes have {own:.3g} times the variance of unlimited ones for an "
            f"item of {items}; {', '.join(others)}"
        )

    @cached_property
    def _plan(self) -> SetPlan:
        return choose_report(
            self.epsilon, len(self.domain), self.domain.most, self.most_bytes, self.report, self.pairs
        )

    def _kernel(self) -> ItemSets:
        size, most, plan = len(self.domain), self.domain.most, self._plan
        if plan.report == "elements":
            return SetKernel.largest(self.epsilon, size, most, *plan.numbers)
        return PolynomialKernel.largest(self.epsilon, size, most, *plan.numbers, pairs=self.pairs)

    def _codebook(self, kernel: Any) -> None:
        """Return None: the kernel says which items a report has."""

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """The exact probabilities that an item is reported by a person with it and by one without it."""
        return self.question.rates

    def variance(self, frequency: float = 0.0) -> float:
        """Return n times the variance that privacy adds to the estimate of an item of this frequency."""
        return self.question.variance(frequency)

    @property
    def bound(self) -> float:
        """A lower bound on `variance(most/k)` of every ε-LDP mechanism, if all sets of `most` are alike."""
        return least_item_variance(len(self.domain), self.domain.most, self.epsilon)

    @property
    def gap(self) -> float:
        """The most by which `variance(most/k)` is above the smallest possible: 0.12 is 12 %."""
        least = self.bound
        return self.variance(self.domain.most / len(self.domain)) / least - 1.0 if least > 0.0 else math.inf

    @property
    def cut_cost(self) -> float:
        """The relative increase of a rare item's variance by the limit of bytes; 0 for polynomials."""
        if self._plan.report == "polynomial":
            return 0.0
        free = free_variance(self.epsilon, len(self.domain), self.domain.most)
        return max(float(self._plan.variance) / free - 1.0, 0.0)


def least_item_variance(items: int, most: int, epsilon: float) -> float:
    """Return a lower bound on n times the noise variance of an item's share, for every ε-LDP mechanism.

    It holds on average over the items, for sets of `most` items that are all equally likely, and for every
        unbiased decoding of reports. With s = (m/k)(1 − m/k) and x the person's set as zeros and ones: by the
        Cauchy–Schwarz inequality a decoding v with mean x has E|v − m/k|² ≥ (k·s)²/A, where A is the largest
        |E[x|report] −
    m/k|². The distribution of x given a report has densities within a factor e^ε. So the shift along a unit
    vector w is at most the shift of a share a of all sets with the larger density: (E − 1)·√(a(1 −
    a)·Var(w·x))/(1 + (E − 1)a), which is largest for a = 1/(E + 1), and Var(w·x) = s·k/(k − 1). Hence s·(4E(k
    − 1)/(E − 1)² − 1).
    """
    share = most / items
    ratio = math.exp(epsilon) / math.expm1(epsilon) ** 2
    return max(share * (1.0 - share) * (4.0 * ratio * (items - 1) - 1.0), 0.0)


def free_variance(epsilon: float, items: int, most: int, largest: int | None = None) -> float:
    """Return the smallest variance of a rare item over all numbers of elements up to the largest.

    At least one element must be in the person's set.
    """
    size, ratio = items + most, math.exp(epsilon)
    reported = np.arange(1.0, min(items, largest or items) + 1.0)
    missed = np.ones_like(
        reported
    )  # the share of sets that miss the person's, and of those with another element
    beside = np.ones_like(reported)
    for index in range(most):
        left = np.maximum(size - reported - index, 0.0)
        missed, beside = missed * left / (size - index), beside * left / (size - 1 - index)
    total = ratio - (ratio - 1.0) * missed
    own, other = reported / size * ratio / total, reported / size * (ratio - (ratio - 1.0) * beside) / total
    with np.errstate(divide="ignore"):
        return float((other * (1.0 - other) / (own - other) ** 2).min())


class SetPlan(NamedTuple):
    """A kind of report: its parameters, n times a rare item's variance, its size and the size limit in bytes.

    The numbers are the reported elements and the required number of the person's elements among them, or the
    prime and the bound of the values.
    """

    variance: Fraction
    length: int
    report: SetReport
    numbers: tuple[int, int]
    limit: int


def choose_report(
    epsilon: float, items: int, most: int, limit: int | None, report: SetReport | None, pairs: bool
) -> SetPlan:
    """Return the named kind of report, or the shortest one whose variance is within 3 % of the smallest.

    Without a `limit`, numbers of elements have up to 16 bytes, or up to 64 if that is better, and polynomials
    as many as they need. Variances are compared as fractions, so that every machine chooses the same kind.
    """
    made: list[SetPlan] = []
    for bytes_ in (USUAL_BYTES, MOST_BYTES) if limit is None else (min(limit, MOST_BYTES),):
        if report in (None, "elements"):
            plan = best_sets(epsilon, items, most, 8 * bytes_, 2 if pairs else 1)
            made += [plan] if plan is not None else []
    polynomial = best_polynomial(epsilon, items, most, pairs) if report in (None, "polynomial") else None
    if polynomial is not None and polynomial.length <= (LONGEST if limit is None else limit):
        made.append(polynomial)
    if not made:
        fits = f"in {limit} bytes" if limit is not None else f"in {LONGEST} bytes"
        raise InvalidParameter(
            f"expected sets of up to {most} of {items} items to have a report that fits {fits}, but none "
            "does; allow more bytes, or fewer items of a person"
        )
    near = _NEARLY * min(plan.variance for plan in made)
    best = min(
        (plan for plan in made if plan.variance <= near), key=lambda plan: (plan.length, plan.variance)
    )
    return best if limit is None else best._replace(limit=limit)


@lru_cache(maxsize=256)
def best_sets(epsilon: float, items: int, most: int, bits: int, smallest: int = 1) -> SetPlan | None:
    """Return the plan of elements with the smallest variance of a rare item that fits into a number of bits.

    At least `smallest` elements are reported. Return None if they do not fit.
    """
    width = (items + most - 1).bit_length()
    limit = min(items, bits // width)
    bound = exp_below(Fraction(epsilon))
    made = [
        plan
        for least in range(1, min(most, _MOST_LEAST) + 1)
        for plan in _plans(bound, items, most, least, range(max(least, smallest), limit + 1))
    ]
    if not made:
        return None
    variance, chosen, least = min(made)
    return SetPlan(variance, (chosen * width + 7) >> 3, "elements", (chosen, least), bits >> 3)


@lru_cache(maxsize=256)
def best_polynomial(epsilon: float, items: int, most: int, pairs: bool) -> SetPlan | None:
    """Return the plan of polynomials with a rare item's smallest variance, or None if it has too many bytes.

    With β = B/p and H = 1 − (1 − β)^m, a rare item has n·variance β(1 − β)/(p₁ − β)², p₁ = e^ε·β/Z and Z =
    e^ε·H + 1 − H. That is Z²/((e^ε − 1)²·β·(1 − β)^(2m − 1)); it first falls and then rises in β.
    """
    try:
        prime = least_prime(items + most)
        length = Polynomials(prime, most + (2 if pairs else 1)).length
    except InvalidParameter:
        return None
    bound = exp_below(Fraction(epsilon))

    def variance(below: int) -> Fraction:
        missed = Fraction((prime - below) ** most, prime**most)
        share, total = Fraction(below, prime), bound - (bound - 1) * missed
        return total**2 / ((bound - 1) ** 2 * share * (1 - share) ** (2 * most - 1))

    low, high = 1, prime - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if variance(middle) <= variance(middle + 1) else (middle + 1, high)
    return SetPlan(variance(low), length, "polynomial", (prime, low), LONGEST)


def _plans(
    bound: Fraction, items: int, most: int, least: int, sizes: range
) -> Iterator[tuple[Fraction, int, int]]:
    """Yield variances and sizes of larger and larger sets, until the variance has grown for several sizes."""
    smallest, grown = None, 0
    for chosen in sizes:
        variance = rare_variance(bound, items, most, chosen, least)
        yield variance, chosen, least
        smallest, grown = (variance, 0) if smallest is None or variance < smallest else (smallest, grown + 1)
        if grown > _PATIENCE:
            return


def rare_variance(bound: Fraction, items: int, most: int, chosen: int, least: int) -> Fraction:
    """Return n times the variance of an item that nobody has: q(1 − q)/(p − q)² [Wang17, Thm 2]."""
    hits = meeting(most, items + most, chosen, least)
    chance = hits * bound / (hits * bound + math.comb(items + most, chosen) - hits)
    own, other = element_rates(items, most, chosen, least, chance)
    return other * (1 - other) / (own - other) ** 2
