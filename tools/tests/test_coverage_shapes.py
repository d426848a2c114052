"""Bands, cdfs and quantiles of an estimated shape hold as often as the page says they do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tools.coverage_shapes import CELLS, MODES, SHAPES, Shape, beside, measured

CURVED = ("Beta(2, 5)", "two modes", "log-normal")
POINTED = ("60 % zeros, Beta(2, 5)",)


def test_the_exact_truth_is_that_of_the_people_who_are_drawn():
    for shape in SHAPES.values():
        people = np.sort(shape.draw(np.random.default_rng(1), 100_000))
        for x in (0.05, 0.3, 0.5, 0.9):
            assert np.mean(people <= x) == pytest.approx(float(shape.cdf(x)), abs=5 * 0.5 / 100_000**0.5)
        for share in (0.1, 0.5, 0.9):
            at = shape.quantile(share)
            assert shape.cdf(at) >= share - 1e-9
            assert at == 0 or shape.cdf(at - 1e-6) < share + 1e-9
    assert Shape(((0.4, 0.0), (0.6, stats.uniform()))).quantile(0.7) == pytest.approx(0.5)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CURVED, *POINTED])
def test_bands_keep_their_level_on_average(name):
    found = [measured(SHAPES[name], epsilon, n, 48, seed=11) for n, epsilon in CELLS]
    # Measured 97.5 to 98.8 %, by the seeds, because bands allow for people at the ends whom no report has
    # shown. Over 24 runs the noise of the runs took log-normal to 99.002 %.
    assert 0.93 <= np.mean([run["bins"] for run in found]) <= 0.99
    assert min(run["bins"] for run in found) > 0.9
    assert np.mean([run["cdf"] for run in found]) > 0.92
    assert np.mean([run["quantile"] for run in found]) > 0.92


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("three modes", 0.55), ("30 % at 0.3, uniform", 0.7)])
def test_bands_of_what_few_reports_do_not_show(name, least):
    # Three modes were held in 40 to 54 % when the bias of smoothing was taken from the prior alone. They are
    # held in 57 to 81 %, by the seeds; the point mass in 81 %, 70 % before.
    assert measured(SHAPES[name], 0.5, 20_000, 24, seed=11)["bins"] > least


@pytest.mark.slow
@pytest.mark.parametrize("name", MODES)
def test_modes_hold(name):
    found = [measured(SHAPES[name], epsilon, 20_000, 12, seed=12)["mode"] for epsilon in (1.0, 4.0)]
    assert np.mean(found) > 0.9


@pytest.mark.slow
def test_narrower_bands_are_seen():
    found = [measured(SHAPES["Beta(2, 5)"], epsilon, n, 24, 11, narrowed=0.75) for n, epsilon in CELLS]
    assert np.mean([run["bins"] for run in found]) < 0.93


@pytest.mark.slow
@pytest.mark.parametrize("name", ["uniform", "normal"])
def test_bands_of_straight_and_parabolic_shapes_hold_more_often(name):
    # Nothing is less curved a priori than these: the bands allow for detail that is not there.
    found = [measured(SHAPES[name], epsilon, n, 24, seed=11)["bins"] for n, epsilon in CELLS]
    assert np.mean(found) > 0.96


@pytest.mark.slow
def test_bins_beside_point_masses_hold():
    # When an atom had no width it was 40 % at ε = 1, and 0 % with 400 000 people, then 37 % as two halves.
    for epsilon, n in ((1.0, 30_000), (4.0, 30_000), (1.0, 400_000)):
        found = beside("empirical bayes", epsilon, n, 24)
        assert all(share > 0.7 for share in found.values()), found
