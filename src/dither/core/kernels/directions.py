"""Vectors: the K of N public directions that are nearest to a vector are likelier than the others.

A report is seed·2^16 + the number of a direction. The seed, of 32 bits, is drawn before the value is read,
and the directions follow from it. It is public like the seed of a hash function. Privacy requires only that
every input has K different numbers for each seed; rounding of floats only decides which numbers.

The directions are rows of a random rotation. With H the Hadamard matrix of P rows, P a power of two, and
signs s (one of 256 lists, by the seed) and t (of the seed itself), direction i has the coordinates

    g_ij = s_j · Σ_k H_jk · t_k · H_i,c(k)         c(k) = 1 + 619·k mod (N − 1)

These are sums of P signs. They are nearly normal and independent, so directions are nearly uniform on the
sphere. Column 0 is left out: it is the same for all rows and does not affect the choice of the K largest.
With up to 128 axes, directions are scaled to equal lengths, because the error is smaller. With more axes,
their lengths are nearly equal anyway, and the products with all directions are two fast transforms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from dither.core.domains import Domain
from dither.core.domains.vectors import Vectors
from dither.core.kernels.blocks import FEW, split_rows
from dither.core.kernels.counting import Counting
from dither.core.kernels.kernel import Kernel, on, pure_certify, pure_promise
from dither.core.kernels.packing import BIT, count_bits
from dither.core.kernels.places.nearest import check_lists
from dither.core.kernels.sets.hashing import mix
from dither.core.kernels.window.integers import Nearest
from dither.errors import InvalidParameter, MalformedReport, found
from dither.foundation.arrays import Array, Bytes, Floats, Integers, Words
from dither.foundation.canonical import Fields, inline, real
from dither.foundation.randomness import Source
from dither.privacy.shuffling import Blanket

Signs = NDArray[np.int16]

SEED_BITS: Final = 32
NUMBER_BITS: Final = 16
LISTS: Final = 256  # lists of the signs s
EQUAL: Final = 128  # directions with up to this number of axes have equal lengths
UNIT: Final = 1 << 16  # the length of a direction in counts, if lengths are equal
EVERY: Final = 16  # one report in EVERY, chosen by its seed, has its squares counted
_FIRST: Final = 1 << 48  # the word of the first sign of the first list; the words of seeds are below it
_STRIDE: Final = 619  # a prime that divides no N − 1
_TOGETHER: Final = 1 << 24  # signs that are counted together
_CACHED: Final = 1 << 17  # numbers that are transformed together, so that they stay in the cache


def transform(columns: Array) -> Array:
    """Replace each column by its product with the Hadamard matrix, by butterflies of 1, 2, 4, …; return it.

    The order of additions is part of the format: all languages have the same last bits.
    """
    size, half = len(columns), 1
    while half < size:
        pairs = columns.reshape(size // (2 * half), 2, half, *columns.shape[1:])
        difference = pairs[:, 0] - pairs[:, 1]
        pairs[:, 0] += pairs[:, 1]
        pairs[:, 1] = difference
        half *= 2
    return columns


def _columns(size: int, count: int) -> Integers:
    """Return c(k) for k below the count; they are different for k below N − 1, and then repeat."""
    return 1 + _STRIDE * np.arange(count) % (size - 1)


@lru_cache(maxsize=4)
def _hadamard(size: int, columns: int) -> Bytes:
    """Return bit k of row i: whether H_i,c(k) is −1, for the first rows, in packed bytes."""
    used = _columns(size, columns).astype(np.uint32)
    odd = np.empty((size, columns), dtype=np.uint8)
    for row in range(size):
        both = np.uint32(row) & used
        for shift in (16, 8, 4, 2, 1):
            both = both ^ (both >> np.uint32(shift))
        odd[row] = both & 1
    return np.packbits(odd, axis=1, bitorder="little")


@dataclass(frozen=True)
class Directions:
    """The public directions of every seed: `cells` of them, in a space of `axes` dimensions."""

    cells: int
    axes: int

    @property
    def columns(self) -> int:
        """P: the number of signs of a seed."""
        return self.cells if self.equal else 1 << (self.axes - 1).bit_length()

    @property
    def equal(self) -> bool:
        """Whether directions are scaled to equal lengths."""
        return self.axes <= EQUAL

    @property
    def longest(self) -> int:
        """The largest coordinate that a direction can have, in integers."""
        return UNIT if self.equal else self.columns

    def _signs(self, first: Words) -> Bytes:
        """Return the sign bits that begin with each given word, in packed bytes: a 1 means −1."""
        words: Words = mix(np.add.outer(first, np.arange(self.columns // 64, dtype=np.uint64)))
        return words.astype("<u8").view(np.uint8).reshape(len(first), -1)

    def own_signs(self, seeds: Words) -> Bytes:
        """Return the bits of the signs t of each seed."""
        return self._signs(seeds.astype(np.uint64) << np.uint64(16))

    @cached_property
    def lists(self) -> Floats:
        """The signs s of every list, as numbers."""
        first = np.uint64(_FIRST) + (np.arange(LISTS, dtype=np.uint64) << np.uint64(16))
        return np.ascontiguousarray(_as_signs(self._signs(first)).T, dtype=np.float64)

    def _first_signs(self, seeds: Words) -> Floats:
        """Return the signs s of the list of each seed, for every axis."""
        return self.lists[(seeds & np.uint64(LISTS - 1)).astype(np.int64), : self.axes]

    def products(self, vectors: Floats, seeds: Words) -> Floats:
        """Return the product of each vector with all directions of its seed, over their lengths if equal."""
        made = np.empty((len(vectors), self.cells))
        rows = max(1, _CACHED // max(self.columns, self.cells))
        for begin in range(0, len(vectors), rows):
            block = slice(begin, begin + rows)
            axes = np.ascontiguousarray((vectors[block] * self._first_signs(seeds[block])).T)
            own = _as_signs(self.own_signs(seeds[block]))
            made[block] = (self._scaled_products if self.equal else self._fast_products)(axes, own).T
        return made

    def _fold(self, columns: Array) -> Array:
        """Return the sums of entries at equal columns c(k) of the Hadamard matrix."""
        folded = np.zeros((self.cells, *columns.shape[1:]), dtype=columns.dtype)
        used = _columns(self.cells, self.columns)
        for begin in range(0, self.columns, self.cells - 1):  # the columns of such a range are all different
            block = slice(begin, begin + self.cells - 1)
            folded[used[block]] += columns[block]
        return folded

    def _fast_products(self, axes: Floats, own: Signs) -> Floats:
        spread = np.zeros(own.shape)
        spread[: self.axes] = axes
        return transform(self._fold(transform(spread) * own))

    def _scaled_products(self, axes: Floats, own: Signs) -> Floats:
        totals, product = np.zeros((2, self.cells, own.shape[1]))
        squares = np.zeros(totals.shape, dtype=np.int32)  # at most P², below 2^25
        first = _first_rows(self.axes, self.columns)
        together = max(1, _CACHED // own.size)  # axes that are transformed together
        for begin in range(0, self.axes, together):
            rows = transform(self._fold(own[:, None] * first[:, begin : begin + together, None]))
            for axis in range(rows.shape[1]):  # one after the other: the order is part of the format
                totals += np.multiply(rows[:, axis], axes[begin + axis], out=product)
                squares += np.square(rows[:, axis], dtype=np.int32)
        return np.asarray(totals / np.sqrt(np.maximum(squares, 1)))  # with few axes a direction may be 0

    def nearest(self, vectors: Floats, seeds: Words, width: int) -> Integers:
        """Return the numbers of the K largest products of each vector, ascending; the first of equal ones."""
        chosen = np.empty((len(vectors), width), dtype=np.int64)
        rows = max(1, _CACHED // max(self.columns, self.cells))
        for begin in range(0, len(vectors), rows):
            products = self.products(vectors[begin : begin + rows], seeds[begin : begin + rows])
            chosen[begin : begin + rows] = _largest(products, width)
        check_lists(chosen, self.cells)  # the selection by floats is checked
        return chosen

    def coordinates(self, numbers: Integers, seeds: Words) -> Integers:
        """Return the direction of each report, in integers: a row for each, of length `UNIT` if equal."""
        made = np.empty((len(numbers), self.axes), dtype=np.int64)
        for block, rows in self._coordinates(numbers, seeds):
            made[block] = rows
        return made

    def _coordinates(self, numbers: Integers, seeds: Words) -> Iterator[tuple[slice, Floats]]:
        together = max(1, _CACHED // self.columns)
        for begin in range(0, len(numbers), together):
            block = slice(begin, begin + together)
            yield block, self._few_coordinates(numbers[block], seeds[block])

    def _few_coordinates(self, numbers: Integers, seeds: Words) -> Floats:
        bits = self.own_signs(seeds) ^ _hadamard(self.cells, self.columns)[numbers]
        # Row j of the Hadamard matrix has the period of the next power of two above j.
        period = 1 << (self.axes - 1).bit_length()
        parts = _as_signs(bits).reshape(-1, period, len(numbers))
        room = np.int16 if self.columns < 1 << 15 else np.int32
        rows = transform(parts.sum(axis=0, dtype=room))[: self.axes].T * self._first_signs(seeds)
        if self.equal:
            squares = (rows * rows).sum(axis=1)  # exact, because these are sums of integers
            rows = np.rint(rows * (UNIT / np.sqrt(np.maximum(squares, 1.0)))[:, None])
        return rows

    def sums(self, numbers: Integers, seeds: Words) -> Integers:
        """Return the sum of the directions of reports. With many axes it takes one transform a list."""
        if self.equal or len(numbers) < LISTS:
            return self._total(rows for _, rows in self._coordinates(numbers, seeds))
        total = np.zeros(self.axes, dtype=np.int64)
        order = np.argsort(seeds & np.uint64(LISTS - 1), kind="stable")
        numbers, seeds = numbers[order], seeds[order]
        ends = np.searchsorted(seeds & np.uint64(LISTS - 1), np.arange(LISTS + 1, dtype=np.uint64))
        table, rows = _hadamard(self.cells, self.columns), max(1, _TOGETHER // self.columns)
        for number in range(LISTS):
            odd = np.zeros(self.columns, dtype=np.int64)
            for begin in range(int(ends[number]), int(ends[number + 1]), rows):
                block = slice(begin, min(begin + rows, int(ends[number + 1])))
                odd += count_bits(self.own_signs(seeds[block]) ^ table[numbers[block]], self.columns)
            signs = (int(ends[number + 1] - ends[number]) - 2 * odd).astype(np.float64)  # below 2^53
            total += (transform(signs)[: self.axes] * self.lists[number, : self.axes]).astype(np.int64)
        return total

    def squares(self, numbers: Integers, seeds: Words) -> Integers:
        """Return the sum of the squares of the directions of reports, coordinate by coordinate."""
        return self._total(rows * rows for _, rows in self._coordinates(numbers, seeds))

    def _total(self, blocks: Iterator[Floats]) -> Integers:
        total = np.zeros(self.axes, dtype=np.int64)
        for rows in blocks:
            total += rows.sum(axis=0).astype(np.int64)  # exact: integers below 2^53
        return total


def _as_signs(bits: Bytes) -> Signs:
    """Return rows of packed bits as columns of numbers: 1 for a bit that is 0, and −1 for one that is 1."""
    clear = np.ascontiguousarray(bits.T)[:, None] & BIT[:, None] == 0
    signs: Signs = clear.reshape(-1, len(bits)).astype(np.int16)
    signs *= 2
    signs -= 1
    return signs


@lru_cache(maxsize=4)
def _first_rows(axes: int, columns: int) -> Signs:
    """Return the first rows of the Hadamard matrix, as columns."""
    return transform(np.eye(columns, axes, dtype=np.int16))


def _largest(products: Floats, width: int) -> Integers:
    """Return the numbers of the `width` largest of each row, ascending; the first of equal ones."""
    least = np.partition(products, products.shape[1] - width, axis=1)[:, -width, None]
    above = products >= least
    if above.sum() == width * len(products) and (above.sum(axis=1) == width).all():
        return np.asarray(np.nonzero(above)[1].reshape(-1, width))
    order = np.argsort(-products, axis=1, kind="stable")[:, :width]  # ties, or not a number
    return np.sort(order, axis=1)


@dataclass(frozen=True)
class VectorSums(Counting):
    """The sum of the directions of reports, the sum of squares of one report in sixteen, and their number.

    Each coordinate of a direction has `longest` added, so that no count is negative. All are integers, so
    that sums do not depend on the order. Which reports have their squares counted follows from their public
    seeds.
    """

    directions: Directions
    by_block: ClassVar[bool] = True

    @property
    def size(self) -> int:
        return 2 * self.directions.axes + 1

    def count(self, reports: Array) -> Integers:
        numbers, seeds = unpack(reports)
        some = (seeds >> np.uint64(8)) % np.uint64(EVERY) == 0
        sums = self.directions.sums(numbers, seeds) + len(numbers) * self.directions.longest
        squares = self.directions.squares(numbers[some], seeds[some])
        return np.concatenate([sums, squares, [np.count_nonzero(some)]]).astype(np.int64)

    def adds_up(self, counts: Integers, n: int) -> bool:
        axes, longest, some = self.directions.axes, self.directions.longest, int(counts[-1])
        sums, squares = int(counts[:axes].max()), int(counts[axes:-1].max())
        return some <= n and sums <= 2 * n * longest and squares <= some * longest**2

    def implied_answers(self, counts: Integers) -> None:
        """Return None: the sums do not say how many answers there are."""

    def answers(self, reports: Array) -> int:
        return int(reports.size)


def unpack(reports: Array) -> tuple[Integers, Words]:
    """Return the numbers and the seeds of reports, as flat arrays."""
    flat = reports.reshape(-1).astype(np.uint64, copy=False)
    return (flat & np.uint64((1 << NUMBER_BITS) - 1)).astype(np.int64), flat >> np.uint64(NUMBER_BITS)


@dataclass(frozen=True)
class DirectionsKernel(Kernel):
    """The seed and the number of a public direction; the K directions nearest to the vector are likelier.

    The codebook is the gain: the mean of a direction is the gain times the vector, in units of lengths.
    """

    promise, certify = pure_promise, pure_certify

    window: Nearest
    vectors: Vectors

    kind: ClassVar[str] = "directions"
    quantities: ClassVar[tuple[str, ...]] = ("mean vector",)
    fields = Fields(vectors=on(Vectors, "expected vectors for this draw, got {}"), window=inline(Nearest))

    def __post_init__(self) -> None:
        cells = self.window.cells
        if cells & (cells - 1) or not 64 <= cells <= 1 << 12:
            raise InvalidParameter(
                f"expected the number of directions to be a power of two from 64 to 4096, got {cells}"
            )

    @cached_property
    def directions(self) -> Directions:
        """The public directions of every seed; a ball has one dimension more."""
        return Directions(self.window.cells, self.vectors.dimension + (not self.vectors.exact))

    @property
    def layout(self) -> np.dtype[Any]:
        return np.dtype(np.uint64)

    @property
    def outcomes(self) -> int:
        return self.window.cells << SEED_BITS

    @property
    def ratio(self) -> Fraction:
        return self.window.ratio

    @property
    def blanket(self) -> Blanket:  # type: ignore[override]
        """L for every direction; two inputs may have no direction in common."""
        return Blanket.of_sets(self.ratio, Fraction(self.window.width, self.window.cells))

    @property
    def evidence(self) -> str:
        window = self.window
        return (
            f"ln(H/L) with N = {window.cells}, K = {window.width}, d = {window.step} of 2^{window.bits}; "
            "the seed cancels"
        )

    def lift(self, vectors: Floats) -> Floats:
        """Return vectors relative to the centre, in units of the length; a ball is lifted to a sphere."""
        relative = (vectors.reshape(-1, self.vectors.dimension) - self.vectors.middle) / self.vectors.length
        if self.vectors.exact:
            return np.asarray(relative)
        squares = np.zeros(len(relative))
        for axis in range(relative.shape[1]):  # one after the other: the order is part of the format
            squares += relative[:, axis] * relative[:, axis]
        rest = np.sqrt(np.maximum(1.0 - squares, 0.0))
        return np.concatenate([relative, rest[:, None]], axis=1)

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        flat = inputs.reshape(-1, self.vectors.dimension)
        few = len(flat) < FEW
        outputs = (
            self.draw_singly(flat, source) if few else split_rows(self._draw_many, flat, source, threads)
        )
        return outputs.reshape(inputs.shape[:-1])

    def _draw_many(self, vectors: Array, source: Source) -> Array:
        seeds = source.words(len(vectors)) >> np.uint64(64 - SEED_BITS)  # before the values are used
        near = self.directions.nearest(self.lift(vectors), seeds, self.window.width)
        outputs = self.window.draw(near, np.arange(len(vectors)), source)
        return (seeds << np.uint64(NUMBER_BITS)) | outputs.astype(np.uint64)

    def draw_one(self, value: Floats, source: Source) -> int:
        seed = source.bits(SEED_BITS)
        return seed << NUMBER_BITS | self.window.draw_one(self.near(value, seed), source)

    def near(self, value: Floats, seed: int) -> list[int]:
        """Return the K numbers of one vector under a seed."""
        lifted = self.lift(np.asarray(value, dtype=np.float64))
        found: list[int] = self.directions.nearest(
            lifted, np.array([seed], dtype=np.uint64), self.window.width
        )[0].tolist()
        return found

    def probabilities(self, value: Floats, seed: int = 0) -> list[Fraction]:
        """Return the exact probability of every number, given the report's public seed."""
        law = [Fraction(self.window.outside, self.window.total)] * self.window.cells
        for number in self.near(value, seed):
            law[number] = Fraction(self.window.inside, self.window.total)
        return law

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        """Return P(number | seed, input), without the factor 2^−32, the probability of the seed."""
        shape = np.broadcast_shapes(np.shape(reports), inputs.shape[:-1])
        every = np.broadcast_to(inputs, (*shape, inputs.shape[-1]))
        numbers, seeds = unpack(np.broadcast_to(reports, shape))
        near = self.directions.nearest(self.lift(every), seeds, self.window.width)
        inside = (near == numbers[:, None]).any(axis=1)
        weights = np.where(inside, float(self.window.inside), float(self.window.outside))
        return np.asarray(weights / float(self.window.total)).reshape(shape)

    def check(self, raw: Array) -> Array:
        if raw.size and (int(raw.min()) < 0 or int(raw.max()) >> (SEED_BITS + NUMBER_BITS)):
            raise MalformedReport(
                "expected reports from 0 to 2^48 − 1, got another number; pass the reports of this question"
            )
        reports = raw.astype(np.uint64, copy=False)
        if reports.size and int(unpack(reports)[0].max()) >= self.window.cells:
            raise MalformedReport(
                f"expected reports with one of {self.window.cells} numbers, got another one; pass the "
                "reports of this question"
            )
        return reports

    def fits(self, domain: Domain) -> bool:
        return domain == self.vectors

    def counting(self, domain: Domain) -> VectorSums:
        return VectorSums(self.directions)

    def decode(self, reports: Array, domain: Domain, book: float) -> Floats:
        """Return an unbiased vector for each report. It is far longer than people's vectors."""
        rows = self.directions.coordinates(*unpack(reports))[:, : self.vectors.dimension]
        decoded = self.vectors.middle + rows * (self.scale * self.vectors.length / book)
        return np.asarray(decoded).reshape(*reports.shape, self.vectors.dimension)

    @property
    def scale(self) -> float:
        """The unit of the integers of directions, whose products with a vector have a mean square of 1/D."""
        directions = self.directions
        return 1.0 / UNIT if directions.equal else 1.0 / math.sqrt(directions.columns * directions.axes)

    def read_codebook(self, data: object, stated: Mapping[str, Any]) -> float:
        gain = real(data["gain"]) if isinstance(data, Mapping) and set(data) == {"gain"} else 0.0
        if not 0.0 < gain <= 1.0:
            raise MalformedReport(
                f"expected the codebook of vectors to be a gain above 0 and up to 1, got {found(data)}"
            )
        return gain

    def write_codebook(self, book: float) -> object:
        return {"gain": book}
