"""Versions of stores, and the migrations that lead from one to the next."""

from __future__ import annotations

from typing import Final, NamedTuple

from dither.collection.store.store import StoreUnusable


class Migration(NamedTuple):
    """The statements that migrate a store of the previous version to this version.

    `oldest` is the oldest version whose releases may still use the store: if a migration only adds tables,
    releases that do not know them can write at the same time. {0} begins the names of tables, {1} is the type
    of bytes, {2} the expression of the digest of an identity. `database` are further statements for
    PostgreSQL.
    """

    version: int
    oldest: int
    statements: str
    database: str = ""

    def script(self, prefix: str = "", data: str = "BLOB", digest: str = "digest(id)") -> str:
        """Return the statements, with those that note the version."""
        noted = f"INSERT INTO {prefix}versions VALUES ({self.version}, {self.oldest});"
        return f"{self.statements.format(prefix, data, digest)}\n{noted}"


FIRST: Final = 2  # the version that SCHEMA of each store makes; migrations lead from it to the present one
MIGRATIONS: Final = [
    Migration(
        3,
        oldest=2,
        statements="""
CREATE TABLE {0}versions (version INTEGER PRIMARY KEY, oldest INTEGER NOT NULL);
CREATE TABLE {0}exports (file TEXT PRIMARY KEY, campaign TEXT NOT NULL, day INTEGER NOT NULL);
CREATE TABLE {0}notes (number INTEGER PRIMARY KEY, data {1} NOT NULL);
""",
    ),
    Migration(  # a store keeps digests of identities; earlier releases would not recognise them
        4,
        oldest=4,
        statements="""
ALTER TABLE {0}slots ADD COLUMN tick BIGINT;
CREATE TABLE {0}withdrawn (id {1} PRIMARY KEY, day INTEGER NOT NULL, tick BIGINT NOT NULL);
CREATE INDEX {0}withdrawals ON {0}withdrawn (tick);
UPDATE {0}reports SET id = {2};
""",
        # Reports and identities in segments by the day of their slot, so that days are dropped.
        database="""
ALTER TABLE dither_meta ADD COLUMN segment INTEGER NOT NULL DEFAULT 0;
ALTER TABLE dither_meta ADD COLUMN closed BIGINT NOT NULL DEFAULT 0;
CREATE TABLE dither_segments (number INTEGER PRIMARY KEY, closed BIGINT NOT NULL);
CREATE TABLE dither_by_day (id BYTEA NOT NULL, part INTEGER NOT NULL, slot INTEGER NOT NULL,
    tick BIGINT NOT NULL, data BYTEA NOT NULL, segment INTEGER NOT NULL, PRIMARY KEY (id, part, segment))
    PARTITION BY LIST (segment);
DO $$ DECLARE number INTEGER; BEGIN
    FOR number IN SELECT DISTINCT day << 11 FROM dither_slots LOOP
        EXECUTE format('CREATE TABLE dither_reports_%s PARTITION OF dither_by_day FOR VALUES IN (%s)',
            number, number);
    END LOOP;
END $$;
INSERT INTO dither_by_day SELECT id, part, slot, dither_reports.tick, data, day << 11
    FROM dither_reports JOIN dither_slots ON number = slot;
UPDATE dither_meta SET closed = tick;
INSERT INTO dither_segments SELECT DISTINCT day << 11, dither_meta.tick FROM dither_slots, dither_meta;
DROP TABLE dither_reports;
ALTER TABLE dither_by_day RENAME TO dither_reports;
CREATE INDEX dither_news ON dither_reports (tick);
""",
    ),
]


def present_version() -> int:
    """Return the version of the stores that this release makes."""
    return MIGRATIONS[-1].version


def pending(version: int, oldest: int, what: str) -> list[Migration]:
    """Return the migrations that a store waits for; raise StoreUnusable if this release cannot use it."""
    if version < FIRST:
        raise StoreUnusable(f"{what} is a store of version {version}, older than any that was released")
    if oldest > present_version():
        raise StoreUnusable(
            f"{what} is a store of version {version}, for releases from version {oldest} on; this "
            f"dither has version {present_version()}: install a later one"
        )
    return [migration for migration in MIGRATIONS if migration.version > version]
