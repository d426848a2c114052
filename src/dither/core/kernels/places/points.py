"""Kernels of public points and of the cells of a grid."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final, Protocol

import numpy as np

from dither.core.domains import Domain, Paths, Rectangle, Region
from dither.core.domains.domain import MOST_NUMBER
from dither.core.domains.plane import PAIR, Pair
from dither.core.kernels.alias import Grades, blocks, draw, largest_ratio
from dither.core.kernels.blocks import split_rows
from dither.core.kernels.kernel import (
    CellKernel,
    Promise,
    check_ratio,
    on,
    pure_certify,
    pure_promise,
    read_no_codebook,
    write_no_codebook,
)
from dither.core.kernels.places.place import PlaceKernel, PlaceLikelihood, Rows
from dither.errors import InvalidParameter, MalformedReport, found
from dither.foundation.arrays import Array, Floats, Integers, Mask
from dither.foundation.canonical import (
    REAL,
    WHOLE,
    Codec,
    Data,
    Fields,
    Member,
    as_indices,
    inline,
    list_of,
    nullable,
    one_of,
    whole,
)
from dither.foundation.randomness import Source
from dither.privacy import Nothing, Pure

MOST_POINTS = 1 << 15


def check_points(points: tuple[Pair, ...]) -> None:
    """Raise InvalidParameter unless there are 2 to 2^15 points, within ±1e30: their distances are finite."""
    if not 2 <= len(points) <= MOST_POINTS:
        raise InvalidParameter(f"expected 2 to {MOST_POINTS} points, got {len(points)}")
    if not all(abs(number) <= MOST_NUMBER for point in points for number in point):
        raise InvalidParameter(f"expected coordinates of points within ±{MOST_NUMBER:g}; use another unit")


class WeightRule(ABC):
    """The integer weights of candidates, for each true point."""

    kind: ClassVar[str]  # the name of the rule in a device text
    fields: ClassVar[Fields]

    @abstractmethod
    def weights(self, numbers: Integers, places: Floats) -> Integers:
        """Return the weight of every candidate, with one row for each of the numbered true points.

        `places` are the coordinates of all candidates.
        """


@dataclass(frozen=True)
class FallingWeights(WeightRule):
    """Weights that decrease exponentially from the nearest to the farthest candidate, between two bounds.

    If `reach` is given, candidates farther away have weight 0.
    """

    grades: Grades
    reach: float | None = None
    kind: ClassVar[str] = "falling"
    fields = Fields(reach=nullable(REAL), grades=inline(Grades))

    def weights(self, numbers: Integers, places: Floats) -> Integers:
        apart = distances(places[numbers], places)
        near = None if self.reach is None else apart <= self.reach
        return self.grades.exponential(apart, near)


def _read_levels(data: Sequence[object]) -> tuple[int, int, int]:
    first, second, third = map(whole, data)
    return first, second, third


@dataclass(frozen=True)
class RingWeights(WeightRule):
    """Three weights: for candidates within the first radius, within the second radius, and beyond it."""

    levels: tuple[int, int, int]
    radii: tuple[float, float]
    kind: ClassVar[str] = "rings"
    fields = Fields(levels=Codec(list, _read_levels), radii=PAIR)

    def __post_init__(self) -> None:
        if min(self.levels) < 1 or max(self.levels) > Grades.MOST or not 0.0 < self.radii[0] < self.radii[1]:
            raise InvalidParameter(
                "expected three positive weights of rings up to 2^40, and two increasing radii"
            )

    def weights(self, numbers: Integers, places: Floats) -> Integers:
        apart = distances(places[numbers], places)
        return np.array(self.levels, dtype=np.int64)[ring(apart, self.radii)]


MOST_LISTED: Final = 1 << 10  # points of a table of weights, whose text has a number for every pair


def _write_weights(name: str, rule: ListedWeights) -> Data:
    different, rows = as_indices(rule.rows)
    return {"values": different, name: rows}


def _read_weights(name: str, data: Data, known: Data) -> Data:
    values = [whole(value) for value in data["values"]]
    rows = [[whole(number) for number in row] for row in data[name]]
    if any(not 0 <= number < len(values) for row in rows for number in row):
        raise MalformedReport(f"expected indices below the {len(values)} values of the table of weights")
    return {name: tuple(tuple(values[number] for number in row) for row in rows)}


@dataclass(frozen=True)
class ListedWeights(WeightRule):
    """A table of weights: row i has the weight of every candidate if point i is the true one."""

    rows: tuple[tuple[int, ...], ...]
    kind: ClassVar[str] = "listed"
    fields = Fields(rows=Member(_write_weights, _read_weights))

    def __post_init__(self) -> None:
        if not 2 <= len(self.rows) <= MOST_LISTED or any(len(row) != len(self.rows) for row in self.rows):
            raise InvalidParameter(f"expected a square table of weights, of 2 to {MOST_LISTED} points")
        if not all(1 <= weight <= Grades.MOST for row in self.rows for weight in row):
            raise InvalidParameter("the weights of a table must be integers from 1 to 2^40")

    @cached_property
    def _table(self) -> Integers:
        return np.array(self.rows, dtype=np.int64)

    def weights(self, numbers: Integers, places: Floats) -> Integers:
        return np.asarray(self._table[numbers])


def ring(distances: Floats, radii: tuple[float, float]) -> Array:
    """Return 0 within the first radius, 1 within the second and 2 beyond it."""
    return (distances > radii[0]).astype(np.int8) + (distances > radii[1])


class ChoiceKernel(PlaceKernel):
    """A kernel with finitely many candidates; a report is a candidate drawn by integer weights."""

    read_codebook, write_codebook = read_no_codebook, write_no_codebook

    @abstractmethod
    def nearest(self, places: Floats) -> Integers:
        """Return the index of each place's own candidate."""

    @abstractmethod
    def weights(self, numbers: Integers) -> Integers:
        """Return the weight of every candidate, with one row for each of the given own candidates."""

    @abstractmethod
    def candidate_of(self, reports: Array) -> Integers:
        """Return the index of the candidate of each report."""

    def probabilities(self, value: Any) -> list[Fraction]:
        """Return the exact probability of every candidate."""
        location = np.asarray(value, dtype=np.float64).reshape(1, 2)
        weights = self.weights(self.nearest(location))[0].tolist()
        total = sum(weights)
        return [Fraction(weight, total) for weight in weights]

    def draw_paths(self, paths: Paths, source: Source, threads: int = 1) -> Array:
        return self.draw_each(paths, source, threads)

    def likelihood_in(self, cells: Floats) -> PlaceLikelihood:
        return TableLikelihood(self, cells)

    def table(self, cells: Floats) -> Floats:
        """Return the probability of each candidate for each cell; a cell is a sample of places, averaged."""
        return np.stack([self._choice_chances(locations).mean(axis=0) for locations in cells], axis=1)

    def _choice_chances(self, locations: Floats) -> Floats:
        """Return the probability of every candidate for each place, in floats."""
        weights = self.weights(self.nearest(locations)).astype(np.float64)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class PointKernel(ChoiceKernel, CellKernel):
    """A place is mapped to the nearest of public points; a report is one of them, drawn by its weight."""

    points: tuple[Pair, ...]
    rule: WeightRule

    kind: ClassVar[str] = "points"
    fields = Fields(
        points=list_of(PAIR),
        rule=one_of(
            FallingWeights,
            RingWeights,
            ListedWeights,
            member="weights",
            wrong="the kind of weights must be falling, rings or listed",
        ),
    )

    def __post_init__(self) -> None:
        check_points(self.points)
        if isinstance(self.rule, ListedWeights) and len(self.rule.rows) != len(self.points):
            raise InvalidParameter(
                f"expected a row of weights for each of {len(self.points)} points, got {len(self.rule.rows)}"
            )

    @property
    def outcomes(self) -> int:
        return len(self.points)

    @cached_property
    def places(self) -> Floats:
        """The points, as an array."""
        return np.asarray(self.points)

    def nearest(self, places: Floats) -> Integers:
        return nearest_points(places, self.places)

    def weights(self, numbers: Integers) -> Integers:
        return self.rule.weights(numbers, self.places)

    def fits(self, domain: Domain) -> bool:
        return isinstance(domain, Region)

    def places_of(self, cells: Array, begins: Mask, domain: Domain, book: Any) -> Floats:
        return np.asarray(self.places[cells[:, 0]])

    def promise(self, epsilon: float, stated: Mapping[str, Any]) -> Promise:
        """Return the bound over all pairs of points; `Nothing` if a report is impossible for some points."""
        if self.largest is None:
            return Promise(
                Nothing("which points can be reported depends on the true location"),
                self.evidence,
                kept=False,
            )
        contrast = stated.get("contrast")
        if isinstance(contrast, Mapping) and contrast.get("name") != "KEPT":
            return Promise(Pure(self.epsilon), self.evidence, kept=False)
        return Promise(Pure(self.epsilon), self.evidence)

    def certify(self, epsilon: float, stated: Mapping[str, Any]) -> None:
        if self.promise(epsilon, stated).kept:
            check_ratio(self, epsilon)

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        drawn = split_rows(self._draw_places, inputs.reshape(-1, 2), source, threads)
        return drawn.reshape(inputs.shape[:-1])

    def _draw_places(self, locations: Array, source: Source) -> Array:
        drawn = np.empty(len(locations), dtype=self.layout)
        for block in blocks(len(drawn), len(self.points)):
            drawn[block] = draw(self.weights(self.nearest(locations[block])), source)
        return drawn

    def draw_one(self, value: Any, source: Source) -> int:
        return int(self.draw(np.asarray(value, dtype=np.float64).reshape(1, 2), source)[0])

    def candidate_of(self, reports: Array) -> Integers:
        return np.asarray(reports.reshape(-1).astype(np.int64))

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        weights = self._choice_chances(inputs.reshape(-1, 2))
        outputs = np.broadcast_to(reports, inputs.shape[:-1]).reshape(-1)
        return np.asarray(weights[np.arange(outputs.size), outputs]).reshape(inputs.shape[:-1])

    @cached_property
    def largest(self) -> float | None:
        """The largest ratio of two probabilities of one point, rounded up; None if it is infinite."""
        return largest_ratio(len(self.points), len(self.points), self.weights)

    @property
    def ratio(self) -> Fraction:
        if self.largest is None:
            raise InvalidParameter(
                "expected the same possible reports for every place, but they depend on the place, so "
                "that the ratio is infinite; use a mechanism with pure ε"
            )
        return Fraction(self.largest)

    @property
    def evidence(self) -> str:
        return f"the largest ratio of two weights, over all reports and pairs of {len(self.points)} points"


