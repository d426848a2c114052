"""A solved mechanism as it is stored: half a codebook, a width, and the dual variables of its certificate."""

from __future__ import annotations

import json
import math
import struct
import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Self

import numpy as np

from dither.core.kernels.window.codebook import Runs
from dither.core.kernels.window.integers import check_cells
from dither.errors import DitherError, InvalidParameter
from dither.foundation.arrays import Floats, Integers
from dither.mechanisms.optimal.problem import Problem
from dither.mechanisms.optimal.solver.certificate import Prices, SampledWindow, lower_bound, mirror, reaching

FORMAT: Final = 1  # version of the bytes and their meaning; other versions are rejected
_HEADER: Final = struct.Struct("<4sHI")  # magic, format, checksum of the rest
_MAGIC: Final = b"dthr"
_NUMBERS: Final = ("values", "inputs", "masses", "weights", "slopes")


@dataclass(frozen=True, eq=False)
class Design:
    """The upper half of a symmetric codebook in runs, the window's width, and the dual variables.

    Numbers are rounded to 32-bit floats, so that a design is equal after it is stored and loaded.
    """

    problem: Problem
    values: Floats
    counts: Integers
    width: int
    prices: Prices

    def __post_init__(self) -> None:
        values, counts = _round_numbers(self.values), np.asarray(self.counts, dtype=np.int64)
        if values.ndim != 1 or values.shape != counts.shape or not values.size:
            raise InvalidParameter(
                "expected one number for each run of cells in a design, and at least one run"
            )
        if not np.isfinite(values).all() or values[0] < 0.0 or (np.diff(values) < 0.0).any():
            raise InvalidParameter(
                "expected numbers of half a codebook that do not decrease from the middle outwards"
            )
        if counts.min() < 1:
            raise InvalidParameter("expected at least one cell in every run")
        check_cells(2 * int(counts.sum()))
        if not 1 <= self.width < 2 * int(counts.sum()):
            raise InvalidParameter(
                "expected a window of at least one cell that leaves at least one cell outside"
            )
        kept = Prices(**{name: _round_numbers(getattr(self.prices, name)) for name in _NUMBERS[1:]})
        kept.boxes(self.problem)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "prices", kept)

    @cached_property
    def book(self) -> Runs:
        """The complete codebook; an unbiased one is scaled so that E[report] is exactly the value."""
        book = mirror(self.values, self.counts)
        return reaching(self.problem, book, self.width) if self.problem.unbiased else book

    @property
    def cells(self) -> int:
        """The number of cells."""
        return 2 * int(self.counts.sum())

    @cached_property
    def error(self) -> float:
        """The error of the sampled mechanism on a domain of length 1, rounded up."""
        return SampledWindow.of(self.problem, self.book, self.width).error(self.problem)

    @cached_property
    def bound(self) -> float:
        """A lower bound on the error of every ε-LDP mechanism, recomputed from the dual variables."""
        return lower_bound(self.problem, self.prices)

    @property
    def gap(self) -> float:
        """The relative excess of the error over the bound: see `relative_gap`."""
        return relative_gap(self.error, self.bound)

    def to_bytes(self) -> bytes:
        """Return the design as bytes: a checksum, lengths, then compressed numbers."""
        parts = [self.values, self.prices.inputs, self.prices.masses, self.prices.weights, self.prices.slopes]
        facts = {"name": self.problem.name, "width": self.width, "sizes": [part.size for part in parts]}
        text = json.dumps(facts).encode() + b"\n"
        numbers = b"".join(part.astype("<f4").tobytes() for part in parts)
        words = np.frombuffer(numbers + self.counts.astype("<u4").tobytes(), np.uint8)
        # Bytes of equal significance are stored together: they compress better.
        body = zlib.compress(text + words.reshape(-1, 4).T.tobytes(), 9)
        return _HEADER.pack(_MAGIC, FORMAT, zlib.crc32(body)) + body

    @classmethod
    def from_bytes(cls, data: bytes, problem: Problem) -> Self | None:
        """Return the design of this problem, or None if the bytes are damaged or for another problem."""
        try:
            magic, version, checksum = _HEADER.unpack_from(data)
            body = data[_HEADER.size :]
            if (magic, version, checksum) != (_MAGIC, FORMAT, zlib.crc32(body)):
                return None
            text, _, rest = zlib.decompress(body).partition(b"\n")
            facts = json.loads(text)
            if facts["name"] != problem.name:
                return None
            sizes = [int(size) for size in facts["sizes"]]
            words = np.frombuffer(rest, np.uint8).reshape(4, -1).T.tobytes()
            numbers = np.frombuffer(words, "<f4", sum(sizes)).astype(np.float64)
            counts = np.frombuffer(words, "<u4", offset=4 * sum(sizes)).astype(np.int64)
            parts = dict(zip(_NUMBERS, np.split(numbers, np.cumsum(sizes)[:-1]), strict=True))
            return cls(problem, parts.pop("values"), counts, int(facts["width"]), Prices(**parts))
        except (struct.error, zlib.error, ValueError, KeyError, TypeError, DitherError):
            return None


def relative_gap(error: float, bound: float) -> float:
    """Return error/bound − 1, at least 0, or infinity if the bound is 0 or less and the error is not 0."""
    if bound > 0.0:
        return max(error / bound - 1.0, 0.0)
    return 0.0 if error == 0.0 else math.inf


def _round_numbers(numbers: Floats) -> Floats:
    return np.asarray(numbers, dtype=np.float32).astype(np.float64)
