"""Hybrid: a random choice between PM and Duchi, with a smaller variance than either."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Final, final

from dither.domains import Interval
from dither.kernels.law import Law
from dither.kernels.window.decoder import JoinedDecoder
from dither.kernels.window.law import MixedLaw
from dither.kernels.window.mixture import COIN, MixtureKernel
from dither.losses import Criterion
from dither.mechanisms.analysis import Realised
from dither.mechanisms.base import NumberMechanism
from dither.mechanisms.numeric.duchi import Duchi
from dither.mechanisms.numeric.pm import PM

THRESHOLD: Final = 0.6093524930273094  # below this ε Duchi is always used [PM19, eq. 10]
# The ε from which Podium has a smaller variance than Hybrid, by criterion.
CROSSOVER: Final = {Criterion.WORST: 2.3190030126702377, Criterion.AVERAGE: 0.8955}


@final
@dataclass(frozen=True)
class Hybrid(NumberMechanism):
    """A report of PM or of Duchi, chosen by a coin; unbiased.

    Promise:   pure ε.
    Reports:   the cells of PM, then the two of Duchi: the report shows the coin, which is independent of the
               value.
    Use when:  a mean is estimated with ε below about 2.3; the variance hardly depends on the value.
    Reference: [PM19, Sec. III-C].
    """

    _: KW_ONLY
    cells: int = 1 << 15

    takes = (Interval,)

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
        return MixtureKernel(first.kernel, second.kernel, heads)

    def _codebook(self, kernel: MixtureKernel) -> JoinedDecoder:
        first, second = (part.question.book for part in self.parts)
        return JoinedDecoder((first, second), (kernel.first.outcomes, kernel.second.outcomes))

    @cached_property
    def law(self) -> Law:
        """The distribution of the continuous mechanism that the cells approximate."""
        return MixedLaw((self.coin, 1.0 - self.coin), (self.parts[0].law, self.parts[1].law))

    @cached_property
    def sampled(self) -> Realised:
        """The same quantities (pdf, mean, error, …) for the integers that are sampled."""
        coin = float(self.kernel.coin)
        laws = (self.parts[0].sampled.law, self.parts[1].sampled.law)
        return Realised(self.line, MixedLaw((coin, 1.0 - coin), laws))
