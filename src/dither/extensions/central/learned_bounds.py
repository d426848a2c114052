"""Bounds that are learned from the data with a share of ε, and the tally inside these bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dither.core.domains import BLOCK, Interval, finite
from dither.errors import InvalidParameter, found
from dither.extensions.central.integer_noise import GeometricRatio
from dither.extensions.central.tally import Tally, records
from dither.foundation.arrays import Array, Integers
from dither.foundation.randomness import Source


@dataclass(frozen=True)
class LearnedBounds:
    """Learn the clamping bounds from the data with a share of ε, then spend the rest on the answer.

    Records are counted by sign and power of two, between ±2^smallest and ±2^largest. Every count gets exact
    geometric noise. The bounds are the outer edges of the outermost bins whose counts pass a threshold. So
    they are powers of two. With probability `mistake` an empty bin passes, and the bounds and the noise are
    far too wide. At the default of 10⁻⁶ fewer than about 19/ε′ records are beyond the bounds and clamped.
    """

    share: float = 0.2
    smallest: int = -20
    largest: int = 40
    mistake: float = 1e-6

    def __post_init__(self) -> None:
        if not 0.0 < finite("share", self.share) < 1.0:
            raise InvalidParameter(
                f"expected a share of ε for the bounds strictly between 0 and 1, got {found(self.share)}"
            )
        if not 0.0 < finite("mistake", self.mistake) < 1.0:
            raise InvalidParameter(
                f"expected a probability of a mistake strictly between 0 and 1, got {found(self.mistake)}"
            )
        for power in (self.smallest, self.largest):
            if isinstance(power, bool) or not isinstance(power, int) or not -500 <= power <= 500:
                raise InvalidParameter(
                    f"expected smallest and largest to be integer powers of two from −500 to 500, got "
                    f"{found(power)}"
                )
        if not self.smallest < self.largest:
            raise InvalidParameter(
                f"expected smallest to be below largest, got {self.smallest} and {self.largest}; exchange "
                "them"
            )

    def learn(self, values: Array, epsilon: Fraction, source: Source) -> Interval:
        """Return bounds chosen with a budget of ε for one record added or removed.

        A record is in at most one bin, so it changes one count by 1. So geometric noise of ratio e^(−ε) on
        every count is ε-private, and the bounds depend only on the noisy counts.
        """
        ratio = GeometricRatio(epsilon)
        noisy = [int(count) + ratio.two_sided(source) for count in self._counts(values)]
        # P(noise ≥ t) = b^t/(1 + b) < b^t; summed over all bins, at most `mistake`.
        threshold = math.ceil(math.log(len(noisy) / self.mistake) / epsilon)
        full = [index for index, count in enumerate(noisy) if count >= threshold]
        if not full:  # no count passes; take the bin with the largest noisy count
            full = [max(range(len(noisy)), key=noisy.__getitem__)]
        edges = self._edges()
        return Interval(edges[full[0]], edges[full[-1] + 1])

    def _edges(self) -> list[float]:
        outer = [2.0**power for power in range(self.smallest, self.largest + 1)]
        return [-edge for edge in reversed(outer)] + outer

    def _counts(self, values: Array) -> Integers:
        """Return the number of records in each bin; the last bin has all larger ones, no bin has NaN."""
        powers = self.largest - self.smallest
        counts = np.zeros(2 * powers + 1, dtype=np.int64)
        with np.errstate(all="ignore"):
            for begin in range(0, values.size, BLOCK):
                block = values[begin : begin + BLOCK].astype(np.float64)
                block = block[~np.isnan(block)]
                size = np.clip(np.abs(block), 2.0 ** (self.smallest - 1), 2.0 ** (self.largest - 1))
                position = np.maximum(
                    np.frexp(size)[1] - self.smallest, 0
                )  # index 0 below 2^smallest, then one index for each power
                position = np.where(block < 0, powers - position, powers + position)
                counts += np.bincount(position, minlength=counts.size)
        return counts


def gather(
    data: object, domain: Interval | LearnedBounds | None, epsilon: Fraction, source: Source
) -> tuple[Tally, Fraction]:
    """Return the tally of the data, and the budget that is left after learning its bounds."""
    if isinstance(data, Tally):
        if domain is not None and domain != data.grid.domain:
            raise InvalidParameter(
                "expected no domain next to a tally, which has its own; leave the domain out"
            )
        return data, epsilon
    if isinstance(domain, LearnedBounds):
        values = records(data)
        spent = epsilon * Fraction(domain.share)
        return Tally.of(values, domain.learn(values, spent, source)), epsilon - spent
    if domain is None:
        raise InvalidParameter(
            "expected a public domain for values; pass one such as Interval(0, 100), or LearnedBounds()"
        )
    return Tally.of(data, domain), epsilon
