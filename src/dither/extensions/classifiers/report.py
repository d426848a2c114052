"""The best mechanism and budget for a classifier, and a report on one record.

Utility over a data set: on average, at worst, and for each record.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dither.core.domains import Interval, finite
from dither.core.question import check_epsilon
from dither.errors import Infeasible, InvalidParameter, found
from dither.extensions.classifiers.feature_law import FeatureLaw, Randomisation, Randomiser, Subject
from dither.extensions.classifiers.models.model import Model
from dither.extensions.classifiers.monte_carlo import binomial_above, binomial_below, draw_reports, mean_below
from dither.extensions.classifiers.result import Case, Utility, UtilityMethod, draw_utilities, rounded_down
from dither.extensions.classifiers.robustness import hyperrectangle, radius
from dither.extensions.classifiers.utility import (
    BUDGETS,
    QUERIES,
    Curve,
    check_confidence,
    check_queries,
    draw_boundary,
    prove_utility,
    svg,
    utility,
    utility_curve,
)
from dither.foundation.arrays import Floats, Integers
from dither.foundation.plotting import BLUE, ORANGE, as_budgets, as_per_cent, axes_or_new, dress_axes
from dither.foundation.randomness import SYSTEM, Source
from dither.foundation.tables import Markup, Row, Tabular, as_html, element, figure, join_markup, page
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_RANGE: Final = (0.05, 20.0)  # the default range of budgets
_RATIO: Final = 1.1  # of neighbouring budgets on the first curve
_PARTS: Final = 4  # into which the gap between an insufficient and a sufficient budget is divided


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Tabular):
    """Mechanisms in decreasing order of the lower bounds of their utility."""

    names: tuple[str, ...]
    mechanisms: tuple[Any, ...]
    utilities: tuple[Utility, ...]
    confidence: float

    @property
    def best(self) -> Any:
        """The mechanism with the highest lower bound."""
        return self.mechanisms[0]

    @property
    def decided(self) -> bool:
        """Whether no other mechanism can be better: every other upper bound is below the best lower bound."""
        return all(self.utilities[0].lower >= other.upper for other in self.utilities[1:])

    def records(self) -> list[Row]:
        """Return a row for each mechanism: the probability of the same answer, and its bounds."""
        rows = zip(self.names, self.utilities, strict=True)
        return [{"mechanism": name, **found.records()[0]} for name, found in rows]

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the mechanisms with the bounds of their utility, the best first; needs the extra `plot`."""
        promise = f", {self.utilities[0].guarantee}" if self.utilities[0].guarantee else ""
        about = title or f"How often the classifier answers as without noise{promise}"
        return draw_utilities(self.records(), about, ax)

    def __repr__(self) -> str:
        width = max(map(len, self.names))
        rows = zip(self.names, self.utilities, strict=True)
        return "\n".join(f"{name:{width}}  {found!r}" for name, found in rows)


def best_mechanism(
    predict: object,
    x: Any,
    candidates: Mapping[str, Randomiser] | Sequence[Randomiser],
    *,
    epsilon: float,
    confidence: float = 0.95,
    queries: int = QUERIES,
    names: Sequence[str] | None = None,
    source: Source | None = None,
) -> Ranking:
    """Rank mechanisms by the lower bound of their utility, each at the same budget.

    All bounds hold at once with the stated confidence, so choosing among them needs no further correction.

    >>> import dither as dt
    >>> unit, steep = dt.Interval(0, 1), dt.classifiers.LinearClassifier([[10.0, 1.0]], [-6.0])
    >>> kinds = [dt.OGPM(unit, epsilon=1), dt.Laplace(unit, epsilon=1).truncated()]
    >>> best_mechanism(steep, [0.8, 0.5], kinds, epsilon=2)
    OGPM     stays with probability 0.7977 (exact)
    Laplace  stays with probability 0.6959 (exact)
    """
    named = dict(candidates) if isinstance(candidates, Mapping) else _name_by_class(candidates)
    if not named:
        raise InvalidParameter("candidates must have at least one mechanism")
    omega = check_confidence(confidence) / len(named)
    found = []
    for name, candidate in named.items():
        mechanism = candidate.at(check_epsilon(epsilon))
        found_utility = utility(
            predict, x, mechanism, confidence=1.0 - omega, queries=queries, names=names, source=source
        )
        found.append((name, mechanism, found_utility))
    found.sort(key=lambda row: -row[2].lower)
    labels, mechanisms, utilities = zip(*found, strict=True)
    return Ranking(labels, mechanisms, utilities, confidence)


