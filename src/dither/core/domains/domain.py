"""The interface of domains, and domains of numbers: an interval and a circle."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Self

import numpy as np

from dither.errors import InvalidParameter, MalformedReport, OutsideDomain, found
from dither.foundation.arrays import Array, Floats, Mask
from dither.foundation.canonical import real

BLOCK = 1 << 15  # values processed together, so that they stay in the cache

# Bounds on the numbers of a domain: products of four of them, or of their inverses, are normal doubles.
LEAST_LENGTH: Final = 1e-30
MOST_NUMBER: Final = 1e30
_MOST_AXES: Final = 32  # the most axes over which numpy iterates
_ROUNDED: Final = 2.0**-20  # of the length: the most by which rounding to the values' dtype may move an end


_KINDS: Final[dict[str, type[Domain]]] = {}


class Domain(ABC):
    """The set of possible values of a question. It is public and must not depend on anybody's value."""

    kind: ClassVar[str]  # the name in a device text
    outside: ClassVar[str]  # what a device does with a value outside: "clip", "wrap" or "refuse"
    optional: bool = False  # whether "no answer" (None) is one of the inputs, as private as any other

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "kind" in vars(cls):
            _KINDS[cls.kind] = cls

    @abstractmethod
    def check(self, values: object) -> Array:
        """Return the values as an array; raise `OutsideDomain` if one is not in the domain."""

    @abstractmethod
    def clip(self, values: object) -> Array:
        """Return the nearest values inside the domain."""

    @abstractmethod
    def device(self) -> dict[str, Any]:
        """Return the domain as JSON-compatible data."""

    @classmethod
    @abstractmethod
    def from_device(cls, data: Mapping[str, Any]) -> Self:
        """Return the domain that `device` describes."""

    @property
    def portable(self) -> bool:
        """Whether a program in another language can read what `device` returns: no label is Python's own."""
        return _portable(self.device())


def _portable(data: Any) -> bool:
    if isinstance(data, dict):
        return "python" not in data and all(map(_portable, data.values()))
    return not isinstance(data, list) or all(map(_portable, data))


