"""Differences of many groups: adjusted as textbooks say, and an A/B test that keeps its level.

Pooling: inverse variance against simulation, and strata with known shares.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.errors import InvalidParameter, Mismatch, NotIdentifiable
from dither.estimation.comparison import holm
from dither.estimation.estimate import Estimate
from dither.privacy import Guarantee, Pure

AGE = dt.Podium(dt.Interval(0, 1), epsilon=2, cells=1 << 10)


def number(value, error):
    return Estimate(value, error, 10**12, Guarantee(Pure(1.0)))


def arms(*means: float, n: int = 3000, seed: int = 1):
    rng, source = np.random.default_rng(seed), dt.Seeded(seed)
    asked = dt.Podium(dt.Interval(0, 1), epsilon=4)
    names = "abcdef"
    return {
        names[at]: dt.mean(asked.perturb(rng.normal(mean, 0.1, n).clip(0, 1), source=source))
        for at, mean in enumerate(means)
    }


def test_a_difference_at_any_time_is_covered_at_every_look() -> None:
    groups = arms(0.4, 0.5, n=300)
    gap = groups["b"] - groups["a"]
    wide = gap.at_any_time()
    assert wide.interval()[0] < gap.interval()[0] < 0.1 < gap.interval()[1] < wide.interval()[1]
    # Both parts hold together: their intervals with half of the error each.
    ends = [groups[name].at_any_time().interval(0.975) for name in "ab"]
    assert wide.interval() == pytest.approx((ends[1][0] - ends[0][1], ends[1][1] - ends[0][0]))
    assert wide.p_value() > gap.p_value()
    asked = dt.KRR(dt.Categories(["no", "yes"]), epsilon=2)
    old, new = (dt.frequencies(asked.perturb(["no", "yes"] * 500, source=dt.Seeded(s))) for s in (1, 2))
    both = (new - old).at_any_time()
    assert both["yes"].interval() == pytest.approx([end[1] for end in both.interval()])
    with pytest.raises(NotIdentifiable, match="any time"):
        (groups["a"] / groups["b"]).at_any_time()


def test_one_side_is_half_of_both() -> None:
    gap = arms(0.5, 0.505, n=400)
    gap = gap["b"] - gap["a"]
    both = gap.p_value()
    above, below = gap.p_value(alternative="greater"), gap.p_value(alternative="less")
    assert above + below == pytest.approx(1)
    assert min(above, below) == pytest.approx(both / 2)
    assert (above < below) == (float(gap) > 0)
    with pytest.raises(InvalidParameter, match="did you mean"):
        gap.p_value(alternative="greatr")


def test_differences_and_contrasts_are_one_sided_on_request() -> None:
    groups = arms(0.4, 0.5, 0.5)
    both, more = (dt.stats.difference(groups, alternative=side) for side in ("two-sided", "greater"))
    assert [row["value"] for row in both] == [row["value"] for row in more]
    alone = [gap.p_value(alternative="greater") for _, gap in more.items()]
    assert [row["p"] for row in more] == pytest.approx(holm(alone))
    assert {row["alternative"] for row in more} == {"greater"}
    assert "one-sided for above 0" in more.title
    assert "one-sided" not in both.title
    assert "alternative" not in both.rows[0]
    least = dt.stats.contrasts(groups, {"b": {"b": 1, "a": -1}}, alternative="less")
    assert least.title.endswith("p-value one-sided, for below 0")
    assert least.rows[0]["p"] > 0.99
    with pytest.raises(InvalidParameter, match="did you mean"):
        dt.stats.difference(groups, alternative="greatr")


def test_contrasts_are_one_family() -> None:
    groups = arms(0.4, 0.5, 0.5)
    asked = {"any": {"a": -1, "b": 0.5, "c": 0.5}, "b or c": {"b": 1, "c": -1}}
    found = dt.stats.contrasts(groups, asked)
    assert found["any"].covers(0.1, 1 - 1e-6)
    assert [row["contrast"] for row in found] == list(asked)
    assert found.rows[0]["p"] < 1e-6 < found.rows[1]["p"]
    ends = (0.5 * groups["b"] + 0.5 * groups["c"] - groups["a"]).interval(1 - 0.05 / 2)
    assert (found.rows[0]["low"], found.rows[0]["high"]) == pytest.approx(ends)
    for wrong, words in (
        ({"x": {"a": 1, "b": 1}}, "add up to 0"),
        ({"x": {"a": 1, "bb": -1}}, "did you mean"),
        ({"x": {"a": 0, "b": 0}}, "two or more groups"),
        ({}, "names and weights"),
    ):
        with pytest.raises(InvalidParameter, match=words):
            dt.stats.contrasts(groups, wrong)


def test_equal_groups_are_welchs_test() -> None:
    from scipy import stats

    from dither.foundation.numerics.distributions import f_survival

    for statistic, above, below in ((0.5, 1, 10), (3, 2, 200), (5, 4, 1e5), (80, 3, 500), (0.2, 1, 3e5)):
        expected = stats.f.sf(statistic, above, below)
        assert f_survival(statistic, above, below) == pytest.approx(expected, rel=1e-8)
    same, other = dt.stats.equal_groups(arms(0.5, 0.5, 0.5)), dt.stats.equal_groups(arms(0.5, 0.5, 0.6))
    assert other.p_value < 1e-9
    assert same.p_value > 1e-3
    groups = arms(0.5, 0.504)  # of two groups it is the test of their difference
    assert dt.stats.equal_groups(groups).p_value == pytest.approx(
        (groups["a"] - groups["b"]).p_value(), rel=0.1
    )
    held = [dt.stats.equal_groups(arms(*[0.5] * 4, n=60, seed=seed)).p_value > 0.05 for seed in range(60)]
    assert np.mean(held) > 0.8
    with pytest.raises(InvalidParameter, match="two groups"):
        dt.stats.equal_groups({"a": groups["a"]})


def test_holm_is_the_textbook_method():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


def test_all_pairs_have_joint_intervals_and_adjusted_p_values():
    groups = {"a": number(1.0, 0.1), "b": number(1.2, 0.1), "c": number(2.0, 0.1)}
    table = dt.stats.difference(groups)
    assert [(row["first"], row["second"]) for row in table] == [("a", "b"), ("a", "c"), ("b", "c")]
    z, error = stats.norm.isf(0.05 / 3 / 2), 0.1 * np.sqrt(2)
    assert (table[0]["low"], table[0]["high"]) == pytest.approx(
        (-0.2 - z * error, -0.2 + z * error), rel=1e-5
    )
    assert table[0]["p"] == pytest.approx(2 * stats.norm.sf(0.2 / error), rel=1e-4)
    assert table[2]["p"] == pytest.approx(2 * 2 * stats.norm.sf(0.8 / error), rel=1e-4)
    assert "Bonferroni" in table.title
    assert "Holm" in table.title
    assert table["a", "b"].interval() == (groups["a"] - groups["b"]).interval()
    assert [row["first"] for row in dt.stats.difference(groups, baseline="b")] == ["a", "c"]


def test_groups_of_frequencies_are_compared_answer_by_answer():
    pet = dt.KRR(dt.Categories(["cat", "dog"]), epsilon=2)
    reports = pet.perturb(["cat", "dog"] * 300, source=dt.Seeded(2))
    groups = dt.estimate(reports, by=np.arange(600) % 3)
    table = dt.stats.difference(groups)
    assert len(table) == 6
    assert table.columns == ["first", "second", "answer", "value", "low", "high", "p"]
    assert table[0, 1, "dog"].value == pytest.approx(
        groups.estimates[0]["dog"].value - groups.estimates[1]["dog"].value
    )


def rejected(shift, runs, halve=1.0):
    """Return how many A/B tests of 150 and 250 reports reject at 5 %."""
    rng, source, count = np.random.default_rng(8), dt.Seeded(8), 0
    for _ in range(runs):
        a = dt.mean(AGE.perturb(rng.beta(2, 5, 150), source=source))
        b = dt.mean(AGE.perturb(np.minimum(rng.beta(2, 5, 250) + shift, 1.0), source=source))
        if halve != 1.0:
            a, b = (Estimate(one.value, one.standard_error * halve, one.n, one.guarantee) for one in (a, b))
        count += (a - b).p_value() <= 0.05
    return count


@pytest.mark.slow
def test_an_ab_test_keeps_its_level_and_finds_a_difference():
    runs = 150
    most = stats.binom.isf(1e-6, runs, 0.06)
    assert rejected(0.0, runs) <= most
    assert rejected(0.0, runs, halve=0.5) > most  # the broken twin
    assert rejected(0.4, 30) >= 25


def test_bad_groups_are_refused():
    with pytest.raises(InvalidParameter, match="at least two groups"):
        dt.stats.difference({"a": number(1, 1)})
    with pytest.raises(InvalidParameter, match="mapping from names"):
        dt.stats.difference([number(1, 1), number(2, 1)])
    with pytest.raises(InvalidParameter, match="got list"):
        dt.stats.difference({"a": [1], "b": [2]})
    with pytest.raises(InvalidParameter, match="no group 'd'"):
        dt.stats.difference({"a": number(1, 1), "b": number(2, 1)}, baseline="d")


UNIT = dt.Interval(0, 1)
WEAK, STRONG = (dt.Podium(UNIT, epsilon=epsilon, cells=1 << 10) for epsilon in (1.0, 4.0))
PET = dt.OUE(dt.Categories(["cat", "dog", "none"]), epsilon=1)


@pytest.mark.slow
def test_versions_at_other_budgets_combine_by_inverse_variance():
    rng, source = np.random.default_rng(1), dt.Seeded(1)
    alone, joined, stated = [], [], []
    for _ in range(400):
        weak = WEAK.perturb(rng.beta(2, 5, 600), source=source)
        strong = STRONG.perturb(rng.beta(2, 5, 200), source=source)
        both = dt.stats.combine([dt.Counts.of(weak), strong])
        alone.append((dt.mean(weak).value, dt.mean(strong).value))
        joined.append(both.value)
        stated.append(both.standard_error)
    first, second = np.var(alone, axis=0)
    assert np.var(joined) == pytest.approx(1 / (1 / first + 1 / second), rel=0.25)
    assert np.mean(stated) == pytest.approx(np.std(joined), rel=0.2)
    assert abs(np.mean(joined) - 2 / 7) < 5 * np.std(joined) / 20
    assert np.var(joined) < 0.95 * min(first, second)


def test_frequencies_combine_and_stay_near_one():
    source = dt.Seeded(3)
    people = ["cat"] * 500 + ["dog"] * 300 + ["none"] * 200
    both = dt.stats.combine([PET.perturb(people, source=source), PET.at(3).perturb(people, source=source)])
    assert both["cat"].value == pytest.approx(0.5, abs=5 * both["cat"].standard_error)
    assert both.value.sum() == pytest.approx(1.0, abs=0.2)
    assert both.n == 2000
    assert both.guarantee.epsilon == pytest.approx(3.0)


def test_given_weights_are_divided_by_their_sum():
    a, b = (dt.mean(WEAK.perturb([x] * 50, source=dt.Seeded(4))) for x in (0.2, 0.8))
    assert dt.stats.combine([a, b], weights=[1, 3]).value == pytest.approx(0.25 * a.value + 0.75 * b.value)


def test_strata_count_by_their_shares():
    rng = np.random.default_rng(6)
    young = rng.random(4000) < 0.8  # of the reports; in the population they are a half
    values = np.where(young, rng.beta(2, 5, 4000), rng.beta(5, 2, 4000))
    reports = STRONG.perturb(values, source=dt.Seeded(6))
    groups = dt.estimate(reports, by=np.where(young, "young", "old"))
    whole = dt.stats.post_stratified(groups, {"young": 0.5, "old": 0.5})
    assert whole.covers(0.5, 1 - 1e-6)
    assert not dt.mean(reports).covers(0.5, 1 - 1e-6)
    assert whole.value == pytest.approx((groups["young"].value + groups["old"].value) / 2)


def test_weights_undo_unequal_chances_of_selection():
    rng = np.random.default_rng(7)
    values = rng.random(40_000)
    chance = 0.1 + 0.4 * values  # of being asked
    asked = rng.random(40_000) < chance
    reports = STRONG.perturb(values[asked], source=dt.Seeded(7))
    weighted = dt.mean(reports, weights=1 / chance[asked])
    assert weighted.covers(0.5, 1 - 1e-6)
    assert not dt.mean(reports).covers(0.5, 1 - 1e-6)
    equal = dt.mean(reports, weights=np.full(len(reports), 3.0))
    assert equal.value == pytest.approx(dt.mean(reports).value)
    assert equal.interval() == pytest.approx(dt.mean(reports).interval(), rel=1e-6)
    for weights in ([1.0], np.full(len(reports), np.nan), -1 / chance[asked], ["1"] * len(reports)):
        with pytest.raises(InvalidParameter, match="weight"):
            dt.mean(reports, weights=weights)
    with pytest.raises(InvalidParameter, match="got Counts"):
        dt.mean(dt.Counts.of(reports), weights=1 / chance[asked])


def test_bad_parts_are_refused():
    other = dt.Podium(dt.Interval(0, 2), epsilon=1, cells=1 << 10).perturb([1.0] * 9)
    same, twin = WEAK.perturb([0.5] * 9), WEAK.perturb([0.5] * 9)
    with pytest.raises(Mismatch, match="parts on the same domain"):
        dt.stats.combine([same, other])
    with pytest.raises(InvalidParameter, match="list of reports"):
        dt.stats.combine(same)
    with pytest.raises(InvalidParameter, match="one weight for each of"):
        dt.stats.combine([same], weights=[1, 2])
    for weights in ([-1.0, 2.0], [float("nan"), 1.0], ["1", 1.0]):
        with pytest.raises(InvalidParameter, match="from 0 upwards"):
            dt.stats.combine([same, twin], weights=weights)
    with pytest.raises(InvalidParameter, match="at least one weight"):
        dt.stats.combine([same], weights=[0])
    with pytest.raises(InvalidParameter, match="got int"):
        dt.stats.combine([1, 2])
    with pytest.raises(NotIdentifiable):
        dt.stats.combine([dt.OGPM(UNIT, epsilon=1).perturb([0.5] * 9)])
    groups = {"a": dt.mean(same), "b": dt.mean(WEAK.perturb([0.1] * 9))}
    with pytest.raises(InvalidParameter, match="sum to 1"):
        dt.stats.post_stratified(groups, {"a": 40, "b": 60})
    with pytest.raises(InvalidParameter, match="group 'c', because it has a share"):
        dt.stats.post_stratified(groups, {"a": 0.4, "b": 0.4, "c": 0.2})
    with pytest.raises(InvalidParameter, match="expected a share"):
        dt.stats.post_stratified(groups, {"a": 1.0})
    with pytest.raises(InvalidParameter, match="mapping"):
        dt.stats.post_stratified(groups, [0.5, 0.5])
