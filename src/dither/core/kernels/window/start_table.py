"""Start rules that are tables: starts on an equidistant grid of the domain, for solved codebooks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final

import numpy as np

from dither.core.domains import Line
from dither.core.kernels.window.codebook import Runs
from dither.core.kernels.window.integers import Blocks, Sliding
from dither.core.kernels.window.start import (
    LineStart,
    Placement,
    StartRule,
    StartSampler,
    split,
    start_bits,
)
from dither.errors import InvalidParameter, MalformedReport
from dither.foundation.arrays import Array, Floats, Integers
from dither.foundation.canonical import REAL, Data, Fields, Member, whole
from dither.foundation.randomness import Source

BINS: Final = 1 << 16  # entries of a table without random rounding
COIN: Final = 16  # bits of each of the two random roundings of a table of knots
KNOTS: Final = (1 << 15) - 1  # intervals between knots: 16 bits for each interval, 31 bits for a position
_BITS: Final = np.uint32(COIN)
_LOWER: Final = np.uint32((1 << COIN) - 1)


@dataclass(frozen=True, eq=False)
class TableStart(StartRule):
    """A table of starts on an equidistant grid that begins at `origin`, with `scale` entries per unit."""

    origin: float
    scale: float
    entries: Array

    def fits(self, line: Line, window: Sliding | Blocks) -> bool:
        # Random coins are added to the position; the sum is clipped below the last entry.
        return LineStart(self.origin, self.scale, None).reaches(line, start_bits(window))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self) or not isinstance(other, TableStart):
            return NotImplemented
        grid = (self.origin, self.scale) == (other.origin, other.scale)
        return grid and np.array_equal(self.entries, other.entries)

    def __hash__(self) -> int:
        return hash((self.origin, self.scale, self.entries.tobytes()))


def _write_steps(name: str, rule: StepStart) -> Data:
    begins = np.flatnonzero(np.diff(rule.entries.astype(np.int64), prepend=-1))
    counts = np.diff(begins, append=rule.entries.size)
    return {"starts": rule.entries[begins].tolist(), "counts": counts.tolist()}


def _read_steps(name: str, data: Data, known: Data) -> Data:
    starts, counts = ([whole(number) for number in data[member]] for member in ("starts", "counts"))
    window: Sliding = known["window"]
    if len(starts) != len(counts) or not counts or min(counts) < 1 or sum(counts) > BINS:
        raise MalformedReport("expected one count for each start, and 1 to 2^16 bins in a table of starts")
    if min(starts) < 0 or max(starts) >= window.cells:
        raise MalformedReport(f"the starts of a table must be cells from 0 to {window.cells - 1}")
    return {name: np.repeat(np.array(starts), counts).astype(window.dtype)}


@dataclass(frozen=True, eq=False)
class StepStart(TableStart):
    """A step function: the domain is divided into equal bins, and the start of a value is its bin's entry."""

    kind: ClassVar[str] = "steps"
    fields = Fields(entries=Member(_write_steps, _read_steps), origin=REAL, scale=REAL)

    def __post_init__(self) -> None:
        LineStart(self.origin, self.scale, None)
        if not 1 <= self.entries.size <= BINS:
            raise InvalidParameter(f"a table of starts must have 1 to 2^16 bins, not {self.entries.size}")

    @property
    def fraction(self) -> int:
        return 0

    def _places(self, values: Array) -> Integers:
        placed = (np.asarray(values, dtype=np.float64) - self.origin) * self.scale
        return np.clip(placed.astype(np.int64), 0, self.entries.size - 1)

    def aim(self, values: Array) -> Integers:
        return self.entries[self._places(values)].astype(np.int64)

    def starts(self, value: float) -> list[tuple[int, Fraction]]:
        return [(int(self.entries[self._places(np.asarray(value))]), Fraction(1))]

    def draw_one(self, value: float, source: Source) -> int:
        index = min(max(int((value - self.origin) * self.scale), 0), self.entries.size - 1)
        return int(self.entries[index])

    def sampler(self, window: Sliding, size: int) -> StartSampler:
        return _StepSampler(self, size)


class _StepSampler(StartSampler):
    def __init__(self, rule: StepStart, size: int) -> None:
        self._rule = rule
        self.coins = None
        self._place = np.empty(size)
        self._index = np.empty(size, dtype=np.intp)
        self._entry = np.empty(size, dtype=rule.entries.dtype)

    def __call__(self, block: Array, coins: Array) -> Array:
        count, rule = block.size, self._rule
        position, index, entry = self._place[:count], self._index[:count], self._entry[:count]
        np.subtract(block, rule.origin, out=position, dtype=np.float64)
        np.multiply(position, rule.scale, out=position)
        np.copyto(index, position, casting="unsafe")
        rule.entries.take(index, out=entry, mode="clip")
        return entry


