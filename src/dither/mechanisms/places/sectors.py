"""Sectors: the sector of a direction by k-ary randomized response, then a uniform direction in it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import final

import numpy as np

from dither.domains import Circle
from dither.errors import InvalidParameter, found
from dither.kernels.window.codebook import IDENTITY
from dither.kernels.window.decoder import AffineDecoder
from dither.kernels.window.integers import Blocks
from dither.kernels.window.kernel import SectorKernel
from dither.kernels.window.law import WindowLaw
from dither.kernels.window.start import LineStart
from dither.mechanisms.base import NumberMechanism


@final
@dataclass(frozen=True)
class Sectors(NumberMechanism):
    """A uniform direction in a sector of the circle; the sector of the true direction is likelier.

    Promise:   pure ε. The sectors are fixed; sectors centred on the true direction would reveal it.
    Reports:   cells of the circle; those of one sector are equally likely.
    Use when:  the strawman of the thesis is reproduced; `OGPM` on the circle has a smaller error.
    Reference: [Thesis, Sec. 6.2.2]. In the authors' program a false sector is k − 1 times too rare: see
               deviations.
    """

    _: KW_ONLY
    sectors: int = 6
    cells: int = 1 << 16

    takes = (Circle,)

    def _check(self) -> None:
        whole_number = isinstance(self.sectors, int) and not isinstance(self.sectors, bool)
        if not (whole_number and isinstance(self.cells, int) and 2 <= self.sectors <= self.cells <= 1 << 32):
            raise InvalidParameter(
                f"2 ≤ sectors ≤ cells ≤ 2^32 is needed, not {found(self.sectors)} sectors and "
                f"{found(self.cells)} cells"
            )

    def _kernel(self) -> SectorKernel:
        # a power of two of cells for each sector
        width = 1 << ((self.cells // self.sectors).bit_length() - 1)
        window = Blocks.largest(self.epsilon, self.sectors * width, width)
        return SectorKernel(self.line, window, LineStart(0.0, window.cells / self.line.length, None))

    def _codebook(self, kernel: SectorKernel) -> AffineDecoder:
        step = self.line.length / kernel.window.cells
        return AffineDecoder(step / 2.0, step)

    @cached_property
    def law(self) -> WindowLaw:
        """The distribution of the continuous mechanism that the cells approximate."""
        k, window = self.sectors, self.kernel.window
        return WindowLaw(
            share=1.0 / k,
            contrast=window.contrast,
            rest=window.rest,
            start=lambda x: np.floor(np.mod(x, 1.0) * k) / k,
            codebook=IDENTITY,
            circular=True,
            kinks=tuple(step / (2.0 * k) for step in range(2 * k)),
        )
