"""ATP's draw: two noisy copies of a path among public points, merged into one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final, NoReturn

import numpy as np

from dither.core.domains import Domain, Paths, Region
from dither.core.domains.plane import PAIR, Pair
from dither.core.kernels.alias import Grades, blocks, draw
from dither.core.kernels.blocks import FEW
from dither.core.kernels.kernel import CellKernel, Promise, check_ratio, read_no_codebook, write_no_codebook
from dither.core.kernels.places.place import PlaceKernel
from dither.core.kernels.places.points import check_points, distances, nearest_points
from dither.core.kernels.window.integers import ONE, Blocks
from dither.errors import InvalidParameter, NotIdentifiable
from dither.foundation.arrays import Array, Floats, Integers, Mask
from dither.foundation.canonical import HEXADECIMAL, REAL, WHOLE, Fields, list_of, nullable, record
from dither.foundation.randomness import Source
from dither.privacy import Nothing, Pure

_TURN: Final = 2.0 * math.pi
_WORDS: Final = float(1 << 53)


@dataclass(frozen=True)
class TwoCopies(PlaceKernel, CellKernel):
    """In each copy every second location, an anchor, is drawn by distance; the others also by two directions.

    `anchor` and `choice` bound the weights of the two kinds of draws. `sector` reports a direction by
    randomized response. With `odds`, sectors are centred on the true direction, as in the authors' program,
    and a false sector is reported with probability 1/(sectors − 1 + odds). This has no privacy bound.
    """

    read_codebook, write_codebook = read_no_codebook, write_no_codebook

    points: tuple[Pair, ...]
    anchor: Grades
    sector: Blocks
    choice: Grades
    odds: float | None = None

    kind: ClassVar[str] = "two copies"
    fields = Fields(
        points=list_of(PAIR),
        anchor=record(Grades),
        sector=record(Blocks, Fields(cells=WHOLE, width=ONE, step=HEXADECIMAL, bits=WHOLE)),
        choice=record(Grades),
        odds=nullable(REAL),
    )

    def __post_init__(self) -> None:
        check_points(self.points)

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
            "expected reports of TraCSC, TraCSD, PlanarLaplace, NGram, LSRR or Gridding to make a "
            "map; a report of this mechanism depends on several locations at once"
        )

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        """Draw the reports of one path, its locations in order."""
        return self.draw_paths(Paths.of(inputs), source, threads)[:, 0]

    def draw_paths(self, paths: Paths, source: Source, threads: int = 1) -> Array:
        """Draw the reports of all locations of many paths."""
        if threads != 1:
            raise InvalidParameter(
                f"expected one thread for complete paths, got threads={threads}; leave threads out"
            )
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
        if own.size < FEW:  # the draw of devices: see docs/wire.md
            outputs = np.array([self.sector.draw_one(code, source) for code in own.tolist()])
        else:
            outputs = self.sector.draw(own, source)
        return np.asarray(sectors == outputs[:, None])

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
        raise NotIdentifiable(
            "expected a mechanism whose report depends on one place to list probabilities; a report "
            "here depends on the complete path"
        )

    def likelihoods(self, reports: Array, inputs: Array) -> NoReturn:
        raise NotIdentifiable(
            "expected a mechanism whose report depends on one place; a report here depends on the "
            "complete path"
        )

    @property
    def ratio(self) -> Fraction:
        if self.odds is not None:
            raise InvalidParameter(
                "expected the same possible reports for every place, but the candidates depend on the "
                "exact direction, so that the ratio is infinite; use TraCSC or NGram"
            )
        return max(self.anchor.ratio, self.sector.ratio**2 * self.choice.ratio) ** 2

    @property
    def evidence(self) -> str:
        return "in each of two copies a choice by weights, or two sectors and a choice, whichever is more"
