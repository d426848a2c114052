"""The K nearest of N public points are likelier than the others: one kernel for places of any space.

Privacy does not depend on the meaning of "nearest". Every input has exactly K different numbers below N, each
of weight H, and all others have weight L, so that K·H + (N − K)·L is the same for every input and ε =
ln(H/L). The selectors here are public maps from an input to K different numbers: points of a grid, listed
points, and lists of neighbours. Subset selection [Ye18] takes any K of N numbers.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final, Self

import numpy as np

from dither.core.domains import Box, Categories, Domain, Paths, Places, Region, Sphere
from dither.core.domains.domain import LEAST_LENGTH, MOST_NUMBER
from dither.core.domains.plane import PAIR, SIDE, Pair
from dither.core.kernels.blocks import BLOCK, FEW, split_rows
from dither.core.kernels.channel import LinearReading, shares_of_inputs
from dither.core.kernels.kernel import CellKernel, pure_certify, pure_promise
from dither.core.kernels.places.place import PlaceKernel, PlaceLikelihood, Separable
from dither.core.kernels.places.points import TableLikelihood
from dither.core.kernels.transition import Dense
from dither.core.kernels.window.integers import Nearest
from dither.errors import InvalidParameter, MalformedReport, NotIdentifiable, found
from dither.foundation.arrays import Array, Floats, Integers, Mask
from dither.foundation.canonical import WHOLE, Codec, Fields, inline, list_of, nullable, one_of, real, whole
from dither.foundation.randomness import Source
from dither.privacy.shuffling import Blanket

_BALL: Final = SIDE // 2 - 1  # the radius of the sphere, in integers
MOST_AXES: Final = 8
MOST_SCALE: Final = (1 << 9) - 1  # squared distances stay below 2^53: exact in every language
MOST_PACKED: Final = 1 << 15  # numbers of 16 bits in a text: 64 kB
MOST_GRAIN: Final = 12
_PACKED: Final = re.compile(r"(?:[0-9a-f]{4})*")
_TABLE: Final = 1 << 23  # numbers of a table up to which it is computed once for all inputs
_BLOCK: Final = 1 << 20  # distances computed together
_FEWEST: Final = 50  # a map needs at least this number of different points
_NAMED: Final = 3  # the label of a group names up to this number of its places
_INNER: Final = 2  # places along the side of a cell of a map


def unpack(text: object) -> bytes:
    """Return the bytes of numbers of 16 bits as hexadecimal text; raise MalformedReport for another text."""
    if not isinstance(text, str) or len(text) > 4 * MOST_PACKED or not _PACKED.fullmatch(text):
        raise MalformedReport(
            f"expected up to {MOST_PACKED} numbers of four lower-case hexadecimal digits each"
        )
    return bytes.fromhex(text)


PACKED: Final = Codec(bytes.hex, unpack)


@dataclass(frozen=True)
class Selector(ABC):
    """A public rule from a place, as one integer of 16 bits per axis, to K different numbers of points.

    `box` is the range of each coordinate; without one, locations are longitudes and latitudes, and their
    integers are coordinates of a unit vector. `scales` multiply the axes, so that distances are distances on
    the map. The last `grain` bits of an input's integers are replaced by the middle of their range.
    """

    box: tuple[Pair, ...] | None
    scales: tuple[int, ...]
    grain: int

    kind: ClassVar[str]
    fields: ClassVar[Fields] = Fields(box=nullable(list_of(PAIR)), scales=list_of(WHOLE), grain=WHOLE)

    def __post_init__(self) -> None:
        axes = 3 if self.box is None else len(self.box)
        if not 1 <= axes <= MOST_AXES or len(self.scales) != axes:
            raise InvalidParameter(f"expected 1 to {MOST_AXES} axes, and a scale for each")
        for low, high in self.box or ():
            inside = low >= -MOST_NUMBER and high <= MOST_NUMBER
            if not (inside and high - low >= LEAST_LENGTH):
                raise InvalidParameter(
                    "expected sides of the box that are neither empty, too short nor too long"
                )
        if not all(1 <= scale <= MOST_SCALE for scale in self.scales):
            raise InvalidParameter(f"the scale of an axis must be from 1 to {MOST_SCALE}")
        if not 0 <= self.grain <= MOST_GRAIN:
            raise InvalidParameter(f"the grain must be from 0 to {MOST_GRAIN} bits, not {found(self.grain)}")

    @property
    @abstractmethod
    def points(self) -> Integers:
        """The integers of every point, a row for each."""

    @property
    def axes(self) -> int:
        """The number of axes."""
        return len(self.scales)

    def integers(self, places: Floats) -> Integers:
        """Return the integers of places, a row for each, with the middle in place of the grain."""
        return self._with_grain(self._fine(np.asarray(places, dtype=np.float64)))

    def _fine(self, locations: Floats) -> Integers:
        if self.box is None:
            across, up = np.moveaxis(np.asarray(locations, dtype=np.float64) * (math.pi / 180.0), -1, 0)
            level = np.cos(up)
            unit = np.stack([level * np.cos(across), level * np.sin(across), np.sin(up)], axis=-1)
            placed = np.floor(_BALL * unit + (SIDE // 2 + 0.5))
        else:
            return np.stack([self._along(locations, axis) for axis in range(self.axes)], axis=-1)
        return np.clip(placed, 0, SIDE - 1).astype(np.int64)

    def _along(self, locations: Floats, axis: int) -> Integers:
        """Return the integers of places along an axis of the box, clamped."""
        low, high = (self.box or ())[axis]
        placed = locations[..., axis] - low
        placed /= high - low
        placed *= SIDE
        return np.clip(placed, 0, SIDE - 1, out=placed).astype(np.int64)  # clipping integers is slower

    def _with_grain(self, fine: Integers) -> Integers:
        return np.asarray((fine >> self.grain << self.grain) + (1 << self.grain >> 1))

    def places(self) -> Floats:
        """Return the places of the points: coordinates, or longitudes and latitudes."""
        if self.box is None:
            x, y, z = (self.points - SIDE // 2).T.astype(np.float64)
            turned = np.stack([np.arctan2(y, x), np.arctan2(z, np.hypot(x, y))], axis=1)
            return np.asarray(np.degrees(turned))
        low, high = np.array(self.box).T
        return np.asarray(low + (self.points + 0.5) / SIDE * (high - low))

    def near(self, inputs: Integers, width: int) -> Array:
        """Return the first `width` points in the order of (squared distance, number), for each input."""
        points = self.points
        dtype = np.min_scalar_type(len(points) - 1)
        chosen = np.empty((len(inputs), width), dtype=dtype)
        rows = max(1, _BLOCK // len(points))
        for begin in range(0, len(inputs), rows):
            squares = np.zeros((min(rows, len(inputs) - begin), len(points)), dtype=np.int64)
            for axis, scale in enumerate(self.scales):
                gap = np.subtract.outer(inputs[begin : begin + rows, axis], points[:, axis])
                gap *= scale
                gap *= gap
                squares += gap
            chosen[begin : begin + rows] = first_numbers(squares, width)
        check_lists(chosen, len(points))  # the selection by floats and sorting is checked
        return chosen

    def windows(self, places: Floats, width: int) -> tuple[Array, Integers]:
        """Return lists of K numbers, and for each place the row of its list.

        The lists of all inputs are made once if they are few; otherwise only for the given locations.
        """
        side = SIDE >> self.grain
        if side**self.axes * width > _TABLE or len(places) < side:
            return self.near(self.integers(places), width), np.arange(len(places))
        table = _every_list(self, width)
        fine = None if self.box else self._fine(places)
        rows = np.zeros(0, dtype=np.int64)
        for axis in range(self.axes):
            own = self._along(places, axis) if fine is None else fine[:, axis]
            own >>= self.grain
            if axis:
                rows *= side
                own += rows
            rows = own
        return table, rows


def first_numbers(squares: Integers, width: int) -> Integers:
    """Return the numbers of the `width` smallest in each row, ascending, equal ones by their number."""
    if width == 1:
        return np.asarray(squares.argmin(axis=1)[:, None])
    if squares.max() < 1 << 47:  # the number fits below the square
        keys = (squares << 16) + np.arange(squares.shape[1])
        return np.sort(np.partition(keys, width - 1, axis=1)[:, :width], axis=1) & 0xFFFF
    return np.argsort(squares, axis=1, kind="stable")[:, :width]


def check_lists(lists: Array, cells: int) -> None:
    """Raise InvalidParameter unless every row has different numbers below `cells`.

    This is the condition of the theorem nearest_private (proofs/Window.v). A number that occurs twice in a
    row would be likelier than H.
    """
    ordered = np.sort(lists, axis=1)
    if ordered[:, -1].max(initial=0) >= cells or (ordered[:, 1:] == ordered[:, :-1]).any():
        raise InvalidParameter(f"expected {lists.shape[1]} different numbers below {cells} in every list")


_TABLES: Final[dict[tuple[Selector, int], Array]] = {}


def _every_list(selector: Selector, width: int) -> Array:
    """Return the list of every input of a selector; the last one is kept."""
    if (selector, width) not in _TABLES:
        _TABLES.clear()
        sides = [np.arange(0, SIDE, 1 << selector.grain)] * selector.axes
        every = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, selector.axes)
        _TABLES[selector, width] = selector.near(selector._with_grain(every), width)
    return _TABLES[selector, width]


@dataclass(frozen=True)
class Grid(Selector):
    """The points of a grid, `per` along each axis, shrunk towards the centre of the box by scale/2^16."""

    per: tuple[int, ...]
    scale: int

    kind: ClassVar[str] = "grid"
    fields = Fields(**Selector.fields.parts, per=list_of(WHOLE), scale=WHOLE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.box is None or len(self.per) != self.axes or min(self.per) < 1:
            raise InvalidParameter("expected a box, and one or more points along each of its axes")
        if math.prod(self.per) > SIDE or not 0 <= self.scale <= SIDE:
            raise InvalidParameter("expected a grid of at most 2^16 points with a scale of at most 1")

    @cached_property
    def points(self) -> Integers:
        """The integers of every point; the last axis changes first."""
        sides = [
            np.minimum(SIDE // 2 + (2 * np.arange(count) + 1 - count) * self.scale // (2 * count), SIDE - 1)
            for count in self.per
        ]
        return np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, self.axes)


@dataclass(frozen=True)
class Points(Selector):
    """Listed points: `packed` are their integers, two bytes each, the higher first. Points may coincide."""

    packed: bytes

    kind: ClassVar[str] = "points"
    fields = Fields(**Selector.fields.parts, packed=PACKED.member("points"))

    def __post_init__(self) -> None:
        super().__post_init__()
        size = 2 * self.axes
        if len(self.packed) % size or not self.packed or len(self.packed) > 2 * MOST_PACKED:
            raise InvalidParameter(
                f"expected points to be rows of {self.axes} numbers of 16 bits, at most {MOST_PACKED} "
                f"numbers in all"
            )

    @staticmethod
    def of(places: Floats, box: tuple[Pair, ...] | None, scales: tuple[int, ...], grain: int) -> Points:
        """Return the selector of points at places."""
        empty = Grid(box, scales, 0, (1,) * len(scales), 0) if box else Points(box, scales, 0, bytes(6))
        return Points(box, scales, grain, empty._fine(places).astype(">u2").tobytes())

    @cached_property
    def points(self) -> Integers:
        """The integers of every point."""
        return np.frombuffer(self.packed, dtype=">u2").astype(np.int64).reshape(-1, self.axes)


class NearestNumbers(CellKernel):
    """A report is a number below N, and each of the K numbers of the input is likelier than the others."""

    promise, certify = pure_promise, pure_certify

    window: Nearest

    coordinates: ClassVar[int] = 1  # axes of an input: 1 for a place or a record, 0 for the code of a place

    @property
    def outcomes(self) -> int:
        return self.window.cells

    @property
    def ratio(self) -> Fraction:
        return self.window.ratio

    @property
    def blanket(self) -> Blanket:  # type: ignore[override]
        """L for every number; the lists of two inputs may be disjoint."""
        return Blanket.of_sets(self.ratio, Fraction(self.window.width, self.window.cells))

    @property
    def evidence(self) -> str:
        window = self.window
        return f"ln(H/L) with N = {window.cells}, K = {window.width}, d = {window.step} of 2^{window.bits}"

    @abstractmethod
    def numbers(self, inputs: Array) -> tuple[Array, Integers]:
        """Return lists of K numbers, and for each input the row of its list."""

    def _draw_many(self, inputs: Array, source: Source) -> Array:
        outputs = np.empty(len(inputs), dtype=self.layout)
        for begin in range(0, len(inputs), BLOCK):  # blocks stay in the cache
            block = inputs[begin : begin + BLOCK]
            outputs[begin : begin + BLOCK] = self.window.draw(*self.numbers(block), source)
        return outputs

    def draw_one(self, value: Any, source: Source) -> int:
        windows, rows = self.numbers(np.asarray([value]))
        return self.window.draw_one(windows[rows[0]].tolist(), source)

    def probabilities(self, value: Any) -> list[Fraction]:
        windows, rows = self.numbers(np.asarray([value]))
        law = [Fraction(self.window.outside, self.window.total)] * self.outcomes
        for number in windows[rows[0]].tolist():
            law[number] += Fraction(self.window.inside - self.window.outside, self.window.total)
        return law

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        axes = inputs.ndim - self.coordinates
        shape = np.broadcast_shapes(np.shape(reports), inputs.shape[:axes])
        every = np.broadcast_to(inputs, (*shape, *inputs.shape[axes:]))
        windows, rows = self.numbers(every.reshape(-1, *inputs.shape[axes:]))
        outputs = np.broadcast_to(reports, shape).reshape(-1, 1)
        near = (windows[rows] == outputs).any(axis=1)
        weights = np.where(near, float(self.window.inside), float(self.window.outside))
        return np.asarray(weights / float(self.window.total)).reshape(shape)

    def laws(self, inputs: Array) -> Floats:
        """Return the probability of each number (columns) for each input, in floats."""
        windows, rows = self.numbers(inputs)
        total = self.window.total
        law = np.full((len(rows), self.outcomes), self.window.outside / total)
        np.put_along_axis(law, windows[rows].astype(np.int64), self.window.inside / total, axis=1)
        return law


def rates_of(window: Nearest, lists: Array) -> tuple[Fraction, Fraction] | None:
    """Return the probabilities of the number of an input's list, and of any other, if K = 1; else None."""
    if window.width > 1 or len(np.unique(lists)) < window.cells:
        return None
    return Fraction(window.inside, window.total), Fraction(window.outside, window.total)


