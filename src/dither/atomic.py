"""Files that appear under their names when they are whole: a crash or a full disk leaves no half file."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def renamed(path: Path) -> Iterator[Path]:
    """Give a temporary name beside a file's, which becomes the file when everything was written."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part{path.suffix}")  # some go by the ending
    try:
        yield part
        with part.open("rb+") as stream:
            os.fsync(stream.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def whole(path: Path) -> Iterator[TextIO]:
    """Open a text file that appears under its name only when everything was written."""
    with renamed(path) as part, part.open("x", newline="", encoding="utf-8") as stream:
        yield stream
