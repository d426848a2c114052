"""The algebra of guarantees: bounds add outward, and never look better than they are."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dither.errors import InvalidParameter
from dither.privacy import PAC, Approximate, Guarantee, Metric, Nothing, Pure

budgets = st.floats(0.0, 50.0)


@given(st.lists(budgets, min_size=1, max_size=12))
def test_a_sum_is_the_smallest_double_above_the_exact_sum(parts):
    total = Guarantee(Pure(parts[0])).compose(*(Guarantee(Pure(one)) for one in parts[1:])).epsilon
    exact = sum(map(Fraction, parts))
    assert total >= exact
    assert total == 0.0 or Fraction(math.nextafter(total, 0.0)) < exact


@given(budgets, st.integers(1, 10_000))
def test_repeating_is_composing_with_itself(epsilon, times):
    repeated = Guarantee(Pure(epsilon)).repeated(times).epsilon
    assert repeated >= Fraction(epsilon) * times
    assert repeated == pytest.approx(epsilon * times, rel=1e-15)


def test_whole_numbers_stay_whole():
    assert Guarantee(Pure(1.0)).repeated(3).epsilon == 3.0
    assert Guarantee(Pure(0.5)).compose(Guarantee(Pure(0.25))).epsilon == 0.75


@given(budgets, budgets, st.floats(0, 1), st.floats(0, 1))
def test_composition_commutes(first, second, delta, other):
    for kind in (Approximate, PAC):
        one, two = Guarantee(kind(first, delta)), Guarantee(kind(second, other))
        assert one.compose(two).bound == two.compose(one).bound
        assert one.either(two).bound == two.either(one).bound


def test_failures_add_and_independent_ones_a_little_less():
    approximate = Guarantee(Approximate(1.0, 0.1)).repeated(3)
    assert approximate.epsilon == 3.0
    assert approximate.delta == pytest.approx(0.3)
    assert Fraction(approximate.delta) >= 3 * Fraction(0.1)
    pac = Guarantee(PAC(1.0, 0.1)).repeated(3)
    assert isinstance(pac.bound, PAC)
    assert 1 - Fraction(9, 10) ** 3 <= Fraction(pac.delta) + Fraction(1, 10**16) < Fraction(272, 1000)
    assert Guarantee(PAC(1.0, 0.1)).compose(Guarantee(Approximate(1.0, 0.1))).bound == Approximate(2.0, 0.2)
    assert Guarantee(Approximate(1.0, 0.7)).repeated(2).delta == 1.0


def test_one_of_several_costs_the_dearest():
    one_of = Guarantee(Pure(1.0)).either(Guarantee(Pure(3.0)), Guarantee(Pure(2.0)))
    assert one_of.bound == Pure(3.0)
    assert Guarantee(Pure(3.0)).either(Guarantee(PAC(1.0, 0.1))).bound == PAC(3.0, 0.1)
    assert Guarantee(Approximate(3.0, 0.2)).either(Guarantee(PAC(1.0, 0.3))).bound == Approximate(3.0, 0.3)
    assert Guarantee(Metric(3.0, "metre")).either(Guarantee(Metric(1.0, "metre"))).bound == Metric(
        3.0, "metre"
    )


@pytest.mark.parametrize("join", [Guarantee.compose, Guarantee.either])
def test_what_has_no_bound_leaves_none(join):
    reason = Nothing("the partner knows")
    assert join(Guarantee(Pure(1.0)), Guarantee(reason)).bound == reason
    assert isinstance(join(Guarantee(Pure(1.0)), Guarantee(Metric(1.0))).bound, Nothing)
    assert isinstance(join(Guarantee(Metric(1.0, "metre")), Guarantee(Metric(1.0, "mile"))).bound, Nothing)


def test_units_and_assumptions_join():
    one = Guarantee(Pure(1.0), "value", ("a", "b"))
    two = Guarantee(Pure(1.0), "location", ("b", "c"))
    assert one.compose(two).unit == "location"
    assert one.compose(two).assumes == ("a", "b", "c")
    assert one.compose(one).unit == "value"


def test_implication():
    strong, weak = Guarantee(Pure(1.0)), Guarantee(Pure(2.0))
    assert strong.implies(weak)
    assert not weak.implies(strong)
    assert strong.implies(Guarantee(Approximate(1.0, 1e-6)))
    assert strong.implies(Guarantee(PAC(1.0, 0.0)))
    assert Guarantee(PAC(1.0, 1e-6)).implies(Guarantee(Approximate(1.0, 1e-6)))
    assert not Guarantee(Approximate(1.0, 1e-6)).implies(Guarantee(PAC(1.0, 1e-6)))
    assert not Guarantee(Approximate(1.0, 1e-6)).implies(strong)
    assert Guarantee(Approximate(1.0, 0.0)).implies(strong)
    assert not Guarantee(Pure(1.0), assumes=("a secret",)).implies(strong)
    assert strong.implies(Guarantee(Pure(1.0), assumes=("a secret",)))
    assert not strong.implies(Guarantee(Pure(1.0), "person"))
    assert strong.implies(Guarantee(Nothing("none")))
    assert not Guarantee(Nothing("none")).implies(weak)


@given(st.floats(1e-12, 1e6))
def test_the_shown_bound_is_a_bound(epsilon):
    shown = float(str(Pure(epsilon)).removeprefix("ε ≤ "))
    assert shown >= epsilon * (1 - 1e-9)


@pytest.mark.parametrize("make", [lambda: Pure(-1.0), lambda: Pure(math.nan), lambda: Approximate(1.0, 1.5)])
def test_a_bound_is_valid_or_does_not_exist(make):
    with pytest.raises(InvalidParameter):
        make()


@pytest.mark.parametrize("times", [0, -1, 1.5, True])
def test_repetitions_are_counted(times):
    with pytest.raises(InvalidParameter):
        Guarantee(Pure(1.0)).repeated(times)


def information(channel, prior):
    """Give I(x; y) in nats by its definition."""
    joint = prior[:, None] * channel
    reports = joint.sum(axis=0)
    return float(np.sum(joint * np.log(channel / reports)))


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 3.0, 8.0])
def test_the_bound_on_information_holds_and_is_reached(epsilon):
    # A window of `width` of k cells about each of k values, all alike: reports are uniform.
    bound = Guarantee(Pure(epsilon)).mutual_information()
    k, best = 400, 0.0
    for width in range(1, k):
        level = np.where(np.arange(k) < width, math.exp(epsilon), 1.0)
        row = level / level.sum()
        best = max(best, float(np.sum(row * np.log(row * k))))
    assert best <= bound
    assert best >= 0.99 * bound
    assert bound <= min(epsilon, epsilon**2 / 8 * (1 + 1e-12))


def test_the_bound_on_information_holds_for_random_channels():
    random = np.random.default_rng(3)
    for epsilon in (0.1, 1.0, 4.0):
        bound = Guarantee(Pure(epsilon))
        for _ in range(200):
            k = random.integers(2, 6)
            # Rows between g and e^ε·g for one g, each summing to one: ε-private by construction.
            base = random.dirichlet(np.ones(5)) * random.uniform(math.exp(-epsilon), 1)
            rows = np.array([fill(base, math.exp(epsilon), random) for _ in range(k)])
            prior = random.dirichlet(np.ones(k))
            assert information(rows, prior) <= bound.mutual_information(k)


def fill(base, ratio, random):
    """Pour what is missing to one over the outputs in a random order, none above ratio·base."""
    row = base.copy()
    for place in random.permutation(len(base)):
        row[place] += min((ratio - 1) * base[place], 1 - row.sum())
    return row


def test_few_values_carry_little_information():
    assert Guarantee(Pure(20.0)).mutual_information(2) == pytest.approx(math.log(2))
    assert Guarantee(Pure(0.0)).mutual_information() == 0.0
    assert Guarantee(Pure(math.inf)).mutual_information() == math.inf
    with pytest.raises(InvalidParameter):
        Guarantee(Approximate(1.0, 0.1)).mutual_information()
    with pytest.raises(InvalidParameter):
        Guarantee(Pure(1.0)).mutual_information(0)


@given(st.floats(0.0, 20.0), st.floats(1e-9, 1.0))
def test_the_bayesian_reading(epsilon, prior):
    """No posterior of randomized response, the worst mechanism of its ε, is above the bound."""
    after = Guarantee(Pure(epsilon)).posterior(prior)
    truth, lie = 1.0 / (1.0 + math.exp(-epsilon)), 1.0 / (1.0 + math.exp(epsilon))
    exact = prior * truth / (prior * truth + (1.0 - prior) * lie)
    assert after == pytest.approx(exact, rel=1e-9, abs=1e-12)
    assert prior <= after * (1 + 1e-12)


def test_a_posterior_needs_a_pure_bound_and_a_probability():
    with pytest.raises(InvalidParameter, match="pure"):
        Guarantee(Approximate(1.0, 0.1)).posterior(0.5)
    for prior in (-0.1, 1.1, math.nan):
        with pytest.raises(InvalidParameter, match="prior"):
            Guarantee(Pure(1.0)).posterior(prior)
