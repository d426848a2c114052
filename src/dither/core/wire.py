"""Questions and reports as JSON and as bytes, and the checks of input."""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, NoReturn

import numpy as np

from dither.core.people import people_of_columns
from dither.core.question import Question, read_question
from dither.core.question.base import VERSION
from dither.core.registry import check_name, draw_of
from dither.core.reports import DIGEST, MAGIC, Reports
from dither.errors import BudgetExceeded, DitherError, InvalidParameter, MalformedReport, MissingExtra, found
from dither.foundation.canonical import digest, parse
from dither.privacy import Policy

MOST_BYTES: Final = 1 << 24  # bytes of a specification's text
MOST_DEPTH: Final = 24
MOST_ITEMS: Final = 1 << 21  # numbers, texts, lists and dictionaries together
MOST_BITS: Final = 256
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
    check_bounds(data)
    return data


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise MalformedReport("a key appears twice in one part of the specification")
    return data


def _no_number(name: str) -> NoReturn:
    raise MalformedReport(f"{name} is not a number in JSON")


def check_bounds(data: object) -> None:
    """Raise MalformedReport if data are nested too deeply, or have too many parts or too long a number."""
    level: list[Any] = [data]
    items = 0
    for _ in range(MOST_DEPTH):
        items += len(level)
        if items > MOST_ITEMS:
            raise MalformedReport(f"the specification has more than {MOST_ITEMS} parts")
        inner: list[Any] = []
        for part in level:
            if isinstance(part, dict):
                if not all(isinstance(name, str) for name in part):
                    raise MalformedReport("the keys in a specification must be texts")
                inner += part.values()
            elif isinstance(part, list | tuple):
                inner += part
            else:
                _plain(part)
        level = inner
        if not level:
            return
    raise MalformedReport(f"the specification is nested more than {MOST_DEPTH} levels deep")


def _plain(value: object) -> None:
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, int):
        if value.bit_length() > MOST_BITS:
            raise MalformedReport(f"a number in the specification has more than {MOST_BITS} bits")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise MalformedReport("a number in the specification is not finite")
    elif not isinstance(value, str):
        raise MalformedReport(f"a specification cannot contain a {type(value).__name__}")


def check_specification(data: object) -> None:
    """Raise MalformedReport if a part of a specification is missing or of a wrong type."""
    if not isinstance(data, dict) or "mechanism" not in data:
        raise MalformedReport("the specification has no part 'mechanism'")
    version = data.get("dither")
    if isinstance(version, bool) or not isinstance(version, int) or version != VERSION:
        raise MalformedReport(
            f"the specification has version {found(version)}; this dither reads version {VERSION}"
        )
    if set(data) != _PARTS:
        raise MalformedReport(f"a specification has exactly the parts {', '.join(sorted(_PARTS))}")
    for name in ("mechanism", "fingerprint", "device"):
        if not isinstance(data[name], str):
            raise MalformedReport(f"the part {name!r} of a specification must be a text")
    if not isinstance(data["parameters"], dict):
        raise MalformedReport("the part 'parameters' of a specification must be a dictionary")


