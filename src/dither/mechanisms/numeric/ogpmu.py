"""OGPM-U: the unbiased mechanism of the OGPM paper, for comparison."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from dither.kernels.window.start import Gliding
from dither.mechanisms.window import Shape, WindowMechanism


@final
@dataclass(frozen=True)
class OGPMU(WindowMechanism):
    """A report from a much wider range, likelier near the value; unbiased.

    Promise:   pure ε.
    Reports:   cells of [−C, C+1] in units of the domain, C = coth(ε/4).
    Use when:  the paper's figures are reproduced; `Podium` has 4 to 9 times less variance.
    Reference: [OGPM25, Thm 5.1], which calls it optimal; it is not, see deviations.
    """

    def shape(self) -> Shape:
        reach = 1.0 / math.tanh(self.epsilon / 4.0)  # C of Thm 5.1
        # A share (C+1)/(2(2C+1)) of the range of starts is never used, at either end.
        clear = (reach + 1.0) / (2.0 * (2.0 * reach + 1.0))
        return Shape.unbiased(1.0 / (1.0 + math.exp(self.epsilon / 2.0)), Gliding(clear))
