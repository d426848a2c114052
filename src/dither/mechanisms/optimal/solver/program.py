"""The best ε-LDP mechanism between finitely many inputs and outputs, as a linear program.

The variables are the base measure g_j, symmetric about the middle; h_ij = f_ij − g_j, for inputs from the
middle up; and V, the largest error, for the worst case. The constraints are:

    h_ij ≤ (E − 1)·g_j      Σ_j h_ij + Σ_j g_j = 1      Σ_j ℓ_ij·(g_j + h_ij) ≤ V
    and Σ_j y_j·h_ij = z_i if unbiased (with V + z_i² instead of V)

Variables h_ij that are certainly 0, far from the window of input i, are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dither.errors import Infeasible, MissingExtra
from dither.foundation.arrays import Floats, Mask
from dither.foundation.numerics.quadrature import gauss_legendre
from dither.mechanisms.optimal.problem import Problem
from dither.mechanisms.optimal.solver.certificate import Prices

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class ProgramGrid:
    """The inputs of a program from 0 to ½, their weights in an average, and the outputs, symmetric about 0.

    `edges` are the inputs of the certificate: points, or the edges of cells.
    """

    edges: Floats
    inputs: Floats
    weights: Floats
    outputs: Floats

    @staticmethod
    def at(points: Floats, outputs: Floats) -> ProgramGrid:
        """Return a grid of points, for the worst case."""
        return ProgramGrid(points, points, np.zeros(points.size), outputs)

    @staticmethod
    def over(edges: Floats, outputs: Floats, *, unbiased: bool) -> ProgramGrid:
        """Return a grid of cells, for an average; with `unbiased` also the point ½."""
        middles, weights = (edges[1:] + edges[:-1]) / 2.0, 2.0 * np.diff(edges)
        if unbiased:
            middles, weights = np.append(middles, 0.5), np.append(weights, 0.0)
        return ProgramGrid(edges, middles, weights, outputs)

    def losses(self, problem: Problem) -> Floats:
        """Return the loss of every output for every input: at points, or averaged over cells."""
        if problem.unbiased:
            return np.broadcast_to(self.outputs**2, (self.inputs.size, self.outputs.size))
        if problem.criterion == "worst":
            return problem.loss(self.outputs - self.inputs[:, None])
        nodes, shares = gauss_legendre(8)
        steps = np.diff(self.edges)[:, None] * nodes / 2.0 + self.inputs[:, None]
        at_nodes = problem.loss(self.outputs - steps[:, :, None])
        return np.asarray(np.einsum("k,ikj->ij", shares / 2.0, at_nodes))


@dataclass(frozen=True, eq=False)
class Solution:
    """The solution of a program: the base measure on the outputs, the windows, and the dual variables."""

    grid: ProgramGrid
    base: Floats
    inside: Mask  # inputs × outputs: True if the output is in the window of the input
    prices: Prices


def solve(problem: Problem, grid: ProgramGrid, near: Mask | None = None) -> Solution:
    """Return the solution of the program, with a variable h_ij only where `near` is True."""
    try:
        from scipy.optimize import linprog
    except ImportError:
        raise MissingExtra("a mechanism that is not among the solved ones", "optimal") from None
    program = _LinearProgram(problem, grid, near)
    found = linprog(**program.arguments(), method="highs-ds")
    if found.status == 2:
        raise Infeasible(
            "no mechanism on these outputs satisfies the request; allow more outputs, or a larger ε"
        )
    if found.status != 0:
        raise Infeasible(
            f"expected a solution of the linear program, but the solver stopped: {found.message}; choose "
            "fewer outputs"
        )
    return program.read(found)


class _LinearProgram:
    """The matrices of the program, and the conversion of its solution."""

    def __init__(self, problem: Problem, grid: ProgramGrid, near: Mask | None) -> None:
        outputs = grid.outputs.size
        self._problem, self._grid = problem, grid
        self._worst = problem.criterion == "worst"
        self._half = np.minimum(np.arange(outputs), outputs - 1 - np.arange(outputs))
        self._bases = (outputs + 1) // 2
        everywhere = np.ones((grid.inputs.size, outputs), dtype=np.bool_)
        self._rows, self._columns = np.nonzero(everywhere if near is None else near)

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of scipy's linprog. The variables are half of g, then all h_ij, then V."""
        from scipy import sparse

        grid, problem = self._grid, self._problem
        inputs, pairs, bases = grid.inputs.size, self._rows.size, self._bases
        losses = grid.losses(problem)
        folded = losses[:, :bases] + losses[:, ::-1][:, :bases]
        if grid.outputs.size % 2:
            folded[:, -1] /= 2.0  # the output in the middle is counted once
        of_pair = losses[self._rows, self._columns]
        number = np.arange(pairs)

        def by_input(data: Floats) -> csr_array:
            return sparse.csr_array((data, (self._rows, number)), shape=(inputs, pairs))

        def row(base: Any, pair: Any, worst: float) -> Any:
            last = np.full((base.shape[0], 1), worst)
            return sparse.hstack([sparse.csr_array(base), pair, sparse.csr_array(last)], format="csr")

        lifted = sparse.csr_array(
            (np.full(pairs, -problem.lift), (number, self._half[self._columns])), shape=(pairs, bases)
        )
        upper = [row(lifted, sparse.eye_array(pairs), 0.0)]
        limits = [np.zeros(pairs)]
        cost = np.zeros(bases + pairs + 1)
        if self._worst:
            upper.append(row(folded, by_input(of_pair), -1.0))
            limits.append(grid.inputs**2 if problem.unbiased else np.zeros(inputs))
            cost[-1] = 1.0
        else:
            cost[:bases] = grid.weights @ folded
            cost[bases:-1] = grid.weights[self._rows] * of_pair
        complete = np.tile(np.bincount(self._half).astype(np.float64), (inputs, 1))
        equal = [row(complete, by_input(np.ones(pairs)), 0.0)]
        sums = [np.ones(inputs)]
        if problem.unbiased:
            nothing = sparse.csr_array((inputs, bases))
            equal.append(row(nothing, by_input(grid.outputs[self._columns]), 0.0))
            sums.append(grid.inputs)
        return {
            "c": cost,
            "A_ub": sparse.vstack(upper, format="csr"),
            "b_ub": np.concatenate(limits),
            "A_eq": sparse.vstack(equal, format="csr"),
            "b_eq": np.concatenate(sums),
            "bounds": (0.0, None),
        }

    def read(self, found: Any) -> Solution:
        """Return the solution in scipy's result."""
        grid, inputs, pairs = self._grid, self._grid.inputs.size, self._rows.size
        base = np.maximum(found.x[: self._bases], 0.0)[self._half]
        inside = np.zeros((inputs, grid.outputs.size), dtype=np.bool_)
        poured = found.x[self._bases : self._bases + pairs] > 1e-12
        inside[self._rows[poured], self._columns[poured]] = True
        equal = np.asarray(found.eqlin.marginals, dtype=np.float64)
        weights = -np.asarray(found.ineqlin.marginals, dtype=np.float64)[pairs:]  # empty for an average
        weights[weights < 1e-10] = 0.0
        prices = Prices(
            inputs=grid.edges,
            masses=equal[:inputs],
            weights=weights,
            slopes=equal[inputs:] if self._problem.unbiased else np.zeros(0),
        )
        return Solution(grid, base, inside, prices)
