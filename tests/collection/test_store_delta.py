"""Exports to Delta tables: one commit a run, nothing twice, whoever is killed or writes at the same time."""

from __future__ import annotations

import contextlib
import datetime
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dither.collection.store.delta import FORM, NAME, export_to_delta, schema
from dither.collection.store.store import Withdrawal
from dither.core.counts import Counts
from dither.data import sql
from dither.data.sql.delta import table_errors
from dither.errors import DitherError, InvalidParameter
from tests.collection.campaigns import DAY
from tests.collection.conftest import MakeStore
from tests.collection.test_store import CAMPAIGN, NEXT, arrived, expected
from tests.collection.test_store_export import begun
from tests.support.spark import end_session
from tests.support.terminal import run

deltalake = pytest.importorskip("deltalake")
pytest.importorskip("duckdb")
BUCKET = "reports"


def counted(table: str | Path) -> dict[str, Counts]:
    """Return what DuckDB counts in the active files of a table."""
    with sql.connect(Path(table).as_uri() if isinstance(table, Path) else table) as engine:
        return sql.summaries(CAMPAIGN.questions, engine.counts(CAMPAIGN.questions))


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """An object store on this machine, with a bucket; credentials are in the environment."""
    pytest.importorskip("moto.server")
    boto3 = pytest.importorskip("boto3")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # A process of its own: the library holds the interpreter while it sends.
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    host = "127.0.0.1"
    keys = {
        **{"AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ALLOW_HTTP": "true"},
        **{"AWS_ACCESS_KEY_ID": "anybody", "AWS_SECRET_ACCESS_KEY": "a-secret-of-tests"},
        **{"AWS_REGION": "us-east-1", "AWS_CONDITIONAL_PUT": "etag"},
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in keys.items():
            patch.setenv(name, value)
        _wait_for(port)
        boto3.client("s3", endpoint_url=keys["AWS_ENDPOINT_URL"], region_name="us-east-1").create_bucket(
            Bucket=BUCKET
        )
        yield f"s3://{BUCKET}"
    server.kill()
    server.wait()


def _wait_for(port: int) -> None:
    """Wait until a server listens."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise TimeoutError


@pytest.mark.some("sqlite")
def test_a_table_has_what_arrived_and_each_run_adds_one_commit(
    make_store: MakeStore, address: str, tmp_path: Path
) -> None:
    store, table = make_store(), tmp_path / "table"
    batches = begun(store, 40)
    done = run("collector", "export", address, "-o", table, "--table", "delta").output
    assert done == f"40 batches, 220 reports added to {table}\n"
    made = deltalake.DeltaTable(table)
    before = made.version()
    assert made.metadata().partition_columns == ["campaign", "day"]
    assert len(made.file_uris()) == 2  # one for each day
    assert counted(table) == expected(batches)
    batches += (more := [arrived(seed) for seed in range(40, 50)])
    store.append(more)
    assert export_to_delta(address, str(table)).batches == 10
    assert export_to_delta(address, str(table))[:3] == (0, 0, 0)
    assert deltalake.DeltaTable(table).version() == before + 1
    assert counted(table) == expected(batches)
    (table / "campaign=x").mkdir()
    (table / "campaign=x" / "left.parquet").write_bytes((Path(made.file_uris()[0])).read_bytes())
    assert counted(table) == expected(batches)  # a file that no commit names is not counted
    assert any(str(table) in file for file in store.exported_files(CAMPAIGN.id))
    store.close()


@pytest.mark.some("sqlite")
def test_what_was_taken_back_is_rewritten_out(make_store: MakeStore, address: str, tmp_path: Path) -> None:
    store, table = make_store(), str(tmp_path / "table")
    batches = begun(store, 40)
    export_to_delta(address, table, day=NEXT)
    gone = batches[3]
    store.withdraw([Withdrawal(gone.id, CAMPAIGN.id, NEXT)])
    left = [batch for batch in batches if batch.id != gone.id]
    assert export_to_delta(address, table, day=NEXT).withdrawn == 1
    assert counted(Path(table)) == expected(left)  # by its tombstone
    assert gone.id.hex() in held(table)
    done = export_to_delta(address, table, day=NEXT + datetime.timedelta(1))
    assert done.rewritten == sum(counts.n for counts in expected([gone]).values())
    assert held(table).count(gone.id.hex()) == 1  # the tombstone
    assert counted(Path(table)) == expected(left)
    assert export_to_delta(address, table, day=NEXT + datetime.timedelta(1)).rewritten == 0
    store.close()


@pytest.mark.some("sqlite")
def test_small_files_of_a_past_day_are_joined(make_store: MakeStore, address: str, tmp_path: Path) -> None:
    store, table = make_store(), str(tmp_path / "table")
    batches = begun(store, 0)
    for seed in range(6):
        store.append(more := [arrived(seed)])
        batches += more
        export_to_delta(address, table, day=DAY)
    assert len(deltalake.DeltaTable(table).file_uris()) == 6
    export_to_delta(address, table, day=NEXT)
    assert len(deltalake.DeltaTable(table).file_uris()) == 1
    assert counted(Path(table)) == expected(batches)
    store.close()


def held(table: str) -> list[str]:
    found = deltalake.DeltaTable(table).to_pyarrow_dataset().to_table(["batch"])["batch"].to_pylist()
    return [str(batch) for batch in found]


@pytest.mark.some("bucket")
@pytest.mark.parametrize("place", ["folder", "bucket"])
def test_several_exports_at_once_add_each_batch_once(
    place: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four exports of one store, and one of another, that all read before anybody commits."""
    from dither.collection.store import delta
    from dither.collection.store.opening import open_store

    table = str(tmp_path / "table") if place == "folder" else f"{request.getfixturevalue('bucket')}/at-once"
    batches = []
    for number, seeds in enumerate((range(30), range(30, 60))):
        store = open_store(str(tmp_path / f"{number}.sqlite"))
        begun(store, 0)
        batches += (more := [arrived(seed) for seed in seeds])
        store.append(more)
        store.close()
    delta._open_or_create(table)
    barrier, commit = threading.Barrier(5, timeout=60), delta._commit
    first = threading.local()

    def waits(*given: Any) -> bool:
        if not getattr(first, "done", False):
            first.done = True
            barrier.wait()
        return commit(*given)

    monkeypatch.setattr(delta, "_commit", waits)
    told: list[Any] = []

    def export(number: int) -> None:
        try:
            told.append(export_to_delta(str(tmp_path / f"{number}.sqlite"), table))
        except BaseException as error:
            told.append(error)

    threads = [threading.Thread(target=export, args=(number,)) for number in (0, 0, 0, 0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done.batches for done in told) == [0, 0, 0, 30, 30], told
    assert counted(Path(table) if place == "folder" else table) == expected(batches)
    assert len(held(table)) == sum(counts.n for counts in expected(batches).values())


KILLED = """
import os, sys
from dither.collection.store import delta
commit = delta._commit
def killed(*given):
    if sys.argv[3] == "before":
        list(given[2])
        os.kill(os.getpid(), 9)
    commit(*given)
    os.kill(os.getpid(), 9)
delta._commit = killed
delta.export_to_delta(sys.argv[1], sys.argv[2])
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "after"])
def test_an_export_that_is_killed_adds_nothing_twice(moment: str, tmp_path: Path) -> None:
    from dither.collection.store.opening import open_store

    place, table = str(tmp_path / "store.sqlite"), str(tmp_path / "table")
    store = open_store(place)
    batches = begun(store, 20)
    done = subprocess.run([sys.executable, "-c", KILLED, place, table, moment], check=False)
    assert done.returncode == -9
    batches += (more := [arrived(seed) for seed in range(20, 30)])
    store.append(more)
    assert export_to_delta(place, table).batches == (30 if moment == "before" else 10)
    assert counted(Path(table)) == expected(batches)
    store.close()


def test_a_folder_holds_a_table_or_plain_files_and_a_wrong_store_leaves_nothing(tmp_path: Path) -> None:
    from dither.collection.store.export import export_reports
    from dither.collection.store.opening import open_store

    place, plain, table = (str(tmp_path / name) for name in ("store.sqlite", "plain", "table"))
    store = open_store(place)
    begun(store, 4)
    export_reports(place, Path(plain))
    export_to_delta(place, table)
    (tmp_path / "file").touch()
    for target, words in (
        (plain, "with plain exports"),
        (str(tmp_path / "file"), "got the file"),
        (str(tmp_path / "file" / "below"), "got the file"),
    ):
        with pytest.raises(InvalidParameter, match=words):
            export_to_delta(place, target)
    with pytest.raises(InvalidParameter, match="with a Delta table"):
        export_reports(place, Path(table))
    with pytest.raises(DitherError, match="not found"):
        export_to_delta(str(tmp_path / "missing.sqlite"), str(tmp_path / "never"))
    assert not (tmp_path / "never").exists()
    store.close()


def test_a_folder_that_is_a_table_is_read_by_its_log(tmp_path: Path) -> None:
    """All Parquet files of the folder were read, those that the log has removed among them."""
    place, table = str(tmp_path / "store.sqlite"), tmp_path / "table"
    wanted = _taken_back(place, str(table))
    assert export_to_delta(place, str(table), day=NEXT).rewritten
    unique = sql.ReportTable(batch=None)
    with sql.connect(f"duckdb://{table}") as engine, sql.connect(table.as_uri()) as by_address:
        assert sql.summaries(CAMPAIGN.questions, engine.counts(CAMPAIGN.questions)) == wanted
        parts = [each.counts(CAMPAIGN.questions, unique) for each in (engine, by_address)]
    one, other = (
        sorted(map(str, zip(*(part[name] for name in sorted(part)), strict=True))) for part in parts
    )
    assert one == other  # an engine returns rows in any order
    assert parts[0].keys() == parts[1].keys()
    told = run("estimate", str(table))
    assert told.exit_code == 2
    assert "is a Delta table; its address is duckdb://" in told.output


def test_what_is_wrong_is_said_in_a_sentence(
    tmp_path: Path, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dither.collection.store.opening import open_store

    place = str(tmp_path / "store.sqlite")
    store = open_store(place)
    batches = begun(store, 4)
    foreign = str(tmp_path / "foreign")
    deltalake.DeltaTable.create(foreign, schema(), name="theirs")
    later = str(tmp_path / "later")
    deltalake.DeltaTable.create(later, schema(), name=NAME, description=f"{FORM}0")
    for table, words in (
        (foreign, "that dither did not make"),
        (later, "of another version of dither"),
        ("s3://nowhere-at-all/x", "unknown bucket"),
        ("s3://user:word@bucket/x", "credentials come from the environment"),
    ):
        with pytest.raises(InvalidParameter, match=words) as refusal:
            export_to_delta(place, table)
        assert "word@" not in str(refusal.value)
    half = tmp_path / "half"
    export_to_delta(place, str(half))
    (half / "_delta_log" / ".00000000000000000009.json.tmp").write_text("{")  # of a writer that was killed
    assert export_to_delta(place, str(half)).batches == 0
    assert counted(half) == expected(batches)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another-secret")
    told = run("collector", "export", place, "-o", "s3://reports/x")
    assert told.exit_code == 2
    assert "another-secret" not in told.output
    with pytest.raises(InvalidParameter, match="cannot find a Delta table"):
        sql.connect(tmp_path.as_uri())
    store.close()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("http://127.0.0.1:40311/nowhere: NoSuchBucket", "unknown bucket"),
        ("http://127.0.0.1:9000/x: 403 Forbidden, request 1404", "no permission"),
        ("status: 404", "unknown bucket"),
        ("HTTP error, builder error, URL scheme is not allowed", "its address begins with http://"),
        ("request 94017 of tcp connect error", "the object store does not answer"),
    ],
)
def test_a_number_of_a_port_is_not_taken_for_a_status(words: str, sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=f"the table s3://x/y: {sentence}"), table_errors("s3://x/y"):
        raise OSError(words)


def test_a_machine_whose_clock_is_wrong_adds_reports_and_removes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To a clock that is two days ahead, the files that another export just wrote would be old."""
    from dither.collection.store.opening import open_store

    place, table = str(tmp_path / "store.sqlite"), tmp_path / "table"
    store = open_store(place)
    batches = begun(store, 4)
    export_to_delta(place, str(table), day=DAY)
    unfinished = table / "part-of-another-export.parquet"
    unfinished.write_bytes(b"PAR1")
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 2 * 86_400)
    done = export_to_delta(place, str(table), day=NEXT)
    assert done.clock == pytest.approx(2 * 86_400, abs=5)
    told = run("collector", "export", place, "-o", str(table), "--table", "delta")
    assert told.exit_code == 0
    assert "set the clock" in told.output + told.stderr
    assert unfinished.exists()
    monkeypatch.undo()
    assert export_to_delta(place, str(table), day=NEXT).clock == 0
    assert counted(table) == expected(batches)
    store.close()


def test_a_commit_that_cannot_be_read_is_said_in_a_sentence(tmp_path: Path) -> None:
    from dither.collection.store.opening import open_store

    place, table = str(tmp_path / "store.sqlite"), tmp_path / "table"
    store = open_store(place)
    batches = begun(store, 4)
    export_to_delta(place, str(table), day=DAY)
    last = max((table / "_delta_log").glob("*.json"))
    whole = last.read_bytes()
    last.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InvalidParameter, match="cannot be read or written"):
        export_to_delta(place, str(table), day=NEXT)
    last.write_bytes(whole)
    assert export_to_delta(place, str(table), day=NEXT).batches == 0
    assert counted(table) == expected(batches)
    store.close()


