"""Utility of records with categories, for classifiers that encode text."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import dither as dt

pytest.importorskip("sklearn")
pandas = pytest.importorskip("pandas")

from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from dither.errors import Infeasible, OutsideDomain
from dither.extensions.classifiers.feature_law import feature_law

AGE, TEAM, SIZE = dt.Interval(18, 100), dt.Categories(["red", "blue"]), dt.Categories(["s", "m", "l"])
BOTH = dt.Each(team=dt.KRR(TEAM, epsilon=1), size=dt.KRR(SIZE, epsilon=2))
ALL = dt.Each(age=dt.OGPM(AGE, epsilon=3), team=dt.KRR(TEAM, epsilon=1), size=dt.KRR(SIZE, epsilon=2))


def people(n: int) -> Any:
    random = np.random.default_rng(1)
    left = random.random(n) < 0.5
    age = np.clip(random.normal(np.where(left, 60, 40), 12), 18, 100)
    team = np.where(random.random(n) < np.where(left, 0.9, 0.1), "red", "blue")
    return pandas.DataFrame({"age": age, "team": team, "size": random.choice(SIZE.labels, n)}), left


FRAME, LEFT = people(400)
LINE = make_pipeline(
    make_column_transformer((OneHotEncoder(), ["team", "size"]), (StandardScaler(), ["age"])),
    LogisticRegression(),
).fit(FRAME, LEFT)
TREE = make_pipeline(
    make_column_transformer((OrdinalEncoder(), ["team", "size"]), remainder="passthrough"),
    DecisionTreeClassifier(max_depth=4, random_state=0),
).fit(FRAME, LEFT)


def kept_by_hand(model: Any, row: Any, asked: dt.Each) -> float:
    """Sum the probabilities of all pairs of categories for which the answer stays."""
    own, total = model.predict(row.to_frame().T)[0], 0.0
    for team, size in product(TEAM.labels, SIZE.labels):
        chance = 1.0
        for name, label in (("team", team), ("size", size)):
            part: Any = asked[name]
            chance *= float(part.probabilities(row[name])[part.domain.labels.index(label)])
        changed = row.copy()
        changed["team"], changed["size"] = team, size
        total += chance * (model.predict(changed.to_frame().T.infer_objects())[0] == own)
    return total


@pytest.mark.parametrize("model", [LINE, TREE])
def test_the_utility_of_categories_is_exact_for_every_classifier(model: Any) -> None:
    uncertain = FRAME.iloc[int(np.abs(LINE.predict_proba(FRAME)[:, 1] - 0.5).argmin())]
    found = dt.classifiers.utility(model, uncertain, BOTH)
    assert found.method == "exact"
    assert found.lower == pytest.approx(kept_by_hand(model, uncertain, BOTH), abs=1e-9)
    assert found.queries == 0 or found.queries <= 6
    for given in (dict(uncertain), uncertain.to_frame().T, uncertain.to_numpy()):
        assert dt.classifiers.utility(model, given, BOTH).lower == pytest.approx(found.lower)
    polars = pytest.importorskip("polars")
    assert dt.classifiers.utility(model, polars.DataFrame([dict(uncertain)]), BOTH).lower == pytest.approx(
        found.lower
    )


def test_numbers_and_categories_together_are_bounded_by_sampling() -> None:
    row = FRAME.iloc[int(np.abs(LINE.predict_proba(FRAME)[:, 1] - 0.45).argmin())]
    own, exact = LINE.predict(row.to_frame().T)[0], 0.0
    ages = feature_law(ALL["age"]).marginal(float(row["age"]))
    assert ages is not None
    for team, size in product(TEAM.labels, SIZE.labels):
        table = pandas.DataFrame({"age": ages.places, "team": team, "size": size})
        inside = float(ages.masses @ (LINE.predict(table) == own))
        for name, label in (("team", team), ("size", size)):
            part: Any = ALL[name]
            inside *= float(part.probabilities(row[name])[part.domain.labels.index(label)])
        exact += inside
    found = dt.classifiers.utility(LINE, row, ALL, confidence=0.999, source=dt.Seeded(1))
    assert found.method == "Monte Carlo"
    assert found.lower <= exact <= found.upper <= found.lower + 0.05
    curve = dt.classifiers.utility_curve(
        LINE, row, ALL, [3, 6, 12], confidence=0.999, source=dt.Seeded(2), queries=10_000
    )
    assert curve.lower[1] <= exact <= curve.upper[1]  # ε = 6 is that of ALL
    assert curve.upper[1] - curve.lower[1] < 0.2
    with pytest.raises(Infeasible, match="combinations of reports"):
        dt.classifiers.utility(LINE, row, ALL, method="exact")


def test_a_data_set_with_text() -> None:
    table = FRAME.iloc[:4]
    found = dt.classifiers.over_records(TREE, table, BOTH)
    single = [dt.classifiers.utility(TREE, table.iloc[at], BOTH).lower for at in range(4)]
    assert found.lower.tolist() == pytest.approx(single)
    assert found.worst.method == "exact"
    drawn = dt.classifiers.over_records(TREE, table, ALL, queries=100, source=dt.Seeded(3))
    assert drawn.average.method == "Monte Carlo"


def test_a_category_that_is_not_declared_is_refused_without_its_value() -> None:
    row = {"age": 40.0, "team": "secret", "size": "s"}
    with pytest.raises(OutsideDomain) as refused:
        dt.classifiers.utility(LINE, row, BOTH)
    assert "secret" not in str(refused.value)


def test_no_answer_is_a_category() -> None:
    asked = dt.Each(team=dt.KRR(dt.Nullable(TEAM), epsilon=1))

    def rule(rows: Any) -> Any:
        return np.array([row[0] is None for row in rows])

    law = [float(chance) for chance in asked["team"].probabilities(None)]
    for missing in (None, np.nan):
        found = dt.classifiers.utility(
            rule, np.array([missing, 3.0], dtype=object), asked, names=["team", "x"]
        )
        assert found.lower == pytest.approx(law[-1])
        assert found.method == "exact"


def test_truth_values_are_numbers() -> None:
    asked = dt.KRR(dt.Categories([True, False]), epsilon=1)
    found = dt.classifiers.utility(lambda rows: rows[:, 0] > 0.5, np.array([1.0]), asked)
    assert found.lower == pytest.approx(np.e / (np.e + 1))
