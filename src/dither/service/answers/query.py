"""What is asked of a collector: a question, a quantity, and the part of the reports; read from a URL."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Self, final

from dither.domains import Categories, Line
from dither.errors import InvalidParameter, found, unknown_name
from dither.question import Question
from dither.service.contract import Contract

MOST_BINS: Final = 256
_KNOWN: Final = ("question", "what", "share", "bins", "by", "day", "label", "lying")


@final
class What(Enum):
    """A quantity that is estimated."""

    USUAL = "usual"  # a mean, a mean direction or frequencies
    DISTRIBUTION = "distribution"
    QUANTILE = "quantile"


@final
class By(Enum):
    """How reports are divided before each part is estimated."""

    DAY = "day"
    LABEL = "label"


@final
@dataclass(frozen=True)
class Query:
    """One quantity of one question, of all reports or of a day or a label, or for each of these.

    `lying` is the share of reports that may be lies; without it nobody is assumed to lie.
    """

    question: str
    what: What = What.USUAL
    share: float = 0.5
    bins: int | None = None
    by: By | None = None
    day: datetime.date | None = None
    label: str | None = None
    lying: float | None = None

    @classmethod
    def of(cls, terms: Mapping[str, str], contract: Contract) -> list[Self]:
        """Return what the parameters of a URL ask; without a question, the usual quantity of every one."""
        for name in terms:
            if name not in _KNOWN:
                raise unknown_name("parameter", name, _KNOWN)
        names = [terms["question"]] if "question" in terms else list(contract.questions)
        for name in names:
            if name not in contract.questions:
                raise unknown_name("question", name, list(contract.questions))
        label = terms.get("label")
        if label is not None and label not in ("", *contract.labels):
            raise unknown_name("label", label, ["", *contract.labels])
        shared: dict[str, Any] = {
            "what": _member(What, "what", terms.get("what", "usual")),
            "share": _number("share", terms.get("share", "0.5")),
            "bins": _whole("bins", terms["bins"]) if "bins" in terms else None,
            "by": _member(By, "by", terms["by"]) if "by" in terms else None,
            "day": _day(terms["day"]) if "day" in terms else None,
            "label": label,
            "lying": _number("lying", terms["lying"]) if "lying" in terms else None,
        }
        return [cls(name, **shared) for name in names]

    @property
    def quantity(self) -> str:
        """The quantity in words, with its parameters."""
        return f"quantile {self.share:g}" if self.what is What.QUANTILE else self.what.value


def usual_quantity(mechanism: Question) -> str:
    """Return what the usual quantity of a mechanism is called."""
    if isinstance(mechanism.domain, Categories):
        return "frequency"
    return "mean" if isinstance(mechanism.domain, Line) else "estimate"


def _member(kind: type[Enum], name: str, text: str) -> Any:
    values = {one.value: one for one in kind}
    if text not in values:
        raise unknown_name(name, text, list(values))
    return values[text]


def _number(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 < number < 1.0:
        raise InvalidParameter(f"{name} is a number between 0 and 1, such as 0.5, not {found(text)}")
    return number


def _whole(name: str, text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0
    if not 1 <= number <= MOST_BINS:
        raise InvalidParameter(f"{name} is a whole number from 1 to {MOST_BINS}, not {found(text)}")
    return number


def _day(text: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise InvalidParameter(f"day is a day such as 2026-05-01, not {found(text)}") from None
