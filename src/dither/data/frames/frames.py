"""Randomise data frames of every library into frames of reports, and summarise such frames.

A frame is read as a stream of Arrow record batches, and the result is a frame of the same library. Needs the
extra `frames`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from dither.core.counts import Counts
from dither.core.people import people_of_columns
from dither.core.question import Question
from dither.core.questionnaire import Questionnaire
from dither.core.reports import Reports
from dither.data.dialect import Missing, Outside, check_missing, check_outside
from dither.data.formats.arrow import (
    BATCH,
    SPECIFICATION,
    arrow,
    compact_table,
    decode_column,
    from_column,
    has_dictionary,
    plain_type,
    rows_of,
)
from dither.data.formats.columnar import ArrowChunk
from dither.data.formats.format import Questions
from dither.data.frames.batches import (
    campaign_of,
    check_columns,
    perturb_batches,
    perturbed_schema,
    wanted_columns,
)
from dither.data.people import KnownPeople
from dither.data.rows import divide_budget, first_rows
from dither.errors import InvalidParameter, found, unknown_name
from dither.estimation.estimate import Estimate
from dither.estimation.groups import GroupCounts, GroupedEstimates, check_grouping, check_labels
from dither.estimation.method import MINIMUM
from dither.estimation.verbs import estimate as estimate_summary
from dither.foundation.randomness import Source

if TYPE_CHECKING:
    import pandas
    import pyarrow

Back = Callable[["pyarrow.RecordBatchReader"], Any]


def perturb(
    frame: Any,
    questions: Questions,
    *,
    keep: Sequence[str] = (),
    person: str | None = None,
    rows: int = 1,
    missing: Missing = "error",
    outside: Outside = "error",
    source: Source | None = None,
) -> Any:
    """Randomise columns of a data frame, and return a frame of the same kind.

    The frame is of pandas, Polars (eager or lazy), PyArrow (a table, reader or dataset) or DuckDB. In the
    result, the columns of the questions hold reports (integers). Other columns are dropped except the
    unchanged ones in `keep`: their categories (dictionaries, enums) are the ones that occur. An index of
    pandas is also a column: it is kept if it counts the rows, or by its name.

    A null raises `OutsideDomain`; with `"skip"` it stays null, and shows who did not answer. For a question
    on `dt.Nullable` it is "no answer" and is randomised. A value outside of its domain also raises
    `OutsideDomain`; with `"clip"` numbers are moved to the nearest end, and with `"skip"` a null shows
    who was outside. A lazy frame is evaluated here, once.

    `person` names the column of people's ids: the first `rows` rows of each person are in the result, further
    ones are left out, and ε is divided over them. So a person is promised the ε of the questions. Without it
    the promise is for one row.
    """
    campaign, choice = divide_budget(Questionnaire.of(questions), rows), check_missing(missing)
    if rows > 1 and person is None:
        raise InvalidParameter("expected the column of ids with rows; name it with person=…")
    reader, back = open_stream(frame)
    schema = reader.schema
    if person is not None and person not in schema.names:
        raise unknown_name("column of ids", person, schema.names)
    stream = reader if person is None else _rows_of_people(reader, person, rows)
    wanted = set(wanted_columns(campaign, keep, schema.names))
    positions = [index for index, name in enumerate(schema.names) if name in wanted]
    chosen = arrow().schema([schema.field(index) for index in positions], metadata=schema.metadata)
    given = (
        arrow().RecordBatch.from_arrays([batch.column(index) for index in positions], schema=chosen)
        for batch in stream
    )
    pandas_frame = type(frame).__module__.startswith("pandas")
    if pandas_frame and (person is not None or not _is_public(frame.index, keep)):
        back = _to_pandas(None)  # the rows of the result are numbered again
    target = perturbed_schema(chosen, campaign)
    batches = perturb_batches(
        given, target, campaign, missing=choice, outside=check_outside(outside), source=source
    )
    return back(arrow().RecordBatchReader.from_batches(target, batches))


def _rows_of_people(
    batches: Iterable[pyarrow.RecordBatch], person: str, rows: int
) -> Iterator[pyarrow.RecordBatch]:
    """Yield the batches with the first rows of each person only."""
    known, number = KnownPeople(rows), 1
    for batch in batches:
        chunk = ArrowChunk(Path(), number, batch)
        used = first_rows(known, chunk, person, np.ones(len(chunk), dtype=np.bool_))
        number += batch.num_rows
        if used.all():
            yield batch
            continue
        there = np.flatnonzero(used)
        columns = [rows_of(column, there) for column in batch.columns]
        yield arrow().RecordBatch.from_arrays(columns, schema=batch.schema)


def summarise(frame: object, questions: Questions | None = None) -> dict[str, Counts]:
    """Count the reports in a frame: a summary for each question. Nulls are not counted.

    The questions may be left out if the frame carries them: Arrow tables do, and pandas frames (`attrs`),
    also those read from a Parquet file that pandas wrote. Polars and DuckDB drop them.
    """
    reader, campaign = _open_reports(frame, questions)
    totals = {name: Counts.empty(question) for name, question in campaign.questions.items()}
    for batch in reader:
        for name, question in campaign.questions.items():
            totals[name] = totals[name] + Counts.of(_column_reports(name, question, batch.column(name)))
    return totals


def reports(frame: Any, questions: Questions | None = None) -> dict[str, Reports]:
    """Return the reports of each question, of the rows that have all: for `dt.stats.crosstab` and others.

    So the first report of each question is of the same person, and so on.
    """
    reader, campaign = _open_reports(frame, questions)
    parts: dict[str, list[Reports]] = {
        name: [question.reports([])] for name, question in campaign.questions.items()
    }
    for batch in reader:
        column_data = [~np.asarray(batch.column(name).is_null()) for name in campaign.questions]
        rows = np.flatnonzero(np.logical_and.reduce(column_data))
        for name, question in campaign.questions.items():
            column = rows_of(batch.column(name), rows)  # Arrow does not filter Polars' bytes (views)
            parts[name].append(_column_reports(name, question, column))
    joined = {name: Reports.concatenate(found) for name, found in parts.items()}
    people = people_of_columns({name: (part.cells, None) for name, part in joined.items()})
    return {name: replace(part, people=people[name]) for name, part in joined.items()}


@overload
def estimate(frame: object, questions: Questions | None = None) -> dict[str, Estimate]: ...


@overload
def estimate(
    frame: object,
    questions: Questions | None = None,
    *,
    by: str | Sequence[str],
    minimum: int = MINIMUM,
    level: float = 0.95,
) -> dict[str, GroupedEstimates]: ...


def estimate(
    frame: object,
    questions: Questions | None = None,
    *,
    by: str | Sequence[str] | None = None,
    minimum: int = MINIMUM,
    level: float = 0.95,
) -> dict[str, Estimate] | dict[str, GroupedEstimates]:
    """Return for each question of a frame of reports its mean, mean direction or frequencies.

    `by` names columns of public labels. Then the result is a table for each question, with a row for each
    group; groups with fewer than `minimum` reports are left out. The frame is read once, batch by batch.
    """
    if by is None:
        return {name: estimate_summary(summary) for name, summary in summarise(frame, questions).items()}
    columns = check_grouping(by, minimum, level)
    reader, campaign = _open_reports(frame, questions)
    check_labels(columns, list(campaign.questions), reader.schema.names)
    counts = {name: GroupCounts(question, columns) for name, question in campaign.questions.items()}
    for batch in reader:
        labels = [batch.column(column) for column in columns]
        for name, question in campaign.questions.items():
            column = batch.column(name)
            there = column.is_valid().to_pylist()  # no kernel filters Polars' texts (views)
            answers = _column_reports(name, question, column)
            counts[name].add([list(compress(column.to_pylist(), there)) for column in labels], answers)
    return {
        name: groups.estimates(estimate_summary, minimum=minimum, level=level)
        for name, groups in counts.items()
    }


def _column_reports(name: str, question: Question, column: object) -> Reports:
    """Return the reports of a column, with the name of the column."""
    return Reports(question, question.reports(from_column(column, question)).cells, name)


def _open_reports(
    frame: object, questions: Questions | None
) -> tuple[pyarrow.RecordBatchReader, Questionnaire]:
    """Return the batches of a frame and its questions; raise if a question has no column."""
    reader, _ = open_stream(frame)
    carried = getattr(frame, "attrs", {}).get(SPECIFICATION.decode()) if questions is None else None
    if carried is not None:  # of pandas
        campaign = Questionnaire.from_json(str(carried))
    else:
        campaign = campaign_of(reader.schema) if questions is None else Questionnaire.of(questions)
    check_columns(campaign, reader.schema.names)
    return reader, campaign


def open_stream(frame: Any) -> tuple[pyarrow.RecordBatchReader, Back]:
    """Return a frame's record batches, and the function that makes a frame of its kind from batches.

    Any object with the Arrow C stream protocol will do. A lazy frame is evaluated here, once: each evaluation
    draws new reports and spends the budget again.
    """
    pa = arrow()
    library = type(frame).__module__.partition(".")[0]
    if library == "pyspark":  # its stream would collect all rows on one machine
        raise InvalidParameter(
            "expected a frame of pandas, Polars, PyArrow or DuckDB, got one of Spark; use "
            "dt.data.spark, "
            "whose perturb also takes a path"
        )
    if library == "polars" and type(frame).__name__ == "LazyFrame":
        return _open_batches(pa, frame.collect(engine="streaming")), lambda reader: _to_polars(reader).lazy()
    if library == "polars":
        return _open_batches(pa, frame), _to_polars
    if library == "pandas":
        _check_pandas(frame)
        return _open_batches(pa, frame), _to_pandas(frame.index)
    if library in ("duckdb", "_duckdb"):
        return _open_batches(pa, frame), _to_duckdb
    if isinstance(frame, pa.Table):
        return frame.to_reader(max_chunksize=BATCH), _read_whole
    if isinstance(frame, pa.RecordBatchReader):
        return frame, _decode_stream
    if hasattr(frame, "scanner"):  # a pyarrow dataset
        return frame.scanner(batch_size=BATCH).to_reader(), _to_dataset
    if hasattr(frame, "__arrow_c_stream__"):
        return _open_batches(pa, frame), _read_whole
    raise InvalidParameter(
        "expected a data frame (pandas, Polars, PyArrow, DuckDB, or an object with the Arrow C stream "
        f"protocol), got {type(frame).__name__}; convert it"
    )


def _check_pandas(frame: pandas.DataFrame) -> None:
    """Raise InvalidParameter for columns that Arrow does not take: equal names, sparse values."""
    names = frame.columns
    if not names.is_unique:
        twice = str(names[names.duplicated()][0])
        raise InvalidParameter(f"expected one column of each name, got {found(twice)} twice; rename one")
    for name, kind in frame.dtypes.items():
        if hasattr(kind, "fill_value"):  # pandas' SparseDtype
            raise InvalidParameter(
                f"expected a dense column {found(str(name))}, got a sparse one; convert it with "
                "frame[…].sparse.to_dense()"
            )


def _open_batches(pa: Any, frame: Any) -> pyarrow.RecordBatchReader:
    reader = pa.RecordBatchReader.from_stream(frame)

    def batches() -> Iterator[pyarrow.RecordBatch]:
        for batch in reader:
            for begin in range(0, batch.num_rows, BATCH):
                yield batch.slice(begin, BATCH)

    return pa.RecordBatchReader.from_batches(reader.schema, batches())


def _read_whole(reader: pyarrow.RecordBatchReader) -> pyarrow.Table:
    return compact_table(reader.read_all())


def _decode_stream(reader: pyarrow.RecordBatchReader) -> pyarrow.RecordBatchReader:
    """Return the batches with values instead of dictionaries: those may hold values of other rows."""
    schema = reader.schema
    for index, field in enumerate(schema):
        if has_dictionary(field.type):
            schema = schema.set(index, field.with_type(plain_type(field.type)))
    if schema == reader.schema:
        return reader
    pa = arrow()

    def batches() -> Iterator[pyarrow.RecordBatch]:
        for batch in reader:
            columns = list(map(decode_column, batch.columns, schema.types))
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _to_polars(reader: pyarrow.RecordBatchReader) -> Any:
    import polars

    given, table = reader.schema, _read_whole(reader)
    frame: Any = polars.from_arrow(table)
    for index, field in enumerate(given):
        if any(key.startswith(b"_PL_ENUM") for key in field.metadata or {}):
            used = _dictionary_values(table.column(index))
            frame = frame.with_columns(polars.col(field.name).cast(polars.Enum(used)))
    return frame


def _dictionary_values(column: pyarrow.ChunkedArray) -> list[Any]:
    """Return the values of a compact_table dictionary column."""
    return list(column.chunk(0).dictionary.to_pylist()) if column.num_chunks else []


def _is_public(index: Any, keep: Sequence[str]) -> bool:
    """Return whether a pandas index may be kept: it counts rows, or its names are names of kept columns."""
    named = [name for name in index.names if name is not None]
    return type(index).__name__ == "RangeIndex" or (bool(named) and set(named) <= set(keep))


def _to_pandas(index: Any) -> Back:
    import pandas

    def back(reader: pyarrow.RecordBatchReader) -> Any:
        table = _read_whole(reader)
        names = [name for name in table.schema.names if not name.startswith("__index_level_")]
        # The metadata describes the types before randomisation; some columns hold reports now.
        frame = table.select(names).to_pandas(ignore_metadata=True)
        for name in names:
            column = table.column(name)
            if column.null_count and str(column.type).startswith("uint"):  # pandas would use floats
                kind = getattr(pandas, f"UI{str(column.type)[2:]}Dtype")()
                frame[name] = column.to_pandas(types_mapper=lambda _, kind=kind: kind)
        frame = frame if index is None else frame.set_axis(_drop_unused(index))
        text = (table.schema.metadata or {}).get(SPECIFICATION)
        if text is not None:  # kept by pandas in copies, selections of rows, and Parquet files
            frame.attrs[SPECIFICATION.decode()] = text.decode()
        return frame

    return back


def _drop_unused(index: object) -> object:
    """Return a pandas index without the values of rows that it no longer has."""
    for method in ("remove_unused_categories", "remove_unused_levels"):
        if hasattr(index, method):
            return getattr(index, method)()
    return index


def _to_duckdb(reader: pyarrow.RecordBatchReader) -> object:
    import duckdb

    return duckdb.from_arrow(_read_whole(reader))


def _to_dataset(reader: pyarrow.RecordBatchReader) -> object:
    import pyarrow.dataset

    return pyarrow.dataset.dataset(_read_whole(reader))
