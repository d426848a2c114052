"""Draws with given integer weights: alias tables and cumulative sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from dither.core.kernels.blocks import FEW
from dither.errors import InvalidParameter, found
from dither.foundation.arrays import Array, Floats, Integers, Mask
from dither.foundation.canonical import WHOLE, Fields
from dither.foundation.numerics.roots import decreasing_root
from dither.foundation.randomness import Source
from dither.privacy.exact import exp_below

TOTAL_BITS: Final = 128  # the weights of every row add up to 2^128
MOST_OUTCOMES: Final = 1 << 16
_EARLY: Final = 16  # the first bits of a coin nearly always decide


@dataclass(frozen=True, eq=False)
class Alias:
    """Alias tables for rows of integer weights of total 2^128 each; 128 random bits draw an outcome.

    A row is divided into 2^bits columns of equal capacity 2^(128−bits). Column i contains `thresholds[i]` of
    the weight of outcome i; the rest of it is weight of the outcome `others[i]`. A uniform column and a coin
    of 128 − bits bits draw each outcome with exactly its weight, without rounding. The first 16 bits of
    the coin are drawn first. The others are drawn only if these equal the first bits of the threshold.
    Proved: alias_exactly (proofs/Tables.v).
    """

    bits: int
    thresholds: tuple[int, ...]
    others: NDArray[np.uint16]

    @staticmethod
    def of(rows: Sequence[Sequence[int]]) -> Alias:
        """Return the alias tables of rows of weights, by Vose's method in integers."""
        longest = max(len(row) for row in rows)
        if longest > MOST_OUTCOMES:
            raise InvalidParameter(
                f"expected at most 2^16 outcomes in an alias table, got {longest}; choose fewer"
            )
        if any(min(row) < 0 or sum(row) != 1 << TOTAL_BITS for row in rows):
            raise InvalidParameter("the weights of a row must be ≥ 0 and add up to 2^128")
        bits = max(1, (longest - 1).bit_length())
        columns = [_fill(row, bits) for row in rows]
        thresholds = tuple(threshold for filled, _ in columns for threshold in filled)
        return Alias(bits, thresholds, np.array([other for _, rest in columns for other in rest], np.uint16))

    def weights(self, row: int = 0) -> list[int]:
        """Return the weights with which outcomes are drawn, summed over the columns."""
        capacity = 1 << (TOTAL_BITS - self.bits)
        total = [0] * (1 << self.bits)
        first = row << self.bits
        for column in range(1 << self.bits):
            total[column] += self.thresholds[first + column]
            total[int(self.others[first + column])] += capacity - self.thresholds[first + column]
        return total

    @cached_property
    def early(self) -> NDArray[np.uint16]:
        """The first 16 bits of every threshold."""
        late = TOTAL_BITS - self.bits - _EARLY
        return np.array([threshold >> late for threshold in self.thresholds], dtype=np.uint16)

    def late(self, column: int, source: Source) -> bool:
        """Return the outcome of a coin whose first bits equal the threshold's, from its remaining bits."""
        late = TOTAL_BITS - self.bits - _EARLY
        return source.bits(late) < self.thresholds[column] & ((1 << late) - 1)

    def draw_one(self, source: Source, row: int = 0) -> int:
        """Draw one outcome, in Python integers."""
        column = source.bits(self.bits)
        index = (row << self.bits) + column
        own = source.bits(TOTAL_BITS - self.bits) < self.thresholds[index]
        return column if own else int(self.others[index])


def _fill(row: Sequence[int], bits: int) -> tuple[list[int], list[int]]:
    # Proved: fill_exactly and table_exactly (proofs/Tables.v).
    capacity = 1 << (TOTAL_BITS - bits)
    left = [*row, *[0] * ((1 << bits) - len(row))]
    thresholds, others = [0] * len(left), list(range(len(left)))
    small = [column for column, weight in enumerate(left) if weight < capacity]
    large = [column for column, weight in enumerate(left) if weight >= capacity]
    # The remaining weight equals the remaining capacity, so for every small column there is a large one. A
    # column that is exactly full keeps threshold 0 and itself as the other outcome.
    while small:
        column, giver = small.pop(), large[-1]
        thresholds[column], others[column] = left[column], giver
        left[giver] -= capacity - left[column]
        if left[giver] < capacity:
            small.append(large.pop())
    return thresholds, others