def shares_of_lists(window: Nearest, lists: Array) -> LinearReading:
    """Return the unbiased decoding of the shares of people with each of these lists."""
    channel = np.full((len(lists), window.cells), window.outside / window.total)
    np.put_along_axis(channel, lists.astype(np.int64), window.inside / window.total, axis=1)
    return shares_of_inputs(channel)


def check_points(window: Nearest, selector: Selector) -> None:
    """Raise InvalidParameter unless there is one public point for each number."""
    if len(selector.points) != window.cells:
        raise InvalidParameter(
            f"expected {window.cells} points, one for each number, got {len(selector.points)}"
        )


AMONG_POINTS: Final = Fields(
    window=inline(Nearest),
    selector=one_of(Grid, Points, wrong="the kind of a selector must be grid or points"),
)


@dataclass(frozen=True)
class NearestKernel(PlaceKernel, NearestNumbers):
    """The number of a point; the K points nearest to the place are likelier.

    The codebook is a place for each number. The collector may replace it at any time.
    """

    window: Nearest
    selector: Selector

    kind: ClassVar[str] = "nearest"
    fields = AMONG_POINTS

    def __post_init__(self) -> None:
        check_points(self.window, self.selector)

    @classmethod
    def largest(cls, epsilon: float, selector: Selector, width: int) -> Self:
        """Return the kernel with the largest ratio that is certainly at most e^ε."""
        return cls(Nearest.largest(epsilon, len(selector.points), width), selector)

    def write_codebook(self, book: Floats) -> object:
        return book.tolist()

    def fits(self, domain: Domain) -> bool:
        if self.selector.box is None:
            return isinstance(domain, Sphere)
        return isinstance(domain, Region) and self.selector.axes == 2

    def numbers(self, inputs: Array) -> tuple[Array, Integers]:
        return self.selector.windows(inputs, self.window.width)

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        drawn = split_rows(self._draw_many, inputs.reshape(-1, 2), source, threads)
        return drawn.reshape(inputs.shape[:-1])

    def draw_paths(self, paths: Paths, source: Source, threads: int = 1) -> Array:
        return self.draw_each(paths, source, threads)

    def candidate_of(self, reports: Array) -> Integers:
        """Return the number of each report."""
        return np.asarray(reports.reshape(-1).astype(np.int64))

    def likelihood_in(self, cells: Floats) -> PlaceLikelihood:
        return TableLikelihood(self, cells)

    def table(self, cells: Floats) -> Floats:
        """Return the probability of each number for each cell; a cell is a sample of places, averaged."""
        laws = [self.laws(cells[:, index]) for index in range(cells.shape[1])]
        return np.asarray(np.mean(laws, axis=0).T)

    def separable(self, shape: tuple[int, int]) -> Separable:
        """Return the likelihood on a grid over the domain, a row for each number."""
        different = len(np.unique(self.selector.points, axis=0))
        if different < _FEWEST:
            raise NotIdentifiable(
                f"these reports distinguish only {different} locations, too few for a map; they were "
                'designed for single locations. Use dt.Optimal(area, epsilon=…, purpose="map"), or "both"'
            )
        sides = self.selector.box or ((-180.0, 180.0), (-90.0, 90.0))
        lines = [
            low + (high - low) * (np.arange(bins * _INNER) + 0.5) / (bins * _INNER)
            for (low, high), bins in zip(sides, shape, strict=True)
        ]
        fine = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1)
        cells = fine.reshape(shape[0], _INNER, shape[1], _INNER, 2).swapaxes(1, 2)
        law = Dense(self.table(cells.reshape(-1, _INNER**2, 2)), np.arange(self.outcomes))
        return Separable(law, lambda reports: self.candidate_of(reports[:, 1]))

    def places_of(self, cells: Array, begins: Mask, domain: Domain, book: Floats) -> Floats:
        return np.asarray(book[cells[:, 0]])

    def read_codebook(self, data: object, stated: Mapping[str, Any]) -> Floats:
        """Return a location for each number; raise MalformedReport unless the data are `count` pairs."""
        return read_rows(data, self.outcomes, 2)


