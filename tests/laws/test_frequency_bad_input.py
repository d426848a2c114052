"""What is refused, and how: the message says what was expected and never repeats an answer."""

from __future__ import annotations

import numpy as np
import pytest

import dither as dt
from dither import mechanisms
from dither.errors import InvalidParameter, MalformedReport, Mismatch, NotIdentifiable, OutsideDomain
from tests.support.cases.frequency import FRUIT, KINDS, names

every_kind = pytest.mark.parametrize("kind", KINDS, ids=names(KINDS))


@every_kind
def test_other_domains(kind):
    with pytest.raises(InvalidParameter, match="Categories"):
        kind(dt.Interval(0, 1), epsilon=1)


@every_kind
@pytest.mark.parametrize("answer", ["secret-fig", None, 1.5, float("nan")])
def test_answers_outside(kind, answer):
    with pytest.raises(OutsideDomain) as error:
        kind(FRUIT, epsilon=1).perturb(["apple", answer])
    assert "secret-fig" not in str(error.value)


@every_kind
@pytest.mark.parametrize("answers", [[0, 5], [-1], [0.5], ["1"], [True]])
def test_numbers_outside(kind, answers):
    with pytest.raises(OutsideDomain):
        kind(dt.Categories(5), epsilon=1).perturb(answers)


@every_kind
@pytest.mark.parametrize("epsilon", [0, -1, float("inf"), float("nan"), 51, "1", None, True])
def test_budgets(kind, epsilon):
    with pytest.raises(InvalidParameter, match="epsilon"):
        kind(FRUIT, epsilon=epsilon)


def test_two_categories_for_rr():
    with pytest.raises(InvalidParameter, match="use KRR"):
        mechanisms.RR(FRUIT, epsilon=1)


def test_sets_of_very_many_categories():
    with pytest.raises(InvalidParameter, match="use OLH"):
        dt.SubsetSelection(dt.Categories(100_000), epsilon=1)


@every_kind
def test_no_reports(kind):
    protocol = kind(FRUIT, epsilon=1)
    for nothing in (protocol.perturb([]), protocol.reports([]), dt.Counts.empty(protocol)):
        with pytest.raises(NotIdentifiable, match="at least one report"):
            dt.frequencies(nothing)


@every_kind
def test_raw_reports_come_back(kind):
    protocol = kind(FRUIT, epsilon=1)
    reports = protocol.perturb(["apple", "date", "elder"], source=dt.Seeded(1))
    assert protocol.reports(reports.cells.astype(np.int64).tolist()) == reports


@every_kind
def test_raw_reports_that_no_device_sends(kind):
    protocol = kind(FRUIT, epsilon=1)
    for raw in ([-1], [2**64 - 1], [0.5], ["a"], [[0, 1], [2]], np.ma.masked_array([0], [True])):
        with pytest.raises(MalformedReport):
            protocol.reports(raw)


def test_packed_reports_that_no_device_sends():
    protocol = dt.OUE(FRUIT, epsilon=1)
    for raw in ([[0b100000]], [[256]], [[0, 0]], 3):
        with pytest.raises(MalformedReport):
            protocol.reports(raw)
    assert len(protocol.reports([[0b11111], [0]])) == 2
    chosen = dt.SubsetSelection(dt.Categories(11), epsilon=1)
    with pytest.raises(MalformedReport, match="exactly 3 categories"):
        chosen.reports([[0b11, 0]])


def test_a_bucket_that_does_not_exist():
    protocol = dt.OLH(FRUIT, epsilon=1)
    assert protocol.question.kernel.window.cells == 4
    with pytest.raises(MalformedReport, match="4 buckets"):
        protocol.reports([(12345 << 16) + 4])


@every_kind
def test_reports_of_another_protocol(kind):
    reports = kind(FRUIT, epsilon=1).perturb(["apple"])
    with pytest.raises(Mismatch):
        kind(FRUIT, epsilon=2).reports(reports)
    with pytest.raises(Mismatch):
        kind(dt.Categories(["apple", "banana", "cherry", "date", "fig"]), epsilon=1).reports(reports)


def test_frequencies_are_asked_of_categories():
    reports = dt.PM(dt.Interval(0, 1), epsilon=1).perturb([0.5])
    with pytest.raises(InvalidParameter, match="categories"):
        dt.frequencies(reports)
    with pytest.raises(InvalidParameter, match="expected reports"):
        dt.frequencies([1, 2, 3])


def test_a_summary_that_cannot_be():
    protocol = dt.KRR(FRUIT, epsilon=1)
    with pytest.raises(MalformedReport, match="add up"):
        dt.frequencies(dt.Counts(protocol, np.array([9, 0, 0, 0, 0]), 3))


def test_questions_about_an_estimate():
    found = dt.frequencies(dt.KRR(FRUIT, epsilon=1).reports([0, 1]))
    with pytest.raises(InvalidParameter, match="there is no category 'fig'"):
        found["fig"]
    with pytest.raises(InvalidParameter, match="level"):
        found.interval(1.0)
    with pytest.raises(InvalidParameter, match="from 0 to 1"):
        dt.KRR(FRUIT, epsilon=1).variance(1.5)


@pytest.mark.parametrize("kind", [dt.rivals.SUE, dt.OUE, dt.SubsetSelection])
def test_laws_too_long_to_list(kind):
    with pytest.raises(InvalidParameter, match="at most 16"):
        kind(dt.Categories(17), epsilon=1).probabilities(0)
