"""`dt.rows`: synthetic rows from reports of several attributes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.rows import SyntheticRows, _draw_rows, pair_tables
from tests.support.repository import DATA

Table = np.ndarray


def chain(seed: int, levels: int, columns: int, strength: float, n: int) -> Table:
    """Return a table whose columns depend on an earlier one each, with a given probability."""
    random = np.random.default_rng(seed)
    table = np.empty((n, columns), dtype=np.int64)
    table[:, 0] = random.choice(levels, n, p=random.dirichlet(np.full(levels, 2.0)))
    for column in range(1, columns):
        parent = table[:, random.integers(column)]
        turned = random.permutation(levels)[parent]
        noise = random.choice(levels, n, p=random.dirichlet(np.full(levels, 2.0)))
        table[:, column] = np.where(random.random(n) < strength, turned, noise)
    return table


def ask(table: Table, sizes: list[int], epsilon: float, seed: int) -> dt.Reports:
    names = [f"a{at}" for at in range(table.shape[1])]
    survey = dt.Marginals(
        {name: dt.Categories(size) for name, size in zip(names, sizes, strict=True)}, epsilon=epsilon
    )
    values = {name: table[:, at] for at, name in enumerate(names)}
    return survey.perturb(values, source=dt.Seeded(seed))


def distance(table: Table, made: SyntheticRows, sizes: list[int]) -> float:
    """Return the mean L1 distance of the tables of three attributes, of the truth and of rows."""
    drawn = np.column_stack(list(made.codes.values()))
    gaps = []
    for places in combinations(range(table.shape[1]), 3):
        shape = [sizes[place] for place in places]
        shares = [
            np.bincount(np.ravel_multi_index(part[:, places].T, shape), minlength=np.prod(shape)) / len(part)
            for part in (table, drawn)
        ]
        gaps.append(float(np.abs(shares[0] - shares[1]).sum()))
    return float(np.mean(gaps))


def independent(made: SyntheticRows, seed: int) -> SyntheticRows:
    """Return rows with the same estimated shares of single attributes, and no dependence."""
    alone = replace(made.source, pairs={}, errors={})
    return _draw_rows(alone, made.count, np.random.default_rng(seed))


def ratio(table: Table, sizes: list[int], epsilon: float, seed: int, n: int = 100_000) -> float:
    """Return the distance of rows from the truth, over that of independent columns."""
    made = dt.rows(ask(table, sizes, epsilon, seed), n, seed=seed)
    if not made.kept:
        return 1.0
    return distance(table, made, sizes) / distance(table, independent(made, seed), sizes)


def twenty() -> Mapping[str, tuple[Table, list[int]]]:
    """Return twenty tables, most of which are hard: no dependence, or one that pairs do not show."""
    random, n = np.random.default_rng(7), 50_000
    first, second, coin = random.integers(0, 2, (3, n))
    four, thirty = random.integers(0, 4, n), random.integers(0, 30, n)
    skew = [random.choice(6, n, p=random.dirichlet(np.ones(6))) for _ in range(4)]
    zipf = np.minimum(random.zipf(1.6, n) - 1, 19)
    rare = (random.random((n, 2)) < 0.01).astype(int)
    both = (random.random(n) < 0.02).astype(int)
    zero = np.zeros(n, dtype=int)

    def other(levels: int) -> Table:
        return random.integers(0, levels, n)

    def noisy(column: Table, share: float, levels: int) -> Table:
        return np.where(random.random(n) < share, column, other(levels))

    def table(*columns: Table) -> Table:
        return np.column_stack(columns)

    return {
        "independent": (random.integers(0, 8, (n, 5)), [8] * 5),
        "independent, skewed": (table(*skew), [6] * 4),
        "XOR of three": (table(first, second, first ^ second), [2] * 3),
        "XOR and two": (table(first, second, first ^ second, other(2), other(3)), [2, 2, 2, 2, 3]),
        "two levels": (table(coin, noisy(coin, 0.8, 2), noisy(coin, 0.4, 2)), [2] * 3),
        "a constant column": (table(zero, other(4), other(4)), [3, 4, 4]),
        "a constant and a pair": (table(zero, four, noisy(four, 0.8, 4)), [3, 4, 4]),
        "k = 30": (table(thirty, (thirty + other(3)) % 30, other(30)), [30] * 3),
        "k = 30, independent": (random.integers(0, 30, (n, 3)), [30] * 3),
        "weak": (table(four, noisy(four, 0.05, 4), other(4), other(4)), [4] * 4),
        "all equal": (table(four, four, four, four), [4] * 4),
        "mixed sizes": (table(other(2), thirty % 3, thirty // 3, other(20)), [2, 3, 10, 20]),
        "Zipf": (table(zipf, zipf // 2, other(5)), [20, 10, 5]),
        "rare": (table(rare[:, 0], rare[:, 1], other(2)), [2] * 3),
        "rare and equal": (table(both, both, other(5)), [2, 2, 5]),
        **{f"chain {at}": (chain(50 + at, 4 + at, 4, 0.1 + 0.15 * at, n), [4 + at] * 4) for at in range(5)},
    }


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1, 2, 4])
def test_rows_are_never_worse_than_independent_columns(epsilon: float) -> None:
    tables = twenty()
    assert len(tables) == 20
    found = {name: ratio(*given, epsilon, seed) for name, given in tables.items() for seed in (1,)}
    again = {name: ratio(*given, epsilon, 2) for name, given in tables.items()}
    assert {name: value for name, value in [*found.items(), *again.items()] if value > 1.0} == {}
    if epsilon == 4:
        assert found["all equal"] < 0.1
        assert found["two levels"] < 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "goal"), [(2, 0.60), (4, 0.20)])
def test_three_way_tables_reach_the_goal(epsilon: float, goal: float) -> None:
    found = [ratio(chain(seed, 8, 5, 0.6, 100_000), [8] * 5, epsilon, seed, 200_000) for seed in range(6)]
    print(f"ε = {epsilon}: {np.mean(found):.3f} of independence ({min(found):.3f} – {max(found):.3f})")
    assert np.mean(found) <= goal


BANK = DATA / "qcu_bank_normalized.csv.gz"


@pytest.mark.slow
@pytest.mark.skipif(not BANK.is_file(), reason="needs the papers' data: DITHER_DATA=/folder")
def test_classifiers_that_are_trained_on_rows() -> None:
    """Areas under the curve on the bank's table, trained on rows and on the truth: docs/attributes.md."""
    pandas = pytest.importorskip("pandas")
    linear, metrics = pytest.importorskip("sklearn.linear_model"), pytest.importorskip("sklearn.metrics")
    frame = pandas.read_csv(BANK).clip(0, 1)
    columns = ["Age", "NumOfProducts", "IsActiveMember", "Balance", "Exited"]
    codes = {}
    for name in columns:
        few = frame[name].nunique() <= 4
        binned = frame[name].to_numpy() if few else np.minimum((frame[name] * 6).astype(int), 5)
        codes[name] = np.unique(binned, return_inverse=True)[1]
    sizes = {name: int(column.max()) + 1 for name, column in codes.items()}
    known = np.random.default_rng(0).random(len(frame)) < 0.8

    def area(table: Mapping[str, Table]) -> float:
        def features(part: Mapping[str, Table]) -> Table:
            return np.column_stack([np.eye(sizes[name])[part[name]] for name in columns[:-1]])

        model = linear.LogisticRegression(max_iter=1_000).fit(features(table), table["Exited"])
        tested = {name: column[~known] for name, column in codes.items()}
        return float(metrics.roc_auc_score(tested["Exited"], model.predict_proba(features(tested))[:, 1]))

    truth = {name: column[known] for name, column in codes.items()}
    print(f"trained on the truth: {area(truth):.2f}")
    survey = dt.Marginals({name: dt.Categories(size) for name, size in sizes.items()}, epsilon=4)
    for times, least in ((1, 0.6), (5, 0.77)):
        people = {name: np.tile(column, times) for name, column in truth.items()}
        found = [
            area(dt.rows(survey.perturb(people, source=dt.Seeded(seed)), 20_000, seed=seed).codes)
            for seed in range(6)
        ]
        print(f"{len(people['Age'])} people, ε = 4: {np.mean(found):.2f}")
        assert least < np.mean(found) < area(truth) + 0.01


