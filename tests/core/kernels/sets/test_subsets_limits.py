"""Bits and sets that cannot be drawn, or would keep no secret, do not exist."""

from __future__ import annotations

import pytest

from dither.core.kernels.coin import BiasedCoin
from dither.core.kernels.sets.bits import Bits
from dither.core.kernels.sets.subsets import SubsetBits
from dither.errors import InvalidParameter

HALF, RARE = BiasedCoin(1 << 127), BiasedCoin(1 << 120)


@pytest.mark.parametrize("size", [0, 1, (1 << 24) + 1])
def test_the_number_of_bits_is_checked(size: int) -> None:
    with pytest.raises(InvalidParameter, match="2 to 2"):
        Bits(size, HALF, RARE)


@pytest.mark.parametrize(("own", "other"), [(RARE, HALF), (HALF, HALF)])
def test_the_own_bit_is_the_likelier_one(own: BiasedCoin, other: BiasedCoin) -> None:
    with pytest.raises(InvalidParameter, match="0 < other < own"):
        Bits(5, own, other)


@pytest.mark.parametrize(("chosen", "size"), [(0, 5), (5, 5), (6, 5)])
def test_a_set_is_neither_empty_nor_everything(chosen: int, size: int) -> None:
    with pytest.raises(InvalidParameter, match="subset"):
        SubsetBits(size, chosen, HALF)


def test_a_set_with_the_input_is_likelier() -> None:
    with pytest.raises(InvalidParameter, match="likelier"):
        SubsetBits(6, 3, RARE)
