"""How likely a report falls into a box: by the cdf, with the atoms at the box's edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from dither.arrays import Floats
from dither.classifiers.feature_law import as_designed
from dither.classifiers.proofs.box import Box
from dither.domains import Circle, Line
from dither.errors import InvalidParameter
from dither.kernels.lattice.law import TableLaw
from dither.mechanisms.analysis import Number, Questions
from dither.mechanisms.combined.attributes import Attributes
from dither.mechanisms.combined.each import Each

BLOCK: Final = 1 << 13
FEW: Final = 4  # atoms that are compared with one by one


def concentration(mechanism: object, box: Box | tuple[Any, Any], x: Any) -> Number:
    """Give the probability that the report for x lies in a box, its edges included.

    For one feature a box is a pair (low, high) of numbers, or of arrays to ask about many boxes at once; on a
    circle low may be above high, and the arc then leads through 0. `Each` takes a `Box`, or a pair of arrays
    whose last axis runs over its attributes, and x in the same order or by name. A mechanism of one number
    takes a `Box` as well, for as many features, each randomised by itself.

    The closed form of the mechanism answers; `concentration(mechanism.sampled, …)` asks about the integers
    that devices sample instead, which differ by about the width of a cell.

    >>> import dither as dt
    >>> unit = dt.Interval(0, 1)
    >>> round(concentration(dt.OGPM(unit, epsilon=2), (0.2, 0.8), 0.5), 4)
    0.8528
    >>> clamped = dt.Laplace(unit, epsilon=2).truncated()
    >>> round(concentration(clamped, (0.5, 1), 0.9), 4)  # all that lies beyond 1 is told as 1
    0.7753
    """
    if isinstance(mechanism, Attributes):
        return _together(list(_parts(mechanism).values()), box, _ordered(x, list(mechanism.parts)))
    if isinstance(box, Box):
        return _together([mechanism] * len(box), box, x)
    low, high = _pair(box)
    return _plain(_mass(as_designed(mechanism), low, high, x))


def _parts(mechanism: Attributes) -> Mapping[str, object]:
    if not isinstance(mechanism, Each):
        raise InvalidParameter("where one attribute is drawn, no whole record is reported; use Each")
    return mechanism.parts


def _ordered(x: Any, names: Sequence[str]) -> Any:
    if not hasattr(x, "keys"):
        return x
    try:
        return [float(x[name]) for name in names]
    except (KeyError, TypeError, ValueError):
        raise InvalidParameter(f"the record lacks a number for one of {', '.join(names)}") from None


def _together(parts: Sequence[object], box: Box | tuple[Any, Any], x: Any) -> Number:
    low, high = box.corners if isinstance(box, Box) else _pair(box)
    values = np.asarray(x, dtype=np.float64)
    if not (low.shape[-1:] == high.shape[-1:] == values.shape[-1:] == (len(parts),)):
        raise InvalidParameter(f"the box and the record have {len(parts)} features, in the mechanisms' order")
    answer: Any = 1.0
    for place, part in enumerate(parts):
        side = _mass(as_designed(part), low[..., place], high[..., place], values[..., place])
        answer = answer * side
    return _plain(answer)


def _pair(box: tuple[Any, Any]) -> tuple[Floats, Floats]:
    try:
        low, high = box
        return np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter("a box is a pair: (low, high)") from None


def _mass(questions: Questions, low: Floats, high: Floats, x: Any) -> Floats:
    """Give P(low ≤ Y ≤ high) = F(high) − F(low) + P(Y = low)."""
    unit = questions.line.to_unit(questions.line.check(x).astype(np.float64))
    if unit.ndim or low.shape != high.shape or low.size <= BLOCK:
        return _block(questions, low, high, unit)
    mass = np.empty(low.size)
    for begin in range(0, low.size, BLOCK):  # blocks stay in the cache
        some = slice(begin, begin + BLOCK)
        mass[some] = _block(questions, low.reshape(-1)[some], high.reshape(-1)[some], unit)
    return mass.reshape(low.shape)


def _block(questions: Questions, low: Floats, high: Floats, unit: Floats) -> Floats:
    through = low > high
    if np.isnan(low).any() or np.isnan(high).any():
        raise InvalidParameter("an edge of a box is not a number")
    if through.any() and not isinstance(questions.line, Circle):
        raise InvalidParameter("a box's low edge is above its high edge")
    law, line = questions.law, questions.line
    if isinstance(law, TableLaw) and not unit.ndim and not through.any():
        return _listed(line, *law.atoms(unit), low, high)
    first, last = line.to_unit(low), line.to_unit(high)
    places, masses = law.atoms(unit)
    if places.size:
        first, last = (_snapped(edge, end, places, line) for edge, end in ((first, low), (last, high)))
    if through.any():  # an arc through 0 is all but the arc from its end to its beginning
        inner = law.between(np.minimum(first, last), np.maximum(first, last), unit)
        mass = np.where(through, 1.0 - inner, inner)
    else:
        mass = law.between(first, last, unit)
    if places.size:
        mass = mass + _at(places, masses, np.broadcast_to(first, mass.shape))
    return mass


def _listed(line: Line, places: Floats, masses: Floats, low: Floats, high: Floats) -> Floats:
    """Give the probability of the listed reports from low to high."""
    numbers, sums = line.from_unit(places), np.concatenate([[0.0], np.cumsum(masses)])
    step = (numbers[-1] - numbers[0]) / max(numbers.size - 1, 1)
    even = numbers[0] + step * np.arange(numbers.size)
    if step > 0.0 and np.abs(numbers - even).max() < step / 4.0:  # the nearest number is one of division
        first, last = (
            np.rint(np.clip((edge - numbers[0]) / step, 0, numbers.size - 1)).astype(np.int64)
            for edge in (low, high)
        )
        return np.asarray(sums[last + (numbers[last] <= high)] - sums[first + (numbers[first] < low)])
    begin, end = np.searchsorted(numbers, low, side="left"), np.searchsorted(numbers, high, side="right")
    return np.asarray(sums[end] - sums[begin])


def _snapped(edge: Floats, asked: Floats, places: Floats, line: Line) -> Floats:
    """Give an edge in the law's units; if it is the number that an atom stands for, the atom's own place."""
    if np.array_equal(line.to_unit(line.from_unit(places)), places):
        return edge
    near = np.searchsorted(places, edge)
    for which in (np.maximum(near - 1, 0), np.minimum(near, places.size - 1)):
        edge = np.where(line.from_unit(places[which]) == asked, places[which], edge)
    return edge


def _at(places: Floats, masses: Floats, edge: Floats) -> Floats:
    """Give the probability of the atom at each edge, if there is one."""
    if places.size <= FEW:
        return np.asarray(sum(masses[..., which] * (edge == place) for which, place in enumerate(places)))
    sums = np.concatenate([np.zeros((*masses.shape[:-1], 1)), np.cumsum(masses, axis=-1)], axis=-1)
    sums = np.broadcast_to(sums, (*edge.shape, places.size + 1))
    ends = [np.searchsorted(places, edge, side=side)[..., None] for side in ("left", "right")]
    before, after = (np.take_along_axis(sums, end, axis=-1)[..., 0] for end in ends)
    return np.asarray(after - before)


def _plain(answer: Any) -> Number:
    array = np.clip(np.asarray(answer, dtype=np.float64), 0.0, 1.0)
    return float(array) if array.ndim == 0 else array