def read_rows(data: Any, count: int, columns: int) -> Floats:
    """Return JSON-compatible data as rows of numbers; raise MalformedReport for another number of rows."""
    try:
        book = np.array([[real(number) for number in row] for row in data], dtype=np.float64)
    except (TypeError, ValueError):
        raise MalformedReport(f"expected the codebook to be a list of rows of {columns} numbers") from None
    if book.shape != (count, columns):
        raise MalformedReport(f"expected {count} rows of {columns} numbers in the codebook")
    return book


@dataclass(frozen=True)
class BoxKernel(NearestNumbers):
    """The number of a point in a box of two to eight axes; the K points nearest to a record are likelier."""

    window: Nearest
    selector: Selector

    kind: ClassVar[str] = "box"
    fields = AMONG_POINTS

    def __post_init__(self) -> None:
        check_points(self.window, self.selector)

    @classmethod
    def largest(cls, epsilon: float, selector: Selector, width: int) -> Self:
        """Return the kernel with the largest ratio that is certainly at most e^ε."""
        return cls(Nearest.largest(epsilon, len(selector.points), width), selector)

    def write_codebook(self, book: Floats) -> object:
        return book.tolist()

    def fits(self, domain: Domain) -> bool:
        return isinstance(domain, Box) and self.selector.box == domain.ends

    def numbers(self, inputs: Array) -> tuple[Array, Integers]:
        return self.selector.windows(inputs.reshape(-1, self.selector.axes), self.window.width)

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        flat = inputs.reshape(-1, self.selector.axes)
        few = len(flat) < FEW
        outputs = (
            self.draw_singly(flat, source) if few else split_rows(self._draw_many, flat, source, threads)
        )
        return outputs.reshape(inputs.shape[:-1])

    def decode(self, reports: Array, domain: Domain, book: Floats) -> Array:
        """Return the records of numbers, a row for each."""
        return np.asarray(book[np.asarray(reports)])

    def read_codebook(self, data: object, stated: Mapping[str, Any]) -> Floats:
        """Return a record for each number; raise MalformedReport for another number of records."""
        return read_rows(data, self.outcomes, self.selector.axes)


