"""Every broken randomiser of the museum is refused at the defaults, and the finding says why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dither as dt
from dither import results
from tests.support.broken import numbers
from tests.support.broken.frequency import NotCleared, OffByOneBit, RoundedDown, WithoutFactor
from tests.support.broken.randomisers import MUSEUM, SQUARE, UNIT, Case

LONG = {"the value itself above ε = 10", "memoised without a name", "classical Gaussian at ε = 8"}


def _refused(case: Case, seed: int) -> results.Finding:
    randomiser = case.make(np.random.default_rng(seed))
    finding = dt.audit_function(
        randomiser, case.domain, epsilon=case.epsilon, delta=case.delta, each=case.each, timing=False
    )
    assert not finding.ok, str(finding)
    assert finding.evidence is not None
    assert finding.realised == finding.evidence.epsilon > case.epsilon
    assert finding.evidence.event in str(finding)
    return finding


@pytest.mark.some(every=6)
@pytest.mark.parametrize("name", [name for name in MUSEUM if name not in LONG])
def test_broken_randomisers_are_refused(name: str) -> None:
    _refused(MUSEUM[name], seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", MUSEUM)
def test_broken_randomisers_are_refused_whatever_they_draw(name: str, seed: int) -> None:
    _refused(MUSEUM[name], seed)


EIGHT = dt.Categories(8)
OURS: list[tuple[Any, Any]] = [  # broken objects that samples show, and on what
    (numbers.LyingRatio(UNIT, epsilon=1), UNIT),
    (numbers.HonestHalfTheTime(UNIT, epsilon=1), UNIT),
    (numbers.OneByOne(UNIT, epsilon=1), UNIT),
    (numbers.OffByABit(EIGHT, epsilon=1), EIGHT),
    (numbers.RawPath(SQUARE, epsilon=1), dt.audits.Neighbours.paths(SQUARE, 1)),
    (WithoutFactor(EIGHT, epsilon=1), EIGHT),
    (NotCleared(EIGHT, epsilon=1), EIGHT),
]


@pytest.mark.parametrize(("mechanism", "domain"), OURS, ids=lambda one: type(one).__name__)
def test_broken_objects_are_refused_as_black_boxes_too(mechanism: Any, domain: Any) -> None:
    source = dt.Seeded(1)
    finding = dt.audit_function(
        lambda values: mechanism.perturb(values, source=source), domain, epsilon=1, timing=False
    )
    assert not finding.ok, str(finding)


@pytest.mark.some(every=2)
@pytest.mark.parametrize(
    "mechanism",
    [
        numbers.RoundedUp(UNIT, epsilon=1),
        numbers.WordZero(UNIT, epsilon=1, cells=1 << 11),
        OffByOneBit(EIGHT, epsilon=1),
        RoundedDown(EIGHT, epsilon=1),
    ],
    ids=lambda one: type(one).__name__,
)
def test_what_samples_cannot_show_the_exact_audit_finds(mechanism: Any) -> None:
    """One part in 2^64, or one word of 2^32: no number of samples that anybody draws shows it."""
    assert not dt.audit(mechanism).ok
    seen = dt.audit_function(mechanism.perturb, mechanism.domain, epsilon=1, samples=20_000, timing=False)
    assert seen.ok


def test_there_are_enough_of_them() -> None:
    assert len(MUSEUM) >= 20
