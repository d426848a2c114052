"""The base class of mechanisms whose values are paths."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import inf, isfinite
from typing import Any, Final, Generic, Self, TypeVar, cast, final

import numpy as np

from dither.arrays import Array, Floats, Integers, Mask
from dither.domains import Domain, Paths, Plane, finite
from dither.errors import InvalidParameter, MalformedReport, NotIdentifiable, found
from dither.kernels.blocks import FEW
from dither.kernels.counting import Counting, NotCounted
from dither.kernels.kernel import Kernel
from dither.kernels.transition import Product
from dither.mechanisms.base import MOST_EPSILON, Mechanism, check_epsilon
from dither.mechanisms.combined.post_processing import PostProcessing
from dither.mechanisms.separate import SeparateValues, separate_paths
from dither.privacy import Bound, Nothing, Pure, Unit
from dither.privacy.guarantee import PUBLIC_LENGTH
from dither.privacy.split import rest, share
from dither.randomness import Source
from dither.reports import Reports

Area = TypeVar("Area", bound=Plane)
Runs = TypeVar("Runs", bound=Kernel)
Rows = Callable[[Integers], Floats]  # from indices of reports to their probabilities in every cell

_MOST_SHARED: Final = 1e6  # the largest budget for a whole trajectory


class PlaceLikelihood(ABC):
    """The likelihood of reports of locations for given cells; a cell is a sample of places, averaged."""

    @abstractmethod
    def of(self, reports: Array) -> Rows:
        """Return a function from indices of reports to their probabilities in each cell.

        Each row is determined up to a factor. Reports must be whole paths, with the marks of their
        beginnings.
        """


@final
@dataclass(frozen=True)
class Separable:
    """P(report | cell of a grid) for two coordinates that are reported independently."""

    operator: Product
    groups: Callable[[Array], Integers]  # from reports, with their marks, to rows of the operator


@dataclass(frozen=True)
class PathMechanism(Mechanism[Area], Generic[Area, Runs]):
    """A mechanism for places, applied to each location of a path.

    A report is a few integers for each location. The first of them is 1 where a path begins and 0 elsewhere:
    the lengths of paths are public. `unit` is what ε is for: one location, or a whole trajectory, whose
    locations then have equal shares. `reading` is a post-processing of the decoded places.
    """

    _: KW_ONLY
    unit: Unit = Unit.LOCATION
    reading: PostProcessing | None = None

    def _budget(self) -> float:
        if self.reading is not None and not isinstance(self.reading, PostProcessing):
            raise InvalidParameter(
                f"reading must be dt.Rounded, dt.Snapped, dt.Projected or None, not {found(self.reading)}"
            )
        if self.unit not in (Unit.LOCATION, Unit.TRAJECTORY):
            raise InvalidParameter(f"unit must be dt.LOCATION or dt.TRAJECTORY, not {found(self.unit)}")
        if self.unit is Unit.LOCATION:
            return check_epsilon(self.epsilon)
        budget = finite("epsilon", self.epsilon)
        if not 0.0 < budget <= _MOST_SHARED:
            raise InvalidParameter(
                f"epsilon of a trajectory must be positive and at most {_MOST_SHARED:g}, not {budget:g}"
            )
        return budget

    @abstractmethod
    def _kernel(self) -> Runs:
        """Return what devices run for one location, with the largest ratios that ε allows."""

    def _check_travelled(self, kernel: Any) -> None:
        """Raise an error unless the kernel of a specification fits this mechanism and spends at most ε."""
        own = self._kernel()
        if type(kernel) is not type(own) or kernel.layout != own.layout:
            raise MalformedReport(f"the kernel is not one of {type(self).__name__} with these parameters")
        if self.keeps and kernel.epsilon > self.epsilon:
            raise InvalidParameter(f"the kernel spends more than ε = {self.epsilon:g}")

    @final
    @cached_property
    def kernel(self) -> Runs:
        """What devices run for one location; if ε is for a trajectory, for a path of one location."""
        if self.unit is not Unit.LOCATION:
            return self.per_location(1).kernel
        if self.travelled is None:
            return self._kernel()
        self._check_travelled(self.travelled.kernel)
        return cast(Runs, self.travelled.kernel)

    def _send(self, paths: Paths, source: Source, threads: int) -> Array:
        """Draw the reports of all locations, with ε for each; the places have been checked."""
        few = len(paths.points) < FEW
        drawn = (
            self.kernel.draw_singly(paths.points, source)
            if few
            else self.kernel.draw(paths.points, source, threads=threads)
        )
        return drawn.reshape(len(paths.points), self.columns)

    @abstractmethod
    def _receive(self, cells: Array, begins: Mask) -> Floats:
        """Return the decoded places of all locations; `begins` marks the first locations of paths."""

    def likelihood(self, cells: Floats) -> PlaceLikelihood:
        """Return the likelihood of reports for cells, an array of a few places for each cell."""
        raise NotIdentifiable(
            f"a report of {type(self).__name__} depends on several locations at once; "
            f"maps are made from reports of TraCSC, TraCSD, PlanarLaplace, NGram, LSRR and Gridding"
        )

    def separable(self, shape: tuple[int, int]) -> Separable | None:
        """Return the likelihood on a grid over the domain if the coordinates are independent, else None."""
        return None

    def _realised(self) -> tuple[Bound, str]:
        """Return the bound of one location from the integers, and a text that says how."""
        return Pure(self.kernel.epsilon), self.kernel.evidence

    @property
    def keeps(self) -> bool:
        """Whether ε holds; it does not for some mechanisms that are reproduced as published."""
        return True

    @property
    def most(self) -> float:
        """A certified bound on what one location spends, at most ε if `keeps` is True."""
        return float(getattr(self._realised()[0], "epsilon", inf))

    @final
    @property
    def columns(self) -> int:
        """The number of integers of a location, without the mark of a beginning."""
        shape = self.kernel.layout.shape
        return shape[0] if shape else 1

    @final
    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the integers of a report."""
        return self.kernel.layout.base

    @property
    def area(self) -> Area:
        """The domain of the places."""
        return self.domain

    @final
    def per_location(self, length: int) -> Self:
        """Return the mechanism for each location of a path of this length."""
        return self if self.unit is Unit.LOCATION else _per_location(self, length)

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        paths = Paths.of(values)
        self.area.check(paths.points)
        cells = np.empty((len(paths.points), 1 + self.columns), dtype=self.dtype)
        cells[:, 0] = paths.begins
        for mechanism, part, rows in self.divided(paths):
            cells[rows, 1:] = mechanism._send(part, source, threads)
        return cells.reshape(*self._shape(values, paths), 1 + self.columns)

    @final
    def separate(self, values: object) -> SeparateValues:
        """Return the paths one by one: a whole path is one value."""
        paths = Paths.of(values)
        self.area.check(paths.points)
        return separate_paths(paths, self._shape(values, paths))

    @staticmethod
    def _shape(values: object, paths: Paths) -> tuple[int, ...]:
        """Return the shape of the reports, without the axis of the numbers of a location."""
        return np.shape(values)[:-1] if isinstance(values, np.ndarray) else (len(paths.points),)

    @final
    def divided(self, paths: Paths) -> Iterator[tuple[Self, Paths, slice | Array]]:
        """Yield the mechanisms of one location, each with its paths and the rows of their locations."""
        if self.unit is Unit.LOCATION:
            yield self, paths, slice(None)
            return
        lengths = paths.lengths
        for length in np.unique(lengths):
            begins = paths.offsets[:-1][lengths == length]
            rows = (begins[:, None] + np.arange(length)).reshape(-1)
            part = Paths(paths.points[rows], np.arange(0, rows.size + 1, length, dtype=np.int64))
            yield self.per_location(int(length)), part, rows

    @final
    def decode(self, cells: Array) -> Floats:
        """Return the decoded places of reports."""
        flat = np.asarray(cells).reshape(-1, 1 + self.columns)
        begins = flat[:, 0] != 0
        places = np.empty((len(flat), 2))
        if len(flat) and not begins[0]:
            raise MalformedReport("these reports begin in the middle of a path; give them from its beginning")
        if self.unit is Unit.LOCATION:
            places[:] = self._receive(flat[:, 1:], begins)
        else:
            for mechanism, part, rows in self.divided(Paths.begun(places, begins)):
                places[rows] = mechanism._receive(flat[rows, 1:], part.begins)
        if self.reading is not None:
            places = self.reading(places)
        return places.reshape(*np.shape(cells)[:-1], 2)

    @final
    def read(self, reading: PostProcessing | None) -> Self:
        """Return the same mechanism with another post-processing of places: `read(dt.Rounded(points))`."""
        return replace(self, reading=reading)

    @final
    def paths(self, reports: Reports) -> Paths:
        """Return the decoded places of reports, as paths."""
        own = self.reports(reports)
        return Paths.begun(own.values.reshape(-1, 2), own.cells[..., 0].reshape(-1) != 0)

    @final
    def _valid(self, raw: Array) -> Array:
        if raw.size == 0:
            return np.zeros((0, 1 + self.columns), dtype=self.dtype)
        if raw.ndim == 0 or raw.shape[-1] != 1 + self.columns:
            raise MalformedReport(
                f"a report has {1 + self.columns} whole numbers for each location: whether a path begins "
                f"there, and {self.columns} cell{'s' if self.columns > 1 else ''}"
            )
        marks, told = raw[..., 0], raw[..., 1:]
        if marks.min() < 0 or marks.max() > 1:
            raise MalformedReport(
                "the first number of a report must be 1 where a path begins, and 0 elsewhere"
            )
        self.kernel.check(told if self.kernel.layout.shape else told[..., 0])
        if not raw.reshape(-1, 1 + self.columns)[0, 0]:
            raise MalformedReport("these reports begin in the middle of a path; give them from its beginning")
        return raw.astype(self.dtype, copy=False)

    @final
    def realised(self) -> tuple[Bound, str]:
        """Return the bound computed from the integers that are sampled, and a text that says how."""
        bound, how = self.per_location(1)._realised()
        if self.unit is Unit.LOCATION or isinstance(bound, Nothing):
            return bound, how
        if not self.keeps:
            return Nothing("what a trajectory spends is not bounded by its budget"), how
        # For every length n there are n kernels, each certified for ε/n: see `_per_location`.
        return Pure(self.epsilon), f"n kernels for ε/n each, checked for each length n; for n = 1: {how}"

    @property
    def assumes(self) -> tuple[str, ...]:
        """The assumptions of the guarantee: those of the parts and, for a trajectory, a public length."""
        own = super().assumes
        return own if self.unit is Unit.LOCATION else (*own, PUBLIC_LENGTH)

    @final
    @property
    def layout(self) -> np.dtype[Any]:
        """The dtype of the report of one location, with the mark of a beginning."""
        return np.dtype((self.dtype, (1 + self.columns,)))

    @property
    def counting(self) -> Counting:
        reason = NotIdentifiable("locations are counted on a grid: use dither.maps.density(reports)")
        return NotCounted(reason, 1 + self.columns)

    def device(self) -> dict[str, Any]:
        if self.unit is Unit.LOCATION:
            return super().device()
        # Only the device knows how many locations share the budget. The integers of all lengths cannot be
        # listed, so the device computes them from ε.
        return {
            "draw": "divided",
            "epsilon": self.epsilon,
            "one": self.per_location(1).device(),
            "domain": self.domain.device(),
            "outside": self.domain.outside,
        }

    @classmethod
    def rebuilt(
        cls, domain: Domain, parameters: Mapping[str, Any], device: Mapping[str, Any], codebook: Any
    ) -> Self:
        if device["draw"] == "divided":
            return cls(domain, **parameters)  # type: ignore[arg-type]
        return super().rebuilt(domain, parameters, device, codebook)


