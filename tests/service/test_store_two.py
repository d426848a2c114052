"""Two collectors on one SQLite file: the second is refused, under whatever name it asks for the file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dither.service.store.sqlite import SqliteStore
from dither.service.store.store import StoreUnusable


def test_a_second_collector_is_refused_under_every_name(tmp_path: Path) -> None:
    """A lock beside the name that was given would be another one for a link."""
    place, folder = tmp_path / "store.sqlite", tmp_path / "link"
    store = SqliteStore(place, synchronous="OFF")
    folder.symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "other.sqlite").symlink_to(place)
    (tmp_path / "sub").mkdir()
    names = (
        place,
        folder / "store.sqlite",
        tmp_path / "other.sqlite",
        tmp_path / "sub" / ".." / "store.sqlite",
    )
    for name in names:
        with pytest.raises(StoreUnusable, match="in use"):
            SqliteStore(name)
    os.link(place, tmp_path / "hard.sqlite")
    with pytest.raises(StoreUnusable, match="hard link"):
        SqliteStore(tmp_path / "hard.sqlite")
    store.close()
    (tmp_path / "hard.sqlite").unlink()
    for name in names:
        SqliteStore(name).close()
    assert not (tmp_path / "other.sqlite.lock").exists()
