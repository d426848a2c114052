"""The error of a codebook as it is sampled: with its start table, its integers, and every real input.

Errors are rounded up. Inputs and reports are measured from the middle of the domain, in units of its length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from dither.arrays import Floats, Integers
from dither.domains import Interval
from dither.kernels.window.codebook import Runs
from dither.kernels.window.integers import Sliding
from dither.kernels.window.start_table import COIN, BalancedCells, NearestCells, TableStart
from dither.losses import Criterion, Power
from dither.optimal.problem import Problem
from dither.optimal.solver.cells import reaching

UNIT: Final = Interval(-0.5, 0.5)
_UP: Final = 1.0 + 2.0**-40
_PIECES: Final = 1 << 14  # parts of the domain, on each of which the error is bounded by a constant
_TABLE: Final = 1 << 20


@final
@dataclass(frozen=True, eq=False)
class SampledWindow:
    """A window, the numbers of its cells, and the table that says where it starts."""

    window: Sliding
    book: Runs
    chart: TableStart

    @staticmethod
    def of(problem: Problem, book: Runs, width: int) -> SampledWindow:
        """Return the integers that a device samples for this codebook and this width."""
        window = Sliding.largest(problem.epsilon, book.cells, width)
        shifted = Runs(book.values + 0.5, book.counts)
        if problem.unbiased:
            return SampledWindow(window, book, BalancedCells(shifted, problem.epsilon).rule(UNIT, window))
        return SampledWindow(window, book, NearestCells(shifted).rule(UNIT, window))

    def error(self, problem: Problem) -> float:
        """Return an upper bound of the error by the problem's criterion, tight up to rounding."""
        if problem.unbiased:
            return _UP * self._variance(problem)
        if problem.criterion is Criterion.WORST:
            return _UP * self._largest(problem)
        return _UP * self._mean(problem)

    def _segments(self) -> tuple[Floats, Floats, Integers]:
        """Return the ranges of inputs with the same start: their lower ends, upper ends and starts."""
        entries = self.chart.entries.astype(np.int64)
        changes = np.flatnonzero(np.diff(entries)) + 1
        edges = np.concatenate([[0], changes, [entries.size]]) / entries.size - 0.5
        return edges[:-1], edges[1:], entries[np.concatenate([[0], changes])]

    def _pieces(self) -> tuple[Floats, Floats, Integers]:
        """Return the same ranges, divided until a loss hardly changes within one."""
        begins, _, starts = self._segments()
        edges = np.union1d(np.append(begins, 0.5), np.linspace(-0.5, 0.5, _PIECES + 1))
        return edges[:-1], edges[1:], starts[np.searchsorted(begins, edges[:-1], side="right") - 1]

    def _weights(self, starts: Integers) -> Floats:
        """Return the probability of every number of the codebook for each start."""
        counts, window = self.book.counts, self.window
        ends = np.cumsum(counts)
        begins = ends - counts
        first = np.maximum(begins, starts[:, None])
        shared = np.maximum(np.minimum(ends, starts[:, None] + window.width) - first, 0)
        inside = window.contrast / window.width * shared
        return np.asarray(window.rest / window.cells * counts + inside, dtype=np.float64)

    def _largest(self, problem: Problem) -> float:
        # Between two changes of the start the error is convex if the loss is: it is largest at an end.
        begins, ends, starts = self._segments() if problem.convex else self._pieces()
        best = 0.0
        rows = max(_TABLE // self.book.values.size, 1)
        for part in (slice(begin, begin + rows) for begin in range(0, starts.size, rows)):
            weights = self._weights(starts[part])
            left = self.book.values - begins[part, None]
            right = self.book.values - ends[part, None]
            if problem.convex:
                errors = [(weights * problem.loss(gap)).sum(axis=1) for gap in (left, right)]
                best = max(best, *(float(error.max()) for error in errors))
            else:
                farther = np.maximum(np.abs(left), np.abs(right))
                best = max(best, float((weights * problem.loss(farther)).sum(axis=1).max()))
        return best

    def _mean(self, problem: Problem) -> float:
        known = isinstance(problem.loss, Power)
        begins, ends, starts = self._segments() if known else self._pieces()
        total = 0.0
        rows = max(_TABLE // self.book.values.size, 1)
        for part in (slice(begin, begin + rows) for begin in range(0, starts.size, rows)):
            left = self.book.values - begins[part, None]
            right = self.book.values - ends[part, None]
            if isinstance(problem.loss, Power):
                mass = problem.loss.antiderivative(left) - problem.loss.antiderivative(right)
            else:
                mass = (left - right) * problem.loss(np.maximum(np.abs(left), np.abs(right)))
            total += float((self._weights(starts[part]) * mass).sum())
        return total

    def moments(self) -> tuple[Floats, Floats, Floats]:
        """Return the knots of a blended chart, and the mean and the mean square of the report at each."""
        entries = self.chart.entries.astype(np.int64)
        start, rest = entries >> COIN, (entries & ((1 << COIN) - 1)) / (1 << COIN)
        window, listed = self.window, self.book.listed
        answers = []
        for power in (1, 2):
            sums = np.concatenate([[0.0], np.cumsum(listed**power)])
            inside = sums[window.width :] - sums[: -window.width]
            inside = np.append(inside, inside[-1])  # the last start has no next one to interpolate with
            blend = inside[start] + rest * (inside[start + 1] - inside[start])
            answers.append(window.rest * sums[-1] / window.cells + window.contrast / window.width * blend)
        knots = np.arange(entries.size) * (float(1 << COIN) / self.chart.scale) - 0.5
        return np.asarray(knots, dtype=np.float64), np.asarray(answers[0]), np.asarray(answers[1])

    def _variance(self, problem: Problem) -> float:
        # Between knots the mean square is linear, so E[(Y − x)²] is a parabola that opens downwards.
        x, mean, square = self.moments()
        step, slope, rise = np.diff(x), np.diff(mean), np.diff(square)
        at_knots = square - 2.0 * x * mean + x**2
        linear = rise - 2.0 * (x[:-1] * slope + step * mean[:-1]) + 2.0 * x[:-1] * step
        bend = step**2 - 2.0 * step * slope  # below 0: the mean rises as fast as x
        if problem.criterion is Criterion.AVERAGE:
            return float(np.sum(step * (at_knots[:-1] + linear / 2.0 + bend / 3.0)))
        with np.errstate(divide="ignore", invalid="ignore"):
            vertex = np.clip(np.nan_to_num(-linear / (2.0 * bend)), 0.0, 1.0)
        between = at_knots[:-1] + vertex * (linear + bend * vertex)
        return float(max(at_knots.max(), between.max()))


@final
@dataclass(frozen=True, eq=False)
class MeasuredCodebook:
    """A codebook, a width, and the error of the mechanism that samples them."""

    book: Runs
    width: int
    error: float

    @staticmethod
    def of(problem: Problem, book: Runs, width: int) -> MeasuredCodebook:
        """Return a codebook with its error, after scaling it if it must be unbiased."""
        if problem.unbiased:
            book = reaching(problem, book, width)
        return MeasuredCodebook(book, width, SampledWindow.of(problem, book, width).error(problem))
