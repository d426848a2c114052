"""Where the window of an input begins: one rule, in real numbers for formulas and in integers for samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

import numpy as np

from dither.arrays import Array, Floats, Integers
from dither.domains import Line
from dither.kernels.window.integers import Sliding
from dither.randomness import Source


class Course(ABC):
    """How a value of the domain becomes the integer start of its window. Any start is private."""

    fraction: int  # bits of a cell that `aim` counts

    @abstractmethod
    def aim(self, values: Array) -> Integers:
        """Give the mean start of each value, in 2^fraction-ths of a cell."""

    @abstractmethod
    def starts(self, value: float) -> list[tuple[int, Fraction]]:
        """Give every start that a value may have, with its exact probability."""

    @abstractmethod
    def draw_one(self, value: float, source: Source) -> int:
        """Give the start of one value, by exact coins where there is a choice."""


@final
@dataclass(frozen=True)
class Track(Course):
    """How a value of the domain becomes an integer start: floor((x − origin)·scale), kept within [0, last].

    With `fraction` bits the integer counts 2^fraction-ths of a cell and is rounded at random to a whole cell.
    Floats are harmless here: any start is private.
    """

    origin: float
    scale: float
    last: int | None
    fraction: int = 0

    def aim(self, values: Array) -> Integers:
        aimed = (np.asarray(values, dtype=np.float64) - self.origin) * self.scale
        if self.last is not None:
            aimed = np.clip(aimed, 0.0, float(self.last))
        return aimed.astype(np.int64)

    def aim_one(self, value: float) -> int:
        """Give the integer for one value."""
        aimed = int((value - self.origin) * self.scale)
        return aimed if self.last is None else min(max(aimed, 0), self.last)

    def starts(self, value: float) -> list[tuple[int, Fraction]]:
        return split(self.aim_one(value), self.fraction)

    def draw_one(self, value: float, source: Source) -> int:
        aimed = self.aim_one(value)
        return (aimed + source.bits(self.fraction)) >> self.fraction if self.fraction else aimed


def split(aimed: int, fraction: int) -> list[tuple[int, Fraction]]:
    """Give the whole cells beside a place counted in 2^fraction-ths, and the probability of rounding to each.

    >>> split(5, 2)
    [(1, Fraction(3, 4)), (2, Fraction(1, 4))]
    """
    start, rest = divmod(aimed, 1 << fraction)
    up = Fraction(rest, 1 << fraction)
    return [(start, 1 - up), (start + 1, up)] if rest else [(start, Fraction(1))]


class Placement(ABC):
    """The rule by which an input chooses its window."""

    @abstractmethod
    def start(self, x: Floats, width: float) -> Floats:
        """Give where the window of x ∈ [0, 1] begins, in shares of the report space."""

    @abstractmethod
    def track(self, domain: Line, window: Sliding) -> Course:
        """Give the same rule in integers."""

    def kinks(self, width: float) -> tuple[float, ...]:
        """Give the inputs at which the start, as a function of the input, changes its formula."""
        return ()


@final
@dataclass(frozen=True)
class Centred(Placement):
    """The window's middle is the value, moved inside where it would stick out."""

    def start(self, x: Floats, width: float) -> Floats:
        return np.clip(x - width / 2.0, 0.0, 1.0 - width)

    def track(self, domain: Line, window: Sliding) -> Track:
        scale = window.cells / domain.length
        return Track(domain.low + (window.width / 2.0 - 0.5) / scale, scale, window.cells - window.width)

    def kinks(self, width: float) -> tuple[float, ...]:
        return width / 2.0, 1.0 - width / 2.0


@final
@dataclass(frozen=True)
class Wrapped(Placement):
    """The window's middle is the value; on a circle nothing sticks out."""

    def start(self, x: Floats, width: float) -> Floats:
        return np.mod(x - width / 2.0, 1.0)

    def track(self, domain: Line, window: Sliding) -> Track:
        scale = window.cells / domain.length
        # One turn is added so that the number is never negative; cells are counted modulo N.
        return Track((window.width / 2.0 - 0.5 - window.cells) / scale, scale, None)


@final
@dataclass(frozen=True)
class Gliding(Placement):
    """The start moves evenly with the value and is rounded at random, so the mean report is affine in it.

    At the smallest value it keeps the share `clear` of the free room away from the lower end, at the largest
    value as far from the upper end: 0 uses all the room.
    """

    clear: float = 0.0

    def start(self, x: Floats, width: float) -> Floats:
        return np.asarray((self.clear + (1.0 - 2.0 * self.clear) * x) * (1.0 - width), dtype=np.float64)

    def track(self, domain: Line, window: Sliding) -> Track:
        room = window.cells - window.width
        # As many fractional bits as 31 hold: 15 for 2^16 cells. Larger grids count in 64-bit integers.
        fraction = max(15, 31 - (window.cells - 1).bit_length())
        scale = (1.0 - 2.0 * self.clear) * room * 2.0**fraction / domain.length
        first = self.clear * room * 2.0**fraction + 0.5  # + 0.5: to the nearest integer
        return Track(domain.low - first / scale, scale, room << fraction, fraction)


CENTRED: Final = Centred()
WRAPPED: Final = Wrapped()
GLIDING: Final = Gliding()
