"""Solving for a design: Lloyd's iteration and the linear program."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Final

import numpy as np

from dither.core.kernels.window.codebook import Runs
from dither.foundation.arrays import Floats, Mask
from dither.foundation.losses import Power, absolute, squared
from dither.foundation.numerics.quadrature import between
from dither.foundation.numerics.roots import bisect_arrays
from dither.mechanisms.optimal.design import Design
from dither.mechanisms.optimal.problem import Problem
from dither.mechanisms.optimal.solver.certificate import (
    CELLS,
    MeasuredCodebook,
    Prices,
    codebook,
    dual,
    fitting_width,
    group,
    lower_bound,
    reduce_cells,
    spread,
    upper_half,
)
from dither.mechanisms.optimal.solver.program import ProgramGrid, Solution, solve

_LLOYD_ROUNDS: Final = 400
_MOST: Final = 96


def lloyd_points(problem: Problem, count: int) -> Floats:
    """Return the best positions of `count` numbers by Lloyd's algorithm."""
    points = np.asarray((np.arange(count) + 0.5) / count - 0.5, dtype=np.float64)
    for _ in range(_LLOYD_ROUNDS):
        moved = _best_places(problem, _cuts(points))
        moved = (moved - moved[::-1]) / 2.0
        change = float(np.abs(moved - points).max())
        points = moved
        if change < 1e-12:
            break
    return points


def _cuts(points: Floats) -> Floats:
    return np.concatenate([[-0.5], (points[1:] + points[:-1]) / 2.0, [0.5]])


def _best_places(problem: Problem, cuts: Floats) -> Floats:
    """Return the best number for the inputs between each pair of neighbouring cuts.

    It is reported for those inputs with weight e^ε − 1 and for all inputs with weight 1. The derivative of
    the error in y is (e^ε−1)(ℓ(y − a) − ℓ(b − y)) + ℓ(y + ½) − ℓ(½ − y). It does not decrease. The two cuts
    are a and b.
    """
    low, high = cuts[:-1], cuts[1:]
    if problem.loss == absolute:
        return problem.lift * (low + high) / (2.0 * (problem.lift + 1.0))
    if problem.loss == squared:
        return problem.lift * (high**2 - low**2) / (2.0 * (problem.lift * (high - low) + 1.0))

    def rises(y: Floats) -> Mask:
        own = problem.loss(y - cuts[:-1]) - problem.loss(cuts[1:] - y)
        every = problem.loss(y + 0.5) - problem.loss(0.5 - y)
        return np.asarray(problem.lift * own + every >= 0.0)

    low, high = bisect_arrays(rises, low, high, 40)
    return (low + high) / 2.0


def codebook_mean_error(problem: Problem, places: Floats) -> float:
    """Return the average error of randomized response on these numbers."""
    cuts = _cuts(places)
    own = sum(map(partial(_mass, problem), places, cuts[:-1], cuts[1:]))
    every = sum(_mass(problem, position, -0.5, 0.5) for position in places)
    return (problem.lift * own + every) / (problem.lift + places.size)


def _mass(problem: Problem, point: float, low: float, high: float) -> float:
    edges = np.unique(np.clip(np.concatenate([np.linspace(low, high, 9), [point]]), low, high))
    return float(between(lambda x: problem.loss(x - point), edges))


@lru_cache(maxsize=32)
def best_codebook(problem: Problem) -> Floats:
    """Return the positions with the smallest error over all counts.

    The error first falls and then rises with the count.
    """
    chosen, least = lloyd_points(problem, 1), np.inf
    for count in range(2, _MOST):
        positions = lloyd_points(problem, count)
        error = codebook_mean_error(problem, positions)
        if error >= least:
            break
        chosen, least = positions, error
    return chosen


def codebook_cells(places: Floats, cells: int = CELLS) -> tuple[Runs, int]:
    """Return a codebook with nearly equal shares of cells, and the width of one number's cells."""
    return codebook(places, np.ones(places.size), cells), round(cells / places.size)


