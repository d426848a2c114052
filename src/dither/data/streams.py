"""Bytes in and out: files by their endings, compressed files, and the standard streams, whose name is "-"."""

from __future__ import annotations

import gzip
import io
import shutil
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, AnyStr, BinaryIO, Final, TextIO

from dither.data.dialect import Dialect
from dither.errors import InvalidParameter, MissingExtra
from dither.foundation.atomic import refuse_to_overwrite, rename_after

# The endings of file names, in lower case, and the class of each format: it is imported when a file of the
# format is first read or written.
TABLES: Final = {
    ".csv": "formats.csv.Csv",
    ".tsv": "formats.csv.Csv",
    ".jsonl": "formats.jsonl.JsonLines",
    ".ndjson": "formats.jsonl.JsonLines",
    ".parquet": "formats.columnar.Parquet",
    ".arrow": "formats.columnar.ArrowFile",
    ".feather": "formats.columnar.ArrowFile",
    ".xlsx": "formats.excel.Excel",
}
SURVEYS: Final = dict.fromkeys((".sav", ".zsav", ".dta"), "formats.labelled.LabelledFile")  # only read
TRIPS: Final = {
    ".gpx": "trips.gpx.Gpx",
    ".geojson": "trips.geojson.GeoJson",
    ".json": "trips.geojson.GeoJson",
    ".csv": "trips.trips_csv.TripCsv",
    ".gpkg": "trips.geopandas.GeoPackage",
    ".parquet": "trips.geopandas.GeoParquet",
}


COMPRESSED: Final = (".gz", ".zst")  # endings after the one of the format, as in trips.csv.gz
STANDARD: Final = "-"
MOST_LINE: Final = 1 << 24  # characters: more than any specification
KEPT: Final = 1 << 22  # bytes of standard input that can be read twice: more than any specification
_BLOCK: Final = 1 << 13  # characters of lines that are read at once: as many as Python decodes at once
_HEAD: Final = 4  # bytes of the longest byte-order mark


def is_standard(path: Path) -> bool:
    """Return whether a path is the standard stream."""
    return str(path) == STANDARD


def shown_name(path: Path) -> str:
    """Return the name of a file for a message."""
    return "standard input" if is_standard(path) else path.name


def ending(path: Path) -> str:
    """Return the ending that determines the format, in lower case.

    For compressed files it is the second last.
    """
    if is_standard(path):
        return ".csv"
    last = path.suffix.lower()
    return Path(path.stem).suffix.lower() if last in COMPRESSED else last


@contextmanager
def byte_stream(path: Path) -> Iterator[BinaryIO]:
    """Open a file to read its bytes, decompressed if its name ends in .gz or .zst."""
    last = path.suffix.lower()
    try:
        if is_standard(path):
            yield _PIPE.reader()
        elif last == ".gz":
            with gzip.open(path, "rb") as stream:
                yield stream  # type: ignore[misc]
        elif last == ".zst":
            with _zstandard(path, "rb") as stream:
                yield stream
        else:
            with path.open("rb") as stream:
                yield stream
    except (EOFError, zlib.error):
        raise _damage_error(path) from None
    except OSError as error:
        if error.errno is not None or last not in COMPRESSED:  # from the system, such as a missing file
            raise
        raise _damage_error(path) from None
    except Exception as error:
        if type(error).__name__ != "ZstdError":
            raise
        raise _damage_error(path) from None


@contextmanager
def text_stream(path: Path, dialect: Dialect) -> Iterator[TextIO]:
    """Open a file to read its text. The encoding is the dialect's; a byte-order mark is skipped."""
    with byte_stream(path) as stream:
        buffered = io.BufferedReader(stream) if not hasattr(stream, "peek") else stream  # type: ignore[type-var]
        encoding = dialect.encoding_of(buffered.peek(_HEAD)[:_HEAD])
        text = io.TextIOWrapper(buffered, encoding=encoding, newline="")
        try:
            yield text
        except UnicodeError:
            raise not_text(path, encoding) from None
        finally:
            if is_standard(path):
                text.detach()


def first_line(path: Path) -> bytes:
    """Return the first line of a file, decompressed."""
    with byte_stream(path) as stream:
        return read_line(path, stream)


def read_line(path: Path, stream: IO[AnyStr]) -> AnyStr:
    """Return the next line. Raise InvalidParameter if it is too long: a small file may decompress to it."""
    line = stream.readline(MOST_LINE)
    _check_length(path, line)
    return line


