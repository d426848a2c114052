"""Randomise record batches of values into record batches of reports, for all kinds of data frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dither.domains import Domain, first_misfit
from dither.errors import InvalidParameter, OutsideDomain, unknown_name
from dither.files.arrow import SPECIFICATION, arrow, is_number, report_type, to_column, values_of
from dither.files.choices import Missing, missing_answer
from dither.files.compact import is_missing, rows_of
from dither.question import Question
from dither.wire.campaign import Campaign

if TYPE_CHECKING:
    import pyarrow

    from dither.arrays import Integers
    from dither.randomness import Source


def perturbed_schema(schema: pyarrow.Schema, campaign: Campaign) -> pyarrow.Schema:
    """Return the schema with reports in the columns of the questions, and the campaign in its metadata."""
    for name, mechanism in campaign.questions.items():
        if name not in schema.names:
            raise unknown_name("column", name, schema.names)
        place = schema.get_field_index(name)
        # Without the field's metadata, where Polars writes the values of an enum.
        schema = schema.set(place, arrow().field(name, report_type(mechanism)))
    return schema.with_metadata({**(schema.metadata or {}), SPECIFICATION: campaign.to_json().encode()})


def campaign_of(schema: pyarrow.Schema) -> Campaign:
    """Return the campaign in a schema's metadata; raise InvalidParameter if there is none."""
    text = (schema.metadata or {}).get(SPECIFICATION)
    if text is None:
        raise InvalidParameter(
            "this frame does not carry its questions; pass them: estimate(frame, questions)"
        )
    return Campaign.from_json(text.decode())


def perturb_batches(
    batches: Iterator[pyarrow.RecordBatch],
    schema: pyarrow.Schema,
    campaign: Campaign,
    *,
    missing: Missing,
    source: Source | None,
) -> Iterator[pyarrow.RecordBatch]:
    """Yield the batches with reports in the columns of the questions; other columns are unchanged."""
    pa, first = arrow(), 1
    for batch in batches:
        columns = []
        for name in schema.names:
            column = batch.column(name)
            if name in campaign.questions:
                where = partial(_where, name, first)
                column = perturb_column(column, campaign.questions[name], where, missing, source)
            columns.append(column)
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
        first += batch.num_rows


def _where(column: str, first: int, row: int) -> str:
    return f"row {first + row}, column {column!r}"


def perturb_column(
    column: pyarrow.Array,
    mechanism: Question,
    where: Callable[[int], str],
    missing: Missing,
    source: Source | None,
) -> pyarrow.Array:
    """Return the reports of a column; `where(row)` names the place of a value in errors."""
    pa = arrow()
    absent = is_missing(column)
    whole = not absent.any()
    if not whole and missing is Missing.ERROR:
        raise missing_answer(where(int(absent.argmax())))
    if absent.all():  # of any type, also that of nulls
        return pa.nulls(len(column), report_type(mechanism))
    simple = whole and is_number(column.type)  # nearly always: no list of places is needed
    places = np.empty(0, np.int64) if simple else np.flatnonzero(~absent)
    values = values_of(column, mechanism.domain) if simple else _values(column, places, mechanism.domain)
    try:
        reports = mechanism.perturb(values, source=source)
    except OutsideDomain:
        places = np.flatnonzero(~absent)
        row = int(places[_first_outside(column, places, mechanism.domain)])
        raise OutsideDomain(f"{where(row)}: the value is not in {mechanism.domain}") from None
    if whole:
        return to_column(reports)
    # The reports are put back between the nulls. Only positions are used here, no value.
    index = np.full(len(column), -1, dtype=np.int64)
    index[places] = np.arange(places.size)
    return to_column(reports).take(pa.array(index, mask=absent))


def _values(column: pyarrow.Array, places: Integers, domain: Domain) -> Any:
    return values_of(rows_of(column, places), domain)


def _first_outside(column: pyarrow.Array, places: Integers, domain: Domain) -> int:
    def fits(begin: int, end: int) -> bool:
        try:
            domain.check(_values(column, places[begin:end], domain))
        except OutsideDomain:
            return False
        return True

    return first_misfit(fits, places.size)
