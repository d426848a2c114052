"""Wrong input to lattice mechanisms: a clear error, nothing half done, no value in the message."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain

UNIT = dt.Interval(0, 1)

WRONG: dict[str, Callable[[], Any]] = {
    "a circle for an interval": lambda: dt.Laplace(dt.Circle(1), epsilon=1),
    "an interval for a circle": lambda: dt.rivals.Purkayastha(UNIT, epsilon=1),
    "cells not a power of two": lambda: dt.Laplace(UNIT, epsilon=1, cells=100),
    "too many cells": lambda: dt.Staircase(UNIT, epsilon=1, cells=1 << 17),
    "too few cells": lambda: dt.rivals.Purkayastha(dt.Circle(1), epsilon=1, cells=4),
    "cells not a number": lambda: dt.Laplace(UNIT, epsilon=1, cells="many"),
    "cells a truth value": lambda: dt.Laplace(UNIT, epsilon=1, cells=True),
    "no budget": lambda: dt.Laplace(UNIT, epsilon=0),
    "compressed": lambda: dt.Laplace(UNIT, epsilon=1, decoding="compressed"),
    "decoding by name": lambda: dt.Laplace(UNIT, epsilon=1, decoding="truncate"),
    "another loss": lambda: dt.Staircase(UNIT, epsilon=1, loss=3),
    "a loss by name": lambda: dt.Staircase(UNIT, epsilon=1, loss="absolut"),
    "sensitivity 0": lambda: dt.BoundedLaplace(UNIT, epsilon=1, sensitivity=0),
    "sensitivity beyond the domain": lambda: dt.BoundedLaplace(UNIT, epsilon=1, sensitivity=2),
    "sensitivity NaN": lambda: dt.BoundedLaplace(UNIT, epsilon=1, sensitivity=math.nan),
    "δ of 0": lambda: dt.Gaussian(UNIT, epsilon=1, delta=0),
    "δ of 1": lambda: dt.Gaussian(UNIT, epsilon=1, delta=1),
    "δ tiny": lambda: dt.Gaussian(UNIT, epsilon=1, delta=1e-20),
    "δ a text": lambda: dt.Gaussian(UNIT, epsilon=1, delta="1e-5"),
    "calibration by name": lambda: dt.Gaussian(UNIT, epsilon=1, delta=1e-5, calibration="analytical"),
    "one point": lambda: dt.Exponential(UNIT, [0.5], epsilon=1),
    "no points": lambda: dt.Exponential(UNIT, [], epsilon=1),
    "points twice": lambda: dt.Exponential(UNIT, [0, 0.5, 0.5], epsilon=1),
    "points outside": lambda: dt.Exponential(UNIT, [0, 2], epsilon=1),
    "points in a square": lambda: dt.Exponential(UNIT, [[0, 0.5], [0.7, 1]], epsilon=1),
    "points as texts": lambda: dt.Exponential(UNIT, ["a", "b"], epsilon=1),
    "too many points": lambda: dt.Exponential(UNIT, np.linspace(0, 1, 2000), epsilon=1),
    "both ends of a circle": lambda: dt.Exponential(dt.Circle(1), [0, 0.5, 1], epsilon=1),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_parameters(name: str) -> None:
    with pytest.raises(InvalidParameter):
        WRONG[name]()


def test_the_error_of_a_wrong_domain_has_an_example_of_the_right_one() -> None:
    with pytest.raises(InvalidParameter, match=r"got list; pass one such as dt\.Categories"):
        dt.KRR(["a", "b"], epsilon=1)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match=r"got tuple; pass one such as dt\.Interval"):
        dt.Podium((0, 1), epsilon=1)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match=r"got str; pass one such as dt\.Podium"):
        dt.audit("podium")


@pytest.mark.parametrize("sensitivity", [1e-3, 1e-9, 1e-10, 1e-12])
def test_a_small_sensitivity_is_refused_for_what_it_spends(sensitivity: float) -> None:
    with pytest.raises(InvalidParameter, match="the points spend at most ε = 1, got"):
        dt.Exponential(UNIT, [0, 1], epsilon=1, sensitivity=sensitivity)


def test_missing_parameters() -> None:
    with pytest.raises(TypeError, match="delta"):
        dt.Gaussian(UNIT, epsilon=1)  # type: ignore[call-arg]
    with pytest.raises(InvalidParameter, match=r"by name: Laplace\(domain, epsilon=…\)"):
        dt.Laplace(UNIT, 1)  # type: ignore[misc]


MECHANISMS = [
    dt.Laplace(UNIT, epsilon=1, cells=256),
    dt.BoundedLaplace(UNIT, epsilon=1, cells=256),
    dt.rivals.Purkayastha(dt.Circle(1), epsilon=1, cells=256),
    dt.Gaussian(UNIT, epsilon=1, delta=1e-3, cells=256),
    dt.Exponential(UNIT, [0, 0.4, 1], epsilon=1),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)
def test_values_outside_are_refused_without_naming_them(mechanism: Any) -> None:
    many = np.full(100_000, 0.5)
    many[77_777] = 1.23456
    for values in (1.23456, [0.1, -1.23456], math.nan, [math.inf], many):
        with pytest.raises(OutsideDomain) as caught:
            mechanism.perturb(values)
        assert "1.23" not in str(caught.value)
        assert "1.23" not in repr(caught.value.__cause__) + repr(caught.value.__context__)
    for values in (["a"], [None], np.ma.masked_array([0.1])):
        with pytest.raises(OutsideDomain):
            mechanism.perturb(values)
    with pytest.raises(InvalidParameter):
        mechanism.perturb(many[:50], threads=0)
    with pytest.raises(OutsideDomain):
        mechanism.probabilities(1.23456)
    with pytest.raises(InvalidParameter):
        mechanism.probabilities([0.1, 0.2])


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)
def test_reports_from_outside_are_checked(mechanism: Any) -> None:
    assert mechanism.reports([0, mechanism.question.outcomes - 1]).cells.tolist() == [
        0,
        mechanism.question.outcomes - 1,
    ]
    for raw in ([-1], [mechanism.question.outcomes], [0.5], ["x"]):
        with pytest.raises(MalformedReport):
            mechanism.reports(raw)


def test_the_same_question_with_another_budget() -> None:
    for mechanism in MECHANISMS:
        other = mechanism.at(2)
        assert other.epsilon == 2.0
        assert other.at(1) == mechanism
        assert other.fingerprint != mechanism.fingerprint
        assert dt.audit(other, assume=other.guarantee.assumes).ok


def test_descriptions_say_what_is_promised() -> None:
    assert "(ε, δ) ≤ (1, " in dt.Gaussian(UNIT, epsilon=1, delta=1e-3, cells=256).describe()
    near = dt.BoundedLaplace(UNIT, epsilon=1, sensitivity=0.5, cells=256)
    assert "assuming that two values differ by at most 0.5" in near.describe()
    assert "assuming" not in dt.BoundedLaplace(UNIT, epsilon=1, sensitivity=1, cells=256).describe()
    probable = dt.Gaussian(UNIT, epsilon=1, delta=1e-3, calibration="pac", cells=256)
    assert "with probability" in probable.describe()
