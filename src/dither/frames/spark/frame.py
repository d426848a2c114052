"""Frames of Spark: which objects they are, the questions that they carry, the types of their reports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from dither import errors
from dither.errors import DitherError, InvalidParameter, Mismatch, MissingExtra, unknown_name
from dither.files.arrow import arrow
from dither.question import Question
from dither.wire.campaign import Campaign
from dither.wire.codec import from_json

if TYPE_CHECKING:
    import pyarrow

Questions = Mapping[str, Question] | Campaign

KEY: Final = "dither"  # of the specification in a column's metadata, which Spark writes into Parquet files
# By the bytes of a report. Spark has no unsigned types; reports of eight bytes are below 2^63.
_SIGNED: Final = {1: "ShortType", 2: "IntegerType", 4: "LongType", 8: "LongType"}
_RAISED: Final = re.compile(r"^dither\.errors\.(\w+): (.*)$", re.MULTILINE)


def require_spark() -> Any:
    """Return the module pyspark.sql; raise MissingExtra if it is not installed."""
    try:
        import pyarrow
        import pyspark.sql
    except ImportError:
        raise MissingExtra("Spark", "spark") from None
    del pyarrow
    return pyspark.sql


def check_frame(frame: object) -> Any:
    """Return a data frame of Spark, classic or Connect; raise InvalidParameter if it is anything else."""
    sql = require_spark()
    if not isinstance(frame, sql.DataFrame):
        raise InvalidParameter(
            f"a DataFrame of Spark was expected, not {type(frame).__name__}; dt.frames is for other libraries"
        )
    if frame.isStreaming:
        raise InvalidParameter("a streaming frame is read without end; pass its batches (foreachBatch)")
    names = [name.lower() for name in frame.columns]  # Spark resolves names without regard to case
    if len(set(names)) < len(names):
        raise InvalidParameter("two columns have the same name; rename one of them")
    return frame


def check_columns(campaign: Campaign, frame: Any) -> None:
    """Raise InvalidParameter if a question has no column."""
    for name in campaign.questions:
        if name not in frame.columns:
            raise unknown_name("column", name, frame.columns)


def carried(frame: Any) -> dict[str, Question]:
    """Return the questions whose reports a frame holds, by the metadata of its columns."""
    fields = [field for field in frame.schema.fields if KEY in (field.metadata or {})]
    return {field.name: from_json(field.metadata[KEY]) for field in fields}


def campaign_for(frame: Any, questions: Questions | None) -> Campaign:
    """Return the questions of a frame of reports: those that are passed, or those that it carries."""
    found = carried(frame)
    if questions is None:
        if not found:
            raise InvalidParameter(
                "this frame does not carry its questions; pass them: summarise(df, questions)"
            )
        return Campaign(found)
    campaign = Campaign.of(questions)
    check_columns(campaign, frame)
    for name, mechanism in campaign.questions.items():
        if name in found and found[name].fingerprint != mechanism.fingerprint:
            raise Mismatch(f"column {name!r} holds reports of another question than the one that was passed")
    return campaign


def spark_type(mechanism: Question) -> Any:
    """Return the Spark type of a column of reports: a signed integer that has room for them, or bytes."""
    from pyspark.sql import types

    layout = mechanism.layout
    return types.BinaryType() if layout.subdtype else getattr(types, _SIGNED[layout.itemsize])()


def signed(batch: pyarrow.RecordBatch, campaign: Campaign) -> pyarrow.RecordBatch:
    """Return a batch with its reports in types that Spark has."""
    pa = arrow()
    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if name in campaign.questions:
            layout = campaign.questions[name].layout
            wide = {1: pa.int16(), 2: pa.int32()}.get(layout.itemsize, pa.int64())
            columns.append(column.cast(pa.binary() if layout.subdtype else wide))
        else:
            columns.append(column)
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


@contextmanager
def worker_errors() -> Iterator[None]:
    """Raise an error of a worker again as what it was there, without the text that Spark puts around it."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        text = str(error)
        known = _RAISED.findall(text)
        if known:
            name, message = known[-1]
            kind = getattr(errors, name, None)
            if isinstance(kind, type) and issubclass(kind, DitherError) and kind is not MissingExtra:
                raise _rebuilt(kind, message) from None
        if "No module named 'dither" in text or "No module named 'pyarrow'" in text:
            raise InvalidParameter(
                "the workers of Spark cannot import dither: install dither[spark] on every machine of the "
                "cluster, for the Python that runs the workers (PYSPARK_PYTHON)"
            ) from None
        raise


def _rebuilt(kind: type[DitherError], message: str) -> DitherError:
    error = kind.__new__(kind)
    Exception.__init__(error, message)
    return error


def partition_place() -> str:
    """Return the words that name this task's partition in an error, if the code runs in a task."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return "" if context is None else f"partition {context.partitionId()}, "
