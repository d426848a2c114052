"""A mixture of two windows; the choice does not depend on the input, and the report shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Self, final

import numpy as np

from dither.arrays import Array, Floats
from dither.device_text import whole
from dither.domains import Domain, Line
from dither.errors import InvalidParameter, MalformedReport, found
from dither.kernels.kernel import PureKernel
from dither.kernels.line import LineKernel, UnbiasedReading, tested_reading
from dither.kernels.transition import Stacked
from dither.kernels.window.decoder import Decoder, JoinedDecoder, read_decoder, sized
from dither.kernels.window.kernel import SlidingKernel
from dither.randomness import Source

COIN: Final = 1 << 32


@final
@dataclass(frozen=True)
class MixtureKernel(PureKernel, LineKernel):
    """With probability heads/2^32 a cell of the first window, otherwise N₁ + a cell of the second."""

    first: SlidingKernel
    second: SlidingKernel
    heads: int

    kind: ClassVar[str] = "mixture"

    def __post_init__(self) -> None:
        if not 0 <= self.heads < COIN:
            raise InvalidParameter(
                f"heads must be a whole number from 0 to 2^32 − 1, not {found(self.heads)}"
            )

    @property
    def line(self) -> Line:  # type: ignore[override]
        """The domain of the inputs."""
        return self.first.line

    @property
    def outcomes(self) -> int:
        return self.first.outcomes + self.second.outcomes

    @property
    def coin(self) -> Fraction:
        """The probability of the first window."""
        return Fraction(self.heads, COIN)

    @property
    def window_share(self) -> float:  # type: ignore[override]
        """The share of all reports that the first window covers."""
        return self.first.window_share

    def read_codebook(self, data: Any, stated: Mapping[str, Any]) -> JoinedDecoder:
        if not isinstance(data, list) or len(data) != 2:
            raise MalformedReport("a mixture of two windows needs two codebooks")
        cells = self.first.outcomes, self.second.outcomes
        return JoinedDecoder(
            (sized(read_decoder(data[0]), cells[0]), sized(read_decoder(data[1]), cells[1])), cells
        )

    def unbiased_reading(self, book: Decoder) -> UnbiasedReading | None:
        """Return the readings of both windows, one after the other: the mean of each is the value."""
        parts = book.parts if isinstance(book, JoinedDecoder) else (book, book)
        readings = [
            window.unbiased_reading(part)
            for window, part in zip((self.first, self.second), parts, strict=True)
        ]
        if any(reading is None for reading in readings):
            return tested_reading(self, book)
        return UnbiasedReading(np.concatenate([one.values for one in readings if one is not None]))

    def sampler(self, size: int) -> _MixtureSampler:
        return _MixtureSampler(self, size)

    def draw_one(self, value: float, source: Source) -> int:
        if source.bits(32) < self.heads:
            return self.first.draw_one(value, source)
        return self.first.outcomes + self.second.draw_one(value, source)

    def _listed(self, value: float) -> list[Fraction]:
        first, second = self.first.probabilities(value), self.second.probabilities(value)
        return [self.coin * one for one in first] + [(1 - self.coin) * one for one in second]

    def likelihood(self, inputs: Array, rows: int) -> Stacked:
        """Return P(report | input), with the cells of each window grouped into about `rows` rows."""
        coin = float(self.coin)
        parts = self.first.likelihood(inputs, rows), self.second.likelihood(inputs, rows)
        return Stacked((coin, 1.0 - coin), parts, (self.first.outcomes, self.second.outcomes))

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        cells, coin = reports.astype(np.int64), float(self.coin)
        own = cells < self.first.outcomes
        first = self.first.likelihoods(np.where(own, cells, 0), inputs)
        second = self.second.likelihoods(np.where(own, 0, cells - self.first.outcomes), inputs)
        return np.where(own, coin * first, (1.0 - coin) * second)

    @property
    def ratio(self) -> Fraction:
        return max(self.first.ratio, self.second.ratio)

    @property
    def evidence(self) -> str:
        return f"{self.first.evidence}; {self.second.evidence}; the coin cancels"

    def device(self) -> dict[str, Any]:
        return {
            "draw": self.kind,
            "first": self.first.device(),
            "second": self.second.device(),
            "heads": self.heads,
        }

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        first, second = (SlidingKernel.from_device(device[name], domain) for name in ("first", "second"))
        return cls(first, second, whole(device["heads"]))


@final
class _MixtureSampler:
    """Draws from both windows for every value and keeps one, so that no branch depends on the coin."""

    def __init__(self, mixture: MixtureKernel, size: int) -> None:
        self._cut = mixture.first.outcomes
        self._chosen = np.uint32(mixture.heads)
        self._first, self._second = mixture.first.sampler(size), mixture.second.sampler(size)
        self._cells = np.empty(size, dtype=mixture.first.layout)
        self._others = np.empty(size, dtype=mixture.second.layout)
        self._coins = np.empty(size, dtype=np.uint32)
        self._heads = np.empty(size, dtype=np.bool_)

    def __call__(self, block: Array, cell: Array, source: Source) -> None:
        count = block.size
        own, other, heads = self._cells[:count], self._others[:count], self._heads[:count]
        coins = self._coins[:count]
        self._first(block, own, source)
        self._second(block, other, source)
        source.fill(coins.data)
        np.less(coins, self._chosen, out=heads)
        # cell = other + heads·(own − other); unsigned overflow cancels
        tail = np.add(other, cell.dtype.type(self._cut), dtype=cell.dtype)
        np.subtract(own, tail, out=cell, dtype=cell.dtype)
        cell *= heads
        cell += tail
