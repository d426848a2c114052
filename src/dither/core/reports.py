"""Reports: what devices send, together with the question that decodes them."""

from __future__ import annotations

import hashlib
import json
import math
import struct
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from dither.core.domains import Categories, Line
from dither.core.people import People, join, overlap, take
from dither.errors import InvalidParameter, Mismatch
from dither.foundation.arrays import Array
from dither.privacy import Guarantee, Pure

if TYPE_CHECKING:
    from dither.core.question import Question


class DecodedValues(UserWarning):
    """The warning that decoded values are noisy: averages of them are right, models fitted to them wrong."""


MAGIC: Final = b"dither\x00"  # the first bytes of reports
DIGEST: Final = 16  # bytes of the checksum at their end
_warned: list[bool] = []  # set once in this process


def _warn_once(question: Question) -> None:
    if _warned or not isinstance(question.domain, Line | Categories):
        return
    _warned.append(True)
    warnings.warn(
        "single decoded values are noise around each person's value: a model fitted to them, a correlation "
        "or a quantile of them is attenuated. dt.estimate, dt.distribution, dt.quantile and "
        "dt.stats.crosstab account for the noise. This warning is given once",
        DecodedValues,
        stacklevel=3,
    )


@dataclass(frozen=True, eq=False)
class Reports:
    """Integers that devices sent, and the question that decodes them.

    Use `question.reports(raw)` for data from outside; this constructor does not check them.
    """

    question: Question
    cells: Array
    about: str = ""  # the name of the question in a campaign or a file, for titles
    # The people who sent them, if known: estimates from the same people are dependent. They are never sent.
    people: People = field(default=(), repr=False)

    @property
    def values(self) -> Array:
        """The decoded reports. Single values are noisy; a warning says so once (`DecodedValues`)."""
        _warn_once(self.question)
        return self.question.decode(self.cells)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person who sent all of these reports: every value in them spends the budget.

        Every location of a path also spends it, so the result is then a guarantee for trajectories.
        """
        once = self.question.guarantee
        if once.unit == "trajectory" != self.question.domain.protects:
            count = int(np.count_nonzero(self.cells[..., 0]))  # the marks of beginnings count the paths
        else:
            count = self.cells.size // math.prod(self.question.layout.shape)
        if count == 0:
            return replace(once, bound=Pure(0.0))
        if once.unit != "location":
            return once.repeated(count)
        return replace(once.repeated(count), unit="trajectory")

    def read_by(self, asked: object) -> Reports:
        """Return the same reports decoded by another question, or by a design's question.

        Raise Mismatch if the fingerprints differ.
        """
        question = cast("Question", getattr(asked, "question", asked))
        if question.fingerprint != self.question.fingerprint:
            raise Mismatch(
                f"expected reports of {_name(question)}, got reports of {_name(self.question)}, made "
                "by another mechanism or with other parameters; pass the question that made them"
            )
        return Reports(question, self.cells, self.about, self.people)

    def to_bytes(self) -> bytes:
        """Return the reports and the specification of their question as bytes; `dt.from_bytes` reads them."""
        cells = np.ascontiguousarray(self.cells)
        specification = self.question.specification()
        header = {
            "specification": specification,
            "dtype": cells.dtype.newbyteorder("<").str,
            "shape": list(cells.shape),
        }
        text = json.dumps(header, ensure_ascii=False, allow_nan=False).encode()
        body = MAGIC + struct.pack("<BI", specification["dither"], len(text)) + text
        body += cells.astype(cells.dtype.newbyteorder("<"), copy=False).tobytes()
        return body + hashlib.sha256(body).digest()[:DIGEST]

    @staticmethod
    def concatenate(parts: list[Reports]) -> Reports:
        """Return reports of one question concatenated along the first axis.

        Raise Mismatch if they are of different questions, or have different codebooks.
        """
        if not parts:
            raise InvalidParameter("expected at least one part of reports to concatenate, got an empty list")
        first = parts[0].question
        for part in parts[1:]:
            check_codebooks(first, part.question)
        about = next((part.about for part in parts if part.about), "")
        for index, part in enumerate(parts):
            if any(overlap(part.people, other.people, same_part=True) for other in parts[:index]):
                raise InvalidParameter(
                    "expected different reports to concatenate, got some twice: their people would be "
                    "counted twice; name each part once"
                )
        cells = np.concatenate([part.read_by(first).cells for part in parts])
        return Reports(first, cells, about, join(part.people for part in parts if len(part.cells)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.values, dtype=dtype)

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __getitem__(self, index: Any) -> Reports:
        return Reports(self.question, np.asarray(self.cells[index]), self.about, take(self.people, index))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reports):
            return NotImplemented
        same = self.question.fingerprint == other.question.fingerprint
        return same and np.array_equal(self.cells, other.cells)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        count = f"{self.question.counting.answers(self.cells):,}".replace(",", " ")
        return f"Reports({count} of {_name(self.question)}, {self.cells.dtype.name})"


def check_codebooks(first: Question, second: Question) -> None:
    """Raise Mismatch if two questions have equal fingerprints but different codebooks."""
    if first is second or first.fingerprint != second.fingerprint:
        return  # `read_by` raises for different questions
    if first.codebook() != second.codebook():
        raise Mismatch(
            f"expected reports of {_name(first)} with one codebook, got several; choose one with "
            "reports.read_by(question)"
        )


def _name(question: Question) -> str:
    return f"{question.name} on {question.domain}"
