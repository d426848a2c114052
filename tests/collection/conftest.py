"""Both stores, for every test that asks for `make_store`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dither.collection.store.opening import open_store
from dither.collection.store.store import CollectorStore

MakeStore = Callable[[], CollectorStore]


@pytest.fixture
def database(postgresql: str) -> Iterator[str]:
    """The address of an empty database."""
    import psycopg

    name = f"d{os.urandom(6).hex()}"
    with psycopg.connect(postgresql, autocommit=True) as sql:
        sql.execute(f"CREATE DATABASE {name}")
    yield postgresql.replace("/postgres?", f"/{name}?", 1)
    with psycopg.connect(postgresql, autocommit=True) as sql:
        sql.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "store.sqlite")
    return str(request.getfixturevalue("database"))


@pytest.fixture
def make_store(address: str) -> Iterator[MakeStore]:
    """Open the store; what is open is closed at the end."""
    made: list[CollectorStore] = []

    def make() -> CollectorStore:
        made.append(open_store(address))
        return made[-1]

    yield make
    for store in made:
        store.close()
