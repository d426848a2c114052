"""A public prior for one number: the best points for these people, and the cost for other people."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from dither.core.domains import Line
from dither.core.kernels.transition import Operator
from dither.core.kernels.window.codebook import Runs, TableDecoder
from dither.core.kernels.window.integers import Sliding
from dither.core.kernels.window.start import Placement
from dither.core.kernels.window.start_table import BINS, StepStart
from dither.core.question import NumberQuestion
from dither.errors import InvalidParameter, OutsideDomain, found
from dither.foundation.arrays import Floats, Integers
from dither.foundation.numerics import codebooks
from dither.foundation.numerics.matrices import product
from dither.mechanisms.optimal.anywhere import PublicMap, public_map

_GRID: Final = 512  # values that represent the domain, and possible decoded numbers
_CELLS: Final = 1 << 12
_MOST_READ: Final = 1 << 11  # up to this number, reports are decoded one by one
_SIZES: Final = (*range(2, 9), 10, 12, 16, 20, 24, 32, 40, 48, 64)
_SAME: Final = 5e-4  # if two errors differ by less, the design with fewer numbers is used
Distances = Callable[[Floats], Floats]  # from distances to losses, with the domain scaled to [0, 1]


def public_numbers(prior: object, line: Line) -> PublicMap:
    """Return public values of a line with their source. Raise InvalidParameter if either is missing."""
    if isinstance(prior, PublicMap):
        return public_map(prior, 1)
    if isinstance(prior, tuple) and len(prior) == 2:
        try:
            values = np.asarray(prior[0], dtype=np.float64).reshape(-1, 1)
        except (TypeError, ValueError):
            values = np.zeros((0, 1))
        if not len(values) or not np.isfinite(values).all():
            raise InvalidParameter("expected the values of the prior to be one or more finite numbers")
        prior = (values, prior[1])
    else:
        raise InvalidParameter(
            f"prior must be a pair (values, 'their public source'), not {found(prior)}: a design that was "
            "fitted to private data would reveal them"
        )
    public = public_map(prior, 1)
    try:
        line.check(public.places)
    except OutsideDomain:
        raise InvalidParameter(f"the values of the prior must lie in {line}") from None
    return public


def grid() -> Floats:
    """Return the centres of the bins that represent the domain, scaled to [0, 1]."""
    return np.asarray((np.arange(_GRID) + 0.5) / _GRID)


def shares_of(public: PublicMap, line: Line) -> Floats:
    """Return the share of the public values in each bin."""
    bins = np.minimum((line.to_unit(public.places[:, 0]) % (1.0 + 1e-12) * _GRID).astype(np.int64), _GRID - 1)
    return np.bincount(bins, minlength=_GRID) / len(bins)


def losses(first: Floats, second: Floats, loss: Distances, circular: bool) -> Floats:
    """Return the loss of each of the second numbers for each of the first values, on [0, 1]."""
    gap = np.abs(np.subtract.outer(first, second))
    return loss(np.minimum(gap, 1.0 - gap) if circular else gap)


def fit_numbers(shares: Floats, epsilon: float, loss: Distances, *, circular: bool, most: int | None) -> Runs:
    """Return the numbers with the smallest average loss if the nearest number is likelier by e^ε."""
    apart, odds = losses(grid(), grid(), loss, circular), math.exp(min(epsilon, 30.0))
    sizes = [size for size in _SIZES if most is None or size <= most]
    starts = codebooks.farthest(apart, shares, sizes[-1]), codebooks.greedy(apart, shares, odds, sizes[-1])
    fits: list[tuple[float, Integers]] = []
    for size in sizes:
        tried = [codebooks.fit_among(apart, shares, odds, size, 1, start=start[:size]) for start in starts]
        codes, _, error = min(tried, key=lambda fit: fit[2])
        if len(np.unique(codes)) > 1:
            fits.append((error, np.unique(codes)))
        if fits and error > 1.25 * min(fits, key=lambda fit: fit[0])[0]:
            break  # with more numbers, random draws are too frequent
    if not fits:
        raise InvalidParameter(
            "expected at least two different values in the prior, got one; add values, or use the known "
            "value without reports"
        )
    least = min(error for error, _ in fits)
    codes = next(codes for error, codes in fits if error <= least * (1.0 + _SAME))
    count = len(codes)
    return Runs(grid()[codes], np.full(count, _CELLS // count) + (np.arange(count) < _CELLS % count))


@dataclass(frozen=True, eq=False)
class NearestRun(Placement):
    """The window is the run of the number that is nearest to the value."""

    book: Runs
    circular: bool

    def start(self, x: Floats, width: float) -> Floats:
        nearest = np.searchsorted(self._halfway, x, side="right") % self.book.values.size
        begins = np.concatenate([[0], np.cumsum(self.book.counts)[:-1]])
        if self.circular and self._across >= 1.0:  # the values just above 0 are next to the last number
            nearest = np.where(x < self._across - 1.0, self.book.values.size - 1, nearest)
        return np.asarray(begins[nearest] / self.book.cells)

    @property
    def _across(self) -> float:
        """The midpoint between the last number and the first number one turn later."""
        return float(self.book.values[-1] + self.book.values[0] + 1.0) / 2.0

    @property
    def _halfway(self) -> Floats:
        inner = (self.book.values[1:] + self.book.values[:-1]) / 2.0
        ends = [self._across] if self.circular and self._across < 1.0 else []
        return np.append(inner, ends)

    def rule(self, domain: Line, window: Sliding) -> StepStart:
        middles = np.asarray((np.arange(BINS) + 0.5) / BINS, dtype=np.float64)
        starts = np.rint(self.start(middles, window.share) * window.cells)
        return StepStart(domain.low, BINS / domain.length, starts.astype(window.dtype))

    def kinks(self, width: float) -> tuple[float, ...]:
        turn = [self._across - 1.0] if self.circular and self._across >= 1.0 else []
        return (*turn, *self._halfway.tolist())


def _first_cells(law: Operator, outcomes: int) -> Integers:
    """Return the first report of each row of a likelihood; every window has the same number of reports."""
    rows = law.shape[0]
    return np.asarray(getattr(law, "groups", np.arange(rows) * (outcomes // rows)), dtype=np.int64)


def read_numbers(question: NumberQuestion, shares: Floats, loss: Distances) -> TableDecoder:
    """Return the numbers with the smallest mean loss for the people who may have sent each report.

    More than 2^11 reports are decoded in groups. A codebook does not decrease, so some reports around the
    start of a circle are decoded as the start.
    """
    line = question.line
    law = question.likelihood(line.from_unit(grid()), _MOST_READ)
    groups = _first_cells(law, question.outcomes)
    costs = product(law.dense() * shares, losses(grid(), grid(), loss, line.circular))
    best = grid()[costs.argmin(axis=1)]
    if line.circular:
        at = groups / question.outcomes
        best = np.where(best - at > 0.5, 0.0, np.where(at - best > 0.5, grid()[-1], best))
    counts = np.diff(np.append(groups, question.outcomes))
    return TableDecoder(np.repeat(line.from_unit(np.maximum.accumulate(best)), counts))


def reading_errors(question: NumberQuestion, loss: Distances) -> Floats:
    """Return the expected loss of a question of `read_numbers` at each value of the grid on [0, 1]."""
    line = question.line
    law = question.likelihood(line.from_unit(grid()), _MOST_READ)
    groups = _first_cells(law, question.outcomes)
    numbers = line.to_unit(question.book(groups))
    return np.asarray((law.dense() * losses(numbers, grid(), loss, line.circular)).sum(axis=0))


class PriorEffect(NamedTuple):
    """The gain of a prior for its people, and its cost for the person with the largest error."""

    average: float
    average_without: float
    worst: float
    worst_without: float

    def __str__(self) -> str:
        gain = 1.0 - self.average / self.average_without
        loss = self.worst / self.worst_without - 1.0
        return (
            f"average error {self.average:.4g} for the people of the prior instead of "
            f"{self.average_without:.4g} ({gain:.0%} less); largest error over the domain {self.worst:.4g} "
            f"instead of {self.worst_without:.4g} ({loss:+.0%})"
        )
