"""The base class of designs whose values are paths."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, Generic, Self, TypeVar, final

from dither.domains import Paths, Plane
from dither.errors import InvalidParameter, found
from dither.mechanisms.base import Mechanism
from dither.post_processing import PostProcessing
from dither.privacy import Unit
from dither.privacy.split import share
from dither.question import MOST_EPSILON, PathQuestion, Question, check_epsilon, check_shared, check_shares
from dither.reports import Reports

Area = TypeVar("Area", bound=Plane)


@dataclass(frozen=True)
class PathMechanism(Mechanism[Area], Generic[Area]):
    """A design for places, applied to each location of a path.

    `unit` is what ε is for: one location, or a whole trajectory, whose locations then have equal shares.
    `reading` is a post-processing of the decoded places.
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
        return check_epsilon(self.epsilon) if self.unit is Unit.LOCATION else check_shared(self.epsilon)

    @cached_property
    def question(self) -> Question:
        if self.unit is Unit.LOCATION:
            return self._asked(self)
        check_shares(self.of_location.question, 1, self.epsilon)
        return self._asked(self.of_location, divided=True)

    @final
    @cached_property
    def of_location(self) -> Self:
        """The design for one location; if ε is for a trajectory, for a path of one location."""
        if self.unit is Unit.LOCATION:
            return self
        try:
            return replace(self, epsilon=min(share(self.epsilon, 1), MOST_EPSILON), unit=Unit.LOCATION)
        except InvalidParameter:
            raise InvalidParameter(
                f"ε = {self.epsilon:g} is too small for a trajectory of one location"
            ) from None

    @property
    def _places(self) -> PathQuestion:
        question: Any = self.question
        asked: PathQuestion = question
        return asked

    @property
    def area(self) -> Area:
        """The domain of the places."""
        return self.domain

    @final
    def per_location(self, length: int) -> Any:
        """Return the design for each location of a path of this length."""
        return self._places.per_location(length).design()

    @final
    def read(self, reading: PostProcessing | None) -> Any:
        """Return the same design with another post-processing of places: `read(dt.Rounded(points))`."""
        return replace(self, reading=reading)

    @final
    def paths(self, reports: Reports) -> Paths:
        """Return the decoded places of reports, as paths."""
        return self._places.paths(reports)

    @property
    def columns(self) -> int:
        """The number of integers of a location, without the mark of a beginning."""
        return self._places.columns
