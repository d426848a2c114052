"""A lower bound on the error of every ε-LDP mechanism, from dual variables ("prices") by weak duality.

A family of laws is ε-LDP iff one measure g satisfies g ≤ f_x ≤ E·g for all x, where E = e^ε. Whatever the
prices π, ν, μ, the error at inputs z_i, weighed by π_i, therefore is at least

    Σ μ_i (+ Σ ν_i z_i − Σ π_i z_i² if unbiased) + ∫ D(y) g(dy)
    D(y) = Σ_i φ(c_i(y))    φ(c) = min(c, E·c)
    c_i(y) = π_i·ℓ(y − z_i) − μ_i    (unbiased: π_i·y² − ν_i·y − μ_i)

and |g| ≤ 1. So Σ μ_i + min(0, min D) is a bound for every mechanism on the whole line, however the prices
were found: a wrong price can only make it smaller. An average is taken over cells of inputs. Without the
constraint of unbiasedness φ is integrated over each cell. With it the laws of a cell are replaced by their
mean, which is unbiased at the middle of the cell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from dither.arrays import Floats
from dither.errors import InvalidParameter
from dither.losses import Criterion, Power
from dither.optimal.problem import Loss, Problem

_ROUNDING: Final = 2.0**-44  # relative; sums here have fewer than 2^12 terms
_PANELS: Final = 2048  # pieces of the line on which D is bounded from below
_PARTS: Final = 320  # into which all cells of inputs together are cut, at least


@final
@dataclass(frozen=True, eq=False)
class Prices:
    """The multipliers of a certificate, for inputs from the middle of the domain to its end: 0 … ½.

    `inputs` are points for the worst case and the edges of cells for an average; `weights` are the π of
    points (the weight of a cell is its length); an unbiased average has one more mass and slope, at ½.
    """

    inputs: Floats
    masses: Floats
    weights: Floats
    slopes: Floats

    def boxes(self, problem: Problem) -> tuple[Floats, Floats, Floats]:
        """Return the inputs' lower ends, upper ends and weights; raise InvalidParameter if they are wrong."""
        inputs = self.inputs
        if not (inputs.size and np.isfinite(inputs).all() and (np.diff(inputs) > 0.0).all()):
            raise InvalidParameter("the inputs of a certificate increase")
        if inputs[0] < 0.0 or inputs[-1] > 0.5:
            raise InvalidParameter("the inputs of a certificate lie between 0 and ½")
        if problem.criterion is Criterion.WORST:
            if not (self.weights >= 0.0).all() or not self.weights.sum() > 0.0:
                raise InvalidParameter("the weights of a certificate are not negative, and not all 0")
            return inputs, inputs, self.weights / (self.weights.sum() * (1.0 + _ROUNDING))
        if inputs[0] != 0.0 or inputs[-1] != 0.5:
            raise InvalidParameter("the cells of an average cover everything from 0 to ½")
        weights = 2.0 * np.diff(inputs)
        if not problem.unbiased:
            return inputs[:-1], inputs[1:], weights
        middles = np.append((inputs[1:] + inputs[:-1]) / 2.0, 0.5)
        return middles, middles, np.append(weights, 0.0)

    def shifted(self, problem: Problem, down: float) -> Prices:
        """Return the prices with every mass lowered by `down` times its weight."""
        return replace(self, masses=self.masses - down * self.boxes(problem)[2])


