"""Broken twins of the frequency mechanisms: they look right and are not. Tests must reject them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dither.core.kernels.coin import BiasedCoin, truth
from dither.core.kernels.sets.bits import Bits
from dither.core.kernels.sets.prefix import HashedResponse
from dither.core.kernels.sets.several import SetKernel
from dither.core.kernels.sets.subsets import SubsetBits
from dither.core.kernels.window.integers import Blocks
from dither.core.kernels.window.kernel import ResponseKernel
from dither.mechanisms.frequency.base import CategoryMechanism
from dither.mechanisms.frequency.several import SetResponse


@dataclass(frozen=True)
class OffByOneBit(CategoryMechanism):
    """k-RR whose lie weighs one unit too little: the ratio is above e^ε by less than 10^-18."""

    def _kernel(self) -> ResponseKernel:
        fair = Blocks.largest(self.epsilon, len(self.categories))
        return ResponseKernel(Blocks(fair.cells, fair.width, fair.step - 1, fair.bits))


@dataclass(frozen=True)
class WithoutFactor(CategoryMechanism):
    """k-RR that lies with probability 1/(E + k − 1) in total: the factor k − 1 is missing."""

    def _kernel(self) -> ResponseKernel:
        k = len(self.categories)
        step = int(2**64 / (math.exp(self.epsilon) + k - 1) / (k - 1))
        return ResponseKernel(Blocks(k, 1, step, 64))


class Leaky(Bits):  # type: ignore[misc]
    """Bits that keep what stood at the input's place instead of clearing it."""

    def _own(self, codes: np.ndarray, rows: np.ndarray, source: Any) -> None:
        kept = rows.copy()
        super()._own(codes, rows, source)
        rows |= kept


@dataclass(frozen=True)
class NotCleared(CategoryMechanism):
    """OUE that forgets to clear the bit of the answer: its bit is 1 with probability (1 + q)/2, not 1/2."""

    def _kernel(self) -> Bits:
        fair = Bits.fair(self.epsilon, len(self.categories))
        return Leaky(fair.size, fair.own, fair.other)


@dataclass(frozen=True)
class RoundedDown(CategoryMechanism):
    """OUE whose rare ones are rounded down: not private enough, by one part in 2^128."""

    def _kernel(self) -> Bits:
        fair = Bits.fair(self.epsilon, len(self.categories))
        return Bits(fair.size, fair.own, BiasedCoin(fair.other.heads - 1))


@dataclass(frozen=True)
class OtherBuckets(CategoryMechanism):
    """Local hashing to e^ε + 1 buckets that is decoded as if there were twice as many."""

    def _kernel(self) -> HashedResponse:
        fair = HashedResponse(Blocks.largest(self.epsilon, round(math.exp(self.epsilon)) + 1))
        wrong = HashedResponse(Blocks.largest(self.epsilon, 2 * fair.window.cells))
        return type("Mismatched", (HashedResponse,), {"rates": wrong.rates})(fair.window)


def unfair_subsets(size: int, chosen: int, epsilon: float) -> SubsetBits:
    """Sets that hold the input with odds of e^ε, as if there were as many sets with it as without."""
    return SubsetBits(size, chosen, truth(epsilon))


class KeepsTheFirst(SetKernel):  # type: ignore[misc]
    """Sets that are cut to their first items instead of thinned at random."""

    def thin(self, codes: Any, source: Any) -> list[int]:
        return sorted(codes)[: self.most]


@dataclass(frozen=True)
class FirstOfMany(SetResponse):
    """Sets of items of which the first of the list are kept: later items seem rarer than they are."""

    def _kernel(self) -> SetKernel:
        fair = super()._kernel()
        return KeepsTheFirst(fair.items, fair.most, fair.chosen, fair.least, fair.coin)


class WithoutDummies(SetKernel):  # type: ignore[misc]
    """Sets that are completed by the list's first items: who has few items tells of others."""

    def _own(self, codes: np.ndarray, source: Any) -> np.ndarray:
        own = super()._own(codes, source)
        return np.sort(np.where(own >= self.items, own - self.items, own), axis=0)


@dataclass(frozen=True)
class NoDummies(SetResponse):
    """Sets of items without dummies: the empty set is told as the first items."""

    def _kernel(self) -> SetKernel:
        fair = super()._kernel()
        return WithoutDummies(fair.items, fair.most, fair.chosen, fair.least, fair.coin)


def meeting_too_often(fair: SetKernel) -> SetKernel:
    """Sets whose coin is one part in 2^128 too high: the ratio is above e^ε."""
    return SetKernel(fair.items, fair.most, fair.chosen, fair.least, BiasedCoin(fair.coin.heads + 1))
