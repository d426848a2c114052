"""Batches of reports as JSON and as packed bytes."""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from dither.errors import MalformedReport
from dither.foundation.canonical import canonical

PACKED: Final = "application/vnd.dither.batch"  # the content types of a body
JSON: Final = "application/json"
MOST_BYTES: Final = 1 << 24  # bytes of a body
MOST_QUESTIONS: Final = 1 << 10
MOST_LABEL: Final = 64  # bytes of the public label

_MAGIC: Final = b"dither\x00\x02"
_DIGEST: Final = 16
_GROUP: Final = struct.Struct("<16sII")  # fingerprint, bytes of a report, number of reports
_HEXADECIMAL: Final = re.compile(r"[0-9a-f]+")
_JOINED: Final = '","'
_QUESTIONS: Final = f"expected reports of at most {MOST_QUESTIONS} questions in a batch"
_LENGTH: Final = "expected reports of one length, at least one byte, for each question"
_TEXT: Final = "expected the reports of a batch as lower-case hexadecimal text"
_SORTED: Final = "expected a sorted batch: by fingerprint, then by report"


@dataclass(frozen=True)
class BatchBody:
    """Reports by fingerprint, the identity of the batch, and a public label such as a version.

    A batch with a message of presence may have no reports.
    """

    id: str  # 32 hexadecimal digits, random: it carries neither the device nor the time
    reports: Mapping[str, tuple[bytes, ...]]  # the reports of each question by its fingerprint
    label: str = ""

    def __post_init__(self) -> None:
        _check_digits(self.id, "the identity of a batch")
        _check_label(self.label)
        if len(self.reports) > MOST_QUESTIONS:
            raise MalformedReport(_QUESTIONS)
        for fingerprint, reports in self.reports.items():
            _check_digits(fingerprint, "a fingerprint")
            if not reports or len({len(report) for report in reports}) != 1 or not reports[0]:
                raise MalformedReport(_LENGTH)

    @staticmethod
    def of(identity: str, reports: Iterable[tuple[str, bytes]], label: str = "") -> BatchBody:
        """Return the batch of some pairs of a fingerprint and a report, in any order."""
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
        reports = {name: sorted(report.hex() for report in some) for name, some in self.reports.items()}
        return canonical({"dither": 2, "batch": self.id, "label": self.label, "reports": reports})

    @staticmethod
    def from_bytes(body: bytes) -> BatchBody:
        """Return the batch of a packed body; raise MalformedReport if the body is damaged or not a batch."""
        return ReadBatch.from_bytes(body).separate()

    @staticmethod
    def from_json(text: str) -> BatchBody:
        """Return the batch of a JSON body; raise MalformedReport if it is not canonical or not a batch."""
        return ReadBatch.from_json(text).separate()


class ReportGroup(NamedTuple):
    """The reports of one question: each has `size` bytes, and they follow one another in `data`."""

    fingerprint: str
    size: int
    data: bytes


