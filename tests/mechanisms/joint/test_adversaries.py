"""Accounting against enumeration over all pairings and coins, and against the recomputed numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dither.kernels.correlated_coins import PairedCoins
from dither.mechanisms.joint import adversaries
from tests.mechanisms.joint import brute
from tests.support.repository import reference

REFERENCE = reference("jrr")


def coins(p: Fraction | float, rho: Fraction | float | str, lies: int = 1) -> PairedCoins:
    p = Fraction(p)
    exact = 1 - 1 / p if isinstance(rho, str) else Fraction(rho)
    return PairedCoins.of(p, exact * p * (1 - p) / lies)


def published(epsilon: float) -> PairedCoins:
    return coins(1 / (1 + math.exp(-epsilon)), "1-1/p")


CASES = [
    (Fraction(7, 10), Fraction(-1, 5)),
    (Fraction(7, 10), "1-1/p"),
    (Fraction(3, 5), Fraction(1, 2)),
    (Fraction(3, 5), Fraction(1)),
    (Fraction(9, 10), Fraction(-1, 10)),
    (Fraction(3, 5), Fraction(0)),
]


@pytest.mark.parametrize("n", [5, 6])
@pytest.mark.parametrize(("p", "rho"), CASES)
@pytest.mark.parametrize("lies", [1, 2])
def test_every_mode_against_enumeration(p: Fraction, rho: Fraction | str, lies: int, n: int) -> None:
    pairs = coins(p, rho)
    law = brute.law(pairs, n)
    for colluders in range(n - 1):
        found = adversaries.hidden(pairs, lies, n, colluders)
        assert found == pytest.approx(loss(brute.seen(law, list(range(1, 1 + colluders))), lies), abs=1e-9)
    everybody = brute.seen(law, list(range(1, n)))
    assert adversaries.revealed(pairs, lies) >= loss(everybody, lies) - 1e-12
    failure = adversaries.informed_failure(pairs, lies, n)
    for epsilon in (0.0, 0.1, 0.7, 1.5, 3.0):
        exact = delta(everybody, lies, epsilon)
        assert exact <= failure(epsilon) <= exact + 1e-9


def loss(seen: list[tuple[Fraction, Fraction]], lies: int) -> float:
    losses = [0.0]
    for truth, lie in seen:
        if truth and lie:
            losses.append(abs(math.log(lies * truth / lie)))
        elif truth or lie:
            losses.append(math.inf)
    return max(losses)


def delta(seen: list[tuple[Fraction, Fraction]], lies: int, epsilon: float) -> float:
    """Give δ(ε) between two answers: the report is the one, the other, or (for both alike) another one."""
    ratio = Fraction(math.exp(epsilon))
    total = Fraction(0)
    for truth, lie in seen:
        total += max(truth - ratio * lie / lies, Fraction(0)) + max(lie / lies - ratio * truth, Fraction(0))
    return float(total)


@pytest.mark.parametrize("n", [5, 6])
@pytest.mark.parametrize(("p", "rho"), CASES[:3])
def test_the_lottery_against_enumeration(p: Fraction, rho: Fraction | str, n: int) -> None:
    """Person 0 is paired at random; a partner among the colluders tells their coin."""
    pairs, colluders = coins(p, rho), {1, 2}
    ways = list(brute.pairings(list(range(n))))
    table: dict[object, list[Fraction]] = {}
    for pairing in ways:
        group = next(group for group in pairing if 0 in group)
        partner = next((one for one in group if one != 0), None)
        told = partner in colluders
        for truthful in (True, False):
            for other in (True, False) if told else (None,):
                mass = (pairs.chance if truthful else 1 - pairs.chance) if other is None else None
                if mass is None:
                    mass = Fraction(
                        (pairs.neither, pairs.one, pairs.both)[truthful + bool(other)], pairs.total
                    )
                entry = table.setdefault((told and partner, other), [Fraction(0), Fraction(0)])
                entry[not truthful] += mass / len(ways)
    failure = adversaries.revealed_failure(pairs, 1, n, 2)
    for epsilon in (0.0, 0.4, 1.0, 2.0):
        exact = delta([(a, b) for a, b in table.values()], 1, epsilon)
        assert exact <= failure(epsilon) <= exact + 1e-9


def test_more_correlation_is_never_safer() -> None:
    for n in (20, 21):
        losses = [adversaries.hidden(coins(0.7, -step / 24), 1, n, 5) for step in range(10)]
        assert losses == sorted(losses)
        failures = [adversaries.informed_failure(coins(0.7, -step / 24), 1, n)(1.0) for step in range(10)]
        assert failures == sorted(failures)


def test_hidden_positive_correlations_are_exact_or_bounded() -> None:
    small, large = (adversaries.hidden(coins(0.6, 0.5), 1, n, 2) for n in (6, 600))
    assert small == pytest.approx(0.7309, abs=1e-4)
    assert large == adversaries.revealed(coins(0.6, 0.5), 1)


def test_hidden_numbers_of_six() -> None:
    for colluders, p, rho, stated, exact in REFERENCE["hidden_n6"]["value"]:
        pairs = coins(p, rho)
        assert adversaries.theorem_3(pairs, 6, colluders) == pytest.approx(stated, abs=1e-4)
        assert adversaries.hidden(pairs, 1, 6, colluders) == pytest.approx(float(exact), abs=1e-4)


def test_hidden_numbers_of_two_hundred() -> None:
    for epsilon, share, stated, exact, revealed in REFERENCE["hidden_n200"]["value"]:
        pairs, colluders = published(epsilon), round(200 * share)
        assert adversaries.theorem_3(pairs, 200, colluders) == pytest.approx(stated, abs=5e-4)
        assert adversaries.hidden(pairs, 1, 200, colluders) == pytest.approx(float(exact), abs=5e-4)
        assert adversaries.revealed(pairs, 1) == float(revealed)


def test_informed_numbers() -> None:
    for epsilon, n, rare, often, certain in REFERENCE["informed"]["value"]:
        pairs = published(epsilon)
        failure = adversaries.informed_failure(pairs, 1, n)
        for delta, spent in ((1e-6, rare), (1e-3, often)):
            found = adversaries.least_epsilon(failure, delta, adversaries.revealed(pairs, 1))
            assert found == pytest.approx(float(spent), rel=0.01)
        assert failure(60.0) == pytest.approx(certain, rel=0.01, abs=1e-30)


def test_a_partner_who_tells_gives_nearly_everything_away() -> None:
    for epsilon, delta in REFERENCE["pair_failure"].items():
        failure = adversaries.revealed_failure(published(float(epsilon)), 1, 102, 101)  # surely a colluder
        assert failure(float(epsilon)) == pytest.approx(delta, abs=1e-4)


def test_the_smallest_budget_is_enough_and_less_is_not() -> None:
    pairs = published(1.0)
    failure = adversaries.informed_failure(pairs, 1, 1_000)
    spent = adversaries.least_epsilon(failure, 1e-6, adversaries.revealed(pairs, 1))
    assert failure(spent) <= 1e-6 < failure(spent * (1 - 1e-9))
    assert adversaries.least_epsilon(failure, 0.9, math.inf) == 0.0
