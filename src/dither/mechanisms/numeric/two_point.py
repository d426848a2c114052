"""TwoPoint: one of two values inside the domain; the smallest worst-case squared error at small ε."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, final

import numpy as np

from dither.arrays import Floats
from dither.domains import Line
from dither.kernels.window.codebook import Steps
from dither.kernels.window.integers import Sliding
from dither.kernels.window.start import LineStart, Placement
from dither.mechanisms.window import Shape, WindowMechanism


@final
@dataclass(frozen=True)
class TwoPoint(WindowMechanism):
    """One of two values inside the domain; the one in the value's half is likelier.

    Promise:   pure ε.
    Reports:   one of two cells, decoded as the middle ± tanh(ε/2)/2 of the domain's length.
    Use when:  single values matter, by their squared error, and ε ≤ ln(3 + 2√2) ≈ 1.76: no mechanism has a
               smaller worst case, which is e^ε/(e^ε + 1)² of the squared length. For larger ε the two values
               are the best two, but more values are better. Biased: not for a mean.
    Reference: derived in docs/theory.md.

    >>> from dither import Interval, squared
    >>> round(TwoPoint(Interval(0, 1), epsilon=1).worst_error(squared), 6)
    0.196612
    """

    cells: int = field(default=2, init=False)

    def shape(self) -> Shape:
        return Shape(0.5, _SIDES, _two_points)


@final
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


def _two_points(share: float, contrast: float) -> Steps:
    # With κ = tanh(ε/2) the values ½ ± a have the error ¼ + a² − a·κ at the ends and a² in the middle. The
    # first is smallest at a = κ/2. If κ² > ½ the middle would be worse, and both are equal at a = 1/(4κ).
    half = min(contrast / 2.0, 0.25 / contrast)
    return Steps(np.array([0.5 - half, 0.5 + half]))
