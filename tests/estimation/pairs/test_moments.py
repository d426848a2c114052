"""Covariance, correlation and regression of randomised numbers, against the truth and against numpy."""

import math

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, NotIdentifiable

FIRST, SECOND = dt.Interval(0, 10), dt.Interval(-1, 1)


def people(rng, n):
    x = rng.beta(0.7, 0.7, n)
    return 10 * x, 1.2 * x - 0.6 + rng.uniform(-0.4, 0.4, n)  # slope 0.12, intercept −0.6


def told(kind, epsilon, n=20_000, seed=1, **more):
    x, y = people(np.random.default_rng(seed), n)
    source = dt.Seeded(seed)
    first, second = kind(FIRST, epsilon=epsilon, **more), kind(SECOND, epsilon=epsilon, **more)
    return first.perturb(x, source=source), second.perturb(y, source=source), x, y


VARIANCE = 1 / (4 * 2.4)  # of Beta(0.7, 0.7)
COVARIANCE = 10 * 1.2 * VARIANCE
CORRELATION = COVARIANCE / math.sqrt(100 * VARIANCE * (1.44 * VARIANCE + 0.16 / 3))


@pytest.mark.parametrize("kind", [dt.Podium, dt.Hybrid, dt.SW, dt.Laplace], ids=lambda kind: kind.__name__)
def test_noise_does_not_change_what_is_estimated(kind):
    first, second, *_ = told(kind, 3.0)
    assert dt.covariance(first, second).covers(COVARIANCE, 1 - 1e-6)
    assert dt.correlation(first, second).covers(CORRELATION, 1 - 1e-6)
    line = dt.regression(first, second)
    assert line.slope.covers(0.12, 1 - 1e-6)
    assert line.intercept.covers(-0.6, 1 - 1e-6)
    assert line.at(5).covers(0.0, 1 - 1e-6)
    flat = np.polyfit(np.asarray(first), np.asarray(second), 1)[0]  # the twin: the noise flattens the slope
    assert not line.slope.covers(flat, 1 - 1e-6)


def test_without_noise_it_is_numpys():
    first, second, x, y = told(dt.PM, 40.0, 3000)
    slope, intercept = np.polyfit(x, y, 1)
    line = dt.regression(first, second)
    assert (line.slope.value, line.intercept.value) == pytest.approx((slope, intercept), abs=2e-3)
    assert line.at(4.0).value == pytest.approx(intercept + 4 * slope, abs=2e-3)
    assert dt.correlation(first, second).value == pytest.approx(np.corrcoef(x, y)[0, 1], abs=2e-3)
    assert dt.covariance(first, second).value == pytest.approx(np.cov(x, y)[0, 1], abs=2e-2)
    residual = y - slope * x - intercept
    error = math.sqrt(residual @ residual / 2998 / ((x - x.mean()) @ (x - x.mean())))
    assert line.slope.standard_error == pytest.approx(error, rel=0.1)


def test_many_cells_are_read_to_the_last_bit():
    first, second, *_ = told(dt.Podium, 20.0, 500, cells=1 << 24)
    few, others, *_ = told(dt.Podium, 20.0, 500)
    assert dt.covariance(first, second).value == pytest.approx(dt.covariance(few, others).value, rel=0.1)


def test_weak_reports_have_wide_intervals_or_no_answer():
    answers = 0
    for seed in range(12):
        first, second, *_ = told(dt.Podium, 0.5, 300, seed)
        try:
            found = dt.correlation(first, second)
        except NotIdentifiable:
            continue
        answers += 1
        assert found.interval() == (-1.0, 1.0)
        assert -1 <= found.value <= 1
    assert 0 < answers < 12
    assert dt.regression(*told(dt.Podium, 0.5, 300, seed=3)[:2]).slope.interval() == (-math.inf, math.inf)


def test_bad_input_is_refused():
    first, second, *_ = told(dt.Podium, 2.0, 50)
    pets = dt.KRR(dt.Categories(2), epsilon=1).perturb([0, 1] * 25)
    with pytest.raises(InvalidParameter, match=r"dt\.crosstab is for categories"):
        dt.correlation(first, pets)
    with pytest.raises(InvalidParameter, match="50 and 20"):
        dt.covariance(first, second[:20])
    angles = dt.OGPM(dt.Circle(360), epsilon=1).perturb([1.0] * 50)
    with pytest.raises(InvalidParameter, match="on an interval"):
        dt.regression(angles, second)
    with pytest.raises(InvalidParameter, match="one finite number"):
        dt.regression(*told(dt.Podium, 4.0, 500)[:2]).at("5")
    with pytest.raises(NotIdentifiable, match="not affine"):
        dt.covariance(first, dt.OGPM(SECOND, epsilon=1).perturb([0.0] * 50))
