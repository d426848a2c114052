"""Ways of reading places: rounded to points, to a grid, moved into a shape."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, MissingExtra, OutsideDomain

SQUARE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))


def test_rounding_is_to_the_nearest_point() -> None:
    rng = np.random.default_rng(1)
    points, places = rng.random((300, 2)), rng.random((2_000, 2))
    nearest = np.linalg.norm(places[:, None] - points, axis=-1).argmin(axis=1)
    reading = dt.maps.Rounded(points)
    np.testing.assert_array_equal(reading.numbers(places), nearest)
    np.testing.assert_array_equal(reading(places), points[nearest])
    np.testing.assert_array_equal(reading(places.reshape(20, 100, 2)).reshape(-1, 2), points[nearest])
    np.testing.assert_array_equal(reading(points), points)


def test_many_places_are_rounded_in_another_order_to_the_same_points() -> None:
    rng = np.random.default_rng(2)
    points, places = rng.random((50, 2)), rng.random((70_000, 2))
    nearest = np.concatenate(
        [np.linalg.norm(part[:, None] - points, axis=-1).argmin(axis=1) for part in np.split(places, 7)]
    )
    np.testing.assert_array_equal(dt.maps.Rounded(points).numbers(places), nearest)


def test_snapping_is_to_the_nearest_centre() -> None:
    area = dt.Rectangle(dt.Interval(-1, 1), dt.Interval(0, 9))
    grid = dt.maps.Snapped(area, 4, 3)
    x, y = -0.75 + 0.5 * np.arange(4), 1.5 + 3.0 * np.arange(3)
    centres = np.array([(a, b) for a in x for b in y])
    places = np.random.default_rng(3).random((500, 2)) * [2, 9] + [-1, 0]
    np.testing.assert_allclose(grid(places), dt.maps.Rounded(centres)(places))
    np.testing.assert_array_equal(grid.numbers(places), dt.maps.Rounded(centres).numbers(places))
    assert grid.numbers([(1.0, 9.0)]).tolist() == [11]  # the upper corner belongs to the last cell
    assert grid.numbers([(5.0, -2.0)]).tolist() == [9]  # what is outside, to the nearest


def test_projection_into_shapes() -> None:
    shapely = pytest.importorskip("shapely")
    triangle = dt.maps.Projected([(0, 0), (1, 0), (0, 1)])
    np.testing.assert_allclose(
        triangle([(0.2, 0.2), (1, 1), (-1, 0.5), (2, -1)]), [(0.2, 0.2), (0.5, 0.5), (0, 0.5), (1, 0)]
    )
    ring = shapely.Point(0, 0).buffer(2.0).difference(shapely.Point(0, 0).buffer(1.0))
    moved = dt.maps.Projected(ring)(np.array([[0.9, 0.0], [3.0, 0.0], [1.5, 0.0]]))
    np.testing.assert_allclose(moved, [[1.0, 0.0], [2.0, 0.0], [1.5, 0.0]], atol=0.01)
    two = shapely.MultiPolygon([shapely.box(0, 0, 1, 1), shapely.box(3, 0, 4, 1)])
    np.testing.assert_allclose(dt.maps.Projected(two)([(1.2, 0.5), (2.9, 0.5)]), [(1, 0.5), (3, 0.5)])
    geojson = {
        "type": "Feature",
        "geometry": {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [0, 1], [0, 0]]]},
    }
    assert dt.maps.Projected(geojson)([(1, 1)]).tolist() == [[0.5, 0.5]]


def test_a_reading_is_a_way_of_reading() -> None:
    """The same reports, another decoding: same fingerprint, same promise."""
    mechanism = dt.TraCSD(SQUARE, epsilon=2.0)
    rounded = mechanism.read(dt.maps.Rounded([(0, 0), (1, 1), (0.5, 0.5)]))
    assert rounded.fingerprint == mechanism.fingerprint
    assert rounded.guarantee == mechanism.guarantee
    reports = mechanism.perturb(np.random.default_rng(1).random((40, 2)), source=dt.Seeded(1))
    read = rounded.reports(reports)
    np.testing.assert_array_equal(read.values, rounded.reading(reports.values))
    assert len(np.unique(read.values, axis=0)) == 3
    back = dt.from_bytes(read.to_bytes())
    np.testing.assert_array_equal(back.values, read.values)
    for reading in (dt.maps.Snapped(SQUARE, 3, 4), dt.maps.Projected([(0, 0), (1, 0), (0, 1)])):
        other = dt.from_json(mechanism.read(reading).to_json())
        assert other.reading == reading
        np.testing.assert_array_equal(other.reports(reports).values, reading(reports.values))


@pytest.mark.parametrize(
    "make",
    [
        lambda: dt.maps.Rounded([]),
        lambda: dt.maps.Rounded([(0, 0, 0)]),
        lambda: dt.maps.Rounded([(0, np.inf)]),
        lambda: dt.maps.Rounded("points"),
        lambda: dt.maps.Snapped("area", 3, 3),
        lambda: dt.maps.Snapped(SQUARE, 0, 3),
        lambda: dt.maps.Snapped(SQUARE, 2.5, 3),
        lambda: dt.maps.Projected([(0, 0), (1, 1)]),
        lambda: dt.maps.Projected([(0, 0), (1, 1), (1, 0), (0, 1)]),
        lambda: dt.maps.Projected("nonsense"),
        lambda: dt.maps.Projected("LINESTRING (0 0, 1 1)"),
        lambda: dt.maps.Projected(7),
        lambda: dt.TraCSD(SQUARE, epsilon=1.0, reading="rounded"),
    ],
)
def test_bad_readings(make: Any) -> None:
    with pytest.raises(InvalidParameter):
        make()


def test_bad_places() -> None:
    for bad in ([(0, np.nan)], 3, [(1, 2, 3)], "x"):
        with pytest.raises(OutsideDomain):
            dt.maps.Rounded([(0, 0)])(bad)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shapely", None)
    monkeypatch.setitem(sys.modules, "scipy.spatial", None)
    with pytest.raises(MissingExtra, match="geo"):
        dt.maps.Projected([(0, 0), (1, 0), (0, 1)])
    with pytest.raises(MissingExtra, match="geo"):
        dt.maps.Rounded([(0, 0)])([(1, 1)])
