"""The base class of path mechanisms that report a location as two numbers, each by its own mechanism."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, final

import numpy as np

from dither.arrays import Array, Floats
from dither.domains import Line
from dither.errors import InvalidParameter, MalformedReport, found
from dither.kernels.places.pair import PairKernel
from dither.mechanisms.base import Mechanism, Travelled
from dither.mechanisms.number import NumberMechanism
from dither.mechanisms.places.path import Area, PathMechanism, divide
from dither.privacy import Bound, Guarantee, Pure, Unit

Inner = Callable[
    ..., Mechanism[Any]
]  # a mechanism of one number, as in dt.OGPM or partial(dt.SW, redesign=True)


@dataclass(frozen=True)
class PairMechanism(PathMechanism[Area, PairKernel], Generic[Area]):
    """Two mechanisms of one number divide the budget of a location; a report is one cell of each."""

    _: KW_ONLY
    cells: int = 1 << 16

    @abstractmethod
    def _split(self) -> float:
        """Return the first part's share of the budget."""

    @abstractmethod
    def _make(self, first: float, second: float) -> tuple[NumberMechanism, NumberMechanism]:
        """Return the two parts with the given budgets."""

    @final
    @cached_property
    def parts(self) -> tuple[NumberMechanism, NumberMechanism]:
        """The two mechanisms of one location."""
        if self.unit is not Unit.LOCATION:
            return self.per_location(1).parts
        first, second = self._make(*divide(self.epsilon, self._split()))
        if self.travelled is None:
            return first, second
        kernel, books = self.travelled.kernel, self.travelled.codebook
        if not isinstance(kernel, PairKernel):
            raise MalformedReport(f"{type(self).__name__} needs a pair of kernels")
        return (
            replace(first, travelled=Travelled(kernel.first, first.read_codebook(books[0]))),
            replace(second, travelled=Travelled(kernel.second, second.read_codebook(books[1]))),
        )

    def _kernel(self) -> PairKernel:
        first, second = self.parts
        return PairKernel(first.kernel, second.kernel)

    def _check_travelled(self, kernel: Any) -> None:
        _ = self.parts  # raises if a part spends more than its share of the budget

    def codebook(self) -> Any:
        return [part.codebook() for part in self.parts]

    @classmethod
    def read_codebook(cls, data: Any) -> Any:
        if not isinstance(data, list) or len(data) != 2:
            raise MalformedReport(f"{cls.__name__} needs two codebooks")
        return tuple(data)

    @final
    def _realised(self) -> tuple[Bound, str]:
        first, second = (part.realised()[0] for part in self.parts)
        if isinstance(first, Pure) and isinstance(second, Pure):
            return Pure(self.kernel.epsilon), self.kernel.evidence  # from the product of the exact ratios
        return Guarantee(first).compose(Guarantee(second)).bound, self.kernel.evidence

    @abstractmethod
    def _inputs(self, place: Floats, reference: Floats | None) -> tuple[float, float]:
        """Return the two numbers of a place relative to a reference; None means the first reference."""

    @final
    def told(self, place: object) -> tuple[float, float]:
        """Return the two numbers of a place relative to the first reference."""
        return self._inputs(self.area.check(place), None)

    @final
    def probabilities(self, place: object, *, reference: object = None) -> list[list[Fraction]]:
        """Return the exact probability of each report for a place, a row for each cell of the first part.

        `reference` is the place of the previous report, for mechanisms that use it; by default the first
        reference.
        """
        seen = None if reference is None else np.asarray(reference, dtype=np.float64)
        numbers = self._inputs(self.area.check(place), seen)
        first, second = (part.probabilities(number) for part, number in zip(self.parts, numbers, strict=True))
        return [[one * two for two in second] for one in first]


def made(inner: Inner, line: Line, epsilon: float, cells: int) -> NumberMechanism:
    """Return a part: the mechanism that `inner` returns for a line and a budget."""
    if not callable(inner):
        raise InvalidParameter(
            f"a part must be a mechanism of one number such as dt.OGPM, not {found(inner)}"
        )
    try:
        part = inner(line, epsilon=epsilon, cells=cells)
    except TypeError:  # mechanisms such as dt.Optimal determine the number of cells themselves
        try:
            part = inner(line, epsilon=epsilon)
        except TypeError:
            raise InvalidParameter("a part must accept (domain, epsilon=…), as dt.OGPM does") from None
    if not isinstance(part, NumberMechanism):
        raise InvalidParameter(
            f"a part must be a mechanism of one number such as dt.OGPM, not {type(part).__name__}"
        )
    return part


def product(parts: tuple[NumberMechanism, NumberMechanism], cells: Array, numbers: list[Floats]) -> Floats:
    """Return the probability of pairs of cells for pairs of numbers, after broadcasting."""
    first, second = (
        part.kernel.likelihoods(cells[:, axis, None], numbers[axis]) for axis, part in enumerate(parts)
    )
    return np.asarray(first * second)
