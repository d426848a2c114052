"""One verb, two kinds of arguments; what is given wrongly is refused in words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither import results
from dither.advice.audits.black_box.calls import WrongCount
from dither.errors import InvalidParameter

UNIT = dt.Interval(0, 1)
FEW = {"samples": 4000, "timing": False}


def made_fair(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return lambda values: np.round(values * 64 + rng.laplace(scale=64, size=len(values)))


fair = made_fair(1)


def test_an_object_and_a_function_have_the_same_kind_of_finding() -> None:
    for finding in (
        dt.audit(dt.PM(UNIT, epsilon=1)),
        dt.audit_function(made_fair(3), UNIT, epsilon=1, **FEW),
    ):
        assert isinstance(finding, results.Finding)
        assert finding.ok
        assert finding.realised <= 1


@pytest.mark.parametrize(
    ("given", "more", "words"),
    [
        ((dt.PM(UNIT, epsilon=1), UNIT), {"epsilon": 1}, "use dt.audit for mechanisms"),
        ((3, UNIT), {"epsilon": 1}, "expected a function, got int"),
        ((fair, UNIT), {"epsilon": 0}, "positive"),
        ((fair, UNIT), {"epsilon": "1"}, "a number, not str"),
        ((fair, UNIT), {"epsilon": True}, "a number, not bool"),
        ((fair, UNIT), {"epsilon": math.nan}, "positive"),
        ((fair, UNIT), {"epsilon": 1, "delta": 1.0}, "δ to be a probability"),
        ((fair, UNIT), {"epsilon": 1, "confidence": 1.0}, "strictly between"),
        ((fair, UNIT), {"epsilon": 1, "samples": 10}, "at least 1000"),
        ((fair, "abc"), {"epsilon": 1}, "a domain, a list of inputs or Neighbours"),
        ((fair, [1.0]), {"epsilon": 1}, "at least two inputs"),
    ],
)
def test_wrong_arguments(given: Any, more: Any, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        dt.audit_function(*given, **more)


def test_a_function_is_not_a_mechanism() -> None:
    with pytest.raises(InvalidParameter, match="audit_function"):
        dt.audit(fair)


def test_wrong_randomisers() -> None:
    with pytest.raises(WrongCount, match="each=True"):
        dt.audit_function(lambda values: 1.0, UNIT, epsilon=1, **FEW)
    with pytest.raises(WrongCount, match="got 2 for"):
        dt.audit_function(lambda values: [1, 2], UNIT, epsilon=1, **FEW)
    with pytest.raises(InvalidParameter, match="at every value: KeyError"):
        dt.audit_function(lambda values: {}["x"], UNIT, epsilon=1, **FEW)


def test_evidence_is_repeated_and_drawn() -> None:
    rng = np.random.default_rng(3)
    finding = dt.audit_function(
        lambda values: np.round(values * 64 + rng.laplace(scale=16, size=len(values))), UNIT, epsilon=1, **FEW
    )
    evidence = finding.evidence
    assert evidence is not None
    again = evidence.repeat(4000)
    assert again.hits != evidence.hits
    assert again.epsilon > 1
    assert evidence.contains is not None
    assert evidence.contains(np.array([0.0, 64.0])).dtype == bool
    assert "ε ≥" in finding.plot().get_title()
    assert dt.audit(dt.PM(UNIT, epsilon=1)).plot().get_xlabel()  # an exact one has a picture of its own


def test_without_a_claim_all_samples_are_used() -> None:
    finding = dt.audit_function(made_fair(2), UNIT, epsilon=math.inf, samples=20_000, timing=False)
    assert finding.ok
    assert "from 20" in finding.how
    assert 0.3 < finding.realised < 1


def test_every_kind_of_report() -> None:
    """Sets, texts, dictionaries, missing values and mixed types are compared without an error."""
    rng = np.random.default_rng(5)
    kinds = {
        "sets": lambda: {int(one) for one in rng.integers(0, 6, 3)},
        "texts": lambda: "".join(rng.choice(list("ab"), int(rng.integers(0, 4)))),
        "bytes": lambda: rng.bytes(2),
        "dictionaries": lambda: {"a": float(rng.normal()), "b": [1, int(rng.integers(3))]},
        "none": lambda: None if rng.random() < 0.5 else 2**70,
        "mixed": lambda: (1.5, True, np.int64(3), "x")[int(rng.integers(4))],
        "ragged": lambda: list(rng.normal(size=int(rng.integers(0, 3)))),
        "infinite": lambda: math.inf if rng.random() < 0.1 else float(rng.normal()),
    }
    for name, draw in kinds.items():
        finding = dt.audit_function(
            lambda values, draw=draw: [draw() for _ in values], dt.Categories(3), epsilon=0.5, **FEW
        )
        assert finding.ok, f"{name}: {finding}"


def test_data_sets_are_neighbours() -> None:
    data = [0.1, 0.7, 0.7]
    added = dt.audits.Neighbours.adding(data, UNIT)
    assert all(len(two) == len(one) + 1 for one, two in added.pairs)
    replaced = dt.audits.Neighbours.replacing(data, UNIT)
    assert all(one[1:] == two[1:] == data[1:] for one, two in replaced.pairs)
    rng = np.random.default_rng(2)
    finding = dt.audit_function(
        lambda one: round(sum(one) + float(rng.laplace()), 1), replaced, epsilon=1, each=True, **FEW
    )
    assert finding.ok, str(finding)
    leaky = dt.audit_function(lambda one: round(sum(one), 1), added, epsilon=1, each=True, **FEW)
    assert not leaky.ok
