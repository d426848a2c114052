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
        raise MalformedReport(f"expected {what} as a text, got {type(text).__name__}")
    length = len(text) if not isinstance(text, str) or text.isascii() else len(text.encode(errors="replace"))
    if length > most:
        raise MalformedReport(f"expected {what} of at most {most} bytes, got {length} bytes")
    try:
        data = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except MalformedReport:
        raise
    except (ValueError, RecursionError):
        raise MalformedReport(f"expected {what} in valid JSON") from None
    check_bounds(data)
    return data


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise MalformedReport("expected each key once in a part of the specification, got one twice")
    return data


def _no_number(name: str) -> NoReturn:
    raise MalformedReport(f"expected finite numbers in JSON, got {name}")


def check_bounds(data: object) -> None:
    """Raise MalformedReport if data are nested too deeply, or have too many parts or too long a number."""
    level: list[Any] = [data]
    items = 0
    for _ in range(MOST_DEPTH):
        items += len(level)
        if items > MOST_ITEMS:
            raise MalformedReport(f"expected at most {MOST_ITEMS} parts in the specification, got more")
        inner: list[Any] = []
        for part in level:
            if isinstance(part, dict):
                if not all(isinstance(name, str) for name in part):
                    raise MalformedReport("expected the keys in a specification to be texts")
                inner += part.values()
            elif isinstance(part, list | tuple):
                inner += part
            else:
                _plain(part)
        level = inner
        if not level:
            return
    raise MalformedReport(
        f"expected a specification nested at most {MOST_DEPTH} levels deep, got more levels"
    )


def _plain(value: object) -> None:
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, int):
        if value.bit_length() > MOST_BITS:
            raise MalformedReport(
                f"expected numbers of at most {MOST_BITS} bits in the specification, got a longer one"
            )
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise MalformedReport("expected finite numbers in the specification, got another one")
    elif not isinstance(value, str):
        raise MalformedReport(
            f"expected texts, numbers, lists and mappings in a specification, got {type(value).__name__}"
        )


def check_specification(data: object) -> None:
    """Raise MalformedReport if a part of a specification is missing or of a wrong type."""
    if not isinstance(data, dict) or "mechanism" not in data:
        raise MalformedReport("expected a part 'mechanism' in the specification, got none")
    version = data.get("dither")
    if isinstance(version, bool) or not isinstance(version, int) or version != VERSION:
        raise MalformedReport(
            f"expected a specification of version {VERSION}, got version {found(version)}; read it "
            "with the version of dither that wrote it"
        )
    if set(data) != _PARTS:
        raise MalformedReport(f"expected exactly the parts {', '.join(sorted(_PARTS))} in a specification")
    for name in ("mechanism", "fingerprint", "device"):
        if not isinstance(data[name], str):
            raise MalformedReport(f"expected the part {name!r} of a specification to be a text")
    if not isinstance(data["parameters"], dict):
        raise MalformedReport("expected the part 'parameters' of a specification to be a mapping")


def _side(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53


def check_header(header: object, room: int) -> tuple[str, tuple[int, ...]]:
    """Return the dtype and the shape of reports; raise MalformedReport unless they fill `room` bytes."""
    if not isinstance(header, dict) or set(header) != {"specification", "dtype", "shape"}:
        raise MalformedReport("expected the keys specification, dtype and shape in the header of reports")
    layout, shape = header["dtype"], header["shape"]
    if not isinstance(layout, str) or not _LAYOUT.fullmatch(layout):
        raise MalformedReport(
            "expected the dtype of reports to be an integer of 1, 2, 4 or 8 bytes, such as <u2"
        )
    if not isinstance(shape, list) or len(shape) > 8 or not all(map(_side, shape)):
        raise MalformedReport("expected the shape of reports to be a list of at most 8 integers")
    if int(layout[-1]) * math.prod(shape) != room:
        raise MalformedReport(
            f"expected a shape of reports that fits the {room} bytes after the header, got another; copy "
            "the file again"
        )
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
            raise MalformedReport(
                "expected the digest of the device text as its fingerprint, got another one; copy the "
                "specification again"
            )
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
        raise InvalidParameter(
            f"expected a mechanism that the policy lists, got {found(data['mechanism'])}; add it to the "
            "policy, or refuse the question"
        )
    made = _read(data, known=True)
    objection = policy.objection(made.guarantee)
    if objection is not None:
        raise BudgetExceeded(objection)
    taken = time.monotonic() - started
    if taken > policy.seconds:
        raise InvalidParameter(
            f"expected the question to be parsed within {policy.seconds:g} s, as the policy "
            f"requires, but it took {taken:.3g} s; refuse the question, or allow more seconds"
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
        raise MalformedReport(
            "expected the bytes that reports.to_bytes() returned; pass them without changes"
        )
    version, length = struct.unpack_from("<BI", body, len(MAGIC))
    if version != VERSION:
        raise MalformedReport(
            f"expected reports of format version {VERSION}, got version {version}; read them with "
            "the version of dither that wrote them"
        )
    if hashlib.sha256(body).digest()[:DIGEST] != content[-DIGEST:]:
        raise MalformedReport(
            "expected a checksum that matches, but bytes are missing or were changed; copy them again"
        )
    header = loads(body[start : start + length], "the header of reports", limits.bytes)
    layout, shape = check_header(header, len(body) - start - length)
    made = _build(header["specification"], policy, started)
    with refuse_malformed("these reports"):
        cells = np.frombuffer(body, np.dtype(layout), offset=start + length).reshape(shape)
        reported: Reports = made.reports(cells.astype(cells.dtype.newbyteorder("=")))
    people = people_of_columns({"": (reported.cells, None)})[""] if reported.cells.ndim else ()
    return replace(reported, people=people)
