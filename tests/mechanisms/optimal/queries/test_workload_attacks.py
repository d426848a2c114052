"""Specifications of `Cumulative` and of workloads, changed at random: refused, or what they promise holds."""

from __future__ import annotations

import json
from random import Random

import numpy as np
import pytest

import dither as dt
from dither.errors import DitherError
from tests.fuzz import mutations
from tests.fuzz.test_wire import changed_specification


def attack(count: int, seed: int = 7) -> tuple[int, int]:
    """Change specifications; return how many were accepted, and refused. What is accepted is audited."""
    made = [
        dt.optimal.Cumulative(dt.Interval(0, 1), epsilon=1, cells=8),
        dt.optimal.Workload.of(np.tri(4), 1),
    ]
    known = [json.loads(one.to_json()) for one in made]
    random, accepted, refused = Random(seed), 0, 0
    for _ in range(count):
        text = mutations.dumped(changed_specification(random, known))
        try:
            question = dt.from_json(text)
        except DitherError:
            refused += 1
            continue
        accepted += 1
        finding = dt.audit(question)
        assert finding.holds, (text, str(finding))
        domain = question.domain
        values = [domain.labels[0]] * 5 if isinstance(domain, dt.Categories) else [float(domain.low)] * 5
        assert len(question.perturb(values)) == 5
    return accepted, refused


def test_changed_workloads() -> None:
    accepted, refused = attack(40)
    assert refused > 20
    assert accepted + refused == 40


@pytest.mark.slow
def test_three_thousand_changed_workloads() -> None:
    accepted, refused = attack(3000)
    assert accepted > 30
    assert refused > 2000
