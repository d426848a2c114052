"""What a report costs from a store to a Delta table and back as a count: `python -m tools.benchmarks.scale`.

Processor time of this process, its threads included, wall time, and bytes on the disk. `BATCHES=2e4
REPORTS=100 DAYS=4` are the batches, the reports of each, and the days. A batch has reports of one question,
as gateways send them. `FOLDER` is where the files are while it runs.
"""

from __future__ import annotations

import datetime
import os
import platform
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import deltalake
import duckdb
import numpy as np

import dither as dt
from dither.collection.campaign import Campaign
from dither.collection.live import Slot
from dither.collection.published import Published
from dither.collection.secrets import make_key
from dither.collection.store.delta import export_to_delta
from dither.collection.store.export import export_reports
from dither.collection.store.sqlite import SqliteStore
from dither.collection.store.store import Arrived
from dither.data import sql

BATCHES: Final = int(float(os.environ.get("BATCHES", "2e4")))
REPORTS: Final = int(float(os.environ.get("REPORTS", "100")))
DAYS: Final = int(os.environ.get("DAYS", "4"))
FIRST: Final = datetime.date(2026, 11, 2)


def spent(run: Callable[[], object]) -> tuple[float, float]:
    """Return the processor seconds and the wall seconds of a call."""
    began, begun = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    run()
    wall, ended = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_SELF)
    return ended.ru_utime - began.ru_utime + ended.ru_stime - began.ru_stime, wall


def stored(place: Path, campaign: Campaign, published: Published) -> None:
    """Fill a store with batches of several days."""
    random, store = np.random.default_rng(1), SqliteStore(place, synchronous="OFF")
    store.publish(published)
    for begin in range(0, BATCHES, 1000):
        day = FIRST + datetime.timedelta(begin * DAYS // BATCHES)
        slot = Slot(campaign.id, "minutes", day, "")
        size = campaign.questions["minutes"].report_bytes * REPORTS
        count = min(1000, BATCHES - begin)
        store.append([Arrived(random.bytes(16), ((slot, random.bytes(size)),)) for _ in range(count)])
    store.close()


def bytes_of(folder: Path) -> int:
    """Return the bytes of the Parquet files of a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*.parquet"))


def rows(folder: Path) -> Iterator[tuple[str, float, str, float]]:
    """Yield steps, each with its number, the unit, and the wall seconds that the step took."""
    questions = {"minutes": dt.Podium(dt.Interval(0, 180), epsilon=1)}
    campaign = Campaign(
        **{"name": "scale", "version": 1, "asker": "city.example", "contact": "data@city.example"},
        **{"purpose": "A benchmark.", "begins": FIRST, "ends": FIRST + datetime.timedelta(30)},
        **{"people": 100, "questions": questions, "reports_a_batch": REPORTS},
    )
    published = Published.sign(campaign, make_key(folder / "asker.key"))
    place, table, plain = folder / "store.sqlite", folder / "table", folder / "plain"
    _, wall = spent(lambda: stored(place, campaign, published))
    n = BATCHES * REPORTS
    yield "the store (SQLite)", place.stat().st_size / BATCHES, "bytes a batch", wall
    seconds, wall = spent(lambda: export_to_delta(str(place), str(table), day=FIRST))
    yield "export to a Delta table", n / seconds / 1e6, "10⁶ reports a processor second", wall
    yield "the Delta table", bytes_of(table) / n, "bytes a report", 0
    files = deltalake.DeltaTable(str(table)).file_uris()
    query = "SELECT day, report, count(*) AS n FROM read_parquet(?, hive_partitioning = true) GROUP BY ALL"
    found: list[int] = []

    def count() -> None:
        found.append(sum(row[2] for row in duckdb.sql(query, params=[files]).fetchall()))

    seconds, wall = spent(count)
    assert found == [n]
    yield (
        "count the active files by DuckDB itself, by day",
        seconds / n * 1e9,
        "processor s for 10⁹",
        wall,
    )
    for name, report_table in (("`--unique`", sql.ReportTable(batch=None)), ("batches compared", None)):
        with sql.connect(table.as_uri()) as engine:
            seconds, wall = spent(lambda: engine.counts(questions, report_table))  # noqa: B023
            step = f"`dither estimate` of the table, {name}"
            yield step, seconds / n * 1e9, "processor s for 10⁹", wall
    seconds, wall = spent(lambda: export_reports(str(place), plain))
    yield "export to plain Parquet", n / seconds / 1e6, "10⁶ reports a processor second", wall


def main() -> None:
    """Print a table in Markdown."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("FOLDER")) as folder:
        began = time.strftime("%Y-%m-%d")
        print(
            f"{BATCHES} batches of {REPORTS} reports, {DAYS} days, {os.cpu_count()} cores with a load of ",
            end="",
        )
        print(f"{os.getloadavg()[0]:.1f}, Python {platform.python_version()}, {began}\n")
        print("| step | measured | unit | wall s |\n|---|---|---|---|")
        for step, number, unit, wall in rows(Path(folder)):
            print(f"| {step} | {number:.3g} | {unit} | {wall:.1f} |", flush=True)


if __name__ == "__main__":
    main()
