"""Subset selection as numbers: the same law as the packed one, and reports that no device sends."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither import mechanisms
from dither.errors import InvalidParameter, MalformedReport

ALARM = 1e-6


@pytest.mark.parametrize(("k", "epsilon"), [(9, 1.0), (12, 0.7), (64, 3.3), (300, 4.0), (1000, 5.0)])
def test_the_rates_are_those_of_subset_selection(k: int, epsilon: float) -> None:
    short, long = (
        kind(dt.Categories(k), epsilon=epsilon) for kind in (mechanisms.SubsetIndices, dt.SubsetSelection)
    )
    assert short.rates == long.rates
    assert short.question.kernel.ratio == long.question.kernel.ratio
    assert short.variance(0.1) == long.variance(0.1)
    assert short.report_bytes < long.report_bytes or k < 65


def test_sets_follow_the_law_and_a_forgotten_coin_is_rejected() -> None:
    mechanism = dt.SubsetSelection(dt.Categories(9), epsilon=1, report="indices")
    sets = list(combinations(range(9), mechanism.question.kernel.chosen))
    law = np.array([float(p) for p in mechanism.probabilities(3)])
    rows = mechanism.perturb(np.full(100_000, 3), source=dt.Seeded(1)).cells
    place = {one: at for at, one in enumerate(sets)}
    counts = np.bincount([place[tuple(row)] for row in rows.tolist()], minlength=len(sets))
    assert stats.chisquare(counts, law * counts.sum()).pvalue > ALARM
    even = np.full(len(sets), 1 / len(sets))
    assert stats.chisquare(counts, even * counts.sum()).pvalue < ALARM


def test_counts_are_sums_of_supports() -> None:
    mechanism = dt.SubsetSelection(dt.Categories(30), epsilon=2, report="indices")
    reports = mechanism.perturb(np.arange(600) % 30, source=dt.Seeded(4))
    assert mechanism.question.counting.count(reports.cells).tolist() == reports.values.sum(axis=0).tolist()
    summary = dt.Counts.of(reports)
    assert summary.n == 600
    found = dt.frequencies(summary)
    assert np.asarray(found.value).sum() == pytest.approx(1.0)
    assert dt.from_bytes(reports.to_bytes()) == reports


def test_reports_that_no_device_sends() -> None:
    mechanism = dt.SubsetSelection(dt.Categories(12), epsilon=1, report="indices")
    assert mechanism.question.kernel.chosen == 3
    for raw in ([[1, 1, 2]], [[3, 2, 1]], [[0, 1, 12]], [[0, 1]], [[-1, 0, 1]], [1, 2], 3):
        with pytest.raises(MalformedReport):
            mechanism.reports(raw)
    assert len(mechanism.reports([[0, 1, 2], [9, 10, 11]])) == 2


def test_other_numbers_of_categories_name_the_better_mechanism() -> None:
    with pytest.raises(InvalidParameter, match=r"dt\.KRR"):
        dt.SubsetSelection(dt.Categories(10), epsilon=4, report="indices")
    with pytest.raises(InvalidParameter, match=r"dt\.ProjectiveResponse"):
        dt.SubsetSelection(dt.Categories(1000), epsilon=1, report="indices")


def test_reports_are_bits_unless_indices_are_named() -> None:
    bits = dt.SubsetSelection(dt.Categories(12), epsilon=1)
    assert bits == dt.SubsetSelection(dt.Categories(12), epsilon=1, report="bits")
    assert bits.question.name == "SubsetSelection"
    with pytest.raises(InvalidParameter, match='there are "bits", "indices"'):
        dt.SubsetSelection(dt.Categories(12), epsilon=1, report="index")  # type: ignore[arg-type]
