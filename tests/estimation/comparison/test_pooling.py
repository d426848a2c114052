"""Pooling: inverse variance against simulation, and strata with known shares."""

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, Mismatch, NotIdentifiable

UNIT = dt.Interval(0, 1)
WEAK, STRONG = (dt.Podium(UNIT, epsilon=epsilon, cells=1 << 10) for epsilon in (1.0, 4.0))
PET = dt.OUE(dt.Categories(["cat", "dog", "none"]), epsilon=1)


def test_versions_at_other_budgets_combine_by_inverse_variance():
    rng, source = np.random.default_rng(1), dt.Seeded(1)
    alone, joined, stated = [], [], []
    for _ in range(400):
        weak = WEAK.perturb(rng.beta(2, 5, 600), source=source)
        strong = STRONG.perturb(rng.beta(2, 5, 200), source=source)
        both = dt.combine([dt.Summary.of(weak), strong])
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
    both = dt.combine([PET.perturb(people, source=source), PET.at(3).perturb(people, source=source)])
    assert both["cat"].value == pytest.approx(0.5, abs=5 * both["cat"].standard_error)
    assert both.value.sum() == pytest.approx(1.0, abs=0.2)
    assert both.n == 2000
    assert both.guarantee.epsilon == pytest.approx(3.0)


def test_given_weights_are_divided_by_their_sum():
    a, b = (dt.mean(WEAK.perturb([x] * 50, source=dt.Seeded(4))) for x in (0.2, 0.8))
    assert dt.combine([a, b], weights=[1, 3]).value == pytest.approx(0.25 * a.value + 0.75 * b.value)


def test_strata_count_by_their_shares():
    rng = np.random.default_rng(6)
    young = rng.random(4000) < 0.8  # of the reports; in the population they are a half
    values = np.where(young, rng.beta(2, 5, 4000), rng.beta(5, 2, 4000))
    reports = STRONG.perturb(values, source=dt.Seeded(6))
    groups = dt.estimate(reports, by=np.where(young, "young", "old"))
    whole = dt.post_stratified(groups, {"young": 0.5, "old": 0.5})
    assert whole.covers(0.5, 1 - 1e-6)
    assert not dt.mean(reports).covers(0.5, 1 - 1e-6)
    assert whole.value == pytest.approx((groups["young"].value + groups["old"].value) / 2)


def test_weights_undo_unequal_chances_of_selection():
    rng = np.random.default_rng(7)
    values = rng.random(40_000)
    chance = 0.1 + 0.4 * values  # of being asked
    asked = rng.random(40_000) < chance
    reports = STRONG.perturb(values[asked], source=dt.Seeded(7))
    weighted = dt.weighted_mean(reports, 1 / chance[asked])
    assert weighted.covers(0.5, 1 - 1e-6)
    assert not dt.mean(reports).covers(0.5, 1 - 1e-6)
    equal = dt.weighted_mean(reports, np.full(len(reports), 3.0))
    assert equal.value == pytest.approx(dt.mean(reports).value)
    assert equal.interval() == pytest.approx(dt.mean(reports).interval(), rel=1e-6)
    for weights in ([1.0], np.full(len(reports), np.nan), -1 / chance[asked], ["1"] * len(reports)):
        with pytest.raises(InvalidParameter, match="weights"):
            dt.weighted_mean(reports, weights)
    with pytest.raises(InvalidParameter, match="not Summary"):
        dt.weighted_mean(dt.Summary.of(reports), 1 / chance[asked])


def test_bad_parts_are_refused():
    other = dt.Podium(dt.Interval(0, 2), epsilon=1, cells=1 << 10).perturb([1.0] * 9)
    same = WEAK.perturb([0.5] * 9)
    with pytest.raises(Mismatch, match="different questions"):
        dt.combine([same, other])
    with pytest.raises(InvalidParameter, match="list of reports"):
        dt.combine(same)
    with pytest.raises(InvalidParameter, match="as many weights"):
        dt.combine([same], weights=[1, 2])
    for weights in ([-1.0, 2.0], [float("nan"), 1.0], ["1", 1.0]):
        with pytest.raises(InvalidParameter, match="from 0 upwards"):
            dt.combine([same, same], weights=weights)
    with pytest.raises(InvalidParameter, match="at least one weight"):
        dt.combine([same], weights=[0])
    with pytest.raises(InvalidParameter, match="not int"):
        dt.combine([1, 2])
    with pytest.raises(NotIdentifiable):
        dt.combine([dt.OGPM(UNIT, epsilon=1).perturb([0.5] * 9)])
    groups = {"a": dt.mean(same), "b": dt.mean(WEAK.perturb([0.1] * 9))}
    with pytest.raises(InvalidParameter, match="sum to 1"):
        dt.post_stratified(groups, {"a": 40, "b": 60})
    with pytest.raises(InvalidParameter, match="'c' has a share"):
        dt.post_stratified(groups, {"a": 0.4, "b": 0.4, "c": 0.2})
    with pytest.raises(InvalidParameter, match="no share"):
        dt.post_stratified(groups, {"a": 1.0})
    with pytest.raises(InvalidParameter, match="mapping"):
        dt.post_stratified(groups, [0.5, 0.5])
