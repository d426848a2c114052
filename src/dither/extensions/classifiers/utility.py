"""The probability that a prediction stays the same on a randomised record, for one or many budgets."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Final, get_args

import numpy as np

from dither.core.domains import Box, Line
from dither.core.domains.plane import PLACE
from dither.core.question import Question, as_question, check_epsilon
from dither.errors import Infeasible, InvalidParameter, check_choice, found
from dither.extensions.classifiers.boxes import FeatureBox, box_mass, grow_box, sides_by_mass
from dither.extensions.classifiers.feature_law import FeatureLaw, marginals
from dither.extensions.classifiers.monte_carlo import (
    binomial_above,
    binomial_below,
    count_kept,
    draw_reports,
    importance_band,
)
from dither.extensions.classifiers.result import (
    Case,
    Utility,
    UtilityMethod,
    confidence_text,
    with_raw_release,
)
from dither.extensions.classifiers.subject import Randomisation, Randomiser
from dither.foundation.arrays import Floats
from dither.foundation.plotting import BLUE, COLOURS, as_per_cent, axes_or_new, dress_axes
from dither.foundation.randomness import SYSTEM, Source
from dither.foundation.tables import Row, Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUERIES: Final = 20_000
_FEW: Final = 8  # up to this many features a box is searched for in addition to sampling
_MOST_LISTED: Final = 4096  # combinations of reports for which the classifier is called
_HIGH: Final = 0.99  # a lower bound above this leaves a box little to improve


def utility(
    predict: object,
    x: object,
    mechanism: Randomiser,
    *,
    confidence: float = 0.95,
    queries: int = QUERIES,
    method: UtilityMethod | None = None,
    names: Sequence[str] | None = None,
    source: Source | None = None,
) -> Utility:
    """Return bounds on the probability that the answer for x stays the same when x is randomised.

    `predict` is any function from rows to answers, an estimator of scikit-learn or its `predict_proba`, or a
    torch module; x is one record, as an array or by name. `dt.Each(age=…, bmi=…)` randomises some features,
    a single mechanism all of them, each with its own ε, and `dt.Optimal` on a `dt.Box` some together. A
    mechanism of places (`dt.TraCSC`, `dt.PlanarLaplace`) randomises a record of two features, by Monte Carlo.

    The strongest method that applies is used and named: exact for linear models and for forests with one or
    two randomised features; otherwise Monte Carlo with `queries` randomised copies of x, or a certified box
    if its lower bound is higher. With `confidence=1` only proofs are used. `method` chooses one method.

    The computer that runs the classifier sees records near x: use this only where x itself may be seen.

    >>> import dither as dt
    >>> steep = dt.classifiers.LinearClassifier([[10.0, 1.0]], [-6.0])
    >>> unit = dt.Interval(0, 1)
    >>> utility(steep, [0.8, 0.5], dt.Each(age=dt.OGPM(unit, epsilon=2), bmi=dt.OGPM(unit, epsilon=2)))
    stays with probability 0.7977 (exact)
    """
    omega = check_confidence(confidence)
    check_queries(queries)
    domain = getattr(mechanism, "domain", None)
    if isinstance(domain, Box):
        return _in_box(predict, x, as_question(mechanism), method, names)
    if getattr(domain, "shape", None) == PLACE:
        stream = SYSTEM if source is None else source
        return _of_place(predict, x, as_question(mechanism), method, omega, queries, names, stream)
    randomisation = Randomisation.of(mechanism)
    case = Case.of(predict, x, randomisation.names, names, randomisation.laws)
    laws = randomisation.laws(case.features)
    found = bound_utility(case, laws, method, omega, queries, SYSTEM if source is None else source)
    return found.with_raw_release(randomisation.raw_share).under(randomisation.guarantee(case.features))


def _in_box(
    predict: object, x: object, question: Question, method: UtilityMethod | None, names: Sequence[str] | None
) -> Utility:
    """Return the utility of several features together: the classifier is called for every report."""
    if method not in (None, "exact"):
        raise InvalidParameter(
            "expected no method for features that are reported together, because their utility is exact; "
            "leave method out"
        )
    box = question.domain
    case = Case.of(predict, x, box.names, names)
    law = question.kernel.laws(box.check(case.values[None]))[0]
    kept = min(float(law @ case.keeps(np.asarray(question.book))), 1.0)
    return Utility.enclose(kept, kept).under(question.guarantee)


def _of_place(
    predict: object,
    x: object,
    question: Question,
    method: UtilityMethod | None,
    omega: float,
    queries: int,
    names: Sequence[str] | None,
    source: Source,
) -> Utility:
    """Return the utility of two features that are one location, from drawn and decoded reports."""
    if method not in (None, "Monte Carlo"):
        raise InvalidParameter(
            f'expected method="Monte Carlo" for a mechanism of places, got {found(method)}; leave it out'
        )
    case = Case.of(predict, x, None, names)
    if case.features != 2:
        raise InvalidParameter(
            f"expected a record of two features, the two coordinates of a place, got {case.features}; pass a "
            "function of the two that calls the classifier with the others filled in"
        )

    def draw(values: Floats) -> Floats:
        reports = question.perturb(values[:, None], source=source)  # every copy is a separate path
        return np.asarray(question.decode(reports.cells), dtype=np.float64).reshape(-1, 2)

    return _sample_utility(case, draw, omega, queries).under(question.guarantee)


def bound_utility(
    case: Case,
    laws: Sequence[FeatureLaw],
    method: UtilityMethod | None,
    omega: float,
    queries: int,
    source: Source,
) -> Utility:
    """Bound the utility by a method, or by the strongest one that applies."""
    if method is not None:
        check_choice("method", method, UtilityMethod)
    if method is None:
        return _strongest(case, laws, omega, queries, source)
    if method == "Monte Carlo":
        return _monte_carlo(case, laws, omega, queries, source)
    if method in ("exact", "certified"):
        found = prove_utility(case, laws)
        if found is None or (method == "exact" and found.method != "exact"):
            raise Infeasible(
                "no exact utility is known for this classifier with these features, only for linear models, "
                "for forests with one or two randomised features, and for features with up to "
                f"{_MOST_LISTED} combinations of reports, such as categories; use another method"
            )
        return found
    raise InvalidParameter(
        "expected importance sampling for several budgets at once; use dt.classifiers.utility_curve"
    )


def _strongest(case: Case, laws: Sequence[FeatureLaw], omega: float, queries: int, source: Source) -> Utility:
    proof = prove_utility(case, laws, boxes=omega == 0.0)
    if proof is not None and (omega == 0.0 or proof.is_close):
        return proof
    if omega == 0.0:
        raise Infeasible(
            "nothing can be proven about this classifier, since its parameters cannot be read; use a "
            "confidence below 1"
        )
    sampled = _monte_carlo(case, laws, omega, queries, source)
    if proof is None and case.slice is not None and len(laws) <= _FEW and sampled.lower < _HIGH:
        proof = prove_utility(case, laws)
    return proof if proof is not None and proof.lower >= sampled.lower else sampled


def prove_utility(
    case: Case, laws: Sequence[FeatureLaw], *, boxes: bool = True, most: int = _MOST_LISTED
) -> Utility | None:
    """Return proven bounds: from the classifier's parameters, or else from the best box found if `boxes`.

    The utility of up to `most` combinations of reports is exact for every classifier, by calling it for each.
    """
    few = math.prod(law.reports for law in laws) <= most
    if case.slice is None and not few:
        return None
    listed = marginals(laws, case.values)
    if listed is None:
        return None
    bounds = None if case.slice is None else case.slice.encloses(listed)
    if bounds is not None:
        lower, upper = (float(np.clip(end, 0.0, 1.0)) for end in bounds)
        return Utility.enclose(lower, upper)
    if few:
        kept = case.keeps_on([marginal.places for marginal in listed])
        masses = reduce(np.multiply.outer, [marginal.masses for marginal in listed])
        share = min(float(masses.reshape(-1) @ kept), 1.0)
        return Utility.enclose(share, share)
    if not boxes or case.slice is None:
        return None
    shape = sides_by_mass(case.values, listed)
    box = grow_box(shape, len(laws), case.slice.proves, lambda box: box_mass(listed, box))
    return Utility.certify(box_mass(listed, box), box)


def _monte_carlo(
    case: Case, laws: Sequence[FeatureLaw], omega: float, queries: int, source: Source
) -> Utility:
    """Count how often the answer stays, and bound the probability [Clopper34], with ω/2 for each side."""
    return _sample_utility(case, partial(draw_reports, laws, source=source), omega, queries)


def _sample_utility(case: Case, draw: Callable[[Floats], Floats], omega: float, queries: int) -> Utility:
    _check_samples(omega)
    kept = count_kept(case, draw, queries)
    return Utility(
        binomial_below(kept, queries, omega / 2.0),
        binomial_above(kept, queries, omega / 2.0),
        kept / queries,
        "Monte Carlo",
        1.0 - omega,
        queries,
    )


def _check_samples(omega: float) -> None:
    if omega == 0.0:
        raise InvalidParameter(
            'expected a confidence below 1 for a method that samples; lower it, or use method="exact"'
        )


def check_confidence(confidence: float) -> float:
    """Return ω = 1 − confidence, an upper bound on the probability that a bound is wrong."""
    number = isinstance(confidence, int | float | np.floating) and not isinstance(confidence, bool)
    if not number or not 0.5 <= confidence <= 1.0:
        raise InvalidParameter(
            f"expected confidence to be a number from 0.5 to 1 (1 requires a proof), got {found(confidence)}"
        )
    return 1.0 - float(confidence)


def check_queries(queries: object) -> None:
    """Raise `InvalidParameter` unless a number of queries is an integer of at least 10."""
    if isinstance(queries, bool) or not isinstance(queries, int | np.integer) or queries < 10:
        raise InvalidParameter(
            "expected queries, the number of calls of the classifier, to be an integer of at least 10, got "
            f"{found(queries)}"
        )


BUDGETS: Final = tuple(np.geomspace(0.1, 10.0, 50).tolist())


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Tabular):
    """The probability that the answer stays, at many budgets: between `lower` and `upper`.

    With the stated confidence the complete band holds: both edges, at all budgets at once.
    """

    epsilons: Floats
    lower: Floats
    upper: Floats
    estimate: Floats
    method: UtilityMethod
    confidence: float
    queries: int

    def with_raw_release(self, share: float) -> Curve:
        """Return the curve for a mechanism that sends the raw record with probability `share`."""
        lower, upper, estimate = (
            with_raw_release(edge, share) for edge in (self.lower, self.upper, self.estimate)
        )
        return replace(self, lower=lower, upper=upper, estimate=estimate)

    def records(self) -> list[Row]:
        """Return a row for each budget: the probability and its bounds."""
        columns = (part.tolist() for part in (self.epsilons, self.estimate, self.lower, self.upper))
        names = ("epsilon", "value", "low", "high")
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def plot(self, *, label: str | None = None, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the curve and its band on `ax`, or on new axes, and return them; needs the extra `plot`."""
        ax = axes_or_new(ax)
        colour = COLOURS[len(ax.lines) % len(COLOURS)]
        ax.plot(self.epsilons, self.estimate, color=colour, label=label or self.method)
        ax.fill_between(self.epsilons, self.lower, self.upper, color=colour, alpha=0.25, lw=0)
        ax.set_ylim(0.0, 1.02)
        ax.legend(frameon=False, fontsize=9)
        as_per_cent(ax, "y")
        about = title or "How often the classifier answers as without noise"
        return dress_axes(ax, title=about, x="ε", y="probability of the same answer")

    def __len__(self) -> int:
        return self.epsilons.size

    def __repr__(self) -> str:
        ends = f"ε = {self.epsilons[0]:g} … {self.epsilons[-1]:g}"
        kept = f"{self.lower[0]:.3f} … {self.lower[-1]:.3f}"
        how = f"{self.method}{confidence_text(self.confidence)}"
        return f"Curve({ends}: stays with probability ≥ {kept}; {how})"