class ReadBatch(NamedTuple):
    """A batch as a collector reads it: checked to be canonical, with its reports left in one piece."""

    id: bytes
    label: str
    groups: tuple[ReportGroup, ...]

    @property
    def reports(self) -> int:
        """The number of reports to all questions."""
        return sum(len(data) // size for _, size, data in self.groups)

    def separate(self) -> BatchBody:
        """Return the batch as a `BatchBody`, whose reports are separate."""
        reports = {
            name: tuple(data[at : at + size] for at in range(0, len(data), size))
            for name, size, data in self.groups
        }
        return BatchBody(self.id.hex(), reports, self.label)

    @staticmethod
    def from_bytes(body: bytes) -> ReadBatch:
        """Return the batch of a packed body; raise MalformedReport if the body is damaged or not a batch."""
        if len(body) > MOST_BYTES:
            raise MalformedReport(f"expected a batch of at most {MOST_BYTES} bytes")
        content, digest = body[:-_DIGEST], body[-_DIGEST:]
        if not content.startswith(_MAGIC):
            raise MalformedReport("expected a batch of version 2")
        if hashlib.sha256(content).digest()[:_DIGEST] != digest:
            raise MalformedReport(
                "expected the digest of the batch at its end: the batch is damaged, send it again"
            )
        at = len(_MAGIC) + 17
        try:
            identity, after = content[at - 17 : at - 1], at + content[at - 1]
            count = int.from_bytes(_slice(content, after, 2), "little")
            label = content[at:after].decode()
        except IndexError:
            raise MalformedReport(
                "expected all reports of the batch, got an end before the last one"
            ) from None
        except UnicodeDecodeError:
            raise MalformedReport("expected the label of the batch as UTF-8 text") from None
        groups, at = [], after + 2
        for _ in range(count):
            name, size, often = _GROUP.unpack(_slice(content, at, _GROUP.size))
            if not size or not often:
                raise MalformedReport(_LENGTH)
            at += _GROUP.size
            groups.append(ReportGroup(name.hex(), size, _slice(content, at, size * often)))
            if not _ascending(groups[-1].data, size):
                raise MalformedReport(_SORTED)
            at += size * often
        if at != len(content):
            raise MalformedReport("expected the end of the batch after its last report, got more bytes")
        return _canonical(identity, label, groups)

    @staticmethod
    def from_json(text: str) -> ReadBatch:
        """Return the batch of a JSON body; raise MalformedReport if it is not canonical or not a batch."""
        if len(text) > 2 * MOST_BYTES:
            raise MalformedReport(f"expected a batch of at most {2 * MOST_BYTES} characters")
        try:
            given = json.loads(text)
        except (ValueError, RecursionError):
            raise MalformedReport("expected a batch in JSON or as packed bytes") from None
        if not isinstance(given, dict) or given.keys() != {"dither", "batch", "label", "reports"}:
            raise MalformedReport("expected exactly the fields dither, batch, label and reports in a batch")
        identity, label, reports = given["batch"], given["label"], given["reports"]
        if given["dither"] != 2 or not isinstance(reports, dict):
            raise MalformedReport("expected a batch of version 2")
        _check_digits(identity, "the identity of a batch")
        _check_label(label)
        groups = []
        for name, some in reports.items():
            _check_digits(name, "a fingerprint")
            groups.append(_read_list(name, some))
        lists = ",".join(f'"{name}":["{_JOINED.join(some)}"]' for name, some in reports.items())
        head = f'{{"batch":"{identity}","dither":2,"label":{json.dumps(label, ensure_ascii=False)}'
        if f'{head},"reports":{{{lists}}}}}' != text:
            raise MalformedReport(_SORTED)
        return _canonical(bytes.fromhex(identity), label, groups)


def identity_digest(identity: bytes) -> bytes:
    """Return the digest of a batch's identity, for stores and exports. Only the device knows the identity.

    The digest is as long as the identity. It cannot be used to withdraw the batch.
    """
    return hashlib.sha256(identity).digest()[:16]


def _slice(data: bytes, at: int, size: int) -> bytes:
    part = data[at : at + size]
    if len(part) != size:
        raise MalformedReport("expected all reports of the batch, got an end before the last one")
    return part


def _canonical(identity: bytes, label: str, groups: list[ReportGroup]) -> ReadBatch:
    """Return the batch; raise MalformedReport if devices write this batch in another way."""
    if len(groups) > MOST_QUESTIONS:
        raise MalformedReport(_QUESTIONS)
    _check_label(label)
    before = ""
    for group in groups:
        if group.fingerprint <= before:
            raise MalformedReport(_SORTED)
        before = group.fingerprint
    return ReadBatch(identity, label, tuple(groups))


def _ascending(data: bytes, size: int) -> bool:
    """Return whether reports of `size` bytes are sorted by their bytes."""
    if len(data) == size:
        return True
    # The first byte is the most significant, so reports compare as big-endian numbers.
    reports = np.frombuffer(data, f">u{size}" if size in (1, 2, 4, 8) else f"S{size}")
    return bool((reports[1:] >= reports[:-1]).all())


def _read_list(name: str, some: object) -> ReportGroup:
    """Return the reports of a list of hexadecimal texts."""
    if not isinstance(some, list):
        raise MalformedReport("expected the reports of a question to be a list of texts")
    try:
        digits = "".join(some)
        data = bytes.fromhex(digits)
    except (TypeError, ValueError):
        raise MalformedReport(_TEXT) from None
    if not digits:
        raise MalformedReport(_LENGTH)
    lengths = set(map(len, some))
    if data.hex() != digits or any(length % 2 for length in lengths):  # it has capital letters or spaces
        raise MalformedReport(_TEXT)
    if len(lengths) != 1:
        raise MalformedReport(_LENGTH)
    if sorted(some) != some:  # texts of equal length sort like their bytes
        raise MalformedReport(_SORTED)
    return ReportGroup(name, lengths.pop() // 2, data)


def _check_label(label: object) -> None:
    if not isinstance(label, str) or len(_utf8(label)) > MOST_LABEL:
        raise MalformedReport(f"expected the label of a batch to be a text of at most {MOST_LABEL} bytes")


def _check_digits(text: object, what: str) -> None:
    if not isinstance(text, str) or len(text) != 32 or not _HEXADECIMAL.fullmatch(text):
        raise MalformedReport(f"expected {what} as 32 lower-case hexadecimal digits")


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise MalformedReport("expected the label of the batch as UTF-8 text") from None
