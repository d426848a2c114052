"""The alias table draws by exactly the integers it was made of.

Channels: any small table, drawn exactly, and the nearest of several points.
"""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.alias import TOTAL_BITS, Alias, AliasSampler, Channel, ChannelKernel, NearestPoint
from dither.errors import InvalidParameter
from tests.support.chi_square import ALARM, p_of_counts
from tests.support.sources import Scripted

TOTAL = 1 << TOTAL_BITS


def rows() -> dict[str, list[int]]:
    generator = random.Random(11)
    cuts = sorted(generator.randrange(TOTAL) for _ in range(299))
    uneven = [b - a for a, b in zip([0, *cuts], [*cuts, TOTAL], strict=True)]
    falling = [TOTAL >> (i + 1) for i in range(100)]
    return {
        "one outcome": [TOTAL],
        "two": [1, TOTAL - 1],
        "uneven": uneven,
        "equal": [TOTAL // 64] * 64,
        "falling": [*falling, TOTAL - sum(falling)],
        "zeros": [0, TOTAL // 3, 0, TOTAL - TOTAL // 3, 0],
        "full size": [TOTAL // 65536 + (i - 32767) * 12345 for i in range(65535)]
        + [TOTAL - sum(TOTAL // 65536 + (i - 32767) * 12345 for i in range(65535))],
    }


@pytest.mark.parametrize("name", rows())
def test_columns_add_up_to_the_weights_exactly(name: str) -> None:
    row = rows()[name]
    table = Alias.of([row])
    realised = table.weights()
    assert realised[: len(row)] == row
    assert not any(realised[len(row) :])
    assert all(0 <= threshold < 1 << (TOTAL_BITS - table.bits) for threshold in table.thresholds)


def test_several_rows_keep_to_themselves() -> None:
    table = Alias.of([rows()["two"], [TOTAL // 4] * 4, rows()["zeros"]])
    assert table.weights(0)[:2] == rows()["two"]
    assert table.weights(1)[:4] == [TOTAL // 4] * 4
    assert table.weights(2)[:5] == rows()["zeros"]


def test_weights_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="2\\^128"):
        Alias.of([[1, 2, 3]])
    with pytest.raises(InvalidParameter, match="≥ 0"):
        Alias.of([[TOTAL + 1, -1]])
    with pytest.raises(InvalidParameter, match="outcomes"):
        Alias.of([[0] * 65536 + [TOTAL]])


def decided(table: Alias, column: int, coin: int) -> int:
    """What a column and all 128 − bits bits of a coin must draw."""
    return column if coin < table.thresholds[column] else int(table.others[column])


@pytest.mark.parametrize("name", ["uneven", "two", "falling", "zeros"])
def test_every_branch_of_a_draw_decides_as_the_whole_coin_does(name: str) -> None:
    table = Alias.of([rows()[name]])
    coin_bits = TOTAL_BITS - table.bits
    late = coin_bits - 16
    for column in range(1 << table.bits):
        threshold = table.thresholds[column]
        for coin in {0, max(threshold - 1, 0), threshold, threshold + 1, (1 << coin_bits) - 1}:
            early, rest = coin >> late, coin & ((1 << late) - 1)
            script = column.to_bytes(2, "little") + early.to_bytes(2, "little")
            length = (late + 7) // 8
            script += (rest << (8 * length - late)).to_bytes(length, "little")
            source = Scripted(script)
            assert AliasSampler(table, 1).draw(1, source)[0] == decided(table, column, coin)
            assert (not source.left) == (early == threshold >> late)  # more bits only for a tie


def test_the_plain_draw_decides_as_the_whole_coin_does() -> None:
    table = Alias.of([rows()["uneven"]])  # 9 bits of column, 119 of coin
    for column in range(512):
        threshold = table.thresholds[column]
        for coin in (0, threshold, max(threshold - 1, 0), (1 << 119) - 1):
            script = (column << 7).to_bytes(2, "little") + (coin << 1).to_bytes(15, "little")
            assert table.draw_one(Scripted(script)) == decided(table, column, coin)


def test_rows_are_chosen_by_the_input() -> None:
    table = Alias.of([[TOTAL, 0, 0], [0, TOTAL, 0], [0, 0, TOTAL]])
    inputs = np.array([2, 0, 1, 1, 2])
    assert AliasSampler(table, 5).draw(5, Scripted(bytes(200)), inputs).tolist() == [2, 0, 1, 1, 2]


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
