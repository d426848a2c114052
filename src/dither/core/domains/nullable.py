"""Numbers, angles and categories that may be missing: "no answer" is an input, as private as any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from dither.core.domains.categories import Categories
from dither.core.domains.domain import Domain, Line, numbers, read_domain, regular
from dither.core.domains.ranges import Clipping
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain, found
from dither.foundation.arrays import Array, Floats, Mask, is_nothing
from dither.foundation.canonical import Codec, Data, Fields

_NUMBERS: Final = (int, float, np.integer, np.floating)


def _read_line(data: Data) -> Line:
    of = read_domain(data)
    if not isinstance(of, Line):
        raise MalformedReport("expected an interval or a circle as the optional domain of a device text")
    return of


@dataclass(frozen=True, init=False)
class Nullable(Domain):
    """A number, an angle, a category, or no answer (None). "No answer" is as private as any answer.

    For numbers "no answer" has its own window, separate from the windows of the values. `Nullable` of
    `Categories` is `Categories` with one more label, None. Mask missing answers in arrays of numbers, because
    NaN is refused.

    >>> from dither.core.domains import Categories, Interval
    >>> Nullable(Interval(18, 100)).check([43, None])
    array([43., nan])
    >>> Nullable(Categories(["no", "yes"])).labels
    ('no', 'yes', None)
    """

    of: Line

    kind: ClassVar[str] = "optional"
    optional = True
    empty_is_value = True
    declares = Line.declares
    cell_type = "numbers"
    fields = Fields(of=Codec(Domain.device, _read_line))

    def __new__(cls, of: Domain) -> Any:
        """Return the optional domain; for categories it is `Categories`."""
        if not isinstance(of, Domain):
            raise InvalidParameter(
                f"expected a domain such as dt.Interval(18, 100) in dt.Nullable, got {found(of)}"
            )
        if isinstance(of, Line):
            return super().__new__(cls)
        if of.optional:
            return of
        if isinstance(of, Categories):
            return Categories([*of.labels, None])
        raise InvalidParameter(
            f"expected numbers, angles or categories in dt.Nullable, got {of}; make 'no answer' a value of "
            "its own, such as an item, a text or a place"
        )

    def __init__(self, of: Any) -> None:
        if isinstance(of, Line):  # Python also calls this for domains that are already optional
            object.__setattr__(self, "of", of)

    def __reduce__(self) -> tuple[Any, ...]:
        return Nullable, (self.of,)

    @property
    def line(self) -> Line:  # type: ignore[override]
        """The interval or circle of the answers."""
        return self.of

    @property
    def circular(self) -> bool:  # type: ignore[override]
        """Whether the answers are angles."""
        return self.of.circular

    @property
    def hint(self) -> str:  # type: ignore[override]
        """The hint of the domain of numbers for a value outside."""
        return self.of.hint

    @property
    def usual_mechanism(self) -> str:  # type: ignore[override]
        """The mechanism of a question that does not name one; it has a window for "no answer"."""
        return self.of.usual_mechanism or "Podium"

    def words(self) -> str:
        return f"{self.of.words()}, or no answer"

    def examples(self, *, few: bool = False) -> list[float | None]:
        """Return None for "no answer", and the examples of the answers."""
        return [None, *self.of.examples(few=few)]

    @property
    def outside(self) -> str:  # type: ignore[override]
        """The treatment of a number outside, the same as in the domain of numbers."""
        return self.of.outside

    @property
    def step(self) -> float | None:
        """The distance of neighbouring answers, if one is declared."""
        return self.of.step

    @property
    def scale(self) -> tuple[float, ...]:
        """The edges of the scale of the answers, if there is one."""
        return self.of.scale

    @property
    def clipping(self) -> Clipping | None:  # type: ignore[override]
        """How the answers are clipped, if they are."""
        return self.of.clipping

    @property
    def clipped_from(self) -> tuple[float, ...] | bool | None:
        """The declaration of clipped answers: see `Line.clipped_from`."""
        return self.of.clipped_from

    @property
    def unit(self) -> str:
        """The unit of the answers, for axes and printed results."""
        return self.of.unit

    def read_as(
        self,
        *,
        step: float | None = None,
        unit: str = "",
        scale: Sequence[float] = (),
        clipped_from: object = None,
    ) -> Nullable:
        """Return the same domain with other declarations of its answers, as `Interval.read_as` takes them."""
        of = self.of.read_as(step=step, unit=unit, scale=scale, clipped_from=clipped_from)
        made: Nullable = Nullable(of)
        return made

    def check(self, values: object) -> Floats:
        """Return numbers, NaN where there is no answer; raise `OutsideDomain` if a number is outside."""
        given, missing = _answers(self.of.plain(values))
        answered = given[~missing]
        if answered.size and not self.of.admits(answered):
            if np.isnan(answered).any():
                raise OutsideDomain(
                    'expected None for "no answer", got NaN, because NaN may be an error in the '
                    'data; pass None, or np.ma.masked_invalid(values) if NaN means "no answer"'
                )
            self.of.refuse()
        return np.where(missing, np.nan, given)

    def clip(self, values: object) -> Array:
        """Return the nearest values inside the domain; missing answers are masked."""
        given, missing = _answers(self.of.plain(values))
        inside = self.of.clip(np.where(missing, self.of.low, given))
        return np.ma.MaskedArray(inside, missing)

    def __str__(self) -> str:
        return f"{self.of} or no answer"

    def __repr__(self) -> str:
        return f"Nullable({self.of!r})"


def _answers(values: object) -> tuple[Floats, Mask]:
    """Return numbers as float64, and a mask of the missing ones: None, pandas' NA, or a masked entry."""
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
            raise OutsideDomain("expected numbers, or None for missing answers; check the values")
        try:
            return filled.astype(np.float64), missing
        except OverflowError:
            raise OutsideDomain(
                "expected finite numbers, got one that no float can hold; correct the value"
            ) from None
    given = numbers(values).astype(np.float64)
    return given, np.zeros(given.shape, dtype=np.bool_)
