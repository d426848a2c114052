"""Mechanisms with integer weights for every report and input: what lattices and channels have in common."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from dither.arrays import Array, Floats
from dither.domains import Circle, Line
from dither.errors import InvalidParameter
from dither.kernels.lattice.law import TableLaw
from dither.kernels.window.decoder import Decoder
from dither.mechanisms.analysis import Realised
from dither.mechanisms.number import Numerical
from dither.mechanisms.window import within
from dither.privacy.exact import exp_below


class Kernel(Protocol):
    """Integer weights of every report, for every input that the kernel can tell apart."""

    @property
    def cells(self) -> int:
        """How many different reports there are."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest unsigned integers that hold a report."""

    @property
    def ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one report."""

    def probabilities(self, aim: int, /) -> list[Fraction]:
        """Give the exact probability of every report."""

    def chances(self, aim: int, /) -> Floats:
        """Give the probability of every report, in floats."""


class Aim(Protocol):
    """How a value becomes one of the inputs that the kernel can tell apart."""

    def aim_one(self, value: float) -> int:
        """Give the input of a value."""


@dataclass(frozen=True)
class TabledMechanism(Numerical):
    """A kernel of integer weights, a rule that brings a value to it, and what each report stands for."""

    @property
    @abstractmethod
    def kernel(self) -> Kernel:
        """The integers that devices sample by."""

    @property
    @abstractmethod
    def track(self) -> Aim:
        """How a value becomes an input of the kernel."""

    @property
    @abstractmethod
    def decoder(self) -> Decoder:
        """Which number each report stands for."""

    def _exceeds(self, kernel: Kernel) -> bool:
        """Say whether the largest ratio, in integers, is above e^ε; if not, that is the privacy proof."""
        return kernel.ratio > exp_below(Fraction(self.epsilon))

    @property
    def line(self) -> Line:
        """The domain of the inputs."""
        assert isinstance(self.domain, Line)
        return self.domain

    @cached_property
    def sampled(self) -> Realised:
        """The same questions about the integers that are sampled."""
        values = self.line.to_unit(self.decoder(np.arange(self.outcomes)))

        def chances(unit: float) -> Floats:
            return self.chances(float(self.line.from_unit(np.asarray(unit))))

        return Realised(self.line, TableLaw(chances, values, circular=isinstance(self.domain, Circle)))

    def probabilities(self, x: float) -> list[Fraction]:
        """Give the exact probability of every report for the input x, from the very integers sampled."""
        value = self.line.check(x)
        if value.ndim:
            raise InvalidParameter("exact probabilities are listed for one input at a time")
        return self.kernel.probabilities(self.track.aim_one(float(value)))

    def chances(self, x: float) -> Floats:
        """Give the probability of every report for the input x, in floats."""
        return self.kernel.chances(self.track.aim_one(float(self.line.check(x))))

    def decode(self, cells: Array) -> Array:
        """Give the numbers that reports stand for."""
        return self.decoder(cells)

    def _valid(self, raw: Array) -> Array:
        return within(raw, self.outcomes, self.kernel.dtype)

    @property
    def outcomes(self) -> int:
        """How many different reports there are."""
        return self.kernel.cells

    @property
    def report_bytes(self) -> float:
        """The size of one report, in bytes."""
        return float(self.kernel.dtype.itemsize)
