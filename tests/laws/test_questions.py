"""What a mechanism says about itself agrees with itself: formulas, integers, quadrature."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import dither as dt
from dither.foundation.numerics.quadrature import integrate
from tests.support.cases.numbers import EVERY, NUMERIC, WINDOWS, Case, names

UNITS = np.array([0.0, 0.01, 0.2, 0.5, 0.83, 1.0])
UNBIASED = [case for case in NUMERIC if case.unbiased]


@pytest.mark.some(every=8)
@pytest.mark.parametrize("case", EVERY, ids=names(EVERY))
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_density_and_atoms_have_mass_one_and_the_stated_moments(case: Case, epsilon: float) -> None:
    mechanism = case(epsilon)
    low, high = mechanism.support
    for x in mechanism.line.from_unit(UNITS):
        places, masses = mechanism.atoms(x)

        def total(f, x=x, places=places, masses=masses):  # type: ignore[no-untyped-def]
            inner = integrate(lambda y: f(y) * mechanism.pdf(y, x), low, high, tolerance=1e-11)
            return inner + float(np.sum(masses * f(places)))

        assert total(np.ones_like) == pytest.approx(1.0, abs=1e-8)
        if isinstance(mechanism.line, dt.Circle):
            error = total(lambda y, x=x: mechanism.line.distance(y, x))
        else:
            assert total(lambda y: y) == pytest.approx(mechanism.mean(x), abs=1e-8 * (high - low))
            error = total(lambda y, x=x: np.abs(y - x))
        assert error == pytest.approx(mechanism.error("absolute", x), rel=1e-8)


@pytest.mark.some(every=3)
@pytest.mark.parametrize("case", NUMERIC, ids=names(NUMERIC))
def test_cdf_is_the_integral_of_the_density(case: Case) -> None:
    mechanism = case(1.0)
    low, high = mechanism.support
    x = float(mechanism.line.from_unit(np.asarray(0.37)))
    places, masses = mechanism.atoms(x)
    for share in (0.1, 0.45, 0.9):
        y = low + share * (high - low)
        mass = integrate(lambda v: mechanism.pdf(v, x), low, y, tolerance=1e-11)
        assert mechanism.cdf(y, x) == pytest.approx(mass + masses[places <= y].sum(), abs=1e-8)
    assert mechanism.cdf(high, x) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("case", UNBIASED, ids=names(UNBIASED))
def test_unbiased_in_fractions(case: Case) -> None:
    """The mean of the very integers and codebook, in exact arithmetic, is the value."""
    more = {"cells": 64} if "Duchi" not in case.name else {}
    mechanism = case(1.3, **more)
    values = [Fraction(value) for value in mechanism.question.decode(np.arange(mechanism.question.outcomes))]
    for x in mechanism.line.from_unit(np.array([0.0, 0.123, 0.5, 1.0])):
        mean = sum(p * value for p, value in zip(mechanism.probabilities(float(x)), values, strict=True))
        assert abs(mean - Fraction(float(x))) <= Fraction(2, 10**9) * Fraction(mechanism.line.length)


@pytest.mark.some(every=4)
@pytest.mark.parametrize("case", NUMERIC, ids=names(NUMERIC))
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_the_grid_costs_a_cell_at_most(case: Case, epsilon: float) -> None:
    """What is sampled differs from the continuous mechanism by the grid, and no more."""
    mechanism = case(epsilon)
    low, high = mechanism.support
    cells = 10**9 if "Duchi" in case.name else min(mechanism.question.outcomes, 1 << 15)
    cell = (high - low) / cells
    xs = mechanism.line.from_unit(np.array([0.0, 0.04, 0.31, 0.5, 0.97]))
    assert mechanism.sampled.error("absolute", xs) == pytest.approx(mechanism.error("absolute", xs), abs=cell)
    if not isinstance(mechanism.line, dt.Circle):
        assert mechanism.sampled.mean(xs) == pytest.approx(mechanism.mean(xs), abs=cell)
        spread = (high - low) * cell
        assert mechanism.sampled.variance(xs) == pytest.approx(mechanism.variance(xs), abs=spread)


@pytest.mark.parametrize("case", WINDOWS, ids=names(WINDOWS))
def test_sampled_moments_are_those_of_the_probabilities(case: Case) -> None:
    mechanism = case(1.0, cells=128)
    values = mechanism.question.decode(np.arange(128))
    for x in mechanism.line.from_unit(np.array([0.0, 0.21, 0.68, 1.0])):
        law = np.array([float(p) for p in mechanism.probabilities(float(x))])
        if isinstance(mechanism.line, dt.Circle):
            gap = mechanism.line.distance(values, x)
        else:
            gap = np.abs(values - x)
            assert mechanism.sampled.mean(x) == pytest.approx(float(law @ values), abs=1e-9)
        assert mechanism.sampled.error("squared", x) == pytest.approx(float(law @ gap**2), rel=1e-9)


@pytest.mark.some(every=3)
@pytest.mark.parametrize("case", NUMERIC, ids=names(NUMERIC))
def test_another_budget_is_another_mechanism_of_the_same_kind(case: Case) -> None:
    mechanism = case(1.0)
    other = mechanism.at(2.5)
    assert type(other) is type(mechanism)
    assert other.epsilon == 2.5
    assert other == case(2.5)
    assert other.fingerprint != mechanism.fingerprint
    assert other.worst_error("absolute") < mechanism.worst_error("absolute")


@pytest.mark.some(every=3)
@pytest.mark.parametrize("case", NUMERIC, ids=names(NUMERIC))
def test_units_change_nothing_but_the_scale(case: Case) -> None:
    mechanism = case(1.0)
    assert mechanism.worst_error("squared") >= mechanism.average_error("squared") - 1e-12
    text = mechanism.describe()
    assert type(mechanism).__name__ in text
    assert "ε = 1" in text


def test_worst_error_sits_where_the_theorem_says() -> None:
    mechanism = dt.OGPM(dt.Interval(-3, 7), epsilon=1.0)
    width = 1 / (1 + math.exp(0.5))
    assert mechanism.worst_error("absolute") == pytest.approx(10 * width, rel=1e-12)
    assert mechanism.error("absolute", -3) == pytest.approx(10 * width, rel=1e-12)


def test_average_error_takes_a_prior() -> None:
    mechanism = dt.OGPM(dt.Interval(0, 10), epsilon=1.0)
    spike = mechanism.average_error("absolute", prior=lambda x: np.exp(-((x - 5) ** 2) / 1e-6))
    assert spike == pytest.approx(mechanism.error("absolute", 5.0), rel=1e-3)
    with pytest.raises(dt.errors.InvalidParameter):
        mechanism.average_error("absolute", prior=np.zeros_like)
