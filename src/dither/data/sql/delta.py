"""Delta tables of reports: addresses, errors in one sentence, and the active files for DuckDB."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from dither.errors import DitherError, InvalidParameter, MissingExtra

if TYPE_CHECKING:
    import deltalake
    import pyarrow.dataset

SCHEMES: Final = ("s3", "gs", "az", "abfs", "abfss", "file")
LOG: Final = "_delta_log"  # the subfolder that makes a folder a table
WITHDRAWN: Final = "withdrawn"  # the campaign of tombstones
_ADDRESS: Final = re.compile(rf"({'|'.join(SCHEMES)})://[^\s@?#]+")
_KINDS: Final = (  # words in the libraries' errors, and their meaning
    (("accessdenied", "forbidden", "403", "permission denied", "signaturedoesnotmatch"), "no permission"),
    (("nosuchbucket", "bucket does not exist", "404"), "unknown bucket or container"),
    (("unauthorized", "401", "credential"), "no credentials in the environment, or wrong ones"),
    (("scheme is not allowed",), "its address begins with http://, which the environment does not allow"),
    (("error sending", "connect", "timed out", "timeout", "dns"), "the object store does not answer"),
)


def is_object_store(text: str) -> bool:
    """Return whether a text is the address of a folder or bucket that may hold a Delta table."""
    return text.partition("://")[1] != "" and text.partition("://")[0] in SCHEMES


def check_address(address: str) -> None:
    """Raise InvalidParameter unless an address has no credentials, query or fragment in it."""
    if "://" in address and not _ADDRESS.fullmatch(address):
        raise InvalidParameter(
            "expected a table to be a folder, or an address such as s3://bucket/reports "
            f"({', '.join(SCHEMES)}) without user, query and fragment; credentials come from the "
            "environment"
        )


def load_delta() -> ModuleType:
    """Return the library; raise MissingExtra if it is not installed."""
    try:
        import_module("pyarrow.dataset")
        import_module("deltalake.exceptions")
        return import_module("deltalake")
    except ImportError:
        raise MissingExtra("Delta tables", "delta") from None


def is_table_folder(folder: Path) -> bool:
    """Return whether a folder of this machine holds a Delta table."""
    return (folder / LOG).is_dir()


def open_table(address: str) -> deltalake.DeltaTable | None:
    """Return the table at an address, or None."""
    module = load_delta()
    try:
        return module.DeltaTable(address)
    except module.exceptions.TableNotFoundError:
        return None


def active_files(address: str) -> tuple[list[str], pyarrow.dataset.Dataset | None]:
    """Return the active files of a table: their names on this machine, or one dataset of remote files.

    Raise InvalidParameter if the table is missing.
    """
    check_address(address)
    with table_errors(address):
        made = open_table(address)
        if made is None:
            raise InvalidParameter(f"cannot find a Delta table at {address}; check the address")
        files = made.file_uris()
        if address.startswith("file://") and files:
            return [unquote(file.removeprefix("file://")) for file in files], None
        return [], made.to_pyarrow_dataset()


@contextmanager
def table_errors(address: str) -> Iterator[None]:
    """Turn an error of the library into one sentence without any text of the environment."""
    module = load_delta()
    try:
        yield
    except DitherError:
        raise
    except (module.exceptions.DeltaError, OSError, ValueError) as error:
        words = str(error).lower()
        # A status, but not inside a longer number such as a port or the identity of a request.
        patterns = ((rf"(?<!\d)(?:{'|'.join(signs)})(?!\d)", reason) for signs, reason in _KINDS)
        known = (reason for pattern, reason in patterns if re.search(pattern, words))
        reason = next(known, f"it cannot be read or written ({type(error).__name__})")
        raise InvalidParameter(f"cannot read the table {address}: {reason}") from None
