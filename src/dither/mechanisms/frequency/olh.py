"""OLH: the bucket of the answer under a public hash function, reported by randomized response."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from dither.kernels.sets.hashed_response import HashedResponse
from dither.kernels.sets.hashing import MOST_BUCKETS
from dither.kernels.window.integers import Blocks
from dither.mechanisms.base import CategoryMechanism


@final
@dataclass(frozen=True)
class OLH(CategoryMechanism):
    """A random public hash function, and the bucket of the answer under it or any other bucket.

    Promise:   pure ε.
    Reports:   eight bytes for any number of categories: seed·2^16 + bucket.
    Use when:  there are many categories; the time for counting is proportional to reports × categories.
    Reference: [Wang17, Sec. 4.4], with another hash family.
    """

    def _kernel(self) -> HashedResponse:
        return HashedResponse(Blocks.largest(self.epsilon, best_buckets(self.epsilon)))


def best_buckets(epsilon: float) -> int:
    """Return the optimal number of buckets: e^ε + 1, rounded to an integer [Wang17, eq. 9]."""
    return min(round(math.exp(epsilon)) + 1, MOST_BUCKETS)
