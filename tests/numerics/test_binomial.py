"""The binomial threshold is scipy's inverse survival function, in the body and far into the tail."""

from __future__ import annotations

import pytest
from scipy import stats

from dither.errors import InvalidParameter
from dither.numerics.binomial import binomial_threshold


@pytest.mark.parametrize("n", [1, 7, 3000, 10**6])
@pytest.mark.parametrize("probability", [1e-6, 0.001, 0.3, 0.5, 0.97])
@pytest.mark.parametrize("tail", [0.5, 0.01, 1e-9, 1e-40])
def test_equals_scipy(n, probability, tail):
    found = binomial_threshold(tail, n, probability)
    law = stats.binom(n, probability)
    assert law.sf(found) <= tail * (1 + 1e-9)
    assert found == 0 or law.sf(found - 1) > tail * (1 - 1e-9)


def test_impossible_tails_are_refused():
    for given in [(0.0, 5, 0.5), (0.5, 5, 0.0), (1.0, 5, 0.5), (0.5, -1, 0.5)]:
        with pytest.raises(InvalidParameter):
            binomial_threshold(*given)
