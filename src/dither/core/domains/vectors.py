"""Vectors of many numbers, such as embeddings and gradients: a ball or a sphere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Final, Self

import numpy as np

from dither.core.domains.domain import Domain, extent, finite, numbers
from dither.core.domains.ranges import Clipping, clipping_of
from dither.errors import InvalidParameter, OutsideDomain, found
from dither.foundation.arrays import Floats
from dither.foundation.canonical import REAL, WHOLE, Codec, Fields, list_of, nullable

MOST_DIMENSION: Final = 1 << 16
_LONGER: Final = 1e-5  # relative to the length: rounding in single precision
_ON_SPHERE: Final = 1e-2  # embeddings in half precision have this length, up to rounding


def _read_exact(data: object) -> bool:
    if not isinstance(data, bool):
        raise InvalidParameter("expected exact to be true or false")
    return data


@dataclass(frozen=True)
class Vectors(Domain):
    """All vectors of a dimension whose distance from the centre is at most `length`; 0 is the usual centre.

    With `exact=True` every vector has this length, as embeddings often have: the error is a little smaller.
    Values are arrays whose last axis has the dimension, of any float type. `clipped_from` declares that
    longer vectors are shortened on purpose: it is the result of `dt.bounds` on lengths, or True. Estimates
    then state that vectors are shortened.

    >>> Vectors(3).check([[0.6, 0.0, 0.8]])
    array([[0.6, 0. , 0.8]])
    """

    dimension: int
    length: float = 1.0
    centre: Sequence[float] | None = None
    exact: bool = False
    clipped_from: object = field(default=None, compare=False, repr=False)
    clipping: Clipping | None = field(default=None, init=False, compare=False, repr=False)

    kind: ClassVar[str] = "vectors"
    outside: ClassVar[str] = "clip"
    cell_type = "none"
    keys = ("length", "exact", "centre")
    declares = ("clipped_from",)
    usual_mechanism = "Optimal"
    hint = "divide by a larger length, or use domain.clip(vectors)"
    fields = Fields(
        centre=nullable(list_of(REAL)), exact=Codec(bool, _read_exact), dimension=WHOLE, length=REAL
    )

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Self:
        """Return the vectors that `vectors = dimension`, `length`, `exact` and `centre` describe."""
        return cls(table[cls.kind], **{key: table[key] for key in cls.keys if key in table})

    def __post_init__(self) -> None:
        least = 2 if self.exact is True else 1
        size = self.dimension
        if (
            isinstance(size, bool)
            or not isinstance(size, int | np.integer)
            or not least <= size <= MOST_DIMENSION
        ):
            raise InvalidParameter(
                f"the dimension must be an integer from {least} to {MOST_DIMENSION}, not {found(size)}"
            )
        object.__setattr__(self, "dimension", int(size))
        if not isinstance(self.exact, bool):
            raise InvalidParameter(f"expected exact to be True or False, got {found(self.exact)}")
        object.__setattr__(self, "length", finite("the length", self.length))
        if not self.length > 0.0:
            raise InvalidParameter(f"expected the length of vectors to be positive, got {self.length:g}")
        extent("the length of vectors", self.length)
        if self.centre is not None:
            given = [finite("a number of the centre", number) for number in self.centre]
            if len(given) != self.dimension:
                raise InvalidParameter(f"expected {self.dimension} numbers as the centre, got {len(given)}")
            extent("the centre of vectors", self.length, *given)
            object.__setattr__(self, "centre", tuple(given) if any(given) else None)
        known = clipping_of(0.0, self.length, self.clipped_from)
        if known is not None:
            if self.exact:
                raise InvalidParameter(
                    "expected no clipped_from, because vectors of one exact length are not clipped; "
                    "leave it out"
                )
            of = "lengths" if self.centre is None else "distances from the centre"
            object.__setattr__(self, "clipping", replace(known, name=f"vectors with {of}"))
            object.__setattr__(self, "clipped_from", known.outside or True)

    def read_as(self, *, clipped_from: object = None) -> Vectors:
        """Return the same vectors with another declaration that longer vectors are shortened."""
        return Vectors(self.dimension, self.length, self.centre, self.exact, clipped_from=clipped_from)

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """The shape of one vector."""
        return (self.dimension,)

    @cached_property
    def middle(self) -> Floats:
        """The centre as an array."""
        return np.zeros(self.dimension) if self.centre is None else np.array(self.centre)

    def _relative(self, values: object) -> Floats:
        """Return vectors relative to the centre, in units of the length."""
        array = numbers(values)
        if array.ndim == 0 or array.shape[-1] != self.dimension:
            if array.size == 0:
                return np.zeros((0, self.dimension))
            raise OutsideDomain(
                f"expected an array whose last axis has length {self.dimension}; check the dimension"
            )
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray((array.astype(np.float64) - self.middle) / self.length)

    def check(self, values: object) -> Floats:
        """Return the vectors as an array of floats; raise OutsideDomain if one is too long or not finite.

        Longer vectors are shortened if `clipped_from` declares it.
        """
        if self.clipping is not None:
            return self.clip(values)
        relative = self._relative(values)
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = np.sqrt((relative * relative).sum(axis=-1))
        fits = lengths <= 1.0 + _LONGER
        if self.exact:
            fits = np.abs(lengths - 1.0) <= _ON_SPHERE
        if not bool(np.all(fits)):  # NaN does not fit
            most = "" if self.exact else "at most "
            about = "" if self.centre is None else " from the centre"
            raise OutsideDomain(
                f"expected finite vectors of length {most}{self.length:g}{about}, got another one; "
                "check the data, state another length, or use domain.clip(vectors)"
            )
        return np.asarray(numbers(values), dtype=np.float64) if relative.size else relative

    def clip(self, values: object) -> Floats:
        """Return the nearest vectors of the domain: longer ones are shortened; raise if one is not finite."""
        relative = self._relative(values)
        if not np.isfinite(relative).all():
            raise OutsideDomain(
                "expected finite numbers in every vector, got NaN or an infinity; replace it or drop "
                "the vector"
            )
        largest = np.abs(relative).max(axis=-1, keepdims=True, initial=0.0)
        if self.exact:
            if not (largest > 0.0).all():
                raise OutsideDomain("expected vectors with a direction, got one at the centre; leave it out")
            short = relative / largest  # without overflow
            unit = short / np.sqrt((short * short).sum(axis=-1, keepdims=True))
            return np.asarray(self.middle + self.length * unit)
        scaled = relative / np.maximum(largest, 1.0)
        lengths = np.sqrt((scaled * scaled).sum(axis=-1, keepdims=True)) * np.maximum(largest, 1.0)
        return np.asarray(self.middle + self.length * (relative / np.maximum(lengths, 1.0)))

    def words(self) -> str:
        return str(self)

    def examples(self, *, few: bool = False) -> list[Floats]:
        """Return opposite vectors along the first axis, one along the last, the diagonal, and the centre."""
        first, last = np.eye(self.dimension)[0], np.eye(self.dimension)[-1]
        ones = np.ones(self.dimension) / np.sqrt(self.dimension)
        tried = [first, -first, ones, last, *([] if self.exact else [np.zeros(self.dimension)])]
        return [np.asarray(self.middle + self.length * vector) for vector in tried]

    def __str__(self) -> str:
        most, about = "" if self.exact else "≤ ", "" if self.centre is None else " from a centre"
        return f"vectors of {self.dimension} numbers, of length {most}{self.length:g}{about}"