@pytest.mark.slow
def test_ten_attributes_take_less_than_ten_seconds() -> None:
    reports = ask(chain(3, 6, 10, 0.5, 100_000), [6] * 10, 2, 1)
    begin = time.process_time()
    made = dt.rows(reports, 100_000, copies=20, seed=1)
    assert time.process_time() - begin < 10.0
    assert len(made.kept) + len(made.implied) + len(made.lost) == 45


@pytest.fixture(scope="module")
def told() -> dt.Reports:
    return ask(chain(1, 4, 3, 0.7, 40_000), [4] * 3, 3, 5)


def test_rows_have_the_estimated_shares(told: dt.Reports) -> None:
    made = dt.rows(told, 20_000, seed=1)
    tables = dt.stats.tables(told)
    assert made.count == 20_000
    assert list(made) == ["a0", "a1", "a2"]
    for name in made:
        expected = np.maximum(made.source.margins[name], 0.0)
        assert np.abs(made.shares(name) - expected / expected.sum()).max() < 0.01
    for pair in made.kept:
        assert np.abs(made.shares(*pair) - np.asarray(tables[pair].value)).sum() < 0.12
    truth = chain(1, 4, 3, 0.7, 40_000)
    assert distance(truth, made, [4] * 3) < 0.6 * distance(truth, independent(made, 1), [4] * 3)
    assert sorted([*made.kept, *made.implied, *made.lost]) == sorted(combinations(made, 2))
    assert made.guarantee == told.question.guarantee


def test_a_seed_repeats_rows_and_no_seed_does_not(told: dt.Reports) -> None:
    first, second = (dt.rows(told, 500, seed=3) for _ in range(2))
    assert first.records() == second.records()
    assert dt.rows(told, 500).records() != dt.rows(told, 500).records()


