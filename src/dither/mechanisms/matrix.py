"""Matrix: any table of probabilities, a row for each input and a column for each report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, Final, cast

import numpy as np

from dither.core.domains import Categories, Domain, Interval, finite
from dither.core.kernels.alias import MOST_OUTCOMES
from dither.core.kernels.channel import (
    MOST_INPUTS,
    BetweenPoints,
    Channel,
    ChannelKernel,
    CodeChannelKernel,
    LinearReading,
    shares_of_inputs,
)
from dither.core.kernels.window.codebook import TableDecoder
from dither.core.question import LEAST_EPSILON, MOST_EPSILON, check_epsilon
from dither.errors import InvalidParameter, found
from dither.foundation.arrays import Floats
from dither.mechanisms.analysis.law import Law, TableLaw
from dither.mechanisms.numeric.base import NumberMechanism
from dither.privacy.exact import exp_below

Real = int | float | Fraction

_MOST_WEIGHTS: Final = 1 << 20
_PARTS: Final = 1 << 96  # a row with longer integers is rounded to this number of parts of its sum
_LIFTS: Final = range(60, 27, -2)  # reports of all inputs are mixed in at 2^−lift, the smallest that keeps ε
_SUM: Final = 1e-6  # tolerance of the test whether columns sum to 1


@dataclass(frozen=True)
class Matrix(NumberMechanism):
    """One of a few reports, drawn by your own table of probabilities with a row for each input.

    Promise:   pure ε, computed from the integers that are sampled: the largest ratio of two probabilities of
               one report. A stated `epsilon` is kept: an excess due to float arithmetic is rounded away; a
               matrix that spends more is refused.
    Reports:   the index of a column. Inputs are categories, or points of an interval from one end to the
               other; a value between two points is rounded to one of them at random, which keeps means.
    Use when:  no mechanism of dither has these probabilities, for example for the design of your own paper.
    Reference: weights may be any non-negative numbers or fractions; each row is divided by its sum. A report
               that no input can produce is omitted. Reports are decoded by `values`; by default, by the
               unbiased numbers of least variance if they exist.

    >>> import dither as dt
    >>> dt.Matrix(dt.Categories(["yes", "no"]), [[3, 1], [1, 3]]).guarantee
    Guarantee: ε ≤ 1.09862 for one value
    >>> dt.Matrix(dt.Interval(1, 5), [[4, 2, 1], [2, 4, 2], [1, 2, 4]], epsilon=2).sampled.bias(2.5) < 1e-9
    True
    """

    _draws = ("channel", "table")

    weights: Sequence[Sequence[Real]]
    _: KW_ONLY
    epsilon: float = math.nan  # the ε that the weights spend by default
    points: Sequence[float] | None = None
    values: Sequence[float] | None = None

    _takes: ClassVar[tuple[type[Domain], ...]] = (Categories, Interval)

    def __post_init__(self) -> None:
        if isinstance(self.domain, self._takes):  # else the base class raises
            object.__setattr__(self, "weights", _check_weights(self.weights, self._count()))
            if isinstance(self.epsilon, float) and math.isnan(self.epsilon):
                object.__setattr__(self, "epsilon", _spent(self._rounded))
        else:
            object.__setattr__(self, "epsilon", 1.0)  # the base class refuses the domain
        super().__post_init__()

    def _count(self) -> int | None:
        """Return the number of inputs, or None for evenly spaced points, one for each row."""
        if isinstance(self.domain, Categories):
            return len(self.domain)
        return None if self.points is None else len(self.points)

    def _check(self) -> None:
        if isinstance(self.domain, Categories):
            if self.points is not None or self.values is not None:
                raise InvalidParameter(
                    "expected `points` and `values` only with an interval; leave them out for categories, "
                    "which have labels"
                )
            return
        if self.points is not None:
            object.__setattr__(self, "points", self._check_points())
        if self.values is not None:
            object.__setattr__(self, "values", self._check_values())

    def _check_points(self) -> tuple[float, ...]:
        points = tuple(finite("a point", point) for point in cast(Sequence[float], self.points))
        ends = (self.line.low, self.line.high)
        if (points[:1] + points[-1:]) != ends or any(not a < b for a, b in pairwise(points)):
            raise InvalidParameter(
                f"expected increasing points from {ends[0]:g} to {ends[1]:g}, both ends of the interval "
                "among them; a value between two points is rounded to one of them at random"
            )
        return points

    def _check_values(self) -> tuple[float, ...]:
        numbers = tuple(finite("a value", value) for value in cast(Sequence[float], self.values))
        if len(numbers) != len(self.weights[0]):
            raise InvalidParameter(
                f"expected {len(self.weights[0])} values, a number for each report, got {len(numbers)}"
            )
        return numbers

    @cached_property
    def _rounded(self) -> Channel:
        """The weights as integers, without the reports that no input produces, before ε is applied."""
        return Channel.of([[row[column] for column in self._kept] for row in map(_integers, self.weights)])

    @cached_property
    def _kept(self) -> list[int]:
        """The columns with a positive weight for some input."""
        return [column for column, given in enumerate(zip(*self.weights, strict=True)) if any(given)]

    def _channel(self) -> Channel:
        """Return the integers. Raise InvalidParameter if they spend more than ε."""
        bound, plain = exp_below(Fraction(self.epsilon)), self._rounded
        if plain.ratio <= bound:
            return plain
        # The average row is mixed into each row and moves all ratios towards 1.
        size = len(plain.rows)
        shared = [sum(column) // size for column in zip(*plain.rows, strict=True)]
        for lift in _LIFTS:
            mixed = [
                [weight + (part >> lift) for weight, part in zip(row, shared, strict=True)]
                for row in plain.rows
            ]
            channel = Channel.of(mixed)
            if channel.ratio <= bound:
                return channel
        raise InvalidParameter(
            f"expected weights that spend at most the stated ε = {self.epsilon:g}, got weights that spend "
            f"{_spent(plain):.6g}; state that ε, leave it out, or make the rows more alike"
        )

    def _kernel(self) -> ChannelKernel | CodeChannelKernel:
        channel = self._channel()
        if isinstance(self.domain, Categories):
            return CodeChannelKernel(channel)
        return ChannelKernel(self.line, channel, BetweenPoints(tuple(self._points.tolist())))

    @property
    def _points(self) -> Floats:
        if self.points is not None:
            return np.array(self.points)
        declared = self.line.points
        if declared is not None and len(declared) == len(self.weights):
            return declared
        return np.linspace(self.line.low, self.line.high, len(self.weights))

    def _codebook(self, kernel: ChannelKernel | CodeChannelKernel) -> TableDecoder | LinearReading:
        if isinstance(kernel, CodeChannelKernel):
            return shares_of_inputs(kernel.channel.matrix)
        if self.values is not None:
            return TableDecoder(np.array(self.values)[self._kept])
        # The numbers b of least average variance over the points with E[b | point] = point. If no numbers
        # satisfy this, the least-squares solution.
        matrix = kernel.channel.matrix
        root = np.sqrt(matrix.mean(axis=0))
        middle = (self.line.low + self.line.high) / 2.0
        centred = np.linalg.lstsq(matrix / root, self._points - middle, rcond=1e-12)[0] / root
        return TableDecoder(centred + middle)

    @cached_property
    def law(self) -> Law:
        """The distribution of the decoded report for each value of the interval, from the integers."""
        kinks = tuple(self.line.to_unit(self._points).tolist())
        return replace(cast(TableLaw, self.sampled.law), kinks=kinks)


def _check_weights(given: object, count: int | None) -> tuple[tuple[Real, ...], ...]:
    """Return weights as rows of numbers. Raise InvalidParameter unless each row is a distribution."""
    given = given.to_numpy() if hasattr(given, "to_numpy") else given  # data frames
    table = cast("Sequence[Sequence[object]]", given.tolist() if isinstance(given, np.ndarray) else given)
    try:
        rows = [tuple(map(_check_number, row)) for row in table]
    except TypeError:
        rows = []
    widths = {len(row) for row in rows}
    if len(widths) != 1 or not widths <= set(range(1, MOST_OUTCOMES + 1)):
        raise InvalidParameter(
            "expected a matrix of numbers: a row for each input, all rows of one length, at most 2^16"
        )
    (width,) = widths
    if not 2 <= len(rows) <= MOST_INPUTS or len(rows) * width > _MOST_WEIGHTS:
        raise InvalidParameter(
            f"expected 2 to {MOST_INPUTS} inputs and up to 2^20 weights, got {len(rows)} × {width}"
        )
    if count is not None and len(rows) != count:
        turned = "; transpose it" if width == count else ""
        raise InvalidParameter(f"expected {count} rows, one for each input, got {len(rows)}{turned}")
    sums = [float(sum(row)) for row in rows]
    if not min(sums) > 0:
        raise InvalidParameter(
            f"expected a positive weight in every row, got none in row {sums.index(min(sums)) + 1}; every "
            "input needs a report"
        )
    columns = [float(sum(column)) for column in zip(*rows, strict=True)]
    if max(abs(total - 1) for total in columns) < _SUM <= max(abs(total - 1) for total in sums):
        raise InvalidParameter(
            "expected rows that sum to 1, got columns that do; transpose the matrix, so that a row has the "
            "reports of one input"
        )
    for column, weights in enumerate(zip(*rows, strict=True)):
        if any(weights) and not all(weights):
            raise InvalidParameter(
                f"expected report {column} to be possible for every input, because otherwise no ε holds; "
                "give it a positive weight in every row"
            )
    return tuple(rows)


def _check_number(weight: object) -> Real:
    if isinstance(weight, np.generic):
        weight = weight.item()
    real = isinstance(weight, int | float | Fraction) and not isinstance(weight, bool)
    if not real or not 0 <= cast(Real, weight) < math.inf:
        raise InvalidParameter(
            f"expected weights to be non-negative numbers or fractions, got {found(weight)}"
        )
    return cast(Real, weight)


def _integers(row: Sequence[Real]) -> list[int]:
    """Return integers proportional to the weights of a row: exactly, or rounded to 2^−96 of its sum."""
    exact = [Fraction(weight) for weight in row]
    scale = math.lcm(*(weight.denominator for weight in exact))
    integers = [int(weight * scale) for weight in exact]
    shared = math.gcd(*integers)
    integers = [weight // shared for weight in integers]
    total = sum(integers)
    if total <= _PARTS:
        return integers
    return [max((weight * _PARTS + total // 2) // total, 1) if weight else 0 for weight in integers]


def _spent(channel: Channel) -> float:
    """Return the ε of integers: the smallest double for which e^ε is certainly at least their ratio."""
    ratio = channel.ratio
    near = math.log(ratio.numerator) - math.log(ratio.denominator)
    near = max(near * (1.0 - 1e-12), LEAST_EPSILON)
    while exp_below(Fraction(near)) < ratio:
        near = math.nextafter(near, math.inf) if near < MOST_EPSILON else near * (1.0 + 1e-12)
        if near > 2.0 * MOST_EPSILON:
            break
    return check_epsilon(near)
