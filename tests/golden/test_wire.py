"""What earlier versions wrote is read as it was meant, for ever."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
import pytest

import dither as dt
from tests.golden.make import frequency

ROWS = [
    (file.stem, row)
    for file in sorted(Path(__file__).parent.glob("wire-*.json"))
    for row in json.loads(file.read_text())
]


@pytest.mark.parametrize(("version", "row"), ROWS, ids=[f"{version} {row['case']}" for version, row in ROWS])
def test_old_bytes_are_read(version: str, row: dict[str, object]) -> None:
    reports = dt.from_bytes(base64.b64decode(str(row["bytes"])))
    np.testing.assert_allclose(reports.values, row["values"], rtol=1e-15)
    assert dt.from_json(str(row["specification"])) == reports.mechanism
    assert dt.audit(reports.mechanism, assume=reports.mechanism.guarantee.assumes).ok


def test_the_sampler_of_this_release_is_pinned() -> None:
    """The same words give the same reports: a change of the sampler is made on purpose."""
    mechanism = dt.Podium(dt.Interval(0, 1), epsilon=1.25)
    (row,) = [row for version, row in ROWS if version == "wire-1" and row["case"] == "Podium([0, 1])"]
    reports = mechanism.perturb(np.linspace(0, 1, 40), source=dt.Seeded(2025))
    assert reports == dt.from_bytes(base64.b64decode(row["bytes"]))


def test_the_frequency_samplers_of_this_release_are_pinned() -> None:
    pinned = [row for version, row in ROWS if version == "wire-1-frequency"]
    for old, new in zip(pinned, frequency(), strict=True):
        before, now = (dt.from_bytes(base64.b64decode(row["bytes"])) for row in (old, new))
        assert before == now, old["case"]
