"""Files of these tests are in memory where the system offers that: commits wait long for a busy disk."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    if not MEMORY.is_dir():
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(prefix="dither", dir=MEMORY))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
