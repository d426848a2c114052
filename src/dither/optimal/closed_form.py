"""Optima that are known in closed form: nothing is solved here.

    on a circle, any power of the distance       `OGPM`: the optimum over all mechanisms, worst and average
    on an interval, worst squared error, small ε `TwoPoint`: the optimum over all mechanisms
    on an interval, error at one public value    `Focused`: the best with two levels, the same for every input
    on an interval, unbiased, worst variance     `Podium`: the best with two levels

The proofs are in docs/theory.md.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from dither.domains import Circle, Line, finite
from dither.errors import InvalidParameter
from dither.kernels.codebook import Steps
from dither.kernels.placement import Placement, Track
from dither.kernels.quadrature import crossing
from dither.kernels.window import Sliding
from dither.losses import Criterion, Power, absolute, squared
from dither.mechanisms.numeric.ogpm import best_width
from dither.mechanisms.windowed import Shape, WindowMechanism

Floats = NDArray[np.float64]

TWO_POINTS_UP_TO: Final = math.log(3.0 + 2.0 * math.sqrt(2.0))  # ≈ 1.7627; above it more values are better


@final
@dataclass(frozen=True)
class TwoPoint(WindowMechanism):
    """One of two values inside the domain: the one on the value's side is likelier.

    Promise:   pure ε.
    Reports:   one of two cells, read as the middle ± tanh(ε/2)/2 of the domain's length.
    Use when:  single values matter, by their squared error, and ε ≤ ln(3 + 2√2) ≈ 1.76: no mechanism has a
               smaller worst case, which is e^ε/(e^ε + 1)² of the squared length. Above, the two values are
               the best two, and more values are better. Biased: not for a mean.
    Reference: derived in docs/theory.md.

    >>> from dither.domains import Interval
    >>> round(TwoPoint(Interval(0, 1), epsilon=1).worst_error(squared), 6)
    0.196612
    """

    cells: int = field(default=2, init=False)

    def shape(self) -> Shape:  # noqa: D102
        return Shape(0.5, _SIDES, _two_points)


@final
@dataclass(frozen=True)
class _Sides(Placement):
    """The window is the half of the domain that holds the value."""

    def start(self, x: Floats, width: float) -> Floats:
        return np.where(np.asarray(x) < 0.5, 0.0, 0.5)

    def track(self, domain: Line, window: Sliding) -> Track:
        return Track(domain.low, window.cells / domain.length, window.cells - 1)


_SIDES: Final = _Sides()


def _two_points(share: float, contrast: float) -> Steps:
    # With κ = tanh(ε/2) the values ½ ± a have the error ¼ + a² − a·κ at the ends and a² in the middle: the
    # first is smallest at a = κ/2, and once the middle is the worst, which is at κ² = ½, both at a = 1/(4κ).
    half = min(contrast / 2.0, 0.25 / contrast)
    return Steps(np.array([0.5 - half, 0.5 + half]))


@final
@dataclass(frozen=True)
class Focused(WindowMechanism):
    """OGPM with the width that is best at one public value, where most values are expected.

    Promise:   pure ε.
    Reports:   cells of the domain, as OGPM's.
    Use when:  it is public knowledge that values gather about `focus`. The focus is part of the mechanism and
               seen by everybody: taken from private data it leaks, whatever [OGPM25, Sec. 6] says.
    Reference: [OGPM25, Sec. 6].

    >>> from dither.domains import Interval
    >>> round(Focused(Interval(0, 1), epsilon=1, focus=0.2).error(absolute, 0.2), 6)
    0.241367
    """

    _: KW_ONLY
    focus: float
    loss: Power = absolute

    def shape(self) -> Shape:  # noqa: D102
        if not isinstance(self.loss, Power):
            raise InvalidParameter("a loss is dt.absolute, dt.squared or dt.power(k)")
        if not self.line.low <= finite("the focus", self.focus) <= self.line.high:
            raise InvalidParameter(f"the focus is a public value in {self.line}")
        place = (self.focus - self.line.low) / self.line.length
        return Shape.centred(self.line, best_width_at(self.epsilon, self.loss, place))


def best_width_at(epsilon: float, loss: Power, place: float) -> float:
    """Give the width with the smallest error at one place of [0, 1]; at 0, ½ and 1 it is `best_width`.

    With W(s) the integral of the loss over the window, the error is (W(1) + (E−1)·W(s)) / (1 + (E−1)·s).
    Its slope is zero where W′(s), the loss at the window's farther end, equals the error itself; that
    difference grows with s, so there is one root, and the error there is W′(s).
    """
    lift = math.expm1(epsilon)
    near = min(place, 1.0 - place)

    def primitive(distance: float) -> float:
        return float(loss.antiderivative(np.asarray(distance)))

    def excess(s: float) -> float:
        inside = s <= 2.0 * near  # else the window is stopped by the nearer end of the domain
        window = 2.0 * primitive(s / 2.0) if inside else primitive(near) + primitive(s - near)
        edge = s / 2.0 if inside else s - near
        return float(loss(np.asarray(edge))) * (1.0 + lift * s) - lift * window - everything

    everything = primitive(near) + primitive(1.0 - near)
    return crossing(excess, 0.0, 1.0)


def known_optimum(domain: Line, epsilon: float, loss: Power, criterion: Criterion) -> float | None:
    """Give the smallest error that any ε-LDP mechanism has, in the domain's units, where a formula exists."""
    if isinstance(domain, Circle):  # the same error at every angle: worst case and average agree
        return float((domain.length / 2.0 * best_width(epsilon, loss)) ** loss.exponent)
    if loss == squared and criterion is Criterion.WORST and epsilon <= TWO_POINTS_UP_TO:
        return float((domain.length / 2.0 / math.cosh(epsilon / 2.0)) ** 2)
    return None
