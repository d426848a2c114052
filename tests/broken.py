"""The museum of broken twins: mechanisms that look right and are not. Statistical tests must reject them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import dither as dt
from dither.kernels.window.integers import Sliding
from dither.kernels.window.kernel import SlidingKernel
from dither.kernels.window.start import GLIDING
from dither.mechanisms.window import Shape, WindowMechanism


@dataclass(frozen=True)
class RoundedUp(WindowMechanism):
    """OGPM whose integer weight is rounded up: one unit too private-looking, and so not private enough."""

    def shape(self) -> Shape:
        return dt.OGPM(self.domain, epsilon=self.epsilon).shape()

    @cached_property
    def kernel(self) -> SlidingKernel:
        fair = dt.OGPM(self.domain, epsilon=self.epsilon, cells=self.cells).kernel
        window = fair.window
        return replace(fair, window=Sliding(window.cells, window.width, window.step + 1, window.bits))


@dataclass(frozen=True)
class TooNarrow(WindowMechanism):
    """OGPM with a window 2 % too narrow: private, but another law than it says."""

    def shape(self) -> Shape:
        right = dt.OGPM(self.domain, epsilon=self.epsilon).shape()
        return Shape(right.width * 0.98, right.placement, right.codebook)


@dataclass(frozen=True)
class Shifted(WindowMechanism):
    """Podium whose window starts half a per cent of the range too late: biased."""

    def shape(self) -> Shape:
        right = dt.Podium(self.domain, epsilon=self.epsilon).shape()

        class Late(type(GLIDING)):  # type: ignore[misc]
            def rule(self, domain, window):  # type: ignore[no-untyped-def]
                right = GLIDING.rule(domain, window)
                return replace(right, origin=right.origin - 0.005 * domain.length)

        return Shape(right.width, object.__new__(Late), right.codebook)
