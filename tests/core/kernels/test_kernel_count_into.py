"""Counting in place is counting, for every kind of counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.mechanisms.mechanism import Mechanism

ITEMS = dt.Categories([str(one) for one in range(40)])
KINDS: dict[str, Mechanism[Any]] = {
    "cells": dt.Podium(dt.Interval(0, 1), epsilon=1),
    "table": dt.KRR(ITEMS, epsilon=1),
    "bits": dt.OUE(ITEMS, epsilon=1),
    "hashes": dt.OLH(ITEMS, epsilon=1),
    "columns": dt.HadamardResponse(ITEMS, epsilon=1),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 7, 5000])
def test_count_into_adds_what_count_returns(kind: str, n: int) -> None:
    mechanism = KINDS[kind]
    random = np.random.default_rng(n)
    values: Any = random.random(n)
    if isinstance(mechanism.domain, dt.Categories):
        values = random.choice(np.array(ITEMS.labels), n)
    cells = mechanism.perturb(values, source=dt.Seeded(n)).cells
    counting = mechanism.question.counting
    total = np.full(counting.size, 3, dtype=np.int64)
    counting.count_into(total, cells)
    assert np.array_equal(total, 3 + counting.count(cells))
