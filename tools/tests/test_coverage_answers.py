"""The cells behind the claims of docs/coverage_few.md: a few quickly, all of them at length."""

import pytest

from tools.coverage_answers import cells, find

QUICK = {
    "as expected, KRR, k = 24, n = 200, ε = 8": 80,
    "as expected, OUE, k = 50, n = 1000, ε = 8": 25,
    "as expected, OLH, k = 24, n = 200, ε = 2.5": 80,
    "two equal groups, KRR, k = 200, n = 100, ε = 8": 15,
    "two equal groups, ProjectiveResponse, k = 24, n = 200, ε = 8": 15,
    "the rarest cell of 8 × 6, KRR, n = 150, ε = 4": 80,
    "all cells of 8 × 6, ProjectiveResponse, n = 150, ε = 4": 30,
    "all cells of Marginals 6, 5, 4, n = 200, ε = 8": 40,
    "quantile 0.5 of the sawtooth, SW, n = 3000, ε = 2": 3,
    "tail and cdf at 170 of an exponential clipped at 180, SW, n = 3000, ε = 2": 5,
    "tail above 0.5, 97 % near 0.3 and 3 % above 0, SW, n = 3000, ε = 4": 3,
    "the day itself, weekends": 6,
}


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.some(every=4)
def test_a_cell_holds(name):
    cell = find(name)
    share, error = cell.measure(QUICK[name], seed=3)
    assert share >= cell.least - 4.5 * error


@pytest.mark.slow
@pytest.mark.parametrize("cell", cells(), ids=lambda cell: cell.name)
def test_a_cell_holds_at_length(cell):
    share, error = cell.measure(max(cell.repetitions // 10, 6), seed=2)
    assert cell.least - 3.5 * error <= share <= cell.most + 3.5 * error
