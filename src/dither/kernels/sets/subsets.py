"""Subset selection: a report is a subset of fixed size, which is likelier if it contains the input.

A report is a set of w of k elements, as a row of packed bits. All sets that contain the input have one
probability, and all others a smaller one. Given whether it contains the input, the set is uniform. It is
drawn element by element: the next of m elements is taken with probability exactly (number still to take)/m.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, final

import numpy as np

from dither.arrays import Array, Bytes, Floats, Halves, Mask
from dither.errors import InvalidParameter, MalformedReport, found
from dither.kernels.codes import BitReports, CodeKernel
from dither.kernels.coin import BiasedCoin
from dither.kernels.sets import bit_rows as packed
from dither.kernels.sets.chosen_sets import ChosenSets
from dither.privacy.exact import exp_below
from dither.randomness import Source

MOST: Final = 1 << 16  # elements: a set is drawn element by element

_FEW: Final = 8
_BLOCK: Final = 1 << 14  # inputs processed together, so that they stay in the cache


@final
@dataclass(frozen=True)
class SubsetBits(ChosenSets, BitReports, CodeKernel):
    """Sets of `chosen` out of `size` elements; the coin decides whether the input is one of them."""

    kind: ClassVar[str] = "subset"

    def __post_init__(self) -> None:
        if not 1 <= self.chosen < self.size <= MOST:
            raise InvalidParameter(
                f"a subset must have 1 to size − 1 of at most {MOST} elements, not {found(self.chosen)} of "
                f"{found(self.size)}"
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
            raise InvalidParameter(f"ε = {found(epsilon)} is too small or too large for {size} elements")
        return subsets

    @property
    def evidence(self) -> str:
        sizes = f"k = {self.size}, w = {self.chosen}"
        return f"ln p(k−w)/((1−p)w) with {sizes}, p = {self.coin.heads} of 2^{self.coin.bits}"

    def check(self, raw: Array) -> Bytes:
        reports = packed.check(raw, self.size)
        if reports.size and not bool((packed.unpack(reports, self.size).sum(axis=-1) == self.chosen).all()):
            raise MalformedReport(f"a report contains exactly {self.chosen} categories; one does not")
        return reports

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        held = packed.unpack(reports, self.size)
        told = np.take_along_axis(held, np.asarray(inputs)[..., None], axis=-1)[..., 0]
        with_input, without = self.shares
        return np.where(told, float(with_input), float(without))

    def probabilities(self, value: int) -> list[Fraction]:
        """Return the exact probability of every row of bits; row r has the bits of the binary number r."""
        self.check_listed()
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
        return (row & ~(1 << value) | held << value).to_bytes(packed.width(self.size), "little")

    def _block(self, codes: Array, rows: Bytes, source: Source) -> None:
        held = self.coin.toss(codes.size, source)
        wanted = np.subtract(self.chosen, held, dtype=np.uint32)
        taken = np.empty(codes.size, dtype=np.uint8)
        rows[:] = 0
        for element in range(self.size - 1):
            _take(taken.view(np.bool_), wanted, self.size - 1 - element, source)
            taken *= packed.BIT[element & 7]
            rows[:, element >> 3] |= taken
        # The k − 1 other elements were drawn as 0 … k − 2: the element at the input's index becomes k − 1.
        flat, place, bit = packed.places(codes, rows)
        last = self.size - 1
        rows[:, last >> 3] |= np.where(flat[place] & bit, packed.BIT[last & 7], np.uint8(0))
        flat[place] = np.where(held, flat[place] | bit, flat[place] & ~bit)


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
