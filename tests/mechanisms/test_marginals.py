"""Tables of attributes: within 6 % of the bound, and predictions held to simulation."""

from __future__ import annotations

import math
import tracemalloc
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, MalformedReport, NotIdentifiable, OutsideDomain
from dither.foundation.numerics.finite_fields import tables as field_tables
from dither.mechanisms.marginals import TableBound, _cells_of_subsets, table_of_pairs
from dither.mechanisms.optimal.queries.bound import best_multipliers, lower_bound

FIVE = {name: dt.Categories(8) for name in "abcde"}


@pytest.mark.parametrize("order", [2, 3, 4, 5, 7, 8, 9, 16, 25, 27])
def test_fields_are_fields(order: int) -> None:
    sums, products = field_tables(order)
    a, b, c = np.indices((order, order, order))
    assert (products[a, sums[b, c]] == sums[products[a, b], products[a, c]]).all()
    assert (products[products[a, b], c] == products[a, products[b, c]]).all()
    assert (sums[sums[a, b], c] == sums[a, sums[b, c]]).all()
    assert (np.sort(products[1:, 1:], axis=1) == np.arange(1, order)).all()
    assert (products[1] == np.arange(order)).all()


@pytest.mark.some(every=3)
@pytest.mark.parametrize(
    ("epsilon", "bound", "ratio"),
    [
        (0.5, 76_777, 1.0),
        (1.0, 18_035, 1.0024),
        (2.0, 3_538, 1.0007),
        (3.0, 1_071, 1.0552),
        (4.0, 372.3, 1.034),
    ],
)
def test_five_attributes_are_within_six_per_cent(epsilon: float, bound: float, ratio: float) -> None:
    survey = dt.Marginals(FIVE, epsilon=epsilon)
    assert survey.bound == pytest.approx(bound, rel=3e-4)
    assert survey.average_variance / survey.bound == pytest.approx(ratio, abs=2e-3)
    assert survey.gap <= 0.06
    assert survey.guarantee.epsilon <= epsilon


@pytest.mark.some(every=3)
@pytest.mark.parametrize("sizes", [(2, 2), (3, 2), (2, 3, 2)])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_the_bound_is_that_of_the_matrix_of_queries(sizes: tuple[int, ...], epsilon: float) -> None:
    """All cells and all tables written out: never above the bound with free multipliers, and near it."""
    cells = np.array(list(np.ndindex(*sizes)))
    rows = []
    for places in combinations(range(len(sizes)), 2):
        for codes in np.ndindex(*(sizes[place] for place in places)):
            rows.append((cells[:, places] == codes).all(axis=1).astype(float))
    gram = np.array(rows).T @ np.array(rows)
    free = lower_bound(gram, math.exp(epsilon), best_multipliers(gram, math.exp(epsilon)))
    ours = TableBound(sizes, 2, math.exp(epsilon)).best
    assert ours <= free * (1 + 1e-6)
    assert ours >= 0.8 * free


