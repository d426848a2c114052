"""The dissertation's numbers for TraCS in continuous space, where they are right, and the corrected ones."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.mechanisms.places.rivals import Sectors
from tests.support.repository import reference

TARGETS = reference("tracs")
SQUARE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
LONG = dt.Rectangle(dt.Interval(0, 2), dt.Interval(0, 10))
EPSILONS = (2, 4, 6, 8, 10)
SW = partial(dt.SW, redesign=True)
CORNER = (0.0, 0.0)


def error(mechanism: Any, paths: int, length: int = 100, seed: int = 1) -> float:
    """The mean distance between random places of the area and their reports."""
    sides = np.array([mechanism.domain.x.length, mechanism.domain.y.length])
    places = np.random.default_rng(seed).random((paths, length, 2)) * sides
    noisy = mechanism.perturb(places, source=dt.Seeded(seed)).values
    return float(np.linalg.norm(noisy - places, axis=-1).mean())


SQUARE_ROWS = {
    "tracs_d_corner_ref": partial(dt.TraCSD, SQUARE, start=CORNER),
    "tracs_d_centre_ref": partial(dt.TraCSD, SQUARE),
    "strawman_k6": partial(dt.rivals.Strawman, SQUARE, start=CORNER),
    "tracs_c": partial(dt.TraCSC, SQUARE),
    "laplace_clip": partial(dt.PlanarLaplace, SQUARE),
    "r_sw": partial(dt.TraCSD, SQUARE, start=CORNER, direction=SW, distance=SW),
}
LONG_ROWS = {
    "tracs_d": partial(dt.TraCSD, LONG, start=CORNER),
    "strawman_k6": partial(dt.rivals.Strawman, LONG, start=CORNER),
    "tracs_c": partial(dt.TraCSC, LONG),
    "laplace_true_diam": partial(dt.PlanarLaplace, LONG),
}


@pytest.mark.some(every=3)
@pytest.mark.parametrize("name", SQUARE_ROWS)
def test_the_unit_square(name: str) -> None:
    target = TARGETS["correct_unit_square"]
    for epsilon, wanted in zip(EPSILONS, target[name], strict=True):
        measured = error(SQUARE_ROWS[name](epsilon=epsilon), paths=1000)
        assert measured == pytest.approx(wanted, rel=target["rel_tol"])


@pytest.mark.parametrize(("epsilon", "wanted"), [(2, 0.362), (4, 0.257), (8, 0.128)])
def test_a_fixed_reference_is_better_for_places_far_apart(epsilon: float, wanted: float) -> None:
    """[Thesis, Sec. 6.2.2] allows any public reference; these are the errors of the centre."""
    assert error(dt.TraCSD(SQUARE, epsilon=epsilon, reference="fixed"), 1000, 20) == pytest.approx(
        wanted, rel=0.01
    )


def test_a_fixed_reference_treats_every_location_alike() -> None:
    """Locations of one path are reported as paths of one location each, from the same place."""
    start = (0.7, 0.2)
    made = dt.TraCSD(SQUARE, epsilon=2, reference="fixed", start=start)
    places = np.random.default_rng(2).random((30, 2))
    told = made.perturb(places, source=dt.Seeded(3))
    cells = np.array(told.cells)
    cells[:, 0] = 1
    assert made.reports(cells).values == pytest.approx(told.values)
    single = dt.TraCSD(SQUARE, epsilon=2, start=start)
    assert single.reports(cells).values == pytest.approx(told.values)
    again = dt.from_json(made.to_json())
    assert again.reports(told.cells).values == pytest.approx(told.values)
    assert again.design() == made
    likelihood = made.question.likelihood(places[:, None, :]).of(np.array(told.cells))
    alone = single.question.likelihood(places[:, None, :]).of(cells)
    assert likelihood(np.arange(30)) == pytest.approx(alone(np.arange(30)))
    with pytest.raises(dt.errors.InvalidParameter, match="reference"):
        dt.TraCSD(SQUARE, epsilon=2, reference="first")  # type: ignore[arg-type]
    with pytest.raises(dt.errors.InvalidParameter, match="start"):
        dt.TraCSD(SQUARE, epsilon=2, reference="fixed", start=(2.0, 0.0))


@pytest.mark.some("tracs_*")
@pytest.mark.parametrize("name", LONG_ROWS)
def test_the_long_rectangle(name: str) -> None:
    target = TARGETS["correct_2x10"]
    for epsilon, wanted in zip(EPSILONS, target[name], strict=True):
        measured = error(LONG_ROWS[name](epsilon=epsilon), paths=1000)
        assert measured == pytest.approx(wanted, rel=target["rel_tol"] + 0.01)


def test_the_strawman_is_worse_at_every_budget() -> None:
    for epsilon in (0.5, 1, 2, 3, 4, 6, 8, 10):
        walk, straw = dt.TraCSD(SQUARE, epsilon=epsilon), dt.rivals.Strawman(SQUARE, epsilon=epsilon)
        assert error(walk, 1000, 20) < error(straw, 1000, 20)


def test_directions() -> None:
    """Exact: E|δ| = π/(e^(ε/2) + 1) for TraCS-D, and k-RR from its law."""
    target = TARGETS["correct_direction_mean_abs_error"]
    circle = dt.Circle(2 * math.pi)
    for index, epsilon in enumerate(EPSILONS):
        own = dt.OGPM(circle, epsilon=epsilon).error("absolute", 1.0)
        assert own == pytest.approx(math.pi / (math.exp(epsilon / 2) + 1), rel=1e-9)
        assert own == pytest.approx(target["tracs"][index], rel=3e-3)
        for sectors in (3, 6, 12):
            measured = Sectors(circle, epsilon=epsilon, sectors=sectors).average_error("absolute")
            assert measured == pytest.approx(target[f"krr{sectors}"][index], rel=target["rel_tol"])


def test_theorem_13() -> None:
    for epsilon in (1.0, 4.0, 10.0):
        worst = dt.OGPM(dt.Interval(0, 1), epsilon=epsilon).error("squared", 0.0)
        half = math.exp(epsilon / 2)
        assert worst == pytest.approx(
            1 / half / 3 + (half - 1) ** 3 / (3 * half * (half**2 - 1) ** 2), rel=1e-9
        )
    limit = TARGETS["thm13"]["limit_times_exp(eps/2)"]
    linear = dt.OGPM(dt.Interval(0, 1), epsilon=40).error("squared", 0.0) * math.exp(20)
    circular = dt.OGPM(dt.Circle(2 * math.pi), epsilon=40).error("squared", 0.0) * math.exp(20)
    assert linear == pytest.approx(limit["linear"], rel=1e-6)
    assert circular == pytest.approx(limit["circular"], rel=1e-6)


def test_the_disk_of_figure_d6() -> None:
    """The likelier sector and ring at (π, 0.5), ε = 5: [0.869π, 1.131π] × [0.323, 0.677]."""
    target = TARGETS["figD.6_circular_eps5"]
    direction, distance = dt.TraCSD(dt.Disk(1.0), epsilon=5.0).parts
    for part, middle, wanted, unit in (
        (direction, math.pi, target["dominant_direction_pi"], math.pi),
        (distance, 0.5, target["dominant_distance"], 1.0),
    ):
        half = part.question.kernel.window.share * part.domain.length / 2
        assert [(middle - half) / unit, (middle + half) / unit] == pytest.approx(wanted, abs=6e-4)
    places = dt.TraCSD(dt.Disk(1.0), epsilon=5.0).perturb(
        np.full((20_000, 1, 2), (-0.5, 0.0)), source=dt.Seeded(1)
    )
    offset = places.values.reshape(-1, 2)
    angle, radius = np.arctan2(offset[:, 1], offset[:, 0]) % (2 * math.pi), np.hypot(*offset.T)
    inside = (np.abs(angle - math.pi) < 0.131 * math.pi) & (np.abs(radius - 0.5) < 0.177)
    shares = [
        part.question.kernel.window.contrast
        + (1 - part.question.kernel.window.contrast) * part.question.kernel.window.share
        for part in (direction, distance)
    ]
    assert inside.mean() == pytest.approx(shares[0] * shares[1], abs=0.015)
