"""Sets of items by polynomials over a prime field: short reports about very many items.

`items.py` defines a person's elements: m of the k items and m dummies. Elements are numbers below a prime p.
A report is a polynomial over the field of p elements, and has the element a if its value at a is below B.
Polynomials with m + 1 coefficients or more have independent uniform values at any m + 1 points. So the number
of polynomials that have at least one of a person's m elements is the same for every set. These polynomials
have the larger probability. Any other element is in the report with probability B/p.

With m + 2 coefficients the values at m + 2 points are also independent. Then two elements that the person
does not have are in a report independently of each other, and pairs of items are estimated without bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar, Final

import numpy as np

from dither.core.domains import Domain
from dither.core.kernels.coin import COIN, BiasedCoin
from dither.core.kernels.counting import ValuesBelow
from dither.core.kernels.kernel import MOST_LISTED
from dither.core.kernels.sets.field import Polynomials
from dither.core.kernels.sets.items import ABOUT_ITEMS, ItemSets, uniform
from dither.errors import InvalidParameter, found
from dither.foundation.arrays import Array, Bytes, Floats, Integers, Mask
from dither.foundation.canonical import WHOLE, Fields
from dither.foundation.randomness import Source
from dither.privacy.exact import exp_below
from dither.privacy.shuffling import Blanket

_PAIRS: Final = 2  # coefficients beyond m with which pairs of other elements are independent
_ROWS: Final = 1 << 13  # people whose polynomials are interpolated together


@dataclass(frozen=True)
class PolynomialKernel(ItemSets):
    """Polynomials with `terms` coefficients; each has the elements at which its value is below `below`."""

    items: int
    most: int
    prime: int
    below: int
    terms: int
    coin: BiasedCoin

    kind: ClassVar[str] = "polynomial"
    fields = Fields(**ABOUT_ITEMS, prime=WHOLE, below=WHOLE, terms=WHOLE, coin=COIN.member("heads"))

    def __post_init__(self) -> None:
        self.check_items()
        if not self.prime >= self.size:
            raise InvalidParameter(
                f"expected a prime number of at least {self.size}, the number of items and dummies, "
                f"got {self.prime}"
            )
        if not 1 <= self.below < self.prime:
            raise InvalidParameter(
                f"expected a bound of the values from 1 to {self.prime - 1}, got {found(self.below)}"
            )
        if self.terms not in (self.most + 1, self.most + _PAIRS):
            raise InvalidParameter(
                f"expected {self.most + 1} or {self.most + _PAIRS} coefficients of a polynomial about "
                f"{self.most} items, got {found(self.terms)}"
            )
        # The field checks the prime and the length first, because powers of hostile numbers take long.
        if self.polynomials.count and not self.ratio > 1:
            raise InvalidParameter("a report that meets the person's set must be likelier than another one")

    @staticmethod
    def largest(
        epsilon: float, items: int, most: int, prime: int, below: int, *, pairs: bool = False
    ) -> PolynomialKernel:
        """Return the kernel with the largest ratio that is certainly at most e^ε."""
        bound = exp_below(Fraction(epsilon))
        hits = prime**most - (prime - below) ** most
        chance = hits * bound / (hits * bound + (prime - below) ** most)
        terms = most + (_PAIRS if pairs else 1)
        return PolynomialKernel(items, most, prime, below, terms, BiasedCoin.below(chance))

    @cached_property
    def polynomials(self) -> Polynomials:
        """The field and the number of coefficients."""
        return Polynomials(self.prime, self.terms)

    @property
    def layout(self) -> np.dtype[Any]:
        return np.dtype((np.uint8, (self.polynomials.length,)))

    @property
    def outcomes(self) -> int:
        return self.polynomials.count

    @cached_property
    def meeting(self) -> Fraction:
        """The share of polynomials with a value below the bound at one of a person's elements or more."""
        return 1 - Fraction(self.prime - self.below, self.prime) ** self.most

    @property
    def blanket(self) -> Blanket:  # type: ignore[override]
        """All polynomials at the smaller probability, and those that meet a person's set.

        The number that meets the sets of two people depends on the sets, so its least value is used.
        """
        return Blanket.of_sets(self.ratio, self.meeting)

    @property
    def evidence(self) -> str:
        sizes = f"k = {self.items}, m = {self.most}, values below {self.below} of {self.prime}"
        return (
            f"ln of the odds of a polynomial that meets the person's set, with {sizes}, "
            f"p = {self.coin.heads} of 2^128"
        )

    @cached_property
    def rates(self) -> tuple[Fraction, Fraction]:
        share = Fraction(self.below, self.prime)
        return self.coin.probability * share / self.meeting, share

    @cached_property
    def pair_rates(self) -> tuple[Fraction, Fraction, Fraction]:
        """The probabilities for two elements, of polynomials with m + 2 coefficients."""
        own, other = self.rates
        # A value below the bound at one own element is enough; values at others are then independent of it.
        return other * other, own * other, own * other

    @property
    def no_pairs(self) -> str:
        if self.most < 2:
            return "nobody reports two items"
        return "" if self.terms == self.most + _PAIRS else "pairs=True was not set"

    def counting(self, domain: Domain) -> ValuesBelow:
        return ValuesBelow(self.size, self.polynomials, self.below)

    def support_of(self, reports: Array, elements: Array) -> Mask:
        rows = reports.reshape(-1, self.polynomials.length)
        held = self.polynomials.below(rows, elements, self.below)
        return held.reshape(*reports.shape[:-1], len(elements))

    def count_of(self, reports: Array, elements: Array) -> Integers:
        rows = reports.reshape(-1, self.polynomials.length)
        return self.polynomials.count_below(rows, elements, self.below)

    def numbers(self, reports: Array) -> Integers:
        rows = reports.reshape(-1, self.polynomials.length)
        return np.array([int.from_bytes(row.tobytes(), "little") for row in rows], dtype=np.int64)

    def check(self, raw: Array) -> Bytes:
        return self.polynomials.check(raw)

    # --- probabilities

    def probabilities(self, value: Array) -> list[Fraction]:
        """Return the exact probability of every polynomial, in the order of their numbers Σ cᵢ·pⁱ."""
        if self.outcomes > MOST_LISTED:
            raise InvalidParameter(
                "expected at most 2^16 polynomials to list exact probabilities; choose fewer items"
            )
        length = self.polynomials.length
        numbers = np.arange(self.outcomes, dtype="<u8").view(np.uint8).reshape(-1, 8)[:, :length]
        held = self.support_of(np.ascontiguousarray(numbers), np.arange(self.size))
        return self.laws(value, lambda own: np.asarray(held[:, list(own)].any(axis=1)).tolist())

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        """Return P(report | items), for people with at most `most` items."""
        rows = np.asarray(inputs)
        have = self.have(rows)
        shape = reports.shape[:-1]
        terms = self.polynomials.unpack(reports.reshape(-1, self.polynomials.length))
        columns = [column.reshape(*shape, 1) for column in terms]
        dummies = np.broadcast_to(np.arange(self.items, self.size), (*rows.shape[:-1], self.most))
        elements = np.concatenate([rows, dummies], axis=-1)
        counted = np.concatenate([rows >= 0, dummies < self.size - have], axis=-1)
        values = self.polynomials.values(columns, elements.astype(np.float64))
        met = ((values < self.below) & counted).any(axis=-1)
        hit, miss = (float(share) for share in self.shares)
        return np.where(met, hit, miss)

    # --- draws

    @cached_property
    def _firsts(self) -> list[int]:
        """For each index, the number of rows of m values whose first value below the bound is there."""
        low, high = self.below, self.prime - self.below
        return [high**at * low * self.prime ** (self.most - 1 - at) for at in range(self.most)]

    def draw_one(self, value: Array, source: Source) -> bytes:
        # The same numbers are drawn for all items, and whether or not they are met.
        own = self.own_elements(value, source)
        held = self.coin.toss_one(source)
        hit, miss = source.below(sum(self._firsts)), source.below((self.prime - self.below) ** self.most)
        rest = source.below(self.prime ** (self.terms - self.most))
        ends = [0, *accumulate(self._firsts)]
        first = sum(hit >= end for end in ends[1:])
        drawn = hit - ends[first] if held else miss
        first = first if held else self.most
        values = []
        for at in range(self.most):
            if at < first:
                drawn, number = divmod(drawn, self.prime - self.below)
                number += self.below
            else:
                drawn, number = divmod(drawn, self.below if at == first else self.prime)
            values.append(number)
        free = [rest // self.prime**at % self.prime for at in range(self.terms - self.most)]
        return self.polynomials.pack_one(self.polynomials.interpolate_one(own, values, free))

    def write(self, codes: Array, reports: Array, source: Source) -> None:
        for begin in range(0, len(codes), _ROWS):
            self._write(codes[begin : begin + _ROWS], reports[begin : begin + _ROWS], source)

    def _write(self, codes: Array, reports: Array, source: Source) -> None:
        people = len(codes)
        own = self._own(codes, source)
        held = self.coin.toss(people, source)
        first = np.where(held, source.choices(self._firsts, people), self.most)
        low = uniform(self.below, people, source).astype(np.float64)

        def draw(bound: int) -> Floats:
            return uniform(bound, people, source).astype(np.float64)

        values = []
        for at in range(self.most):
            high, free = draw(self.prime - self.below) + self.below, draw(self.prime)
            values.append(np.where(first > at, high, np.where(first == at, low, free)))
        points = [row.astype(np.float64) for row in own]
        rest = [draw(self.prime) for _ in range(self.terms - self.most)]
        self.polynomials.pack(self.polynomials.interpolate(points, values, rest), reports)
