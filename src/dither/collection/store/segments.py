"""Segments of a PostgreSQL store: the partitions with reports and identities.

A segment has a bounded size, and reports of one day. All processes store in the *present* segment at once.
Its small index recognises a repeated batch. A process that begins another segment, or stores reports of
another day, has an exclusive lock. All other segments are then committed. `closed` is the last tick at which
a segment other than the present one received a row.

Each process has a filter of the identities in segments that were closed before a tick that is over. It reads
such a segment only if the filter says that it may have an identity. So the cost of a batch does not grow with
the number of identities.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dither.collection.store.identities import IdentityFilter
from dither.collection.store.store import StoreUnavailable
from dither.collection.store.versions import FIRST, present_version

if TYPE_CHECKING:
    from psycopg import Connection

SEGMENTED: Final = 4  # the version from which on there are segments
DAY: Final = 11  # lower bits of a segment number: they count segments of a day; the higher bits are the day
LOCK: Final = 0x64697463  # the advisory lock of a store: shared to append, exclusive to fold or delete
PATIENCE: Final = "1s"  # time to wait for readers or writers, who wait for this process meanwhile
_INDEXES: Final = 1 << 27  # largest size of the indexes of a segment, in bytes
_LIST: Final = """SELECT inhrelid::regclass::text FROM pg_inherits
    WHERE inhparent = 'dither_reports'::regclass"""  # the partitions; each name ends with the number
_NEW: Final = """CREATE TABLE dither_reports_{0} (LIKE dither_reports);
    ALTER TABLE dither_reports ATTACH PARTITION dither_reports_{0} FOR VALUES IN ({0})"""
_FULL: Final = """SELECT segment FROM dither_meta
    WHERE pg_indexes_size(to_regclass('dither_reports_' || segment))
    > least(%s, pg_size_bytes(current_setting('shared_buffers')) / 2)"""
_CLOSE: Final = """INSERT INTO dither_segments VALUES (%s, %s)
    ON CONFLICT (number) DO UPDATE SET closed = excluded.closed"""

_LATE: Final = "SELECT number FROM dither_segments WHERE closed > %s"


class Meta(NamedTuple):
    """The generation of a store, the present tick and segment, and the largest `closed` of segments."""

    generation: int
    tick: int
    segment: int
    closed: int


def read_meta(sql: Connection[Any], before: str = "") -> Meta:
    """Execute some statements; return the state of the store."""
    found = sql.execute(f"{before}SELECT version, generation, tick, segment, closed FROM dither_meta")
    while found.nextset():
        pass
    oldest, *state = found.fetchone() or (FIRST, 0, 0, 0, 0)
    if oldest > present_version():
        raise StoreUnavailable("a later release changed the store; install it here")
    return Meta(*state)


def list_segments(sql: Connection[Any]) -> dict[int, str]:
    """Return the numbers of all segments, in order, and the names of their tables."""
    return dict(sorted((int(name.rpartition("_")[2]), name) for (name,) in sql.execute(_LIST).fetchall()))


def of_days(segments: Iterable[int], days: Iterable[int]) -> list[int]:
    """Return the segments of some days."""
    some = set(days)
    return [segment for segment in segments if segment >> DAY in some]


def written_after(sql: Connection[Any], meta: Meta, tick: int) -> list[int]:
    """Return the segments that may have rows of later ticks: the present one, and those that closed since."""
    if meta.closed <= tick:
        return [meta.segment]
    found = sql.execute(_LATE, (tick,)).fetchall()
    return [meta.segment, *(number for (number,) in found)]


def make_segments(sql: Connection[Any], days: Iterable[int], present: int = 0) -> tuple[dict[int, int], int]:
    """Return the last segments of days to store in, made if missing, and `closed`; nobody else stores.

    The last day has the present segment afterwards.
    """
    last = {segment >> DAY: segment for segment in list_segments(sql)}
    for day in sorted(set(days) - set(last)):
        sql.execute(_NEW.format(day << DAY))
    made = {day: last.get(day, day << DAY) for day in days}
    return made, _begin(sql, max(made.values(), default=0), {*made.values(), *filter(None, [present])})


def drop_segment(sql: Connection[Any], segment: int, name: str) -> None:
    """Remove a segment with its rows."""
    sql.execute(f"DROP TABLE {name}")
    sql.execute(f"DELETE FROM dither_segments WHERE number = {segment}")
    sql.execute(f"UPDATE dither_meta SET segment = 0 WHERE segment = {segment}")


def begin_after_full(sql: Connection[Any]) -> None:
    """Begin another segment of the present day if the indexes of the present one are large.

    They are to stay in the memory of the database. If others hold the store for long, the next call tries
    again.
    """
    (segment,) = sql.execute(_FULL, (_INDEXES,)).fetchone() or (0,)
    if not segment or not (segment + 1) % (1 << DAY):
        return
    from psycopg.errors import LockNotAvailable

    sql.execute(f"SET LOCAL lock_timeout = '{PATIENCE}'")
    with suppress(LockNotAvailable), sql.transaction():
        if read_meta(sql, f"SELECT pg_advisory_xact_lock({LOCK}); ").segment == segment:  # nobody was faster
            sql.execute(_NEW.format(segment + 1))
            _begin(sql, segment + 1, {segment})


def _begin(sql: Connection[Any], segment: int, written: Iterable[int]) -> int:
    """Make a segment the present one, and close those that were `written`; return `closed`.

    No process has read the present tick yet, and none begins another one before this transaction ends.
    """
    query = "UPDATE dither_meta SET segment = %s, closed = tick RETURNING closed"
    (closed,) = sql.execute(query, (segment,)).fetchone() or (0,)
    with sql.cursor() as cursor:
        cursor.executemany(_CLOSE, [(number, closed) for number in written])
    return int(closed)


class KnownIdentities:
    """The identities that a process has read, and those that it has to look up."""

    def __init__(self) -> None:
        self._filter = IdentityFilter()
        self._tick = -1  # segments that were closed up to this tick are in the filter
        self._until: dict[int, int] = {}  # and the identities that each of them had up to a tick

    def learn(self, sql: Connection[Any], meta: Meta, over: int) -> None:
        """Read the identities of segments that closed later, up to a tick that is over, in a snapshot."""
        segments, closed = {}, {}
        if meta.closed > self._tick:
            segments = list_segments(sql)
            self._filter.keep(segments)
            closed = dict(sql.execute("SELECT number, closed FROM dither_segments").fetchall())
        for segment, name in segments.items():
            after = self._until.get(segment, -1) if segment in self._filter else -1
            if segment == meta.segment or not after < closed[segment] <= over:
                continue
            self._until.pop(segment, None)  # if this fails, all of it is read again
            if segment not in self._filter:
                self._filter.put(segment, _read(sql, name, after, over))
            elif not self._filter.add(segment, _read(sql, name, after, over)):  # it was opened again
                identities = _read(sql, name, -1, over)
                self._filter.put(segment, identities, room=len(identities) // 16)
            self._until[segment] = over
        self._tick = over

    def find(self, sql: Connection[Any], identities: Sequence[bytes], closed: int) -> set[bytes]:
        """Return the identities that are stored in other segments than the present one.

        `closed` is the largest one of the store.
        """
        places = self._filter.find(identities)
        if closed > self._tick:  # the filter lacks identities of some segments
            late = sql.execute(_LATE, (self._tick,)).fetchall()
            places |= {number: list(identities) for (number,) in late}
        found: set[bytes] = set()
        for segment, some in places.items():
            query = f"SELECT id FROM dither_reports WHERE segment = {segment} AND id = ANY(%b::bytea[])"
            rows = sql.execute(query, (some,), binary=True).fetchall()
            found |= {bytes(identity) for (identity,) in rows}
        return found


def _read(sql: Connection[Any], name: str, after: int, over: int) -> bytes:
    """Return the identities of a segment that were stored after a tick, up to another one."""
    query = f"SELECT string_agg(id, '') FROM {name} WHERE part = 0 AND tick > {after} AND tick <= {over}"
    (found,) = sql.execute(query, binary=True).fetchone() or (None,)
    return bytes(found or b"")