@lru_cache(maxsize=1024)
def _per_location(mechanism: PathMechanism[Any, Any], length: int) -> Any:
    """Return the mechanism for one of `length` locations; raise if together they would exceed the budget."""
    own = min(share(mechanism.epsilon, length), MOST_EPSILON)
    try:
        single = replace(mechanism, epsilon=own, unit=Unit.LOCATION, travelled=None)
    except InvalidParameter:
        raise InvalidParameter(
            f"ε = {mechanism.epsilon:g} is too small for a trajectory of {length} locations"
        ) from None
    if single.keeps and not isinstance(single._realised()[0], Pure):
        raise InvalidParameter(
            "the budget of a trajectory can only be divided among mechanisms with a pure ε"
        )
    if single.keeps and (single.most == inf or Fraction(single.most) * length > Fraction(mechanism.epsilon)):
        raise InvalidParameter(f"{length} locations together would exceed ε = {mechanism.epsilon:g}")
    return single


def divide(epsilon: float, part: float) -> tuple[float, float]:
    """Return two budgets whose exact sum is at most ε: `part` of ε, to the nearest float, and the rest."""
    if not (isinstance(part, int | float) and isfinite(part) and 0.0 < part < 1.0):
        raise InvalidParameter(f"a share of the budget must be strictly between 0 and 1, not {found(part)}")
    first = epsilon * part
    return first, rest(epsilon, first)