def test_a_store_that_was_restored_is_counted_once(tmp_path: Path) -> None:
    from dither.collection.store.backup import backup, restore
    from dither.collection.store.opening import open_store

    place, table = tmp_path / "store.sqlite", tmp_path / "table"
    store = open_store(str(place))
    batches = begun(store, 4)
    backup(str(place), tmp_path / "copy")
    export_to_delta(str(place), str(table))
    store.close()
    place.unlink()
    restore(tmp_path / "copy", str(place))
    assert export_to_delta(str(place), str(table)).batches == 4  # its ticks begin anew, so all is added
    assert counted(table) == expected(batches)  # copies are recognised by their digests


def _taken_back(place: str, table: str) -> dict[str, Counts]:
    """Export, take some batches back, export again, and return what is left; files of both are active."""
    from dither.collection.store.opening import open_store

    store = open_store(place)
    batches = begun(store, 40)
    export_to_delta(place, table, day=DAY)  # the day is done: nothing is rewritten below
    store.withdraw([Withdrawal(batch.id, CAMPAIGN.id, DAY) for batch in batches[:7]])
    export_to_delta(place, table, day=DAY)
    store.close()
    return expected(batches[7:])


@pytest.mark.slow
def test_clickhouse_counts_the_table_and_leaves_out_what_was_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # it reads files of this folder alone
    session = pytest.importorskip("chdb.session", reason="ClickHouse (chdb) is not installed")
    wanted = _taken_back(str(tmp_path / "store.sqlite"), str(tmp_path / "table"))
    query = sql.counting_query(
        CAMPAIGN.questions, "clickhouse", sql.ReportTable((tmp_path / "table").as_uri())
    )
    assert "deltaLakeLocal(" in query
    with session.Session(str(tmp_path / "clickhouse")) as base:
        counts = [json.loads(line) for line in str(base.query(query, "JSONEachRow")).splitlines()]
    for name, question in CAMPAIGN.questions.items():
        assert Counts.from_counts(question, counts, name=name) == wanted[name]