class AliasSampler:
    """A sampler with buffers for up to `size` outcomes at once; one per thread."""

    def __init__(self, table: Alias, size: int) -> None:
        self._table = table
        self._mask = None if table.bits == 16 else np.uint16((1 << table.bits) - 1)
        self._random = np.empty(2 * size, dtype=np.uint16)
        self._place = np.empty(size, dtype=np.intp)
        self._early = np.empty(size, dtype=np.uint16)
        self._other = np.empty(size, dtype=np.uint16)
        self._own = np.empty(size, dtype=np.bool_)

    def draw(self, count: int, source: Source, rows: Array | None = None) -> NDArray[np.uint16]:
        """Return `count` outcomes, from the given rows or all from row 0; valid until the next call."""
        table = self._table
        random = self._random[: 2 * count]
        source.fill(random.data)
        column, coin = random[:count], random[count:]
        position, early, other, own = (
            scratch[:count] for scratch in (self._place, self._early, self._other, self._own)
        )
        if self._mask is not None:
            column &= self._mask
        np.copyto(position, column)
        if rows is not None:
            position += rows << table.bits
        np.take(table.early, position, out=early, mode="clip")
        np.take(table.others, position, out=other, mode="clip")
        np.equal(coin, early, out=own)
        ties = np.flatnonzero(own) if own.any() else ()
        np.less(coin, early, out=own)
        for tie in ties:
            own[tie] = table.late(int(position[tie]), source)
        # column = other + own·(column − other); unsigned overflow cancels
        column -= other
        column *= own
        column += other
        return column


_HIGH: Final = 1 << 40
_MOST: Final = 1 << 22  # candidates, so that their weights add up to at most 2^62
_BLOCK: Final = 1 << 18  # weights processed together, so that they stay in the cache


