"""Queries to a collector: a quantity of a question, for a period, by day or by label."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Self

from dither.collection.campaign import Campaign
from dither.collection.kept_changes import counts_changes
from dither.errors import InvalidParameter, found, unknown_name
from dither.foundation.tables import period_start

MOST_BINS: Final = 256
PARTS: Final = ("question", "day", "label", "since", "until", "last")  # parameters that select reports
_KNOWN: Final = (*PARTS, "what", "share", "bins", "by", "lying")
_LONGEST: Final = 3660  # largest value of `last`, in days


class What(Enum):
    """A quantity that is estimated."""

    USUAL = "usual"  # a mean, a mean direction or frequencies
    DISTRIBUTION = "distribution"
    QUANTILE = "quantile"
    SIZES = "sizes"  # for sets of items: the number of people with 1, 2, … or more
    ANSWERED = "answered"  # the share of people who answered a question that may be left out
    DIFFERENCE = "difference"  # the usual quantity of each label less the first label's
    CHANGE = "change"  # the usual quantity of a period less the previous period's
    VERSIONS = "versions"  # the usual quantity of each version of the campaign, and of all together


class By(Enum):
    """How reports are divided before each part is estimated."""

    DAY = "day"
    WEEK = "week"  # from Monday on
    MONTH = "month"
    LABEL = "label"

    def first(self, day: datetime.date) -> datetime.date:
        """Return the first day of the day's week or month, or the day itself."""
        return period_start(self.value, day)


@dataclass(frozen=True)
class Query:
    """One quantity of one question, of all reports or of a day or a label, or for each of these.

    `since` and `until` are the first and the last day whose reports are used, if not all are.
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
    since: datetime.date | None = None
    until: datetime.date | None = None

    @classmethod
    def of(
        cls, terms: Mapping[str, str], contract: Campaign, today: datetime.date | None = None
    ) -> list[Self]:
        """Return the queries of a URL's parameters; without a question, the usual quantity of each question.

        `last` is a number of days up to `today`.
        """
        for name in terms:
            if name not in _KNOWN:
                raise unknown_name("parameter", name, _KNOWN)
        if counts_changes(contract):
            raise InvalidParameter(
                "expected days.csv or days.json, because this campaign is about kept changes; use one of them"
            )
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
            "since": _day(terms["since"]) if "since" in terms else None,
            "until": _day(terms["until"]) if "until" in terms else None,
        }
        if "last" in terms:
            if today is None or {"since", "until", "day"} & set(terms):
                raise InvalidParameter("expected last without day, since and until; leave them out")
            count = _whole("last", terms["last"], _LONGEST)
            shared["since"] = today - datetime.timedelta(count - 1)
        return [cls(name, **shared) for name in names]

    @property
    def quantity(self) -> str:
        """The quantity in words, with its parameters."""
        return f"quantile {self.share:g}" if self.what is What.QUANTILE else self.what.value


def _member(kind: type[Enum], name: str, text: str) -> object:
    values = {member.value: member for member in kind}
    if text not in values:
        raise unknown_name(name, text, list(values))
    return values[text]


def _number(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 < number < 1.0:
        raise InvalidParameter(
            f"expected {name} to be a number between 0 and 1, such as 0.5, got {found(text)}"
        )
    return number


def _whole(name: str, text: str, most: int = MOST_BINS) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0
    if not 1 <= number <= most:
        raise InvalidParameter(f"expected {name} to be an integer from 1 to {most}, got {found(text)}")
    return number


def _day(text: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise InvalidParameter(f"expected a day such as 2026-05-01, got {found(text)}") from None