TARGET: Final = 4e-3  # the gap at which to stop
_ROUNDS: Final = 2
_GROUPS: Final = (8, 16, 32, 64, 128, 256, 512, 1024)
_FEW: Final = 15_000  # with fewer pairs of an input and an output, all of them are variables
_LOST: Final = 2e-4  # largest relative rise of the error for a shorter codebook


def solve_design(problem: Problem, *, effort: float = 1.0, target: float = TARGET) -> Design:
    """Return the design of a problem. `effort` refines the grid, and the search stops at the gap `target`."""
    coarse, fine = _grids(problem, effort)
    near = _widen(problem, solve(problem, coarse), fine)
    codebooks: list[MeasuredCodebook] = []
    bounds: list[tuple[float, Prices]] = []
    for _ in range(_ROUNDS):
        solution = _price(problem, fine, near)
        codebooks += _candidates(problem, solution)
        bounds.append((lower_bound(problem, solution.prices), solution.prices))
        best = min(codebooks, key=lambda codebook: codebook.error)
        bound, prices = max(bounds, key=lambda pair: pair[0])
        finer = _refine(problem, solution)
        if best.error <= bound * (1.0 + target) or finer.outputs.size == fine.outputs.size:
            break
        fine, near = finer, _widen(problem, solution, finer)
    return _compact(problem, best, prices)


def _grids(problem: Problem, effort: float) -> tuple[ProgramGrid, ProgramGrid]:
    inputs = _counts(problem)
    coarse = _grid(problem, max(round(inputs / 3.0), 12))
    return coarse, _grid(problem, round(effort * inputs))


def _counts(problem: Problem) -> int:
    """Return the number of inputs from 0 to ½ of a program: windows become narrower as ε grows."""
    square = problem.epsilon**2
    if problem.unbiased:
        return round(25 + 1.8 * square)
    sharp = isinstance(problem.loss, Power) and problem.loss.exponent > 1.0
    if problem.criterion == "average":
        return round(40 + (1.6 if sharp else 3.2) * square)
    return round(40 + (2.5 if sharp else 3.6) * square)


def _grid(problem: Problem, inputs: int) -> ProgramGrid:
    steps = np.linspace(1.0, 0.0, inputs + 1)
    # Near the ends the best measure has more structure, and a loss with a kink has most of its error there.
    kinked = not problem.convex or problem.loss == Power(1.0)
    end = 0.6 if kinked and problem.criterion == "worst" and not problem.unbiased else 1.0
    half = 0.5 * (1.0 - end * steps - (1.0 - end) * steps**2)
    outputs = _outputs_beyond(problem, inputs) if problem.unbiased else _mirror(half)
    if problem.criterion == "worst":
        return ProgramGrid.at(half, outputs)
    if not problem.unbiased:
        indices = best_codebook(problem)
        cuts = (indices[1:] + indices[:-1]) / 2.0
        half = _apart(np.concatenate([half, cuts[cuts > 0.0]]))
        outputs = _mirror(_apart(np.concatenate([half, indices[indices >= 0.0]])))
    return ProgramGrid.over(half, outputs, unbiased=problem.unbiased)


