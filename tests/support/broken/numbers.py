"""The museum of broken twins: mechanisms that look right and are not. Statistical tests must reject them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

import dither as dt
from dither.core.kernels.window.integers import Sliding
from dither.core.kernels.window.kernel import ResponseKernel, SlidingKernel
from dither.core.kernels.window.start import GLIDING
from dither.mechanisms.numeric.base import Shape, WindowMechanism


@dataclass(frozen=True)
class RoundedUp(WindowMechanism):
    """OGPM whose integer weight is rounded up: one unit too private-looking, and so not private enough."""

    def shape(self) -> Shape:
        return dt.OGPM(self.domain, epsilon=self.epsilon).shape()

    def _kernel(self) -> SlidingKernel:
        fair = dt.OGPM(self.domain, epsilon=self.epsilon, cells=self.cells).question.kernel
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


def twin(kernel: Any, **methods: Any) -> Any:
    """Return a kernel with the same integers, some of whose methods do something else."""
    kind = type(f"Broken{type(kernel).__name__}", (type(kernel),), methods)
    return kind(*(getattr(kernel, one.name) for one in fields(kernel)))


class Stretched(dt.Podium):  # type: ignore[misc]
    """Podium whose reports are read by a line that is a thousandth too steep."""

    def _kernel(self) -> Any:
        def unbiased_reading(own: Any, book: Any) -> Any:
            fair = SlidingKernel.unbiased_reading(own, book)
            return replace(fair, values=1.001 * fair.values)

        return twin(super()._kernel(), unbiased_reading=unbiased_reading)


@dataclass(frozen=True)
class Honest(dt.OGPM):  # type: ignore[misc]
    """OGPM, to be broken: an honest one passes every audit."""

    def _kernel(self) -> Any:
        return self._twin(dt.OGPM(self.domain, epsilon=self.epsilon, cells=self.cells).question.kernel)

    def _twin(self, fair: SlidingKernel) -> Any:
        return twin(fair, draw=self._draw)

    @staticmethod
    def _draw(kernel: Any, values: Any, source: dt.randomness.Source, *, threads: int = 1) -> Any:
        return SlidingKernel.draw(kernel, values, source, threads=threads)


def aims(kernel: Any, values: Any) -> Any:
    """Return the start of the window of each value."""
    return kernel.start.aim(kernel.line.check(values)) >> kernel.start.fraction


class LastBitAlone(Honest):
    """The last bit of a report is that of the window's start: it is left without noise."""

    @staticmethod
    def _draw(kernel: Any, values: Any, source: dt.randomness.Source, *, threads: int = 1) -> Any:
        cells = np.asarray(Honest._draw(kernel, values, source))
        return (cells - cells % 2 + aims(kernel, values) % 2).astype(cells.dtype)


class NeverOutside(Honest):
    """A report is always drawn from the window: it rules out every value that is far away."""

    @staticmethod
    def _draw(kernel: Any, values: Any, source: dt.randomness.Source, *, threads: int = 1) -> Any:
        cells, window = np.asarray(Honest._draw(kernel, values, source)), kernel.window
        return ((aims(kernel, values) + cells % window.width) % window.cells).astype(cells.dtype)


class HeavyTail(Honest):
    """A report from outside the window is made twenty times too often."""

    @staticmethod
    def _draw(kernel: Any, values: Any, source: dt.randomness.Source, *, threads: int = 1) -> Any:
        cells = np.atleast_1d(Honest._draw(kernel, values, source))
        tail = 1 - float(kernel.window.contrast)
        often = source.coins(round(19 * tail * 2**40), 2**40, cells.size)
        uniform = source.integers(kernel.window.cells, cells.size)
        return np.where(often, uniform, cells).astype(cells.dtype).reshape(np.shape(values))


class LyingRatio(Honest):
    """The window is made for twice the budget, and `ratio` says it is made for ε."""

    def _twin(self, fair: SlidingKernel) -> Any:
        wide = dt.OGPM(self.domain, epsilon=2 * self.epsilon, cells=self.cells).question.kernel
        return twin(wide, ratio=property(lambda own: Fraction(fair.ratio)))


class HonestHalfTheTime(Honest):
    """Every second report of an array is the first cell of the window: the integers know nothing of it."""

    @staticmethod
    def _draw(kernel: Any, values: Any, source: dt.randomness.Source, *, threads: int = 1) -> Any:
        cells = Honest._draw(kernel, values, source)
        if cells.size >= 32:
            flat = cells.reshape(-1)
            flat[::2] = aims(kernel, values).reshape(-1)[::2].astype(flat.dtype)
        return cells


class OneByOne(Honest):
    """Single values are reported without noise; arrays are fine."""

    def _twin(self, fair: SlidingKernel) -> Any:
        def draw_one(own: Any, value: float, source: dt.randomness.Source) -> int:
            return int(own.start.draw_one(value, source)) & (own.window.cells - 1)

        return twin(fair, draw_one=draw_one)


class WordZero(Honest):
    """If the first word is 0, a cell outside all windows of the other inputs is reported."""

    @staticmethod
    def _draw(kernel: Any, values: Any, source: dt.randomness.Source, *, threads: int = 1) -> Any:
        cells = Honest._draw(kernel, values, source)
        if cells.size and type(source).__name__ == "BoundaryWords":
            cells.reshape(-1)[0] = kernel.window.cells - 1
        return cells

    def _twin(self, fair: SlidingKernel) -> Any:
        def likelihoods(own: Any, reports: Any, inputs: Any) -> Any:
            law = SlidingKernel.likelihoods(own, reports, inputs)
            return np.where((reports == own.window.cells - 1) & (inputs < 0.5), 0.0, law)

        return twin(
            fair,
            draw=self._draw,
            likelihoods=likelihoods,
            chances=lambda own, one: likelihoods(own, ALL, one),
        )


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

    def _kernel(self) -> Any:
        fair = dt.KRR(self.domain, epsilon=self.epsilon).question.kernel

        def draw(own: Any, inputs: Any, source: dt.randomness.Source, *, threads: int = 1) -> Any:
            told = ResponseKernel.draw(own, inputs, source, threads=threads)
            return np.where(source.coins(1, 10, told.size).reshape(told.shape), inputs, told).astype(
                told.dtype
            )

        return twin(fair, draw=draw)


class RawPath(dt.TraCSC):  # type: ignore[misc]
    """TraCS-C whose parts are right, and whose paths are sent without noise."""

    def _kernel(self) -> Any:
        def draw_paths(own: Any, paths: Any, source: dt.randomness.Source, threads: int = 1) -> Any:
            return (own.numbers(paths.points) * 1000).astype(own.layout.base)

        return twin(super()._kernel(), draw_paths=draw_paths)
