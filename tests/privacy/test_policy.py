"""Policies and ledgers hold numbers of one kind, and refuse what is no number."""

from __future__ import annotations

from typing import Any

import pytest

import dither as dt
from dither.errors import InvalidParameter


@pytest.mark.parametrize("most", [True, False, 0, -1, 1.5, "many", None])
def test_a_policy_counts_whole_bytes(most: Any) -> None:
    with pytest.raises(InvalidParameter, match="bytes of a policy"):
        dt.Policy(epsilon=1, bytes=most)


def test_one_byte_is_a_limit() -> None:
    assert dt.Policy(epsilon=1, bytes=1).bytes == 1


def test_the_numbers_of_a_ledger_are_doubles() -> None:
    whole, broken = dt.Ledger(epsilon=2, delta=0), dt.Ledger(epsilon=2.0, delta=0.0)
    assert (type(whole.epsilon), type(whole.delta)) == (float, float)
    assert whole == broken
    assert repr(whole) == repr(broken)


def test_the_entries_of_a_ledger_never_change() -> None:
    mine: list[Any] = []
    ledger = dt.Ledger(epsilon=1, entries=mine)  # type: ignore[arg-type]
    assert type(ledger.entries) is frozenset
    assert hash(ledger) == hash(dt.Ledger(epsilon=1))
