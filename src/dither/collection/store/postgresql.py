"""A store in a PostgreSQL database: several collectors write at once, and each counts the batches of all.

Every batch has the tick that was the present one when it was stored. A tick is over when a later one is
present and no transaction that began in it still runs. Each transaction holds a lock of its tick, which
others can see. Batches are counted when their tick is over. Every process counts the same batches together.

Changes that replace reports by counts, or remove them, raise the generation of the store: a
process that sees another generation builds its counts anew.

Reports and identities are in [segments](segments.py) by day, which are dropped when no identity of the day is
needed any more.
"""

from __future__ import annotations

import datetime
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from dither.collection.live import Fates, FoldedCounts, LiveCounts, News, Slot, Withdrawn
from dither.collection.published import Published
from dither.collection.refusals import Reason
from dither.collection.store.segments import (
    DAY,
    LOCK,
    PATIENCE,
    SEGMENTED,
    KnownIdentities,
    Meta,
    begin_after_full,
    drop_segment,
    list_segments,
    make_segments,
    of_days,
    read_meta,
    written_after,
)
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

if TYPE_CHECKING:
    from psycopg import Connection


TICKS: Final = 0x64697463 << 32  # plus the tick: the lock of a tick, shared by its writers
SCHEMA: Final = f"""
SELECT pg_advisory_xact_lock({LOCK});
CREATE TABLE IF NOT EXISTS dither_meta (version INTEGER NOT NULL, generation BIGINT NOT NULL,
    tick BIGINT NOT NULL DEFAULT 1);
CREATE TABLE IF NOT EXISTS dither_campaigns (number SERIAL, id TEXT PRIMARY KEY, name TEXT NOT NULL,
    version BIGINT NOT NULL, document TEXT NOT NULL, UNIQUE (name, version));
CREATE TABLE IF NOT EXISTS dither_slots (number SERIAL PRIMARY KEY, campaign TEXT NOT NULL,
    question TEXT NOT NULL, day INTEGER NOT NULL, label TEXT NOT NULL, n BIGINT, counts BYTEA,
    shown INTEGER);
CREATE UNIQUE INDEX IF NOT EXISTS dither_open ON dither_slots (campaign, question, day, label)
    WHERE counts IS NULL;
CREATE TABLE IF NOT EXISTS dither_reports (id BYTEA NOT NULL, part INTEGER NOT NULL, slot INTEGER NOT NULL,
    tick BIGINT NOT NULL, data BYTEA NOT NULL, PRIMARY KEY (id, part));
CREATE INDEX IF NOT EXISTS dither_news ON dither_reports (tick);
CREATE TABLE IF NOT EXISTS dither_refused (campaign TEXT NOT NULL, day INTEGER NOT NULL, reason TEXT NOT NULL,
    count BIGINT NOT NULL, PRIMARY KEY (campaign, day, reason));
"""
INSERT: Final = """INSERT INTO dither_reports (id, part, slot, tick, data, segment)
    SELECT new.id, new.part, new.slot, %b, new.data, new.segment FROM
    unnest(%b::bytea[], %b::integer[], %b::integer[], %b::bytea[], %b::integer[])
    AS new (id, part, slot, data, segment) ON CONFLICT DO NOTHING RETURNING id"""
NEW_SLOT: Final = """INSERT INTO dither_slots (campaign, question, day, label) VALUES (%s, %s, %s, %s)
    ON CONFLICT DO NOTHING"""
NEXT: Final = """UPDATE dither_meta SET tick = tick + 1 WHERE closed = tick
    OR EXISTS (SELECT 1 FROM dither_reports WHERE segment = dither_meta.segment
        AND dither_reports.tick = dither_meta.tick)
    OR EXISTS (SELECT 1 FROM dither_withdrawn WHERE dither_withdrawn.tick = dither_meta.tick)"""
