"""The tables of a PostgreSQL store, and its longer statements."""

from __future__ import annotations

from typing import Final

VERSION: Final = 1
LOCK: Final = 0x64697463  # the advisory lock of a store: shared to append, alone to fold or delete
SCHEMA: Final = f"""
SELECT pg_advisory_xact_lock({LOCK});
CREATE TABLE IF NOT EXISTS dither_meta (version INTEGER NOT NULL, generation BIGINT NOT NULL);
INSERT INTO dither_meta SELECT {VERSION}, 0 WHERE NOT EXISTS (SELECT 1 FROM dither_meta);
CREATE TABLE IF NOT EXISTS dither_writers (number SERIAL PRIMARY KEY, last BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS dither_campaigns (number SERIAL, id TEXT PRIMARY KEY, name TEXT NOT NULL,
    version BIGINT NOT NULL, document TEXT NOT NULL, UNIQUE (name, version));
CREATE TABLE IF NOT EXISTS dither_slots (number SERIAL PRIMARY KEY, campaign TEXT NOT NULL,
    question TEXT NOT NULL, day INTEGER NOT NULL, label TEXT NOT NULL, n BIGINT, counts BYTEA);
CREATE UNIQUE INDEX IF NOT EXISTS dither_open ON dither_slots (campaign, question, day, label)
    WHERE counts IS NULL;
CREATE TABLE IF NOT EXISTS dither_reports (id BYTEA NOT NULL, part INTEGER NOT NULL, slot INTEGER NOT NULL,
    writer INTEGER NOT NULL, seq BIGINT NOT NULL, data BYTEA NOT NULL, PRIMARY KEY (id, part));
CREATE INDEX IF NOT EXISTS dither_news ON dither_reports (writer, seq);
CREATE TABLE IF NOT EXISTS dither_refused (campaign TEXT NOT NULL, day INTEGER NOT NULL, reason TEXT NOT NULL,
    count BIGINT NOT NULL, PRIMARY KEY (campaign, day, reason));
"""
INSERT: Final = """INSERT INTO dither_reports (id, part, slot, writer, seq, data)
    SELECT new.id, new.part, new.slot, %b, new.seq, new.data FROM
    unnest(%b::bytea[], %b::integer[], %b::integer[], %b::bigint[], %b::bytea[])
    AS new (id, part, slot, seq, data)
    ON CONFLICT DO NOTHING RETURNING id"""
NEW_SLOT: Final = """INSERT INTO dither_slots (campaign, question, day, label) VALUES (%s, %s, %s, %s)
    ON CONFLICT DO NOTHING"""
KEPT: Final = """SELECT campaign, question, day, label, counts IS NOT NULL, data
    FROM dither_reports JOIN dither_slots ON number = slot WHERE id = %b ORDER BY part"""
