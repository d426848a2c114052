"""The base classes of designs for locations: paths, pairs of numbers, and public points."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Generic, Literal, Self, TypeVar, cast

import numpy as np

from dither.core.domains import Disk, Line, Parallelogram, Paths, Plane, Rectangle, Region, finite
from dither.core.domains.plane import Pair
from dither.core.kernels.alias import Grades
from dither.core.kernels.places.pair import AxesKernel, PairDecoder, PairKernel
from dither.core.kernels.places.points import ChoiceKernel
from dither.core.kernels.places.walk import FIXED, WalkKernel
from dither.core.post_processing import Moved, PostProcessing
from dither.core.question import MOST_EPSILON, check_epsilon, check_shared
from dither.core.question.paths import PathQuestion, check_shares
from dither.core.reports import Reports
from dither.errors import InvalidParameter, OutsideDomain, check_choice, found
from dither.foundation.arrays import Integers
from dither.foundation.numerics.codebooks import medians
from dither.mechanisms.mechanism import Mechanism
from dither.mechanisms.numeric.base import NumberMechanism
from dither.privacy.exact import divide, share, split

Area = TypeVar("Area", bound=Plane)
PathUnit = Literal["location", "trajectory"]  # the unit of ε


@dataclass(frozen=True)
class PathMechanism(Mechanism[PathQuestion], Generic[Area]):
    """A design for locations, applied to each location of a path.

    `unit` is the unit of ε: one location, or a complete trajectory with equal shares for its locations.
    `reading` is a post-processing of the decoded locations.
    """

    domain: Area
    _: KW_ONLY
    unit: PathUnit = "location"
    reading: PostProcessing | None = None

    def _budget(self) -> float:
        if self.reading is not None and not isinstance(self.reading, PostProcessing):
            raise InvalidParameter(
                f"expected reading to be Rounded, Snapped or Projected of dt.maps, got {found(self.reading)}"
            )
        check_choice("unit", self.unit, PathUnit)
        return check_epsilon(self.epsilon) if self.unit == "location" else check_shared(self.epsilon)

    @cached_property
    def question(self) -> PathQuestion:
        if self.unit == "location":
            return self._ask(self)
        check_shares(self.of_location.question, 1, self.epsilon)
        return self._ask(self.of_location, divided=True)

    @cached_property
    def of_location(self) -> Self:
        """The design for one location.

        If ε is for a trajectory, it is the design for a path of one location.
        """
        if self.unit == "location":
            return self
        try:
            return replace(self, epsilon=min(share(self.epsilon, 1), MOST_EPSILON), unit="location")
        except InvalidParameter:
            raise InvalidParameter(
                f"expected a larger ε for a trajectory of one location, got {self.epsilon:g}"
            ) from None

    @property
    def area(self) -> Area:
        """The domain of the locations."""
        return self.domain

    def per_location(self, length: int) -> Any:
        """Return the design for each location of a path of this length."""
        return self.question.per_location(length).design()

    def along(self, weights: Sequence[float]) -> tuple[Self, ...]:
        """Return a design for each location of a path, with shares of a trajectory's ε by public weights.

        [Thesis, Sec. 6.3.2] gives every location the same share. A larger weight makes a location more
        precise and less private. Weights computed from the path itself would reveal it. `dt.Each` combines
        the designs. The shares add up to at most ε, exactly.
        """
        if self.unit != "trajectory":
            raise InvalidParameter(
                'expected unit="trajectory" for weights, because they divide the ε of a trajectory, got '
                'unit="location"'
            )
        shares = split(self.epsilon, weights)
        return tuple(replace(self, epsilon=min(budget, MOST_EPSILON), unit="location") for budget in shares)

    def read(self, reading: PostProcessing | Literal["median"] | None) -> Any:
        """Return the same design with another post-processing of locations: `read(dt.maps.Rounded(points))`.

        With "median" a report is decoded as the geometric median of its possible senders, for people spread
        evenly over the area. This decoding has the smallest mean distance. It is for reports of two
        coordinates in a rectangle.
        """
        return replace(self, reading=median_reading(self) if reading == "median" else reading)

    def paths(self, reports: Reports) -> Paths:
        """Return the decoded locations of reports, as paths."""
        return self.question.paths(reports)

    @property
    def columns(self) -> int:
        """The number of integers per location, without the mark of a path's start."""
        return self.question.columns


