"""Sums, differences and ratios of estimates of different people, with intervals.

Intervals are built from those of the parts, which need not be symmetric, by adding their squared arms
(MOVER, [Zou08]; for ratios [Donner12]). So a difference of two frequencies of few reports keeps its level.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

import numpy as np

from dither.arrays import Floats
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.estimate import Estimate, LabelledEstimate
from dither.estimation.intervals import ConfidenceInterval
from dither.numerics.quantiles import check_level
from dither.privacy import Guarantee

Term = tuple[float, Estimate]  # a weight, and an estimate

_SURE: Final = 1e-15  # the smallest p-value that a level, a double below 1, can express


@dataclass(frozen=True, eq=False)
class SumInterval(ConfidenceInterval):
    """The interval of a constant plus a weighted sum of estimates of different people."""

    value: float | Floats
    terms: tuple[Term, ...]
    constant: float

    def interval(self, level: float) -> tuple[Any, Any]:
        below: Any = 0.0
        above: Any = 0.0
        for weight, part in self.terms:
            low, high = part.interval(level)
            down, up = np.asarray(part.value) - low, high - np.asarray(part.value)
            if weight < 0:
                down, up = up, down
            below, above = below + (weight * down) ** 2, above + (weight * up) ** 2
        return self.value - _number(np.sqrt(below)), self.value + _number(np.sqrt(above))

    def pick(self, at: Any) -> SumInterval:
        """Return the interval of one category."""
        terms = [(weight, part[part.labels[at]]) for weight, part in self.terms]
        return SumInterval(float(np.asarray(self.value)[at]), tuple(terms), self.constant)


@dataclass(frozen=True, eq=False)
class RatioInterval(ConfidenceInterval):
    """The interval of a ratio of two estimates of different people; infinite if the divisor may be 0."""

    above: Estimate
    below: Estimate

    def interval(self, level: float) -> tuple[Any, Any]:
        a, b = float(self.above.value), float(self.below.value)
        (low_a, high_a), (low_b, high_b) = self.above.interval(level), self.below.interval(level)
        if b < 0.0:
            a, low_a, high_a, b, low_b, high_b = -a, -high_a, -low_a, -b, -high_b, -low_b
        if not low_b > 0.0 or not math.isfinite(low_a + high_a + high_b):
            return -math.inf, math.inf
        low = _lower_ratio(a, float(low_a), b, float(low_b), float(high_b))
        return low, -_lower_ratio(-a, -float(high_a), b, float(low_b), float(high_b))


def weighted_sum(terms: Sequence[Term], constant: float = 0.0) -> Estimate:
    """Return a constant plus a weighted sum of estimates of different people.

    `terms` are the weights and the estimates; one that occurs twice has the sum of its weights. The result of
    frequencies has their labels.
    """
    weights: dict[int, float] = {}
    parts: dict[int, Estimate] = {}
    for weight, part in terms:
        weights[id(part)] = weights.get(id(part), 0.0) + weight
        parts[id(part)] = part
    kept = tuple((weights[key], part) for key, part in parts.items())
    added = [part for _, part in kept]
    labels = _common_labels(added)
    value = _number(constant + sum(weight * np.asarray(part.value) for weight, part in kept))
    square = sum((weight * np.asarray(part.standard_error)) ** 2 for weight, part in kept)
    kind = LabelledEstimate if labels else Estimate
    return kind(
        value,
        _number(np.sqrt(square)),
        sum(part.n for part in added),
        _either(added),
        confidence=SumInterval(value, kept, constant),
        labels=labels,
        unit=_unit(added),
    )


def ratio(above: Estimate, below: Estimate) -> Estimate:
    """Return the ratio of two numbers that are estimates of different people."""
    _common_labels([above, below])
    if np.ndim(above.value) or np.ndim(below.value):
        raise InvalidParameter("a ratio is of two numbers; take one category of each, as in a['x'] / b['x']")
    if set(map(id, _people(above))) & set(map(id, _people(below))):
        raise InvalidParameter("the parts of a ratio must be estimates of different people")
    a, b = float(above.value), float(below.value)
    if b == 0.0:
        raise NotIdentifiable("the divisor is estimated to be 0, so the ratio cannot be estimated")
    value = a / b
    error = math.hypot(float(above.standard_error), value * float(below.standard_error)) / abs(b)
    interval = RatioInterval(above, below)
    return Estimate(value, error, above.n + below.n, _either([above, below]), confidence=interval)


def _lower_ratio(a: float, low_a: float, b: float, low_b: float, high_b: float) -> float:
    """Return the least r at which the interval of a − r·b, by squared arms, contains 0; low_b > 0.

    It solves a − r·b = √((a − low_a)² + r²·arm²). The arm of b is the upper one for r ≥ 0, where low_a ≥ 0.
    """
    arm = high_b - b if low_a >= 0.0 else b - low_b
    lead, rest = b**2 - arm**2, low_a * (2.0 * a - low_a)
    root = math.sqrt(max((a * b) ** 2 - lead * rest, 0.0))
    if low_a >= 0.0:  # the form without cancellation; `lead` may be 0 or negative
        return rest / (a * b + root) if rest else 0.0
    return (a * b - root) / lead


def p_value(estimate: Estimate, null: float = 0.0) -> float:
    """Return one minus the largest level at which the interval excludes `null`; at least 1e-15."""
    low, high = _SURE, 1.0
    for _ in range(200):
        middle = math.sqrt(low * high)
        if estimate.covers(null, 1.0 - middle if middle < 1.0 else 1e-16):
            low = middle
        else:
            high = middle
        if high - low <= 1e-9 * high:
            break
    return high


def plus(left: Estimate, right: object, sign: float) -> Estimate:
    """Return left + sign·right, for another estimate or a number."""
    if isinstance(right, Estimate):
        own, constant = _terms(left)
        others, other = _terms(right)
        return weighted_sum(
            [*own, *((sign * weight, part) for weight, part in others)], constant + sign * other
        )
    terms, constant = _terms(left)
    return weighted_sum(terms, constant + sign * _real(right))


def times(left: Estimate, factor: object) -> Estimate:
    """Return an estimate times a number."""
    if isinstance(factor, Estimate):
        raise InvalidParameter("two estimates are not multiplied; an estimate times a number is possible")
    scale = _real(factor)
    terms, constant = _terms(left)
    return weighted_sum([(scale * weight, part) for weight, part in terms], scale * constant)


def over(left: Estimate, right: object) -> Estimate:
    """Return left / right, for another estimate or a number."""
    if isinstance(right, Estimate):
        return ratio(left, right)
    divisor = _real(right)
    if divisor == 0.0:
        raise InvalidParameter("an estimate cannot be divided by 0")
    return times(left, 1.0 / divisor)


def _terms(estimate: Estimate) -> tuple[Sequence[Term], float]:
    if isinstance(estimate.confidence, SumInterval):
        return estimate.confidence.terms, estimate.confidence.constant
    return [(1.0, estimate)], 0.0


def _people(estimate: Estimate) -> list[object]:
    """Return objects that stand for the reports behind an estimate."""
    interval = estimate.confidence
    if isinstance(interval, SumInterval):
        return [people for _, part in interval.terms for people in _people(part)]
    if isinstance(interval, RatioInterval):
        return [*_people(interval.above), *_people(interval.below)]
    return [estimate if estimate.origin is None else estimate.origin]


def _common_labels(parts: Sequence[Estimate]) -> Sequence[Hashable]:
    """Return the common labels of estimates; raise unless they are numbers of different people, or alike."""
    for part in parts:
        if part.circular:
            raise InvalidParameter(
                "directions are not added or subtracted: 359° and 1° differ by 2°; compare their resultants"
            )
    people = [group for part in parts for group in _people(part)]
    if len(set(map(id, people))) < len(people):
        raise InvalidParameter(
            "these estimates are of the same people, so their errors are not independent; estimates of "
            "different people (groups, days) can be combined"
        )
    labels = [tuple(part.labels) for part in parts]
    shapes = {np.shape(part.value) for part in parts}
    if len(shapes) > 1 or any(other != labels[0] for other in labels):
        raise InvalidParameter("these estimates are of different categories; combine one number at a time")
    return labels[0]


def _unit(parts: Sequence[Estimate]) -> str:
    """Return the common unit of estimates; none if they differ."""
    units = {part.unit for part in parts}
    return units.pop() if len(units) == 1 else ""


def _either(parts: Sequence[Estimate]) -> Guarantee:
    """Return the guarantee of each person, who is in one of the parts."""
    distinct = list(dict.fromkeys(part.guarantee for part in parts))
    return reduce(Guarantee.either, distinct)


def _real(number: object) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float | np.integer | np.floating):
        raise InvalidParameter(
            f"an estimate is combined with estimates and numbers, not {type(number).__name__}"
        )
    if not math.isfinite(number):
        raise InvalidParameter("an estimate is combined with finite numbers")
    return float(number)


def _number(value: Any) -> float | Floats:
    array = np.asarray(value, dtype=np.float64)
    return float(array) if array.ndim == 0 else array


def joint_level(level: float, comparisons: int) -> float:
    """Return the level of each of several intervals that hold together with `level` (Bonferroni)."""
    return 1.0 - (1.0 - check_level(level)) / max(comparisons, 1)
