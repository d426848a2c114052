"""Average and worst case over a data set, in batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from dither.arrays import Floats, Integers
from dither.classifiers.case import Case
from dither.classifiers.models.model import Model
from dither.classifiers.proofs.confidence import binomial_above, binomial_below, mean_below
from dither.classifiers.result import Method, Utility
from dither.classifiers.subject import (
    Randomiser,
    Subject,
    check_mechanism,
    chosen_by,
    draw,
    parts_of,
    spent,
)
from dither.classifiers.utility import check_confidence, check_queries, proven
from dither.errors import InvalidParameter
from dither.mechanisms.base import Answering
from dither.randomness import SYSTEM, Source

Progress = Callable[[int], None]

_ROWS: Final = 1 << 16  # records that are asked about at once


@final
@dataclass(frozen=True, eq=False, repr=False)
class Overall:
    """How likely answers stay over a data set: on average, at worst, and for each record (`lower`, `upper`).

    The average, the worst case and the records' bounds each hold with the stated confidence, the latter all
    at once.
    """

    average: Utility
    worst: Utility
    lower: Floats
    upper: Floats

    def __repr__(self) -> str:
        return f"on average {self.average!r}; at worst {self.worst!r}; {self.lower.size} records"


def over_records(
    predict: object,
    records: Any,
    mechanism: Randomiser,
    *,
    confidence: float = 0.95,
    queries: int = 200,
    method: Method | None = None,
    names: Sequence[str] | None = None,
    source: Source | None = None,
    progress: Progress | None = None,
) -> Overall:
    """Bound the utility of every record of a data set, on average and at worst.

    `records` is an array with a record for each row, or columns by name. Exact where `utility` is; otherwise
    each record is randomised `queries` times. `progress` is told how many records were done since last time.

    >>> import dither as dt
    >>> steep = dt.classifiers.Linear([[10.0, 1.0]], [-6.0])
    >>> people = np.array([[0.8, 0.5], [0.2, 0.4], [0.6, 0.1]])
    >>> over_records(steep, people, dt.OGPM(dt.Interval(0, 1), epsilon=2)).worst
    stays with probability 0.5363 (exact)
    """
    omega = check_confidence(confidence)
    check_queries(queries)
    check_mechanism(mechanism)
    if method not in (None, Method.EXACT, Method.MONTE_CARLO):
        raise InvalidParameter("a data set is looked at exactly, or by Monte Carlo")
    model = Model.of(predict)
    rows, called = _rows(records, model.names if names is None else list(names))
    subjects = [Subject.of(row, chosen_by(mechanism), called) for row in rows]
    parts = parts_of(mechanism, len(subjects[0].columns))
    told = progress or (lambda done: None)
    promise = spent(mechanism, len(parts))
    if method is not Method.MONTE_CARLO:
        found = _exact(model, subjects, parts, told)
        if found is not None:
            return _proof(*found, promise)
        if method is Method.EXACT or omega == 0.0:
            raise InvalidParameter("nothing exact is known about this classifier; ask for Monte Carlo")
    stayed = _sampled(model, subjects, parts, queries, SYSTEM if source is None else source, told)
    return _bounds(stayed, queries, omega, promise)


def _rows(records: Any, names: Sequence[str] | None) -> tuple[list[Any], Sequence[str] | None]:
    if hasattr(records, "keys"):
        names = [str(name) for name in records.keys()] if names is None else names  # noqa: SIM118
        try:
            columns = [np.asarray(records[name]) for name in names]
        except KeyError:
            raise InvalidParameter(f"the data need these columns: {', '.join(names)}") from None
        rows = [list(row) for row in zip(*columns, strict=True)]
    else:
        rows = list(np.asarray(records))
    if not rows or np.ndim(rows[0]) < 1:
        raise InvalidParameter("a data set is an array with a record for each row, or columns by name")
    return rows, names


def _exact(
    model: Model, subjects: Sequence[Subject], parts: Sequence[Answering], told: Progress
) -> tuple[Floats, Floats] | None:
    bounds = []
    for subject in subjects:
        case = Case(model, subject, model(subject.rows(subject.values[None]))[0])
        found = proven(case, parts, boxes=False)
        if found is None or found.upper - found.lower > 0.01:
            return None
        bounds.append((found.lower, found.upper))
        told(1)
    lower, upper = np.array(bounds).T
    return lower, upper


def _sampled(
    model: Model,
    subjects: Sequence[Subject],
    parts: Sequence[Answering],
    queries: int,
    source: Source,
    told: Progress,
) -> Integers:
    """Count for each record how often its answer stays; many records are asked about together."""
    counts = []
    size = max(1, _ROWS // queries)
    for begin in range(0, len(subjects), size):
        group = subjects[begin : begin + size]
        answers = model(np.concatenate([one.rows(one.values[None]) for one in group]))
        values = np.repeat(np.stack([one.values for one in group]), queries, axis=0)
        points = draw(parts, values, source).reshape(len(group), queries, -1)
        asked = np.concatenate([one.rows(some) for one, some in zip(group, points, strict=True)])
        same = model(asked).reshape(len(group), queries) == answers[:, None]
        counts.append(same.sum(axis=1))
        told(len(group))
    return np.concatenate(counts)


def _proof(lower: Floats, upper: Floats, promise: Any) -> Overall:
    tight = Method.EXACT if float((upper - lower).max()) < 1e-6 else Method.CERTIFIED
    average, worst = (
        Utility.proof(float(of(lower)), float(of(upper)), tight).under(promise) for of in (np.mean, np.min)
    )
    return Overall(average, worst, lower, upper)


def _bounds(stayed: Integers, queries: int, omega: float, promise: Any) -> Overall:
    trials, total, half = queries * stayed.size, int(stayed.sum()), omega / 2.0  # for each of two edges
    share = half / stayed.size  # all records at once
    lower = np.array([binomial_below(int(count), queries, share) for count in stayed])
    upper = np.array([binomial_above(int(count), queries, share) for count in stayed])

    def sampled(low: float, high: float, estimate: float) -> Utility:
        return Utility(low, high, estimate, Method.MONTE_CARLO, 1.0 - omega, trials, promise)

    least, most = mean_below(total, trials, half), 1.0 - mean_below(trials - total, trials, half)
    return Overall(
        sampled(least, most, total / trials),
        sampled(float(lower.min()), float(upper.min()), float(stayed.min()) / queries),
        lower,
        upper,
    )
