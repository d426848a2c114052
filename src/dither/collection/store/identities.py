"""A Bloom filter of the identities in a store's segments: it returns the segments that may hold an identity.

An identity that was added is always found. Another one is found with a probability of about 0.0001 for each
segment, and is then looked up in the database. Identities are digests, so their own bits serve as hashes.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

_WIDTH: Final = 16  # bytes of an identity
_SPACE: Final = 24  # bits for each identity
_LEAST: Final = 1 << 12  # smallest number of identities that there is space for
_BITS: Final = 4  # bits that an identity sets in each of two words of 64


class IdentityFilter:
    """The identities of segments, by the number of the segment."""

    def __init__(self) -> None:
        self._segments: dict[int, Words] = {}  # the words of each segment; views of one array if joined
        self._room: dict[int, int] = {}  # number of identities that a segment can still take
        self._joined = False

    def put(self, segment: int, identities: bytes, room: int = 0) -> None:
        """Set the identities of a segment, with room for some more."""
        most = max(_LEAST, len(identities) // _WIDTH + room)
        self._segments[segment] = np.zeros(most * _SPACE // 64, np.uint64)
        self._room[segment] = most
        self._joined = False
        self.add(segment, identities)

    def add(self, segment: int, identities: bytes) -> bool:
        """Add identities to a segment; return False if it lacks room for them."""
        words, count = self._segments[segment], len(identities) // _WIDTH
        if count > self._room[segment]:
            return False
        self._room[segment] -= count
        for hashes, bits in _hashes(identities):
            np.bitwise_or.at(words, hashes * len(words) >> 31, bits)
        return True

    def __contains__(self, segment: int) -> bool:
        return segment in self._segments

    def keep(self, segments: Container[int]) -> None:
        """Remove the other segments."""
        kept = {segment: words for segment, words in self._segments.items() if segment in segments}
        if len(kept) < len(self._segments):
            self._segments, self._room = kept, {segment: self._room[segment] for segment in kept}
            self._joined = False

    def find(self, identities: Sequence[bytes]) -> dict[int, list[bytes]]:
        """Return the segments that may have some of the identities, and these identities."""
        found: dict[int, list[bytes]] = {}
        if not self._segments:
            return found
        if not self._joined:
            self._join()
        (hashes, bits), (others, more) = _hashes(b"".join(identities))
        at = (hashes * self._sizes[:, None] >> 31) + self._first[:, None]
        rows, which = np.nonzero((self._words[at] & bits) == bits)
        at = (others[which] * self._sizes[rows] >> 31) + self._first[rows]
        sure = (self._words[at] & more[which]) == more[which]
        numbers = list(self._segments)
        for row, index in zip(rows[sure].tolist(), which[sure].tolist(), strict=True):
            found.setdefault(numbers[row], []).append(identities[index])
        return found

    def _join(self) -> None:
        """Copy the words of all segments into one array, so that one lookup reads all of them."""
        parts = list(self._segments.values())
        self._words = np.concatenate([np.zeros(0, np.uint64), *parts])
        self._sizes = np.array([len(words) for words in parts], np.int64)
        self._first = np.cumsum(self._sizes) - self._sizes
        views = np.split(self._words, self._first[1:]) if parts else []
        self._segments, self._joined = dict(zip(self._segments, views, strict=True)), True


def _hashes(identities: bytes) -> list[tuple[NDArray[np.int64], Words]]:
    """Return for each of two words a hash of 31 bits, and the bits that identities set in it."""
    halves = np.frombuffer(identities, np.uint64).reshape(-1, 2)
    found = []
    for half in range(2):
        bits = np.zeros(len(halves), np.uint64)
        for number in range(_BITS * half, _BITS * (half + 1)):
            bits |= np.uint64(1) << ((halves[:, 1] >> np.uint64(6 * number)) & np.uint64(63))
        hashes = (halves[:, 0] >> np.uint64(32 * half)) & np.uint64((1 << 31) - 1)
        found.append((hashes.astype(np.int64), bits))
    return found
