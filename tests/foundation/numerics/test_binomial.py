"""Binomial probabilities, tails and thresholds against scipy and against sums of fifty digits.

Bounds on a probability are scipy's quantiles of the beta distribution.
"""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp
from scipy import stats

from dither.errors import InvalidParameter
from dither.foundation.numerics.binomial import (
    TAIL_ERROR,
    at_least,
    at_most,
    binomial_above,
    binomial_below,
    binomial_tail,
    binomial_threshold,
    probability,
)


@pytest.mark.some(every=4)
@pytest.mark.parametrize("n", [1, 7, 3000, 10**6])
@pytest.mark.parametrize("probability", [1e-6, 0.001, 0.3, 0.5, 0.97])
@pytest.mark.parametrize("tail", [0.5, 0.01, 1e-9, 1e-40])
def test_equals_scipy(n, probability, tail):
    found = binomial_threshold(tail, n, probability)
    law = stats.binom(n, probability)
    assert law.sf(found) <= tail * (1 + 1e-9)
    assert found == 0 or law.sf(found - 1) > tail * (1 - 1e-9)


def test_impossible_tails_are_refused():
    for impossible in [(0.0, 5, 0.5), (0.5, 5, 0.0), (1.0, 5, 0.5), (0.5, -1, 0.5)]:
        with pytest.raises(InvalidParameter):
            binomial_threshold(*impossible)


@pytest.mark.parametrize("n", [10**4, 10**6, 10**8, 10**10])
@pytest.mark.parametrize("p", [1e-4, 0.01, 0.119, 0.5, 0.99])
def test_tails_of_many_trials_equal_scipy(n: int, p: float) -> None:
    deviation = np.sqrt(n * p * (1 - p))
    counts = np.unique(np.clip(np.round(n * p + np.linspace(-11, 11, 45) * deviation), 0, n))
    for ours, theirs in (
        (at_least(counts, n, p), stats.binom.sf(counts - 1, n, p)),
        (at_most(counts, n, p), stats.binom.cdf(counts, n, p)),
        (probability(counts, n, p), stats.binom.pmf(counts, n, p)),
    ):
        seen = theirs > 1e-40
        assert np.abs(ours / theirs - 1)[seen].max() <= TAIL_ERROR


@pytest.mark.some(every=4)
@pytest.mark.parametrize("n", [1, 2, 5, 20, 100, 700])
@pytest.mark.parametrize("p", [1e-4, 0.119, 0.5, 0.99])
def test_tails_of_few_trials_equal_sums_of_fifty_digits(n: int, p: float) -> None:
    with mp.workdps(50):
        chance = mp.mpf(p)
        terms = [mp.binomial(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(n + 1)]
        for k in sorted({0, 1, n // 7, n // 2, round(n * p), n - 1, n}):
            exact, single = mp.fsum(terms[k:]), terms[k]
            if exact > 1e-40:
                assert abs(float(at_least(k, n, p)) / float(exact) - 1) < 2e-11
            if single > 1e-40:
                assert abs(float(probability(k, n, p)) / float(single) - 1) < 1e-12
    assert at_least(n + 1, n, p) == 0.0
    assert at_most(-1, n, p) == 0.0
    assert at_least(0, n, p) == 1.0


@pytest.mark.some(every=3)
@pytest.mark.parametrize("trials", [1, 10, 400, 100_000, 10**6])
@pytest.mark.parametrize("share", [0.0, 1e-5, 0.02, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("omega", [0.3, 0.005, 1e-7])
def test_bounds_equal_scipy(trials: int, share: float, omega: float) -> None:
    successes = round(trials * share)
    lower = stats.beta.ppf(omega, successes, trials - successes + 1) if successes else 0.0
    upper = stats.beta.isf(omega, successes + 1, trials - successes) if successes < trials else 1.0
    assert binomial_below(successes, trials, omega) == pytest.approx(lower, rel=1e-8)
    assert binomial_above(successes, trials, omega) == pytest.approx(upper, rel=1e-8, abs=1.1e-9)
    assert binomial_below(successes, trials, omega) <= lower


@pytest.mark.parametrize(
    ("successes", "trials", "p"), [(3, 9, 0.2), (60, 10**6, 3e-5), (5 * 10**5, 10**6, 0.499)]
)
def test_the_tail_equals_scipy(successes: int, trials: int, p: float) -> None:
    assert binomial_tail(successes, trials, p) == pytest.approx(
        stats.binom.sf(successes - 1, trials, p), rel=1e-9
    )
    assert binomial_tail(0, trials, p) == 1.0


@pytest.mark.parametrize("trials", [1, 7, 400, 10**5])
def test_the_sum_and_the_quadrature_agree(trials: int) -> None:
    """Two formulas of one tail: the sum for one number, the quadrature for arrays."""
    for successes in {1, max(1, trials // 50), max(1, trials // 2), trials}:
        for p in (share * successes / trials for share in (0.05, 0.5, 0.97)):
            both = binomial_tail(successes, trials, p), float(at_least(successes, trials, p))
            assert both[0] == pytest.approx(both[1], rel=1e-11), (successes, p)
