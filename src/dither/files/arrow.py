"""Record batches of values become record batches of reports: the one path under every data frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dither.domains import Categories, Domain, first_misfit
from dither.errors import InvalidParameter, MalformedReport, MissingExtra, OutsideDomain
from dither.mechanisms.base import Mechanism
from dither.reports import Reports
from dither.wire.campaign import Campaign

if TYPE_CHECKING:
    import pyarrow

    from dither.randomness import Source

SPECIFICATION: Final = b"dither"  # the key in a schema's metadata under which the campaign travels
BATCH: Final = 1 << 17


def arrow() -> Any:
    """Give pyarrow, or say which extra to install."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra("data frames", "frames") from None
    return pyarrow


def perturbed_schema(schema: pyarrow.Schema, campaign: Campaign) -> pyarrow.Schema:
    """Give the schema of the reports: the same columns, those asked about as reports, and the campaign."""
    missing = [name for name in campaign.questions if name not in schema.names]
    if missing:
        raise InvalidParameter(f"there is no column {missing[0]!r}; there are {', '.join(schema.names)}")
    for name, mechanism in campaign.questions.items():
        place = schema.get_field_index(name)
        schema = schema.set(place, schema.field(place).with_type(report_type(mechanism)))
    return schema.with_metadata({**(schema.metadata or {}), SPECIFICATION: campaign.to_json().encode()})


def perturb_batches(
    batches: Iterator[pyarrow.RecordBatch],
    schema: pyarrow.Schema,
    campaign: Campaign,
    *,
    nulls_are_public: bool,
    source: Source | None,
) -> Iterator[pyarrow.RecordBatch]:
    """Randomise the columns asked about, batch by batch; every other column passes as it is."""
    pa = arrow()
    first = 0
    for batch in batches:
        columns = []
        for name in schema.names:
            column = batch.column(name)
            if name in campaign.questions:
                place = lambda row, name=name, first=first: f"row {first + row + 1}, column {name!r}"  # noqa: E731
                column = perturb_column(column, campaign.questions[name], place, nulls_are_public, source)
            columns.append(column)
        first += batch.num_rows
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def perturb_column(
    column: pyarrow.Array,
    mechanism: Mechanism[Any],
    place: Callable[[int], str],
    nulls_are_public: bool,
    source: Source | None,
) -> pyarrow.Array:
    """Randomise one column; `place` names a row for the error of a value that does not fit."""
    pa = arrow()
    if column.null_count and not nulls_are_public:
        first = int(np.argmin(column.is_valid().to_numpy(zero_copy_only=False)))
        raise OutsideDomain(
            f"{place(first)}: the value is null, and a null report would tell who did not answer; drop it "
            "first, or declare that being null is public (nulls_are_public=True)"
        )
    given = column.drop_null() if column.null_count else column
    values = column_values(given, mechanism.domain)
    try:
        reports = mechanism.perturb(values, source=source)
    except OutsideDomain:
        raise OutsideDomain(
            f"{place(_first_outside(column, mechanism.domain))}: the value is not in {mechanism.domain}"
        ) from None
    if not column.null_count:
        return column_of_reports(reports)
    # The reports go back between the nulls: positions only, no value is looked at.
    places = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
    index = np.full(len(column), -1, dtype=np.int64)
    index[places] = np.arange(places.size)
    return column_of_reports(reports).take(pa.array(index, mask=index < 0))


def _first_outside(column: pyarrow.Array, domain: Domain) -> int:
    def fits(begin: int, end: int) -> bool:
        try:
            domain.check(column_values(column.slice(begin, end - begin).drop_null(), domain))
        except OutsideDomain:
            return False
        return True

    return first_misfit(fits, len(column))


def column_values(column: pyarrow.Array, domain: Domain) -> Any:
    """Give a column without nulls as a mechanism on the domain takes it."""
    pa = arrow()
    if isinstance(domain, Categories) and not isinstance(domain.labels, range):
        return column.to_pylist()
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return column.to_numpy(zero_copy_only=False)
    raise OutsideDomain(f"numbers were expected; the column is of type {column.type}")


def report_type(mechanism: Mechanism[Any]) -> pyarrow.DataType:
    """Give the Arrow type of a report: an unsigned integer, or bytes of a fixed length."""
    pa = arrow()
    layout = mechanism.layout
    return pa.binary(layout.itemsize) if layout.subdtype else pa.from_numpy_dtype(layout)


def column_of_reports(reports: Reports) -> pyarrow.Array:
    """Give reports as a column."""
    pa = arrow()
    if reports.mechanism.layout.subdtype is None:
        return pa.array(reports.cells)
    rows = np.ascontiguousarray(reports.cells)
    return pa.Array.from_buffers(report_type(reports.mechanism), len(rows), [None, pa.py_buffer(rows)])


def read_reports(column: pyarrow.Array, mechanism: Mechanism[Any]) -> Reports:
    """Read a column of reports back; nulls are people who did not answer."""
    pa = arrow()
    column = column.drop_null()
    if mechanism.layout.subdtype is None:
        if not pa.types.is_integer(column.type):
            raise MalformedReport(f"reports are whole numbers; the column is of type {column.type}")
        return mechanism.reports(column.to_numpy(zero_copy_only=False))
    width = mechanism.layout.itemsize
    rows = column.to_pylist()
    if not all(isinstance(row, bytes) and len(row) == width for row in rows):
        raise MalformedReport(f"reports are {width} bytes each; the column is of type {column.type}")
    base, shape = mechanism.layout.subdtype
    return mechanism.reports(np.frombuffer(b"".join(rows), base).reshape(len(rows), *shape))


def campaign_of(schema: pyarrow.Schema) -> Campaign:
    """Give the campaign that travels with a schema."""
    text = (schema.metadata or {}).get(SPECIFICATION)
    if text is None:
        raise InvalidParameter(
            "this frame does not carry its questions; give them: estimate(frame, questions)"
        )
    return Campaign.from_json(text.decode())
