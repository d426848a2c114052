"""The certificate of a design: its error on cells, computed exactly, and a lower bound by duality."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from dither.core.domains import Interval
from dither.core.kernels.window.codebook import Runs
from dither.core.kernels.window.integers import Sliding
from dither.core.kernels.window.start_table import COIN, BalancedCells, NearestCells, TableStart
from dither.errors import InvalidParameter
from dither.foundation.arrays import Floats, Integers
from dither.foundation.losses import Power
from dither.mechanisms.optimal.problem import AnyLoss, Problem

_ROUNDING: Final = 2.0**-44  # relative rounding error; sums here have fewer than 2^12 terms
_PANELS: Final = 2048  # pieces of the line on which D is bounded from below
_PARTS: Final = 320  # least total number of parts into which all cells of inputs are divided


@dataclass(frozen=True, eq=False)
class Prices:
    """The multipliers of a certificate, for inputs from the middle of the domain to its end: 0 … ½.

    `inputs` are points for the worst case and the edges of cells for an average. `weights` are the π of
    points (the weight of a cell is its length). An unbiased average has one more mass and slope, at ½.
    """

    inputs: Floats
    masses: Floats
    weights: Floats
    slopes: Floats

    def boxes(self, problem: Problem) -> tuple[Floats, Floats, Floats]:
        """Return the inputs' lower ends, upper ends and weights.

        Raise InvalidParameter if they are invalid.
        """
        inputs = self.inputs
        if not (inputs.size and np.isfinite(inputs).all() and (np.diff(inputs) > 0.0).all()):
            raise InvalidParameter("expected increasing inputs of a certificate")
        if inputs[0] < 0.0 or inputs[-1] > 0.5:
            raise InvalidParameter("expected inputs of a certificate between 0 and ½")
        if problem.criterion == "worst":
            if not (self.weights >= 0.0).all() or not self.weights.sum() > 0.0:
                raise InvalidParameter(
                    "expected weights of a certificate that are not negative, and not all 0"
                )
            return inputs, inputs, self.weights / (self.weights.sum() * (1.0 + _ROUNDING))
        if inputs[0] != 0.0 or inputs[-1] != 0.5:
            raise InvalidParameter("expected cells of an average that cover everything from 0 to ½")
        weights = 2.0 * np.diff(inputs)
        if not problem.unbiased:
            return inputs[:-1], inputs[1:], weights
        middles = np.append((inputs[1:] + inputs[:-1]) / 2.0, 0.5)
        return middles, middles, np.append(weights, 0.0)


def lower_bound(problem: Problem, prices: Prices) -> float:
    """Return a lower bound on the error of every ε-LDP mechanism, maximised over shifts of all masses."""
    floor = _Floor(problem, prices)
    best, shift = -np.inf, 0.0
    for _ in range(40):
        # D is concave in the shift and grows with it, so Newton's steps reach its zero from the left.
        lowest, slope = floor.lowest(shift)
        bound = floor.value - shift + min(0.0, lowest)
        if bound <= best + 1e-9 * abs(best):
            break
        best, shift = bound, shift - lowest / slope
    return float(best - _ROUNDING * (abs(best) + floor.size))


def dual(problem: Problem, prices: Prices, y: Floats) -> Floats:
    """Return D at outputs y of one sign. Adding an output with a negative D to the program helps."""
    low, high, weights = prices.boxes(problem)
    middles = (low + high) / 2.0
    total = np.zeros(y.size)
    for side in (y, -y):
        if problem.unbiased:
            cost = np.multiply.outer(weights, side**2) - np.multiply.outer(prices.slopes, side)
        else:
            cost = weights[:, None] * problem.loss(side - middles[:, None])
        cost -= prices.masses[:, None]
        total += np.where(cost < 0.0, problem.ratio * cost, cost).sum(axis=0) / 2.0
    return total


class _Floor:
    """A lower bound of D on panels that cover the line: c_i is replaced by a linear function below it.

    φ of a linear function is concave, and so is a sum of them: its minimum is at one of the panel's ends.
    """

    def __init__(self, problem: Problem, prices: Prices) -> None:
        low, high, weights = prices.boxes(problem)
        masses = prices.masses
        if masses.shape != weights.shape or not np.isfinite(masses).all():
            raise InvalidParameter("expected one finite mass for each input of a certificate")
        self._ratio = problem.ratio
        self._tail: tuple[float, Floats, Floats, Floats] | None = None
        self.value = float(masses.sum())
        if problem.unbiased:
            slopes = prices.slopes
            if slopes.shape != weights.shape or not np.isfinite(slopes).all():
                raise InvalidParameter("expected one finite slope for each input of an unbiased certificate")
            edges = _edges_beyond(problem, weights, slopes, masses)
            middles = (edges[1:] + edges[:-1]) / 2.0
            ends = np.stack([edges[:-1], edges[1:]])[:, None, :]
            lines = weights[:, None] * (middles**2 + 2.0 * middles * (ends - middles))
            self._lines = (lines - slopes[:, None] * ends)[:, :, None, :]
            self._tail = float(edges[-1]), weights, slopes, masses
            spread = weights @ low**2 if problem.criterion == "worst" else 1.0 / 12.0
            self.value += float(slopes @ low) - float(spread)
        else:
            low, high, weights, masses = _part(problem, low, high, weights, masses)
            edges = _edges_within(problem, low)
            self._lines = weights[:, None, None] * _under(problem.loss, low, high, edges)
        self._weights, self._masses = weights, masses
        self.size = float(np.abs(masses).sum()) + abs(self.value)

    def lowest(self, shift: float) -> tuple[float, float]:
        """Return a lower bound of D with all masses lowered by shift·weight, and its slope in the shift."""
        cost = self._lines - (self._masses - shift * self._weights)[:, None, None]
        negative = cost < 0.0
        steep = np.where(negative, self._ratio, 1.0)
        cost *= steep
        parts = cost.shape[2]
        sums, sizes = cost.sum(axis=(1, 2)) / parts, np.abs(cost).sum(axis=(1, 2)) / parts
        slopes = (steep * self._weights[:, None, None]).sum(axis=(1, 2)) / parts
        # Inputs come in pairs ±z, so D is the mean of the results at y and at −y.
        both = (sums + sums[::-1, ::-1]) / 2.0 - _ROUNDING * (sizes + sizes[::-1, ::-1])
        where = np.unravel_index(int(both.argmin()), both.shape)
        slope = (slopes + slopes[::-1, ::-1])[where] / 2.0
        return min(float(both[where]), self._beyond(shift)), float(slope)

    def _beyond(self, shift: float) -> float:
        """Return the least value of D beyond the last edge, where no c_i changes its sign."""
        if self._tail is None:
            return np.inf
        edge, weights, slopes, masses = self._tail
        masses = masses - shift * weights
        quadratic = linear = constant = 0.0
        for sign in (1.0, -1.0):
            cost = weights * edge**2 - sign * slopes * edge - masses
            if ((cost < 0.0) & (weights > 0.0)).any():
                return -np.inf  # with this shift a c_i changes its sign beyond the edge: no bound
            steep = np.where(cost < 0.0, self._ratio, 1.0) / 2.0
            quadratic += float(steep @ weights)
            linear -= float(sign * steep @ slopes)
            constant -= float(steep @ masses)
        vertex = max(edge, -linear / (2.0 * quadratic))
        return (quadratic * vertex + linear) * vertex + constant - _ROUNDING * abs(constant)


def _edges_within(problem: Problem, inputs: Floats) -> Floats:
    """Return the edges of panels on [−½, ½]. A report outside is never better than the nearer end.

    A loss known only at points is bounded by constants and needs many more panels.
    """
    known, points = isinstance(problem.loss, Power), problem.criterion == "worst"
    panels = (_PANELS if points else _PANELS // 2) * (1 if known else 16 if points else 4)
    half = np.linspace(0.0, 0.5, panels // 2 + 1)
    if known and points:
        half = np.union1d(half, inputs)
    return np.concatenate([-half[:0:-1], half])


def _edges_beyond(problem: Problem, weights: Floats, slopes: Floats, masses: Floats) -> Floats:
    """Return the edges of panels, beyond which no c_i changes its sign for these or smaller masses."""
    reach = 1.5 / np.tanh(problem.epsilon / 2.0)  # three times the reach of randomized response
    heavy = weights > 0.0
    root = np.sqrt(slopes[heavy] ** 2 + 4.0 * weights[heavy] * np.maximum(masses[heavy], 0.0))
    quadratic = (np.abs(slopes[heavy]) + root) / (2.0 * weights[heavy])
    light = ~heavy & (slopes != 0.0)
    linear = np.abs(masses[light] / slopes[light])
    last = 1.01 * max(reach, *quadratic, *linear)
    if not last < 1e9:
        raise InvalidParameter(
            "expected slopes of a certificate in proportion to its weights; solve the problem again"
        )
    even = np.linspace(0.0, reach, _PANELS + 1)
    half = np.concatenate([even, np.geomspace(reach, last, int(np.log(last / reach) / 0.01) + 2)[1:]])
    return np.concatenate([-half[:0:-1], half])


def _part(
    problem: Problem, low: Floats, high: Floats, weights: Floats, masses: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return smaller cells of inputs, each with its share of the price. Points are not changed."""
    if problem.criterion == "worst":
        return low, high, weights, masses
    parts = max(-(-_PARTS // low.size), 2)
    steps = (high - low)[:, None] * np.arange(parts + 1) / parts + low[:, None]
    begins, ends = steps[:, :-1].reshape(-1), steps[:, 1:].reshape(-1)
    return begins, ends, np.repeat(weights / parts, parts), np.repeat(masses / parts, parts)


def _under(loss: AnyLoss, low: Floats, high: Floats, edges: Floats) -> Floats:
    """Return the corner values of a linear function below ℓ(y − x) for x in a cell and y in a panel.

    The shape is (ends of the panel, cells, ends of the cell, panels).
    """
    begins, ends = edges[:-1], edges[1:]
    points = bool((low == high).all())
    sides = [low] if points else [low, high]
    corners = np.stack([np.stack([y - side[:, None] for side in sides], axis=1) for y in (begins, ends)])
    least, most = begins - high[:, None], ends - low[:, None]
    if isinstance(loss, Power) and loss.exponent >= 1.0:
        middle = ((least + most) / 2.0)[:, None, :]
        slope = loss.exponent * np.sign(middle) * np.abs(middle) ** (loss.exponent - 1.0)
        return np.asarray(loss(middle) + slope * (corners - middle))
    if isinstance(loss, Power):  # the loss is concave on either side of 0, so the chord is below it
        first, last = loss(least)[:, None, :], loss(most)[:, None, :]
        share = (corners - least[:, None, :]) / (most - least)[:, None, :]
        straddles = ((least < 0.0) & (most > 0.0))[:, None, :]
        return np.where(straddles, 0.0, first + share * (last - first))
    nearest = loss(np.maximum(np.maximum(least, -most), 0.0))
    return np.broadcast_to(nearest[None, :, None, :], corners.shape)


CELLS: Final = 1 << 16
_CELL_PARTS: Final = 4  # pieces into which an atom is divided when it is spread
_REACH: Final = 1.0 + 2.0**-29  # so that the knots of a start table reach the domain's end despite rounding


def spread(places: Floats, masses: Floats, share: float) -> tuple[Floats, Floats]:
    """Return atoms divided into parts that cover `share` of the gap to their neighbours.

    The outermost atoms stay. A program on a grid of outputs returns atoms where the optimal measure has a
    density.
    """
    kept = np.flatnonzero(masses > 1e-12)
    widths = share * np.gradient(places)[kept]
    widths[[0, -1]] = 0.0
    offsets = (np.arange(_CELL_PARTS) + 0.5) / _CELL_PARTS - 0.5
    parts = (places[kept, None] + widths[:, None] * offsets).reshape(-1)
    order = np.argsort(parts, kind="stable")
    return parts[order], np.repeat(masses[kept] / _CELL_PARTS, _CELL_PARTS)[order]


def codebook(places: Floats, masses: Floats, cells: int = CELLS) -> Runs:
    """Return a codebook that divides its cells among the atoms of a symmetric measure."""
    upper = places >= 0.0
    values, half = places[upper], masses[upper].copy()
    half[values == 0.0] /= 2.0  # half of an atom in the middle belongs to the lower side
    values, same = np.unique(values, return_inverse=True)
    total = np.cumsum(np.bincount(same, weights=half).astype(np.float64))
    ends = np.rint(total / total[-1] * (cells // 2)).astype(np.int64)
    counts = np.diff(ends, prepend=0)
    return mirror(values[counts > 0], counts[counts > 0])


def mirror(values: Floats, counts: Integers) -> Runs:
    """Return the complete codebook from its upper half."""
    return Runs(np.concatenate([-values[::-1], values]), np.concatenate([counts[::-1], counts]))


def upper_half(book: Runs) -> tuple[Floats, Integers]:
    """Return the upper half of a symmetric codebook."""
    middle = book.values.size // 2
    return book.values[middle:], book.counts[middle:]


def group(book: Runs, groups: int) -> Runs:
    """Return a codebook of about 2·groups numbers: neighbours merge into their mean, large atoms stay."""
    values, counts = upper_half(book)
    target = max(book.cells // 2 // groups, 1)
    # A new group begins where a run's middle crosses a multiple of the target; a large atom is a group.
    large = counts >= target
    bins = (np.cumsum(counts) - counts / 2.0) // target
    fresh = np.diff(bins, prepend=-1.0) != 0.0
    fresh |= large
    fresh[1:] |= large[:-1]
    begins = np.flatnonzero(fresh)
    sums = np.add.reduceat(counts, begins)
    means = np.add.reduceat(values * counts, begins) / sums
    return mirror(means, sums)


def reaching(problem: Problem, book: Runs, width: int) -> Runs:
    """Return the codebook scaled so that the mean reports of an unbiased mechanism cover the domain."""
    window = Sliding.largest(problem.epsilon, book.cells, width)
    # The codebook is symmetric with mean 0, so only the window contributes to the mean report.
    ends = np.cumsum(book.counts[::-1])
    kept = np.diff(np.minimum(ends, width), prepend=0)
    mean = math.fsum(kept * book.values[::-1]) / width * window.contrast
    return Runs(book.values * (0.5 * _REACH / mean), book.counts)


def fitting_width(problem: Problem, total: float, cells: int = CELLS) -> int:
    """Return the width of the window whose mass is 1 − `total`, the mass of the base measure."""
    width = round(cells * (1.0 / total - 1.0) / problem.lift)
    return min(max(width, 1), cells - 1)


def reduce_cells(book: Runs, width: int) -> tuple[Runs, int]:
    """Return the same distribution on fewer cells, with counts divided by their common power of two."""
    common = math.gcd(width, *book.counts.tolist())
    shift = (common & -common).bit_length() - 1
    return Runs(book.values, book.counts >> shift), width >> shift


UNIT: Final = Interval(-0.5, 0.5)
_UP: Final = 1.0 + 2.0**-40
_PIECES: Final = 1 << 14  # parts of the domain; the error is bounded by a constant on each
_TABLE: Final = 1 << 20


@dataclass(frozen=True, eq=False)
class SampledWindow:
    """A window, the numbers of its cells, and the table of its starts."""

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
        if problem.criterion == "worst":
            return _UP * self._largest(problem)
        return _UP * self._mean(problem)

    def _segments(self) -> tuple[Floats, Floats, Integers]:
        """Return the lower ends, upper ends and starts of the ranges of inputs with the same start."""
        entries = self.chart.entries.astype(np.int64)
        changes = np.flatnonzero(np.diff(entries)) + 1
        edges = np.concatenate([[0], changes, [entries.size]]) / entries.size - 0.5
        return edges[:-1], edges[1:], entries[np.concatenate([[0], changes])]

    def _pieces(self) -> tuple[Floats, Floats, Integers]:
        """Return the same ranges, divided until a loss hardly changes within a range."""
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
        # Between two changes of the start the error is convex if the loss is convex, so it is largest at an
        # end.
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
        if problem.criterion == "average":
            return float(np.sum(step * (at_knots[:-1] + linear / 2.0 + bend / 3.0)))
        with np.errstate(divide="ignore", invalid="ignore"):
            vertex = np.clip(np.nan_to_num(-linear / (2.0 * bend)), 0.0, 1.0)
        between = at_knots[:-1] + vertex * (linear + bend * vertex)
        return float(max(at_knots.max(), between.max()))


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
