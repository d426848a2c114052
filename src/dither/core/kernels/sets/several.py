"""Sets of items: a few elements are reported; those that meet the person's own set are likelier.

`items.py` defines a person's elements: m of the k items and m dummies. A report is a set S of d of the k + m
elements. S has one probability if it has at least t elements of the person's set, and another one if it has
fewer. The ratio of the two determines the privacy loss [Wang18].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, combinations
from typing import Any, ClassVar, Final

import numpy as np

from dither.core.domains import Domain
from dither.core.kernels.coin import COIN, BiasedCoin
from dither.core.kernels.counting import PackedColumns
from dither.core.kernels.kernel import MOST_LISTED
from dither.core.kernels.packing import pack_numbers, unpack_numbers
from dither.core.kernels.sets.items import ABOUT_ITEMS, ItemSets, narrow, uniform
from dither.errors import InvalidParameter, MalformedReport, found
from dither.foundation.arrays import Array, Bytes, Floats, Integers, Mask
from dither.foundation.canonical import WHOLE, Data, Fields, condition
from dither.foundation.randomness import Source
from dither.privacy.exact import exp_below
from dither.privacy.shuffling import Blanket

MOST_BYTES: Final = 64  # bytes of a report


def meeting(own: int, size: int, chosen: int, least: int) -> int:
    """Return how many sets of `chosen` of `size` elements have at least `least` of `own` given elements."""
    fewer = range(min(max(least, 0), own + 1))
    return math.comb(size, chosen) - sum(
        math.comb(own, j) * math.comb(size - own, chosen - j) for j in fewer if j <= chosen
    )


def element_rates(
    items: int, most: int, chosen: int, least: int, chance: Fraction
) -> tuple[Fraction, Fraction]:
    """Return p and q: the probabilities that an element of the person's set is reported, and that another is.

    `chance` is the probability that at least `least` reported elements are in the person's set.
    """
    size = items + most
    hits = meeting(most, size, chosen, least)
    hit, miss = chance / hits, (1 - chance) / (math.comb(size, chosen) - hits)
    outputs = math.comb(size - 1, chosen - 1)  # sets that have a given element
    own = meeting(most - 1, size - 1, chosen - 1, least - 1)
    other = meeting(most, size - 1, chosen - 1, least)
    return own * hit + (outputs - own) * miss, other * hit + (outputs - other) * miss


def _check_size(data: Data, known: Data) -> None:
    if not known["chosen"] <= 8 * MOST_BYTES:
        raise MalformedReport(f"expected a report of at most {MOST_BYTES} bytes")


@dataclass(frozen=True)
class SetKernel(ItemSets):
    """Sets of `chosen` elements; the coin decides whether `least` or more of them are the person's."""

    items: int
    most: int
    chosen: int
    least: int
    coin: BiasedCoin

    kind: ClassVar[str] = "several"
    fields = Fields(
        **ABOUT_ITEMS, chosen=WHOLE, least=WHOLE, size=condition(_check_size), coin=COIN.member("heads")
    )

    def __post_init__(self) -> None:
        self.check_items()
        if not 1 <= self.chosen <= self.items or not 1 <= self.least <= min(self.most, self.chosen):
            raise InvalidParameter(
                f"expected a report of 1 to {self.items} elements, at least 1 of them the person's, "
                f"got {found(self.chosen)} and {found(self.least)}"
            )
        if self.layout.itemsize > MOST_BYTES:
            raise InvalidParameter(
                f"expected a report of at most {MOST_BYTES} bytes, got more; report fewer elements"
            )
        if not self.ratio > 1:
            raise InvalidParameter("a set that meets the person's must be likelier than one that does not")

    @staticmethod
    def largest(epsilon: float, items: int, most: int, chosen: int, least: int) -> SetKernel:
        """Return the kernel with the largest ratio that is certainly at most e^ε."""
        bound = exp_below(Fraction(epsilon))
        hits = meeting(most, items + most, chosen, least)
        own = hits * bound
        coin = BiasedCoin.below(own / (own + math.comb(items + most, chosen) - hits))
        return SetKernel(items, most, chosen, least, coin)

    @property
    def width(self) -> int:
        """The bits of an element's number."""
        return (self.size - 1).bit_length()

    @property
    def layout(self) -> np.dtype[Any]:
        return np.dtype((np.uint8, ((self.chosen * self.width + 7) >> 3,)))

    @property
    def outcomes(self) -> int:
        return math.comb(self.size, self.chosen)

    @cached_property
    def _ways(self) -> tuple[list[int], list[int]]:
        """The number of sets with j elements of the person: for j ≥ `least`, and for j below it."""
        every = [
            math.comb(self.most, j) * math.comb(self.items, self.chosen - j)
            for j in range(min(self.most, self.chosen) + 1)
        ]
        return every[self.least :], every[: self.least]

    @cached_property
    def meeting(self) -> Fraction:
        """The share of all sets that have enough of a person's elements."""
        return Fraction(sum(self._ways[0]), self.outcomes)

    @property
    def blanket(self) -> Blanket:  # type: ignore[override]
        """All sets at the smaller probability, and those that meet the sets of two people.

        If one element is enough, their number is smallest for two people with nothing in common.
        """
        share = self.meeting
        if self.least > 1:
            return Blanket.of_sets(self.ratio, share)
        neither = math.comb(max(self.size - 2 * self.most, 0), self.chosen)
        blanket = Blanket.of_sets(self.ratio, share, 2 * share - 1 + Fraction(neither, self.outcomes))
        return replace(blanket, reached=self.items >= 2 * self.most)

    @property
    def evidence(self) -> str:
        sizes = f"k = {self.items}, m = {self.most}, d = {self.chosen}, t = {self.least}"
        return (
            f"ln of the odds of a set that meets the person's, with {sizes}, p = {self.coin.heads} of 2^128"
        )

    @cached_property
    def rates(self) -> tuple[Fraction, Fraction]:
        return element_rates(self.items, self.most, self.chosen, self.least, self.coin.probability)

    @cached_property
    def pair_rates(self) -> tuple[Fraction, Fraction, Fraction]:
        """The probability that two given elements are reported, if the person has 0, 1 or 2 of them."""
        hit, miss = self.shares
        if self.chosen < 2:
            return Fraction(0), Fraction(0), Fraction(0)
        outputs = math.comb(self.size - 2, self.chosen - 2)
        rates = []
        for own in range(min(2, self.most) + 1):
            met = meeting(self.most - own, self.size - 2, self.chosen - 2, self.least - own)
            rates.append(met * hit + (outputs - met) * miss)
        return rates[0], rates[1], rates[-1]

    @property
    def no_pairs(self) -> str:
        if self.most < 2:
            return "nobody reports two items"
        return "each report contains only one item" if self.chosen < 2 else ""

    def counting(self, domain: Domain) -> PackedColumns:
        return PackedColumns(self.size, self.chosen, self.width)

    def support_of(self, reports: Array, elements: Array) -> Mask:
        outputs = self.elements(reports)
        held: Mask = (outputs[..., None] == elements).any(axis=-2)
        return held

    def count_of(self, reports: Array, elements: Array) -> Integers:
        counts: Integers = PackedColumns(self.size, self.chosen, self.width).count(reports)[elements]
        return counts

    def numbers(self, reports: Array) -> Integers:
        sets = {row: at for at, row in enumerate(combinations(range(self.size), self.chosen))}
        rows = self.elements(reports).reshape(-1, self.chosen).tolist()
        return np.array([sets[tuple(row)] for row in rows], dtype=np.int64)

    def elements(self, reports: Array) -> Integers:
        """Return the elements of reports, ascending along the last axis; from k on they are dummies."""
        rows = reports.reshape(-1, self.layout.shape[0])
        columns = np.array(list(unpack_numbers(rows, self.chosen, self.width)), dtype=np.int64)
        return columns.T.reshape(*reports.shape[:-1], self.chosen)

    def check(self, raw: Array) -> Bytes:
        length = self.layout.shape[0]
        if raw.size == 0:
            return np.zeros((0, length), dtype=np.uint8)
        if raw.ndim < 1 or raw.shape[-1] != length:
            raise MalformedReport(
                f"expected the last axis of the array to have length {length}, the number of bytes of a "
                "report"
            )
        if int(raw.min()) < 0 or int(raw.max()) > 255:
            raise MalformedReport(
                "expected reports of bytes from 0 to 255, got another number; pass the reports of this "
                "question"
            )
        reports: Bytes = raw.astype(np.uint8, copy=False)
        rows = reports.reshape(-1, length)
        used = self.chosen * self.width & 7
        good = not used or not int(rows[:, -1].max()) >> used
        before: Any = -1
        for column in unpack_numbers(rows, self.chosen, self.width):
            good = good and bool((column > before).all())
            before = column
        if not good or int(before.max()) >= self.size:
            raise MalformedReport(
                f"expected {self.chosen} ascending numbers below {self.size} of {self.width} bits in "
                "a report, and zeros in the bits after them"
            )
        return reports

    # --- probabilities

    def probabilities(self, value: Array) -> list[Fraction]:
        """Return the exact probability of every set of elements, in lexicographic order."""
        if self.outcomes > MOST_LISTED:
            raise InvalidParameter(
                "expected at most 2^16 sets to list exact probabilities; choose fewer items"
            )
        rows = list(combinations(range(self.size), self.chosen))
        return self.laws(value, lambda own: [len({*own}.intersection(row)) >= self.least for row in rows])

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        """Return P(report | items), for people with at most `most` items."""
        rows = np.asarray(inputs)
        have = self.have(rows)
        outputs = self.elements(reports)
        met = (outputs[..., :, None] == rows[..., None, :]).any(axis=-1).sum(axis=-1)
        met = met + ((outputs >= self.items) & (outputs < self.size - have)).sum(axis=-1)
        hit, miss = (float(share) for share in self.shares)
        return np.where(met >= self.least, hit, miss)

    # --- draws

    def draw_one(self, value: Array, source: Source) -> bytes:
        # The same numbers are drawn for all items, and whether or not they are met.
        own = self.own_elements(value, source)
        held = self.coin.toss_one(source)
        met, missed = self._ways
        positions = [source.below(sum(part)) for part in (met, missed)]
        passed = [
            sum(index >= end for end in accumulate(part))
            for index, part in zip(positions, (met, missed), strict=True)
        ]
        count = passed[0] + self.least if held else passed[1]
        others = _different(self.chosen, self.items, source)
        members = _different(min(self.most, self.chosen), self.most, source)
        row = []
        for index, number in enumerate(others):
            element = number
            for mine in own:
                element += element >= mine
            row.append(own[members[index]] if index < count else element)
        packed = sum(element << self.width * index for index, element in enumerate(sorted(row)))
        return packed.to_bytes(self.layout.shape[0], "little")

    def write(self, codes: Array, reports: Array, source: Source) -> None:
        """Draw a report for each row of codes and write it to `reports`."""
        own = self._own(codes, source)
        people = codes.shape[0]
        held = self.coin.toss(people, source)
        met, missed = self._ways
        count = np.where(held, source.choices(met, people) + self.least, source.choices(missed, people))
        outputs = _columns(self.chosen, self.items, people, source)
        members = _columns(int(count.max()), self.most, people, source)
        lower = [own[index] - own.dtype.type(index) for index in range(self.most)]
        below = np.empty(people, dtype=np.bool_)
        for index, number in enumerate(outputs):  # the others are numbered without the person's own elements
            other = number.astype(own.dtype, copy=False)
            outputs[index] = other.copy()
            for begin in range(0, self.most, 255):
                shift = np.zeros(people, dtype=np.uint8)
                for mine in lower[begin : begin + 255]:
                    np.less_equal(mine, other, out=below)
                    shift += below.view(np.uint8)
                outputs[index] += shift
        flat, everybody = own.reshape(-1), np.arange(people)
        for index, member in enumerate(members):
            mine = flat[member.astype(np.int64) * people + everybody]
            np.copyto(outputs[index], mine, where=count > index)
        pack_numbers(_sort_columns(outputs), self.width, reports)


