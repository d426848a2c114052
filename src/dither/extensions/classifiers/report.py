"""A report on one record: the model, every mechanism at one budget, and curves, as an HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dither.core.domains import Interval
from dither.errors import InvalidParameter
from dither.extensions.classifiers.choice import Ranking, best_mechanism
from dither.extensions.classifiers.feature_law import FeatureLaw
from dither.extensions.classifiers.models.model import Model
from dither.extensions.classifiers.result import Case, rounded_down
from dither.extensions.classifiers.robustness import hyperrectangle, radius
from dither.extensions.classifiers.subject import Randomisation, Randomiser, names_in
from dither.extensions.classifiers.utility import BUDGETS, QUERIES, Curve, draw_boundary, svg, utility_curve
from dither.foundation.markup import Markup, element, figure, join_markup, page
from dither.foundation.plotting import as_budgets, axes_or_new
from dither.foundation.randomness import Source
from dither.foundation.tables import as_html


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
        raise InvalidParameter(
            "expected candidates to be at least one mechanism by name; pass for example dict(OGPM=dt.OGPM(…))"
        )
    randomisations = [Randomisation.without_indicator(candidate) for candidate in candidates.values()]
    if len({randomisation.names for randomisation in randomisations}) > 1:
        raise InvalidParameter(
            "expected mechanisms of the same features on one page; make one page for each set of features"
        )
    more: dict[str, Any] = {"confidence": confidence, "queries": queries, "names": names, "source": source}
    if ranking is None:
        ranking = best_mechanism(predict, x, candidates, epsilon=epsilon, **more)
    curves = {
        name: utility_curve(predict, x, candidate, epsilons, **more) for name, candidate in candidates.items()
    }
    case = Case.of(predict, x, randomisations[0].names, names, randomisations[0].laws)
    laws = randomisations[0].laws(case.features)
    known = _known_names(case.model, x, names)
    features = known or [f"feature {index + 1}" for index in range(case.subject.row.size)]
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


def _known_names(model: Model, x: object, names: Sequence[str] | None) -> list[str] | None:
    """Return the names of the record's features: as given, as the model knows them, or of the record."""
    found = names or model.names
    if found is None:
        found = names_in(x)
    return None if found is None else [str(name) for name in found]


def _record(case: Case, features: Sequence[str], laws: Sequence[FeatureLaw]) -> Markup:
    randomised = dict(zip(case.subject.columns, laws, strict=True))
    rows = []
    for index, name in enumerate(features[:100]):
        value = case.subject.row[index]
        shown = f"{value:.6g}" if isinstance(value, float) else str(value)
        law = randomised.get(index)
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
    x: object,
    case: Case,
    features: Sequence[str],
    laws: Sequence[FeatureLaw],
    known: Sequence[str] | None,
    source: Source | None,
) -> list[Markup]:
    """Return a map of two features on intervals, with boxes in which the answer stays; else nothing."""
    lines = [law.line for law in laws if isinstance(law.line, Interval) and law.labels is None]
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
