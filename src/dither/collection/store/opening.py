"""Opening a store by its address."""

from __future__ import annotations

from pathlib import Path

from dither.collection.store.sqlite import (
    SqliteStore,
)
from dither.collection.store.store import CollectorStore
from dither.errors import InvalidParameter

_SCHEMES = ("postgresql://", "postgres://")


def is_postgresql(address: str) -> bool:
    """Return whether an address is of PostgreSQL, not of a file; raise InvalidParameter for others."""
    known = address.startswith(_SCHEMES)
    if "://" in address and not known:
        raise InvalidParameter(
            "expected a store to be the path of a file or an address "
            "postgresql://user@host/database, got "
            "another kind of address"
        )
    return known


def open_store(address: str) -> CollectorStore:
    """Open the store of an address; raise StoreUnusable if that fails."""
    if is_postgresql(address):
        from dither.collection.store.postgresql import PostgresqlStore

        return PostgresqlStore(address)
    return SqliteStore(Path(address))
