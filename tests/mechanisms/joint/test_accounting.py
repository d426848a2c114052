"""What is promised, mode by mode, and in the shuffle model.

Accounting against enumeration over all pairings and coins, and against the recomputed numbers.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

import dither as dt
from dither.core.kernels.coin import PairedCoins
from dither.errors import InvalidParameter
from dither.mechanisms.joint import accounting
from dither.privacy import Approximate, Nothing, Pure
from tests.mechanisms.joint import brute
from tests.support.repository import reference

REFERENCE = reference("jrr")
TWO, THREE = dt.Categories(2), dt.Categories(3)
MILD = dt.JRR(TWO, p=Fraction(7, 10), rho=Fraction(-1, 5), n=100)


def test_the_default_is_the_strict_one() -> None:
    assert MILD.guarantee == MILD.accounting("partner revealed")
    highest, lowest = 1.2 * 0.7, 0.3 - 0.2 * 0.7  # p_max and p_min of [Thesis, Thm 3]
    assert MILD.guarantee.epsilon == pytest.approx(math.log(highest / lowest), rel=1e-12)
    assert MILD.guarantee.epsilon == MILD.epsilon == MILD.accounting("informed").epsilon
    assert MILD.guarantee.assumes == ("whoever deals the coins keeps them from the collector",)


def test_the_published_choice_promises_nothing() -> None:
    jrr = dt.JRR.heuristic(TWO, epsilon=1, n=100)
    assert isinstance(jrr.guarantee.bound, Nothing)
    assert jrr.guarantee.epsilon == math.inf
    assert isinstance(jrr.accounting("hidden", colluders=50).bound, Nothing)
    assert isinstance(jrr.accounting("informed").bound, Nothing)
    assert "no privacy guarantee" in jrr.describe()


def test_the_headline_and_what_it_spends() -> None:
    jrr = dt.JRR.heuristic(TWO, epsilon=0.01, n=10_000)
    spent = jrr.accounting("informed", delta=1e-6)
    assert spent.bound == Approximate(pytest_close(1.2346), 1e-6)
    assert "nobody learns who is paired with whom" in spent.assumes
    assert dt.KRR(TWO, epsilon=spent.epsilon).variance() * 10_000 == pytest.approx(5.8e3, rel=0.01)
    assert jrr.count_variance(0) == pytest.approx(1.0e6, rel=0.01)
    assert isinstance(replace(jrr, n=1_000).accounting("informed", delta=1e-6).bound, Nothing)


class pytest_close(float):  # noqa: N801
    """A double that equals what is within a thousandth of it."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and abs(float(self) - other) < 1e-3

    __hash__ = float.__hash__


def test_modes_are_ordered_by_what_is_known() -> None:
    for colluders in (0, 1, 10, 49, 98):
        hidden = MILD.accounting("hidden", colluders=colluders).epsilon
        assert math.log(7 / 3) - 1e-9 <= hidden <= MILD.guarantee.epsilon
    assert MILD.accounting("hidden").epsilon == pytest.approx(math.log(7 / 3), abs=1e-9)
    for delta in (1e-9, 1e-6, 1e-3):
        assert MILD.accounting("informed", delta=delta).epsilon <= MILD.guarantee.epsilon
    few, many = (MILD.accounting("partner revealed", colluders=m, delta=1e-3).epsilon for m in (1, 50))
    assert math.log(7 / 3) - 1e-9 <= few <= many <= MILD.guarantee.epsilon


def test_theorem_3_is_reported_and_labelled() -> None:
    jrr = dt.JRR.heuristic(TWO, epsilon=0.01, n=200)
    assert jrr.theorem_3(20) == pytest.approx(0.2108, abs=5e-4)
    stated = jrr.accounting("theorem 3", colluders=20)
    assert isinstance(stated.bound, Nothing)
    assert "Theorem 3 states ε = 0.2108" in str(stated)
    assert not stated.implies(dt.privacy.Guarantee(Pure(50.0)))
    assert jrr.accounting("hidden", colluders=20).epsilon > jrr.theorem_3(20)
    with pytest.raises(InvalidParameter, match="two categories"):
        dt.JRR(THREE, p=0.5, rho=0, n=4).theorem_3()
    with pytest.raises(InvalidParameter, match="two categories"):
        dt.JRR(THREE, p=0.5, rho=0, n=4).accounting("theorem 3")


def test_plain_coins_are_plain_in_every_mode() -> None:
    for domain in (TWO, THREE):
        plain = dt.KRR(domain, epsilon=1)
        jrr = dt.JRR.over(plain, rho=Fraction(0), n=50)
        for mode in ("partner revealed", "informed", "hidden"):
            assert jrr.accounting(mode).epsilon == pytest.approx(plain.guarantee.epsilon, rel=1e-12)
        assert jrr.accounting("hidden", colluders=20).epsilon == jrr.epsilon
        assert jrr.accounting("informed", delta=1e-6).epsilon <= jrr.epsilon


def test_three_categories_by_their_pair_law() -> None:
    """The loss with the partner's report and answer known: by the law of what two partners tell."""
    jrr = dt.JRR(THREE, p=Fraction(1, 2), rho=Fraction(-1, 2), n=4)
    p, rho, q, k = Fraction(1, 2), Fraction(-1, 2), Fraction(1, 4), 3
    cells = (p * p + rho * p * q, p * q - rho * p * q / (k - 1), q * q + rho * p * q / (k - 1) ** 2)
    ratios = [cells[0] / cells[1], cells[1] / cells[2]]
    worst = max(max(ratio, 1 / ratio) for ratio in ratios)
    assert jrr.guarantee.epsilon == pytest.approx(math.log(worst), rel=1e-12)


