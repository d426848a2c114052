"""A store in one SQLite file: write-ahead log, synchronous FULL, one writer, many batches a transaction."""

from __future__ import annotations

import datetime
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Final

from dither.collection.live import FoldedCounts, LiveCounts, News, Slot, Withdrawn
from dither.collection.log import log
from dither.collection.published import Published
from dither.collection.refusals import Reason
from dither.collection.store.store import (
    HOLDS,
    Arrived,
    CollectorStore,
    Folding,
    Kept,
    RefusedKey,
    Row,
    Stored,
    StoreUnavailable,
    StoreUnusable,
    Withdrawal,
    another_text,
    compare_batches,
    pack_counts,
    part_digest,
    unpack_counts,
    with_withdrawals,
)
from dither.collection.store.versions import FIRST, MIGRATIONS, Migration, pending, present_version
from dither.core.batch import identity_digest
from dither.foundation.atomic import lock_beside, rename_after

APPLICATION: Final = 0x64697463  # "ditc": SQLite recognises such files by this number
TICK: Final = 20  # lower bits of a row number, which count within its tick; the higher bits are the tick
_ROWS: Final = 1 << 15  # rows that are read at once
SCHEMA: Final = f"""
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FIRST};
CREATE TABLE campaigns (id TEXT PRIMARY KEY, name TEXT NOT NULL, version INTEGER NOT NULL,
    document TEXT NOT NULL, UNIQUE (name, version));
CREATE TABLE slots (number INTEGER PRIMARY KEY, campaign TEXT NOT NULL, question TEXT NOT NULL,
    day INTEGER NOT NULL, label TEXT NOT NULL, n INTEGER, counts BLOB, shown INTEGER);
CREATE TABLE reports (number INTEGER PRIMARY KEY, id BLOB NOT NULL, part INTEGER NOT NULL,
    slot INTEGER NOT NULL, data BLOB NOT NULL);
CREATE UNIQUE INDEX identities ON reports (id, part);
CREATE TABLE refused (campaign TEXT NOT NULL, day INTEGER NOT NULL, reason TEXT NOT NULL,
    count INTEGER NOT NULL, PRIMARY KEY (campaign, day, reason)) WITHOUT ROWID;
"""
_INSERT: Final = "INSERT INTO reports (number, id, part, slot, data) VALUES (?, ?, ?, ?, ?)"
# The number of the last row ever written, even if it was deleted: exports continue after its tick.
LAST_ROW: Final = f"""SELECT max((SELECT coalesce(max(number), 0) FROM reports),
    (SELECT coalesce(max(tick), 0) << {TICK} FROM withdrawn),
    (SELECT coalesce(max(data), 0) FROM notes WHERE number = 2))"""
_WITHDRAWN: Final = "SELECT 1 FROM withdrawn WHERE id = ?"
_TAKEN: Final = f"""SELECT withdrawn.tick, withdrawn.day, reports.number >> {TICK}, slot, data
    FROM withdrawn JOIN reports USING (id) WHERE withdrawn.tick > ? ORDER BY withdrawn.tick"""
_REPEATED_SLOT: Final = (
    "SELECT campaign, question, day, label, counts IS NOT NULL FROM slots WHERE number = ?"
)


