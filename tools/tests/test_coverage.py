"""Intervals hold the population's value as often as they say: quickly here, at length on request."""

import math

import pytest

import dither as dt
from tools.coverage import EPSILONS, LIKELIHOOD, LINEAR, PAGE, Case, cells, lowest, recorded, table


def at_one_epsilon(cases):
    """Return each case at one ε, in turn; the record, from which the page is made, has all of them."""
    turns = ((case, EPSILONS[(at + at // 3) % 3]) for at, case in enumerate(cases))
    return [pytest.param(case, epsilon, id=f"{case.name}, ε = {epsilon:g}") for case, epsilon in turns]


@pytest.mark.parametrize("runs", [50, 300, 2000])
def test_the_threshold_is_the_binomial_one(runs):
    def below(hits):
        return sum(math.comb(runs, hit) * 9**hit for hit in range(hits)) / 10**runs  # of integers, exactly

    assert below(lowest(0.9, runs)) < 1e-6 < below(lowest(0.9, runs) + 1)


QUICK = [case for case in LINEAR if case.kind in (dt.Duchi, dt.Podium, dt.OGPM) and 100 in case.sizes]


@pytest.mark.some(every=3)
@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.name)
def test_averages_keep_their_level_with_a_hundred_reports(case):
    for epsilon in (0.5, 4.0):
        assert case.covered(epsilon, 100, 120, seed=3) * 120 >= lowest(0.92, 120)


@pytest.mark.some("OGPM, mean*", "SW, quantile 0.5, Beta*likelihood")
@pytest.mark.parametrize("case", LIKELIHOOD, ids=lambda case: case.name)
def test_likelihoods_keep_their_level(case):
    assert case.covered(4.0, 10_000, 12, seed=4) * 12 >= lowest(0.92, 12)


def test_the_page_is_made_from_the_record():
    """Every case of the tool has its cells, and the page states them."""
    kept = recorded()
    assert set(kept) == {f"{case.name}, n = {n}, ε = {epsilon:g}" for case, n, epsilon in cells()}
    assert f"<!-- coverage: begin -->\n{table()}\n<!-- coverage: end -->" in PAGE.read_text(encoding="utf-8")


def test_an_interval_that_is_too_narrow_is_rejected():
    case = QUICK[0]

    class Bold(Case):
        """The twin: half the interval."""

        def estimate(self, reports):
            estimate = super().estimate(reports)
            return type(estimate)(estimate.value, estimate.standard_error / 2, estimate.n, estimate.guarantee)

    bold = Bold(case.kind, case.population, case.question, sizes=case.sizes)
    assert bold.covered(1.0, 100, 120, seed=3) * 120 < lowest(0.92, 120)


@pytest.mark.slow
@pytest.mark.parametrize(("case", "epsilon"), at_one_epsilon(LINEAR))
def test_averages_keep_their_level(case, epsilon):
    for n in case.sizes:
        least, most = (0.92, 1.0) if n < 1000 else (0.93, 0.97)
        assert least <= case.covered(epsilon, n, 2000, seed=1) <= most


@pytest.mark.slow
@pytest.mark.parametrize(("case", "epsilon"), at_one_epsilon(LIKELIHOOD))
def test_likelihoods_keep_their_level_at_length(case, epsilon):
    assert case.covered(epsilon, 10_000, 60, seed=1) * 60 >= lowest(0.93, 60)
