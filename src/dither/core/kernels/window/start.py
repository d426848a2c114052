"""Start rules: where the window of a value begins, in real numbers and in integers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from dither.core.domains import Line
from dither.core.kernels.window.integers import LIFT, Blocks, Sliding
from dither.errors import InvalidParameter
from dither.foundation.arrays import Array, Floats, Integers
from dither.foundation.canonical import REAL, WHOLE, Fields, Member, nullable, record, write_tagged
from dither.foundation.randomness import Source

MOST_FRACTION: Final = 30  # bits of the random rounding of a start


class StartSampler(ABC):
    """A sampler of starts with buffers for blocks of values; one per thread."""

    coins: np.dtype[Any] | None  # the dtype of the random word for each value, or None

    @abstractmethod
    def __call__(self, block: Array, coins: Array) -> Array:
        """Return the start of each value of a block, in the dtype of cells; valid until the next call."""


class StartRule(ABC):
    """The map from a value of the domain to the integer start of its window.

    The privacy loss does not depend on the start, so floats may compute it.
    """

    kind: ClassVar[str]  # the name of the rule in a device text
    fields: ClassVar[Fields]

    @property
    @abstractmethod
    def fraction(self) -> int:
        """The number of fractional bits of `aim`."""

    @abstractmethod
    def aim(self, values: Array) -> Integers:
        """Return the mean start of each value, in units of 2^−fraction cells."""

    @abstractmethod
    def starts(self, value: float) -> list[tuple[int, Fraction]]:
        """Return every possible start of a value, with its exact probability."""

    @abstractmethod
    def draw_one(self, value: float, source: Source) -> int:
        """Return the start of one value; random rounding uses exact coins."""

    @abstractmethod
    def sampler(self, window: Sliding, size: int) -> StartSampler:
        """Return a sampler of starts for blocks of up to `size` values."""

    @abstractmethod
    def fits(self, line: Line, window: Sliding | Blocks) -> bool:
        """Return whether the integers of the sampler hold the start of every value of the line."""


def start_bits(window: Sliding | Blocks) -> int:
    """Return the bits of a position: 31 for up to 2^16 cells, otherwise 52 (exact in doubles)."""
    return 31 if window.cells <= 1 << 16 else 52


@dataclass(frozen=True)
class LineStart(StartRule):
    """The start ⌊(x − origin)·scale⌋, clipped to [0, last] if `last` is given.

    With `fraction` > 0 it is in units of 2^−fraction cells and is rounded at random to an integer cell.
    """

    origin: float
    scale: float
    last: int | None
    fraction: int = 0
    kind: ClassVar[str] = "line"
    fields = Fields(last=nullable(WHOLE), origin=REAL, scale=REAL, fraction=WHOLE)

    def __post_init__(self) -> None:
        if not 0 <= self.fraction <= MOST_FRACTION or (self.last is not None and self.last < 0):
            raise InvalidParameter("expected last ≥ 0 and fraction from 0 to 30 in a start rule")
        if not (np.isfinite(self.origin) and np.isfinite(self.scale) and self.scale > 0.0):
            raise InvalidParameter("expected a finite origin, and a finite, positive scale in a start rule")

    def aim(self, values: Array) -> Integers:
        placed = (np.asarray(values, dtype=np.float64) - self.origin) * self.scale
        aimed = placed.astype(np.int64)
        return aimed if self.last is None else np.clip(aimed, 0, self.last)

    def aim_one(self, value: float) -> int:
        """Return `aim` for one value."""
        aimed = (value - self.origin) * self.scale
        return int(aimed if self.last is None else min(max(aimed, 0.0), self.last))

    def affine(self, line: Line) -> bool:
        """Return whether the mean start is affine in the value: rounded at random, and never clipped."""
        ends = [(end - self.origin) * self.scale for end in (line.low, line.high)]
        clipped = self.last is not None and (ends[0] < 0.0 or ends[1] >= self.last + 1)
        return self.fraction > 0 and not clipped

    def starts(self, value: float) -> list[tuple[int, Fraction]]:
        return split(self.aim_one(value), self.fraction)

    def draw_one(self, value: float, source: Source) -> int:
        aimed = self.aim_one(value)
        if not self.fraction:
            return aimed
        # A start that is rounded at random is a mixture of windows: mixed_private (proofs/Window.v).
        # Lifted, so that the sum has as many digits for every value: Python is slower with more digits.
        return ((LIFT + aimed + source.bits(self.fraction)) >> self.fraction) - (LIFT >> self.fraction)

    def sampler(self, window: Sliding, size: int) -> StartSampler:
        return _LineSampler(self, window, size)

    def fits(self, line: Line, window: Sliding | Blocks) -> bool:
        return self.reaches(line, start_bits(window))

    def reaches(self, line: Line, bits: int) -> bool:
        """Return whether signed integers of bits + 1 bits hold the start of every value plus its coin."""
        most = max(abs((end - self.origin) * self.scale) for end in (line.low, line.high))
        room = float((1 << bits) - (1 << self.fraction))
        # Values of a narrower dtype may exceed an end by 2^−20 of the length: see Line.admits.
        return most * (1.0 + 2.0**-19) < 2.0**bits and (most if self.last is None else self.last) <= room


# The kind is written but not read, because readers of a specification compare the complete text.
LINE_START: Final = Member(
    lambda name, kernel: {name: write_tagged(getattr(kernel, name))}, record(LineStart).read
)


class _LineSampler(StartSampler):
    def __init__(self, rule: LineStart, window: Sliding, size: int) -> None:
        coin = np.dtype(np.uint16 if rule.fraction <= 16 else np.uint32)
        self._rule = rule
        self.coins = coin if rule.fraction else None
        self._shift = coin.type(8 * coin.itemsize - rule.fraction)
        self._place = np.empty(size)
        # For up to 2^16 cells aims are below 2^31: 32 bits suffice and are faster.
        self._aim = np.empty(size, dtype=np.int32 if window.cells <= 1 << 16 else np.int64)
        self._start = np.empty(size, dtype=window.dtype)

    def __call__(self, block: Array, coins: Array) -> Array:
        count, rule = block.size, self._rule
        position, aim, start = self._place[:count], self._aim[:count], self._start[:count]
        np.subtract(block, rule.origin, out=position, dtype=np.float64)
        np.multiply(position, rule.scale, out=position)
        np.copyto(aim, position, casting="unsafe")
        if rule.last is not None:
            np.clip(aim, 0, rule.last, out=aim)  # in integers: rounding of floats cannot leave the range
        if rule.fraction:
            np.right_shift(coins, self._shift, out=coins)
            np.add(aim, coins, out=aim, casting="unsafe")
            np.right_shift(aim, rule.fraction, out=aim)
        np.copyto(start, aim, casting="unsafe")
        return start


def split(aimed: int, fraction: int) -> list[tuple[int, Fraction]]:
    """Return the cells to which a position in units of 2^−fraction is rounded, with their probabilities.

    >>> split(5, 2)
    [(1, Fraction(3, 4)), (2, Fraction(1, 4))]
    """
    start, rest = divmod(aimed, 1 << fraction)
    up = Fraction(rest, 1 << fraction)
    return [(start, 1 - up), (start + 1, up)] if rest else [(start, Fraction(1))]


class Room(NamedTuple):
    """The cells in which windows of a width start and end, if these are not all cells."""

    cells: int
    width: int


class Placement(ABC):
    """A paper's start rule, in real numbers."""

    affine: bool = False  # True if the start is affine in the input

    @abstractmethod
    def start(self, x: Floats, width: float) -> Floats:
        """Return the start of the window of x ∈ [0, 1], as a position in the report space [0, 1]."""

    @abstractmethod
    def rule(self, domain: Line, window: Sliding) -> StartRule:
        """Return the start rule in integers."""

    @abstractmethod
    def kinks(self, width: float) -> tuple[float, ...]:
        """Return the inputs at which the start is not differentiable."""


