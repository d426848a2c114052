"""Randomise Arrow record batches of values into record batches of reports.

Data frames of all kinds come here; `perturb_batch` is what distributed engines call in their workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dither.core.domains import CodedLabels, Domain, first_misfit
from dither.core.question import Question
from dither.core.questionnaire import Questionnaire
from dither.data.dialect import Missing, Outside, check_missing, missing_answer
from dither.data.formats.arrow import (
    SPECIFICATION,
    arrow,
    decode_column,
    from_numbers,
    has_dictionary,
    is_missing,
    is_number,
    plain_type,
    report_type,
    rows_of,
    to_column,
    values_of,
    with_gaps,
)
from dither.data.rows import ONLY_IN_PYTHON, check_keep
from dither.errors import InvalidParameter, OutsideDomain, unknown_name

if TYPE_CHECKING:
    import pyarrow

    from dither.foundation.arrays import Integers, Mask
    from dither.foundation.randomness import Source


def check_columns(campaign: Questionnaire, names: Sequence[str]) -> None:
    """Raise InvalidParameter if a question has no column."""
    for name in campaign.questions:
        if name not in names:
            raise unknown_name("column", name, names)


def wanted_columns(campaign: Questionnaire, keep: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the columns that leave, in their order: those of the questions, and those that are kept.

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

    Raise InvalidParameter if a question has no column, or if a name stands for two columns.
    """
    if campaign.sampled:
        raise InvalidParameter(
            "a campaign with sampled = true asks each row one question alone: dt.data.perturb_file and "
            "`dither perturb` draw it, and dt.Sampled in memory"
        )
    if len(set(schema.names)) < len(schema.names):
        raise InvalidParameter("two columns have the same name; rename one of them")
    check_columns(campaign, schema.names)
    for name, question in campaign.questions.items():
        if question.domain.cell_type == "none":
            raise InvalidParameter(
                f"column {name!r} cannot hold values of {question.domain}; {ONLY_IN_PYTHON}"
            )
        place = schema.get_field_index(name)
        # Without the field's metadata, where Polars writes the values of an enum.
        schema = schema.set(place, arrow().field(name, report_type(question)))
    return schema.with_metadata({**(schema.metadata or {}), SPECIFICATION: campaign.to_json().encode()})


