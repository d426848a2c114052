"""Sets of items: a few elements are told, likelier ones that meet the person's own set.

A person has at most m of k items. Sets are completed to exactly m elements by dummies, which are further
elements k … k + m − 1: with r items the first m − r of them. So a dummy is held by all people with few enough
items, and the dummies' frequencies are the distribution of sizes. Larger sets are thinned at random. Both
happen before anything else is drawn, so that the loss is bounded between any two sets, whatever their sizes.

A report is a set S of d of the k + m elements. S has one probability if it has at least t elements of the
person's set, and another one if it has fewer: their ratio is the whole loss [Wang18].
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, combinations
from typing import Any, ClassVar, Final, Self

import numpy as np

from dither.core.domains import Domain, Several
from dither.core.kernels.blocks import FEW, split_rows
from dither.core.kernels.codes import SupportKernel, noise_variance
from dither.core.kernels.coin import BiasedCoin, read_coin
from dither.core.kernels.counting import PackedColumns
from dither.core.kernels.kernel import MOST_LISTED, pure_certify, pure_promise
from dither.core.kernels.packing import pack_numbers, unpack_numbers
from dither.errors import InvalidParameter, MalformedReport, found
from dither.foundation.arrays import Array, Bytes, Floats, Integers, Mask
from dither.foundation.canonical import hexadecimal, whole
from dither.foundation.randomness import Source
from dither.privacy.exact import exp_below
from dither.privacy.shuffling import Blanket

MOST_BYTES: Final = 64  # of a report
_BLOCK: Final = 1 << 15  # people processed together, so that their columns stay in the cache


def meeting(own: int, size: int, chosen: int, least: int) -> int:
    """Return how many sets of `chosen` of `size` elements have at least `least` of `own` given elements."""
    fewer = range(min(max(least, 0), own + 1))
    return math.comb(size, chosen) - sum(
        math.comb(own, j) * math.comb(size - own, chosen - j) for j in fewer if j <= chosen
    )


def element_rates(
    items: int, most: int, chosen: int, least: int, chance: Fraction
) -> tuple[Fraction, Fraction]:
    """Return p and q: how often an element of the person's set is told, and how often another one.

    `chance` is the probability that the told set meets the person's in at least `least` elements.
    """
    size = items + most
    hits = meeting(most, size, chosen, least)
    hit, miss = chance / hits, (1 - chance) / (math.comb(size, chosen) - hits)
    told = math.comb(size - 1, chosen - 1)  # sets that have a given element
    own = meeting(most - 1, size - 1, chosen - 1, least - 1)
    other = meeting(most, size - 1, chosen - 1, least)
    return own * hit + (told - own) * miss, other * hit + (told - other) * miss


@dataclass(frozen=True)
class SetKernel(SupportKernel):
    """Sets of `chosen` elements; the coin decides whether `least` or more of them are the person's.

    An input is a row of codes of items, ascending, followed by −1 up to the length of the row.
    """

    promise, certify = pure_promise, pure_certify

    items: int
    most: int
    chosen: int
    least: int
    coin: BiasedCoin

    kind: ClassVar[str] = "several"
    takes: ClassVar[type[Domain]] = Several

    def __post_init__(self) -> None:
        if not 1 <= self.most <= self.items:
            raise InvalidParameter(
                f"a person has at most 1 to {found(self.items)} items, not {found(self.most)}"
            )
        if not 1 <= self.chosen <= self.items or not 1 <= self.least <= min(self.most, self.chosen):
            raise InvalidParameter(
                f"a report tells 1 to {self.items} elements and asks for 1 or more of them, "
                f"not {found(self.chosen)} and {found(self.least)}"
            )
        if self.layout.itemsize > MOST_BYTES:
            raise InvalidParameter(f"a report has at most {MOST_BYTES} bytes; tell fewer elements")
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
    def size(self) -> int:
        """The number of elements: items and dummies."""
        return self.items + self.most

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
        """How many sets have j elements of the person's: j = least, least + 1, …, and j = 0 … least − 1."""
        every = [
            math.comb(self.most, j) * math.comb(self.items, self.chosen - j)
            for j in range(min(self.most, self.chosen) + 1)
        ]
        return every[self.least :], every[: self.least]

    @cached_property
    def shares(self) -> tuple[Fraction, Fraction]:
        """The probability of a set that meets the person's in enough elements, and of one that does not."""
        met, missed = self._ways
        return self.coin.probability / sum(met), (1 - self.coin.probability) / sum(missed)

    @property
    def ratio(self) -> Fraction:
        met, missed = self._ways
        return self.coin.odds * Fraction(sum(missed), sum(met))

    @property
    def blanket(self) -> Blanket:  # type: ignore[override]
        """All sets at the smaller probability, and those that meet the sets of two people.

        If one element is enough, the fewest do if the two people have nothing in common.
        """
        share = Fraction(sum(self._ways[0]), self.outcomes)
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
        """The probability that two given elements are told, if the person has none, one or both of them."""
        hit, miss = self.shares
        if self.chosen < 2:
            return Fraction(0), Fraction(0), Fraction(0)
        told = math.comb(self.size - 2, self.chosen - 2)
        rates = []
        for own in range(min(2, self.most) + 1):
            met = meeting(self.most - own, self.size - 2, self.chosen - 2, self.least - own)
            rates.append(met * hit + (told - met) * miss)
        return rates[0], rates[1], rates[-1]

    def holds(self, categories: int) -> bool:
        return self.items == categories

    def variance(self, frequency: float) -> float:
        return noise_variance(self.rates, frequency)

    def shared_variance(self, n: int) -> tuple[float, float, float]:
        return 0.0, 0.0, 0.0

    def counting(self, domain: Domain) -> PackedColumns:
        return PackedColumns(self.size, self.chosen, self.width)

    def support(self, reports: Array, categories: int) -> Mask:
        """Return which items each report tells, along the last axis."""
        told = self.elements(reports)
        held: Mask = (told[..., None] == np.arange(categories)).any(axis=-2)
        return held

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
            raise MalformedReport(f"a report has {length} bytes: the last axis must have that length")
        if int(raw.min()) < 0 or int(raw.max()) > 255:
            raise MalformedReport("a report consists of bytes; a number is not from 0 to 255")
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
                f"a report has {self.chosen} ascending numbers below {self.size} of {self.width} bits; "
                "the bits after them are zero"
            )
        return reports

    def device(self) -> dict[str, Any]:
        return {
            "draw": self.kind,
            "chosen": self.chosen,
            "least": self.least,
            "heads": hexadecimal(self.coin.heads),
        }

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        if not isinstance(domain, Several):
            raise MalformedReport("the draw 'several' is about sets of items")
        chosen, least = whole(device["chosen"]), whole(device["least"])
        if not chosen <= 8 * MOST_BYTES:
            raise MalformedReport(f"a report has at most {MOST_BYTES} bytes")
        return cls(len(domain), domain.most, chosen, least, read_coin(device["heads"]))

    # --- probabilities

    def complete(self, codes: Sequence[int]) -> list[int]:
        """Return up to `most` codes of items, ascending, with the dummies that complete them."""
        return [*codes, *range(self.items, self.items + self.most - len(codes))]

    def _completions(self, value: Any) -> Iterator[tuple[int, ...]]:
        """Yield the sets of `most` elements that a person's items become, all equally likely."""
        items = [int(code) for code in value if code >= 0]
        for kept in combinations(items, min(len(items), self.most)):
            yield tuple(self.complete(kept))

    def probabilities(self, value: Any) -> list[Fraction]:
        """Return the exact probability of every set of elements, in lexicographic order."""
        if self.outcomes > MOST_LISTED:
            raise InvalidParameter("exact probabilities are listed for up to 2^16 sets")
        hit, miss = self.shares
        sums = [Fraction(0)] * self.outcomes
        completions = list(self._completions(value))
        for own in map(frozenset, completions):
            for place, row in enumerate(combinations(range(self.size), self.chosen)):
                sums[place] += hit if len(own.intersection(row)) >= self.least else miss
        return [total / len(completions) for total in sums]

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        """Return P(report | items), for people with at most `most` items."""
        rows = np.asarray(inputs)
        have = (rows >= 0).sum(axis=-1, keepdims=True)
        if (have > self.most).any():
            raise InvalidParameter(f"probabilities are for sets of up to {self.most} items")
        told = self.elements(reports)
        met = (told[..., :, None] == rows[..., None, :]).any(axis=-1).sum(axis=-1)
        met = met + ((told >= self.items) & (told < self.size - have)).sum(axis=-1)
        hit, miss = (float(share) for share in self.shares)
        return np.where(met >= self.least, hit, miss)

    # --- draws

    def thin(self, codes: Sequence[int], source: Source) -> list[int]:
        """Return up to `most` of a person's items, ascending, all equally likely to be kept."""
        kept = list(codes)
        if len(kept) > self.most:
            for place in range(self.most):
                other = place + source.below(len(kept) - place)
                kept[place], kept[other] = kept[other], kept[place]
        return sorted(kept[: self.most])

    def draw_one(self, value: Any, source: Source) -> bytes:
        # Whatever the items are and whether they are met, the same numbers are drawn.
        own = self.complete(self.thin([int(code) for code in value if code >= 0], source))
        held = self.coin.toss_one(source)
        met, missed = self._ways
        places = [source.below(sum(part)) for part in (met, missed)]
        passed = [
            sum(place >= end for end in accumulate(part))
            for place, part in zip(places, (met, missed), strict=True)
        ]
        count = passed[0] + self.least if held else passed[1]
        others = _different(self.chosen, self.items, source)
        members = _different(min(self.most, self.chosen), self.most, source)
        row = []
        for place, number in enumerate(others):
            element = number
            for mine in own:
                element += element >= mine
            row.append(own[members[place]] if place < count else element)
        packed = sum(element << self.width * place for place, element in enumerate(sorted(row)))
        return packed.to_bytes(self.layout.shape[0], "little")

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        rows = inputs.reshape(-1, inputs.shape[-1])
        few = len(rows) < FEW
        drawn = self.draw_singly(rows, source) if few else split_rows(self._rows, rows, source, threads)
        return drawn.reshape(inputs.shape[:-1] + self.layout.shape)

    def _rows(self, rows: Array, source: Source) -> Bytes:
        reports = np.empty((len(rows), *self.layout.shape), dtype=np.uint8)
        for begin in range(0, len(rows), _BLOCK):
            self.write(rows[begin : begin + _BLOCK], reports[begin : begin + _BLOCK], source)
        return reports

    def write(self, codes: Array, reports: Array, source: Source) -> None:
        """Draw a report for each row of codes and write it to `reports`."""
        own = self._own(codes, source)
        people = codes.shape[0]
        held = self.coin.toss(people, source)
        met, missed = self._ways
        count = np.where(held, source.choices(met, people) + self.least, source.choices(missed, people))
        told = _columns(self.chosen, self.items, people, source)
        members = _columns(int(count.max()), self.most, people, source)
        lower = [own[place] - own.dtype.type(place) for place in range(self.most)]
        below = np.empty(people, dtype=np.bool_)
        for place, number in enumerate(told):  # the others are numbered without the person's own elements
            other = number.astype(own.dtype, copy=False)
            told[place] = other.copy()
            for begin in range(0, self.most, 255):
                shift = np.zeros(people, dtype=np.uint8)
                for mine in lower[begin : begin + 255]:
                    np.less_equal(mine, other, out=below)
                    shift += below.view(np.uint8)
                told[place] += shift
        flat, everybody = own.reshape(-1), np.arange(people)
        for place, member in enumerate(members):
            mine = flat[member.astype(np.int64) * people + everybody]
            np.copyto(told[place], mine, where=count > place)
        pack_numbers(_sort_columns(told), self.width, reports)

    def _own(self, codes: Array, source: Source) -> Array:
        """Return each person's own elements, ascending: a row for each of the `most` places."""
        narrow = _narrow(self.size)
        if codes.shape[1] == self.most and int(codes[:, -1].min(initial=0)) >= 0:  # nobody has fewer items
            return np.ascontiguousarray(codes.astype(narrow).T)
        kind: Any = np.int16 if self.size < 1 << 15 else np.int32
        given: Array = np.ascontiguousarray(codes.astype(kind).T)
        sign = kind(8 * kind().itemsize - 1)
        have = np.full(len(codes), len(given), dtype=kind)
        for row in given:
            have += row >> sign  # −1 where there is no item
        rows = given[: self.most]
        if len(rows) < self.most:
            rows = np.concatenate([rows, np.full((self.most - len(rows), len(codes)), -1, dtype=kind)])
        for person in np.flatnonzero(have > self.most):
            rows[:, person] = self.thin(codes[person, : int(have[person])].tolist(), source)
        dummy = kind(self.items) - np.minimum(have, kind(self.most))  # that of the first place
        for place, row in enumerate(rows):
            rows[place] ^= (row ^ dummy) & (row >> sign)  # the dummy where there is no item
            dummy += kind(1)
        return rows.view(narrow) if kind is np.int16 else rows.astype(narrow)


