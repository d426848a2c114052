"""Linear classifiers: the answer stays on one side of one or several hyperplanes, so utility is exact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from dither.arrays import Floats, Integers, Mask
from dither.classifiers.feature_law import Marginal
from dither.classifiers.models.slices import Enclosure, Slice
from dither.classifiers.proofs.box import Box
from dither.errors import InvalidParameter

_ROUNDING: Final = 1e-12  # of the largest term: how far a score in floats may be off
_ASKED: Final = 1 << 17  # the most points on a plane about which the classifier itself is asked
_STEPS: Final = 1 << 19  # of the grid on which more than two terms are added up
_TRANSFORM: Final = 1e-9  # how far a sum of probabilities from a fast Fourier transform may be off


@final
@dataclass(frozen=True, eq=False)
class Linear:
    """A linear classifier: the class with the largest score weights·x + bias, the first of equals.

    One row of weights means two classes: the second where the score is positive.

    >>> halves = Linear([[1.0, -1.0]], [0.0])
    >>> halves(np.array([[0.2, 0.7], [0.7, 0.2]]))
    array([0, 1])
    """

    weights: Floats
    bias: Floats

    def __post_init__(self) -> None:
        weights = np.atleast_2d(np.asarray(self.weights, dtype=np.float64))
        bias = np.atleast_1d(np.asarray(self.bias, dtype=np.float64))
        if weights.ndim != 2 or bias.shape != weights.shape[:1]:
            raise InvalidParameter("weights have a row for each class, and bias a number for each")
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "bias", bias)

    def scores(self, rows: Floats) -> Floats:
        """Give the score of every class for each row."""
        found = rows @ self.weights.T + self.bias
        return found if len(self.bias) > 1 else np.concatenate([np.zeros_like(found), found], axis=-1)

    def __call__(self, rows: Floats) -> Integers:
        """Give the class of each row."""
        return np.asarray(self.scores(rows).argmax(axis=-1), dtype=np.int64)

    def sliced(self, row: Floats, columns: Sequence[int], asked: Callable[[Floats], Mask]) -> HalfSpaces:
        """Give where the answer for a row stays, as a function of some of its features.

        `asked` is the classifier itself, for points so near a plane that rounding decides.
        """
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
        return HalfSpaces(own, normals[:, chosen], offsets + terms.sum(axis=1), size, asked)


@final
@dataclass(frozen=True, eq=False)
class HalfSpaces(Slice):
    """All points with normals·y + offsets > 0, a row for each other class; `size` bounds their terms."""

    own: int
    normals: Floats
    offsets: Floats
    size: Floats
    asked: Callable[[Floats], Mask]

    @property
    def features(self) -> int:
        return int(self.normals.shape[1])

    def _doubt(self, reach: Floats) -> Floats:
        """Give how far each score may be off where |y| is at most `reach`."""
        return np.asarray(_ROUNDING * (self.size + np.abs(self.normals) @ reach))

    def proves(self, box: Box) -> bool:
        low, high = box.corners
        doubt = self._doubt(np.maximum(np.abs(low), np.abs(high)))
        worst = np.minimum(self.normals * low, self.normals * high).sum(axis=1) + self.offsets
        return bool((worst > doubt).all())

    def radius(self, centre: Floats, scale: Floats, low: Floats, high: Floats) -> float:
        """Give the radius: each score falls along the way to its worst corner, until a side is cut off."""
        return min(
            _first_zero(normal, offset, centre, scale, low, high)
            for normal, offset in zip(self.normals, self.offsets, strict=True)
        )

    def encloses(self, marginals: Sequence[Marginal]) -> Enclosure | None:
        doubt = self._doubt(np.array([np.abs(marginal.places).max() for marginal in marginals]))
        if self.features > 2:
            return self._added_up(marginals, doubt)
        first, second = (*marginals, Marginal(np.zeros(1), np.ones(1)))[:2]
        # Points so near a plane that rounding decides are inside at most, not at least.
        begin, end = self._left(first, second, doubt)
        outer_begin, outer_end = self._left(first, second, -doubt)
        none = begin == end
        begin, end = np.where(none, outer_begin, begin), np.where(none, outer_begin, end)
        lower = float(first.masses @ (second.sums[end] - second.sums[begin]))
        rows, columns = _ranges(np.append(outer_begin, end), np.append(begin, outer_end))
        rows %= first.places.size
        masses = first.masses[rows] * second.masses[columns]
        if rows.size > _ASKED:
            return lower, lower + float(masses.sum())
        points = np.stack([first.places[rows], second.places[columns]], axis=-1)[:, : self.features]
        kept = float(masses[self.asked(points)].sum()) if rows.size else 0.0
        return lower + kept, lower + kept

    def _left(self, first: Marginal, second: Marginal, doubt: Floats) -> tuple[Integers, Integers]:
        """Give for each report of one feature which of the other stay on the right side of every plane."""
        low, high = np.full(first.places.size, -np.inf), np.full(first.places.size, np.inf)
        for normal, offset, margin in zip(self.normals, self.offsets, doubt, strict=True):
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

    def _added_up(self, marginals: Sequence[Marginal], doubt: Floats) -> Enclosure:
        """Bound the probability to lose by the sum over planes, and by the worst of them."""
        sides = [
            _positive(normal, offset, margin, marginals)
            for normal, offset, margin in zip(self.normals, self.offsets, doubt, strict=True)
        ]
        lower = 1.0 - sum(1.0 - side for side, _ in sides)
        return max(0.0, lower), min(side for _, side in sides)


def _ranges(begins: Integers, ends: Integers) -> tuple[Integers, Integers]:
    """List all pairs (row, place) with begins[row] ≤ place < ends[row]."""
    counts = np.maximum(ends - begins, 0)
    rows = np.repeat(np.arange(counts.size), counts)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    return rows, np.arange(rows.size) - first + begins[rows]


def _first_zero(
    normal: Floats, offset: float, centre: Floats, scale: Floats, low: Floats, high: Floats
) -> float:
    score = float(normal @ centre + offset)
    room = np.where(normal > 0.0, centre - low, high - centre) / scale
    order = np.argsort(room)
    slope, done = float(np.abs(normal) @ scale), 0.0
    for place in order:
        if slope > 0.0 and score - slope * (room[place] - done) <= 0.0:
            return done + score / slope
        score -= slope * (room[place] - done)
        done = float(room[place])
        slope -= float(abs(normal[place]) * scale[place])
    return float("inf")


def _positive(normal: Floats, offset: float, doubt: float, marginals: Sequence[Marginal]) -> Enclosure:
    """Enclose P(normal·Y + offset > 0): terms rounded down and up to a grid, and added by convolution."""
    terms = [weight * marginal.places for weight, marginal in zip(normal, marginals, strict=True)]
    begins = [float(term.min()) for term in terms]
    step = sum(float(np.ptp(term)) for term in terms) / _STEPS
    if step == 0.0:
        return (1.0, 1.0) if sum(begins) + offset > doubt else (0.0, 0.0)
    length = 1 << (_STEPS + 4 * len(terms)).bit_length()
    spectrum = np.ones(length // 2 + 1, dtype=np.complex128)
    for term, begin, marginal in zip(terms, begins, marginals, strict=True):
        cells = np.floor((term - begin) / step - _ROUNDING).clip(0).astype(np.int64)
        spectrum *= np.fft.rfft(np.bincount(cells, marginal.masses, minlength=1), length)
    chances = np.fft.irfft(spectrum, length).clip(0.0)
    # A sum lies between its rounded sum and that many cells further, one for each term (and rounding).
    start = (-offset - sum(begins)) / step
    slack = doubt / step + 1e-6 * len(terms)
    above = np.concatenate([np.cumsum(chances[::-1])[::-1], [0.0]])
    lower = above[int(np.clip(np.floor(start + slack) + 1, 0, length))]
    upper = above[int(np.clip(np.floor(start - slack - len(terms)), 0, length))]
    return max(0.0, float(lower) - _TRANSFORM), min(1.0, float(upper) + _TRANSFORM)
