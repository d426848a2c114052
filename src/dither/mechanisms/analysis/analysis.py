"""Density, mean and errors of a report, given the input, for designs for numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dither.core.domains import Line
from dither.errors import InvalidParameter
from dither.foundation.arrays import Floats
from dither.foundation.losses import Loss, as_power
from dither.foundation.numerics.quadrature import integrate
from dither.foundation.numerics.roots import global_maximum
from dither.foundation.plotting import draw_law
from dither.mechanisms.analysis.law import BIAS, COSINE, Law, loss_moment

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Number = float | Floats
Prior = Callable[[Floats], Floats]


def uniform(x: Floats) -> Floats:
    """Return the density 1 for every value: the uniform prior, the default of `average_error`."""
    return np.ones_like(x)


class Analysis(ABC):
    """The distribution of a report, given the input. Arguments are in the user's units and are broadcast."""

    @property
    @abstractmethod
    def law(self) -> Law:
        """The distribution of a report given the input, in units in which the domain is [0, 1]."""

    @property
    @abstractmethod
    def line(self) -> Line:
        """The domain of the inputs."""

    def _unit(self, x: object) -> Floats:
        return self.line.to_unit(self.line.check(x).astype(np.float64))

    def pdf(self, y: object, x: object) -> Number:
        """Return the density of the report y for the input x, without atoms; see `atoms`."""
        point = self.line.to_unit(np.asarray(y, dtype=np.float64))
        return _plain(self.law.density(point, self._unit(x)) / self.line.length)

    def cdf(self, y: object, x: object) -> Number:
        """Return P(report ≤ y) for the input x."""
        point = self.line.to_unit(np.asarray(y, dtype=np.float64))
        return _plain(self.law.cumulative(point, self._unit(x)))

    def atoms(self, x: object) -> tuple[Floats, Floats]:
        """Return the reports of positive probability and their probabilities, along the last axis."""
        positions, masses = self.law.atoms(self._unit(x))
        return self.line.from_unit(positions), masses

    def mean(self, x: object) -> Number:
        """Return E[report] for the input x, or on a circle the mean direction (x itself)."""
        return _plain(np.asarray(self.line.check(x), dtype=np.float64) + self.bias(x))

    def bias(self, x: object) -> Number:
        """Return the bias E[report] − x, which is 0 for the mean direction on a circle."""
        unit = self._unit(x)
        if self.line.circular:
            return _plain(np.zeros_like(unit))
        return _plain(self.line.length * self.law.expect(unit, BIAS))

    def variance(self, x: object) -> Number:
        """Return the variance of the report for the input x, or on a circle the circular variance 1 − ρ.

        ρ = E[cos(report − x)] is the mean resultant length.
        """
        if self.line.circular:
            return _plain(1.0 - self.law.expect(self._unit(x), COSINE))
        return _plain(np.asarray(self.error("squared", x)) - np.asarray(self.bias(x)) ** 2)

    def error(self, loss: Loss, x: object) -> Number:
        """Return the expected loss of the report for the input x.

        On a circle, distances are along the shorter arc.
        """
        return _plain(self._scale(loss) * self._error(loss)(self._unit(x)))

    def worst_error(self, loss: Loss) -> float:
        """Return the largest expected loss over all inputs."""
        return self._scale(loss) * global_maximum(self._error(loss), 0.0, 1.0, self.law.kinks)

    def average_error(self, loss: Loss, prior: Prior = uniform) -> float:
        """Return the expected loss over inputs from a prior, given as a density up to a factor."""
        error = self._error(loss)

        def weight(unit: Floats) -> Floats:
            return np.asarray(prior(self.line.from_unit(unit)), dtype=np.float64)

        kinks = (0.5, *self.law.kinks)
        mass = integrate(weight, 0.0, 1.0, kinks)
        if not mass > 0.0:
            raise InvalidParameter(f"the integral of a prior over the domain must be positive, not {mass:g}")
        return self._scale(loss) / mass * integrate(lambda unit: weight(unit) * error(unit), 0.0, 1.0, kinks)

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest report."""
        low, high = self.line.from_unit(np.asarray(self.law.support))
        return float(low), float(high)

    def plot(self, x: object, *, ax: Axes | None = None) -> Axes:
        """Plot the distribution of the reports for one or several inputs on `ax`, and return the axes.

        `plot(0.3).figure.savefig("law.png")` writes a file; needs the extra `plot`.
        """
        return draw_law(self, self.line.check(x), ax=ax)

    def _scale(self, loss: Loss) -> float:
        return float(self.line.length ** as_power(loss).exponent)

    def _error(self, loss: Loss) -> Callable[[Floats], Floats]:
        moment = loss_moment(as_power(loss), self.law.circular)
        return lambda unit: self.law.expect(unit, moment)


@dataclass(frozen=True)
class Realised(Analysis):
    """The same quantities for the integers that are sampled, instead of the continuous mechanism."""

    on: Line
    sampled_law: Law

    @property
    def law(self) -> Law:
        return self.sampled_law

    @property
    def line(self) -> Line:
        return self.on


def _plain(answer: object) -> Number:
    array = np.asarray(answer, dtype=np.float64)
    return float(array) if array.ndim == 0 else array
