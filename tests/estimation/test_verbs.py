"""The table of quantities: every kind of question states what it has, and that is what is estimated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.cli.answers import Wanted, answers_of
from dither.core.counts import Counts
from dither.errors import DitherError, InvalidParameter, NotIdentifiable
from dither.estimation.verbs import QUANTITIES

AGES = dt.Interval(0, 100)
ANSWERS = dt.Categories(["a", "b", "c"])
SURE = 8.0  # ε at which a few hundred reports are enough for every estimate


def _summary(design: Any, values: list[Any]) -> Counts:
    reports = design.perturb(values, source=dt.Seeded(5))
    return Counts.of(reports)


KINDS: dict[str, tuple[Any, list[Any], tuple[str, ...]]] = {
    "number": (
        dt.Podium(AGES, epsilon=SURE),
        [20, 60],
        ("mean", "variance", "quantile", "distribution", "bounds"),
    ),
    "number on a scale": (
        dt.SW(AGES.on_scale("linear"), epsilon=SURE),
        [1, 9],
        ("bounds", "quantile", "distribution"),
    ),
    "vector": (dt.Optimal(dt.Vectors(2), epsilon=SURE), [], ("mean vector",)),  # `dt.mean` estimates it, too
    "direction": (
        dt.OGPM(dt.Circle(360), epsilon=SURE),
        [10, 350],
        ("mean", "variance", "resultant", "distribution"),
    ),
    "optional number": (
        dt.Podium(dt.Nullable(AGES), epsilon=SURE),
        [20, 60, None],
        ("mean", "variance", "quantile", "distribution", "bounds", "response rate"),
    ),
    "optional direction": (
        dt.OGPM(dt.Nullable(dt.Circle(360)), epsilon=SURE),
        [10, None],
        ("mean", "response rate"),
    ),
    "answer": (dt.KRR(ANSWERS, epsilon=SURE), ["a", "b"], ("frequencies",)),
    "optional answer": (
        dt.KRR(dt.Nullable(ANSWERS), epsilon=SURE),
        ["a", None],
        ("frequencies", "response rate"),
    ),
    "set": (dt.SetResponse(dt.Several(5, most=2), epsilon=SURE), [[0, 1], [3]], ("frequencies", "sizes")),
    "cells": (
        dt.optimal.Cumulative(AGES, epsilon=SURE, cells=4),
        [20, 60],
        ("cumulative shares", "quantile", "answers"),
    ),
    "numbers together": (
        dt.optimal.JointMoments(dt.Box({"a": AGES, "b": AGES}), epsilon=1),
        [],
        ("moments", "answers"),
    ),
    "paths": (dt.TraCSC(dt.Rectangle(AGES, AGES), epsilon=SURE), [], ()),
    "texts": (dt.PEM(dt.Text(2, "ab"), epsilon=SURE), [], ()),
}
MORE: dict[str, tuple[Any, ...]] = {"quantile": (0.5,)}


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_of_question_states_its_quantities(kind: str) -> None:
    design, _, stated = KINDS[kind]
    assert design.question.quantities == stated
    assert set(stated) <= set(QUANTITIES)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if KINDS[kind][1]])
@pytest.mark.some(every=2)
def test_what_is_stated_is_estimated_and_nothing_else(kind: str) -> None:
    design, values, stated = KINDS[kind]
    summary = _summary(design, values * (400 // len(values)))
    for name, quantity in QUANTITIES.items():
        if name in stated:
            assert quantity.function(summary, *MORE.get(name, ())).n > 0
        else:
            with pytest.raises((InvalidParameter, NotIdentifiable)):
                quantity.function(summary, *MORE.get(name, ()))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if KINDS[kind][1]])
def test_the_usual_quantity_is_the_first(kind: str) -> None:
    design, values, stated = KINDS[kind]
    summary = _summary(design, values * 50)
    assert repr(dt.estimate(summary)) == repr(QUANTITIES[stated[0]].function(summary))


def test_every_quantity_is_one_that_a_question_states() -> None:
    assert set(QUANTITIES) == set().union(*(stated for _, _, stated in KINDS.values()))


def test_queries_without_an_order_have_answers() -> None:
    pytest.importorskip("scipy")
    ends = np.array([[1, 0, 0, 0, -1], [0, 1, 0, -1, 0]])
    asked = dt.optimal.Workload.of(ends, 1)
    assert asked.question.quantities == ("answers",)
    reports = asked.perturb(np.repeat(np.arange(5), 100), source=dt.Seeded(1))
    assert dt.estimate(reports).value.shape == (2,)
    found = answers_of(Counts.of(reports), Wanted(None, (0.5,), None))
    assert [label for label, _ in found] == ["answers", "quantile 0.5"]
    assert "call dt.stats.answers(reports)" in found[1][1]


def test_a_question_without_quantities_says_what_to_call() -> None:
    path = KINDS["paths"][0]
    reports = path.perturb([[(1.0, 2.0)]])
    with pytest.raises(DitherError, match=r"dt\.maps\.density for places"):
        dt.estimate(reports)


def test_too_few_answers_are_told_as_such() -> None:
    """The likeliest mean is for numbers that everybody answers."""
    design = dt.Podium(dt.Nullable(AGES), epsilon=1)
    reports = design.perturb([None] * 300, source=dt.Seeded(3))
    with pytest.raises(NotIdentifiable, match="too few people answered"):
        dt.estimate(reports)


def test_a_method_is_named_with_spaces_or_underscores() -> None:
    reports = dt.SW(AGES, epsilon=1).perturb(np.full(500, 40.0), source=dt.Seeded(1))
    assert repr(dt.mean(reports, method="as_reported")) == repr(dt.mean(reports, method="as reported"))
