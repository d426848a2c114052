"""Learned bounds hold the data, spend their share of ε, and are wrong as seldom as they say."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dither.errors import InvalidParameter
from dither.extensions import central
from dither.extensions.central.integer_noise import DiscreteStaircase
from dither.extensions.central.learned_bounds import LearnedBounds
from dither.extensions.central.tally import RecordGrid
from dither.foundation.randomness import Seeded


def test_learned_bounds_hold_the_data() -> None:
    values = np.random.default_rng(7).normal(50_000, 10_000, 20_000)
    answer = central.mean(values, LearnedBounds(), epsilon=1, source=Seeded(8))
    domain = answer.domain
    assert (domain.low, domain.high) == (2**14, 2**17)
    assert abs(float(answer) - values.mean()) < 6 * answer.standard_error < 100
    assert answer.guarantee.epsilon == 1
    for centre in (0.0, -3.0, 1e-4):
        values = np.random.default_rng(9).normal(centre, 1e-3, 20_000)
        domain = LearnedBounds().learn(values, Fraction(1), Seeded(10))
        assert domain.low <= np.quantile(values, 0.01) < np.quantile(values, 0.99) <= domain.high
        assert domain.length <= 4 * max(np.abs(values).max(), 2**-20)


def test_learned_bounds_spend_their_share() -> None:
    answer = central.mean([1.0] * 5000, LearnedBounds(share=0.25), epsilon=1, source=Seeded(11))
    domain = answer.domain
    assert (domain.low, domain.high) == (1, 2)
    law = DiscreteStaircase.best(RecordGrid(domain).cells, Fraction(3, 4))
    assert answer.standard_error == pytest.approx(math.sqrt(law.variance) / answer.n, rel=1e-3)
    total = central.sum([1.0] * 5000, LearnedBounds(share=0.25), epsilon=1, source=Seeded(11))
    assert total.standard_error == pytest.approx(2 * math.sqrt(law.variance), rel=1e-3)


def test_learned_bounds_never_fail() -> None:
    nan = float("nan")
    for values in ([], [nan] * 100, [1e300] * 1000, [-1e300] * 1000, [0.0] * 1000, [1e-300], [float("inf")]):
        for seed in range(20):
            answer = central.mean(values, LearnedBounds(), epsilon=0.5, source=Seeded(seed))
            assert math.isfinite(float(answer))
    assert LearnedBounds().learn(np.full(1000, 1e300), Fraction(1), Seeded(1)).high == 2.0**40
    assert LearnedBounds().learn(np.zeros(1000), Fraction(1), Seeded(1)).high == 2.0**-20


EDGES = [-8.0, -4.0, -2.0, -1.0, -0.5, -0.25, -0.125, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0]


@pytest.mark.parametrize("value", [0.0, 0.124, 0.125, 0.9, 1.0, 3.99, 4.0, 7.9, 8.0, 100.0, math.inf])
def test_a_record_is_in_one_bin(value: float) -> None:
    """At ε = 40 the noise is 0 and one record passes the threshold: the bounds are the edges of its bin."""
    rule = LearnedBounds(smallest=-3, largest=3)
    for signed in (value, -value):
        domain = rule.learn(np.array([signed]), Fraction(40), Seeded(1))
        assert (domain.low, domain.high) in itertools.pairwise(EDGES)
        assert domain.low <= min(max(signed, -8.0), 8.0) <= domain.high


def test_a_record_is_counted_once_and_a_missing_one_not() -> None:
    """At ε = 5 two records pass the threshold, one does not; the noise of a bin is 0 in 98.7 % of draws."""
    rule = LearnedBounds(smallest=-3, largest=3, mistake=0.05)
    values = np.array([1.5, 1.5, 1.5, 5.0])
    learned = [rule.learn(values, Fraction(5), Seeded(seed)) for seed in range(60)]
    assert sum(domain.high == 2.0 for domain in learned) > 50
    twice = [rule.learn(np.append(values, 5.0), Fraction(5), Seeded(seed)) for seed in range(60)]
    assert sum(domain.high == 8.0 for domain in twice) > 50
    missing = rule.learn(np.array([1.5, *[math.nan] * 1000]), Fraction(40), Seeded(1))
    assert (missing.low, missing.high) == (1.0, 2.0)


@pytest.mark.parametrize(
    "arguments",
    [{"share": 0}, {"share": 1}, {"share": "x"}, {"smallest": 1.5}, {"smallest": 40}, {"largest": 501}],
)
def test_learned_bounds_are_checked(arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter):
        LearnedBounds(**arguments)  # type: ignore[arg-type]


def test_learned_bounds_are_wrong_once_in_a_million_times() -> None:
    rule, values = LearnedBounds(), np.random.default_rng(1).normal(50, 5, 2000)
    highest = {rule.learn(values, Fraction(1), Seeded(seed)).high for seed in range(150)}
    assert highest <= {64.0, 128.0}  # one in 25 was wider at a chance of 5 %
    with pytest.raises(InvalidParameter, match="mistake"):
        LearnedBounds(mistake=0.0)
