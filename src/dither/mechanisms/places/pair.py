"""Path mechanisms that tell a location by two numbers, each through a mechanism of its own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self, final

import numpy as np

from dither.arrays import Floats
from dither.domains import Line
from dither.errors import InvalidParameter, MalformedReport
from dither.kernels.window.integers import Window
from dither.mechanisms.base import Mechanism
from dither.mechanisms.places.path import PathMechanism, divide
from dither.privacy import Bound, Guarantee, Pure, Unit
from dither.privacy.exact import log_above

Inner = Callable[..., Mechanism]  # a mechanism of one number, as in dt.OGPM or partial(dt.SW, redesign=True)


@dataclass(frozen=True)
class PairMechanism(PathMechanism):
    """Two mechanisms of one number share the budget of a location; a report is a cell of each."""

    _: KW_ONLY
    cells: int = 1 << 16

    @abstractmethod
    def _split(self) -> float:
        """Give the first part's share of the budget."""

    @abstractmethod
    def _make(self, first: float, second: float) -> tuple[Mechanism, Mechanism]:
        """Make the two parts with their budgets."""

    def _build(self) -> None:
        _ = self.parts

    @final
    @cached_property
    def parts(self) -> tuple[Mechanism, Mechanism]:
        """The two mechanisms of one location."""
        if self.unit is not Unit.LOCATION:
            return self.per_location(1).parts
        return self._make(*divide(self.epsilon, self._split()))

    @final
    def _realised(self) -> tuple[Bound, str]:
        first, second = self.parts
        how = f"{first.realised()[1]}; and {second.realised()[1]}"
        windows = [getattr(part, "kernel", None) for part in self.parts]
        if all(isinstance(window, Window) for window in windows):
            return Pure(log_above(windows[0].ratio * windows[1].ratio)), how  # type: ignore[union-attr]
        return Guarantee(first.realised()[0]).compose(Guarantee(second.realised()[0])).bound, how

    @abstractmethod
    def _inputs(self, place: Floats, reference: Floats | None) -> tuple[float, float]:
        """Give the two numbers that tell a place, seen from a reference (the first one unless given)."""

    @final
    def probabilities(self, place: object, *, reference: object = None) -> list[list[Fraction]]:
        """Give the exact probability of each report for a place: a row for each cell of the first part.

        `reference` is the last report's place where it matters; the first reference unless it is given.
        """
        seen = None if reference is None else np.asarray(reference, dtype=np.float64)
        numbers = self._inputs(self.area.check(place), seen)
        first, second = (
            part.probabilities(number)  # type: ignore[attr-defined]
            for part, number in zip(self.parts, numbers, strict=True)
        )
        return [[one * two for two in second] for one in first]

    @property
    def _limits(self) -> tuple[tuple[int, int], ...]:
        return tuple((0, part.outcomes - 1) for part in self.parts)

    @final
    @property
    def dtype(self) -> np.dtype[Any]:
        """The whole numbers that hold a report."""
        return np.dtype(np.min_scalar_type(max(part.outcomes for part in self.parts) - 1))

    def wire(self) -> dict[str, Any]:
        """Give both parts' integers and codebooks."""
        first, second = (part.wire() for part in self.parts)
        return {key: [first.get(key), second.get(key)] for key in {**first, **second}}

    def restored(self, wire: dict[str, Any]) -> Self:
        """Give this mechanism with the integers and the codebooks that travelled, never recomputed ones."""
        if self.unit is not Unit.LOCATION:
            return super().restored(wire)
        try:
            halves = [{key: both[i] for key, both in wire.items() if both[i] is not None} for i in (0, 1)]
        except (TypeError, AttributeError, KeyError, IndexError):
            raise MalformedReport("two kernels and two codebooks were expected") from None
        copy = replace(self)
        parts = tuple(part.restored(half) for part, half in zip(self.parts, halves, strict=True))
        copy.__dict__.update(parts=parts, _travelled=wire)
        return copy


def made(inner: Inner, line: Line, epsilon: float, cells: int) -> Mechanism:
    """Make a part: the mechanism that `inner` gives for a line and a budget."""
    if not callable(inner):
        raise InvalidParameter("a part is a mechanism of one number, such as dt.OGPM")
    try:
        part = inner(line, epsilon=epsilon, cells=cells)
    except TypeError:  # a solved codebook has cells of its own
        try:
            part = inner(line, epsilon=epsilon)
        except TypeError:
            raise InvalidParameter("a part is made by inner(domain, epsilon=…), as dt.OGPM is") from None
    if not isinstance(part, Mechanism):
        raise InvalidParameter("a part is a mechanism of one number, such as dt.OGPM")
    return part
