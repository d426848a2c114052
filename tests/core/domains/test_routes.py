"""Routes: complete paths are resampled in integers, by the way or by the number of the location."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.domains import read_domain
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain

WIDE = dt.Rectangle(dt.Interval(-10, 190), dt.Interval(0, 50))
FINE = 200 / (1 << 15)


def by_floats(path: np.ndarray, points: int, by: str) -> np.ndarray:
    """The same rule in floats, by numpy's interpolation."""
    so_far = np.arange(float(len(path)))
    if by == "length":
        so_far = np.append(0.0, np.cumsum(np.hypot(*np.diff(path, axis=0).T)))
    kept = np.append(np.diff(so_far) > 0, True)  # the last of equal positions
    at = np.linspace(0.0, so_far[-1], points)
    return np.stack([np.interp(at, so_far[kept], path[kept, axis]) for axis in (0, 1)], axis=1)


@pytest.mark.parametrize("by", ["length", "order"])
def test_paths_of_any_lengths_are_resampled_as_stated(by: Any) -> None:
    random = np.random.default_rng(1)
    paths = [random.uniform([-10, 0], [190, 50], (count, 2)) for count in (1, 2, 3, 8, 50)]
    paths += [np.repeat(paths[3], 2, axis=0), np.repeat(paths[0], 4, axis=0)]
    routes = dt.Routes(WIDE, points=6, by=by)
    found = routes.resample(paths)
    assert found.shape == (7, 6, 2)
    for path, own in zip(paths, found, strict=True):
        np.testing.assert_allclose(own, by_floats(path, 6, by), atol=FINE)
        np.testing.assert_array_equal(routes.resample(path), own)  # alone as among others


def test_one_path_and_several_differ_in_shape() -> None:
    routes = dt.Routes(WIDE, points=4)
    line = [(0, 0), (10, 10)]
    assert routes.check(line).shape == routes.check(np.array(line)).shape == (4, 2)
    assert routes.check([line]).shape == routes.check(dt.Paths.of(line)).shape == (1, 4, 2)
    assert routes.check([line, [(0, 0)]]).shape == (2, 4, 2)
    assert routes.clip([(-99, 7)]).points.tolist() == [[-10, 7]]


def test_a_domain_of_routes_travels() -> None:
    for area in (WIDE, dt.Disk(2.0), dt.maps.Parallelogram((0, 0), (2, 1), (0, 1))):
        routes = dt.Routes(area, points=3, distance="warped", by="order")
        assert read_domain(routes.device()) == routes
    with pytest.raises(MalformedReport):
        read_domain({**routes.device(), "points": 1})
    with pytest.raises(MalformedReport):
        read_domain({**routes.device(), "area": dt.Interval(0, 1).device()})


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: dt.Routes(dt.Sphere()), "LocalMap"),  # type: ignore[arg-type]
        (lambda: dt.Routes(WIDE, points=1), "from 2 to 64"),
        (lambda: dt.Routes(WIDE, points=True), "from 2 to 64"),
        (lambda: dt.Routes(WIDE, distance="median"), "distance"),  # type: ignore[arg-type]
        (lambda: dt.Routes(WIDE, by="time"), "by"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_domain_is_refused(wrong: Any, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        wrong()


@pytest.mark.parametrize(
    "values", [[(0, 60)], [(np.nan, 1)], [[(0, 0)], []], "path", [(1, 2, 3)], np.zeros((0, 2)), [None]]
)
def test_what_is_no_path_in_the_area_is_refused(values: Any) -> None:
    with pytest.raises(OutsideDomain) as error:
        dt.Routes(WIDE).check(values)
    assert "60" not in str(error.value)


def test_paths_are_resampled_at_equal_steps_of_time() -> None:
    paths = dt.Paths.of([[(0, 0), (3, 0), (4, 0)], [(1, 1), (1, 1)], [(2, 3)]])
    made = paths.resample_times([0, 1, 10, 5, 5, 7], points=4)
    assert made.lengths.tolist() == [4, 4, 4]
    assert np.allclose(made[0][:, 0], np.interp([0, 10 / 3, 20 / 3, 10], [0, 1, 10], [0, 3, 4]))
    assert (made[1] == 1).all()
    assert (made[2] == [2, 3]).all()
    box = dt.Rectangle(dt.Interval(0, 4), dt.Interval(0, 4))
    routes = dt.Routes(box, points=4, by="order")
    assert np.abs(routes.resample(made) - made.points.reshape(-1, 4, 2)).max() < 1e-4
    for wrong in ([0, 1], [0, 1, 10, 5, 4, 7], [0, 1, math.inf, 5, 5, 7]):
        with pytest.raises(OutsideDomain):
            paths.resample_times(wrong, points=4)
