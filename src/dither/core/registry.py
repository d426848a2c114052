"""The names of designs, and their parameters as JSON-compatible data."""

from __future__ import annotations

import ast
import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from fractions import Fraction
from functools import cache, partial
from importlib import import_module, resources
from typing import Any, Final

import numpy as np

from dither.core.domains import Domain, read_domain
from dither.core.post_processing import PostProcessing, read_processing
from dither.errors import InvalidParameter, MalformedReport, found, unknown_name
from dither.foundation.losses import Power, as_power

_ROOMS: Final = ("dither.mechanisms.",)
# Modules that list public names of designs.
_LISTS: Final = (
    "mechanisms/__init__.pyi",
    "__init__.pyi",
    "mechanisms/rivals.py",
    "mechanisms/jrr.py",
    "mechanisms/optimal/__init__.py",
)
_CHOICES: Final = {  # the tag in a text of a choice, by the declared type of the parameter
    "Decoding": "Decoding",
    "Calibration": "Calibration",
    "Contrast": "Contrast",
    "Criterion": "Criterion",
    "PathUnit": "Unit",
    "Reference": "Reference",
    "Purpose": "Purpose",
    "SetReport | None": "Report",
}
_LOSS: Final = ("Loss", "NamedLoss")  # the declared types of a loss
_OWN: Final[dict[str, type[Any]]] = {}  # designs of other packages, by name


@cache
def homes() -> dict[str, str]:
    """Return the module of every name of `dt` and of its modules with designs, from their lists."""
    return {name: home for file in _LISTS for name, home in _import_homes(file).items()}