class Tabled(Protocol):
    """A kernel with finitely many candidates."""

    def table(self, cells: Floats) -> Floats:
        """Return the probability of each candidate for each cell."""

    def candidate_of(self, reports: Array) -> Integers:
        """Return the index of the candidate of each report."""


@dataclass(frozen=True, eq=False)
class TableLikelihood(PlaceLikelihood):
    """The likelihood of reports with finitely many candidates: a table with one row for each candidate."""

    kernel: Tabled
    cells: Floats

    @cached_property
    def _table(self) -> Floats:
        return self.kernel.table(self.cells)

    def of(self, reports: Array) -> Rows:
        outputs = self.kernel.candidate_of(reports[:, 1:])
        return lambda chosen: np.asarray(self._table[outputs[chosen]])


def nearest_points(places: Floats, points: Floats) -> Integers:
    """Return the index of the nearest point of each place."""
    nearest = np.empty(len(places), dtype=np.int64)
    for block in blocks(len(places), len(points)):
        nearest[block] = distances(places[block], points).argmin(axis=1)
    return nearest


def distances(first: Floats, second: Floats) -> Floats:
    """Return the matrix of distances between the first places and the second places."""
    across, along = (np.subtract.outer(first[:, axis], second[:, axis]) for axis in (0, 1))
    across *= across
    along *= along
    across += along
    return np.asarray(np.sqrt(across, out=across), dtype=np.float64)


