"""One small case for every kind of kernel, with two inputs that it can tell apart.

`listed` says which kernels list their reports; `index` turns drawn reports into places in that list.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

import dither as dt
from dither.mechanisms.places.base import grid

SEVERAL = dt.SetResponse(dt.Several(5, most=2), epsilon=0.5)
POLYNOMIAL = dt.SetResponse(dt.Several(5, most=2), epsilon=0.5, report="polynomial")
UNIT, TURN = dt.Interval(0, 1), dt.Circle(360)
SQUARE = dt.Rectangle(UNIT, UNIT)
FIVE = dt.Categories(5)
ROUTES = dt.Routes(SQUARE, points=3)
STREETS = [[(0.1, a / 4), (0.9, b / 4)] for a in range(5) for b in range(5)]


def plain(reports: np.ndarray) -> np.ndarray:
    return reports.reshape(-1).astype(np.int64)


def binary(reports: np.ndarray) -> np.ndarray:
    """Rows of up to eight packed bits as binary numbers."""
    return reports.reshape(len(reports), -1)[:, 0].astype(np.int64)


def of_pairs(cells: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda reports: reports[:, 0].astype(np.int64) * cells + reports[:, 1]


def of_sets(size: int) -> Callable[[np.ndarray], np.ndarray]:
    """Rows of ascending numbers as places in the lexicographic list of all such rows."""

    def places(reports: np.ndarray) -> np.ndarray:
        listed = {row: at for at, row in enumerate(combinations(range(size), reports.shape[-1]))}
        return np.array([listed[tuple(row)] for row in reports.reshape(-1, reports.shape[-1]).tolist()])

    return places


def grid_cells(reports: np.ndarray) -> np.ndarray:
    column, row = (reports // 256).astype(np.int64).T
    return np.asarray(column * 3 + row)


@dataclass(frozen=True)
class KernelCase:
    """A mechanism whose kernel is looked at, two of its inputs, and how reports are listed."""

    mechanism: Any
    inputs: tuple[Any, Any]
    index: Callable[[np.ndarray], np.ndarray] | None = plain
    alone: bool = True  # whether one report can be drawn by itself

    @property
    def kernel(self) -> Any:
        return self.mechanism.question.kernel


CASES: dict[str, KernelCase] = {
    "sliding": KernelCase(dt.OGPM(UNIT, epsilon=1, cells=16), (0.2, 0.9)),
    "sliding, rounded at random": KernelCase(dt.Podium(UNIT, epsilon=1, cells=16), (0.21, 0.9)),
    "sliding, circle": KernelCase(dt.OGPM(TURN, epsilon=1, cells=16), (355.0, 90.0)),
    "sliding, 96 bits": KernelCase(dt.OGPM(UNIT, epsilon=30, cells=16), (0.2, 0.9)),
    "sliding, steps": KernelCase(dt.Optimal(UNIT, epsilon=1), (0.2, 0.9)),
    "sliding, knots": KernelCase(dt.Optimal(UNIT, epsilon=1, unbiased=True), (0.21, 0.9)),
    "optional": KernelCase(dt.Podium(dt.Nullable(UNIT), epsilon=1, cells=16), (0.21, math.nan)),
    "optional, circle": KernelCase(dt.OGPM(dt.Nullable(TURN), epsilon=1, cells=16), (355.0, math.nan)),
    "mixture": KernelCase(dt.Hybrid(UNIT, epsilon=2, cells=16), (0.2, 0.9)),
    "sectors": KernelCase(dt.rivals.Sectors(TURN, epsilon=1, sectors=6, cells=24), (10.0, 190.0)),
    "response": KernelCase(dt.KRR(FIVE, epsilon=1), (0, 3)),
    "bits": KernelCase(dt.OUE(FIVE, epsilon=1), (0, 3), binary),
    "subset": KernelCase(dt.SubsetSelection(FIVE, epsilon=1), (0, 3), binary),
    "indices": KernelCase(
        dt.SubsetSelection(dt.Categories(9), epsilon=1, report="indices"), (0, 3), of_sets(9)
    ),
    "several": KernelCase(
        SEVERAL,
        (np.array([0, -1]), np.array([1, 3])),
        lambda reports: of_sets(7)(SEVERAL.question.kernel.elements(reports)),
    ),
    "polynomial": KernelCase(
        POLYNOMIAL, (np.array([0, -1]), np.array([1, 3])), POLYNOMIAL.question.kernel.numbers
    ),
    "hadamard": KernelCase(dt.HadamardResponse(FIVE, epsilon=1), (0, 3)),
    "projective": KernelCase(dt.ProjectiveResponse(dt.Categories(13), epsilon=1), (0, 3)),
    "projective, 128 bits": KernelCase(dt.ProjectiveResponse(FIVE, epsilon=30), (0, 3)),
    "hashed": KernelCase(dt.OLH(FIVE, epsilon=1), (0, 3), None),
    "prefix": KernelCase(dt.PEM(dt.Text(3), epsilon=1), (np.array([97, 0, 0]), np.array([98, 99, 0])), None),
    "lattice, clamped": KernelCase(dt.Laplace(UNIT, epsilon=1, cells=64), (0.21, 0.9)),
    "lattice, ring": KernelCase(dt.rivals.Purkayastha(TURN, epsilon=1, cells=64), (355.0, 90.0)),
    "lattice, bounded": KernelCase(dt.BoundedLaplace(UNIT, epsilon=1, cells=64), (0.2, 0.9)),
    "channel": KernelCase(dt.Exponential(UNIT, [0, 0.25, 0.5, 1], epsilon=1), (0.2, 0.9)),
    "questions": KernelCase(
        dt.Marginals({"a": dt.Categories(2), "b": dt.Categories(2), "c": dt.Categories(2)}, epsilon=1, way=1),
        (np.array([0, 1, 0]), np.array([1, 0, 1])),
        of_pairs(2),
    ),
    "table": KernelCase(dt.optimal.Cumulative(dt.Categories(4), epsilon=1), (0, 3)),
    "directions": KernelCase(dt.Optimal(dt.Vectors(3), epsilon=1), ((0.6, 0.0, 0.8), (0.0, -0.5, 0.1)), None),
    "routes": KernelCase(
        dt.Optimal(ROUTES, epsilon=2, prior=(STREETS, "a public map")),
        (ROUTES.check([[0.1, 0.1], [0.9, 0.2]]), ROUTES.check([[0.5, 0.9], [0.2, 0.8], [0.1, 0.1]])),
    ),
    "splines": KernelCase(
        dt.optimal.JointMoments(dt.Box({"x": UNIT, "y": UNIT}), epsilon=1),
        (np.array([0.0, 0.35]), np.array([0.9, 1.0])),
    ),
    "planar": KernelCase(dt.PlanarLaplace(SQUARE, epsilon=2, cells=8), ((0.2, 0.3), (0.9, 0.8)), None),
    "rings": KernelCase(dt.PlanarStaircase(SQUARE, epsilon=2, cells=32), ((0.2, 0.3), (0.9, 0.8)), None),
    "points, falling": KernelCase(
        dt.rivals.NGram(SQUARE, grid(SQUARE, 3), epsilon=2), ((0.1, 0.1), (0.9, 0.6))
    ),
    "points, listed": KernelCase(
        dt.Exponential(SQUARE, grid(SQUARE, 3), epsilon=2, score=lambda place, point: place[0] * point[1]),
        ((0.1, 0.1), (0.9, 0.6)),
    ),
    "points, rings": KernelCase(dt.rivals.LSRR(SQUARE, grid(SQUARE, 3), epsilon=2), ((0.1, 0.1), (0.9, 0.6))),
    "grid": KernelCase(dt.rivals.Gridding(SQUARE, epsilon=2, side=3), ((0.1, 0.1), (0.9, 0.6)), grid_cells),
    "two copies": KernelCase(
        dt.rivals.ATP(SQUARE, grid(SQUARE, 3), epsilon=2), ((0.1, 0.1), (0.9, 0.6)), None
    ),
    "pair": KernelCase(dt.TraCSC(SQUARE, epsilon=2, cells=8), ((0.1, 0.2), (0.9, 0.6)), of_pairs(8)),
    "polar": KernelCase(dt.Polar(dt.Disk(1), epsilon=2, cells=8), ((0.1, 0.2), (0.9, 3.0)), of_pairs(8)),
    "walk": KernelCase(dt.TraCSD(SQUARE, epsilon=2, cells=8), ((0.1, 0.2), (3.0, 0.9)), of_pairs(8)),
    "joint response": KernelCase(dt.JRR(FIVE, p=0.5, rho=-0.2, n=4_000), (0, 3), alone=False),
    "joint bits": KernelCase(
        dt.JRR.over(dt.rivals.SUE(FIVE, epsilon=1), rho=-0.2, n=4_000), (0, 3), binary, alone=False
    ),
    "joint hashed": KernelCase(
        dt.JRR.over(dt.OLH(FIVE, epsilon=1), rho=-0.2, n=4_000), (0, 3), None, alone=False
    ),
}
