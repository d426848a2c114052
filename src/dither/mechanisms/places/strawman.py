"""The strawman: the direction's sector by k-ary randomized response, then any direction in that sector."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from dither.arrays import Array, Floats, Integers
from dither.domains import Circle, Line
from dither.errors import InvalidParameter
from dither.kernels.law import WindowLaw
from dither.kernels.window.codebook import IDENTITY
from dither.kernels.window.integers import Blocks
from dither.mechanisms.analysis import Questions
from dither.mechanisms.base import Mechanism
from dither.mechanisms.numeric.ogpm import OGPM
from dither.mechanisms.places.pair import made
from dither.mechanisms.places.tracs_d import HEURISTIC
from dither.mechanisms.places.walk import TURN, UNIT, WalkMechanism
from dither.mechanisms.window import within
from dither.privacy import Bound, Pure
from dither.randomness import Source


@final
@dataclass(frozen=True)
class Sectors(Mechanism, Questions):
    """A direction anywhere in a sector of the circle, likelier the sector that holds the true one.

    Promise:   pure ε. The sectors are fixed: about the true direction they would give it away.
    Reports:   cells of the circle; a sector's are equally likely.
    Use when:  the strawman of the thesis is reproduced; `OGPM` on the circle has less error.
    Reference: [Thesis, Sec. 6.2.2]. As coded, a lie is told k − 1 times too seldom: see deviations.
    """

    _: KW_ONLY
    sectors: int = 6
    cells: int = 1 << 16

    takes = (Circle,)

    def _build(self) -> None:
        whole = isinstance(self.sectors, int) and not isinstance(self.sectors, bool)
        if not (whole and isinstance(self.cells, int) and 2 <= self.sectors <= self.cells <= 1 << 32):
            raise InvalidParameter("there are at least two sectors, and at least as many cells")
        _ = self.kernel

    @cached_property
    def kernel(self) -> Blocks:
        """The blocks in integers: a power of two of cells for each sector."""
        width = 1 << ((self.cells // self.sectors).bit_length() - 1)
        return Blocks.largest(self.epsilon, self.sectors * width, width)

    @property
    def line(self) -> Line:
        """The domain of the inputs."""
        assert isinstance(self.domain, Circle)
        return self.domain

    @cached_property
    def law(self) -> WindowLaw:
        """The continuous mechanism that the cells approximate."""
        k = self.sectors
        return WindowLaw(
            share=1.0 / k,
            contrast=self.kernel.contrast,
            rest=self.kernel.rest,
            start=lambda x: np.floor(np.mod(x, 1.0) * k) / k,
            codebook=IDENTITY,
            circular=True,
            kinks=tuple(step / (2.0 * k) for step in range(2 * k)),
        )

    def _aim(self, angles: Floats) -> Integers:
        aims = (angles * (self.kernel.cells / self.line.length)).astype(np.int64)
        return np.asarray(aims % self.kernel.cells)  # the end of the circle is its beginning

    def probabilities(self, x: float) -> list[Fraction]:
        """Give the exact probability of every report for the direction x, from the very integers sampled."""
        aim = int(self._aim(self.line.check(x).astype(np.float64)))
        return self.kernel.probabilities(aim - aim % self.kernel.width)

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        return self.kernel.draw(self._aim(self.line.check(values).astype(np.float64)), source)

    def decode(self, cells: Array) -> Floats:
        """Give the directions that reports stand for."""
        return self.line.from_unit((np.asarray(cells) + 0.5) / self.kernel.cells)

    def _valid(self, raw: Array) -> Array:
        return within(raw, self.kernel.cells, self.kernel.dtype)

    def realised(self) -> tuple[Bound, str]:
        """Recompute ε from the two weights of a sector."""
        kernel = self.kernel
        how = f"ln(H/L) with {kernel.blocks} sectors and d = {kernel.step} of 2^{kernel.bits}"
        return Pure(kernel.epsilon), how

    def wire(self) -> dict[str, Any]:
        """Give the integers that devices sample by."""
        kernel = self.kernel
        integers = {"cells": kernel.cells, "width": kernel.width, "step": kernel.step, "bits": kernel.bits}
        return {"kernel": integers, "codebook": {"middles": kernel.cells}}

    @property
    def outcomes(self) -> int:
        """How many different reports there are."""
        return self.kernel.cells

    @property
    def report_bytes(self) -> float:
        """The size of one report, in bytes."""
        return float(self.kernel.dtype.itemsize)


@final
@dataclass(frozen=True)
class Strawman(WalkMechanism):
    """A place told as TraCS-D tells it, but with the direction known by its sector alone.

    Promise:   pure ε for one location (or one trajectory: `unit`).
    Reports:   two cells a location.
    Use when:  TraCS-D is compared with something simpler; it is worse at every ε.
    Reference: [Thesis, Sec. 6.2.2, 6.3.1].
    """

    _: KW_ONLY
    sectors: int = 6
    split: float = HEURISTIC

    def _split(self) -> float:
        return self.split

    def _direction(self, epsilon: float) -> Mechanism:
        return Sectors(TURN, epsilon=epsilon, sectors=self.sectors, cells=self.cells)

    def _distance(self, epsilon: float) -> Mechanism:
        return made(OGPM, UNIT, epsilon, self.cells)
