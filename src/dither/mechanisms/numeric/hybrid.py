"""Hybrid: a random choice between PM and Duchi, with a smaller variance than either."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, Final, final

import numpy as np

from dither.domains import Interval
from dither.errors import MalformedReport
from dither.kernels.law import Law
from dither.kernels.window.decoder import TableDecoder, read_decoder
from dither.kernels.window.law import MixedLaw
from dither.kernels.window.mixture import COIN, MixtureKernel
from dither.losses import Criterion
from dither.mechanisms.analysis import Realised
from dither.mechanisms.base import Travelled
from dither.mechanisms.number import NumberMechanism, UnbiasedReading
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
        duchi = Duchi(self.domain, epsilon=self.epsilon)
        if self.travelled is None:
            return pm, duchi
        kernel, books = self.travelled.kernel, self.travelled.codebook
        if not isinstance(kernel, MixtureKernel):
            raise MalformedReport("Hybrid needs a kernel that is a mixture of two windows")
        return (
            replace(pm, travelled=Travelled(kernel.first, books[0])),
            replace(duchi, travelled=Travelled(kernel.second, books[1])),
        )

    @property
    def coin(self) -> float:
        """The probability of PM: 1 − e^(−ε/2) above the threshold, else 0."""
        return -math.expm1(-self.epsilon / 2.0) if self.epsilon > THRESHOLD else 0.0

    @cached_property
    def kernel(self) -> MixtureKernel:
        """What devices run: the two windows and the coin, in integers."""
        first, second = self.parts
        if self.travelled is not None and isinstance(self.travelled.kernel, MixtureKernel):
            return self.travelled.kernel
        heads = min(round(self.coin * COIN), COIN - 1)
        return MixtureKernel(first.kernel, second.kernel, heads)

    @cached_property
    def decoder(self) -> TableDecoder:
        """The map from reports to numbers: the cells of PM, then the two of Duchi."""
        return TableDecoder(np.concatenate([part.decode(np.arange(part.cells)) for part in self.parts]))

    def codebook(self) -> Any:
        return [part.codebook() for part in self.parts]

    @classmethod
    def read_codebook(cls, data: Any) -> Any:
        if not isinstance(data, list) or len(data) != 2:
            raise MalformedReport("Hybrid needs two codebooks")
        return tuple(read_decoder(one) for one in data)

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

    def unbiased_reading(self) -> UnbiasedReading:
        """Return numbers for the reports whose mean is the value: those of both parts."""
        readings = [part.unbiased_reading() for part in self.parts]
        return UnbiasedReading(
            np.concatenate([reading.values for reading in readings if reading is not None])
        )

    @property
    def window_share(self) -> float:
        return self.parts[0].window_share
