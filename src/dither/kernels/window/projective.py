"""A window that is a translate of a difference set: the hyperplanes of a projective geometry.

There are K cells. For the input x the w cells of D − x have the integer weight H each, and all others L. The
total w·H + (K − w)·L is the same for every x, so ε = ln(H/L) exactly. Any two translates share the same
number of cells, so a report supports every other category with the same probability.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final, Self, final

import numpy as np

from dither.arrays import Array, Floats, Integers
from dither.device_text import from_hexadecimal, hexadecimal, whole
from dither.domains import Domain
from dither.errors import InvalidParameter, MalformedReport, found
from dither.kernels.codes import CodeKernel
from dither.kernels.kernel import MOST_LISTED, CellKernel
from dither.kernels.window.geometry import Geometry
from dither.privacy.exact import exp_below
from dither.randomness import Source

_WORDS: Final = (64, 128)  # bits of the draw: the first that suffices for ε is used
_FINE: Final = 24  # weights of this many bits leave less than 2^−24 of ε unspent
_DIGIT: Final = 20  # bits of a count that are transformed together: rounding is exact


@final
@dataclass(frozen=True)
class ProjectiveKernel(CodeKernel, CellKernel):
    """A report y < K of the code x: weight H if (x + y) mod K is in the difference set, L otherwise."""

    geometry: Geometry
    inside: int
    outside: int
    bits: int = 64

    kind: ClassVar[str] = "projective"

    def __post_init__(self) -> None:
        if self.bits not in _WORDS or not 1 <= self.outside < self.inside:
            raise InvalidParameter("a projective kernel needs 1 ≤ outside < inside, and 64 or 128 bits")
        if not 1 << (self.bits - 1) <= self.total <= 1 << self.bits:
            raise InvalidParameter(f"the total weight must be from 2^{self.bits - 1} to 2^{self.bits}")

    @staticmethod
    def largest(epsilon: float, geometry: Geometry) -> ProjectiveKernel:
        """Return the kernel with the largest ratio H/L that is certainly at most e^ε.

        L = ⌊2^bits/(w·E⁻ + K − w)⌋ and H = ⌊L·E⁻⌋ with E⁻ a lower bound of e^ε: H/L ≤ E⁻.
        """
        bound = exp_below(Fraction(epsilon))
        for bits in _WORDS:
            spread = geometry.block * bound + geometry.points - geometry.block
            outside = int((1 << bits) // spread)
            inside = int(outside * bound)
            if min(outside, inside - outside) >= 1 << _FINE:
                kernel = ProjectiveKernel(geometry, inside, outside, bits)
                if kernel.ratio <= bound:  # in integers: the proof of privacy
                    return kernel
        raise InvalidParameter(f"ε = {found(epsilon)} is too small or too large for {geometry.points} points")

    @property
    def outcomes(self) -> int:
        return self.geometry.points

    @cached_property
    def total(self) -> int:
        """The sum of all weights; it is the same for every input."""
        block = self.geometry.block
        return block * self.inside + (self.geometry.points - block) * self.outside

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        block, meeting = self.geometry.block, self.geometry.meeting
        other = meeting * self.inside + (block - meeting) * self.outside
        return Fraction(block * self.inside, self.total), Fraction(other, self.total)

    @property
    def ratio(self) -> Fraction:
        return Fraction(self.inside, self.outside)

    @property
    def evidence(self) -> str:
        shape = self.geometry
        return (
            f"ln(H/L) with q = {shape.order}, t = {shape.dimension}, H = {self.inside}, L = {self.outside} "
            f"of 2^{self.bits}"
        )

    def probabilities(self, value: int) -> list[Fraction]:
        if self.outcomes > MOST_LISTED:
            raise InvalidParameter("exact probabilities are listed for up to 2^16 cells")
        low, high = Fraction(self.outside, self.total), Fraction(self.inside, self.total)
        return [high if held else low for held in self._supported(np.arange(self.outcomes), value).tolist()]

    def chances(self, value: int) -> Floats:
        return self.likelihoods(np.arange(self.outcomes), np.asarray(value))

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        high, low = float(Fraction(self.inside, self.total)), float(Fraction(self.outside, self.total))
        return np.where(self._supported(reports, inputs), high, low)

    def _supported(self, reports: Array, inputs: Any) -> Array:
        held: Array = self.geometry.holds[(reports.astype(np.int64) + inputs) % self.outcomes]
        return held

    def draw_one(self, value: int, source: Source) -> int:
        while True:  # whether the word is used depends on the word alone
            word = int.from_bytes(source.take(self.bits >> 3), "little")
            if word < self.total:
                break
        block = self.geometry.block
        ends = block * self.inside
        told = word < ends
        place = told * (word // self.inside) + (1 - told) * (block + (word - ends) // self.outside)
        return (int(self.geometry.members[place]) - value) % self.outcomes

    def write(self, codes: Array, reports: Array, source: Source) -> None:
        if self.bits > 64:
            reports[:] = [self.draw_one(int(code), source) for code in codes]
            return
        words = source.words(codes.size)
        ceiling = np.uint64(self.total - 1)
        while words.max() > ceiling:
            rejected = np.flatnonzero(words > ceiling)
            words[rejected] = source.words(rejected.size)
        block, points = self.geometry.block, self.geometry.points
        ends = np.uint64(block * self.inside)
        told = words < ends
        # Both places are computed for every word, and the comparison keeps one: no branch on the outcome.
        place = (words - ends) // np.uint64(self.outside)
        place += np.uint64(block)
        words //= np.uint64(self.inside)
        words -= place
        words *= told
        words += place
        cells = self.geometry.members[words.view(np.int64)].view(np.int32)
        cells -= codes.astype(np.int32)
        cells += (cells < 0) * np.int32(points)
        np.copyto(reports, cells, casting="unsafe")

    def holds(self, categories: int) -> bool:
        return self.outcomes >= categories

    def supported(self, reports: Array, categories: int) -> Array:
        return self._supported(reports[..., None], np.arange(categories))

    def supports(self, counts: Integers, categories: int) -> Integers:
        """Return the exact number of counted reports that support each of the first `categories` categories.

        It is the correlation of the counts with the set, by Fourier transforms of numbers below 2^20. Their
        errors are below 0.01, so that rounding to integers is exact.
        """
        supported = np.zeros(categories, dtype=np.int64)
        rest, unit = counts.astype(np.int64), 0
        while rest.any():
            digit = (rest & ((1 << _DIGIT) - 1)).astype(np.float64)
            supported += np.rint(self.geometry.correlation(digit, categories)).astype(np.int64) << unit
            rest, unit = rest >> _DIGIT, unit + _DIGIT
        return supported

    def device(self) -> dict[str, Any]:
        shape = self.geometry
        return {
            "draw": self.kind,
            "order": shape.order,
            "dimension": shape.dimension,
            "polynomial": list(shape.polynomial),
            "set": shape.digest,
            "own": hexadecimal(self.inside),
            "other": hexadecimal(self.outside),
            "bits": self.bits,
        }

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        geometry = Geometry(whole(device["order"]), whole(device["dimension"]))
        own, other = (from_hexadecimal(device[name]) for name in ("own", "other"))
        kernel = cls(geometry, own, other, whole(device["bits"]))
        if device["polynomial"] != list(geometry.polynomial) or device["set"] != geometry.digest:
            raise MalformedReport("the polynomial or the digest is not that of this geometry's set")
        return kernel