def _more(places: Sequence[Hashable]) -> str:
    return f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""


@dataclass(frozen=True)
class ListingKernel(NearestNumbers):
    """For each public location a list of K different numbers: its neighbours by any distance.

    `packed` contains the concatenated lists, two bytes a number, the higher first. A number that occurs twice
    in a list would be likelier than H, so such lists are refused. Numbers from N on are also refused.
    """

    window: Nearest
    packed: bytes

    kind: ClassVar[str] = "listing"
    quantities: ClassVar[tuple[str, ...]] = ("frequencies",)
    coordinates: ClassVar[int] = 0
    fields = Fields(window=inline(Nearest), packed=PACKED.member("lists"))

    def __post_init__(self) -> None:
        check_lists(self.lists, self.window.cells)

    @staticmethod
    def largest(epsilon: float, points: int, lists: Array) -> ListingKernel:
        """Return the kernel with the largest ratio that is certainly at most e^ε."""
        window = Nearest.largest(epsilon, points, lists.shape[1])
        return ListingKernel(window, lists.astype(">u2").tobytes())

    @cached_property
    def lists(self) -> Array:
        """The numbers of every place, a row for each."""
        size = 2 * self.window.width
        if len(self.packed) % size or len(self.packed) < 2 * size or len(self.packed) > 2 * MOST_PACKED:
            raise InvalidParameter(
                f"expected lists of {self.window.width} numbers for two or more places, at most "
                f"{MOST_PACKED} numbers in all (64 kB); choose fewer neighbours or fewer places"
            )
        return np.frombuffer(self.packed, dtype=">u2").astype(self.layout).reshape(-1, self.window.width)

    @cached_property
    def _groups(self) -> tuple[Array, Integers]:
        """The different lists in the order of the places, and the row of each place among them."""
        found, first, rows = np.unique(
            np.sort(self.lists, axis=1), axis=0, return_index=True, return_inverse=True
        )
        order = np.argsort(first)
        return found[order], np.argsort(order)[np.asarray(rows).reshape(-1)]

    @property
    def different(self) -> Array:
        """The lists that reports distinguish."""
        return self._groups[0]

    @property
    def rates(self) -> tuple[Fraction, Fraction] | None:
        """The probabilities of the number of a place, and of any other, if K = 1; else None."""
        return rates_of(self.window, self.different)

    @cached_property
    def shares_reading(self) -> LinearReading:
        """The unbiased decoding of the shares of people at the places with each list."""
        return shares_of_lists(self.window, self.different)

    def names_of_groups(self, labels: Sequence[Hashable]) -> tuple[Hashable, ...]:
        """Return a label for each different list: the label of its place, or the labels of its places."""
        members: list[list[Hashable]] = [[] for _ in self.different]
        for label, row in zip(labels, self._groups[1].tolist(), strict=True):
            members[row].append(label)
        return tuple(
            places[0] if len(places) == 1 else f"{', '.join(map(str, places[:_NAMED]))}{_more(places)}"
            for places in members
        )

    def fits(self, domain: Domain) -> bool:
        return isinstance(domain, Categories | Places) and len(domain) == len(self.lists)

    def numbers(self, inputs: Array) -> tuple[Array, Integers]:
        return self.lists, np.asarray(inputs, dtype=np.int64).reshape(-1)

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        flat = inputs.reshape(-1)
        few = flat.size < FEW
        outputs = (
            self.draw_singly(flat, source) if few else split_rows(self._draw_many, flat, source, threads)
        )
        return outputs.reshape(inputs.shape)

    def decode(self, reports: Array, domain: Any, book: Integers) -> Array:
        """Return the labels of the public locations of numbers."""
        return np.asarray(domain.decode(book[np.asarray(reports)]))

    def read_codebook(self, data: Any, stated: Mapping[str, Any]) -> Integers:
        """Return the code of the public location of each number."""
        book = np.array([whole(code) for code in data], dtype=np.int64)
        if book.shape != (self.outcomes,) or book.min() < 0 or book.max() >= len(self.lists):
            raise MalformedReport(f"expected {self.outcomes} codes of places in the codebook")
        return book

    def write_codebook(self, book: Integers) -> object:
        return book.tolist()
