"""Specifications of version 1, from before device texts existed. They are read, and no longer written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from dither.domains import Domain, read_domain
from dither.errors import MalformedReport
from dither.mechanisms.base import Mechanism
from dither.wire.parameters import read as read_now
from dither.wire.schema import number_kind

# From the name of a domain in version 1 to the function that converts its fields to those of a device text.
_DOMAINS: Final[dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]]] = {
    "Interval": lambda old: {"kind": "interval", "low": old["low"], "high": old["high"]},
    "Circle": lambda old: {"kind": "circle", "period": old["period"]},
    "Rectangle": lambda old: {"kind": "rectangle", "x": _domain(old["x"]), "y": _domain(old["y"])},
    "Disk": lambda old: {"kind": "disk", "radius": old["radius"], "centre": old["centre"]},
    "Parallelogram": lambda old: {"kind": "parallelogram", **_fields(old, "corner", "first", "second")},
    "Sphere": lambda old: {"kind": "sphere", "radius": old["radius"]},
    "Text": lambda old: {"kind": "text", "length": old["length"], "alphabet": old["alphabet"]},
}


def mechanism(kind: type[Mechanism[Any]], data: Mapping[str, Any]) -> Mechanism[Any]:
    """Return the mechanism of a specification of version 1."""
    parameters = {name: _read(value) for name, value in data["parameters"].items()}
    domain = parameters.pop("domain")
    if not isinstance(domain, Domain):
        raise MalformedReport("the parameter 'domain' of a specification must be a domain")
    return kind.from_version_1(domain, parameters, data["sampled"])


def _fields(old: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: old[name] for name in names}


def _domain(old: Mapping[str, Any]) -> dict[str, Any]:
    return _DOMAINS[old["domain"]](old)


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_read(item) for item in value)
    if not isinstance(value, dict):
        return value
    if value.get("domain") == "Categories":
        return _categories(value["labels"])
    if "domain" in value:
        return read_domain(_domain(value))
    if "array" in value:
        return np.asarray(value["array"], dtype=np.dtype(number_kind(value["dtype"])))
    if value.get("reading") == "Snapped":
        return read_now({**value, "area": _domain(value["area"])})
    if "mechanism" in value:
        raise MalformedReport("a mechanism inside another cannot be read from a specification")
    return read_now(value)


def _categories(labels: Any) -> Domain:
    if isinstance(labels, int):
        return read_domain({"kind": "categories", "count": labels})
    return read_domain({"kind": "categories", "labels": [_label(label) for label in labels]})


def _label(label: Any) -> Any:
    if isinstance(label, bool) or not isinstance(label, int | float):
        return label
    if isinstance(label, float):
        return {"number": label}
    if abs(label) < 1 << 53:
        return label
    return {"integer": f"{'-' if label < 0 else ''}{abs(label):x}"}
