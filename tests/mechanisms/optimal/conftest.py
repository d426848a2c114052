"""A folder for solved designs that is empty at first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dither.mechanisms.optimal import store


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("DITHER_CACHE", str(tmp_path))
    store.find.cache_clear()
    yield tmp_path
    store.find.cache_clear()
