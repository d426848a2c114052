"""A cell of a grid, drawn by integer weights, and a uniform position within the cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final, Self, final

import numpy as np

from dither.arrays import Array, Floats, Integers, Mask
from dither.device_text import whole
from dither.domains import Domain, Rectangle
from dither.errors import InvalidParameter, MalformedReport, found
from dither.kernels.blocks import split_rows
from dither.kernels.kernel import PureKernel
from dither.kernels.places.points import ChoiceKernel, distances
from dither.kernels.table.weighted_choice import Grades, blocks, draw, largest_ratio
from dither.randomness import Source

WITHIN: Final = 1 << 8  # positions along a side of a cell
MOST_SIDE: Final = 128


@final
@dataclass(frozen=True)
class GridKernel(ChoiceKernel, PureKernel):
    """A cell of a `side` × `side` grid, likelier near the true cell; a report is a uniform position in it."""

    area: Rectangle
    side: int
    grades: Grades

    kind: ClassVar[str] = "grid"

    def __post_init__(self) -> None:
        if isinstance(self.side, bool) or not isinstance(self.side, int) or not 2 <= self.side <= MOST_SIDE:
            raise InvalidParameter(
                f"a grid must have 2 to {MOST_SIDE} cells per side, not {found(self.side)}"
            )

    @property
    def layout(self) -> np.dtype[Any]:
        return np.dtype((np.uint16, (2,)))

    @property
    def outcomes(self) -> int:
        return (self.side * WITHIN) ** 2

    @cached_property
    def corner(self) -> Floats:
        """The lower left corner of the area."""
        return np.array([self.area.x.low, self.area.y.low])

    @cached_property
    def cell(self) -> Floats:
        """The lengths of the two sides of a cell."""
        return np.array([self.area.x.length, self.area.y.length]) / self.side

    @cached_property
    def _centres(self) -> Floats:
        steps = np.arange(self.side) + 0.5
        across, along = np.meshgrid(steps, steps, indexing="ij")
        return np.stack([across.reshape(-1), along.reshape(-1)], axis=1) * self.cell

    def nearest(self, places: Floats) -> Integers:
        # Cells are numbered column by column.
        steps = np.clip(((places - self.corner) / self.cell).astype(np.int64), 0, self.side - 1)
        return np.asarray(steps[:, 0] * self.side + steps[:, 1])

    def fits(self, domain: Domain) -> bool:
        return domain == self.area

    def places_of(self, cells: Array, begins: Mask, domain: Domain, book: Any) -> Floats:
        return np.asarray(self.corner + (cells + 0.5) / WITHIN * self.cell, dtype=np.float64)

    def weights(self, numbers: Integers) -> Integers:
        return self.grades.exponential(distances(self._centres[numbers], self._centres))

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        return split_rows(self._drawn, inputs.reshape(-1, 2), source, threads).reshape(inputs.shape)

    def _drawn(self, places: Array, source: Source) -> Array:
        truth = self.nearest(places)
        drawn = np.empty_like(truth)
        for block in blocks(truth.size, self.side**2):
            drawn[block] = draw(self.weights(truth[block]), source)
        coarse = np.stack([drawn // self.side, drawn % self.side], axis=1)
        inner = source.integers(WITHIN, 2 * truth.size).reshape(-1, 2)
        return (coarse * WITHIN + inner).astype(np.uint16)

    def draw_one(self, value: Any, source: Source) -> tuple[int, int]:
        column, row = self.draw(np.asarray(value, dtype=np.float64).reshape(1, 2), source)[0].tolist()
        return column, row

    def told(self, reports: Array) -> Integers:
        column, row = (reports // WITHIN).astype(np.int64).T
        return np.asarray(column * self.side + row)

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        weights = self._chosen(inputs.reshape(-1, 2)) / WITHIN**2
        told = self.told(np.broadcast_to(reports, inputs.shape).reshape(-1, 2))
        return weights[np.arange(told.size), told].reshape(inputs.shape[:-1])

    @cached_property
    def ratio(self) -> Fraction:
        largest = largest_ratio(self.side**2, self.side**2, self.weights)
        if largest is None:
            raise InvalidParameter("a cell is impossible for some inputs: the ratio is infinite")
        return Fraction(largest)

    @property
    def evidence(self) -> str:
        return f"the largest ratio of two weights, over all pairs of {self.side**2} cells and all reports"

    def check(self, raw: Array) -> Array:
        if raw.size == 0:
            return np.zeros((0, 2), dtype=np.uint16)
        inside = raw.ndim and raw.shape[-1] == 2 and raw.min() >= 0 and raw.max() < self.side * WITHIN
        if not inside:
            raise MalformedReport(f"a report is two whole numbers from 0 to {self.side * WITHIN - 1}")
        return raw.astype(np.uint16, copy=False)

    def device(self) -> dict[str, Any]:
        return {
            "draw": self.kind,
            "side": self.side,
            "low": self.grades.low,
            "high": self.grades.high,
        }

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        if not isinstance(domain, Rectangle):
            raise MalformedReport(f"a grid needs a rectangle, not {type(domain).__name__}")
        grades = Grades(whole(device["low"]), whole(device["high"]))
        return cls(domain, whole(device["side"]), grades)
