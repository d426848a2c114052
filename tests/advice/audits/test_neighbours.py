"""Inputs that an audit compares: every domain of a mechanism has some, as the mechanism takes them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.advice.audits.neighbours import Neighbours
from dither.mechanisms.mechanism import Mechanism
from tests.golden.devices import CASES

PROFILE = dt.Profile({"age": dt.Categories(3), "browser": dt.Categories(["a", "b"])})
COMBINED = {"Each", "Indicator", "Memoised", "Sampled"}  # of mechanisms that are there by themselves


@pytest.mark.parametrize("name", [name for name in CASES if name not in COMBINED])
@pytest.mark.some(every=4)
def test_every_mechanism_has_inputs_and_takes_them(name: str) -> None:
    mechanism: Any = CASES[name]()  # made here: some take a second
    assert isinstance(mechanism, Mechanism)
    neighbours = Neighbours.of(mechanism.domain)
    count = len(neighbours.inputs)
    assert count >= 2
    if mechanism.question.alone:
        reports = mechanism.perturb(neighbours.pack(np.arange(count)), source=dt.Seeded(1))
        assert len(reports) == count


def test_records_of_several_attributes() -> None:
    """First all attributes differ, then one at a time: each pair of attributes is compared."""
    neighbours = Neighbours.of(PROFILE)
    assert neighbours.pairs[0] == ({"age": 0, "browser": "a"}, {"age": 2, "browser": "b"})
    assert {"age": 0, "browser": "b"} in neighbours.inputs
    assert {"age": 2, "browser": "a"} in neighbours.inputs
    assert len(neighbours.inputs) == 4
    assert json.loads(json.dumps(neighbours.inputs)) == neighbours.inputs  # as a command reads them


def test_a_table_with_too_little_noise_is_refuted() -> None:
    """A person's whole record is compared: ε for each of two attributes spends 2ε."""
    source = dt.Seeded(5)
    parts = [dt.KRR(part, epsilon=1) for part in PROFILE.parts]

    def twice(records: list[dict[str, Any]]) -> Any:
        cells = [
            part.perturb([record[name] for record in records], source=source).cells
            for name, part in zip(PROFILE.names, parts, strict=True)
        ]
        return np.stack(cells, axis=1)

    finding = dt.audit_function(twice, PROFILE, epsilon=1, timing=False, samples=20_000)
    assert not finding.ok
    survey = dt.Marginals(PROFILE, epsilon=1)
    fair = dt.audit_function(
        lambda records: survey.perturb(records, source=source),
        PROFILE,
        epsilon=1,
        timing=False,
        samples=20_000,
    )
    assert fair.ok, str(fair)
