"""OGPM and its kin: windows centred on the value, for the interval and the circle."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass

import numpy as np

from dither.core.domains import Circle, Interval, finite
from dither.core.kernels.window.start import Gliding
from dither.errors import InvalidParameter, found
from dither.foundation.losses import Loss, Power, as_power
from dither.foundation.numerics.roots import increasing_root
from dither.mechanisms.numeric.base import Shape, WindowMechanism


@dataclass(frozen=True)
class OGPM(WindowMechanism):
    """A report inside the domain; reports near the value are likelier.

    Promise:   pure ε.
    Reports:   cells of the domain; on an interval the window stays inside, on a circle it wraps around.
    Use when:  single values or angles matter. Not for a mean on an interval: values near the ends have the
               same distribution of reports.
    Reference: optimal generalized piecewise mechanism [OGPM25, Thm 3.7 and 4.2] for the absolute error. For
               other powers the optimal width differs; the theorems use one width for all and are not
               followed: see deviations.

    >>> OGPM(Interval(0, 1), epsilon=2).worst_error("absolute")  # 1/(1 + e)
    0.2689414213699951
    """

    _draws = ("sliding", "optional")

    _: KW_ONLY
    loss: Loss = "absolute"

    _takes = (Interval, Circle)

    def shape(self) -> Shape:
        return Shape.centred(self.line, best_width(self.epsilon, as_power(self.loss)))


def best_width(epsilon: float, loss: Power) -> float:
    """Return the optimal width for |y−x|^k: the root s of k(E−1)s^(k+1) + (k+1)s^k = 1; the error is s^k.

    For k = 1 it is 1/(1 + e^(ε/2)) [OGPM25, Thm 3.7]; the paper's proof does not carry over to k = 2.
    """
    k, lift = loss.exponent, math.expm1(epsilon)

    def excess(s: float) -> float:
        return float(s**k * (k * lift * s + k + 1.0) - 1.0)

    return increasing_root(excess, 0.0, 1.0)


@dataclass(frozen=True)
class OGPMU(WindowMechanism):
    """A report from a much wider range; reports near the value are likelier; unbiased.

    Promise:   pure ε.
    Reports:   cells of [−C, C+1] in units of the domain, C = coth(ε/4).
    Use when:  the paper's figures are reproduced; `Podium` has 4 to 9 times less variance.
    Reference: [OGPM25, Thm 5.1] calls it optimal; it is not, see deviations.
    """

    _draws = ("sliding", "optional")

    def shape(self) -> Shape:
        reach = 1.0 / math.tanh(self.epsilon / 4.0)  # C of Thm 5.1
        # A share (C+1)/(2(2C+1)) of the range of starts is never used, at either end.
        clear = (reach + 1.0) / (2.0 * (2.0 * reach + 1.0))
        return Shape.unbiased(1.0 / (1.0 + math.exp(self.epsilon / 2.0)), Gliding(clear))


@dataclass(frozen=True)
class Focused(WindowMechanism):
    """OGPM with the width that is optimal at one public value, near which most values are expected.

    Promise:   pure ε.
    Reports:   cells of the domain, as in OGPM.
    Use when:  it is public knowledge that most values are near `focus`. The focus is a public part of the
               mechanism. A focus computed from private data reveals them, contrary to [OGPM25, Sec. 6].
    Reference: [OGPM25, Sec. 6].

    >>> from dither.core.domains import Interval
    >>> round(Focused(Interval(0, 1), epsilon=1, focus=0.2).error("absolute", 0.2), 6)
    0.241367
    """

    _draws = ("sliding", "optional")

    _: KW_ONLY
    focus: float
    loss: Loss = "absolute"

    def shape(self) -> Shape:
        if not self.line.low <= finite("the focus", self.focus) <= self.line.high:
            raise InvalidParameter(f"focus must be a public value in {self.line}, not {found(self.focus)}")
        position = (self.focus - self.line.low) / self.line.length
        return Shape.centred(self.line, best_width_at(self.epsilon, as_power(self.loss), position))


def best_width_at(epsilon: float, loss: Power, place: float) -> float:
    """Return the width with the smallest error at one value of [0, 1], equal to `best_width` at 0, ½ and 1.

    With W(s) the integral of the loss over the window, the error is (W(1) + (E−1)·W(s)) / (1 + (E−1)·s).
    Its derivative is zero where W′(s), the loss at the farther end of the window, equals the error. The
    difference of the two increases in s, so there is one root, and the error there is W′(s).
    """
    lift = math.expm1(epsilon)
    near = min(place, 1.0 - place)

    def primitive(distance: float) -> float:
        return float(loss.antiderivative(np.asarray(distance)))

    def excess(s: float) -> float:
        inside = s <= 2.0 * near  # otherwise the window begins at the nearer end of the domain
        window = 2.0 * primitive(s / 2.0) if inside else primitive(near) + primitive(s - near)
        edge = s / 2.0 if inside else s - near
        return float(loss(np.asarray(edge))) * (1.0 + lift * s) - lift * window - everything

    everything = primitive(near) + primitive(1.0 - near)
    return increasing_root(excess, 0.0, 1.0)
