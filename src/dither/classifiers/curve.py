"""Utility at many budgets: a curve with a confidence band."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, final

import numpy as np

from dither.arrays import Floats
from dither.classifiers.case import Case
from dither.classifiers.feature_law import FeatureLaw
from dither.classifiers.proofs.importance import importance_band
from dither.classifiers.randomisation import Randomisation, Randomiser
from dither.classifiers.result import Utility, UtilityMethod, confidence_text, with_raw_release
from dither.classifiers.utility import (
    QUERIES,
    bound_utility,
    check_confidence,
    check_queries,
    prove_utility,
)
from dither.errors import Infeasible, InvalidParameter
from dither.plotting import COLOURS, axes_or_new, styled
from dither.question import check_epsilon
from dither.randomness import SYSTEM, Source

BUDGETS: Final = tuple(np.geomspace(0.1, 10.0, 50).tolist())


@final
@dataclass(frozen=True, eq=False, repr=False)
class Curve:
    """The probability that the answer stays, at many budgets: between `lower` and `upper`.

    With the stated confidence the whole band holds: both edges, at all budgets at once.
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

    def plot(self, *, ax: Any = None, label: str | None = None) -> Any:
        """Draw the curve and its band on `ax`, or on new axes, and return them; needs the extra `plot`."""
        ax = axes_or_new(ax)
        colour = COLOURS[len(ax.lines) % len(COLOURS)]
        ax.plot(self.epsilons, self.estimate, color=colour, label=label or self.method.value)
        ax.fill_between(self.epsilons, self.lower, self.upper, color=colour, alpha=0.25, lw=0)
        ax.set_ylim(0.0, 1.02)
        ax.legend(frameon=False, fontsize=9)
        title = "How often the classifier answers as without noise"
        return styled(ax, title=title, x="ε", y="probability of the same answer")

    def __len__(self) -> int:
        return self.epsilons.size

    def __repr__(self) -> str:
        ends = f"ε = {self.epsilons[0]:g} … {self.epsilons[-1]:g}"
        kept = f"{self.lower[0]:.3f} … {self.lower[-1]:.3f}"
        how = f"{self.method.value}{confidence_text(self.confidence)}"
        return f"Curve({ends}: stays with probability ≥ {kept}; {how})"


def utility_curve(
    predict: object,
    x: Any,
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

    Exact where `utility` is. Otherwise the classifier is asked about `queries` points once, for all budgets
    together, and the band holds at all of them at once. A single mechanism spends ε on every feature;
    `dt.Each` divides it. `anchors` are the budgets of the mixture that points are drawn from: by default
    `epsilons`.

    >>> import dither as dt
    >>> ring = lambda rows: np.hypot(rows[:, 0] - 0.5, rows[:, 1] - 0.5) < 0.3
    >>> curve = utility_curve(ring, [0.5, 0.5], dt.OGPM(dt.Interval(0, 1), epsilon=1), [1, 2, 4])
    >>> curve.method
    UtilityMethod.IMPORTANCE
    """
    omega = check_confidence(confidence)
    check_queries(queries)
    budgets = np.array([check_epsilon(epsilon) for epsilon in epsilons])
    if budgets.size < 1 or (np.diff(budgets) <= 0.0).any():
        raise InvalidParameter("epsilons must be increasing, and at least one")
    randomisation = Randomisation.of(mechanism)
    case = Case.of(predict, x, randomisation.names, names)

    def laws_at(epsilon: float) -> Sequence[FeatureLaw]:
        return randomisation.at(epsilon).laws(case.features)

    laws = [laws_at(epsilon) for epsilon in budgets.tolist()]
    stream = SYSTEM if source is None else source
    found = _proven_curve(case, budgets, laws, method, omega)
    if found is None and method in (None, UtilityMethod.IMPORTANCE):
        mixture = None if anchors is None else [laws_at(anchor) for anchor in anchors]
        band = importance_band(case, laws, mixture, queries, omega, stream)
        edges = band.lower, band.upper, band.estimate
        found = Curve(budgets, *edges, UtilityMethod.IMPORTANCE, confidence, queries)
    if found is None:
        each = [bound_utility(case, one, method, omega / len(laws), queries, stream) for one in laws]
        found = _curve(budgets, each, confidence)
    return found.with_raw_release(randomisation.raw_share)


def _proven_curve(
    case: Case,
    budgets: Floats,
    laws: Sequence[Sequence[FeatureLaw]],
    method: UtilityMethod | None,
    omega: float,
) -> Curve | None:
    """Return the curve that the classifier's parameters prove; None if it is not tight or not asked for.

    Raise `Infeasible` if a proof is required and there is none.
    """
    if method not in (None, UtilityMethod.EXACT, UtilityMethod.CERTIFIED):
        return None
    required = method is not None or omega == 0.0
    boxes = method is UtilityMethod.CERTIFIED or omega == 0.0
    found = []
    for one in laws:
        proof = prove_utility(case, one, boxes=boxes)
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
        np.array([getattr(one, edge) for one in found]) for edge in ("lower", "upper", "estimate")
    )
    weakest = max((one.method for one in found), key=list(UtilityMethod).index)
    return Curve(budgets, lower, upper, estimate, weakest, confidence, sum(one.queries for one in found))
