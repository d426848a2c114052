"""The laws of every mechanism of paths, over one table."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core import registry
from dither.errors import InvalidParameter, MalformedReport, NotIdentifiable
from dither.mechanisms.places.base import PathMechanism
from tests.support.cases.places import PATHS

each = pytest.mark.parametrize("make", PATHS.values(), ids=PATHS.keys())


def trips(mechanism: Any) -> list[np.ndarray]:
    """Paths of several lengths inside the area."""
    rng = np.random.default_rng(3)
    places = mechanism.area.clip(rng.uniform(0.2, 0.8, (14, 2)))
    return [places[:1], places[1:4], places[4:9], places[9:]]


def test_every_mechanism_of_paths_is_in_the_table() -> None:
    kinds = {name for name, kind in registry.names().items() if issubclass(kind, PathMechanism)}
    assert {name.partition(",")[0] for name in PATHS} == kinds | {"Exponential"}  # a class for each domain


@each
def test_reports_are_read_back_path_by_path(make: Any) -> None:
    mechanism = make(epsilon=2.0)
    own = trips(mechanism)
    reports = mechanism.perturb(own, source=dt.Seeded(1))
    assert reports.cells.dtype == mechanism.question.layout.base
    assert reports.cells.shape == (14, *mechanism.question.layout.shape)
    assert mechanism.report_bytes == reports.cells[0].nbytes
    assert mechanism.question.counting.answers(reports.cells) == 14
    read = mechanism.paths(reports)
    assert read.lengths.tolist() == [len(path) for path in own]
    np.testing.assert_allclose(mechanism.area.clip(read.points), read.points, atol=1e-9)


@each
def test_journeys_change_nothing(make: Any) -> None:
    mechanism = make(epsilon=2.0)
    reports = mechanism.perturb(trips(mechanism), source=dt.Seeded(1))
    for again in (dt.from_json(mechanism.to_json()), pickle.loads(pickle.dumps(mechanism))):
        assert again.to_json() == mechanism.to_json()
        assert again.fingerprint == mechanism.fingerprint
        assert np.array_equal(again.reports(reports).values, reports.values)
    assert dt.from_bytes(reports.to_bytes()) == reports
    assert np.array_equal(dt.from_bytes(reports.to_bytes()).values, reports.values)


@each
def test_budgets_are_kept_by_location_and_by_trajectory(make: Any) -> None:
    location, shared = make(epsilon=2.0), make(epsilon=40.0, unit="trajectory")
    assert 0 < location.guarantee.epsilon <= 2.0
    assert location.guarantee.unit == "location"
    assert shared.guarantee.epsilon <= 40.0
    assert shared.guarantee.unit == "trajectory"
    assert shared.guarantee.assumes  # how long a path is, is public
    own = trips(shared)
    reports = shared.perturb(own, source=dt.Seeded(2))
    assert shared.paths(reports).lengths.tolist() == [len(path) for path in own]
    assert dt.from_json(shared.to_json()).fingerprint == shared.fingerprint


@each
def test_what_no_device_could_have_sent(make: Any) -> None:
    mechanism = make(epsilon=2.0)
    good = mechanism.perturb(trips(mechanism), source=dt.Seeded(1)).cells.astype(np.int64)
    assert mechanism.reports(good).cells.dtype == mechanism.question.layout.base
    marked, beyond, headless = good.copy(), good.copy(), good.copy()
    marked[3, 0], beyond[3, 1], headless[0, 0] = 2, 1 << 33, 0
    for bad in (marked, beyond, -good, headless, good[:, :-1], good[:, 0]):
        with pytest.raises(MalformedReport):
            mechanism.reports(bad)


@each
def test_threads_are_honoured_or_refused(make: Any) -> None:
    mechanism = make(epsilon=2.0)
    places = mechanism.area.clip(np.random.default_rng(1).uniform(0.2, 0.8, (9_000, 2, 2)))
    if isinstance(mechanism, dt.rivals.ATP):  # a location depends on its neighbours
        with pytest.raises(InvalidParameter, match="thread"):
            mechanism.perturb(places, source=dt.Seeded(1), threads=2)
        return
    reports = mechanism.perturb(places, source=dt.Seeded(1), threads=2)
    assert reports.cells.shape[:2] == (9_000, 2)
    assert mechanism.paths(reports).lengths.tolist() == [2] * 9_000


@each
def test_the_likelihood_is_that_of_the_reports(make: Any) -> None:
    """Among a few places the likelihood, as a posterior under a flat prior, is calibrated: it adds up."""
    mechanism = make(epsilon=3.0)
    box = mechanism.area.box
    corner, sides = np.array([box.x.low, box.y.low]), np.array([box.x.length, box.y.length])
    spots = mechanism.area.clip(corner + np.array([[0.3, 0.3], [0.7, 0.4], [0.5, 0.8]]) * sides)
    if isinstance(mechanism, dt.rivals.ATP):
        with pytest.raises(NotIdentifiable):
            mechanism.question.likelihood(spots[:, None, :])
        return
    truth = np.repeat([0, 1, 2], 2_000)
    reports = mechanism.perturb(spots[truth][:, None, :], source=dt.Seeded(6)).cells
    rows = mechanism.question.likelihood(spots[:, None, :]).of(reports.reshape(len(truth), -1))(
        np.arange(truth.size)
    )
    posterior = rows / rows.sum(axis=1, keepdims=True)
    counts = posterior.sum(axis=0)
    # Each column adds up to the number of people at its place, but for chance.
    deviation = np.sqrt((posterior * (1.0 - posterior)).sum(axis=0))
    assert (np.abs(counts - 2_000) < 5.5 * deviation + 1e-9).all()
    rows = np.arange(truth.size)
    hit, missed = posterior[rows, truth].mean(), posterior[rows, (truth + 1) % 3].mean()
    assert hit > missed + 0.01  # the likelihood knows which place is which


@each
def test_how_places_are_read_is_the_collectors_choice(make: Any) -> None:
    mechanism = make(epsilon=2.0)
    reports = mechanism.perturb(trips(mechanism), source=dt.Seeded(1))
    snapped = mechanism.read(dt.maps.Snapped(mechanism.area.box, 3, 3))
    assert snapped.fingerprint == mechanism.fingerprint
    assert snapped.guarantee == mechanism.guarantee
    assert len(np.unique(reports.read_by(snapped).values, axis=0)) <= 9