def read_domain(data: Mapping[str, Any]) -> Domain:
    """Return the domain that JSON-compatible data describe; raise MalformedReport if they describe none."""
    try:
        return _KINDS[data["kind"]].from_device(data)
    except InvalidParameter as error:
        raise MalformedReport(f"the domain in the specification is not valid: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        kinds = ", ".join(_KINDS)
        raise MalformedReport(
            f"the domain in the specification is not one of {kinds}, or incomplete"
        ) from None


class Line(Domain):
    """A domain of one number: an interval or a circle. `unit` is for axes and prints alone."""

    step: float | None
    unit: str

    @abstractmethod
    def read_as(self, *, step: float | None = None, unit: str = "") -> Self:
        """Return the same domain with another step and unit, neither of which devices know."""

    @property
    @abstractmethod
    def low(self) -> float:
        """The smallest value."""

    @property
    @abstractmethod
    def length(self) -> float:
        """The distance from the smallest to the largest value."""

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

    def admits(self, block: Array) -> bool:
        """Return whether all values of a non-empty array lie inside; NaN and infinite values do not."""
        low, high = self.low, self._high()
        # Python floats are compared exactly. Numpy would round the ends to the array's dtype: 1e5 becomes
        # infinite in half precision, and an infinite value would count as inside.
        least, most = block.min().item(), block.max().item()
        if block.dtype.kind == "f" and block.dtype.itemsize < 8:
            low, high = (_round_end(end, block.dtype, self.length) for end in (low, high))
        return bool(least >= low and most <= high)

    def check(self, values: object) -> Array:
        """Return the values as an array of numbers; raise `OutsideDomain` if one is outside."""
        array = numbers(values)
        flat = array.reshape(-1)
        for begin in range(0, flat.size, BLOCK):
            if not self.admits(flat[begin : begin + BLOCK]):
                self.refuse()
        return array

    def refuse(self) -> None:
        """Raise the error for a value outside; the message does not contain the value."""
        raise OutsideDomain(
            f"a value is not a finite number in {self}; check the data, or use {self!r}.clip(values) first"
        )

    def to_unit(self, values: Floats) -> Floats:
        """Return the values in units in which the domain is [0, 1]."""
        return np.asarray((values - self.low) / self.length, dtype=np.float64)

    def from_unit(self, values: Floats) -> Floats:
        """Return values on [0, 1] in the user's units."""
        return np.asarray(self.low + self.length * values, dtype=np.float64)


def _round_end(end: float, dtype: np.dtype[Any], length: float) -> float:
    """Return an end of a line rounded to a narrower dtype, or unrounded if that moves it too far."""
    with np.errstate(over="ignore"):
        nearest = float(dtype.type(end))
    return nearest if abs(nearest - end) <= _ROUNDED * length else end


def extent(what: str, length: float, *numbers: float) -> None:
    """Raise InvalidParameter unless the length is at least 1e-30 and all numbers are within ±1e30.

    Within these limits no start rule overflows, underflows or becomes NaN.
    """
    most = max(map(abs, numbers), default=length)
    if not (length >= LEAST_LENGTH and most <= MOST_NUMBER):
        raise InvalidParameter(
            f"{what} of length {length:g} is too short or too large: lengths must be at least "
            f"{LEAST_LENGTH:g} and numbers within ±{MOST_NUMBER:g}; measure in another unit"
        )


def numbers(values: object) -> Array:
    """Return values as an array of real numbers; raise `OutsideDomain` if they are not numbers."""
    if isinstance(values, np.ma.MaskedArray):
        raise OutsideDomain("masked arrays are not accepted; replace or drop missing values first")
    array = regular(values)
    if array is None:
        raise OutsideDomain("numbers were expected; the values do not form a regular array")
    if array.dtype.kind not in "fiu":
        if array.size == 0 and array.dtype.kind in "Ob":
            return np.zeros(array.shape)
        raise OutsideDomain(f"numbers were expected; an array of dtype {array.dtype.name!r} was given")
    if array.dtype == np.longdouble and array.dtype.itemsize > 8:
        return array.astype(np.float64)
    return array


def objects(values: object) -> Array:
    """Return values as an array of Python objects, such as labels or texts, of up to 32 axes."""
    try:
        array = np.asarray(values, dtype=object)
    except (TypeError, ValueError, OverflowError, RecursionError):
        array = None
    if array is None or array.ndim > _MOST_AXES:
        raise OutsideDomain("the values do not form an array of up to 32 axes")
    return array


def regular(values: object) -> Array | None:
    """Return values as an array, or None; errors of numpy may contain a value and must not leave here."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        return None


def finite(name: str, value: object) -> float:
    """Return a public parameter as a finite float; raise InvalidParameter if it is not one."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise InvalidParameter(f"{name} must be a number, not {found(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InvalidParameter(f"{name} must be finite, not {found(value)}")
    return number


def show_number(number: float) -> str:
    """Return a public number with all its digits, 18 instead of 18.0."""
    return repr(number).removesuffix(".0")


def first_misfit(fits: Callable[[int, int], bool], count: int) -> int:
    """Return the index of the first of `count` rows that does not fit, by bisection.

    `fits(begin, end)` returns whether all rows from `begin` to `end` fit.
    """
    begin, end = 0, count
    while end - begin > 1:
        middle = (begin + end) // 2
        begin, end = (middle, end) if fits(begin, middle) else (begin, middle)
    return begin


@dataclass(frozen=True, init=False)
class Optional(Domain):
    """A number, an angle or a category, or no answer: None, which is as private as every answer.

    Of a number "no answer" has a window of its own beside those of the values. `Optional` of `Categories` is
    `Categories` with one more label, None. In arrays of numbers mask who did not answer: NaN is refused.

    >>> Optional(Interval(18, 100)).check([43, None])
    array([43., nan])
    >>> from dither.core.domains import Categories
    >>> Optional(Categories(["no", "yes"])).labels
    ('no', 'yes', None)
    """

    of: Line

    kind: ClassVar[str] = "optional"
    optional: ClassVar[bool] = True  # type: ignore[misc]

    def __new__(cls, of: Domain) -> Any:
        """Return the optional domain; that of categories is `Categories`."""
        if not isinstance(of, Domain):
            raise InvalidParameter(
                f"dt.Optional takes a domain such as dt.Interval(18, 100), not {found(of)}"
            )
        if isinstance(of, Line):
            return super().__new__(cls)
        if of.optional:
            return of
        from dither.core.domains.categories import Categories  # which imports this module

        if isinstance(of, Categories):
            return Categories([*of.labels, None])
        raise InvalidParameter(
            f"dt.Optional is for numbers, angles and categories; {of} has no cells beside it for it: make "
            "'no answer' a value of its own, such as an item, a text or a place"
        )

    def __init__(self, of: Any) -> None:
        if isinstance(of, Line):  # Python also calls this for what is optional already
            object.__setattr__(self, "of", of)

    def __reduce__(self) -> tuple[Any, ...]:
        return Optional, (self.of,)

    @property
    def outside(self) -> str:  # type: ignore[override]
        """What a device does with a number outside: that of the domain of numbers."""
        return self.of.outside

    @property
    def step(self) -> float | None:
        """The distance of neighbouring answers, if one is declared."""
        return self.of.step

    @property
    def unit(self) -> str:
        """The unit of the answers, for axes and prints."""
        return self.of.unit

    def read_as(self, *, step: float | None = None, unit: str = "") -> Optional:
        """Return the same domain with another step and unit, neither of which devices know."""
        made: Optional = Optional(self.of.read_as(step=step, unit=unit))
        return made

    def check(self, values: object) -> Floats:
        """Return numbers, NaN where there is no answer; raise `OutsideDomain` if a number is outside."""
        given, missing = _answers(values)
        answered = given[~missing]
        if answered.size and not self.of.admits(answered):
            if np.isnan(answered).any():
                raise OutsideDomain(
                    'NaN is not taken for "no answer", for it may be an error in the data; pass None, or '
                    "np.ma.masked_invalid(values) if it does mean that"
                )
            self.of.refuse()
        return np.where(missing, np.nan, given)

    def clip(self, values: object) -> Array:
        """Return the nearest values inside the domain; who did not answer is masked."""
        given, missing = _answers(values)
        inside = self.of.clip(np.where(missing, self.of.low, given))
        return np.ma.MaskedArray(inside, missing)

    def device(self) -> dict[str, Any]:
        return {"kind": self.kind, "of": self.of.device()}

    @classmethod
    def from_device(cls, data: Mapping[str, Any]) -> Self:
        of = read_domain(data["of"])
        if not isinstance(of, Line):
            raise MalformedReport("an optional domain in a device text is of an interval or a circle")
        made: Self = cls(of)
        return made

    def __str__(self) -> str:
        return f"{self.of} or no answer"

    def __repr__(self) -> str:
        return f"Optional({self.of!r})"


def _answers(values: object) -> tuple[Floats, Mask]:
    """Return numbers as float64, and where there is none: None, pandas' NA, or a masked entry."""
    if isinstance(values, np.ma.MaskedArray):
        missing = np.ma.getmaskarray(values)
        return numbers(np.where(missing, 0, values.data)).astype(np.float64), missing
    array = regular(values)
    if array is not None and array.dtype.kind == "O":
        missing = np.array([is_nothing(item) for item in array.flat], dtype=np.bool_).reshape(array.shape)
        filled = array.copy()
        filled[missing] = 0.0
        plain = [isinstance(item, _NUMBERS) and not isinstance(item, bool) for item in filled.flat]
        if not all(plain):
            raise OutsideDomain("numbers or None were expected; a value is something else")
        try:
            return filled.astype(np.float64), missing
        except OverflowError:
            raise OutsideDomain("a value is not a finite number") from None
    given = numbers(values).astype(np.float64)
    return given, np.zeros(given.shape, dtype=np.bool_)


def is_nothing(value: object) -> bool:
    """Return whether a value stands for "no answer": None, or the missing values of pandas."""
    return value is None or type(value).__name__ in ("NAType", "NaTType")


_NUMBERS: Final = (int, float, np.integer, np.floating)
MOST_POINTS: Final = 500  # of declared answers, less one


@dataclass(frozen=True, init=False)
class Interval(Line):
    """The numbers from low to high, both included.

    `step` declares that answers are low, low + step, low + 2·step and so on. It is used by `dt.distribution`
    alone: devices do not round. `unit`, such as "minutes", is shown on axes and in prints. Neither is in the
    device text or the fingerprint. Both travel in the head of a file of reports and in a published campaign.

    >>> Interval(18, 100).clip([17, 50])
    array([18., 50.])
    >>> Interval(0, 20, step=5).points
    array([ 0.,  5., 10., 15., 20.])
    """

    _low: float
    _top: float
    step: float | None
    unit: str = field(compare=False)

    kind: ClassVar[str] = "interval"
    outside: ClassVar[str] = "clip"

    def __init__(self, low: float, high: float, *, step: float | None = None, unit: str = "") -> None:
        lower, upper = finite("the lower bound", low), finite("the upper bound", high)
        if not lower < upper:
            raise InvalidParameter(
                f"the lower bound of an interval must be below its upper bound, not {lower:g} and {upper:g}"
            )
        extent("an interval", upper - lower, lower, upper)
        object.__setattr__(self, "_low", lower)
        object.__setattr__(self, "_top", upper)
        object.__setattr__(self, "step", check_step(step, upper - lower))
        object.__setattr__(self, "unit", check_unit(unit))

    def read_as(self, *, step: float | None = None, unit: str = "") -> Interval:
        return Interval(self._low, self._top, step=step, unit=unit)

    @property
    def points(self) -> Floats | None:
        if self.step is None:
            return None
        count = math.floor((self._top - self._low) / self.step * (1.0 + 1e-12))
        return np.asarray(np.minimum(self._low + self.step * np.arange(count + 1), self._top))

    @property
    def low(self) -> float:
        return self._low

    def _high(self) -> float:
        return self._top

    @property
    def length(self) -> float:
        return self._top - self._low

    def clip(self, values: object) -> Floats:
        """Return the values, those outside moved to the nearer end; raise `OutsideDomain` for NaN."""
        array = numbers(values).astype(np.float64)
        if np.isnan(array).any():
            raise OutsideDomain("a value is NaN and cannot be clipped; replace or drop missing values first")
        return np.clip(array, self._low, self._top)

    def device(self) -> dict[str, Any]:
        return {"kind": self.kind, "low": self._low, "high": self._top}

    @classmethod
    def from_device(cls, data: Mapping[str, Any]) -> Self:
        return cls(real(data["low"]), real(data["high"]))

    def __str__(self) -> str:
        return f"[{show_number(self._low)}, {show_number(self._top)}]"

    def __repr__(self) -> str:
        more = "" if self.step is None else f", step={show_number(self.step)}"
        more += f", unit={self.unit!r}" if self.unit else ""
        return f"Interval({show_number(self._low)}, {show_number(self._top)}{more})"


@dataclass(frozen=True, init=False)
class Circle(Line):
    """The numbers from 0 to a period, with 0 and the period identified: angles, times of day.

    `step`, which divides the period, declares that answers are multiples of it; see `Interval`.

    >>> Circle(360).wrap([370, -10])
    array([ 10., 350.])
    """

    period: float
    step: float | None
    unit: str = field(compare=False)

    kind: ClassVar[str] = "circle"
    outside: ClassVar[str] = "wrap"

    def __init__(self, period: float = 2.0 * math.pi, *, step: float | None = None, unit: str = "") -> None:
        length = finite("the period", period)
        if not length > 0:
            raise InvalidParameter(f"the period of a circle must be positive, not {length:g}")
        extent("a circle", length)
        object.__setattr__(self, "period", length)
        width = check_step(step, length)
        if width is not None and abs(length / width - round(length / width)) > 1e-9:
            raise InvalidParameter("a circle's step divides its period")
        object.__setattr__(self, "step", width)
        object.__setattr__(self, "unit", check_unit(unit))

    def read_as(self, *, step: float | None = None, unit: str = "") -> Circle:
        return Circle(self.period, step=step, unit=unit)

    @property
    def points(self) -> Floats | None:
        if self.step is None:
            return None
        return np.asarray(self.step * np.arange(round(self.period / self.step)), dtype=np.float64)

    @property
    def low(self) -> float:
        return 0.0

    @property
    def length(self) -> float:
        return self.period

    def wrap(self, values: object) -> Floats:
        """Return finite numbers modulo the period, in [0, period)."""
        array = numbers(values).astype(np.float64)
        if not np.isfinite(array).all():
            raise OutsideDomain("a value is not a finite number")
        turned = np.mod(array, self.period)
        return np.where(turned >= self.period, 0.0, turned)  # −1e-20 modulo the period rounds to the period

    def clip(self, values: object) -> Floats:
        """Return the same angles in [0, period): on a circle clipping is wrapping."""
        return self.wrap(values)

    def difference(self, first: Floats, second: Floats) -> Floats:
        """Return first − second the short way round, in [−period/2, period/2]."""
        gap = np.asarray(first, dtype=np.float64) - second
        return np.asarray(gap - self.period * np.round(gap / self.period), dtype=np.float64)

    def distance(self, first: Floats, second: Floats) -> Floats:
        """Return the distance between angles, the short way round."""
        return np.abs(self.difference(first, second))

    def device(self) -> dict[str, Any]:
        return {"kind": self.kind, "period": self.period}

    @classmethod
    def from_device(cls, data: Mapping[str, Any]) -> Self:
        return cls(real(data["period"]))

    def __str__(self) -> str:
        return f"the circle [0, {show_number(self.period)}]"

    def __repr__(self) -> str:
        more = "" if self.step is None else f", step={show_number(self.step)}"
        more += f", unit={self.unit!r}" if self.unit else ""
        return f"Circle({show_number(self.period)}{more})"


def check_unit(unit: object) -> str:
    """Return the name of a unit; raise InvalidParameter unless it is a short text on one line."""
    if not isinstance(unit, str) or len(unit) > 40 or not unit.isprintable():
        raise InvalidParameter("a unit is a text of at most 40 characters on one line, such as 'minutes'")
    return unit


def check_step(step: object, length: float) -> float | None:
    """Return the distance of neighbouring answers, or None; raise InvalidParameter if it is impossible."""
    if step is None:
        return None
    width = finite("a step", step)
    if not 0.0 < width <= length * (1.0 + 1e-12):
        raise InvalidParameter("a step is positive and at most the length of the domain")
    if length / width > MOST_POINTS:
        raise InvalidParameter(f"a step declares at most {MOST_POINTS + 1} answers; leave it out for more")
    return width


def column(values: Any, names: Sequence[str], place: int) -> Any:
    """Return the values of one attribute from columns by name, a list of records, or an array."""
    name = names[place]
    if isinstance(values, list) and values and all(isinstance(record, Mapping) for record in values):
        if not all(name in record for record in values):
            raise OutsideDomain(f"a record has no {name!r}; every record has a value of each attribute")
        return [record[name] for record in values]
    if (
        isinstance(values, list | tuple | np.ndarray)
        and getattr(values, "dtype", np.dtype(int)).names is None
    ):
        table = regular(values)
        if table is None or table.ndim == 0 or table.shape[-1] != len(names):
            raise OutsideDomain(f"one column for each of {', '.join(names)} was expected, in this order")
        return table[..., place]
    try:
        return np.asarray(values[name])
    except (KeyError, IndexError, ValueError, TypeError, AttributeError):
        raise OutsideDomain(f"the data has no column {name!r}; name the columns as the attributes") from None


MOST_SIDES: Final = 8


@dataclass(frozen=True, init=False)
class Box(Domain):
    """Up to eight numbers of a person together, each with a name and an interval.

    Distances between records are Euclidean, every side of the box being 1 long. Values are columns by name (a
    dict of arrays, a dataframe), a list of records, or an array whose last axis runs over the numbers.

    >>> Box({"age": Interval(18, 100), "bmi": Interval(10, 60)}).check({"age": [40], "bmi": [22.5]})
    array([[40. , 22.5]])
    """

    names: tuple[str, ...]
    sides: tuple[Interval, ...]

    kind: ClassVar[str] = "box"
    outside: ClassVar[str] = "clip"

    def __init__(self, sides: Mapping[str, Interval]) -> None:
        if not isinstance(sides, Mapping) or not 2 <= len(sides) <= MOST_SIDES:
            raise InvalidParameter(f"give 2 to {MOST_SIDES} numbers by name, each a dt.Interval")
        for name, side in sides.items():
            if not isinstance(name, str) or not isinstance(side, Interval):
                raise InvalidParameter("every number has a name and is a dt.Interval")
        object.__setattr__(self, "names", tuple(sides))
        object.__setattr__(self, "sides", tuple(side.read_as(unit=side.unit) for side in sides.values()))

    @property
    def ends(self) -> tuple[tuple[float, float], ...]:
        """The lower and the upper end of every side."""
        return tuple((side.low, side.high) for side in self.sides)

    def to_unit(self, records: Floats) -> Floats:
        """Return records in units in which every side is [0, 1]."""
        low, high = np.array(self.ends).T
        return np.asarray((records - low) / (high - low))

    def from_unit(self, records: Floats) -> Floats:
        """Return records of [0, 1] in the user's units."""
        low, high = np.array(self.ends).T
        return np.asarray(low + records * (high - low))

    def check(self, values: object) -> Floats:
        """Return the numbers, a row for each person; raise OutsideDomain if one is not admitted."""
        return self._rows(values, Interval.check)

    def clip(self, values: object) -> Floats:
        """Return the records, every number outside moved to the nearer end."""
        return self._rows(values, Interval.clip)

    def _rows(self, values: object, way: Callable[[Interval, object], Array]) -> Floats:
        columns = []
        for place, (name, side) in enumerate(zip(self.names, self.sides, strict=True)):
            try:
                columns.append(way(side, column(values, self.names, place)).astype(np.float64))
            except OutsideDomain as error:
                raise OutsideDomain(f"{name}: {error}") from None
        if len({numbers.shape for numbers in columns}) != 1:
            raise OutsideDomain("the columns have different lengths; everybody has each of the numbers")
        return np.stack(columns, axis=-1)

    def device(self) -> dict[str, Any]:
        pairs = zip(self.names, self.ends, strict=True)
        return {"kind": self.kind, "sides": [[name, *ends] for name, ends in pairs]}

    @classmethod
    def from_device(cls, data: Mapping[str, Any]) -> Self:
        sides = {name: Interval(real(low), real(high)) for name, low, high in data["sides"]}
        if len(sides) != len(data["sides"]):
            raise InvalidParameter("the numbers of a box have different names")
        return cls(sides)

    def __str__(self) -> str:
        return " × ".join(f"{name} {side}" for name, side in zip(self.names, self.sides, strict=True))

    def __repr__(self) -> str:
        return f"Box({dict(zip(self.names, self.sides, strict=True))!r})"
