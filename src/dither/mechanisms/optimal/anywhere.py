"""Anywhere: a location in any area, reported as a public point near it. `dt.Optimal` returns it."""

from __future__ import annotations

import hashlib
import math
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal, cast

import numpy as np

from dither.core.domains import Disk, Parallelogram, Places, Plane, Rectangle, Sphere
from dither.core.domains.plane import SIDE, Pair, Region
from dither.core.kernels.places.nearest import (
    MOST_PACKED,
    Grid,
    ListingKernel,
    NearestKernel,
    Points,
    Selector,
)
from dither.core.question import PlainQuestion, Question
from dither.errors import InvalidParameter, OutsideDomain, check_choice, found
from dither.foundation.arrays import Floats, Integers
from dither.foundation.numerics import codebooks
from dither.foundation.numerics.codebooks import FittedBook
from dither.foundation.numerics.roots import argmin
from dither.mechanisms.mechanism import Mechanism
from dither.mechanisms.places.base import PathMechanism

Purpose = Literal["both", "places", "map", "worst"]  # locations and maps, locations, maps, worst case

_PEOPLE: Final = 40  # people along a side who represent the area
_CELLS: Final = 64  # cells along a side into which a public map is binned
_POINTS: Final = 400  # least number of points of a uniform grid
_FINEST: Final = 1 << 14  # largest number of points: a cell then has two positions on each side
_FEW: Final = 2  # with fewer people per point, medians are not used
_FITTED: Final = 300  # largest number of fitted points; more points are as good on a grid
_MOST_SIDE: Final = 128
_GRAIN: Final = 8  # bits: 256 positions on each side are distinguished, at a cost below 10^−4 of the error
_SAME: Final = 5e-4  # if two errors differ by less, the design with fewer points is taken
_DIGITS: Final = 5  # digits of a decoded location, after the first digit of the longer side

# The best share K/N of likelier points on a square, by ε: for single locations, for both on a uniform grid,
# and for maps. Its logarithm is interpolated. A share that is 20 % off costs 1 % of the error.
_SHARES: Final = {
    "places": ((0.0, 0.5), (1.0, 0.38), (2.0, 0.25), (4.0, 0.10), (6.0, 0.03), (8.0, 0.009)),
    "worst": ((0.0, 0.3), (1.0, 0.20), (2.0, 0.24), (4.0, 0.10), (6.0, 0.03), (8.0, 0.009)),
    "both": ((0.0, 0.4), (1.0, 0.30), (2.0, 0.25), (4.0, 0.10), (6.0, 0.03), (8.0, 0.01)),
    "map": ((0.0, 0.25), (1.0, 0.15), (2.0, 0.06), (4.0, 0.03), (6.0, 0.015), (8.0, 0.009)),
}


def check_public_source(source: object, example: str) -> None:
    """Raise InvalidParameter if a prior does not name its public source."""
    if not isinstance(source, str) or not source.strip():
        raise InvalidParameter(
            f"expected a text that names the public source of the prior, such as ({example}), because a "
            "mechanism that was fitted to private data would reveal them"
        )


@dataclass(frozen=True, eq=False)
class PublicMap:
    """Public locations of people, such as a census, and their source.

    A design that was fitted to private data reveals them, because the points of a codebook are published. So
    the source must be public and must be named.
    """

    places: Floats  # locations or records, a row for each
    source: str

    def __post_init__(self) -> None:
        try:
            locations = np.array(self.places, dtype=np.float64)
        except (TypeError, ValueError):
            locations = np.zeros(0)
        if locations.ndim != 2 or not len(locations) or not np.isfinite(locations).all():
            raise InvalidParameter(
                "expected a public map as an array of finite places, with a row for each of one or more "
                "places"
            )
        check_public_source(self.source, "places, 'census 2020'")
        object.__setattr__(self, "places", locations)

    @cached_property
    def digest(self) -> str:
        """A digest of the locations and the source; the locations are not part of a design's text."""
        return hashlib.sha256(self.source.encode() + self.places.astype("<f8").tobytes()).hexdigest()[:32]

    def __repr__(self) -> str:
        return f"PublicMap({len(self.places)} places, source={self.source!r})"


