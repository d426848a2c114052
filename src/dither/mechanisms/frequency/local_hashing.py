"""The base classes of local hashing, whose reports are a hash function and a bucket."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from dither.arrays import Array
from dither.kernels.counting import HashMatches
from dither.kernels.kernel import Kernel
from dither.kernels.sets.hashed_response import HashedResponse
from dither.kernels.sets.hashing import Hashing
from dither.kernels.window.integers import Blocks
from dither.mechanisms.frequency.pure_protocol import CodeProtocol, PureProtocol


@dataclass(frozen=True)
class BucketReports(PureProtocol):
    """A report is a public random hash function and a bucket: seed·2^16 + bucket.

    It supports every category that its hash function maps to its bucket. The seed is independent of the
    answer.
    """

    @property
    @abstractmethod
    def buckets(self) -> int:
        """The number of buckets, g."""

    @final
    @cached_property
    def hashing(self) -> Hashing:
        """The public family of hash functions."""
        return Hashing(self.buckets)

    @final
    @property
    def counting(self) -> HashMatches:
        return HashMatches(len(self.categories), self.hashing)

    @final
    def decode(self, cells: Array) -> Array:
        """Return which categories each report supports, along the last axis."""
        drawn, told = self.hashing.unpack(cells)
        codes = np.arange(len(self.categories))
        supported = self.hashing.bucket(drawn[:, None], codes[None, :]) == told[:, None]
        return np.reshape(supported, (*cells.shape, codes.size))


@dataclass(frozen=True)
class LocalHashing(CodeProtocol[HashedResponse], BucketReports):
    """The answer's bucket under a public random hash function, reported by randomized response."""

    runs: ClassVar[type[Kernel]] = HashedResponse

    @abstractmethod
    def _buckets(self) -> int:
        """Return the paper's number of buckets for ε."""

    @final
    @property
    def buckets(self) -> int:
        return self.kernel.window.cells

    def _kernel(self) -> HashedResponse:
        return HashedResponse(Blocks.largest(self.epsilon, self._buckets()))

    def _fits(self, kernel: HashedResponse) -> bool:
        return kernel.window.width == 1

    @final
    def probabilities(self, x: Hashable, *, seed: int = 0) -> list[Fraction]:
        """Return the exact probability of every bucket for the category x, given the report's public seed."""
        return self.kernel.probabilities(self._code(x), seed)