HELD: Final = f"""SELECT min((classid::bigint << 32) + objid::bigint - {TICKS}) FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND classid = {TICKS >> 32}
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""
KEPT: Final = f"""SELECT campaign, question, day, label, counts IS NOT NULL, data
    FROM dither_reports JOIN dither_slots ON number = slot WHERE id = %b AND {HOLDS} ORDER BY part"""
WITHDRAWN: Final = "SELECT 1 FROM dither_withdrawn WHERE id = %b"
TAKEN: Final = """SELECT dither_withdrawn.tick, dither_withdrawn.day, dither_reports.tick, slot, data,
    dither_reports.id, part
    FROM dither_withdrawn JOIN dither_reports USING (id) JOIN dither_slots ON number = slot
    WHERE dither_withdrawn.tick > %b AND dither_withdrawn.tick <= %b AND counts IS NULL
    ORDER BY dither_withdrawn.tick"""
BLANK: Final = f"SELECT number FROM dither_slots WHERE campaign = %s AND day = %s AND NOT {HOLDS}"
_ROWS: Final = 1 << 15
_PAUSE: Final = 1.0  # seconds before a database that was out of reach is tried again

# Options of the connection: without them a lost network is noticed only after two hours.
_WAITING: Final = {
    "connect_timeout": 3,  # seconds
    "keepalives_idle": 5,  # seconds
    "keepalives_interval": 2,  # seconds
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,  # milliseconds
}

_IDLE: Final = "60s"  # time after which the database ends a transaction of a silent process

_NewRow = tuple[bytes, int, int, bytes, int]  # identity, part, slot, reports, segment


class PostgresqlStore(CollectorStore):
    """A store in a database. Opening it makes the tables, all of which begin with `dither_`."""

    shared = True

    def __init__(self, address: str, *, behind: bool = False) -> None:
        """Open the store, or make one; with `behind` also open a store that waits for a migration."""
        import psycopg

        self._psycopg = psycopg
        self._address = address
        self._sql: Connection[Any] | None = None
        self._again = 0.0  # the time of the next attempt after the database was out of reach
        self._generation = -1
        self._read = 0  # the last counted tick
        self._tick = 1  # the present tick at the last write,
        self._closed = 0  # `closed` of the store,
        self._segments: dict[int, int] = {}  # and the segments that it wrote, by day
        self._known = KnownIdentities()
        self._slots: dict[Slot, int] = {}
        self._names: dict[int, Slot] = {}
        try:
            with self._transaction() as sql:
                sql.execute(SCHEMA)
                if sql.execute("SELECT version FROM dither_meta").fetchone() is None:
                    sql.execute(f"INSERT INTO dither_meta VALUES ({FIRST}, 0)")
                    _migrate(sql, MIGRATIONS)
                self.version, oldest = _versions(sql)
        except StoreUnavailable as error:
            raise StoreUnusable(f"the database cannot be used: {error}") from None
        try:
            waiting = pending(self.version, oldest, "the database")
            if waiting and not behind:
                raise StoreUnusable(
                    f"the database is a store of version {self.version}, and this dither needs version "
                    f"{present_version()}: run `dither collector migrate postgresql://… --backup FILE`; "
                    "collectors that run go on meanwhile"
                )
        except StoreUnusable:
            self.close()
            raise

    # --- connection

    def _connection(self) -> Connection[Any]:
        if self._sql is None or self._sql.closed:
            if time.monotonic() < self._again:
                raise StoreUnavailable("the database is out of reach")
            self._again = time.monotonic() + _PAUSE
            self._sql = self._psycopg.connect(self._address, autocommit=True, **self._patience())
            self._sql.execute("SET synchronous_commit = on")
            self._sql.execute("SET default_transaction_isolation = 'read committed'")
            self._sql.execute(f"SET idle_in_transaction_session_timeout = '{_IDLE}'")
        return self._sql

    def _patience(self) -> dict[str, Any]:
        """Return the limits on waiting for a lost network, except those that the address sets."""
        given = self._psycopg.conninfo.conninfo_to_dict(self._address)
        return {name: seconds for name, seconds in _WAITING.items() if name not in given}

    @contextmanager
    def _transaction(self, *, begun: bool = False) -> Iterator[Connection[Any]]:
        """Begin a transaction; if it is `begun` by the first statements inside, only end it."""
        try:
            sql = self._connection()
            with self._end(sql) if begun else sql.transaction():
                yield sql
        except self._psycopg.errors.IntegrityError:
            raise
        except self._psycopg.Error as error:
            if self._sql is not None:
                with suppress(self._psycopg.Error):
                    self._sql.close()
            raise StoreUnavailable(str(error).strip() or type(error).__name__) from error

    def migrate(self) -> int:
        """Bring the tables to the present version, while collectors of earlier releases run; return it."""
        with self._transaction() as sql:
            sql.execute(f"SELECT pg_advisory_xact_lock({LOCK})")
            version, oldest = _versions(sql)
            _migrate(sql, pending(version, oldest, "the database"))
            self.version, _ = _versions(sql)
        return self.version

    @contextmanager
    def _end(self, sql: Connection[Any]) -> Iterator[None]:
        try:
            yield
        except BaseException:
            with suppress(self._psycopg.Error):
                sql.execute("ROLLBACK")
            raise
        sql.execute("COMMIT")

    # --- writing

    def publish(self, published: Published) -> None:
        terms = published.contract
        with self._transaction() as sql:
            sql.execute(f"SELECT pg_advisory_xact_lock({LOCK})")
            query = "SELECT id FROM dither_campaigns WHERE name = %s AND version = %s"
            found = sql.execute(query, (terms.name, terms.version)).fetchone()
            if found is not None and found[0] != published.id:
                raise another_text(published)
            sql.execute(
                "INSERT INTO dither_campaigns (id, name, version, document) VALUES (%s, %s, %s, %s) "
                "ON CONFLICT (id) DO UPDATE SET document = excluded.document",
                (published.id, terms.name, terms.version, published.to_json()),
            )

    def campaigns(self) -> list[Published]:
        with self._transaction() as sql:
            rows = sql.execute("SELECT document FROM dither_campaigns ORDER BY number").fetchall()
        return [Published.from_store(document) for (document,) in rows]

    def append(self, batches: Sequence[Arrived]) -> list[Stored]:
        first: dict[bytes, int] = {}  # identity → index in the group
        for index, batch in enumerate(batches):
            first.setdefault(batch.id, index)
        made: dict[Slot, int] = {}
        with self._transaction(begun=True) as sql:
            days = {slot.day.toordinal() for batch in batches for slot, _ in batch.parts}
            known, tick = self._known_slots(sql, days)
            # All processes insert in the same order. Otherwise two may wait for each other, and the database
            # ends one.
            for slot in sorted({slot for batch in batches for slot, _ in batch.parts if slot not in known}):
                self._slot(sql, slot, made)
            rows = [
                (identity, part, known.get(slot) or made[slot], data, self._segments[slot.day.toordinal()])
                for identity, index in sorted(first.items())
                for part, (slot, data) in enumerate(batches[index].parts)
            ]
            new = self._insert(sql, tick, [row for row in rows if row[1] == 0])
            self._insert(sql, tick, [row for row in rows if row[1] > 0 and row[0] in new], more=True)
            outcomes = [
                Stored.NEW
                if index == first[batch.id] and batch.id in new
                else self._stored_before(sql, batch)
                for index, batch in enumerate(batches)
            ]
        self._slots |= made
        return outcomes

    def _known_slots(self, sql: Connection[Any], days: set[int]) -> tuple[dict[Slot, int], int]:
        """Wait until no process folds; return the slots whose numbers are still valid, and the present tick.

        `days` are those of the slots. If they include other days than the present one, wait until no process
        stores.
        """
        # One message with separate statements: each sees all transactions committed before it.
        held = self._tick
        begin = "BEGIN; SET LOCAL enable_seqscan = off; SELECT pg_advisory_xact_lock"  # it uses the index
        locked = f"({LOCK}); SELECT pg_advisory_xact_lock_shared({TICKS + held}); "
        meta = read_meta(sql, f"{begin}_shared{locked}")
        alone = bool(days - {meta.segment >> DAY})
        if alone:
            meta = read_meta(sql, f"COMMIT; {begin}{locked}")
        while held != meta.tick:  # a process that holds the lock of the present tick is in this tick
            held = meta.tick
            meta = read_meta(sql, f"SELECT pg_advisory_xact_lock_shared({TICKS + held}); ")
        self._tick, self._closed = held, meta.closed
        self._segments = {meta.segment >> DAY: meta.segment}
        if alone and days - set(self._segments):
            self._segments, self._closed = make_segments(sql, days, meta.segment)
        if meta.generation != self._generation:
            self._slots, self._known = {}, KnownIdentities()
        return self._slots, held

    def _insert(
        self, sql: Connection[Any], tick: int, rows: list[_NewRow], *, more: bool = False
    ) -> set[bytes]:
        """Insert rows whose identities are unknown, or `more` parts of those that were; return identities."""
        if not more:
            known = self._known.find(sql, [row[0] for row in rows], self._closed)
            rows = [row for row in rows if row[0] not in known]
        if not rows:
            return set()
        done = sql.execute(INSERT, (tick, *map(list, zip(*rows, strict=True))), binary=True)
        return {bytes(identity) for (identity,) in done.fetchall()}

    def _slot(self, sql: Connection[Any], slot: Slot, made: dict[Slot, int]) -> int:
        if slot not in made:
            row = (slot.campaign, slot.question, slot.day.toordinal(), slot.label)
            where = "campaign = %s AND question = %s AND day = %s AND label = %s AND counts IS NULL"
            query = f"SELECT number FROM dither_slots WHERE {where}"
            found = sql.execute(query, row).fetchone()
            if found is None:
                sql.execute(NEW_SLOT, row)
                found = sql.execute(query, row).fetchone()
            made[slot] = int(found[0]) if found else 0
        return made[slot]

    def withdraw(self, withdrawals: Sequence[Withdrawal]) -> None:
        indices = {digest: (campaign, day) for digest, campaign, day in withdrawals}
        digests = sorted(indices)
        with self._transaction(begun=True) as sql:
            _, tick = self._known_slots(sql, {day.toordinal() for _, _, day in withdrawals})
            blanks = {position: self._blank(sql, *position) for position in sorted(set(indices.values()))}
            # An identity is in one index, so concurrent writers of one batch wait for each other.
            rows = [
                (digest, 0, blanks[indices[digest]], b"", self._segments[indices[digest][1].toordinal()])
                for digest in digests
            ]
            self._insert(sql, tick, rows)
            present = read_meta(sql).tick
            while tick != present:  # no known report has a tick after the present one
                tick = present
                present = read_meta(sql, f"SELECT pg_advisory_xact_lock_shared({TICKS + tick}); ").tick
            with sql.cursor() as cursor:
                cursor.executemany(
                    "INSERT INTO dither_withdrawn VALUES (%b, %s, %s) ON CONFLICT DO NOTHING",
                    [(digest, indices[digest][1].toordinal(), tick) for digest in digests],
                )

    def _blank(self, sql: Connection[Any], campaign: str, day: datetime.date) -> int:
        """Return the slot of identities that were withdrawn unknown: it holds no reports, and is folded."""
        row = (campaign, day.toordinal())
        found = sql.execute(BLANK, row).fetchone()
        if found is None:
            columns = "campaign, day, question, label, n, counts"
            insert = f"INSERT INTO dither_slots ({columns}) VALUES (%s, %s, '', '', 0, '') RETURNING number"
            found = sql.execute(insert, row).fetchone()
        return int(found[0]) if found else 0

    def erase(self, live: LiveCounts) -> int:
        with self._transaction() as sql:
            rows = sql.execute(TAKEN, (0, self._read), binary=True).fetchall()
            gone = [
                (bytes(len(data)), batch, part)
                for tick, day, stored, slot, data, batch, part in rows
                if any(data)
                and live.is_settled(Withdrawn(self._slot_of(sql, slot), tick, stored, bytes(data), _day(day)))
            ]
            with sql.cursor() as cursor:
                cursor.executemany("UPDATE dither_reports SET data = %s WHERE id = %s AND part = %s", gone)
        return len(gone)

    def _stored_before(self, sql: Connection[Any], batch: Arrived) -> Stored:
        if sql.execute(WITHDRAWN, (batch.id,), binary=True).fetchone() is not None:
            return Stored.REPEATED
        rows = sql.execute(KEPT, (batch.id,), binary=True).fetchall()
        kept = [
            Kept(Slot(campaign, question, _day(day), label), folded, bytes(data))
            for campaign, question, day, label, folded, data in rows
        ]
        # An identity without reports was stored long ago; it stays until its day is dropped.
        return compare_batches(batch, kept) if kept else Stored.REPEATED

    def refuse(self, counts: Mapping[RefusedKey, int]) -> None:
        with self._transaction() as sql:
            for key, count in sorted(counts.items(), key=lambda entry: (entry[0][:2], entry[0].reason.value)):
                sql.execute(
                    "INSERT INTO dither_refused VALUES (%s, %s, %s, %s) ON CONFLICT (campaign, day, reason) "
                    "DO UPDATE SET count = dither_refused.count + excluded.count",
                    (key.campaign, key.day.toordinal(), key.reason.value, count),
                )

    @contextmanager
    def alone(self) -> Iterator[Connection[Any]]:
        """Begin a transaction during which nobody appends; afterwards all processes recount."""
        with self._transaction() as sql:
            sql.execute(f"SELECT pg_advisory_xact_lock({LOCK})")
            sql.execute("UPDATE dither_meta SET generation = generation + 1")
            yield sql

    @contextmanager
    def snapshot(self) -> Iterator[Connection[Any]]:
        """Begin a transaction that sees the present store, unchanged by other writers."""
        with self._transaction() as sql:
            sql.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            if self.version >= SEGMENTED:  # taken before the snapshot: no visible segment is dropped
                sql.execute("LOCK TABLE dither_reports IN ACCESS SHARE MODE")
            yield sql

    def fold(
        self,
        campaign: str,
        day: datetime.date,
        live: LiveCounts,
        forgotten: datetime.date = datetime.date.min,
    ) -> int:
        with self._transaction() as sql:
            sql.execute(f"SELECT pg_advisory_xact_lock({LOCK})")
            meta = read_meta(sql)
            if meta.generation != self._generation:
                raise StoreUnavailable("another process folded or deleted meanwhile; fold again")
            live.add_all(self._news(sql, meta, meta.tick - 1))  # nobody appends now, so these ticks are over
            fates = live.fates(campaign, day)
            folding = self._fold(sql, live, fates, forgotten)
            if folding.left:  # other processes must not store in these slots any more
                sql.execute("UPDATE dither_meta SET generation = generation + 1")
        if folding.left:
            self._generation, self._slots, self._names = meta.generation + 1, {}, {}  # the counts still hold
            live.forget_folded(fates)
        return folding.parts

    def _fold(
        self, sql: Connection[Any], live: LiveCounts, fates: Fates, forgotten: datetime.date
    ) -> Folding:
        campaign = fates.campaign
        query = "SELECT number, question, day, label FROM dither_slots WHERE campaign = %s AND counts IS NULL"
        slots = {
            number: Slot(campaign, question, _day(when), label)
            for number, question, when, label in sql.execute(query, (campaign,)).fetchall()
        }

        def make(slot: Slot, shown: datetime.date | None, tick: int | None) -> int:
            day = slot.day.toordinal()
            row = (campaign, slot.question, day, slot.label, shown and shown.toordinal(), tick)
            columns = "campaign, question, day, label, shown, tick, counts"
            marks = "%s, %s, %s, %s, %s, %s, ''"
            insert = f"INSERT INTO dither_slots ({columns}) VALUES ({marks}) RETURNING number"
            found = sql.execute(insert, row).fetchone()
            return int(found[0]) if found else 0

        for (question, label), steps in fates.steps.items():  # the first step has the reports that waited
            sql.execute(
                "UPDATE dither_slots SET shown = %s WHERE campaign = %s AND question = %s AND label = %s "
                "AND shown IS NULL AND counts IS NOT NULL AND tick IS NULL",
                (steps[0].day.toordinal(), campaign, question, label),
            )
            sql.execute(  # withdrawn reports left with the last step at the latest
                "UPDATE dither_slots SET shown = day WHERE campaign = %s AND question = %s AND label = %s "
                "AND shown IS NULL AND tick < %s",
                (campaign, question, label, steps[-1].tick),
            )
        folding = Folding(fates, slots, live, make)
        early = [number for number, slot in slots.items() if slot.day <= fates.day]
        over = {number: slots[number] for number in early if slots[number].day < forgotten}
        segments = list_segments(sql)
        query = "SELECT slot, max(tick) FROM dither_reports WHERE segment = ANY(%s) GROUP BY slot"
        days = {slot.day.toordinal() for slot in over.values()}
        last = dict(sql.execute(query, (of_days(segments, days),)).fetchall())
        # Slots without a row that stays: their rows are dropped with the day instead of being rewritten.
        whole = {
            number
            for number, slot in over.items()
            if (tick := last.get(number, 0)) <= self._read
            and (not fates.stays(slot) or fates.day_shown(slot, tick) is not None)
        }
        some = """SELECT reports.tick, slot, data, withdrawn.tick, withdrawn.day, id, part, segment
            FROM dither_reports AS reports LEFT JOIN dither_withdrawn AS withdrawn USING (id)
            WHERE slot = ANY(%b) AND reports.tick <= %b AND (reports.tick <= %b OR slot = ANY(%b))"""
        with sql.cursor("folding", binary=True) as cursor, sql.cursor() as other:
            cursor.execute(some, (list(slots), self._read, fates.last, early))
            while rows := cursor.fetchmany(_ROWS):
                places = folding.take([(*row[:2], bytes(row[2]), *row[3:5]) for row in rows])
                other.executemany(
                    "UPDATE dither_reports SET data = %s, slot = %s WHERE id = %s AND part = %s "
                    "AND segment = %s",
                    [
                        (part_digest(bytes(data)), place, *row)
                        for place, (_, number, data, _, _, *row) in zip(places, rows, strict=True)
                        if place is not None and number not in whole
                    ],
                )
        for number, total in folding.totals.items():
            row = (total.n, pack_counts(total.counts), number)
            sql.execute("UPDATE dither_slots SET n = %s, counts = %s WHERE number = %s", row)
        # A slot with empty counts only holds identities.
        sql.execute("UPDATE dither_slots SET n = 0, counts = '' WHERE number = ANY(%s)", (list(whole),))
        left = list(folding.left - whole)
        days = {slots[number].day.toordinal() for number in left}
        sql.execute(
            "DELETE FROM dither_slots WHERE number = ANY(%s) AND number NOT IN "
            "(SELECT slot FROM dither_reports WHERE segment = ANY(%s) AND slot = ANY(%s))",
            (left, of_days(segments, days), left),
        )
        folding.left |= whole
        return folding

    def forget(self, before: Mapping[str, datetime.date]) -> int:
        first = {campaign: day.toordinal() for campaign, day in before.items()}
        forgotten, waiting = self._drop_days(first)
        with self._transaction() as sql:
            segments = list_segments(sql)
            for campaign, day in first.items():  # on days that another campaign needs
                old = [number for number in segments if number >> DAY < day and number >> DAY not in waiting]
                row = {"campaign": campaign, "day": day, "segments": old, "waiting": waiting}
                gone = "SELECT number FROM dither_slots WHERE campaign = %(campaign)s AND day < %(day)s"
                done = sql.execute(
                    f"DELETE FROM dither_reports WHERE segment = ANY(%(segments)s) "
                    f"AND slot IN ({gone} AND counts IS NOT NULL)",
                    row,
                )
                forgotten += done.rowcount
                some = f"{gone} AND NOT {HOLDS} AND day != ALL(%(waiting)s)"
                sql.execute(f"DELETE FROM dither_slots WHERE number IN ({some})", row)
            sql.execute(  # exports list withdrawals as long as they are noted
                "DELETE FROM dither_withdrawn WHERE day < %s AND NOT EXISTS "
                "(SELECT 1 FROM dither_reports WHERE dither_reports.id = dither_withdrawn.id)",
                (max(first.values(), default=0),),
            )
        return forgotten

    def _drop_days(self, first: Mapping[str, int]) -> tuple[int, list[int]]:
        """Drop the partitions of days that no campaign needs; return the number of rows, and days that wait.

        `first` are the first days that campaigns need. A day that an export or a backup reads waits.
        """
        forgotten, waiting = 0, []
        with self._transaction() as sql:
            sql.execute(f"SELECT pg_advisory_xact_lock({LOCK})")
            sql.execute(f"SET LOCAL lock_timeout = '{PATIENCE}'")
            rows = sql.execute("SELECT DISTINCT day, campaign, counts IS NULL FROM dither_slots").fetchall()
            needed = {day for day, campaign, kept in rows if kept or day >= first.get(campaign, 0)}
            for segment, name in list_segments(sql).items():
                day = segment >> DAY
                if day in needed or day >= max(first.values(), default=0):
                    continue
                count = sql.execute(f"SELECT count(*) FROM {name}").fetchone()
                try:
                    with sql.transaction():
                        drop_segment(sql, segment, name)
                except self._psycopg.errors.LockNotAvailable:
                    waiting.append(day)
                else:
                    forgotten += count[0] if count else 0
        return forgotten, waiting

    def delete(self, campaign: str) -> None:
        with self.alone() as sql:
            of = "SELECT number FROM dither_slots WHERE campaign = %s"
            reports = f"FROM dither_reports WHERE slot IN ({of})"
            sql.execute(f"DELETE FROM dither_withdrawn WHERE id IN (SELECT id {reports})", (campaign,))
            sql.execute(f"DELETE {reports}", (campaign,))
            sql.execute("DELETE FROM dither_slots WHERE campaign = %s", (campaign,))

    def probe(self, size: int) -> None:
        with self._transaction() as sql:
            sql.execute(
                "INSERT INTO dither_notes VALUES (0, %b) "
                "ON CONFLICT (number) DO UPDATE SET data = excluded.data",
                (bytes(size),),
            )

    # --- queries

    def identity(self) -> str:
        """Return the random identity of the store, for exports."""
        with self._transaction() as sql:
            row = (os.urandom(16),)
            sql.execute("INSERT INTO dither_notes VALUES (1, %b) ON CONFLICT DO NOTHING", row)
            found = sql.execute("SELECT data FROM dither_notes WHERE number = 1").fetchone()
        return bytes(found[0] if found else b"").hex()

    def note_exports(self, files: Sequence[tuple[str, str, int]]) -> set[str]:
        """Note exported files of campaigns that have reports; return these campaigns."""
        with self._transaction() as sql:
            sql.execute(f"SELECT pg_advisory_xact_lock_shared({LOCK})")  # nobody deletes meanwhile
            rows = sql.execute(f"SELECT DISTINCT campaign FROM dither_slots WHERE {HOLDS}").fetchall()
            kept = {campaign for (campaign,) in rows}
            for entry in files:
                if entry[1] in kept:
                    sql.execute(
                        "INSERT INTO dither_exports (file, campaign, day) VALUES (%s, %s, %s) "
                        "ON CONFLICT DO NOTHING",
                        entry,
                    )
        return kept

    def exported_files(self, campaign: str) -> list[str]:
        query = "SELECT file FROM dither_exports WHERE campaign = %s ORDER BY day, file"
        with self._transaction() as sql:
            return [file for (file,) in sql.execute(query, (campaign,)).fetchall()]

    def reload(self) -> bool:
        with self._transaction() as sql:
            generation = read_meta(sql).generation
        if generation == self._generation:
            return False
        self._generation, self._read, self._slots, self._names = generation, 0, {}, {}
        self._known = KnownIdentities()
        return True

    def folded_counts(self) -> Iterator[FoldedCounts]:
        with self._transaction() as sql:
            columns = "campaign, question, coalesce(shown, day), label, n, counts, shown IS NOT NULL, tick"
            query = f"SELECT {columns} FROM dither_slots WHERE counts IS NOT NULL AND {HOLDS}"
            rows = sql.execute(query).fetchall()
        for campaign, question, day, label, n, counts, shown, tick in rows:
            slot = Slot(campaign, question, _day(day), label)
            yield FoldedCounts(slot, unpack_counts(bytes(counts)), n, shown, tick)

    def last_tick(self) -> int:
        """Begin another tick, and return the last one that is over."""
        with self._transaction() as sql:
            sql.execute(NEXT)
        with self._transaction() as sql:
            tick = read_meta(sql).tick
            held = sql.execute(HELD).fetchone()  # after the tick was read, and before a snapshot is taken
        return (tick if held is None or held[0] is None else min(tick, int(held[0]))) - 1

    def news(self) -> News:
        with self._transaction() as sql:
            begin_after_full(sql)
        over = self.last_tick()
        if over > self._read:
            with self.snapshot() as sql:
                meta = read_meta(sql)
                if meta.generation == self._generation:  # otherwise `reload` rebuilds the counts
                    self._known.learn(sql, meta, over)
                    yield from self._news(sql, meta, over)

    def _news(self, sql: Connection[Any], meta: Meta, over: int) -> News:
        written = ",".join(map(str, written_after(sql, meta, self._read)))
        query = f"""SELECT tick, slot, data FROM dither_reports WHERE segment IN ({written})
            AND tick > %b AND tick <= %b
            AND slot IN (SELECT number FROM dither_slots WHERE counts IS NULL) ORDER BY tick"""

        def blocks() -> Iterator[list[Row]]:
            while rows := cursor.fetchmany(_ROWS):
                yield [(tick, slot, bytes(data)) for tick, slot, data in rows]

        try:
            found = sql.execute(TAKEN, (self._read, over), binary=True).fetchall()
            taken = [(tick, day, stored, slot, bytes(data)) for tick, day, stored, slot, data, *_ in found]
            with sql.cursor("news", binary=True) as cursor:
                cursor.execute(query, (self._read, over))
                yield from with_withdrawals(blocks(), taken, lambda number: self._slot_of(sql, number))
        except BaseException:  # some of the reports may be counted
            self._generation = -1
            raise
        self._read = max(self._read, over)

    def _slot_of(self, sql: Connection[Any], number: int) -> Slot:
        if number not in self._names:
            query = "SELECT campaign, question, day, label FROM dither_slots WHERE number = %s"
            campaign, question, day, label = sql.execute(query, (number,)).fetchone() or ("", "", 1, "")
            self._names[number] = Slot(campaign, question, _day(day), label)
        return self._names[number]

    def refusals(self) -> dict[RefusedKey, int]:
        with self._transaction() as sql:
            rows = sql.execute("SELECT campaign, day, reason, count FROM dither_refused").fetchall()
        return {RefusedKey(campaign, _day(day), Reason(reason)): n for campaign, day, reason, n in rows}

    def days(self) -> list[tuple[str, datetime.date]]:
        with self._transaction() as sql:
            query = "SELECT DISTINCT campaign, day FROM dither_slots WHERE counts IS NULL"
            rows = sql.execute(query).fetchall()
        return [(campaign, _day(day)) for campaign, day in rows]

    def close(self) -> None:
        if self._sql is not None:
            self._sql.close()


def _versions(sql: Connection[Any]) -> tuple[int, int]:
    """Return the version of the store, and the oldest version whose releases may use it."""
    oldest = int((sql.execute("SELECT version FROM dither_meta").fetchone() or (0,))[0])
    if (sql.execute("SELECT to_regclass('dither_versions')").fetchone() or (None,))[0] is None:
        return oldest, oldest
    row = sql.execute("SELECT max(version) FROM dither_versions").fetchone()
    return int(row[0] if row is not None else oldest), oldest


def _migrate(sql: Connection[Any], migrations: Sequence[Migration]) -> None:
    for migration in migrations:
        sql.execute(migration.script("dither_", "BYTEA", "substring(sha256(id) FROM 1 FOR 16)"))
        if migration.database:
            sql.execute(migration.database)
        sql.execute(f"UPDATE dither_meta SET version = {migration.oldest}")


def _day(ordinal: int) -> datetime.date:
    return datetime.date.fromordinal(ordinal)
