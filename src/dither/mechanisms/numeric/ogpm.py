"""OGPM: the window mechanism with the smallest worst-case error."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import final

from dither.domains import Circle, Interval
from dither.errors import InvalidParameter, found
from dither.losses import Power, absolute
from dither.mechanisms.window import Shape, WindowMechanism
from dither.numerics.bisection import increasing_root


@final
@dataclass(frozen=True)
class OGPM(WindowMechanism):
    """A report from the domain itself, likelier near the value.

    Promise:   pure ε.
    Reports:   cells of the domain; on an interval the window stays inside, on a circle it wraps around.
    Use when:  single values matter, or angles; not for a mean on an interval, where values near the ends have
               the same distribution of reports.
    Reference: [OGPM25, Thm 3.7 and 4.2] for the absolute error. For other powers the optimal width differs;
               the theorems, which use one width for all, are not followed: see deviations.

    >>> OGPM(Interval(0, 1), epsilon=2).worst_error(absolute)  # 1/(1 + e)
    0.2689414213699951
    """

    _: KW_ONLY
    loss: Power = absolute

    takes = (Interval, Circle)

    def shape(self) -> Shape:
        if not isinstance(self.loss, Power):
            raise InvalidParameter(
                f"loss must be dt.absolute, dt.squared or dt.power(k), not {found(self.loss)}"
            )
        return Shape.centred(self.line, best_width(self.epsilon, self.loss))


def best_width(epsilon: float, loss: Power) -> float:
    """Return the optimal width for |y−x|^k: the root s of k(E−1)s^(k+1) + (k+1)s^k = 1; the error is s^k.

    For k = 1 it is 1/(1 + e^(ε/2)) [OGPM25, Thm 3.7]; the paper's proof does not carry over to k = 2.
    """
    k, lift = loss.exponent, math.expm1(epsilon)

    def excess(s: float) -> float:
        return float(s**k * (k * lift * s + k + 1.0) - 1.0)

    return increasing_root(excess, 0.0, 1.0)
