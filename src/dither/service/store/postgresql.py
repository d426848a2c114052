"""A store in a PostgreSQL database: several collectors write at once and count what the others stored.

Every process writes under a number of its own and numbers its batches, so that the others find what is new.
Changes that replace reports by counts, or remove them, raise the generation of the store: whoever sees
another generation builds its counts anew.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, final

from dither.arrays import Integers
from dither.service.contract import Published
from dither.service.live import Slot, Total
from dither.service.refusal import Reason
from dither.service.store.store import (
    Arrived,
    CollectorStore,
    Kept,
    Mechanisms,
    RefusedKey,
    Stored,
    StoreUnavailable,
    StoreUnusable,
    another_text,
    compared,
    grouped,
    pack_counts,
    part_digest,
    unpack_counts,
)
from dither.service.store.tables import INSERT, KEPT, LOCK, NEW_SLOT, SCHEMA, VERSION

if TYPE_CHECKING:
    from psycopg import Connection

_ROWS: Final = 1 << 15
_PAUSE: Final = 1.0  # seconds before a database that was out of reach is tried again

# Options of the connection: without them a network that swallows everything is noticed after two hours.
_WAITING: Final = {
    "connect_timeout": 3,  # seconds
    "keepalives_idle": 5,  # seconds
    "keepalives_interval": 2,  # seconds
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,  # milliseconds
}

_Row = tuple[bytes, int, int, int, bytes]  # identity, part, slot, number of the batch, reports


@final
class PostgresqlStore(CollectorStore):
    """A store in a database. Opening it makes the tables, all of which begin with `dither_`."""

    def __init__(self, address: str) -> None:
        import psycopg

        self._psycopg = psycopg
        self._address = address
        self._sql: Connection[Any] | None = None
        self._again = 0.0  # when to try a database again that was out of reach
        self._writer, self._sent = 0, 0
        self._generation = -1
        self._seen: dict[int, int] = {}  # by writer: the number of the last batch that is counted
        self._slots: dict[Slot, int] = {}
        try:
            with self._transaction() as sql:
                sql.execute(SCHEMA)
                version = sql.execute("SELECT version FROM dither_meta").fetchone()
        except StoreUnavailable as error:
            raise StoreUnusable(f"the database cannot be used: {error}") from None
        if version is None or version[0] != VERSION:
            raise StoreUnusable(f"the database holds a store of another version than {VERSION}")

    # --- connection

    def _connection(self) -> Connection[Any]:
        if self._sql is None or self._sql.closed:
            if time.monotonic() < self._again:
                raise StoreUnavailable("the database is out of reach")
            self._again = time.monotonic() + _PAUSE
            self._sql = self._psycopg.connect(self._address, autocommit=True, **self._patience())
            self._sql.execute("SET synchronous_commit = on")
            # A new number later: a transaction whose end was not heard of may be stored under the old one.
            self._writer, self._sent = 0, 0
        return self._sql

    def _patience(self) -> dict[str, Any]:
        """Return the limits on waiting for a network that is gone, but for those that the address sets."""
        given = self._psycopg.conninfo.conninfo_to_dict(self._address)
        return {name: seconds for name, seconds in _WAITING.items() if name not in given}

    @contextmanager
    def _transaction(self) -> Iterator[Connection[Any]]:
        try:
            sql = self._connection()
            with sql.transaction():
                yield sql
        except self._psycopg.errors.IntegrityError:
            raise
        except self._psycopg.Error as error:
            if self._sql is not None:
                with suppress(self._psycopg.Error):
                    self._sql.close()
            raise StoreUnavailable(str(error).strip() or type(error).__name__) from error

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
        return [Published.from_json(document) for (document,) in rows]

    def append(self, batches: Sequence[Arrived]) -> list[Stored]:
        first: dict[bytes, int] = {}  # by identity: the place in the group
        for place, batch in enumerate(batches):
            first.setdefault(batch.id, place)
        made: dict[Slot, int] = {}
        with self._transaction() as sql:
            known = self._known(sql)
            writer = self._writer
            if not writer:
                row = sql.execute("INSERT INTO dither_writers (last) VALUES (0) RETURNING number").fetchone()
                writer = int(row[0]) if row else 0
            rows = [
                (identity, part, known.get(slot) or self._slot(sql, slot, made), self._sent + seq, data)
                for seq, (identity, place) in enumerate(first.items(), 1)
                for part, (slot, data) in enumerate(batches[place].parts)
            ]
            new = self._insert(sql, writer, [row for row in rows if row[1] == 0])
            self._insert(sql, writer, [row for row in rows if row[1] > 0 and row[0] in new])
            last = (self._sent + len(first), writer)
            sql.execute("UPDATE dither_writers SET last = %s WHERE number = %s", last)
            outcomes = [
                Stored.NEW if place == first[batch.id] and batch.id in new else self._repeated(sql, batch)
                for place, batch in enumerate(batches)
            ]
        self._writer, self._sent = writer, last[0]
        self._seen[writer] = self._sent
        self._slots |= made
        return outcomes

    def _known(self, sql: Connection[Any]) -> dict[Slot, int]:
        """Wait until nobody folds; return the slots whose numbers still hold."""
        sql.execute(f"SELECT pg_advisory_xact_lock_shared({LOCK})")
        row = sql.execute("SELECT generation FROM dither_meta").fetchone()
        if row is None or row[0] != self._generation:
            self._slots = {}
        return self._slots

    def _insert(self, sql: Connection[Any], writer: int, rows: list[_Row]) -> set[bytes]:
        if not rows:
            return set()
        ids, parts, slots, seqs, datas = map(list, zip(*rows, strict=True))
        done = sql.execute(INSERT, (writer, ids, parts, slots, seqs, datas), binary=True)
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

    def _repeated(self, sql: Connection[Any], batch: Arrived) -> Stored:
        rows = sql.execute(KEPT, (batch.id,), binary=True).fetchall()
        kept = [
            Kept(Slot(campaign, question, _day(day), label), folded, bytes(data))
            for campaign, question, day, label, folded, data in rows
        ]
        return compared(batch, kept)

    def refuse(self, counts: Mapping[RefusedKey, int]) -> None:
        with self._transaction() as sql:
            for key, count in sorted(counts.items(), key=lambda one: (one[0][:2], one[0].reason.value)):
                sql.execute(
                    "INSERT INTO dither_refused VALUES (%s, %s, %s, %s) ON CONFLICT (campaign, day, reason) "
                    "DO UPDATE SET count = dither_refused.count + excluded.count",
                    (key.campaign, key.day.toordinal(), key.reason.value, count),
                )

    @contextmanager
    def alone(self) -> Iterator[Connection[Any]]:
        """Begin a transaction during which nobody appends, and after which everybody counts anew."""
        with self._transaction() as sql:
            sql.execute(f"SELECT pg_advisory_xact_lock({LOCK})")
            sql.execute("UPDATE dither_meta SET generation = generation + 1")
            yield sql

    @contextmanager
    def snapshot(self) -> Iterator[Connection[Any]]:
        """Begin a transaction that sees the store as it is now, whatever others write."""
        with self._transaction() as sql:
            sql.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield sql

    def fold(self, campaign: str, day: datetime.date, mechanisms: Mechanisms) -> int:
        parts = 0
        query = (
            "SELECT number, question FROM dither_slots WHERE campaign = %s AND day = %s AND counts IS NULL"
        )
        with self.alone() as sql:
            for number, question in sql.execute(query, (campaign, day.toordinal())).fetchall():
                total = Total(mechanisms(campaign, question))
                some = "SELECT id, part, data FROM dither_reports WHERE slot = %s"
                with sql.cursor("folding", binary=True) as cursor:
                    cursor.execute(some, (number,))
                    while rows := cursor.fetchmany(_ROWS):
                        total.add([bytes(data) for _, _, data in rows])
                        parts += len(rows)
                        digests = [(part_digest(bytes(data)), one, part) for one, part, data in rows]
                        with sql.cursor() as other:
                            other.executemany(
                                "UPDATE dither_reports SET data = %s WHERE id = %s AND part = %s", digests
                            )
                sql.execute(
                    "UPDATE dither_slots SET n = %s, counts = %s WHERE number = %s",
                    (total.n, pack_counts(total.counts), number),
                )
        return parts

    def forget(self, before: datetime.date) -> int:
        with self._transaction() as sql:
            gone = "SELECT number FROM dither_slots WHERE counts IS NOT NULL AND day < %s"
            done = sql.execute(f"DELETE FROM dither_reports WHERE slot IN ({gone})", (before.toordinal(),))
        return done.rowcount

    def delete(self, campaign: str) -> None:
        with self.alone() as sql:
            of = "SELECT number FROM dither_slots WHERE campaign = %s"
            sql.execute(f"DELETE FROM dither_reports WHERE slot IN ({of})", (campaign,))
            sql.execute("DELETE FROM dither_slots WHERE campaign = %s", (campaign,))

    # --- reading

    def reloaded(self) -> bool:
        with self._transaction() as sql:
            row = sql.execute("SELECT generation FROM dither_meta").fetchone()
        if row is None or row[0] == self._generation:
            return False
        self._generation, self._seen, self._slots = int(row[0]), {}, {}
        return True

    def counted(self) -> Iterator[tuple[Slot, Integers, int]]:
        with self._transaction() as sql:
            query = (
                "SELECT campaign, question, day, label, n, counts FROM dither_slots WHERE counts IS NOT NULL"
            )
            rows = sql.execute(query).fetchall()
        for campaign, question, day, label, n, counts in rows:
            yield Slot(campaign, question, _day(day), label), unpack_counts(bytes(counts)), n

    def news(self) -> Iterator[tuple[Slot, list[bytes]]]:
        with self.snapshot() as sql:
            row = sql.execute("SELECT generation FROM dither_meta").fetchone()
            if row is None or row[0] != self._generation:
                return  # folded meanwhile: the next look builds the counts anew
            for writer, last in sql.execute("SELECT number, last FROM dither_writers").fetchall():
                if last > self._seen.get(writer, 0):
                    yield from self._news_of(sql, writer)
                    self._seen[writer] = last

    def _news_of(self, sql: Connection[Any], writer: int) -> Iterator[tuple[Slot, list[bytes]]]:
        query = """SELECT slot, data FROM dither_reports WHERE writer = %b AND seq > %b
            AND slot IN (SELECT number FROM dither_slots WHERE counts IS NULL)"""
        with sql.cursor("news", binary=True) as cursor:
            cursor.execute(query, (writer, self._seen.get(writer, 0)))
            while rows := cursor.fetchmany(_ROWS):
                for number, parts in grouped(rows):
                    yield self._named(sql, number), parts

    def _named(self, sql: Connection[Any], number: int) -> Slot:
        query = "SELECT campaign, question, day, label FROM dither_slots WHERE number = %s"
        campaign, question, day, label = sql.execute(query, (number,)).fetchone() or ("", "", 1, "")
        return Slot(campaign, question, _day(day), label)

    def refused(self) -> dict[RefusedKey, int]:
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


def _day(ordinal: int) -> datetime.date:
    return datetime.date.fromordinal(ordinal)
