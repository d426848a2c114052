"""The cells behind the analyst's tables of docs/coverage.md: a few quickly, all of them at length."""

import pytest

from tools.coverage_answers import recorded
from tools.coverage_desk import cells

QUICK = {
    "mean, Podium, weights of the design, n = 300, ε = 2": 60,
    "mean, Podium, weights exp(0.6·normal) that go with the value, n = 300, ε = 8": 60,
    "frequencies of 4, KRR, raked weights, n = 300, ε = 8": 40,
    "means by a private category, Podium, KRR, n = 400, ε = 8": 40,
    "equal numbers, Podium, of two private groups are accepted at 5 %, n = 400, ε = 8": 40,
    "shares of rows of 3 × 2, KRR, n = 400, ε = 8": 40,
    "shares of columns of 3 × 2, weighted, KRR, n = 400, ε = 8": 40,
    "slope of a private number beside two regressors, n = 300, ε = 8": 40,
    "log-odds of a private category, KRR, n = 300, ε = 8": 10,
    "mean of who answered, Podium, 30 % answered, n = 400, ε = 8": 60,
    "share who answered, Podium, 30 % answered, n = 400, ε = 8": 60,
    "variance of who answered, Podium, 80 % answered, n = 400, ε = 8": 40,
}
CELLS = {cell.name: cell for cell in cells()}


@pytest.mark.parametrize("name", QUICK)
def test_a_cell_holds(name: str) -> None:
    share, error = CELLS[name].measure(QUICK[name], seed=3)
    assert share >= CELLS[name].least - 4.5 * error


def test_every_cell_is_recorded_and_reaches_what_is_asked() -> None:
    kept = recorded()
    for name, cell in CELLS.items():
        share, error, runs = kept[name]
        assert runs == cell.repetitions
        assert cell.least - 2.0 * error <= share <= cell.most + 2.0 * error, name


@pytest.mark.slow
@pytest.mark.parametrize("name", CELLS)
def test_a_cell_holds_at_length(name: str) -> None:
    cell = CELLS[name]
    share, error = cell.measure(max(cell.repetitions // 10, 6), seed=2)
    assert cell.least - 3.5 * error <= share <= cell.most + 3.5 * error
