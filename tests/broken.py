"""The museum of broken twins: mechanisms that look right and are not. Statistical tests must reject them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import dither as dt
from dither.kernels.window.integers import Sliding
from dither.kernels.window.start import GLIDING
from dither.mechanisms.window import Shape, WindowMechanism


@dataclass(frozen=True)
class RoundedUp(WindowMechanism):
    """OGPM whose integer weight is rounded up: one unit too private-looking, and so not private enough."""

    def shape(self) -> Shape:
        return dt.OGPM(self.domain, epsilon=self.epsilon).shape()

    @cached_property
    def kernel(self) -> Sliding:
        fair = dt.OGPM(self.domain, epsilon=self.epsilon, cells=self.cells).kernel
        return Sliding(fair.cells, fair.width, fair.step + 1, fair.bits)


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
            def track(self, domain, window):  # type: ignore[no-untyped-def]
                track = GLIDING.track(domain, window)
                return type(track)(
                    track.origin - 0.005 * domain.length, track.scale, track.last, track.fraction
                )

        return Shape(right.width, object.__new__(Late), right.codebook)
