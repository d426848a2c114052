"""The interface of domains, and domains of numbers: an interval and a circle."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self

import numpy as np

from dither.core.domains.calendar import Calendar
from dither.core.domains.ranges import Clipping, check_scale, clipping_of, name_of_scale, scale_edges
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain, found
from dither.foundation.arrays import Array, Floats
from dither.foundation.canonical import REAL, Codec, Data, Fields
from dither.foundation.digits import THIN, plain
from dither.privacy import Unit

if TYPE_CHECKING:
    from dither.core.domains.categories import Categories

BLOCK = 1 << 15  # values processed together, so that they stay in the cache

# Bounds on the numbers of a domain: products of four of them, or of their inverses, are normal doubles.
LEAST_LENGTH: Final = 1e-30
MOST_NUMBER: Final = 1e30
_MOST_AXES: Final = 32  # the most axes over which numpy iterates
_DENORMAL: Final = 5e-324
_WITHIN: Final = (0.5, 0.03, 0.25, 0.77, 0.97)  # inputs inside a line, as shares of it
_ROUNDED: Final = 2.0**-20  # relative to the length: rounding to the values' dtype may move an end by this


_KINDS: Final[dict[str, type[Domain]]] = {}
_OWN: Final = "dither."  # modules of dither

# How a column of a table holds values; "none" if it is impossible.
Table = Mapping[str, Any]  # a question in TOML
CellType = Literal["numbers", "codes", "labels", "sets", "none"]


class Domain(ABC):
    """The set of possible values of a question. It is public and must not depend on anybody's value.

    Other modules use the attributes and methods of a domain and do not test its class. A class that is
    defined outside of dither is registered under its `kind` when it is defined.
    """

    kind: ClassVar[str] = ""  # the name in a device text, and the key in a table of TOML
    fields: ClassVar[Fields]  # the other members of the domain in a device text
    outside: ClassVar[str]  # the treatment of a value outside: "clip", "wrap" or "refuse"
    optional: bool = False  # True if "no answer" (None) is an input, as private as any other
    circular: bool = False  # True if values are angles: the smallest equals the largest
    line: Line | None = None  # the interval or circle of the values; also of a number that may be missing
    clipping: Clipping | None = None  # set if values outside are moved to the ends on purpose
    listed: Categories | None = None  # the public list; a value is one of its labels, or several
    count: int | None = None  # the number of different values, if they are listed
    sets: bool = False  # True if a value is a set of labels of the list
    most: int = 1  # the largest number of labels in a value
    shape: tuple[int, ...] = ()  # shape of one value in an array; a location is a path of length 1
    protects: ClassVar[Unit] = "value"  # the unit of the promise of one report
    cell_type: CellType = "labels"
    from_table: ClassVar[Any] = None  # reads a table of TOML with the key `kind`; None without such tables
    empty_is_value: bool = False  # True if an empty cell of a table is a value, such as the empty set
    declares: ClassVar[tuple[str, ...]] = ()  # declarations that devices do not know; `read_as` takes them
    keys: ClassVar[tuple[str, ...]] = ()  # keys of that table other than `kind`
    usual_mechanism: str | None = None  # default of questions that name no mechanism; None if it depends on ε
    hint: str = "add a category for all other answers"  # the remedy for a value outside, for errors

    def __init_subclass__(cls, **more: object) -> None:
        super().__init_subclass__(**more)
        if "kind" in vars(cls):
            if not cls.__module__.startswith(_OWN) and _KINDS.get(cls.kind, cls).__module__.startswith(_OWN):
                raise InvalidParameter(
                    f"expected a kind that no domain of dither has, got {cls.kind!r}; choose another name"
                )
            if not hasattr(cls, "fields") and cls.device is Domain.device:
                raise InvalidParameter(
                    f"expected {cls.__name__} to state `fields`, or to define `device` and `from_device`"
                )
            _KINDS[cls.kind] = cls

    @abstractmethod
    def check(self, values: object) -> Array:
        """Return the values as an array; raise `OutsideDomain` if one is not in the domain."""

    @abstractmethod
    def clip(self, values: object) -> Array:
        """Return the nearest values inside the domain."""

    def device(self) -> dict[str, Any]:
        """Return the domain as JSON-compatible data."""
        return {"kind": self.kind, **self.fields.write(self)}

    @classmethod
    def from_device(cls, data: Data) -> Self:
        """Return the domain that `device` describes."""
        return cls(**cls.fields.read(data))

    @abstractmethod
    def words(self) -> str:
        """Return the values in words for the people who answer, such as "a number from 18 to 100"."""

    @abstractmethod
    def examples(self, *, few: bool = False) -> list[Any]:
        """Return the inputs that an audit tries, those that detect the most errors first.

        With `few`, return only the inputs for which it lists the probabilities of all reports.
        """

    @property
    def portable(self) -> bool:
        """Whether programs in any language can read the result of `device`, without labels of Python only."""
        return _portable(self.device())


def _portable(data: object) -> bool:
    if isinstance(data, dict):
        return "python" not in data and all(map(_portable, data.values()))
    return not isinstance(data, list) or all(map(_portable, data))


def known_kinds() -> dict[str, type[Domain]]:
    """Return the classes of domains by their names in device texts, including classes of other packages."""
    return dict(_KINDS)


def read_domain(data: Mapping[str, Any]) -> Domain:
    """Return the domain that JSON-compatible data describe; raise MalformedReport for other data."""
    try:
        return _KINDS[data["kind"]].from_device(data)
    except InvalidParameter as error:
        raise MalformedReport(f"expected a valid domain in the specification: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        kinds = ", ".join(_KINDS)
        raise MalformedReport(f"expected a complete domain in the specification, one of {kinds}") from None


DOMAIN: Final = Codec(Domain.device, read_domain)


class Line(Domain):
    """A domain of one number: an interval or a circle. `unit` is only for axes and printed results."""

    step: float | None
    unit: str
    scale: tuple[float, ...] = ()  # the edges between which values are interpolated: see `Interval`

    cell_type = "numbers"
    keys: ClassVar[tuple[str, ...]] = ("step", "unit")
    declares = ("step", "unit", "scale", "clipped_from")
    hint = "change it, widen the domain, or use outside='clip'"

    def examples(self, *, few: bool = False) -> list[float]:
        """Return both ends of the line, values within it, and those next to its ends and to 0."""
        low, high = float(self.low), float(self.high)
        within = [float(value) for value in self.from_unit(np.array(_WITHIN))]
        near = [math.nextafter(low, high), math.nextafter(high, low), _DENORMAL, -_DENORMAL, 0.0]
        tried = [value for value in [low, high, *within, *near] if self.admits(np.array([value]))]
        if few:
            return list(dict.fromkeys(tried))
        third, half = (float(self.from_unit(np.array(share))) for share in (1 / 3, 0.5))
        opposite = [half] if self.circular else []
        ugly = [third, math.nextafter(third, high)]  # numbers whose last bits are not zero
        return list(dict.fromkeys([low, high, *opposite, *ugly, *tried]))

    def read_as(
        self,
        *,
        step: float | None = None,
        unit: str = "",
        scale: Sequence[float] = (),
        clipped_from: object = None,
    ) -> Self:
        """Return the same domain with other declarations; devices do not know them: see `Interval`.

        They are `step`, `unit`, the edges of a `scale`, and `clipped_from`.
        """
        declared: dict[str, Any] = {"step": step, "unit": unit}
        if scale or clipped_from is not None:
            if self.circular:
                raise InvalidParameter("expected an interval: only intervals have a scale or clipped values")
            declared |= {"scale": scale, "clipped_from": clipped_from}
        return type(self)(**self.fields.write(self), **declared)

    def has_values_of(self, other: Domain) -> bool:
        """Return whether another domain has the same values for devices; its declarations may differ."""
        return isinstance(other, Line) and (self.kind, self.low, self.high) == (
            other.kind,
            other.low,
            other.high,
        )

    @property
    def clipped_from(self) -> tuple[float, ...] | bool | None:
        """The share of people outside with its interval, True if it is not known; None without clipping."""
        return None if self.clipping is None else self.clipping.outside or True

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
    def line(self) -> Self:  # type: ignore[override]
        """The domain itself."""
        return self

    @property
    def plain_unit(self) -> str:
        """The unit as a campaign states it; empty for dates and times, because its terms declare them."""
        return "" if isinstance(self.unit, Calendar) else self.unit

    def plain(self, values: object) -> object:
        """Return values as numbers if they are dates or times, else unchanged."""
        if not isinstance(self.unit, Calendar) or isinstance(values, np.ma.MaskedArray):
            return values
        array = regular(values)
        return values if array is None else self.unit.numbers(array)

    @property
    def shown(self) -> Line:
        """The line of people's values: itself, or the line of the values on a scale."""
        if not self.scale or self.parts > 1:
            return self
        return Interval(self.scale[0], self.scale[-1], unit=self.unit, scale=self.scale)

    @property
    def parts(self) -> int:
        """The number of parts of the scale whose edges these values are interpolated between; else 1."""
        inside = self.scale and (self.low, self._high()) == (self.scale[0], self.scale[-1])
        return len(self.scale) - 1 if inside else 1

    def positions(self, values: object) -> Floats:
        """Return the positions of values on the scale, clipped to its ends; without a scale, the values."""
        if not self.scale or self.parts > 1:
            return np.asarray(self.clip(values), dtype=np.float64)
        array = numbers(values).astype(np.float64)
        return np.asarray(np.interp(array, self.scale, np.arange(len(self.scale))), dtype=np.float64)

    @property
    def points(self) -> Floats | None:
        """The possible answers in increasing order; None if an answer may be any number."""
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
        array = numbers(self.plain(values))
        flat = array.reshape(-1)
        for begin in range(0, flat.size, BLOCK):
            if not self.admits(flat[begin : begin + BLOCK]):
                self.refuse()
        return array

    def refuse(self) -> None:
        """Raise the error for a value outside; the message does not contain the value."""
        raise OutsideDomain(
            f"expected finite numbers in {self}, got one outside; check the data, or use "
            f"{self!r}.clip(values) first"
        )

    def to_unit(self, values: Floats) -> Floats:
        """Return the values in units in which the domain is [0, 1]."""
        if self.parts > 1:
            return np.asarray(np.interp(values, self.scale, np.linspace(0.0, 1.0, self.parts + 1)))
        return np.asarray((values - self.low) / self.length, dtype=np.float64)

    def from_unit(self, values: Floats) -> Floats:
        """Return values on [0, 1] in the user's units."""
        if self.parts > 1:
            return np.asarray(np.interp(values, np.linspace(0.0, 1.0, self.parts + 1), self.scale))
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
        raise OutsideDomain(
            "expected values without a mask, got a masked array; replace or drop missing values first"
        )
    array = regular(values)
    if array is None:
        raise OutsideDomain("expected a regular array of numbers; give all rows the same length")
    if array.dtype.kind not in "fiu":
        if array.size == 0 and array.dtype.kind in "Ob":
            return np.zeros(array.shape)
        if array.dtype.kind == "O" and any(item is None for item in array.flat):
            raise OutsideDomain(
                "expected numbers, got None; leave out people without an answer, or let them answer in "
                "private: dt.Nullable(domain)"
            )
        raise OutsideDomain(f"expected numbers, got an array of dtype {array.dtype.name!r}; convert it first")
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
        raise OutsideDomain("expected values that form an array of up to 32 axes; reshape it first")
    return array


