"""What the frequency mechanisms ask of the rooms below: large budgets, whole identities."""

from fractions import Fraction

import numpy as np
import pytest

from dither.core.domains import Categories
from dither.core.kernels.window.integers import Blocks, Lottery
from dither.privacy.exact import exp_below


@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 22.0, 45.0, 50.0])
@pytest.mark.parametrize("k", [2, 3, 1000])
def test_blocks_carry_every_budget(epsilon, k):
    kernel = Blocks.largest(epsilon, k)
    assert kernel.inside + (k - 1) * kernel.outside == 1 << kernel.bits
    assert kernel.ratio <= exp_below(Fraction(epsilon))
    assert epsilon - kernel.epsilon <= 1e-6 * epsilon


def test_a_ticket_that_hangs_on_late_bits_alone():
    lottery = Lottery(tickets=3, step=5, bits=96)  # below 2^32: only the last three words ask further
    words = np.array([0, 7, 2**64 - 4, 2**64 - 3, 2**64 - 2, 2**64 - 1], dtype=np.uint64)
    drawn = np.empty(words.size, dtype=np.bool_)

    class Low:
        def words(self, size):  # late bits 4 < 5: won; then 5: lost
            return np.array([4, 5, 4][:size], dtype=np.uint64) << np.uint64(32)

    lottery.draw(words, drawn, Low())
    assert drawn.tolist() == [False, False, False, True, False, True]
    assert words[drawn].tolist() == [0, 2]


def test_categories_are_told_apart_by_every_label():
    first, second = Categories("abcdef"[i] for i in range(6)), Categories(["a", "b", "c", "d", "e", "z"])
    assert repr(first) == repr(second)
    assert first.device() != second.device()