def _import_homes(file: str) -> dict[str, str]:
    """Return the module from which a file of the package imports each name; nothing is imported."""
    tree = ast.parse(resources.files("dither").joinpath(file).read_text(encoding="utf-8"))
    package = ".".join(["dither", *file.split("/")[:-1]])
    return {
        alias.name: f"{package}.{node.module}" if node.level else node.module
        for node in ast.walk(tree)  # including imports for type checkers
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def public(name: object) -> object:
    """Return the object of a public name; raise InvalidParameter if it is unknown."""
    if not isinstance(name, str) or name not in homes():
        raise InvalidParameter(f"expected a public name of dither, got {found(name)}")
    return getattr(import_module(homes()[name]), name)


def is_design(kind: object) -> bool:
    """Return whether an object is the class of a design."""
    return isinstance(kind, type) and issubclass(kind, import_module("dither.mechanisms.mechanism").Mechanism)


@cache
def names() -> dict[str, type[Any]]:
    """Return every public design by its name, including the rivals."""
    every = ((name, public(name)) for name, home in homes().items() if home.startswith(_ROOMS))
    return {
        name: kind
        for name, kind in every
        if isinstance(kind, type) and is_design(kind) and not inspect.isabstract(kind)
    }


@cache
def _spellings() -> dict[str, str]:
    """Return the public names of the packages of designs, keyed by their lower-case form."""
    return {name.lower(): name for name, home in homes().items() if home.startswith(_ROOMS)}


def design_of(name: object) -> type[Any]:
    """Return the design of a name, in upper or lower case; raise InvalidParameter if it is unknown."""
    known = isinstance(name, str) and name.lower() in _spellings()
    kind = public(_spellings()[str(name).lower()]) if known else None
    if isinstance(kind, type) and is_design(kind):
        return kind
    raise unknown_name("mechanism", name, sorted(names()))


def draw_of(device: Mapping[str, Any]) -> str:
    """Return the draw that a device text's data has; a lattice's with its kind, or with normal noise."""
    shape = device.get("lattice")
    if shape is None:
        return str(device["draw"])
    return f"lattice {'normal' if shape['noise']['decay'] == 'normal' else shape['kind']}"


def check_name(name: str, draw: str, *, known: bool) -> None:
    """Raise MalformedReport if the design of a name has another draw, or if it must be known and is not.

    A policy may list names, so a name must belong to a design with this draw. A design of another package may
    not use a name of dither's.
    """
    if (draw in _stated_draws(name)) if name in homes() else not known:
        return
    raise MalformedReport(
        f"expected a mechanism of the name {found(name)} with the draw {found(draw)}, got no such "
        "mechanism; install the version of dither that made it"
    )


@cache
def _stated_draws(name: str) -> tuple[str, ...]:
    """Return the draws that the class of a public name states in its source; nothing is imported.

    A device that reads a question loads no mechanism, and still refuses a text whose name is wrong.
    """
    file = resources.files("dither").joinpath(
        *homes()[name].split(".")[1:-1], homes()[name].rpartition(".")[2] + ".py"
    )
    if not file.is_file():  # a package: no mechanism is defined there
        return ()
    body = re.search(
        rf"^class {name}\b.*?(?=^\S|\Z)", file.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    stated = body and re.search(r"^    _draws = (\(.*\))$", body[0], re.MULTILINE)
    return ast.literal_eval(stated[1]) if stated else ()


def adviser(module: str) -> Any:
    """Return a module of the package `advice`, imported when needed because it is in a higher layer."""
    return import_module(f"dither.advice.{module}")


def register(kind: type[Any]) -> None:
    """Register a design of another package by the name of its class."""
    if not kind.__module__.startswith("dither."):
        _OWN[kind.__name__] = kind


def design(name: str) -> type[Any]:
    """Return the design that a specification names: one of dither's, or of a package that was imported."""
    if name in _OWN and name not in homes():
        return _OWN[name]
    try:
        return design_of(name) if name in homes() else _OWN[name]
    except (InvalidParameter, KeyError):
        raise InvalidParameter(
            f"expected a mechanism that is known here, got {found(name)}; import the package that defines "
            "it. The question draws, counts and estimates without it"
        ) from None


MOST_TEXT: Final = 1 << 20  # characters of a text
_FRACTION: Final = re.compile(r"-?[0-9]{1,400}(/[0-9]{1,400})?")


def class_for(kind: type[Any], kernel: str) -> type[Any]:
    """Return the class of designs of this kind for a kernel; on places it may be another class."""
    path: str | None = getattr(kind, "for_kernels", {}).get(kernel)
    if path is None:
        return kind
    module, _, name = path.rpartition(".")
    made: type[Any] = getattr(import_module(module), name)
    return made


def plain(value: object) -> object:
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
    if isinstance(digest, str):  # a loss that is a Python function: only its digest can be written
        return {"function": digest}
    raise InvalidParameter(
        f"expected parameters that can be written as JSON, got one of type {type(value).__name__}"
    )


def writable(kind: type[Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a design's parameters as JSON-compatible data; an error replaces one that cannot be written."""
    written: dict[str, Any] = {}
    stated = _declared_types(kind)
    for name, value in parameters.items():
        try:
            written[name] = _plain_as(stated.get(name, ""), value)
        except InvalidParameter as error:
            written[name] = error
    return written


def _declared_types(kind: type[Any]) -> dict[str, str]:
    """Return the declared type of each parameter of a design."""
    return {item.name: str(item.type) for item in fields(kind) if item.init}


def _plain_as(stated: str, value: object) -> object:
    """Return a parameter of a declared type as JSON-compatible data: a choice or a loss has a tag."""
    if stated in _CHOICES and isinstance(value, str):
        return {"choice": _CHOICES[stated], "name": value.upper().replace(" ", "_")}
    if stated.startswith(_LOSS) and isinstance(value, str | float | int | Power):
        return {"loss": as_power(value).exponent}
    return plain(value)


def _maker(value: Any) -> dict[str, Any]:
    """Return the data of the class of a design, or of a `functools.partial` of one with keyword arguments."""
    made = value.func if isinstance(value, partial) else value
    if not is_design(made) or (isinstance(value, partial) and value.args):
        raise InvalidParameter(
            "expected a part to be a public mechanism class, or a functools.partial of one with "
            "keyword arguments"
        )
    fixed = value.keywords if isinstance(value, partial) else {}
    kind: Any = made
    stated = _declared_types(kind)
    parameters = {name: _plain_as(stated.get(name, ""), value) for name, value in fixed.items()}
    return {"maker": made.__name__, "with": parameters}


def _read_maker(name: str, data: dict[str, Any]) -> object:
    kind: Any = design(name)
    if data["with"].get("fresh"):
        raise MalformedReport("expected parts without fresh=True in a specification; leave fresh out")
    fixed = read_parameters(kind, data["with"])
    return partial(kind, **fixed) if fixed else kind


def _read_choice(name: str, data: dict[str, Any]) -> str:
    if name not in _CHOICES.values() or not isinstance(data["name"], str):
        raise MalformedReport(f"expected a choice of a design, got {found(name)}")
    return data["name"].lower().replace("_", " ")  # the design refuses unknown choices


def _no_function(digest: object, data: dict[str, Any]) -> object:
    raise InvalidParameter(
        "expected a loss by name, got a Python function on another machine; make the mechanism with it again"
    )


_WRITERS: Final[dict[type, Callable[[Any], dict[str, Any]]]] = {
    Fraction: lambda value: {"fraction": str(value)},
    Domain: lambda value: {"domain": value.device()},
    PostProcessing: lambda value: {"reading": value.kind, **value.plain()},
    type: _maker,
    partial: _maker,
}
_READERS: Final[dict[str, Callable[[Any, dict[str, Any]], Any]]] = {
    "fraction": lambda value, data: Fraction(_a_fraction(value)),
    "domain": lambda value, data: read_domain(value),
    "loss": lambda value, data: Power(_an_exponent(value)).loss,
    "function": _no_function,
    "choice": _read_choice,
    "reading": read_processing,
    "maker": _read_maker,
}


def read(value: object) -> Any:
    """Return the parameter that `plain` wrote; raise MalformedReport if its tag is unknown."""
    if isinstance(value, list):
        return tuple(read(item) for item in value)
    if not isinstance(value, dict):
        return value
    tags = _READERS.keys() & value.keys()
    if len(tags) != 1:
        raise MalformedReport(f"expected exactly one of the tags {', '.join(_READERS)} in a parameter")
    (tag,) = tags
    return _READERS[tag](value[tag], value)


def read_parameters(kind: type[Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a design; raise MalformedReport if one is unknown or not of its type."""
    stated = _declared_types(kind)
    for name, value in parameters.items():
        if name not in stated:
            raise MalformedReport(str(unknown_name(f"parameter of {kind.__name__}", name, stated)))
        if not _TYPES.get(stated[name], _has_tag)(value):
            raise MalformedReport(f"the parameter {name!r} of {kind.__name__} must be of type {stated[name]}")
    return {name: read(value) for name, value in parameters.items()}


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53


def _number(value: object) -> bool:
    return (isinstance(value, float) and math.isfinite(value)) or _whole(value)


def _pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_number, value))


def _optional(rule: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or rule(value)


def _many(rule: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(rule, value))


def _real(value: object) -> bool:
    return _number(value) or (isinstance(value, dict) and set(value) == {"fraction"})


def _has_tag(value: object) -> bool:
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
    "Sequence[Sequence[Real]]": _many(_many(_real)),
    "Sequence[float] | None": _optional(_many(_number)),
    "Score | None": _optional(_many(_many(_number))),
    "Points": lambda value: _many(_pair)(value) or _has_tag(value),
}


def _a_fraction(text: object) -> str:
    if not isinstance(text, str) or not _FRACTION.fullmatch(text):
        raise MalformedReport(f"expected a fraction to be written like -3/4 or 5, got {found(text)}")
    return text


def _an_exponent(number: object) -> float:
    if not _number(number) or not isinstance(number, int | float) or not 0.0 < number <= 100.0:
        raise MalformedReport(f"the exponent of a loss must be > 0 and ≤ 100, not {found(number)}")
    return float(number)