def regular(values: object) -> Array | None:
    """Return values as an array, or None. numpy's errors may contain a value, so they must not leave here."""
    try:
        return np.asarray(_without_torch(values))
    except (TypeError, ValueError, OverflowError):
        return None


def _without_torch(values: object) -> object:
    """Return a tensor of PyTorch as one that numpy reads: in memory, without gradient, of 64 bits."""
    detach = getattr(values, "detach", None)
    if detach is None:
        return values
    plain = detach().cpu()
    return plain.double() if plain.is_floating_point() else plain


def check_domain(domain: object) -> Domain:
    """Return the domain; raise InvalidParameter if the object is not a domain."""
    if not isinstance(domain, Domain):
        raise InvalidParameter(
            f"expected a domain, such as dt.Interval(18, 100) or dt.Categories([…]), got {found(domain)}"
        )
    return domain


def finite(name: str, value: object) -> float:
    """Return a public parameter as a finite float; raise InvalidParameter if it is not one."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise InvalidParameter(f"{name} must be a number, not {found(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InvalidParameter(f"expected {name} to be finite, got {found(value)}")
    return number


def show_number(number: float) -> str:
    """Return a public number as text with all its digits: 18 instead of 18.0."""
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


MOST_POINTS: Final = 500  # largest number of declared answers, less one


@dataclass(frozen=True, init=False)
class Interval(Line):
    """The numbers from low to high, both included.

    `step` declares that answers are low, low + step, low + 2·step and so on. Only `dt.distribution` uses it:
    devices do not round. `unit`, such as "minutes", is shown on axes and in printed results. Neither is in
    the device text or the fingerprint. Both are stored in the head of a file of reports and in a published
    campaign.

    `clipped_from` declares that values outside are moved to the ends on purpose. It is the result of
    `dt.bounds`, or the interval that the values come from. Every estimate then states this: it is the mean of
    values clipped to [low, high], with the share of people outside if that is known. `on_scale` returns an
    interval of positions on a scale. Estimates use its declared edges to map positions back to values.

    >>> Interval(18, 100).clip([17, 50])
    array([18., 50.])
    >>> Interval(0, 20, step=5).points
    array([ 0.,  5., 10., 15., 20.])
    >>> Interval(10, 100, clipped_from=Interval(0, 1440)).clipping.values
    'values clipped to [10, 100]'
    """

    _low: float
    _top: float
    step: float | None
    unit: str = field(compare=False)
    scale: tuple[float, ...] = field(compare=False)
    clipping: Clipping | None = field(compare=False)

    kind: ClassVar[str] = "interval"
    keys: ClassVar[tuple[str, ...]] = ("step", "unit", "scale", "clipped", "outside")
    outside: ClassVar[str] = "clip"
    fields = Fields(low=REAL.member(attribute="_low"), high=REAL.member(attribute="_top"))

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Return the interval of a table `interval = [low, high]` with its declarations."""
        ends = table[cls.kind]
        if not isinstance(ends, list | tuple) or len(ends) != 2:
            raise InvalidParameter("expected a pair of numbers: interval = [low, high]")
        clipped, outside = table.get("clipped", False), table.get("outside", ())
        if not isinstance(clipped, bool) or (outside and not clipped) or (clipped and "scale" in table):
            raise InvalidParameter(
                "expected clipped = true or false; write outside only with clipped = true, and clipped "
                "without a scale"
            )
        declared = {key: table[key] for key in ("step", "unit", "scale") if key in table}
        return cls(*ends, **declared, clipped_from=(outside or True) if clipped else None)

    def __init__(
        self,
        low: float,
        high: float,
        *,
        step: float | None = None,
        unit: str = "",
        clipped_from: object = None,
        scale: Sequence[float] = (),
    ) -> None:
        lower, upper = finite("the lower bound", low), finite("the upper bound", high)
        if not lower < upper:
            raise InvalidParameter(
                f"expected the lower bound of an interval to be below its upper bound, got {lower:g} and "
                f"{upper:g}; exchange them"
            )
        extent("an interval", upper - lower, lower, upper)
        object.__setattr__(self, "_low", lower)
        object.__setattr__(self, "_top", upper)
        object.__setattr__(self, "step", check_step(step, upper - lower))
        object.__setattr__(self, "unit", check_unit(unit))
        known = None if clipped_from is None else clipping_of(lower, upper, clipped_from, self.unit)
        edges = check_scale(scale, lower, upper, step) if scale else ()
        object.__setattr__(self, "scale", edges)
        object.__setattr__(self, "clipping", known)

    def on_scale(self, scale: str = "log") -> Interval:
        """Return an interval of positions on a scale of these numbers: "log" or "linear", in 32 parts.

        A logarithmic scale suits numbers whose size is not known. `positions` maps values to positions, and
        devices report those. Estimates map positions back to values. Dates have a linear scale only, and its
        positions are the dates.

        >>> wide = Interval(0, 1440).on_scale("log")
        >>> wide.positions([0, 1, 1440])
        array([ 0.,  1., 32.])
        """
        edges = scale_edges({"interval": [self._low, self._top], "scale": scale})
        if isinstance(self.unit, Calendar):
            if scale != "linear":
                raise InvalidParameter('expected a linear scale for dates: .on_scale("linear")')
            return self.read_as(scale=edges, unit=self.unit)
        return Interval(0, len(edges) - 1, scale=edges, unit=self.unit)

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
        array = numbers(self.plain(values)).astype(np.float64)
        if np.isnan(array).any():
            raise OutsideDomain("expected numbers to clip, got NaN; replace or drop missing values first")
        return np.clip(array, self._low, self._top)

    def words(self) -> str:
        if isinstance(self.unit, Calendar):
            first, last = self.unit.text(self._low), self.unit.text(self._top)
            if self.clipping is not None:
                return f"a date; one before {first} counts as {first}, one after {last} as {last}"
            return f"a date from {first} to {last}"
        unit = f"{THIN}{self.unit}" if self.unit else ""
        if self.clipping is not None:
            return (
                f"a number; one below {plain(self._low)} counts as {plain(self._low)}{unit}, one above "
                f"{plain(self._top)} as {plain(self._top)}{unit}"
            )
        line = self.shown
        return f"a number from {plain(line.low)} to {plain(line.high)}{unit}"

    def __str__(self) -> str:
        show = self.unit.text if isinstance(self.unit, Calendar) else show_number
        return f"[{show(self._low)}, {show(self._top)}]"

    def __repr__(self) -> str:
        if isinstance(self.unit, Calendar) and self.step is None:
            more = self.unit.in_zone
            more += f", clipped_from={self.clipped_from}" if self.clipping is not None else ""
            scaled = ".on_scale('linear')" if self.scale else ""
            return f"Dates({self.unit.text(self._low)!r}, {self.unit.text(self._top)!r}{more}){scaled}"
        more = "" if self.step is None else f", step={show_number(self.step)}"
        more += f", unit={self.unit!r}" if self.unit else ""
        if self.clipping is not None:
            more += f", clipped_from={self.clipped_from}"
        if self.scale and self.parts == 1:
            ends = ", ".join(map(show_number, (self.scale[0], self.scale[-1])))
            return f"Interval({ends}{more}).on_scale({name_of_scale(self.scale)!r})"
        return f"Interval({show_number(self._low)}, {show_number(self._top)}{more})"


