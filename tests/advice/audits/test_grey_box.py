"""The grey box: exact where few bytes are drawn, and told apart from ε where bytes or branches differ."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.advice.audits import grey_box
from dither.advice.audits.sampler import BoundaryWords, ScriptEnded
from dither.foundation.randomness import SYSTEM, Source

TWO = dt.Categories(2)
FEW = {"samples": 2000, "timing": False}


def one_byte(values: Any, source: Source = SYSTEM) -> Any:
    """Randomised response that tells the truth unless a byte is below 64: the odds are 3 to 1, exactly."""
    return np.array([int(value) ^ (source.take(1)[0] < 64) for value in values])


def with_rejection(values: Any, source: Source = SYSTEM) -> Any:
    """A third of the answers turned round: a byte is drawn again if it is 255."""
    return np.array([int(value) ^ (source.below(255) < 85) for value in values])


def rare(values: Any, source: Source = SYSTEM) -> Any:
    """As `one_byte`, and the bare value where two bytes are zero: once in 65 536 draws."""
    found = []
    for value in values:
        first, second = source.take(2)
        found.append(value + 10 if first == second == 0 else int(value) ^ (first < 64))
    return np.array(found)


def test_few_bytes_are_enumerated() -> None:
    exact = dt.audit_function(one_byte, TWO, epsilon=math.log(3), **FEW)
    assert exact.ok
    assert exact.realised == pytest.approx(math.log(3), abs=1e-12)
    assert "exact" in exact.how
    over = dt.audit_function(one_byte, TWO, epsilon=1.09, **FEW)
    assert not over.ok
    assert "3/4 against 1/4, exactly" in str(over)


def test_rejection_is_enumerated_as_far_as_it_goes() -> None:
    """All of 255^n starts over again, so the law is a geometric series, which is never listed in full."""
    assert grey_box.enumerate_draws(with_rejection, dt.audits.Neighbours.of(TWO)) is None
    assert dt.audit_function(with_rejection, TWO, epsilon=math.log(2), **FEW).ok


@pytest.mark.slow
def test_a_rare_leak_is_found_exactly() -> None:
    finding = dt.audit_function(rare, TWO, epsilon=1.2, **FEW)
    assert finding.realised == math.inf
    assert "probability 1/65536 against 0, exactly" in str(finding)

    def hidden(values: Any) -> Any:
        return rare(values)

    assert dt.audit_function(hidden, TWO, epsilon=1.2, **FEW).ok  # samples alone do not see it


def test_bytes_and_branches_that_depend_on_the_value_are_told() -> None:
    def uneven(values: Any, source: Source = SYSTEM) -> Any:
        found = []
        for value in values:
            if value > 0.5:
                source.take(8)
            found.append(source.below(1 << 30))
        return np.array(found)

    finding = dt.audit_function(uneven, dt.Interval(0, 1), epsilon=1, **FEW)
    assert finding.ok  # no part of ε
    assert any(note.startswith("bytes: 4 are drawn for 0.0 and 12 for 1.0") for note in finding.notes)
    assert any(note.startswith("branch: test_grey_box.py, line ") for note in finding.notes)
    even = dt.PM(dt.Interval(0, 1), epsilon=1)
    assert dt.audit_function(even.perturb, dt.Interval(0, 1), epsilon=1, **FEW).notes == ()


def test_who_takes_a_source() -> None:
    assert grey_box.takes_source(dt.PM(dt.Interval(0, 1), epsilon=1).perturb)
    assert not grey_box.takes_source(lambda values: values)
    assert not grey_box.takes_source(dict)


def test_a_strict_script_ends() -> None:
    source = BoundaryWords(b"\x01\x02", strict=True)
    assert source.take(1) == b"\x01"
    with pytest.raises(ScriptEnded) as ended:
        source.take(3)
    assert ended.value.missing == 2
    assert source.taken == 1
