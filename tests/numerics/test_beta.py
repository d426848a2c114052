"""Bounds on a probability are scipy's quantiles of the beta distribution."""

from __future__ import annotations

import pytest
from scipy import stats

from dither.numerics.beta import binomial_above, binomial_below, binomial_tail
from dither.numerics.binomial import at_least


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
