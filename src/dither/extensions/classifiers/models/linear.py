"""Linear classifiers: the answer stays on one side of each of several hyperplanes, so utility is exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dither.errors import InvalidParameter
from dither.extensions.classifiers.boxes import FeatureBox
from dither.extensions.classifiers.feature_law import Marginal
from dither.extensions.classifiers.models.slice import Enclosure, Keeps, Slice, SliceableClassifier
from dither.foundation.arrays import Floats, Integers

_ROUNDING: Final = 1e-12  # relative to the largest term: the error of a score in floats
_MOST_QUERIES: Final = 1 << 17  # the most points near a plane that the classifier itself decides
_STEPS: Final = 1 << 19  # steps of the grid for the sum of more than two terms
_TRANSFORM: Final = 1e-9  # the error of a sum of probabilities from a fast Fourier transform


@dataclass(frozen=True, eq=False)
class LinearClassifier(SliceableClassifier):
    """A linear classifier: the class with the largest score weights·x + bias, the first of equal ones.

    One row of weights means two classes: the second one if the score is positive.

    >>> halves = LinearClassifier([[1.0, -1.0]], [0.0])
    >>> halves(np.array([[0.2, 0.7], [0.7, 0.2]]))
    array([0, 1])
    """

    weights: Floats
    bias: Floats

    def __post_init__(self) -> None:
        weights = np.atleast_2d(np.asarray(self.weights, dtype=np.float64))
        bias = np.atleast_1d(np.asarray(self.bias, dtype=np.float64))
        if weights.ndim != 2 or bias.shape != weights.shape[:1]:
            raise InvalidParameter("expected one row of weights and one number of bias for each class")
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "bias", bias)

    def scores(self, rows: Floats) -> Floats:
        """Return the score of every class for each row."""
        found = rows @ self.weights.T + self.bias
        return found if len(self.bias) > 1 else np.concatenate([np.zeros_like(found), found], axis=-1)

    def __call__(self, rows: Floats) -> Integers:
        """Return the class of each row."""
        return np.asarray(self.scores(rows).argmax(axis=-1), dtype=np.int64)

    def slice(self, row: Floats, columns: Sequence[int], keeps: Keeps) -> HalfSpaces:
        weights, bias = self.weights, self.bias
        if len(bias) == 1:
            weights, bias = np.vstack([np.zeros_like(weights), weights]), np.append(0.0, bias)
        own = int(self(row[None])[0])
        others = [label for label in range(len(bias)) if label != own]
        normals, offsets = weights[own] - weights[others], bias[own] - bias[others]
        chosen = list(columns)
        rest = np.delete(np.arange(row.size), chosen)
        terms = normals[:, rest] * row[rest]
        size = np.abs(bias[own]) + np.abs(bias[others]) + np.abs(terms).sum(axis=1)
        return HalfSpaces(own, normals[:, chosen], offsets + terms.sum(axis=1), size, keeps)


@dataclass(frozen=True, eq=False)
class HalfSpaces(Slice):
    """The points with normals·y + offsets > 0, one row for each other class.

    `size` bounds the terms of the offsets. `keeps` calls the classifier for points so near a plane that
    rounding decides.
    """

    own: int
    normals: Floats
    offsets: Floats
    size: Floats
    keeps: Keeps

    @property
    def features(self) -> int:
        return int(self.normals.shape[1])

    def _error(self, reach: Floats) -> Floats:
        """Return a bound on the rounding error of each score where |y| is at most `reach`."""
        return np.asarray(_ROUNDING * (self.size + np.abs(self.normals) @ reach))

    def proves(self, box: FeatureBox) -> bool:
        low, high = box.corners
        error = self._error(np.maximum(np.abs(low), np.abs(high)))
        worst = np.minimum(self.normals * low, self.normals * high).sum(axis=1) + self.offsets
        return bool((worst > error).all())

    def radius(self, centre: Floats, scale: Floats, low: Floats, high: Floats) -> float:
        """Return the least t at which a score is 0 at the box's worst corner; sides stop at low and high."""
        return min(
            _first_zero(normal, offset, centre, scale, low, high)
            for normal, offset in zip(self.normals, self.offsets, strict=True)
        )

    def euclidean(self, centre: Floats) -> float:
        """Return the distance to the nearest plane."""
        scores, lengths = self.normals @ centre + self.offsets, np.linalg.norm(self.normals, axis=1)
        return float(np.divide(scores, lengths, out=np.full(len(scores), np.inf), where=lengths > 0.0).min())

    def encloses(self, marginals: Sequence[Marginal]) -> Enclosure | None:
        error = self._error(np.array([np.abs(marginal.places).max() for marginal in marginals]))
        if self.features > 2:
            return self._union_bound(marginals, error)
        first, second = (*marginals, Marginal(np.zeros(1), np.ones(1)))[:2]
        # Points so near a plane that rounding decides are counted in the upper bound, not in the lower one.
        begin, end = self._inside(first, second, error)
        outer_begin, outer_end = self._inside(first, second, -error)
        none = begin == end
        begin, end = np.where(none, outer_begin, begin), np.where(none, outer_begin, end)
        lower = float(first.masses @ (second.sums[end] - second.sums[begin]))
        rows, columns = _ranges(np.append(outer_begin, end), np.append(begin, outer_end))
        rows %= first.places.size
        masses = first.masses[rows] * second.masses[columns]
        if rows.size > _MOST_QUERIES:
            return lower, lower + float(masses.sum())
        points = np.stack([first.places[rows], second.places[columns]], axis=-1)[:, : self.features]
        kept = float(masses[self.keeps(points)].sum()) if rows.size else 0.0
        return lower + kept, lower + kept

    def _inside(self, first: Marginal, second: Marginal, error: Floats) -> tuple[Integers, Integers]:
        """Return for each report of the first feature which reports of the second are inside all planes."""
        low, high = np.full(first.places.size, -np.inf), np.full(first.places.size, np.inf)
        for normal, offset, margin in zip(self.normals, self.offsets, error, strict=True):
            room = normal[0] * first.places + offset - margin
            slope = normal[1] if self.features == 2 else 0.0
            if slope > 0.0:
                low = np.maximum(low, -room / slope)
            elif slope < 0.0:
                high = np.minimum(high, -room / slope)
            else:
                low = np.where(room > 0.0, low, np.inf)
        begin = np.searchsorted(second.places, low, side="right")
        return begin, np.maximum(begin, np.searchsorted(second.places, high, side="left"))

    def _union_bound(self, marginals: Sequence[Marginal], error: Floats) -> Enclosure:
        """Bound the probability to cross a plane by the sum over planes, and from below by the largest."""
        sides = [
            _positive(normal, offset, margin, marginals)
            for normal, offset, margin in zip(self.normals, self.offsets, error, strict=True)
        ]
        lower = 1.0 - sum(1.0 - side for side, _ in sides)
        return max(0.0, lower), min(side for _, side in sides)


