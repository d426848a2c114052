"""Rows of answers: estimates as plain values, each with an interval that is named for what it is.

Means and frequencies have intervals that hold at all numbers of reports together (`at_any_time`). Quantiles
and distributions have none such; theirs hold at 100 looks, which are taken at numbers of reports that were
fixed beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from dither.errors import DitherError
from dither.estimation.api import distribution, estimate, quantile
from dither.estimation.bounds.any_time import level_of_one
from dither.estimation.estimate import Estimate
from dither.estimation.likelihood.distribution import EstimatedDistribution
from dither.estimation.summary import Summary
from dither.service.answers.query import Query, What, usual_quantity

LEVEL: Final = 0.95
LOOKS: Final = 100
GROWTH: Final = 1.2  # a further look is taken when the number of reports has grown by this factor

SHOWN, FEW, NONE, NO_ANSWER = "shown", "too few people", "no reports", "no answer"
ANY_TIME: Final = f"{LEVEL:.0%} at any time".replace("%", " %")
ONE_LOOK: Final = f"{LEVEL:.0%} at one look".replace("%", " %")
MANY_LOOKS: Final = f"{LEVEL:.0%} over {LOOKS} looks".replace("%", " %")
MANY_BINS: Final = f"{MANY_LOOKS}, in {LEVEL:.0%} of the bins on average".replace("5%", "5 %")
LYING: Final = "95 % at one look, if {} of the reports are lies"

COLUMNS: Final = (
    "question",
    "quantity",
    "day",
    "label",
    "answer",
    "from",
    "to",
    "value",
    "low",
    "high",
    "unit",
    "interval",
    "n",
    "n of interval",
    "state",
    "reason",
)

PlainRow = dict[str, Any]


@final
@dataclass(frozen=True)
class ReportsPart:
    """A part of the reports: of a day, of a label, or all."""

    day: str | None = None
    label: str | None = None


def look_of(n: int, people: int) -> int:
    """Return the number of the look at n reports: it grows when n has grown by a factor of 1.2."""
    return 0 if n < people else 1 + math.floor(math.log(n / people) / math.log(GROWTH) + 1e-9)


def without_answer(
    query: Query, part: ReportsPart, n: int, state: str, reason: str, name: str = ""
) -> PlainRow:
    """Return the row of a part that has no answer, with the reason."""
    return _row(query, part, n, name or query.quantity, state=state, reason=reason)


def rows(query: Query, part: ReportsPart, summary: Summary) -> list[PlainRow]:
    """Return the rows of a quantity; of one that these reports cannot answer, a row that says why."""
    name = usual_quantity(summary.question) if query.what is What.USUAL else query.quantity
    if not summary.n:
        return [without_answer(query, part, 0, NONE, "no reports have arrived", name)]
    try:
        if query.what is What.DISTRIBUTION:
            shape = distribution(summary, query.bins)
            return list(_bins(query, part, shape))
        found = quantile(summary, query.share) if query.what is What.QUANTILE else estimate(summary)
        return list(_estimates(query, part, name, found))
    except DitherError as error:
        return [without_answer(query, part, summary.n, NO_ANSWER, str(error), name)]


def _estimates(query: Query, part: ReportsPart, name: str, plain: Estimate) -> Iterator[PlainRow]:
    wide, words = _widened(plain, query)
    low, high = wide.interval(LEVEL)
    columns = [np.asarray(end, dtype=np.float64).reshape(-1) for end in (plain.value, low, high)]
    named = [str(label) for label in plain.labels]
    labels: Sequence[str | None] = named or [None] * columns[0].size
    shared = {"unit": plain.unit or None, "interval": words, "n of interval": plain.n}
    base = _row(query, part, plain.n, name, **shared)
    ends = (column.tolist() for column in columns)
    for answer, value, least, most in zip(labels, *ends, strict=True):
        yield {**base, "answer": answer, "value": value, "low": _finite(least), "high": _finite(most)}


def _widened(plain: Estimate, query: Query) -> tuple[Estimate, str]:
    """Return the estimate with the interval that is shown, and what that interval is called."""
    if query.lying is not None:
        return plain.if_lying(query.lying), LYING.format(f"{100 * query.lying:g} %")
    if query.what is What.USUAL:
        try:
            return plain.at_any_time(), ANY_TIME
        except DitherError:
            return plain.over_looks(LOOKS), MANY_LOOKS
    return plain.over_looks(LOOKS), MANY_LOOKS


def _bins(query: Query, part: ReportsPart, shape: EstimatedDistribution) -> Iterator[PlainRow]:
    low, high = shape.bands(level_of_one(LEVEL, LOOKS))
    ends = shape.edges.tolist()
    parts = zip(ends[:-1], ends[1:], shape.probabilities.tolist(), low.tolist(), high.tolist(), strict=True)
    for first, last, value, least, most in parts:
        yield _row(
            query,
            part,
            shape.n,
            "share of a bin",
            value=value,
            low=least,
            high=most,
            interval=MANY_BINS,
            **{"from": first, "to": last, "n of interval": shape.n},
        )


def _row(query: Query, part: ReportsPart, n: int, quantity: str, **more: Any) -> PlainRow:
    base = dict.fromkeys(COLUMNS)
    known: dict[str, Any] = {
        "question": query.question,
        "quantity": quantity,
        "day": part.day,
        "label": part.label,
        "n": n,
        "state": SHOWN,
    }
    return {**base, **known, **more}


def _finite(number: float) -> float | None:
    """Return a number that JSON has; an infinite end is none."""
    return number if math.isfinite(number) else None
