"""Utility against the budget: one call, a curve with its band."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, final

import numpy as np

from dither.arrays import Floats
from dither.classifiers.case import Case
from dither.classifiers.indicator import Indicator
from dither.classifiers.proofs.importance import one_time
from dither.classifiers.result import Method, Utility
from dither.classifiers.subject import Randomiser, check_mechanism, chosen_by, parts_of
from dither.classifiers.utility import QUERIES, by_method, check_confidence, check_queries, proven
from dither.errors import Infeasible, InvalidParameter
from dither.mechanisms.base import Answering, check_epsilon
from dither.mechanisms.plotting import axes_or_new
from dither.randomness import SYSTEM, Source

BUDGETS: Final = tuple(np.geomspace(0.1, 10.0, 50).tolist())
_CLOSE: Final = 0.01  # proven bounds nearer than this need no sampling beside them


@final
@dataclass(frozen=True, eq=False, repr=False)
class Curve:
    """How likely the answer stays, for many budgets: at least `lower` and at most `upper`.

    With the stated confidence the whole band is right: both edges, at every budget at once.
    """

    epsilons: Floats
    lower: Floats
    upper: Floats
    estimate: Floats
    method: Method
    confidence: float
    queries: int

    def plot(self, *, axes: Any = None, label: str | None = None) -> Any:
        """Draw the curve with its band, and give matplotlib's axes back; needs the extra `plot`."""
        axes = axes_or_new(axes)
        line = axes.plot(self.epsilons, self.estimate, label=label or self.method.value)[0]
        if self.method is not Method.PUBLISHED:
            axes.fill_between(self.epsilons, self.lower, self.upper, color=line.get_color(), alpha=0.25, lw=0)
        axes.set_xlabel("ε")
        axes.set_ylabel("probability that the answer stays")
        axes.set_ylim(0.0, 1.02)
        axes.legend(frameon=False)
        return axes

    def __len__(self) -> int:
        return self.epsilons.size

    def __repr__(self) -> str:
        ends = f"ε = {self.epsilons[0]:g} … {self.epsilons[-1]:g}"
        kept = f"{self.lower[0]:.3f} … {self.lower[-1]:.3f}"
        sure = "" if self.confidence == 1.0 else f", {100 * self.confidence:g} % confidence"
        return f"Curve({ends}: stays with probability ≥ {kept}; {self.method.value}{sure})"


def utility_curve(
    predict: object,
    x: Any,
    mechanism: Randomiser | Indicator,
    epsilons: Sequence[float] = BUDGETS,
    *,
    confidence: float = 0.95,
    queries: int = QUERIES,
    method: Method | None = None,
    anchors: Sequence[float] | None = None,
    names: Sequence[str] | None = None,
    source: Source | None = None,
) -> Curve:
    """Give how likely the answer stays at many budgets, `mechanism.at(ε)` each, in one go.

    Exact where `utility` is. Otherwise `queries` points are asked about once, for all budgets together; the
    band holds at all of them at once. A single mechanism spends ε on every feature, `dt.Each` divides it.
    `anchors` are the budgets from whose mixture the points are drawn: those of the curve unless stated.

    >>> import dither as dt
    >>> ring = lambda rows: np.hypot(rows[:, 0] - 0.5, rows[:, 1] - 0.5) < 0.3
    >>> curve = utility_curve(ring, [0.5, 0.5], dt.OGPM(dt.Interval(0, 1), epsilon=1), [1, 2, 4])
    >>> curve.method
    Method.IMPORTANCE
    """
    omega = check_confidence(confidence)
    check_queries(queries)
    budgets = np.array([check_epsilon(epsilon) for epsilon in epsilons])
    if budgets.size < 1 or (np.diff(budgets) <= 0.0).any():
        raise InvalidParameter("the budgets of a curve are increasing numbers, at least one")
    if isinstance(mechanism, Indicator):
        plain = utility_curve(
            predict,
            x,
            mechanism.mechanism,
            epsilons,
            confidence=confidence,
            queries=queries,
            method=method,
            anchors=anchors,
            names=names,
            source=source,
        )
        return _lifted(plain, mechanism.delta)
    check_mechanism(mechanism)
    case = Case.of(predict, x, chosen_by(mechanism), names)
    features = len(case.subject.columns)
    laws = [parts_of(mechanism.at(epsilon), features) for epsilon in budgets.tolist()]
    stream = SYSTEM if source is None else source
    if method in (None, Method.EXACT, Method.CERTIFIED):
        found = _proven(case, laws, boxes=method is Method.CERTIFIED or omega == 0.0)
        if found is not None and (method is not None or omega == 0.0 or _close(found)):
            return _curve(budgets, found, 1.0)
        if method is not None or omega == 0.0:
            raise Infeasible("nothing is proven about this classifier with these features")
    if method in (None, Method.IMPORTANCE):
        chosen = None if anchors is None else [parts_of(mechanism.at(one), features) for one in anchors]
        band = one_time(case, laws, chosen, queries, omega, stream)
        return Curve(budgets, band.lower, band.upper, band.estimate, Method.IMPORTANCE, confidence, queries)
    each = [by_method(case, parts, method, omega / len(laws), queries, stream) for parts in laws]
    return _curve(budgets, each, confidence)


def _close(found: Sequence[Utility]) -> bool:
    return all(one.upper - one.lower < _CLOSE for one in found)


def _proven(case: Case, laws: Sequence[Sequence[Answering]], *, boxes: bool) -> list[Utility] | None:
    found = []
    for parts in laws:
        one = proven(case, parts, boxes=boxes)
        if one is None:
            return None
        found.append(one)
    return found


def _curve(budgets: Floats, found: Sequence[Utility], confidence: float) -> Curve:
    lower, upper, estimate = (
        np.array([getattr(one, edge) for one in found]) for edge in ("lower", "upper", "estimate")
    )
    weakest = max((one.method for one in found), key=list(Method).index)
    return Curve(budgets, lower, upper, estimate, weakest, confidence, sum(one.queries for one in found))


def _lifted(curve: Curve, delta: float) -> Curve:
    edges = (delta + (1.0 - delta) * edge for edge in (curve.lower, curve.upper, curve.estimate))
    lower, upper, estimate = edges
    return replace(curve, lower=lower, upper=upper, estimate=estimate)
