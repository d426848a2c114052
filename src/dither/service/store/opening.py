"""The store of an address: a path of a SQLite file, or the address of a PostgreSQL database."""

from __future__ import annotations

from pathlib import Path

from dither.errors import InvalidParameter
from dither.service.store.store import CollectorStore

_SCHEMES = ("postgresql://", "postgres://")


def is_postgresql(address: str) -> bool:
    """Return whether an address is one of a PostgreSQL database."""
    return address.startswith(_SCHEMES)


def open_store(address: str) -> CollectorStore:
    """Open the store of an address; raise StoreUnusable if that fails."""
    if is_postgresql(address):
        from dither.service.store.postgresql import PostgresqlStore

        return PostgresqlStore(address)
    if "://" in address:
        raise InvalidParameter("a store is the path of a file, or an address postgresql://user@host/database")
    from dither.service.store.sqlite import SqliteStore

    return SqliteStore(Path(address))
