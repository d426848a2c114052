"""Reports of any type are taken apart; what was not looked at, or only as text, is said."""

from __future__ import annotations

import builtins
import math
import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.advice.audits.black_box.columns import Bit, bits_of
from dither.advice.audits.black_box.parts import take_apart
from tests.support.broken.leaky import CARRIERS, EPSILON, INPUTS, Slotted, honest, leaky

MISSED = {"far parity"}  # documented on docs/audit.md: three parts that tell the value only together


def audited(name: str, randomiser: Any, seed: int = 0) -> Any:
    """Return the finding of a randomiser of the museum."""
    each = CARRIERS[name].raises
    more: dict[str, Any] = {"samples": 10_000, "timing": False, "each": each, "seed": seed}
    return dt.audit_function(randomiser, list(INPUTS), epsilon=EPSILON, **more)


@pytest.mark.parametrize("name", CARRIERS)
@pytest.mark.some(every=4)
def test_one_hidden_bit_is_found(name: str) -> None:
    assert audited(name, leaky(name)).ok == (name in MISSED)


def test_the_museum_is_large_enough() -> None:
    assert len(CARRIERS) >= 40
    assert len(MISSED) <= 4


@pytest.mark.parametrize("name", CARRIERS)
@pytest.mark.some("uuid", "dataclass", "masked", "nan bits", "message")
def test_the_same_part_with_an_honest_bit_is_not_refuted(name: str) -> None:
    for seed in range(4):
        assert audited(name, honest(name, seed), seed).ok


def test_what_was_not_looked_at_is_said() -> None:
    rng = np.random.default_rng(1)
    more: dict[str, Any] = {"epsilon": 1, "samples": 2000, "timing": False}
    found = dt.audit_function(lambda values: rng.integers(0, 4, (len(values), 900)), [0, 1], **more)
    assert found.ok
    assert found.coverage == ("report: 512 of 900 parts were looked at",)
    assert "is not refuted in the examined parts" in str(found)
    assert "looked at: report: 512 of 900 parts were looked at" in str(found)
    plain = dt.audit_function(lambda values: rng.random(len(values)), [0, 1], **more)
    assert plain.coverage == ()
    assert "in the examined parts" not in str(plain)


class Opaque:
    """An object that has neither fields nor a text of its own."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<Opaque at {id(self):#x}>"


@pytest.mark.parametrize(
    ("reports", "said"),
    [
        (["a" * 900, "b" * 900], "report: 512 of 900 letters were looked at"),
        ([b"a" * 700], "report: 512 of 700 bytes were looked at"),
        ([[None] * 600], "report: 512 of 600 parts were looked at"),
        ([dict.fromkeys(range(600))], "report: 512 of 600 keys were looked at"),
        ([frozenset(range(600))], "report: 512 of 600 members were looked at"),
        ([1 << 900, 1], "report: 512 of 901 bits were looked at"),
        ([Slotted(1, 0)], "report: the type Slotted is compared by its attributes"),
        ([Opaque()], "report: the type Opaque is compared as text"),
        ([[[[[[[1]], [2]]]]]], "deeper nested parts are compared as text"),
    ],
    ids=lambda value: value if isinstance(value, str) else "reports",  # the same in every worker
)
def test_limits_are_said(reports: list[Any], said: str) -> None:
    coverage: dict[str, str] = {}
    take_apart(reports, coverage)
    assert any(said in sentence for sentence in coverage.values()), coverage


def test_every_bit_of_a_number_is_a_column() -> None:
    for at in range(64):
        column = np.array([0, 1 << at], dtype=np.uint64)
        assert Bit("x", at).bins({"x": column}, 2).tolist() == [0, 1]
    for at in range(52):
        column = np.array([1.0, 1.0 + 2.0 ** (at - 52)])
        assert Bit("x", at).bins({"x": column}, 2).tolist() == [0, 1]
    nan = np.array([0x7FF8 << 48, 0xFFF8 << 48, 0x7FF8 << 48 | 1 << 9], dtype=np.uint64).view(np.float64)
    assert Bit("x", 52).bins({"x": nan}, 3).tolist() == [0, 1, 0]
    assert Bit("x", 9).bins({"x": nan}, 3).tolist() == [0, 0, 1]
    zeros = np.array([0.0, -0.0, -1.0], dtype=">f4")
    assert Bit("x", 23).bins({"x": zeros}, 3).tolist() == [0, 1, 0]
    assert Bit("y", 1).bins({"x": zeros}, 3).tolist() == [0, 0, 0]
    assert bits_of(np.array(["a"], dtype=object)).shape == (1, 0)


def test_types_that_differ_are_columns_of_their_own() -> None:
    mixed = [1, 2.5, None, "a", Decimal("1.50"), math.nan, b"a", 1 << 70]
    found = take_apart(mixed, {})
    assert list(found["type of report"]) == [type(value).__name__ for value in mixed]
    assert all(len(column) == len(mixed) for column in found.values())
    assert found["exponent of report"][4] == -2
    with_text = take_apart(["ab", ["ab"]], {})
    assert {"report[0]", "length of report"} <= set(with_text)


def test_types_are_asked_once_a_batch() -> None:
    """20 000 dictionaries took 362 000 calls of isinstance when each report was looked at by itself."""
    reports = [{"code": at, "weight": at / 7, "name": f"n{at}", "parts": [at, -at]} for at in range(20_000)]
    asked = 0

    def count(frame: Any, event: str, function: Any) -> None:
        nonlocal asked
        asked += event == "c_call" and function in (builtins.isinstance, builtins.issubclass)

    sys.setprofile(count)
    try:
        take_apart(reports, {})
    finally:
        sys.setprofile(None)
    assert asked < 1000
