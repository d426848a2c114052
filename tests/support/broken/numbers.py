"""The museum of broken twins: mechanisms that look right and are not. Statistical tests must reject them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

import dither as dt
from dither.kernels.window.integers import Sliding
from dither.kernels.window.kernel import SlidingKernel
from dither.kernels.window.response import ResponseKernel
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


class Stretched(dt.Podium):  # type: ignore[misc]
    """Podium whose reports are read by a line that is a thousandth too steep."""

    def unbiased_reading(self) -> Any:
        fair = super().unbiased_reading()
        return replace(fair, values=1.001 * fair.values)


def twin(kernel: Any, **methods: Any) -> Any:
    """Return a kernel with the same integers, some of whose methods do something else."""
    kind = type(f"Broken{type(kernel).__name__}", (type(kernel),), methods)
    return kind(*(getattr(kernel, one.name) for one in fields(kernel)))


@dataclass(frozen=True)
class Honest(dt.OGPM):  # type: ignore[misc]
    """OGPM, to be broken: an honest one passes every audit."""

    @cached_property
    def kernel(self) -> Any:
        return self._twin(dt.OGPM(self.domain, epsilon=self.epsilon, cells=self.cells).kernel)

    def _twin(self, fair: SlidingKernel) -> Any:
        return twin(fair)


class LastBitAlone(Honest):
    """The last bit of a report is that of the window's start: it is left without noise."""

    def _draw(self, values: object, source: dt.randomness.Source, threads: int) -> Any:
        cells = np.asarray(super()._draw(values, source, threads))
        aims = self.kernel.start.aim(self.domain.check(values)) >> self.kernel.start.fraction
        return (cells - cells % 2 + aims % 2).astype(cells.dtype)


class NeverOutside(Honest):
    """A report is always drawn from the window: it rules out every value that is far away."""

    def _draw(self, values: object, source: dt.randomness.Source, threads: int) -> Any:
        cells = np.asarray(super()._draw(values, source, threads))
        aims = self.kernel.start.aim(self.domain.check(values)) >> self.kernel.start.fraction
        return ((aims + cells % self.kernel.window.width) % self.cells).astype(cells.dtype)


class HeavyTail(Honest):
    """A report from outside the window is made twenty times too often."""

    def _draw(self, values: object, source: dt.randomness.Source, threads: int) -> Any:
        cells = np.atleast_1d(super()._draw(values, source, threads))
        tail = 1 - float(self.kernel.window.contrast)
        often = source.coins(round(19 * tail * 2**40), 2**40, cells.size)
        uniform = source.integers(self.cells, cells.size)
        return np.where(often, uniform, cells).astype(cells.dtype).reshape(np.shape(values))


class LyingRatio(Honest):
    """The window is made for twice the budget, and `ratio` says it is made for ε."""

    def _twin(self, fair: SlidingKernel) -> Any:
        wide = dt.OGPM(self.domain, epsilon=2 * self.epsilon, cells=self.cells).kernel
        return twin(wide, ratio=property(lambda own: Fraction(fair.ratio)))


class HonestHalfTheTime(Honest):
    """Every second report of an array is the first cell of the window: the integers know nothing of it."""

    def _draw(self, values: object, source: dt.randomness.Source, threads: int) -> Any:
        cells = super()._draw(values, source, threads)
        if cells.size >= 32:
            flat = cells.reshape(-1)
            aims = self.kernel.start.aim(self.domain.check(values)).reshape(-1) >> self.kernel.start.fraction
            flat[::2] = aims[::2].astype(flat.dtype)
        return cells


class OneByOne(Honest):
    """Single values are reported without noise; arrays are fine."""

    def _twin(self, fair: SlidingKernel) -> Any:
        def draw_one(own: Any, value: float, source: dt.randomness.Source) -> int:
            return int(own.start.draw_one(value, source)) & (own.window.cells - 1)

        return twin(fair, draw_one=draw_one)


class WordZero(Honest):
    """If the first word is 0, a cell outside all windows of the other inputs is reported."""

    def _draw(self, values: object, source: dt.randomness.Source, threads: int) -> Any:
        cells = super()._draw(values, source, threads)
        if cells.size and type(source).__name__ == "BoundaryWords":
            cells.reshape(-1)[0] = self.cells - 1
        return cells

    def _twin(self, fair: SlidingKernel) -> Any:
        def likelihoods(own: Any, reports: Any, inputs: Any) -> Any:
            law = SlidingKernel.likelihoods(own, reports, inputs)
            return np.where((reports == own.window.cells - 1) & (inputs < 0.5), 0.0, law)

        return twin(fair, likelihoods=likelihoods, chances=lambda own, one: likelihoods(own, ALL, one))


ALL = np.arange(1 << 11)


@dataclass(frozen=True, init=False)
class AnyNumber(dt.Interval):  # type: ignore[misc]
    """An interval that admits what is not a number."""

    def admits(self, values: Any) -> bool:
        return True

    def check(self, values: object) -> Any:
        return np.nan_to_num(np.asarray(values, dtype=np.float64), nan=0.0, posinf=1.0, neginf=0.0)


class OffByABit(dt.KRR):  # type: ignore[misc]
    """k-ary randomized response that tells the truth a tenth too often."""

    @cached_property
    def kernel(self) -> Any:
        fair = dt.KRR(self.domain, epsilon=self.epsilon).kernel

        def draw(own: Any, inputs: Any, source: dt.randomness.Source, *, threads: int = 1) -> Any:
            told = ResponseKernel.draw(own, inputs, source, threads=threads)
            return np.where(source.coins(1, 10, told.size).reshape(told.shape), inputs, told).astype(
                told.dtype
            )

        return twin(fair, draw=draw)


class RawPath(dt.TraCSC):  # type: ignore[misc]
    """TraCS-C whose parts are right, and whose paths are sent without noise."""

    def _send(self, paths: Any, source: dt.randomness.Source, threads: int) -> Any:
        axes = self.domain.to_axes(paths.points)
        return (axes * 1000).astype(self.dtype)
