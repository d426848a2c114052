"""Distances between true and noisy locations, and between true and noisy paths."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.core.domains import Circle, Paths, Sphere
from dither.core.question.paths import PathQuestion
from dither.core.reports import Reports
from dither.errors import InvalidParameter, Mismatch, found
from dither.estimation.maps.routes import is_of_routes
from dither.foundation.arrays import Floats, Mask

AnyPaths = Any  # reports of a path mechanism, `Paths`, or what `Paths.of` takes


def average_error(true: AnyPaths, noisy: AnyPaths, *, sphere: Sphere | None = None) -> float:
    """Return the mean distance of noisy locations to the true ones, averaged within paths, then over paths.

    With a `sphere`, places are longitudes and latitudes, and the error is in the sphere's unit: metres.
    [Thesis, Sec. 6.3.1]

    >>> average_error([(0, 0), (1, 1)], [(0, 3), (1, 5)])
    3.5
    """
    first, second = _alike(true, noisy)
    return _by_path(first, distances(first, second, sphere=sphere))


def distances(true: AnyPaths, noisy: AnyPaths, *, sphere: Sphere | None = None) -> Floats:
    """Return the distance of each noisy location to the true one."""
    first, second = _alike(true, noisy)
    if sphere is not None:
        return sphere.distance(first.points, second.points)
    gap = second.points - first.points
    return np.asarray(np.hypot(gap[:, 0], gap[:, 1]), dtype=np.float64)


def within_range(true: AnyPaths, noisy: AnyPaths, radius: float, *, sphere: Sphere | None = None) -> float:
    """Return the share of reported places within a radius of the truth: range-query preservation.

    [Thesis, Sec. 6.3.2, RQP]
    """
    if not radius >= 0.0:
        raise InvalidParameter(f"expected a radius to be a number from 0 upwards, got {found(radius)}")
    first, second = _alike(true, noisy)
    return _by_path(first, (distances(first, second, sphere=sphere) <= radius).astype(np.float64))


def hotspots(places: AnyPaths, share: float = 0.2) -> Floats:
    """Return a share of the distinct locations, the most frequent ones, at least one."""
    if not 0.0 < share <= 1.0:
        raise InvalidParameter(f"expected a share to be a number above 0 and at most 1, got {found(share)}")
    different, counts = np.unique(_paths(places).points, axis=0, return_counts=True)
    kept = max(1, math.floor(share * len(different)))
    return np.asarray(different[np.argsort(-counts, kind="stable")[:kept]])


def hotspots_lost(true: AnyPaths, noisy: AnyPaths, spots: object) -> float:
    """Return the mean number of visits to hotspots per path that are reported elsewhere.

    [Thesis, Sec. 6.3.2, CD]: #{τ in H} − #{τ in H and τ′ in H}.
    """
    first, second = _alike(true, noisy)
    was, reported = _among(first.points, spots), _among(second.points, spots)
    return float(np.mean(np.add.reduceat((was & ~reported).astype(np.float64), first.offsets[:-1])))


def hotspots_miscounted(true: AnyPaths, noisy: AnyPaths, spots: object) -> float:
    """Return the absolute error of the number of visits to hotspots, averaged over paths: CD as coded.

    |#{τ′ in H} − #{τ in H}|: visits that are added and visits that are lost cancel.
    """
    first, second = _alike(true, noisy)
    gained = _among(second.points, spots).astype(np.int64) - _among(first.points, spots)
    return float(np.mean(np.abs(np.add.reduceat(gained, first.offsets[:-1]))))


def direction_error(true: object, noisy: object) -> float:
    """Return the mean smaller angle between true and noisy directions, in radians."""
    first, second = (np.asarray(angles, dtype=np.float64) for angles in (true, noisy))
    if first.shape != second.shape:
        raise Mismatch("expected the same number of noisy and true directions")
    return float(Circle().distance(first, second).mean())


def _among(locations: Floats, spots: object) -> Mask:
    """Return whether each place equals one of the hotspots."""
    rows = np.ascontiguousarray(np.asarray(spots, dtype=np.float64).reshape(-1, 2)) + 0.0
    return np.isin(_whole(np.ascontiguousarray(locations) + 0.0), _whole(rows))


def _whole(rows: Floats) -> NDArray[np.void]:
    return np.ascontiguousarray(rows).view([("", rows.dtype)] * 2).reshape(-1).view("V16")


def _by_path(paths: Paths, values: Floats) -> float:
    sums = np.add.reduceat(values, paths.offsets[:-1])
    return float(np.mean(sums / paths.lengths))


def _alike(true: AnyPaths, noisy: AnyPaths) -> tuple[Paths, Paths]:
    if is_of_routes(noisy) and not isinstance(
        true, Reports
    ):  # they have the number of points of public paths
        true = Paths.of(noisy.question.domain.resample(Paths.of(true)))
    first, second = _paths(true), _paths(noisy)
    if len(first.points) != len(second.points):
        raise Mismatch(
            f"expected as many noisy places as true ones, got {len(second.points)} and {len(first.points)}"
        )
    if not len(first):
        raise InvalidParameter("expected at least one path to compare")
    return first, first.like(second.points)


def _paths(points: AnyPaths) -> Paths:
    if isinstance(points, Reports):
        if is_of_routes(points):
            return Paths.of(points.values)
        if not isinstance(points.question, PathQuestion):
            raise InvalidParameter(
                f"expected reports of a points mechanism, got reports of {points.question.name}"
            )
        return points.question.paths(points)
    return Paths.of(points)
