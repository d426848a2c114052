"""Privacy is arithmetic: what the integers say, checked in fractions and by enumerating every word."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import dither as dt
from dither.kernels.window.draw import Lottery
from dither.kernels.window.integers import Blocks, Sliding
from dither.privacy.exact import exp_above, exp_below
from tests.support.broken.numbers import RoundedUp
from tests.support.cases.numbers import FIXED, MIXED, NUMERIC, WINDOWS, Case, names
from tests.support.sources import Repeated

INPUTS = [0.0, 0.003, 0.25, 0.5, 0.77, 1.0]


def inputs(mechanism: object) -> list[float]:
    return [float(x) for x in mechanism.line.from_unit(np.array(INPUTS))]  # type: ignore[attr-defined]


@pytest.mark.parametrize("case", WINDOWS, ids=names(WINDOWS))
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_probabilities_are_a_private_law(case: Case, epsilon: float) -> None:
    mechanism = case(epsilon, cells=64)
    rows = [mechanism.probabilities(x) for x in inputs(mechanism)]
    assert all(sum(row) == 1 for row in rows)
    worst = max(
        one / two for first in rows for second in rows for one, two in zip(first, second, strict=True)
    )
    assert worst <= exp_below(Fraction(epsilon))
    assert worst <= mechanism.kernel.ratio


@pytest.mark.parametrize("case", FIXED + MIXED, ids=names(FIXED + MIXED))
def test_probabilities_of_two_points_and_mixtures(case: Case) -> None:
    mechanism = case(1.5, **({"cells": 1024} if "Hybrid" in case.name else {}))
    rows = [mechanism.probabilities(x) for x in inputs(mechanism)]
    assert all(sum(row) == 1 for row in rows)
    worst = max(
        max(a / b for a, b in zip(one, two, strict=True) if b) for one in rows[:3] for two in rows[3:]
    )
    assert worst <= exp_below(Fraction(1.5))


@pytest.mark.parametrize("case", NUMERIC, ids=names(NUMERIC))
def test_realised_budget_is_never_above_and_hardly_below(case: Case) -> None:
    for epsilon in [1e-3, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 20.0]:
        realised = case(epsilon).guarantee.epsilon
        assert realised <= epsilon
        assert epsilon - realised <= min(1e-3 * epsilon, 2e-5)


@pytest.mark.parametrize("case", NUMERIC, ids=names(NUMERIC))
@pytest.mark.parametrize("epsilon", [0.1, 8.0])
def test_the_draw_code_passes_the_audit(case: Case, epsilon: float) -> None:
    finding = dt.audit(case(epsilon))
    assert finding.ok, str(finding)
    assert finding.realised == case(epsilon).guarantee.epsilon


@pytest.mark.parametrize("case", NUMERIC, ids=names(NUMERIC))
@pytest.mark.parametrize("epsilon", [1e-6, 1e-5, 1e-4, 25.0, 35.0, 50.0])
def test_extreme_budgets(case: Case, epsilon: float) -> None:
    mechanism = case(epsilon)
    assert 0.99 * epsilon <= mechanism.guarantee.epsilon <= epsilon
    assert epsilon not in (1e-6, 50.0) or dt.audit(mechanism).ok
    values = mechanism.line.from_unit(np.linspace(0.0, 1.0, 101))
    assert np.isfinite(mechanism.perturb(values, source=dt.Seeded(1)).values).all()
    assert np.isfinite(mechanism.variance(values)).all()


@pytest.mark.parametrize("cells", [2, 4, 64, 1 << 10, 1 << 20, 1 << 32])
def test_other_numbers_of_cells(cells: int) -> None:
    mechanism = dt.Podium(dt.Interval(-3, 7), epsilon=1.0, cells=cells)
    finding = dt.audit(mechanism)
    assert 1.0 - 2e-5 <= finding.realised <= 1.0
    reports = mechanism.perturb(np.linspace(-3, 7, 5000), source=dt.Seeded(2))
    assert reports.cells.dtype == np.min_scalar_type(cells - 1)
    assert int(reports.cells.max()) < cells


@pytest.mark.parametrize(("cells", "width"), [(8, 3), (16, 5), (64, 20), (64, 1)])
def test_every_word_counted(cells: int, width: int) -> None:
    """Enumerate all pairs of a small word and a cell: the counts are the weights."""
    bits = 10  # a small version of the proof: w = 10 instead of 64
    bound = exp_below(Fraction(1))
    step = ((bound - 1) * (1 << bits)) // (cells + width * (bound - 1))
    for start in (0, cells - width, cells - 1):
        counts = [0] * cells
        for word, uniform in itertools.product(range(1 << bits), range(cells)):
            ticket = word // step
            counts[(start + ticket) % cells if ticket < width else uniform] += 1
        outside = (1 << bits) - width * step
        inside = outside + cells * step
        window = {(start + offset) % cells for offset in range(width)}
        assert counts == [inside if cell in window else outside for cell in range(cells)]
        assert Fraction(inside, outside) <= bound


@pytest.mark.parametrize("window", [Sliding.largest(1.0, 1 << 16, 24743), Sliding.largest(30.0, 1 << 16, 1)])
def test_the_lottery_settles_hanging_words(window: Sliding) -> None:
    """The last word of every ticket asks for 32 more bits, which decide with the step's low half."""
    lottery = window.lottery
    first, kind = lottery.step >> 32, lottery.dtype
    top = (1 << (lottery.bits - 32)) - lottery.tickets
    edge = [0, first - 1, first, lottery.tickets * first - 1, lottery.tickets * first, top - 1, top]
    edge += [(1 << (lottery.bits - 32)) - 1]
    words = np.array(edge, dtype=kind)
    for late, wins in ((0, True), (0xFFFFFFFF, False)):
        ticket, drawn = words.copy(), np.empty(words.size, dtype=bool)
        lottery.draw(ticket, drawn, Repeated(late.to_bytes(4, "little")))
        expected = [word < lottery.tickets * first or (wins and word >= top) for word in edge]
        assert drawn.tolist() == expected
        for word, number, was in zip(edge, ticket.tolist(), drawn.tolist(), strict=True):
            if was:
                assert number == (word // first if word < lottery.tickets * first else word - top)


def test_the_law_of_a_lottery_is_its_step() -> None:
    lottery = Lottery(5, (7 << 32) + 123, 64)
    # 7 whole words and 123/2^32 of the one that hangs: exactly step/2^64 each
    assert Fraction(7, 1 << 32) + Fraction(123, 1 << 64) == Fraction(lottery.step, 1 << 64)
    assert lottery.nothing == 1 - 5 * Fraction(lottery.step, 1 << 64)


@pytest.mark.parametrize("cells", [2, 3, 7, 100, 1000, 10**6])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0])
def test_blocks_are_certified(cells: int, epsilon: float) -> None:
    window = Blocks.largest(epsilon, cells)
    assert window.total == 1 << window.bits
    assert window.ratio <= exp_below(Fraction(epsilon))
    assert epsilon - window.epsilon <= 2e-5


