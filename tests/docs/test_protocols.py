"""The tables about what JRR spends and buys are what the library computes."""

from __future__ import annotations

import re

import pytest

import dither as dt
from tests.support.repository import ROOT

YES_NO = dt.Categories(["no", "yes"])
PAGE = (ROOT / "docs" / "jrr.md").read_text()


def rows(head: str) -> list[list[str]]:
    """Give the cells of the table that begins with a head, without the spaces in its numbers."""
    table = PAGE[PAGE.index(head) :].split("\n\n")[0].splitlines()[2:]
    return [[re.sub(r"(?<=\d) (?=\d)", "", cell.strip()) for cell in line.split("|")[1:-1]] for line in table]


def plain(epsilon: float, n: int) -> float:
    return float(n * dt.KRR(YES_NO, epsilon=epsilon).variance(0))


def test_what_the_published_choice_spends() -> None:
    table = rows("| requested ε |")
    assert len(table) == 7
    for epsilon, n, spent, variance, at_spent in table:
        people = int(n)
        jrr = dt.JRR.heuristic(YES_NO, epsilon=float(epsilon), n=people)
        assert round(jrr.count_variance(0)) == int(variance)
        promised = jrr.accounting("informed", delta=1e-6)
        if not at_spent:
            assert isinstance(promised.bound, dt.privacy.Nothing)
            continue
        assert promised.epsilon == pytest.approx(float(spent), abs=6e-4)
        assert round(plain(promised.epsilon, people)) == int(at_spent)


@pytest.mark.slow
def test_what_is_best_at_a_budget() -> None:
    table, n = rows("| ε | plain RR |"), 10_000
    assert len(table) == 4
    for epsilon, response, tuned, shuffled, device in table:
        budget = float(epsilon)
        best = dt.JRR.tuned(YES_NO, epsilon=budget, mode="informed", n=n, n1=0, delta=1e-6)
        assert [round(plain(budget, n)), round(best.count_variance(0))] == [int(response), int(tuned)]
        on_device = float(device)
        assert dt.shuffled(on_device - 0.01, n=n, delta=1e-6).epsilon <= budget
        assert dt.shuffled(on_device + 0.01, n=n, delta=1e-6).epsilon > budget
        assert plain(on_device, n) == pytest.approx(float(shuffled), rel=0.015)
