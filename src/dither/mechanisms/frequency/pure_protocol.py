"""The base classes of pure protocols: a report supports some categories, most probably the true one.

Let p be the probability that a report supports its own category, and q that it supports a given other one. In
every protocol the share of reports that support a category has the mean f·p + (1 − f)·q. So all have the same
estimator: f = (share − q)/(p − q) [Wang17, Thm 2].
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Generic, TypeVar, cast, final

from dither.arrays import Integers
from dither.domains import Categories, Domain
from dither.errors import InvalidParameter, MalformedReport, found
from dither.kernels.codes import CodeKernel
from dither.kernels.kernel import Kernel
from dither.mechanisms.base import Mechanism
from dither.mechanisms.number import check_ratio


@dataclass(frozen=True)
class PureProtocol(Mechanism[Categories]):
    """A mechanism whose reports support categories, with the same p and q for every pair of categories."""

    takes: ClassVar[tuple[type[Domain], ...]] = (Categories,)
    one_category: ClassVar[bool] = False  # whether a report is one category, independent of other people's

    @property
    @abstractmethod
    def rates(self) -> tuple[Fraction, Fraction]:
        """The exact probabilities p and q that a report supports its own category, and a given other one."""

    @abstractmethod
    def probabilities(self, x: Hashable) -> list[Fraction]:
        """Return the exact probability of every report for the category x, from the sampled integers."""

    @property
    def categories(self) -> Categories:
        """The public list of answers."""
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
        """The difference p − q, by which estimates are divided, computed without cancellation."""
        return float(self.rates[0] - self.rates[1])

    def variance(self, frequency: float = 0.0) -> float:
        """Return n times the variance that privacy adds to the estimate of a category of this frequency.

        [f·p(1−p) + (1−f)·q(1−q)]/(p−q)² [Wang17, Thm 2]. Sampling of the people adds f(1−f).
        """
        if not 0.0 <= frequency <= 1.0:
            raise InvalidParameter(f"frequency must be from 0 to 1, not {found(frequency)}")
        noise = frequency * self.p * (1.0 - self.p) + (1.0 - frequency) * self.q * (1.0 - self.q)
        return noise / self.gap**2

    def shared(self, n: int) -> tuple[float, float, float]:
        """Return a, b, c of a + b·m + c·m², which is added to m(1 − m) in n times the variance of a share.

        m is the mean of the share. They are 0 if the reports of different people are independent.
        """
        return 0.0, 0.0, 0.0

    def supports(self, counts: Integers) -> Integers:
        """Return the number of reports that support each category, from the counts of a summary."""
        return counts

    @final
    def _code(self, x: Hashable) -> int:
        return int(self.categories.check([x])[0])


Runs = TypeVar("Runs", bound=CodeKernel)


@dataclass(frozen=True)
class CodeProtocol(PureProtocol, Generic[Runs]):
    """A pure protocol in which the reports of different people are independent."""

    runs: ClassVar[type[Kernel]]  # the kernel's class

    @abstractmethod
    def _kernel(self) -> Runs:
        """Return the paper's kernel, with the largest ratio that ε allows."""

    @abstractmethod
    def _fits(self, kernel: Runs) -> bool:
        """Return whether a kernel has this number of categories."""

    @final
    @cached_property
    def kernel(self) -> Runs:
        """What devices run: the integers from which they sample."""
        kernel = self._kernel() if self.travelled is None else self.travelled.kernel
        if not isinstance(kernel, self.runs) or not self._fits(cast(Runs, kernel)):
            raise MalformedReport(f"the kernel is not one of {type(self).__name__} for {self.categories}")
        if self.travelled is not None:
            check_ratio(kernel, self.epsilon)
        return cast(Runs, kernel)

    @final
    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        return self.kernel.rates

    def probabilities(self, x: Hashable) -> list[Fraction]:
        return self.kernel.probabilities(self._code(x))