def lower_bound(problem: Problem, prices: Prices) -> float:
    """Return a lower bound on the error of every ε-LDP mechanism, the best over shifts of all masses."""
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
    """Return D at outputs y of one sign; where D is negative, adding the output to the program helps."""
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

    φ of a linear function is concave, and so is a sum of such: it is least at one of the panel's ends.
    """

    def __init__(self, problem: Problem, prices: Prices) -> None:
        low, high, weights = prices.boxes(problem)
        masses = prices.masses
        if masses.shape != weights.shape or not np.isfinite(masses).all():
            raise InvalidParameter("a certificate has one finite mass for each input")
        self._ratio = problem.ratio
        self._tail: tuple[float, Floats, Floats, Floats] | None = None
        self.value = float(masses.sum())
        if problem.unbiased:
            slopes = prices.slopes
            if slopes.shape != weights.shape or not np.isfinite(slopes).all():
                raise InvalidParameter("an unbiased certificate has one finite slope for each input")
            edges = _edges_beyond(problem, weights, slopes, masses)
            middles = (edges[1:] + edges[:-1]) / 2.0
            ends = np.stack([edges[:-1], edges[1:]])[:, None, :]
            lines = weights[:, None] * (middles**2 + 2.0 * middles * (ends - middles))
            self._lines = (lines - slopes[:, None] * ends)[:, :, None, :]
            self._tail = float(edges[-1]), weights, slopes, masses
            spread = weights @ low**2 if problem.criterion is Criterion.WORST else 1.0 / 12.0
            self.value += float(slopes @ low) - float(spread)
        else:
            low, high, weights, masses = _parted(problem, low, high, weights, masses)
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
        # Inputs come in pairs ±z, so D is the mean of what is found at y and at −y.
        both = (sums + sums[::-1, ::-1]) / 2.0 - _ROUNDING * (sizes + sizes[::-1, ::-1])
        where = np.unravel_index(int(both.argmin()), both.shape)
        slope = (slopes + slopes[::-1, ::-1])[where] / 2.0
        return min(float(both[where]), self._beyond(shift)), float(slope)

    def _beyond(self, shift: float) -> float:
        """Return the least value of D beyond the last edge, where no c_i changes its sign any more."""
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
    """Return the edges of panels on [−½, ½]; a report outside is never better than the nearer end.

    A loss that is known at points only is bounded by constants, which needs many more panels.
    """
    known, points = isinstance(problem.loss, Power), problem.criterion is Criterion.WORST
    panels = (_PANELS if points else _PANELS // 2) * (1 if known else 16 if points else 4)
    half = np.linspace(0.0, 0.5, panels // 2 + 1)
    if known and points:
        half = np.union1d(half, inputs)
    return np.concatenate([-half[:0:-1], half])


def _edges_beyond(problem: Problem, weights: Floats, slopes: Floats, masses: Floats) -> Floats:
    """Return the edges of panels, up to where no c_i changes its sign for these or smaller masses."""
    reach = 1.5 / np.tanh(problem.epsilon / 2.0)  # three times what randomized response needs
    heavy = weights > 0.0
    root = np.sqrt(slopes[heavy] ** 2 + 4.0 * weights[heavy] * np.maximum(masses[heavy], 0.0))
    quadratic = (np.abs(slopes[heavy]) + root) / (2.0 * weights[heavy])
    light = ~heavy & (slopes != 0.0)
    linear = np.abs(masses[light] / slopes[light])
    last = 1.01 * max(reach, *quadratic, *linear)
    if not last < 1e9:
        raise InvalidParameter("the slopes of a certificate are out of proportion to its weights")
    even = np.linspace(0.0, reach, _PANELS + 1)
    half = np.concatenate([even, np.geomspace(reach, last, int(np.log(last / reach) / 0.01) + 2)[1:]])
    return np.concatenate([-half[:0:-1], half])


def _parted(
    problem: Problem, low: Floats, high: Floats, weights: Floats, masses: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return smaller cells of inputs, each with its share of the price; points stay as they are."""
    if problem.criterion is Criterion.WORST:
        return low, high, weights, masses
    parts = max(-(-_PARTS // low.size), 2)
    steps = (high - low)[:, None] * np.arange(parts + 1) / parts + low[:, None]
    begins, ends = steps[:, :-1].reshape(-1), steps[:, 1:].reshape(-1)
    return begins, ends, np.repeat(weights / parts, parts), np.repeat(masses / parts, parts)


def _under(loss: Loss, low: Floats, high: Floats, edges: Floats) -> Floats:
    """Return a linear function below ℓ(y − x) for x in a cell and y in a panel, at the corners of the two.

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
    if isinstance(loss, Power):  # concave on either side of 0, so the chord is below it
        first, last = loss(least)[:, None, :], loss(most)[:, None, :]
        share = (corners - least[:, None, :]) / (most - least)[:, None, :]
        straddles = ((least < 0.0) & (most > 0.0))[:, None, :]
        return np.where(straddles, 0.0, first + share * (last - first))
    nearest = loss(np.maximum(np.maximum(least, -most), 0.0))
    return np.broadcast_to(nearest[None, :, None, :], corners.shape)
