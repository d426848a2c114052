"""Estimates made by a query are those of `dt.estimate`, to 10^−9, in every database that is here."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.data import sql
from dither.data.sql.estimates import GROUPS
from dither.errors import InvalidParameter, NotIdentifiable
from dither.foundation.tables import period_start
from tests.data.sql.test_engines import Load, load
from tests.support import report_tables as tables

duckdb, pyarrow = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
__all__ = ["load"]

FEW = {  # a question of every form that the query has, with small codebooks
    name: tables.QUESTIONS[name]
    for name in ("two cells", tables.HOSTILE, "hash", "bits", "sets", "projective")
} | {"rare": dt.KRR(dt.Categories(40), epsilon=9)}
MINIMUM = 30
Rows = list[dict[str, Any]]


def stored(questions: dict[str, Any], count: int = 300) -> tuple[Rows, dict[str, dt.Reports]]:
    reports = {name: tables.drawn(one, count, seed) for seed, (name, one) in enumerate(questions.items())}
    rows = tables.rows_of(reports)
    return rows + tables.copies(rows) + tables.refused(rows), reports


def expected(
    questions: dict[str, Any], rows: Rows, reports: dict[str, dt.Reports], by: Sequence[str]
) -> dict[tuple[Any, ...], tuple[float, ...]]:
    """The estimates of each group, from the reports themselves."""
    found = {}
    for name in questions:
        mine = [row for row in rows if row["question"] == name][: len(reports[name])]
        groups: dict[tuple[Any, ...], list[int]] = {}
        for place, row in enumerate(mine):
            key = tuple(row["label"] if one == "label" else period_start(one, row["day"]) for one in by)
            groups.setdefault(key, []).append(place)
        for key, places in groups.items():
            counts = dt.Counts.of(reports[name][places])
            if counts.n < MINIMUM:
                continue
            estimate = dt.estimate(counts)
            ends = [np.atleast_1d(part) for part in (estimate.value, *estimate.interval())]
            for number, three in enumerate(zip(*ends, strict=True)):
                found[(name, *key, number)] = (*map(float, three), counts.n)
    return found


def check(got: Rows, wanted: dict[tuple[Any, ...], tuple[float, ...]], by: Sequence[str]) -> None:
    assert len(got) == len(wanted)
    for row in got:
        key = (row["question"], *(row[name] for name in by), int(row["answer_number"]))
        three = np.array([row[name] for name in ("value", "low", "high")], dtype=np.float64)
        assert np.abs(three - wanted[key][:3]).max() <= 1e-9, key
        assert int(row["n"]) == wanted[key][3]


def test_a_query_returns_the_estimates_of_dither(load: Load) -> None:
    by = ("week", "label")
    rows, reports = stored(FEW)
    address = load(rows)
    made = sql.estimate_query(FEW, address.partition("://")[0], by=by, minimum=MINIMUM)
    assert made.codebook.table is None
    with sql.connect(address) as engine:
        names, found = engine.fetch(made.text)
    assert names == [*by, "question", "answer_number", "answer", "value", "low", "high", "n"]
    got = [dict(zip(names, row, strict=True)) for row in found]
    check(got, expected(FEW, rows, reports, by), by)
    answers = [row["answer"] for row in got if row["question"] == "bits"][:13]
    assert answers == [str(label) for label in FEW["bits"].domain.labels]
    assert {row["answer"] for row in got if row["question"] == "two cells"} == {None}


def test_too_little_variation_has_the_least_variance(load: Load) -> None:
    """Reports that hardly vary have the variance that the mechanism has at least."""
    duchi = dt.Duchi(dt.Interval(0, 10), epsilon=1)
    podium = dt.Podium(dt.Interval(0, 10), epsilon=3, cells=1 << 8)
    questions = {"a": duchi, "b": podium}
    reports = {"a": duchi.reports([1] * 60), "b": podium.reports([150, 151, 152] * 20)}
    address = load(tables.rows_of(reports))
    with sql.connect(address) as engine:
        query = sql.estimate_query(questions, engine.dialect, minimum=MINIMUM)
        names, rows = engine.fetch(query.text)
    for row in rows:
        found = dict(zip(names, row, strict=True))
        estimate = dt.estimate(reports[found["question"]])
        expected = (float(estimate.value), *map(float, estimate.interval()))
        assert [found[end] for end in ("value", "low", "high")] == pytest.approx(expected, abs=1e-9)
        assert found["low"] < found["value"] < found["high"]
    assert len(rows) == 2


def test_a_question_that_no_query_estimates_stops_no_other() -> None:
    hour, wide = dt.OGPM(dt.Circle(24), epsilon=1), dt.SW(dt.Interval(1, 9).on_scale("log"), epsilon=1)
    krr = dt.KRR(dt.Categories(["a", "b"]), epsilon=1)
    both = sql.estimate_query({"hour": hour, "of": krr, "wide*/": wide}, "duckdb")
    assert list(both.left_out) == ["hour", "wide*/"]
    assert "--folded" in both.left_out["hour"]
    alone = sql.estimate_query({"of": krr}, "duckdb")
    assert not alone.left_out
    lines = both.text.splitlines()
    assert [line for line in lines if line.startswith("-- Left out")] == [
        "-- Left out: 2, of kinds that no query estimates."
    ]
    assert [line for line in lines if not line.startswith("-- Left out")] == alone.text.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("by", [(), ("day",), ("week",), ("month",), ("label",), ("day", "label")])
def test_every_question_by_every_group(load: Load, by: tuple[str, ...]) -> None:
    rows, reports = stored(tables.QUESTIONS, 900)
    address = load(rows)
    with sql.connect(address, write=True) as engine:
        made = sql.estimate_query(
            tables.QUESTIONS, engine.dialect, by=by, minimum=MINIMUM, codebook="the book"
        )
        if engine.has_table("the book"):
            engine.transaction(['DROP TABLE "the book"'])
        engine.transaction(list(filter(str.strip, made.codebook.script(engine.dialect).split(";\n"))))
        names, found = engine.fetch(made.text)
        engine.transaction(['DROP TABLE "the book"'])
    got = [dict(zip(names, row, strict=True)) for row in found]
    check(got, expected(tables.QUESTIONS, rows, reports, by), by)


@pytest.mark.slow
@pytest.mark.parametrize("by", [(), ("week", "label"), ("month",)])
def test_clickhouse(tmp_path: Path, by: tuple[str, ...]) -> None:
    pytest.importorskip("chdb", reason="ClickHouse (chdb) is not installed")
    from chdb import session

    open_session: Any = session.Session

    rows, reports = stored(tables.QUESTIONS, 900)
    file = tmp_path / "reports.parquet"
    pyarrow.parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    made = sql.estimate_query(
        tables.QUESTIONS,
        "clickhouse",
        sql.ReportTable(("w", "reports")),
        by=by,
        minimum=MINIMUM,
        codebook="w.book",
    )
    with open_session(str(tmp_path / "clickhouse")) as base:
        base.query("CREATE DATABASE w")
        columns = (
            "day Nullable(Date), label Nullable(String), question String, fingerprint String, "
            "batch Nullable(String), place Nullable(Int32), report Nullable(Int64), "
            "report_hex Nullable(String)"
        )
        base.query(f"CREATE TABLE w.reports ({columns}) ENGINE = MergeTree ORDER BY tuple()")
        base.query(f"INSERT INTO w.reports SELECT * FROM file('{file}', Parquet)")
        for statement in filter(str.strip, made.codebook.script("clickhouse").split(";\n")):
            base.query(statement)
        got = [json.loads(line) for line in str(base.query(made.text, "JSONEachRow")).splitlines()]
    wanted = {
        tuple(
            part if part is None or isinstance(part, int | str) else part.isoformat() for part in key
        ): three
        for key, three in expected(tables.QUESTIONS, rows, reports, by).items()
    }
    check(got, wanted, by)


@pytest.mark.some("trino")
@pytest.mark.parametrize("dialect", sorted(sql.DIALECTS))
def test_every_dialect_is_sql(dialect: str) -> None:
    sqlglot = pytest.importorskip("sqlglot")
    few = {name: FEW[name] for name in (tables.HOSTILE, "two cells")}
    made = sql.estimate_query(few, dialect, by=["week", "month", "label"], codebook="book", minimum=MINIMUM)
    spoken = {"postgresql": "postgres"}.get(dialect, dialect)
    (tree,) = sqlglot.parse(made.text, read=spoken)
    assert tables.HOSTILE in {one.this for one in tree.find_all(sqlglot.exp.Literal) if one.is_string}
    script = made.codebook.script(dialect)
    kinds = {type(one).__name__ for one in sqlglot.parse(script, read=spoken) if one is not None}
    assert kinds == {"Create", "Insert"}


def test_counts_without_reports_are_enough(load: Load) -> None:
    questions = {"bits": FEW["bits"], "two cells": FEW["two cells"]}
    rows, reports = stored(questions)
    address = load(rows)
    with sql.connect(address, write=True) as engine:
        for day in sorted({row["day"] for row in rows}):
            engine.fold(questions, day, "counts")
        engine.transaction(["DROP TABLE reports"])
        found = engine.counts(questions, folded="counts")
        for name, mechanism in questions.items():
            assert dt.Counts.from_counts(mechanism, found, name=name) == dt.Counts.of(reports[name])
        made = sql.estimate_query(questions, engine.dialect, by=["day"], folded="counts", minimum=MINIMUM)
        names, some = engine.fetch(made.text)
        check(
            [dict(zip(names, row, strict=True)) for row in some],
            expected(questions, rows, reports, ["day"]),
            ["day"],
        )
        engine.transaction(["DROP TABLE counts"])


def test_refusals_say_what_to_do() -> None:
    krr = dt.KRR(dt.Categories(3), epsilon=1)
    refused: dict[str, Callable[[], object]] = {
        "codebook=": lambda: sql.estimate_query({"a": tables.QUESTIONS["window"]}, "duckdb"),
        "at least 10": lambda: sql.estimate_query({"a": krr}, "duckdb", minimum=9),
        "week": lambda: sql.estimate_query({"a": krr}, "duckdb", by=["weak"]),
        "expected a column for the day": lambda: sql.estimate_query(
            {"a": krr}, "duckdb", sql.ReportTable(day=None), by=["week"]
        ),
        "expected a column for the label": lambda: sql.estimate_query(
            {"a": krr}, "duckdb", sql.ReportTable(label=None), by=["label"]
        ),
        "--folded": lambda: sql.estimate_query({"a": dt.OGPM(dt.Circle(24), epsilon=1)}, "duckdb"),
    }
    for words, call in refused.items():
        with pytest.raises(InvalidParameter, match=words):
            call()
    with pytest.raises(NotIdentifiable, match="likelihood"):
        sql.estimate_query({"a": dt.OGPM(dt.Interval(0, 1), epsilon=1)}, "duckdb")
    assert GROUPS == ("day", "week", "month", "label")
