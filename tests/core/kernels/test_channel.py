"""Channels: any small table, drawn exactly, and the nearest of several points."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.channel import Channel, ChannelKernel, NearestPoint
from tests.support.chi_square import ALARM, p_of_counts

WEIGHT = 1 << 128


def test_rows_are_drawn_by_their_weights() -> None:
    channel = Channel.of([[1, 2, 3, 4, 5], [5, 1, 1, 1, 2], [1, 1, 1, 1, 1]])
    inputs = np.repeat([2, 0, 1], 60_000)
    nearest = NearestPoint.on_interval([0.0, 1.0, 2.0])
    kernel = ChannelKernel(dt.Interval(0, 2), channel, nearest)
    cells = kernel.draw(inputs.astype(float), dt.Seeded(5))
    assert cells.dtype == np.uint8
    for row in range(3):
        counts = np.bincount(cells[inputs == row], minlength=5)
        expected = 60_000 * channel.matrix[row]
        assert p_of_counts(counts, expected) > ALARM
        assert sum(channel.probabilities(row)) == 1
    wrong = np.bincount(cells[inputs == 0], minlength=5), 60_000 * channel.matrix[1]
    assert p_of_counts(*wrong) < ALARM


def test_the_largest_takes_what_rounding_leaves() -> None:
    channel = Channel.of([[3, 1, 3], [1, 1, 1]])
    first, second = channel.rows
    assert first[1] == -(-WEIGHT // 7)
    assert first[2] == -(-3 * WEIGHT // 7)
    assert first[0] == WEIGHT - first[1] - first[2] <= first[2]
    assert second == (WEIGHT // 3 - 1, WEIGHT // 3 + 1, WEIGHT // 3 + 1)
    pairs = [*zip(first, second, strict=True), *zip(second, first, strict=True)]
    assert channel.ratio == max(Fraction(one, two) for one, two in pairs)


def test_nearest_on_an_interval() -> None:
    points = [-3.0, 0.0, 1.0, 10.0]
    values = np.linspace(-5, 12, 4001) + 1e-4
    found = NearestPoint.on_interval(points).aim(values)
    assert np.array_equal(found, np.abs(values[:, None] - np.array(points)).argmin(axis=1))
    assert NearestPoint.on_interval(points).aim_one(0.5) == 2  # halfway: the upper one


@pytest.mark.parametrize(
    "points", [[10.0, 100.0, 350.0], [0.0, 5.0], [180.0, 190.0], [1.0, 2.0, 300.0, 359.9]]
)
def test_nearest_on_a_circle(points: list[float]) -> None:
    circle = dt.Circle(360)
    values = np.linspace(0, 360, 7201) + 0.0123
    values = values[values <= 360]
    distances = circle.distance(values[:, None], np.array(points))
    found = NearestPoint.on_circle(points, 360.0).aim(values)
    assert np.array_equal(found, distances.argmin(axis=1))
    assert NearestPoint.on_circle(points, 360.0).aim_one(0.0) == NearestPoint.on_circle(
        points, 360.0
    ).aim_one(360.0)