@dataclass(frozen=True, eq=False, repr=False)
class SufficientBudget(Tabular):
    """A budget that keeps enough utility, the lower bound it keeps, and the curve that it was read off.

    `not_enough` is the next smaller budget that was looked at and is not sufficient; 0 if there is none.
    """

    epsilon: float
    lower: float
    mechanism: Any
    curve: Curve
    not_enough: float

    def records(self) -> list[Row]:
        """Return one row: the budget, the bound that it keeps, and the next smaller one that does not."""
        return [{"epsilon": self.epsilon, "low": self.lower, "not enough": self.not_enough}]

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the curve that the budget was read off, and the budget; needs the extra `plot`."""
        ax = self.curve.plot(title=title or repr(self), ax=ax)
        ax.axvline(self.epsilon, color=ORANGE, linewidth=1.2, linestyle="--")
        ax.plot([self.epsilon], [self.lower], "o", color=ORANGE, label=f"ε = {self.epsilon:.3g}")
        as_budgets(ax)
        ax.legend(frameon=False, fontsize=9)
        return ax

    def __float__(self) -> float:
        return self.epsilon

    def __repr__(self) -> str:
        return f"ε = {self.epsilon:.4g}: stays with probability ≥ {self.lower:.4g} ({self.curve.method})"


def epsilon_for_utility(
    predict: object,
    x: Any,
    mechanism: Randomiser,
    *,
    at_least: float,
    between: tuple[float, float] = _RANGE,
    tolerance: float = 1e-4,
    confidence: float = 0.95,
    queries: int = QUERIES,
    names: Sequence[str] | None = None,
    source: Source | None = None,
) -> SufficientBudget:
    """Return the smallest budget found that keeps the answer with probability `at_least`.

    It is read off a curve whose lower edge holds at all budgets at once. If the curve is exact, further
    budgets are looked at until an insufficient one is within the relative `tolerance`. Utility need not grow
    with the budget: a larger budget may be insufficient, and a smaller one that was not looked at may be
    sufficient. (The lattice of noise depends on ε, so there utility varies by the probability of a cell.)

    >>> import dither as dt
    >>> wide = dt.classifiers.LinearClassifier([[0.0], [1.0], [-1.0]], [0.0, -0.8, 0.2])
    >>> epsilon_for_utility(wide, [0.5], dt.OGPM(dt.Interval(0, 1), epsilon=1), at_least=0.8)
    ε = 1.386: stays with probability ≥ 0.8 (exact)
    """
    if not 0.0 < at_least < 1.0:
        raise InvalidParameter(f"at_least must be a probability between 0 and 1, not {found(at_least)}")
    if not 1e-9 <= finite("tolerance", tolerance) < 1.0:
        raise InvalidParameter(f"tolerance must be a share of ε, from 1e-9 to 1, not {found(tolerance)}")
    low, high = (check_epsilon(end) for end in between)
    if low >= high:
        raise InvalidParameter(
            f"between must be a lower and a higher budget, in this order, not {low:g} and {high:g}"
        )
    curve = utility_curve(
        predict,
        x,
        mechanism,
        np.geomspace(low, high, math.ceil(math.log(high / low) / math.log(_RATIO)) + 1).tolist(),
        confidence=confidence,
        queries=queries,
        names=names,
        source=source,
    )
    sufficient = np.flatnonzero(curve.lower >= at_least)
    if not sufficient.size:
        raise Infeasible(
            f"up to ε = {high:g} the highest lower bound is {curve.lower.max():.3g}; ask for less, allow a "
            "larger budget, or use more queries"
        )
    first = int(sufficient[0])
    under = float(curve.epsilons[first - 1]) if first else 0.0
    epsilon, lower = float(curve.epsilons[first]), float(curve.lower[first])
    while first and curve.method == "exact" and epsilon > (1.0 + tolerance) * under:
        for look in np.geomspace(under, epsilon, _PARTS + 1)[1:-1].tolist():
            reached = utility(predict, x, mechanism.at(look), method="exact", names=names).lower
            if reached >= at_least:
                epsilon, lower = look, reached
                break
            under = look
    return SufficientBudget(epsilon, lower, mechanism.at(epsilon), curve, under)


def _name_by_class(candidates: Sequence[Any]) -> dict[str, Any]:
    """Return mechanisms under the names of their classes, with numbers to those of one class."""
    named: dict[str, Any] = {}
    for candidate in candidates:
        plain = name = type(candidate).__name__
        count = 2
        while name in named:
            name, count = f"{plain} {count}", count + 1
        named[name] = candidate
    return named


def report(
    predict: object,
    x: Any,
    candidates: Mapping[str, Randomiser],
    *,
    epsilon: float = 2.0,
    epsilons: Sequence[float] = BUDGETS,
    at_least: float = 0.8,
    confidence: float = 0.95,
    queries: int = QUERIES,
    names: Sequence[str] | None = None,
    source: Source | None = None,
    ranking: Ranking | None = None,
) -> str:
    """Return an HTML page with the model, the record, every mechanism at one budget, and curves over many.

    With two randomised features the page shows where the answer stays, and boxes in it. `ranking` is the
    result of `best_mechanism` at that budget, if there is one already. The page contains the record: keep it
    where the record may be. Needs the extra `plot`.
    """
    if not isinstance(candidates, Mapping) or not candidates:
        raise InvalidParameter("candidates must be mechanisms by name, at least one")
    randomisations = [Randomisation.without_indicator(candidate) for candidate in candidates.values()]
    if len({randomisation.names for randomisation in randomisations}) > 1:
        raise InvalidParameter("all mechanisms of a page must randomise the same features")
    more: dict[str, Any] = {"confidence": confidence, "queries": queries, "names": names, "source": source}
    if ranking is None:
        ranking = best_mechanism(predict, x, candidates, epsilon=epsilon, **more)
    curves = {
        name: utility_curve(predict, x, candidate, epsilons, **more) for name, candidate in candidates.items()
    }
    case = Case.of(predict, x, randomisations[0].names, names)
    laws = randomisations[0].laws(case.features)
    known = _known_names(case.model, x, names)
    features = known or [f"feature {place + 1}" for place in range(case.subject.row.size)]
    rows = [
        (name, rounded_down(found.lower), found.method, found.confidence, str(found.guarantee))
        for name, found in zip(ranking.names, ranking.utilities, strict=True)
    ]
    meaning = (
        ". Utility is the probability that its answer for the randomised record is its answer for the record "
        "itself."
    )
    return page(
        "Utility of a classifier",
        element("p", "This page shows a record. Keep it where the record may be.", class_="warn"),
        element("p", "The classifier is ", element("code", _title(case.model.inside)), meaning),
        element("h2", "The record"),
        _record(case, features, laws),
        element("h2", f"At ε = {epsilon:g}"),
        as_html(("mechanism", "utility, at least", "method", "confidence", "guarantee"), rows),
        element("h2", "At other budgets"),
        _curves(curves, at_least),
        *_map(predict, x, case, features, laws, known, source),
    )


def _title(inside: object) -> str:
    text = " ".join(repr(inside).split())
    if len(text) < 200 and " at 0x" not in text:
        return text
    return getattr(inside, "__name__", type(inside).__name__)


def _known_names(model: Model, x: Any, names: Sequence[str] | None) -> list[str] | None:
    """Return the names of the record's features: as given, as the model knows them, or of the record."""
    found = names or model.names
    if found is None and hasattr(x, "keys"):
        found = list(x.keys())
    return None if found is None else [str(name) for name in found]


