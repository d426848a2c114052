"""Backups of stores: written while collectors write, read into a new store, and made before a migration."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dither.collection.store.opening import is_postgresql, open_store
from dither.collection.store.sqlite import (
    SCHEMA,
    TICK,
    check_file,
    define_digest,
    file_version,
    lock_store,
    migration_script,
)
from dither.collection.store.store import HOLDS, StoreUnusable
from dither.collection.store.versions import MIGRATIONS, present_version
from dither.core.batch import identity_digest
from dither.foundation.atomic import refuse_to_overwrite, rename_after

if TYPE_CHECKING:
    from dither.collection.store.postgresql import PostgresqlStore


_ROWS: Final = 1 << 14
_TABLES: Final = {  # tables and columns that both kinds of stores have
    "campaigns": ("id", "name", "version", "document"),
    "slots": ("number", "campaign", "question", "day", "label", "n", "counts", "shown"),
    "reports": ("id", "part", "slot", "data"),  # `id` contains the tick: the public counts depend on it
    "refused": ("campaign", "day", "reason", "count"),
    "exports": ("file", "campaign", "day"),
    "withdrawn": ("id", "day", "tick"),
}
_SINCE: Final = {"exports": 3, "withdrawn": 4}  # first version with this table, if not the first of all
_DIGESTS: Final = 4  # first version with digests of identities, and slots with a tick


def _tables(version: int) -> dict[str, tuple[str, ...]]:
    """Return the tables of a version, with their columns."""
    found = {name: columns for name, columns in _TABLES.items() if _SINCE.get(name, 0) <= version}
    if version >= _DIGESTS:
        found["slots"] = (*found["slots"], "tick")
    return found


def backup(address: str, out: Path, *, force: bool = False) -> int:
    """Write a copy of a store to a file, even while collectors write; return its number of batches."""
    refuse_to_overwrite(out, force=force)
    with rename_after(out) as part:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with closing(sqlite3.connect(part, isolation_level=None)) as target:
            define_digest(target)
            if is_postgresql(address):
                _from_postgresql(address, target)
            else:
                with open_file(Path(address)) as source:
                    source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")  # one file, without companions
            return _batches(target)


def restore(file: Path, address: str) -> int:
    """Make a store from a backup; return the number of batches.

    The store must not exist, or must be empty.
    """
    with open_file(file) as source:
        try:
            found = source.execute("PRAGMA integrity_check").fetchone()[0]
        except sqlite3.DatabaseError as error:
            found = str(error)
        if found != "ok":
            raise StoreUnusable(f"{file} is damaged: {found}")
        if is_postgresql(address):
            _to_postgresql(source, address)
        else:
            path = Path(address)
            refuse_to_overwrite(path)
            with closing(lock_store(path)), rename_after(path) as part:
                os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
                with closing(sqlite3.connect(part, isolation_level=None)) as target:
                    source.backup(target)
                    if file_version(target) >= _SINCE["exports"]:
                        target.execute("DELETE FROM notes")  # exports begin again after a loss
        return _batches(source)


def migrate(address: str, out: Path, *, force: bool = False) -> int:
    """Write a backup of a store, then migrate the store to the present version; return that version.

    Collectors of the release before may run on a PostgreSQL store meanwhile. A SQLite file is also migrated
    when it is opened; the backup is then written next to it.
    """
    backup(address, out, force=force)
    if is_postgresql(address):
        with closing(_store(address)) as store:
            return store.migrate()
    open_store(address).close()
    return present_version()


@contextmanager
def open_file(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store's file read-only."""
    if not path.is_file():
        raise StoreUnusable(f"file not found: {path}")
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as source:
        try:
            check_file(source, path)
        except sqlite3.DatabaseError as error:
            raise StoreUnusable(f"{path} is not a collector's store: {error}") from None
        yield source


def _batches(sql: sqlite3.Connection) -> int:
    query = f"SELECT count(*) FROM reports JOIN slots ON slots.number = slot WHERE part = 0 AND {HOLDS}"
    return int(sql.execute(query).fetchone()[0])


def _store(address: str) -> PostgresqlStore:
    from dither.collection.store.postgresql import PostgresqlStore

    return PostgresqlStore(address, behind=True)


def _from_postgresql(address: str, target: sqlite3.Connection) -> None:
    with closing(_store(address)) as store, store.snapshot() as sql:
        made = migration_script([step for step in MIGRATIONS if step.version <= store.version])
        target.executescript(f"BEGIN; {SCHEMA} {made} COMMIT; BEGIN;")
        for table, columns in _tables(store.version).items():
            ticked = table == "reports"
            named = [*columns, *(["number"] if ticked else [])]
            marks = ",".join("?" * len(named))
            ordered = ", tick FROM dither_reports ORDER BY tick" if ticked else f" FROM dither_{table}"
            last = 0
            with sql.cursor(f"backup_{table}", binary=True) as cursor:
                cursor.execute(f"SELECT {','.join(columns)}{ordered}")
                while rows := cursor.fetchmany(_ROWS):
                    if ticked:
                        numbers = [last := max(last + 1, tick << TICK) for *_, tick in rows]
                        rows = [(*row[:-1], number) for row, number in zip(rows, numbers, strict=True)]
                    target.executemany(f"INSERT INTO {table} ({','.join(named)}) VALUES ({marks})", rows)
        target.execute("COMMIT")


def _to_postgresql(source: sqlite3.Connection, address: str) -> None:
    from dither.collection.store.segments import DAY, SEGMENTED, make_segments, read_meta

    with closing(_store(address)) as store, store.alone() as sql:
        tables = _tables(min(store.version, file_version(source)))
        plain = file_version(source) < _DIGESTS <= store.version  # the file is older than digests
        for table in tables:
            row = sql.execute(f"SELECT count(*) FROM dither_{table}").fetchone()
            if row is None or row[0]:
                raise StoreUnusable("the database holds a collector's data; restore into an empty one")
        for table, columns in tables.items():
            ticked = table == "reports"
            named = ",".join((*columns, *(["tick"] if ticked else [])))
            tick = f", number >> {TICK}" if ticked else ""
            if ticked and store.version >= SEGMENTED:
                segment = f"(SELECT day << {DAY} FROM slots WHERE slots.number = slot)"
                named, tick = f"{named},segment", f"{tick}, {segment}"
                days = [day for (day,) in source.execute("SELECT DISTINCT day FROM slots")]
                make_segments(sql, days, read_meta(sql).segment)
            rows = source.execute(f"SELECT {','.join(columns)}{tick} FROM {table}")
            with sql.cursor() as cursor, cursor.copy(f"COPY dither_{table} ({named}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row((identity_digest(row[0]), *row[1:]) if ticked and plain else row)
        sql.execute("UPDATE dither_meta SET tick = (SELECT coalesce(max(tick), 0) + 1 FROM dither_reports)")
        if store.version >= _DIGESTS:
            late = "(SELECT coalesce(max(tick), 0) + 1 FROM dither_withdrawn)"
            sql.execute(f"UPDATE dither_meta SET tick = greatest(tick, {late})")
        if store.version >= SEGMENTED:
            sql.execute("UPDATE dither_segments SET closed = tick FROM dither_meta")
            sql.execute("UPDATE dither_meta SET closed = tick")
        last = "SELECT coalesce(max(number), 0) + 1 FROM dither_slots"
        sql.execute(f"SELECT setval('dither_slots_number_seq', ({last}))")