def _different(count: int, bound: int, source: Source) -> list[int]:
    """Return `count` different numbers below a bound, in random order."""
    taken: list[int] = []
    for place in range(count):
        number = source.below(bound - place)
        for other in sorted(taken):
            number += number >= other
        taken.append(number)
    return taken


def _columns(count: int, bound: int, people: int, source: Source) -> list[Array]:
    """Return `count` different numbers below a bound for each person, in random order, as columns."""
    drawn: list[Array] = []
    ordered: list[Array] = []  # the same numbers, ascending for each person
    above = np.empty(people, dtype=np.bool_)
    for place in range(count):
        number = _uniform(bound - place, people, source).astype(_narrow(bound), copy=False)
        for other in ordered:
            np.greater_equal(number, other, out=above)
            number += above.view(np.uint8)
        drawn.append(number)
        if place < count - 1:
            _insert(ordered, number.copy())
    return drawn


def _narrow(bound: int) -> type[np.unsignedinteger[Any]]:
    """Return the dtype of numbers below a bound: half as many bytes take half the time."""
    return np.uint16 if bound <= 1 << 16 else np.uint32


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


def _uniform(bound: int, size: int, source: Source) -> Array:
    """Return uniform numbers below a bound of at most 2^31, by products of 32-bit words [Lemire19]."""
    words = np.empty(size, dtype=np.uint32)
    source.fill(words.data)
    rest = np.uint32((1 << 32) % bound)
    products = words.astype(np.uint64)
    products *= np.uint64(bound)
    low = words
    low *= np.uint32(bound)  # the lower halves of the products
    while int(low.min(initial=rest)) < rest:
        again = np.flatnonzero(low < rest)
        fresh = source.words(again.size) >> np.uint64(32)
        products[again] = fresh * np.uint64(bound)
        low[again] = products[again].astype(np.uint32)
    products >>= np.uint64(32)
    return products.astype(_narrow(bound))
