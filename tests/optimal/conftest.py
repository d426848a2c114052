"""Solved designs are remembered in a folder of the tests' own."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="session")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DITHER_CACHE", str(tmp_path_factory.mktemp("designs")))
        yield  # type: ignore[misc]


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from dither.optimal import store  # noqa: PLC0415

    monkeypatch.setenv("DITHER_CACHE", str(tmp_path))
    store.find.cache_clear()
    yield tmp_path  # type: ignore[misc]
    store.find.cache_clear()
