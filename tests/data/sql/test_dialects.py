"""ClickHouse and Spark count as `Counts` does; both are large, so that these tests are slow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dither as dt
from dither.core.count_tables import read_counts
from dither.data import sql
from tests.support import report_tables as tables
from tests.support.spark import end_session

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def reports() -> dict[str, dt.Reports]:
    return {name: tables.drawn(one, 300, seed) for seed, (name, one) in enumerate(tables.QUESTIONS.items())}


@pytest.fixture
def parquet_file(reports: dict[str, dt.Reports], tmp_path: Path) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = tables.rows_of(reports)
    path = tmp_path / "reports.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(rows + tables.copies(rows) + tables.refused(rows)), path)
    return path


def check(counts: Any, reports: dict[str, dt.Reports]) -> None:
    for name, mechanism in tables.QUESTIONS.items():
        assert dt.Counts.from_counts(mechanism, counts) == dt.Counts.of(reports[name]), name
        totals = read_counts(mechanism, counts, name)
        assert (totals.malformed, totals.other) == (tables.MALFORMED, tables.OTHER), name


def check_wide(counts: Any, path: Path) -> None:
    found = [{**row, "cell": int(row["cell"]), "total": int(row["total"])} for row in counts]
    for name, known in dt.data.summarise_file(path).items():
        assert dt.Counts.from_counts(tables.WIDE[name], found) == known, name


def test_clickhouse(reports: dict[str, dt.Reports], parquet_file: Path, tmp_path: Path) -> None:
    chdb = pytest.importorskip("chdb", reason="ClickHouse (chdb) is not installed")
    from chdb import session

    assert chdb
    with session.Session(str(tmp_path / "clickhouse")) as connection:
        connection.query("CREATE DATABASE w")
        columns = (
            "day Nullable(Date), label Nullable(String), question String, fingerprint String, "
            "batch Nullable(String), place Nullable(Int32), report Nullable(Int64), "
            "report_hex Nullable(String)"
        )
        connection.query(f"CREATE TABLE w.reports ({columns}) ENGINE = MergeTree ORDER BY tuple()")
        connection.query(f"INSERT INTO w.reports SELECT * FROM file('{parquet_file}', Parquet)")
        text = sql.counting_query(tables.QUESTIONS, "clickhouse", sql.ReportTable("w.reports"))
        lines = str(connection.query(text, "JSONEachRow")).splitlines()
        wide = tables.wide_file(tmp_path / "wide.parquet")
        connection.query(f"CREATE VIEW w.wide AS SELECT * FROM file('{wide}', Parquet)")
        query = sql.counting_query(tables.WIDE, "clickhouse", sql.ReportTable.of_columns("w.wide"))
        check_wide(
            [json.loads(line) for line in str(connection.query(query, "JSONEachRow")).splitlines()], wide
        )
    rows = [json.loads(line) for line in lines]
    check([{**row, "cell": int(row["cell"]), "total": int(row["total"])} for row in rows], reports)


def test_spark(reports: dict[str, dt.Reports], parquet_file: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="Spark is not installed")
    frame = pytest.importorskip("dither.data.frames.spark", reason="Spark is not installed")
    settings = {"spark.sql.warehouse.dir": str(tmp_path / "warehouse"), "spark.sql.shuffle.partitions": "2"}
    spark = frame.session("local[1]", settings)
    try:
        spark.read.parquet(str(parquet_file)).createOrReplaceTempView("reports")
        rows = spark.sql(sql.counting_query(tables.QUESTIONS, "spark")).collect()
        wide = tables.wide_file(tmp_path / "wide.parquet")
        spark.read.parquet(str(wide)).createOrReplaceTempView("wide")
        query = sql.counting_query(tables.WIDE, "spark", sql.ReportTable.of_columns("wide"))
        check_wide([row.asDict() for row in spark.sql(query).collect()], wide)
    finally:
        end_session(spark)
    check([row.asDict() for row in rows], reports)
