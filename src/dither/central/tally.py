"""The exact sum and count of records, rounded to a public grid of integers."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NoReturn, final

import numpy as np

from dither.arrays import Array
from dither.central.records import records
from dither.domains import BLOCK, Interval
from dither.errors import InvalidParameter, MalformedReport, Mismatch, found

CELLS: Final = 1 << 32  # rounding moves a mean by at most 2^−33 of the domain
_MOST: Final = 1 << 36  # so that a block's sum stays below 2^53, where float64 adds integers exactly


@final
@dataclass(frozen=True)
class RecordGrid:
    """The public points of an interval that records are rounded to: `cells` + 1 of them, evenly spaced."""

    domain: Interval
    cells: int = CELLS

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Interval):
            raise InvalidParameter(f"a domain must be an Interval, not {type(self.domain).__name__}")
        if isinstance(self.cells, bool) or not isinstance(self.cells, int) or not 1 <= self.cells <= _MOST:
            raise InvalidParameter(f"cells is a whole number between 1 and 2^36, not {found(self.cells)}")
        if not self.cells < 1e300 * self.domain.length:
            raise InvalidParameter(
                f"the domain {self.domain} is too short for {self.cells} cells: use smaller units"
            )

    @property
    def low(self) -> Fraction:
        """The lower end, exactly."""
        return Fraction(self.domain.low)

    @property
    def cell(self) -> Fraction:
        """The distance of two neighbouring points, exactly."""
        return (Fraction(self.domain.high) - self.low) / self.cells

    def at(self, share: Fraction) -> float:
        """Return the number at a share of the way from the lower to the upper end."""
        return float(self.low + share * self.cell * self.cells)

    def total(self, values: Array) -> int:
        """Return the sum of the records' places 0 … cells on the grid, exactly.

        A value outside goes to the nearer end and NaN to the middle: a rule for one record, whatever the
        others are. No floating-point error can break privacy here, as long as each place is an integer in
        0 … cells: t ≤ length and scale ≤ (cells/length)·(1 + 2^−53) give t·scale < cells + ½ before rounding.
        """
        low, high = self.domain.low, self.domain.high
        scale = self.cells / self.domain.length
        buffer = np.empty(min(values.size, BLOCK))
        total = 0
        with np.errstate(all="ignore"):  # a warning would depend on a value
            for begin in range(0, values.size, BLOCK):
                block = values[begin : begin + BLOCK]
                places = buffer[: block.size]
                np.copyto(places, block, casting="unsafe")
                np.maximum(places, low, out=places)
                np.minimum(places, high, out=places)
                places -= low
                places *= scale
                np.rint(places, out=places)
                part = float(places.sum())
                if math.isnan(part):  # every operation above has kept the NaN
                    places[np.isnan(places)] = self.cells // 2
                    part = float(places.sum())
                total += int(part)
        return total


@final
class Tally:
    """The exact sum and count of some records: as secret as the records, and never shown by repr or errors.

    Tallies of the same grid add, so each machine can make one of its own records.

    >>> tally([3, 5], Interval(0, 10)) + tally([4], Interval(0, 10))
    Tally on [0, 10] (secret)
    """

    __slots__ = ("_count", "_total", "grid")

    grid: RecordGrid
    _total: int
    _count: int

    def __init__(self, grid: RecordGrid, total: int, count: int) -> None:
        if not 0 <= total <= grid.cells * count:
            raise MalformedReport("these are not the sum and count of records on this grid")
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "_total", total)
        object.__setattr__(self, "_count", count)

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.grid != other.grid:
            raise Mismatch("tallies add up only if they have the same domain and the same number of cells")
        return Tally(self.grid, self._total + other._total, self._count + other._count)

    def secret(self) -> tuple[int, int]:
        """Return the exact sum of the places on the grid and the exact count; neither may be published."""
        return self._total, self._count

    def secret_bytes(self) -> bytes:
        """Return the tally as bytes, for the machine that merges; they are as secret as the records."""
        domain = self.grid.domain
        fields = (domain.low.hex(), domain.high.hex(), self.grid.cells, self._total, self._count)
        return json.dumps(["dither secret tally", *fields]).encode()

    @staticmethod
    def from_secret_bytes(secret: bytes) -> Tally:
        """Return the tally that `secret_bytes` wrote."""
        try:
            kind, low, high, cells, total, count = json.loads(secret)
            grid = RecordGrid(Interval(float.fromhex(low), float.fromhex(high)), cells)
        except (TypeError, ValueError):
            raise MalformedReport("these are not the bytes of a tally") from None
        whole = all(isinstance(number, int) and not isinstance(number, bool) for number in (total, count))
        if kind != "dither secret tally" or not whole:
            raise MalformedReport("these are not the bytes of a tally")
        return Tally(grid, total, count)

    def __repr__(self) -> str:
        return f"Tally on {self.grid.domain} (secret)"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a tally does not change; add tallies instead")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a tally does not change; add tallies instead")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a tally is a secret and is not pickled by accident: send secret_bytes() instead")

    def __copy__(self) -> Tally:
        return self

    def __deepcopy__(self, memo: object) -> Tally:
        return self


def tally(values: object, domain: Interval, *, cells: int = CELLS) -> Tally:
    """Return the exact sum and count of one value per person, on a public grid of the domain.

    Values outside the domain count as its nearer end; NaN, None and whatever is not a number count as its
    middle. `cells=1` suits yes-or-no data, and `cells=high − low` whole numbers: their sums are then exact.
    """
    grid = RecordGrid(domain, cells)
    array = records(values)
    return Tally(grid, grid.total(array), int(array.size))
