"""`Summary`: counts of reports that add across chunks and machines, sufficient for every estimate."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from dither.arrays import Integers
from dither.errors import InvalidParameter, MalformedReport, Mismatch, found
from dither.estimation.counts.table import read_counts
from dither.mechanisms.base import Mechanism
from dither.mechanisms.over_time.change_reports import ChangeReports
from dither.mechanisms.over_time.dated import DatedReports
from dither.reports import Reports, check_codebooks

VERSION: Final = 2
_MAGIC: Final = b"dither summary\n"
_HEADER: Final = struct.Struct(f"<{len(_MAGIC)}sH32sQI")  # magic, version, fingerprint, n, length


@dataclass(frozen=True, eq=False)
class Summary:
    """The count of each report and the number of reports: a sufficient statistic.

    Summaries of one mechanism add, in any order; adding those of two mechanisms, or of two codebooks, raises
    Mismatch. A summary does not contain the order of the reports, and is smaller to store.

    >>> import dither as dt
    >>> age = dt.Duchi(dt.Interval(18, 100), epsilon=1)
    >>> monday, tuesday = age.reports([0, 1, 1]), age.reports([1, 0])
    >>> Summary.of(monday) + Summary.of(tuesday)
    Summary(5 of Duchi on [18, 100])
    """

    mechanism: Mechanism[Any]
    counts: Integers
    n: int

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, Mechanism):
            raise InvalidParameter(f"a summary needs a mechanism, not {type(self.mechanism).__name__}")
        counts = np.array(self.counts)
        counting = self.mechanism.counting
        if counts.dtype.kind not in "iu" or counts.ndim != 1 or counts.size != counting.size:
            raise MalformedReport(f"a summary of this mechanism is {counting.size} whole numbers")
        if isinstance(self.n, bool) or not isinstance(self.n, int | np.integer) or self.n < 0:
            raise MalformedReport("the number of reports is a whole number from 0 upwards")
        if counts.size and counts.min() < 0:
            raise MalformedReport("a count is at least 0")
        counts = counts.astype(np.int64, copy=False)
        if not counting.adds_up(counts, int(self.n)):
            raise MalformedReport("the counts do not add up to the number of reports")
        counts.setflags(write=False)
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "n", int(self.n))

    @classmethod
    def of(cls, reports: Reports) -> Self:
        """Return the summary of reports."""
        given: object = reports
        if isinstance(given, DatedReports | ChangeReports):
            raise InvalidParameter(
                f"reports were expected, not {type(given).__name__}; dt.by_day estimates from these"
            )
        if not isinstance(given, Reports):
            raise InvalidParameter(
                f"reports were expected, not {type(given).__name__}; mechanism.reports(raw) reads raw ones"
            )
        mechanism = reports.mechanism
        counting = mechanism.counting
        return cls(mechanism, counting.count(reports.cells), counting.answers(reports.cells))

    @classmethod
    def empty(cls, mechanism: Mechanism[Any]) -> Self:
        """Return the summary of no reports: adding it changes nothing."""
        return cls(mechanism, np.zeros(mechanism.counting.size, dtype=np.int64), 0)

    @classmethod
    def gather(cls, chunks: Iterable[Reports]) -> Self:
        """Return the summary of reports that come in chunks; one chunk is held at a time."""
        total: Self | None = None
        for chunk in chunks:
            part = cls.of(chunk)
            total = part if total is None else total + part
        if total is None:
            raise InvalidParameter("there are no chunks; Summary.empty(mechanism) is the summary of none")
        return total

    @classmethod
    def from_counts(cls, mechanism: Mechanism[Any], table: Any, *, question: str | None = None) -> Self:
        """Read counts that a database made by the query of `dither sql`; all days and labels are added.

        The table is a data frame, a mapping of columns, or rows that are mappings. Pass the name of the
        `question` if several questions of the table have this mechanism. Reports that the query refused are
        not in the counts; the table says how many.
        """
        if not isinstance(mechanism, Mechanism):
            raise InvalidParameter(f"a mechanism was expected, not {type(mechanism).__name__}")
        totals = read_counts(mechanism, table, question)
        return cls(mechanism, totals.counts, totals.n)

    def __add__(self, other: object) -> Self:
        if not isinstance(other, Summary):
            return NotImplemented
        if other.mechanism.fingerprint != self.mechanism.fingerprint:
            raise Mismatch(f"{other!r} and {self!r} are of different mechanisms: they do not add")
        check_codebooks(self.mechanism, other.mechanism)
        return type(self)(self.mechanism, self.counts + other.counts, self.n + other.n)

    def __radd__(self, other: object) -> Self:
        return self if other == 0 else NotImplemented  # sum(…) begins with 0

    def read_by(self, mechanism: Mechanism[Any]) -> Self:
        """Return the same counts decoded another way; the other mechanism must send the same reports."""
        if mechanism.fingerprint != self.mechanism.fingerprint:
            raise Mismatch(f"{self!r} was not made by this {type(mechanism).__name__}")
        return type(self)(mechanism, self.counts, self.n)

    def to_bytes(self) -> bytes:
        """Return the summary as bytes: a header with version and fingerprint, then compressed counts."""
        fingerprint = self.mechanism.fingerprint.encode()
        header = _HEADER.pack(_MAGIC, VERSION, fingerprint, self.n, self.counts.size)
        return header + zlib.compress(self.counts.astype("<i8").tobytes(), 1)

    @classmethod
    def from_bytes(cls, data: bytes, mechanism: Mechanism[Any]) -> Self:
        """Read what `to_bytes` wrote. Pass the mechanism: the bytes contain its fingerprint only."""
        size = 8 * mechanism.counting.size
        try:
            magic, version, fingerprint, n, length = _HEADER.unpack_from(data)
            unpacker = zlib.decompressobj()
            raw = unpacker.decompress(data[_HEADER.size :], size + 1)  # never more than a summary's size
        except (struct.error, TypeError, zlib.error):
            raise MalformedReport("these bytes are not a summary") from None
        if magic != _MAGIC:
            raise MalformedReport("these bytes are not a summary")
        _check(version, fingerprint.decode("ascii", "replace"), mechanism)
        whole = unpacker.eof and not unpacker.unused_data
        if not whole or 8 * length != size or len(raw) != size:
            raise MalformedReport("the summary was cut off or is of another size")
        return cls(mechanism, np.frombuffer(raw, dtype="<i8").astype(np.int64), n)

    def to_json(self) -> str:
        """Return the summary as JSON: only reports that were sent are listed."""
        where = np.flatnonzero(self.counts)
        return json.dumps(
            {
                "summary": VERSION,
                "fingerprint": self.mechanism.fingerprint,
                "n": self.n,
                "reports": where.tolist(),
                "counts": self.counts[where].tolist(),
            }
        )

    @classmethod
    def from_json(cls, text: str, mechanism: Mechanism[Any]) -> Self:
        """Read what `to_json` wrote. Pass the mechanism: the text contains its fingerprint only."""
        counts = np.zeros(mechanism.counting.size, dtype=np.int64)
        try:
            data: dict[str, Any] = json.loads(text)
            _check(data["summary"], data["fingerprint"], mechanism)
            where, often = _whole(data["reports"]), _whole(data["counts"])
            once = np.unique(where).size == where.size == often.size
            if not once or (where.size and where.min() < 0):
                raise IndexError
            counts[where] = often
            n = data["n"]
        except (KeyError, IndexError, TypeError, ValueError, OverflowError):
            raise MalformedReport("this is not the JSON of a summary of this mechanism") from None
        return cls(mechanism, counts, n)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Summary):
            return NotImplemented
        same = self.mechanism.fingerprint == other.mechanism.fingerprint and self.n == other.n
        return same and np.array_equal(self.counts, other.counts)

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        count = f"{self.n:,}".replace(",", " ")
        return f"Summary({count} of {type(self.mechanism).__name__} on {self.mechanism.domain})"


def summarise(reports: Reports | Summary) -> Summary:
    """Return the summary of reports; a summary is returned as it is. Every estimator begins here."""
    return reports if isinstance(reports, Summary) else Summary.of(reports)


def _check(version: object, fingerprint: object, mechanism: Mechanism[Any]) -> None:
    if version != VERSION:
        raise MalformedReport(
            f"a summary of version {VERSION} was expected, not of version {found(version)}; "
            "a newer dither reads newer ones"
        )
    if fingerprint != mechanism.fingerprint:
        raise Mismatch(f"this summary was not made by this {type(mechanism).__name__}")


def _whole(numbers: object) -> Integers:
    array = np.asarray(numbers)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ValueError
    return array.astype(np.int64)