@dataclass(frozen=True)
class Centred(Placement):
    """The window is centred on the value and shifted so that it stays within [0, 1]."""

    def start(self, x: Floats, width: float) -> Floats:
        return np.clip(x - width / 2.0, 0.0, 1.0 - width)

    def rule(self, domain: Line, window: Sliding) -> LineStart:
        scale = window.cells / domain.length
        return LineStart(domain.low + (window.width / 2.0 - 0.5) / scale, scale, window.cells - window.width)

    def kinks(self, width: float) -> tuple[float, ...]:
        return width / 2.0, 1.0 - width / 2.0


@dataclass(frozen=True)
class Wrapped(Placement):
    """The window is centred on the value and wraps around the circle."""

    def start(self, x: Floats, width: float) -> Floats:
        return np.mod(x - width / 2.0, 1.0)

    def kinks(self, width: float) -> tuple[float, ...]:
        return ()

    def rule(self, domain: Line, window: Sliding) -> LineStart:
        scale = window.cells / domain.length
        # N is added so that the start is never negative; it is taken modulo N later.
        return LineStart((window.width / 2.0 - 0.5 - window.cells) / scale, scale, None)


@dataclass(frozen=True)
class Gliding(Placement):
    """The start is affine in the value and rounded at random, so E[report] is affine in the value.

    At the smallest value the start is `clear`·(1 − width), and symmetrically at the largest one. With
    `clear` = 0 all starts are used.
    """

    clear: float = 0.0

    affine = True

    def start(self, x: Floats, width: float) -> Floats:
        return np.asarray((self.clear + (1.0 - 2.0 * self.clear) * x) * (1.0 - width), dtype=np.float64)

    def kinks(self, width: float) -> tuple[float, ...]:
        return ()

    def rule(self, domain: Line, window: Sliding) -> LineStart:
        room = window.cells - window.width
        # As many fractional bits as fit into 31 bits: 15 for 2^16 cells. Larger grids use 64-bit integers.
        fraction = max(15, 31 - (window.cells - 1).bit_length())
        scale = (1.0 - 2.0 * self.clear) * room * 2.0**fraction / domain.length
        first = self.clear * room * 2.0**fraction + 0.5  # + 0.5 rounds to the nearest integer
        return LineStart(domain.low - first / scale, scale, room << fraction, fraction)


CENTRED: Final = Centred()
WRAPPED: Final = Wrapped()
GLIDING: Final = Gliding()
