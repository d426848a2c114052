"""Weights: raking against a reference, design effects, and estimates that follow the population."""

from __future__ import annotations

import numpy as np
import pytest

import dither as dt
from dither.errors import Infeasible, InvalidParameter, NotIdentifiable
from dither.estimation.weights import count_weighted, freedom, influences, student
from dither.results import Weights

LABELS = ["a", "b", "c"]
SEX = dt.KRR(dt.Categories(["f", "m"]), epsilon=1)


def people(seed: int, n: int) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Answers that depend on a public group, of which the second answers four times as often."""
    rng = np.random.default_rng(seed)
    group = rng.choice(2, n, p=[0.2, 0.8])
    shares = np.array([[0.1, 0.3, 0.6], [0.7, 0.2, 0.1]])
    codes = (rng.random(n)[:, None] > shares.cumsum(axis=1)[group]).sum(axis=1)
    return [LABELS[code] for code in codes], group, rng.beta(2, 5 - 3 * group)


POPULATION = {"group": {0: 0.5, 1: 0.5}}


def test_raking_has_the_totals_and_is_iterative_proportional_fitting() -> None:
    rng = np.random.default_rng(1)
    columns = {"sex": rng.choice(["f", "m"], 500), "age": rng.choice([1, 2, 3], 500)}
    known = {"sex": {"f": 520, "m": 480}, "age": {1: 300, 2: 300, 3: 400}}
    weights = dt.stats.rake(columns, known)
    for name, totals in known.items():
        for label, total in totals.items():
            assert weights.values[columns[name] == label].sum() == pytest.approx(total, rel=1e-8)
    table = np.zeros((2, 3))
    for i, sex in enumerate("fm"):
        for j, age in enumerate((1, 2, 3)):
            table[i, j] = ((columns["sex"] == sex) & (columns["age"] == age)).sum()
    scaled = table.copy()
    for _ in range(200):  # the textbook loop on the table of counts
        scaled *= (np.array([520, 480]) / scaled.sum(axis=1))[:, None]
        scaled *= np.array([300, 300, 400]) / scaled.sum(axis=0)
    found = weights.values[(columns["sex"] == "m") & (columns["age"] == 2)][0]
    assert found == pytest.approx(scaled[1, 1] / table[1, 1], rel=1e-6)


def test_one_table_is_post_stratification_and_a_base_is_kept() -> None:
    columns = {"a": ["x", "x", "y", "y"], "b": [0, 1, 0, 1]}
    known = {("a", "b"): {("x", 0): 10, ("x", 1): 20, ("y", 0): 30, ("y", 1): 40}}
    assert dt.stats.rake(columns, known).values.tolist() == pytest.approx([10, 20, 30, 40])
    based = dt.stats.rake({"a": ["x", "x", "y"]}, {"a": {"x": 8, "y": 2}}, base=[1, 3, 1])
    assert based.values.tolist() == pytest.approx([2, 6, 2])
    weights = Weights([1, 1, 1, 3])
    assert (weights.design_effect, weights.effective) == pytest.approx((4 / 3, 3.0))
    assert weights.to_frame()["weight"].tolist() == [1, 1, 1, 3]
    assert "design effect 1.33" in weights._repr_html_()
    assert len(weights.plot().patches) == 40
    assert len(weights[np.array([True, False, False, True])]) == 2


def test_wrong_raking_is_refused() -> None:
    reports = SEX.perturb(["f", "m"], source=dt.Seeded(1))
    rake = dt.stats.rake
    with pytest.raises(InvalidParameter, match="'sex', randomised reports of KRR"):
        rake({"sex": reports}, {"sex": {"f": 1, "m": 1}})
    with pytest.raises(InvalidParameter, match="got 'sexx'"):
        rake({"sex": ["f", "m"]}, {"sexx": {"f": 1}})
    with pytest.raises(InvalidParameter, match="label 'd'"):
        rake({"sex": ["f", "d"]}, {"sex": {"f": 1, "m": 1}})
    with pytest.raises(InvalidParameter, match="label None"):
        rake({"sex": ["f", float("nan")]}, {"sex": {"f": 1, "m": 1}})
    with pytest.raises(Infeasible, match="people with the label 'm'"):
        rake({"sex": ["f", "f"]}, {"sex": {"f": 1, "m": 1}})
    with pytest.raises(InvalidParameter, match="one sum"):
        rake({"a": ["x"], "b": ["y"]}, {"a": {"x": 10}, "b": {"y": 12}})
    with pytest.raises(Infeasible, match="no weights of these people"):
        rake(
            {"a": [0, 0, 1], "b": [0, 0, 1]},
            {"a": {0: 1, 1: 1}, "b": {0: 1, 1: 3 - 2}} | {"b": {0: 0.5, 1: 1.5}},
        )
    with pytest.raises(InvalidParameter, match="numbers from 0 upwards"):
        rake({"a": [0]}, {"a": {0: -1}})
    with pytest.raises(InvalidParameter, match="columns of one length"):
        rake({"a": [0, 0], "b": [0]}, {"a": {0: 1}, "b": {0: 1}})
    with pytest.raises(InvalidParameter, match="totals to be a mapping"):
        rake({"a": [0]}, {})


@pytest.mark.parametrize("wrong", [[1, 2], [1, -1, 1], [0, 0, 0], ["a", "b", "c"], [1, float("nan"), 1]])
def test_wrong_weights_are_refused(wrong: list[object]) -> None:
    told = dt.KRR(dt.Categories(LABELS), epsilon=1).perturb(LABELS, source=dt.Seeded(1))
    with pytest.raises(InvalidParameter, match="weight"):
        dt.frequencies(told, weights=wrong)


def test_weights_need_reports_of_independent_people() -> None:
    told = dt.KRR(dt.Categories(LABELS), epsilon=1).perturb(LABELS, source=dt.Seeded(1))
    with pytest.raises(InvalidParameter, match="without their order"):
        dt.frequencies(dt.Counts.of(told), weights=[1, 1, 1])
    with pytest.raises(InvalidParameter, match="randomised reports of KRR"):
        dt.frequencies(told, weights=told)
    with pytest.raises(NotIdentifiable, match="equal weights"):
        dt.frequencies(told, weights=[1, 1, 2]).at_any_time()
    with pytest.raises(NotIdentifiable, match="equal weights"):
        dt.frequencies(told, weights=[1, 1, 2]).if_lying(0.1)


def test_equal_weights_change_nothing() -> None:
    answers, _, values = people(1, 400)
    for kind in (dt.KRR, dt.OUE, dt.OLH, dt.SubsetSelection):
        told = kind(dt.Categories(LABELS), epsilon=1).perturb(answers, source=dt.Seeded(1))
        plain, weighted = dt.frequencies(told), dt.frequencies(told, weights=np.full(400, 3.0))
        assert weighted.value == pytest.approx(plain.value)
        assert np.array(weighted.interval()) == pytest.approx(np.array(plain.interval()), abs=1e-3)
        one = weighted.sum(["a", "b"])
        assert one.value == pytest.approx(plain.sum(["a", "b"]).value)
        assert one.half_width() == pytest.approx(plain.sum(["a", "b"]).half_width(), rel=0.1)
    number = dt.SW(dt.Interval(0, 1), epsilon=1, cells=1 << 10)
    reports = number.perturb(values, source=dt.Seeded(2))
    counts = count_weighted(reports, Weights(np.ones(400)))
    assert counts.counts == pytest.approx(dt.Counts.of(reports).counts)
    plain, weighted = dt.distribution(reports, 8), dt.distribution(reports, 8, weights=np.ones(400))
    assert weighted.probabilities == pytest.approx(plain.probabilities, abs=1e-6)
    both = dt.quantile(reports, 0.5), dt.quantile(reports, 0.5, weights=np.ones(400))
    assert float(both[1]) == pytest.approx(float(both[0]), abs=1e-6)
    table = dt.KRR(dt.Categories(2), epsilon=1).perturb([0, 1] * 200, source=dt.Seeded(3))
    one, two = (dt.stats.crosstab(told, table, weights=given) for given in (None, np.ones(400)))
    assert np.array(two.interval()) == pytest.approx(np.array(one.interval()))


def test_a_weighted_direction_is_of_the_population() -> None:
    """People at 30° were asked a third as often as people at 120°; both are half of the population."""
    rng = np.random.default_rng(1)
    asked = dt.OGPM(dt.Circle(360), epsilon=2)
    held = missed = 0
    for seed in range(60):
        second = rng.random(2000) < 0.75
        angles = np.where(second, 120.0, 30.0) + rng.normal(0.0, 10.0, 2000)
        told = asked.perturb(angles % 360.0, source=dt.Seeded(seed))
        found = dt.mean(told, weights=np.where(second, 1.0, 3.0))
        held += found.covers(75.0)
        missed += not dt.mean(told).covers(75.0)
    assert held >= 50
    assert missed >= 50  # without the weights
    plain, equal = dt.mean(told), dt.mean(told, weights=np.full(2000, 2.0))
    assert equal.value == pytest.approx(plain.value)
    assert equal.interval() == pytest.approx(plain.interval(), rel=1e-2)
    assert "design effect" in repr(found)
    few = dt.mean(told, weights=np.exp(3.0 * rng.standard_normal(2000)))
    assert "few people carry the weight" in few.condition


def test_weighted_estimates_are_of_the_population() -> None:
    answers, group, values = people(2, 20_000)
    truth = np.array([0.4, 0.25, 0.35])
    weights = dt.stats.rake({"group": group}, POPULATION)
    told = dt.KRR(dt.Categories(LABELS), epsilon=2).perturb(answers, source=dt.Seeded(1))
    found, naive = dt.frequencies(told, weights=weights), dt.frequencies(told)
    assert found.covers(truth, 1 - 1e-6).all()
    assert not naive.covers(truth, 1 - 1e-6).all()  # the twin: those who answered are not the population
    assert found.score({"a": 1, "b": 2, "c": 3}).covers(1.95, 1 - 1e-6)
    reports = dt.Podium(dt.Interval(0, 1), epsilon=2).perturb(values, source=dt.Seeded(2))
    assert dt.mean(reports, weights=weights).covers((2 / 7 + 0.5) / 2, 1 - 1e-6)
    assert not dt.mean(reports).covers((2 / 7 + 0.5) / 2, 1 - 1e-6)
    groups = dt.estimate(told, by={"group": group}, weights=weights)
    assert groups[0]["a"].covers(0.1, 1 - 1e-6)
    mass = dt.estimate(
        reports, by=group, weights=weights, quantity=lambda g, weights: dt.mean(g, weights=weights)
    )
    assert mass[0].covers(2 / 7, 1 - 1e-6)
    with pytest.raises(InvalidParameter, match="takes the group and its weights"):
        dt.estimate(reports, by=group, weights=weights, quantity=lambda reports: dt.mean(reports))  # noqa: PLW0108


def test_raked_columns_leave_what_they_do_not_explain() -> None:
    """If the column tells the answer, its known total leaves no error; as plain weights it would."""
    rng = np.random.default_rng(1)
    group = rng.choice(2, 1000)
    weights = dt.stats.rake({"group": group}, POPULATION)
    mean, moved = influences(group.astype(float), weights)
    assert mean == pytest.approx(0.5)
    assert np.abs(moved).max() < 1e-9
    assert student(mean, moved).error < 1e-12
    plain = influences(group.astype(float), Weights(weights.values))[1]
    assert plain.std() > 0.4
    assert freedom(np.append(np.zeros(997), [1.0, -1.0, 1.0])) < 10


def test_few_people_who_carry_the_weight_are_said() -> None:
    asked, held = dt.Podium(dt.Interval(0, 1), epsilon=4), 0
    random = np.random.default_rng(1)
    for seed in range(100):
        weights, values = np.exp(2.0 * random.standard_normal(300)), random.beta(2, 5, 300)
        found = dt.mean(asked.perturb(values, source=dt.Seeded(seed)), weights=weights)
        held += bool(found.covers(2 / 7)) or "few people carry the weight" in repr(found)
    assert held >= 88
    even = dt.mean(asked.perturb(values, source=dt.Seeded(1)), weights=np.linspace(1, 3, 300))
    assert "carry" not in repr(even)
    few = dt.mean(asked.perturb(values[:20], source=dt.Seeded(1)), weights=np.linspace(1, 3, 20))
    assert "carry" not in repr(few)


def test_few_heavy_people_do_not_narrow_the_interval() -> None:
    """Log-normal weights of σ = 2: intervals that took the heaviest gap as it is held in 87 to 90 %."""
    asked, random, source = dt.Podium(dt.Interval(0, 1), epsilon=4), np.random.default_rng(2), dt.Seeded(2)
    held, said = [], []
    for _ in range(300):
        told = asked.perturb(random.beta(2, 5, 400), source=source)
        found = dt.mean(told, weights=np.exp(2.0 * random.standard_normal(400)))
        held.append(found.covers(2 / 7))
        said.append("few people carry the weight" in repr(found))
    assert 0.92 <= np.mean(held) <= 0.99
    assert np.mean(said) > 0.9
