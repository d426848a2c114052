"""Privacy is arithmetic: what the integers say, checked in fractions and by enumerating every word."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.window.integers import Blocks, Lottery, Sliding
from dither.privacy.exact import exp_above, exp_below
from tests.support.broken.kernels import LastWordShared, LateBitsDecideNothing, OneLateTooMany
from tests.support.broken.numbers import LastBitAlone, NeverOutside, RoundedUp
from tests.support.cases.numbers import FIXED, MIXED, NUMERIC, WINDOWS, Case, names
from tests.support.sources import Exhausted, Repeated, Scripted

INPUTS = [0.0, 0.003, 0.25, 0.5, 0.77, 1.0]


def inputs(mechanism: object) -> list[float]:
    return [float(x) for x in mechanism.line.from_unit(np.array(INPUTS))]  # type: ignore[attr-defined]


@pytest.mark.some(every=4)
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
    assert worst <= mechanism.question.kernel.ratio


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


@pytest.mark.some(every=7)
@pytest.mark.parametrize("case", NUMERIC, ids=names(NUMERIC))
@pytest.mark.parametrize("epsilon", [0.1, 8.0])
def test_the_draw_code_passes_the_audit(case: Case, epsilon: float) -> None:
    finding = dt.audit(case(epsilon))
    assert finding.ok, str(finding)
    assert finding.realised == case(epsilon).guarantee.epsilon


@pytest.mark.some(every=8)
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


def ticket(lottery: Lottery, word: int, late: int | None = None) -> int | None:
    """Return the ticket that a first word and late bits draw; None if they draw none.

    Without late bits, a word that asks for them raises Exhausted.
    """
    script = [word.to_bytes((lottery.bits - 32) // 8, "little")]
    if late is not None:
        script.append(late.to_bytes(4, "little"))
    drawn, number, _ = lottery.draw_one(Scripted(*script), 0)
    return number if drawn else None


def first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Return the first number of low … high − 1 for which a condition holds, or `high`."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def asks(lottery: Lottery, word: int) -> bool:
    try:
        ticket(lottery, word)
    except Exhausted:
        return True
    return False


def counted(lottery: Lottery, number: int) -> int:
    """Count the pairs of a first word and 32 late bits that draw a ticket, from the draws alone.

    Tickets rise with the word, words that draw none come next, and words that ask for late bits last: the
    ends of each are found by bisection, and so are the late bits that draw.
    """
    words = 1 << (lottery.bits - 32)
    hanging = first(0, words, lambda word: asks(lottery, word))

    def begin(of: int) -> int:
        """Return the first word that draws this ticket, a later one or none."""
        return first(0, hanging, lambda word: (ticket(lottery, word) or 0) >= of or is_nothing(word))

    def is_nothing(word: int) -> bool:
        return ticket(lottery, word) is None

    early, last, late = begin(number + 1) - begin(number), hanging + number, 0
    if last < words and ticket(lottery, last, 0) == number:
        late = first(0, 1 << 32, lambda bits: ticket(lottery, last, bits) is None)
    return (early << 32) + late


LOTTERIES = [
    Sliding.largest(1.0, 1 << 16, 24743).lottery,
    Sliding.largest(1.0, 64, 1).lottery,
    Sliding.largest(0.01, 1 << 20, 400_000).lottery,
    Sliding.largest(30.0, 1 << 16, 1).lottery,
    Sliding.largest(40.0, 256, 3).lottery,
    Blocks.largest(1.0, 7).lottery,
    Blocks.largest(8.0, 1000).lottery,
    Lottery(5, (7 << 32) + 123, 64),
]


@pytest.mark.parametrize("lottery", LOTTERIES, ids=str)
def test_every_word_counted(lottery: Lottery) -> None:
    """Of the 2^64 or 2^96 words that there are, exactly `step` draw each ticket."""
    some = {0, 1, lottery.tickets // 2, lottery.tickets - 2, lottery.tickets - 1}
    for number in some & set(range(lottery.tickets)):
        assert counted(lottery, number) == lottery.step
    assert lottery.nothing == 1 - lottery.tickets * Fraction(lottery.step, 1 << lottery.bits)


@pytest.mark.parametrize("twin", [LateBitsDecideNothing, OneLateTooMany, LastWordShared])
def test_a_word_that_is_counted_wrongly_is_seen(twin: type[Lottery]) -> None:
    broken = twin(5, (7 << 32) + 123, 64)
    assert any(counted(broken, number) != broken.step for number in range(5))


@pytest.mark.parametrize(("cells", "width"), [(8, 3), (16, 5), (64, 20), (64, 1)])
def test_the_counted_words_are_the_law_of_the_cells(cells: int, width: int) -> None:
    """Tickets lie in the window, all other words draw a uniform cell: from any start, also around the end."""
    window = Sliding.largest(1.0, cells, width)
    lottery, extra = window.lottery, cells.bit_length() - 1
    early, top = lottery.step >> 32, 1 << (lottery.bits - 32)
    weight = Fraction(counted(lottery, 0), 1 << lottery.bits)
    for start in (0, cells - width, cells - 1):
        law = [Fraction(0)] * cells
        for number in range(width):
            script = Scripted((number * early).to_bytes(4, "little"), then=Repeated(b"\0"))
            law[window.draw_one(start, script)] += weight
        for cell in range(cells):
            bits = (cell << (-extra % 8)).to_bytes((extra + 7) // 8, "little")
            script = Scripted((top - width - 1).to_bytes(4, "little"), bits)
            law[window.draw_one(start, script)] += (1 - width * weight) / cells
        assert law == window.probabilities(start)
        assert max(law) / min(law) <= exp_below(Fraction(1))


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


def reached(mechanism: Any, unit: float) -> set[int]:
    """Return the reports that the sampler makes of one value, in arrays and one by one."""
    x, source = float(mechanism.line.from_unit(np.asarray(unit))), dt.Seeded(11)
    together = mechanism.perturb(np.full(60_000, x), source=source).cells
    alone = [int(mechanism.perturb(x, source=source).cells) for _ in range(100)]
    return {*together.tolist(), *alone}


@pytest.mark.some(every=4)
@pytest.mark.parametrize("case", WINDOWS, ids=names(WINDOWS))
def test_no_report_gives_the_input_away(case: Case) -> None:
    """Every report is made of every value: none is ruled out by a report, and none is sure."""
    mechanism = case(1.0, cells=64)
    for unit in (0.0, 0.3, 0.3001, 1.0):
        assert reached(mechanism, unit) == set(range(64))


@pytest.mark.parametrize("twin", [LastBitAlone, NeverOutside])
def test_a_report_that_gives_the_input_away_is_seen(twin: Any) -> None:
    """With 4 000 expected reports in the rarest cell, an honest mechanism leaves none out."""
    mechanism = twin(dt.Interval(0, 1), epsilon=1.0, cells=64)
    assert any(reached(mechanism, unit) != set(range(64)) for unit in (0.0, 0.3, 0.3001, 1.0))


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
