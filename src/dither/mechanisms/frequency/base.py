"""The base class of designs for answers from a list."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from dither.core.domains import Categories, Domain
from dither.core.question import CategoryQuestion
from dither.foundation.arrays import Integers
from dither.mechanisms.mechanism import Mechanism


@dataclass(frozen=True)
class CategoryMechanism(Mechanism[CategoryQuestion]):
    """A pure protocol: a report supports categories, with the same p and q for every pair of categories."""

    domain: Categories

    _takes: ClassVar[tuple[type[Domain], ...]] = (Categories,)

    def _codebook(self, kernel: Any) -> None:
        """Return None: the kernel determines which categories a report supports."""

    @property
    def categories(self) -> Categories:
        """The public list of answers."""
        return self.domain

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """The exact probabilities p and q that a report supports the person's category and another one."""
        return self.question.rates

    @cached_property
    def p(self) -> float | Fraction:
        """The probability that a report supports the person's own category."""
        return float(self.rates[0])

    @property
    def q(self) -> float:
        """The probability that a report supports a given other category."""
        return float(self.rates[1])

    @property
    def gap(self) -> float:
        """The difference p − q (the divisor of estimates), computed without cancellation."""
        return float(self.rates[0] - self.rates[1])

    def variance(self, frequency: float = 0.0) -> float:
        """Return n times the variance that privacy adds to the estimate of a category of this frequency."""
        return self.question.variance(frequency)

    def supports(self, counts: Integers) -> Integers:
        """Return the number of reports that support each category, from the counts of a summary."""
        return self.question.supports(counts)

    def code(self, x: Hashable) -> int:
        """Return the code of a category."""
        return int(self.categories.check([x])[0])