def utility_curve(
    predict: object,
    x: object,
    mechanism: Randomiser,
    epsilons: Sequence[float] = BUDGETS,
    *,
    confidence: float = 0.95,
    queries: int = QUERIES,
    method: UtilityMethod | None = None,
    anchors: Sequence[float] | None = None,
    names: Sequence[str] | None = None,
    source: Source | None = None,
) -> Curve:
    """Return bounds on the utility of `mechanism.at(ε)` at many budgets ε.

    Exact where `utility` is. Otherwise the classifier is called once for `queries` points and all budgets
    together, and the band holds at all of them at once. A single mechanism spends ε on every feature;
    `dt.Each` divides it. `anchors` are the budgets of the mixture that points are drawn from: by default
    `epsilons`.

    >>> import dither as dt
    >>> ring = lambda rows: np.hypot(rows[:, 0] - 0.5, rows[:, 1] - 0.5) < 0.3
    >>> curve = utility_curve(ring, [0.5, 0.5], dt.OGPM(dt.Interval(0, 1), epsilon=1), [1, 2, 4])
    >>> curve.method
    'importance sampling'
    """
    omega = check_confidence(confidence)
    check_queries(queries)
    budgets = np.array([check_epsilon(epsilon) for epsilon in epsilons])
    if budgets.size < 1 or (np.diff(budgets) <= 0.0).any():
        raise InvalidParameter("expected epsilons to be at least one budget, in increasing order; sort them")
    randomisation = Randomisation.of(mechanism)
    case = Case.of(predict, x, randomisation.names, names, randomisation.laws)

    def laws_at(epsilon: float) -> Sequence[FeatureLaw]:
        return randomisation.at(epsilon).laws(case.features)

    laws = [laws_at(epsilon) for epsilon in budgets.tolist()]
    stream = SYSTEM if source is None else source
    found = _proven_curve(case, budgets, laws, method, omega)
    if found is None and method in (None, "importance sampling"):
        mixture = None if anchors is None else [laws_at(anchor) for anchor in anchors]
        band = importance_band(case, laws, mixture, queries, omega, stream)
        edges = band.lower, band.upper, band.estimate
        found = Curve(budgets, *edges, "importance sampling", confidence, queries)
    if found is None:
        each = [bound_utility(case, law, method, omega / len(laws), queries, stream) for law in laws]
        found = _curve(budgets, each, confidence)
    return found.with_raw_release(randomisation.raw_share)


