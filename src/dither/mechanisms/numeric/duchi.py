"""Duchi: one of two values, chosen so that the mean report is the value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np

from dither.kernels.window.codebook import Steps
from dither.kernels.window.start import GLIDING
from dither.mechanisms.window import Shape, WindowMechanism, unbiased_line


@final
@dataclass(frozen=True)
class Duchi(WindowMechanism):
    """One of two values outside the domain; unbiased.

    Promise:   pure ε.
    Reports:   one of two cells.
    Use when:  a mean is estimated at small ε, or a report must be one bit.
    Reference: [Duchi18, eq. 26].
    """

    cells: int = field(default=2, init=False)

    def shape(self) -> Shape:
        return Shape(0.5, GLIDING, _two_points)


def _two_points(share: float, contrast: float) -> Steps:
    line = unbiased_line(GLIDING, share, contrast)
    return Steps(line(np.array([0.25, 0.75])))
