"""The coins and the geometric noise are what they say, and a wrong one is seen."""

from collections import Counter
from fractions import Fraction

import pytest
from mpmath import mp, mpf

from dither.errors import InvalidParameter
from dither.extensions.central.integer_noise import GeometricRatio, budget
from dither.foundation.randomness import Seeded, Source
from tests.support.chi_square import fits

EXPONENTS = [Fraction(1, 100), Fraction(0.1), Fraction(1), Fraction(7, 3), Fraction(6)]


def coin_masses(probability: float) -> dict[object, float]:
    return {True: probability, False: 1.0 - probability}


def geometric_masses(exponent: Fraction) -> dict[int, float]:
    with mp.workdps(30):
        ratio = mp.exp(-mpf(exponent.numerator) / exponent.denominator)
        return {k: float((1 - ratio) * ratio**k) for k in range(int(60 / exponent) + 60)}


@pytest.mark.some(every=3)
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_coins(exponent: Fraction) -> None:
    ratio, source = GeometricRatio(exponent), Seeded(1)
    wanted = float(mp.exp(-mpf(exponent.numerator) / exponent.denominator))
    flips = [ratio.coin(source) for _ in range(20_000)]
    assert fits(flips, coin_masses(wanted))
    doubled = wanted * 2**ratio.halvings
    assert 0 < doubled <= 1
    flips = [ratio.doubled_coin(source) for _ in range(20_000)]
    assert fits(flips, coin_masses(doubled))
    if ratio.halvings:
        assert not fits(flips, coin_masses(wanted))


@pytest.mark.some(every=3)
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_geometric(exponent: Fraction) -> None:
    source = Seeded(2)
    draws = [GeometricRatio(exponent).geometric(source) for _ in range(20_000)]
    assert fits(draws, geometric_masses(exponent))
    coarse = [int(draw * exponent) for draw in draws]
    for other in (Fraction(1), Fraction(11, 10) if exponent < 3 else Fraction(3, 2)):
        binned: Counter[object] = Counter()
        for draw, mass in geometric_masses(exponent * other).items():
            binned[int(draw * exponent)] += mass
        assert fits(coarse, binned) == (other == 1)


@pytest.mark.some(every=3)
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_two_sided(exponent: Fraction) -> None:
    half = geometric_masses(exponent)
    source = Seeded(3)
    draws = [GeometricRatio(exponent).two_sided(source) for _ in range(20_000)]
    assert fits(draws, half | {-k: mass for k, mass in half.items()})


def twice_zero(ratio: GeometricRatio, source: Source) -> int:
    """A broken twin: zero comes up with either sign."""
    size = ratio.geometric(source)
    return -size if source.bits(1) else size


def test_two_sided_twin_is_rejected() -> None:
    half = geometric_masses(Fraction(1))
    source = Seeded(4)
    draws = [twice_zero(GeometricRatio(Fraction(1)), source) for _ in range(20_000)]
    assert not fits(draws, half | {-k: mass for k, mass in half.items()})


def test_extreme_budgets_end() -> None:
    source = Seeded(5)
    assert GeometricRatio(Fraction(1e-9)).geometric(source) >= 0
    assert GeometricRatio(Fraction(200)).geometric(source) == 0


@pytest.mark.parametrize("epsilon", [0, -1, 1e-10, 201, float("nan"), float("inf"), "1", None, True])
def test_budget_refuses(epsilon: object) -> None:
    with pytest.raises(InvalidParameter, match="epsilon"):
        budget(epsilon)


def test_budget_is_the_double() -> None:
    assert budget(0.1) == Fraction(0.1) != Fraction(1, 10)
    with pytest.raises(InvalidParameter):
        GeometricRatio(Fraction(0))