@dataclass(frozen=True, init=False)
class Circle(Line):
    """The numbers from 0 to a period, with 0 and the period identified: angles, times of day.

    `step` declares that answers are multiples of it; it must divide the period. See `Interval`.

    >>> Circle(360).wrap([370, -10])
    array([ 10., 350.])
    """

    period: float
    step: float | None
    unit: str = field(compare=False)

    kind: ClassVar[str] = "circle"
    outside: ClassVar[str] = "wrap"
    circular = True
    usual_mechanism = "OGPM"
    fields = Fields(period=REAL)

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Return the circle that `circle = period`, `step` and `unit` describe."""
        return cls(table[cls.kind], step=table.get("step"), unit=table.get("unit", ""))

    def __init__(self, period: float = 2.0 * math.pi, *, step: float | None = None, unit: str = "") -> None:
        length = finite("the period", period)
        if not length > 0:
            raise InvalidParameter(f"expected the period of a circle to be positive, got {length:g}")
        extent("a circle", length)
        object.__setattr__(self, "period", length)
        width = check_step(step, length)
        if width is not None and abs(length / width - round(length / width)) > 1e-9:
            raise InvalidParameter("expected a step that divides the period of the circle")
        object.__setattr__(self, "step", width)
        object.__setattr__(self, "unit", check_unit(unit))

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
        array = numbers(self.plain(values)).astype(np.float64)
        if not np.isfinite(array).all():
            raise OutsideDomain(
                "expected finite numbers, got NaN or an infinity; leave it out, or ask an optional question"
            )
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

    def words(self) -> str:
        if isinstance(self.unit, Calendar):
            return "a time of the day"
        return f"a direction on a circle of {plain(self.period)}"

    def __str__(self) -> str:
        if isinstance(self.unit, Calendar):
            return "the times of a day"
        return f"the circle [0, {show_number(self.period)}]"

    def __repr__(self) -> str:
        if isinstance(self.unit, Calendar) and self.step is None:
            return f"Times({self.unit.in_zone.removeprefix(', ')})"
        more = "" if self.step is None else f", step={show_number(self.step)}"
        more += f", unit={self.unit!r}" if self.unit else ""
        return f"Circle({show_number(self.period)}{more})"


_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def check_unit(unit: object) -> str:
    """Return the name of a unit; raise InvalidParameter unless it is a short text on one line."""
    # A signed campaign accepts fewer units: see docs/wire.md, "Words".
    calendar = Calendar.of(unit) if unit else None
    if calendar is not None:
        return calendar
    if not isinstance(unit, str) or len(unit) > 40 or _CONTROLS.search(unit):
        raise InvalidParameter(
            "expected a unit to be a text of at most 40 characters on one line, such as 'minutes'"
        )
    return unit


def check_step(step: object, length: float) -> float | None:
    """Return the distance between adjacent answers, or None; raise InvalidParameter if it is impossible."""
    if step is None:
        return None
    width = finite("a step", step)
    if not 0.0 < width <= length * (1.0 + 1e-12):
        raise InvalidParameter("expected a step to be positive and at most the length of the domain")
    if length / width > MOST_POINTS:
        raise InvalidParameter(
            f"expected a step that declares at most {MOST_POINTS + 1} answers, got a smaller one; choose "
            "a larger step, or leave it out"
        )
    return width