_NODES: Final = 33  # positions along a side of the table of medians
_PEOPLE: Final = 32  # people along a side


def median_reading(design: PathMechanism[Any]) -> Moved:
    """Return the map from decoded locations to the medians of people who may have reported them."""
    kernel, area = design.of_location.question.kernel, design.domain
    if not isinstance(kernel, AxesKernel) or not isinstance(area, Rectangle):
        raise InvalidParameter(
            "expected reports of two coordinates in a rectangle, such as those of TraCSC, to decode by "
            "medians; dt.Optimal decodes by medians already"
        )
    laws = []
    for part, line, decoder in zip(kernel.parts, area.axes, design.question.book.parts, strict=True):
        numbers = decoder(np.arange(part.outcomes))  # they do not decrease
        nodes = line.from_unit(np.arange(_NODES) / (_NODES - 1.0))
        cells = np.minimum(np.searchsorted(numbers, nodes), part.outcomes - 1)
        people = line.from_unit((np.arange(_PEOPLE) + 0.5) / _PEOPLE)
        laws.append(part.likelihoods(cells[:, None], people))
    weights = np.einsum("ia,jb->ijab", *laws).reshape(_NODES**2, _PEOPLE**2)
    sides = [line.from_unit((np.arange(_PEOPLE) + 0.5) / _PEOPLE) for line in area.axes]
    everybody = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, 2)
    corner, scale = np.array([area.x.low, area.y.low]), max(area.x.length, area.y.length)
    found = medians(weights, (everybody - corner) / scale) * scale + corner
    table = np.round(found, 6 - math.floor(math.log10(scale))).reshape(_NODES, _NODES, 2).tolist()
    return Moved(area, tuple(tuple((x, y) for x, y in row) for row in table))


Inner = Callable[
    ..., Mechanism[Any]
]  # a design for one number, as in dt.OGPM or partial(dt.SW, redesign=True)


@dataclass(frozen=True)
class PairMechanism(PathMechanism[Area], Generic[Area]):
    """Two designs for one number share the budget of a location. A report is one cell of each."""

    _: KW_ONLY
    cells: int = 1 << 16

    @abstractmethod
    def _split(self) -> float:
        """Return the first part's share of the budget."""

    @abstractmethod
    def _make(self, first: float, second: float) -> tuple[NumberMechanism, NumberMechanism]:
        """Return the two parts with the given budgets."""

    @abstractmethod
    def _kernel(self) -> PairKernel: ...

    @cached_property
    def parts(self) -> tuple[NumberMechanism, NumberMechanism]:
        """The two designs of one location."""
        return self._make(*divide(self.of_location.epsilon, self._split()))

    def _codebook(self, kernel: PairKernel) -> PairDecoder:
        first, second = (part.question.decoder for part in self.parts)
        return PairDecoder((first, second))


Reference = Literal["last", "fixed"]  # the reference point of a location


@dataclass(frozen=True)
class StepByStep:
    """A path whose locations are reported from a public reference.

    The first reference is `start`, by default the centre. The next is the location of the last report, or
    `start` again.
    """

    _: KW_ONLY
    start: Pair | None = None
    reference: Reference = "last"

    def _check(self) -> None:
        check_choice("reference", self.reference, Reference)

    @property
    def origin(self) -> Pair:
        """The first reference."""
        design: Any = self
        if self.start is None:
            centre: Pair = design.domain.centre
            return centre
        if not (isinstance(self.start, tuple) and len(self.start) == 2):
            raise InvalidParameter("start must be a pair of numbers such as (0, 1)")
        x, y = (finite("a coordinate of the start", number) for number in self.start)
        try:
            design.domain.check((x, y))
        except OutsideDomain:
            raise InvalidParameter(f"start, ({x:g}, {y:g}), must be a place in {design.domain}") from None
        return x, y

    def _kernel(self) -> WalkKernel:
        design: Any = self
        origin = self.origin
        first, second = design.parts
        books = PairDecoder((first.question.decoder, second.question.decoder))
        return WalkKernel(
            first.question.kernel,
            second.question.kernel,
            design.domain,
            origin,
            books,
            self.reference == FIXED,
        )