def _different(count: int, bound: int, source: Source) -> list[int]:
    """Return `count` different numbers below a bound, in random order."""
    taken: list[int] = []
    for index in range(count):
        number = source.below(bound - index)
        for other in sorted(taken):
            number += number >= other
        taken.append(number)
    return taken


def _columns(count: int, bound: int, people: int, source: Source) -> list[Array]:
    """Return `count` different numbers below a bound for each person, in random order, as columns."""
    drawn: list[Array] = []
    ordered: list[Array] = []  # the same numbers, ascending for each person
    above = np.empty(people, dtype=np.bool_)
    for index in range(count):
        number = uniform(bound - index, people, source).astype(narrow(bound), copy=False)
        for other in ordered:
            np.greater_equal(number, other, out=above)
            number += above.view(np.uint8)
        drawn.append(number)
        if index < count - 1:
            _insert(ordered, number.copy())
    return drawn


def _insert(ordered: list[Array], column: Array) -> None:
    """Insert a column into columns that ascend for each person; the time does not depend on the numbers."""
    spare = np.empty_like(column)
    for at, other in enumerate(ordered):
        np.minimum(other, column, out=spare)
        np.maximum(other, column, out=column)
        ordered[at], spare = spare, other
    ordered.append(column)


def _sort_columns(columns: list[Array]) -> list[Array]:
    ordered: list[Array] = []
    for column in columns:
        _insert(ordered, column.copy())
    return ordered
