"""`Counts`: counts of reports that add across chunks and machines, sufficient for every estimate."""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, Final, Self, TypeVar, cast

import numpy as np

from dither.core.count_tables import MOST_COUNT, read_counts, whole_number
from dither.core.people import Crowd, People, join, overlap
from dither.core.question import Question, as_question
from dither.core.repetition import ChangeReports, DatedReports
from dither.core.reports import Reports, check_codebooks
from dither.errors import InvalidParameter, MalformedReport, Mismatch, found
from dither.foundation.arrays import Integers

Made = TypeVar("Made", bound=Callable[..., Any])


VERSION: Final = 2
_CROWDS: Final = 64
UNNAMED: Final = ", if its rows are of different people"
_MAGIC: Final = b"dither summary\n"
_HEADER: Final = struct.Struct(f"<{len(_MAGIC)}sH32sQI")  # magic, version, fingerprint, n, length


@dataclass(frozen=True, eq=False)
class Counts:
    """The count of each report and the number of reports: a sufficient statistic.

    Summaries of one question add, in any order; adding summaries of different questions or codebooks raises
    Mismatch. A summary does not contain the order of the reports, and is smaller to store.

    >>> import dither as dt
    >>> age = dt.Duchi(dt.Interval(18, 100), epsilon=1)
    >>> monday, tuesday = age.reports([0, 1, 1]), age.reports([1, 0])
    >>> Counts.of(monday) + Counts.of(tuesday)
    Counts(5 of Duchi on [18, 100])
    """

    question: Question
    counts: Integers
    n: int
    about: str = ""  # the name of the question in a campaign or a file, for titles
    people: People = field(default=(), repr=False)  # the people who sent them, if known; see `Reports.people`

    def __post_init__(self) -> None:
        object.__setattr__(self, "question", as_question(self.question))
        counts = np.array(self.counts)
        counting = self.question.counting
        if counts.dtype.kind not in "iu" or counts.ndim != 1 or counts.size != counting.size:
            raise MalformedReport(
                f"expected a summary of {counting.size} integers for this question; pass a summary of "
                "the same question"
            )
        if isinstance(self.n, bool) or not isinstance(self.n, int | np.integer) or self.n < 0:
            raise MalformedReport("expected the number of reports to be an integer from 0 upwards")
        if counts.size and counts.min() < 0:
            raise MalformedReport("expected a count to be at least 0")
        counts = counts.astype(np.int64, copy=False)
        if not counting.adds_up(counts, int(self.n)):
            raise MalformedReport("expected counts that add up to the number of reports")
        counts.setflags(write=False)
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "n", int(self.n))
        if self.n and not self.people:  # estimates of two calls are of the same people
            object.__setattr__(self, "people", (Crowd(os.urandom(16), range(self.n)),))

    @classmethod
    def of(cls, reports: Reports) -> Self:
        """Return the summary of reports."""
        given: object = reports
        if isinstance(given, DatedReports | ChangeReports):
            raise InvalidParameter(
                f"expected reports, got {type(given).__name__}; estimate from these with dt.by_day"
            )
        if isinstance(given, Mapping):
            raise InvalidParameter(
                f"expected reports of one question, got those of {', '.join(map(str, given))}; take one by "
                "its name, as in records['age']"
            )
        if not isinstance(given, Reports):
            raise InvalidParameter(
                f"expected reports, got {type(given).__name__}; convert raw ones with question.reports(raw)"
            )
        question = as_question(reports.question)
        counting = question.counting
        n = counting.answers(reports.cells)
        return cls(question, counting.count(reports.cells), n, reports.about, reports.people)

    @classmethod
    def empty(cls, asked: object) -> Self:
        """Return an empty summary for a question or a design: adding it changes nothing."""
        question = as_question(asked)
        return cls(question, np.zeros(question.counting.size, dtype=np.int64), 0)

    @classmethod
    def gather(cls, chunks: Iterable[Reports]) -> Self:
        """Return the summary of reports that come in chunks; one chunk at a time is in memory."""
        total: Self | None = None
        for chunk in chunks:
            part = cls.of(chunk)
            total = part if total is None else total + part
        if total is None:
            raise InvalidParameter("expected at least one chunk; without reports use Counts.empty(question)")
        return total

    @classmethod
    def from_counts(cls, asked: object, table: object, *, name: str | None = None) -> Self:
        """Return the counts that a database computed by the query of `dither sql`, over all days and labels.

        The table is a data frame, a mapping of columns, or rows that are mappings. Pass the `name` of the
        question if the table has several with this fingerprint. Reports that the query refused are not in
        the counts; the table says how many. A list with the count of every report, such as an aggregate of
        DAP, is also accepted.

        >>> import dither as dt
        >>> Counts.from_counts(dt.KRR(dt.Categories(["yes", "no"]), epsilon=1), [30, 12])
        Counts(42 of KRR on 2 categories)
        """
        question = as_question(asked)
        if isinstance(table, list | tuple | np.ndarray) and len(table) and not isinstance(table[0], Mapping):
            return cls._of_vector(question, table, name)
        totals = read_counts(question, table, name)
        return cls(question, totals.counts, totals.n)

    @classmethod
    def _of_vector(cls, question: Question, vector: Any, name: str | None) -> Self:
        if name is not None:
            raise InvalidParameter(
                "expected no name with a list of counts, because a list is of one question; leave name= out"
            )
        if len(vector) != question.counting.size:
            raise InvalidParameter(
                f"expected {question.counting.size} counts for this question, got {len(vector)}"
            )
        integers = [whole_number(count) for count in vector]
        if sum(integers) > MOST_COUNT:
            raise MalformedReport("expected counts of at most 2^63 − 1, got a larger one; check the list")
        counts = np.array(integers, dtype=np.int64)
        n = question.counting.implied_answers(counts)
        if n is None:
            raise InvalidParameter(
                "expected a table with the measure reports: these counts do not give the number of answers"
            )
        return cls(question, counts, n)

    def __add__(self, other: object) -> Self:
        if not isinstance(other, Counts):
            return NotImplemented
        if other.question is not self.question:
            if other.question.fingerprint != self.question.fingerprint:
                raise Mismatch(
                    f"expected summaries of one question, got {self!r} and {other!r}: add them separately"
                )
            check_codebooks(self.question, other.question)
        about = self.about or other.about
        if self.people and other.people:
            _check_other_reports(self.people, other.people)
        parts = [part.people for part in (self, other) if part.n]
        # The people of counts with many parts are dropped, because their list would grow with every part.
        people = join(parts) if sum(map(len, parts)) <= _CROWDS else ()
        return type(self)(self.question, self.counts + other.counts, self.n + other.n, about, people)

    def __radd__(self, other: object) -> Self:
        return self if other == 0 else NotImplemented  # sum(…) begins with 0

    def read_by(self, asked: object) -> Self:
        """Return the same counts, decoded by another question or design.

        Raise Mismatch if the fingerprints differ.
        """
        question = as_question(asked)
        if question.fingerprint != self.question.fingerprint:
            raise Mismatch(f"expected a summary of this {question.name}, got {self!r}")
        return type(self)(question, self.counts, self.n, self.about, self.people)

    def to_bytes(self) -> bytes:
        """Return the summary as bytes: a header with version and fingerprint, then compressed counts."""
        fingerprint = self.question.fingerprint.encode()
        header = _HEADER.pack(_MAGIC, VERSION, fingerprint, self.n, self.counts.size)
        return header + zlib.compress(self.counts.astype("<i8").tobytes(), 1)

    @classmethod
    def from_bytes(cls, data: bytes, asked: object) -> Self:
        """Read what `to_bytes` wrote. Pass the question: the bytes contain its fingerprint only."""
        question = as_question(asked)
        size = 8 * question.counting.size
        try:
            magic, version, fingerprint, n, length = _HEADER.unpack_from(data)
            unpacker = zlib.decompressobj()
            raw = unpacker.decompress(data[_HEADER.size :], size + 1)  # a summary is not longer
        except (struct.error, TypeError, zlib.error):
            raise MalformedReport(
                "expected the bytes of a summary, as Counts.to_bytes() writes them"
            ) from None
        if magic != _MAGIC:
            raise MalformedReport("expected the bytes of a summary, as Counts.to_bytes() writes them")
        _check(version, fingerprint.decode("ascii", "replace"), question)
        finished = unpacker.eof and not unpacker.unused_data
        if not finished or 8 * length != size or len(raw) != size:
            raise MalformedReport("expected a complete summary: it was cut off or has another size")
        return cls(question, np.frombuffer(raw, dtype="<i8").astype(np.int64), n)

    def to_json(self) -> str:
        """Return the summary as JSON: only reports that were sent are listed."""
        where = np.flatnonzero(self.counts)
        return json.dumps(
            {
                "summary": VERSION,
                "fingerprint": self.question.fingerprint,
                "n": self.n,
                "reports": where.tolist(),
                "counts": self.counts[where].tolist(),
            }
        )

    @classmethod
    def from_json(cls, text: str, asked: object) -> Self:
        """Read what `to_json` wrote. Pass the question: the text contains its fingerprint only."""
        question = as_question(asked)
        counts = np.zeros(question.counting.size, dtype=np.int64)
        try:
            data: dict[str, Any] = json.loads(text)
            _check(data["summary"], data["fingerprint"], question)
            where, often = _whole(data["reports"]), _whole(data["counts"])
            once = np.unique(where).size == where.size == often.size
            if not once or (where.size and where.min() < 0):
                raise IndexError
            counts[where] = often
            n = data["n"]
        except (KeyError, IndexError, TypeError, ValueError, OverflowError):
            raise MalformedReport(
                "expected the JSON of a summary of this question, as Counts.to_json() writes it"
            ) from None
        return cls(question, counts, n)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        same = self.question.fingerprint == other.question.fingerprint and self.n == other.n
        return same and np.array_equal(self.counts, other.counts)

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        count = f"{self.n:,}".replace(",", " ")
        return f"Counts({count} of {self.question.name} on {self.question.domain})"


