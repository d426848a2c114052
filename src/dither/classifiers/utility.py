"""The probability that a classifier's answer stays the same when the record is randomised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from dither.classifiers.case import Case
from dither.classifiers.feature_law import FeatureLaw, marginals
from dither.classifiers.proofs.box_search import box_mass, grow_box, sides_by_mass
from dither.classifiers.proofs.confidence import binomial_above, binomial_below
from dither.classifiers.proofs.monte_carlo import count_kept
from dither.classifiers.randomisation import Randomisation, Randomiser
from dither.classifiers.result import Utility, UtilityMethod
from dither.errors import Infeasible, InvalidParameter, found
from dither.randomness import SYSTEM, Source

QUERIES: Final = 20_000
_FEW: Final = 8  # up to this many features a box is searched for in addition to sampling
_HIGH: Final = 0.99  # a lower bound above this leaves a box little to improve


def utility(
    predict: object,
    x: Any,
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
    a single mechanism all of them, each with its own ε.

    The strongest method that applies is used and named: exact for linear models and for forests with one or
    two randomised features; otherwise Monte Carlo with `queries` randomised copies of x, or a certified box
    if its lower bound is higher. With `confidence=1` only proofs are used. `method` chooses one method.

    Whoever runs the classifier sees records near x: use this only where x itself may be seen.

    >>> import dither as dt
    >>> steep = dt.classifiers.LinearClassifier([[10.0, 1.0]], [-6.0])
    >>> unit = dt.Interval(0, 1)
    >>> utility(steep, [0.8, 0.5], dt.Each(age=dt.OGPM(unit, epsilon=2), bmi=dt.OGPM(unit, epsilon=2)))
    stays with probability 0.7977 (exact)
    """
    omega = check_confidence(confidence)
    check_queries(queries)
    randomisation = Randomisation.of(mechanism)
    case = Case.of(predict, x, randomisation.names, names)
    laws = randomisation.laws(case.features)
    found = bound_utility(case, laws, method, omega, queries, SYSTEM if source is None else source)
    return found.with_raw_release(randomisation.raw_share).under(randomisation.guarantee(case.features))


def bound_utility(
    case: Case,
    laws: Sequence[FeatureLaw],
    method: UtilityMethod | None,
    omega: float,
    queries: int,
    source: Source,
) -> Utility:
    """Bound the utility by a method, or by the strongest one that applies."""
    if method is None:
        return _strongest(case, laws, omega, queries, source)
    if method is UtilityMethod.MONTE_CARLO:
        return _monte_carlo(case, laws, omega, queries, source)
    if method in (UtilityMethod.EXACT, UtilityMethod.CERTIFIED):
        found = prove_utility(case, laws)
        if found is None or (method is UtilityMethod.EXACT and found.method is not UtilityMethod.EXACT):
            raise Infeasible(
                "no exact utility is known for this classifier with these features, only for linear models "
                "and for forests with one or two randomised features; use another method"
            )
        return found
    raise InvalidParameter("importance sampling is for several budgets at once: use dt.utility_curve")


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


def prove_utility(case: Case, laws: Sequence[FeatureLaw], *, boxes: bool = True) -> Utility | None:
    """Return what the classifier's parameters prove: bounds, or else the best box found if `boxes`."""
    if case.slice is None:
        return None
    listed = marginals(laws, case.values)
    if listed is None:
        return None
    bounds = case.slice.encloses(listed)
    if bounds is not None:
        lower, upper = (float(np.clip(end, 0.0, 1.0)) for end in bounds)
        return Utility.enclosed(lower, upper)
    if not boxes:
        return None
    shape = sides_by_mass(case.values, listed)
    box = grow_box(shape, len(laws), case.slice.proves, lambda box: box_mass(listed, box))
    return Utility.certified(box_mass(listed, box), box)


def _monte_carlo(
    case: Case, laws: Sequence[FeatureLaw], omega: float, queries: int, source: Source
) -> Utility:
    """Count how often the answer stays, and bound the probability [Clopper34], with ω/2 for each side."""
    _check_samples(omega)
    kept = count_kept(case, laws, queries, source)
    return Utility(
        binomial_below(kept, queries, omega / 2.0),
        binomial_above(kept, queries, omega / 2.0),
        kept / queries,
        UtilityMethod.MONTE_CARLO,
        1.0 - omega,
        queries,
    )


def _check_samples(omega: float) -> None:
    if omega == 0.0:
        raise InvalidParameter("a method that samples cannot have confidence 1: use a confidence below 1")


def check_confidence(confidence: float) -> float:
    """Return ω = 1 − confidence, an upper bound on the probability that a bound is wrong."""
    number = isinstance(confidence, int | float | np.floating) and not isinstance(confidence, bool)
    if not number or not 0.5 <= confidence <= 1.0:
        raise InvalidParameter(
            f"confidence must be a number from 0.5 to 1, not {found(confidence)}; 1 requires a proof"
        )
    return 1.0 - float(confidence)


def check_queries(queries: object) -> None:
    """Raise `InvalidParameter` unless a number of queries is a whole number of at least 10."""
    if isinstance(queries, bool) or not isinstance(queries, int | np.integer) or queries < 10:
        raise InvalidParameter(
            "queries, the number of calls of the classifier, must be a whole number of at least 10, not "
            f"{found(queries)}"
        )