def test_a_weight_rounded_up_is_caught() -> None:
    for epsilon in (0.1, 1.0, 5.0):
        twin = RoundedUp(dt.Interval(0, 1), epsilon=epsilon, cells=64)
        assert not dt.audit(twin).ok


@pytest.mark.parametrize("exponent", [1e-6, 0.3, 1.0, 2.5, 20.0, 50.0])
def test_bounds_of_the_exponential(exponent: float) -> None:
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workprec(500):
        true = mpmath.exp(mpmath.mpf(exponent))
        below, above = exp_below(Fraction(exponent)), exp_above(Fraction(exponent))
        assert mpmath.mpf(below.numerator) / below.denominator <= true
        assert mpmath.mpf(above.numerator) / above.denominator >= true
    assert above - below <= above / 2**200
    assert math.isclose(float(below), math.exp(exponent), rel_tol=1e-14)


def _float_cells(mechanism: object, x: float) -> set[int]:
    cells = mechanism.perturb(np.full(200_000, x), source=dt.Seeded(11)).cells  # type: ignore[attr-defined]
    return set(cells.tolist())


@pytest.mark.parametrize("case", WINDOWS, ids=names(WINDOWS))
def test_no_report_gives_the_input_away(case: Case) -> None:
    """Every report seen under one input is possible under the other: nothing is ever ruled out."""
    mechanism = case(1.0, cells=1 << 10)
    near, far = (float(x) for x in mechanism.line.from_unit(np.array([0.3, 0.300001])))
    other = mechanism.probabilities(far)
    assert all(other[cell] > 0 for cell in _float_cells(mechanism, near))
    assert min(other) > 0


def test_the_naive_float_sampler_gives_the_input_away() -> None:
    """The broken twin: l + (r − l)·u in doubles makes many reports impossible under another input."""
    rng = np.random.default_rng(5)
    mechanism = dt.PM(dt.Interval(0, 1), epsilon=1.0)
    law = mechanism.law

    def ends(x: float) -> tuple[float, float]:
        start = float(law.start(np.asarray(x)))  # type: ignore[attr-defined]
        low, high = law.support
        return low + (high - low) * start, low + (high - low) * (start + law.share)  # type: ignore[attr-defined]

    (low, high), (other, top) = ends(0.3), ends(0.7)
    reports = low + (high - low) * rng.random(20_000)
    reports = reports[(reports >= other) & (reports < top)]
    # For each report, the 2^53 words of the other input: does any give exactly this double?
    guess = np.round((reports - other) / (top - other) * 2.0**53)
    reachable = np.zeros(reports.size, dtype=bool)
    for shift in range(-8, 9):
        reachable |= other + (top - other) * ((guess + shift) * 2.0**-53) == reports
    assert reachable.mean() < 0.95
