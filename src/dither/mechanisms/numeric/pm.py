"""PM, Duchi's two points, and Hybrid, a random choice between them; unbiased."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Final, cast

import numpy as np

from dither.core.domains import Interval, Line
from dither.core.kernels.window.codebook import AffineDecoder, JoinedDecoder, Steps, TableDecoder
from dither.core.kernels.window.integers import Sliding
from dither.core.kernels.window.kernel import COIN, MixtureKernel
from dither.core.kernels.window.start import GLIDING, LineStart, Placement
from dither.foundation.arrays import Floats
from dither.mechanisms.analysis.analysis import Realised
from dither.mechanisms.analysis.law import Law, MixedLaw
from dither.mechanisms.numeric.base import NumberMechanism, Shape, WindowMechanism, unbiased_line


@dataclass(frozen=True)
class PM(WindowMechanism):
    """A report from a wider range; reports near the value are likelier; unbiased.

    Promise:   pure ε.
    Reports:   cells of the domain stretched about its centre. `.compressed()` is PM-C, `.truncated()` T-PM.
    Use when:  a baseline is needed; the worst-case variance of `Podium` is never larger.
    Reference: piecewise mechanism (PM) [PM19, Alg. 2].
    """

    _draws = ("sliding", "optional")

    def shape(self) -> Shape:
        return Shape.unbiased(1.0 / (1.0 + math.exp(self.epsilon / 2.0)), GLIDING)  # [PM19, eq. 6–7]


@dataclass(frozen=True)
class Duchi(WindowMechanism):
    """One of two values outside the domain; unbiased.

    Promise:   pure ε.
    Reports:   one of two cells.
    Use when:  a mean is estimated at small ε, or a report must be one bit.
    Reference: [Duchi18, eq. 26]; also known as stochastic rounding (SR).
    """

    _draws = ("sliding",)

    cells: int = field(default=2, init=False)

    def shape(self) -> Shape:
        return Shape(0.5, GLIDING, _two_points)


def _two_points(share: float, contrast: float) -> Steps:
    line = unbiased_line(GLIDING, share, contrast)
    return Steps(line(np.array([0.25, 0.75])))


@dataclass(frozen=True)
class TwoPoint(WindowMechanism):
    """One of two values inside the domain; the report in the value's half of the domain is likelier.

    Promise:   pure ε.
    Reports:   one of two cells, decoded as the middle ± tanh(ε/2)/2 of the domain's length.
    Use when:  the squared error of single values matters, and ε ≤ ln(3 + 2√2) ≈ 1.76. Then the worst case,
               e^ε/(e^ε + 1)² of the squared length, is the smallest of all mechanisms. For larger ε the two
               values are the best two, but more values are better. Biased: not for a mean.
    Reference: derived in docs/theory.md.

    >>> from dither import Interval
    >>> round(TwoPoint(Interval(0, 1), epsilon=1).worst_error("squared"), 6)
    0.196612
    """

    _draws = ("sliding",)

    cells: int = field(default=2, init=False)

    def shape(self) -> Shape:
        return Shape(0.5, _SIDES, _two_biased_points)


@dataclass(frozen=True)
class _Sides(Placement):
    """The window is the half of the domain that contains the value."""

    def start(self, x: Floats, width: float) -> Floats:
        return np.where(np.asarray(x) < 0.5, 0.0, 0.5)

    def kinks(self, width: float) -> tuple[float, ...]:
        return ()

    def rule(self, domain: Line, window: Sliding) -> LineStart:
        return LineStart(domain.low, window.cells / domain.length, window.cells - 1)


_SIDES: Final = _Sides()


def _two_biased_points(share: float, contrast: float) -> Steps:
    # With κ = tanh(ε/2) the values ½ ± a have the error ¼ + a² − a·κ at the ends and a² in the middle. The
    # first error is smallest at a = κ/2. If κ² > ½ the error in the middle would be larger; both are equal at
    # a = 1/(4κ).
    half = min(contrast / 2.0, 0.25 / contrast)
    return Steps(np.array([0.5 - half, 0.5 + half]))


THRESHOLD: Final = 0.6093524930273094  # below this ε Duchi is always used [PM19, eq. 10]
# The ε from which decoded reports of Podium have less variance than reports of Hybrid, by criterion.
CROSSOVER: Final = {"worst": 2.3190030126702377, "average": 0.8955}


@dataclass(frozen=True)
class Hybrid(NumberMechanism):
    """A report of PM or of Duchi, chosen by a coin; unbiased.

    Promise:   pure ε.
    Reports:   the cells of PM, then the two of Duchi: the report shows the coin. The coin is independent of
               the value.
    Use when:  a mean is estimated with ε below about 2.3; the variance hardly depends on the value.
    Reference: hybrid mechanism (HM) [PM19, Sec. III-C].
    """

    _draws = ("mixture",)

    _: KW_ONLY
    cells: int = 1 << 15

    _takes = (Interval,)

    @cached_property
    def parts(self) -> tuple[PM, Duchi]:
        """The two mechanisms."""
        pm = PM(self.domain, epsilon=self.epsilon, cells=self.cells)
        return pm, Duchi(self.domain, epsilon=self.epsilon)

    @property
    def coin(self) -> float:
        """The probability of PM: 1 − e^(−ε/2) above the threshold, else 0."""
        return -math.expm1(-self.epsilon / 2.0) if self.epsilon > THRESHOLD else 0.0

    def _kernel(self) -> MixtureKernel:
        first, second = self.parts
        heads = min(round(self.coin * COIN), COIN - 1)
        return MixtureKernel(first._window_kernel, second._window_kernel, heads)

    def _codebook(self, kernel: MixtureKernel) -> JoinedDecoder:
        first, second = (cast("AffineDecoder | TableDecoder", part.question.book) for part in self.parts)
        return JoinedDecoder((first, second), (kernel.first.outcomes, kernel.second.outcomes))

    @cached_property
    def law(self) -> Law:
        """The distribution of the continuous mechanism that the cells approximate."""
        return MixedLaw((self.coin, 1.0 - self.coin), (self.parts[0].law, self.parts[1].law))

    @cached_property
    def sampled(self) -> Realised:
        """The same quantities (pdf, mean, error, …) for the integers that are sampled."""
        coin = float(cast(MixtureKernel, self.question.kernel).coin)
        laws = (self.parts[0].sampled.law, self.parts[1].sampled.law)
        return Realised(self.line, MixedLaw((coin, 1.0 - coin), laws))