def _write_knots(name: str, rule: KnotStart) -> Data:
    # The entries are rounded piecewise linear: in a piece neighbours differ by m or m + 1, one bit each.
    steps = np.diff(rule.entries.astype(np.int64))
    pieces: list[list[int]] = []
    begin, least, most = 0, int(steps[0]), int(steps[0])
    for knot, step in enumerate(steps.tolist()):
        if step > least + 1 or step < most - 1:
            pieces.append([knot - begin, least])
            begin, least, most = knot, step, step
        elif step < least:
            least = step
        elif step > most:
            most = step
    pieces.append([steps.size - begin, least])
    counts, bases = zip(*pieces, strict=True)
    bits = (steps - np.repeat(bases, counts)).astype(np.uint8)
    packed = np.packbits(bits, bitorder="little").tobytes().hex()
    return {"first": int(rule.entries[0]), "pieces": pieces, "bits": packed}


def _read_knots(name: str, data: Data, known: Data) -> Data:
    pieces = [(whole(count), whole(base)) for count, base in data["pieces"]]
    total = sum(count for count, _ in pieces)
    if not pieces or min(count for count, _ in pieces) < 1 or total > KNOTS:
        raise MalformedReport("the pieces of a table of knots must be pairs of a count and a step")
    bits = np.unpackbits(np.frombuffer(bytes.fromhex(data["bits"]), np.uint8), bitorder="little")
    if bits.size != (total + 7) // 8 * 8 or bits[total:].any():
        raise MalformedReport("expected one bit for each knot but the first in a table of knots")
    cells = known["window"].cells
    if max(abs(base) for _, base in pieces) > cells << COIN:
        raise MalformedReport("expected the entries of a table of knots to be cells of the window")
    steps = np.repeat([base for _, base in pieces], [count for count, _ in pieces]) + bits[:total]
    entries = whole(data["first"]) + np.concatenate([[0], np.cumsum(steps)])
    if entries.min() < 0 or entries.max() >= cells << COIN or cells > 1 << 16:
        raise MalformedReport("expected the entries of a table of knots to be cells of the window")
    return {name: entries.astype(np.uint32)}


@dataclass(frozen=True, eq=False)
class KnotStart(TableStart):
    """Linear interpolation by random rounding: entries at equidistant knots, in units of 2^−16 cells.

    A value is rounded at random to the knot below or above it, and the entry of that knot is rounded at
    random to an integer cell. Each rounding uses an exact coin of 16 bits.
    """

    kind: ClassVar[str] = "knots"
    fields = Fields(entries=Member(_write_knots, _read_knots), origin=REAL, scale=REAL)

    def __post_init__(self) -> None:
        LineStart(self.origin, self.scale, None)
        if not 2 <= self.entries.size <= KNOTS + 1:
            raise InvalidParameter(f"a table of starts must have 2 to 2^15 knots, not {self.entries.size}")

    @property
    def fraction(self) -> int:
        return COIN

    @property
    def last(self) -> int:
        """The largest position of a value: just below the last knot."""
        return ((self.entries.size - 1) << COIN) - 1

    def beside(self, values: Array) -> tuple[Floats, Floats, Floats]:
        """Return the entries of the knots below and above each value, and the probability of the upper."""
        placed = (np.asarray(values, dtype=np.float64) - self.origin) * self.scale
        positions = np.clip(placed.astype(np.int64), 0, self.last)
        knots = positions >> COIN
        above = (positions & ((1 << COIN) - 1)) / (1 << COIN)
        return self.entries[knots].astype(np.float64), self.entries[knots + 1].astype(np.float64), above

    def aim(self, values: Array) -> Integers:
        low, high, above = self.beside(values)
        return np.rint(low + above * (high - low)).astype(np.int64)

    def starts(self, value: float) -> list[tuple[int, Fraction]]:
        return [
            (start, weight * share)
            for knot, weight in split(self._place(value), COIN)
            for start, share in split(int(self.entries[knot]), COIN)
        ]

    def draw_one(self, value: float, source: Source) -> int:
        entry = int(self.entries[(self._place(value) + source.bits(COIN)) >> COIN])
        return (entry + source.bits(COIN)) >> COIN

    def _place(self, value: float) -> int:
        return min(max(int((value - self.origin) * self.scale), 0), self.last)

    def sampler(self, window: Sliding, size: int) -> StartSampler:
        return _KnotSampler(self, window, size)


