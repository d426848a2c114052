"""What every frequency mechanism is: a report supports some categories, the true one likelier than any other.

With p the probability that a report supports its own category, and q that it supports any other one, the
share of reports that support a category has the mean f·p + (1 − f)·q, whatever the protocol. So one estimator
serves them all: f = (share − q)/(p − q) [Wang17, Thm 2].
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np

from dither.arrays import Array, Integers
from dither.domains import Categories, Domain
from dither.errors import InvalidParameter
from dither.kernels.blocks import in_threads
from dither.mechanisms.base import Mechanism
from dither.mechanisms.window import within
from dither.randomness import Source


@dataclass(frozen=True)
class PureProtocol(Mechanism):
    """A mechanism whose reports support categories, with the same p and q for every pair of categories."""

    takes: ClassVar[tuple[type[Domain], ...]] = (Categories,)

    @property
    @abstractmethod
    def rates(self) -> tuple[Fraction, Fraction]:
        """The exact probabilities that a report supports its own category, and any other one."""

    @property
    @abstractmethod
    def layout(self) -> np.dtype[Any]:
        """How one report is stored: unsigned integers, one or several. It never depends on the answer."""

    @abstractmethod
    def _sample(self, codes: Array, cells: Array, source: Source) -> None:
        """Write a report for each code."""

    @abstractmethod
    def probabilities(self, x: Hashable) -> list[Fraction]:
        """Give the exact probability of every report for the category x, from the very integers sampled."""

    @property
    def categories(self) -> Categories:
        """The public list of answers."""
        assert isinstance(self.domain, Categories)
        return self.domain

    @cached_property
    def p(self) -> float:
        """The probability that a report supports its own category."""
        return float(self.rates[0])

    @final
    @cached_property
    def q(self) -> float:
        """The probability that a report supports a given other category."""
        return float(self.rates[1])

    @final
    @cached_property
    def gap(self) -> float:
        """The difference p − q, on which every estimate leans, without cancellation."""
        return float(self.rates[0] - self.rates[1])

    def variance(self, frequency: float = 0.0) -> float:
        """Give n times the variance that privacy adds to the estimate of a category of this frequency.

        [f·p(1−p) + (1−f)·q(1−q)]/(p−q)² [Wang17, Thm 2]. Who was asked adds f(1−f).
        """
        if not 0.0 <= frequency <= 1.0:
            raise InvalidParameter("a frequency is a number from 0 to 1")
        noise = frequency * self.p * (1.0 - self.p) + (1.0 - frequency) * self.q * (1.0 - self.q)
        return noise / self.gap**2

    def shared(self, n: int) -> tuple[float, float, float]:
        """Give a + b·m + c·m²: what n times a share's variance has besides m(1 − m), m being its mean.

        Nothing, where everybody's report is drawn by itself.
        """
        return 0.0, 0.0, 0.0

    def supports(self, counts: Integers) -> Integers:
        """Give how many reports support each category, from a tally."""
        return counts

    @property
    def tallies(self) -> int:
        """How long the vector of `tally` is: one count for each category."""
        return len(self.categories)

    @final
    def answers(self, cells: Array) -> int:
        """Say how many reports an array holds."""
        return int(cells.size) // math.prod(self.layout.shape)

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        codes = self.categories.check(values)
        cells = in_threads(lambda size: self._sample, codes.reshape(-1), self.layout, source, threads)
        return cells.reshape(codes.shape + self.layout.shape)

    def _valid(self, raw: Array) -> Array:
        return within(raw, self.outcomes, self.layout)

    @property
    def report_bytes(self) -> float:
        """The size of one report, in bytes."""
        return float(self.layout.itemsize)

    @final
    def _code(self, x: Hashable) -> int:
        return int(self.categories.check([x])[0])