def _proven_curve(
    case: Case,
    budgets: Floats,
    laws: Sequence[Sequence[FeatureLaw]],
    method: UtilityMethod | None,
    omega: float,
) -> Curve | None:
    """Return the curve that the classifier's parameters prove; None if it is not tight or not requested.

    Raise `Infeasible` if a required proof is missing.
    """
    if method not in (None, "exact", "certified"):
        return None
    required = method is not None or omega == 0.0
    boxes = method == "certified" or omega == 0.0
    found = []
    for law in laws:
        proof = prove_utility(case, law, boxes=boxes)
        if proof is None or not (required or proof.is_close):
            break
        found.append(proof)
    if len(found) == len(laws):
        return _curve(budgets, found, 1.0)
    if required:
        raise Infeasible(
            "nothing can be proven about this classifier with these features; use another method or a "
            "confidence below 1"
        )
    return None


def _curve(budgets: Floats, found: Sequence[Utility], confidence: float) -> Curve:
    lower, upper, estimate = (
        np.array([getattr(utility, edge) for utility in found]) for edge in ("lower", "upper", "estimate")
    )
    weakest = max((utility.method for utility in found), key=get_args(UtilityMethod).index)
    return Curve(
        budgets, lower, upper, estimate, weakest, confidence, sum(utility.queries for utility in found)
    )


