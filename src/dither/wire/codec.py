"""Questions and reports as JSON and as bytes: what devices and collectors exchange. Formats have a version.

A specification contains the device text (all that a device needs in order to draw) and the codebook, so that
every version of dither decodes reports in the same way. Bytes end with a checksum: a changed byte raises an
error. Other modules pass dictionaries; this one converts them to text and back.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
import time
from typing import Any, Final

import numpy as np

from dither.device_text import digest, parsed
from dither.errors import BudgetExceeded, InvalidParameter, MalformedReport, found
from dither.privacy import Policy
from dither.question import Question, as_question, read_question
from dither.registry import check_name
from dither.reports import Reports
from dither.wire.schema import MOST_BYTES, bounded, check_header, check_specification, loads, refused

VERSION: Final = 2
_MAGIC: Final = b"dither\x00"
_DIGEST: Final = 16


def to_json(asked: Any) -> str:
    """Return the specification of a question, or of a design's, as JSON: device text, codebook, parameters.

    >>> from dither import PM, Interval
    >>> from_json(to_json(PM(Interval(0, 1), epsilon=1))).epsilon
    1.0
    """
    return json.dumps(specification(asked), ensure_ascii=False, allow_nan=False)


def from_json(text: str | bytes, *, policy: Policy | None = None) -> Question:
    """Return the question of a specification: its integers and codebook are read, not computed from ε.

    No design is needed; `question.design()` makes it again. Pass a `dt.Policy` on a device. It limits the
    privacy loss and the cost of reading.
    """
    started, limits = time.monotonic(), _limits(policy)
    return _built(loads(text, "a specification", limits.bytes), policy, started)


def read_named(text: str) -> Question:
    """Return the question of a specification, whose name must be that of a design which draws so."""
    return from_specification(loads(text, "a specification"), known=True)


def specification(asked: Any) -> dict[str, Any]:
    """Return the specification of a question, or of a design's, as JSON-compatible data."""
    question = as_question(asked)
    if not question.domain.portable:
        raise InvalidParameter(
            "this mechanism cannot be written as JSON: use labels that are texts or numbers"
        )
    for value in question.parameters.values():
        if isinstance(value, InvalidParameter):
            raise value
    return {
        "dither": VERSION,
        "mechanism": question.name,
        "parameters": dict(question.parameters),
        "fingerprint": question.fingerprint,
        "device": question.device_text,
        "codebook": question.codebook(),
    }


def from_specification(data: Any, *, known: bool = False) -> Question:
    """Return the question of a specification; raise MalformedReport if the data describe none.

    With `known`, the name must be that of a design of dither: a device insists on it.
    """
    check_specification(data)
    with refused("the specification"):
        device = parsed(data["device"])
        bounded(device)
        if digest(data["device"]) != data["fingerprint"]:
            raise MalformedReport("the fingerprint is not the digest of the device text")
        made = read_question(device, data["codebook"], data["mechanism"], data["parameters"])
        check_name(made.name, made.kernel.kind, known=known)
        # The question must have the same device text: then no part of the text was ignored.
        if made.device_text != data["device"]:
            raise MalformedReport("the device text is not that of a question with these integers")
        return made


_UNLIMITED: Final = Policy(epsilon=math.inf, delta=1.0, bytes=MOST_BYTES, seconds=math.inf)


def _limits(policy: Policy | None) -> Policy:
    if policy is not None and not isinstance(policy, Policy):
        raise InvalidParameter(f"policy must be a dt.Policy or None, not {type(policy).__name__}")
    return policy or _UNLIMITED


def _built(data: Any, policy: Policy | None, started: float) -> Question:
    """Return the question of a specification; raise an error if a policy is given and refuses it."""
    if policy is None:
        return from_specification(data)
    check_specification(data)
    if not policy.lists(data["mechanism"]):
        raise InvalidParameter(f"the policy does not list the mechanism {found(data['mechanism'])}")
    made = from_specification(data, known=True)
    objection = policy.objection(made.guarantee)
    if objection is not None:
        raise BudgetExceeded(objection)
    taken = time.monotonic() - started
    if taken > policy.seconds:
        raise InvalidParameter(
            f"reading the question took {taken:.3g} s; the policy allows {policy.seconds:g} s"
        )
    return made


def to_bytes(reports: Reports) -> bytes:
    """Return reports and the specification of their question as bytes."""
    if not isinstance(reports, Reports):
        raise InvalidParameter(f"Reports were expected, not {type(reports).__name__}")
    cells = np.ascontiguousarray(reports.cells)
    header = {
        "specification": specification(reports.question),
        "dtype": cells.dtype.newbyteorder("<").str,
        "shape": list(cells.shape),
    }
    text = json.dumps(header, ensure_ascii=False, allow_nan=False).encode()
    body = _MAGIC + struct.pack("<BI", VERSION, len(text)) + text
    body += cells.astype(cells.dtype.newbyteorder("<"), copy=False).tobytes()
    return body + hashlib.sha256(body).digest()[:_DIGEST]


def from_bytes(data: bytes, *, policy: Policy | None = None) -> Reports:
    """Return reports that `to_bytes` wrote; raise MalformedReport for any other bytes.

    A `dt.Policy` is applied to the question as in `from_json`.
    """
    started, limits = time.monotonic(), _limits(policy)
    if not isinstance(data, bytes | bytearray | memoryview):
        raise MalformedReport(f"reports are bytes; {type(data).__name__} was given")
    start = len(_MAGIC) + 5
    whole = bytes(data)
    body = whole[:-_DIGEST]
    if len(whole) < start + _DIGEST or not body.startswith(_MAGIC):
        raise MalformedReport("these bytes were not written by dither.to_bytes")
    version, length = struct.unpack_from("<BI", body, len(_MAGIC))
    if version != VERSION:
        raise MalformedReport(
            f"these reports have format version {version}; this dither reads version {VERSION}"
        )
    if hashlib.sha256(body).digest()[:_DIGEST] != whole[-_DIGEST:]:
        raise MalformedReport("the checksum does not match: bytes are missing or were changed")
    header = loads(body[start : start + length], "the header of reports", limits.bytes)
    layout, shape = check_header(header, len(body) - start - length)
    made = _built(header["specification"], policy, started)
    with refused("these reports"):
        cells = np.frombuffer(body, np.dtype(layout), offset=start + length).reshape(shape)
        return made.reports(cells.astype(cells.dtype.newbyteorder("=")))
