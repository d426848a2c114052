"""Decoders: from a cell to its number in the user's units, by an affine map or by a table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, final

import numpy as np

from dither.arrays import Array, Floats
from dither.device_text import real, whole
from dither.domains import BLOCK, Line
from dither.errors import MalformedReport
from dither.kernels.window.codebook import Codebook, Ramps

MOST_CELLS: Final = 1 << 20  # of a codebook that is a table


@final
@dataclass(frozen=True)
class AffineDecoder:
    """Cell j is decoded as offset + step·j, clipped to [low, high]."""

    offset: float
    step: float
    low: float = -math.inf
    high: float = math.inf

    def __call__(self, cells: Array) -> Floats:
        """Return the numbers of cells."""
        flat = np.ascontiguousarray(cells).reshape(-1)
        values = np.empty(flat.size)
        cut = self.low > -math.inf or self.high < math.inf
        for begin in range(0, flat.size, BLOCK):
            block = values[begin : begin + BLOCK]
            np.multiply(flat[begin : begin + BLOCK], self.step, out=block)
            block += self.offset
            if cut:
                np.clip(block, self.low, self.high, out=block)
        return values.reshape(np.shape(cells))

    def cut(self, low: float, high: float) -> AffineDecoder:
        """Return the decoder with its numbers clipped to [low, high]."""
        return AffineDecoder(self.offset, self.step, low, high)

    def plain(self) -> dict[str, Any]:
        """Return the decoder as JSON-compatible data."""
        ends = {"low": self.low, "high": self.high} if math.isfinite(self.low) else {}
        return {"offset": self.offset, "step": self.step, **ends}


@final
@dataclass(frozen=True, eq=False)
class TableDecoder:
    """Cell j is decoded as the j-th number of a table."""

    values: Floats

    def __call__(self, cells: Array) -> Floats:
        """Return the numbers of cells. Cells must be valid; mode="clip" is used because it is faster."""
        flat = np.ascontiguousarray(cells).reshape(-1)
        values = np.empty(flat.size)
        index = np.empty(min(flat.size, BLOCK), dtype=np.intp)
        for begin in range(0, flat.size, BLOCK):
            block = values[begin : begin + BLOCK]
            np.copyto(index[: block.size], flat[begin : begin + BLOCK], casting="unsafe")
            self.values.take(index[: block.size], out=block, mode="clip")
        return values.reshape(np.shape(cells))

    def cut(self, low: float, high: float) -> TableDecoder:
        """Return the decoder with its numbers clipped to [low, high]."""
        return TableDecoder(np.clip(self.values, low, high))

    def plain(self) -> dict[str, Any]:
        """Return the decoder as JSON-compatible data, run-length encoded."""
        begins = np.flatnonzero(np.diff(self.values, prepend=np.nan) != 0.0)
        runs = np.diff(begins, append=self.values.size)
        return {"runs": runs.tolist(), "values": self.values[begins].tolist()}


@final
@dataclass(frozen=True)
class JoinedDecoder:
    """The first `cells[0]` cells are decoded by the first decoder, the `cells[1]` others by the second."""

    parts: tuple[AffineDecoder | TableDecoder, AffineDecoder | TableDecoder]
    cells: tuple[int, int]

    @cached_property
    def _table(self) -> TableDecoder:
        pairs = zip(self.parts, self.cells, strict=True)
        return TableDecoder(np.concatenate([part(np.arange(cells)) for part, cells in pairs]))

    def __call__(self, cells: Array) -> Floats:
        """Return the numbers of cells."""
        return self._table(cells)

    def cut(self, low: float, high: float) -> JoinedDecoder:
        """Return the decoder with its numbers clipped to [low, high]."""
        first, second = (part.cut(low, high) for part in self.parts)
        return JoinedDecoder((first, second), self.cells)

    def plain(self) -> list[dict[str, Any]]:
        """Return the decoder as JSON-compatible data: that of each part."""
        return [part.plain() for part in self.parts]


Single = AffineDecoder | TableDecoder
Decoder = AffineDecoder | TableDecoder | JoinedDecoder


def decoder(book: Codebook, cells: int, domain: Line) -> Single:
    """Return the decoder that maps each cell to the number at its centre, in the user's units."""
    if isinstance(book, Ramps):
        steep = np.flatnonzero(book.slopes != 0.0)
        if steep.size == 1:
            piece = steep[0]
            slope = float(book.slopes[piece])
            line = float(book.left[piece]) + slope * (0.5 / cells - float(book.edges[piece]))
            ends = book.ends if book.left.size > 1 else (-math.inf, math.inf)
            return AffineDecoder(
                domain.low + domain.length * line,
                domain.length * slope / cells,
                domain.low + domain.length * ends[0],
                domain.low + domain.length * ends[1],
            )
    middles = (np.arange(cells) + 0.5) / cells
    return TableDecoder(domain.from_unit(book(middles)))


def sized(decoder: Single, cells: int) -> Single:
    """Return a decoder that was read; raise MalformedReport unless a table has `cells` rising numbers."""
    if isinstance(decoder, TableDecoder) and decoder.values.size != cells:
        raise MalformedReport(f"the codebook must have {cells} numbers, not {decoder.values.size}")
    if isinstance(decoder, TableDecoder) and (np.diff(decoder.values) < 0.0).any():
        raise MalformedReport("the numbers of a codebook do not decrease")
    return decoder


def read_decoder(data: Any) -> Single:
    """Return the decoder that `plain` wrote; raise MalformedReport if the data describe none."""
    try:
        if "runs" in data:
            runs = [whole(run) for run in data["runs"]]
            if not runs or min(runs) < 1 or sum(runs) > MOST_CELLS or len(runs) != len(data["values"]):
                raise ValueError
            return TableDecoder(np.repeat([real(value) for value in data["values"]], runs))
        if set(data) not in ({"offset", "step"}, {"offset", "step", "low", "high"}):
            raise ValueError
        return AffineDecoder(**{name: real(number) for name, number in data.items()})
    except (TypeError, ValueError, KeyError, AttributeError):
        raise MalformedReport("a codebook needs the keys offset and step, or values and runs") from None
