"""Quadratic classifiers, such as QDA and Gaussian naive Bayes: proofs about boxes, and exact distances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np

from dither.errors import InvalidParameter
from dither.extensions.classifiers.boxes import FeatureBox
from dither.extensions.classifiers.feature_law import Marginal
from dither.extensions.classifiers.models.slice import Enclosure, Keeps, Slice, SliceableClassifier
from dither.foundation.arrays import Floats, Integers
from dither.foundation.numerics.roots import smallest_float

_ROUNDING_OF_SQUARES: Final = 1e-11  # relative to the largest term: the error of a score in floats
_FACES: Final = 5  # largest number d of features at which all 3^d faces of a box are examined
_HALVINGS: Final = 60


@dataclass(frozen=True, eq=False)
class QuadraticClassifier(SliceableClassifier):
    """The class with the largest score −½·xᵀAx + b·x + c, the first of equal ones.

    `curvature` has one symmetric matrix A a class, `slope` one row b, `offset` one number c.

    >>> rings = QuadraticClassifier([np.eye(2), 0.5 * np.eye(2)], [[0, 0], [0.5, 0.5]], [0.0, -1.1931])
    >>> rings(np.array([[0.5, 0.5], [3.0, 3.0]]))
    array([0, 1])
    """

    curvature: Floats
    slope: Floats
    offset: Floats

    def __post_init__(self) -> None:
        curvature, slope, offset = (
            np.asarray(part, dtype=np.float64) for part in (self.curvature, self.slope, self.offset)
        )
        classes, features = slope.shape if slope.ndim == 2 else (0, 0)
        if not classes or curvature.shape != (classes, features, features) or offset.shape != (classes,):
            raise InvalidParameter("expected one matrix, one vector and one constant for each class")
        for name, part in (("curvature", curvature), ("slope", slope), ("offset", offset)):
            object.__setattr__(self, name, part)

    def scores(self, rows: Floats) -> Floats:
        """Return the score of every class for each row."""
        bent = np.einsum("ni,cij,nj->nc", rows, self.curvature, rows)
        return np.asarray(rows @ self.slope.T - 0.5 * bent + self.offset)

    def __call__(self, rows: Floats) -> Integers:
        """Return the class of each row."""
        return np.asarray(self.scores(rows).argmax(axis=-1), dtype=np.int64)

    def rescale(self, scale: Floats, shift: Floats) -> QuadraticClassifier:
        """Return the classifier of x that applies this one to x·scale + shift."""
        bent = self.curvature @ shift
        return QuadraticClassifier(
            self.curvature * np.outer(scale, scale),
            (self.slope - bent) * scale,
            self.offset + self.slope @ shift - 0.5 * bent @ shift,
        )

    def slice(self, row: Floats, columns: Sequence[int], keeps: Keeps) -> Quadrics:
        own = int(self(row[None])[0])
        others = [label for label in range(len(self.offset)) if label != own]
        bend = self.curvature[own] - self.curvature[others]
        slope, offset = self.slope[own] - self.slope[others], self.offset[own] - self.offset[others]
        chosen, rest = list(columns), np.delete(np.arange(row.size), list(columns))
        fixed = row[rest]
        across = np.einsum("kij,j->ki", bend[:, chosen][:, :, rest], fixed)
        constant = offset + slope[:, rest] @ fixed
        constant -= 0.5 * np.einsum("i,kij,j->k", fixed, bend[:, rest][:, :, rest], fixed)
        return Quadrics(own, bend[:, chosen][:, :, chosen], slope[:, chosen] - across, constant, keeps)


@dataclass(frozen=True, eq=False)
class Quadrics(Slice):
    """The points with −½·yᵀAy + b·y + c > 0, one matrix, row and number for each other class."""

    own: int
    bend: Floats
    slopes: Floats
    offsets: Floats
    keeps: Keeps

    @property
    def features(self) -> int:
        return int(self.slopes.shape[1])

    def encloses(self, marginals: Sequence[Marginal]) -> Enclosure | None:
        return None  # a sum over a curved region has no closed form

    def proves(self, box: FeatureBox) -> bool:
        low, high = box.corners
        reach = np.maximum(np.abs(low), np.abs(high))
        for bend, slope, offset in zip(self.bend, self.slopes, self.offsets, strict=True):
            size = abs(offset) + np.abs(slope) @ reach + reach @ np.abs(bend) @ reach
            if _least(bend, slope, offset, low, high) <= _ROUNDING_OF_SQUARES * size:
                return False
        return True

    def euclidean(self, centre: Floats) -> float:
        """Return the distance to the nearest point at which another class is as likely."""
        return min(
            _distance(
                bend, slope - bend @ centre, float(slope @ centre - 0.5 * centre @ bend @ centre + offset)
            )
            for bend, slope, offset in zip(self.bend, self.slopes, self.offsets, strict=True)
        )


def _least(bend: Floats, slope: Floats, offset: float, low: Floats, high: Floats) -> float:
    """Return a lower bound of −½·yᵀAy + b·y + c on a box; with few features, the minimum itself.

    A quadratic is smallest at a corner of the box or where its gradient along a face vanishes.
    """
    if low.size > _FACES:
        middle, half = (low + high) / 2.0, (high - low) / 2.0
        value = float(offset + slope @ middle - 0.5 * middle @ bend @ middle)
        return value - float(np.abs(slope - bend @ middle) @ half + 0.5 * half @ np.abs(bend) @ half)
    least = math.inf
    for face in product((0, 1, 2), repeat=low.size):
        kind = np.array(face)
        free = kind == 2
        point = np.where(kind == 0, low, high)
        if free.any():
            inner = bend[np.ix_(free, free)]
            if abs(np.linalg.det(inner)) < 1e-300:
                continue  # flat along the face, so its edges are as low
            point[free] = np.linalg.solve(inner, slope[free] - bend[np.ix_(free, ~free)] @ point[~free])
            if (point[free] < low[free]).any() or (point[free] > high[free]).any():
                continue
        least = min(least, float(offset + slope @ point - 0.5 * point @ bend @ point))
    return least


def _distance(bend: Floats, gradient: Floats, score: float) -> float:
    """Return the length of the shortest u with score + g·u − ½·uᵀAu = 0, by the secular equation.

    u = −τ·(I − τA)⁻¹·g for the τ at which the score is 0; τ is below 1/λ for the largest eigenvalue λ > 0.
    """
    values, vectors = np.linalg.eigh(bend)
    along = vectors.T @ gradient
    top, size = float(values[-1]), float(np.abs(values).max())
    if size == 0.0:
        length = float(np.linalg.norm(gradient))
        return score / length if length > 0.0 else math.inf

    def step(share: float) -> Floats:
        tau = share / top if top > 0.0 else share / (1.0 - share) / size
        room = 1.0 - tau * values
        return np.asarray(np.where(along == 0.0, 0.0, -tau * along / np.where(room > 0.0, room, 1e-300)))

    def gone(share: float) -> bool:
        u = step(share)
        return bool(score + along @ u - 0.5 * (values * u) @ u <= 0.0)

    near = 1.0 - 1e-12
    if gone(near):
        return float(np.linalg.norm(step(smallest_float(gone, 0.0, near, steps=_HALVINGS))))
    if top <= 0.0:
        return math.inf  # the score stays positive everywhere
    # The gradient has no component along the steepest direction; the rest of the step is along it.
    u = step(near)
    left = score + float(along @ u - 0.5 * (values * u) @ u)
    return math.hypot(float(np.linalg.norm(u)), math.sqrt(2.0 * left / top))