@dataclass(frozen=True)
class Grades:
    """Weights from `low` to `high`: score 0 has the weight `high`, score 1 the weight `low`."""

    low: int
    high: int = _HIGH

    fields: ClassVar[Fields] = Fields(low=WHOLE, high=WHOLE)

    MOST: ClassVar[int] = _HIGH

    def __post_init__(self) -> None:
        if not 1 <= self.low <= self.high <= _HIGH:
            raise InvalidParameter(
                f"weights must satisfy 1 ≤ low ≤ high ≤ 2^40, not {found(self.low)} and {found(self.high)}"
            )

    @staticmethod
    def largest(epsilon: float) -> Grades:
        """Return the bounds with the largest ratio such that certainly (H/L)² ≤ e^ε."""
        bound = exp_below(Fraction(epsilon))
        square = -(-(_HIGH**2) * bound.denominator // bound.numerator)
        return Grades(isqrt(square - 1) + 1)

    @staticmethod
    def fullest(epsilon: float, size: int, weigh: Callable[[Grades, Integers], Integers]) -> Grades:
        """Return the bounds with the largest ratio for which a choice among `size` candidates spends ≤ ε.

        `weigh` returns the weights of all candidates for some true candidates, given the bounds. The rows of
        a table have different sums, so (H/L)² is far above the largest ratio of two probabilities. The
        latter ratio is computed instead.
        """

        def grades_at(rate: float) -> Grades:
            return Grades(max(int(np.ceil(_HIGH * np.exp(-rate))), 1))

        def largest(grades: Grades) -> float:
            found = largest_ratio(size, size, lambda rows: weigh(grades, rows))
            return np.inf if found is None else found

        bound = exp_below(Fraction(epsilon))
        most = min(2.0 * epsilon, float(np.log(_HIGH)))
        close = _CLOSE if size <= _FEW_CANDIDATES else 1e-3  # evaluating many pairs takes seconds
        rate = fullest_rate(lambda rate: float(np.log(largest(grades_at(rate)))), epsilon, most, close)
        for _ in range(_TRIES):  # The logarithm is rounded, so the integers are checked.
            if Fraction(largest(grades_at(rate))) <= bound:
                return grades_at(rate)
            rate *= 1.0 - _CLOSE
        return Grades.largest(epsilon)

    @property
    def ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one candidate, if all inputs have the same candidates."""
        return Fraction(self.high, self.low) ** 2

    def weights(self, scores: Floats) -> Integers:
        """Return the weights of scores; clip the scores to [0, 1]."""
        fall = float(np.log(self.low / self.high))
        rounded = np.rint(self.high * np.exp(np.clip(scores, 0.0, 1.0) * fall)).astype(np.int64)
        return np.asarray(np.clip(rounded, self.low, self.high))

    def exponential(self, distances: Floats, allowed: Mask | None = None) -> Integers:
        """Return the weights of candidates by their distances, scaled in each row to scores from 0 to 1.

        Candidates that are not allowed have weight 0 and do not affect the scale of their row.
        """
        kept = distances if allowed is None else np.where(allowed, distances, np.nan)
        nearest, farthest = np.nanmin(kept, axis=1, keepdims=True), np.nanmax(kept, axis=1, keepdims=True)
        spread = np.where(farthest > nearest, farthest - nearest, 1.0)
        weights = self.weights((distances - nearest) / spread)
        return weights if allowed is None else weights * allowed


_CLOSE: Final = 1e-6  # relative to ε: the largest unspent part
_FEW_CANDIDATES: Final = 2048
_TRIES: Final = 8


def fullest_rate(
    spent: Callable[[float], float], epsilon: float, most: float, close: float = _CLOSE
) -> float:
    """Return the largest rate of weights e^(−rate·score) up to `most` that spends at most ε.

    Scores are from 0 to 1, so the rate ε/2 certainly spends at most ε [McSherry07, Thm 6]. `spent` grows with
    the rate. At most `close`·ε is left unspent.
    """
    found = decreasing_root(
        lambda rate: spent(-rate) - epsilon,
        -most,
        -epsilon / 2.0,
        close=close * epsilon,
        start=-min(epsilon, most),
        step=epsilon / 8.0,
    )
    return epsilon / 2.0 if found is None else -found


def draw(weights: Integers, source: Source) -> Integers:
    """Draw a column for each row, with probability exactly its weight over the row's sum."""
    if weights.shape[1] > _MOST:
        raise InvalidParameter(f"expected at most 2^22 candidates, got {weights.shape[1]}; choose fewer")
    ends = np.cumsum(weights, axis=1)
    ticket = below(ends[:, -1], source)
    return np.asarray((ends <= ticket[:, None]).sum(axis=1), dtype=np.int64)


def below(bounds: Integers, source: Source) -> Integers:
    """Draw a uniform integer below each bound, up to 2^62, by rejection; few are drawn one by one."""
    if bounds.size < FEW:
        return np.array([_ticket(bound, source) for bound in bounds.tolist()], dtype=np.int64)
    out = np.empty(bounds.size, dtype=np.int64)
    wanted = np.arange(bounds.size)
    while wanted.size:
        words = (source.words(wanted.size) >> np.uint64(2)).astype(np.int64)
        bound = bounds[wanted]
        kept = words < (1 << 62) // bound * bound
        out[wanted[kept]] = (words % bound)[kept]
        wanted = wanted[~kept]
    return out


def _ticket(bound: int, source: Source) -> int:
    most = (1 << 62) // bound * bound
    while True:
        drawn = source.bits(62)
        if drawn < most:
            return drawn % bound


def blocks(rows: int, columns: int) -> Iterator[slice]:
    """Yield slices of rows such that the weights of one slice stay in the cache."""
    size = max(1, _BLOCK // max(columns, 1))
    for begin in range(0, rows, size):
        yield slice(begin, min(begin + size, rows))


def largest_ratio(rows: int, columns: int, weights: Callable[[Integers], Integers]) -> float | None:
    """Return the largest ratio of two probabilities of one column over all rows, rounded up.

    Return None if a column is possible for one row and impossible for another.
    """
    most, least = np.zeros(columns), np.full(columns, np.inf)
    for block in blocks(rows, columns):
        part = weights(np.arange(block.start, block.stop))
        chance = part / part.sum(axis=1, keepdims=True)
        np.maximum(most, chance.max(axis=0), out=most)
        np.minimum(least, chance.min(axis=0), out=least)
    possible = most > 0.0
    if (least[possible] == 0.0).any():
        return None
    return float((most[possible] / least[possible]).max()) * (1.0 + 1e-14)  # more than three rounding errors
