"""What is right is not refuted: false alarms are counted, at the exact ε of every mechanism.

`pytest -m slow -s` prints a table as in docs/audit.md, where MANY is 1000.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither import results
from dither.advice.audits import finding as evidence
from dither.advice.audits.black_box import rounds
from dither.advice.audits.black_box import rounds as repeats
from dither.foundation.numerics.binomial import binomial_below
from dither.mechanisms.mechanism import Mechanism
from dither.privacy import Approximate, Pure
from tests.golden.devices import CASES

SAMPLES = 10_000
MANY, SOME = 60, 15


@cache
def _claimed() -> dict[str, Any]:
    """Every mechanism whose single reports keep a bound, by name."""
    made = {name: make() for name, make in CASES.items()}
    alone = {name: one for name, one in made.items() if isinstance(one, Mechanism) and one.question.alone}
    bounded = (Pure, Approximate)
    return {name: one for name, one in alone.items() if isinstance(one.guarantee.bound, bounded)}


def _inputs(mechanism: Any) -> Any:
    if isinstance(mechanism, dt.BoundedLaplace) and mechanism.guarantee.assumes:
        return dt.audits.Neighbours([(-3.0, -0.5), (1.0, 3.5), (0.0, 1.0)])  # near values, as it assumes
    places = getattr(mechanism.domain, "centre", None)
    return mechanism.domain if places is None else dt.audits.Neighbours.paths(mechanism.domain, 1)


def _one_per_kernel(claimed: dict[str, Any]) -> set[str]:
    first: dict[type, str] = {}
    for name, mechanism in claimed.items():
        first.setdefault(type(mechanism.question.kernel), name)
    return set(first.values())


def _seeded(mechanism: Any, seed: int) -> Any:
    source = dt.Seeded(seed)
    return lambda values: mechanism.perturb(values, source=source)


def alarms(mechanism: Any, seeds: range, **more: Any) -> int:
    """Return how many of the audits with these seeds refute the mechanism's own guarantee."""
    inputs, promise = _inputs(mechanism), mechanism.guarantee
    found = 0
    for seed in seeds:
        finding = dt.audit_function(
            _seeded(mechanism, seed),
            inputs,
            epsilon=promise.epsilon,
            delta=promise.delta,
            timing=False,
            seed=seed,
            **{"samples": SAMPLES, **more},
        )
        found += not finding.ok
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_false_alarms_are_rare(name: str) -> None:
    claimed = _claimed()
    assert len(claimed) > 50
    if name not in claimed:
        pytest.skip("a single report keeps no bound")
    mechanism, runs = claimed[name], MANY if name in _one_per_kernel(claimed) else SOME
    found = alarms(mechanism, range(runs))
    print(f"| {name} | {type(mechanism.question.kernel).__name__} | {runs} | {found} |", flush=True)
    assert binomial_below(found, runs, 1e-6) <= 0.01  # what 99 % confidence promises


RIGHT = [
    dt.Duchi(dt.Interval(0, 1), epsilon=1),
    dt.KRR(dt.Categories(4), epsilon=1),
    dt.OUE(dt.Categories(4), epsilon=0.5),
    dt.TraCSC(dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1)), epsilon=1),
]


@pytest.mark.some("KRR")
@pytest.mark.parametrize("mechanism", RIGHT, ids=lambda one: type(one).__name__)
@pytest.mark.slow
def test_stopping_early_keeps_the_confidence(mechanism: Any) -> None:
    """At confidence 0.8, where alarms would be seen: at most a fifth, with a false-alarm rate of 10⁻⁶."""
    runs = 60
    found = alarms(mechanism, range(runs), samples=4000, confidence=0.8)
    assert binomial_below(found, runs, 1e-6) <= 0.2


@pytest.mark.slow
def test_bounds_that_are_estimates_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: shares in place of their bounds refute what is right, more often than a fifth."""
    monkeypatch.setattr(evidence, "binomial_below", lambda hits, trials, omega: hits / trials)
    monkeypatch.setattr(evidence, "binomial_above", lambda hits, trials, omega: max(hits, 1) / trials)
    found = alarms(RIGHT[0], range(60), samples=4000, confidence=0.8)
    assert binomial_below(found, 60, 1e-6) > 0.2


def test_levels_sum_to_what_is_stated() -> None:
    for samples in (1000, 10_000, 200_000, 4_000_000):
        for inputs in (2, 7, 24):
            plan = rounds.plan(samples, inputs, 0.01)
            assert sum(plan.sizes) == samples
            spent = sum(plan.levels) + 0.01 * (repeats.REPEATS + repeats.SINGLES)
            assert math.isclose(spent, 0.01)
            assert min(plan.sizes) > 0


def test_the_audit_is_repeatable() -> None:
    def once() -> results.Finding:
        source = dt.Seeded(4)
        pm = dt.PM(dt.Interval(0, 1), epsilon=1)
        return dt.audit_function(
            lambda values: pm.perturb(values, source=source),
            pm.domain,
            epsilon=1,
            samples=4000,
            timing=False,
            seed=9,
        )

    one, two = once(), once()
    assert one.evidence is not None
    assert two.evidence is not None
    assert one.evidence.hits == two.evidence.hits
    assert np.array_equal(one.evidence.chosen, two.evidence.chosen)  # type: ignore[arg-type]
