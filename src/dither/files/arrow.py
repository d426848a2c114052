"""Arrow columns: values out of them, reports into them and back. Needs the extra `frames`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dither.arrays import Array, Integers
from dither.domains import Categories, CodedLabels, Domain
from dither.errors import MalformedReport, MissingExtra, OutsideDomain
from dither.question import Question
from dither.reports import Reports

if TYPE_CHECKING:
    import pyarrow

SPECIFICATION: Final = b"dither"  # the key of the specification in a schema's metadata
BATCH: Final = 1 << 18  # rows of a batch


def arrow() -> Any:
    """Return the module pyarrow; raise MissingExtra if it is not installed."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra("data frames", "frames") from None
    return pyarrow


def plain(column: pyarrow.Array) -> list[Any]:
    """Return a column as Python objects; raise OutsideDomain if Python has no such object."""
    try:
        cells: list[Any] = column.to_pylist()
    except (OverflowError, ValueError):  # a date before the year 1 or after 9999; the error would show it
        raise OutsideDomain(f"a value of type {column.type} is beyond the range of Python") from None
    return cells


def values_of(column: pyarrow.Array, domain: Domain) -> Any:
    """Return a column without nulls in the form that `domain.check` takes; they are not checked here."""
    if isinstance(domain, Categories) and not isinstance(domain.labels, range):
        return labels_of(column)
    return numbers_of(column)


def labels_of(column: pyarrow.Array) -> Any:
    """Return a column of labels without nulls: the different ones, and the place of each row's among them."""
    pa = arrow()
    try:
        return CodedLabels(*coded_column(column))
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # of lists, of 16-bit floats
        return plain(column)


def numbers_of(column: pyarrow.Array) -> Array:
    """Return a column of numbers without nulls; raise OutsideDomain if its type is not one of numbers."""
    pa = arrow()
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    if is_number(column.type):
        numbers: Array = column.to_numpy(zero_copy_only=False)
        return numbers
    raise OutsideDomain(f"numbers were expected; the column is of type {column.type}")


def is_number(kind: pyarrow.DataType) -> bool:
    """Return whether a type is one of integers or floats."""
    pa = arrow()
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def coded_column(column: pyarrow.Array) -> tuple[Integers, list[Any]]:
    """Return the distinct values of a column without nulls, and for each row the place of its value."""
    coded = column.dictionary_encode()
    return coded.indices.to_numpy(zero_copy_only=False), plain(coded.dictionary)


def report_type(mechanism: Question) -> pyarrow.DataType:
    """Return the Arrow type of a report: an unsigned integer, or bytes of a fixed length."""
    pa = arrow()
    layout = mechanism.layout
    return pa.binary(layout.itemsize) if layout.subdtype else pa.from_numpy_dtype(layout)


def to_column(reports: Reports) -> pyarrow.Array:
    """Return reports as a column."""
    pa = arrow()
    if reports.question.layout.subdtype is None:
        return pa.array(reports.cells)
    rows = np.ascontiguousarray(reports.cells)
    return pa.Array.from_buffers(report_type(reports.question), len(rows), [None, pa.py_buffer(rows)])


def from_column(column: pyarrow.Array, mechanism: Question) -> Array:
    """Return the whole numbers of a column of reports; nulls (people who did not answer) are left out.

    Whether a device can have sent the numbers is not checked here: pass the result to `mechanism.reports`.
    """
    if mechanism.layout.subdtype is None:
        if not arrow().types.is_integer(column.type):
            raise MalformedReport(f"reports are whole numbers; the column is of type {column.type}")
        numbers: Array = column.drop_null().to_numpy(zero_copy_only=False)
        return numbers
    width = mechanism.layout.itemsize
    rows = [row for row in column.to_pylist() if row is not None]  # Arrow drops no nulls of views
    if not all(isinstance(row, bytes) and len(row) == width for row in rows):
        raise MalformedReport(f"reports are {width} bytes each; the column is of type {column.type}")
    base, shape = mechanism.layout.subdtype
    return np.frombuffer(b"".join(rows), base).reshape(len(rows), *shape)
