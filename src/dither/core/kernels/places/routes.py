"""The K public paths nearest to a path are likelier than the others: one report for a complete path.

The device finds the public path nearest to its own, and the K public paths nearest to that path. So the list
follows from one number, and the shares of the N numbers are estimated from the reports of a known channel.
Privacy does not depend on the meaning of "nearest": every list has K different numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np

from dither.core.domains import Domain, Routes
from dither.core.domains.routes import PathDistance
from dither.core.kernels.blocks import FEW, split_rows
from dither.core.kernels.channel import LinearReading
from dither.core.kernels.kernel import on
from dither.core.kernels.places.nearest import (
    MOST_PACKED,
    PACKED,
    NearestNumbers,
    check_lists,
    first_numbers,
    rates_of,
    read_rows,
    shares_of_lists,
)
from dither.core.kernels.window.integers import Nearest
from dither.errors import InvalidParameter
from dither.foundation.arrays import Array, Floats, Integers
from dither.foundation.canonical import Fields, inline
from dither.foundation.randomness import Source

_BLOCK: Final = 1 << 17  # distances of places computed together


def path_distances(first: Integers, second: Integers, scales: tuple[int, int], kind: PathDistance) -> Floats:
    """Return the distance of each of the first paths to each of the second, as integers in doubles.

    Paths are arrays of shape (n, points, 2). The distance of two places is √((s₁·x)² + (s₂·y)²), rounded down
    to an integer. "mean" adds the distances at equal indices up; "warped" is the smallest sum, and "frechet"
    the smallest maximum, over all alignments in which both paths go forwards. All are exact in doubles.
    """
    both = np.empty((len(first), len(second)))
    rows = max(1, _BLOCK // max(len(second), 1))
    for begin in range(0, len(first), rows):
        block = slice(begin, begin + rows)
        both[block] = _align(first[block], second, scales, kind)
    return both


def _align(first: Integers, second: Integers, scales: tuple[int, int], kind: PathDistance) -> Floats:
    mine, other = (
        [tuple(float(scale) * paths[:, at, axis] for axis, scale in enumerate(scales)) for at in range(size)]
        for paths, size in ((first, first.shape[1]), (second, second.shape[1]))
    )

    def apart(i: int, j: int) -> Floats:
        squares = np.subtract.outer(mine[i][0], other[j][0]) ** 2
        squares += np.subtract.outer(mine[i][1], other[j][1]) ** 2
        return np.asarray(np.floor(np.sqrt(squares, out=squares), out=squares))

    size = len(mine)
    if kind == "mean":
        return np.asarray(sum((apart(i, i) for i in range(1, size)), start=apart(0, 0)))
    add = np.maximum if kind == "frechet" else np.add
    above: list[Floats] = []
    for i in range(size):
        row: list[Floats] = []
        for j in range(size):
            before = [*(above[j - 1 : j + 1] if j else above[:1]), *row[-1:]]
            step = apart(i, j)
            row.append(add(step, np.minimum.reduce(before)) if before else step)
        above = row
    found: Floats = above[-1]
    return found


@dataclass(frozen=True)
class RouteKernel(NearestNumbers):
    """The number of a public path; the K paths nearest to the own path's public path are likelier.

    `packed` are the resampled public paths as integers, two bytes each, the higher first.
    """

    window: Nearest
    routes: Routes
    packed: bytes

    kind: ClassVar[str] = "routes"
    quantities: ClassVar[tuple[str, ...]] = ("frequencies",)
    coordinates: ClassVar[int] = 2
    fields = Fields(
        routes=on(Routes, "expected routes for public paths, got {}"),
        window=inline(Nearest),
        packed=PACKED.member("paths"),
    )

    def __post_init__(self) -> None:
        size = 4 * self.routes.points
        if len(self.packed) != self.window.cells * size or len(self.packed) > 2 * MOST_PACKED:
            raise InvalidParameter(
                f"expected {self.window.cells} public paths of {self.routes.points} places, at most "
                f"{2 * MOST_PACKED // size} of them (64 kB); choose fewer points or fewer paths"
            )
        check_lists(self.lists, self.window.cells)

    @classmethod
    def largest(cls, epsilon: float, routes: Routes, paths: Integers, width: int) -> RouteKernel:
        """Return the kernel with the largest ratio that is certainly at most e^ε."""
        window = Nearest.largest(epsilon, len(paths), width)
        return cls(window, routes, paths.astype(">u2").tobytes())

    @cached_property
    def paths(self) -> Integers:
        """The integers of the public paths, of shape (N, points, 2)."""
        flat = np.frombuffer(self.packed, dtype=">u2").astype(np.int64)
        return flat.reshape(-1, self.routes.points, 2)

    @cached_property
    def lists(self) -> Array:
        """The K numbers nearest to each public path, by (distance, number)."""
        far = self.distances(self.paths).astype(np.int64)
        return first_numbers(far, self.window.width).astype(self.layout)

    def distances(self, inputs: Integers) -> Floats:
        """Return the distance of each path to each public path, as integers."""
        return path_distances(inputs, self.paths, self.routes.area.scales, self.routes.distance)

    def numbers(self, inputs: Array) -> tuple[Array, Integers]:
        flat = np.asarray(inputs, dtype=np.int64).reshape(-1, self.routes.points, 2)
        return self.lists, self.nearest(flat)

    def nearest(self, inputs: Integers) -> Integers:
        """Return the number of the public path nearest to each path; the first of equally near ones."""
        return np.asarray(self.distances(inputs).argmin(axis=1))

    @property
    def different(self) -> Array:
        """The list of each public path."""
        return self.lists

    @property
    def rates(self) -> tuple[Fraction, Fraction] | None:
        """The probabilities of the nearest public path's number, and of any other, if K = 1; else None."""
        return rates_of(self.window, self.lists)

    @cached_property
    def shares_reading(self) -> LinearReading:
        """The unbiased decoding of the shares of people by their nearest public path."""
        return shares_of_lists(self.window, self.lists)

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        flat = inputs.reshape(-1, *inputs.shape[-2:])
        few = len(flat) < FEW
        drawn = self.draw_singly(flat, source) if few else split_rows(self._draw_many, flat, source, threads)
        return drawn.reshape(inputs.shape[:-2])

    def fits(self, domain: Domain) -> bool:
        return isinstance(domain, Routes) and domain == self.routes

    def decode(self, reports: Array, domain: Domain, book: Floats | None) -> Array:
        """Return the path that the codebook has for each report, by default the public path."""
        locations = self.routes.places(self.paths) if book is None else book
        return np.asarray(locations[np.asarray(reports).astype(np.int64)])

    def read_codebook(self, data: object, stated: Mapping[str, Any]) -> Floats | None:
        """Return a path for each number; None if they are the public paths themselves."""
        if data is None:
            return None
        rows = read_rows(data, self.outcomes, 2 * self.routes.points)
        return rows.reshape(self.outcomes, self.routes.points, 2)

    def write_codebook(self, book: Floats | None) -> object:
        return None if book is None else book.reshape(self.outcomes, -1).tolist()
