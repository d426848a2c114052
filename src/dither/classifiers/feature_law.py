"""The law of one randomised feature, whatever the mechanism: as designed, and as devices send it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import numpy as np

from dither.arrays import Floats
from dither.domains import Interval
from dither.errors import InvalidParameter
from dither.kernels.lattice.law import TableLaw
from dither.kernels.table.channel import NearestPoint
from dither.mechanisms.analysis import Questions, Realised
from dither.mechanisms.combined.memoised import Memoised
from dither.mechanisms.frequency.randomized_response import Response

LISTED: Final = 1 << 20  # the most reports that a mechanism's law is tabulated for


def as_designed(mechanism: object) -> Questions:
    """Give the questions that a mechanism of one number answers: its closed form.

    Randomized response on numbers, as in `KRR(Categories([0, 0.1, …]))`, moves a value to its nearest number
    first, as the exponential mechanism does.
    """
    if isinstance(mechanism, Memoised):
        return as_designed(mechanism.mechanism)
    if isinstance(mechanism, Questions):
        return mechanism
    if isinstance(mechanism, Response):
        return _on_numbers(mechanism)
    raise InvalidParameter(
        "a feature is randomised by a mechanism of numbers, or by KRR on categories that are numbers; "
        f"not by {type(mechanism).__name__}"
    )


def as_sent(mechanism: object) -> Questions:
    """Give the same questions about the integers that devices sample, report by report."""
    plain = mechanism.mechanism if isinstance(mechanism, Memoised) else mechanism
    sampled = getattr(plain, "sampled", None)
    return sampled if isinstance(sampled, Questions) else as_designed(plain)


def _on_numbers(mechanism: Response) -> Realised:
    labels = numbers_of(mechanism)
    order = np.argsort(labels)
    points = labels[order]
    nearest, line = NearestPoint.on_interval(points.tolist()), Interval(points[0], points[-1])
    share, rest = (float(rate) for rate in mechanism.rates)

    def chances(unit: float) -> Floats:
        masses = np.full(points.size, rest)
        masses[nearest.aim_one(float(line.from_unit(np.asarray(unit))))] = share
        return masses

    return Realised(line, TableLaw(chances, line.to_unit(points)))


def numbers_of(mechanism: Response) -> Floats:
    """Give the categories of randomized response as numbers, or say that they must be."""
    labels = np.asarray(list(mechanism.categories.labels))
    if labels.dtype.kind not in "fiu" or not np.isfinite(labels).all():
        raise InvalidParameter("a classifier's feature is a number: the categories must be finite numbers")
    return labels.astype(np.float64)


@final
@dataclass(frozen=True, eq=False)
class Marginal:
    """Every report about one feature as a number, in increasing order, with its probability."""

    places: Floats
    masses: Floats

    @staticmethod
    def of(mechanism: object, value: float) -> Marginal:
        """Give the reports for a value, exactly as devices send them."""
        return Marginal(*as_sent(mechanism).atoms(value))

    @cached_property
    def sums(self) -> Floats:
        """The probability of the first reports, none of them at first and all of them at last."""
        return np.concatenate([[0.0], np.cumsum(self.masses)])

    def between(self, low: Floats, high: Floats) -> Floats:
        """Give the probability of a report from low to high, both included; none if low is above high."""
        first = np.searchsorted(self.places, low, side="left")
        last = np.searchsorted(self.places, high, side="right")
        return self.sums[np.maximum(last, first)] - self.sums[first]


def marginals(parts: Sequence[object], values: Floats) -> tuple[Marginal, ...] | None:
    """Give the reports about every feature, or None where a mechanism has too many to list."""
    if any(getattr(part, "outcomes", 0) > LISTED for part in parts):
        return None
    return tuple(Marginal.of(part, float(value)) for part, value in zip(parts, values, strict=True))
