"""Each and Sampled: columns in, reports by attribute out, and guarantees that add up or do not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dither as dt
from dither import results
from dither.core.question import Answering
from dither.errors import InvalidParameter, MalformedReport, Mismatch, OutsideDomain
from dither.privacy import Pure
from tests.support.chi_square import ALARM

AGE = dt.Podium(dt.Interval(18, 100), epsilon=1)
BMI = dt.Duchi(dt.Interval(10, 60), epsilon=0.5)
EACH = dt.Each(age=AGE, bmi=BMI)
ONE = dt.Sampled(age=AGE, bmi=BMI)
DATA = {"age": np.array([20.0, 40.0, 60.0]), "bmi": np.array([20.0, 30.0, 40.0])}


def test_guarantees_add() -> None:
    exact = Fraction(AGE.guarantee.epsilon) + Fraction(BMI.guarantee.epsilon)
    assert exact <= Fraction(EACH.guarantee.epsilon) <= exact + Fraction(1, 1 << 50)
    assert EACH.guarantee.unit == "record"


def test_one_drawn_attribute_costs_the_dearest() -> None:
    assert ONE.guarantee.bound == AGE.guarantee.bound
    assert ONE.guarantee.unit == "record"


def test_the_law_of_a_drawn_attribute_is_as_private_as_it_says() -> None:
    """By the exact probabilities of (attribute, report) for all pairs of extreme records."""
    small = dt.Sampled(
        age=dt.Podium(dt.Interval(0, 1), epsilon=1, cells=16), bmi=dt.Duchi(dt.Interval(0, 1), epsilon=2)
    )
    laws = [
        [p / 2 for p in small["age"].probabilities(first)]
        + [p / 2 for p in small["bmi"].probabilities(second)]
        for first in (0.0, 1.0)
        for second in (0.0, 1.0)
    ]
    worst = max(a / b for one in laws for two in laws for a, b in zip(one, two, strict=True))
    assert np.log(float(worst)) == pytest.approx(small.guarantee.epsilon, rel=1e-12)


def columns_of(data: dict[str, np.ndarray]) -> list[object]:
    structured = np.zeros(3, dtype=[("bmi", float), ("age", float), ("other", float)])
    structured["age"], structured["bmi"] = data["age"], data["bmi"]
    table = np.stack([data["age"], data["bmi"]], axis=1)
    return [
        data,
        {**data, "name": ["x", "y", "z"]},
        structured,
        table,
        table.tolist(),
        tuple(map(tuple, table)),
    ]


def test_columns_by_name_and_by_position() -> None:
    first = EACH.perturb(DATA, source=dt.Seeded(1))
    for data in columns_of(DATA):
        again = EACH.perturb(data, source=dt.Seeded(1))
        assert all(again[name] == first[name] for name in EACH)
    assert first["age"] == AGE.perturb(DATA["age"], source=dt.Seeded(1))


@pytest.mark.parametrize("frame", ["pandas", "polars", "pyarrow"])
def test_dataframes(frame: str) -> None:
    module = pytest.importorskip(frame)
    make = module.table if frame == "pyarrow" else module.DataFrame
    found = EACH.perturb(make({name: column.tolist() for name, column in DATA.items()}), source=dt.Seeded(1))
    assert found["bmi"] == EACH.perturb(DATA, source=dt.Seeded(1))["bmi"]
    with pytest.raises(OutsideDomain, match="a column 'bmi'"):
        EACH.perturb(make({"age": [20.0]}))


def test_one_person_is_a_row() -> None:
    records = EACH.perturb([30.0, 25.0])
    assert np.asarray(records).shape == (2,)
    assert records.n == 1
    assert ONE.perturb([30.0, 25.0]).n == 1


def test_records() -> None:
    records = EACH.perturb(DATA)
    assert list(records) == ["age", "bmi"]
    assert records.n == 3
    assert np.asarray(records).shape == (3, 2)
    assert np.array_equal(np.asarray(records)[:, 1], records["bmi"].values)
    twice = results.Records.concatenate([records, EACH.perturb(DATA)])
    assert twice.n == len(twice["age"]) == 6
    with pytest.raises(InvalidParameter, match="there are age, bmi"):
        records["income"]
    with pytest.raises(Mismatch):
        results.Records.concatenate([records, ONE.perturb(DATA)])


def test_reports_from_outside() -> None:
    records = EACH.perturb(DATA)
    again = EACH.reports({name: records[name].cells for name in records})
    assert all(again[name] == records[name] for name in records)
    with pytest.raises(MalformedReport):
        EACH.reports({"age": [1, 2], "bmi": [1]})
    with pytest.raises(MalformedReport):
        EACH.reports({"age": [1]})
    with pytest.raises(MalformedReport):
        EACH.reports({"age": [1], "bmi": [2]})
    assert ONE.reports({"age": [1, 2], "bmi": [1]}).n == 3


def test_everybody_draws_one_attribute_uniformly() -> None:
    n = 60_000
    three = dt.Sampled(a=BMI, b=BMI, c=AGE)
    data = {"a": np.full(n, 30.0), "b": np.full(n, 40.0), "c": np.full(n, 50.0)}
    records = three.perturb(data, source=dt.Seeded(3))
    counts = [len(records[name]) for name in records]
    assert sum(counts) == records.n == n
    assert stats.chisquare(counts).pvalue > ALARM
    assert np.bincount(records.chosen).tolist() == counts
    uneven = dt.Seeded(3).choices((34, 33, 33), n)  # a draw that favours one attribute by a hundredth
    assert stats.chisquare(np.bincount(uneven, minlength=3), np.array([34, 33, 33]) / 100 * n).pvalue > ALARM
    lopsided = dt.Seeded(3).choices((36, 32, 32), n)
    assert stats.chisquare(np.bincount(lopsided, minlength=3)).pvalue < ALARM


def test_estimates_from_those_who_drew_the_attribute_are_unbiased() -> None:
    n = 40_000
    ages = np.linspace(18, 100, n)
    records = ONE.perturb({"age": ages, "bmi": np.linspace(10, 20, n)}, source=dt.Seeded(4))
    for name, truth in (("age", 59.0), ("bmi", 15.0)):
        values = records[name].values
        assert abs(values.mean() - truth) < 5 * values.std() / np.sqrt(values.size)


def test_labels_and_places_are_columns_too() -> None:
    mixed = dt.KRR(dt.Categories(["1", 1, None]), epsilon=20)
    place = dt.PlanarLaplace(dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1)), epsilon=20)
    data = {"mark": ["1", 1, None, 1], "home": np.full((4, 2), 0.5)}
    for question in (dt.Each(mark=mixed, home=place), dt.Sampled(mark=mixed, home=place)):
        records = question.perturb(data, source=dt.Seeded(6))
        assert records.n == 4
        assert records["home"].values.shape == (len(records["home"]), 2)
    records = dt.Each(mark=mixed).perturb(data, source=dt.Seeded(6))
    assert records["mark"].values.tolist() == data["mark"]  # at ε = 20 nobody lies
    device = dt.Memoised(mixed, bytes(32), name="mark").perturb(data["mark"])
    assert device.cells[1] == device.cells[3]
    home = dt.Memoised(place, bytes(32), name="home").perturb(data["home"][:, None])
    assert np.array_equal(home.cells[0], home.cells[1])
    with pytest.raises(InvalidParameter, match="one by one"):
        np.asarray(dt.Each(mark=mixed, home=place).perturb(data))
    with pytest.raises(OutsideDomain, match="mark: expected answers among"):
        dt.Each(mark=mixed).perturb({"mark": ["2"]})


@given(st.floats(1e-3, 40.0), st.lists(st.floats(0.1, 10.0), min_size=1, max_size=6))
def test_a_split_budget_is_never_exceeded(epsilon: float, weights: list[float]) -> None:
    names = [f"part{place}" for place in range(len(weights))]
    split = dt.Each.split(
        epsilon, weights=dict(zip(names, weights, strict=True)), **dict.fromkeys(names, BMI)
    )
    assert split.guarantee.epsilon <= epsilon
    assert sum(Fraction(part.epsilon) for part in split.parts.values()) <= Fraction(epsilon)
    assert split.guarantee.epsilon == pytest.approx(epsilon, rel=1e-6)


def test_budgets_divide_and_change() -> None:
    even = dt.Each.split(2, age=AGE, bmi=BMI.at)
    assert [even[name].epsilon for name in even] == [1.0, 1.0]
    assert dt.Each.split(3, age=AGE, bmi=BMI, weights={"age": 2, "bmi": 1})["age"].epsilon == 2.0
    assert EACH.at(3)["age"].epsilon == pytest.approx(2.0)
    assert EACH.at(3).guarantee.epsilon <= 3.0
    assert ONE.at(2)["bmi"].epsilon == 2.0
    assert isinstance(dt.Each(x=AGE, y=dt.Memoised(BMI, bytes(32), name="bmi")).at(1)["y"], dt.Memoised)


def test_equal_questions_are_equal() -> None:
    assert dt.Each(age=AGE, bmi=BMI) == EACH
    assert hash(dt.Each(age=AGE, bmi=BMI)) == hash(EACH)
    assert dt.Each(bmi=BMI, age=AGE) != EACH
    assert EACH != ONE
    assert EACH.fingerprint != ONE.fingerprint
    assert "Podium on [18, 100]" in EACH.describe()
    assert dt.Each({"blood pressure": AGE}).guarantee.bound == AGE.guarantee.bound


@pytest.mark.parametrize(
    "data",
    [
        {"age": [20.0]},
        {"age": [20.0, 30.0], "bmi": [20.0]},
        {"age": [17.0], "bmi": [20.0]},
        {"age": ["x"], "bmi": [20.0]},
        [[20.0]],
        np.zeros((3, 3)),
        5.0,
        None,
        "age",
    ],
)
@pytest.mark.parametrize("question", [EACH, ONE])
def test_bad_data_is_refused(question: dt.Each | dt.Sampled, data: object) -> None:
    with pytest.raises(OutsideDomain):
        question.perturb(data)


def test_an_error_names_the_column_and_not_the_value() -> None:
    with pytest.raises(OutsideDomain, match=r"^bmi: ") as caught:
        EACH.perturb({"age": [20.0], "bmi": [61.25]})
    assert "61" not in str(caught.value)


@pytest.mark.parametrize(
    "make",
    [
        dt.Each,
        lambda: dt.Each(age=1),
        lambda: dt.Sampled(age="Podium"),
        lambda: dt.Each.split(1),
        lambda: dt.Each.split(1, weights={"age": 1}, age=AGE, bmi=BMI),
        lambda: dt.Each.split(1, weights={"age": 0}, age=AGE),
        lambda: dt.Each.split(-1, age=AGE),
        lambda: dt.Each.split(1, age=3),
        lambda: dt.Each.split(1, age=lambda epsilon: epsilon),
        lambda: EACH["income"],
        lambda: EACH.perturb(DATA, source=7),
    ],
)
def test_bad_parameters_are_refused(make: object) -> None:
    with pytest.raises(InvalidParameter):
        make()  # type: ignore[operator]


def test_what_has_no_bound_leaves_none() -> None:
    class Open(Answering):
        """Something without a promise."""

        domain = AGE.domain
        guarantee = dt.privacy.Guarantee(dt.privacy.Nothing("it is sent in the clear"))
        device = describe = None  # type: ignore[assignment]

    assert isinstance(dt.Each(age=AGE, name=Open()).guarantee.bound, dt.privacy.Nothing)
    assert dt.Each(age=AGE).guarantee.bound == Pure(AGE.guarantee.epsilon)