def _outputs_beyond(problem: Problem, inputs: int) -> Floats:
    """Return outputs for an unbiased mechanism: beyond the domain, and farther for an average error."""
    reach = 0.6 / np.tanh(problem.epsilon / 2.0)  # 1.2 times the reach of randomized response
    inner = np.linspace(0.0, reach, max(inputs, 50) + 1)
    factor = 1.25 if problem.criterion == "worst" else 2.2
    return _mirror(np.concatenate([inner, np.geomspace(reach, factor * reach, max(inputs // 3, 20) + 1)[1:]]))


def _mirror(half: Floats) -> Floats:
    return np.concatenate([-half[:0:-1], half]) if half[0] == 0.0 else np.concatenate([-half[::-1], half])


def _apart(points: Floats) -> Floats:
    """Return points in order, without points within 1e-6 of the previous one. The ends stay."""
    points = np.unique(points)
    kept = points[np.diff(points, prepend=-1.0) > 1e-6]
    kept[-1] = points[-1]
    return kept


def _widen(problem: Problem, solution: Solution, grid: ProgramGrid) -> Mask:
    """Return the pairs of a grid in or near the windows of a coarser solution."""
    easy = problem.criterion == "average" and not problem.unbiased
    if easy or grid.inputs.size * grid.outputs.size <= _FEW:
        return np.ones((grid.inputs.size, grid.outputs.size), dtype=np.bool_)
    coarse = solution.grid
    outputs = coarse.outputs
    margin = 2
    first = solution.inside.argmax(axis=1)
    last = outputs.size - 1 - solution.inside[:, ::-1].argmax(axis=1)
    low = outputs[np.maximum(first - margin, 0)]
    high = outputs[np.minimum(last + margin, outputs.size - 1)]
    low, high = (np.interp(grid.inputs, coarse.inputs, edge) for edge in (low, high))
    low[low <= outputs[0]], high[high >= outputs[-1]] = -np.inf, np.inf
    return np.asarray((grid.outputs >= low[:, None]) & (grid.outputs <= high[:, None]))


def _price(problem: Problem, grid: ProgramGrid, near: Mask) -> Solution:
    """Return the solution over all pairs, by column generation: add pairs of negative reduced cost."""
    for _ in range(6):
        solution = solve(problem, grid, near)
        prices = solution.prices
        weights = prices.weights if prices.weights.size else grid.weights
        cost = weights[:, None] * grid.losses(problem) - prices.masses[:, None]
        if problem.unbiased:
            cost -= prices.slopes[:, None] * grid.outputs
        missing = (cost < -1e-6 * np.abs(prices.masses).max()) & ~near
        if not missing.any():
            break
        # The reduced costs of an input with weight 0 contain no information, so all its pairs are used.
        missing[missing.any(axis=1) & (weights == 0.0)] = True
        near = near | missing
    return solution


def _refine(problem: Problem, solution: Solution) -> ProgramGrid:
    """Return the grid with more outputs: the local minima of D below 0."""
    grid = solution.grid
    reach = 2.0 * float(grid.outputs[-1]) if problem.unbiased else 0.5
    y = np.linspace(0.0, reach, 8001)
    level = dual(problem, solution.prices, y)
    padded = np.concatenate([[np.inf], level, [np.inf]])
    low = (level < padded[:-2]) & (level <= padded[2:]) & (level < -1e-6 * np.abs(level).max())
    outputs = np.union1d(grid.outputs, np.concatenate([y[low], -y[low]]))
    return ProgramGrid(grid.edges, grid.inputs, grid.weights, outputs)


def _candidates(problem: Problem, solution: Solution) -> Iterator[MeasuredCodebook]:
    if problem.criterion == "average" and not problem.unbiased:
        yield MeasuredCodebook.of(problem, *codebook_cells(best_codebook(problem)))
        if problem.loss in (Power(1.0), Power(2.0)):
            return
    outputs, base = solution.grid.outputs, solution.base
    width = fitting_width(problem, float(base.sum()))
    for share in (0.0, 0.5, 1.0):
        yield MeasuredCodebook.of(problem, codebook(*spread(outputs, base, share)), width)


def _compact(problem: Problem, candidate: MeasuredCodebook, prices: Prices) -> Design:
    """Return the design with the fewest numbers whose error is at most 0.02 % larger."""
    chosen = candidate
    for groups in _GROUPS:
        fewer = MeasuredCodebook.of(problem, group(candidate.book, groups), candidate.width)
        if (
            fewer.error <= candidate.error * (1.0 + _LOST)
            and fewer.book.values.size < candidate.book.values.size
        ):
            chosen = fewer
            break
    book, width = chosen.book, chosen.width
    if not problem.unbiased:
        book, width = reduce_cells(book, width)
    return Design(problem, *upper_half(book), width, prices)
