"""Counts made in databases are the counts that `Counts` makes of the same reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

import dither as dt
from dither.core.count_tables import read_counts
from dither.data import sql
from dither.errors import InvalidParameter
from tests.support import report_tables as tables

duckdb, pyarrow = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")

CREATE = (
    "CREATE TABLE reports (day DATE, label TEXT, question TEXT, fingerprint TEXT, batch TEXT, place INTEGER, "
    "report BIGINT, report_hex TEXT)"
)
Load = Callable[[list[dict[str, Any]]], str]


@pytest.fixture(params=["duckdb", "postgresql"])
def load(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Load]:
    """Store rows as a new table `reports`, and return the address of the database."""
    if request.param == "duckdb":
        path = tmp_path / "reports.db"

        def store(rows: list[dict[str, Any]]) -> str:
            with duckdb.connect(str(path)) as connection:
                connection.execute(CREATE)
                if rows:
                    connection.register("loaded", pyarrow.Table.from_pylist(rows))
                    connection.execute("INSERT INTO reports BY NAME SELECT * FROM loaded")
            return f"duckdb://{path}"

        yield store
        return
    address = request.getfixturevalue("postgresql")
    import psycopg

    def copy(rows: list[dict[str, Any]]) -> str:
        with psycopg.connect(address) as connection, connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS reports, counts")
            cursor.execute(CREATE)
            with cursor.copy("COPY reports FROM STDIN") as stream:
                for row in tables.values(rows):
                    stream.write_row(row)
        return str(address)

    yield copy


def test_every_kind_of_report_is_counted_as_summaries_count_it(load: Load) -> None:
    reports = {
        name: tables.drawn(one, 300, seed) for seed, (name, one) in enumerate(tables.QUESTIONS.items())
    }
    rows = tables.rows_of(reports)
    address = load(rows + tables.copies(rows) + tables.refused(rows))
    with sql.connect(address) as engine:
        counts = engine.counts(tables.QUESTIONS)
    for name, mechanism in tables.QUESTIONS.items():
        assert dt.Counts.from_counts(mechanism, counts) == dt.Counts.of(reports[name]), name
        totals = read_counts(mechanism, counts, name)
        assert (totals.malformed, totals.other) == (tables.MALFORMED, tables.OTHER), name
    assert sql.summaries(tables.QUESTIONS, counts).keys() == tables.QUESTIONS.keys()


def test_hash_functions_of_extreme_seeds(load: Load) -> None:
    """Seeds at both ends: an engine raises an error where a product would overflow."""
    olh = dt.OLH(dt.Categories(40), epsilon=2)
    seeds = [0, 1, (1 << 47) - 1, (1 << 47) - 2, 1 << 46, (1 << 32) - 1, 1 << 32, (1 << 16) - 1]
    told = [
        (seed, seed % olh.question.kernel.window.cells) for seed in [*seeds, *range(1 << 40, (1 << 40) + 200)]
    ]
    reports = olh.reports([seed << 16 | bucket for seed, bucket in told])
    address = load(tables.rows_of({"hash": reports}))
    with sql.connect(address) as engine:
        counts = engine.counts({"hash": olh})
    held = [
        sum(olh.question.kernel.hashing.bucket_one(seed, x) == bucket for seed, bucket in told)
        for x in range(40)
    ]
    assert dt.Counts.from_counts(olh, counts).counts.tolist() == held


def test_by_day_and_label_the_parts_add_up(load: Load) -> None:
    questions = {"window": tables.QUESTIONS["window"], "bits": tables.QUESTIONS["bits"]}
    reports = {name: tables.drawn(one, 300, 5) for name, one in questions.items()}
    rows = tables.rows_of(reports)
    address = load(rows + tables.copies(rows))
    with sql.connect(address) as engine:
        whole = engine.counts(questions)
        days = sorted({row["day"] for row in rows})
        single = [engine.counts(questions, day=day) for day in days]
        for retries in (1, 30):  # the copies came one day later
            texts = [sql.counting_query(questions, engine.dialect, day=day, retries=retries) for day in days]
            for found, text in zip(single, texts, strict=True):
                near = engine.rows(text)
                assert sorted(zip(*near.values(), strict=True), key=str) == sorted(
                    zip(*found.values(), strict=True), key=str
                )
    for name, mechanism in questions.items():
        for day, part in zip(days, single, strict=True):
            mine = [place for place, row in enumerate(rows) if row["day"] == day and row["question"] == name]
            first = next(place for place, row in enumerate(rows) if row["question"] == name)
            expected = dt.Counts.of(reports[name][[place - first for place in mine]])
            assert dt.Counts.from_counts(mechanism, part) == expected
        parts = [dt.Counts.from_counts(mechanism, part) for part in single]
        assert sum(parts[1:], parts[0]) == dt.Counts.from_counts(mechanism, whole)
    assert set(whole["label"]) == set(tables.LABELS)


def test_folded_days_leave_every_estimate_as_it_was(load: Load) -> None:
    questions = {"window": tables.QUESTIONS["window"], "hash": tables.QUESTIONS["hash"]}
    other = {"krr": tables.QUESTIONS[tables.HOSTILE]}
    reports = {name: tables.drawn(one, 300, 6) for name, one in {**questions, **other}.items()}
    rows = tables.rows_of(reports)
    address = load(rows + tables.copies(rows) + tables.refused(rows))
    days = sorted({row["day"] for row in rows})
    with sql.connect(address, write=True) as engine:
        before = engine.counts(questions)
        for number, day in enumerate(days):
            engine.fold(questions, day, "counts")
            after = engine.counts(questions, folded="counts")
            for name, mechanism in questions.items():
                assert read_counts(mechanism, after, name).n == 300
                assert dt.Counts.from_counts(mechanism, after) == dt.Counts.of(reports[name]), number
                assert read_counts(mechanism, after, name)[2:] == read_counts(mechanism, before, name)[2:]
        left = engine.counts({**questions, **other})
        assert set(left["question"]) == {"krr"}  # of the questions that were folded no report is kept
        # a report that comes late is counted, and folded again
        late = tables.drawn(questions["window"], 2, 7)
        for number, cell in enumerate(late.cells):
            one = tables.row_of("window", questions["window"], cell, 10**6 + number, day=days[0], label="eu")
            texts = ["NULL" if value is None else f"'{value}'" for value in tables.values([one])[0]]
            engine.transaction([f"INSERT INTO reports VALUES ({', '.join(texts)})"])
        expected = dt.Counts.of(reports["window"]) + dt.Counts.of(late)
        for _ in range(2):  # once more changes nothing
            engine.fold(questions, days[0], "counts")
            again = engine.counts(questions, folded="counts")
            assert dt.Counts.from_counts(questions["window"], again) == expected


def test_a_fold_that_fails_changes_nothing(load: Load) -> None:
    questions = {"window": tables.QUESTIONS["window"]}
    reports = {"window": tables.drawn(questions["window"], 20, 8)}
    address = load(tables.rows_of(reports))
    with sql.connect(address, write=True) as engine:
        steps = sql.fold_statements(questions, engine.dialect, sql.ReportTable(), "counts", tables.MONDAY)
        engine.transaction(steps[:1])
        with pytest.raises(InvalidParameter, match=engine.dialect.title):
            engine.transaction([*steps[1:], "SELECT 1 FROM there_is_no_such_table"])
        found = engine.counts(questions, folded="counts")
        assert dt.Counts.from_counts(questions["window"], found) == dt.Counts.of(reports["window"])


def test_estimating_does_not_write(load: Load) -> None:
    address = load([])
    with sql.connect(address) as engine, pytest.raises(InvalidParameter, match=r"read.only"):
        engine.transaction(["CREATE TABLE mine (x INTEGER)"])


def test_unique_reports_in_parquet_files(tmp_path: Path) -> None:
    from pyarrow import parquet

    krr = dt.KRR(dt.Categories(7), epsilon=1)
    total = []
    for number in range(3):
        reports = krr.perturb([1, 2, 3] * 10, source=dt.Seeded(number))
        total.append(dt.Counts.of(reports))
        columns = {"answer": reports.cells, "print": [krr.fingerprint] * 30}
        parquet.write_table(pyarrow.table(columns), tmp_path / f"day'{number}.parquet")
    table = sql.ReportTable().rename(
        {"report": "answer", "fingerprint": "print", "batch": "", "day": "", "label": "", "question": ""}
    )
    with sql.connect(f"duckdb://{tmp_path}/day'*.parquet", table) as engine:
        counts = engine.counts({"answer": krr}, table)
    assert dt.Counts.from_counts(krr, counts) == sum(total[1:], total[0])


def test_wide_tables_of_every_kind_of_report(load: Load, tmp_path: Path) -> None:
    """What `dither perturb` writes: a row for each person, a column for each question; some do not answer."""
    address = load([])
    path = tables.wide_file(tmp_path / "wide.parquet")
    if address.startswith("duckdb"):
        address = f"duckdb://{path}"
    else:
        import psycopg
        from pyarrow import parquet

        wide = parquet.read_table(path)
        types = [tables.column_type(field.type) for field in wide.schema]
        quoted = [sql.DIALECTS["postgresql"].identifier(name) for name in wide.column_names]
        with psycopg.connect(address) as connection, connection.cursor() as cursor:
            cursor.execute("DROP TABLE reports")
            listed = ", ".join(f"{name} {kind}" for name, kind in zip(quoted, types, strict=True))
            cursor.execute(f"CREATE TABLE reports ({listed})")
            with cursor.copy("COPY reports FROM STDIN") as stream:
                for row in wide.to_pylist():
                    stream.write_row([row[name] for name in wide.column_names])
    table = sql.ReportTable.of_columns(day="on", label="city")
    with sql.connect(address, table) as engine:
        counts = engine.counts(tables.WIDE, table)
        later = engine.counts(tables.WIDE, table, since=tables.MONDAY + timedelta(days=1))
    known = dt.data.summarise_file(path)
    for name, mechanism in tables.WIDE.items():
        found = dt.Counts.from_counts(mechanism, counts)
        assert found == known[name], name
        assert 0 < dt.Counts.from_counts(mechanism, later).n < found.n
    assert set(counts["label"]) == {"Rome", "Paris"}
    with pytest.raises(InvalidParameter, match="without a column per question"):
        sql.fold_statements(tables.WIDE, sql.DIALECTS["duckdb"], table, "counts", tables.MONDAY)
    with pytest.raises(InvalidParameter, match="column for each question"):
        table.rename({"batch": "batch"})


def test_since_counts_what_was_first_seen_then_or_later(load: Load) -> None:
    questions = {"window": tables.QUESTIONS["window"], "bits": tables.QUESTIONS["bits"]}
    reports = {name: tables.drawn(one, 120, 5) for name, one in questions.items()}
    rows = tables.rows_of(reports)
    days = sorted({row["day"] for row in rows})
    with sql.connect(load(rows + tables.copies(rows))) as engine:
        for since in days:
            for retries in (None, 1):
                text = sql.counting_query(questions, engine.dialect, since=since, retries=retries)
                found = engine.rows(text)
                single = [engine.counts(questions, day=day) for day in days if day >= since]
                for mechanism in questions.values():
                    parts = [dt.Counts.from_counts(mechanism, part) for part in single]
                    assert dt.Counts.from_counts(mechanism, found) == sum(parts[1:], parts[0])
    with pytest.raises(InvalidParameter, match="got both"):
        sql.counting_query(questions, "duckdb", since=days[0], day=days[0])


def test_errors_say_what_is_wrong_and_no_password(load: Load, tmp_path: Path) -> None:
    questions = {"window": tables.QUESTIONS["window"]}
    address = load([])
    with sql.connect(address) as engine, pytest.raises(InvalidParameter, match="elsewhere"):
        engine.counts(questions, sql.ReportTable("elsewhere"))
    with pytest.raises(InvalidParameter, match="cannot find the DuckDB file"):
        sql.connect(f"duckdb://{tmp_path}/none.db")
    with pytest.raises(InvalidParameter, match="duckdb"):
        sql.connect("duckbd://reports.db")
    with pytest.raises(InvalidParameter, match="PostgreSQL") as caught:
        sql.connect("postgresql://me:opensesame@127.0.0.1:1/none?connect_timeout=1")
    assert "opensesame" not in str(caught.value)


@pytest.mark.slow
def test_removing_duplicates_of_a_day_spills_to_disk(tmp_path: Path) -> None:
    """A day that does not fit into memory is counted with files on disk, with the same counts."""
    question = dt.Podium(dt.Interval(0, 180), epsilon=1)
    rows, people = 200_000, 180_000  # every tenth report arrived twice
    with duckdb.connect(str(tmp_path / "reports.db")) as base:
        base.execute(
            f"""CREATE TABLE reports AS SELECT DATE '2026-11-02' AS day, 'eu' AS label,
            'minutes' AS question, '{question.fingerprint}' AS fingerprint,
            CAST(hash(i % {people}) AS VARCHAR) AS batch, 0 AS place,
            CAST(hash(i % {people}, 2) % 65536 AS BIGINT) AS report FROM range({rows}) AS t (i)"""
        )
    query = sql.counting_query({"minutes": question}, "duckdb", day=date(2026, 11, 2), retries=0)
    profile = tmp_path / "profile.json"
    counts, spilled = [], []
    for limit in ("1GB", "20MB"):
        with duckdb.connect(str(tmp_path / "reports.db"), read_only=True) as base:
            settings = {"threads": "2", "memory_limit": limit, "temp_directory": str(tmp_path / "spilled")}
            settings |= {"enable_profiling": "json", "profiling_output": str(profile)}
            for name, value in settings.items():
                base.execute(f"SET {name} = '{value}'")
            counts.append(dt.Counts.from_counts(question, base.sql(query).to_arrow_table()))
        said = json.loads(profile.read_text()).get("system", {})
        if "peak_temp_dir_size" not in said:
            pytest.skip("this version of DuckDB does not say how much it spilled")
        spilled.append(said["peak_temp_dir_size"])
    assert counts[0] == counts[1]
    assert counts[0].n == people
    assert spilled[0] == 0
    assert spilled[1] > 1_000_000
