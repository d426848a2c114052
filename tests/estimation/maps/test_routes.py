"""Densities, flows and synthetic paths of the nearest public paths."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.counts import summarise
from dither.core.kernels.places.routes import RouteKernel
from dither.core.question import PlainQuestion, ask
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.maps.routes import PathDensity
from tools.coverage_maps import path_coverage

CITY = dt.Rectangle(dt.Interval(0, 4, unit="km"), dt.Interval(0, 4))
ROUTES = dt.Routes(CITY, points=4)
LINES = [  # of which all lists of three numbers are different
    [(0.5, 1.5), (3.5, 3.5)],
    [(0.5, 3.5), (0.5, 1.5)],
    [(1.5, 3.5), (2.5, 2.5)],
    [(2.5, 3.5), (1.5, 0.5)],
    [(2.5, 3.5), (3.5, 0.5)],
    [(2.5, 1.5), (1.5, 1.5)],
]
TRUE = np.array([0.4, 0.25, 0.2, 0.1, 0.04, 0.01])
HOUSE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(3, 4))


@cache
def question(epsilon: float, width: int) -> PlainQuestion:
    kernel = RouteKernel.largest(epsilon, ROUTES, ROUTES.check(LINES), width)
    made = ask(ROUTES, kernel, epsilon=epsilon, name="Optimal", parameters={"epsilon": epsilon})
    assert isinstance(made, PlainQuestion)
    return made


def told(n: int, epsilon: float = 4.0, width: int = 1, seed: int = 1) -> dt.Reports:
    """Return reports of people on lines, with the exact numbers of them."""
    asked = question(epsilon, width)
    lines = ROUTES.check(LINES)[np.repeat(np.arange(6), np.rint(TRUE * n).astype(int))]
    return asked.reports(asked.kernel.draw(lines, dt.Seeded(seed)))


def density(reports: Any, columns: int = 4, rows: int = 4) -> PathDensity:
    made = dt.maps.density(reports, columns, rows)
    assert isinstance(made, PathDensity)
    return made


@pytest.mark.parametrize("width", [1, 3])
def test_shares_of_the_nearest_paths_are_unbiased(width: int) -> None:
    reports = told(20_000, width=width)
    frequencies = dt.frequencies(reports)
    assert frequencies.labels == tuple(range(6))
    assert np.abs(np.asarray(frequencies.value) - TRUE).max() < 4 * np.max(frequencies.standard_error)
    assert frequencies[0].covers(0.4, 0.999)
    assert frequencies.sum([0, 1, 2]).covers(0.85, 0.999)
    likely = dt.frequencies(reports, method="likelihood")
    assert np.asarray(likely.value) == pytest.approx(TRUE, abs=0.05)
    assert dt.estimate(summarise(reports)).n == 20_000


@pytest.mark.parametrize("width", [1, 3])
def test_a_density_is_that_of_public_paths(width: int) -> None:
    found = density(told(20_000, width=width))
    first, second = np.zeros((4, 4)), np.zeros((4, 4))
    for share, line in zip(TRUE, ROUTES.resample(LINES), strict=True):
        cells = np.minimum(line.astype(int), 3)
        for x, y in cells:
            first[x, y] += share / 4
        for x, y in {tuple(cell) for cell in cells.tolist()}:
            second[x, y] += share
    low, high = found.interval(0.9999)
    assert ((low <= first + 1e-9) & (first <= high + 1e-9)).all()
    low, high = found.passing.interval(0.9999)
    assert ((low <= second.reshape(-1)) & (second.reshape(-1) <= high)).all()
    assert found.probabilities.sum() == pytest.approx(1.0)
    assert found.share(HOUSE).covers(0.25, 0.999)
    assert found.axes == ("x (km)", "y")
    assert len(found.records()) == 16
    assert "public paths" in repr(found)
    assert "trajectory" in str(found.guarantee)


def test_flows_go_from_the_first_to_the_last_place() -> None:
    reports = told(20_000)
    flows = dt.maps.flows(reports, 2, 2)
    low, high = flows.interval(0.9999)
    true = np.zeros((4, 4))
    for share, (a, b) in zip(TRUE, [(0, 3), (1, 0), (1, 3), (3, 0), (3, 2), (2, 0)], strict=True):
        true[a, b] += 20_000 * share
    assert ((low <= true) & (true <= high)).all()
    assert (np.asarray(dt.maps.flows(summarise(reports), 2, 2).counts) == flows.counts).all()
    seen = dt.maps.flows_between([[(0.5, 0.5), (3.5, 3.5)]], CITY, 2, 2)
    assert seen.interval()[0][0, 3] == 1.0  # counted without noise


def test_synthetic_paths_are_public_paths_as_often_as_estimated() -> None:
    made = dt.maps.synthesise(told(20_000), 5_000, source=dt.Seeded(2))
    own = ROUTES.resample(LINES)
    shares = [(np.abs(made.points.reshape(-1, 4, 2) - line).max(axis=(1, 2)) < 1e-9).mean() for line in own]
    assert shares == pytest.approx(TRUE.tolist(), abs=0.03)
    with pytest.raises(InvalidParameter, match="without length"):
        dt.maps.synthesise(told(100), 10, length=5)
    with pytest.raises(InvalidParameter, match="expected flows"):
        dt.maps.synthesise(dt.TraCSC(CITY, epsilon=1).perturb([(1, 1)]), 10)


def test_metrics_compare_resampled_paths() -> None:
    asked = question(50.0, 1)
    paths = [[(0.5, 1.5), (2.0, 2.5), (3.5, 3.5)], [(0.5, 3.5), (0.5, 1.5)]]
    reports = asked.perturb(paths)
    assert dt.maps.average_error(paths, reports) < 0.001
    assert dt.maps.within_range(paths, reports, 0.01) == 1.0
    assert dt.maps.distances(paths, reports).shape == (8,)
    spots = dt.maps.hotspots(reports)
    assert dt.maps.hotspots_lost(reports, reports, spots) == 0.0


def test_what_has_no_density_is_refused() -> None:
    with pytest.raises(NotIdentifiable, match="at least one report"):
        dt.maps.density(told(0))
    with pytest.raises(InvalidParameter, match="expected no smoothing"):
        dt.maps.density(told(100), smoothing=0.1)
    with pytest.raises(InvalidParameter, match=r"dt\.Rectangle"):
        density(told(100)).share(dt.Interval(0, 1))  # type: ignore[arg-type]
    places = summarise(dt.PM(dt.Interval(0, 1), epsilon=1).perturb([0.5]))
    with pytest.raises(InvalidParameter, match="themselves"):
        dt.maps.density(places)
    with pytest.raises(InvalidParameter, match="themselves"):
        dt.maps.flows(places)


def test_lists_that_are_the_same_for_two_public_paths_are_not_told_apart() -> None:
    with pytest.raises(NotIdentifiable, match="expected inputs with different distributions"):
        dt.frequencies(told(100, width=2))  # the two public paths nearest to each other have one list


@pytest.mark.slow
@pytest.mark.parametrize(("n", "runs"), [(1_000, 400), (100_000, 100)])
@pytest.mark.parametrize("epsilon", [2.0, 8.0])
def test_intervals_hold(epsilon: float, n: int, runs: int) -> None:
    """Of 16 other public paths than those of the table of docs/paths.md."""
    for name, covered in path_coverage(epsilon, n, runs, seed=1).items():
        assert 0.93 <= covered <= 0.97, (name, covered)
