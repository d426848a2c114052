"""What published protocols for repeated answers promise over sequences of values, enumerated."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import dither as dt
from tests.core.repetition import kept_changes
from tests.core.repetition.enumeration import (
    Matrix,
    fresh,
    kept_change,
    loss,
    once,
    permanent,
    response,
    rounded_bit,
    sequences,
    unary,
)
from tests.support.repository import ROOT


def two_round(kind: Matrix, again: Matrix, days: int) -> Matrix:
    return permanent(kind, again, days, lambda value: value, len(kind))


def unary_two_round(days: int, k: int = 2) -> Matrix:
    """Return RAPPOR's law without the Bloom filter: one bit a value, in two rounds."""
    one_hot = [1 << (k - 1 - value) for value in range(k)]
    return two_round(unary(k, 1.0)[one_hot], unary(k, 1.0), days)


def flipped_bits(days: int) -> Matrix:
    """Return dBitFlip's law: bits about buckets 0 and 1 of three, permanent for each value's bucket."""
    return two_round(unary(2, 1.0)[[0b10, 0b01, 0b00]], np.eye(4), days)


def hashed(days: int, g: int = 2, k: int = 3) -> float:
    """Return the loss of longitudinal hashing: the worst public hash of k values to g cells."""
    maps = sequences(g, k)
    laws = (
        permanent(response(g, 1.0), response(g, 1.0), days, lambda v, m=one: m[v], k)  # type: ignore[misc]
        for one in maps
    )
    return max(map(loss, laws))


def one_kept_change(days: int) -> float:
    """Return the loss of `dt.KeptChange`, by the code that draws its reports."""
    ratio = kept_changes.loss(dt.KeptChange(kept_changes.SMOKES, days=days), kept_changes.real)
    return math.inf if ratio is None else math.log(ratio)


ROWS = {
    "one answer, on a drawn day": lambda days: loss(once(response(2, 1.0), days)),
    "one kept change, in a drawn group": one_kept_change,
    "a new answer every day": lambda days: loss(fresh(response(2, 1.0), days)),
    "permanent answer, sent as it is": lambda days: loss(two_round(response(2, 1.0), np.eye(2), days)),
    "two rounds, unary": lambda days: loss(unary_two_round(days)),
    "two rounds, hashed to 2 cells": hashed,
    "one bit, rounded at random": lambda days: loss(rounded_bit(1.0, 2, days)),
    "bits of two fixed buckets of three": lambda days: loss(flipped_bits(days)),
}


@pytest.mark.some(every=3)
@pytest.mark.parametrize("name", ROWS)
def test_the_table_in_the_documents_is_what_is_enumerated(name: str) -> None:
    page = (ROOT / "docs" / "time_published.md").read_text()
    (row,) = re.findall(rf"^\| {re.escape(name)}[ ,].*$", page, re.MULTILINE)
    told = [cell.strip() for cell in row.strip("|").split("|")][-3:]
    for days, cell in zip((2, 4, 6), told, strict=True):
        true = ROWS[name](days)
        assert cell == ("∞" if math.isinf(true) else f"{true:.3f}"), (name, days, true)


def test_two_rounds_cost_more_than_is_claimed() -> None:
    """The loss grows with the days: 1.711 on 4, 2.650 on 6, above g·ε∞ = 2, which is the usual claim."""
    kept = response(2, 1.0)
    assert loss(two_round(kept, kept, 4)) == pytest.approx(1.711, abs=5e-4)
    assert loss(two_round(kept, kept, 6)) == pytest.approx(2.650, abs=5e-4)
    constant = [row for row, values in enumerate(sequences(2, 6)) if len(set(values)) == 1]
    assert loss(two_round(kept, kept, 6)[constant]) < 1.0  # what is promised for a constant value holds


def test_permanent_answers_reveal_which_days_are_equal() -> None:
    law = two_round(response(2, 1.0), np.eye(2), 4)
    every = sequences(2, 4)
    rows = [every.index(values) for values in ((0, 0, 1, 1), (1, 1, 0, 0))]
    assert loss(law[rows]) == pytest.approx(2.0)  # equal patterns: ε for each class that differs
    rows = [every.index(values) for values in ((0, 0, 0, 0), (0, 0, 1, 1))]
    assert loss(law[rows]) == math.inf


def test_rounding_hides_a_small_change_with_a_probability_only() -> None:
    """Impossible without a change, so a proof of it: (d/s)·0.607, for a change of d in s steps."""
    steps, days = 10, 2
    law, every = rounded_bit(1.0, steps, days), sequences(steps + 1, days)
    still, moved = law[every.index((3, 3))], law[every.index((3, 4))]
    ratio = math.e
    assert moved[still == 0.0].sum() == pytest.approx((ratio**2 + 1) / (ratio + 1) ** 2 / steps)
    assert moved[still == 0.0].sum() == pytest.approx(0.0607, abs=1e-4)


def test_the_laws_are_laws() -> None:
    for law in (
        unary_two_round(3),
        rounded_bit(1.0, 3, 3),
        fresh(response(3, 1.0), 3),
        once(unary(2, 1.0), 3),
    ):
        assert law.sum(axis=1) == pytest.approx(np.ones(len(law)))


@pytest.mark.parametrize("days", [4, 8])
@pytest.mark.parametrize("changes", [1, 2])
def test_a_tree_of_one_kept_change_costs_what_one_sign_costs(days: int, changes: int) -> None:
    """Two sequences differ in two signs at most, each by half of the loss: ε in all, not 2ε."""
    law = kept_change(1.0, days, changes)
    assert law.sum(axis=1) == pytest.approx(np.ones(len(law)))
    assert loss(law) == pytest.approx(1.0, abs=1e-12)