def _people(sizes: tuple[int, ...], n: int, seed: int) -> np.ndarray:
    """All cells equally often: the case of the prediction."""
    cells = np.array(list(np.ndindex(*sizes)))
    return np.random.default_rng(seed).permutation(np.tile(cells, (-(-n // len(cells)), 1))[:n])


@pytest.mark.some("sizes1-*")
@pytest.mark.parametrize(
    ("sizes", "epsilon"),
    [
        ((8, 8, 8, 8, 8), 1.0),
        ((8, 8, 8), 4.0),
        ((3, 5, 2), 1.0),
        ((4, 4, 4), 2.0),
        ((2, 2, 2), 4.0),
        ((3, 3, 3, 3), 4.0),
        ((2, 3, 10), 6.0),
        ((2, 2, 3, 2), 3.0),
    ],
)
def test_predictions_are_held_to_simulation(sizes: tuple[int, ...], epsilon: float) -> None:
    """Within 5 % beyond four standard errors of the simulation; half of the prediction is rejected."""
    survey = dt.Marginals({f"{i}": dt.Categories(k) for i, k in enumerate(sizes)}, epsilon=epsilon)
    n, runs = 32_768, 40
    rows = _people(sizes, n, 1)
    errors = []
    for run in range(runs):
        found = dt.stats.tables(survey.perturb(rows, source=dt.Seeded(run)))
        total = 0.0
        for (first, second), table in found.items():
            truth = np.zeros(np.asarray(table.value).shape)
            np.add.at(truth, (rows[:, int(first)], rows[:, int(second)]), 1 / n)
            total += float(((table.value - truth) ** 2).sum())
        errors.append(total * n / survey.average_variance)
    slack = 0.05 + 4 * float(np.std(errors)) / math.sqrt(runs)
    assert abs(np.mean(errors) - 1.0) <= slack
    assert abs(np.mean(errors) - 0.5) > slack


def test_intervals_cover_the_population() -> None:
    survey = dt.Marginals({"a": dt.Categories(4), "b": dt.Categories(4), "c": dt.Categories(2)}, epsilon=2)
    law = np.random.default_rng(1).dirichlet(np.ones(32))
    cells = np.array(list(np.ndindex(4, 4, 2)))
    covered, narrow = [], []
    for run in range(120):
        rows = cells[np.random.default_rng(run).choice(32, 5_000, p=law)]
        found = dt.stats.tables(survey.perturb(rows, source=dt.Seeded(run)))
        for places, key in (((0, 1), ("a", "b")), ((1, 2), ("b", "c"))):
            truth = np.zeros(np.asarray(found[key].value).shape)
            np.add.at(truth, (cells[:, places[0]], cells[:, places[1]]), law)
            low, high = found[key].interval()
            covered.append(((low <= truth) & (truth <= high)).mean())
            narrow.append((np.abs(found[key].value - truth) <= (high - low) / 4).mean())
    assert 0.93 <= np.mean(covered) <= 0.975
    assert np.mean(narrow) < 0.8


@pytest.mark.parametrize(("sizes", "epsilon"), [((2, 2, 2), 4.0), ((3, 3, 3, 3), 4.0)])
def test_intervals_of_margins_of_larger_tables_cover(sizes: tuple[int, ...], epsilon: float) -> None:
    """The whole profile, and triples of attributes: 95 % of the cells of unequal laws."""
    survey = dt.Marginals({f"{at}": dt.Categories(size) for at, size in enumerate(sizes)}, epsilon=epsilon)
    assert {len(places) for places, _ in survey.plan.functions} == {3}
    cells = np.array(list(np.ndindex(*sizes)))
    law = np.random.default_rng(2).dirichlet(np.ones(len(cells)))
    covered, narrow = [], []
    for run in range(100):
        rows = cells[np.random.default_rng(run).choice(len(cells), 3_000, p=law)]
        found = dt.stats.tables(survey.perturb(rows, source=dt.Seeded(run)))
        for key, table in found.items():
            truth = np.zeros(np.asarray(table.value).shape)
            np.add.at(truth, tuple(cells[:, int(name)] for name in key), law)
            low, high = table.interval()
            covered.append(((low <= truth) & (truth <= high)).mean())
            narrow.append((np.abs(table.value - truth) <= (high - low) / 4).mean())
    assert 0.935 <= np.mean(covered) <= 0.97
    assert np.mean(narrow) < 0.8


def test_the_whole_profile_is_one_category_at_large_budgets() -> None:
    """Three yes/no questions at ε = 8: two orders of magnitude, and no bound is at or below 0."""
    whole = dt.Marginals({name: dt.Categories(2) for name in "abc"}, epsilon=8)
    pairs = table_of_pairs((2, 2, 2), 8.0, 2)
    assert pairs.variance > 150 * whole.average_variance
    assert [places for places, _ in whole.plan.functions] == [(0, 1, 2)]
    assert 0.0 < whole.bound < whole.average_variance
    assert whole.gap == pytest.approx(whole.average_variance / whole.bound - 1.0)
    again = dt.from_json(whole.to_json())
    assert again.fingerprint == whole.fingerprint
    assert dt.stats.tables(again.perturb({name: [0, 1] * 50 for name in "abc"}))["a", "c"].value.shape == (
        2,
        2,
    )


def test_consistent_tables_are_possible_and_agree() -> None:
    survey = dt.Marginals({"a": dt.Categories(5), "b": dt.Categories(3), "c": dt.Categories(2)}, epsilon=0.5)
    rows = np.zeros((3_000, 3), dtype=int)
    found = dt.stats.tables(survey.perturb(rows, source=dt.Seeded(1)))
    assert min(float(np.min(table.value)) for table in found.values()) < 0
    possible = found.consistent()
    for table in possible.values():
        assert float(np.min(table.value)) >= 0
        assert float(np.sum(table.value)) == pytest.approx(1.0)
    one, two = (
        np.asarray(possible["a", "b"].value).sum(axis=1),
        np.asarray(possible["a", "c"].value).sum(axis=1),
    )
    assert one == pytest.approx(two, abs=1e-6)
    assert np.asarray(found["b", "a"].value).shape == (3, 5)
    truth = np.zeros((5, 3))
    truth[0, 0] = 1.0
    before, after = (((np.asarray(one["a", "b"].value) - truth) ** 2).sum() for one in (found, possible))
    assert after <= before


def test_single_attributes() -> None:
    survey = dt.Marginals({"a": dt.Categories(8), "b": dt.Categories(3)}, epsilon=1, way=1)
    found = dt.stats.tables(survey.perturb({"a": np.arange(4_000) % 8, "b": np.arange(4_000) % 3}))
    assert np.asarray(found["a"].value).shape == (8,)
    assert survey.gap <= 0.06


def test_reports_travel_and_impossible_ones_do_not() -> None:
    survey = dt.Marginals({"a": dt.Categories(4), "b": dt.Categories(["x", "y", "z"])}, epsilon=1)
    reports = survey.perturb({"a": [0, 1, 2, 3] * 50, "b": ["x", "y", "z", "x"] * 50})
    assert dt.from_bytes(reports.to_bytes()) == reports
    again = dt.from_json(survey.to_json())
    assert again.design() == survey
    assert again.fingerprint == survey.fingerprint
    width = survey.question.layout.shape[0]
    for raw in ([[-1] + [0] * (width - 1)], [[99] + [0] * (width - 1)], [[0] * (width + 1)], [0]):
        with pytest.raises(MalformedReport):
            survey.reports(raw)
    summary = dt.Counts.of(reports)
    halves = dt.Counts.of(reports[:100]) + dt.Counts.of(reports[100:])
    assert summary == halves
    assert dt.audit(survey).ok


def test_what_is_not_a_survey() -> None:
    for attributes in ({}, {"a": dt.Categories(2)}, {"a": 3, "b": 4}, [dt.Categories(2)] * 2):
        with pytest.raises(InvalidParameter):
            dt.Marginals(attributes, epsilon=1)
    with pytest.raises(InvalidParameter, match="way"):
        dt.Marginals(FIVE, epsilon=1, way=3)
    survey = dt.Marginals({"a": dt.Categories(4), "b": dt.Categories(3)}, epsilon=1)
    for values in ({"a": [1]}, {"a": [1], "b": [3]}, {"a": [1, 2], "b": [0]}, [[1]]):
        with pytest.raises(OutsideDomain):
            survey.perturb(values)
    with pytest.raises(NotIdentifiable):
        dt.stats.tables(survey.reports([]))
    with pytest.raises(InvalidParameter, match="Marginals"):
        dt.stats.tables(dt.KRR(dt.Categories(3), epsilon=1).perturb([0, 1]))
    with pytest.raises(InvalidParameter, match="ε"):
        replace(survey.question, epsilon=0.5, made_by=None)


@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 3, 3, 3)])
def test_no_bound_is_negative_and_none_is_above_a_mechanism_that_exists(sizes: tuple[int, ...]) -> None:
    """At ε = 8 the bound of three yes-or-no questions was −0.0013, hidden as a gap of 0 %."""
    domain = dt.Profile({f"q{place}": dt.Categories(size) for place, size in enumerate(sizes)})
    asked = dt.Marginals(domain, epsilon=8)
    rows = np.array(list(np.ndindex(*sizes)))
    whole = dt.KRR(dt.Categories(len(rows)), epsilon=8)
    p, q = (float(rate) for rate in whole.question.kernel.rates)
    known = 0.0  # the whole profile as one category, for people spread evenly
    for table in combinations(range(len(sizes)), 2):
        for cell in np.ndindex(*(sizes[place] for place in table)):
            inside = np.all(rows[:, table] == cell, axis=1)
            count = int(inside.sum())
            for share, own in ((count / len(rows), p + (count - 1) * q), (1 - count / len(rows), count * q)):
                known += share * own * (1.0 - own) / (p - q) ** 2
    assert 0.0 < asked.bound <= known
    assert asked.average_variance == pytest.approx(known, rel=1e-9)
    assert asked.gap == pytest.approx(known / asked.bound - 1.0)
    why = dt.recommend(domain, dt.goals.Tables(n=1000), epsilon=8)[0]["why"]
    assert "at most 0 %" not in why


def test_a_plan_may_ask_nobody_about_a_subset() -> None:
    """A subset of weight 0 is in this plan: the tables are margins of the other subsets."""
    sizes = {"age": 5, "products": 4, "active": 2, "balance": 6, "left": 2}
    survey = dt.Marginals({name: dt.Categories(size) for name, size in sizes.items()}, epsilon=4)
    assert min(survey.plan.weights) < 1e-6
    people = {name: np.arange(3_000) % size for name, size in sizes.items()}
    tables = dt.stats.tables(survey.perturb(people, source=dt.Seeded(1)))
    assert len(tables) == 10
    assert np.abs(np.asarray(tables["active", "left"].value) - [[0.5, 0], [0, 0.5]]).max() < 0.1


def test_a_share_of_the_people_is_asked_about_one_attribute() -> None:
    survey = dt.Marginals(FIVE, epsilon=1, one_way=0.3)
    weights = [
        (len(held), weight)
        for (held, _), weight in zip(survey.plan.functions, survey.plan.weights, strict=True)
    ]
    assert sum(weight for size, weight in weights if size == 1) == pytest.approx(0.3)
    assert sum(weight for _, weight in weights) == pytest.approx(1.0)
    assert dt.from_json(survey.to_json()).guarantee == survey.guarantee
    codes = np.random.default_rng(1).beta(2, 4, 20_000) * 8
    people = {name: codes.astype(int) for name in FIVE}
    truth = np.bincount(people["a"], minlength=8) / 20_000
    errors = []
    for design in (survey, dt.Marginals(FIVE, epsilon=1)):
        rows = dt.rows(design.perturb(people, source=dt.Seeded(1)), 20_000, seed=1)
        errors.append(sum(np.abs(rows.shares(name) - truth).sum() for name in FIVE))
    assert errors[0] < 0.9 * errors[1]
    for wrong in (0.0, 1.0, -0.1, math.nan, True, "0.3"):
        with pytest.raises(InvalidParameter, match="one_way"):
            dt.Marginals(FIVE, epsilon=1, one_way=wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="one_way"):
        dt.Marginals(FIVE, epsilon=1, way=1, one_way=0.3)
    with pytest.raises(InvalidParameter, match="leave it out"):
        dt.Marginals({"a": dt.Categories(90), "b": dt.Categories(2)}, epsilon=1, one_way=0.3)


def test_advice_for_rows_simulates_both() -> None:
    profile = dt.Profile(FIVE)
    goal = dt.goals.Tables(n=20_000, rows=True)
    assert dt.recommend(profile, goal, epsilon=0.5)[0]["mechanism"] == "Marginals(one_way=0.3)"
    assert dt.recommend(profile, goal, epsilon=4)[0]["mechanism"] == "Marginals"


@pytest.mark.parametrize(
    ("sizes", "epsilon", "asked"),
    [
        ((3, 4, 3), 4.0, {3}),
        ((3, 4, 2), 1.0, {2}),
        pytest.param((8,) * 5, 1.0, {1, 2}, marks=pytest.mark.slow),
    ],
)
def test_tables_have_labels_shares_within_rows_and_a_test(
    sizes: tuple[int, ...], epsilon: float, asked: set[int]
) -> None:
    """By lines, by pairs and by triples: the intervals hold, and a true hypothesis is seldom refused."""
    names = "abcde"[: len(sizes)]
    labels = [[f"{name}{at}" for at in range(size)] for name, size in zip(names, sizes, strict=True)]
    parts = {name: dt.Categories(own) for name, own in zip(names, labels, strict=True)}
    survey = dt.Marginals(parts, epsilon=epsilon)
    assert {len(held) for held, _ in survey.plan.functions} == asked
    random = np.random.default_rng(1)
    laws = [random.dirichlet(np.full(size, 3.0)) for size in sizes]
    covered, refused, n = [], [], 20_000
    for run in range(30):
        draws = np.random.default_rng(run)
        rows = {own[0][0]: draws.choice(own, n, p=law) for own, law in zip(labels, laws, strict=True)}
        found = dt.stats.tables(survey.perturb(rows, source=dt.Seeded(run)))
        table = found["a", "b"]
        low, high = table.within_rows().interval()
        covered.append(((low <= laws[1]) & (laws[1] <= high)).mean())
        refused.append(table.independence().p_value < 0.05)
    assert 0.92 <= np.mean(covered) <= 0.99  # an interval without an end holds every share
    assert np.mean(refused) <= 0.2  # of 30
    assert (list(table.rows), list(table.columns)) == (labels[0], labels[1])
    assert table["a1", "b2"].value == np.asarray(table.value)[1, 2]
    turned = found["b", "a"]
    assert turned["b2", "a1"].value == table["a1", "b2"].value
    assert pytest.approx(np.asarray(table.within_rows().value)) == np.asarray(turned.within_columns().value).T
    assert turned.independence().statistic == pytest.approx(table.independence().statistic)
    rows = {name: np.tile(column, 10) for name, column in rows.items()}
    rows["b"] = np.where(draws.random(10 * n) < 0.4, np.char.replace(rows["a"], "a", "b"), rows["b"])
    rows["b"] = np.where(np.isin(rows["b"], labels[1]), rows["b"], "b0")
    depends = dt.stats.tables(survey.perturb(rows, source=dt.Seeded(99)))["a", "b"]
    assert depends.independence().p_value < 1e-3
    with pytest.raises(InvalidParameter, match="shares of the table itself"):
        depends.within_rows().within_columns()


def test_shares_within_rows_of_consistent_tables() -> None:
    survey = dt.Marginals({"a": dt.Categories(3), "b": dt.Categories(["x", "y"])}, epsilon=2)
    rows = {"a": np.arange(6_000) % 3, "b": np.where(np.arange(6_000) % 3 == 0, "x", "y")}
    possible = dt.stats.tables(survey.perturb(rows, source=dt.Seeded(3))).consistent()
    within = possible["a", "b"].within_rows()
    assert np.asarray(within.value).sum(axis=1) == pytest.approx(np.ones(3))
    assert within[0, "x"].value > 0.9
    single = dt.Marginals({"a": dt.Categories(3), "b": dt.Categories(["x", "y"])}, epsilon=2, way=1)
    assert dt.stats.tables(single.perturb(rows, source=dt.Seeded(3)))["b"]["x"].covers(1 / 3, 0.999)


def test_many_attributes_are_planned_without_listing_all_profiles() -> None:
    """Eight attributes of six levels have 1.7 million profiles, and forty of two 10^12."""
    assert [_cells_of_subsets((2, 3, 4), count) for count in (1, 2, 3)] == [9, 26, 24]
    tracemalloc.start()
    try:
        survey = dt.Marginals({f"a{at}": dt.Categories(6) for at in range(8)}, epsilon=2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20e6  # bytes
    assert len(survey.plan.functions) == 8 + 28 * 6  # directions of the field of seven elements
    many = dt.Marginals({f"a{at}": dt.Categories(2) for at in range(40)}, epsilon=1)
    assert len(many.perturb({f"a{at}": [0, 1] for at in range(40)})) == 2
