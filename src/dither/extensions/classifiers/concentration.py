"""The probability that a report lies in a box, from the cdf and the atoms at the edges of the box."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dither.core.domains import Categories, Interval, Line, finite
from dither.errors import InvalidParameter
from dither.extensions.classifiers.boxes import FeatureBox
from dither.extensions.classifiers.feature_law import FeatureLaw, feature_law
from dither.extensions.classifiers.subject import parts_by_name
from dither.foundation.arrays import Floats
from dither.mechanisms.analysis.analysis import Number
from dither.mechanisms.analysis.law import Law, is_discrete
from dither.mechanisms.frequency.krr import KRR

Mass = Callable[[Floats, Floats], Floats]  # maps low and high edges to probabilities

_UNIT: Final = Interval(0, 1)
_MOST_PARTS: Final = 1 << 16
BLOCK: Final = 1 << 13  # edges handled together: they stay in the cache
FEW: Final = 4  # up to this many atoms are compared one by one


def concentration(mechanism: object, box: FeatureBox | tuple[Any, Any], x: object) -> Number:
    """Return the probability that the report for x lies in a box, its edges included.

    For one feature a box is a pair (low, high) of numbers, or of arrays for many boxes at once. On a circle
    low may be above high; the arc then passes through 0. `Each` takes a `FeatureBox`, or a pair of arrays
    whose last axis runs over its attributes, and x in the same order or by name. A mechanism of one number
    takes a `FeatureBox` as well, for a record whose features it randomises independently.

    The answer is about the mechanism as designed, in closed form; `concentration(mechanism.sampled, …)` is
    about the integers that devices sample. They differ by about the width of a cell.

    >>> import dither as dt
    >>> unit = dt.Interval(0, 1)
    >>> round(concentration(dt.OGPM(unit, epsilon=2), (0.2, 0.8), 0.5), 4)
    0.8528
    >>> clamped = dt.Laplace(unit, epsilon=2).truncated()
    >>> round(concentration(clamped, (0.5, 1), 0.9), 4)  # reports beyond 1 are moved to 1
    0.7753
    """
    parts = parts_by_name(mechanism)
    if parts is not None:
        return _record_mass(list(map(_number_law, parts.values())), box, _in_order(x, list(parts)))
    law = _number_law(mechanism)
    if isinstance(box, FeatureBox):
        return _record_mass([law] * len(box), box, x)
    return _number(side_mass(law, *_pair(box), x))


def _number_law(mechanism: object) -> FeatureLaw:
    law = feature_law(mechanism)
    if law.labels is not None:
        raise InvalidParameter("expected numbers for the sides of a box; use categories that are numbers")
    return law


def best_for(radius: float, epsilon: float, domain: Interval = _UNIT) -> KRR:
    """Return the mechanism whose reports are likeliest within a radius of the value, for the worst value.

    It is k-ary randomized response on the centres of k = ⌈length/2·radius⌉ equal parts of the domain; a value
    is moved to the nearest centre (within the radius). Its reports are near with probability e^ε/(e^ε + k −
    1), and no ε-LDP mechanism has more for every value: k values that divide the domain evenly, ends
    included, are more than two radii apart, so the intervals near each of them are disjoint. If reports are
    near with probability p for each, then for the first one they are near the others with probability
    e^(−ε)·p each, and p + (k − 1)·e^(−ε)·p ≤ 1.

    >>> best = best_for(0.1, 2)
    >>> round(concentration(best, (0.25, 0.45), 0.35), 3)  # PM has 0.272 for its worst value
    0.649
    """
    if not isinstance(domain, Interval):
        raise InvalidParameter(
            f"expected an interval for best_for, got {type(domain).__name__}; pass Interval(low, high)"
        )
    near = finite("the radius", radius)
    if not 0.0 < near < domain.length / 2.0:
        raise InvalidParameter(
            f"expected a radius above 0 and below half of {domain}, got {near}: with a larger one the "
            "middle is near every value; reduce it"
        )
    # Decimal arithmetic: a radius of 0.1 is then exactly a tenth.
    parts = math.ceil((Fraction(repr(domain.high)) - Fraction(repr(domain.low))) / (2 * Fraction(repr(near))))
    if parts > _MOST_PARTS:
        raise InvalidParameter(
            f"expected at most {_MOST_PARTS} parts of {domain}, more result from the radius {near}; "
            "increase it"
        )
    centres = domain.low + (np.arange(parts) + 0.5) * (domain.length / parts)
    return KRR(Categories(centres.round(15).tolist()), epsilon=epsilon)


def _in_order(x: Any, names: Sequence[str]) -> object:
    if not hasattr(x, "keys"):
        return x
    try:
        return [float(x[name]) for name in names]
    except (KeyError, TypeError, ValueError):
        raise InvalidParameter(
            f"expected a number for each of {', '.join(names)} in the record; add the missing ones"
        ) from None


def _record_mass(laws: Sequence[FeatureLaw], box: FeatureBox | tuple[Any, Any], x: object) -> Number:
    low, high = box.corners if isinstance(box, FeatureBox) else _pair(box)
    values = np.asarray(x, dtype=np.float64)
    if not (low.shape[-1:] == high.shape[-1:] == values.shape[-1:] == (len(laws),)):
        raise InvalidParameter(
            f"expected {len(laws)} features in the box and in the record; give both the same number"
        )
    mass: Any = 1.0
    for index, law in enumerate(laws):
        mass = mass * side_mass(law, low[..., index], high[..., index], values[..., index])
    return _number(mass)


def _pair(box: tuple[Any, Any]) -> tuple[Floats, Floats]:
    try:
        low, high = box
        return np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter(
            "expected a box of one feature to be a pair (low, high) of numbers or arrays"
        ) from None


def side_mass(law: FeatureLaw, low: Floats, high: Floats, x: object) -> Floats:
    """Return P(low ≤ Y ≤ high) = F(high) − F(low) + P(Y = low), for numbers or arrays."""
    if np.isnan(low).any() or np.isnan(high).any():
        raise InvalidParameter("expected numbers as edges of a box, got NaN; replace it")
    through = bool((low > high).any())
    if through and not law.law.circular:
        raise InvalidParameter("expected the low edge of a box below its high edge; exchange them")
    unit = law.unit(x)
    positions, masses = law.law.atoms(unit)
    if not unit.ndim and not through and is_discrete(masses):
        mass = _listed_mass(law.line.from_unit(positions), masses)
    else:
        mass = _closed_form(law.law, law.line, unit, positions, masses)
    if unit.ndim or low.shape != high.shape or low.size <= BLOCK:
        return mass(low, high)
    found = np.empty(low.size)
    for begin in range(0, low.size, BLOCK):
        some = slice(begin, begin + BLOCK)
        found[some] = mass(low.reshape(-1)[some], high.reshape(-1)[some])
    return found.reshape(low.shape)


def _closed_form(law: Law, line: Line, unit: Floats, points: Floats, masses: Floats) -> Mass:
    """Return the probability of an interval from the cdf; `masses` belong to the atoms at `points`."""

    def mass(low: Floats, high: Floats) -> Floats:
        first, last = line.to_unit(low), line.to_unit(high)
        if points.size:
            first, last = (_snap(edge, end, points, line) for edge, end in ((first, low), (last, high)))
        through = low > high
        if through.any():  # an arc through 0 is the complement of the arc from its end to its beginning
            inner = law.between(np.minimum(first, last), np.maximum(first, last), unit)
            found = np.where(through, 1.0 - inner, inner)
        else:
            found = law.between(first, last, unit)
        if points.size:
            found = found + _atom_mass(points, masses, np.broadcast_to(first, found.shape))
        return found

    return mass


def _listed_mass(numbers: Floats, masses: Floats) -> Mass:
    """Return the probability of an interval as a sum over reports that are listed in increasing order."""
    sums = np.concatenate([[0.0], np.cumsum(masses)])
    step = (numbers[-1] - numbers[0]) / max(numbers.size - 1, 1)
    even = numbers[0] + step * np.arange(numbers.size)

    def on_even_points(low: Floats, high: Floats) -> Floats:
        first, last = (
            np.rint(np.clip((edge - numbers[0]) / step, 0, numbers.size - 1)).astype(np.int64)
            for edge in (low, high)
        )
        return np.asarray(sums[last + (numbers[last] <= high)] - sums[first + (numbers[first] < low)])

    def on_any_points(low: Floats, high: Floats) -> Floats:
        begin, end = np.searchsorted(numbers, low, side="left"), np.searchsorted(numbers, high, side="right")
        return np.asarray(sums[end] - sums[begin])

    # A division finds the nearest of equidistant points faster than a search.
    return on_even_points if step > 0.0 and np.abs(numbers - even).max() < step / 4.0 else on_any_points


def _snap(edge: Floats, given: Floats, points: Floats, line: Line) -> Floats:
    """Return edges in units of the law; an edge at an atom in the user's units is moved exactly to the atom.

    Otherwise rounding between the user's and the law's units could put the atom outside of the box.
    """
    if np.array_equal(line.to_unit(line.from_unit(points)), points):
        return edge
    near = np.searchsorted(points, edge)
    for which in (np.maximum(near - 1, 0), np.minimum(near, points.size - 1)):
        edge = np.where(line.from_unit(points[which]) == given, points[which], edge)
    return edge


def _atom_mass(points: Floats, masses: Floats, edge: Floats) -> Floats:
    """Return the probability of the atom at each edge, 0 without an atom."""
    if points.size <= FEW:
        return np.asarray(sum(masses[..., which] * (edge == index) for which, index in enumerate(points)))
    sums = np.concatenate([np.zeros((*masses.shape[:-1], 1)), np.cumsum(masses, axis=-1)], axis=-1)
    sums = np.broadcast_to(sums, (*edge.shape, points.size + 1))
    ends = [np.searchsorted(points, edge, side=side)[..., None] for side in ("left", "right")]
    before, after = (np.take_along_axis(sums, end, axis=-1)[..., 0] for end in ends)
    return np.asarray(after - before)


def _number(mass: object) -> Number:
    array = np.clip(np.asarray(mass, dtype=np.float64), 0.0, 1.0)
    return float(array) if array.ndim == 0 else array
