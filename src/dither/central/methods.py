"""The two integers to which noise is added, and how the mean follows from them: Algorithms 1, 2 and 3."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

from dither.central.tally import RecordGrid


class MeanMethod(ABC):
    """Two integers that one record moves by an l₁ distance of at most `sensitivity`, and the mean from them.

    A share is a mean in units in which the domain is [0, 1].
    """

    @abstractmethod
    def sensitivity(self, grid: RecordGrid) -> int:
        """Return how far one record can move the two integers, |first| + |second|."""

    @abstractmethod
    def query(self, total: int, count: int, grid: RecordGrid) -> tuple[int, int]:
        """Return the two integers for a sum of places and a count."""

    @abstractmethod
    def solve(self, first: int, second: int, grid: RecordGrid) -> tuple[Fraction, Fraction]:
        """Return the numerator of the share, and the count, from the two noisy integers."""

    @abstractmethod
    def weights(self, share: float, grid: RecordGrid) -> tuple[float, float]:
        """Return w₁, w₂ such that w₁·first + w₂·second, over the sensitivity, is count·(mean − share)."""


@final
@dataclass(frozen=True)
class _Independent(MeanMethod):
    """Sum and count, each with half the budget [AddRemove23, Alg. 1]; poor if the domain is far from 0."""

    def sensitivity(self, grid: RecordGrid) -> int:
        return 2 * largest(grid)

    def query(self, total: int, count: int, grid: RecordGrid) -> tuple[int, int]:
        return in_units(total, count, grid), largest(grid) * count

    def solve(self, first: int, second: int, grid: RecordGrid) -> tuple[Fraction, Fraction]:
        count = Fraction(second, largest(grid))
        scaled = Fraction(first, offset(grid).denominator) - count * offset(grid)
        return scaled / grid.cells, count

    def weights(self, share: float, grid: RecordGrid) -> tuple[float, float]:
        unit = offset(grid).denominator * grid.cells
        return float(Fraction(self.sensitivity(grid), unit)), -2.0 * (
            float(offset(grid) / grid.cells) + share
        )

    def __repr__(self) -> str:
        return "INDEPENDENT"


@final
@dataclass(frozen=True)
class _Shifted(MeanMethod):
    """The sum of the distances from the middle, and the count [AddRemove23, Alg. 2]."""

    def sensitivity(self, grid: RecordGrid) -> int:
        return 2 * grid.cells

    def query(self, total: int, count: int, grid: RecordGrid) -> tuple[int, int]:
        return 2 * total - grid.cells * count, grid.cells * count

    def solve(self, first: int, second: int, grid: RecordGrid) -> tuple[Fraction, Fraction]:
        return Fraction(first + second, 2 * grid.cells), Fraction(second, grid.cells)

    def weights(self, share: float, grid: RecordGrid) -> tuple[float, float]:
        return 1.0, 1.0 - 2.0 * share

    def __repr__(self) -> str:
        return "SHIFTED"


@final
@dataclass(frozen=True)
class _Transformed(MeanMethod):
    """The sums of the distances from either end [AddRemove23, Alg. 3]: a record moves them by X and 1 − X."""

    def sensitivity(self, grid: RecordGrid) -> int:
        return grid.cells

    def query(self, total: int, count: int, grid: RecordGrid) -> tuple[int, int]:
        return total, grid.cells * count - total  # not summed separately: the two must stay on the lattice

    def solve(self, first: int, second: int, grid: RecordGrid) -> tuple[Fraction, Fraction]:
        return Fraction(first, grid.cells), Fraction(first + second, grid.cells)

    def weights(self, share: float, grid: RecordGrid) -> tuple[float, float]:
        return 1.0 - share, -share

    def __repr__(self) -> str:
        return "TRANSFORMED"


INDEPENDENT: Final[MeanMethod] = _Independent()
SHIFTED: Final[MeanMethod] = _Shifted()
TRANSFORMED: Final[MeanMethod] = _Transformed()


def offset(grid: RecordGrid) -> Fraction:
    """Return the lower end in cells of the grid, a rational number: zero need not be a point of the grid."""
    return grid.low / grid.cell


def in_units(total: int, count: int, grid: RecordGrid) -> int:
    """Return the sum of the records as an integer, in units of a cell over the denominator of `offset`."""
    shift = offset(grid)
    return shift.denominator * total + shift.numerator * count


def largest(grid: RecordGrid) -> int:
    """Return the largest absolute value of a record in the units of `in_units`."""
    shift = offset(grid)
    return max(abs(shift.numerator), abs(shift.numerator + shift.denominator * grid.cells))