def _check_length(path: Path, line: str | bytes) -> None:
    if len(line) >= MOST_LINE:
        raise InvalidParameter(
            f"{shown_name(path)}: expected a table of text with lines below {MOST_LINE} characters; choose "
            "another file"
        )


def lines(path: Path, stream: TextIO) -> Iterator[str]:
    """Return the remaining lines, read in blocks; `read_line` would refuse none of them."""
    return chain.from_iterable(_line_blocks(path, stream))


def _line_blocks(path: Path, stream: TextIO) -> Iterator[list[str]]:
    while block := stream.read(_BLOCK):
        found = io.StringIO(block + read_line(path, stream), newline="").readlines()  # to the end of a line
        _check_length(path, found[-1])
        yield found


def not_text(path: Path, encoding: str = "utf-8") -> InvalidParameter:
    """Return the error for a text file in another encoding."""
    name = "UTF-8" if encoding.startswith("utf-8") else encoding
    return InvalidParameter(
        f"expected {name} text in {shown_name(path)}; pass its encoding "
        "(Dialect(encoding='cp1252') is usual for "
        "Western European files of Windows), or save it as UTF-8 first"
    )


@contextmanager
def byte_sink(path: Path) -> Iterator[BinaryIO]:
    """Open a new file for writing, compressed if its name ends in .gz or .zst."""
    last = path.suffix.lower()
    if last == ".gz":
        # No name and no time in the header: equal reports make equal files.
        with path.open("xb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as stream:
            yield stream  # type: ignore[misc]
    elif last == ".zst":
        with _zstandard(path, "wb") as stream:
            yield stream
    else:
        with path.open("xb") as stream:
            yield stream


@contextmanager
def text_sink(path: Path) -> Iterator[TextIO]:
    """Open a new file for writing UTF-8 text, with line ends as written."""
    with byte_sink(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        yield text
        text.flush()
        text.detach()


@contextmanager
def output_path(out: Path, *inputs: Path, force: bool) -> Iterator[Path]:
    """Yield the path to write to: the file `out` appears, or standard output is written, at the end."""
    if is_standard(out):
        with TemporaryDirectory(prefix="dither-") as folder:
            part = Path(folder) / "reports.csv"
            yield part
            with part.open("rb") as stream:
                shutil.copyfileobj(stream, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        return
    refuse_to_overwrite(out, *inputs, force=force)
    with rename_after(out) as part:
        yield part


def _zstandard(path: Path, mode: str) -> Any:
    """Return an open .zst file: by Python 3.14 or later, otherwise by pyarrow (extra `frames`)."""
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]

        return zstd.open(path, mode)
    except ImportError:
        pass
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra(".zst files before Python 3.14", "frames") from None
    if mode == "rb":
        return io.BufferedReader(pyarrow.input_stream(str(path), compression="zstd"))
    path.touch(exist_ok=False)
    return pyarrow.output_stream(str(path), compression="zstd")


def _damage_error(path: Path) -> InvalidParameter:
    return InvalidParameter(f"expected {path.name} to be a valid {path.suffix} file; write it again")


class _Replayed(io.RawIOBase):
    """A stream whose first bytes can be read again."""

    def __init__(self, pipe: _Pipe) -> None:
        self._pipe, self._at = pipe, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._pipe.take(self._at, len(buffer))
        self._at += len(data)
        buffer[: len(data)] = data
        return len(data)


class _Pipe:
    """Standard input. Its first `KEPT` bytes are remembered, so that the head of a file can be looked at."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._stream: IO[bytes] | None = None
        self._past = False

    def reader(self) -> BinaryIO:
        """Return standard input from its beginning."""
        stream = sys.stdin.buffer
        if stream is not self._stream:  # tests put others in its place
            self._kept, self._stream, self._past = bytearray(), stream, False
        if self._past:
            raise InvalidParameter(
                "expected a file, because standard input can be read only once; save it as a file first"
            )
        return io.BufferedReader(_Replayed(self))

    def take(self, at: int, count: int) -> bytes:
        if at < len(self._kept):
            return bytes(self._kept[at : at + count])
        data = (self._stream.read(count) if self._stream else b"") or b""
        if len(self._kept) < KEPT and not self._past:
            self._kept += data
        elif data:
            self._past, self._kept = True, bytearray()
        return data


_PIPE: Final = _Pipe()
