"""Paths reported step by step: the direction and the relative distance from a public reference."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, Final

import numpy as np

from dither.core.domains import Circle, Domain, Interval, Paths, Region
from dither.core.domains.plane import PAIR, Pair
from dither.core.kernels.blocks import FEW
from dither.core.kernels.kernel import on
from dither.core.kernels.places.pair import ON_LINE, PairDecoder, PairKernel
from dither.core.kernels.places.place import PlaceKernel, PlaceLikelihood, Rows, over_cells
from dither.errors import InvalidParameter, MalformedReport
from dither.foundation.arrays import Array, Floats, Integers, Mask
from dither.foundation.canonical import Data, Fields, Member
from dither.foundation.randomness import Source

TURN: Final = Circle(2.0 * math.pi)
UNIT: Final = Interval(0.0, 1.0)
FIXED: Final = "fixed"  # a device text contains this word if the reference is fixed

_MOST: Final = 1 << 20  # the most cells, since directions and distances are looked up in tables
_GROUP: Final = 1 << 13  # paths processed together, so that their places stay in the cache


def _write_books(name: str, kernel: WalkKernel) -> Data:
    return {"codebooks": kernel.write_books(kernel.books)}


def _read_books(name: str, data: Data, known: Data) -> Data:
    parts = zip((known["first"], known["second"]), data["codebooks"], strict=True)
    direction, distance = (part.read_codebook(book, {}) for part, book in parts)
    return {name: PairDecoder((direction, distance))}


def _write_fixed(name: str, kernel: WalkKernel) -> Data:
    return {"reference": FIXED} if kernel.fixed else {}


def _read_fixed(name: str, data: Data, known: Data) -> Data:
    if data.get("reference", FIXED) != FIXED:
        raise MalformedReport(f'expected "{FIXED}" as the reference of a walk, or none')
    return {name: "reference" in data}


@dataclass(frozen=True)
class WalkKernel(PairKernel, PlaceKernel):
    """A location is reported as a randomised direction and normalised distance from a reference.

    The first reference is `origin`, a public place. The next is the place of the previous report, or the
    origin again if it is `fixed`. A report is a cell of the direction and a cell of the distance. Its place
    is computed from reports only. So devices and collector agree on it, and computing it is post-processing.
    A device decodes its own reports to find the next reference, so it needs the codebooks.
    """

    region: Region
    origin: Pair
    books: PairDecoder
    fixed: bool = False

    kind: ClassVar[str] = "walk"
    fields = Fields(
        region=on(Region, "expected a bounded area for steps from place to place, got {}"),
        first=ON_LINE,
        second=ON_LINE,
        books=Member(_write_books, _read_books),
        origin=PAIR.member("start"),
        fixed=Member(_write_fixed, _read_fixed),
    )

    def __post_init__(self) -> None:
        self.check_lines(TURN, UNIT)
        most = max(part.outcomes for part in self.parts)
        if most > _MOST:
            raise InvalidParameter(f"expected at most 2^20 cells, got {most}")
        self.region.check(self.origin)

    def fits(self, domain: Domain) -> bool:
        return domain == self.region

    @cached_property
    def _tables(self) -> tuple[Floats, Floats]:
        """The unit vector of each cell of the direction, and each cell's relative distance."""
        direction, distance = self.books.parts
        angle = direction(np.arange(self.first.outcomes))
        turns = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        return turns, np.clip(distance(np.arange(self.second.outcomes)), 0.0, 1.0)

    def read_codebook(self, data: object, stated: Mapping[str, Any]) -> PairDecoder:
        if data != self.write_books(self.books):
            raise MalformedReport("expected the codebooks of a walk in the device text, got others")
        return self.books

    def write_codebook(self, book: PairDecoder) -> object:
        return self.write_books(book)

    def likelihood_in(self, cells: Floats) -> PlaceLikelihood:
        return _Seen(self, cells)

    def draw_paths(self, paths: Paths, source: Source, threads: int = 1) -> Array:
        cells = np.empty(paths.points.shape, dtype=self.layout.base)
        groups = list(_groups(paths.offsets))
        if threads > 1 and len(groups) > 1:
            with ThreadPoolExecutor(threads) as pool:
                jobs = [pool.submit(self._walk, paths, group, cells, source.spawn()) for group in groups]
                for job in jobs:
                    job.result()
        else:
            for group in groups:
                self._walk(paths, group, cells, source)
        return cells

    def _walk(self, paths: Paths, group: Array, cells: Array, source: Source) -> None:
        """Draw the reports of a group of paths, one location of all paths at a time; a few paths singly."""
        here, tables = np.tile(self.origin, (group.size, 1)), self._tables
        for rows in _steps(paths.offsets, group):
            at = here[: rows.size]
            angle, share = self.polar_of(at, paths.points[rows])
            first = self.first.draw(angle, source)
            second = self.second.draw(share, source)
            cells[rows, 0], cells[rows, 1] = first, second
            if not self.fixed:
                self.advance(at, first, second, tables)
        for rest, begin in _alone(paths.offsets, group, here):
            self._walk_alone(paths.points[rest], cells[rest], begin, source)

    def polar_of(self, at: Floats, places: Floats) -> tuple[Floats, Floats]:
        """Return the directions of places from references, and their relative distances.

        A place that equals its reference has direction 0 and distance 0, and is randomised like any other.
        """
        step = places - at
        angle = np.arctan2(step[:, 1], step[:, 0])
        angle += (angle < 0.0) * TURN.period
        return angle, np.minimum(self.region.gauge(at, step), 1.0)

    def numbers(self, places: Floats, references: Floats | None = None) -> Floats:
        flat = places.reshape(-1, 2)
        at = np.asarray(self.origin) if references is None else self.region.check(references)
        seen = self.polar_of(np.broadcast_to(at, flat.shape), flat)
        return np.stack(seen, axis=-1).reshape(places.shape)

    def advance(
        self, at: Floats, direction: Array, distance: Array, tables: tuple[Floats, Floats] | None = None
    ) -> None:
        """Replace references by the places of reports, in place; pass `tables` when calling repeatedly."""
        turns, shares = self._tables if tables is None else tables
        turn = turns.take(direction, axis=0)
        length = shares.take(distance)
        length /= self.region.gauge(at, turn)
        turn *= length[:, None]
        at += turn
        at[:] = self.region.clip(at)  # rounding may put a place just outside

    def _walk_alone(self, locations: Floats, cells: Array, begin: Pair, source: Source) -> None:
        direction, distance = (partial(part.draw_one, source=source) for part in self.parts)
        gauge, advance = self.region.gauge_one, self._stepper()
        x, y = begin
        for row, (a, b) in enumerate(locations.tolist()):
            step = a - x, b - y
            first = direction(math.atan2(step[1], step[0]) % TURN.period)
            second = distance(min(gauge((x, y), step), 1.0))
            cells[row] = first, second
            if not self.fixed:
                x, y = advance(x, y, first, second)

    def _stepper(self) -> Callable[[float, float, int, int], Pair]:
        """Return `advance` for one place, without arrays."""
        turn, share = (table.item for table in self._tables)
        gauge = self.region.gauge_one

        def advance(x: float, y: float, direction: int, distance: int) -> Pair:
            across, along = turn(2 * direction), turn(2 * direction + 1)
            length = share(distance) / gauge((x, y), (across, along))
            return x + across * length, y + along * length

        return advance

    def places_of(self, cells: Array, begins: Mask, domain: Domain, book: PairDecoder) -> Floats:
        locations = np.empty((len(cells), 2))
        if self.fixed:
            locations[:] = self.origin
            self.advance(locations, cells[:, 0], cells[:, 1])
            return locations
        offsets = np.append(np.flatnonzero(begins), len(cells))
        tables = self._tables
        for group in _groups(offsets):
            here = np.tile(self.origin, (group.size, 1))
            for rows in _steps(offsets, group):
                at, outputs = here[: rows.size], cells[rows]
                self.advance(at, outputs[:, 0], outputs[:, 1], tables)
                locations[rows] = at
            for rest, begin in _alone(offsets, group, here):
                locations[rest] = self.region.clip(self._retrace(cells[rest], begin))
        return locations

    def _retrace(self, cells: Array, begin: Pair) -> list[Pair]:
        location, locations, advance = begin, [], self._stepper()
        for direction, distance in cells.tolist():
            location = advance(*location, direction, distance)
            locations.append(location)
        return locations


