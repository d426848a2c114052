"""The parameters of mechanisms as JSON-compatible data, and back: one writer and one reader for each tag.

Each class supplies its own data: `Domain.device`, `PostProcessing.plain`, `Power.exponent`, and a digest for
a loss that is a Python function. A "choice" is a member of a public enumeration. A "maker" is a public
mechanism.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np

from dither import registry
from dither.domains import Domain, read_domain
from dither.errors import InvalidParameter, MalformedReport, found
from dither.losses import Power, power
from dither.mechanisms.base import Mechanism
from dither.mechanisms.combined.post_processing import PostProcessing, read_processing
from dither.optimal.problem import Elsewhere, Given
from dither.wire.schema import a_fraction, a_mechanism, a_text, an_exponent, check_parameters


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
    raise InvalidParameter(f"a parameter of type {type(value).__name__} cannot be written as JSON")


def _maker(value: Any) -> dict[str, Any]:
    """Return the data of a mechanism class, or of a `functools.partial` of one with keyword arguments."""
    made = value.func if isinstance(value, partial) else value
    named = isinstance(made, type) and issubclass(made, Mechanism)
    if not named or (isinstance(value, partial) and value.args):
        raise InvalidParameter(
            "a part must be a public mechanism class, or a functools.partial of one with keyword arguments"
        )
    fixed = value.keywords if isinstance(value, partial) else {}
    return {"maker": made.__name__, "with": {name: plain(one) for name, one in fixed.items()}}


def _read_maker(name: str, data: dict[str, Any]) -> Any:
    kind = a_mechanism(name)
    if data["with"].get("fresh"):
        raise MalformedReport("a part with fresh=True cannot be read from a specification")
    check_parameters(kind, data["with"])
    fixed = {key: read(one) for key, one in data["with"].items()}
    return partial(kind, **fixed) if fixed else kind


def _read_choice(name: str, data: dict[str, Any]) -> Enum:
    kind = registry.public(name)
    if not (isinstance(kind, type) and issubclass(kind, Enum)):
        raise MalformedReport(f"{found(name)} is not a public enumeration of dither")
    return kind[data["name"]]


_WRITERS: Final[dict[type, Callable[[Any], dict[str, Any]]]] = {
    Fraction: lambda value: {"fraction": str(value)},
    Domain: lambda value: {"domain": value.device()},
    Power: lambda value: {"loss": value.exponent},
    Given: lambda value: {"function": value.digest},
    Elsewhere: lambda value: {"function": value.digest},
    Enum: lambda value: {"choice": type(value).__name__, "name": value.name},
    PostProcessing: lambda value: {"reading": value.kind, **value.plain()},
    type: _maker,
    partial: _maker,
}
_READERS: Final[dict[str, Callable[[Any, dict[str, Any]], Any]]] = {
    "fraction": lambda value, data: Fraction(a_fraction(value)),
    "domain": lambda value, data: read_domain(value),
    "loss": lambda value, data: power(an_exponent(value)),
    "function": lambda value, data: Elsewhere(a_text(value)),
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
