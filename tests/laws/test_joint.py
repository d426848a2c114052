"""The laws of every kind of question with shared coins, over one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.errors import MalformedReport
from tests.support.cases.joint import JOINT
from tests.support.cases.kernels import CASES

each = pytest.mark.parametrize("make", JOINT.values(), ids=JOINT)
PEOPLE = 9


def test_every_kind_of_joint_kernel_is_in_the_table() -> None:
    kinds = {case.kernel.kind for case in CASES.values() if case.kernel.kind.startswith("joint")}
    assert {make(n=4).question.kernel.kind for make in JOINT.values()} == kinds


def test_what_coins_are_shared_over_says_its_kind() -> None:
    kinds = {name: type(make(n=4)) for name, make in JOINT.items()}
    assert kinds["over SUE"] is dt.jrr.JointSUE
    assert kinds["over OLH"] is kinds["over BLH"] is dt.jrr.JointOLH
    assert kinds["over KRR"] is dt.JRR


@each
def test_probabilities_are_a_law_for_every_answer(make: Callable[..., Any]) -> None:
    joint = make(n=PEOPLE)
    for label in joint.categories.labels:
        try:
            law = joint.probabilities(label)
        except dt.errors.NotIdentifiable:  # hashed answers have too many reports to list
            assert "hash" in joint.question.kernel.kind
            continue
        assert sum(law) == 1
        assert min(law) >= 0


@each
def test_journeys_change_nothing(make: Callable[..., Any]) -> None:
    joint = make(n=PEOPLE)
    label = joint.categories.labels[-1]
    reports = joint.perturb([label] * PEOPLE, source=dt.Seeded(1))
    assert dt.from_json(joint.to_json()).design() == joint
    assert dt.from_bytes(reports.to_bytes()) == reports
    assert joint.reports(reports.cells) == reports


@each
def test_dealt_coins_make_reports_of_the_same_kind(make: Callable[..., Any]) -> None:
    joint = make(n=PEOPLE)
    label = joint.categories.labels[0]
    coins = joint.deal(PEOPLE, source=dt.Seeded(2))
    assert len(coins) == PEOPLE
    sent = dt.Reports.concatenate([coin.apply(label, source=dt.Seeded(3)) for coin in coins])
    together = joint.perturb([label] * PEOPLE, source=dt.Seeded(4))
    assert sent.cells.shape == together.cells.shape
    assert sent.cells.dtype == together.cells.dtype


@each
def test_what_is_assumed_is_said(make: Callable[..., Any]) -> None:
    joint = make(n=PEOPLE)
    assert joint.guarantee.assumes
    assert dt.audit(joint, assume=joint.guarantee.assumes).ok
    assert not dt.audit(joint).ok


@each
def test_what_no_device_could_have_sent(make: Callable[..., Any]) -> None:
    joint = make(n=PEOPLE)
    cells = joint.perturb([joint.categories.labels[0]] * PEOPLE, source=dt.Seeded(5)).cells
    for wrong in (cells.astype(np.float64) + 0.5, cells.astype(np.int64) - 1000, [["?"]]):
        with pytest.raises(MalformedReport):
            joint.reports(wrong)
