"""The tables of a PostgreSQL store, and its longer statements."""

from __future__ import annotations

from typing import Final

VERSION: Final = 2
LOCK: Final = 0x64697463  # the advisory lock of a store: shared to append, alone to fold or delete
TICKS: Final = 0x64697463 << 32  # and the tick: the lock of a tick, shared by whoever appends to it
SCHEMA: Final = f"""
SELECT pg_advisory_xact_lock({LOCK});
CREATE TABLE IF NOT EXISTS dither_meta (version INTEGER NOT NULL, generation BIGINT NOT NULL,
    tick BIGINT NOT NULL DEFAULT 1);
INSERT INTO dither_meta SELECT {VERSION}, 0 WHERE NOT EXISTS (SELECT 1 FROM dither_meta);
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
INSERT: Final = """INSERT INTO dither_reports (id, part, slot, tick, data)
    SELECT new.id, new.part, new.slot, %b, new.data FROM
    unnest(%b::bytea[], %b::integer[], %b::integer[], %b::bytea[]) AS new (id, part, slot, data)
    ON CONFLICT DO NOTHING RETURNING id"""
NEW_SLOT: Final = """INSERT INTO dither_slots (campaign, question, day, label) VALUES (%s, %s, %s, %s)
    ON CONFLICT DO NOTHING"""
NEXT: Final = """UPDATE dither_meta SET tick = tick + 1
    WHERE EXISTS (SELECT 1 FROM dither_reports WHERE dither_reports.tick = dither_meta.tick)"""
HELD: Final = f"""SELECT min((classid::bigint << 32) + objid::bigint - {TICKS}) FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND classid = {TICKS >> 32}
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""
KEPT: Final = """SELECT campaign, question, day, label, counts IS NOT NULL, data
    FROM dither_reports JOIN dither_slots ON number = slot WHERE id = %b ORDER BY part"""
