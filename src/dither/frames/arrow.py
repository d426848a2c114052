"""Record batches of values become record batches of reports: the one path under every data frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from dither.campaigns.campaign import Campaign
from dither.domains import Categories
from dither.errors import InvalidParameter, MalformedReport, MissingExtra, OutsideDomain
from dither.mechanisms.mechanism import Mechanism
from dither.reports import Reports

if TYPE_CHECKING:
    import pyarrow

    from dither.randomness import Source

SPECIFICATION: Final = b"dither"  # the key in a schema's metadata under which the campaign travels
BATCH: Final = 1 << 17


def arrow() -> Any:
    """Give pyarrow, or say which extra to install."""
    try:
        import pyarrow  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtra("data frames", "frames") from None
    return pyarrow


def checked(questions: Mapping[str, Mechanism] | Campaign) -> Campaign:
    """Give the questions as a campaign, or say what was expected."""
    if isinstance(questions, Campaign):
        return questions
    if not isinstance(questions, Mapping) or not all(
        isinstance(mechanism, Mechanism) for mechanism in questions.values()
    ):
        raise InvalidParameter("questions are a mapping from column names to mechanisms")
    return Campaign(questions)


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
                place = f"column {name!r}, rows {first + 1} to {first + batch.num_rows}"
                column = _perturb(column, campaign.questions[name], place, nulls_are_public, source)
            columns.append(column)
        first += batch.num_rows
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _perturb(
    column: pyarrow.Array, mechanism: Mechanism, place: str, nulls_are_public: bool, source: Source | None
) -> pyarrow.Array:
    pa = arrow()
    if column.null_count and not nulls_are_public:
        raise OutsideDomain(
            f"{place}: some values are null, and a null report would tell who did not answer; drop them "
            "first, or declare that being null is public (nulls_are_public=True)"
        )
    given = column.drop_null() if column.null_count else column
    try:
        cells = mechanism.perturb(_values(given, mechanism), source=source).cells
    except OutsideDomain as error:
        raise OutsideDomain(f"{place}: {error}") from None
    if not column.null_count:
        return _reports(cells, mechanism)
    # The reports go back between the nulls: positions only, no value is looked at.
    places = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
    index = np.full(len(column), -1, dtype=np.int64)
    index[places] = np.arange(places.size)
    taken = pa.array(index, mask=index < 0)
    return _reports(cells, mechanism).take(taken)


def _values(column: pyarrow.Array, mechanism: Mechanism) -> Any:
    pa = arrow()
    if isinstance(mechanism.domain, Categories) and not isinstance(mechanism.domain.labels, range):
        return column.to_pylist()
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return column.to_numpy(zero_copy_only=False)
    raise OutsideDomain(f"numbers were expected; the column is of type {column.type}")


def report_type(mechanism: Mechanism) -> pyarrow.DataType:
    """Give the Arrow type of a report: an unsigned integer, or bytes of a fixed length."""
    pa = arrow()
    layout = mechanism.layout
    return pa.binary(layout.itemsize) if layout.subdtype else pa.from_numpy_dtype(layout)


def _reports(cells: NDArray[Any], mechanism: Mechanism) -> pyarrow.Array:
    pa = arrow()
    if mechanism.layout.subdtype is None:
        return pa.array(cells)
    rows = np.ascontiguousarray(cells)
    return pa.Array.from_buffers(report_type(mechanism), len(rows), [None, pa.py_buffer(rows)])


def read_reports(column: pyarrow.Array, mechanism: Mechanism) -> Reports:
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
