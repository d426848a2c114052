"""Randomise Arrow record batches of values into record batches of reports.

This module is for all kinds of data frames. Distributed engines call `perturb_batch` in their workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dither.core.question import Question
from dither.core.questionnaire import Questionnaire
from dither.data.columns import ONLY_IN_PYTHON, judge, rows_where
from dither.data.dialect import Missing, Outside, check_missing, check_outside
from dither.data.formats.arrow import (
    SPECIFICATION,
    arrow,
    decode_column,
    has_dictionary,
    plain_type,
    report_type,
    to_column,
    with_gaps,
)
from dither.data.formats.columnar import ArrowChunk
from dither.data.rows import Misfits, check_keep
from dither.errors import InvalidParameter, unknown_name

if TYPE_CHECKING:
    import pyarrow

    from dither.foundation.randomness import Source


def check_columns(campaign: Questionnaire, names: Sequence[str]) -> None:
    """Raise InvalidParameter if a question has no column."""
    for name in campaign.questions:
        if name not in names:
            raise unknown_name("column", name, names)


def wanted_columns(campaign: Questionnaire, keep: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the columns of the result in their order: the columns of questions and the kept columns.

    Raise InvalidParameter if one is not there, or if a question is to be kept.
    """
    check_keep(keep, campaign)
    check_columns(campaign, names)
    for name in keep:
        if name not in names:
            raise unknown_name("column", name, names)
    return [name for name in names if name in campaign.questions or name in keep]


def perturbed_schema(schema: pyarrow.Schema, campaign: Questionnaire) -> pyarrow.Schema:
    """Return the schema with reports in the columns of the questions, and the campaign in its metadata.

    Raise InvalidParameter if a question has no column, or if a name means two columns.
    """
    if campaign.sampled:
        raise InvalidParameter(
            "expected a campaign without sampled = true, because it draws one question for each row; use "
            "dt.data.perturb_file or `dither perturb`, or dt.Sampled in memory"
        )
    if len(set(schema.names)) < len(schema.names):
        raise InvalidParameter("expected different names of columns, got one twice; rename one of them")
    check_columns(campaign, schema.names)
    for name, question in campaign.questions.items():
        if question.domain.cell_type == "none":
            raise InvalidParameter(
                f"expected a domain whose values fit the column {name!r}, got {question.domain}; "
                f"{ONLY_IN_PYTHON}"
            )
        position = schema.get_field_index(name)
        # Without the field's metadata, where Polars writes the values of an enum.
        schema = schema.set(position, arrow().field(name, report_type(question)))
    return schema.with_metadata({**(schema.metadata or {}), SPECIFICATION: campaign.to_json().encode()})


def campaign_of(schema: pyarrow.Schema) -> Questionnaire:
    """Return the campaign in a schema's metadata. Raise InvalidParameter if it is missing."""
    text = (schema.metadata or {}).get(SPECIFICATION)
    if text is None:
        raise InvalidParameter(
            "expected a frame that carries its questions; pass them: estimate(frame, questions)"
        )
    return Questionnaire.from_json(text.decode())


def perturb_batches(
    batches: Iterable[pyarrow.RecordBatch],
    schema: pyarrow.Schema,
    campaign: Questionnaire,
    *,
    missing: Missing,
    outside: Outside = "error",
    source: Source | None = None,
    first: int = 1,
    place: str = "",
) -> Iterator[pyarrow.RecordBatch]:
    """Yield the batches in a schema, with reports in the columns of the questions.

    Errors name a row, counted from `first`, after the words in `place`.
    """
    for batch in batches:
        columns, chunk = [], ArrowChunk(Path(), first, batch, place=place)
        for field, column in zip(schema, batch.columns, strict=True):
            if field.name in campaign.questions:
                question = campaign.questions[field.name]
                columns.append(perturb_column(chunk, field.name, question, missing, outside, source))
            else:
                columns.append(decode_column(column, field.type))
        yield arrow().RecordBatch.from_arrays(columns, schema=schema)
        first += batch.num_rows


def perturb_column(
    chunk: ArrowChunk,
    column: str,
    question: Question,
    missing: Missing,
    outside: Outside = "error",
    source: Source | None = None,
) -> pyarrow.Array:
    """Return the reports of a column, null where a row has no answer; raise OutsideDomain for misfits."""
    domain, absent = question.domain, chunk.absent(column)
    rows = rows_where(np.ones(len(chunk), dtype=np.bool_))
    decided = judge(chunk, column, domain, missing, outside, absent=absent, rows=rows)
    if decided.misfits:
        misfits = Misfits()
        for kind, found in decided.misfits.items():
            misfits.add(chunk, column, kind, found)
        raise misfits.error({column: domain})
    there = decided.answers.there
    if not there.any():
        return arrow().nulls(len(chunk), report_type(question))
    reports = question.perturb(decided.answers.values, source=source)
    return to_column(reports) if there.all() else with_gaps(reports, there)


def perturb_batch(
    batch: Any,
    specification: str,
    *,
    keep: Sequence[str] = (),
    missing: Missing = "error",
    outside: Outside = "error",
    first: int = 1,
    place: str = "",
) -> Any:
    """Return a record batch, or a table, of reports in the columns of the questions.

    `specification` is `Questionnaire(questions).to_json()`: text, so that a worker on another machine builds
    the questions itself and draws from its own operating system. A question is built once in a process. The
    result has no other columns except the unchanged ones in `keep`; their dictionaries become the values of
    their rows. A null raises `OutsideDomain`; with `"skip"` it stays null. `outside` is as in
    `dt.data.perturb`.

    Every call draws new reports and spends the budget. Call it once for each row, write the result and read
    the file: a lazy frame of Ray or Dask calls it again at every evaluation. Errors name a row, counted from
    `first`, after the words in `place`.
    """
    pa = arrow()
    choice, beyond = check_missing(missing), check_outside(outside)
    campaign = cached_campaign(specification)
    is_table = isinstance(batch, pa.Table)
    if not is_table and not isinstance(batch, pa.RecordBatch):
        raise InvalidParameter(
            f"expected a pyarrow.RecordBatch or pyarrow.Table, got {type(batch).__name__}; convert it"
        )
    if len(set(batch.schema.names)) == len(batch.schema.names):  # else it is refused below
        batch = batch.select(wanted_columns(campaign, keep, batch.schema.names))
    schema = perturbed_schema(batch.schema, campaign)
    for index, field in enumerate(schema):
        if has_dictionary(field.type):
            schema = schema.set(index, pa.field(field.name, plain_type(field.type), field.nullable))
    given = batch.to_batches() if is_table else [batch]
    parts = perturb_batches(given, schema, campaign, missing=choice, outside=beyond, first=first, place=place)
    return pa.Table.from_batches(parts, schema) if is_table else next(parts)


def cached_campaign(specification: str) -> Questionnaire:
    """Return the campaign of a specification; each is built once in a process."""
    if not isinstance(specification, str):
        raise InvalidParameter(
            f"expected the specification as text, got {type(specification).__name__}; pass "
            "dt.Questionnaire(questions).to_json()"
        )
    return _read_campaign(specification)


@lru_cache(maxsize=16)
def _read_campaign(specification: str) -> Questionnaire:
    return Questionnaire.from_json(specification)
