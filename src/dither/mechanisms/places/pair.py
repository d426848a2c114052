"""The base classes of path designs that report a location as two numbers, each by its own design."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, Generic, final

from dither.domains import Line, finite
from dither.domains.plane import Pair
from dither.errors import InvalidParameter, OutsideDomain, found
from dither.kernels.places.pair import PairDecoder, PairKernel
from dither.kernels.places.walk import WalkKernel
from dither.mechanisms.base import Mechanism, NumberMechanism
from dither.mechanisms.places.path import Area, PathMechanism
from dither.privacy.split import divide

Inner = Callable[
    ..., Mechanism[Any]
]  # a design for one number, as in dt.OGPM or partial(dt.SW, redesign=True)


@dataclass(frozen=True)
class PairMechanism(PathMechanism[Area], Generic[Area]):
    """Two designs for one number divide the budget of a location; a report is one cell of each."""

    _: KW_ONLY
    cells: int = 1 << 16

    @abstractmethod
    def _split(self) -> float:
        """Return the first part's share of the budget."""

    @abstractmethod
    def _make(self, first: float, second: float) -> tuple[NumberMechanism, NumberMechanism]:
        """Return the two parts with the given budgets."""

    @abstractmethod
    def _kernel(self) -> PairKernel: ...

    @final
    @cached_property
    def parts(self) -> tuple[NumberMechanism, NumberMechanism]:
        """The two designs of one location."""
        return self._make(*divide(self.of_location.epsilon, self._split()))

    @final
    def _codebook(self, kernel: PairKernel) -> PairDecoder:
        first, second = (part.decoder for part in self.parts)
        return PairDecoder((first, second))

    @final
    def told(self, place: object) -> tuple[float, float]:
        """Return the two numbers of a place relative to the first reference."""
        first, second = self.kernel.numbers(self.area.check(place)).tolist()
        return first, second


@dataclass(frozen=True)
class StepByStep:
    """A path that is reported from place to place. The first reference is `start`, by default the centre."""

    _: KW_ONLY
    start: Pair | None = None

    @final
    @property
    def origin(self) -> Pair:
        """The first reference."""
        design: Any = self
        if self.start is None:
            centre: Pair = design.domain.centre
            return centre
        if not (isinstance(self.start, tuple) and len(self.start) == 2):
            raise InvalidParameter("start must be a pair of numbers such as (0, 1)")
        x, y = (finite("a coordinate of the start", number) for number in self.start)
        try:
            design.domain.check((x, y))
        except OutsideDomain:
            raise InvalidParameter(f"start, ({x:g}, {y:g}), must be a place in {design.domain}") from None
        return x, y

    @final
    def _kernel(self) -> WalkKernel:
        design: Any = self
        origin = self.origin
        first, second = design.parts
        books = PairDecoder((first.decoder, second.decoder))
        return WalkKernel(first.kernel, second.kernel, design.domain, origin, books)


def made(inner: Inner, line: Line, epsilon: float, cells: int) -> NumberMechanism:
    """Return a part: the design that `inner` returns for a line and a budget."""
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
