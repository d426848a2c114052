"""Utility over a data set: on average, at worst, and for each record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dither.errors import InvalidParameter, found
from dither.extensions.classifiers.feature_law import FeatureLaw
from dither.extensions.classifiers.models.model import Model
from dither.extensions.classifiers.monte_carlo import binomial_above, binomial_below, draw_reports, mean_below
from dither.extensions.classifiers.result import Case, Utility, UtilityMethod
from dither.extensions.classifiers.subject import Randomisation, Randomiser, Subject, names_in
from dither.extensions.classifiers.utility import check_confidence, check_queries, prove_utility
from dither.foundation.arrays import Floats, Integers
from dither.foundation.plotting import BLUE, ORANGE, as_per_cent, axes_or_new, dress_axes
from dither.foundation.randomness import SYSTEM, Source
from dither.foundation.tables import Row, Tabular
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Progress = Callable[[int], None]

_ROWS: Final = 1 << 16  # rows of one call of the classifier


@dataclass(frozen=True, eq=False, repr=False)
class DatasetUtility(Tabular):
    """The utility over a data set: on average, at worst, and for each record (`lower`, `upper`).

    The average, the worst case and the bounds of all records at once each hold with the stated confidence.
    """

    average: Utility
    worst: Utility
    lower: Floats
    upper: Floats

    def records(self) -> list[Row]:
        """Return a row for each record: the bounds of its probability to have the same answer."""
        bounds = zip(self.lower.tolist(), self.upper.tolist(), strict=True)
        return [{"record": index, "low": low, "high": high} for index, (low, high) in enumerate(bounds)]

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the bounds of each record's probability to keep its answer, sorted; needs the extra `plot`."""
        ax = axes_or_new(ax)
        shares = (np.arange(self.lower.size) + 0.5) / self.lower.size
        low, high = np.sort(self.lower), np.sort(self.upper)
        ax.fill_between(shares, low, high, color=BLUE, alpha=0.25, linewidth=0, label="between the bounds")
        ax.plot(shares, low, color=BLUE, label="lower bound of each record")
        ax.axhline(self.average.lower, color=ORANGE, linestyle="--", label="lower bound of the average")
        ax.legend(frameon=False, fontsize=9)
        ax.set_ylim(0.0, 1.02)
        for axis in "xy":
            as_per_cent(ax, axis)
        about = title or f"How often the classifier answers as without noise, {self.lower.size} records"
        return dress_axes(
            ax, title=about, x="records, the least certain first", y="probability of the same answer"
        )

    def __repr__(self) -> str:
        return f"on average {self.average!r}; at worst {self.worst!r}; {self.lower.size} records"


def over_records(
    predict: object,
    records: object,
    mechanism: Randomiser,
    *,
    confidence: float = 0.95,
    queries: int = 200,
    method: UtilityMethod | None = None,
    names: Sequence[str] | None = None,
    source: Source | None = None,
    progress: Progress | None = None,
) -> DatasetUtility:
    """Return bounds on the utility of every record of a data set, on average and at worst.

    `records` is an array with one record a row, or columns by name. Exact where `utility` is; otherwise each
    record is randomised `queries` times. `progress` is called with the number of records done since the last
    call.

    >>> import dither as dt
    >>> steep = dt.classifiers.LinearClassifier([[10.0, 1.0]], [-6.0])
    >>> people = np.array([[0.8, 0.5], [0.2, 0.4], [0.6, 0.1]])
    >>> over_records(steep, people, dt.OGPM(dt.Interval(0, 1), epsilon=2)).worst
    stays with probability 0.5363 (exact)
    """
    omega = check_confidence(confidence)
    check_queries(queries)
    randomisation = Randomisation.without_indicator(mechanism)
    if method not in (None, "exact", "Monte Carlo"):
        raise InvalidParameter(
            f'expected the method for a data set to be "exact" or "Monte Carlo", got {found(method)}'
        )
    model = Model.of(predict)
    rows, known = _rows(records, model.names if names is None else list(names))
    subjects = [Subject.of(row, randomisation.names, known, randomisation.laws) for row in rows]
    features = len(subjects[0].columns)
    laws, guarantee = randomisation.laws(features), randomisation.guarantee(features)
    tell = progress or (lambda done: None)
    if method != "Monte Carlo":
        proofs = _prove_all(model, subjects, laws, queries, tell)
        if proofs is not None:
            return _summarise_proofs(proofs, guarantee)
        if method == "exact" or omega == 0.0:
            raise InvalidParameter(
                'expected method="Monte Carlo", because no exact utility is known for this '
                "classifier; "
                "pass it"
            )
    kept = _count_kept(model, subjects, laws, queries, SYSTEM if source is None else source, tell)
    return _summarise_counts(kept, queries, omega, guarantee)


