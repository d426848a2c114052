"""The interface of kernels for places: reports of complete paths, decoded places, likelihoods for maps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dither.core.domains import Domain, Paths
from dither.core.kernels.blocks import FEW
from dither.core.kernels.counting import Counting, NotCounted
from dither.core.kernels.kernel import Kernel
from dither.core.kernels.transition import Operator
from dither.errors import MalformedReport, NotIdentifiable
from dither.foundation.arrays import Array, Floats, Integers, Mask
from dither.foundation.randomness import Source

Rows = Callable[[Integers], Floats]  # from indices of reports to their probabilities in every cell


class PlaceLikelihood(ABC):
    """The likelihood of reports of locations for given cells, averaged over a sample of places in each."""

    @abstractmethod
    def of(self, reports: Array) -> Rows:
        """Return a function from indices of reports to their probabilities in each cell.

        Each row is determined up to a factor. Reports must be complete paths, with the marks of their
        beginnings.
        """


@dataclass(frozen=True)
class Separable:
    """P(report | cell of a grid) for reports of few kinds, or of coordinates reported independently."""

    operator: Operator
    groups: Callable[[Array], Integers]  # from reports, with their marks, to rows of the operator


@runtime_checkable
class Grouped(Protocol):
    """A kernel whose reports fall into groups with equal likelihoods, so that counts of groups suffice."""

    def separable(self, shape: tuple[int, int]) -> Separable | None:
        """Return the likelihood on a grid over the domain; None if the domain has no such grid."""


class PlaceKernel(Kernel):
    """A kernel whose inputs are places, applied to each location of a path.

    Its reports are the integers of one location. Reports of paths begin with one more: it is 1
    where a path begins and 0 elsewhere. The lengths of paths are public.
    """

    @property
    def columns(self) -> int:
        """The number of integers of a location, without the mark of a beginning."""
        shape = self.layout.shape
        return shape[0] if shape else 1

    def counting(self, domain: Domain) -> Counting:
        reason = NotIdentifiable("expected a grid to count locations; use dt.maps.density(reports)")
        return NotCounted(reason, 1 + self.columns)

    @abstractmethod
    def draw_paths(self, paths: Paths, source: Source, threads: int = 1) -> Array:
        """Draw the reports of all locations of paths, a row for each; the places have been checked."""

    def draw_each(self, paths: Paths, source: Source, threads: int) -> Array:
        """Draw the reports of all locations as if each were a path of its own."""
        few = len(paths.points) < FEW
        drawn = (
            self.draw_singly(paths.points, source)
            if few
            else self.draw(paths.points, source, threads=threads)
        )
        return drawn.reshape(len(paths.points), self.columns)

    @abstractmethod
    def places_of(self, cells: Array, begins: Mask, domain: Domain, book: Any) -> Floats:
        """Return the decoded places of all locations; `begins` marks the first locations of paths."""

    def decode(self, reports: Array, domain: Domain, book: Any) -> Floats:
        """Return the decoded places of reports of paths, with the marks of their beginnings."""
        flat = np.asarray(reports).reshape(-1, 1 + self.columns)
        check_begun(flat[:, 0])
        locations = self.places_of(flat[:, 1:], flat[:, 0] != 0, domain, book)
        return locations.reshape(*np.shape(reports)[:-1], 2)

    @abstractmethod
    def likelihood_in(self, cells: Floats) -> PlaceLikelihood:
        """Return the likelihood of reports for cells, an array of a few places for each cell."""


def check_begun(marks: Array) -> None:
    """Raise MalformedReport if reports begin in the middle of a path."""
    if len(marks) and not marks[0]:
        raise MalformedReport(
            "expected reports from the beginning of a path, got some from its middle; pass all reports "
            "of the path"
        )


def over_cells(found: Floats, chosen: Integers, cells: Floats) -> Floats:
    """Return likelihoods at the places of all cells as a row for each report, averaged over each cell."""
    return np.asarray(found.reshape(len(chosen), *cells.shape[:2]).mean(axis=2))
