"""Files that belong to their owner alone, and that are never replaced."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dither.errors import AccountUnusable
from dither.randomness import SYSTEM


def private(path: Path) -> tuple[int, int]:
    """Return what identifies a file; raise AccountUnusable if it is missing, or others may read it."""
    try:
        about = path.stat()
    except FileNotFoundError:
        raise AccountUnusable(
            f"there is no account {path}; dt.Account.create(path, epsilon=…) makes one"
        ) from None
    except OSError as error:
        raise AccountUnusable(f"{path} cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(about.st_mode):
        raise AccountUnusable(f"{path} is not a file")
    if os.name == "posix" and about.st_mode & 0o077:
        raise AccountUnusable(
            f"{path} may be read or written by others; say chmod 600 {path}, if it is yours"
        )
    if about.st_nlink > 1:  # the journal of an interrupted transaction is found by the name of the file
        raise AccountUnusable(f"{path} has another name (a hard link); remove one of the names")
    return about.st_dev, about.st_ino


def _named(part: Path, path: Path) -> None:
    """Publish a file under its name; raise FileExistsError if there is such a file."""
    try:
        os.link(part, path)  # unlike a renaming, this fails if there is such a file
    except FileExistsError:
        raise
    except OSError:  # a file system without links: reserve the name, then replace it
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
        part.replace(path)


@contextmanager
def created(path: Path) -> Iterator[Path]:
    """Yield a new file in the same folder, which has the name `path` afterwards unless that exists."""
    part = path.with_name(f".{path.name}.{SYSTEM.take(4).hex()}.part")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        yield part
        _named(part, path)
        if os.name == "posix":
            folder = os.open(path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
    except FileExistsError:
        raise AccountUnusable(f"{path} exists already; dt.Account.open(path) opens it") from None
    except OSError as error:
        raise AccountUnusable(f"{path} cannot be written: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)
