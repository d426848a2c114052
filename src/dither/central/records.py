"""Convert records to numbers, each one independently of the others."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final

import numpy as np

from dither.arrays import Array
from dither.errors import InvalidParameter

_NUMERIC: Final = "fiub"  # the kinds of numpy's real numbers
_MIXED: Final = "OUS"  # the kinds of objects and texts, which are read one by one
_NAN: Final = float("nan")


def records(values: object) -> Array:
    """Return an array of numbers, one a record; a record that is not a number becomes NaN.

    Only an array whose type is public and numeric is taken as it is. numpy never chooses a common type for a
    list: the choice would depend on all records, so one record would change how the others are read.
    """
    if hasattr(values, "__array__"):
        # Masked records become None; np.asarray would show what is under the mask.
        array = values if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
        if array.ndim != 1:
            raise InvalidParameter(
                f"one value per person was expected, not an array of {array.ndim} dimensions"
            )
        if array.dtype.kind not in _NUMERIC + _MIXED:
            raise InvalidParameter(f"numbers were expected, not an array of kind {array.dtype.name!r}")
        if isinstance(array, np.ma.MaskedArray):
            array = np.ma.filled(array.astype(object), None)
        return array if array.dtype.kind in _NUMERIC else _numbers(array)
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InvalidParameter(
            f"a sequence with one value per person was expected, not {type(values).__name__}"
        )
    return _numbers(values)


def number(record: object) -> float:
    """Return one record as a number, NaN if it is not one; it never raises.

    A number is a real number, a text that `float` reads, or a scalar of an array library that holds one of
    these. An integer beyond every float is infinite. Arrays with dimensions, durations, dates and complex
    numbers are not numbers.
    """
    if type(record) is float:
        return record
    if type(record) is int and record.bit_length() < 1024:  # the usual cases first: they are the fast ones
        return float(record)
    try:
        return _real(_scalar(record))
    except Exception:  # an error that is raised would reveal something about this record
        return _NAN


def _numbers(items: Iterable[object]) -> Array:
    with np.errstate(all="ignore"):  # a warning would depend on a value
        return np.fromiter(map(number, items), dtype=np.float64)


def _scalar(record: object) -> object:
    """Return what a scalar of an array library holds; everything else as it is."""
    if isinstance(record, np.ndarray | np.generic):
        if record.ndim or record.dtype.kind not in _NUMERIC + _MIXED or np.ma.is_masked(record):
            return None  # durations among them: numpy counts them as integers
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
