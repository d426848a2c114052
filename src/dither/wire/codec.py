"""Mechanisms and reports as JSON and as bytes, with a version: what devices and collectors exchange.

A specification carries the integers that devices sample by and the codebook, so that reports made by one
version are decoded by another exactly as they were meant. Bytes end with a checksum: a changed byte is an
error, never another number.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Hashable
from enum import Enum
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np

from dither.domains import Categories, Circle, Disk, Domain, Interval, Parallelogram, Rectangle, Sphere, Text
from dither.errors import DitherError, InvalidParameter, MalformedReport
from dither.losses import Criterion, Power, power
from dither.mechanisms.base import Mechanism
from dither.mechanisms.combined.post_processing import Projected, Rounded, Snapped
from dither.mechanisms.numeric.gaussian import Calibration
from dither.mechanisms.places.lsrr import Contrast
from dither.mechanisms.window import Decoding
from dither.optimal.problem import Elsewhere, Given
from dither.privacy import Unit
from dither.registry import named
from dither.reports import Reports

VERSION: Final = 1
_MAGIC: Final = b"dither\x00"
_CHOICES: Final[dict[str, type[Enum]]] = {
    "Calibration": Calibration,
    "Contrast": Contrast,
    "Criterion": Criterion,
    "Decoding": Decoding,
    "Unit": Unit,
}
_DIGEST: Final = 16


def to_json(mechanism: Mechanism) -> str:
    """Write a mechanism's whole specification: parameters, sampled integers, codebook.

    >>> from dither import PM
    >>> from_json(to_json(PM(Interval(0, 1), epsilon=1))).epsilon
    1.0
    """
    return json.dumps(_mechanism(mechanism), ensure_ascii=False, allow_nan=False)


def from_json(text: str | bytes) -> Mechanism:
    """Read a mechanism's specification back, with the integers and the codebook that travelled."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise MalformedReport("a specification is JSON; this is not") from None
    return _read_mechanism(data)


def to_bytes(reports: Reports) -> bytes:
    """Write reports together with the mechanism that made them."""
    if not isinstance(reports, Reports):
        raise InvalidParameter(f"reports were expected, not {type(reports).__name__}")
    cells = np.ascontiguousarray(reports.cells)
    header = {
        "specification": _mechanism(reports.mechanism),
        "dtype": cells.dtype.newbyteorder("<").str,
        "shape": list(cells.shape),
    }
    text = json.dumps(header, ensure_ascii=False, allow_nan=False).encode()
    body = _MAGIC + struct.pack("<BI", VERSION, len(text)) + text
    body += cells.astype(cells.dtype.newbyteorder("<"), copy=False).tobytes()
    return body + hashlib.sha256(body).digest()[:_DIGEST]


def from_bytes(data: bytes) -> Reports:
    """Read reports back; truncated, changed or foreign bytes raise `MalformedReport`."""
    start = len(_MAGIC) + 5
    body = bytes(data[:-_DIGEST])
    if len(data) < start + _DIGEST or not body.startswith(_MAGIC):
        raise MalformedReport("these bytes are not dither reports")
    version, length = struct.unpack_from("<BI", body, len(_MAGIC))
    if version != VERSION:
        raise MalformedReport(f"these reports are of format {version}; this version reads {VERSION}")
    if hashlib.sha256(body).digest()[:_DIGEST] != bytes(data[-_DIGEST:]):
        raise MalformedReport("the checksum does not match: bytes were lost or changed")
    try:
        header = json.loads(body[start : start + length])
        dtype, shape = np.dtype(header["dtype"]), tuple(int(side) for side in header["shape"])
        specification = header["specification"]
        if dtype.kind not in "iu" or dtype.itemsize * math.prod(shape) != len(body) - start - length:
            raise ValueError
        cells = np.frombuffer(body, dtype, offset=start + length).reshape(shape)
    except (ValueError, TypeError, KeyError, RecursionError):
        raise MalformedReport("the header of these reports does not fit what follows it") from None
    return _read_mechanism(specification).reports(cells.astype(dtype.newbyteorder("=")))


def _mechanism(mechanism: Mechanism) -> dict[str, Any]:
    if not isinstance(mechanism, Mechanism):
        raise InvalidParameter(f"a mechanism was expected, not {type(mechanism).__name__}")
    parameters = {name: _plain(value) for name, value in mechanism.parameters().items()}
    return {
        "dither": VERSION,
        "mechanism": type(mechanism).__name__,
        "parameters": parameters,
        "sampled": mechanism.wire(),
    }


