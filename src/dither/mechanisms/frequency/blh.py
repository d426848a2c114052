"""BLH: local hashing to two buckets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from dither.kernels.sets.hashed_response import HashedResponse
from dither.kernels.window.integers import Blocks
from dither.mechanisms.base import CategoryMechanism


@final
@dataclass(frozen=True)
class BLH(CategoryMechanism):
    """A random public hash function with two values, and the answer's value under it or the other one.

    Promise:   pure ε.
    Reports:   eight bytes: seed·2^16 + one bit.
    Use when:  comparing with the literature; `OLH` is the same below ε = ln 1.5 and better above.
    Reference: [Bassily15], as analysed in [Wang17, Sec. 4.4].
    """

    def _kernel(self) -> HashedResponse:
        return HashedResponse(Blocks.largest(self.epsilon, 2))
