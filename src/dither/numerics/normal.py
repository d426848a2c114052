"""The normal distribution: error functions of arrays, tail probabilities and their inverse."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Final

import numpy as np

from dither.arrays import Floats

_STANDARD: Final = NormalDist()
_ERF: Final = np.frompyfunc(math.erf, 1, 1)
_ERFC: Final = np.frompyfunc(math.erfc, 1, 1)


def erf(x: Floats) -> Floats:
    """Return the error function of every element."""
    return np.asarray(_ERF(x), dtype=np.float64)


def erfc(x: Floats) -> Floats:
    """Return 1 − erf of every element, accurate where it is small."""
    return np.asarray(_ERFC(x), dtype=np.float64)


def survival(z: float) -> float:
    """Return the probability that a standard normal variable is above z."""
    return math.erfc(z / math.sqrt(2.0)) / 2.0


def inverse_survival(probability: float) -> float:
    """Return the z that a standard normal variable exceeds with this probability, 0 < probability < 1."""
    return -_STANDARD.inv_cdf(probability)