WITHIN: Final = 1 << 8  # positions along a side of a cell
MOST_SIDE: Final = 128


@dataclass(frozen=True)
class GridKernel(ChoiceKernel):
    """A cell of a `side` × `side` grid, likelier near the true cell; a report is a uniform position in it."""

    promise, certify = pure_promise, pure_certify

    area: Rectangle
    side: int
    grades: Grades

    kind: ClassVar[str] = "grid"
    fields = Fields(
        area=on(Rectangle, "expected a rectangle for a grid, got {}"), grades=inline(Grades), side=WHOLE
    )

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
    def centres(self) -> Floats:
        """The centres of the cells, from the lower left corner; column by column."""
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
        return self.grades.exponential(distances(self.centres[numbers], self.centres))

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        return split_rows(self._draw_places, inputs.reshape(-1, 2), source, threads).reshape(inputs.shape)

    def _draw_places(self, locations: Array, source: Source) -> Array:
        truth = self.nearest(locations)
        drawn = np.empty_like(truth)
        for block in blocks(truth.size, self.side**2):
            drawn[block] = draw(self.weights(truth[block]), source)
        coarse = np.stack([drawn // self.side, drawn % self.side], axis=1)
        inner = source.integers(WITHIN, 2 * truth.size).reshape(-1, 2)
        return (coarse * WITHIN + inner).astype(np.uint16)

    def draw_one(self, value: Any, source: Source) -> tuple[int, int]:
        column, row = self.draw(np.asarray(value, dtype=np.float64).reshape(1, 2), source)[0].tolist()
        return column, row

    def candidate_of(self, reports: Array) -> Integers:
        column, row = (reports // WITHIN).astype(np.int64).T
        return np.asarray(column * self.side + row)

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        weights = self._choice_chances(inputs.reshape(-1, 2)) / WITHIN**2
        outputs = self.candidate_of(np.broadcast_to(reports, inputs.shape).reshape(-1, 2))
        return weights[np.arange(outputs.size), outputs].reshape(inputs.shape[:-1])

    @cached_property
    def ratio(self) -> Fraction:
        largest = largest_ratio(self.side**2, self.side**2, self.weights)
        if largest is None:
            raise InvalidParameter(
                "expected every cell to be possible for every input, but one is not, so that the ratio "
                "is infinite; use a mechanism with pure ε"
            )
        return Fraction(largest)

    @property
    def evidence(self) -> str:
        return f"the largest ratio of two weights, over all pairs of {self.side**2} cells and all reports"

    def check(self, raw: Array) -> Array:
        if raw.size == 0:
            return np.zeros((0, 2), dtype=np.uint16)
        inside = raw.ndim and raw.shape[-1] == 2 and raw.min() >= 0 and raw.max() < self.side * WITHIN
        if not inside:
            raise MalformedReport(f"expected a report to be two integers from 0 to {self.side * WITHIN - 1}")
        return raw.astype(np.uint16, copy=False)
