"""The records of a trusted curator, each converted separately, and their sum and count."""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final, NoReturn

import numpy as np

from dither.core.domains import BLOCK, Interval
from dither.errors import InvalidParameter, MalformedReport, Mismatch, found
from dither.foundation.arrays import Array

_NUMERIC: Final = "fiub"  # the kinds of numpy's real numbers
_MIXED: Final = "OUS"  # the kinds of objects and texts, which are converted one by one
_NAN: Final = float("nan")


def records(values: object) -> Array:
    """Return an array of numbers, one per record; a record that is not a number becomes NaN.

    Only an array of a numeric type, which is public, is used unchanged. numpy never chooses a common type for
    a list: the choice would depend on all records, so one record could change the conversion of the others.
    """
    if hasattr(values, "__array__"):
        # Masked records become None; np.asarray would show the values under the mask.
        array = values if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
        if array.ndim != 1:
            raise InvalidParameter(
                f"expected one value per person, got an array of {array.ndim} dimensions; pass one column"
            )
        if array.dtype.kind not in _NUMERIC + _MIXED:
            raise InvalidParameter(f"expected numbers, got an array of kind {array.dtype.name}; convert it")
        if isinstance(array, np.ma.MaskedArray):
            array = np.ma.filled(array.astype(object), None)
        return array if array.dtype.kind in _NUMERIC else _numbers(array)
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InvalidParameter(
            f"expected a sequence with one value per person, got {type(values).__name__}; pass a list or "
            "an array"
        )
    return _numbers(values)


def number(record: object) -> float:
    """Return one record as a number, or NaN if it is not a number; it never raises.

    A number is a real number, a text that `float` accepts, or a scalar of an array library with one of these.
    An integer beyond every float is infinite. Arrays with dimensions, durations, dates and complex numbers
    are not numbers.
    """
    if type(record) is float:
        return record
    if type(record) is int and record.bit_length() < 1024:  # these common cases are fast
        return float(record)
    try:
        return _real(_scalar(record))
    except Exception:  # an error would reveal information about this record
        return _NAN


def _numbers(items: Iterable[object]) -> Array:
    with np.errstate(all="ignore"):  # a warning would depend on a value
        return np.fromiter(map(number, items), dtype=np.float64)


def _scalar(record: object) -> object:
    """Return the content of a scalar of an array library; return anything else unchanged."""
    if isinstance(record, np.ndarray | np.generic):
        if record.ndim or record.dtype.kind not in _NUMERIC + _MIXED or np.ma.is_masked(record):
            return None  # including durations, which numpy counts as integers
        return record.item() if isinstance(record, np.ndarray) else record
    # PyTorch, JAX and others: a tensor without dimensions.
    if getattr(record, "shape", None) == () and hasattr(record, "item"):
        return record.item()
    return record


def _real(item: object) -> float:
    if not isinstance(item, numbers.Real | Decimal | str | bytes | np.bool_):
        return _NAN
    try:
        return float(item)
    except OverflowError:  # an integer beyond every float
        return float("inf") if item > 0 else float("-inf")  # type: ignore[operator]


CELLS: Final = 1 << 32  # rounding moves a mean by at most 2^−33 of the domain
_MOST: Final = 1 << 36  # keeps a block's sum below 2^53, where float64 adds integers exactly


@dataclass(frozen=True)
class RecordGrid:
    """The `cells` + 1 evenly spaced, public points of an interval to which records are rounded."""

    domain: Interval
    cells: int = CELLS

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Interval):
            raise InvalidParameter(f"expected domain to be an Interval, got {type(self.domain).__name__}")
        if isinstance(self.cells, bool) or not isinstance(self.cells, int) or not 1 <= self.cells <= _MOST:
            raise InvalidParameter(
                f"expected cells to be an integer between 1 and 2^36, got {found(self.cells)}"
            )
        if not self.cells < 1e300 * self.domain.length:
            raise InvalidParameter(
                f"expected a longer domain than {self.domain} for {self.cells} cells; use smaller units, "
                "or fewer cells"
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
        """Return the exact sum of the records' indices 0 … cells on the grid.

        A value outside the domain counts as the nearer end and NaN as the middle. This rule does not depend
        on the other records. No floating-point error can break privacy if each index is an integer in 0 …
        cells: t ≤ length and scale ≤ (cells/length)·(1 + 2^−53) give t·scale < cells + ½ before rounding.
        """
        low, high = self.domain.low, self.domain.high
        scale = self.cells / self.domain.length
        buffer = np.empty(min(values.size, BLOCK))
        total = 0
        with np.errstate(all="ignore"):  # a warning would depend on a value
            for begin in range(0, values.size, BLOCK):
                block = values[begin : begin + BLOCK]
                indices = buffer[: block.size]
                np.copyto(indices, block, casting="unsafe")
                np.maximum(indices, low, out=indices)
                np.minimum(indices, high, out=indices)
                indices -= low
                indices *= scale
                np.rint(indices, out=indices)
                part = float(indices.sum())
                if math.isnan(part):  # every operation above keeps NaN
                    indices[np.isnan(indices)] = self.cells // 2
                    part = float(indices.sum())
                total += int(part)
        return total


class Tally:
    """The exact sum and count of records. It is as secret as the records; repr and errors never show it.

    Tallies of the same grid can be added, so each machine can make a tally of its own records.

    >>> Tally.of([3, 5], Interval(0, 10)) + Tally.of([4], Interval(0, 10))
    Tally on [0, 10] (secret)
    """

    __slots__ = ("_count", "_total", "grid")

    grid: RecordGrid
    _total: int
    _count: int

    def __init__(self, grid: RecordGrid, total: int, count: int) -> None:
        if not 0 <= total <= grid.cells * count:
            raise MalformedReport(
                "expected the sum and count of records on this grid; make the tally with Tally.of"
            )
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "_total", total)
        object.__setattr__(self, "_count", count)

    @staticmethod
    def of(values: object, domain: Interval, *, cells: int = CELLS) -> Tally:
        """Return the exact sum and count of one value per person, on a public grid of the domain.

        Values outside the domain count as its nearer end; NaN, None and anything that is not a number count
        as its middle. With `cells=1` for yes-or-no data and `cells=high − low` for integers, sums are exact.
        """
        grid = RecordGrid(domain, cells)
        array = records(values)
        return Tally(grid, grid.total(array), int(array.size))

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.grid != other.grid:
            raise Mismatch(
                "expected tallies with the same domain and number of cells; make all of them with the same"
            )
        return Tally(self.grid, self._total + other._total, self._count + other._count)

    def secret(self) -> tuple[int, int]:
        """Return the exact sum of the grid indices and the exact count; neither may be published."""
        return self._total, self._count

    def secret_bytes(self) -> bytes:
        """Return the tally as bytes for a machine that merges tallies. They are as secret as the records."""
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
        integral = all(isinstance(number, int) and not isinstance(number, bool) for number in (total, count))
        if kind != "dither secret tally" or not integral:
            raise MalformedReport("these are not the bytes of a tally")
        return Tally(grid, total, count)

    def __repr__(self) -> str:
        return f"Tally on {self.grid.domain} (secret)"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("cannot change a tally; add tallies instead")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("cannot change a tally; add tallies instead")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("cannot pickle a tally, because it is secret; send secret_bytes() instead")

    def __copy__(self) -> Tally:
        return self

    def __deepcopy__(self, memo: object) -> Tally:
        return self
