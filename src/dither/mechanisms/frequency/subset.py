"""Subset selection: a set of categories of a fixed size that likely holds the answer."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from dither.arrays import Array
from dither.errors import InvalidParameter, MalformedReport
from dither.kernels.sets.subsets import MOST, Subsets
from dither.mechanisms.frequency.unary import Packed
from dither.privacy import Bound, Pure
from dither.randomness import Source


@final
@dataclass(frozen=True)
class SubsetSelection(Packed):
    """A set of about k/(e^ε + 1) categories, more often one that holds the answer.

    Promise:   pure ε.
    Reports:   ⌈k/8⌉ bytes of packed bits, always with the same number of ones.
    Use when:  the smallest error of all protocols here is worth a slower device; with one category to a set,
               at large ε or few categories, it is `KRR`.
    Reference: [Ye18, Sec. III]; [WangS16].
    """

    def _build(self) -> None:
        if len(self.categories) > MOST:
            raise InvalidParameter(f"SubsetSelection takes up to {MOST} categories; OLH takes more")
        _ = self.kernel

    @cached_property
    def kernel(self) -> Subsets:
        """The size of the sets and the coin, in integers: what devices sample."""
        size = len(self.categories)
        chosen = max(1, round(size / (math.exp(self.epsilon) + 1.0)))  # [Ye18, eq. 5]
        return Subsets.largest(self.epsilon, size, chosen)

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """The probabilities that a set holds the answer, and any other category."""
        return self.kernel.coin.probability, self.kernel.other

    @property
    def outcomes(self) -> int:
        """How many different sets there are."""
        return self.kernel.sets

    def _sample(self, codes: Array, cells: Array, source: Source) -> None:
        self.kernel.draw(codes, cells, source)

    def _valid(self, raw: Array) -> Array:
        cells = super()._valid(raw)
        if cells.size and not bool((self.decode(cells).sum(axis=-1) == self.kernel.chosen).all()):
            raise MalformedReport(f"a report holds exactly {self.kernel.chosen} categories; one does not")
        return cells

    def probabilities(self, x: Hashable) -> list[Fraction]:
        """Give the exact probability of every row of bits, read as a binary number, for the category x."""
        self._listed()
        return self.kernel.probabilities(self._code(x))

    def realised(self) -> tuple[Bound, str]:
        """Recompute ε from the coin and the numbers of sets with and without a category."""
        kernel, coin = self.kernel, self.kernel.coin
        sizes = f"k = {kernel.size}, w = {kernel.chosen}"
        how = f"ln p(k−w)/((1−p)w) with {sizes}, p = {coin.heads} of 2^{coin.bits}"
        return Pure(kernel.epsilon), how

    def wire(self) -> dict[str, Any]:
        """Give the number of categories, the size of a set and the coin."""
        kernel = self.kernel
        return {"kernel": {"size": kernel.size, "chosen": kernel.chosen, "heads": kernel.coin.heads}}