def make_part(inner: Inner, line: Line, epsilon: float, cells: int) -> NumberMechanism:
    """Return a part: the design that `inner` returns for a line and a budget."""
    if not callable(inner):
        raise InvalidParameter(
            f"a part must be a mechanism of one number such as dt.OGPM, not {found(inner)}"
        )
    try:
        part = inner(line, epsilon=epsilon, cells=cells)
    except TypeError:  # mechanisms such as dt.Optimal determine the number of cells themselves
        try:
            part = inner(line, epsilon=epsilon)
        except TypeError:
            raise InvalidParameter(
                "expected a part that accepts (domain, epsilon=…), as dt.OGPM does"
            ) from None
    if not isinstance(part, NumberMechanism):
        raise InvalidParameter(
            f"a part must be a mechanism of one number such as dt.OGPM, not {type(part).__name__}"
        )
    return part


Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class PublicPoints(PathMechanism[Region]):
    """A report is one of a public list of points. A location is first rounded to its nearest point."""

    points: Points = field(repr=False)

    _takes = (Rectangle, Disk, Parallelogram)

    def _check(self) -> None:
        try:
            locations = self.domain.check(np.asarray(self.points, dtype=np.float64))
        except (OutsideDomain, TypeError, ValueError):
            raise InvalidParameter(f"points must be pairs of numbers in {self.domain}") from None
        if locations.ndim != 2:
            raise InvalidParameter(f"points must be pairs of numbers in {self.domain}")
        if len(np.unique(locations, axis=0)) != len(locations):
            raise InvalidParameter(
                f"expected {len(locations)} different points, got one twice; leave the second one out"
            )
        object.__setattr__(self, "points", tuple((x, y) for x, y in locations.tolist()))

    @property
    def _pairs(self) -> tuple[Pair, ...]:
        return tuple((float(x), float(y)) for x, y in self.points)

    @cached_property
    def grades(self) -> Grades:
        """The bounds of the weights. They guarantee ε for any weights between them."""
        return Grades.largest(self.epsilon)

    def _codebook(self, kernel: object) -> None:
        """Return None: the points are part of the kernel."""

    def weights_of(self, place: tuple[float, float]) -> Integers:
        """Return the integer weight of every point for a location, proportional to its probability."""
        kernel = cast(ChoiceKernel, self.question.kernel)
        return np.asarray(kernel.weights(kernel.nearest(self.domain.check([place])))[0])


def grid(area: Rectangle, side: int) -> list[tuple[float, float]]:
    """Return the side × side points of a grid over a rectangle, including its corners.

    >>> from dither.core.domains import Interval
    >>> len(grid(Rectangle(Interval(0, 1), Interval(0, 1)), 11))
    121
    """
    if isinstance(side, bool) or not isinstance(side, int) or side < 2:
        raise InvalidParameter(f"side must be an integer from 2 upwards, not {found(side)}")
    x = np.linspace(area.x.low, area.x.high, side)
    y = np.linspace(area.y.low, area.y.high, side)
    return [(float(a), float(b)) for a in x for b in y]


def positive(name: str, value: object) -> float:
    """Return a public length as a float. Raise InvalidParameter unless it is positive."""
    number = finite(name, value)
    if not number > 0.0:
        raise InvalidParameter(f"expected {name} to be positive, got {number:g}")
    return number
