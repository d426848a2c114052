"""What a specification may look like, checked before anything is built from it.

A specification comes from whoever asks. So its text has a largest size, its data a largest depth, no name
stands twice, no number is infinite or longer than 256 bits, and the parameters of a mechanism have the types
that its class states: a whole number is not written 28.0, a budget is not a text. What passes is read by the
mechanisms' own readers, which check ranges.
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
from dither.errors import DitherError, InvalidParameter, MalformedReport, MissingExtra
from dither.mechanisms.base import Mechanism

MOST_BYTES: Final = 1 << 24  # of a specification's text
MOST_DEPTH: Final = 24
MOST_ITEMS: Final = 1 << 21  # numbers, texts, lists and dictionaries together
MOST_TEXT: Final = 1 << 20  # letters of a text other than the device text
MOST_BITS: Final = 256
_FRACTION: Final = re.compile(r"-?[0-9]{1,400}(/[0-9]{1,400})?")
_LAYOUT: Final = re.compile(r"[<|][iu][1248]")
_NUMBERS: Final = re.compile(r"[<|][iuf][1248]")
_VERSIONS: Final[dict[int, set[str]]] = {
    1: {"dither", "mechanism", "parameters", "sampled"},
    2: {"dither", "mechanism", "parameters", "fingerprint", "device", "codebook"},
}


def loads(text: object, what: str, most: int = MOST_BYTES) -> Any:
    """Return the data of a JSON text of at most `most` bytes; raise MalformedReport if it is none."""
    if not isinstance(text, str | bytes | bytearray):
        raise MalformedReport(f"{what} is text; {type(text).__name__} was given")
    length = len(text) if not isinstance(text, str) or text.isascii() else len(text.encode(errors="replace"))
    if length > most:
        raise MalformedReport(f"{what} has {length} bytes; at most {most} are read")
    try:
        data = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except MalformedReport:
        raise
    except (ValueError, RecursionError):
        raise MalformedReport(f"{what} is JSON; this is not") from None
    bounded(data)
    return data


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise MalformedReport("a name stands twice in one part of the specification")
    return data


def _no_number(name: str) -> NoReturn:
    raise MalformedReport(f"{name} is not a number of JSON")


def bounded(data: Any) -> None:
    """Raise MalformedReport if data are nested too deeply, are too many, or hold too long a number."""
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
                    raise MalformedReport("the names in a specification are texts")
                inner += one.values()
            elif isinstance(one, list | tuple):
                inner += one
            else:
                _plain(one)
        level = inner
        if not level:
            return
    raise MalformedReport(f"the specification is nested more than {MOST_DEPTH} deep")


def _plain(one: Any) -> None:
    if one is None or isinstance(one, bool):
        return
    if isinstance(one, int):
        if one.bit_length() > MOST_BITS:
            raise MalformedReport(f"a number of the specification has more than {MOST_BITS} bits")
    elif isinstance(one, float):
        if not math.isfinite(one):
            raise MalformedReport("a number of the specification is not finite")
    elif not isinstance(one, str):
        raise MalformedReport(f"a specification has no part of kind {type(one).__name__}")


def check_specification(data: Any) -> int:
    """Return the version of a specification whose parts have the right types; raise MalformedReport else."""
    if not isinstance(data, dict) or "mechanism" not in data:
        raise MalformedReport("a specification names its mechanism")
    version = data.get("dither")
    if isinstance(version, bool) or not isinstance(version, int) or version not in _VERSIONS:
        raise MalformedReport("the specification is of another version; this version reads 1 and 2")
    if set(data) != _VERSIONS[version]:
        raise MalformedReport("the specification lacks a part, or has one too many")
    bounded(data)
    texts = ("mechanism",) if version == 1 else ("mechanism", "fingerprint", "device")
    for name in texts:
        if not isinstance(data[name], str):
            raise MalformedReport(f"the part {name!r} of a specification is a text")
    if version == 1 and not isinstance(data["sampled"], dict):
        raise MalformedReport("the part 'sampled' of a specification is a dictionary")
    if not isinstance(data["parameters"], dict):
        raise MalformedReport("the parameters of a specification are a dictionary")
    return version


def check_parameters(kind: type[Mechanism[Any]], parameters: Mapping[str, Any]) -> None:
    """Raise MalformedReport unless every parameter is known to a mechanism and of the type that it states."""
    stated = {item.name: str(item.type) for item in fields(kind) if item.init and item.name != "travelled"}
    for name, value in parameters.items():
        if name not in stated:
            raise MalformedReport(f"{kind.__name__} has no parameter {name[:40]!r}")
        if not _TYPES.get(stated[name], _tagged)(value):
            raise MalformedReport(
                f"the parameter {name!r} of {kind.__name__} is not of the type {stated[name]}"
            )


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
    """Say whether a parameter is None or one that `wire.parameters` reads by its tag."""
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
    "Points": lambda value: _many(_pair)(value) or _tagged(value),
}


def a_fraction(text: object) -> str:
    """Return the text of a fraction such as -3/4; raise MalformedReport for any other writing."""
    if not isinstance(text, str) or not _FRACTION.fullmatch(text):
        raise MalformedReport("a fraction is written as one whole number, or two with / between them")
    return text


def a_text(text: object) -> str:
    """Return a text; raise MalformedReport if it is none, or a very long one."""
    if not isinstance(text, str) or len(text) > MOST_TEXT:
        raise MalformedReport("a text was expected")
    return text


def an_exponent(number: object) -> float:
    """Return the exponent of a loss; raise MalformedReport if it is not a number from 0 to 100."""
    if not _number(number) or not isinstance(number, int | float) or not 0.0 < number <= 100.0:
        raise MalformedReport("the exponent of a loss is a positive number, at most 100")
    return float(number)


def number_kind(text: object) -> str:
    """Return the name of a kind of numbers in an array of version 1; raise MalformedReport if it is none."""
    if not isinstance(text, str) or not _NUMBERS.fullmatch(text):
        raise MalformedReport("an array of a specification holds numbers")
    return text


def check_header(header: Any, room: int) -> tuple[str, tuple[int, ...]]:
    """Return the layout and the shape of reports; raise MalformedReport unless they fill `room` bytes."""
    if not isinstance(header, dict) or set(header) != {"specification", "dtype", "shape"}:
        raise MalformedReport("the header of reports has a specification, a dtype and a shape")
    layout, shape = header["dtype"], header["shape"]
    if not isinstance(layout, str) or not _LAYOUT.fullmatch(layout):
        raise MalformedReport("reports are integers of 1, 2, 4 or 8 bytes")
    if not isinstance(shape, list) or len(shape) > 8 or not all(_whole(side) and side >= 0 for side in shape):
        raise MalformedReport("the shape of reports is a list of up to 8 whole numbers")
    if int(layout[-1]) * math.prod(shape) != room:
        raise MalformedReport("the header of these reports does not fit what follows it")
    return layout, tuple(shape)


@contextmanager
def refused(what: str) -> Iterator[None]:
    """Turn every error into MalformedReport, except that an optional dependency is missing.

    Data from outside can make numpy, fractions or a dictionary fail in any way; the reader of a specification
    fails in one.
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
    """Return the mechanism of a name; raise InvalidParameter if there is none, or the name is long."""
    if isinstance(name, str) and len(name) > 100:
        raise InvalidParameter("there is no mechanism of so long a name")
    return registry.named(name)
