"""The papers' framework with an open solver: the bilinear optimum is the closed form."""

from __future__ import annotations

import math
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.foundation.losses import as_power
from dither.mechanisms.numeric.ogpm import best_width, best_width_at
from dither_papers.ogpm.programs import Pieces, exponential, fit, one_more_piece, place, solve

needs_solver = pytest.mark.skipif(find_spec("pyscipopt") is None, reason="the extra solver is not installed")
UNIT = dt.Interval(0, 1)


def error_of(pieces: Pieces, loss: Any, at: float) -> float:
    """The error of a piecewise constant density, by a midpoint sum."""
    total = 0.0
    for begin, end, level in zip(pieces.edges, pieces.edges[1:], pieces.levels, strict=False):
        y = begin + (end - begin) * (np.arange(20_000) + 0.5) / 20_000
        total += level * float(as_power(loss)(y - at).mean()) * (end - begin)
    return total


def mass_of(pieces: Pieces) -> float:
    return math.fsum(
        level * (end - begin)
        for begin, end, level in zip(pieces.edges, pieces.edges[1:], pieces.levels, strict=False)
    )


@needs_solver
def test_three_pieces_at_an_end_are_the_closed_form() -> None:
    """[OGPM25, Sec. 3]: p = e^(1/2) for the absolute error; 1.509, not e^(1/2), for the squared."""
    for loss, top in (("absolute", math.exp(0.5)), ("squared", 1.5093331)):
        found = solve(1.0, loss, pieces=3)
        assert found.gap <= 1e-5
        assert found.error == pytest.approx(
            best_width(1.0, as_power(loss)) ** as_power(loss).exponent, rel=1e-5
        )
        assert found.top == pytest.approx(top, rel=1e-3)
        assert mass_of(found) == pytest.approx(1.0, abs=1e-5)
        assert error_of(found, loss, 0.0) == pytest.approx(found.error, rel=1e-4)
        assert found.top / min(found.levels) <= math.e * (1 + 1e-6)
        merged = found.merged()
        assert len(merged.levels) == 2  # at an end the third piece adds nothing
        assert merged.edges[1] == pytest.approx(best_width(1.0, as_power(loss)), rel=1e-2)


@needs_solver
def test_a_narrower_budget_is_told_apart() -> None:
    """The broken twin: the program at another ε does not meet the closed form."""
    found = solve(1.02, "absolute", pieces=2)
    assert abs(found.error - best_width(1.0, as_power("absolute"))) > 1e-3


@needs_solver
def test_step_two_places_the_levels_about_any_value() -> None:
    levels = (math.exp(0.5), math.exp(-0.5))
    mechanism = dt.OGPM(UNIT, epsilon=1)
    for value in (0.0, 0.1, 0.3, 0.5, 0.95):
        found = place(levels, "absolute", at=value)
        assert found.error == pytest.approx(mechanism.error("absolute", value), rel=1e-5)
    merged = place(levels, "absolute", at=0.3).merged()
    assert merged.levels == pytest.approx((levels[1], levels[0], levels[1]), rel=1e-9)
    assert merged.edges == pytest.approx((0.0, 0.111230, 0.488770, 1.0), abs=1e-4)


@needs_solver
def test_other_domains_and_codomains() -> None:
    wide = solve(1.0, "squared", pieces=2, codomain=dt.Interval(-3, 7))
    assert wide.error == pytest.approx(100 * best_width(1.0, as_power("squared")) ** 2, rel=1e-5)
    assert wide.top == pytest.approx(0.15093331, rel=1e-3)
    below = solve(1.0, "absolute", pieces=2, at=-0.5)  # a codomain that does not hold the value
    assert below.error == pytest.approx(0.5 + best_width(1.0, as_power("absolute")), rel=1e-5)
    even = solve(1.0, "absolute", pieces=1, at=0.25)
    assert even.error == pytest.approx(0.3125, rel=1e-6)


