"""Files that appear under their names when they are complete: a crash leaves no partial file."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from dither.errors import InvalidParameter


@contextmanager
def rename_after(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder, which is renamed to `path` if no error is raised inside.

    The temporary name has the ending of `path`, since some libraries choose the format by it. Raise
    FileNotFoundError, with the folder and not with the temporary name, if the folder does not exist.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(path.parent))
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part{path.suffix}")
    try:
        yield part
        with part.open("rb+") as stream:
            os.fsync(stream.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def refuse_to_overwrite(path: Path, *inputs: Path, force: bool = False) -> None:
    """Raise InvalidParameter if writing `path` would destroy an input, or any file unless `force` is set."""
    if not path.exists():
        return
    for source in inputs:
        if source.exists() and path.samefile(source):
            raise InvalidParameter(f"{path.name} is the input; give the output another name")
    if not force:
        raise InvalidParameter(
            f"{path.name} exists; give the output another name, or force=True (at the terminal --force)"
        )


@contextmanager
def whole(path: Path, mode: int = 0o666) -> Iterator[TextIO]:
    """Open a text file for writing that appears under its name if no error is raised inside.

    It has the permissions of `mode`, less those of the umask, from its first byte on.
    """

    def create(name: str, flags: int) -> int:
        return os.open(name, flags, mode)

    with (
        rename_after(path) as part,
        open(part, "x", newline="", encoding="utf-8", opener=create) as stream,
    ):
        yield stream
