"""Areas and the way to their borders, against bisection."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dither as dt
from dither.core.domains import Region

SQUARE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
REGIONS = [
    SQUARE,
    dt.Rectangle(dt.Interval(0, 2), dt.Interval(0, 10)),
    dt.Rectangle(dt.Interval(139.47, 139.9), dt.Interval(35.51, 35.86)),
    dt.Disk(1.0),
    dt.Disk(3.0, (10.0, -4.0)),
    dt.maps.Parallelogram((1.0, 2.0), (3.0, 1.0), (-1.0, 2.0)),
]


def places(region: Region, count: int, seed: int = 5) -> np.ndarray:
    """Places inside, uniform in the box and moved inside: many end on the border."""
    box, rng = region.box, np.random.default_rng(seed)
    points = np.stack([rng.uniform(box.x.low, box.x.high, count), rng.uniform(box.y.low, box.y.high, count)])
    return region.clip(points.T)


def inside(region: Region, place: np.ndarray) -> bool:
    return bool(np.linalg.norm(region.clip(place) - place) <= 1e-9 * region.diameter)


def farthest(region: Region, at: np.ndarray, turn: np.ndarray) -> float:
    """How far one can go, by bisection on `clip` alone."""
    low, high = 0.0, 2.0 * region.diameter
    for _ in range(80):
        middle = (low + high) / 2.0
        low, high = (middle, high) if inside(region, at + middle * turn) else (low, middle)
    return low


@pytest.mark.parametrize("region", REGIONS, ids=str)
def test_the_way_to_the_border(region: Region) -> None:
    rng = np.random.default_rng(1)
    for at in region.clip(region.centre + 0.9 * (places(region, 12) - region.centre)):
        angle = rng.uniform(0.0, 2.0 * math.pi)
        turn = np.array([math.cos(angle), math.sin(angle)])
        assert 1.0 / region.gauge(at, turn) == pytest.approx(farthest(region, at, turn), rel=1e-6)


@pytest.mark.parametrize("region", REGIONS, ids=str)
def test_every_place_is_within_the_way(region: Region) -> None:
    """From any reference, the border included, a place is at a share of the way between 0 and 1."""
    references, goals = places(region, 400), places(region, 400, seed=6)
    shares = region.gauge(references, goals - references)
    assert shares.min() >= 0.0
    assert shares.max() <= 1.0 + 1e-9


@pytest.mark.parametrize("region", REGIONS, ids=str)
def test_one_place_as_many(region: Region) -> None:
    references, goals = places(region, 100), places(region, 100, seed=6)
    many = region.gauge(references, goals - references)
    ones = [region.gauge_one(tuple(r), tuple(g - r)) for r, g in zip(references, goals, strict=True)]
    np.testing.assert_allclose(ones, many, rtol=1e-9)


@pytest.mark.parametrize("corner", [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)])
def test_corners_and_edges_of_the_square(corner: tuple[float, float]) -> None:
    at = np.array(corner)
    inward = 1.0 - 2.0 * at
    assert SQUARE.gauge(at, inward) == 1.0
    assert 1.0 / SQUARE.gauge(at, -inward) < 1e-11  # no room at all outside
    assert SQUARE.gauge(at, np.zeros(2)) == 0.0
    along = inward * np.array([1.0, 0.0])  # along the edge, where the paper's formula gives no room
    assert SQUARE.gauge(at, along) == 1.0


def test_the_bottom_edge_where_the_papers_formula_fails() -> None:
    """[Thesis, D.2.5]: φ₃ = atan2(0, −) + 2π is 3π there, and half the directions get the wrong wall."""
    at = np.array([0.3, 0.0])
    for angle in np.linspace(0.01, math.pi - 0.01, 50):
        turn = np.array([math.cos(angle), math.sin(angle)])
        assert 1.0 / SQUARE.gauge(at, turn) == pytest.approx(farthest(SQUARE, at, turn), rel=1e-6)


def test_a_disk_from_its_centre_and_from_its_rim() -> None:
    disk = dt.Disk(2.0, (1.0, 1.0))
    assert disk.gauge(np.array([1.0, 1.0]), np.array([0.0, 1.0])) == 0.5
    rim = np.array([3.0, 1.0])
    assert disk.gauge(rim, np.array([-4.0, 0.0])) == pytest.approx(1.0)
    assert disk.gauge(rim, np.array([-1.0, 1.0])) == pytest.approx(0.5)
    assert 1.0 / disk.gauge(rim, np.array([1.0, 0.0])) < 1e-11


def test_parallelograms() -> None:
    area = dt.maps.Parallelogram((0, 0), (2, 0), (1, 1))
    assert area.diameter == pytest.approx(math.hypot(3, 1))
    assert area.centre == (1.5, 0.5)
    np.testing.assert_allclose(area.to_axes(np.array([1.5, 0.5])), [0.5, 0.5])
    np.testing.assert_allclose(area.from_axes(np.array([1.0, 1.0])), [3.0, 1.0])
    assert (area.box.x.low, area.box.x.high, area.box.y.high) == (0.0, 3.0, 1.0)
    with pytest.raises(dt.errors.OutsideDomain):
        area.check([0.5, 0.9])
    np.testing.assert_allclose(area.check(area.clip([-1.0, 0.5])), area.clip([-1.0, 0.5]))
    for bad in [
        ((0, 0), (1, 1), (2, 2)),
        ((0, 0), (0, 0), (1, 1)),
        ((0, 0), (1, 1), 3),
        ((0, math.nan), (1, 0), (0, 1)),
    ]:
        with pytest.raises(dt.errors.InvalidParameter):
            dt.maps.Parallelogram(*bad)  # type: ignore[arg-type]