@needs_solver
def test_requests_that_cannot_be_met() -> None:
    with pytest.raises(dt.errors.Infeasible):
        place((3.0, 2.0), "absolute", at=0.3)
    with pytest.raises(dt.errors.Infeasible):
        place((2.0,), "absolute", at=0.3)
    with pytest.raises(dt.errors.InvalidParameter, match="pieces"):
        solve(1.0, "absolute", pieces=0)
    with pytest.raises(dt.errors.InvalidParameter, match="level"):
        place((1.0, -1.0), "absolute", at=0.3)
    with pytest.raises(dt.errors.InvalidParameter, match="loss"):
        solve(1.0, abs, pieces=2)  # type: ignore[arg-type]
    with pytest.raises(dt.errors.InvalidParameter, match="Interval"):
        solve(1.0, "absolute", pieces=2, codomain=dt.Circle())  # type: ignore[arg-type]
    with pytest.raises(dt.errors.InvalidParameter, match="trials"):
        one_more_piece(3, "absolute", trials=0)


def test_without_the_extras_the_error_names_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pyscipopt", "scipy.optimize"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(dt.errors.MissingExtra, match=r"\.\[solver\]"):
        solve(1.0, "absolute", pieces=2)
    with pytest.raises(dt.errors.MissingExtra, match=r"\.\[optimal\]"):
        fit([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])


def test_regression_finds_the_formula_that_made_the_levels() -> None:
    epsilons = np.linspace(0.2, 8.0, 25)
    found = fit(epsilons, np.exp(0.5 * epsilons), start=(0.4, 0.1))
    assert found.parameters == pytest.approx((0.5, 0.0), abs=1e-6)
    assert found.deviation < 1e-5
    wrong = fit(epsilons, [1 / best_width(e, as_power("squared")) for e in epsilons], start=(0.3, 0.1))
    assert wrong.deviation > 1e-2  # another family of levels does not fit the form
    with pytest.raises(dt.errors.InvalidParameter):
        fit([1.0], [1.0])
    assert exponential(np.array([2.0]), 0.5, -1.0) == pytest.approx(math.e - 1)


@needs_solver
@pytest.mark.slow
@pytest.mark.parametrize("loss", ["absolute", "squared"])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_four_and_five_pieces_are_the_closed_form(epsilon: float, loss: Any) -> None:
    for pieces in (4, 5):
        found = solve(epsilon, loss, pieces=pieces)
        assert found.error == pytest.approx(
            best_width(epsilon, as_power(loss)) ** as_power(loss).exponent, rel=1e-4
        )


@needs_solver
@pytest.mark.slow
@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_the_error_at_a_public_value(loss: Any) -> None:
    """[OGPM25, Ex. 6.1]: at x₀ = 0.2 and ε = 1, p = 1.54589; the expected absolute error is 0.241367."""
    found = solve(1.0, loss, pieces=3, at=0.2)
    width = best_width_at(1.0, as_power(loss), 0.2)
    assert found.error == pytest.approx(
        dt.optimal.Focused(UNIT, epsilon=1, focus=0.2, loss=loss).error(loss, 0.2), rel=1e-5
    )
    assert found.top == pytest.approx(math.e / (1 + (math.e - 1) * width), rel=1e-2)


@needs_solver
@pytest.mark.slow
def test_a_fourth_piece_is_no_better_at_random_budgets_and_values() -> None:
    for trial in one_more_piece(3, "absolute", trials=20, source=dt.Seeded(1)):
        assert trial.more == pytest.approx(trial.fewer, rel=1e-4)
        closed = dt.OGPM(UNIT, epsilon=trial.epsilon).error("absolute", trial.at)
        assert trial.fewer == pytest.approx(closed, rel=1e-3)
    second = one_more_piece(1, "absolute", trials=3, source=dt.Seeded(2))
    assert all(trial.more < 0.99 * trial.fewer for trial in second)  # a second piece is better than one


@needs_solver
@pytest.mark.slow
def test_regression_of_solved_levels() -> None:
    """[OGPM25, Ex. 3.5] with 50 budgets: exp(ε/2), without the paper's −0.07."""
    epsilons = np.linspace(1.0, 10.0, 50)
    found = fit(epsilons, [solve(e, "absolute", pieces=2).top for e in epsilons], start=(0.4, 0.1))
    assert found.parameters == pytest.approx((0.5, 0.0), abs=1e-3)
