"""Hybrid: a coin between PM and Duchi, better than either."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, Self, final

import numpy as np

from dither.arrays import Array
from dither.domains import Interval, Line, numbers
from dither.errors import MalformedReport
from dither.kernels.law import Law, MixedLaw
from dither.kernels.transition import Stacked
from dither.kernels.window.decoder import Table
from dither.kernels.window.mixture import COIN, Mixture
from dither.mechanisms.analysis import Realised
from dither.mechanisms.number import Numerical, Reading
from dither.mechanisms.numeric.duchi import Duchi
from dither.mechanisms.numeric.pm import PM
from dither.mechanisms.window import within
from dither.privacy import Bound, Pure
from dither.privacy.exact import log_above
from dither.randomness import Source

THRESHOLD: Final = 0.6093524930273094  # below it the coin always says Duchi [PM19, eq. 10]


@final
@dataclass(frozen=True)
class Hybrid(Numerical):
    """A report of PM or of Duchi, whichever a coin says; averages to the value.

    Promise:   pure ε.
    Reports:   cells of PM, then Duchi's two: the report shows the coin, which tells nothing about the value.
    Use when:  a mean is wanted below ε ≈ 2.3; its variance hardly depends on the value.
    Reference: [PM19, Sec. III-C].
    """

    _: KW_ONLY
    cells: int = 1 << 15

    takes = (Interval,)

    def _build(self) -> None:
        _ = self.kernel

    @cached_property
    def parts(self) -> tuple[PM, Duchi]:
        """The two mechanisms that the coin chooses between."""
        return PM(self.domain, epsilon=self.epsilon, cells=self.cells), Duchi(
            self.domain, epsilon=self.epsilon
        )

    @property
    def coin(self) -> float:
        """The probability of PM: 1 − e^(−ε/2) above the threshold, else 0."""
        return -math.expm1(-self.epsilon / 2.0) if self.epsilon > THRESHOLD else 0.0

    @cached_property
    def kernel(self) -> Mixture:
        """The two windows and the coin, in integers."""
        heads = min(round(self.coin * COIN), COIN - 1)
        return Mixture(self.parts[0].kernel, self.parts[1].kernel, heads)

    @property
    def line(self) -> Line:
        """The domain of the inputs."""
        return self.parts[0].line

    @cached_property
    def law(self) -> Law:
        """The continuous mechanism that the cells approximate."""
        return MixedLaw((self.coin, 1.0 - self.coin), (self.parts[0].law, self.parts[1].law))

    @cached_property
    def sampled(self) -> Realised:
        """The same questions about the integers that are sampled."""
        coin = self.kernel.heads / COIN
        laws = (self.parts[0].sampled.law, self.parts[1].sampled.law)
        return Realised(self.line, MixedLaw((coin, 1.0 - coin), laws))

    def probabilities(self, x: float) -> list[Fraction]:
        """Give the exact probability of every report for the input x, from the very integers sampled."""
        coin = Fraction(self.kernel.heads, COIN)
        first, second = (part.probabilities(x) for part in self.parts)
        return [coin * one for one in first] + [(1 - coin) * one for one in second]

    def straight(self) -> Reading:
        """Give the reading of reports whose mean is the value: that of either part."""
        readings = [part.straight() for part in self.parts]
        return Reading(np.concatenate([reading.values for reading in readings if reading is not None]))

    @property
    def window_share(self) -> float:
        """The share of the reports within which the likeliest ones of one input lie: that of PM's window."""
        return self.parts[0].window_share

    def transition(self, x: Array, rows: int) -> Stacked:
        """Give P(report | input) for inputs x, cells of PM grouped into about `rows` rows."""
        coin = self.kernel.heads / COIN
        first, second = (part.transition(x, rows) for part in self.parts)
        return Stacked((coin, 1.0 - coin), (first, second), (self.cells, 2))

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        array = numbers(values)
        tracks = self.parts[0].track, self.parts[1].track
        return self.kernel.draw(self.line, tracks, array.reshape(-1), source, threads=threads).reshape(
            array.shape
        )

    def decode(self, cells: Array) -> Array:
        """Give the numbers that reports stand for."""
        return self._table(cells)

    @cached_property
    def _table(self) -> Table:
        return Table(np.concatenate([part.decode(np.arange(part.cells)) for part in self.parts]))

    def _valid(self, raw: Array) -> Array:
        return within(raw, self.kernel.cells, self.kernel.dtype)

    def realised(self) -> tuple[Bound, str]:
        """Recompute ε: the larger of the two windows' ratios, for the coin is the same for every input."""
        how = "; ".join(part.realised()[1] for part in self.parts) + "; the coin cancels"
        return Pure(log_above(self.kernel.ratio)), how

    def wire(self) -> dict[str, Any]:
        """Give both windows, the coin and the codebooks."""
        first, second = (part.wire() for part in self.parts)
        return {
            "kernel": {"first": first["kernel"], "second": second["kernel"], "heads": self.kernel.heads},
            "codebook": [first["codebook"], second["codebook"]],
        }

    def restored(self, wire: dict[str, Any]) -> Self:
        """Give this mechanism with the integers and the codebooks that travelled."""
        try:
            kernels, books = wire["kernel"], wire["codebook"]
            parts = tuple(
                part.restored({"kernel": kernels[name], "codebook": book})
                for part, name, book in zip(self.parts, ("first", "second"), books, strict=True)
            )
            heads = int(kernels["heads"])
        except (TypeError, KeyError, ValueError):
            raise MalformedReport("the kernel is two windows and a coin") from None
        copy = replace(self)
        kernel = Mixture(parts[0].kernel, parts[1].kernel, heads)
        copy.__dict__.update(parts=parts, kernel=kernel, _travelled=wire)
        return copy

    @property
    def outcomes(self) -> int:
        """How many different reports there are."""
        return self.kernel.cells

    @property
    def report_bytes(self) -> float:
        """The size of one report, in bytes."""
        return float(self.kernel.dtype.itemsize)
