"""The parameters of designs as JSON-compatible data, and back: one writer and one reader for each tag.

A class can supply its own data: `Domain.device`, `PostProcessing.plain`, `Power.exponent`, and the digest of
a loss that is a Python function. A "choice" is a member of a public enumeration. A "maker" is a public
design. Parameters have the types that their class states: a whole number must not be written as 28.0, and ε
must not be a text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from enum import Enum
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np

from dither import registry
from dither.domains import Domain, read_domain
from dither.errors import InvalidParameter, MalformedReport, found, unknown_name
from dither.losses import Power, power
from dither.post_processing import PostProcessing, read_processing

MOST_TEXT: Final = 1 << 20  # characters of a text
_FRACTION: Final = re.compile(r"-?[0-9]{1,400}(/[0-9]{1,400})?")


def plain(value: Any) -> Any:
    """Return a parameter as JSON-compatible data; raise InvalidParameter if its type cannot be written."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    for kind, writer in _WRITERS.items():
        if isinstance(value, kind):
            return writer(value)
    digest = getattr(value, "digest", None)
    if isinstance(digest, str):  # a loss that is a Python function, which does not travel
        return {"function": digest}
    raise InvalidParameter(f"a parameter of type {type(value).__name__} cannot be written as JSON")


def writable(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as JSON-compatible data; one that cannot be written is the error that says so."""
    written: dict[str, Any] = {}
    for name, value in parameters.items():
        try:
            written[name] = plain(value)
        except InvalidParameter as error:
            written[name] = error
    return written


def _maker(value: Any) -> dict[str, Any]:
    """Return the data of the class of a design, or of a `functools.partial` of one with keyword arguments."""
    made = value.func if isinstance(value, partial) else value
    if not registry.is_design(made) or (isinstance(value, partial) and value.args):
        raise InvalidParameter(
            "a part must be a public mechanism class, or a functools.partial of one with keyword arguments"
        )
    fixed = value.keywords if isinstance(value, partial) else {}
    return {"maker": made.__name__, "with": {name: plain(one) for name, one in fixed.items()}}


def _read_maker(name: str, data: dict[str, Any]) -> Any:
    kind: Any = registry.design(name)
    if data["with"].get("fresh"):
        raise MalformedReport("a part with fresh=True cannot be read from a specification")
    fixed = read_parameters(kind, data["with"])
    return partial(kind, **fixed) if fixed else kind


def _read_choice(name: str, data: dict[str, Any]) -> Enum:
    kind = registry.public(name)
    if not (isinstance(kind, type) and issubclass(kind, Enum)):
        raise MalformedReport(f"{found(name)} is not a public enumeration of dither")
    return kind[data["name"]]


def _no_function(digest: object, data: dict[str, Any]) -> Any:
    raise InvalidParameter("the loss is a function on another machine; make the design with it again")


_WRITERS: Final[dict[type, Callable[[Any], dict[str, Any]]]] = {
    Fraction: lambda value: {"fraction": str(value)},
    Domain: lambda value: {"domain": value.device()},
    Power: lambda value: {"loss": value.exponent},
    Enum: lambda value: {"choice": type(value).__name__, "name": value.name},
    PostProcessing: lambda value: {"reading": value.kind, **value.plain()},
    type: _maker,
    partial: _maker,
}
_READERS: Final[dict[str, Callable[[Any, dict[str, Any]], Any]]] = {
    "fraction": lambda value, data: Fraction(_a_fraction(value)),
    "domain": lambda value, data: read_domain(value),
    "loss": lambda value, data: power(_an_exponent(value)),
    "function": _no_function,
    "choice": _read_choice,
    "reading": read_processing,
    "maker": _read_maker,
}


def read(value: Any) -> Any:
    """Return the parameter that `plain` wrote; raise MalformedReport if its tag is unknown."""
    if isinstance(value, list):
        return tuple(read(item) for item in value)
    if not isinstance(value, dict):
        return value
    tags = _READERS.keys() & value.keys()
    if len(tags) != 1:
        raise MalformedReport(f"a parameter needs exactly one of the tags {', '.join(_READERS)}")
    (tag,) = tags
    return _READERS[tag](value[tag], value)


def read_parameters(kind: type[Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a design; raise MalformedReport if one is unknown or not of its type."""
    stated = {item.name: str(item.type) for item in fields(kind) if item.init}
    for name, value in parameters.items():
        if name not in stated:
            raise MalformedReport(str(unknown_name(f"parameter of {kind.__name__}", name, stated)))
        if not _TYPES.get(stated[name], _tagged)(value):
            raise MalformedReport(f"the parameter {name!r} of {kind.__name__} must be of type {stated[name]}")
    return {name: read(value) for name, value in parameters.items()}


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
    """Return whether a parameter is None, or a dictionary that `read` reads by its tag."""
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


def _a_fraction(text: object) -> str:
    if not isinstance(text, str) or not _FRACTION.fullmatch(text):
        raise MalformedReport(f"a fraction is written like -3/4 or 5, not {found(text)}")
    return text


def _an_exponent(number: object) -> float:
    if not _number(number) or not isinstance(number, int | float) or not 0.0 < number <= 100.0:
        raise MalformedReport(f"the exponent of a loss must be > 0 and ≤ 100, not {found(number)}")
    return float(number)
