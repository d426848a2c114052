"""Measures of error on cases computed by hand, the map in metres, and choices made in advance."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, Mismatch
from dither.estimation import maps
from dither.mechanisms.optimal.anywhere import Anywhere

SQUARE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
TRUE = [[(0, 0), (1, 0)], [(2, 2)]]
NOISY = [[(0, 1), (1, 3)], [(2, 2)]]


def test_average_error_is_by_path() -> None:
    assert maps.average_error(TRUE, NOISY) == pytest.approx((2.0 + 0.0) / 2)
    assert maps.average_error(TRUE[0], NOISY[0]) == 2.0
    np.testing.assert_array_equal(maps.distances(TRUE, NOISY), [1, 3, 0])


def test_errors_in_metres() -> None:
    metres = maps.average_error([(0.0, 0.0)], [(1.0, 0.0)], sphere=dt.Sphere())
    assert metres == pytest.approx(math.radians(1.0) * 6_371_008.8)
    north = maps.average_error([(139.0, 35.0)], [(139.0, 36.0)], sphere=dt.Sphere())
    assert north == pytest.approx(metres)
    east = maps.average_error([(139.0, 60.0)], [(140.0, 60.0)], sphere=dt.Sphere())
    assert east == pytest.approx(metres / 2, rel=1e-3)


def test_range_queries() -> None:
    assert maps.within_range(TRUE, NOISY, 1.0) == pytest.approx((0.5 + 1.0) / 2)
    assert maps.within_range(TRUE, NOISY, 0.0) == pytest.approx((0.0 + 1.0) / 2)
    with pytest.raises(InvalidParameter):
        maps.within_range(TRUE, NOISY, math.nan)


def test_hotspots_and_the_two_ways_to_count() -> None:
    visits = [[(0, 0), (0, 0), (1, 1)], [(0, 0), (2, 2), (3, 3), (4, 4)]]
    spots = maps.hotspots(visits, share=0.2)
    assert spots.tolist() == [[0, 0]]
    told = [[(1, 1), (0, 0), (0, 0)], [(1, 1), (0, 0), (3, 3), (4, 4)]]
    # lost: one visit in each path; but in each path another place is told as the hotspot
    assert maps.hotspots_lost(visits, told, spots) == 1.0
    assert maps.hotspots_miscounted(visits, told, spots) == 0.0
    assert maps.hotspots_lost(visits, visits, spots) == 0.0
    assert len(maps.hotspots(visits, share=1.0)) == 5
    with pytest.raises(InvalidParameter):
        maps.hotspots(visits, share=0.0)


def test_directions_go_the_short_way_round() -> None:
    assert maps.direction_error([0.1], [2 * math.pi - 0.1]) == pytest.approx(0.2)
    assert maps.direction_error([0.0, 3.0], [math.pi, 3.5]) == pytest.approx((math.pi + 0.5) / 2)
    # the published metric min(|a − b|, |2π − a − b|) calls 1 and 2π − 1 the same direction
    assert maps.direction_error([1.0], [2 * math.pi - 1.0]) == pytest.approx(2.0)


def test_reports_are_compared_as_they_are_read() -> None:
    mechanism = dt.TraCSD(SQUARE, epsilon=3.0)
    true = np.random.default_rng(1).random((20, 5, 2))
    reports = mechanism.perturb(true, source=dt.Seeded(1))
    measured = np.linalg.norm(reports.values - true, axis=-1).mean()
    assert maps.average_error(true, reports) == pytest.approx(measured)
    with pytest.raises(Mismatch):
        maps.average_error(true[:3], reports)
    with pytest.raises(InvalidParameter):
        maps.average_error([(0, 0)], dt.Podium(dt.Interval(0, 1), epsilon=1.0).perturb([0.5]))
    with pytest.raises(InvalidParameter):
        maps.average_error([], [])
    with pytest.raises(Mismatch):
        maps.direction_error([1.0], [1.0, 2.0])


# ------------------------------------------------------------------------------------------------ maps


def test_the_local_map() -> None:
    city = dt.Rectangle(dt.Interval(139.47, 139.9), dt.Interval(35.51, 35.86))
    local = maps.LocalMap.of(city)
    places = np.random.default_rng(1).random((50, 2)) * [0.43, 0.35] + [139.47, 35.51]
    flat = local.to_plane(places)
    np.testing.assert_allclose(local.to_earth(flat), places, atol=1e-12)
    area = local.rectangle(city)
    assert area.centre == pytest.approx((0.0, 0.0), abs=1e-6)
    area.check(area.clip(flat))
    np.testing.assert_allclose(area.clip(flat), flat, atol=1e-6)
    pyproj = pytest.importorskip("pyproj")
    truth = pyproj.Geod(ellps="WGS84").inv(*places[:-1].T, *places[1:].T)[2]
    measured = np.linalg.norm(np.diff(flat, axis=0), axis=1)
    np.testing.assert_allclose(measured, truth, rtol=3e-3)
    with pytest.raises(InvalidParameter):
        maps.LocalMap(0.0, 90.0)
    with pytest.raises(dt.errors.OutsideDomain):
        local.to_plane([(200.0, 0.0)])


def test_reference_systems() -> None:
    pytest.importorskip("pyproj")
    zone = maps.ReferenceMap("EPSG:32654")
    places = np.array([[[139.7, 35.7], [139.8, 35.8]]])
    flat = zone.to_plane(places)
    assert flat.shape == (1, 2, 2)
    np.testing.assert_allclose(zone.to_earth(flat), places, atol=1e-7)
    assert pickle.loads(pickle.dumps(zone)) == zone
    with pytest.raises(InvalidParameter):
        maps.ReferenceMap("EPSG:nowhere")


# --------------------------------------------------------------------------------- choices made in advance


def test_predicted_errors_are_the_measured_ones() -> None:
    for kind in (dt.TraCSC, dt.TraCSD):
        mechanism = kind(SQUARE, epsilon=4.0)
        places = np.random.default_rng(5).random((4_000, 10, 2))
        measured = maps.average_error(places, mechanism.perturb(places, source=dt.Seeded(9)))
        assert maps.predicted_error(mechanism, length=10) == pytest.approx(measured, rel=0.02)
        assert maps.predicted_error(mechanism) == maps.predicted_error(mechanism)
    here = maps.predicted_error(dt.TraCSC(SQUARE, epsilon=4.0), [(0.5, 0.5)])
    assert here < maps.predicted_error(dt.TraCSC(SQUARE, epsilon=4.0), [(0.0, 0.0)])
    assert 1e6 < maps.predicted_error(dt.TraCSC(dt.Sphere(), epsilon=4.0)) < 1e7


def test_the_best_split() -> None:
    """At ε = 10 the heuristic π/(π+1) gives the direction too much: a sixth of the error can be saved."""
    mechanism = dt.TraCSD(SQUARE, epsilon=10.0)
    split = maps.best_split(mechanism)
    assert 0.58 < split < 0.7
    assert maps.predicted_error(replace(mechanism, split=split)) < 0.88 * maps.predicted_error(mechanism)
    assert maps.best_split(dt.TraCSC(SQUARE, epsilon=4.0)) == pytest.approx(0.5, abs=0.04)
    tall = dt.TraCSC(dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 10)), epsilon=4.0)
    assert maps.best_split(tall) < 0.4  # the longer side deserves more


def test_the_better_mechanism_for_an_area() -> None:
    names = [type(choice.mechanism).__name__ for choice in maps.ranked(SQUARE, epsilon=4.0)]
    assert names == ["TraCSD", "TraCSC"]
    paths = maps.ranked(SQUARE, epsilon=4.0, length=20)
    assert [getattr(choice.mechanism, "reference", "") for choice in paths] == ["fixed", "", "last"]
    slow = maps.ranked(SQUARE, epsilon=4.0, length=20, step=0.05)
    assert slow[0].mechanism == dt.TraCSD(SQUARE, epsilon=4.0)
    for wrong, about in (
        ({"length": 0}, "length"),
        ({"length": 2, "step": 0.0}, "step"),
        ({"length": 2, "step": 3.0}, "longer"),
    ):
        with pytest.raises(InvalidParameter, match=about):
            maps.ranked(SQUARE, epsilon=4.0, **wrong)  # type: ignore[arg-type]
    # [Thesis, Fig. 6.5]: places along the short side of a long area
    long = dt.Rectangle(dt.Interval(0, 2), dt.Interval(0, 10))
    side = [(x, 0.0) for x in np.linspace(0.2, 1.8, 9)]
    best = maps.ranked(long, epsilon=4.0, places=side, length=9)[0]
    assert isinstance(best.mechanism, dt.TraCSD)
    assert [type(choice.mechanism) for choice in maps.ranked(dt.Disk(2.0), epsilon=1.0)] == [dt.TraCSD]
    assert [type(choice.mechanism) for choice in maps.ranked(dt.Sphere(), epsilon=1.0)] == [dt.TraCSC]
    with pytest.raises(InvalidParameter):
        maps.ranked(dt.Interval(0, 1), epsilon=1.0)


@pytest.mark.slow
def test_a_recommendation_for_an_area() -> None:
    square = dt.recommend(SQUARE, dt.goals.Locations(), epsilon=4.0)
    assert isinstance(square.best, Anywhere)
    assert any("TraCSC" in row["mechanism"] for row in square)
    assert square[0]["error"] == maps.predicted_error(square.best)  # type: ignore[arg-type]
    assert [row["error"] for row in square] == sorted(row["error"] for row in square)
    for wrong in (dt.Interval(0, 1), dt.Categories(3)):
        with pytest.raises(InvalidParameter, match="Rectangle"):
            dt.recommend(wrong, dt.goals.Locations(), epsilon=4.0)
    with pytest.raises(InvalidParameter, match="people"):
        dt.people_for(SQUARE, dt.goals.Locations(), 0.1, epsilon=1.0)


@pytest.mark.slow
def test_recommendations_for_other_areas() -> None:
    """dt.recommend chooses among Optimal, TraCS, with the share of ε at its best, and planar noise."""
    disk = dt.recommend(dt.Disk(2.0), dt.goals.Locations(), epsilon=4.0)
    assert isinstance(disk.best, Anywhere)
    rivals = {row["mechanism"].split("(")[0]: row["error"] for row in reversed(disk.rows)}  # the best of each
    assert rivals["PlanarStaircase"] > rivals["TraCSD"] > disk[0]["error"]  # one place, seen from the centre
    paths = dt.recommend(dt.Disk(2.0), dt.goals.Locations(length=20), epsilon=4.0)
    walks = [row["mechanism"] for row in paths if "TraCSD" in row["mechanism"]]
    assert walks[0].startswith('TraCSD(…, reference="fixed"')
    long = dt.Rectangle(dt.Interval(0, 2), dt.Interval(0, 10))
    even = dt.recommend(long, dt.goals.Locations(), epsilon=4.0)
    assert isinstance(even.best, Anywhere)
    splits = [design.split for design in even.mechanisms if isinstance(design, dt.TraCSC)]
    assert min(splits) < 0.35  # the longer side deserves more
    side = dt.goals.Locations([(x, 1.0) for x in np.linspace(0.2, 1.8, 9)])
    fitted = dt.recommend(long, side, epsilon=4.0)
    assert "prior" in fitted[0]["mechanism"]
    assert fitted[0]["error"] < next(row["error"] for row in fitted if "TraCS" in row["mechanism"])
    assert 3.2 < dt.epsilon_for(SQUARE, dt.goals.Locations(), 0.2) < 4.2


def test_a_good_start_for_public_points() -> None:
    points = np.random.default_rng(1).random((200, 2)) * 0.25 + [0.7, 0.05]
    mechanism = dt.TraCSD(SQUARE, epsilon=2.0)
    start = maps.best_start(mechanism, points, side=5)
    better = replace(mechanism, start=start)
    first = {one: maps.predicted_error(one, points, paths=8_000) for one in (mechanism, better)}
    assert first[better] < 0.75 * first[mechanism]
