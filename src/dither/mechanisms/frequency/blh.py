"""BLH: local hashing to two buckets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from dither.mechanisms.frequency.local_hashing import LocalHashing


@final
@dataclass(frozen=True)
class BLH(LocalHashing):
    """A random public hash function with two values, and the answer's value under it or the other one.

    Promise:   pure ε.
    Reports:   eight bytes: seed·2^16 + one bit.
    Use when:  comparing with the literature; `OLH` is the same below ε = ln 1.5 and better above.
    Reference: [Bassily15], as analysed in [Wang17, Sec. 4.4].
    """

    def _buckets(self) -> int:
        return 2
