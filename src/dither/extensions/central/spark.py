"""Exact sums and counts of a Spark column, for releases by a trusted curator. Needs the extra `spark`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from dither.core.domains import Interval
from dither.data.formats.arrow import arrow
from dither.data.frames.spark import check_frame, worker_errors
from dither.errors import InvalidParameter, unknown_name
from dither.extensions.central.tally import CELLS, RecordGrid, Tally

if TYPE_CHECKING:
    import pyarrow

    from dither.foundation.arrays import Array

__all__ = ["tally"]

# The names of Spark's numeric types begin with these texts.
_NUMBERS: Final = ("tinyint", "smallint", "int", "bigint", "float", "double", "boolean", "decimal")


def tally(df: object, column: str, domain: Interval, *, cells: int = CELLS) -> Tally:
    """Return the exact sum and count of a column, one row per person, for `dt.central`.

    For example `dt.central.mean(dt.central.spark.tally(df, "salary", dt.Interval(0, 300_000)), epsilon=1)`.
    Each task makes a tally of its rows, and the driver adds the tallies. A tally is as secret as the values.
    Values outside the domain count as its nearer end; nulls and NaN count as its middle.
    """
    frame, grid = check_frame(df), RecordGrid(domain, cells)
    if column not in frame.columns:
        raise unknown_name("column", column, frame.columns)
    kind = frame.schema[column].dataType.simpleString()
    if not kind.startswith(_NUMBERS):
        raise InvalidParameter(
            f"expected numbers in the column {column!r}, got the type {kind}; choose another column, "
            "or "
            "cast it"
        )
    # A backtick in a name is doubled. Without backticks a dot would mean a field of a struct.
    values = frame.select(f"`{column.replace('`', '``')}`")
    empty = Tally.of([], domain, cells=cells).secret_bytes()
    with worker_errors():
        rows = values.mapInArrow(partial(_tally_partition, empty=empty), "tally binary").collect()
    total = Tally(grid, 0, 0)
    for row in rows:
        total = total + Tally.from_secret_bytes(bytes(row[0]))
    return total


def _tally_partition(
    batches: Iterator[pyarrow.RecordBatch], *, empty: bytes
) -> Iterator[pyarrow.RecordBatch]:
    """Yield the tally of a partition's values. Spark calls this in its workers."""
    pa = arrow()
    total = Tally.from_secret_bytes(empty)
    grid = total.grid
    for batch in batches:
        values = _numbers(batch.column(0))
        total = total + Tally.of(values, grid.domain, cells=grid.cells)
    yield pa.RecordBatch.from_arrays([pa.array([total.secret_bytes()], pa.binary())], names=["tally"])


def _numbers(column: pyarrow.Array) -> Array:
    """Return a column of numbers as floats, with NaN for null."""
    numbers: Array = column.cast(arrow().float64(), safe=False).to_numpy(zero_copy_only=False)
    return numbers