def _ranges(begins: Integers, ends: Integers) -> tuple[Integers, Integers]:
    """Return all pairs (row, index) with begins[row] ≤ index < ends[row]."""
    counts = np.maximum(ends - begins, 0)
    rows = np.repeat(np.arange(counts.size), counts)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    return rows, np.arange(rows.size) - first + begins[rows]


def _first_zero(
    normal: Floats, offset: float, centre: Floats, scale: Floats, low: Floats, high: Floats
) -> float:
    """Return where a score, piecewise linear along the way to its worst corner, becomes 0."""
    score = float(normal @ centre + offset)
    room = np.where(normal > 0.0, centre - low, high - centre) / scale
    order = np.argsort(room)
    slope, done = float(np.abs(normal) @ scale), 0.0
    for index in order:
        if slope > 0.0 and score - slope * (room[index] - done) <= 0.0:
            return done + score / slope
        score -= slope * (room[index] - done)
        done = float(room[index])
        slope -= float(abs(normal[index]) * scale[index])
    return float("inf")


def _positive(normal: Floats, offset: float, error: float, marginals: Sequence[Marginal]) -> Enclosure:
    """Bound P(normal·Y + offset > 0): terms are rounded down to a grid, and added by convolution."""
    terms = [weight * marginal.places for weight, marginal in zip(normal, marginals, strict=True)]
    begins = [float(term.min()) for term in terms]
    step = sum(float(np.ptp(term)) for term in terms) / _STEPS
    if step == 0.0:
        return (1.0, 1.0) if sum(begins) + offset > error else (0.0, 0.0)
    length = 1 << (_STEPS + 4 * len(terms)).bit_length()
    spectrum = np.ones(length // 2 + 1, dtype=np.complex128)
    for term, begin, marginal in zip(terms, begins, marginals, strict=True):
        cells = np.floor((term - begin) / step - _ROUNDING).clip(0).astype(np.int64)
        spectrum *= np.fft.rfft(np.bincount(cells, marginal.masses, minlength=1), length)
    chances = np.fft.irfft(spectrum, length).clip(0.0)
    # A sum is above its rounded sum by at most one cell for each term (and by the error of floats).
    start = (-offset - sum(begins)) / step
    slack = error / step + 1e-6 * len(terms)
    above = np.concatenate([np.cumsum(chances[::-1])[::-1], [0.0]])
    lower = above[int(np.clip(np.floor(start + slack) + 1, 0, length))]
    upper = above[int(np.clip(np.floor(start - slack - len(terms)), 0, length))]
    return max(0.0, float(lower) - _TRANSFORM), min(1.0, float(upper) + _TRANSFORM)
