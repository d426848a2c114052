"""Focused: OGPM with the width that is optimal at one public value."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import final

import numpy as np

from dither.domains import finite
from dither.errors import InvalidParameter, found
from dither.losses import Power, absolute
from dither.mechanisms.window import Shape, WindowMechanism
from dither.numerics.bisection import increasing_root


@final
@dataclass(frozen=True)
class Focused(WindowMechanism):
    """OGPM with the width that is optimal at one public value, near which most values are expected.

    Promise:   pure ε.
    Reports:   cells of the domain, as in OGPM.
    Use when:  it is public knowledge that most values are near `focus`, which is part of the mechanism and
               public. A focus taken from private data reveals them, contrary to [OGPM25, Sec. 6].
    Reference: [OGPM25, Sec. 6].

    >>> from dither.domains import Interval
    >>> round(Focused(Interval(0, 1), epsilon=1, focus=0.2).error(absolute, 0.2), 6)
    0.241367
    """

    _: KW_ONLY
    focus: float
    loss: Power = absolute

    def shape(self) -> Shape:
        if not isinstance(self.loss, Power):
            raise InvalidParameter(
                f"loss must be dt.absolute, dt.squared or dt.power(k), not {found(self.loss)}"
            )
        if not self.line.low <= finite("the focus", self.focus) <= self.line.high:
            raise InvalidParameter(f"focus must be a public value in {self.line}, not {found(self.focus)}")
        place = (self.focus - self.line.low) / self.line.length
        return Shape.centred(self.line, best_width_at(self.epsilon, self.loss, place))


def best_width_at(epsilon: float, loss: Power, place: float) -> float:
    """Return the width with the smallest error at one value of [0, 1]; at 0, ½ and 1 it is `best_width`.

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
