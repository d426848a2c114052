"""`dt.over_time`: ways to repeat one question for many days, with the promise for all days together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from dither.advice.goals import Frequencies, Goal, Mean
from dither.core.domains import Domain
from dither.core.question import LEAST_EPSILON, as_question
from dither.core.repetition import MOST_KEPT, KeptChange, Once, tells_changes
from dither.errors import InvalidParameter, found
from dither.estimation.over_time import predicted_error
from dither.foundation.plotting import draw_rows
from dither.foundation.tables import ResultTable, as_text, show_cell
from dither.mechanisms.mechanism import Mechanism
from dither.privacy import Guarantee, Nothing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_CHANGES: Final = 10**6
_SAME, _ONCE = "one answer, repeated", "one answer, on a drawn day"
_DIVIDED, _FRESH = "a new answer every day, ε divided", "a new answer every day"
_PERMANENT, _KEPT = "a permanent answer for each value", "one kept change, in a drawn group"


@dataclass(frozen=True, eq=False, repr=False)
class OverTime(ResultTable):
    """The result of `dt.over_time`: ways to ask, the recommended one first, with promise, error and reason.

    `best` is the mechanism to ask with, and `guarantee` the promise to a person for all days.
    """

    best: Any  # a design, dt.Once or dt.KeptChange
    guarantee: Guarantee

    @property
    def reason(self) -> str:
        """The reason for the first recommendation."""
        return str(self.rows[0]["why"])

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the predicted error of one day for each way, with its ε; needs the extra `plot`."""
        rows = [{"way": f"{row['way']}\n(ε = {row['epsilon']})", "error": row["error"]} for row in self.rows]
        about = title or self.title
        return draw_rows(rows, title=about, x="predicted error of one day", bars="error", ax=ax)

    def __repr__(self) -> str:
        head = ("way", "ε for all days", "error", "why")
        rows = [(row["way"], row["epsilon"], row["error"], row["why"]) for row in self.rows]
        return f"{self.title}\n\n{as_text(head, rows, align='lrrl')}"


def over_time(
    question: Mechanism[Any], *, days: int, changes: int | None = None, n: int = 100_000
) -> OverTime:
    """Return the ways to repeat a question for some days, for a person's complete sequence of values.

    `changes` is the largest number of changes of a person's value in these days; None if unknown. `n` is the
    number of people, for the predicted errors: the largest error of one day's mean or frequencies, relative
    to all n people. The recommended way has the smallest error among the ways whose promise holds for a
    changing value and does not grow.

    >>> from dither import KRR, Categories
    >>> advice = over_time(KRR(Categories(["yes", "no"]), epsilon=1), days=365)
    >>> advice.guarantee
    Guarantee: ε ≤ 1 for one person
    >>> advice.best == Once(KRR(Categories(["yes", "no"]), epsilon=1), days=365)
    True
    """
    target = as_question(question)
    once = Once(target, days=days)
    if changes is not None and not _whole(changes, 0, _MOST_CHANGES):
        raise InvalidParameter(
            f"expected changes to be an integer from 0 upwards, or None, got {found(changes)}"
        )
    if not _whole(n, 1, 10**12):
        raise InvalidParameter(
            f"expected n, how many people answer, to be an integer from 1 on, got {found(n)}"
        )
    goal = _goal(question)

    def error(mechanism: Mechanism[Any], people: int) -> float | None:
        return None if goal is None else replace(goal, n=max(1, people)).error(mechanism)  # type: ignore[type-var]

    promise = replace(question.guarantee, unit="person")
    constant = changes == 0 or days == 1
    rows = [
        _row(
            _ONCE,
            once.guarantee,
            _with_sampling(error(question, n // days), question.domain, n, days),
            "it holds however the value changes",
        ),
        _row(
            _SAME,
            promise,
            error(question, n) if constant else None,
            "the value does not change, so one day's answers describe all days; repeat='same' repeats them"
            if constant
            else "private, but it describes the first day only",
        ),
    ]
    best: object = question if constant else once
    if constant:
        rows.reverse()
    elif changes is not None and changes <= min(MOST_KEPT, days - 1) and tells_changes(target):
        kept_change = KeptChange(target, days=days, changes=changes)
        row = _row(_KEPT, kept_change.guarantee, predicted_error(kept_change, n), _few(changes))
        wins = rows[0]["error"] is None or row["error"] < rows[0]["error"]
        rows.insert(0 if wins else 1, row)
        best = kept_change if wins else once
    share = question.epsilon / days
    if days > 1 and share >= LEAST_EPSILON:
        daily = question.at(share)
        rows.append(
            _row(
                _DIVIDED,
                replace(daily.guarantee.repeated(days), unit="person"),
                error(daily, n),
                "everybody answers every day, but almost at random",
            )
        )
    if days > 1:
        every = replace(promise.repeated(days), unit="person")
        rows.append(_row(_FRESH, every, error(question, n), "the loss adds up day by day"))
        void = Guarantee(Nothing("a changed answer proves a change"), "person")
        kept = promise if constant else void
        why = "as one answer, repeated" if constant else "a changed answer proves that the value changed"
        rows.append(_row(_PERMANENT, kept, error(question, n), why))
    title = f"{type(question).__name__} on {question.domain} with ε = {question.epsilon:g} for {days} days, "
    title += (
        "changes unknown" if changes is None else f"at most {changes} change{'' if changes == 1 else 's'}"
    )
    return OverTime(f"{title}; n = {n}", tuple(rows), best, promise if constant else once.guarantee)


def _with_sampling(noise: float | None, domain: Domain, n: int, days: int) -> float | None:
    """Return the error of a day on which one of `every` people answers: noise and the choice of people.

    The variance of one person's value, or the mean over categories, is at its largest.
    """
    if noise is None:
        return None
    spread = 0.0
    if domain.count is not None:
        spread = (1.0 - 1.0 / domain.count) / domain.count
    elif domain.line is not None and not domain.circular:
        spread = domain.line.length**2 / 4.0
    return math.sqrt(noise**2 + spread * (days - 1) / n)


def _few(changes: int) -> str:
    often = "once" if changes == 1 else f"{changes} times"
    return f"private however it changes; right if nobody's value changes more than {often}"


def _goal(question: Mechanism[Any]) -> Goal | None:
    return next((kind() for kind in (Frequencies, Mean) if isinstance(question.domain, kind.takes)), None)


def _row(way: str, promise: Guarantee, error: float | None, why: str) -> dict[str, Any]:
    epsilon = "none" if isinstance(promise.bound, Nothing) else show_cell(promise.epsilon)
    return {"way": way, "epsilon": epsilon, "promise": str(promise), "error": error, "why": why}


def _whole(given: object, least: int, most: int) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and least <= given <= most