def campaign_of(schema: pyarrow.Schema) -> Questionnaire:
    """Return the campaign in a schema's metadata; raise InvalidParameter if there is none."""
    text = (schema.metadata or {}).get(SPECIFICATION)
    if text is None:
        raise InvalidParameter(
            "this frame does not carry its questions; pass them: estimate(frame, questions)"
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
        columns = []
        for field, column in zip(schema, batch.columns, strict=True):
            if field.name in campaign.questions:
                where = partial(_name_row, field.name, first, place)
                question = campaign.questions[field.name]
                columns.append(perturb_column(column, question, where, missing, source, outside))
            else:
                columns.append(decode_column(column, field.type))
        yield arrow().RecordBatch.from_arrays(columns, schema=schema)
        first += batch.num_rows


def _name_row(column: str, first: int, place: str, row: int) -> str:
    return f"{place}row {first + row}, column {column!r}"


def perturb_column(
    column: pyarrow.Array,
    question: Question,
    where: Callable[[int], str],
    missing: Missing,
    source: Source | None,
    outside: Outside = "error",
) -> pyarrow.Array:
    """Return the reports of a column; `where(row)` names the place of a value in errors."""
    pa = arrow()
    absent = is_missing(column)
    if outside != "error":
        column, beyond = _moved_inside(column, absent, question.domain, outside)
        if beyond.any():
            kept = np.flatnonzero(~beyond)
            told = perturb_column(
                rows_of(column, kept), question, lambda row: where(int(kept[row])), missing, source
            )
            return told.take(from_numbers(np.where(beyond, 0, np.cumsum(~beyond) - 1), beyond))
    whole = not absent.any()
    if not whole and question.domain.optional:
        return _perturb_optional(column, absent, question, where, source)
    if not whole and missing == "error":
        raise missing_answer(where(int(absent.argmax())))
    if absent.all():  # of any type, also that of nulls
        return pa.nulls(len(column), report_type(question))
    simple = whole and is_number(column.type)  # nearly always: no list of places is needed
    places = np.empty(0, np.int64) if simple else np.flatnonzero(~absent)
    values = values_of(column, question.domain) if simple else _values_at(column, places, question.domain)
    try:
        reports = question.perturb(values, source=source)
    except OutsideDomain:
        places = np.flatnonzero(~absent)
        row = int(places[_first_outside(column, places, question.domain)])
        raise OutsideDomain(f"{where(row)}: the value is not in {question.domain}") from None
    if whole:
        return to_column(reports)
    return with_gaps(reports, ~absent)


def _moved_inside(
    column: pyarrow.Array, absent: Mask, domain: Domain, outside: Outside
) -> tuple[pyarrow.Array, Mask]:
    """Return a column with numbers outside moved to the nearest end, or the rows that are left out."""
    none, places = np.zeros(len(column), dtype=np.bool_), np.flatnonzero(~absent)
    line = domain.line
    if not places.size or (outside == "clip" and line is None):
        return column, none
    values = _values_at(column, places, domain)
    if line is not None:
        numbers = np.asarray(values, dtype=np.float64)
        beyond = ~((numbers >= line.low) & (numbers <= line.high)) & ~np.isnan(numbers)
        if outside == "clip" and beyond.any():
            moved = np.zeros(len(column))
            moved[places] = np.where(beyond, line.clip(np.nan_to_num(numbers)), numbers)
            return from_numbers(moved, absent), none
    else:
        fits = [_admits(domain, label) for label in values.labels] if isinstance(values, CodedLabels) else []
        each = np.array(fits, dtype=np.bool_)[values.places] if fits else None
        beyond = ~(np.array([_admits(domain, value) for value in values]) if each is None else each)
    none[places] = beyond
    return column, none


def _admits(domain: Domain, value: object) -> bool:
    try:
        domain.check([value])
    except OutsideDomain:
        return False
    return True


def _perturb_optional(
    column: pyarrow.Array,
    absent: Mask,
    question: Question,
    where: Callable[[int], str],
    source: Source | None,
) -> pyarrow.Array:
    """Return the reports of a column in which nulls are "no answer", which is an answer."""
    places, domain = np.flatnonzero(~absent), question.domain
    values = np.full(len(column), None, dtype=object)
    if places.size:
        values[places] = np.asarray(_values_at(column, places, domain))
    try:
        return to_column(question.perturb(values, source=source))
    except OutsideDomain:
        row = int(places[_first_outside(column, places, domain)])
        raise OutsideDomain(f"{where(row)}: the value is not in {domain}") from None


def _values_at(column: pyarrow.Array, places: Integers, domain: Domain) -> Any:
    return values_of(rows_of(column, places), domain)


def _first_outside(column: pyarrow.Array, places: Integers, domain: Domain) -> int:
    def fits(begin: int, end: int) -> bool:
        try:
            domain.check(_values_at(column, places[begin:end], domain))
        except OutsideDomain:
            return False
        return True

    return first_misfit(fits, places.size)


def perturb_batch(
    batch: Any,
    specification: str,
    *,
    keep: Sequence[str] = (),
    missing: Missing = "error",
    first: int = 1,
    place: str = "",
) -> Any:
    """Return a record batch, or a table, of reports in the columns of the questions.

    `specification` is `Questionnaire(questions).to_json()`: text, so that a worker on another machine builds
    the questions itself and draws from its own operating system. A question is built once in a process. No
    other column is in the result but those in `keep`, which are unchanged; their dictionaries become the
    values of their rows. A null raises `OutsideDomain`; with `"skip"` it stays null.

    Every call draws new reports and spends the budget. Call it once for each row, write the result and read
    the file: a lazy frame of Ray or Dask calls it again at every evaluation. Errors name a row, counted from
    `first`, after the words in `place`.
    """
    pa = arrow()
    choice, campaign = check_missing(missing), cached_campaign(specification)
    whole = isinstance(batch, pa.Table)
    if not whole and not isinstance(batch, pa.RecordBatch):
        raise InvalidParameter(
            f"a pyarrow.RecordBatch or pyarrow.Table was expected, not {type(batch).__name__}"
        )
    if len(set(batch.schema.names)) == len(batch.schema.names):  # else it is refused below
        batch = batch.select(wanted_columns(campaign, keep, batch.schema.names))
    schema = perturbed_schema(batch.schema, campaign)
    for index, field in enumerate(schema):
        if has_dictionary(field.type):
            schema = schema.set(index, pa.field(field.name, plain_type(field.type), field.nullable))
    given = batch.to_batches() if whole else [batch]
    parts = perturb_batches(given, schema, campaign, missing=choice, first=first, place=place)
    return pa.Table.from_batches(parts, schema) if whole else next(parts)


def cached_campaign(specification: str) -> Questionnaire:
    """Return the campaign of a specification; each is built once in a process."""
    if not isinstance(specification, str):
        raise InvalidParameter(
            "the specification is text: dt.Questionnaire(questions).to_json(), not "
            f"{type(specification).__name__}"
        )
    return _read_campaign(specification)


@lru_cache(maxsize=16)
def _read_campaign(specification: str) -> Questionnaire:
    return Questionnaire.from_json(specification)