def _read_mechanism(data: Any) -> Mechanism:
    if not isinstance(data, dict) or "mechanism" not in data:
        raise MalformedReport("a specification names its mechanism")
    if data.get("dither") != VERSION:
        raise MalformedReport(f"the specification is of another version; this version reads {VERSION}")
    try:
        parameters = {name: _read(value) for name, value in data["parameters"].items()}
        domain = parameters.pop("domain")
        return named(data["mechanism"]).rebuilt(domain, parameters, data["sampled"])
    except MalformedReport:
        raise
    except DitherError as error:
        raise MalformedReport(f"the specification cannot be built: {error}") from None
    except (KeyError, TypeError, AttributeError, ValueError):
        raise MalformedReport("the specification lacks a part, or has one too many") from None


def _plain(value: Any) -> Any:  # noqa: PLR0912  (one line for each kind of thing that travels)
    match value:
        case None | bool() | int() | float() | str():
            return value
        case np.generic():
            return value.item()
        case Fraction():
            return {"fraction": str(value)}
        case Interval():
            return {"domain": "Interval", "low": value.low, "high": value.high}
        case Circle():
            return {"domain": "Circle", "period": value.period}
        case Categories():
            labels = value.labels
            return {
                "domain": "Categories",
                "labels": len(labels) if isinstance(labels, range) else _labels(labels),
            }
        case Rectangle():
            return {"domain": "Rectangle", "x": _plain(value.x), "y": _plain(value.y)}
        case Disk():
            return {"domain": "Disk", "radius": value.radius, "centre": list(value.centre)}
        case Parallelogram():
            sides = {"first": list(value.first), "second": list(value.second)}
            return {"domain": "Parallelogram", "corner": list(value.corner), **sides}
        case Sphere():
            return {"domain": "Sphere", "radius": value.radius}
        case Text():
            return {"domain": "Text", "length": value.length, "alphabet": value.alphabet}
        case Power():
            return {"loss": value.exponent}
        case Given() | Elsewhere():
            return {"function": value.digest}
        case Enum():
            return {"choice": type(value).__name__, "name": value.name}
        case Mechanism():
            return _mechanism(value)
        case Rounded():
            return {"reading": "Rounded", "points": _plain(value.points)}
        case Snapped():
            cells = {"columns": value.columns, "rows": value.rows}
            return {"reading": "Snapped", "area": _plain(value.area), **cells}
        case Projected():
            return {"reading": "Projected", "shape": value.shape}
        case type() if issubclass(value, Mechanism):
            return {"maker": value.__name__, "with": {}}
        case partial() if not value.args:
            return {**_plain(value.func), "with": {name: _plain(one) for name, one in value.keywords.items()}}
        case np.ndarray():
            return {"array": value.tolist(), "dtype": value.dtype.str}
        case tuple() | list():
            return [_plain(item) for item in value]
    raise InvalidParameter(f"a parameter of kind {type(value).__name__} cannot travel as JSON")


def _labels(labels: tuple[Hashable, ...]) -> list[Any]:
    if not all(label is None or isinstance(label, str | int | float | bool) for label in labels):
        raise InvalidParameter("only labels that are texts or numbers can travel as JSON")
    return list(labels)


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_read(item) for item in value)
    if not isinstance(value, dict):
        return value
    if "domain" in value:
        return _read_domain(value)
    if "fraction" in value:
        return Fraction(value["fraction"])
    if "loss" in value:
        return power(value["loss"])
    if "function" in value:
        return Elsewhere(value["function"])
    if "choice" in value:
        return _CHOICES[value["choice"]][value["name"]]
    if "mechanism" in value:
        return _read_mechanism(value)
    if "reading" in value:
        kind = {"Rounded": Rounded, "Snapped": Snapped, "Projected": Projected}[value["reading"]]
        return kind(*(_read(part) for name, part in value.items() if name != "reading"))
    if "maker" in value:
        fixed = {name: _read(one) for name, one in value["with"].items()}
        return partial(named(value["maker"]), **fixed) if fixed else named(value["maker"])
    if "array" in value:
        return np.asarray(value["array"], dtype=np.dtype(value["dtype"]))
    raise MalformedReport("a parameter is of a kind that this version does not know")


def _read_domain(value: dict[str, Any]) -> Domain:
    match value["domain"]:
        case "Interval":
            return Interval(value["low"], value["high"])
        case "Circle":
            return Circle(value["period"])
        case "Categories":
            return Categories(value["labels"])
        case "Rectangle":
            return Rectangle(_read(value["x"]), _read(value["y"]))
        case "Disk":
            return Disk(value["radius"], tuple(value["centre"]))
        case "Parallelogram":
            return Parallelogram(*(tuple(value[part]) for part in ("corner", "first", "second")))
        case "Sphere":
            return Sphere(value["radius"])
        case "Text":
            return Text(value["length"], value["alphabet"])
    raise MalformedReport("a domain is of a kind that this version does not know")
