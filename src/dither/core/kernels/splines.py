"""Channels on several numbers: each number selects a B-spline at random, and the splines select the row.

The quadratic B-splines of an axis are not negative and sum to 1. A number x selects each of the three that
are not 0 at x with its value there as probability. So a quantity that is linear in these probabilities has
the same mean for the drawn spline as for x. With the coefficients of x, x² and products this is exact.
Rounding to points at random makes squares too large.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import ClassVar, Final

import numpy as np

from dither.core.domains import Domain
from dither.core.domains.records import Box
from dither.core.kernels.alias import AliasSampler
from dither.core.kernels.blocks import FEW, split_rows
from dither.core.kernels.channel import Channel, LinearReading, RowKernel
from dither.core.kernels.kernel import CellKernel, check_no_codebook
from dither.errors import InvalidParameter, MalformedReport
from dither.foundation.arrays import Array, Floats, Integers
from dither.foundation.canonical import WHOLE, Codec, Fields, inline, real
from dither.foundation.randomness import Source

STEPS: Final = 1 << 15  # positions of a number between two knots
MOST_AXES, MOST_PIECES = 8, 16


def _write_ends(ends: tuple[tuple[float, float], ...]) -> list[list[float]]:
    return [list(pair) for pair in ends]


def _read_ends(data: Sequence[Sequence[object]]) -> tuple[tuple[float, float], ...]:
    ends = tuple((real(pair[0]), real(pair[1])) for pair in data)
    if any(len(pair) != 2 for pair in data):
        raise MalformedReport("expected a lower and an upper end for each axis")
    return ends


@dataclass(frozen=True)
class SplineKernel(RowKernel, CellKernel):
    """A report is an outcome of a row of the channel: row Σ i_a·m^(A − 1 − a) for the spline i_a of axis a.

    There are m = `pieces` + 2 splines on an axis: `pieces` equal parts, with simple inner knots.
    """

    ends: tuple[tuple[float, float], ...]  # ends of each axis
    pieces: int
    channel: Channel

    kind: ClassVar[str] = "splines"
    fields = Fields(ends=Codec(_write_ends, _read_ends), pieces=WHOLE, channel=inline(Channel))

    def __post_init__(self) -> None:
        if not 1 <= len(self.ends) <= MOST_AXES or not 1 <= self.pieces <= MOST_PIECES:
            raise InvalidParameter(f"expected 1 to {MOST_AXES} axes with 1 to {MOST_PIECES} pieces each")
        if any(not low < high for low, high in self.ends):
            raise InvalidParameter("expected the lower end of each axis below the upper one")
        if len(self.channel.values) != (self.pieces + 2) ** len(self.ends):
            raise InvalidParameter("expected one row of the channel for each combination of splines")

    def places(self, values: Array) -> Integers:
        """Return numbers, a column for each axis, as integer positions from 0 to `pieces`·2^15."""
        low, high = np.array(self.ends).T
        unit = (np.asarray(values, dtype=np.float64) - low) / (high - low)
        most = self.pieces * STEPS
        found: Integers = np.clip(np.floor(unit * most + 0.5), 0, most).astype(np.int64)
        return found

    def splines(self, places: Integers) -> tuple[Integers, Integers]:
        """Return the first spline that is not 0 at each place, and 2^31 times the values of the three."""
        first = np.minimum(places // STEPS, self.pieces - 1)
        t = places - first * STEPS
        rest = STEPS - t
        if self.pieces == 1:
            return first, np.stack([2 * rest * rest, 4 * t * rest, 2 * t * t], axis=-1)
        left, right = rest * rest, t * t
        left = np.where(first == 0, 2 * left, left)
        right = np.where(first == self.pieces - 1, 2 * right, right)
        return first, np.stack([left, 2 * STEPS * STEPS - left - right, right], axis=-1)

    def weights(self, values: Array) -> Floats:
        """Return the probability of each row of the channel, for each row of numbers."""
        flat = self.places(values).reshape(-1, len(self.ends))
        first, three = self.splines(flat)
        size, found = self.pieces + 2, np.ones((len(flat), 1))
        for axis in range(flat.shape[1]):
            own = np.zeros((len(flat), size))
            np.put_along_axis(own, first[:, axis, None] + np.arange(3), three[:, axis] / 2.0**31, axis=1)
            found = (found[:, :, None] * own[:, None, :]).reshape(len(flat), -1)
        return found

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        flat = inputs.reshape(-1, len(self.ends))
        few = len(flat) < FEW
        drawn = self.draw_singly(flat, source) if few else split_rows(self._draw_many, flat, source, threads)
        shape = (
            inputs.shape[:-1] if inputs.shape[-1:] == (len(self.ends),) and inputs.ndim > 1 else (len(flat),)
        )
        return drawn.reshape(shape)

    def _draw_many(self, flat: Array, source: Source) -> Array:
        first, three = self.splines(self.places(flat))
        words = np.empty(first.shape, dtype="<u4")
        source.fill(words.data)
        drawn = (words >> 1).astype(np.int64)
        chosen = first + (drawn >= three[..., 0]) + (drawn >= three[..., 0] + three[..., 1])
        row = np.zeros(len(flat), dtype=np.int64)
        for axis in range(flat.shape[1]):
            row = row * (self.pieces + 2) + chosen[:, axis]
        return AliasSampler(self.channel.table, row.size).draw(row.size, source, row).astype(self.layout)

    def draw_one(self, value: Array, source: Source) -> int:
        first, three = self.splines(self.places(np.asarray(value).reshape(-1)))
        row = 0
        for spline, (left, middle, _) in zip(first.tolist(), three.tolist(), strict=True):
            word = int.from_bytes(source.take(4), "little") >> 1
            row = row * (self.pieces + 2) + spline + (word >= left) + (word >= left + middle)
        return self.channel.table.draw_one(source, row)

    def probabilities(self, value: Array) -> list[Fraction]:
        first, three = self.splines(self.places(np.asarray(value).reshape(-1)))
        total = [Fraction(0)] * self.outcomes
        for picks in product(range(3), repeat=len(self.ends)):
            row, chance = 0, Fraction(1)
            for axis, pick in enumerate(picks):
                row = row * (self.pieces + 2) + int(first[axis]) + pick
                chance *= Fraction(int(three[axis, pick]), 1 << 31)
            if chance:
                total = [
                    sum_ + chance * p for sum_, p in zip(total, self.channel.probabilities(row), strict=True)
                ]
        return total

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        shape = np.broadcast_shapes(reports.shape, np.shape(inputs)[:-1])
        laws = self.weights(np.asarray(inputs)) @ self.channel.matrix
        rows = np.broadcast_to(np.arange(len(laws)).reshape(np.shape(inputs)[:-1]), shape)
        return np.asarray(laws[rows, np.broadcast_to(reports, shape).astype(np.int64)])

    def fits(self, domain: Domain) -> bool:
        if domain.line is not None:
            return not domain.circular and self.ends == ((domain.line.low, domain.line.high),)
        return isinstance(domain, Box) and self.ends == domain.ends

    def read_codebook(self, data: object, stated: Mapping[str, object]) -> LinearReading:
        check_no_codebook(self, data)
        return self.reading

    @cached_property
    def reading(self) -> LinearReading:
        """The unbiased contribution of each report to each moment."""
        return LinearReading(self.channel.matrix, moment_queries(len(self.ends), self.pieces))

    def write_codebook(self, book: LinearReading) -> None:
        """Return None: the moments follow from the splines."""

    def decode(self, reports: Array, domain: Domain, book: LinearReading) -> Floats:
        """Return the contribution of each report to each moment, along the last axis."""
        return book(reports)


def coefficients(pieces: int) -> tuple[Floats, Floats]:
    """Return the coefficients of u and of u² in the splines, u running from −1 to 1 along an axis.

    With knots t, the coefficient of x is (t_(i+1) + t_(i+2))/2, and the coefficient of x² is t_(i+1)·t_(i+2)
    (blossoms).
    """
    knots = np.concatenate([[0.0], np.arange(pieces + 1) / pieces, [1.0]])
    left, right = 2.0 * knots[:-1] - 1.0, 2.0 * knots[1:] - 1.0
    return (left + right) / 2.0, left * right


def moment_queries(axes: int, pieces: int) -> Floats:
    """Return the moments as queries about the combinations of splines, every axis being from −1 to 1.

    First u of each axis, then u² of each, then u·v of each pair of axes.
    """
    mean, square = coefficients(pieces)
    rows = np.array(list(product(range(pieces + 2), repeat=axes)))
    means = [mean[rows[:, axis]] for axis in range(axes)]
    squares = [square[rows[:, axis]] for axis in range(axes)]
    return np.array([*means, *squares, *(a * b for a, b in combinations(means, 2))])
