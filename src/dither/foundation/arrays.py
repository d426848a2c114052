"""Type aliases for numpy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]
Words = NDArray[np.uint64]
Halves = NDArray[np.uint32]
Bytes = NDArray[np.uint8]


def is_nothing(value: object) -> bool:
    """Return whether a value stands for "no answer": None, or the missing values of pandas."""
    return value is None or type(value).__name__ in ("NAType", "NaTType")
