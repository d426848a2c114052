"""Solved mechanisms are as good as is known from elsewhere, and nobody is better than the bound says."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dither as dt
from tests.support.cases.numbers import NUMERIC, Case, names
from tests.support.cases.optimal import GOALS, KINDS, KNOWN, UNIT, optimal


@pytest.mark.some(every=4)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", GOALS)
def test_the_gap_is_small(kind: str, epsilon: float) -> None:
    mechanism = optimal(kind, epsilon)
    assert 0.0 <= mechanism.gap <= 0.005
    assert mechanism.certificate.error == pytest.approx(
        mechanism.certificate.bound * (1 + mechanism.gap), rel=1e-12
    )


@pytest.mark.parametrize("kind", KNOWN)
def test_known_optima_lie_between_bound_and_error(kind: str) -> None:
    for epsilon, known in KNOWN[kind].items():
        certificate = optimal(kind, epsilon).certificate
        # The references are solutions on a grid of outputs: at most 0.1 % above the truth, to five digits.
        assert certificate.bound <= known * (1 + 5e-5)
        assert certificate.error >= known * (1 - 1.5e-3)
        assert certificate.error <= known * 1.005


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 1.7])
def test_two_points_are_best_for_the_worst_squared_error(epsilon: float) -> None:
    """Proved: e^ε/(e^ε + 1)² up to ε = ln(3 + 2√2)."""
    exact = math.exp(epsilon) / (math.exp(epsilon) + 1.0) ** 2
    certificate = optimal("worst squared", epsilon).certificate
    assert exact * (1 - 1e-3) <= certificate.bound <= exact * (1 + 1e-12)
    assert exact <= certificate.error <= exact * (1 + 1e-3)


@pytest.mark.some(every=7)
@pytest.mark.parametrize("case", NUMERIC, ids=names(NUMERIC))
def test_no_mechanism_is_better_than_the_bound(case: Case) -> None:
    for epsilon in (0.5, 2.0, 4.0):
        mechanism = case(epsilon)
        if isinstance(mechanism.domain, dt.Circle):
            best = dt.Optimal(mechanism.domain, epsilon=epsilon, loss="squared").certificate.bound
            assert mechanism.worst_error("squared") >= best * (1 - 1e-9)
            continue
        scale = mechanism.line.length
        errors = {
            "worst absolute": mechanism.worst_error("absolute") / scale,
            "worst squared": mechanism.worst_error("squared") / scale**2,
            "average absolute": mechanism.average_error("absolute") / scale,
            "average squared": mechanism.average_error("squared") / scale**2,
        }
        if case.unbiased:
            errors["worst unbiased"] = errors["worst squared"]
            errors["average unbiased"] = errors["average squared"]
        for kind, error in errors.items():
            assert error >= optimal(kind, epsilon).certificate.bound * (1 - 1e-9), kind


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0, 6.0])
def test_solved_mechanisms_beat_what_there_was(epsilon: float) -> None:
    rivals = dt.Hybrid(UNIT, epsilon=epsilon), dt.Podium(UNIT, epsilon=epsilon)
    best = min(rival.worst_error("squared") for rival in rivals)
    assert optimal("worst unbiased", epsilon).certificate.error < best / 1.04
    rival = dt.OGPM(UNIT, epsilon=epsilon)
    assert optimal("worst absolute", epsilon).certificate.error < rival.worst_error("absolute") / 1.1


@pytest.mark.parametrize(
    ("epsilon", "ratio"),
    [(0.25, 1.010), (0.5, 1.042), (1.0, 1.075), (2.0, 1.204), (4.0, 1.273), (6.0, 1.283)],
)
def test_by_how_much_the_closed_forms_miss_the_smallest_variance(epsilon: float, ratio: float) -> None:
    rivals = dt.Hybrid(UNIT, epsilon=epsilon), dt.Podium(UNIT, epsilon=epsilon)
    best = min(rival.worst_error("squared") for rival in rivals)
    certificate = optimal("worst unbiased", epsilon).certificate
    assert best / certificate.error <= ratio + 1e-3
    assert best / certificate.bound >= ratio - 1e-3


@pytest.mark.some(every=3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_the_certified_error_is_the_error(kind: str, epsilon: float) -> None:
    """The supremum or the integral that is certified, against the formulas every mechanism has."""
    mechanism = optimal(kind, epsilon, dt.Interval(-3, 7))
    loss = mechanism.problem.loss
    worst = mechanism.criterion == "worst"
    said = mechanism.worst_error(loss) if worst else mechanism.average_error(loss)
    assert said == pytest.approx(mechanism.certificate.error, rel=2e-5)
    x = np.linspace(-3, 7, 2001)
    errors = np.asarray(mechanism.sampled.error(loss, x))
    if worst:
        assert errors.max() <= mechanism.certificate.error
        assert errors.max() >= mechanism.certificate.error * (1 - 2e-3)
    else:
        assert errors.mean() == pytest.approx(mechanism.certificate.error, rel=2e-3)


@pytest.mark.parametrize("loss", ["absolute", "squared", 3])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 5.0])
def test_on_a_circle_the_two_level_window_is_best(loss: object, epsilon: float) -> None:
    best = dt.Optimal(dt.Circle(360), epsilon=epsilon, loss=loss)
    rival = dt.OGPM(dt.Circle(360), epsilon=epsilon, loss=loss)
    assert best.certificate.bound == pytest.approx(rival.worst_error(loss), rel=1e-9)
    assert best.gap < 1e-3
    assert best.question.kernel == rival.question.kernel


def test_a_function_on_a_circle() -> None:
    given = dt.Optimal(dt.Circle(360), epsilon=1, loss=lambda degrees: np.abs(degrees) / 7)
    assert given.certificate.bound <= dt.OGPM(dt.Circle(360), epsilon=1).worst_error("absolute") / 7
    assert given.gap < 2e-3
