"""The text of the queries: it is SQL in every dialect, nothing from outside ends a quote, and refusals."""

from __future__ import annotations

import datetime
import hashlib
from dataclasses import replace
from typing import Any

import pytest

import dither as dt
from dither.data import sql
from dither.data.sql.dialects import dialect_named
from dither.data.sql.retention import fold_script
from dither.errors import DitherError, InvalidParameter
from tests.support import report_tables as tables

sqlglot = pytest.importorskip("sqlglot")

SPOKEN = {"postgresql": "postgres"}  # sqlglot's names, where they differ
EVERY = sorted(sql.DIALECTS)
NOT_EXECUTED = ("bigquery", "databricks", "redshift", "snowflake", "trino")


def parsed(text: str, dialect: str) -> list[Any]:
    return [one for one in sqlglot.parse(text, read=SPOKEN.get(dialect, dialect)) if one is not None]


@pytest.mark.some("postgresql", "spark")
@pytest.mark.parametrize("dialect", EVERY)
def test_queries_are_sql(dialect: str) -> None:
    table = sql.ReportTable(("a schema", tables.HOSTILE.replace("\n", " ")))
    for day in (None, tables.MONDAY):
        text = sql.counting_query(tables.QUESTIONS, dialect, table, day=day)
        (tree,) = parsed(text, dialect)
        assert [one.alias_or_name for one in tree.selects] == [
            "day",
            "label",
            "question",
            "fingerprint",
            "measure",
            "cell",
            "total",
        ]
        # What was quoted is read back as it was given: nothing of it became SQL.
        names = {one.this for one in tree.find_all(sqlglot.exp.Literal) if one.is_string}
        assert tables.HOSTILE in names
        assert tables.HOSTILE.replace("\n", " ") in {one.name for one in tree.find_all(sqlglot.exp.Table)}


@pytest.mark.parametrize("dialect", EVERY)
def test_the_head_says_whether_tests_execute_the_query(dialect: str) -> None:
    text = sql.counting_query({"a": dt.KRR(dt.Categories(3), epsilon=1)}, dialect)
    head = [line for line in text.splitlines() if line.startswith("--")]
    assert ("not executed" in head[0]) == (dialect in NOT_EXECUTED)
    assert not any("--" in line for line in text.splitlines()[len(head) :])


@pytest.mark.parametrize("dialect", EVERY)
def test_folding_needs_a_transaction_that_sees_one_moment(dialect: str) -> None:
    asked = {"a": dt.KRR(dt.Categories(3), epsilon=1)}
    arguments = (asked, dialect_named(dialect), sql.ReportTable(), "counts", tables.MONDAY)
    if dialect in ("clickhouse", "databricks", "snowflake", "spark", "trino"):
        with pytest.raises(InvalidParameter, match="--day"):
            fold_script(*arguments)
        return
    script = fold_script(*arguments)
    kinds = [type(one).__name__ for one in parsed(script, dialect)]
    assert kinds == ["Create", "Transaction", "Insert", "Delete", "Commit"]
    assert ("REPEATABLE READ" in script) == (dialect == "postgresql")
    # BigQuery's IN takes a subquery with one column.
    queries = [one.args.get("query") for one in parsed(script, dialect)[3].find_all(sqlglot.exp.In)]
    (within,) = filter(None, queries)
    assert (len(within.this.selects) == 1) == (dialect == "bigquery")


