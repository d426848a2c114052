"""Densities, moments and errors of the reports of every mechanism of one number, from its distribution."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dither.arrays import Floats
from dither.domains import Circle, Line
from dither.errors import InvalidParameter, found
from dither.kernels.law import BIAS, COSINE, Law, loss_moment
from dither.losses import Power, squared
from dither.numerics.golden_section import global_maximum
from dither.numerics.quadrature import integrate
from dither.plotting import draw_law

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Number = float | Floats
Prior = Callable[[Floats], Floats]


def uniform(x: Floats) -> Floats:
    """Return the density 1 for every value: the uniform prior, the default of `average_error`."""
    return np.ones_like(x)


class Analysis(ABC):
    """The distribution of a report, given the input. Arguments are in the user's units and broadcast."""

    @property
    @abstractmethod
    def law(self) -> Law:
        """The distribution of a report given the input, in units in which the domain is [0, 1]."""

    @property
    @abstractmethod
    def line(self) -> Line:
        """The domain of the inputs."""

    @final
    def _unit(self, x: object) -> Floats:
        return self.line.to_unit(self.line.check(x).astype(np.float64))

    @final
    def pdf(self, y: object, x: object) -> Number:
        """Return the density of the report y for the input x, without atoms; see `atoms`."""
        place = self.line.to_unit(np.asarray(y, dtype=np.float64))
        return _plain(self.law.density(place, self._unit(x)) / self.line.length)

    @final
    def cdf(self, y: object, x: object) -> Number:
        """Return P(report ≤ y) for the input x."""
        place = self.line.to_unit(np.asarray(y, dtype=np.float64))
        return _plain(self.law.cumulative(place, self._unit(x)))

    @final
    def atoms(self, x: object) -> tuple[Floats, Floats]:
        """Return the reports of positive probability and their probabilities, along the last axis."""
        places, masses = self.law.atoms(self._unit(x))
        return self.line.from_unit(places), masses

    @final
    def mean(self, x: object) -> Number:
        """Return E[report] for the input x; on a circle the mean direction, which is x."""
        return _plain(np.asarray(self.line.check(x), dtype=np.float64) + self.bias(x))

    @final
    def bias(self, x: object) -> Number:
        """Return the bias E[report] − x; on a circle the mean direction has no bias."""
        unit = self._unit(x)
        if isinstance(self.line, Circle):
            return _plain(np.zeros_like(unit))
        return _plain(self.line.length * self.law.expect(unit, BIAS))

    @final
    def variance(self, x: object) -> Number:
        """Return the variance of the report for the input x; on a circle the circular variance 1 − ρ."""
        if isinstance(self.line, Circle):
            return _plain(1.0 - np.asarray(self.resultant(x)))
        return _plain(np.asarray(self.error(squared, x)) - np.asarray(self.bias(x)) ** 2)

    @final
    def resultant(self, x: object) -> Number:
        """Return the mean resultant length ρ = E[cos(Y − x)] on a circle."""
        if not isinstance(self.line, Circle):
            raise InvalidParameter(f"the resultant length exists on a circle only, not on {self.line}")
        return _plain(self.law.expect(self._unit(x), COSINE))

    @final
    def error(self, loss: Power, x: object) -> Number:
        """Return the expected loss of the report for the input x; on a circle distances are the short way."""
        return _plain(self._scale(loss) * self._error(loss)(self._unit(x)))

    @final
    def worst_error(self, loss: Power) -> float:
        """Return the largest expected loss over all inputs."""
        return self._scale(loss) * global_maximum(self._error(loss), 0.0, 1.0, self.law.kinks)

    @final
    def average_error(self, loss: Power, prior: Prior = uniform) -> float:
        """Return the expected loss over inputs from a prior, given as a density up to a factor."""
        error = self._error(loss)

        def weight(unit: Floats) -> Floats:
            return np.asarray(prior(self.line.from_unit(unit)), dtype=np.float64)

        kinks = (0.5, *self.law.kinks)
        mass = integrate(weight, 0.0, 1.0, kinks)
        if not mass > 0.0:
            raise InvalidParameter(f"the integral of a prior over the domain must be positive, not {mass:g}")
        return self._scale(loss) / mass * integrate(lambda unit: weight(unit) * error(unit), 0.0, 1.0, kinks)

    @final
    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest report."""
        low, high = self.line.from_unit(np.asarray(self.law.support))
        return float(low), float(high)

    @final
    def plot(self, x: object, *, ax: Axes | None = None) -> Axes:
        """Draw the distribution of the reports for one or several inputs on `ax`, and return the axes.

        `plot(0.3).figure.savefig("law.png")` writes a file; needs the extra `plot`.
        """
        return draw_law(self, self.line.check(x), ax=ax)

    def _scale(self, loss: Power) -> float:
        if not isinstance(loss, Power):
            raise InvalidParameter(f"loss must be dt.absolute, dt.squared or dt.power(k), not {found(loss)}")
        return float(self.line.length**loss.exponent)

    def _error(self, loss: Power) -> Callable[[Floats], Floats]:
        moment = loss_moment(loss, self.law.circular)
        return lambda unit: self.law.expect(unit, moment)


@final
@dataclass(frozen=True)
class Realised(Analysis):
    """The same quantities for the integers that are sampled, instead of the continuous mechanism."""

    _line: Line
    _law: Law

    @property
    def law(self) -> Law:
        return self._law

    @property
    def line(self) -> Line:
        return self._line


def _plain(answer: Any) -> Number:
    array = np.asarray(answer, dtype=np.float64)
    return float(array) if array.ndim == 0 else array
