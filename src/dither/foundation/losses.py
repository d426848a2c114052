"""Losses (functions of the distance between report and truth) and criteria: worst case, average."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np

from dither.errors import InvalidParameter, check_choice, found, unknown_name
from dither.foundation.arrays import Floats


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
        total = 2.0 * self.antiderivative(np.asarray(0.5))
        return np.asarray(turns * total + self.antiderivative(difference - turns), dtype=np.float64)

    @property
    def loss(self) -> Loss:
        """The name of the loss, or its exponent."""
        if self.exponent == 1.0:
            return "absolute"
        return "squared" if self.exponent == 2.0 else float(self.exponent)

    def __repr__(self) -> str:
        if isinstance(self.loss, str):
            return self.loss
        short = f"{self.exponent:g}"  # power(3) instead of power(3.0), if no digit is lost
        return f"power({short if float(short) == self.exponent else repr(float(self.exponent))})"


absolute: Final = Power(1.0)
squared: Final = Power(2.0)
LOSSES: Final = {"absolute": absolute, "squared": squared}  # the losses that have a name
LOSS_CHOICES: Final = "absolute, squared, or a power such as 1.5"  # for help texts; see `loss_of`

NamedLoss = Literal["absolute", "squared"]
Loss = NamedLoss | float  # a name, or the power of the distance
Criterion = Literal["worst", "average"]  # the largest error over all inputs, or the mean over uniform inputs
CRITERIA: Final[tuple[Criterion, ...]] = get_args(Criterion)


def as_power(loss: object) -> Power:
    """Return the exponent of a loss that is a power of the distance; raise InvalidParameter otherwise.

    >>> as_power("squared"), as_power(1.5), as_power(3)
    (squared, power(1.5), power(3))
    """
    if isinstance(loss, Power):
        return loss
    if isinstance(loss, int | float) and not isinstance(loss, bool):
        return Power(float(loss))
    if isinstance(loss, str) and loss in LOSSES:
        return LOSSES[loss]
    raise unknown_name("loss", loss, LOSSES, also="or a power of the distance such as 1.5")


def loss_of(name: str) -> Loss:
    """Return the loss of a text: absolute, squared, or a power of the distance such as 1.5 or power(1.5).

    >>> loss_of("squared"), loss_of("1.5"), loss_of("power(3)")
    ('squared', 1.5, 3.0)
    """
    written = re.fullmatch(r"power\((.*)\)", name)
    try:
        return as_power(float(written[1] if written else name)).loss
    except ValueError:  # not a number, or not a positive one
        return as_power(name).loss


def check_criterion(criterion: object) -> None:
    """Raise InvalidParameter if the criterion is neither worst nor average."""
    check_choice("criterion", criterion, Criterion)
