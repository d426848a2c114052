"""Optima known in closed form, against values computed elsewhere and against brute force."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.foundation.losses import as_power
from dither.mechanisms.numeric.ogpm import best_width, best_width_at
from dither.mechanisms.optimal.problem import TWO_POINTS_UP_TO, known_optimum
from tests.support.repository import reference

REFERENCE: dict[str, Any] = reference("optimal")
UNIT = dt.Interval(0, 1)


@pytest.mark.parametrize("row", REFERENCE["error_at_x0"], ids=lambda r: f"{r['eps']}-{r['k']}-{r['x0']}")
def test_the_best_width_at_a_public_value(row: dict[str, float]) -> None:
    loss = row["k"]
    assert best_width_at(row["eps"], as_power(loss), row["x0"]) == pytest.approx(row["s"], rel=1e-12)
    for place in (row["x0"], 1.0 - row["x0"]):
        focused = dt.optimal.Focused(UNIT, epsilon=row["eps"], focus=place, loss=loss)
        assert focused.error(loss, place) == pytest.approx(row["err"], rel=1e-12)
        assert focused.pdf(0.999 * place, place) == pytest.approx(row["p"], rel=1e-12)


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0, 3.7])
@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 1.0, 5.0, 50.0])
def test_at_the_ends_and_in_the_middle_it_is_the_width_of_ogpm(epsilon: float, exponent: float) -> None:
    loss = as_power(exponent)
    for place in (0.0, 0.5, 1.0):
        assert best_width_at(epsilon, loss, place) == pytest.approx(best_width(epsilon, loss), rel=1e-9)


def test_no_other_width_is_better_at_the_focus() -> None:
    """Brute force over widths, each error by quadrature of the two-level density."""
    y = (np.arange(200_000) + 0.5) / 200_000
    for epsilon, focus, loss in ((1.0, 0.13, "absolute"), (2.0, 0.4, "squared")):
        found = dt.optimal.Focused(UNIT, epsilon=epsilon, focus=focus, loss=loss).error(loss, focus)
        errors = []
        for width in np.linspace(0.05, 0.95, 181):
            start = min(max(focus - width / 2, 0.0), 1.0 - width)
            inside = (y >= start) & (y < start + width)
            weights = np.where(inside, math.exp(epsilon), 1.0)
            errors.append(float((weights * as_power(loss)(y - focus)).sum() / weights.sum()))
        assert min(errors) >= found - 1e-5
        assert min(errors) <= found + 1e-4


def test_the_focus_is_validated_and_moves_with_the_units() -> None:
    wide = dt.optimal.Focused(dt.Interval(-3, 7), epsilon=1, focus=-1)
    assert wide.error("absolute", -1.0) == pytest.approx(2.413667011601279, rel=1e-12)
    with pytest.raises(dt.errors.InvalidParameter, match="public value"):
        dt.optimal.Focused(UNIT, epsilon=1, focus=1.1)
    with pytest.raises(dt.errors.InvalidParameter, match="finite"):
        dt.optimal.Focused(UNIT, epsilon=1, focus=math.nan)
    with pytest.raises(dt.errors.InvalidParameter, match="loss"):
        dt.optimal.Focused(UNIT, epsilon=1, focus=0.5, loss="absolut")  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 1.76, 3.0])
def test_the_two_points(epsilon: float) -> None:
    mechanism = dt.optimal.TwoPoint(dt.Interval(-3, 7), epsilon=epsilon)
    tanh = math.tanh(epsilon / 2)
    half = 10 * min(tanh / 2, 1 / (4 * tanh))
    np.testing.assert_allclose(mechanism.question.decode(np.array([0, 1])), [2 - half, 2 + half], rtol=1e-12)
    ratio = math.exp(epsilon)
    worst = 100 * ratio / (ratio + 1) ** 2 if epsilon <= TWO_POINTS_UP_TO else half**2
    assert mechanism.error("squared", -3.0) == pytest.approx(worst, rel=1e-12)
    assert mechanism.error("squared", 2.0) == pytest.approx(half**2, rel=1e-12)
    assert mechanism.worst_error("squared") == pytest.approx(worst, rel=1e-12)
    assert mechanism.sampled.worst_error("squared") == pytest.approx(worst, rel=1e-9)


@pytest.mark.some(every=3)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 1.7, 2.0, 5.0])
def test_no_other_two_points_are_better(epsilon: float) -> None:
    """Brute force over pairs of values, the likelier one on the input's side."""
    x = np.linspace(0, 1, 201)
    likely = math.exp(epsilon) / (1 + math.exp(epsilon))
    worst = dt.optimal.TwoPoint(UNIT, epsilon=epsilon).worst_error("squared")
    grid = np.linspace(0, 1, 101)
    for low in grid:
        for high in grid[grid > low]:
            near = np.where(np.abs(x - low) < np.abs(x - high), low, high)
            far = low + high - near
            assert (likely * (near - x) ** 2 + (1 - likely) * (far - x) ** 2).max() >= worst - 1e-12


def test_two_points_stop_being_best_where_the_middle_becomes_the_worst() -> None:
    for epsilon, best in ((TWO_POINTS_UP_TO - 1e-6, True), (TWO_POINTS_UP_TO + 1e-6, False)):
        middle = math.tanh(epsilon / 2) ** 2 / 4
        assert (middle <= math.exp(epsilon) / (math.exp(epsilon) + 1) ** 2) is best
        assert (known_optimum(UNIT, epsilon, as_power("squared"), "worst") is not None) is best


@pytest.mark.parametrize("row", REFERENCE["lp_global_optimum_01"], ids=lambda r: f"{r['loss']}-{r['eps']}")
def test_known_optima_agree_with_the_linear_program(row: dict[str, Any]) -> None:
    loss = {"l1": "absolute", "l2": "squared"}[row["loss"]]
    optimum = known_optimum(UNIT, row["eps"], as_power(loss), "worst")
    if loss == "squared" and row["eps"] <= TWO_POINTS_UP_TO:
        assert optimum == pytest.approx(row["worst_lp"], rel=1e-4)
    else:
        assert optimum is None
    assert known_optimum(UNIT, row["eps"], as_power(loss), "average") is None


@pytest.mark.parametrize("loss", ["absolute", "squared", 0.5])
def test_on_a_circle_the_two_levels_are_the_optimum(loss: Any) -> None:
    circle = dt.Circle(360)
    mechanism = dt.OGPM(circle, epsilon=1.3, loss=loss)
    for criterion, error in (
        ("worst", mechanism.worst_error(loss)),
        ("average", mechanism.average_error(loss)),
    ):
        assert known_optimum(circle, 1.3, as_power(loss), criterion) == pytest.approx(error, rel=1e-10)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_podium_is_the_best_unbiased_two_level_mechanism(epsilon: float) -> None:
    """Brute force over the share: unbiased gliding windows of other widths have larger worst variances."""
    best = dt.Podium(UNIT, epsilon=epsilon).worst_error("squared")
    lift = math.expm1(epsilon)
    for share in np.linspace(0.02, 0.6, 59):
        contrast = lift * share / (1 + lift * share)
        half = 1 / (2 * contrast * (1 - share))  # the window touches the end of the support at x = 1
        floor = (2 * half) ** 2 / 12 * (1 + lift * share**3) / (1 + lift * share)
        assert floor + 0.25 * (1 / contrast - 1) >= best * (1 - 1e-12)
