"""The choices of noise for a mean, as objects; each makes its law for a method, a grid and a budget."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from dither.central.methods import TRANSFORMED, MeanMethod
from dither.central.pairs import HourglassLattice, LaplaceLattice, Pair, StaircaseLattice
from dither.central.staircase import DiscreteStaircase, radius_at
from dither.central.tally import RecordGrid
from dither.domains import finite
from dither.errors import InvalidParameter, found


class PairNoise(ABC):
    """A kind of noise for two numbers; `law` makes its law for a method, a grid and a budget."""

    @abstractmethod
    def law(self, method: MeanMethod, grid: RecordGrid, epsilon: Fraction) -> Pair:
        """Return the law on the integers, or raise `InvalidParameter` if it does not protect this method."""


@final
@dataclass(frozen=True)
class LaplacePair(PairNoise):
    """Independent Laplace noise on both numbers: the textbook mechanism, close to optimal below ε ≈ 0.5."""

    def law(self, method: MeanMethod, grid: RecordGrid, epsilon: Fraction) -> Pair:
        return LaplaceLattice(method.sensitivity(grid), epsilon)


@final
@dataclass(frozen=True)
class StaircasePair(PairNoise):
    """Noise of constant density on rings of |x| + |y| [GKOV15], by default those of least variance."""

    gamma: float | None = None

    def __post_init__(self) -> None:
        _check(self.gamma)

    def law(self, method: MeanMethod, grid: RecordGrid, epsilon: Fraction) -> Pair:
        sensitivity = method.sensitivity(grid)
        if self.gamma is None:
            return StaircaseLattice.best(sensitivity, epsilon)
        return StaircaseLattice(sensitivity, radius_at(self.gamma, sensitivity), epsilon)


@final
@dataclass(frozen=True)
class Hourglass(PairNoise):
    """Noise only on the lines that a record can reach: the best known for a mean [AddRemove23].

    γ is the innermost width, by default the one of least squared error over all means. Where a mean near the
    middle of the domain is expected and ε is large, a smaller γ is better there and worse near the ends.
    """

    gamma: float | None = None

    def __post_init__(self) -> None:
        _check(self.gamma)

    def law(self, method: MeanMethod, grid: RecordGrid, epsilon: Fraction) -> Pair:
        if method is not TRANSFORMED:
            raise InvalidParameter(
                f"hourglass noise protects the two sums of TRANSFORMED only; with {method} pass "
                "noise=LaplacePair() or noise=StaircasePair()"
            )
        if self.gamma is None:
            return HourglassLattice(DiscreteStaircase.best(grid.cells, epsilon))
        return HourglassLattice(DiscreteStaircase(grid.cells, radius_at(self.gamma, grid.cells), epsilon))


def _check(gamma: float | None) -> None:
    if gamma is not None and not 0.0 < finite("gamma", gamma) <= 1.0:
        raise InvalidParameter(
            f"gamma must be above 0 and at most 1, or None for the least squared error; not {found(gamma)}"
        )
