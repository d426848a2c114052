"""Tuning under a mode: the coins with the least variance, and what gain is left."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

import dither as dt
from dither.errors import Infeasible, InvalidParameter
from tests.support.repository import reference

REFERENCE = reference("jrr")
TWO, THREE = dt.Categories(2), dt.Categories(3)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
@pytest.mark.parametrize("n1", [0, 300, 500, None])
def test_strictly_plain_coins_are_best(epsilon: float, n1: int | None) -> None:
    """The optimum of the facts, and no pair (p, ρ) on a grid that keeps the promise has less variance."""
    n = 1_000
    best = dt.JRR.tuned(TWO, epsilon=epsilon, mode="partner revealed", n=n, n1=n1)
    assert best.rho == 0
    assert best.guarantee.epsilon <= epsilon
    assert best.guarantee.epsilon == pytest.approx(epsilon, rel=1e-10)
    at = n / 4 if n1 is None else n1
    for share, end in product((0.02, 0.3, 0.6, 0.9, 0.99), (-1, -0.5, 0.5)):
        p = Fraction(0.5 + (float(best.p) - 0.5) * share)
        rho = Fraction(end) * (1 / p - 1) if end < 0 else Fraction(end)
        other = dt.JRR(TWO, p=p, rho=rho, n=n)
        if other.guarantee.epsilon <= epsilon:
            assert other.count_variance(at) > best.count_variance(at)
    assert dt.JRR.tuned(TWO, epsilon=epsilon, mode="informed", n=n) == best


@pytest.mark.some("1.0", "2.0")
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
def test_what_gain_survives_when_informed(epsilon: float) -> None:
    n = 10_000
    tuned = dt.JRR.tuned(TWO, epsilon=epsilon, mode="informed", n=n, delta=1e-6, n1=0)
    plain = dt.JRR.tuned(TWO, epsilon=epsilon, mode="partner revealed", n=n)
    spent = tuned.accounting("informed", delta=1e-6)
    assert spent.epsilon <= epsilon
    assert spent.delta == 1e-6
    gain = tuned.count_variance(0) / plain.count_variance(0)
    # The reference comes from a coarse grid; a finer search finds a little more, never less.
    assert REFERENCE["gain_informed"]["n=1e4"][f"{epsilon:g}"] - 0.01 <= gain
    assert gain <= REFERENCE["gain_informed"]["n=1e4"][f"{epsilon:g}"] + 0.001


@pytest.mark.slow
def test_what_gain_survives_among_many() -> None:
    for epsilon, expected in REFERENCE["gain_informed"]["n=8e4"].items():
        tuned = dt.JRR.tuned(TWO, epsilon=float(epsilon), mode="informed", n=80_000, delta=1e-6, n1=0)
        plain = dt.JRR.tuned(TWO, epsilon=float(epsilon), mode="partner revealed", n=80_000)
        assert tuned.accounting("informed", delta=1e-6).epsilon <= float(epsilon)
        assert tuned.count_variance(0) / plain.count_variance(0) == pytest.approx(expected, abs=0.013)


def test_tuned_with_hidden_pairs() -> None:
    free = dt.JRR.tuned(TWO, epsilon=1, mode="hidden", n=200, n1=0)
    assert free.pairs.neither == 0  # nobody colludes and nothing is known: the published choice
    assert free.p == dt.JRR.heuristic(TWO, epsilon=1, n=200).p
    some = dt.JRR.tuned(TWO, epsilon=1, mode="hidden", n=200, colluders=20, n1=0)
    assert some.accounting("hidden", colluders=20).epsilon <= 1
    assert free.count_variance(0) < some.count_variance(0) < replace(free, rho=Fraction(0)).count_variance(0)


def test_tuned_with_a_lottery() -> None:
    tuned = dt.JRR.tuned(TWO, epsilon=1, mode="partner revealed", n=1_000, colluders=10, delta=0.02, n1=0)
    assert tuned.rho < 0
    assert tuned.accounting("partner revealed", colluders=10, delta=0.02).epsilon <= 1
    strict = dt.JRR.tuned(TWO, epsilon=1, mode="partner revealed", n=1_000, colluders=10, delta=1e-9, n1=0)
    assert strict.rho > -1e-3


@pytest.mark.slow
def test_tuned_for_three_categories() -> None:
    tuned = dt.JRR.tuned(THREE, epsilon=1, mode="informed", n=10_000, delta=1e-6, n1=0)
    plain = dt.JRR.tuned(THREE, epsilon=1, mode="partner revealed", n=10_000)
    assert tuned.accounting("informed", delta=1e-6).epsilon <= 1
    assert tuned.count_variance(0) < plain.count_variance(0)
    assert plain.p == pytest.approx(math.e / (math.e + 2), rel=1e-12)
    # Where every category is held by a third, coins that agree gain next to nothing.
    even = dt.JRR.tuned(THREE, epsilon=1, mode="informed", n=10_000, delta=1e-6, n1=10_000 / 3)
    assert even.rho >= 0
    assert 1 - 1e-6 < even.count_variance(10_000 / 3) / plain.count_variance(10_000 / 3) <= 1


@pytest.mark.slow
def test_a_guess_helps_where_it_is_right() -> None:
    blind = dt.JRR.tuned(TWO, epsilon=0.5, mode="informed", n=10_000, delta=1e-6)
    told = dt.JRR.tuned(TWO, epsilon=0.5, mode="informed", n=10_000, delta=1e-6, n1=100)
    assert told.count_variance(100) <= blind.count_variance(100)
    even = dt.JRR.tuned(TWO, epsilon=0.5, mode="informed", n=10_000, delta=1e-6, n1=5_000)
    assert even.rho >= 0  # a guess of one half says that coins which differ gain nothing
    alone = replace(even, rho=Fraction(0)).count_variance(5_000)
    assert 1 - 1e-6 < even.count_variance(5_000) / alone <= 1


def test_theorem_3_is_satisfied_by_the_published_choices() -> None:
    """Up to 16 % colluders at n1/n = 0.01, and 9 % at 0.1, no choice that Theorem 3 allows is better."""
    n = 10_000
    for colluders in (0, 500, 1_700):
        jrr = dt.JRR.heuristic(TWO, epsilon=1, n=n, colluders=colluders)
        assert jrr.theorem_3(colluders) == pytest.approx(1.0, abs=1e-12)
        assert jrr.pairs.neither == 0
    assert dt.JRR.heuristic(TWO, epsilon=1, n=n).theorem_3(1_700) == pytest.approx(1.25, abs=0.01)
    for share, best, not_best in ((0.01, 0.15, 0.18), (0.1, 0.08, 0.11), (0.9, 0.08, 0.11)):
        for part, holds in ((best, True), (not_best, False)):
            colluders, n1 = round(part * n), share * n
            tuned = dt.JRR.tuned(TWO, epsilon=1, mode="theorem 3", n=n, colluders=colluders, n1=n1)
            jrr = dt.JRR.heuristic(TWO, epsilon=1, n=n, colluders=colluders)
            assert (jrr.count_variance(n1) <= 1.0001 * tuned.count_variance(n1)) == holds


def test_the_published_choice_for_k_categories() -> None:
    jrr = dt.JRR.heuristic(dt.Categories(5), epsilon=1, n=10)
    assert float(jrr.p) == pytest.approx(math.e / (math.e + 4))
    assert 0 in (jrr.pairs.neither, jrr.pairs.both)


@pytest.mark.parametrize(
    "more",
    [
        {"mode": "partner revealed", "n": 100, "n1": 101},
        {"mode": "partner revealed", "n": 100, "n1": -1},
        {"mode": None, "n": 100},
        {"mode": "informed", "n": 100, "colluders": 3},
        {"mode": "partner revealed", "n": 100, "epsilon": -1},
        {"mode": "partner revealed", "n": 1},
        {"mode": "partner revealed", "n": "many"},
        {"mode": "partner revealed", "n": 100, "n1": "few"},
        {"mode": "partner revealed", "n": 10, "domain": dt.Interval(0, 1)},
        {"mode": "theorem 3", "n": 10, "domain": THREE},
    ],
)
def test_bad_wishes_are_refused(more: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter):
        dt.JRR.tuned(more.pop("domain", TWO), **{"epsilon": 1, **more})


def test_too_many_colluders_are_refused() -> None:
    for colluders in (60, 99):
        with pytest.raises(Infeasible):
            dt.JRR.heuristic(TWO, epsilon=0.1, n=100, colluders=colluders)
    with pytest.raises(InvalidParameter):
        dt.JRR.heuristic(TWO, epsilon=1, n=100, colluders=100)
    with pytest.raises(InvalidParameter):
        dt.JRR.heuristic(THREE, epsilon=1, n=100, colluders=1)


def test_coins_that_agree_are_best_where_half_of_few_people_hold_the_category() -> None:
    """The weights of two people then have opposite signs more often than not, so their errors cancel."""
    tuned = dt.JRR.tuned(TWO, epsilon=1.0, mode="hidden", n=4, n1=2)
    plain = dt.JRR.tuned(TWO, epsilon=1.0, mode="partner revealed", n=4)
    assert tuned.rho > 0
    assert tuned.accounting("hidden").epsilon <= 1.0
    assert tuned.count_variance(2) == pytest.approx(2.46, abs=0.01)
    assert plain.count_variance(2) == pytest.approx(3.68, abs=0.01)