class SqliteStore(CollectorStore):
    """A store in one file. A lock file keeps a second collector away."""

    def __init__(self, path: Path | str, *, synchronous: str = "FULL") -> None:
        """Open a store, or make one; raise StoreUnusable if the file is not a store or is in use."""
        self.path = Path(path).resolve()  # through a link, SQLite's own files would have other names
        self._lock = lock_store(self.path)
        try:
            fresh = not self.path.exists() or not self.path.stat().st_size
            if fresh:
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            self._sql = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
            define_digest(self._sql)
            try:
                self._prepare(fresh, synchronous)
            except BaseException:
                self._sql.close()
                raise
        except sqlite3.Error as error:
            self._lock.close()
            raise StoreUnusable(
                f"{self.path} cannot be used as a store ({error}); give another file"
            ) from None
        except BaseException:
            self._lock.close()
            raise
        self._slots: dict[Slot, int] = {}
        self._names: dict[int, Slot | None] = {}  # number → slot, or None if its reports are folded
        self._rebuild = True
        self._read = 0  # the number of the last counted row
        self._last = int(self._sql.execute(LAST_ROW).fetchone()[0])

    def _prepare(self, fresh: bool, synchronous: str) -> None:
        if fresh:
            self._sql.execute("PRAGMA page_size = 8192")  # 4 KiB pages waste half of a body of 2 kB
        self._sql.execute("PRAGMA journal_mode = WAL")
        self._sql.execute(f"PRAGMA synchronous = {synchronous}")
        self._sql.execute("PRAGMA cache_size = -65536")
        if fresh:
            self._sql.executescript(f"BEGIN; {SCHEMA} {migration_script(MIGRATIONS)} COMMIT;")
        waiting = check_file(self._sql, self.path)
        if waiting:
            kept = self.path.with_name(f"{self.path.name}.before-{present_version()}")
            with rename_after(kept) as part:
                os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
                with closing(sqlite3.connect(part)) as copy:
                    self._sql.backup(copy)
                    copy.execute("PRAGMA journal_mode = DELETE")  # one file, without companions
            self._sql.executescript(f"BEGIN; {migration_script(waiting)} COMMIT;")
            log("migrated the store", version=present_version(), backup=kept.name)

    # --- writing

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            self._sql.execute("BEGIN IMMEDIATE")
            yield self._sql
            self._sql.execute("COMMIT")
        except BaseException as error:
            with suppress(sqlite3.Error):
                self._sql.execute("ROLLBACK")
            if isinstance(error, sqlite3.OperationalError | sqlite3.InternalError):
                raise StoreUnavailable(str(error)) from error
            raise

    def publish(self, published: Published) -> None:
        terms = published.contract
        with self._transaction() as sql:
            found = sql.execute(
                "SELECT id FROM campaigns WHERE name = ? AND version = ?", (terms.name, terms.version)
            ).fetchone()
            if found is not None and found[0] != published.id:
                raise another_text(published)
            row = (published.id, terms.name, terms.version, published.to_json())
            sql.execute(
                "INSERT INTO campaigns VALUES (?, ?, ?, ?) "
                "ON CONFLICT (id) DO UPDATE SET document = excluded.document",
                row,
            )

    def campaigns(self) -> list[Published]:
        rows = self._sql.execute("SELECT document FROM campaigns ORDER BY rowid").fetchall()
        return [Published.from_store(document) for (document,) in rows]

    def append(self, batches: Sequence[Arrived]) -> list[Stored]:
        made: dict[Slot, int] = {}
        first = ((self._last >> TICK) + 1) << TICK  # a transaction is a tick: it is over when it ends
        numbers = count(first)
        try:
            with self._transaction() as sql:
                sql.executemany(_INSERT, self._rows(sql, batches, made, numbers))
            outcomes = [Stored.NEW] * len(batches)
        except sqlite3.IntegrityError:  # an identity is already known: insert one by one
            made, numbers = {}, count(first)
            with self._transaction() as sql:
                outcomes = [self._append_one(sql, batch, made, numbers) for batch in batches]
        self._slots |= made
        self._last = next(numbers)
        return outcomes

    def withdraw(self, withdrawals: Sequence[Withdrawal]) -> None:
        tick = (self._last >> TICK) + 1
        numbers = count(tick << TICK)
        with self._transaction() as sql:
            for withdrawal in withdrawals:
                digest, _, day = withdrawal
                row = (digest, day.toordinal(), tick)
                if not sql.execute("INSERT OR IGNORE INTO withdrawn VALUES (?, ?, ?)", row).rowcount:
                    continue
                if sql.execute("SELECT 1 FROM reports WHERE id = ?", (digest,)).fetchone() is None:
                    sql.execute(_INSERT, (next(numbers), digest, 0, self._blank(sql, withdrawal), b""))
        self._last = next(numbers)

    def _blank(self, sql: sqlite3.Connection, withdrawal: Withdrawal) -> int:
        """Return the slot of identities that were withdrawn unknown: it holds no reports, and is folded."""
        row = (withdrawal.campaign, withdrawal.day.toordinal())
        query = f"SELECT number FROM slots WHERE campaign = ? AND day = ? AND NOT {HOLDS}"
        found = sql.execute(query, row).fetchone()
        if found is None:
            columns = "campaign, day, question, label, n, counts"
            done = sql.execute(f"INSERT INTO slots ({columns}) VALUES (?, ?, '', '', 0, x'')", row)
            return int(done.lastrowid or 0)
        return int(found[0])

    def erase(self, live: LiveCounts) -> int:
        with self._transaction() as sql:
            query = f"""SELECT withdrawn.tick, withdrawn.day, reports.number, slot, data FROM withdrawn
                JOIN reports USING (id)
                WHERE data != zeroblob(length(data)) AND withdrawn.tick <= {self._read >> TICK}"""
            gone = [
                (len(data), number)
                for tick, day, number, slot, data in sql.execute(query).fetchall()
                if (named := self._slot_of(slot)) is not None
                and live.is_settled(Withdrawn(named, tick, number >> TICK, data, _day(day)))
            ]
            sql.executemany("UPDATE reports SET data = zeroblob(?) WHERE number = ?", gone)
        return len(gone)

    def _append_one(
        self, sql: sqlite3.Connection, batch: Arrived, made: dict[Slot, int], numbers: Iterator[int]
    ) -> Stored:
        query = "SELECT slot, data FROM reports WHERE id = ? ORDER BY part"
        kept = []
        for number, data in sql.execute(query, (batch.id,)).fetchall():
            campaign, question, day, label, folded = sql.execute(_REPEATED_SLOT, (number,)).fetchone()
            kept.append(Kept(Slot(campaign, question, _day(day), label), bool(folded), data))
        if kept:
            withdrawn = sql.execute(_WITHDRAWN, (batch.id,)).fetchone() is not None
            return Stored.REPEATED if withdrawn else compare_batches(batch, kept)
        sql.executemany(_INSERT, self._rows(sql, [batch], made, numbers))
        return Stored.NEW

    def _rows(
        self,
        sql: sqlite3.Connection,
        batches: Sequence[Arrived],
        made: dict[Slot, int],
        numbers: Iterator[int],
    ) -> list[tuple[int, bytes, int, int, bytes]]:
        rows = []
        for batch in batches:
            for part, (slot, data) in enumerate(batch.parts):
                number = self._slots.get(slot) or made.get(slot)
                if number is None:
                    number = made[slot] = self._slot(sql, slot)
                rows.append((next(numbers), batch.id, part, number, data))
        return rows

    def _slot(self, sql: sqlite3.Connection, slot: Slot) -> int:
        row = (slot.campaign, slot.question, slot.day.toordinal(), slot.label)
        where = "campaign = ? AND question = ? AND day = ? AND label = ? AND counts IS NULL"
        found = sql.execute(f"SELECT number FROM slots WHERE {where}", row).fetchone()
        if found is None:
            done = sql.execute("INSERT INTO slots (campaign, question, day, label) VALUES (?, ?, ?, ?)", row)
            return int(done.lastrowid or 0)
        return int(found[0])

    def refuse(self, counts: Mapping[RefusedKey, int]) -> None:
        rows = [(key.campaign, key.day.toordinal(), key.reason.value, count) for key, count in counts.items()]
        with self._transaction() as sql:
            sql.executemany(
                "INSERT INTO refused VALUES (?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET count = count + excluded.count",
                rows,
            )

    def fold(
        self,
        campaign: str,
        day: datetime.date,
        live: LiveCounts,
        forgotten: datetime.date = datetime.date.min,
    ) -> int:
        live.add_all(self.news())
        fates = live.fates(campaign, day)
        with self._transaction() as sql:
            query = "SELECT number, question, day, label FROM slots WHERE campaign = ? AND counts IS NULL"
            slots = {
                number: Slot(campaign, question, _day(when), label)
                for number, question, when, label in sql.execute(query, (campaign,)).fetchall()
            }

            def make(slot: Slot, shown: datetime.date | None, tick: int | None) -> int:
                day = slot.day.toordinal()
                row = (campaign, slot.question, day, slot.label, shown and shown.toordinal(), tick)
                columns = "campaign, question, day, label, shown, tick, counts"
                done = sql.execute(f"INSERT INTO slots ({columns}) VALUES (?, ?, ?, ?, ?, ?, x'')", row)
                return int(done.lastrowid or 0)

            for (question, label), steps in fates.steps.items():  # the first step has the reports that waited
                sql.execute(
                    "UPDATE slots SET shown = ? WHERE campaign = ? AND question = ? AND label = ? "
                    "AND shown IS NULL AND counts IS NOT NULL AND tick IS NULL",
                    (steps[0].day.toordinal(), campaign, question, label),
                )
                sql.execute(  # withdrawn reports left with the last step at the latest
                    "UPDATE slots SET shown = day WHERE campaign = ? AND question = ? AND label = ? "
                    "AND shown IS NULL AND tick < ?",
                    (campaign, question, label, steps[-1].tick),
                )
            folding = Folding(fates, slots, live, make)
            marks = ",".join(map(str, slots)) or "NULL"
            early = ",".join(str(number) for number, slot in slots.items() if slot.day <= day) or "NULL"
            some = (
                "SELECT number, slot, data, tick, day FROM reports LEFT JOIN withdrawn USING (id) "
                f"WHERE number > ? AND slot IN ({marks}) AND "
                f"(number < {(fates.last + 1) << TICK} OR slot IN ({early})) ORDER BY number LIMIT {_ROWS}"
            )
            last = 0
            while rows := sql.execute(some, (last,)).fetchall():
                indices = folding.take([(number >> TICK, *rest) for number, *rest in rows])
                sql.executemany(
                    "UPDATE reports SET data = ?, slot = ? WHERE number = ?",
                    [
                        (part_digest(data), index, number)
                        for index, (number, _, data, *_) in zip(indices, rows, strict=True)
                        if index is not None
                    ],
                )
                last = rows[-1][0]
            for number, total in folding.totals.items():
                row = (total.n, pack_counts(total.counts), number)
                sql.execute("UPDATE slots SET n = ?, counts = ? WHERE number = ?", row)
            marks = ",".join(map(str, folding.left)) or "NULL"
            sql.execute(
                f"DELETE FROM slots WHERE number IN ({marks}) "
                f"AND number NOT IN (SELECT slot FROM reports WHERE slot IN ({marks}))"
            )
        self._slots, self._names = {}, {}
        live.forget_folded(fates)
        return folding.parts

    def forget(self, before: Mapping[str, datetime.date]) -> int:
        forgotten = 0
        with self._transaction() as sql:
            self._note_last(sql)
            for row in [(campaign, day.toordinal()) for campaign, day in before.items()]:
                gone = "SELECT number FROM slots WHERE campaign = ? AND counts IS NOT NULL AND day < ?"
                forgotten += sql.execute(f"DELETE FROM reports WHERE slot IN ({gone})", row).rowcount
                sql.execute(f"DELETE FROM slots WHERE campaign = ? AND day < ? AND NOT {HOLDS}", row)
            # Exports list withdrawals as long as they are noted.
            last = max((day.toordinal() for day in before.values()), default=0)
            sql.execute("DELETE FROM withdrawn WHERE day < ? AND id NOT IN (SELECT id FROM reports)", (last,))
        return forgotten

    def delete(self, campaign: str) -> None:
        with self._transaction() as sql:
            self._note_last(sql)
            of = "SELECT number FROM slots WHERE campaign = ?"
            reports = f"FROM reports WHERE slot IN ({of})"
            sql.execute(f"DELETE FROM withdrawn WHERE id IN (SELECT id {reports})", (campaign,))
            sql.execute(f"DELETE {reports}", (campaign,))
            sql.execute("DELETE FROM slots WHERE campaign = ?", (campaign,))
        self._slots, self._names = {}, {}

    def _note_last(self, sql: sqlite3.Connection) -> None:
        sql.execute("INSERT OR REPLACE INTO notes VALUES (2, ?)", (self._last,))

    def probe(self, size: int) -> None:
        for bytes_ in (size, 0) if size else (0,):
            with self._transaction() as sql:
                sql.execute("INSERT OR REPLACE INTO notes VALUES (0, zeroblob(?))", (bytes_,))

    # --- queries

    def exported_files(self, campaign: str) -> list[str]:
        query = "SELECT file FROM exports WHERE campaign = ? ORDER BY day, file"
        return [file for (file,) in self._sql.execute(query, (campaign,)).fetchall()]

    def reload(self) -> bool:
        now, self._rebuild = self._rebuild, False
        if now:
            self._read = 0
        return now

    def folded_counts(self) -> Iterator[FoldedCounts]:
        columns = "campaign, question, coalesce(shown, day), label, n, counts, shown IS NOT NULL, tick"
        query = f"SELECT {columns} FROM slots WHERE counts IS NOT NULL AND {HOLDS}"
        for campaign, question, day, label, n, counts, shown, tick in self._sql.execute(query).fetchall():
            slot = Slot(campaign, question, _day(day), label)
            yield FoldedCounts(slot, unpack_counts(counts), n, bool(shown), tick)

    def news(self) -> News:
        query = "SELECT number, slot, data FROM reports WHERE number > ? ORDER BY number"
        try:
            taken = self._sql.execute(_TAKEN, (self._read >> TICK,)).fetchall()
            with closing(self._sql.execute(query, (self._read,))) as cursor:
                yield from with_withdrawals(self._blocks(cursor), taken, self._slot_of)
            if taken:
                self._read = max(self._read, ((taken[-1][0] + 1) << TICK) - 1)
        except BaseException:  # some of the reports may be counted
            self._rebuild = True
            raise

    def _blocks(self, cursor: sqlite3.Cursor) -> Iterator[list[Row]]:
        while rows := cursor.fetchmany(_ROWS):
            self._read = rows[-1][0]
            yield [(number >> TICK, slot, data) for number, slot, data in rows]

    def _slot_of(self, number: int) -> Slot | None:
        if number not in self._names:
            campaign, question, day, label, folded = self._sql.execute(_REPEATED_SLOT, (number,)).fetchone()
            self._names[number] = None if folded else Slot(campaign, question, _day(day), label)
        return self._names[number]

    def refusals(self) -> dict[RefusedKey, int]:
        rows = self._sql.execute("SELECT * FROM refused").fetchall()
        return {
            RefusedKey(campaign, _day(day), Reason(reason)): count for campaign, day, reason, count in rows
        }

    def days(self) -> list[tuple[str, datetime.date]]:
        rows = self._sql.execute("SELECT DISTINCT campaign, day FROM slots WHERE counts IS NULL").fetchall()
        return [(campaign, _day(day)) for campaign, day in rows]

    def close(self) -> None:
        self._sql.close()
        self._lock.close()


