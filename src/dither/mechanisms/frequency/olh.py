"""OLH and BLH: randomized response on the answer's bucket under a public random hash function."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dither.core.kernels.sets.hashing import MOST_BUCKETS
from dither.core.kernels.sets.prefix import HashedResponse
from dither.core.kernels.window.integers import Blocks
from dither.mechanisms.frequency.base import CategoryMechanism


@dataclass(frozen=True)
class OLH(CategoryMechanism):
    """A random public hash function, and the answer's bucket under it or another bucket at random.

    Promise:   pure ε.
    Reports:   eight bytes for any number of categories: seed·2^16 + bucket.
    Use when:  there are many categories; the time for counting is proportional to reports × categories.
    Reference: optimized local hashing (OLH) [Wang17, Sec. 4.4], with another hash family.
    """

    _draws = ("hashed",)

    def _kernel(self) -> HashedResponse:
        return HashedResponse(Blocks.largest(self.epsilon, best_buckets(self.epsilon)))


def best_buckets(epsilon: float) -> int:
    """Return the optimal number of buckets: e^ε + 1, rounded to an integer [Wang17, eq. 9]."""
    return min(round(math.exp(epsilon)) + 1, MOST_BUCKETS)


@dataclass(frozen=True)
class BLH(CategoryMechanism):
    """A random public hash function with two values, and the answer's hash value or the other one.

    Promise:   pure ε.
    Reports:   eight bytes: seed·2^16 + one bit.
    Use when:  results are compared with the literature; `OLH` is the same below ε = ln 1.5 and better above.
    Reference: binary local hashing (BLH) [Bassily15], as analysed in [Wang17, Sec. 4.4].
    """

    _draws = ("hashed",)

    def _kernel(self) -> HashedResponse:
        return HashedResponse(Blocks.largest(self.epsilon, 2))