def in_duckdb(text: str, dialect: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the result of a query of another dialect, as sqlglot translates it."""
    duckdb, pyarrow = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
    (translated,) = sqlglot.transpile(text, read=SPOKEN.get(dialect, dialect), write="duckdb")
    with duckdb.connect() as base:
        base.register("reports", pyarrow.Table.from_pylist(rows))
        base.execute("CREATE MACRO bitwise_right_shift(x, bits) AS x >> bits")
        found = base.execute(translated)
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


@pytest.mark.some("trino-hash", "trino-bits", "redshift-hash", "bigquery-indices")
@pytest.mark.parametrize("name", tables.QUESTIONS)
@pytest.mark.parametrize("dialect", ["trino", "redshift", "bigquery", "snowflake"])
def test_databases_that_are_not_here_count_what_their_words_mean(dialect: str, name: str) -> None:
    question = tables.QUESTIONS[name]
    reports = {name: tables.drawn(question, 40, 3)}
    rows = tables.rows_of(reports)
    rows += tables.copies(rows) + tables.refused(rows)
    spoken = dialect_named(dialect)
    words: dict[str, Any] = {
        word: f"({getattr(spoken, word)})" for word in ("conjunction", "shift", "xor")
    }  # sqlglot forgets the parentheses
    counts = in_duckdb(sql.counting_query({name: question}, replace(spoken, **words)), dialect, rows)
    assert dt.Counts.from_counts(question, counts) == dt.Counts.of(reports[name])


@pytest.mark.parametrize("count", [1, 2, 16, 17, 256, 300, 4097])
def test_a_dialect_without_series_lists_the_numbers(count: int) -> None:
    duckdb = pytest.importorskip("duckdb")
    listed = duckdb.sql(f"SELECT item FROM {sql.DIALECTS['trino'].numbers(count)} ORDER BY item").fetchall()
    assert [item for (item,) in listed] == list(range(count))


@pytest.mark.parametrize("name", ["", "a\nb", "a\0b", "x" * 256, "\ud800", 3])
def test_names_that_no_database_takes_are_refused(name: Any) -> None:
    for dialect in sql.DIALECTS.values():
        with pytest.raises(InvalidParameter):
            dialect.identifier(name)


def test_questions_that_cannot_be_distinguished_or_written_are_refused() -> None:
    krr = dt.KRR(dt.Categories(3), epsilon=1)
    with pytest.raises(InvalidParameter, match="zero"):
        sql.counting_query({"a\0b": krr}, "duckdb")
    without = sql.ReportTable().rename({"question": None})
    with pytest.raises(InvalidParameter, match="got the same for two questions"):
        sql.counting_query({"a": krr, "b": krr}, "duckdb", without)
    with pytest.raises(InvalidParameter, match="question, fingerprint"):
        without.rename({"fingerprint": ""})
    with pytest.raises(InvalidParameter, match="report_hex"):
        sql.counting_query(
            {"a": dt.OUE(dt.Categories(3), epsilon=1)}, "duckdb", sql.ReportTable(report_hex=None)
        )
    with pytest.raises(InvalidParameter, match="expected a column for the day"):
        sql.counting_query({"a": krr}, "duckdb", sql.ReportTable(day=None), day=tables.MONDAY)
    with pytest.raises(InvalidParameter, match="retries"):
        sql.counting_query({"a": krr}, "duckdb", day=tables.MONDAY, retries=-1)
    with pytest.raises(InvalidParameter, match="with days and without a column"):
        sql.fold_statements({"a": krr}, sql.DIALECTS["duckdb"], sql.ReportTable(day=None), "c", tables.MONDAY)
    with pytest.raises(InvalidParameter, match="batch"):
        sql.ReportTable().rename({"btach": "x"})
    with pytest.raises(InvalidParameter, match="duckdb"):
        sql.counting_query({"a": krr}, "duckbd")
    with pytest.raises(InvalidParameter, match="texts"):
        sql.ReportTable(("a", ""))


def test_reports_that_a_query_cannot_count_are_refused_with_the_reason() -> None:
    square = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
    refused = {
        "trips": (dt.TraCSC(square, epsilon=1, cells=32), "belong together"),
        "steps": (dt.TraCSD(square, epsilon=1, cells=32), "expected a grid"),
        "tables": (
            dt.Marginals(dt.Profile({"a": dt.Categories(2), "b": dt.Categories(3)}), epsilon=1),
            "belong together",
        ),
        "words": (dt.PEM(dt.Text(4, alphabet="abc"), epsilon=1), "expected reports"),
    }
    for name, (mechanism, reason) in refused.items():
        with pytest.raises(DitherError, match=reason) as caught:
            sql.counting_query({name: mechanism}, "duckdb")
        assert name in str(caught.value)


def test_batches_become_rows_of_the_table() -> None:
    from dither.core.batch import BatchBody

    krr, oue = dt.KRR(dt.Categories(300), epsilon=1), dt.OUE(dt.Categories(12), epsilon=1)
    bits = oue.reports([[3, 8]]).cells[0].tobytes()
    identity = "ab" * 16
    batch = BatchBody.of(
        identity,
        [(krr.fingerprint, b"\x01\x01"), (krr.fingerprint, b"\x01\x01"), (oue.fingerprint, bits)],
        "1.0",
    )
    rows = list(sql.report_rows(batch, {"k": krr, "o": oue}, datetime.date(2026, 11, 2)))
    assert sorted((row["question"], row["place"], row["report"], row["report_hex"]) for row in rows) == [
        ("k", 0, 257, None),
        ("k", 1, 257, None),
        ("o", 0, None, "0308"),
    ]
    digest = hashlib.sha256(bytes.fromhex(identity)).hexdigest()[:32]
    assert {(row["batch"], row["label"], row["day"].isoformat()) for row in rows} == {
        (digest, "1.0", "2026-11-02")
    }
    assert set(rows[0]) == set(tables.COLUMNS)
    with pytest.raises(DitherError, match="none of the questions"):
        list(sql.report_rows(batch, {"k": krr}, tables.MONDAY))
    with pytest.raises(InvalidParameter, match="another one"):
        list(sql.report_rows(batch, {"k": krr, "same": krr}, tables.MONDAY))
