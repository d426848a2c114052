"""Tests of distributions: they keep their level under noise, and find what differs."""

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.errors import InvalidParameter, Mismatch, NotIdentifiable

PETS = dt.Categories(["cat", "dog", "none"])
LEVEL = 0.07  # of a test at 5 %, with some slack for its approximation
RUNS = 120
MOST = stats.binom.isf(1e-6, RUNS, LEVEL)


def sample(mechanism, rng, source, n, shift=0.0):
    if isinstance(mechanism.domain, dt.Categories):
        answers = rng.choice(PETS.labels, n, p=[0.5 - shift, 0.3, 0.2 + shift])
        return mechanism.perturb(answers.tolist(), source=source)
    if isinstance(mechanism.domain, dt.Circle):
        return mechanism.perturb((rng.vonmises(shift, 2, n)) % (2 * np.pi), source=source)
    return mechanism.perturb(np.minimum(rng.beta(2, 5, n) + shift, 1.0), source=source)


MECHANISMS = [
    dt.KRR(PETS, epsilon=1), dt.OUE(PETS, epsilon=1), dt.OLH(PETS, epsilon=1),
    dt.SW(dt.Interval(0, 1), epsilon=1, cells=1 << 10), dt.Duchi(dt.Interval(0, 1), epsilon=1),
    dt.OGPM(dt.Circle(), epsilon=1, cells=1 << 10),
]  # fmt: skip


@pytest.mark.some(every=3)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda one: type(one).__name__)
def test_equal_groups_are_called_different_at_the_level(mechanism):
    rng, source = np.random.default_rng(4), dt.Seeded(4)
    wrong = sum(
        dt.stats.same_distribution(*(sample(mechanism, rng, source, n) for n in (400, 600))).p_value < 0.05
        for _ in range(RUNS)
    )
    assert wrong <= MOST
    groups = [sample(mechanism, rng, source, 20_000, shift) for shift in (0.0, 0.35)]
    assert dt.stats.same_distribution(*groups).p_value < 1e-3


@pytest.mark.some(every=3)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda one: type(one).__name__)
def test_a_true_expectation_is_rejected_at_the_level(mechanism):
    rng, source = np.random.default_rng(5), dt.Seeded(5)
    if isinstance(mechanism.domain, dt.Categories):
        expected = {"cat": 0.5, "dog": 0.3, "none": 0.2}
    else:
        ranks = (np.arange(200) + 0.5) / 200
        line = isinstance(mechanism.domain, dt.Interval)
        expected = stats.beta.ppf(ranks, 2, 5) if line else stats.vonmises.ppf(ranks, 2) % (2 * np.pi)
    wrong = sum(
        dt.stats.goodness_of_fit(sample(mechanism, rng, source, 500), expected).p_value < 0.05
        for _ in range(RUNS)
    )
    assert wrong <= MOST
    assert dt.stats.goodness_of_fit(sample(mechanism, rng, source, 20_000, 0.35), expected).p_value < 1e-3


def test_frequencies_at_other_budgets_are_compared():
    rng, source = np.random.default_rng(6), dt.Seeded(6)
    weak, strong = dt.OUE(PETS, epsilon=1), dt.KRR(PETS, epsilon=3)
    found = dt.stats.same_distribution(sample(weak, rng, source, 3000), sample(strong, rng, source, 3000))
    assert found.freedom == 2
    assert found.p_value > 1e-6
    other = dt.stats.same_distribution(
        sample(weak, rng, source, 9000), sample(strong, rng, source, 9000, 0.3)
    )
    assert other.p_value < 1e-6
    assert "χ² =" in repr(other)
    assert "p <" in repr(other)


def test_two_counts_have_scipys_statistic():
    coin = dt.Duchi(dt.Interval(0, 1), epsilon=1)
    found = dt.stats.same_distribution(coin.reports([0] * 40 + [1] * 60), coin.reports([0] * 70 + [1] * 50))
    expected = stats.chi2_contingency([[40, 60], [70, 50]], correction=False)
    assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))


def test_the_statistic_of_numbers_is_scipys():
    rng, source = np.random.default_rng(7), dt.Seeded(7)
    sw = dt.SW(dt.Interval(0, 1), epsilon=2, cells=1 << 10)
    groups = [sample(sw, rng, source, n, shift) for n, shift in ((300, 0.0), (500, 0.1))]
    expected = stats.ks_2samp(*(one.cells for one in groups), method="asymp")
    found = dt.stats.same_distribution(*map(dt.Counts.of, groups))
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue, rel=0.2)


def test_bad_input_is_refused():
    rng, source = np.random.default_rng(8), dt.Seeded(8)
    pets, numbers, others = (sample(MECHANISMS[place], rng, source, 20) for place in (0, 3, 0))
    with pytest.raises(Mismatch, match="one mechanism"):
        dt.stats.same_distribution(numbers, sample(dt.SW(dt.Interval(0, 1), epsilon=2), rng, source, 20))
    with pytest.raises(Mismatch, match="groups with the same categories"):
        dt.stats.same_distribution(pets, dt.KRR(dt.Categories(3), epsilon=1).perturb([0] * 9))
    with pytest.raises(InvalidParameter, match="lost their correlations"):
        dt.stats.same_distribution(dt.Counts.of(others), pets)
    with pytest.raises(NotIdentifiable, match="at least two"):
        dt.stats.same_distribution(others[:1], pets)
    for expected in ({"cat": 1.0}, [0.5, 0.5]):
        with pytest.raises(InvalidParameter, match="exactly the categories"):
            dt.stats.goodness_of_fit(pets, expected)
    with pytest.raises(InvalidParameter, match="sum to 1"):
        dt.stats.goodness_of_fit(pets, {"cat": 5, "dog": 3, "none": 2})
    with pytest.raises(InvalidParameter, match="equally likely"):
        dt.stats.goodness_of_fit(numbers, {"cat": 1.0})
    with pytest.raises(InvalidParameter, match="at least one value in `expected`"):
        dt.stats.goodness_of_fit(numbers, [])


def test_weighted_groups_are_compared():
    """Two groups of one population, of which one was asked unevenly: without weights they differ."""
    rng, source = np.random.default_rng(1), dt.Seeded(1)
    asked = dt.Podium(dt.Interval(0, 1), epsilon=4)
    old = rng.random(6000) < 0.5
    kept = ~old | (rng.random(6000) < 0.25)
    values = rng.beta(np.where(old, 5, 2), np.where(old, 2, 5))
    first, second = (
        asked.perturb(part, source=source) for part in (values[:3000][kept[:3000]], values[3000:])
    )
    weights = np.where(old[:3000], 4.0, 1.0)[kept[:3000]], np.ones(3000)
    assert dt.stats.same_distribution(first, second).p_value < 1e-6
    assert dt.stats.same_distribution(first, second, weights=weights).p_value > 1e-3
    shifted = asked.perturb(np.clip(values[3000:] + 0.1, 0, 1), source=source)
    assert dt.stats.same_distribution(first, shifted, weights=weights).p_value < 1e-3
    with pytest.raises(InvalidParameter, match="weights of both groups"):
        dt.stats.same_distribution(first, second, weights=weights[0])
    with pytest.raises(InvalidParameter, match="reports, got"):
        dt.stats.same_distribution(first, second, weights=weights[::-1])