def test_the_result_says_what_it_is(told: dt.Reports) -> None:
    made = dt.rows(told, 1_000, seed=1)
    text = repr(made)
    assert "synthetic rows" in text
    assert "ε ≤ 3" in text
    assert "lost (not distinguishable from chance)" in text
    assert "standard errors computed from rows are wrong" in text
    assert 0 < made.one_way_error < made.two_way_error < 1
    assert made.records()[0].keys() == {"a0", "a1", "a2"}
    frame = pytest.importorskip("pandas") and made.to_frame()
    assert list(frame.columns) == ["a0", "a1", "a2"]
    assert len(frame) == 1_000
    arrow = pytest.importorskip("pyarrow").table(made)
    assert arrow.to_pylist() == made.records()
    assert pytest.importorskip("polars").DataFrame(made).to_dicts() == made.records()
    measured = made.measurements()
    assert [names for names, _, _ in measured][:4] == [("a0",), ("a1",), ("a2",), ("a0", "a1")]
    assert all(values.size == 4 ** len(names) and error > 0 for names, values, error in measured)


@pytest.mark.slow
def test_copies_give_the_standard_error() -> None:
    """The spread of a share over copies is about its spread over surveys, which rows alone do not show."""
    table = chain(1, 4, 3, 0.7, 10_000)

    def first_share(made: SyntheticRows) -> float:
        return float(made.shares("a0")[0])

    made = dt.rows(ask(table, [4] * 3, 1, 0), 10_000, copies=40, seed=1)
    stated = made.error(first_share)
    surveys = [first_share(dt.rows(ask(table, [4] * 3, 1, seed), 10_000, seed=1)) for seed in range(40)]
    assert 0.6 < stated / np.std(surveys) < 1.8
    share = first_share(made)
    assert stated > 2 * np.sqrt(share * (1 - share) / made.count)  # what rows seem to say
    with pytest.raises(InvalidParameter, match="copies=20"):
        dt.rows(ask(table, [4] * 3, 1, 0), 100).error(first_share)


def test_independent_columns_lose_nothing_and_say_so() -> None:
    table = np.random.default_rng(1).integers(0, 4, (20_000, 3))
    made = dt.rows(ask(table, [4] * 3, 1, 2), 1_000)
    assert made.kept == ()
    assert len(made.lost) == 3


def test_rows_of_each() -> None:
    random = np.random.default_rng(2)
    pet = random.choice(["cat", "dog", "none"], 20_000)
    home = np.where(random.random(20_000) < 0.7, np.where(pet == "dog", "house", "flat"), "boat")
    both = dt.Each(
        pet=dt.KRR(dt.Nullable(dt.Categories(["cat", "dog"])), epsilon=3),
        home=dt.KRR(dt.Categories(["house", "flat", "boat"]), epsilon=3),
    )
    records = both.perturb({"pet": [None if name == "none" else name for name in pet], "home": home})
    made = dt.rows(records, 5_000, seed=1)
    assert made.kept == (("pet", "home"),)
    assert None in made["pet"]  # no answer is a category
    assert made.guarantee.epsilon == pytest.approx(6.0)
    houses = [place for animal, place in zip(made["pet"], made["home"], strict=True) if animal == "dog"]
    assert 0.6 < houses.count("house") / len(houses) < 0.8


def test_what_has_no_rows_is_refused(told: dt.Reports) -> None:
    for wrong in (0, -1, 1.5, True, 10**9):
        with pytest.raises(InvalidParameter, match="expected n to be an integer"):
            dt.rows(told, wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="copies"):
        dt.rows(told, 10, copies=-1)
    with pytest.raises(InvalidParameter, match=r"dt\.Marginals"):
        dt.rows([1, 2], 10)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="Marginals"):
        dt.rows(dt.KRR(dt.Categories(3), epsilon=1).perturb([0, 1]), 10)
    ages = dt.Each(age=dt.Podium(dt.Interval(0, 1), epsilon=1), pet=dt.KRR(dt.Categories(2), epsilon=1))
    with pytest.raises(InvalidParameter, match="in bins"):
        dt.rows(ages.perturb({"age": [0.5] * 9, "pet": [0, 1, 1] * 3}), 10)
    one = dt.Sampled(a=dt.KRR(dt.Categories(2), epsilon=1), b=dt.KRR(dt.Categories(2), epsilon=1))
    with pytest.raises(NotIdentifiable, match="one attribute"):
        dt.rows(one.perturb({"a": [0, 1], "b": [0, 1]}), 10)


def test_single_tables_make_independent_rows() -> None:
    table = chain(1, 4, 3, 0.7, 5_000)
    survey = dt.Marginals({f"a{at}": dt.Categories(4) for at in range(3)}, epsilon=2, way=1)
    reports = survey.perturb({f"a{at}": table[:, at] for at in range(3)})
    made = dt.rows(reports, 500)
    assert made.kept == made.lost == ()
    assert "two-way" not in repr(made)
    assert pair_tables(reports).pairs == {}