@pytest.mark.slow
def test_spark_counts_the_active_files_and_leaves_out_what_was_taken_back(tmp_path: Path) -> None:
    spark = pytest.importorskip("pyspark.sql", reason="Spark is not installed")
    wanted = _taken_back(str(tmp_path / "store.sqlite"), str(tmp_path / "table"))
    files = deltalake.DeltaTable(str(tmp_path / "table")).file_uris()
    session = spark.SparkSession.builder.master("local[1]").getOrCreate()
    try:
        read = session.read.option("basePath", str(tmp_path / "table")).parquet(*files)
        read.createOrReplaceTempView("reports")
        query = sql.counting_query(CAMPAIGN.questions, "spark")
        counts = [row.asDict() for row in session.sql(query.rstrip().rstrip(";")).collect()]
    finally:
        end_session(session)
    for name, question in CAMPAIGN.questions.items():
        assert Counts.from_counts(question, counts, name=name) == wanted[name]


def test_a_query_reads_a_table_by_its_address(tmp_path: Path) -> None:
    file = tmp_path / "question.json"
    file.write_text(CAMPAIGN.questions["browser"].to_json(), encoding="utf-8")
    for dialect, words in (
        ("duckdb", "FROM delta_scan('s3://bucket.a/reports') AS s"),
        ("spark", "FROM delta.`s3://bucket.a/reports` AS s"),
        ("clickhouse", "FROM deltaLake('s3://bucket.a/reports') AS s"),
        ("postgresql", "a table that PostgreSQL can read, got an address s3://"),
    ):
        given = ("--column", "browser", "--table", "s3://bucket.a/reports", "--dialect", dialect)
        shown = run("sql", str(file), *given)
        assert words in shown.output, shown.output
        assert shown.exit_code == (2 if dialect == "postgresql" else 0)
    given = ("--fold", "counts", "--day", "2026-05-04", "--dialect", "duckdb")
    folded = run("sql", str(file), "--column", "browser", "--table", "s3://bucket/reports", *given)
    assert folded.exit_code == 2
    assert "other than a Delta table" in folded.output


@pytest.mark.slow
def test_other_engines_count_the_active_files(tmp_path: Path) -> None:
    import duckdb
    import polars

    from dither.collection.store.opening import open_store

    place, table = str(tmp_path / "store.sqlite"), str(tmp_path / "table")
    store = open_store(place)
    batches = begun(store, 40)
    export_to_delta(place, table)
    store.close()
    wanted = expected(batches)["browser"].counts.tolist()
    files = deltalake.DeltaTable(table).file_uris()
    read = duckdb.sql(
        "SELECT report, count(*) FROM read_parquet(?) WHERE question = 'browser' GROUP BY ALL", params=[files]
    ).fetchall()
    frame = polars.scan_parquet(files, hive_partitioning=False).filter(polars.col("question") == "browser")
    grouped = frame.group_by("report").len().collect().rows()
    for found in (dict(read), dict(grouped)):
        assert [found.get(cell, 0) for cell in range(4)] == wanted