def _groups(offsets: Array) -> Iterator[Array]:
    """Yield groups of indices of paths, the longest paths first."""
    order = np.argsort(-np.diff(offsets), kind="stable")
    for begin in range(0, order.size, _GROUP):
        yield order[begin : begin + _GROUP]


def _steps(offsets: Array, group: Array) -> Iterator[Array]:
    """Yield, for each step, the rows of the paths that have not ended, while there are at least `FEW`."""
    begins, lengths = offsets[group], np.diff(offsets)[group]
    for step in range(_together(lengths)):
        active = np.searchsorted(-lengths, -step)
        yield begins[:active] + step


def _alone(offsets: Array, group: Array, here: Floats) -> Iterator[tuple[slice, Pair]]:
    """Yield, for each path that is longer than `_together`, its remaining rows and its present reference."""
    lengths = np.diff(offsets)[group]
    done = _together(lengths)
    for index in range(int(np.searchsorted(-lengths, -done))):
        x, y = here[index].tolist()
        yield slice(int(offsets[group[index]]) + done, int(offsets[group[index] + 1])), (x, y)


def _together(lengths: Array) -> int:
    """Return the number of steps for which at least `FEW` paths have not ended."""
    return int(lengths[FEW - 1]) if lengths.size >= FEW else 0


@dataclass(frozen=True, eq=False)
class _Seen(PlaceLikelihood):
    kernel: WalkKernel
    cells: Floats

    def of(self, reports: Array) -> Rows:
        kernel, locations = self.kernel, self.cells.reshape(-1, 2)
        # The reference of each location: the place of the previous report, or the start.
        references = np.roll(kernel.decode(reports, kernel.region, kernel.books), 1, axis=0)
        references[kernel.fixed | (reports[:, 0] != 0)] = kernel.origin

        def rows(chosen: Integers) -> Floats:
            at = np.repeat(references[chosen], len(locations), axis=0)
            seen = kernel.polar_of(at, np.tile(locations, (len(chosen), 1)))
            numbers = [number.reshape(len(chosen), -1) for number in seen]
            return over_cells(kernel.product(reports[chosen, 1:], numbers), chosen, self.cells)

        return rows
