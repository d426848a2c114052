"""Readings of less variance: unbiased by exact probabilities, and the least there is on small windows."""

from __future__ import annotations

import numpy as np
import pytest

import dither as dt
from dither.estimation.reading import least_variance_reading, reach_of_one

UNIT = dt.Interval(0, 1)

READ_BETTER = [  # against the affine reading: most on average, in the worst case, and at any value
    (dt.Podium, 0.25, 0.85, 0.82, 0.88),
    (dt.Podium, 0.5, 0.91, 0.87, 0.96),
    (dt.Podium, 1.0, 0.97, 0.94, 1.04),
    (dt.PM, 0.5, 0.95, 0.94, 0.99),
    (dt.SW, 1.0, 0.95, 0.92, 0.99),
    (dt.rivals.OGPMU, 4.0, 0.23, 0.33, 0.33),
    (dt.Laplace, 1.0, 0.69, 0.70, 0.70),
    (dt.Staircase, 1.0, 0.72, 0.74, 0.74),
]


def variances(question, reading, inputs):
    """Return the variance of the number that a report stands for, at inputs, by its probabilities."""
    operator = question.likelihood(inputs, question.outcomes)
    means = operator.backward(reading.values)
    assert np.abs(means - inputs).max() <= reading.bias + 1e-11 * question.line.length
    return operator.backward(reading.values**2) - means**2


@pytest.mark.parametrize(("kind", "epsilon", "average", "worst", "anywhere"), READ_BETTER)
def test_the_better_reading_is_unbiased_with_less_variance(kind, epsilon, average, worst, anywhere):
    question = kind(UNIT, epsilon=epsilon).question
    inputs = np.linspace(0, 1, 33)
    plain, better = (
        variances(question, reading, inputs)
        for reading in (question.unbiased_reading(), least_variance_reading(question))
    )
    assert least_variance_reading(question).bias < 1e-9
    assert better.mean() <= average * plain.mean()
    assert better.max() <= worst * plain.max()
    assert (better / plain).max() <= anywhere


@pytest.mark.parametrize("epsilon", [0.5, 2, 4])
def test_the_stated_bias_of_a_solved_codebook_is_the_largest(epsilon):
    """By the exact chances of starts, at knots of the table and between them."""
    question = dt.Optimal(dt.Interval(-3, 5), epsilon=epsilon, unbiased=True).question
    window, start, reading = question.kernel.window, question.kernel.start, least_variance_reading(question)
    sums = np.concatenate([[0.0], np.cumsum(reading.values)])
    flat = (1.0 - window.contrast) * reading.values.mean()
    knots = start.origin + (np.arange(0, start.entries.size - 1, 131) * 65_536 + 0.01) / start.scale
    for value in [-3.0, 5.0, *knots, *np.random.default_rng(1).uniform(-3, 5, 200)]:
        inside = sum(
            float(share) * (sums[place + window.width] - sums[place])
            for place, share in start.starts(float(value))
        )
        mean = flat + window.contrast / window.width * inside
        assert abs(mean - value) <= reading.bias + 1e-12 < 8e-9


@pytest.mark.parametrize("kind", [dt.Podium, dt.PM, dt.SW])
def test_the_closed_form_is_the_least_average_variance(kind):
    """Against all unbiased numbers, by least squares on a small window, where every start is listed."""
    question = kind(UNIT, epsilon=0.5, cells=64).question
    starts = np.linspace(0, 1, question.kernel.window.cells - question.kernel.window.width + 1)
    laws = np.stack([question.chances(float(x)) for x in starts], axis=1)
    shares = np.full(starts.size, 1.0)
    shares[[0, -1]] = 0.5
    law = laws @ (shares / shares.sum())
    scaled = laws / law[:, None]
    best = scaled @ np.linalg.solve(laws.T @ scaled, starts)
    np.testing.assert_allclose(least_variance_reading(question).values, best, atol=1e-5)


def test_the_reading_stays_plain_where_little_is_gained():
    for mechanism in (dt.Podium(UNIT, epsilon=2), dt.SW(UNIT, epsilon=4), dt.Duchi(UNIT, epsilon=0.5)):
        question = mechanism.question
        assert np.array_equal(least_variance_reading(question).values, question.unbiased_reading().values)


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "ratio"), [(0.25, 0.86), (0.5, 0.94)])
def test_means_by_the_better_reading_vary_less(epsilon, ratio):
    """The measured cells, paired: squared errors of both readings for the same 400 collections."""
    mechanism, people = dt.Podium(UNIT, epsilon=epsilon), np.random.default_rng(1).beta(2, 5, 2000)
    question, errors = mechanism.question, np.empty((400, 2))
    for run, row in enumerate(errors):
        cells = mechanism.perturb(people, source=dt.Seeded(run)).cells
        row[:] = [reading.values[cells].mean() - people.mean() for reading in readings_of(question)]
    squares = errors**2
    noise = np.std(squares[:, 1] - ratio * squares[:, 0]) / np.sqrt(len(squares))
    assert squares[:, 1].mean() - ratio * squares[:, 0].mean() < 2.3 * noise
    assert abs(errors.mean(axis=0)).max() < 4 * errors.std() / np.sqrt(len(errors))


def readings_of(question):
    return question.unbiased_reading(), least_variance_reading(question)


def test_one_report_moves_the_mean_by_the_distance_of_the_extremes():
    for kind in (dt.Podium, dt.Duchi, dt.Laplace):
        one = kind(UNIT, epsilon=1)
        values = least_variance_reading(one.question).values
        least, most = int(np.argmin(values)), int(np.argmax(values))
        cells = one.perturb(np.full(9, 0.5), source=dt.Seeded(2)).cells
        ends = [float(dt.mean(one.reports(np.append(cells, lie))).value) for lie in (least, most)]
        assert reach_of_one(one) == pytest.approx(10 * (ends[1] - ends[0]))