def name_result(function: Made) -> Made:
    """Return the function, with the people of the reports and the names of the questions in its results."""

    @wraps(function)
    def call(*args: object, **more: object) -> Any:
        result = function(*args, **more)
        entries = [given for given in args if isinstance(given, Reports | Counts)]
        names = dict.fromkeys(given.about for given in entries)
        more_known: dict[str, Any] = {}
        if any(names) and not getattr(result, "about", "?"):
            more_known["about"] = " × ".join(filter(None, names))
        if not getattr(result, "people", "?") and all(given.people for given in entries):
            people = tuple(crowd for given in entries for crowd in given.people)
            more_known["people"] = people
            if any(crowd.unnamed for crowd in people) and hasattr(result, "remark"):
                more_known["remark"] = f"{result.remark}{UNNAMED}"
        return replace(result, **more_known) if more_known else result

    return cast("Made", call)


def summarise(reports: Reports | Counts) -> Counts:
    """Return the summary of reports; a summary is returned unchanged. Every estimator calls this first."""
    return reports if isinstance(reports, Counts) else Counts.of(reports)


def _check_other_reports(first: People, second: People) -> None:
    """Raise InvalidParameter if a report is in both of two parts."""
    if overlap(first, second, same_part=True):
        raise InvalidParameter(
            "expected summaries of different reports, got some reports twice: their people would be counted "
            "twice; add each part once"
        )


def _check(version: object, fingerprint: object, question: Question) -> None:
    if version != VERSION:
        raise MalformedReport(
            f"expected a summary of version {VERSION}, got version {found(version)}; read it with a "
            "newer dither"
        )
    if fingerprint != question.fingerprint:
        raise Mismatch(f"expected a summary of this {question.name}, got one of another question")


def _whole(numbers: object) -> Integers:
    array = np.asarray(numbers)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ValueError
    return array.astype(np.int64)
