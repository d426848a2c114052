"""Answers that may be missing: the mean of those who answered, how many did, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.advice.explain import explain
from dither.errors import InvalidParameter, NotIdentifiable, OutsideDomain
from dither.estimation.distribution_methods import empirical_bayes
from dither.estimation.distributions import EstimatedDistribution
from dither.estimation.optional import answered_counts
from dither.estimation.reading import least_variance_reading, optional_reading
from tests.support.repository import ROOT
from tests.support.terminal import run

AGE = dt.Nullable(dt.Interval(18, 100, unit="years"))
WIND = dt.Nullable(dt.Circle(360))


def answers(n: int, share: float, mean: float, seed: int) -> Any:
    """Ages of some people, masked where they did not answer."""
    random = np.random.default_rng(seed)
    return np.ma.MaskedArray(random.normal(mean, 9, n).clip(18, 100), random.random(n) >= share)


@pytest.mark.parametrize("design", [dt.Podium, dt.PM, dt.SW])
@pytest.mark.parametrize("cells", [16, 1 << 16])
def test_readings_have_the_means_that_they_claim(design: Any, cells: int) -> None:
    kernel = design(AGE, epsilon=1, cells=cells).question.kernel
    for value in (18.0, 43.21, 100.0, math.nan):
        law = kernel.likelihoods(np.arange(cells), np.float64(value))
        truth = (0.0, 0.0) if math.isnan(value) else (1.0, value - 18.0)
        found = float(law @ kernel.answer_reading()), float(law @ kernel.number_reading())
        assert found == pytest.approx(truth, abs=2e-6)
        reading = optional_reading(kernel)
        assert reading is not None
        assert (law @ reading.answered, law @ reading.values) == pytest.approx(truth, abs=2e-6)
        if cells > 16:  # a mean square ignores that a start is rounded to a cell
            assert float(law @ reading.squares) == pytest.approx(truth[1] ** 2, abs=1e-4)


def test_no_unbiased_decoding_of_an_optional_number_has_less_variance() -> None:
    kernel = dt.Podium(dt.Nullable(dt.Interval(0, 1)), epsilon=0.5, cells=64).question.kernel
    reading, starts = optional_reading(kernel), kernel.room - kernel.window.width
    assert reading is not None
    # Windows at every start, and at none; a value is spread evenly between the starts.
    inputs = np.append(np.arange(starts + 1) / starts, np.nan)
    laws = np.array([kernel.likelihoods(np.arange(64), x) for x in inputs])
    shares = np.r_[0.5, np.ones(starts - 1), 0.5, starts / 2] / (1.5 * starts)  # a third does not answer
    often = shares @ laws
    truth = np.array([np.nan_to_num(inputs), 1.0 - np.isnan(inputs)])
    best = truth @ np.linalg.pinv((laws / often) @ laws.T, rcond=1e-10) @ (laws / often)
    np.testing.assert_allclose([reading.values, reading.answered], best, atol=1e-6)
    plain = kernel.number_reading() - 0.5 * kernel.answer_reading()
    gain = (laws @ (best[0] - 0.5 * best[1]) ** 2).max() / (laws @ plain**2).max()
    assert gain < 0.92


@pytest.mark.parametrize(("epsilon", "cost"), [(1, "2.08"), (2, "1.66")])
def test_the_page_states_the_cost_of_private_silence(epsilon: float, cost: str) -> None:
    unit = dt.Interval(0, 1)
    kernel, plain = (
        dt.Podium(dt.Nullable(unit), epsilon=epsilon).question.kernel,
        dt.Podium(unit, epsilon=epsilon),
    )
    decoded, own = optional_reading(kernel), least_variance_reading(plain.question)
    assert decoded is not None
    assert own is not None
    # All answers are 0, the worst value; four of five people answer.
    answer, silent = (kernel.likelihoods(np.arange(kernel.outcomes), np.float64(x)) for x in (0.0, math.nan))
    variance = float(answer @ decoded.values**2 / 0.8 + silent @ decoded.values**2 * 0.2 / 0.64)
    everybody = float(plain.question.likelihood(np.zeros(1), own.values.size).backward(own.values**2)[0])
    assert f"{variance / everybody:.2f}" == cost
    text = " ".join((ROOT / "docs" / "missing.md").read_text(encoding="utf-8").split())
    assert f"{cost} times" in text


def two_numbers(n: int, epsilon: float) -> tuple[Any, Any, Any, np.ndarray]:
    """Reports on x, y = 0.2 + x/2 and a private answer; who has a large x answers less often."""
    random, source = np.random.default_rng(5), dt.Seeded(5)
    asked = dt.Podium(dt.Nullable(dt.Interval(0, 1)), epsilon=epsilon)
    group = dt.KRR(dt.Categories(["low", "high"]), epsilon=epsilon)
    x = random.beta(2, 2, n)
    silent = random.random(n) >= np.where(x > 0.5, 0.5, 0.9), random.random(n) >= 0.8
    told = [
        asked.perturb(np.ma.MaskedArray(values, mask), source=source)
        for values, mask in zip((x, 0.2 + x / 2), silent, strict=True)
    ]
    answers = group.perturb(np.where(x > 0.5, "high", "low").tolist(), source=source)
    return told[0], told[1], answers, x[~silent[0]]


def test_pairs_groups_and_regressions_are_of_those_who_answered() -> None:
    x, y, group, known = two_numbers(20_000, 6)
    cases = [
        (dt.estimate(x, by=group)["high"], known[known > 0.5].mean()),
        (dt.estimate(x, by=group, weights=np.ones(len(x)))["low"], known[known <= 0.5].mean()),
        (dt.stats.covariance(x, y), known.var() / 2),
        (dt.stats.correlation(x, y), 1.0),
        (dt.stats.regression(x, y).slope, 0.5),
        (dt.stats.regression({"x": x, "group": group}, y)["x"], 0.5),
        (dt.stats.regression({"x": x}, y, weights=np.linspace(1, 2, len(x))).at({"x": 0.4}), 0.4),
    ]
    for estimate, truth in cases:
        assert "of those who answered" in repr(estimate)
        assert abs(float(estimate.value) - truth) < 4 * float(estimate.standard_error) < 0.3
    # All people have 0.03 more on average, and a covariance that is larger by a tenth.
    assert not dt.estimate(x, by=np.zeros(len(x), dtype=int))[0].covers(0.5)


def test_tests_compare_those_who_answered_however_many_did() -> None:
    x, _, group, known = two_numbers(20_000, 4)
    talkative, shy = (
        dt.Podium(dt.Nullable(dt.Interval(0, 1)), epsilon=4).perturb(
            np.ma.MaskedArray(np.linspace(0, 1, 4000), np.arange(4000) % 10 >= many), source=dt.Seeded(many)
        )
        for many in (9, 4)
    )
    same = dt.stats.same_distribution(talkative, shy)
    assert same.p_value > 0.01
    assert "those who answered" in repr(same)
    assert dt.stats.same_distribution(talkative, x).p_value < 1e-6
    quantiles = np.quantile(known, (np.arange(200) + 0.5) / 200)
    assert dt.stats.goodness_of_fit(x, quantiles).p_value > 0.01
    assert dt.stats.goodness_of_fit(x, np.linspace(0, 1, 200)).p_value < 1e-6
    mood = dt.KRR(dt.Nullable(dt.Categories(["good", "bad"])), epsilon=4)
    told = mood.perturb(["good", "bad", "bad", None] * 1000, source=dt.Seeded(1))
    assert dt.stats.goodness_of_fit(told, {"good": 1 / 3, "bad": 2 / 3}).p_value > 0.01
    assert dt.stats.goodness_of_fit(told, {"good": 1 / 2, "bad": 1 / 2}).p_value < 1e-6
    assert dt.stats.goodness_of_fit(told, {"good": 0.25, "bad": 0.5, None: 0.25}).p_value > 0.01
    shares = dt.frequencies(told).of_answered()
    assert list(shares) == ["good", "bad"]
    assert shares["good"].covers(1 / 3)
    assert repr(shares).startswith("{good: 0.3")
    with pytest.raises(InvalidParameter, match="everybody answers"):
        dt.frequencies(group).of_answered()


def test_weighted_quantiles_and_distributions_are_of_those_who_answered() -> None:
    x, _, _, known = two_numbers(6000, 4)
    weights = np.linspace(1, 1.001, 6000)
    assert dt.quantile(x, 0.5, weights=weights).covers(float(np.median(known)))
    shape = dt.distribution(x, 4, weights=weights)
    for found in (shape, dt.distribution(x)):
        assert abs(float(found.mean()) - known.mean()) < 0.03
        assert abs(float(found.variance()) - known.var()) < 0.02


def test_few_who_answered_have_no_pairs() -> None:
    asked = dt.Podium(dt.Nullable(dt.Interval(0, 1)), epsilon=1)
    first, second = (asked.perturb([None] * 200, source=dt.Seeded(seed)) for seed in (1, 2))
    with pytest.raises(NotIdentifiable, match="answered"):
        dt.stats.covariance(first, second)


def test_no_answer_has_as_many_cells_as_an_answer_and_no_other_loss() -> None:
    question = dt.Podium(AGE, epsilon=1, cells=64)
    laws = [question.probabilities(value) for value in (None, 18, 43.21, 100)]
    assert all(sum(law) == 1 for law in laws)
    assert (
        max(max(column) / min(column) for column in zip(*laws, strict=True)) == question.question.kernel.ratio
    )
    likely = [sum(chance == max(law) for chance in law) for law in laws]
    assert likely[0] == likely[1] == likely[3] == question.question.kernel.window.width
    assert question.question.kernel.ratio <= Fraction(math.e).limit_denominator(10**15) + Fraction(1, 10**12)


def test_the_mean_is_that_of_those_who_answered() -> None:
    question = dt.Podium(AGE, epsilon=2)
    reports = question.perturb(answers(40_000, 0.6, 43, 1), source=dt.Seeded(1))
    mean, rate = dt.mean(reports), dt.stats.response_rate(reports)
    assert mean.unit == "years"
    assert abs(float(mean) - 43) < 4 * float(mean.standard_error) < 3
    assert abs(float(rate) - 0.6) < 4 * float(rate.standard_error) < 0.05
    assert dt.estimate(reports).value == mean.value
    assert dt.mean(dt.Counts.of(reports)).value == mean.value
    early, late = mean.interval(), mean.at_any_time().interval()
    assert late[0] < early[0] < early[1] < late[1]


@pytest.mark.parametrize("design", [dt.Podium, dt.SW])
@pytest.mark.parametrize("share", [1.0, 0.4])
def test_the_shape_is_that_of_those_who_answered(design: Any, share: float) -> None:
    """Beta(2, 5) on [18, 100]: its median and variance do not depend on how many answered."""
    random = np.random.default_rng(2)
    n = 30_000
    given = np.ma.MaskedArray(18 + 82 * random.beta(2, 5, n), random.random(n) >= share)
    asked = design(AGE, epsilon=4, cells=1024)
    reports = asked.perturb(given, source=dt.Seeded(2))
    median, spread = dt.quantile(reports, 0.5, method="empirical bayes"), dt.variance(reports)
    truth, wide = 18 + 82 * 0.264449983, 82**2 * 10 / 392
    assert abs(float(median) - truth) < 4 * float(median.half_width()) / 1.96 < 8
    assert abs(float(spread) - wide) < 4 * float(spread.standard_error) < 80
    assert dt.quantile(reports, 0.5).covers(truth, 0.995)  # of several runs
    shape = dt.distribution(reports, 8)
    assert (median.unit, shape.n, median.n, spread.n) == ("years", n, n, n)
    assert {shape.guarantee, median.guarantee, spread.guarantee} == {asked.guarantee}  # not a weaker window's
    low, high = shape.bands()
    edges = (shape.edges - 18) / 82
    shares = np.diff(1 - (1 - edges) ** 6 - 6 * edges * (1 - edges) ** 5)
    assert np.mean((low <= shares) & (shares <= high)) >= 0.75
    assert float(shape.quantile(0.5)) == pytest.approx(float(median))
    assert dt.variance(dt.Counts.of(reports)).value == spread.value


def test_how_many_answered_is_part_of_the_error() -> None:
    """With ε = 1 and few answers, the number of those who did moves every share towards an even one."""
    reports = dt.SW(AGE, epsilon=1, cells=256).perturb(answers(4000, 0.3, 30, 1), source=dt.Seeded(1))
    counts = answered_counts(dt.Counts.of(reports))
    assert 0.05 < counts.unsure < 0.2
    widths = [
        EstimatedDistribution.of_curve(
            empirical_bayes.curve(counts._replace(unsure=unsure)), counts, "", 8
        ).quantile(0.9)
        for unsure in (0.0, counts.unsure)
    ]
    assert float(widths[1].half_width()) > 1.01 * float(widths[0].half_width())


@pytest.mark.slow
def test_quantiles_and_bins_at_the_terminal(tmp_path: Any) -> None:
    (tmp_path / "in.csv").write_text("age\n" + "\n".join(["25", "31", "40", ""] * 500))
    asked = ("--column", "age", "--interval", 18, 100, "--optional", "--epsilon", 4)
    assert run("perturb", tmp_path / "in.csv", *asked, "-o", tmp_path / "out.csv").exit_code == 0
    shown = run("estimate", tmp_path / "out.csv", "--quantile", 0.5, "--bins", 4)
    assert shown.exit_code == 0, shown.output
    assert "quantile 0.5: 3" in shown.output
    assert "95 % band" in shown.output
    assert "answered: 0.7" in shown.output


def test_who_answers_does_not_move_the_mean_of_the_others() -> None:
    """A naive average of decoded reports does move: it is the broken twin of this test."""
    question = dt.Podium(AGE, epsilon=4)
    means, naive = [], []
    for share in (1.0, 0.3):
        reports = question.perturb(answers(40_000, share, 30, 2), source=dt.Seeded(2))
        means.append(float(dt.mean(reports)))
        naive.append(float(np.nanmean(question.question.decode(reports.cells))))
    assert abs(means[0] - means[1]) < 1.5
    assert abs(naive[0] - naive[1]) > 2.5


@pytest.mark.parametrize(("epsilon", "n", "share"), [(1, 2000, 0.8), (4, 400, 0.4)])
def test_intervals_hold(epsilon: float, n: int, share: float) -> None:
    question = dt.Podium(AGE, epsilon=epsilon, cells=1024)
    held, rates, times = 0, 0, 200
    for seed in range(times):
        reports = question.perturb(answers(n, share, 43, seed), source=dt.Seeded(seed))
        mean, rate = dt.mean(reports).interval(), dt.stats.response_rate(reports).interval()
        held += mean[0] <= 43.0 <= mean[1]
        rates += rate[0] <= share <= rate[1]
    assert held >= 0.9 * times  # 5 % are expected to miss; more than 10 % do with probability 0.001
    assert rates >= 0.9 * times


def test_hardly_anybody_answered() -> None:
    question = dt.Podium(AGE, epsilon=0.5, cells=256)
    every = [question.perturb([None] * 500, source=dt.Seeded(seed)) for seed in range(8)]
    some = [reports for reports in every if float(dt.stats.response_rate(reports)) > 0]
    none = [reports for reports in every if float(dt.stats.response_rate(reports)) <= 0]
    assert {dt.mean(reports).interval() for reports in some} == {(18.0, 100.0)}  # nothing is known
    with pytest.raises(NotIdentifiable, match="response_rate"):
        dt.mean(none[0])


def test_directions_of_those_who_answered() -> None:
    random = np.random.default_rng(3)
    given = np.ma.MaskedArray(random.normal(350, 20, 30_000) % 360, random.random(30_000) < 0.5)
    reports = dt.OGPM(WIND, epsilon=2).perturb(given, source=dt.Seeded(3))
    mean = dt.mean(reports)
    assert abs((float(mean) - 350 + 180) % 360 - 180) < 4 * float(mean.standard_error) < 8
    assert abs(float(dt.stats.response_rate(reports)) - 0.5) < 0.03


def test_categories_have_one_more() -> None:
    mood = dt.KRR(dt.Nullable(dt.Categories(["good", "bad"])), epsilon=2)
    reports = mood.perturb(["good"] * 6000 + ["bad"] * 2000 + [None] * 2000, source=dt.Seeded(4))
    found = dt.frequencies(reports)
    assert found.labels == ("good", "bad", None)
    assert float(found[None]) == pytest.approx(0.2, abs=0.03)
    assert float(dt.stats.response_rate(reports)) == pytest.approx(1.0 - float(found[None]))
    assert "no answer: 0." in repr(found)
    assert found.to_frame()["answer"].to_list() == ["good", "bad", "no answer"]


def test_what_else_is_refused_in_words() -> None:
    reports = dt.Podium(AGE, epsilon=1).perturb([30, None])
    with pytest.raises(InvalidParameter, match="everybody answers"):
        dt.stats.fit_family(reports, "normal")
    wind = dt.OGPM(WIND, epsilon=1).perturb([30, None])
    for function in (dt.variance, dt.distribution, lambda given: dt.quantile(given, 0.5)):
        with pytest.raises(InvalidParameter, match=r"angles that everybody answers|a mechanism for means"):
            function(wind)
        with pytest.raises(NotIdentifiable, match="at least one report"):
            function(dt.Counts.empty(dt.Podium(AGE, epsilon=1)))
        with pytest.raises(NotIdentifiable, match="response_rate"):
            function(dt.Podium(AGE, epsilon=1).perturb([None] * 300, source=dt.Seeded(5)))
    with pytest.raises(InvalidParameter, match="Nullable"):
        dt.stats.response_rate(dt.Podium(dt.Interval(0, 1), epsilon=1).perturb([0.5]))
    with pytest.raises(NotIdentifiable, match="Podium"):
        dt.mean(dt.OGPM(AGE, epsilon=1).perturb([30, None]))
    for quantity in (dt.mean, dt.variance):
        with pytest.raises(InvalidParameter, match="linear"):
            quantity(reports, method="likelihood")
    with pytest.raises(NotIdentifiable, match="at least one report"):
        dt.stats.response_rate(dt.Counts.empty(dt.Podium(AGE, epsilon=1)))


@pytest.mark.parametrize("design", [dt.Laplace, dt.Duchi, dt.Hybrid, dt.Optimal, dt.Staircase])
def test_designs_without_a_window_to_spare_say_so(design: Any) -> None:
    with pytest.raises(InvalidParameter, match="Podium"):
        design(AGE, epsilon=1)


def test_other_domains_say_what_to_do() -> None:
    with pytest.raises(InvalidParameter, match="ordered scale"):
        dt.optimal.Cumulative(dt.Nullable(dt.Categories(["never", "often"])), epsilon=1)
    for domain in (dt.Text(5), dt.Several(5, most=2), dt.Sphere()):
        with pytest.raises(InvalidParameter, match="numbers, angles or categories"):
            dt.Nullable(domain)
    with pytest.raises(InvalidParameter, match="domain"):
        dt.Nullable(5)
    assert dt.Nullable(AGE) == AGE
    kept = dt.Nullable(dt.Categories(3))
    assert kept.labels == (0, 1, 2, None) == dt.Nullable(kept).labels


def test_values_outside_and_nan_are_refused_without_being_shown() -> None:
    for values in ([17.3], [101.5, None], np.array([30.0, np.nan]), ["43"], [True, None], [10**400]):
        with pytest.raises(OutsideDomain) as caught:
            AGE.check(values)
        assert not any(text in str(caught.value) for text in ("17.3", "101.5", "43"))
    with pytest.raises(OutsideDomain, match="masked_invalid"):
        AGE.check(np.array([30.0, np.nan]))
    assert np.isnan(AGE.check(np.ma.MaskedArray([30.0, np.nan], [False, True]))).tolist() == [False, True]


def test_it_travels_and_is_answered_from_an_account(tmp_path: Any) -> None:
    for asked in (
        dt.Podium(AGE, epsilon=1),
        dt.OGPM(WIND, epsilon=1),
        dt.KRR(dt.Nullable(dt.Categories(3)), epsilon=1),
    ):
        question = dt.from_json(asked.to_json())
        assert question == asked.question
        assert question.design() == asked
        told = dt.from_bytes(asked.perturb([None] * 3).to_bytes())
        assert len(told) == 3
        key, value = bytes(32), 2 if "KRR" in repr(asked) else 43
        twice = dt.Memoised(asked, key, name="x").perturb([None, value, None, value]).cells
        assert twice[0] == twice[2]
        assert twice[1] == twice[3]
    asking = dt.Inquiry("age", dt.Podium(AGE, epsilon=1), asker="example.org", repeat="fresh")
    account = dt.Account.create(tmp_path / "account", epsilon=3)
    assert len(account.answer(asking, None)) == 1
    assert len(account.answer(asking, 140)) == 1  # clipped


def test_a_campaign_says_optional() -> None:
    text = '[questions.age]\ninterval = [18, 100]\nunit = "years"\noptional = true\nepsilon = 1\n'
    text += '[questions.mood]\ncategories = ["good", "bad"]\noptional = true\nepsilon = 1\n'
    text += "[questions.wind]\ncircle = 360\noptional = true\nepsilon = 1\n"
    campaign = dt.Questionnaire.from_toml(text)
    assert [question.name for question in campaign.questions.values()] == ["Podium", "KRR", "OGPM"]
    again = dt.Questionnaire.from_json(campaign.to_json())
    assert str(again.questions["age"].domain) == "[18, 100] or no answer"
    assert again.questions["age"].domain.unit == "years"
    assert "Whether you answer is hidden" in explain(campaign).person
    for wrong in ("optional = 1", 'optional = "yes"'):
        with pytest.raises(InvalidParameter, match="true or false"):
            dt.Questionnaire.from_toml(text.replace("optional = true", wrong, 1))


def test_the_audit_compares_its_draws() -> None:
    found = dt.audit(dt.OGPM(WIND, epsilon=1, cells=64))
    assert found.holds
    assert "16384 draws" in str(found)


MOOD = dt.KRR(dt.Nullable(dt.Categories(["bad", "fair", "good"])), epsilon=4)
POINTS = {"bad": 1, "fair": 2, "good": 3}


def test_a_score_is_that_of_those_who_answered() -> None:
    """Silence counted 0: a mean of 2.0 was estimated as 1.39."""
    random, held = np.random.default_rng(1), 0
    for seed in range(120):
        answers = random.choice(np.array(["bad", "fair", "good", None]), 500, p=[0.2, 0.3, 0.2, 0.3]).tolist()
        told = MOOD.perturb(answers, source=dt.Seeded(seed))
        found = dt.frequencies(told).score(POINTS)
        held += bool(found.covers(2.0))
    assert held >= 105  # of 120 at 95 %: fewer has a chance of 0.1 %
    assert "of those who answered" in repr(found)
    counted = dt.frequencies(dt.Counts.of(told)).score(POINTS)
    assert counted.interval() == pytest.approx(found.interval())
    everybody = dt.frequencies(told).score({**POINTS, None: 0})
    assert everybody.value == pytest.approx(2.0 * 0.7, abs=0.2)
    # Two ways to the same number: the ratio of two sums of the same people.
    whole = everybody / dt.frequencies(told).sum(list(POINTS))
    assert whole.value == pytest.approx(found.value)
    assert whole.standard_error == pytest.approx(found.standard_error, rel=0.02)


def test_optional_numbers_have_weights() -> None:
    asked = dt.Podium(dt.Nullable(dt.Interval(0, 10)), epsilon=4)
    random, held = np.random.default_rng(2), 0
    for seed in range(60):
        young = random.random(800) < 0.8
        values = np.where(young, 2.0, 8.0)
        silent = random.random(800) < np.where(young, 0.5, 0.1)
        told = asked.perturb(
            [None if s else v for v, s in zip(values, silent, strict=True)], source=dt.Seeded(seed)
        )
        weights = np.where(young, 1.0, 4.0)  # as many of both in the population
        truth = (2.0 * 0.5 + 8.0 * 0.9) / 1.4  # of those who answer
        held += bool(dt.mean(told, weights=weights).covers(truth))
    assert held >= 50
    equal = dt.mean(told, weights=np.ones(800))
    assert equal.value == pytest.approx(dt.mean(told).value)
    assert equal.interval() == pytest.approx(dt.mean(told).interval(), rel=1e-2)


def test_everything_of_an_optional_number_says_of_those_who_answered() -> None:
    reports = dt.Podium(AGE, epsilon=4).perturb(answers(3_000, 0.7, 50, 3), source=dt.Seeded(3))
    weights, city = [1.0 + i % 2 for i in range(3_000)], ["ab"[i % 2] for i in range(3_000)]
    told = [dt.mean(reports), dt.variance(reports), dt.quantile(reports, 0.5), dt.mean(reports).at_any_time()]
    told += [dt.mean(reports, weights=weights), dt.quantile(reports, 0.5, weights=weights)]
    assert [", of those who answered" in repr(estimate) for estimate in told] == [True] * len(told)
    groups = dt.estimate(reports, by=city)
    assert groups.title.endswith("intervals, of those who answered; n counts all people")
    everybody = dt.Podium(dt.Interval(18, 100), epsilon=4).perturb([43] * 500, source=dt.Seeded(3))
    assert "answered" not in repr(dt.mean(everybody)) + repr(dt.quantile(everybody, 0.5))
    both = dt.mean({"age": reports, "year": everybody})
    assert (
        both.title == "means of 2 questions, 95 % intervals; age, of those who answered; n counts all people"
    )


def test_the_weighted_share_who_answered_is_the_populations() -> None:
    # Three of four people of the first kind answer, and one of four of the others, who weigh three times.
    heavy = np.arange(8_000) % 2 == 1
    values = np.where(np.random.default_rng(4).random(8_000) < np.where(heavy, 0.25, 0.75), 40.0, np.nan)
    given = np.ma.MaskedArray(np.nan_to_num(values), np.isnan(values))
    weights = np.where(heavy, 3.0, 1.0)
    for design in (dt.Podium(AGE, epsilon=4), dt.KRR(dt.Nullable(dt.Categories([0.0, 40.0])), epsilon=4)):
        part = given if design.domain.listed is None else [None if m else 40.0 for m in given.mask]
        reports = design.perturb(part, source=dt.Seeded(4))
        assert dt.stats.response_rate(reports).covers(0.5)
        rate = dt.stats.response_rate(reports, weights=weights)
        assert rate.covers(0.375)
        assert not rate.covers(0.5)
        assert "design effect" in repr(rate)
        equal = dt.stats.response_rate(reports, weights=np.ones(8_000))
        assert float(equal) == pytest.approx(float(dt.stats.response_rate(reports)), rel=1e-9)


def test_tables_and_files_say_of_whom_the_answers_are() -> None:
    """Prints said "of those who answered", and frames, JSON and differences did not."""
    asked = dt.Podium(AGE, epsilon=4)
    told = asked.perturb(answers(1200, 0.7, 40.0, 1), source=dt.Seeded(1))
    mean, whose = dt.mean(told), "those who answered"
    assert mean.records()[0]["of"] == whose
    assert dt.quantile(told, 0.5).records()[0]["of"] == whose
    assert "of" not in dt.stats.response_rate(told).records()[0]
    shape = dt.distribution(told, 4)
    assert shape.records()[0]["of"] == whose
    assert f", of {whose}" in repr(shape)
    groups = dt.estimate(told, by=["a", "b"] * 600)
    assert groups.rows[0]["of"] == whose
    gap = dt.stats.difference(groups)
    assert (gap.rows[0]["of"], gap.title.endswith(f", of {whose}")) == (whose, True)
    for made in (
        groups["a"] - groups["b"],
        groups["a"] / groups["b"],
        dt.stats.combine([told[:600], told[600:]]),
    ):
        assert f", of {whose})" in repr(made)
    line = dt.stats.regression(np.arange(1200.0), told)
    assert line.records()[0]["of"] == whose
    clipped = dt.Podium(dt.Nullable(dt.Interval(18, 100, clipped_from=dt.Interval(0, 120))), epsilon=4)
    young = clipped.perturb([40.0, None, 50.0] * 200, source=dt.Seeded(1))
    assert dt.mean(young).records()[0]["of"] == f"mean of values clipped to [18, 100], of {whose}"
