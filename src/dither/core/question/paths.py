"""Questions about locations, answered at each location of a path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from dither.core.domains import Paths, Plane
from dither.core.domains.separate import SeparateValues, separate_paths
from dither.core.kernels.kernel import Promise
from dither.core.kernels.places.pair import PairKernel, terms_of_part
from dither.core.kernels.places.place import Grouped, PlaceKernel, PlaceLikelihood, Separable, check_begun
from dither.core.post_processing import PostProcessing
from dither.core.question.base import DIVIDED, MOST_EPSILON, Question
from dither.core.question.kinds import NumberQuestion
from dither.core.registry import read
from dither.core.reports import Reports
from dither.errors import InvalidParameter, MalformedReport, found
from dither.foundation.arrays import Array, Floats
from dither.foundation.randomness import Source
from dither.privacy import Nothing, Pure, Unit
from dither.privacy.exact import share
from dither.privacy.guarantee import PUBLIC_LENGTH


@dataclass(frozen=True, eq=False, repr=False)
class PathQuestion(Question):
    """A question about locations, answered at each location of a path.

    A report is a few integers for each location. The first of them is 1 where a path begins and 0 elsewhere:
    the lengths of paths are public. If ε is for a complete trajectory (`divided`), its locations have equal
    shares, and the design computes the integers of each share.
    """

    domain: Plane
    kernel: PlaceKernel

    _: KW_ONLY
    divided: bool = False

    @property
    def quantities(self) -> tuple[str, ...]:
        return ()  # `dt.maps` estimates maps from single reports

    @property
    def area(self) -> Plane:
        """The domain of the places."""
        return self.domain

    @property
    def unit(self) -> Unit:
        return "trajectory" if self.divided else "location"

    @cached_property
    def reading(self) -> PostProcessing | None:
        """The post-processing of the decoded places."""
        stated = self.parameters.get("reading")
        if isinstance(stated, InvalidParameter):
            raise stated
        reading = read(stated)
        if reading is not None and not isinstance(reading, PostProcessing):
            raise MalformedReport(
                "expected a post-processing of locations such as dt.maps.Rounded in the text"
            )
        return reading

    @cached_property
    def promise(self) -> Promise:
        if not self.divided:
            promise: Promise = self.kernel.promise(self.epsilon, self.parameters)
            return promise
        single: Promise = self.kernel.promise(min(self.epsilon, MOST_EPSILON), self.parameters)
        assumes = (*single.assumes, PUBLIC_LENGTH)
        if isinstance(single.bound, Nothing):
            return Promise(single.bound, single.evidence, assumes, kept=False)
        if not single.kept:
            reason = Nothing("what a trajectory spends is not bounded by its budget")
            return Promise(reason, single.evidence, assumes, kept=False)
        # For every length n there are n kernels, each certified for ε/n: see `per_location`.
        how = f"n kernels for ε/n each, checked for each length n; for n = 1: {single.evidence}"
        return Promise(Pure(self.epsilon), how, assumes)

    @property
    def columns(self) -> int:
        """The number of integers of a location, without the mark of a beginning."""
        return self.kernel.columns

    @property
    def layout(self) -> np.dtype[Any]:
        """The dtype of the report of one location, with the mark of a beginning."""
        return np.dtype((self.kernel.layout.base, (1 + self.columns,)))

    def device(self) -> dict[str, Any]:
        single = super().device()
        if not self.divided:
            return single
        # Only the device knows how many locations share the budget. The integers of all lengths cannot be
        # listed, so the device computes them from ε.
        around = {"domain": single["domain"], "outside": single["outside"]}
        return {"draw": DIVIDED, "epsilon": self.epsilon, "one": single, **around}

    def per_location(self, length: int) -> PathQuestion:
        """Return the question for each location of a path of this length."""
        return self if not self.divided else _per_location(self, length)

    def split(self, paths: Paths) -> Iterator[tuple[PathQuestion, Paths, slice | Array]]:
        """Yield the questions of one location, each with its paths and the rows of their locations."""
        if not self.divided:
            yield self, paths, slice(None)
            return
        lengths = paths.lengths
        for length in np.unique(lengths):
            begins = paths.offsets[:-1][lengths == length]
            rows = (begins[:, None] + np.arange(length)).reshape(-1)
            part = Paths(paths.points[rows], np.arange(0, rows.size + 1, length, dtype=np.int64))
            yield self.per_location(int(length)), part, rows

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        paths = Paths.of(values)
        self.area.check(paths.points)
        cells = np.empty((len(paths.points), 1 + self.columns), dtype=self.kernel.layout.base)
        cells[:, 0] = paths.begins
        for question, part, rows in self.split(paths):
            cells[rows, 1:] = question.kernel.draw_paths(part, source, threads)
        return cells.reshape(*_shape(values, paths), 1 + self.columns)

    def separate(self, values: object) -> SeparateValues:
        """Return the paths one by one: a complete path is one value."""
        paths = Paths.of(values)
        self.area.check(paths.points)
        return separate_paths(paths, _shape(values, paths))

    def decode(self, cells: Array) -> Floats:
        """Return the decoded places of reports."""
        flat = np.asarray(cells).reshape(-1, 1 + self.columns)
        check_begun(flat[:, 0])
        locations = np.empty((len(flat), 2))
        for question, _, rows in self.split(Paths.split(locations, flat[:, 0] != 0)):
            locations[rows] = question.kernel.decode(flat[rows], question.domain, question.book)
        if self.reading is not None:
            locations = self.reading(locations)
        return locations.reshape(*np.shape(cells)[:-1], 2)

    def read(self, reading: PostProcessing | None) -> PathQuestion:
        """Return the same question with another post-processing: `read(dt.maps.Rounded(points))`."""
        if reading is not None and not isinstance(reading, PostProcessing):
            raise InvalidParameter(
                f"expected Rounded, Snapped or Projected of dt.maps, or None, got {found(reading)}"
            )
        if self.made_by is not None:
            made: PathQuestion = replace(self.made_by, reading=reading).question
            return made
        stated = None if reading is None else {"reading": reading.kind, **reading.plain()}
        return replace(self, parameters={**self.parameters, "reading": stated})

    def paths(self, reports: Reports) -> Paths:
        """Return the decoded places of reports, as paths."""
        own = self.reports(reports)
        return Paths.split(own.values.reshape(-1, 2), own.cells[..., 0].reshape(-1) != 0)

    def likelihood(self, cells: Floats) -> PlaceLikelihood:
        """Return the likelihood of reports for cells, an array of a few places for each cell."""
        return self.kernel.likelihood_in(cells)

    def separable(self, shape: tuple[int, int]) -> Separable | None:
        """Return the likelihood on a grid over the domain if reports fall into groups, else None."""
        if self.divided or not isinstance(self.kernel, Grouped):
            return None
        return self.kernel.separable(shape)

    def probabilities(self, x: Any, *, reference: object = None, **given: Any) -> Any:
        """Return the exact probability of each report for a place.

        For pairs of numbers, the result has a row for each cell of the first. `reference` is the place of the
        previous report, for kernels that use it; by default the first reference.
        """
        location = self.area.check(x)
        if not isinstance(self.kernel, PairKernel):
            return self.kernel.probabilities(location)
        seen = None if reference is None else np.asarray(reference, dtype=np.float64)
        first, second = (
            part.probabilities(number)
            for part, number in zip(
                self.kernel.parts, self.kernel.numbers(location, seen).tolist(), strict=True
            )
        )
        return [[p * q for q in second] for p in first]

    def _valid(self, raw: Array) -> Array:
        if raw.size == 0:
            return np.zeros((0, 1 + self.columns), dtype=self.kernel.layout.base)
        if raw.ndim == 0 or raw.shape[-1] != 1 + self.columns:
            raise MalformedReport(
                f"expected {1 + self.columns} integers for each location: whether a path begins "
                f"there, and {self.columns} cell{'s' if self.columns > 1 else ''}"
            )
        marks, reported = raw[..., 0], raw[..., 1:]
        if marks.min() < 0 or marks.max() > 1:
            raise MalformedReport(
                "expected 1 as the first number of a report where a path begins, and 0 elsewhere"
            )
        self.kernel.check(reported if self.kernel.layout.shape else reported[..., 0])
        check_begun(raw.reshape(-1, 1 + self.columns)[:, 0])
        return raw.astype(self.kernel.layout.base, copy=False)


@lru_cache(maxsize=1024)
def _per_location(question: PathQuestion, length: int) -> PathQuestion:
    """Return the question for one of `length` locations; raise if together they would exceed the budget."""
    own = min(share(question.epsilon, length), MOST_EPSILON)
    try:
        single: PathQuestion = replace(question.design(), epsilon=own, unit="location").question
    except InvalidParameter:
        raise InvalidParameter(
            f"expected a larger ε for a trajectory of {length} locations, got {question.epsilon:g}; "
            "choose a larger ε, or shorter paths"
        ) from None
    check_shares(single, length, question.epsilon)
    return single


def check_shares(single: Question, length: int, epsilon: float) -> None:
    """Raise InvalidParameter unless `length` answers to a question about one location spend at most ε."""
    bound = single.promise.bound
    if not single.promise.kept:
        return
    if not isinstance(bound, Pure):
        raise InvalidParameter(
            "expected a mechanism with a pure ε, because only such a budget is divided among "
            "locations; choose one"
        )
    if Fraction(bound.epsilon) * length > Fraction(epsilon):
        raise InvalidParameter(
            f"expected {length} locations that spend at most ε = {epsilon:g} together, got more; "
            "choose shorter paths"
        )


def _shape(values: object, paths: Paths) -> tuple[int, ...]:
    """Return the shape of the reports, without the axis of the numbers of a location."""
    return np.shape(values)[:-1] if isinstance(values, np.ndarray) else (len(paths.points),)


def parts_of(question: Question) -> tuple[NumberQuestion, ...]:
    """Return the two questions of a pair of numbers, each with its share of ε; empty for other questions."""
    kernel = question.kernel
    if not isinstance(kernel, PairKernel):
        return ()
    budgets = kernel.shares(question.epsilon, question.parameters, question.book)
    return tuple(
        NumberQuestion(
            part.line,
            part,
            question.book.parts[axis],
            epsilon=budgets[axis],
            name=f"part {axis + 1} of {question.name}",
            parameters=terms_of_part(question.parameters, axis),
        )
        for axis, part in enumerate(kernel.parts)
    )
