"""A lottery that cannot be drawn exactly does not exist."""

from __future__ import annotations

import pytest

from dither.core.kernels.window.integers import Lottery
from dither.errors import InvalidParameter


@pytest.mark.parametrize(("tickets", "bits"), [(0, 64), (-1, 64), (5, 65), (5, 32), (5, 128), (0, 65)])
def test_tickets_and_bits_are_checked(tickets: int, bits: int) -> None:
    with pytest.raises(InvalidParameter, match="at least one ticket"):
        Lottery(tickets, (7 << 32) + 123, bits)


@pytest.mark.parametrize("step", [0, 1, (1 << 64) // 5, 1 << 64])
def test_a_step_that_does_not_fit_is_refused(step: int) -> None:
    with pytest.raises(InvalidParameter, match="step"):
        Lottery(5, step, 64)
