"""Maps from noisy locations: exact laws, the truth fits, and wrong maps do not."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation import maps
from dither.estimation.maps.density import likelihoods
from dither.mechanisms.places.base import grid
from tools.coverage_maps import MECHANISMS, measured

SQUARE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
SIDE = 6
POINTS = grid(SQUARE, 5)


def truth() -> np.ndarray:
    """A map of 6 × 6 cells, uneven in each direction."""
    weights = np.random.default_rng(5).gamma(0.7, size=(SIDE, SIDE))
    weights[1, 4] += 4.0
    return weights / weights.sum()


def drawn(count: int, length: int = 4, seed: int = 1) -> np.ndarray:
    """Places of the map of `truth`, uniform within cells, in paths."""
    random = np.random.default_rng(seed)
    cells = random.choice(SIDE * SIDE, size=count, p=truth().reshape(-1))
    corners = np.stack([cells // SIDE, cells % SIDE], axis=1)
    return ((corners + random.random((count, 2))) / SIDE).reshape(-1, length, 2)


def shifted(probabilities: np.ndarray) -> np.ndarray:
    """The same map, half a cell to the right."""
    return (probabilities + np.roll(probabilities, 1, axis=0)) / 2


# ------------------------------------------------------------------------------------------- exact laws


@pytest.mark.parametrize(
    "mechanism",
    [
        dt.TraCSC(SQUARE, epsilon=2.0, cells=16),
        dt.TraCSC(SQUARE, epsilon=2.0, cells=16, inner=dt.SW),
        dt.TraCSC(dt.maps.Parallelogram((0, 0), (2, 0.5), (0.3, 1)), epsilon=2.0, cells=16),
        dt.TraCSD(SQUARE, epsilon=3.0, cells=16),
        dt.TraCSD(dt.Disk(1.0, (0.2, 0.1)), epsilon=3.0, cells=16, start=(0.5, 0.3)),
        dt.rivals.Strawman(SQUARE, epsilon=3.0, cells=32),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_the_law_of_every_report_is_the_exact_one(mechanism: Any) -> None:
    """Reports of a path, looked at from the report before: against probabilities as fractions."""
    places = mechanism.domain.clip(np.random.default_rng(1).random((5, 2)))
    reports = mechanism.perturb(places, source=dt.Seeded(3))
    found = likelihoods(reports, places[:, None, :])
    told = reports.values
    for row, (_, first, second) in enumerate(reports.cells.tolist()):
        reference = None if row == 0 else told[row - 1]
        for column, place in enumerate(places):
            wanted = mechanism.probabilities(place, reference=reference)[first][second]
            assert found[row, column] == pytest.approx(float(wanted), rel=1e-12)


def test_the_laws_of_noise_and_points() -> None:
    places = drawn(8).reshape(-1, 2)
    flat = dt.PlanarLaplace(SQUARE, epsilon=3.0, cells=64)
    reports = flat.perturb(places, source=dt.Seeded(1))
    found = likelihoods(reports, places[:, None, :])
    aims = np.rint(places * 64).astype(int)
    for row, (_, x, y) in enumerate(reports.cells.tolist()):
        weights = [
            math.exp(-float(flat.question.kernel.noise.weight(x - a, y - b))) for a, b in aims.tolist()
        ]
        np.testing.assert_allclose(found[row] / found[row].sum(), np.divide(weights, sum(weights)))
    for mechanism in (
        dt.rivals.NGram(SQUARE, POINTS, epsilon=2.0),
        dt.rivals.LSRR(SQUARE, POINTS, epsilon=2.0),
    ):
        reports = mechanism.perturb(places, source=dt.Seeded(1))
        found = likelihoods(reports, places[:, None, :])
        table = np.array([mechanism.weights_of(place) for place in places.tolist()], dtype=float)
        table /= table.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(found, table[:, reports.cells[:, 1]].T)


def test_a_budget_for_a_trajectory_has_a_law_for_each_length() -> None:
    ways = [drawn(4)[0], drawn(8, 2)[1]]
    shared = dt.TraCSD(SQUARE, epsilon=8.0, unit="trajectory", cells=16).perturb(ways, source=dt.Seeded(2))
    spots = drawn(8).reshape(-1, 1, 2)
    found = likelihoods(shared, spots)
    for rows, epsilon in ((slice(0, 4), 2.0), (slice(4, 6), 4.0)):
        own = dt.TraCSD(SQUARE, epsilon=epsilon, cells=16)
        alone = likelihoods(own.reports(shared.cells[rows]), spots)
        np.testing.assert_allclose(found[rows], alone, rtol=1e-12)


# ------------------------------------------------------------------------- maps fit, wrong ones do not

KINDS = {
    "TraCS-C": (dt.TraCSC(SQUARE, epsilon=4.0, inner=dt.SW), 40_000),
    "TraCS-D": (dt.TraCSD(SQUARE, epsilon=6.0), 6_000),
    "planar Laplace": (dt.PlanarLaplace(SQUARE, epsilon=8.0), 6_000),
    "for a trajectory": (dt.TraCSC(SQUARE, epsilon=24.0, unit="trajectory"), 30_000),
    "gridding": (dt.rivals.Gridding(SQUARE, epsilon=8.0, side=12), 6_000),
}


@pytest.mark.some(every=3)
@pytest.mark.parametrize("name", KINDS)
def test_the_truth_is_nearly_the_likeliest_map_and_wrong_maps_are_not(name: str) -> None:
    """Twice the gap in log-likelihood is about χ² with as many degrees as cells: 10⁻⁶ is beyond 200 of 1024.

    The truth has 36 cells, the likeliest map is sought on 36 or 36² ones; the gap's excess over the degrees
    that count is bounded by Laurent and Massart: k + 2√(kx) + 2x, x = 13.8.
    """
    mechanism, count = KINDS[name]
    reports = mechanism.perturb(drawn(count), source=dt.Seeded(4))
    found = maps.density(reports, SIDE, SIDE, smoothing=0)
    sample, shape = found.sample, found.fine.shape
    counts = sample.row_counts(np.ones(count))

    def level(probabilities: np.ndarray) -> float:
        times = shape[0] // SIDE
        fine = np.kron(probabilities, np.full((times, times), 1.0 / times**2)).reshape(-1)
        return float(counts @ np.log(sample.law.forward(fine)))

    best = float(counts @ np.log(np.maximum(sample.law.forward(found.fine.reshape(-1)), 1e-300)))
    degrees = found.fine.size - 1
    bound = (degrees + 2 * math.sqrt(13.8 * degrees) + 2 * 13.8) / 2
    right = best - level(truth())
    assert -0.1 <= right < bound
    told = np.histogram2d(*reports.values.reshape(-1, 2).T, bins=SIDE, range=[[0, 1], [0, 1]])[0] + 0.5
    for wrong in (shifted(truth()), truth().T, told / told.sum()):
        assert best - level(wrong) > bound


def test_smoothed_maps_are_near_the_truth() -> None:
    random = np.random.default_rng(1)
    towns = np.where(random.random((60_000, 1)) < 0.6, (0.3, 0.7), (0.75, 0.3))
    places = (towns + random.normal(0, 0.09, (60_000, 2))).clip(0, 1).reshape(-1, 4, 2)
    reports = dt.TraCSC(SQUARE, epsilon=4.0, inner=dt.SW).perturb(places, source=dt.Seeded(1))
    found = maps.density(reports, 12, 12)
    wanted, told = (
        np.histogram2d(*one.reshape(-1, 2).T, bins=12, range=[[0, 1], [0, 1]])[0] / 60_000
        for one in (places, reports.values)
    )
    off, plain, aside = (np.abs(one - wanted).sum() for one in (found.probabilities, told, shifted(wanted)))
    assert off < 0.15
    assert plain > 0.7
    assert aside > 0.3
    assert found.probabilities.sum() == pytest.approx(1.0)
    assert repr(found) == "DensityMap(12 × 12 cells of [0, 1] × [0, 1], n = 60 000)"


@pytest.mark.slow
def test_shares_come_with_errors() -> None:
    part = dt.Rectangle(dt.Interval(1 / 6, 1 / 3), dt.Interval(4 / 6, 5 / 6))
    wanted = truth()[1, 4]
    reports = dt.TraCSC(SQUARE, epsilon=6.0, inner=dt.SW).perturb(drawn(40_000), source=dt.Seeded(2))
    map_ = maps.density(reports, SIDE, SIDE)
    found = map_.share(part)
    assert 0.002 < found.standard_error < 0.02
    assert abs(float(found) - wanted) < 6 * found.standard_error
    # taking reports at their word is far off, and so is a part that lies half a cell aside
    told = part.clip(reports.values) == reports.values
    assert abs(told.all(axis=-1).mean() - wanted) > 6 * found.standard_error
    aside = dt.Rectangle(dt.Interval(3 / 12, 5 / 12), dt.Interval(4 / 6, 5 / 6))
    assert abs(float(map_.share(aside)) - wanted) > 6 * found.standard_error
    assert map_.standard_errors.shape == (SIDE, SIDE)


@pytest.mark.slow
def test_intervals_cover() -> None:
    """Of 40 intervals for each of two parts at least 30 cover: at 95 %, fewer is a chance of 10⁻⁵."""
    parts = {
        dt.Rectangle(dt.Interval(0, 1 / 3), dt.Interval(0.5, 1)): truth()[:2, 3:].sum(),
        dt.Rectangle(dt.Interval(0.5, 1), dt.Interval(0, 1)): truth()[3:].sum(),
    }
    mechanism = dt.TraCSC(SQUARE, epsilon=4.0, inner=dt.SW)
    hits = np.zeros(2)
    for seed in range(40):
        reports = mechanism.perturb(drawn(10_000, seed=seed), source=dt.Seeded(seed))
        found = maps.density(reports, SIDE, SIDE)
        hits += [bool(found.share(part).covers(wanted)) for part, wanted in parts.items()]
    assert (hits >= 30).all()


def test_maps_of_other_areas() -> None:
    disk = dt.Disk(2.0, (1.0, 0.0))
    angle, radius = np.random.default_rng(1).random((2, 3_000)) * [[2 * math.pi], [0.6]]
    places = np.stack([1.8 + radius * np.cos(angle), radius * np.sin(angle)], axis=1).reshape(-1, 3, 2)
    found = maps.density(dt.TraCSD(disk, epsilon=6.0).perturb(places, source=dt.Seeded(1)), 8, 8)
    assert found.grid == disk.box
    assert found.probabilities[0, 0] == 0.0  # outside the disk
    assert found.probabilities[5:7, 3:5].sum() > 0.5
    earth = dt.TraCSC(dt.Sphere(), epsilon=8.0, inner=partial(dt.SW, redesign=True))
    towns = np.random.default_rng(2).normal((139.7, 35.7), 2.0, (4_000, 1, 2))
    world = maps.density(earth.perturb(towns, source=dt.Seeded(1)), 12, 6)
    assert np.unravel_index(world.probabilities.argmax(), (12, 6)) == (10, 4)


def test_maps_are_drawn() -> None:
    pytest.importorskip("matplotlib")
    reports = dt.TraCSC(SQUARE, epsilon=4.0).perturb(drawn(400), source=dt.Seeded(1))
    axes = maps.density(reports, 4, 5).plot()
    assert axes.images[0].get_array().shape == (5, 4)
    assert list(axes.images[0].get_extent()) == [0, 1, 0, 1]
    assert len(maps.draw_before_and_after(drawn(8), drawn(8, seed=2), SQUARE).lines) == 2 * (4 + 2)


def test_what_no_map_is_made_of() -> None:
    reports = dt.TraCSC(SQUARE, epsilon=4.0).perturb(drawn(8))
    for wrong in ({"columns": 0}, {"rows": 1000}, {"columns": True}, {"smoothing": 2.0}):
        with pytest.raises(InvalidParameter):
            maps.density(reports, **wrong)
    with pytest.raises(InvalidParameter, match="path mechanism"):
        maps.density(dt.Podium(dt.Interval(0, 1), epsilon=1.0).perturb([0.5]))
    with pytest.raises(NotIdentifiable, match="several locations"):
        maps.density(dt.rivals.ATP(SQUARE, POINTS, epsilon=4.0).perturb(drawn(8)))
    many = dt.TraCSD(SQUARE, epsilon=4.0).perturb(drawn(1_000))
    with pytest.raises(InvalidParameter, match="for this grid"):
        maps.density(many, 256, 256)
    with pytest.raises(InvalidParameter, match="Rectangle"):
        maps.density(reports, 2, 2).share((0, 1))
    with pytest.raises(InvalidParameter, match="at least one"):
        maps.density(dt.TraCSC(SQUARE, epsilon=4.0).reports([]))


@pytest.mark.slow
@pytest.mark.parametrize("length", [1, pytest.param(6, marks=pytest.mark.slow)])
def test_shares_of_parts_hold_near_the_border(length: int) -> None:
    """Intervals that cannot be negative were off near 0: they held in 70 to 93 % of runs."""
    mechanism = dt.TraCSC(SQUARE, epsilon=2.0, inner=dt.SW, cells=1 << 12)
    part = dt.Rectangle(dt.Interval(0.5, 1), dt.Interval(0.5, 1))  # nobody is there
    held = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        places = np.clip(rng.normal((0.25, 0.3), 0.06, (1_500 // length, 1, 2)), 0, 0.49)
        paths = np.repeat(places, length, axis=1)  # people who stay where they are
        found = maps.density(mechanism.perturb(paths, source=dt.Seeded(seed)), 4, 4)
        held.append(found.share(part).covers(0.0))
        near = found.share(dt.Rectangle(dt.Interval(0, 0.25), dt.Interval(0, 1)))
        held.append(near.covers(0.5, 0.99))
    assert np.mean(held) >= 7 / 8


def test_locations_of_one_path_count_as_fewer() -> None:
    mechanism = dt.TraCSC(SQUARE, epsilon=6.0, inner=dt.SW, cells=1 << 12)
    places = np.random.default_rng(1).random((300, 1, 2))
    whole = dt.Rectangle(dt.Interval(0, 0.5), dt.Interval(0, 1))
    widths = []
    for paths in (np.repeat(places, 4, axis=1), np.random.default_rng(2).random((1200, 1, 2))):
        found = maps.density(mechanism.perturb(paths, source=dt.Seeded(3)), 4, 4)
        widths.append(found.share(whole).half_width())
    assert widths[0] > 1.2 * widths[1]


@pytest.mark.slow
def test_shares_of_a_coarse_map_hold_where_reports_are_precise() -> None:
    """People were taken to be spread evenly in the cells of the map that is shown: 2 % of intervals held."""
    held = [
        measured("`PlanarStaircase`", 6.0, 400, 4)["the lower left quarter"],
        measured("`LSRR`, 16 points", 6.0, 400, 4)["the left quarter"],  # a line through cells of its points
    ]
    assert min(held) >= 3 / 4


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_shares_hold_for_every_mechanism(name: str) -> None:
    """Of 3 × 24 intervals of 95 % at least 57 hold: fewer is a chance of 10⁻⁶ if they are independent."""
    held = [measured(name, epsilon, 800, 12) for epsilon in (2.0, 6.0)]
    assert sum(12 * share for one in held for share in one.values()) >= 57