class _KnotSampler(StartSampler):
    def __init__(self, rule: KnotStart, window: Sliding, size: int) -> None:
        self._rule = rule
        self.coins = np.dtype(np.uint32)  # two coins of 16 bits
        self._place = np.empty(size)
        self._knot = np.empty(size, dtype=np.int32)
        self._index = np.empty(size, dtype=np.intp)
        self._entry = np.empty(size, dtype=rule.entries.dtype)
        self._start = np.empty(size, dtype=window.dtype)

    def __call__(self, block: Array, coins: Array) -> Array:
        count, rule = block.size, self._rule
        position, index, entry = self._place[:count], self._index[:count], self._entry[:count]
        knot, start = self._knot[:count], self._start[:count]
        np.subtract(block, rule.origin, out=position, dtype=np.float64)
        np.multiply(position, rule.scale, out=position)
        np.copyto(knot, position, casting="unsafe")
        np.clip(knot, 0, rule.last, out=knot)
        np.right_shift(coins, _BITS, out=entry)
        knot += entry.view(np.int32)
        np.right_shift(knot, COIN, out=knot)
        np.copyto(index, knot)
        rule.entries.take(index, out=entry, mode="clip")
        coins &= _LOWER
        entry += coins
        np.right_shift(entry, _BITS, out=entry)
        np.copyto(start, entry, casting="unsafe")
        return start


@dataclass(frozen=True, eq=False)
class NearestCells(Placement):
    """The window contains the cells whose numbers are nearest to the value: optimal for any increasing loss.

    The start moves from a to a + 1, so that cell a + K replaces cell a, where the value is halfway between
    the numbers of both cells.
    """

    book: Runs

    def _halfway(self, width: float) -> Floats:
        values = self.book.listed
        kept = round(width * values.size)
        return np.asarray((values[: values.size - kept] + values[kept:]) / 2.0)

    def start(self, x: Floats, width: float) -> Floats:
        moved = np.searchsorted(self._halfway(width), x, side="right")
        return np.asarray(moved / self.book.cells, dtype=np.float64)

    def rule(self, domain: Line, window: Sliding) -> StepStart:
        middles = np.asarray((np.arange(BINS) + 0.5) / BINS, dtype=np.float64)
        starts = np.rint(self.start(middles, window.share) * window.cells)
        return StepStart(domain.low, BINS / domain.length, starts.astype(window.dtype))

    def kinks(self, width: float) -> tuple[float, ...]:
        return tuple(np.unique(self._halfway(width)).tolist())


@dataclass(frozen=True, eq=False)
class BalancedCells(Placement):
    """The start, rounded at random, that makes E[report] equal to the value: unbiased for every real input.

    E[report] does not decrease with the start, so each value lies between the means of two neighbouring
    starts.
    """

    book: Runs
    epsilon: float

    def _means(self, width: int, contrast: float | None = None) -> Floats:
        """Return the mean report of every start."""
        if contrast is None:
            lift = math.expm1(self.epsilon) * width / self.book.cells
            contrast = lift / (1.0 + lift)
        total = np.concatenate([[0.0], np.cumsum(self.book.listed)])
        window = (total[width:] - total[:-width]) / width
        return np.asarray((1.0 - contrast) * total[-1] / self.book.cells + contrast * window)

    def start(self, x: Floats, width: float) -> Floats:
        means = self._means(round(width * self.book.cells))
        return np.interp(x, means, np.arange(means.size)) / self.book.cells

    def rule(self, domain: Line, window: Sliding) -> KnotStart:
        last = (KNOTS << COIN) - 1
        knots = np.asarray(np.arange(KNOTS + 1) * ((1 << COIN) / last), dtype=np.float64)
        means = self._means(window.width, window.contrast)
        entries = np.rint(np.interp(knots, means, np.arange(means.size)) * (1 << COIN))
        scale = last / domain.length
        return KnotStart(domain.low - 0.5 / scale, scale, entries.astype(np.uint32))

    def kinks(self, width: float) -> tuple[float, ...]:
        kept = round(width * self.book.cells)
        means, ends = self._means(kept), np.cumsum(self.book.counts)[:-1]
        edges = np.concatenate([ends, ends - kept])  # starts at which the window meets another run
        return tuple(np.unique(means[edges[(edges >= 0) & (edges < means.size)]]).tolist())
