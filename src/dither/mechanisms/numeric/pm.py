"""PM: the piecewise mechanism, the first unbiased window mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from dither.kernels.window.start import GLIDING
from dither.mechanisms.window import Shape, WindowMechanism


@final
@dataclass(frozen=True)
class PM(WindowMechanism):
    """A report from a wider range, likelier near the value; unbiased.

    Promise:   pure ε.
    Reports:   cells of the domain stretched about its centre. `.compressed()` is PM-C, `.truncated()` T-PM.
    Use when:  a baseline is needed; the worst-case variance of `Podium` is never larger.
    Reference: [PM19, Alg. 2].
    """

    def shape(self) -> Shape:
        return Shape.unbiased(1.0 / (1.0 + math.exp(self.epsilon / 2.0)), GLIDING)  # [PM19, eq. 6–7]