def _record(case: Case, features: Sequence[str], laws: Sequence[FeatureLaw]) -> Markup:
    randomised = dict(zip(case.subject.columns, laws, strict=True))
    rows = []
    for place, name in enumerate(features[:100]):
        value = case.subject.row[place]
        shown = f"{value:.6g}" if isinstance(value, float) else str(value)
        law = randomised.get(place)
        rows.append((name, shown, "as it is" if law is None else f"randomised on {law.domain}"))
    return as_html(("feature", "value", "sent"), rows)


def _curves(curves: Mapping[str, Curve], at_least: float) -> Markup:
    ax = axes_or_new(None)
    lines = []
    for name, curve in curves.items():
        curve.plot(ax=ax, label=name)
        lines.append((name, _sufficient(curve, at_least), curve.method, curve.queries))
    ax.axhline(at_least, color="grey", linewidth=0.8, linestyle=":")
    as_budgets(ax)
    head = ("mechanism", f"utility of at least {at_least:g}", "method", "queries")
    drawn = figure(svg(ax), "the utility against ε, for each mechanism")
    return join_markup([drawn, as_html(head, lines)])


def _sufficient(curve: Curve, at_least: float) -> str:
    """Return in words at which budgets of a curve utility is sufficient; it need not grow with the budget."""
    sufficient = curve.lower >= at_least
    if not sufficient.any():
        return "at no budget shown"
    first = int(sufficient.argmax())
    begin = f"{curve.epsilons[first]:.3g}"
    return f"from ε = {begin} on" if sufficient[first:].all() else f"at ε = {begin}, not at every larger one"


