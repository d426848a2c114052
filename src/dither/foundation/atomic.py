"""Files that appear under their names only when they are complete, and locks of files.

A partial file is not visible after a crash. A completed file survives a power failure.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from dither.errors import InvalidParameter

if TYPE_CHECKING:
    import sqlite3


@contextmanager
def rename_after(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder; rename it to `path` if no error is raised inside.

    The temporary name has the ending of `path`, since some libraries choose the format by it. Raise
    FileNotFoundError, naming the folder, if the folder does not exist.
    """
    _check_folder(path)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part{path.suffix}")
    try:
        yield part
        with part.open("rb+") as stream:
            os.fsync(stream.fileno())
        part.replace(path)
        sync_folder(path.parent)
    finally:
        part.unlink(missing_ok=True)


def _check_folder(path: Path) -> None:
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "folder not found; create it first", str(path.parent))


def sync_folder(folder: Path) -> None:
    """Flush a folder's file names to the disk, if the system can open folders."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def new_private_file(path: Path) -> Iterator[Path]:
    """Yield a new file that only its owner may read, and name it `path` if no error is raised inside.

    Raise FileExistsError if `path` exists.
    """
    _check_folder(path)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        yield part
        with part.open("rb+") as stream:
            os.fsync(stream.fileno())
        _give_name(part, path)
        sync_folder(path.parent)
    finally:
        part.unlink(missing_ok=True)


def _give_name(part: Path, path: Path) -> None:
    """Publish a file under its name; raise FileExistsError if the name is taken."""
    try:
        os.link(part, path)  # unlike a renaming, this fails if `path` exists
    except FileExistsError:
        raise
    except OSError:  # a file system without links: reserve the name, then replace it
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
        part.replace(path)


def lock_beside(path: Path, seconds: float = 0.0) -> sqlite3.Connection:
    """Take the lock of a file until it is closed; raise TimeoutError if it stays taken for `seconds`.

    The lock is an open transaction of SQLite on the empty file `path` + ".lock". SQLite has such locks on
    every system, and they end with the process. The file is not deleted.
    """
    import sqlite3

    _check_folder(path)
    beside = path.with_name(path.name + ".lock")
    with suppress(FileExistsError):  # closing an existing file would drop this process's lock
        os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    lock = sqlite3.connect(beside, timeout=seconds, isolation_level=None, check_same_thread=False)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error:
        lock.close()
        raise TimeoutError(
            f"expected {path} to be free, but another process uses it; wait until that process ends, and "
            "try again"
        ) from None
    return lock


def refuse_to_overwrite(path: Path, *inputs: Path, force: bool = False) -> None:
    """Raise InvalidParameter if writing `path` would destroy an input, or any file unless `force` is set."""
    if not path.exists():
        return
    for source in inputs:
        if source.exists() and path.samefile(source):
            raise InvalidParameter(
                f"expected an output other than the input {path.name}; give the output another name"
            )
    if not force:
        raise InvalidParameter(
            f"expected a new output file, but {path.name} exists; give the output another name, or "
            "use force=True"
        )


@contextmanager
def whole(path: Path, mode: int = 0o666) -> Iterator[TextIO]:
    """Open a text file for writing that appears under its name if no error is raised inside.

    The file has the permissions `mode`, less the umask, from the start.
    """

    def create(name: str, flags: int) -> int:
        return os.open(name, flags, mode)

    with (
        rename_after(path) as part,
        open(part, "x", newline="", encoding="utf-8", opener=create) as stream,
    ):
        yield stream
