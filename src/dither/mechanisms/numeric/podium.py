"""Podium: the unbiased window mechanism with the smallest worst-case variance."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass

from dither.core.kernels.window.start import GLIDING
from dither.foundation.numerics.roots import newton
from dither.mechanisms.numeric.base import Shape, WindowMechanism


@dataclass(frozen=True)
class Podium(WindowMechanism):
    """The unbiased two-level window with the smallest worst-case variance.

    Promise:   pure ε.
    Reports:   cells of the domain stretched about its centre.
    Use when:  a mean is estimated; for ε below about 2.3 `Hybrid` has a smaller worst-case variance.
    Reference: [Podium19]; its Table I and equation (1) are not used, see deviations. `approximate=True` is
               the paper's σ = ε/3, at most 5 % worse.
    """

    _draws = ("sliding", "optional")

    _: KW_ONLY
    approximate: bool = False

    def shape(self) -> Shape:
        step = self.epsilon / 3.0 if self.approximate else best_step(self.epsilon)
        return Shape.unbiased(1.0 / (1.0 + math.exp(step)), GLIDING)  # [Podium19, Alg. 1] w/m


def best_step(epsilon: float) -> float:
    """Return the σ that minimises the variance at the ends: the root of sinh(2σ − ε) + 2 sinh(σ)."""

    def slope_of_variance(step: float) -> tuple[float, float]:
        value = math.sinh(2.0 * step - epsilon) + 2.0 * math.sinh(step)
        return value, 2.0 * math.cosh(2.0 * step - epsilon) + 2.0 * math.cosh(step)

    return newton(slope_of_variance, epsilon / 4.0 if epsilon <= 1.0 else epsilon / 3.0)
