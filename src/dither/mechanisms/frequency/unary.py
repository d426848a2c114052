"""The base classes of protocols whose reports are one bit for each category."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, Generic, TypeVar, final

from dither.arrays import Array
from dither.errors import InvalidParameter
from dither.kernels.counting import BitSums
from dither.kernels.kernel import Kernel
from dither.kernels.sets import bit_rows
from dither.kernels.sets.bits import Bits
from dither.kernels.sets.subsets import Subsets
from dither.mechanisms.frequency.pure_protocol import CodeProtocol, PureProtocol

Sets = TypeVar("Sets", Bits, Subsets)

MOST_LISTED: Final = 16  # the most bits of a report for which all probabilities are listed


@dataclass(frozen=True)
class BitReports(PureProtocol):
    """A report is a set of categories, as packed bits; it supports its members."""

    @final
    @property
    def counting(self) -> BitSums:
        return BitSums(len(self.categories))

    @final
    def decode(self, cells: Array) -> Array:
        """Return which categories each report supports, along the last axis."""
        return bit_rows.unpack(cells, len(self.categories))

    @final
    def _listed(self) -> None:
        if len(self.categories) > MOST_LISTED:
            raise InvalidParameter(
                f"exact probabilities are listed for up to {MOST_LISTED} categories, "
                f"not {len(self.categories)}"
            )


@dataclass(frozen=True)
class SetProtocol(CodeProtocol[Sets], BitReports, Generic[Sets]):
    """A pure protocol whose reports are sets of categories, independent between people."""

    @final
    def _fits(self, kernel: Sets) -> bool:
        return kernel.size == len(self.categories)

    @final
    def probabilities(self, x: Hashable) -> list[Fraction]:
        """Return the exact probability of every row of bits for the category x; row r has the bits of r."""
        self._listed()
        return super().probabilities(x)


@dataclass(frozen=True)
class Unary(SetProtocol[Bits]):
    """Every category has an independent bit; the bit of the answer is likelier to be 1."""

    runs: ClassVar[type[Kernel]] = Bits

    @abstractmethod
    def _kernel(self) -> Bits: ...
