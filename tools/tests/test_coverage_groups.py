"""Intervals of combinations and of pairs keep their level, and so do tests: quickly, and at length."""

import pytest

from tools.coverage import EPSILONS, lowest
from tools.coverage_groups import CASES


@pytest.mark.some(every=4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_combinations_keep_their_level(case):
    share, answered = case.covered(1.0, 60, seed=3)
    many = max(round(60 * answered), 1)
    assert share * many >= lowest(0.92, many)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_combinations_keep_their_level_at_length(case, epsilon):
    share, answered = case.covered(epsilon, 250, seed=1)
    many = round(250 * answered)
    if answered > 0.2:
        assert share * many >= lowest(0.94, many)
