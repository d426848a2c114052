"""Tail probabilities of test statistics, against scipy."""

import numpy as np
import pytest
from scipy import stats

from dither.numerics.chi_square import chi_square_survival, kolmogorov_survival, kuiper_survival


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 12, 99, 1000])
@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.9, 1.0, 1.5, 4.0])
def test_chi_square_is_scipys(freedom, ratio):
    expected = stats.chi2.sf(ratio * freedom, freedom)
    assert chi_square_survival(ratio * freedom, freedom) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("n", [50, 1000, 5000])
def test_kolmogorov_is_scipys(n):
    for scaled in np.linspace(0.3, 2.5, 12):
        expected = stats.kstwo.sf(scaled / np.sqrt(n), n)
        assert kolmogorov_survival(scaled / np.sqrt(n), n) == pytest.approx(expected, rel=0.05, abs=1e-3)


def test_kuiper_has_published_critical_values():
    for p, critical in ((0.1, 1.620), (0.05, 1.747), (0.01, 2.001)):  # [Stephens70], Table 1
        n = 10**8
        assert kuiper_survival(critical / np.sqrt(n), n) == pytest.approx(p, rel=0.01)
    assert kuiper_survival(0.0, 100) == 1.0
