"""Subset selection with short reports: the ascending numbers of the chosen elements.

The distribution is that of `SubsetBits`. A report is a row of w numbers instead of k bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar, Final, final

import numpy as np

from dither.arrays import Array, Floats
from dither.domains import Domain
from dither.errors import InvalidParameter, MalformedReport, found
from dither.kernels.codes import CodeKernel
from dither.kernels.counting import ColumnSums
from dither.kernels.kernel import MOST_LISTED
from dither.kernels.sets.chosen_sets import ChosenSets
from dither.kernels.sets.subsets import SubsetBits
from dither.randomness import Source

MOST_CHOSEN: Final = 8
MOST_SIZE: Final = 1 << 16


@final
@dataclass(frozen=True)
class IndexSets(ChosenSets, CodeKernel):
    """Sets of `chosen` out of `size` elements, ascending; the coin decides whether the input is in it."""

    kind: ClassVar[str] = "indices"

    def __post_init__(self) -> None:
        if not 2 <= self.chosen <= MOST_CHOSEN or not self.chosen < self.size <= MOST_SIZE:
            raise InvalidParameter(
                f"a set must have 2 to {MOST_CHOSEN} of up to {MOST_SIZE} elements, "
                f"not {found(self.chosen)} of {found(self.size)}"
            )
        if not self.ratio > 1:
            raise InvalidParameter("a set that contains the input must be likelier than one that does not")

    @staticmethod
    def largest(epsilon: float, size: int, chosen: int) -> IndexSets:
        """Return the sets with the largest ratio that is certainly at most e^ε."""
        return IndexSets(size, chosen, SubsetBits.largest(epsilon, size, chosen).coin)

    @property
    def layout(self) -> np.dtype[Any]:
        return np.dtype((np.min_scalar_type(self.size - 1), (self.chosen,)))

    def holds(self, categories: int) -> bool:
        return self.size == categories

    def counting(self, domain: Domain) -> ColumnSums:
        return ColumnSums(self.size, self.chosen)

    def supported(self, reports: Array, categories: int) -> Array:
        return np.asarray((reports[..., None] == np.arange(categories)).any(axis=-2))

    @property
    def evidence(self) -> str:
        return (
            f"ln of the odds of a set with the input, with k = {self.size}, w = {self.chosen}, "
            f"p = {self.coin.heads} of 2^{self.coin.bits}"
        )

    def probabilities(self, value: int) -> list[Fraction]:
        """Return the exact probability of every set, in lexicographic order."""
        if self.outcomes > MOST_LISTED:
            raise InvalidParameter("exact probabilities are listed for up to 2^16 sets")
        own, other = self.shares
        return [own if value in row else other for row in combinations(range(self.size), self.chosen)]

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        own, other = (float(share) for share in self.shares)
        held = (reports == np.asarray(inputs)[..., None]).any(axis=-1)
        return np.where(held, own, other)

    def check(self, raw: Array) -> Array:
        if raw.size and (raw.ndim < 1 or raw.shape[-1] != self.chosen):
            raise MalformedReport(f"a report is a row of {self.chosen} numbers of categories")
        rows = raw.reshape(-1, self.chosen) if raw.size else raw.reshape(0, self.chosen)
        if rows.size and not (
            int(rows.min()) >= 0 and int(rows.max()) < self.size and bool((rows[:, :-1] < rows[:, 1:]).all())
        ):
            raise MalformedReport(f"a report has {self.chosen} ascending numbers below {self.size}")
        return raw.reshape(*(raw.shape if raw.size else (0, self.chosen))).astype(
            self.layout.base, copy=False
        )

    def draw_one(self, value: int, source: Source) -> tuple[int, ...]:
        held = self.coin.toss_one(source)
        taken: list[int] = []
        for count in range(self.chosen):
            number = source.below(self.size - 1 - count)
            for other in sorted(taken):
                number += number >= other
            taken.append(number)
        if held:
            taken.pop()
        row = [number + (number >= value) for number in taken]  # the others are numbered without the input
        return tuple(sorted([*row, value] if held else row))

    def write(self, codes: Array, reports: Array, source: Source) -> None:
        held = self.coin.toss(codes.size, source)
        taken = np.empty((codes.size, self.chosen), dtype=np.int64)
        for count in range(self.chosen):
            number = source.integers(self.size - 1 - count, codes.size)
            for other in np.sort(taken[:, :count], axis=1).T:
                number += number >= other
            taken[:, count] = number
        taken += taken >= codes[:, None]
        # All elements of a random order but the last are a uniform set too: the input replaces the last one.
        last = taken[:, -1]
        last += held * (codes - last)
        taken.sort(axis=1)
        reports[:] = taken
