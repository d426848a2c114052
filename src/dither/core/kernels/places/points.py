"""Kernels of public points and of the cells of a grid.

ATP's draw: two noisy copies of a path among public points, which are merged into one.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final, NoReturn, Protocol, Self

import numpy as np

from dither.core.domains import Domain, Paths, Rectangle, Region
from dither.core.domains.plane import Pair, read_pair
from dither.core.kernels.alias import Grades, blocks, draw, largest_ratio
from dither.core.kernels.kernel import (
    FEW,
    CellKernel,
    NoCodebook,
    Promise,
    PureKernel,
    check_ratio,
    split_rows,
)
from dither.core.kernels.places.place import PlaceKernel, PlaceLikelihood, Rows
from dither.core.kernels.window.integers import Blocks
from dither.errors import InvalidParameter, MalformedReport, NotIdentifiable, found
from dither.foundation.arrays import Array, Floats, Integers, Mask
from dither.foundation.canonical import from_hexadecimal, hexadecimal, real, whole
from dither.foundation.randomness import Source
from dither.privacy import Nothing, Pure

MOST_POINTS = 1 << 15


class WeightRule(ABC):
    """The integer weights of candidates, from their distances to the true point."""

    @abstractmethod
    def weights(self, distances: Floats) -> Integers:
        """Return the weight of every candidate, with one row for each true point."""

    @abstractmethod
    def device(self) -> dict[str, Any]:
        """Return the rule as JSON-compatible data."""


@dataclass(frozen=True)
class FallingWeights(WeightRule):
    """Weights that decrease exponentially from the nearest to the farthest candidate, between two bounds.

    If `reach` is given, candidates farther away have weight 0.
    """

    grades: Grades
    reach: float | None = None

    def weights(self, distances: Floats) -> Integers:
        near = None if self.reach is None else distances <= self.reach
        return self.grades.exponential(distances, near)

    def device(self) -> dict[str, Any]:
        return {
            "kind": "falling",
            "low": self.grades.low,
            "high": self.grades.high,
            "reach": self.reach,
        }


@dataclass(frozen=True)
class RingWeights(WeightRule):
    """Three weights: for candidates within the first radius, within the second radius, and beyond it."""

    levels: tuple[int, int, int]
    radii: tuple[float, float]

    def __post_init__(self) -> None:
        if min(self.levels) < 1 or max(self.levels) > Grades.MOST or not 0.0 < self.radii[0] < self.radii[1]:
            raise InvalidParameter(
                "ring weights need three positive weights up to 2^40 and two increasing radii"
            )

    def weights(self, distances: Floats) -> Integers:
        return np.array(self.levels, dtype=np.int64)[ring(distances, self.radii)]

    def device(self) -> dict[str, Any]:
        return {"kind": "rings", "levels": list(self.levels), "radii": list(self.radii)}


def ring(distances: Floats, radii: tuple[float, float]) -> Array:
    """Return 0 within the first radius, 1 within the second and 2 beyond it."""
    return (distances > radii[0]).astype(np.int8) + (distances > radii[1])


def read_rule(data: Mapping[str, Any]) -> WeightRule:
    """Return the rule that JSON-compatible data describe; raise MalformedReport if they describe none."""
    if data["kind"] == "falling":
        reach = None if data["reach"] is None else real(data["reach"])
        return FallingWeights(Grades(whole(data["low"]), whole(data["high"])), reach)
    if data["kind"] == "rings":
        first, second, third = (whole(level) for level in data["levels"])
        return RingWeights((first, second, third), read_pair(data["radii"]))
    raise MalformedReport(f"the kind of weights must be falling or rings, not {found(data['kind'])}")


class ChoiceKernel(PlaceKernel, NoCodebook):
    """A kernel with finitely many candidates; a report is a candidate drawn by integer weights."""

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
        place = np.asarray(value, dtype=np.float64).reshape(1, 2)
        weights = self.weights(self.nearest(place))[0].tolist()
        total = sum(weights)
        return [Fraction(weight, total) for weight in weights]

    def draw_paths(self, paths: Paths, source: Source, threads: int = 1) -> Array:
        return self.draw_each(paths, source, threads)

    def likelihood_in(self, cells: Floats) -> PlaceLikelihood:
        return TableLikelihood(self, cells)

    def table(self, cells: Floats) -> Floats:
        """Return the probability of each candidate for each cell; a cell is a sample of places, averaged."""
        return np.stack([self._choice_chances(places).mean(axis=0) for places in cells], axis=1)

    def _choice_chances(self, places: Floats) -> Floats:
        """Return the probability of every candidate for each place, in floats."""
        weights = self.weights(self.nearest(places)).astype(np.float64)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class PointKernel(ChoiceKernel, CellKernel):
    """A place is mapped to the nearest of public points; a report is one of them, drawn by its weight."""

    points: tuple[Pair, ...]
    rule: WeightRule

    kind: ClassVar[str] = "points"

    def __post_init__(self) -> None:
        if not 2 <= len(self.points) <= MOST_POINTS:
            raise InvalidParameter(f"2 to {MOST_POINTS} points are needed, not {len(self.points)}")

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
        return self.rule.weights(distances(self.places[numbers], self.places))

    def fits(self, domain: Domain) -> bool:
        return isinstance(domain, Region)

    def places_of(self, cells: Array, begins: Mask, domain: Domain, book: Any) -> Floats:
        return np.asarray(self.places[cells[:, 0]])

    def promise(self, epsilon: float, stated: Mapping[str, Any]) -> Promise:
        """Return the bound over all pairs of points; there is none if a report is possible for some only."""
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

    def _draw_places(self, places: Array, source: Source) -> Array:
        drawn = np.empty(len(places), dtype=self.layout)
        for block in blocks(len(drawn), len(self.points)):
            drawn[block] = draw(self.weights(self.nearest(places[block])), source)
        return drawn

    def draw_one(self, value: Any, source: Source) -> int:
        return int(self.draw(np.asarray(value, dtype=np.float64).reshape(1, 2), source)[0])

    def candidate_of(self, reports: Array) -> Integers:
        return np.asarray(reports.reshape(-1).astype(np.int64))

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        weights = self._choice_chances(inputs.reshape(-1, 2))
        told = np.broadcast_to(reports, inputs.shape[:-1]).reshape(-1)
        return np.asarray(weights[np.arange(told.size), told]).reshape(inputs.shape[:-1])

    @cached_property
    def largest(self) -> float | None:
        """The largest ratio of two probabilities of one point, rounded up; None if it is infinite."""
        return largest_ratio(len(self.points), len(self.points), self.weights)

    @property
    def ratio(self) -> Fraction:
        if self.largest is None:
            raise InvalidParameter("the set of possible reports depends on the place: the ratio is infinite")
        return Fraction(self.largest)

    @property
    def evidence(self) -> str:
        return f"the largest ratio of two weights, over all reports and pairs of {len(self.points)} points"

    def device(self) -> dict[str, Any]:
        return {
            "draw": self.kind,
            "points": [list(point) for point in self.points],
            "weights": self.rule.device(),
        }

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        return cls(tuple(read_pair(point) for point in device["points"]), read_rule(device["weights"]))


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
        told = self.kernel.candidate_of(reports[:, 1:])
        return lambda chosen: np.asarray(self._table[told[chosen]])


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

    def _draw_places(self, places: Array, source: Source) -> Array:
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

    def candidate_of(self, reports: Array) -> Integers:
        column, row = (reports // WITHIN).astype(np.int64).T
        return np.asarray(column * self.side + row)

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        weights = self._choice_chances(inputs.reshape(-1, 2)) / WITHIN**2
        told = self.candidate_of(np.broadcast_to(reports, inputs.shape).reshape(-1, 2))
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


_TURN: Final = 2.0 * math.pi
_WORDS: Final = float(1 << 53)


@dataclass(frozen=True)
class TwoCopies(PlaceKernel, NoCodebook, CellKernel):
    """In each copy every second location, an anchor, is drawn by distance; the others also by two directions.

    `anchor` and `choice` bound the weights of the two kinds of draws. `sector` reports a direction by
    randomized response. With `odds`, sectors are centred on the true direction, as in the authors' program,
    and a false sector is reported with probability 1/(sectors − 1 + odds). Then there is no privacy bound.
    """

    points: tuple[Pair, ...]
    anchor: Grades
    sector: Blocks
    choice: Grades
    odds: float | None = None

    kind: ClassVar[str] = "two copies"

    def __post_init__(self) -> None:
        if len(self.points) < 2:
            raise InvalidParameter(f"at least two points are needed, not {len(self.points)}")

    @property
    def sectors(self) -> int:
        """The number of sectors of directions."""
        return self.sector.cells

    @property
    def outcomes(self) -> int:
        return len(self.points)

    @cached_property
    def places(self) -> Floats:
        """The points, as an array."""
        return np.asarray(self.points)

    def weights(self, points: Integers) -> Integers:
        """Return the weight of every point for anchors with the given true points."""
        return self.anchor.exponential(distances(self.places[points], self.places))

    def fits(self, domain: Domain) -> bool:
        return isinstance(domain, Region)

    def places_of(self, cells: Array, begins: Mask, domain: Domain, book: Any) -> Floats:
        return np.asarray(self.places[cells[:, 0]])

    def promise(self, epsilon: float, stated: Mapping[str, Any]) -> Promise:
        if self.odds is None:
            return Promise(Pure(self.epsilon), self.evidence)
        reason = "the candidates depend on the exact direction of the true location"
        return Promise(Nothing(reason), "not finite", kept=False)

    def certify(self, epsilon: float, stated: Mapping[str, Any]) -> None:
        if self.odds is None:
            check_ratio(self, epsilon)

    def likelihood_in(self, cells: Floats) -> NoReturn:
        raise NotIdentifiable(
            "a report depends on several locations at once; maps are made from reports of TraCSC, TraCSD, "
            "PlanarLaplace, NGram, LSRR and Gridding"
        )

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        """Draw the reports of one path, its locations in order."""
        return self.draw_paths(Paths.of(inputs), source, threads)[:, 0]

    def draw_paths(self, paths: Paths, source: Source, threads: int = 1) -> Array:
        """Draw the reports of all locations of many paths."""
        if threads != 1:
            raise InvalidParameter(f"whole paths are drawn in one thread; omit threads={threads}")
        truth = nearest_points(paths.points, self.places)
        position = np.arange(truth.size) - np.repeat(paths.offsets[:-1], paths.lengths)
        last = position == np.repeat(paths.lengths, paths.lengths) - 1
        copies = [self._copy(truth, position, last, parity, source) for parity in (1, 0)]
        return self._merge(*copies).astype(self.layout)[:, None]

    def draw_one(self, value: Any, source: Source) -> int:
        """Draw the report of a path of one location."""
        return int(self.draw(np.asarray(value, dtype=np.float64).reshape(1, 2), source)[0])

    def _copy(self, truth: Integers, position: Integers, last: Mask, parity: int, source: Source) -> Integers:
        """Draw one copy: first the anchors, then the locations between two anchors."""
        between = (position % 2 != parity) & (position > 0) & ~last
        copy = np.empty_like(truth)
        anchors = np.flatnonzero(~between)
        for block in blocks(anchors.size, len(self.points)):
            copy[anchors[block]] = draw(self.weights(truth[anchors[block]]), source)
        others = np.flatnonzero(between)
        for block in blocks(others.size, len(self.points)):
            rows = others[block]
            seen = [self._in_sight(copy[rows + side], truth[rows], source) for side in (-1, 1)]
            both = seen[0] & seen[1]
            both |= ~both.any(axis=1, keepdims=True)  # if no point lies in both sectors, all are candidates
            apart = distances(self.places[truth[rows]], self.places)
            copy[rows] = draw(self.choice.exponential(apart, both), source)
        return copy

    def _in_sight(self, neighbours: Integers, truth: Integers, source: Source) -> Mask:
        """Return which points lie in the noisy sector of the direction from a neighbour to the truth."""
        gaps = self.places[None, :, :] - self.places[neighbours][:, None, :]
        directions = np.arctan2(gaps[..., 1], gaps[..., 0]) % _TURN
        true = np.take_along_axis(directions, truth[:, None], axis=1)[:, 0]
        width = _TURN / self.sectors
        if self.odds is not None:
            middle = true + self._seldom_lies(truth.size, self.odds, source) * width
            off = (directions - middle[:, None] + math.pi) % _TURN - math.pi
            return np.asarray(np.abs(off) <= width / 2.0)
        sectors = np.minimum((directions / width).astype(np.int64), self.sectors - 1)
        own = np.minimum((true / width).astype(np.int64), self.sectors - 1)
        if own.size < FEW:  # as devices draw: see docs/wire.md
            told = np.array([self.sector.draw_one(code, source) for code in own.tolist()])
        else:
            told = self.sector.draw(own, source)
        return np.asarray(sectors == told[:, None])

    def _seldom_lies(self, size: int, odds: float, source: Source) -> Integers:
        """Return shifts of sectors as in the authors' program.

        A false sector has the total probability 1/(k − 1 + e^ε), and is one of k shifts instead of k − 1.
        """
        words = source.words(2 * size)
        chance = 1.0 / (self.sectors - 1.0 + odds)
        lies = (words[:size] >> np.uint64(11)) / _WORDS < chance
        return np.where(lies, 1 + (words[size:] % np.uint64(self.sectors)).astype(np.int64), 0)

    def _merge(self, first: Integers, second: Integers) -> Integers:
        """Return for each location the point with the smallest sum of distances to its two copies."""
        merged = np.empty_like(first)
        for block in blocks(first.size, len(self.points)):
            near, far = (self.places[copy[block]] for copy in (first, second))
            merged[block] = (distances(near, self.places) + distances(far, self.places)).argmin(axis=1)
        return merged

    def probabilities(self, value: Any) -> NoReturn:
        raise NotIdentifiable("a report depends on the whole path: its probabilities cannot be listed")

    def likelihoods(self, reports: Array, inputs: Array) -> NoReturn:
        raise NotIdentifiable("a report depends on the whole path, not on one place")

    @property
    def ratio(self) -> Fraction:
        if self.odds is not None:
            raise InvalidParameter("the candidates depend on the exact direction: the ratio is infinite")
        return max(self.anchor.ratio, self.sector.ratio**2 * self.choice.ratio) ** 2

    @property
    def evidence(self) -> str:
        return "in each of two copies a choice by weights, or two sectors and a choice, whichever is more"

    def device(self) -> dict[str, Any]:
        return {
            "draw": self.kind,
            "points": [list(point) for point in self.points],
            "anchor": {"low": self.anchor.low, "high": self.anchor.high},
            "sector": {
                "cells": self.sector.cells,
                "step": hexadecimal(self.sector.step),
                "bits": self.sector.bits,
            },
            "choice": {"low": self.choice.low, "high": self.choice.high},
            "odds": self.odds,
        }

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        sector = device["sector"]
        anchor, choice = (
            Grades(whole(device[name]["low"]), whole(device[name]["high"])) for name in ("anchor", "choice")
        )
        return cls(
            tuple(read_pair(point) for point in device["points"]),
            anchor,
            Blocks(whole(sector["cells"]), 1, from_hexadecimal(sector["step"]), whole(sector["bits"])),
            choice,
            None if device["odds"] is None else real(device["odds"]),
        )
