"""Solved channels for linear queries: gaps, exact integers, unbiased answers, shipped designs."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.channel import LinearReading
from dither.errors import InvalidParameter
from dither.mechanisms.optimal.queries import store
from dither.mechanisms.optimal.queries.bound import lower_bound
from dither.mechanisms.optimal.queries.design import QueryDesign, channel_of
from dither.privacy.exact import exp_below

GAPS = {32: 0.01, 64: 0.02, 128: 0.05}
BUDGETS = (0.5, 1.0, 2.0, 4.0)


@pytest.mark.some(every=4)
@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("size", GAPS)
def test_the_shipped_designs_are_nearly_optimal(size: int, epsilon: float) -> None:
    """From the integers that are sampled: the variance, the ratio, and the bound from the dual variables."""
    design = store.prefix_design(size, epsilon)
    channel = channel_of(design, mirrored=True)
    assert channel.ratio <= exp_below(Fraction(epsilon))
    matrix = store.prefixes(size)
    reading = LinearReading(channel.matrix, matrix)
    bound = lower_bound(matrix.T @ matrix, math.exp(epsilon), design.multipliers)
    assert 1.0 <= reading.variances.mean() / bound <= 1.0 + GAPS[size]
    assert reading.table @ channel.matrix.T == pytest.approx(matrix, abs=1e-6)
    if (size, epsilon) == (128, 1.0):
        assert reading.variances.max() <= 1600.0


def test_designs_come_back_from_their_bytes_and_damaged_ones_do_not() -> None:
    design = store.prefix_design(16, 1.0)
    data = design.to_bytes()
    again = QueryDesign.from_bytes(data)
    assert again is not None
    assert np.array_equal(again.patterns, design.patterns)
    assert np.array_equal(again.weights, design.weights)
    assert np.array_equal(again.multipliers.pairs, design.multipliers.pairs)
    for damaged in (b"", data[:-1], data[:20] + b"x" + data[21:], b"x" + data):
        assert QueryDesign.from_bytes(damaged) is None


def test_shipped_designs_need_numpy_alone() -> None:
    code = (
        "import sys; sys.modules['scipy'] = None\n"
        "import dither as dt\n"
        "one = dt.optimal.Cumulative(dt.Interval(0, 1), epsilon=1, cells=8)\n"
        "two = dt.optimal.Cumulative(dt.Interval(0, 1), epsilon=0.9, cells=8)\n"
        "assert one.gap < 0.01 and two.gap < 0.05, (one.gap, two.gap)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("epsilon", [0.7, 3.5])
def test_between_shipped_budgets(epsilon: float) -> None:
    found = dt.optimal.Cumulative(dt.Interval(0, 1), epsilon=epsilon, cells=16)
    assert found.gap <= 0.03
    assert found.guarantee.epsilon <= epsilon


def test_any_queries() -> None:
    """Differences of halves and a total that everybody adds to alike; the bound, the answers, the wire."""
    queries = np.concatenate([np.eye(6)[:3] - np.eye(6)[3:], np.ones((1, 6))])
    asked = dt.optimal.Workload.of(queries, 1.0)
    assert asked.bound <= asked.average_variance <= 1.05 * asked.bound
    answers = np.repeat(np.arange(6), [3000, 1000, 500, 500, 2000, 3000])
    found = dt.stats.answers(asked.perturb(answers, source=dt.Seeded(2)))
    truth = queries @ (np.bincount(answers) / answers.size)
    assert (np.abs(found.value - truth) <= 5 * np.asarray(found.standard_error) + 1e-9).all()
    again = dt.from_json(asked.to_json())
    assert again.design() == asked
    assert again.fingerprint == asked.fingerprint
    assert again.reading.variances.mean() == asked.average_variance


def test_answers_are_unbiased_and_have_the_stated_errors() -> None:
    """200 runs: the mean of z is 0, its mean square 1, and a reading of another channel is rejected."""
    asked = dt.optimal.Cumulative(dt.Categories(8), epsilon=1)
    people = np.repeat(np.arange(8), [300, 200, 100, 50, 50, 100, 100, 100])
    truth = np.cumsum(np.bincount(people) / people.size)[:-1]
    kernel, table = asked.question.kernel, asked.question.book.table
    reports = kernel.draw(np.tile(people, (200, 1)), dt.Seeded(5))
    shares = np.stack([np.bincount(row, minlength=kernel.outcomes) for row in reports]) / people.size
    spread = (
        asked.question.book.channel[people] @ (table**2).T
        - (asked.question.book.channel[people] @ table.T) ** 2
    )
    error = np.sqrt(spread.sum(axis=0)[:-1]) / people.size  # without the total, which is certain
    z = ((shares @ table.T)[:, :-1] - truth) / error
    assert np.abs(z.mean(axis=0)).max() < 5.2 / math.sqrt(200)
    assert (z**2).mean() == pytest.approx(1.0, abs=0.15)
    wrong = ((shares @ np.roll(table, 1, axis=1).T)[:, :-1] - truth) / error
    assert np.abs(wrong.mean(axis=0)).max() > 5.2 / math.sqrt(200)


def test_what_is_not_a_workload() -> None:
    for queries in ([1, 2, 3], [[1, 2], [3]], [["a", "b"]], [[np.nan, 1.0]], np.ones((3, 4)), np.eye(300)):
        with pytest.raises(InvalidParameter):
            dt.optimal.Workload.of(queries, 1.0)
    for epsilon in (0.001, 20.0, -1, "1"):
        with pytest.raises(InvalidParameter):
            dt.optimal.Workload.of(np.eye(3), epsilon)
    with pytest.raises(InvalidParameter, match="target"):
        dt.optimal.Workload.of(np.eye(3), 1.0, target=0.0)
    with pytest.raises(InvalidParameter, match="Cumulative"):
        dt.stats.answers(dt.KRR(dt.Categories(3), epsilon=1).perturb([0, 1]))


def test_a_kernel_that_spends_more_is_refused() -> None:
    generous = dt.optimal.Cumulative(dt.Categories(8), epsilon=2)
    with pytest.raises(InvalidParameter, match="ε"):
        replace(generous.question, epsilon=1.0, made_by=None)
    with pytest.raises(InvalidParameter, match="for another domain"):
        replace(generous.question, domain=dt.Categories(4), made_by=None)


def test_a_weight_rounded_up_is_rejected() -> None:
    """A design whose high weights are one unit too large spends more than ε, and the check sees it."""
    design = store.prefix_design(4, 1.0)
    channel = channel_of(design, mirrored=True)
    rows = [list(row) for row in channel.values]
    place = next(place for place, column in enumerate(zip(*rows, strict=True)) if len(set(column)) == 2)
    top = max(range(len(rows)), key=lambda row: rows[row][place])
    rows[top][place] += 2
    rows[top][-1] -= 2
    assert type(channel).of(rows).ratio > exp_below(Fraction(1))


POINTS = np.linspace(0, 1, 17)
GRID = np.stack(np.meshgrid(np.linspace(0, 1, 4), np.linspace(0, 1, 4))).reshape(2, -1)


@pytest.mark.some(every=4)
@pytest.mark.parametrize("epsilon", [0.5, 4.0, 8.0])
@pytest.mark.parametrize(
    "queries",
    [
        [POINTS, POINTS**2],
        [np.append(POINTS, 0.0), np.append(np.ones(17), 0.0)],
        [GRID[0], GRID[1], GRID[0] ** 2, GRID[1] ** 2, GRID[0] * GRID[1]],
        [POINTS],
    ],
    ids=["mean and square", "mean and response rate", "five moments", "mean"],
)
def test_few_queries_about_many_inputs_are_solved_at_every_budget(queries: list, epsilon: float) -> None:
    """Infeasible, a bound of −∞ and a gap of infinity before: their channel need not separate all inputs."""
    asked = dt.optimal.Workload.of(queries, epsilon)
    assert 0.0 < asked.bound <= asked.average_variance * (1 + 1e-9)
    assert asked.gap < 0.02
    assert asked.guarantee.epsilon <= epsilon
