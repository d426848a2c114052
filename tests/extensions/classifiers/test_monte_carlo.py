"""Bounds from samples, against exact tails in fractions and by exact coverage.

One set of points for many budgets: weights average to one, and none is above its bound.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

import dither as dt
from dither.extensions.classifiers.feature_law import feature_law
from dither.extensions.classifiers.monte_carlo import (
    Densities,
    bernstein,
    binomial_above,
    binomial_below,
    draw_mixture,
    hoeffding_size,
    mean_below,
)
from dither.extensions.classifiers.robustness import trials_for
from tests.support.cases.numbers import EVERY, NUMERIC, Case, names


def tail(successes: int, trials: int, p: Fraction) -> Fraction:
    """P(at least so many successes), term by term."""
    terms = range(successes, trials + 1)
    return sum((math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in terms), Fraction(0))


@pytest.mark.parametrize(("successes", "trials"), [(1, 1), (1, 7), (6, 7), (30, 60), (59, 60), (60, 60)])
@pytest.mark.parametrize("omega", [0.3, 0.05, 1e-6])
def test_clopper_pearson_is_the_p_with_that_tail(successes: int, trials: int, omega: float) -> None:
    bound = binomial_below(successes, trials, omega)
    assert tail(successes, trials, Fraction(bound)) <= Fraction(omega)
    assert tail(successes, trials, Fraction(bound) * (1 + Fraction(1, 10**6))) > Fraction(omega)
    above = binomial_above(trials - successes, trials, omega)
    assert above == pytest.approx(1.0 - bound, abs=1e-12)


@pytest.mark.some(every=3)
@pytest.mark.parametrize(
    ("successes", "trials"), [(3, 10**6), (10**6 - 3, 10**6), (500_000, 10**6), (1, 10**9)]
)
@pytest.mark.parametrize("omega", [0.3, 1e-6, 1e-15])
def test_many_trials_have_the_right_side_of_the_tail(successes: int, trials: int, omega: float) -> None:
    """In 40 digits: the bound leaves at most ω beyond it, and a bound a millionth higher leaves more."""

    def beyond(p: float) -> mpmath.mpf:
        odds = mpmath.mpf(p) / (1 - mpmath.mpf(p))
        term = mpmath.binomial(trials, successes) * mpmath.mpf(p) ** successes
        term *= (1 - mpmath.mpf(p)) ** (trials - successes)
        total, count = mpmath.mpf(0), successes
        while term > 1e-30 * total:
            total += term
            term *= odds * (trials - count) / (count + 1)
            count += 1
        return total

    bound = binomial_below(successes, trials, omega)
    with mpmath.workdps(40):
        assert beyond(bound) <= omega < beyond(bound * (1.0 + 1e-6))


@pytest.mark.parametrize("p", [0.02, 0.5, 0.93, 0.999])
def test_exact_coverage(p: float) -> None:
    """Over every possible count: the bound is wrong with probability at most ω, and not absurdly rarely."""
    trials, omega = 80, 0.05
    counts = np.array([math.comb(trials, k) for k in range(trials + 1)], dtype=float)
    chances = counts * p ** np.arange(trials + 1) * (1 - p) ** (trials - np.arange(trials + 1))
    wrong = {
        bound.__name__: sum(
            chance for k, chance in enumerate(chances) if bound(k, trials, omega) > p * (1 + 1e-12)
        )
        for bound in (binomial_below, mean_below)
    }
    assert wrong["mean_below"] <= wrong["binomial_below"] <= omega
    naive = sum(chance for k, chance in enumerate(chances) if k / trials > p)
    assert naive > omega  # the broken twin: the share itself


def test_trials_that_are_not_alike() -> None:
    """The mean of 40 probabilities of two kinds, by the exact law of the sum."""
    kinds, omega = [0.1] * 20 + [0.95] * 20, 0.05
    law = np.ones(1)
    for p in kinds:
        law = np.convolve(law, [1 - p, p])
    mean = float(np.mean(kinds))
    wrong = sum(chance for k, chance in enumerate(law) if mean_below(k, len(kinds), omega) > mean)
    assert wrong <= omega


def test_bernstein_holds_and_shrinks() -> None:
    generator = np.random.default_rng(5)
    wrong, runs, omega = 0, 4000, 0.05
    for _ in range(runs):
        sample = (generator.random(300) < 0.02) * 8.0  # mean 0.16, far from normal
        margin = bernstein(float(sample.var(ddof=1)), 8.0, sample.size, omega)
        wrong += sample.mean() + margin < 0.16
    assert wrong <= omega * runs
    assert bernstein(0.0, 1.0, 10_000, omega) < bernstein(0.0, 1.0, 100, omega) / 90


def test_sizes() -> None:
    assert hoeffding_size(0.05, 0.01) == 18_445
    assert hoeffding_size(0.05, 0.005) == 73_778
    size = trials_for(0.05, 0.01)
    assert binomial_above(int(size * 0.005), size, 0.05) <= 0.01
    assert size < 73_778 / 10  # the exact binomial against Hoeffding


BUDGETS = (0.7, 2.0, 5.0)
COUNT = 4000


def weighted(case: Case, unit: float) -> tuple[Any, Any, Any]:
    """Give weights by the mixture for each budget, their bounds, and weights as if atoms were no matter."""
    mechanisms = [case(epsilon) for epsilon in BUDGETS]
    laws = [mechanism.law for mechanism in mechanisms]
    places = draw_mixture([[feature_law(one)] for one in mechanisms], [unit], COUNT, dt.Seeded(4))[:, 0]
    densities = Densities.of(laws, unit)
    right = np.exp(densities.logarithms(places))
    naive = right + np.array([law.density(places, np.asarray(unit)) for law in laws]) * (right == 0.0)
    with np.errstate(invalid="ignore"):
        weights, wrong = (some / some.mean(axis=0) for some in (right, naive))
    return weights, 1.0 / np.exp(densities.least_ratios()).mean(axis=1), wrong


def apart(weights: Any) -> float:
    """How many standard errors the mean weights are from one."""
    error = weights.std(axis=1) / np.sqrt(COUNT) + 1e-9
    return float((np.abs(weights.mean(axis=1) - 1.0) / error).max())


@pytest.mark.some(every=6)
@pytest.mark.parametrize("case", EVERY, ids=names(EVERY))
def test_weights_average_to_one_and_stay_below_their_bound(case: Case) -> None:
    for unit in (0.0, 0.37):
        weights, most, _ = weighted(case, unit)
        assert apart(weights) < 5.3
        assert (weights.max(axis=1) <= most * (1.0 + 1e-9)).all()
        assert (most <= len(BUDGETS) * (1.0 + 1e-9)).all()


def test_an_atom_under_another_law_s_density_would_be_noticed() -> None:
    """The broken twin: Hybrid's two atoms move with ε, and lie where other budgets have a density."""
    hybrid = next(case for case in NUMERIC if case.name.startswith("Hybrid"))
    weights, _, wrong = weighted(hybrid, 0.37)
    assert apart(weights) < 5.3 < apart(wrong)


def test_anchors_far_from_the_budgets_say_nothing() -> None:
    """No bound comes out of points that were drawn elsewhere; neither does a NaN."""
    unit = dt.Interval(0, 1)
    curve = dt.classifiers.utility_curve(
        lambda rows: rows[:, 0] > 0.5,
        np.full(60, 0.8),
        dt.OGPM(unit, epsilon=1),
        [20.0],
        anchors=[0.1],
        queries=100,
        source=dt.Seeded(1),
    )
    assert (curve.lower[0], curve.upper[0]) == (0.0, 1.0)
