"""Sets of items: a person's set is completed to exactly m elements before anything is drawn.

A person has at most m of k items. Sets are completed to exactly m elements by dummies, the further
elements k … k + m − 1: a person with r items gets the first m − r of them. So all people with few enough
items have a given dummy, and the dummies' frequencies are the distribution of sizes. Larger sets are thinned
at random. Both happen before anything else is drawn, so that the loss is bounded between any two sets of any
sizes.

A report then has one probability if it meets the person's elements, and another one if it does not. The ratio
of the two determines the privacy loss.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, Final

import numpy as np

from dither.core.domains import Domain, Several
from dither.core.kernels.blocks import FEW, split_rows
from dither.core.kernels.codes import SupportKernel, noise_variance
from dither.core.kernels.coin import BiasedCoin
from dither.core.kernels.kernel import on, pure_certify, pure_promise
from dither.errors import InvalidParameter, found
from dither.foundation.arrays import Array, Bytes, Integers, Mask
from dither.foundation.randomness import Source

_BLOCK: Final = 1 << 15  # people processed together, so that their columns stay in the cache


_SETS: Final = "expected sets of items for this draw, got {}"
ABOUT_ITEMS: Final = {  # the number of items, and the most that a person has
    "items": on(Several, _SETS, len),
    "most": on(Several, _SETS, lambda domain: domain.most),
}


class ItemSets(SupportKernel):
    """Reports about a set of items that is completed by dummies; the coin decides whether they meet it.

    An input is a row of codes of items, ascending, followed by −1 up to the length of the row.
    """

    promise, certify = pure_promise, pure_certify

    items: int
    most: int
    coin: BiasedCoin

    takes: ClassVar[type[Domain]] = Several

    def check_items(self) -> None:
        """Raise InvalidParameter unless a person may have 1 to all items."""
        if not 1 <= self.most <= self.items:
            raise InvalidParameter(
                f"expected 1 to {found(self.items)} items for a person, got {found(self.most)}"
            )

    @property
    def size(self) -> int:
        """The number of elements: items and dummies."""
        return self.items + self.most

    @property
    @abstractmethod
    def meeting(self) -> Fraction:
        """The share of all reports that meet a person's set: the same for every set."""

    @property
    @abstractmethod
    def pair_rates(self) -> tuple[Fraction, Fraction, Fraction]:
        """The probability that a report has two given elements, if the person has 0, 1 or 2 of them.

        It is valid if `no_pairs` is empty.
        """

    @property
    @abstractmethod
    def no_pairs(self) -> str:
        """The reason why reports do not estimate who has both of two items; empty if they do."""

    def support(self, reports: Array, categories: int) -> Mask:
        """Return which items each report has, along the last axis."""
        return self.support_of(reports, np.arange(categories))

    @abstractmethod
    def support_of(self, reports: Array, elements: Array) -> Mask:
        """Return which of some elements each report has, along the last axis."""

    @abstractmethod
    def count_of(self, reports: Array, elements: Array) -> Integers:
        """Return how many reports have each of some elements."""

    @abstractmethod
    def numbers(self, reports: Array) -> Integers:
        """Return the index of each report in `probabilities`."""

    @cached_property
    def shares(self) -> tuple[Fraction, Fraction]:
        """The probability of a report that meets the person's set, and of one that does not."""
        met = self.meeting
        return self.coin.probability / (met * self.outcomes), (1 - self.coin.probability) / (
            (1 - met) * self.outcomes
        )

    @property
    def ratio(self) -> Fraction:
        return self.coin.odds * (1 - self.meeting) / self.meeting

    def holds(self, categories: int) -> bool:
        return self.items == categories

    def variance(self, frequency: float) -> float:
        return noise_variance(self.rates, frequency)

    def shared_variance(self, n: int) -> tuple[float, float, float]:
        return 0.0, 0.0, 0.0

    # --- inputs

    def complete(self, codes: Sequence[int]) -> list[int]:
        """Return up to `most` codes of items, ascending, with the dummies that complete them."""
        return [*codes, *range(self.items, self.items + self.most - len(codes))]

    def _completions(self, value: Array) -> Iterator[tuple[int, ...]]:
        """Yield the sets of `most` elements that a person's items become, all equally likely."""
        items = [int(code) for code in value if code >= 0]
        for kept in combinations(items, min(len(items), self.most)):
            yield tuple(self.complete(kept))

    def thin(self, codes: Sequence[int], source: Source) -> list[int]:
        """Return up to `most` of a person's items, ascending, all equally likely to be kept."""
        kept = list(codes)
        if len(kept) > self.most:
            for index in range(self.most):
                other = index + source.below(len(kept) - index)
                kept[index], kept[other] = kept[other], kept[index]
        return sorted(kept[: self.most])

    def _own(self, codes: Array, source: Source) -> Array:
        """Return each person's own elements, ascending: a row for each of the `most` elements."""
        dtype = narrow(self.size)
        if codes.shape[1] == self.most and int(codes[:, -1].min(initial=0)) >= 0:  # all have `most` items
            return np.ascontiguousarray(codes.astype(dtype).T)
        kind: Any = np.int16 if self.size < 1 << 15 else np.int32
        given: Array = np.ascontiguousarray(codes.astype(kind).T)
        sign = kind(8 * kind().itemsize - 1)
        have = np.full(len(codes), len(given), dtype=kind)
        for row in given:
            have += row >> sign  # −1 without an item
        rows = given[: self.most]
        if len(rows) < self.most:
            rows = np.concatenate([rows, np.full((self.most - len(rows), len(codes)), -1, dtype=kind)])
        for person in np.flatnonzero(have > self.most):
            rows[:, person] = self.thin(codes[person, : int(have[person])].tolist(), source)
        dummy = kind(self.items) - np.minimum(have, kind(self.most))  # the dummy at the first index
        for index, row in enumerate(rows):
            rows[index] ^= (row ^ dummy) & (row >> sign)  # the dummy in place of a missing item
            dummy += kind(1)
        return rows.view(dtype) if kind is np.int16 else rows.astype(dtype)

    def own_elements(self, value: Array, source: Source) -> list[int]:
        """Return the elements of one person, thinned and completed, ascending."""
        return self.complete(self.thin([int(code) for code in value if code >= 0], source))

    # --- draws

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

    @abstractmethod
    def write(self, codes: Array, reports: Array, source: Source) -> None:
        """Draw a report for each row of codes and write it to `reports`."""

    def laws(self, value: Array, meets: Callable[[tuple[int, ...]], list[bool]]) -> list[Fraction]:
        """Return the probability of every report, given the mask of reports that meet a set of elements.

        `meets` returns for a set of elements whether each report meets it, in the order of reports.
        """
        hit, miss = self.shares
        sums = [Fraction(0)] * self.outcomes
        completions = list(self._completions(value))
        for own in completions:
            for index, met in enumerate(meets(own)):
                sums[index] += hit if met else miss
        return [total / len(completions) for total in sums]

    def have(self, rows: Array) -> Integers:
        """Return how many items each row has; raise InvalidParameter if they are more than `most`."""
        have: Integers = (rows >= 0).sum(axis=-1, keepdims=True)
        if (have > self.most).any():
            raise InvalidParameter(f"expected a set of up to {self.most} items")
        return have


def narrow(bound: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest dtype of numbers below a bound: half the bytes take half the time."""
    return np.uint16 if bound <= 1 << 16 else np.uint32


def uniform(bound: int, size: int, source: Source) -> Array:
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
    return products.astype(narrow(bound))
