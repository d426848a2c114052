"""Checks of the form of a specification, before anything is built from it.

A specification is untrusted input. The size of its text and the depth of its data are limited. No key appears
twice. No number is infinite or longer than 256 bits. The parameters of a mechanism have the types that its
class states: a whole number must not be written as 28.0, and ε must not be a text. The mechanisms' own
readers check ranges afterwards.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, Final, NoReturn

from dither import registry
from dither.errors import DitherError, InvalidParameter, MalformedReport, MissingExtra, found, unknown_name
from dither.mechanisms.base import Mechanism

VERSION: Final = 2  # of specifications, and of reports with theirs
MOST_BYTES: Final = 1 << 24  # of a specification's text
MOST_DEPTH: Final = 24
MOST_ITEMS: Final = 1 << 21  # numbers, texts, lists and dictionaries together
MOST_TEXT: Final = 1 << 20  # characters of a text other than the device text
MOST_BITS: Final = 256
_FRACTION: Final = re.compile(r"-?[0-9]{1,400}(/[0-9]{1,400})?")
_LAYOUT: Final = re.compile(r"[<|][iu][1248]")
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
    """Raise MalformedReport if a part of a specification is missing or of wrong type."""
    if not isinstance(data, dict) or "mechanism" not in data:
        raise MalformedReport("the specification has no part 'mechanism'")
    version = data.get("dither")
    if not isinstance(version, int) or version != VERSION:
        raise MalformedReport(
            f"the specification has version {found(version)}; this dither reads version {VERSION}"
        )
    if set(data) != _PARTS:
        raise MalformedReport(f"a specification has exactly the parts {', '.join(sorted(_PARTS))}")
    bounded(data)
    for name in ("mechanism", "fingerprint", "device"):
        if not isinstance(data[name], str):
            raise MalformedReport(f"the part {name!r} of a specification must be a text")
    if not isinstance(data["parameters"], dict):
        raise MalformedReport("the part 'parameters' of a specification must be a dictionary")


def check_parameters(kind: type[Mechanism[Any]], parameters: Mapping[str, Any]) -> None:
    """Raise MalformedReport unless the mechanism has every parameter, and each is of the stated type."""
    stated = {item.name: str(item.type) for item in fields(kind) if item.init and item.name != "travelled"}
    for name, value in parameters.items():
        if name not in stated:
            raise MalformedReport(str(unknown_name(f"parameter of {kind.__name__}", name, stated)))
        if not _TYPES.get(stated[name], _tagged)(value):
            raise MalformedReport(f"the parameter {name!r} of {kind.__name__} must be of type {stated[name]}")


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53


def _number(value: Any) -> bool:
    return (isinstance(value, float) and math.isfinite(value)) or _whole(value)


def _pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_number, value))


def _optional(rule: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or rule(value)


def _many(rule: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(rule, value))


def _real(value: Any) -> bool:
    return _number(value) or (isinstance(value, dict) and set(value) == {"fraction"})


def _tagged(value: Any) -> bool:
    """Return whether a parameter is None, or a dictionary that `wire.parameters` reads by its tag."""
    return value is None or isinstance(value, dict)


_TYPES: Final[dict[str, Callable[[Any], bool]]] = {
    "int": _whole,
    "int | None": _optional(_whole),
    "float": _number,
    "float | None": _optional(_number),
    "bool": lambda value: isinstance(value, bool),
    "str": lambda value: isinstance(value, str) and len(value) <= MOST_TEXT,
    "Real": _real,
    "Pair | None": _optional(_pair),
    "tuple[float, float]": _pair,
    "Sequence[float]": _many(_number),
    "Sequence[Sequence[float]]": _many(_many(_number)),
    "Points": lambda value: _many(_pair)(value) or _tagged(value),
}


def a_fraction(text: object) -> str:
    """Return the text of a fraction such as -3/4; raise MalformedReport for any other text."""
    if not isinstance(text, str) or not _FRACTION.fullmatch(text):
        raise MalformedReport(f"a fraction is written like -3/4 or 5, not {found(text)}")
    return text


def a_text(text: object) -> str:
    """Return a text; raise MalformedReport if it is not a text, or longer than MOST_TEXT."""
    if not isinstance(text, str) or len(text) > MOST_TEXT:
        raise MalformedReport(f"a text of at most {MOST_TEXT} characters was expected, not {found(text)}")
    return text


def an_exponent(number: object) -> float:
    """Return the exponent of a loss; raise MalformedReport unless 0 < exponent ≤ 100."""
    if not _number(number) or not isinstance(number, int | float) or not 0.0 < number <= 100.0:
        raise MalformedReport(f"the exponent of a loss must be > 0 and ≤ 100, not {found(number)}")
    return float(number)


def check_header(header: Any, room: int) -> tuple[str, tuple[int, ...]]:
    """Return the dtype and the shape of reports; raise MalformedReport unless they fill `room` bytes."""
    if not isinstance(header, dict) or set(header) != {"specification", "dtype", "shape"}:
        raise MalformedReport("the header of reports must have the keys specification, dtype and shape")
    layout, shape = header["dtype"], header["shape"]
    if not isinstance(layout, str) or not _LAYOUT.fullmatch(layout):
        raise MalformedReport("the dtype of reports must be an integer of 1, 2, 4 or 8 bytes, such as <u2")
    if not isinstance(shape, list) or len(shape) > 8 or not all(_whole(side) and side >= 0 for side in shape):
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


def a_mechanism(name: object) -> type[Mechanism[Any]]:
    """Return the mechanism class of exactly this name; raise InvalidParameter if there is none."""
    kind = registry.named(name)
    if kind.__name__ != name:  # a person may write podium; a policy lists Podium
        raise InvalidParameter(f"there is no mechanism {found(name)}; {kind.__name__} is written so")
    return kind
