"""Subset selection: sets of categories as bits and as lists of numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar, Final

import numpy as np

from dither.core.domains import Domain
from dither.core.kernels.codes import CodeKernel, check_listed
from dither.core.kernels.coin import COIN, BiasedCoin
from dither.core.kernels.counting import BitSums, ColumnSums
from dither.core.kernels.kernel import MOST_LISTED
from dither.core.kernels.packing import BIT, bit_places, check_rows, row_width, unpack_rows
from dither.errors import InvalidParameter, MalformedReport, found
from dither.foundation.arrays import Array, Bytes, Floats, Halves, Mask
from dither.foundation.canonical import WHOLE, Fields
from dither.foundation.randomness import Source
from dither.privacy.exact import exp_below
from dither.privacy.shuffling import Blanket


@dataclass(frozen=True)
class ChosenSets:
    """Sets of `chosen` out of `size` elements; the coin decides whether the input is one of them."""

    size: int
    chosen: int
    coin: BiasedCoin

    kind: ClassVar[str]
    fields: ClassVar[Fields] = Fields(size=WHOLE, chosen=WHOLE, coin=COIN.member("heads"))

    @property
    def outcomes(self) -> int:
        """The number of sets of this size."""
        return math.comb(self.size, self.chosen)

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """The probabilities that the set has the input, and a given other element."""
        return self.coin.probability, self.other

    @property
    def ratio(self) -> Fraction:
        """The ratio of the probabilities of a set with the input and of one without."""
        return self.coin.odds * Fraction(self.size - self.chosen, self.chosen)

    @property
    def overlap(self) -> Blanket:
        """The least probability of every set, and the sets with two inputs: equally many for any two."""
        share = Fraction(self.chosen, self.size)
        return Blanket.of_sets(self.ratio, share, share * Fraction(self.chosen - 1, self.size - 1))

    @property
    def other(self) -> Fraction:
        """The probability that a given element other than the input is in the set."""
        held = self.coin.probability
        return (held * (self.chosen - 1) + (1 - held) * self.chosen) / (self.size - 1)

    @property
    def shares(self) -> tuple[Fraction, Fraction]:
        """The probability of a set that contains the input, and of one that does not."""
        held = self.coin.probability
        return (
            held / math.comb(self.size - 1, self.chosen - 1),
            (1 - held) / math.comb(self.size - 1, self.chosen),
        )


MOST: Final = 1 << 16  # elements: a set is drawn element by element

_FEW: Final = 8
_BLOCK: Final = 1 << 14  # inputs processed together, so that they stay in the cache


@dataclass(frozen=True)
class SubsetBits(ChosenSets, CodeKernel):
    """Sets of `chosen` out of `size` elements; the coin decides whether the input is one of them."""

    kind: ClassVar[str] = "subset"

    @property
    def blanket(self) -> Blanket:  # type: ignore[override]
        """The blanket of the chosen sets; see `overlap`."""
        return self.overlap

    def __post_init__(self) -> None:
        if not 1 <= self.chosen < self.size <= MOST:
            raise InvalidParameter(
                f"expected a subset of 1 to size − 1 elements, of at most {MOST}, got "
                f"{found(self.chosen)} of {found(self.size)}"
            )
        if not self.ratio > 1:
            raise InvalidParameter("a set that contains the input must be likelier than one that does not")

    @staticmethod
    def largest(epsilon: float, size: int, chosen: int) -> SubsetBits:
        """Return the subsets with the largest ratio that is certainly at most e^ε.

        Of the C(k, w) sets the share w/k contains the input, so the ratio is odds·(k−w)/w. It is at most E⁻
        iff the coin's probability is at most w·E⁻/(w·E⁻ + k − w).
        """
        bound = exp_below(Fraction(epsilon))
        own = chosen * bound
        subsets = SubsetBits(size, chosen, BiasedCoin.below(own / (own + size - chosen)))
        if subsets.ratio > bound:
            raise InvalidParameter(
                f"expected an ε that integers can represent with {size} elements, got {found(epsilon)}; "
                "choose an ε nearer to 1"
            )
        return subsets

    @property
    def layout(self) -> np.dtype[Any]:
        return np.dtype((np.uint8, (row_width(self.size),)))

    def holds(self, categories: int) -> bool:
        return self.size == categories

    def counting(self, domain: Domain) -> BitSums:
        return BitSums(self.size)

    def support(self, reports: Array, categories: int) -> Mask:
        return unpack_rows(reports, categories)

    @property
    def evidence(self) -> str:
        sizes = f"k = {self.size}, w = {self.chosen}"
        return f"ln p(k−w)/((1−p)w) with {sizes}, p = {self.coin.heads} of 2^{self.coin.bits}"

    def check(self, raw: Array) -> Bytes:
        reports = check_rows(raw, self.size)
        if reports.size and not bool((unpack_rows(reports, self.size).sum(axis=-1) == self.chosen).all()):
            raise MalformedReport(
                f"expected exactly {self.chosen} categories in each report, got another number of them; "
                "pass the reports of this question"
            )
        return reports

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        held = unpack_rows(reports, self.size)
        outputs = np.take_along_axis(held, np.asarray(inputs)[..., None], axis=-1)[..., 0]
        with_input, without = self.shares
        return np.where(outputs, float(with_input), float(without))

    def probabilities(self, value: int) -> list[Fraction]:
        """Return the exact probability of every row of bits; row r has the bits of the binary number r."""
        check_listed(self.size)
        with_input, without = self.shares
        return [
            (with_input if row >> value & 1 else without) if row.bit_count() == self.chosen else Fraction(0)
            for row in range(1 << self.size)
        ]

    def write(self, codes: Array, reports: Array, source: Source) -> None:
        for begin in range(0, codes.size, _BLOCK):
            self._block(codes[begin : begin + _BLOCK], reports[begin : begin + _BLOCK], source)

    @property
    def few(self) -> int:  # type: ignore[override]
        """For fewer inputs than this, tosses one by one are faster than arrays."""
        return _FEW

    def draw_one(self, value: int, source: Source) -> bytes:
        held = self.coin.toss_one(source)
        wanted, last, row = self.chosen - held, self.size - 1, 0
        for element in range(last):
            if source.below(last - element) < wanted:
                row |= 1 << element
                wanted -= 1
        row |= (row >> value & 1) << last
        return (row & ~(1 << value) | held << value).to_bytes(row_width(self.size), "little")

    def _block(self, codes: Array, rows: Bytes, source: Source) -> None:
        held = self.coin.toss(codes.size, source)
        wanted = np.subtract(self.chosen, held, dtype=np.uint32)
        taken = np.empty(codes.size, dtype=np.uint8)
        rows[:] = 0
        for element in range(self.size - 1):
            _take(taken.view(np.bool_), wanted, self.size - 1 - element, source)
            taken *= BIT[element & 7]
            rows[:, element >> 3] |= taken
        # The k − 1 other elements were drawn as 0 … k − 2: the element at the input's index becomes k − 1.
        flat, index, bit = bit_places(codes, rows)
        last = self.size - 1
        rows[:, last >> 3] |= np.where(flat[index] & bit, BIT[last & 7], np.uint8(0))
        flat[index] = np.where(held, flat[index] | bit, flat[index] & ~bit)


def _take(taken: Mask, wanted: Halves, left: int, source: Source) -> None:
    """Take the next of `left` elements with probability wanted/left, and subtract it from `wanted`."""
    words = np.empty(wanted.size, dtype=np.uint32)
    source.fill(words.data)
    share = ((1 << 32) - 1) // left
    ceiling = np.uint32(share * left)  # larger words are drawn again, so that the rest is uniform
    while words.max() >= ceiling:
        rejected = np.flatnonzero(words >= ceiling)
        words[rejected] = (source.words(rejected.size) >> np.uint64(32)).astype(np.uint32)
    np.less(words, wanted * np.uint32(share), out=taken)
    wanted -= taken


MOST_CHOSEN: Final = 8
MOST_SIZE: Final = 1 << 16


@dataclass(frozen=True)
class IndexSets(ChosenSets, CodeKernel):
    """Sets of `chosen` out of `size` elements, ascending; the coin decides whether the input is in it."""

    kind: ClassVar[str] = "indices"

    @property
    def blanket(self) -> Blanket:  # type: ignore[override]
        """The blanket of the chosen sets; see `overlap`."""
        return self.overlap

    def __post_init__(self) -> None:
        if not 2 <= self.chosen <= MOST_CHOSEN or not self.chosen < self.size <= MOST_SIZE:
            raise InvalidParameter(
                f"expected a set of 2 to {MOST_CHOSEN} of up to {MOST_SIZE} elements, got "
                f"{found(self.chosen)} of {found(self.size)}"
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

    def support(self, reports: Array, categories: int) -> Array:
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
            raise InvalidParameter(
                "expected at most 2^16 sets to list exact probabilities; choose fewer categories"
            )
        own, other = self.shares
        return [own if value in row else other for row in combinations(range(self.size), self.chosen)]

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        own, other = (float(share) for share in self.shares)
        held = (reports == np.asarray(inputs)[..., None]).any(axis=-1)
        return np.where(held, own, other)

    def check(self, raw: Array) -> Array:
        if raw.size and (raw.ndim < 1 or raw.shape[-1] != self.chosen):
            raise MalformedReport(f"expected a report to be a row of {self.chosen} numbers of categories")
        rows = raw.reshape(-1, self.chosen) if raw.size else raw.reshape(0, self.chosen)
        if rows.size and not (
            int(rows.min()) >= 0 and int(rows.max()) < self.size and bool((rows[:, :-1] < rows[:, 1:]).all())
        ):
            raise MalformedReport(
                f"expected {self.chosen} ascending numbers below {self.size} in a report; pass the "
                "reports of this question"
            )
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
        # The order is random, so all elements but the last are a uniform set. The input replaces the last.
        last = taken[:, -1]
        last += held * (codes - last)
        taken.sort(axis=1)
        reports[:] = taken