@dataclass(frozen=True)
class Anywhere(PathMechanism[Plane]):
    """The number of a public point; the points nearest to the true location are likelier, all equally.

    Promise:   pure ε for one location (or one trajectory: `unit`), for any distances.
    Reports:   the number of a point, decoded as the geometric median of the people who may have sent it.
    Use when:  single locations matter, or a map (`purpose`); a public map of where people live (`prior`)
               halves the error again. Not for means: use `PM` for one coordinate. Not for shares of given
               districts: use `SubsetSelection` for the district.
    Reference: derived in docs/anywhere.md; subset selection takes any K of N [Ye18]. `.gap` is computed, not
               certified, except on the sphere.

    >>> from dither.core.domains import Interval
    >>> design = Anywhere(Rectangle(Interval(0, 1), Interval(0, 1)), epsilon=4, purpose="places")
    >>> round(design.average_error(), 2)
    0.18
    """

    _: KW_ONLY
    purpose: Purpose = "both"
    prior: tuple[Any, str] | PublicMap | None = None

    _called = "Optimal"
    _takes = (Rectangle, Disk, Parallelogram, Sphere)

    def _check(self) -> None:
        check_choice("purpose", self.purpose, Purpose)
        if self.prior is None:
            return
        object.__setattr__(self, "prior", public_map(self.prior))
        try:
            self.domain.check(public_map(self.prior).places)
        except OutsideDomain:
            raise InvalidParameter(f"the places of the prior must lie in {self.domain}") from None

    # --- people, in units in which the longer side of the box is 1, or unit vectors on the sphere

    @property
    def scale(self) -> float:
        """The length of the longer side of the area's box, or the radius of the sphere."""
        if isinstance(self.domain, Sphere):
            return self.domain.radius
        return float(max(self.domain.box.x.length, self.domain.box.y.length))

    def _inward(self, locations: Floats) -> Floats:
        if isinstance(self.domain, Sphere):
            across, up = np.radians(locations).T
            return np.stack([np.cos(up) * np.cos(across), np.cos(up) * np.sin(across), np.sin(up)], axis=1)
        box = self.domain.box
        return np.asarray((locations - np.array([box.x.low, box.y.low])) / self.scale)

    def _outward(self, points: Floats) -> Floats:
        if isinstance(self.domain, Sphere):
            return _on_sphere(points)
        box = self.domain.box
        return self.domain.clip(np.array([box.x.low, box.y.low]) + points * self.scale)

    @cached_property
    def people(self) -> tuple[Floats, Floats]:
        """Locations that represent the population, and their weights: uniform, or from the prior."""
        if self.prior is not None:
            return _gather(public_map(self.prior).places, self.domain)
        return _even(self.domain)

    # --- the design

    @cached_property
    def fitted(self) -> tuple[Selector, int]:
        """The codebook in the form for devices, and the number of likelier points."""
        if isinstance(self.domain, Sphere):
            count = _POINTS
            width = max(1, round(_best_cap(self.epsilon) * count))
            return Points.of(self._outward(_spiral(count)), None, (1, 1, 1), 0), width
        share = _share(self.purpose, self.epsilon)
        if self.purpose in ("both", "map"):
            return self._uniform(share, max(_POINTS, math.ceil(1.0 / share)))
        if 1.0 / share > _FITTED:
            if self.prior is None:
                return self._uniform(share, math.ceil(1.0 / share))
            share = 1.0 / _FITTED  # fewer points than the best number, but where people are
        best = self._best_fit(share)
        return Points.of(self._outward(best.points), self._box, self._scales, _GRAIN), best.width

    @property
    def _box(self) -> tuple[Pair, Pair]:
        x, y = self.domain.box.x, self.domain.box.y
        return (x.low, x.high), (y.low, y.high)

    @property
    def _scales(self) -> tuple[int, int]:
        x, y = cast(Region, self.domain).scales
        return x // math.gcd(x, y), y // math.gcd(x, y)

    def _uniform(self, share: float, count: int) -> tuple[Selector, int]:
        """Return a grid of about `count` points inside the area."""
        per = _per(self._box, min(count, _FINEST))
        grid = Grid(self._box, self._scales, _GRAIN, per, SIDE)
        if isinstance(self.domain, Rectangle):
            return grid, max(1, round(share * len(grid.points)))
        locations = grid.places()
        inside = np.abs(self.domain.clip(locations) - locations).max(axis=1) <= 1e-9 * self.scale
        packed = grid.points[inside].astype(">u2").tobytes()
        return Points(self._box, self._scales, _GRAIN, packed), max(1, round(share * int(inside.sum())))

    def _best_fit(self, share: float) -> FittedBook:
        """Return fitted points: the smallest of the best of a few numbers of points."""
        locations, weights = self.people
        people, odds = self._inward(locations), math.exp(self.epsilon)
        if self.purpose == "worst":
            ends = self._inward(_border(self.domain))
            people = np.concatenate([self._inward(_cells(self.domain, _PEOPLE**2 // 3)), ends])
        fits: list[FittedBook] = []
        if self.purpose == "worst":
            count = 100 if share > 0.15 else 196 if share > 0.015 else 289
            start = self._starts(count, people, weights)[-1]
            fits.append(
                codebooks.fit_worst(
                    people, odds, start, max(1, round(share * count)), 150 if count < 200 else 70
                )
            )
        for count, width in _sizes(share) if self.purpose == "places" else ():
            steps = 60 if count <= 100 else 40
            starts = self._starts(count, people, weights)
            fits += [codebooks.fit(people, weights, odds, start, width, steps) for start in starts]
        least = min(fit.error for fit in fits)
        good = [fit for fit in fits if fit.error <= least * (1.0 + _SAME)]
        return merge_points(min(good, key=lambda fit: len(fit.points)))

    def _starts(self, count: int, people: Floats, weights: Floats) -> list[Floats]:
        box = np.array([people.min(axis=0), people.max(axis=0)]).T
        starts = [codebooks.spread(count, box)]
        across = math.isqrt(count)
        if across**2 == count:
            steps = 0.5 + 0.45 * ((2 * np.arange(across) + 1) / across - 1)
            square = np.stack(np.meshgrid(steps, steps, indexing="ij"), axis=-1).reshape(-1, 2)
            starts.append(box[:, 0] + square * (box[:, 1] - box[:, 0]))
        if self.prior is not None:  # one point for equal shares of the people
            order = np.lexsort(people.T)
            at = np.searchsorted(np.cumsum(weights[order]), (np.arange(count) + 0.5) / count)
            starts.append(people[order[np.minimum(at, len(order) - 1)]])
        return starts

    def _kernel(self) -> NearestKernel:
        selector, width = self.fitted
        return NearestKernel.largest(self.epsilon, selector, width)

    def _codebook(self, kernel: NearestKernel) -> Floats:
        """Return the decoded location of each number: the median of the people who may have sent it."""
        if self.purpose == "worst":
            return kernel.selector.places()  # medians would favour crowded areas
        if self.prior is None and _FEW * len(kernel.selector.points) > len(self.people[0]):
            return kernel.selector.places()  # an even grid is so fine that a report is decoded as its point
        return self._medians(kernel, *self.people)

    def _medians(self, kernel: NearestKernel, locations: Floats, weights: Floats) -> Floats:
        found = self._outward(codebooks.medians(kernel.laws(locations).T * weights, self._inward(locations)))
        # The locations are rounded, so that the text is short and the same on every machine.
        side = 180.0 if isinstance(self.domain, Sphere) else self.scale
        return self.domain.clip(np.round(found, _DIGITS - math.floor(math.log10(side))))

    # --- errors

    def error(self, places: object) -> Floats:
        """Return the mean distance between each location and its report, in the user's units."""
        checked = np.atleast_2d(self.domain.check(places)).reshape(-1, 2)
        law = cast(NearestKernel, self.question.kernel).laws(checked)
        return np.asarray((law * self._apart(checked, self.question.book)).sum(axis=1))

    def _apart(self, first: Floats, second: Floats) -> Floats:
        far = codebooks.distances(self._inward(first), self._inward(second))
        if isinstance(self.domain, Sphere):  # from chords to arcs
            far = 2.0 * np.arcsin(np.minimum(far / 2.0, 1.0))
        return np.asarray(far * self.scale)

    def average_error(self) -> float:
        """Return the mean distance between a location and its report, for the people of the prior."""
        locations, weights = self.people
        return float(weights @ self.error(locations))

    def worst_error(self) -> float:
        """Return the largest mean distance over locations, including the border."""
        ends = self.people[0] if isinstance(self.domain, Sphere) else _border(self.domain)
        return float(max(self.error(self.people[0]).max(), self.error(ends).max()))

    @cached_property
    def bound(self) -> float:
        """A lower bound on the average error of every ε-LDP mechanism, for the same people.

        On the sphere it has a closed form. Elsewhere it is numerical: the dual is solved for people on a
        grid. This needs scipy and takes seconds, or up to a minute for ε from 6 upwards.
        """
        if isinstance(self.domain, Sphere):
            if self.prior is not None:
                raise InvalidParameter(
                    "expected no prior on a sphere, where the bound is known only for people who are spread "
                    "evenly; leave prior out"
                )
            return _cap_error(self.epsilon, _best_cap(self.epsilon)) * self.scale
        locations, weights = self.people
        people, odds = self._inward(locations), math.exp(self.epsilon)
        share = _share("places", self.epsilon)
        points = self._inward(_cells(self.domain, min(900, max(100, round(4 / share)))))
        basis = _hats(people, 6 if self.epsilon <= 2.0 else 8 if self.epsilon <= 4.0 else 12)
        begin = codebooks.first_radii(people, points, max(1, round(share * len(points))), basis)
        outputs = self._inward(_cells(self.domain, (2 * _PEOPLE + 1) ** 2))
        return codebooks.lower_bound(people, weights, odds, begin, basis, outputs).error * self.scale

    def read_for(self, prior: tuple[Any, str] | PublicMap | None) -> Question:
        """Return the question decoded at the medians of other people; devices draw as before."""
        people = _even(self.domain) if prior is None else _gather(public_map(prior).places, self.domain)
        return replace(
            self.question,
            book=self._medians(cast(NearestKernel, self.question.kernel), *people),
            made_by=None,
        )

    @property
    def gap(self) -> float:
        """The relative excess of the average error over the bound; numerical except on the sphere."""
        return self.average_error() / self.bound - 1.0


@dataclass(frozen=True)
class Among(Mechanism[PlainQuestion]):
    """The number of a public location; the locations nearest to the true one, by any distance, are likelier.

    Promise:   pure ε, for any distances.
    Reports:   the number of one of a few locations; each location has a public list of its nearest ones.
    Use when:  the locations are a list, and distances are along roads, in minutes, or of any other kind.
    Reference: derived in docs/anywhere.md.

    >>> line = [[abs(i - j) for j in range(9)] for i in range(9)]
    >>> round(Among(Places(9, distances=line), epsilon=4).average_error(), 2)
    0.43
    """

    domain: Places

    _: KW_ONLY
    prior: tuple[Any, str] | None = None

    _called = "Optimal"
    _takes = (Places,)

    def _check(self) -> None:
        _ = self.weights

    @cached_property
    def weights(self) -> Floats:
        """The share of people at each location: equal shares, or the prior's."""
        count = len(self.domain)
        if self.prior is None:
            return np.full(count, 1.0 / count)
        if not isinstance(self.prior, tuple) or len(self.prior) != 2 or not isinstance(self.prior[1], str):
            raise InvalidParameter(
                f"prior must be a pair (weights, 'their public source'), not {found(self.prior)}: a design "
                "that was fitted to private data would reveal them"
            )
        weights = np.asarray(self.prior[0], dtype=np.float64)
        if weights.shape != (count,) or not (weights >= 0).all() or not 0 < weights.sum() < math.inf:
            raise InvalidParameter(
                f"expected one weight of at least 0 for each of the {count} places of the prior"
            )
        check_public_source(self.prior[1], "weights, 'census 2020'")
        return np.asarray(weights / weights.sum())

    @cached_property
    def question(self) -> PlainQuestion:
        return replace(self._ask(self), domain=self.domain.categories)

    @cached_property
    def fitted(self) -> tuple[Integers, int]:
        """The code of the public location for each number, and the number of likelier locations."""
        odds, share = math.exp(self.epsilon), _share("places", self.epsilon)
        most = MOST_PACKED // len(self.domain)
        places = len(self.domain)
        sizes = [(n, k) for n, k in _sizes(share) if k <= most and n < places]
        if places <= _FITTED or not sizes:  # a short list needs a number for each location
            sizes.append((min(places, _FITTED), 1))
        fits = [
            codebooks.fit_among(self.domain.distances, self.weights, odds, count, width)
            for count, width in sizes
        ]
        least = min(error for _, _, error in fits)
        good = [fit for fit in fits if fit[2] <= least * (1.0 + _SAME)]
        codes, width, _ = min(good, key=lambda fit: len(fit[0]))
        return codes, width

    def _kernel(self) -> ListingKernel:
        codes, width = self.fitted
        order = np.argsort(self.domain.distances[:, codes], axis=1, kind="stable")[:, :width]
        return ListingKernel.largest(self.epsilon, len(codes), order)

    def _codebook(self, kernel: ListingKernel) -> Integers:
        """Return the decoded location of each number: the best one for the people who may have sent it."""
        laws = kernel.laws(np.arange(len(self.domain)))
        return np.asarray((self.domain.distances.T @ (laws * self.weights[:, None])).argmin(axis=0))

    def error(self) -> Floats:
        """Return the mean distance of a report from each location."""
        laws = cast(ListingKernel, self.question.kernel).laws(np.arange(len(self.domain)))
        return np.asarray((laws * self.domain.distances[:, self.question.book]).sum(axis=1))

    def average_error(self) -> float:
        """Return the mean distance of a report, for the people of the prior."""
        return float(self.weights @ self.error())

    def worst_error(self) -> float:
        """Return the largest mean distance over locations."""
        return float(self.error().max())


def public_map(prior: object, axes: int = 2) -> PublicMap:
    """Return a prior as a public map. Raise InvalidParameter if it does not name its source."""
    if not isinstance(prior, PublicMap) and not (isinstance(prior, tuple) and len(prior) == 2):
        raise InvalidParameter(
            f"prior must be a pair (places, 'their public source'), not {found(prior)}: a design that was "
            "fitted to private data would reveal them"
        )
    public = prior if isinstance(prior, PublicMap) else PublicMap(*prior)
    if public.places.shape[1] != axes:
        raise InvalidParameter(f"expected a public map as an array of shape (n, {axes})")
    return public


def map_share(epsilon: float) -> float:
    """Return the best share of likelier points for a map, relative to the share for locations and maps."""
    return _share("map", epsilon) / _share("both", epsilon)


def _even(area: Plane) -> tuple[Floats, Floats]:
    """Return locations that cover an area evenly, and their equal weights."""
    locations = _on_sphere(_spiral(_PEOPLE**2)) if isinstance(area, Sphere) else _cells(area, _PEOPLE**2)
    return locations, np.full(len(locations), 1.0 / len(locations))


def _on_sphere(vectors: Floats) -> Floats:
    """Return the longitudes and latitudes of vectors."""
    x, y, z = vectors.T
    turned = np.stack([np.arctan2(y, x), np.arctan2(z, np.hypot(x, y))], axis=1)
    return np.asarray(np.degrees(turned))


def _share(purpose: str, epsilon: float) -> float:
    known, shares = np.array(_SHARES[purpose]).T
    if epsilon > known[-1]:  # a share in proportion to 1/E^0.6
        return float(shares[-1] * math.exp(-0.6 * (epsilon - known[-1])))
    return float(np.exp(np.interp(epsilon, known, np.log(shares))))


def _sizes(share: float) -> list[tuple[int, int]]:
    """Return the numbers of points and of likelier points that are worth trying."""
    sizes = {(100, max(1, round(100 * share)))}
    for width in (1, 3):
        for more in (0.8, 1.0, 1.25):
            count = max(width + 1, round(more * width / share))
            sizes |= {(count, width), (max(width + 1, round(math.sqrt(count)) ** 2), width)}
    return sorted(size for size in sizes if size[0] <= _FITTED)


def merge_points(fit: FittedBook) -> FittedBook:
    """Return the fit with coinciding points merged if the draw stays the same."""
    _, first, counts = np.unique(np.round(fit.points, 3), axis=0, return_index=True, return_counts=True)
    times = int(counts[0])
    if times == 1 or (counts != times).any() or fit.width % times:
        return fit
    return FittedBook(fit.points[np.sort(first)], fit.width // times, fit.error)


def _per(box: tuple[Pair, ...], count: int) -> tuple[int, int]:
    """Return the number of cells along each side so that about `count` cells are nearly square."""
    across, along = (high - low for low, high in box)
    columns = min(max(1, round(math.sqrt(count * across / along))), _MOST_SIDE)
    return columns, min(max(1, round(count / columns)), _MOST_SIDE)


def _cells(area: Plane, count: int) -> Floats:
    """Return the centres of about `count` grid cells over an area's box, if inside the area."""
    box = area.box
    columns, rows = _per(((box.x.low, box.x.high), (box.y.low, box.y.high)), count)
    x = box.x.from_unit((np.arange(columns) + 0.5) / columns)
    y = box.y.from_unit((np.arange(rows) + 0.5) / rows)
    middles = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
    gap = np.abs(area.clip(middles) - middles).max(axis=1)
    return np.asarray(middles[gap <= 1e-9 * max(box.x.length, box.y.length)])


def _border(area: Plane, count: int = 16) -> Floats:
    """Return locations on the border of an area, including its corners."""
    box = area.box
    steps = np.linspace(0.0, 1.0, count + 1)
    zero, complete = np.zeros(count + 1), np.ones(count + 1)
    sides = [
        np.stack(side, axis=1)
        for side in ((steps, zero), (steps, complete), (zero, steps), (complete, steps))
    ]
    unit = np.concatenate(sides)
    if isinstance(area, Parallelogram):
        return area.from_axes(unit)
    return area.clip(np.array([box.x.low, box.y.low]) + unit * np.array([box.x.length, box.y.length]))


def _gather(locations: Floats, area: Plane) -> tuple[Floats, Floats]:
    """Return public locations binned by a grid: the mean location and the share of each cell."""
    box = area.box
    low = np.array([box.x.low, box.y.low])
    sides = np.array([box.x.length, box.y.length])
    cell = np.clip(((locations - low) / sides * _CELLS).astype(np.int64), 0, _CELLS - 1)
    _, number, counts = np.unique(cell[:, 0] * _CELLS + cell[:, 1], return_inverse=True, return_counts=True)
    means = np.stack([np.bincount(number, locations[:, axis]) / counts for axis in (0, 1)], axis=1)
    return area.clip(means), counts / len(locations)


def _hats(people: Floats, across: int) -> Floats:
    """Return bilinear functions on a grid at every person: a row per function, a column per person."""
    low, high = people.min(axis=0), people.max(axis=0)
    unit = (people - low) / (high - low)
    knots = np.linspace(0.0, 1.0, across)
    first, second = (
        np.maximum(0.0, 1.0 - np.abs(unit[:, axis, None] - knots) * (across - 1)) for axis in (0, 1)
    )
    every = (first[:, :, None] * second[:, None, :]).reshape(len(people), -1).T
    return np.asarray(every[every.sum(axis=1) > 0.0])


def _spiral(count: int) -> Floats:
    """Return unit vectors that cover the sphere evenly, along a spiral."""
    up = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    turn = np.arange(count) * (math.pi * (3.0 - math.sqrt(5.0)))
    level = np.sqrt(1.0 - up**2)
    return np.stack([level * np.cos(turn), level * np.sin(turn), up], axis=1)


def _cap_error(epsilon: float, share: float) -> float:
    """Return the mean arc to a report on the unit sphere if a cap with this share of it is likelier."""
    more, angle = math.expm1(epsilon), math.acos(1.0 - 2.0 * share)
    served = (math.sin(angle) - angle * math.cos(angle)) / 2.0
    return (math.pi / 2.0 + more * served) / (1.0 + more * share)


def _best_cap(epsilon: float) -> float:
    return argmin(lambda share: _cap_error(epsilon, share), 1e-6, 0.5, sections=60)
