"""SW: the square wave mechanism, a window centred on the value, for estimating distributions."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace

from dither.core.domains import Circle, Interval
from dither.core.kernels.window.codebook import Ramps
from dither.core.kernels.window.start import GLIDING
from dither.errors import InvalidParameter, found
from dither.mechanisms.numeric.base import Shape, WindowMechanism


@dataclass(frozen=True)
class SW(WindowMechanism):
    """A report from a slightly wider range; reports within a fixed distance of the value are likelier.

    Promise:   pure ε.
    Reports:   cells of [−b, 1+b] in units of the domain; on a circle, cells of the circle itself.
               `.compressed()` is SW-C, `.truncated()` is T-SW, and `.redesigned()` (inside the
               domain) is R-SW.
    Use when:  a distribution is estimated (`dt.distribution`); E[report] is affine in the value.
    Reference: square wave mechanism (SW) [SW20, Thm 4.3]; redesigned: [Thesis, D.2.6].
    """

    _draws = ("sliding", "optional")

    _: KW_ONLY
    redesign: bool = False

    _takes = (Interval, Circle)

    def shape(self) -> Shape:
        share = wave_share(self.epsilon)
        if self.redesign or self.line.circular:
            if self.decoding != "own":
                raise InvalidParameter(
                    f"expected decoding='own' for reports that lie in the domain, got {found(self.decoding)}"
                )
            return Shape.centred(self.line, share)
        return Shape(share, GLIDING, _stretch)

    def redesigned(self) -> SW:
        """Return the mechanism with a window of the same width that stays inside the domain, as in OGPM."""
        return replace(self, redesign=True)


def wave_share(epsilon: float) -> float:
    """Return 2b/(1+2b) = (ε − 1 + e^−ε) / (e^ε + e^−ε − 2); 2b is the width of the wave [SW20, Thm 4.3]."""
    return _second_order(epsilon) / (4.0 * math.sinh(epsilon / 2.0) ** 2)


def _second_order(epsilon: float) -> float:
    """Return ε − 1 + e^−ε, computed by its series for small ε to avoid cancellation."""
    if epsilon > 0.5:
        return epsilon + math.expm1(-epsilon)
    term, total, order = epsilon * epsilon / 2.0, 0.0, 2
    while abs(term) > 1e-20 * abs(total):
        total += term
        order += 1
        term *= -epsilon / order
    return total


def _stretch(share: float, contrast: float) -> Ramps:
    half = share / (1.0 - share) / 2.0  # b: the window [x − b, x + b] of the report range [−b, 1 + b]
    return Ramps.affine(-half, 1.0 + half)
