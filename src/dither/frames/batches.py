"""Randomise one record batch by a specification: what distributed engines call in their workers."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dither.errors import InvalidParameter
from dither.files.arrow import arrow
from dither.files.choices import Missing
from dither.files.compact import decoded, has_dictionary, plain_type
from dither.frames.arrow import perturb_column, perturbed_schema
from dither.wire.campaign import Campaign

if TYPE_CHECKING:
    import pyarrow


def perturb_batch(
    batch: Any, specification: str, *, missing: Missing = Missing.ERROR, first: int = 1, place: str = ""
) -> Any:
    """Return a record batch, or a table, with reports in the columns of the questions.

    `specification` is `Campaign(questions).to_json()`: text, so that a worker on another machine builds the
    mechanisms itself and draws from its own operating system. A mechanism is built once in a process. Other
    columns are unchanged, but dictionaries become the values of their rows. A null raises `OutsideDomain`;
    with `Missing.SKIP` it stays null.

    Every call draws new reports and spends the budget. Call it once for each row, write the result and read
    the file: a lazy frame of Ray or Dask calls it again at every evaluation. Errors name a row, counted from
    `first`, after the words in `place`.
    """
    pa = arrow()
    choice, campaign = Missing.check(missing), cached_campaign(specification)
    if isinstance(batch, pa.Table):
        schema = _reports_schema(batch.schema, campaign)
        parts = []
        for part in batch.to_batches():
            parts.append(perturb_batch(part, specification, missing=choice, first=first, place=place))
            first += part.num_rows
        return pa.Table.from_batches(parts, schema)
    if not isinstance(batch, pa.RecordBatch):
        raise InvalidParameter(
            f"a pyarrow.RecordBatch or pyarrow.Table was expected, not {type(batch).__name__}"
        )
    schema = _reports_schema(batch.schema, campaign)
    columns = []
    for name, column in zip(schema.names, batch.columns, strict=True):
        if name in campaign.questions:

            def where(row: int, name: str = name) -> str:
                return f"{place}row {first + row}, column {name!r}"

            columns.append(perturb_column(column, campaign.questions[name], where, choice, None))
        else:
            columns.append(decoded(column, schema.field(name).type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _reports_schema(schema: pyarrow.Schema, campaign: Campaign) -> pyarrow.Schema:
    """Return the schema of the result; raise InvalidParameter if a name stands for two columns."""
    if len(set(schema.names)) < len(schema.names):
        raise InvalidParameter("two columns have the same name; rename one of them")
    schema = perturbed_schema(schema, campaign)
    for index, field in enumerate(schema):
        if has_dictionary(field.type):
            schema = schema.set(index, arrow().field(field.name, plain_type(field.type), field.nullable))
    return schema


def cached_campaign(specification: str) -> Campaign:
    """Return the campaign of a specification; each is built once in a process."""
    if not isinstance(specification, str):
        raise InvalidParameter(
            f"the specification is text: dt.Campaign(questions).to_json(), not {type(specification).__name__}"
        )
    return _campaign(specification)


@lru_cache(maxsize=16)
def _campaign(specification: str) -> Campaign:
    return Campaign.from_json(specification)