def _side(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53


def check_header(header: object, room: int) -> tuple[str, tuple[int, ...]]:
    """Return the dtype and the shape of reports; raise MalformedReport unless they fill `room` bytes."""
    if not isinstance(header, dict) or set(header) != {"specification", "dtype", "shape"}:
        raise MalformedReport("the header of reports must have the keys specification, dtype and shape")
    layout, shape = header["dtype"], header["shape"]
    if not isinstance(layout, str) or not _LAYOUT.fullmatch(layout):
        raise MalformedReport("the dtype of reports must be an integer of 1, 2, 4 or 8 bytes, such as <u2")
    if not isinstance(shape, list) or len(shape) > 8 or not all(map(_side, shape)):
        raise MalformedReport("the shape of reports must be a list of at most 8 integers")
    if int(layout[-1]) * math.prod(shape) != room:
        raise MalformedReport(f"the shape of these reports does not fit the {room} bytes after the header")
    return layout, tuple(shape)


@contextmanager
def refuse_malformed(what: str) -> Iterator[None]:
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


def from_json(text: str | bytes, *, policy: Policy | None = None) -> Question:
    """Return the question of a specification: its integers and codebook are read, not computed from ε.

    No design is needed; `question.design()` makes it again. Pass a `Policy` on a device. It limits the
    privacy loss and the cost of parsing.
    """
    started, limits = time.monotonic(), _limits(policy)
    return _build(loads(text, "a specification", limits.bytes), policy, started)


def read_named(text: str) -> Question:
    """Return the question of a specification; its name must belong to a design with this draw."""
    return from_specification(loads(text, "a specification"), known=True)


def from_specification(data: Any, *, known: bool = False) -> Question:
    """Return the question of a specification from `loads`; raise MalformedReport for other data.

    With `known`, the name must belong to a design of dither, as devices require.
    """
    check_specification(data)
    return _read(data, known=known)


def _read(data: dict[str, Any], *, known: bool) -> Question:
    with refuse_malformed("the specification"):
        device = parse(data["device"])
        check_bounds(device)
        if digest(data["device"]) != data["fingerprint"]:
            raise MalformedReport("the fingerprint is not the digest of the device text")
        made = read_question(device, data["codebook"], data["mechanism"], data["parameters"])
        check_name(made.name, draw_of(made.kernel.device()), known=known)
        # The question must have the same device text: then no part of the text was ignored.
        if made.device_text != data["device"]:
            raise MalformedReport(
                "expected the device text of a question with these integers, got another text"
            )
        return made


_UNLIMITED: Final = Policy(epsilon=math.inf, delta=1.0, bytes=MOST_BYTES, seconds=math.inf)


def _limits(policy: Policy | None) -> Policy:
    if policy is not None and not isinstance(policy, Policy):
        raise InvalidParameter(f"policy must be a dt.privacy.Policy or None, not {type(policy).__name__}")
    return policy or _UNLIMITED


def _build(data: Any, policy: Policy | None, started: float) -> Question:
    """Return the question of a specification; raise an error if a policy is given and refuses it."""
    if policy is None:
        return from_specification(data)
    check_specification(data)
    if not policy.lists(data["mechanism"]):
        raise InvalidParameter(f"the policy does not list the mechanism {found(data['mechanism'])}")
    made = _read(data, known=True)
    objection = policy.objection(made.guarantee)
    if objection is not None:
        raise BudgetExceeded(objection)
    taken = time.monotonic() - started
    if taken > policy.seconds:
        raise InvalidParameter(
            f"parsing the question took {taken:.3g} s; the policy allows {policy.seconds:g} s"
        )
    return made


def from_bytes(data: bytes, *, policy: Policy | None = None) -> Reports:
    """Return reports that `reports.to_bytes()` wrote; raise MalformedReport for any other bytes.

    A `dt.privacy.Policy` is applied to the question as in `from_json`.
    """
    started, limits = time.monotonic(), _limits(policy)
    if not isinstance(data, bytes | bytearray | memoryview):
        raise MalformedReport(f"expected reports as bytes, got {type(data).__name__}")
    start = len(MAGIC) + 5
    content = bytes(data)
    body = content[:-DIGEST]
    if len(content) < start + DIGEST or not body.startswith(MAGIC):
        raise MalformedReport("expected bytes that reports.to_bytes() wrote")
    version, length = struct.unpack_from("<BI", body, len(MAGIC))
    if version != VERSION:
        raise MalformedReport(
            f"these reports have format version {version}; this dither reads version {VERSION}"
        )
    if hashlib.sha256(body).digest()[:DIGEST] != content[-DIGEST:]:
        raise MalformedReport(
            "the checksum does not match: bytes are missing or were changed; copy them again"
        )
    header = loads(body[start : start + length], "the header of reports", limits.bytes)
    layout, shape = check_header(header, len(body) - start - length)
    made = _build(header["specification"], policy, started)
    with refuse_malformed("these reports"):
        cells = np.frombuffer(body, np.dtype(layout), offset=start + length).reshape(shape)
        reported: Reports = made.reports(cells.astype(cells.dtype.newbyteorder("=")))
    people = people_of_columns({"": (reported.cells, None)})[""] if reported.cells.ndim else ()
    return replace(reported, people=people)
