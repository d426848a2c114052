"""A page about one classifier and one record: what each mechanism keeps, at which budget, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dither.classifiers.case import Case
from dither.classifiers.choice import Ranking, best_mechanism
from dither.classifiers.curve import BUDGETS, Curve, utility_curve
from dither.classifiers.feature_law import as_designed
from dither.classifiers.models.model import Model
from dither.classifiers.plotting import draw_boundary, svg
from dither.classifiers.result import rounded_down
from dither.classifiers.robustness import hyperrectangle, radius
from dither.classifiers.subject import Randomiser, check_mechanism, chosen_by, parts_of
from dither.classifiers.utility import QUERIES
from dither.domains import Interval
from dither.errors import InvalidParameter
from dither.html import Markup, element, figure, joined, page
from dither.mechanisms.plotting import axes_or_new
from dither.randomness import Source
from dither.table import as_html


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
    """Give an HTML page: the model, the record, every mechanism at one budget, and the curves over many.

    With two randomised features the page shows where the answer stays, and boxes in it. `ranking` is what
    `best_mechanism` said at that budget, if it was asked already. The page contains the record: keep it where
    the record may be. Needs the extra `plot`.
    """
    if not isinstance(candidates, Mapping) or not candidates:
        raise InvalidParameter("candidates are mechanisms by name, at least one")
    for candidate in candidates.values():
        check_mechanism(candidate)
    if len({chosen_by(candidate) for candidate in candidates.values()}) > 1:
        raise InvalidParameter("all mechanisms of a page randomise the same features")
    more = {"confidence": confidence, "queries": queries, "names": names, "source": source}
    if ranking is None:
        ranking = best_mechanism(predict, x, candidates, epsilon=epsilon, **more)  # type: ignore[arg-type]
    curves = {
        name: utility_curve(predict, x, candidate, epsilons, **more)  # type: ignore[arg-type]
        for name, candidate in candidates.items()
    }
    first = next(iter(candidates.values()))
    case = Case.of(predict, x, chosen_by(first), names)
    called = _called(case, Model.of(predict), x, names)
    rows = [
        (name, rounded_down(found.lower), found.method.value, found.confidence, str(found.guarantee))
        for name, found in zip(ranking.names, ranking.utilities, strict=True)
    ]
    meaning = (
        ". Probabilities are those of the same answer as for the record itself, when its features are "
        "randomised first."
    )
    return page(
        "What a classifier keeps",
        element("p", "This page shows a record. Keep it where the record may be.", class_="warn"),
        element("p", "The classifier is ", element("code", _title(Model.of(predict).inside)), meaning),
        element("h2", "The record"),
        _record(case, called, parts_of(first, len(case.subject.columns))),
        element("h2", f"At ε = {epsilon:g}"),
        as_html(("mechanism", "stays, at least", "how it is known", "confidence", "promise"), rows),
        element("h2", "Against the budget"),
        _curves(curves, at_least),
        *_map(predict, x, case, called, first, names, source),
    )


def _title(inside: object) -> str:
    text = " ".join(repr(inside).split())
    if len(text) < 200 and " at 0x" not in text:
        return text
    return getattr(inside, "__name__", type(inside).__name__)


def _called(case: Case, model: Model, x: Any, names: Sequence[str] | None) -> list[str]:
    if names is None and hasattr(x, "keys"):
        names = model.names or [str(name) for name in x.keys()]  # noqa: SIM118
    count = case.subject.row.size
    return [str(name) for name in names or model.names or (f"feature {place + 1}" for place in range(count))]


def _record(case: Case, called: Sequence[str], parts: Sequence[Any]) -> Markup:
    domains = dict(zip(case.subject.columns, parts, strict=True))
    rows = []
    for place, name in enumerate(called[:100]):
        value = case.subject.row[place]
        shown = f"{value:.6g}" if isinstance(value, float) else str(value)
        part = domains.get(place)
        rows.append((name, shown, "as it is" if part is None else f"randomised on {part.domain}"))
    return as_html(("feature", "value", "sent"), rows)


def _curves(curves: Mapping[str, Curve], at_least: float) -> Markup:
    axes = axes_or_new(None)
    lines = []
    for name, curve in curves.items():
        curve.plot(axes=axes, label=name)
        lines.append((name, _where(curve, at_least), curve.method.value, curve.queries))
    axes.axhline(at_least, color="grey", linewidth=0.8, linestyle=":")
    axes.set_xscale("log")
    head = ("mechanism", f"stays with {at_least:g} at least", "how it is known", "queries")
    drawn = figure(svg(axes), "the probability that the answer stays, against ε, for each mechanism")
    return joined([drawn, as_html(head, lines)])


def _where(curve: Curve, at_least: float) -> str:
    """Say at which budgets of a curve enough stays; utility need not grow with the budget."""
    enough = curve.lower >= at_least
    if not enough.any():
        return "at no budget shown"
    first = int(enough.argmax())
    begin = f"{curve.epsilons[first]:.3g}"
    return f"from ε = {begin} on" if enough[first:].all() else f"at ε = {begin}, not at every larger one"


def _map(
    predict: object,
    x: Any,
    case: Case,
    called: Sequence[str],
    mechanism: Randomiser,
    names: Sequence[str] | None,
    source: Source | None,
) -> list[Markup]:
    """Draw the map of two features on intervals, with boxes in which the answer stays."""
    columns = case.subject.columns
    lines = tuple(as_designed(part).line for part in parts_of(mechanism, len(columns)))
    if len(columns) != 2 or not all(isinstance(line, Interval) for line in lines):
        return []
    labels = tuple(called[column] for column in columns)
    names = names or Model.of(predict).names
    known = names is not None or hasattr(x, "keys")
    domains: Any = dict(zip(labels, lines, strict=True)) if known else lines[0]
    if not known and lines[0] != lines[1]:
        return []
    found = {
        "each side by itself": hyperrectangle(predict, x, domains, names=names, source=source),
        "all sides alike": radius(predict, x, domains, names=names, source=source),
    }
    boxes = {name: one.box for name, one in found.items()}
    axes = draw_boundary(case, lines, boxes, labels)  # type: ignore[arg-type]
    rows = [(name, repr(one)) for name, one in found.items()]
    note = element("p", "Blue: the answer stays. It does in these boxes:")
    drawn = figure(svg(axes), "where the answer stays when the two features move")
    return [element("h2", "Where the answer stays"), drawn, note, as_html(("box", "how far"), rows)]