def _map(
    predict: object,
    x: Any,
    case: Case,
    features: Sequence[str],
    laws: Sequence[FeatureLaw],
    known: Sequence[str] | None,
    source: Source | None,
) -> list[Markup]:
    """Return a map of two features on intervals, with boxes in which the answer stays; else nothing."""
    lines = [law.line for law in laws if isinstance(law.line, Interval)]
    if len(laws) != 2 or len(lines) != 2 or (known is None and lines[0] != lines[1]):
        return []
    first, second = (features[column] for column in case.subject.columns)
    domain = lines[0] if known is None else {first: lines[0], second: lines[1]}
    found = {
        "each side by itself": hyperrectangle(predict, x, domain, names=known, source=source),
        "all sides alike": radius(predict, x, domain, names=known, source=source),
    }
    boxes = {name: utility.box for name, utility in found.items()}
    ax = draw_boundary(case, (lines[0], lines[1]), boxes, (first, second))
    rows = [(name, repr(utility)) for name, utility in found.items()]
    note = element("p", "Blue: the answer stays. It stays in all of these boxes:")
    drawn = figure(svg(ax), "where the answer stays when the two features move")
    return [element("h2", "Where the answer stays"), drawn, note, as_html(("box", "extent"), rows)]


Progress = Callable[[int], None]

_ROWS: Final = 1 << 16  # rows that the classifier is asked about at once


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
        return [{"record": place, "low": low, "high": high} for place, (low, high) in enumerate(bounds)]

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw which share of the records keeps its answer with which probability; needs the extra `plot`."""
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
    records: Any,
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
        raise InvalidParameter(f'the method for a data set is "exact" or "Monte Carlo", not {found(method)}')
    model = Model.of(predict)
    rows, known = _rows(records, model.names if names is None else list(names))
    subjects = [Subject.of(row, randomisation.names, known) for row in rows]
    features = len(subjects[0].columns)
    laws, guarantee = randomisation.laws(features), randomisation.guarantee(features)
    tell = progress or (lambda done: None)
    if method != "Monte Carlo":
        proofs = _prove_all(model, subjects, laws, tell)
        if proofs is not None:
            return _summarise_proofs(proofs, guarantee)
        if method == "exact" or omega == 0.0:
            raise InvalidParameter("no exact utility is known for this classifier; use Monte Carlo")
    kept = _count_kept(model, subjects, laws, queries, SYSTEM if source is None else source, tell)
    return _summarise_counts(kept, queries, omega, guarantee)


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
        raise InvalidParameter("a data set is an array with one record a row, or columns by name")
    return rows, names


def _prove_all(
    model: Model, subjects: Sequence[Subject], laws: Sequence[FeatureLaw], tell: Progress
) -> list[Utility] | None:
    """Return proven bounds for every record, or None if those of one are not close."""
    proofs = []
    for subject in subjects:
        proof = prove_utility(Case.about(model, subject), laws, boxes=False)
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
    """Return for each record how often its answer stays; many records are asked about at once."""
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
