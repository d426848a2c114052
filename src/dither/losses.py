"""How far a report is from the truth, as a number: what mechanisms are designed for and judged by."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Final, final

import numpy as np

from dither.arrays import Floats
from dither.errors import InvalidParameter


@final
@dataclass(frozen=True)
class Power:
    """The k-th power of the distance between report and truth.

    >>> squared(np.array([-3.0, 2.0]))
    array([9., 4.])
    """

    exponent: float

    def __post_init__(self) -> None:
        if not (isinstance(self.exponent, int | float) and 0 < self.exponent < math.inf):
            raise InvalidParameter("the exponent of a loss is a positive number")

    def __call__(self, difference: Floats) -> Floats:
        """Give the loss of a report that misses the truth by `difference`."""
        return np.asarray(np.abs(difference) ** self.exponent, dtype=np.float64)

    def antiderivative(self, difference: Floats) -> Floats:
        """Give ∫₀^difference of the loss."""
        k = self.exponent + 1.0
        return np.asarray(np.sign(difference) * np.abs(difference) ** k / k, dtype=np.float64)

    def circular(self, difference: Floats) -> Floats:
        """Give the loss on a circle of circumference one."""
        return self(difference - np.round(difference))

    def circular_antiderivative(self, difference: Floats) -> Floats:
        """Give ∫₀^difference of the loss on a circle of circumference one."""
        turns = np.round(difference)
        whole = 2.0 * self.antiderivative(np.asarray(0.5))
        return np.asarray(turns * whole + self.antiderivative(difference - turns), dtype=np.float64)

    def __repr__(self) -> str:
        return {1.0: "absolute", 2.0: "squared"}.get(float(self.exponent), f"power({self.exponent:g})")


def power(exponent: float) -> Power:
    """Give the loss |y − x|^exponent."""
    return Power(float(exponent))


absolute: Final = Power(1.0)
squared: Final = Power(2.0)


class Criterion(Enum):
    """Which of the errors at all the inputs a mechanism is designed for and judged by."""

    WORST = "worst"
    AVERAGE = "average"

    def __repr__(self) -> str:
        return self.value


worst: Final = Criterion.WORST  # the largest error over all inputs
average: Final = Criterion.AVERAGE  # the mean error over inputs spread evenly