def lock_store(path: Path) -> sqlite3.Connection:
    """Take the lock of a store until it is closed; raise StoreUnusable if another collector has it."""
    path = path.resolve()
    if not path.parent.is_dir():
        raise StoreUnusable(f"folder not found: {path.parent}")
    if path.exists() and path.stat().st_nlink > 1:
        raise StoreUnusable(
            f"{path} has another name, by a hard link: two collectors could write it; remove the link"
        )
    try:
        return lock_beside(path)
    except TimeoutError:
        raise StoreUnusable(
            f"{path} is in use by another collector; SQLite has one writer, so run one, or use PostgreSQL"
        ) from None


def define_digest(sql: sqlite3.Connection) -> None:
    """Let a connection compute the digests of identities."""
    sql.create_function("digest", 1, identity_digest, deterministic=True)


def check_file(sql: sqlite3.Connection, path: Path) -> list[Migration]:
    """Return the migrations that a file needs; raise StoreUnusable if it is not a store of this release."""
    if sql.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise StoreUnusable(f"{path} is not a collector's store")
    oldest = sql.execute("PRAGMA user_version").fetchone()[0]
    return pending(max(oldest, file_version(sql)), oldest, str(path))


def file_version(sql: sqlite3.Connection) -> int:
    """Return the version of a store: its last migration's, or the version before all migrations."""
    if sql.execute("SELECT 1 FROM sqlite_master WHERE name = 'versions'").fetchone() is None:
        return int(sql.execute("PRAGMA user_version").fetchone()[0])
    return int(sql.execute("SELECT max(version) FROM versions").fetchone()[0])


def migration_script(migrations: Sequence[Migration]) -> str:
    """Return the statements of migrations; the number of the file is the oldest version that may use it."""
    if not migrations:
        return ""
    parts = [migration.script() for migration in migrations]
    return "\n".join([*parts, f"PRAGMA user_version = {migrations[-1].oldest};"])


def _day(ordinal: int) -> datetime.date:
    return datetime.date.fromordinal(ordinal)