def _rows(records: Any, names: Sequence[str] | None) -> tuple[list[Any], Sequence[str] | None]:
    own = names_in(records)
    if own is not None:
        names = own if names is None else names
        try:
            columns = [np.asarray(records[name]) for name in names]
        except KeyError:
            raise InvalidParameter(
                f"expected the columns {', '.join(names)} in the data; add the missing ones"
            ) from None
        rows = [list(row) for row in zip(*columns, strict=True)]
    else:
        rows = list(np.asarray(records))
    if not rows or np.ndim(rows[0]) < 1:
        raise InvalidParameter("expected a data set to be an array with one record a row, or columns by name")
    return rows, names


def _prove_all(
    model: Model, subjects: Sequence[Subject], laws: Sequence[FeatureLaw], queries: int, tell: Progress
) -> list[Utility] | None:
    """Return proven bounds for every record, or None if some are not close."""
    proofs = []
    for subject in subjects:
        proof = prove_utility(Case.about(model, subject), laws, boxes=False, most=queries)
        if proof is None or not proof.is_close:
            return None
        proofs.append(proof)
        tell(1)
    return proofs


def _count_kept(
    model: Model,
    subjects: Sequence[Subject],
    laws: Sequence[FeatureLaw],
    queries: int,
    source: Source,
    tell: Progress,
) -> Integers:
    """Return for each record how often its answer stays; many records share one call."""
    counts = []
    size = max(1, _ROWS // queries)
    for begin in range(0, len(subjects), size):
        group = subjects[begin : begin + size]
        answers = model(np.concatenate([case.rows(case.values[None]) for case in group]))
        values = np.repeat(np.stack([case.values for case in group]), queries, axis=0)
        points = draw_reports(laws, values, source).reshape(len(group), queries, -1)
        rows = np.concatenate([case.rows(some) for case, some in zip(group, points, strict=True)])
        same = model(rows).reshape(len(group), queries) == answers[:, None]
        counts.append(same.sum(axis=1))
        tell(len(group))
    return np.concatenate(counts)


def _summarise_proofs(proofs: Sequence[Utility], guarantee: Guarantee) -> DatasetUtility:
    lower, upper = np.array([(proof.lower, proof.upper) for proof in proofs]).T
    average, worst = (
        Utility.enclose(float(of(lower)), float(of(upper))).under(guarantee) for of in (np.mean, np.min)
    )
    return DatasetUtility(average, worst, lower, upper)


def _summarise_counts(kept: Integers, queries: int, omega: float, guarantee: Guarantee) -> DatasetUtility:
    trials, total, half = queries * kept.size, int(kept.sum()), omega / 2.0  # half of ω for each side
    share = half / kept.size  # so that the bounds of all records hold at once
    lower = np.array([binomial_below(int(count), queries, share) for count in kept])
    upper = np.array([binomial_above(int(count), queries, share) for count in kept])

    def utility_of(low: float, high: float, estimate: float) -> Utility:
        return Utility(low, high, estimate, "Monte Carlo", 1.0 - omega, trials, guarantee)

    least, most = mean_below(total, trials, half), 1.0 - mean_below(trials - total, trials, half)
    return DatasetUtility(
        utility_of(least, most, total / trials),
        utility_of(float(lower.min()), float(upper.min()), float(kept.min()) / queries),
        lower,
        upper,
    )
