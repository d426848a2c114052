"""Differences of many groups: adjusted as textbooks say, and an A/B test that keeps its level."""

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.errors import InvalidParameter
from dither.estimation.comparison.differences import holm
from dither.estimation.estimate import Estimate
from dither.privacy import Guarantee, Pure

AGE = dt.Podium(dt.Interval(0, 1), epsilon=2, cells=1 << 10)


def number(value, error):
    return Estimate(value, error, 10**12, Guarantee(Pure(1.0)))


def test_holm_is_the_textbook_method():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


def test_all_pairs_have_joint_intervals_and_adjusted_p_values():
    groups = {"a": number(1.0, 0.1), "b": number(1.2, 0.1), "c": number(2.0, 0.1)}
    table = dt.difference(groups)
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
    assert [row["first"] for row in dt.difference(groups, baseline="b")] == ["a", "c"]


def test_groups_of_frequencies_are_compared_answer_by_answer():
    pet = dt.KRR(dt.Categories(["cat", "dog"]), epsilon=2)
    reports = pet.perturb(["cat", "dog"] * 300, source=dt.Seeded(2))
    groups = dt.estimate(reports, by=np.arange(600) % 3)
    table = dt.difference(groups)
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


def test_an_ab_test_keeps_its_level_and_finds_a_difference():
    runs = 150
    most = stats.binom.isf(1e-6, runs, 0.06)
    assert rejected(0.0, runs) <= most
    assert rejected(0.0, runs, halve=0.5) > most  # the broken twin
    assert rejected(0.4, 30) >= 25


def test_bad_groups_are_refused():
    with pytest.raises(InvalidParameter, match="at least two groups"):
        dt.difference({"a": number(1, 1)})
    with pytest.raises(InvalidParameter, match="mapping from names"):
        dt.difference([number(1, 1), number(2, 1)])
    with pytest.raises(InvalidParameter, match="not list"):
        dt.difference({"a": [1], "b": [2]})
    with pytest.raises(InvalidParameter, match="no group 'd'"):
        dt.difference({"a": number(1, 1), "b": number(2, 1)}, baseline="d")
