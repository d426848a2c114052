"""How likely a classifier's answer stays the same when the record is randomised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from dither.classifiers.case import Case
from dither.classifiers.dissertation.published import published, region, repaired
from dither.classifiers.feature_law import marginals
from dither.classifiers.indicator import Indicator
from dither.classifiers.proofs.box import Box
from dither.classifiers.proofs.box_search import by_mass, grown
from dither.classifiers.proofs.confidence import binomial_above, binomial_below
from dither.classifiers.proofs.monte_carlo import kept
from dither.classifiers.result import Method, Utility
from dither.classifiers.subject import Randomiser, check_mechanism, chosen_by, parts_of, spent
from dither.errors import Infeasible, InvalidParameter
from dither.mechanisms.base import Answering
from dither.randomness import SYSTEM, Source

QUERIES: Final = 20_000
_TIGHT: Final = 1e-6  # bounds nearer than this are one number
_CLOSE: Final = 0.01  # bounds nearer than this need no sampling beside them
_FEW: Final = 8  # features up to which a box is looked for beside sampling


def utility(
    predict: object,
    x: Any,
    mechanism: Randomiser | Indicator,
    *,
    confidence: float = 0.95,
    queries: int = QUERIES,
    method: Method | None = None,
    names: Sequence[str] | None = None,
    source: Source | None = None,
) -> Utility:
    """Give a lower bound on the probability that the answer for x stays when x is randomised.

    `predict` is any function from rows to answers, an estimator of scikit-learn or its `predict_proba`, or a
    torch module; x is one record, as an array or by name. `dt.Each(age=…, bmi=…)` randomises some features,
    a single mechanism all of them, each with its own ε.

    The strongest way that applies is used and named: exact for linear models and for forests with one or two
    randomised features; otherwise `queries` randomised copies of x are asked about, or a box is certified if
    that gives more. With `confidence=1` only proofs count. `method` insists on one way.

    Asking a classifier elsewhere about records near x tells its owner x: do this where x may be known.

    >>> import dither as dt
    >>> steep = dt.classifiers.Linear([[10.0, 1.0]], [-6.0])
    >>> unit = dt.Interval(0, 1)
    >>> utility(steep, [0.8, 0.5], dt.Each(age=dt.OGPM(unit, epsilon=2), bmi=dt.OGPM(unit, epsilon=2)))
    stays with probability 0.7977 (exact)
    """
    omega = check_confidence(confidence)
    check_queries(queries)
    if isinstance(mechanism, Indicator):
        inner = utility(
            predict,
            x,
            mechanism.mechanism,
            confidence=confidence,
            queries=queries,
            method=method,
            names=names,
            source=source,
        )
        return mechanism.lifted(inner)
    check_mechanism(mechanism)
    case = Case.of(predict, x, chosen_by(mechanism), names)
    parts = parts_of(mechanism, len(case.subject.columns))
    stream = SYSTEM if source is None else source
    found = by_method(case, parts, method, omega, queries, stream)
    return found.under(spent(mechanism, len(parts)))


def by_method(
    case: Case,
    parts: Sequence[Answering],
    method: Method | None,
    omega: float,
    queries: int,
    source: Source,
) -> Utility:
    """Bound the utility in the way asked for, or in the strongest one that applies."""
    if method is None:
        return _strongest(case, parts, omega, queries, source)
    if method is Method.MONTE_CARLO:
        return monte_carlo(case, parts, omega, queries, source)
    if method in (Method.EXACT, Method.CERTIFIED):
        found = proven(case, parts)
        if found is None or (method is Method.EXACT and found.method is not Method.EXACT):
            raise Infeasible(
                "nothing exact is known about this classifier with these features; it is for linear models, "
                "and for forests with one or two randomised features"
            )
        return found
    ways = {Method.REPAIRED: repaired, Method.PUBLISHED: published, Method.REGION: region}
    if method not in ways:
        raise InvalidParameter("importance sampling is for a range of budgets: use dt.utility_curve")
    if omega == 0.0:
        raise InvalidParameter("this way samples; its confidence is below 1")
    return ways[method](case, parts, omega, queries, source)


def _strongest(case: Case, parts: Sequence[Answering], omega: float, queries: int, source: Source) -> Utility:
    exact = proven(case, parts, boxes=omega == 0.0)
    if exact is not None and (omega == 0.0 or exact.upper - exact.lower < _CLOSE):
        return exact
    if omega == 0.0:
        raise Infeasible(
            "nothing is proven about this classifier: its parameters cannot be read; ask for less confidence"
        )
    sampled = monte_carlo(case, parts, omega, queries, source)
    if exact is None and case.slice is not None and len(parts) <= _FEW and sampled.lower < 1.0 - _CLOSE:
        exact = proven(case, parts)
    return exact if exact is not None and exact.lower >= sampled.lower else sampled


def proven(case: Case, parts: Sequence[Answering], *, boxes: bool = True) -> Utility | None:
    """Give what the classifier's parameters prove: an enclosure or else, if asked for, the best box found."""
    if case.slice is None:
        return None
    laws = marginals(parts, case.values)
    if laws is None:
        return None
    bounds = case.slice.encloses(laws)
    if bounds is not None:
        lower, upper = (float(np.clip(end, 0.0, 1.0)) for end in bounds)
        method = Method.EXACT if upper - lower < _TIGHT else Method.CERTIFIED
        return Utility.proof(lower, upper, method)
    if not boxes:
        return None

    def mass(box: Box) -> float:
        sides = zip(laws, box.low, box.high, strict=True)
        return float(np.prod([law.between(np.asarray(low), np.asarray(high)) for law, low, high in sides]))

    box = grown(by_mass(case.values, laws), len(parts), case.slice.proves, mass)
    return Utility.proof(mass(box), 1.0, Method.CERTIFIED, box)


def monte_carlo(
    case: Case, parts: Sequence[Answering], omega: float, queries: int, source: Source
) -> Utility:
    """Count how often the answer stays, and bound the probability [Clopper34], half of ω a side."""
    if omega == 0.0:
        raise InvalidParameter("sampling proves nothing; its confidence is below 1")
    stayed = kept(case, parts, queries, source)
    return Utility(
        binomial_below(stayed, queries, omega / 2.0),
        binomial_above(stayed, queries, omega / 2.0),
        stayed / queries,
        Method.MONTE_CARLO,
        1.0 - omega,
        queries,
    )


def check_confidence(confidence: float) -> float:
    """Give ω, how often a bound may be wrong, or say what a confidence is."""
    number = isinstance(confidence, int | float | np.floating) and not isinstance(confidence, bool)
    if not number or not 0.5 <= confidence <= 1.0:
        raise InvalidParameter("a confidence is a number from 0.5 to 1; 1 asks for a proof")
    return 1.0 - float(confidence)


def check_queries(queries: object) -> None:
    """Raise unless a number of queries is a whole number from 10 upwards."""
    if isinstance(queries, bool) or not isinstance(queries, int | np.integer) or queries < 10:
        raise InvalidParameter("queries is how often the classifier is asked: a whole number, at least 10")