_POINTS: Final = 160  # along each side of the map


def draw_boundary(
    case: Case,
    lines: tuple[Line, Line],
    boxes: Mapping[str, FeatureBox],
    labels: tuple[str, str] = ("first", "second"),
    *,
    ax: Any = None,
) -> object:
    """Draw where the answer stays as two features move over their domains, with boxes and the record.

    Draws on `ax`, or on new axes, and returns them; needs the extra `plot`.
    """
    if case.features != 2:
        raise InvalidParameter(
            "expected two randomised features for a map; randomise two, and fix the others"
        )
    ax = axes_or_new(ax)
    sides = [np.linspace(line.low, line.high, _POINTS) for line in lines]
    points = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, 2)
    kept = case.keeps(points).reshape(_POINTS, _POINTS)
    ax.contourf(*sides, kept.T.astype(float), levels=(0.5, 1.5), colors=[BLUE], alpha=0.25)
    for number, (name, box) in enumerate(boxes.items()):
        low, high = box.corners
        across, up = [low[0], high[0], high[0], low[0], low[0]], [low[1], low[1], high[1], high[1], low[1]]
        ax.plot(across, up, color=COLOURS[1 + number % (len(COLOURS) - 1)], linewidth=1.6, label=name)
    ax.plot(*case.values, "k+", markersize=10, label="the record")
    ax.fill_between([], [], color=BLUE, alpha=0.25, linewidth=0, label="same answer as for the record")
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=9)
    ax.set(xlim=(lines[0].low, lines[0].high), ylim=(lines[1].low, lines[1].high))
    return dress_axes(ax, title="Where the classifier answers as for the record", x=labels[0], y=labels[1])


def svg(ax: Any) -> str:
    """Return the figure of some axes as SVG for a page."""
    stream = io.StringIO()
    ax.figure.savefig(stream, format="svg")
    text = stream.getvalue()
    return text[text.index("<svg") :]