def test_bits_cost_twice() -> None:
    joint = dt.JRR.over(dt.rivals.SUE(dt.Categories(4), epsilon=2), rho=-0.1, n=10)
    bit = dt.JRR(TWO, p=joint.p, rho=-0.1, n=10)
    assert joint.guarantee.epsilon == pytest.approx(2 * bit.guarantee.epsilon, rel=1e-12)
    for more in ({"mode": "informed"}, {"mode": "partner revealed", "delta": 1e-6}, {"mode": "hidden"}):
        with pytest.raises(InvalidParameter, match="'partner revealed' without delta"):
            joint.accounting(**more)


@pytest.mark.parametrize(
    "more",
    [
        {"mode": "INFORMED"},
        {"mode": "hidden", "delta": 1e-6},
        {"mode": "theorem 3", "delta": 1e-6},
        {"mode": "informed", "colluders": 3},
        {"mode": "hidden", "colluders": 100},
        {"mode": "hidden", "colluders": -1},
        {"mode": "hidden", "colluders": 1.5},
        {"mode": "informed", "delta": 0.0},
        {"mode": "informed", "delta": 1.0},
        {"mode": "informed", "delta": "small"},
    ],
)
def test_bad_questions_are_refused(more: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter):
        MILD.accounting(**more)


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


@pytest.mark.some(every=3)
@pytest.mark.parametrize("n", [5, 6])
@pytest.mark.parametrize(("p", "rho"), CASES)
@pytest.mark.parametrize("lies", [1, 2])
def test_every_mode_against_enumeration(p: Fraction, rho: Fraction | str, lies: int, n: int) -> None:
    pairs = coins(p, rho)
    law = brute.law(pairs, n)
    for colluders in range(n - 1):
        found = accounting.hidden_epsilon(pairs, lies, n, colluders)
        assert found == pytest.approx(loss(brute.seen(law, list(range(1, 1 + colluders))), lies), abs=1e-9)
    everybody = brute.seen(law, list(range(1, n)))
    assert accounting.revealed_epsilon(pairs, lies) >= loss(everybody, lies) - 1e-12
    failure = accounting.informed_failure(pairs, lies, n)
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
    failure = accounting.revealed_failure(pairs, 1, n, 2)
    for epsilon in (0.0, 0.4, 1.0, 2.0):
        exact = delta([(a, b) for a, b in table.values()], 1, epsilon)
        assert exact <= failure(epsilon) <= exact + 1e-9


def test_more_correlation_is_never_safer() -> None:
    for n in (20, 21):
        losses = [accounting.hidden_epsilon(coins(0.7, -step / 24), 1, n, 5) for step in range(10)]
        assert losses == sorted(losses)
        failures = [accounting.informed_failure(coins(0.7, -step / 24), 1, n)(1.0) for step in range(10)]
        assert failures == sorted(failures)


def test_hidden_positive_correlations_are_exact_or_bounded() -> None:
    small, large = (accounting.hidden_epsilon(coins(0.6, 0.5), 1, n, 2) for n in (6, 600))
    assert small == pytest.approx(0.7309, abs=1e-4)
    assert large == accounting.revealed_epsilon(coins(0.6, 0.5), 1)


def test_hidden_numbers_of_six() -> None:
    for colluders, p, rho, stated, exact in REFERENCE["hidden_n6"]["value"]:
        pairs = coins(p, rho)
        assert accounting.theorem_3_epsilon(pairs, 6, colluders) == pytest.approx(stated, abs=1e-4)
        assert accounting.hidden_epsilon(pairs, 1, 6, colluders) == pytest.approx(float(exact), abs=1e-4)


def test_hidden_numbers_of_two_hundred() -> None:
    for epsilon, share, stated, exact, revealed in REFERENCE["hidden_n200"]["value"]:
        pairs, colluders = published(epsilon), round(200 * share)
        assert accounting.theorem_3_epsilon(pairs, 200, colluders) == pytest.approx(stated, abs=5e-4)
        assert accounting.hidden_epsilon(pairs, 1, 200, colluders) == pytest.approx(float(exact), abs=5e-4)
        assert accounting.revealed_epsilon(pairs, 1) == float(revealed)


def test_informed_numbers() -> None:
    for epsilon, n, rare, often, certain in REFERENCE["informed"]["value"]:
        pairs = published(epsilon)
        failure = accounting.informed_failure(pairs, 1, n)
        for delta, spent in ((1e-6, rare), (1e-3, often)):
            found = accounting.least_epsilon(failure, delta, accounting.revealed_epsilon(pairs, 1))
            assert found == pytest.approx(float(spent), rel=0.01)
        assert failure(60.0) == pytest.approx(certain, rel=0.01, abs=1e-30)


def test_a_partner_who_tells_gives_nearly_everything_away() -> None:
    for epsilon, delta in REFERENCE["pair_failure"].items():
        failure = accounting.revealed_failure(published(float(epsilon)), 1, 102, 101)  # surely a colluder
        assert failure(float(epsilon)) == pytest.approx(delta, abs=1e-4)


def test_the_smallest_budget_is_enough_and_less_is_not() -> None:
    pairs = published(1.0)
    failure = accounting.informed_failure(pairs, 1, 1_000)
    spent = accounting.least_epsilon(failure, 1e-6, accounting.revealed_epsilon(pairs, 1))
    assert failure(spent) <= 1e-6 < failure(spent * (1 - 1e-9))
    assert accounting.least_epsilon(failure, 0.9, math.inf) == 0.0
