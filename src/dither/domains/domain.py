"""What every domain can do: say what belongs to it, and refuse the rest without repeating it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, Self, final

import numpy as np

from dither.arrays import Array, Floats
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain

BLOCK = 1 << 15  # values looked at together: they stay in the cache

# What the numbers of a domain may be: products of four of them, or of their inverses, are normal doubles.
LEAST_LENGTH: Final = 1e-30
MOST_NUMBER: Final = 1e30
_MOST_AXES: Final = 32  # that numpy iterates over
_ROUNDED: Final = (
    2.0**-20
)  # of the length: how far an end may move when it is rounded to the values' own type


_KINDS: Final[dict[str, type[Domain]]] = {}


class Domain(ABC):
    """The set of values that a question admits. Public: it never depends on anybody's value."""

    kind: ClassVar[str]  # its name in a device text
    outside: ClassVar[str]  # what a device does with a value outside: "clip", "wrap" or "refuse"

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "kind" in vars(cls):
            _KINDS[cls.kind] = cls

    @abstractmethod
    def check(self, values: object) -> Array:
        """Give the values as an array, or raise `OutsideDomain`."""

    @abstractmethod
    def clip(self, values: object) -> Array:
        """Give the nearest values inside the domain: the explicit alternative to an error."""

    @abstractmethod
    def device(self) -> dict[str, Any]:
        """Return all that tells this domain from another, as plain data."""

    @classmethod
    @abstractmethod
    def from_device(cls, data: Mapping[str, Any]) -> Self:
        """Return the domain that `device` describes."""

    @property
    def portable(self) -> bool:
        """Whether another language can read what `device` returns."""
        return True


def read_domain(data: Mapping[str, Any]) -> Domain:
    """Return the domain that plain data describe; raise MalformedReport if they describe none."""
    try:
        return _KINDS[data["kind"]].from_device(data)
    except InvalidParameter as error:
        raise MalformedReport(f"the specification describes no domain: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        raise MalformedReport("the specification describes no domain that this version knows") from None


class Line(Domain):
    """A domain of one number: an interval or a circle. `low` and `length` give its units."""

    @property
    @abstractmethod
    def low(self) -> float:
        """The smallest value."""

    @property
    @abstractmethod
    def length(self) -> float:
        """The distance from the smallest to the largest value."""

    @final
    @property
    def high(self) -> float:
        """The largest value."""
        return self._high()

    def _high(self) -> float:
        return self.low + self.length

    @property
    def points(self) -> Floats | None:
        """The only values that answers take, in increasing order; None if they may be any number."""
        return None

    @final
    def admits(self, block: Array) -> bool:
        """Say whether a non-empty array lies inside; a NaN or an infinite number does not."""
        low, high = self.low, self._high()
        # Python's numbers are compared exactly. Numpy rounds the ends to the array's type: 1e5 is infinite
        # in half precision, and an infinite value would be inside.
        least, most = block.min().item(), block.max().item()
        if block.dtype.kind == "f" and block.dtype.itemsize < 8:
            low, high = (_rounded(end, block.dtype, self.length) for end in (low, high))
        return bool(least >= low and most <= high)

    @final
    def check(self, values: object) -> Array:
        """Give the values as an array of numbers, every one inside, or raise `OutsideDomain`."""
        array = numbers(values)
        flat = array.reshape(-1)
        for begin in range(0, flat.size, BLOCK):
            if not self.admits(flat[begin : begin + BLOCK]):
                self.refuse()
        return array

    @final
    def refuse(self) -> None:
        """Raise the error for a value outside; it does not say which value."""
        raise OutsideDomain(
            f"a value is not a finite number in {self}; check the data, or use {self!r}.clip(values) first"
        )

    @final
    def to_unit(self, values: Floats) -> Floats:
        """Give the values in units in which the domain is [0, 1]."""
        return np.asarray((values - self.low) / self.length, dtype=np.float64)

    @final
    def from_unit(self, values: Floats) -> Floats:
        """Give values in the user's units from values on [0, 1]."""
        return np.asarray(self.low + self.length * values, dtype=np.float64)


def _rounded(end: float, dtype: np.dtype[Any], length: float) -> float:
    """Return an end of a line as a number of a narrower type, unless that moves it by much."""
    with np.errstate(over="ignore"):
        nearest = float(dtype.type(end))
    return nearest if abs(nearest - end) <= _ROUNDED * length else end


def extent(what: str, length: float, *numbers: float) -> None:
    """Raise InvalidParameter unless a length is at least 1e-30 and no number around it is beyond ±1e30.

    Then no start rule overflows, underflows or becomes NaN.
    """
    most = max(map(abs, numbers), default=length)
    if not (length >= LEAST_LENGTH and most <= MOST_NUMBER):
        raise InvalidParameter(
            f"{what} is too short or too large: lengths are at least {LEAST_LENGTH:g}, and no number is "
            f"beyond ±{MOST_NUMBER:g}; measure in another unit"
        )


def numbers(values: object) -> Array:
    """Give an array of real numbers from whatever a caller has, or say what was found instead."""
    if isinstance(values, np.ma.MaskedArray):
        raise OutsideDomain("a masked array was given; decide first what a missing value means")
    array = regular(values)
    if array is None:
        raise OutsideDomain("numbers were expected; the values do not form a regular array")
    if array.dtype.kind not in "fiu":
        if array.size == 0 and array.dtype.kind in "Ob":
            return np.zeros(array.shape)
        raise OutsideDomain(f"numbers were expected; an array of kind {array.dtype.name!r} was given")
    if array.dtype == np.longdouble and array.dtype.itemsize > 8:
        return array.astype(np.float64)
    return array


def objects(values: object) -> Array:
    """Return values as an array of Python objects: labels or texts, in any shape of up to 32 axes."""
    try:
        array = np.asarray(values, dtype=object)
    except (TypeError, ValueError, OverflowError, RecursionError):
        array = None
    if array is None or array.ndim > _MOST_AXES:
        raise OutsideDomain("the values do not form an array of up to 32 axes")
    return array


def regular(values: object) -> Array | None:
    """Return values as an array, or None; an error of numpy's, which may show a value, ends here."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        return None


def finite(name: str, value: object) -> float:
    """Give a public parameter as a finite float, or say that it must be one."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise InvalidParameter(f"{name} must be a number, not {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InvalidParameter(f"{name} must be finite")
    return number


def shown(number: float) -> str:
    """Write a public number in full, 18 rather than 18.0."""
    return repr(number).removesuffix(".0")


def first_misfit(fits: Callable[[int, int], bool], count: int) -> int:
    """Give the first of `count` rows that does not fit, by halving; `fits(begin, end)` looks at some."""
    begin, end = 0, count
    while end - begin > 1:
        middle = (begin + end) // 2
        begin, end = (middle, end) if fits(begin, middle) else (begin, middle)
    return begin
