"""The bytes of a batch: reports of several questions from one device, without names, order or time.

A batch has the same bytes however often it is sent, so that a collector can recognise it: reports are grouped
by question, groups and reports are sorted, and a digest is at the end. docs/wire.md has the format.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, final

from dither.device_text import canonical
from dither.errors import MalformedReport

MOST_BYTES: Final = 1 << 24  # of a body
MOST_QUESTIONS: Final = 1 << 10
MOST_LABEL: Final = 64  # bytes of the public label

_MAGIC: Final = b"dither\x00\x02"
_DIGEST: Final = 16
_HEXADECIMAL: Final = re.compile(r"(?:[0-9a-f]{2})+")


@final
@dataclass(frozen=True)
class BatchBody:
    """Reports by fingerprint, the identity of the batch, and a public label such as a version."""

    id: str  # 32 hexadecimal digits, random: it carries neither the device nor the time
    reports: Mapping[str, tuple[bytes, ...]]  # by fingerprint: the reports of a question, all of one length
    label: str = ""

    def __post_init__(self) -> None:
        _check_digits(self.id, "the identity of a batch")
        if not isinstance(self.label, str) or len(_utf8(self.label)) > MOST_LABEL:
            raise MalformedReport(f"the label of a batch is a text of at most {MOST_LABEL} bytes")
        if not 1 <= len(self.reports) <= MOST_QUESTIONS:
            raise MalformedReport(f"a batch has reports of 1 to {MOST_QUESTIONS} questions")
        for fingerprint, reports in self.reports.items():
            _check_digits(fingerprint, "a fingerprint")
            if not reports or len({len(one) for one in reports}) != 1 or not reports[0]:
                raise MalformedReport("the reports of a question have one length, at least one byte")

    @staticmethod
    def of(identity: str, reports: Iterable[tuple[str, bytes]], label: str = "") -> BatchBody:
        """Return the batch of pairs of a fingerprint and a report, in any order."""
        groups: dict[str, list[bytes]] = {}
        for fingerprint, report in reports:
            groups.setdefault(fingerprint, []).append(report)
        return BatchBody(identity, {name: tuple(sorted(groups[name])) for name in sorted(groups)}, label)

    def to_bytes(self) -> bytes:
        """Return the packed body."""
        label = _utf8(self.label)
        parts = [_MAGIC, bytes.fromhex(self.id), len(label).to_bytes(1), label]
        parts.append(len(self.reports).to_bytes(2, "little"))
        for fingerprint, reports in sorted(self.reports.items()):
            head = len(reports[0]).to_bytes(4, "little") + len(reports).to_bytes(4, "little")
            parts += [bytes.fromhex(fingerprint), head, *sorted(reports)]
        body = b"".join(parts)
        return body + hashlib.sha256(body).digest()[:_DIGEST]

    def to_json(self) -> str:
        """Return the body as canonical JSON."""
        reports = {name: sorted(one.hex() for one in some) for name, some in self.reports.items()}
        return canonical({"dither": 2, "batch": self.id, "label": self.label, "reports": reports})

    @staticmethod
    def from_bytes(body: bytes) -> BatchBody:
        """Return the batch of a packed body; raise MalformedReport if it is damaged or not one."""
        if len(body) > MOST_BYTES:
            raise MalformedReport(f"a batch has at most {MOST_BYTES} bytes")
        whole, digest = body[:-_DIGEST], body[-_DIGEST:]
        if not whole.startswith(_MAGIC):
            raise MalformedReport("this is not a batch of version 2")
        if hashlib.sha256(whole).digest()[:_DIGEST] != digest:
            raise MalformedReport("the batch is damaged: its digest is another one")
        reader = _Reader(whole[len(_MAGIC) :])
        identity = reader.take(16).hex()
        try:
            label = reader.take(reader.number(1)).decode()
        except UnicodeDecodeError:
            raise MalformedReport("the label of a batch is UTF-8 text") from None
        groups: dict[str, tuple[bytes, ...]] = {}
        for _ in range(reader.number(2)):
            fingerprint, size, count = reader.take(16).hex(), reader.number(4), reader.number(4)
            if not size or not count:
                raise MalformedReport("the reports of a question have one length, at least one byte")
            data = reader.take(size * count)
            groups[fingerprint] = tuple(data[at : at + size] for at in range(0, len(data), size))
        if reader.rest:
            raise MalformedReport("the batch goes on after its last report")
        return _canonical(BatchBody(identity, groups, label), lambda batch: batch.to_bytes() == body)

    @staticmethod
    def from_json(text: str) -> BatchBody:
        """Return the batch of a JSON body; raise MalformedReport if it is not canonical or not one."""
        if len(text) > 2 * MOST_BYTES:
            raise MalformedReport(f"a batch has at most {2 * MOST_BYTES} characters")
        try:
            given = json.loads(text)
        except (ValueError, RecursionError):
            raise MalformedReport("a batch is JSON or packed bytes") from None
        if not isinstance(given, dict) or set(given) != {"dither", "batch", "label", "reports"}:
            raise MalformedReport("a batch has the fields dither, batch, label and reports")
        if given["dither"] != 2 or not isinstance(given["reports"], dict):
            raise MalformedReport("this is not a batch of version 2")
        groups = {name: tuple(map(_bytes, _list(some))) for name, some in given["reports"].items()}
        return _canonical(
            BatchBody(given["batch"], groups, given["label"]), lambda batch: batch.to_json() == text
        )


@final
class _Reader:
    """Bytes that are taken from the front."""

    def __init__(self, data: bytes) -> None:
        self.rest = memoryview(data)

    def take(self, size: int) -> bytes:
        if size > len(self.rest):
            raise MalformedReport("the batch ends before its last report")
        taken, self.rest = self.rest[:size], self.rest[size:]
        return bytes(taken)

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")


def _canonical(batch: BatchBody, same: Any) -> BatchBody:
    """Return the batch; raise MalformedReport if its body is not the one that devices write."""
    if not same(batch):
        raise MalformedReport("a batch is sorted: by fingerprint, and then by report")
    return batch


def _check_digits(text: object, what: str) -> None:
    if not isinstance(text, str) or len(text) != 32 or not _HEXADECIMAL.fullmatch(text):
        raise MalformedReport(f"{what} is 32 lower-case hexadecimal digits")


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise MalformedReport("the label of a batch is UTF-8 text") from None


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise MalformedReport("the reports of a question are a list of texts")
    return value


def _bytes(value: object) -> bytes:
    if not isinstance(value, str) or not _HEXADECIMAL.fullmatch(value):
        raise MalformedReport("a report in a batch is lower-case hexadecimal text")
    return bytes.fromhex(value)
