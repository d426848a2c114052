"""Checks of the form of a specification, before anything is built from it.

A specification is untrusted input. The size of its text and the depth of its data are limited. No key appears
twice. No number is infinite or longer than 256 bits. The kernels' own readers check ranges afterwards.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn

from dither.errors import DitherError, MalformedReport, MissingExtra, found

MOST_BYTES: Final = 1 << 24  # of a specification's text
MOST_DEPTH: Final = 24
MOST_ITEMS: Final = 1 << 21  # numbers, texts, lists and dictionaries together
MOST_BITS: Final = 256
_LAYOUT: Final = re.compile(r"[<|][iu][1248]")
_VERSION: Final = 2
_PARTS: Final = {"dither", "mechanism", "parameters", "fingerprint", "device", "codebook"}


def loads(text: object, what: str, most: int = MOST_BYTES) -> Any:
    """Return the data of a JSON text of at most `most` bytes; raise MalformedReport if it is not JSON."""
    if not isinstance(text, str | bytes | bytearray):
        raise MalformedReport(f"{what} must be a text, not {type(text).__name__}")
    length = len(text) if not isinstance(text, str) or text.isascii() else len(text.encode(errors="replace"))
    if length > most:
        raise MalformedReport(f"{what} has {length} bytes; at most {most} are allowed")
    try:
        data = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except MalformedReport:
        raise
    except (ValueError, RecursionError):
        raise MalformedReport(f"{what} is not valid JSON") from None
    bounded(data)
    return data


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise MalformedReport("a key appears twice in one part of the specification")
    return data


def _no_number(name: str) -> NoReturn:
    raise MalformedReport(f"{name} is not a number in JSON")


def bounded(data: Any) -> None:
    """Raise MalformedReport if data are too deeply nested, have too many parts, or too long a number."""
    level: list[Any] = [data]
    items = 0
    for _ in range(MOST_DEPTH):
        items += len(level)
        if items > MOST_ITEMS:
            raise MalformedReport(f"the specification has more than {MOST_ITEMS} parts")
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                if not all(isinstance(name, str) for name in one):
                    raise MalformedReport("the keys in a specification must be texts")
                inner += one.values()
            elif isinstance(one, list | tuple):
                inner += one
            else:
                _plain(one)
        level = inner
        if not level:
            return
    raise MalformedReport(f"the specification is nested more than {MOST_DEPTH} levels deep")


def _plain(one: Any) -> None:
    if one is None or isinstance(one, bool):
        return
    if isinstance(one, int):
        if one.bit_length() > MOST_BITS:
            raise MalformedReport(f"a number in the specification has more than {MOST_BITS} bits")
    elif isinstance(one, float):
        if not math.isfinite(one):
            raise MalformedReport("a number in the specification is not finite")
    elif not isinstance(one, str):
        raise MalformedReport(f"a specification cannot contain a {type(one).__name__}")


def check_specification(data: Any) -> None:
    """Raise MalformedReport if a part of a specification is missing or of a wrong type."""
    if not isinstance(data, dict) or "mechanism" not in data:
        raise MalformedReport("the specification has no part 'mechanism'")
    version = data.get("dither")
    if isinstance(version, bool) or not isinstance(version, int) or version != _VERSION:
        raise MalformedReport(
            f"the specification has version {found(version)}; this dither reads version {_VERSION}"
        )
    if set(data) != _PARTS:
        raise MalformedReport(f"a specification has exactly the parts {', '.join(sorted(_PARTS))}")
    bounded(data)
    for name in ("mechanism", "fingerprint", "device"):
        if not isinstance(data[name], str):
            raise MalformedReport(f"the part {name!r} of a specification must be a text")
    if not isinstance(data["parameters"], dict):
        raise MalformedReport("the part 'parameters' of a specification must be a dictionary")


def _side(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53


def check_header(header: Any, room: int) -> tuple[str, tuple[int, ...]]:
    """Return the dtype and the shape of reports; raise MalformedReport unless they fill `room` bytes."""
    if not isinstance(header, dict) or set(header) != {"specification", "dtype", "shape"}:
        raise MalformedReport("the header of reports must have the keys specification, dtype and shape")
    layout, shape = header["dtype"], header["shape"]
    if not isinstance(layout, str) or not _LAYOUT.fullmatch(layout):
        raise MalformedReport("the dtype of reports must be an integer of 1, 2, 4 or 8 bytes, such as <u2")
    if not isinstance(shape, list) or len(shape) > 8 or not all(map(_side, shape)):
        raise MalformedReport("the shape of reports must be a list of at most 8 whole numbers")
    if int(layout[-1]) * math.prod(shape) != room:
        raise MalformedReport(f"the shape of these reports does not fit the {room} bytes after the header")
    return layout, tuple(shape)


@contextmanager
def refused(what: str) -> Iterator[None]:
    """Convert every error of the block into MalformedReport, except MissingExtra.

    Untrusted data can make numpy, fractions or dictionaries raise errors of any type.
    """
    try:
        yield
    except (MalformedReport, MissingExtra):
        raise
    except DitherError as error:
        raise MalformedReport(f"{what} cannot be built: {error}") from None
    except Exception as error:
        raise MalformedReport(f"{what} cannot be built ({type(error).__name__})") from None
