"""The alias table draws by exactly the integers it was made of."""

from __future__ import annotations

import random

import numpy as np
import pytest

from dither.core.kernels.alias import TOTAL_BITS, Alias, AliasSampler
from dither.errors import InvalidParameter
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
