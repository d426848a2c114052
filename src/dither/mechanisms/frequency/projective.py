"""Projective response: points of a projective geometry; those on the answer's hyperplane are likelier."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from dither.core.kernels.sets.projective import MOST_POINTS, Geometry, ProjectiveKernel
from dither.errors import InvalidParameter
from dither.foundation.numerics.finite_fields import prime_power
from dither.mechanisms.frequency.base import CategoryMechanism
from dither.privacy.exact import exp_below

MOST_CATEGORIES: Final = MOST_POINTS // 2  # up to this number, a geometry exists for every ε
_NEAR: Final = 2  # prime powers that are tried on each side of the best order


@dataclass(frozen=True)
class ProjectiveResponse(CategoryMechanism):
    """A point of a finite geometry; points on the answer's hyperplane are likelier.

    Promise:   pure ε.
    Reports:   a point, in one to four bytes. It supports about one category in e^ε + 1.
    Use when:  there are more than a few categories: nearly the error of `SubsetSelection`, the size of `KRR`,
               and one transform to count. With one point to a hyperplane it is `KRR`.
    Reference: [Feldman22]; points and hyperplanes as residues by [Singer38]; optimal designs by [Park23].

    >>> from dither.core.domains import Categories
    >>> ProjectiveResponse(Categories(1024), epsilon=1).report_bytes
    2
    """

    _draws = ("projective",)

    def _check(self) -> None:
        if len(self.categories) > MOST_CATEGORIES:
            raise InvalidParameter(
                f"expected at most {MOST_CATEGORIES} categories for ProjectiveResponse; use dt.OLH for more"
            )

    def _kernel(self) -> ProjectiveKernel:
        return ProjectiveKernel.largest(self.epsilon, best_geometry(self.epsilon, len(self.categories)))


@lru_cache(maxsize=256)
def best_geometry(epsilon: float, categories: int) -> Geometry:
    """Return the geometry with the smallest average variance, or the smaller of two with equal variance.

    Variances are compared as fractions, so that every machine chooses the same geometry.
    """
    bound = exp_below(Fraction(epsilon))
    found = set(_candidates(bound, categories))
    return min(found, key=lambda plane: (_variance(plane, bound, categories), plane.points))


def _variance(geometry: Geometry, bound: Fraction, categories: int) -> Fraction:
    """Return n times the average variance that privacy adds to a frequency [Wang17, Thm 2]."""
    points, block, meeting = geometry.points, geometry.block, geometry.meeting
    total = block * bound + points - block
    own, other = block * bound / total, (meeting * bound + block - meeting) / total
    return (own * (1 - own) + (categories - 1) * other * (1 - other)) / (categories * (own - other) ** 2)


def _candidates(bound: Fraction, categories: int) -> Iterator[Geometry]:
    """Return geometries with enough points. For each dimension, the order is near e^ε + 1.

    With g = q − 1 the variance is proportional to (e^ε + g)²/g when there are many categories, so that it
    falls until g = e^ε and rises from there. A smaller order has too few points.
    """
    for dimension in range(2, MOST_POINTS.bit_length() + 1):
        least = _least_order(dimension, categories)
        wanted = max(least, min(int(bound) + 1, MOST_POINTS))
        smallest = _prime_powers(least, 1, MOST_POINTS)  # the best one if it is above e^ε + 1, or t = 2
        near = _prime_powers(wanted, 1, MOST_POINTS) + _prime_powers(wanted - 1, -1, least)
        for order in smallest + near:
            if sum(order**power for power in range(dimension)) <= MOST_POINTS:
                yield Geometry(order, dimension)


def _least_order(dimension: int, categories: int) -> int:
    """Return the least number q with (q^t − 1)/(q − 1) ≥ k, at least 2."""
    low, high = 2, max(2, categories)
    while low < high:
        middle = (low + high) // 2
        enough = sum(middle**power for power in range(dimension)) >= categories
        low, high = (low, middle) if enough else (middle + 1, high)
    return low


def _prime_powers(start: int, step: int, end: int) -> list[int]:
    """Return the first few prime powers from a number, upwards or downwards, up to a limit."""
    found: list[int] = []
    number = start
    while len(found) < _NEAR and number >= 2 and (number - end) * step <= 0:
        if prime_power(number) is not None:
            found.append(number)
        number += step
    return found
