"""Which number a cell stands for, in the user's units: a straight line, cut off or not, or a table."""

from __future__ import annotations

import math
from dataclasses import dataclass
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
    """Cell j stands for offset + step·j, moved to the nearer of `low` and `high` where it is beyond."""

    offset: float
    step: float
    low: float = -math.inf
    high: float = math.inf

    def __call__(self, cells: Array) -> Floats:
        """Give the numbers of many cells, block by block."""
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
        """Give the same numbers, moved to the nearer of `low` and `high` where they are beyond."""
        return AffineDecoder(self.offset, self.step, low, high)

    def plain(self) -> dict[str, Any]:
        """Return the codebook as plain data."""
        ends = {"low": self.low, "high": self.high} if math.isfinite(self.low) else {}
        return {"offset": self.offset, "step": self.step, **ends}


@final
@dataclass(frozen=True, eq=False)
class TableDecoder:
    """Cell j stands for the j-th number of a table."""

    values: Floats

    def __call__(self, cells: Array) -> Floats:
        """Give the numbers of many cells, block by block; cells are valid, so nothing is clipped."""
        flat = np.ascontiguousarray(cells).reshape(-1)
        values = np.empty(flat.size)
        index = np.empty(min(flat.size, BLOCK), dtype=np.intp)
        for begin in range(0, flat.size, BLOCK):
            block = values[begin : begin + BLOCK]
            np.copyto(index[: block.size], flat[begin : begin + BLOCK], casting="unsafe")
            self.values.take(index[: block.size], out=block, mode="clip")
        return values.reshape(np.shape(cells))

    def cut(self, low: float, high: float) -> TableDecoder:
        """Give the same numbers, moved to the nearer of `low` and `high` where they are beyond."""
        return TableDecoder(np.clip(self.values, low, high))

    def plain(self) -> dict[str, Any]:
        """Return the codebook as plain data: each run of equal numbers once."""
        begins = np.flatnonzero(np.diff(self.values, prepend=np.nan) != 0.0)
        runs = np.diff(begins, append=self.values.size)
        return {"runs": runs.tolist(), "values": self.values[begins].tolist()}


Decoder = AffineDecoder | TableDecoder


def decoder(book: Codebook, cells: int, domain: Line) -> Decoder:
    """Give the number of each cell's middle, in the user's units."""
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


def sized(decoder: Decoder, cells: int) -> Decoder:
    """Return a decoder that came with a specification; raise MalformedReport unless it reads every cell."""
    if isinstance(decoder, TableDecoder) and decoder.values.size != cells:
        raise MalformedReport(f"a codebook of {cells} numbers was expected")
    return decoder


def read_decoder(data: Any) -> Decoder:
    """Return the decoder of a codebook's plain data; raise MalformedReport if they describe none."""
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
        raise MalformedReport("a codebook is an offset and a step, or values and how often each") from None
