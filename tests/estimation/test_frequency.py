"""From reports to frequencies: unbiased, with the variance of theory, whatever the order or the chunks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.estimate import Estimate
from dither.estimation.frequency import WeightedReports, read
from dither.estimation.projections import norm_sub, simplex
from tests.support.broken import frequency as twins
from tests.support.budget import Meter
from tests.support.cases.frequency import FRUIT, KINDS, names, shares
from tests.support.chi_square import ALARM

TRUTH = np.array([0.4, 0.3, 0.2, 0.1, 0.0])


def _answers(n: int, truth: np.ndarray = TRUTH) -> np.ndarray:
    return np.repeat(np.arange(truth.size), np.round(truth * n).astype(int))


def _z(protocol, answers: np.ndarray, seed: int) -> np.ndarray:
    """How far the estimates are from the people asked, in standard deviations of the noise alone."""
    truth = np.bincount(answers, minlength=len(protocol.categories)) / answers.size
    estimate = (shares(protocol, answers, seed) / answers.size - protocol.q) / protocol.gap
    noise = np.sqrt([protocol.variance(float(f)) / answers.size for f in truth])
    return (estimate - truth) / noise


@pytest.mark.some(every=3)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("kind", KINDS, ids=names(KINDS))
def test_estimates_are_unbiased(kind, epsilon):
    z = _z(kind(dt.Categories(5), epsilon=epsilon), _answers(400_000), 12)
    assert np.abs(z).max() < stats.norm.isf(ALARM / 10)


def test_a_mismatched_number_of_buckets_is_rejected():
    z = _z(twins.OtherBuckets(dt.Categories(5), epsilon=1.0), _answers(400_000), 12)
    assert np.abs(z).max() > stats.norm.isf(ALARM / 10)


def test_a_bit_that_is_not_cleared_is_rejected():
    z = _z(twins.NotCleared(dt.Categories(5), epsilon=1.0), _answers(400_000), 12)
    assert np.abs(z).max() > stats.norm.isf(ALARM / 10)


@pytest.mark.some(every=4)
@pytest.mark.parametrize("kind", KINDS, ids=names(KINDS))
def test_the_variance_is_that_of_theory(kind):
    """Within 5 %: the mean square over 64 categories and 300 runs, which itself has a deviation of 1 %."""
    protocol = kind(dt.Categories(64), epsilon=2.0)
    assert _squares(protocol) == pytest.approx(1.0, abs=0.05)


def test_the_wrong_theory_would_be_rejected():
    """OUE judged by the variance of SUE."""
    protocol, other = (kind(dt.Categories(64), epsilon=2.0) for kind in (dt.OUE, dt.rivals.SUE))
    ratio = protocol.variance(1 / 64) / other.variance(1 / 64)
    assert abs(_squares(protocol) * ratio - 1) > 0.05


def _squares(protocol) -> float:
    answers = np.arange(1_920) % 64
    return float(np.mean([_z(protocol, answers, seed) ** 2 for seed in range(300)]))


@pytest.mark.parametrize("kind", KINDS, ids=names(KINDS))
def test_order_and_chunks_do_not_matter(kind):
    protocol = kind(dt.Categories(11), epsilon=1)
    reports = protocol.perturb(np.arange(3_000) % 11, source=dt.Seeded(1))
    whole = dt.frequencies(reports)
    shuffled = reports[np.random.default_rng(2).permutation(3_000)]
    parts = [reports[:7], reports[7:1_500], reports[1_500:]]
    merged = sum((dt.Counts.of(part) for part in parts), dt.Counts.empty(protocol))
    for other in (
        dt.frequencies(shuffled),
        dt.frequencies(merged),
        dt.frequencies(dt.Reports.concatenate(parts)),
        dt.frequencies(dt.Counts.from_bytes(merged.to_bytes(), protocol)),
        dt.frequencies(dt.from_bytes(reports.to_bytes())),
    ):
        assert np.array_equal(whole.value, other.value)
        assert np.array_equal(whole.standard_error, other.standard_error)
        assert other.n == 3_000


def test_summaries_of_different_protocols_do_not_add():
    first, second = (
        dt.Counts.of(dt.OLH(domain, epsilon=1).perturb([domain.labels[0]]))
        for domain in (FRUIT, dt.Categories(["apple", "banana", "cherry", "date", "fig"]))
    )
    with pytest.raises(dt.errors.Mismatch):
        first + second


@pytest.mark.parametrize("kind", KINDS, ids=names(KINDS))
def test_labels(kind):
    protocol = kind(FRUIT, epsilon=6)
    answers = np.repeat(np.array(FRUIT.labels), [4_000, 3_000, 2_000, 1_000, 0])
    found = dt.frequencies(protocol.perturb(answers, source=dt.Seeded(5)))
    assert list(found) == list(FRUIT.labels)
    assert isinstance(found["banana"], Estimate)
    low, high = found["banana"].interval(1 - ALARM)
    assert low < 0.3 < high
    assert found["banana"].n == 10_000
    assert found["banana"].guarantee == protocol.guarantee
    assert [label for label, _ in found.largest(2)] == ["apple", "banana"]


def test_yes_or_no():
    question = dt.KRR(dt.Categories(["no", "yes"]), epsilon=1)
    answers = np.repeat(["no", "yes"], [30_000, 10_000])
    found = dt.frequencies(question.perturb(answers, source=dt.Seeded(9)))
    low, high = found["yes"].interval(1 - ALARM)
    assert low < 0.25 < high
    assert found.value.sum() == pytest.approx(1.0)


def test_it_prints_its_error():
    found = dt.frequencies(dt.KRR(FRUIT, epsilon=8).reports([0] * 600 + [1] * 400))
    assert repr(found["apple"]) == "0.60 ± 0.03 (95 %, n = 1 000)"
    assert repr(found).startswith("{apple: 0.60 ± 0.03, banana: 0.40 ± 0.03, cherry: -0.0003 (‹0 – 0.0035)")
    assert repr(found).endswith("} (95 %, n = 1 000)")
    assert "projected" in repr(found.projected())


def test_projections_agree_and_are_possible():
    rng = np.random.default_rng(3)
    for size in (1, 2, 7, 300):
        values = rng.normal(1 / size, 0.3, size)
        nearest = simplex(values)
        assert nearest.min() >= 0
        assert nearest.sum() == pytest.approx(1.0)
        assert norm_sub(values) == pytest.approx(nearest, abs=1e-12)
        # Nearest: no other possible vector is closer.
        for other in rng.dirichlet(np.ones(size), 20):
            assert ((values - nearest) ** 2).sum() <= ((values - other) ** 2).sum() + 1e-12
    kept = np.array([0.5, 0.25, 0.25])
    assert simplex(kept) == pytest.approx(kept)


def test_projecting_is_a_step_one_takes():
    protocol = dt.OUE(dt.Categories(200), epsilon=0.5)
    found = dt.frequencies(protocol.perturb(np.zeros(2_000, dtype=int), source=dt.Seeded(4)))
    assert found.value.min() < 0
    for method in ("simplex", "norm sub"):
        possible = found.projected(method)
        assert possible.value.min() >= 0
        assert possible.value.sum() == pytest.approx(1.0)
        truth = np.eye(200)[0]
        assert ((possible.value - truth) ** 2).sum() <= ((found.value - truth) ** 2).sum()
        low, high = possible.interval()
        assert low.min() >= 0
        assert high.max() <= 1
    with pytest.raises(dt.errors.InvalidParameter, match='did you mean "simplex"'):
        found.projected("simplx")


def _coverage(kind, epsilon: float, n: int, runs: int, k: int = 8) -> np.ndarray:
    """The share of runs whose 95 % interval holds the population's frequency, for every category.

    People are drawn from the population anew in each run: the interval must account for that as well.
    """
    truth = np.array([0.35, 0.25, 0.15, 0.1, 0.08, 0.05, 0.02, 0.0])[:k]
    protocol = kind(dt.Categories(k), epsilon=epsilon)
    rng, source = np.random.default_rng(n), dt.Seeded(n)
    covered = np.zeros(k)
    answers = rng.choice(k, size=(runs, n), p=truth)
    reports = protocol.perturb(answers.reshape(-1), source=source)
    for run in range(runs):
        low, high = dt.frequencies(reports[run * n : (run + 1) * n]).interval()
        covered += (low <= truth) & (truth <= high)
    return covered / runs


@pytest.mark.some(every=4)
@pytest.mark.parametrize("kind", KINDS, ids=names(KINDS))
def test_intervals_cover_the_population(kind):
    quick = _coverage(kind, 1.0, 1_000, 300)
    assert 0.93 <= quick.mean() <= 0.97
    assert quick.min() >= 0.90


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("kind", KINDS, ids=names(KINDS))
def test_intervals_cover_the_population_at_length(kind, epsilon):
    for n, least, most in ((100, 0.92, 1.0), (1_000, 0.93, 0.97)):
        covered = _coverage(kind, epsilon, n, 2_000)
        print(f"{kind.__name__:18} ε = {epsilon:<4} n = {n:<6} {covered.min():.3f} … {covered.max():.3f}")
        assert covered.min() >= least
        assert covered.max() <= most


@pytest.mark.some(every=2)
@pytest.mark.parametrize("shape", ["sparse", "zipf"])
@pytest.mark.slow
def test_projected_intervals_are_narrow_and_hold_on_average(shape: str) -> None:
    truth = np.r_[np.full(12, 1.0), np.zeros(244)] if shape == "sparse" else 1 / np.arange(1, 257) ** 1.5
    truth = truth / truth.sum()
    protocol = dt.OUE(dt.Categories(256), epsilon=1)
    held, narrower = [], []
    for seed in range(6):
        people = np.random.default_rng(seed).choice(256, 20_000, p=truth)
        unbiased = dt.frequencies(protocol.perturb(people, source=dt.Seeded(seed)))
        low, high = unbiased.projected("simplex").interval()
        held.append((low <= truth + 1e-12) & (truth <= high + 1e-12))
        wide = np.subtract(*(np.clip(end, 0, 1) for end in unbiased.interval()[::-1]))
        narrower.append(wide.mean() / (high - low).mean())
    assert np.mean(held) > 0.93
    assert np.mean(narrower) > 2.0
    assert np.mean(np.array(held)[:, :3]) > 0.8  # those that stand out, by themselves
    first = unbiased.projected("simplex")
    assert first[first.labels[3]].interval() == (first.interval()[0][3], first.interval()[1][3])


SHAPES = {
    "zipf 1.1": lambda rank: rank**-1.1,
    "zipf 0.6": lambda rank: rank**-0.6,
    "geometric": lambda rank: 0.98**rank,
    "sparse": lambda rank: (rank <= 12) * 1.0,
    "even": lambda rank: rank * 0.0 + 1.0,
}


def _errors(shape: str, k: int, n: int, epsilon: float, runs: int) -> tuple[float, float]:
    """The sums of squared errors of the posterior means and of the projection on the simplex, by OUE."""
    rng, kernel = np.random.default_rng(k + n), dt.OUE(dt.Categories(k), epsilon=epsilon).question.kernel
    truth = SHAPES[shape](np.arange(1.0, k + 1.0))
    truth /= truth.sum()
    own, other = (float(rate) for rate in kernel.rates)
    sums = np.zeros(2)
    for _ in range(runs):
        people = rng.multinomial(n, truth)
        supports = rng.binomial(people, own) + rng.binomial(n - people, other)
        found = read(supports, n, kernel, range(k), dt.OUE(dt.Categories(2), epsilon=epsilon).guarantee)
        for at, method in enumerate(("posterior", "simplex")):
            shares = np.asarray(found.projected(method).value)
            assert shares.min() >= 0.0
            assert shares.sum() == pytest.approx(1.0)
            sums[at] += ((shares - truth) ** 2).sum()
    return float(sums[0]), float(sums[1])


@pytest.mark.parametrize(("shape", "most"), [("zipf 1.1", 0.8), ("zipf 0.6", 0.5), ("sparse", 0.5)])
def test_posterior_means_are_nearer_than_the_projection(shape: str, most: float) -> None:
    better, plain = _errors(shape, 1_000, 20_000, 1.0, 3)
    assert better <= most * plain


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("k", [100, 1_000, 10_000, 100_000])
def test_posterior_means_are_nowhere_farther(shape: str, k: int) -> None:
    for n, epsilon in ((20_000, 1.0), (1_000_000, 1.0), (100_000, 4.0)):
        better, plain = _errors(shape, k, n, epsilon, 20 if k <= 1_000 else 3)
        print(f"{shape:10} k = {k:<7} n = {n:<8} ε = {epsilon}: {better / plain:.3f}")
        assert better <= 1.01 * plain


def test_posterior_means_claim_no_interval() -> None:
    asked = dt.OUE(dt.Categories(40), epsilon=2)
    found = dt.frequencies(asked.perturb(np.arange(4_000) % 7, source=dt.Seeded(1))).projected()
    assert "posterior means, no interval is claimed" in repr(found)
    assert "no interval is claimed" in repr(found[3])
    assert not found.claimed
    assert found.records()[0]["low"] is None
    assert "posterior means, no intervals" in found._repr_html_()
    for call in (found.interval, found[3].interval, found.at_any_time, lambda: found.if_lying(0.1)):
        with pytest.raises(NotIdentifiable, match="got posterior means without intervals"):
            call()
    assert found.sum([0, 1]).interval()[0] < 2 / 7 < found.sum([0, 1]).interval()[1]
    # A few categories say nothing about how frequencies are distributed: the nearest possible ones.
    few = dt.frequencies(dt.KRR(dt.Categories(5), epsilon=1).perturb(np.zeros(50, dtype=int)))
    assert np.array_equal(few.projected().value, few.projected("simplex").value)
    assert few.projected().claimed


def test_equal_frequencies_have_equal_projected_intervals() -> None:
    """Categories with the same frequency share a row of the posterior; their order does not matter."""
    answers = np.repeat(np.arange(60), np.arange(60) % 5 * 40)
    plain = dt.frequencies(dt.KRR(dt.Categories(60), epsilon=4).perturb(answers, source=dt.Seeded(1)))
    found, raw = plain.projected("simplex"), np.asarray(plain.value)
    low, high = (np.asarray(end) for end in found.interval())
    first, second = next((one, two) for one in range(60) for two in range(one) if raw[one] == raw[two])
    assert (low[first], high[first]) == (low[second], high[second])
    assert (low <= np.asarray(found.value) + 1e-12).all()
    assert len(set(high)) > 5


@pytest.mark.slow
def test_a_projection_of_a_million_categories_takes_a_second() -> None:
    rng = np.random.default_rng(1)
    answers = np.minimum((rng.pareto(1, 200_000) * 3).astype(int), 10**6 - 1)
    found = dt.frequencies(dt.KRR(dt.Categories(10**6), epsilon=6).perturb(answers))
    meter = Meter()
    meter.start()
    found.projected()
    assert meter.stop() <= 100  # loops, a hundred of which take a second


def test_the_most_frequent_categories_are_told_with_their_doubts():
    asked, rng, source = (
        dt.KRR(dt.Categories(list("abcdef")), epsilon=3),
        np.random.default_rng(2),
        dt.Seeded(2),
    )
    shares = [0.4, 0.3, 0.12, 0.11, 0.05, 0.02]
    wrong = 0
    for _ in range(60):
        found = dt.frequencies(asked.perturb(rng.choice(list("abcdef"), 2000, p=shares), source=source)).top(
            3
        )
        wrong += not (set(found.surely) <= set("abc") <= set(found.possibly))
    assert wrong <= 9  # at most 5 % each time: more than 9 of 60 once in 10 000 times
    assert found.surely[:2] == ("a", "b")
    assert set(found.possibly) >= set("abcd")
    with pytest.raises(InvalidParameter, match="from 1 to 6"):
        dt.frequencies(asked.perturb(["a"] * 9)).top(7)


def test_a_score_of_many_categories_lists_no_table_of_all_reports() -> None:
    """With k = 10 000 a score took 13.6 s and 5.9 GB; one of few categories is read in both ways alike."""
    asked = dt.ProjectiveResponse(dt.Categories(5_000), epsilon=3)
    told = asked.perturb(np.arange(2_000) % 4, source=dt.Seeded(1))
    found = dt.frequencies(told).score({0: 1, 1: 2})
    assert found.covers(0.75)
    apart = dt.frequencies(told)
    assert found.value == pytest.approx(float(apart[0]) + 2 * float(apart[1]))
    spread = np.var(WeightedReports(told, None).influence(np.array([1.0, 2.0] + [0.0] * 4_998)))
    assert found.standard_error == pytest.approx(np.sqrt(spread / 2_000), rel=0.1)
