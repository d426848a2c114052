"""Randomise columns of a Spark frame into a folder of Parquet files: each report is written once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dither.errors import InvalidParameter
from dither.files.choices import Missing
from dither.frames.batches import cached_campaign, perturb_batch
from dither.frames.spark.frame import (
    KEY,
    Questions,
    carried,
    check_columns,
    check_frame,
    partition_place,
    signed,
    spark_type,
    worker_errors,
)
from dither.randomness import Source
from dither.wire.campaign import Campaign
from dither.wire.codec import to_json

if TYPE_CHECKING:
    import pyarrow

# An attempt of a task that fails, or is lost with its machine, has drawn reports of the same values as the
# attempt that replaces it: nobody may read both.
_COMMIT: Final = {
    # Version 1 of the committer keeps the files of all attempts below _temporary, which readers skip, until
    # the driver commits the job; those of failed attempts are deleted. Version 2 moves the files of a task to
    # their place while other tasks still run, and may leave those of a failed attempt there.
    "mapreduce.fileoutputcommitter.algorithm.version": "1",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "true",
    "mapreduce.fileoutputcommitter.cleanup-failures.ignored": "false",
    # The folder is made for the account that runs Spark alone. A file system that Spark already holds keeps
    # the mask with which it was made, so a new one is asked for.
    "fs.permissions.umask-mode": "077",
    "fs.file.impl.disable.cache": "true",
}


def perturb(
    df: Any,
    questions: Questions,
    path: Path | str,
    *,
    missing: Missing = Missing.ERROR,
    source: Source | None = None,
) -> Any:
    """Randomise columns of a Spark frame into a folder of Parquet files, and return the written frame.

    The frame that is returned reads the files. A frame of reports that is evaluated later would draw again,
    and spend the budget again, at every action. So a path that exists is refused, and so is speculative
    execution, where two attempts of a task draw at the same time.

    Each worker builds the mechanisms from their specification and draws from its own operating system. A
    source cannot be passed: its copies in the workers would repeat one stream. The columns of the questions
    hold reports, and carry their question as metadata. All other columns are unchanged: drop those that must
    not be sent. A null raises `OutsideDomain`; with `Missing.SKIP` it stays null.
    """
    frame, campaign, choice = check_frame(df), Campaign.of(questions), Missing.check(missing)
    check_columns(campaign, frame)
    _refuse_source(source)
    _refuse_reports(frame, campaign)
    spark = frame.sparkSession
    _refuse_speculation(spark)
    place = _checked_path(path)
    schema = _schema(frame.schema, campaign)
    draw = partial(_drawn, specification=campaign.to_json(), missing=choice)
    with worker_errors():
        drawn = frame.mapInArrow(draw, schema)
        try:
            drawn.write.mode("error").options(**_COMMIT).parquet(place)
        except Exception as error:
            if _condition(error) == "PATH_ALREADY_EXISTS":
                raise _exists(place) from None
            _remove_if_empty(spark, place)
            raise
        return spark.read.schema(schema).parquet(place)


def _drawn(
    batches: Iterator[pyarrow.RecordBatch], *, specification: str, missing: Missing
) -> Iterator[pyarrow.RecordBatch]:
    """Yield the batches of a partition with reports. Spark calls this in its workers."""
    place, first = partition_place(), 1
    campaign = cached_campaign(specification)
    for batch in batches:
        noisy = perturb_batch(batch, specification, missing=missing, first=first, place=place)
        yield signed(noisy, campaign)
        first += batch.num_rows


def _schema(given: Any, campaign: Campaign) -> Any:
    """Return the schema of the frame with reports, which carry their questions."""
    from pyspark.sql.types import StructField, StructType

    fields = []
    for field in given.fields:
        if field.name in campaign.questions:
            mechanism = campaign.questions[field.name]
            fields.append(StructField(field.name, spark_type(mechanism), True, {KEY: to_json(mechanism)}))
        else:
            fields.append(field)
    return StructType(fields)


def _checked_path(path: object) -> str:
    if not isinstance(path, str | Path) or not str(path).strip():
        raise InvalidParameter(
            f"the path is a folder for the reports, such as 'reports', not {type(path).__name__}"
        )
    return str(path)


def _exists(place: str) -> InvalidParameter:
    return InvalidParameter(
        f"{place} exists, and is not replaced: reports that were drawn once are read, not drawn again. Read "
        "it, or write to another path; what an interrupted run left there must be deleted by hand"
    )


def _remove_if_empty(spark: Any, place: str) -> None:
    """Delete the empty folder that a failed job leaves, so that the path can be used again.

    Connect has no access to the file system; there the folder stays.
    """
    with suppress(Exception):  # the error of the job is more important than this one
        path = spark._jvm.org.apache.hadoop.fs.Path(place)
        system = path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
        if not system.listStatus(path):
            system.delete(path, False)


def _condition(error: Exception) -> str | None:
    """Return the name of Spark's error condition, or None."""
    name = getattr(error, "getCondition", lambda: None)()
    return name if isinstance(name, str) else None


def _refuse_source(source: object) -> None:
    if source is not None:
        raise InvalidParameter(
            "Spark's workers draw from their own operating systems; a source would be copied to every worker "
            "and repeat there: leave source out"
        )


def _refuse_reports(frame: Any, campaign: Campaign) -> None:
    for name in carried(frame):
        if name in campaign.questions:
            raise InvalidParameter(
                f"column {name!r} holds reports, which are random already; further noise would spoil the "
                "estimates. dt.frames.spark.estimate reads reports"
            )


def _refuse_speculation(spark: Any) -> None:
    if str(spark.conf.get("spark.speculation", "false")).lower() == "true":
        raise InvalidParameter(
            "spark.speculation is on: two attempts of a task would draw reports of the same values at the "
            "same time. Start the session with spark.speculation=false"
        )
