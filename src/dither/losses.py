"""Losses, which are functions of the distance between report and truth, and criteria: worst case, average."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

import numpy as np

from dither.arrays import Floats
from dither.errors import InvalidParameter, found, unknown_name


@dataclass(frozen=True)
class Power:
    """The k-th power of the distance between report and truth.

    >>> squared(np.array([-3.0, 2.0]))
    array([9., 4.])
    """

    exponent: float

    def __post_init__(self) -> None:
        if not (isinstance(self.exponent, int | float) and 0 < self.exponent < math.inf):
            raise InvalidParameter(
                f"the exponent of a loss must be positive and finite, not {found(self.exponent)}"
            )

    def __call__(self, difference: Floats) -> Floats:
        """Return |difference|^exponent, where `difference` is report − truth."""
        return np.asarray(np.abs(difference) ** self.exponent, dtype=np.float64)

    def antiderivative(self, difference: Floats) -> Floats:
        """Return the integral of the loss from 0 to `difference`."""
        k = self.exponent + 1.0
        return np.asarray(np.sign(difference) * np.abs(difference) ** k / k, dtype=np.float64)

    def circular(self, difference: Floats) -> Floats:
        """Return the loss on a circle of circumference 1."""
        return self(difference - np.round(difference))

    def circular_antiderivative(self, difference: Floats) -> Floats:
        """Return the integral of the loss from 0 to `difference` on a circle of circumference 1."""
        turns = np.round(difference)
        whole = 2.0 * self.antiderivative(np.asarray(0.5))
        return np.asarray(turns * whole + self.antiderivative(difference - turns), dtype=np.float64)

    def __repr__(self) -> str:
        for name, loss in LOSSES.items():
            if loss.exponent == self.exponent:
                return name
        short = f"{self.exponent:g}"  # power(3) instead of power(3.0), if no digit is lost
        return f"power({short if float(short) == self.exponent else repr(float(self.exponent))})"


def power(exponent: float) -> Power:
    """Return the loss |y − x|^exponent."""
    return Power(float(exponent))


absolute: Final = Power(1.0)
squared: Final = Power(2.0)
LOSSES: Final = {"absolute": absolute, "squared": squared}  # the losses that have a name
LOSS_CHOICES: Final = "absolute, squared, or a power such as 1.5"  # what `named` reads, for help texts


def named(name: str) -> Power:
    """Return the loss of a name: absolute, squared, or a power of the distance such as 1.5 or power(1.5).

    >>> named("squared"), named("1.5"), named("power(3)")
    (squared, power(1.5), power(3))
    """
    if name in LOSSES:
        return LOSSES[name]
    written = re.fullmatch(r"power\((.*)\)", name)
    try:
        return power(float(written[1] if written else name))
    except ValueError:  # not a number, or not a positive one
        raise unknown_name("loss", name, LOSSES, also="or a power of the distance such as 1.5") from None


def check_loss(loss: object) -> Power:
    """Return the loss if it is a power of the distance; raise InvalidParameter otherwise."""
    if not isinstance(loss, Power):
        raise InvalidParameter(f"loss must be dt.absolute, dt.squared or dt.power(k), not {found(loss)}")
    return loss


class Criterion(Enum):
    """How the errors at all inputs are combined into one number: their maximum or their mean."""

    WORST = "worst"
    AVERAGE = "average"

    def __repr__(self) -> str:
        return self.value


worst: Final = Criterion.WORST  # the largest error over all inputs
average: Final = Criterion.AVERAGE  # the mean error over uniform inputs
CRITERIA: Final = {criterion.value: criterion for criterion in Criterion}


def criterion_named(name: str) -> Criterion:
    """Return the criterion of a name: worst or average.

    >>> criterion_named("average")
    average
    """
    if name not in CRITERIA:
        raise unknown_name("criterion", name, CRITERIA)
    return CRITERIA[name]


def check_criterion(criterion: object) -> Criterion:
    """Return the criterion; raise InvalidParameter if it is not a member of Criterion."""
    if not isinstance(criterion, Criterion):
        raise InvalidParameter(f"criterion must be dt.worst or dt.average, not {found(criterion)}")
    return criterion
