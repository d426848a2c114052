"""Mechanisms and reports as JSON and as bytes, with a version: what devices and collectors exchange.

A specification carries the text of what devices run and the codebook, so that reports made by one version are
decoded by another exactly as they were meant. Bytes end with a checksum: a changed byte is an error, never
another number. Inside, everything is dictionaries; text is made and read here, at the border.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from typing import Any, Final

import numpy as np

from dither.device_text import digest, parsed
from dither.domains import read_domain
from dither.errors import DitherError, InvalidParameter, MalformedReport
from dither.mechanisms.base import Mechanism
from dither.registry import named
from dither.reports import Reports
from dither.wire import version_1
from dither.wire.parameters import plain, read

VERSION: Final = 2
_MAGIC: Final = b"dither\x00"
_DIGEST: Final = 16


def to_json(mechanism: Mechanism[Any]) -> str:
    """Return a mechanism's whole specification: parameters, device text, codebook.

    >>> from dither import PM, Interval
    >>> from_json(to_json(PM(Interval(0, 1), epsilon=1))).epsilon
    1.0
    """
    return json.dumps(specification(mechanism), ensure_ascii=False, allow_nan=False)


def from_json(text: str | bytes) -> Mechanism[Any]:
    """Return the mechanism of a specification, with the integers and the codebook that travelled."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise MalformedReport("a specification is JSON; this is not") from None
    return from_specification(data)


def specification(mechanism: Mechanism[Any]) -> dict[str, Any]:
    """Return a mechanism's specification as plain data."""
    if not isinstance(mechanism, Mechanism):
        raise InvalidParameter(f"a mechanism was expected, not {type(mechanism).__name__}")
    if not mechanism.domain.portable:
        raise InvalidParameter("only labels that are texts or numbers can travel as JSON")
    parameters = {name: plain(value) for name, value in mechanism.parameters().items() if name != "domain"}
    return {
        "dither": VERSION,
        "mechanism": type(mechanism).__name__,
        "parameters": parameters,
        "fingerprint": mechanism.fingerprint,
        "device": mechanism.device_text,
        "codebook": mechanism.codebook(),
    }


def from_specification(data: Any) -> Mechanism[Any]:
    """Return the mechanism of a specification's plain data; raise MalformedReport if there is none."""
    if not isinstance(data, dict) or "mechanism" not in data:
        raise MalformedReport("a specification names its mechanism")
    version = data.get("dither")
    if version not in (1, VERSION):
        raise MalformedReport(f"the specification is of another version; this version reads 1 and {VERSION}")
    try:
        kind = named(data["mechanism"])  # first: its module knows the kernels and parameters that follow
        return version_1.mechanism(kind, data) if version == 1 else _mechanism(kind, data)
    except MalformedReport:
        raise
    except DitherError as error:
        raise MalformedReport(f"the specification cannot be built: {error}") from None
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, RecursionError):
        raise MalformedReport("the specification lacks a part, or has one too many") from None


def _mechanism(kind: type[Mechanism[Any]], data: dict[str, Any]) -> Mechanism[Any]:
    if set(data) != {"dither", "mechanism", "parameters", "fingerprint", "device", "codebook"}:
        raise MalformedReport("the specification lacks a part, or has one too many")
    device = parsed(data["device"])
    if digest(data["device"]) != data["fingerprint"]:
        raise MalformedReport("the fingerprint is not that of the device text")
    parameters = {name: read(value) for name, value in data["parameters"].items()}
    made = kind.rebuilt(read_domain(device["domain"]), parameters, device, data["codebook"])
    # What the mechanism runs is described by the very text that came: nothing was ignored or made up.
    if made.device_text != data["device"]:
        raise MalformedReport("the device text is not one of this mechanism with these parameters")
    return made


def to_bytes(reports: Reports) -> bytes:
    """Return reports together with the mechanism that made them."""
    if not isinstance(reports, Reports):
        raise InvalidParameter(f"reports were expected, not {type(reports).__name__}")
    cells = np.ascontiguousarray(reports.cells)
    header = {
        "specification": specification(reports.mechanism),
        "dtype": cells.dtype.newbyteorder("<").str,
        "shape": list(cells.shape),
    }
    text = json.dumps(header, ensure_ascii=False, allow_nan=False).encode()
    body = _MAGIC + struct.pack("<BI", VERSION, len(text)) + text
    body += cells.astype(cells.dtype.newbyteorder("<"), copy=False).tobytes()
    return body + hashlib.sha256(body).digest()[:_DIGEST]


def from_bytes(data: bytes) -> Reports:
    """Return reports that `to_bytes` wrote; raise MalformedReport for truncated, changed or foreign bytes."""
    start = len(_MAGIC) + 5
    body = bytes(data[:-_DIGEST])
    if len(data) < start + _DIGEST or not body.startswith(_MAGIC):
        raise MalformedReport("these bytes are not dither reports")
    version, length = struct.unpack_from("<BI", body, len(_MAGIC))
    if version not in (1, VERSION):
        raise MalformedReport(f"these reports are of format {version}; this version reads 1 and {VERSION}")
    if hashlib.sha256(body).digest()[:_DIGEST] != bytes(data[-_DIGEST:]):
        raise MalformedReport("the checksum does not match: bytes were lost or changed")
    try:
        header = json.loads(body[start : start + length])
        dtype, shape = np.dtype(header["dtype"]), tuple(int(side) for side in header["shape"])
        told = header["specification"]
        if dtype.kind not in "iu" or dtype.itemsize * math.prod(shape) != len(body) - start - length:
            raise ValueError
        cells = np.frombuffer(body, dtype, offset=start + length).reshape(shape)
    except (ValueError, TypeError, KeyError, RecursionError):
        raise MalformedReport("the header of these reports does not fit what follows it") from None
    return from_specification(told).reports(cells.astype(dtype.newbyteorder("=")))
