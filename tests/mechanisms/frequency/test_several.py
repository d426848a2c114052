"""Sets of items: the law by enumeration, the variance, thinning and padding, and hostile values."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.advice.catalogue import mechanism_of
from dither.advice.explain import explain
from dither.core.kernels.sets.several import SetKernel
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain
from dither.mechanisms.frequency.several import best_sets
from dither.privacy.exact import exp_below
from tests.support.broken.frequency import FirstOfMany, NoDummies
from tests.support.chi_square import p_of_counts
from tests.support.repository import ROOT
from tools.sets import measure

ALARM = 1e-6
SMALL = [(4, 2, 1.0), (5, 1, 0.5), (5, 3, 2.0), (4, 4, 1.0)]
GOALS = [(20, 3, 1, 8.6), (100, 10, 1, 33.3), (1000, 20, 1, 80.6), (100, 10, 2, 4.3), (1000, 20, 4, 0.73)]


def every_set(items: int) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(range(items), size) for size in range(items + 1)))


@pytest.mark.parametrize(("items", "most", "epsilon"), SMALL)
@pytest.mark.parametrize("least", [1, 2])
def test_the_loss_is_at_most_epsilon_between_any_two_sets(
    items: int, most: int, epsilon: float, least: int
) -> None:
    if least > most:
        return
    kernel = SetKernel.largest(epsilon, items, most, 2, least)
    laws = [kernel.probabilities(one) for one in every_set(items)]
    assert all(sum(law) == 1 for law in laws)
    ratio = max(max(column) / min(column) for column in zip(*laws, strict=True))
    assert ratio == kernel.ratio <= exp_below(Fraction(epsilon))
    assert kernel.epsilon > epsilon - 1e-12
    # Below every law; less than all of it only where some told sets meet everybody's.
    assert sum(map(min, zip(*laws, strict=True))) >= sum(kernel.blanket.masses) * (1 - 1e-12) > 0


@pytest.mark.parametrize(("items", "most", "epsilon"), SMALL)
def test_the_rates_are_those_of_the_law(items: int, most: int, epsilon: float) -> None:
    kernel = SetKernel.largest(epsilon, items, most, 2, 1)
    own, other = kernel.rates
    none, single, both = kernel.pair_rates
    told = list(combinations(range(kernel.size), kernel.chosen))
    for one in every_set(items):
        if len(one) > most:
            continue
        law = dict(zip(told, kernel.probabilities(one), strict=True))
        for item in range(items):
            assert sum(law[row] for row in told if item in row) == (own if item in one else other)
        for pair in combinations(range(items), 2):
            assert law[pair] == (none, single, both)[len({*pair} & {*one})]


@pytest.mark.parametrize(("items", "most", "epsilon", "goal"), GOALS)
def test_the_variance_of_a_rare_item(items: int, most: int, epsilon: float, goal: float) -> None:
    asked = dt.SetResponse(dt.Several(items, most=most), epsilon=epsilon)
    assert asked.variance() <= goal
    assert asked.report_bytes <= 16
    assert asked.cut_cost < 0.002


def test_the_page_states_these_numbers_and_what_was_measured() -> None:
    """Every line of the table of docs/several.md; the first is measured again."""
    page = (ROOT / "docs" / "several.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| [0-9].*", page.split("## Very many items")[0], re.M)
    assert len(lines) == len(GOALS)
    for line in lines:
        cells = [cell.strip().replace("\N{NO-BREAK SPACE}", "").replace(" ", "") for cell in line.split("|")]
        items, most = map(int, cells[1].split(","))
        asked: Any = dt.SetResponse(dt.Several(items, most=most), epsilon=float(cells[2]))
        told, size = map(int, cells[5].split(","))
        assert (asked.question.kernel.chosen, asked.report_bytes) == (told, size)
        assert asked.variance() == pytest.approx(float(cells[3]), rel=1.2e-3)
        assert float(cells[4]) == pytest.approx(asked.variance(), rel=0.05)
        assert items * math.exp(asked.epsilon) / math.expm1(asked.epsilon) ** 2 == pytest.approx(
            float(cells[6]), rel=3e-3
        )
        assert asked.variance(most / items) / asked.bound == pytest.approx(float(cells[7]), abs=0.005)
    asked = dt.SetResponse(dt.Several(100, most=10), epsilon=1)
    assert measure(asked, seed=2, numbers=2000) == pytest.approx(asked.variance(), rel=0.15)


def test_the_page_states_what_polynomials_gain() -> None:
    page = (ROOT / "docs" / "several.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| [0-9].*", page.split("## Very many items")[1], re.M)
    assert len(lines) == 6
    for line in lines:
        cells = [cell.strip().replace(" ", "") for cell in line.split("|")]
        items, most = map(int, cells[1].split(","))
        epsilon, domain = float(cells[2]), dt.Several(items, most=most)
        made = dt.SetResponse(domain, epsilon=epsilon, report="polynomial")
        variance, size = cells[3].split(",")
        assert made.variance() == pytest.approx(float(variance), rel=5e-3)
        assert made.report_bytes == int(size)
        assert 1 + made.gap == pytest.approx(float(cells[4]), abs=0.006)
        plans = [best_sets(epsilon, items, most, 8 * limit) for limit in (16, 64)]
        for plan, told in zip(plans, cells[5:7], strict=True):
            assert plan is not None
            assert float(plan.variance) == pytest.approx(float(told), rel=5e-3)
        chosen = dt.SetResponse(domain, epsilon=epsilon)
        assert chosen.report == ("elements" if items == 100 else "polynomial")
        assert chosen.variance() <= 1.03 * min(
            made.variance(), *(float(plan.variance) for plan in plans if plan)
        )


def test_the_report_is_chosen_by_variance_and_bytes() -> None:
    domain = dt.Several(10_000, most=5)
    chosen: Any = dt.ask(domain, epsilon=1).mechanism
    assert (chosen.report, chosen.report_bytes) == ("polynomial", 10)
    best = dt.recommend(domain, dt.goals.Frequencies(n=1000), epsilon=1)[0]
    assert best["mechanism"] == "SetResponse(report='polynomial')"
    assert "in 10-byte reports; a variance at most 13 % above the smallest possible" in best["why"]
    again: Any = dt.from_json(chosen.to_json()).design()
    assert again == chosen == mechanism_of("SetResponse(report='polynomial')", domain, 1.0)
    assert chosen.at(2).report == "polynomial"
    assert dt.SetResponse(domain, epsilon=1, pairs=True).report_bytes == 12
    assert dt.SetResponse(dt.Several(1000, most=20), epsilon=1).report == "elements"
    # More than 16 bytes where that is better than both: a polynomial would have 168.
    assert dt.SetResponse(dt.Several(10_000, most=100), epsilon=1).report_bytes == 44
    two = dt.SetResponse(dt.Several(100, most=10), epsilon=2, pairs=True)
    assert two.question.kernel.chosen == 2  # type: ignore[attr-defined]
    for wrong in (
        {"report": "bits"},
        {"pairs": 1},
        {"most_bytes": 3},
        {"most_bytes": 257},
        {"most_bytes": True},
    ):
        with pytest.raises(InvalidParameter):
            dt.SetResponse(domain, epsilon=1, **wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="two items"):
        dt.SetResponse(dt.Several(20, most=1), epsilon=1, pairs=True)
    with pytest.raises(InvalidParameter, match="in 8 bytes, but none does"):
        dt.SetResponse(domain, epsilon=1, report="polynomial", most_bytes=8)


def test_a_limit_of_bytes_says_what_it_costs_and_what_costs_less() -> None:
    domain = dt.Several(100_000, most=10)
    told = r'reports of 16 bytes have 116 times .* 1 times with report="polynomial" in 23 bytes'
    with pytest.warns(UserWarning, match=told):
        cut = dt.SetResponse(domain, epsilon=1, most_bytes=16)
    assert 1 + cut.cut_cost == pytest.approx(116, rel=0.01)
    assert "120 times the variance" in str(explain({"parts": cut}))
    free = dt.SetResponse(domain, epsilon=1)
    assert not free.cut_remark
    assert free.cut_cost == 0.0
    assert free.variance() == pytest.approx(cut.variance() / 116, rel=0.02)


def test_reports_follow_the_law_and_wrong_twins_do_not() -> None:
    domain = dt.Several(["a", "b", "c", "d", "e"], most=2)
    asked = dt.SetResponse(domain, epsilon=1)
    told = {row: at for at, row in enumerate(combinations(range(7), asked.question.kernel.chosen))}
    for value in ([], ["b"], ["a", "e"], ["a", "b", "c", "d"]):
        expected = np.array([float(chance) for chance in asked.probabilities(value)])

        def counted(mechanism: dt.SetResponse, people: int, value: list[str] = value) -> np.ndarray:
            source = dt.Seeded(5)
            cells = mechanism.perturb([value] * people, source=source).cells
            rows = map(tuple, mechanism.question.kernel.elements(cells).tolist())
            return np.bincount([told[row] for row in rows], minlength=len(told))

        assert p_of_counts(counted(asked, 30_000), 30_000 * expected) > ALARM
        singly = asked.question.kernel.draw_singly([asked.domain.check([value])[0]] * 4_000, dt.Seeded(6))
        places = [told[tuple(row)] for row in asked.question.kernel.elements(singly).tolist()]
        assert p_of_counts(np.bincount(places, minlength=len(told)), 4_000 * expected) > ALARM
        if len(value) > 2:
            assert p_of_counts(counted(FirstOfMany(domain, epsilon=1), 30_000), 30_000 * expected) < ALARM
        if not value:
            assert p_of_counts(counted(NoDummies(domain, epsilon=1), 30_000), 30_000 * expected) < ALARM


def test_counts_and_bytes_are_those_of_the_told_elements() -> None:
    asked = dt.SetResponse(dt.Several(1000, most=20), epsilon=1)
    drawn = np.random.default_rng(1).random((500, 1000)) < 0.03
    reports = asked.perturb(drawn, source=dt.Seeded(2))
    told = asked.question.kernel.elements(reports.cells)
    assert told.shape == (500, 12)
    assert bool((told[:, 1:] > told[:, :-1]).all())
    counts = np.bincount(told.reshape(-1), minlength=1020)
    assert np.array_equal(asked.question.counting.count(reports.cells), counts)
    assert dt.from_bytes(reports.to_bytes()) == reports
    assert asked.reports(reports.cells) == reports
    assert np.asarray(reports.values).sum() == counts[:1000].sum()


def test_reports_that_no_device_sends() -> None:
    asked = dt.SetResponse(dt.Several(20, most=3), epsilon=1)  # two numbers of five bits
    assert asked.question.kernel.chosen == 2
    good = asked.reports([[1 | 2 << 5 & 0xFF, 2 << 5 >> 8]])
    assert asked.question.kernel.elements(good.cells).tolist() == [[1, 2]]
    for numbers in ((1, 1), (2, 1), (1, 23), (1, 31)):
        raw = numbers[0] | numbers[1] << 5
        with pytest.raises(MalformedReport):
            asked.reports([[raw & 255, raw >> 8]])
    for raw_bytes in ([[65, 4]], [[1]], [[1, 2, 3]], [[-1, 0]], [[256, 0]], 3):
        with pytest.raises(MalformedReport):
            asked.reports(raw_bytes)


def test_values_that_are_not_sets_are_refused_without_showing_them() -> None:
    asked = dt.SetResponse(dt.Several(["mail", "maps", "a;b"], most=2), epsilon=1)
    for wrong in ([["secret"]], ["mail"], [None], ["secret"], "mail", [["mail", None]], [[["mail"]]], 3, [3]):
        with pytest.raises(OutsideDomain) as refused:
            asked.perturb(wrong)
        assert "secret" not in str(refused.value)
    numbered = dt.SetResponse(dt.Several(4, most=2), epsilon=1)
    for odd in ([[4]], [[-1]], [[True]], [[1.5]], np.ones((2, 3), dtype=bool), np.array([[0, 4]])):
        with pytest.raises(OutsideDomain):
            numbered.perturb(odd)
    for most in (0, 4, True, 1.0, "2", -1):
        with pytest.raises(InvalidParameter):
            dt.Several(["mail", "maps", "a;b"], most=most)  # type: ignore[arg-type]


def test_sets_in_every_form_are_the_same_sets() -> None:
    domain = dt.Several(["mail", "maps", "music"], most=2)
    rows = domain.check([["music", "mail", "music"], {"maps"}, (), ["maps", "mail", "music"]])
    assert rows.tolist() == [[0, 2, -1], [1, -1, -1], [-1, -1, -1], [0, 1, 2]]
    table = np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 1]], dtype=bool)
    assert np.array_equal(domain.check(table), rows)
    assert domain.check([]).shape == (0, 1)
    numbered = dt.Several(3, most=2)
    assert numbered.check(np.array([[2, 0], [1, 1]])).tolist() == [[0, 2], [1, -1]]
    assert len(dt.SetResponse(domain, epsilon=1).perturb([])) == 0


def test_one_item_at_most_is_subset_selection_with_none_of_these() -> None:
    sets = dt.SetResponse(dt.Several(11, most=1), epsilon=1)
    subsets = dt.SubsetSelection(dt.Categories(12), epsilon=1)
    assert sets.question.kernel.chosen == 3 == round(12 / (math.e + 1))
    assert sets.rates == subsets.rates
