"""Several numbers in one report: tables, means and correlations with their intervals, and what is refused."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.places.nearest import BoxKernel, Grid
from dither.core.question import ask
from dither.errors import InvalidParameter, NotIdentifiable

BODY = dt.Box({"age": dt.Interval(20, 100), "bmi": dt.Interval(10, 60)})


def people(n: int, seed: int) -> np.ndarray:
    """Two numbers with a common cause."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 1))
    unit = np.clip([0.4, 0.5] + 0.18 * (0.6**0.5 * common + 0.4**0.5 * rng.normal(size=(n, 2))), 0, 1)
    return BODY.from_unit(unit)


@cache
def found(epsilon: float = 4.0, n: int = 20_000) -> tuple[Any, np.ndarray]:
    asked = people(n, 1)
    points = Grid(BODY.ends, (1, 1), 8, (14, 14), 1 << 16)
    question = ask(
        BODY,
        BoxKernel.largest(epsilon, points, 19),
        points.places(),
        epsilon=epsilon,
        name="Optimal",
        parameters={"epsilon": epsilon},
    )
    return dt.maps.joint(question.perturb(asked, source=dt.Seeded(1))), asked


def test_tables_sum_and_are_near_the_truth() -> None:
    joint, asked = found()
    assert joint.table("age").sum() == pytest.approx(1)
    np.testing.assert_allclose(joint.table("bmi", "age"), joint.table("age", "bmi").T)
    true = np.histogram(asked[:, 0], joint.edges("age"))[0] / len(asked)
    assert np.abs(joint.table("age") - true).sum() / 2 < 0.08
    assert joint.n == 20_000
    assert "age" in repr(joint)


def test_intervals_hold_the_truth() -> None:
    joint, asked = found()
    age, bmi = asked.T
    assert joint.mean("age").covers(age.mean())
    assert joint.correlation("age", "bmi").covers(np.corrcoef(age, bmi)[0, 1])
    inside = ((age > 40) & (age < 60) & (bmi > 30)).mean()
    assert joint.share(age=(40, 60), bmi=(30, 60)).covers(inside)
    assert joint.mean("age").half_width() < 1.5  # of 80 years
    assert joint.correlation("age", "bmi").half_width() < 0.3


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
@pytest.mark.parametrize("shape", ["common cause", "two groups", "even"])
def test_intervals_cover_in_repetitions(epsilon: float, shape: str) -> None:
    question = dt.Optimal(BODY, epsilon=epsilon)
    kept = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        asked = people(20_000, seed)
        if shape == "two groups":
            asked = BODY.from_unit(rng.choice([[0.1, 0.8], [0.9, 0.3]], 20_000))
        elif shape == "even":
            asked = BODY.from_unit(rng.random((20_000, 2)))
        joint = dt.maps.joint(question.perturb(asked, source=dt.Seeded(seed)))
        age, bmi = asked.T
        answers = [
            joint.mean("age").covers(age.mean()),
            joint.mean("bmi").covers(bmi.mean()),
            joint.correlation("age", "bmi").covers(np.corrcoef(age, bmi)[0, 1]),
            joint.share(age=(40, 60)).covers(((age >= 40) & (age <= 60)).mean()),
        ]
        kept += answers
    assert np.mean(kept) >= 0.9


@pytest.mark.slow
def test_a_correlation_is_better_than_from_divided_budgets() -> None:
    own, rival = [], []
    question = dt.Optimal(BODY, epsilon=2)
    for seed in range(8):
        asked = people(50_000, seed)
        true = np.corrcoef(*asked.T)[0, 1]
        joint = dt.maps.joint(question.perturb(asked, source=dt.Seeded(seed)))
        own.append(float(joint.correlation("age", "bmi")) - true)
        sides = zip(BODY.names, BODY.sides, strict=True)
        each = dt.Each(**{name: dt.Podium(side, epsilon=1) for name, side in sides})
        told = each.perturb(asked, source=dt.Seeded(seed))
        rival.append(float(dt.stats.correlation(told["age"], told["bmi"])) - true)
    assert np.square(own).mean() < 0.25 * np.square(rival).mean()


def test_what_is_refused() -> None:
    joint, _ = found()
    for wrong in (lambda: joint.mean("height"), lambda: joint.table("age", "height")):
        with pytest.raises(InvalidParameter, match="height"):
            wrong()
    for wrong in (
        joint.table,
        lambda: joint.table("age", "age"),
        lambda: joint.correlation("age", "age"),
        lambda: joint.share(age=(60, 40)),
        lambda: joint.share(age=(0, 40)),
        lambda: joint.share(age=40),
        lambda: joint.share(age=(float("nan"), 40)),
    ):
        with pytest.raises(InvalidParameter):
            wrong()
    few = dt.Optimal(BODY, epsilon=2, purpose="places").perturb(people(100, 1))
    with pytest.raises(NotIdentifiable, match="purpose"):
        dt.maps.joint(few)
    with pytest.raises((InvalidParameter, NotIdentifiable)):
        dt.maps.joint(few.question.reports(np.zeros(0, np.uint16)))
    for estimate in (dt.mean, dt.distribution, dt.quantile):
        with pytest.raises(InvalidParameter, match=r"dt\.maps\."):
            estimate(few, 0.5) if estimate is dt.quantile else estimate(few)
