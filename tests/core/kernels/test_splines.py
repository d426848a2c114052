"""Splines: they sum to one, keep x, x² and x·y exactly, and their draws follow the exact probabilities."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.channel import Channel
from dither.core.kernels.splines import STEPS, SplineKernel, coefficients, moment_queries
from dither.errors import InvalidParameter
from tests.support.chi_square import ALARM, p_value
from tests.support.sources import Scripted


def _kernel(axes: int, pieces: int) -> SplineKernel:
    rows = np.random.default_rng(1).integers(1, 9, ((pieces + 2) ** axes, 4))
    return SplineKernel(((0.0, 1.0),) * axes, pieces, Channel.of(rows.tolist()))


@pytest.mark.parametrize(("axes", "pieces"), [(1, 1), (1, 2), (1, 6), (2, 3), (3, 1)])
def test_moments_are_those_of_the_numbers(axes: int, pieces: int) -> None:
    """At places of the grid exactly; between them within half a step."""
    kernel = _kernel(axes, pieces)
    places = np.random.default_rng(2).integers(0, pieces * STEPS + 1, (200, axes))
    places[0], places[1] = 0, pieces * STEPS
    u = 2.0 * places / (pieces * STEPS) - 1.0
    truth = [*u.T, *(u**2).T, *(u[:, i] * u[:, j] for i, j in combinations(range(axes), 2))]
    weights = kernel.weights((u + 1.0) / 2.0)
    assert weights.sum(axis=1) == pytest.approx(np.ones(200), abs=1e-14)
    assert weights.min() >= 0.0
    assert moment_queries(axes, pieces) @ weights.T == pytest.approx(np.array(truth), abs=1e-12)
    first, three = kernel.splines(places)
    assert (three.sum(axis=-1) == 1 << 31).all()
    assert first.max() + 2 == pieces + 1


def test_coefficients_are_those_of_the_papers() -> None:
    """x: 0, 1/6, 1/2, 5/6, 1; x²: 0, 0, 2/9, 2/3, 1 on [0, 1]."""
    mean, square = coefficients(3)
    x = (mean + 1.0) / 2.0
    assert x == pytest.approx([0, 1 / 6, 1 / 2, 5 / 6, 1])
    assert (square + 2.0 * mean + 1.0) / 4.0 == pytest.approx([0, 0, 2 / 9, 2 / 3, 1])


def test_draws_follow_the_exact_probabilities() -> None:
    kernel = _kernel(2, 3)
    for value in ([0.0, 1.0], [0.3, 0.55], [1 / 3, 2 / 3]):
        chances = kernel.probabilities(np.array(value))
        assert sum(chances) == Fraction(1)
        expected = np.array([float(chance) for chance in chances])
        assert (kernel.weights(np.array([value])) @ kernel.channel.matrix)[0] == pytest.approx(expected)
        drawn = kernel.draw(np.tile(value, (40_000, 1)), dt.Seeded(3))
        singly = kernel.draw_singly(np.tile(value, (4_000, 1)), dt.Seeded(4))
        for reports in (drawn, singly):
            assert p_value(reports, expected) > ALARM
            turned = kernel.weights(1.0 - np.array([value])) @ kernel.channel.matrix
            assert p_value(drawn, turned[0]) < ALARM


def test_the_loss_is_that_of_the_channel() -> None:
    """A mixture of rows: no two records have a larger ratio than two rows."""
    kernel = _kernel(2, 1)
    laws = np.array([kernel.chances(point) for point in np.random.default_rng(5).random((20, 2))])
    assert (laws.max(axis=0) / laws.min(axis=0)).max() <= float(kernel.ratio)
    with pytest.raises(InvalidParameter):
        SplineKernel(((0.0, 1.0),), 3, kernel.channel)
    with pytest.raises(InvalidParameter):
        SplineKernel(((1.0, 1.0), (0.0, 1.0)), 1, kernel.channel)


def test_one_report_takes_its_bytes_in_the_order_of_the_page() -> None:
    """Four bytes for each number, without their lowest bit, select the spline; then the row's own bytes."""
    kernel = _kernel(2, 3)
    value = np.array([0.5, 0.25])  # the middle of the second part, and three quarters into the first
    first, three = kernel.splines(kernel.places(value))
    assert first.tolist() == [1, 0]
    assert three.tolist() == [[1 << 28, 3 << 29, 1 << 28], [1 << 27, 1344 << 20, 9 << 26]]
    for words, row in (((0, 0), 5), ((1 << 28, 1 << 27), 11), (((1 << 31) - 1, (1 << 31) - 1), 17)):
        head = b"".join((2 * word + 1).to_bytes(4, "little") for word in words)
        tail = bytes(range(64))
        source, inner = Scripted(head + tail), Scripted(tail)
        assert kernel.draw_one(value, source) == kernel.channel.table.draw_one(inner, row)
        assert len(source.left) == len(inner.left)
