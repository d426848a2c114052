"""Summaries: a commutative monoid over tallies, which refuses what does not belong together."""

from __future__ import annotations

import functools
import json
import operator

import numpy as np
import pytest

import dither as dt
from dither.core.counts import summarise
from dither.errors import InvalidParameter, MalformedReport, Mismatch

UNIT = dt.Interval(0, 1)
CASES = [
    dt.Podium(UNIT, epsilon=1),
    dt.Duchi(dt.Interval(-3, 5), epsilon=0.5),
    dt.Hybrid(UNIT, epsilon=2, cells=256),
    dt.SW(dt.Circle(360), epsilon=1, cells=64),
    dt.OGPM(UNIT, epsilon=1, cells=1 << 24),
]
each_case = pytest.mark.parametrize("mechanism", CASES, ids=lambda one: f"{type(one).__name__}-{one.domain}")


def some(mechanism, n=500, seed=1):
    values = mechanism.domain.low + mechanism.domain.length * np.linspace(0, 1, n)
    return mechanism.perturb(values, source=dt.Seeded(seed))


@each_case
def test_chunks_in_any_order_and_grouping_give_the_same_summary(mechanism):
    reports = some(mechanism)
    whole = dt.Counts.of(reports)
    parts = [dt.Counts.of(reports[begin : begin + 77]) for begin in range(0, 500, 77)]
    assert sum(parts) == whole
    assert functools.reduce(operator.add, reversed(parts)) == whole
    assert (parts[0] + parts[1]) + parts[2] == parts[0] + (parts[1] + parts[2])
    assert dt.Counts.gather(reports[begin : begin + 77] for begin in range(0, 500, 77)) == whole
    shuffled = np.random.default_rng(3).permutation(500)
    assert dt.Counts.of(reports[shuffled]) == whole
    assert whole.n == len(whole) == 500


@each_case
def test_the_summary_of_nothing_is_neutral(mechanism):
    whole = dt.Counts.of(some(mechanism))
    nothing = dt.Counts.empty(mechanism)
    assert whole + nothing == nothing + whole == whole
    assert dt.Counts.of(mechanism.reports([])) == nothing


@each_case
def test_a_summary_travels_as_bytes_and_as_json(mechanism):
    whole = dt.Counts.of(some(mechanism))
    assert dt.Counts.from_bytes(whole.to_bytes(), mechanism) == whole
    assert dt.Counts.from_json(whole.to_json(), mechanism) == whole


def test_a_fine_window_keeps_the_sum_of_cells_exactly():
    fine = dt.Podium(UNIT, epsilon=1, cells=1 << 32)
    reports = some(fine, 1000)
    counts = dt.Counts.of(reports).counts
    assert counts.size == (1 << 20) + 1
    kept = int(np.dot(np.arange(1 << 20), counts[:-1]))
    assert (kept << 12) + int(counts[-1]) == sum(map(int, reports.cells))


def test_summaries_of_different_mechanisms_refuse_to_add():
    one, other = (dt.Counts.of(some(dt.Podium(UNIT, epsilon=epsilon))) for epsilon in (1, 1.5))
    with pytest.raises(Mismatch):
        one + other
    with pytest.raises(Mismatch):
        dt.Counts.from_bytes(one.to_bytes(), other.question)
    with pytest.raises(Mismatch):
        dt.Counts.from_json(one.to_json(), other.question)
    with pytest.raises(Mismatch):
        one.read_by(other.question)
    with pytest.raises(TypeError):
        one + 1


def test_one_decoding_is_chosen_before_summaries_add():
    own = dt.PM(UNIT, epsilon=1)
    reports = some(own)
    first = dt.Counts.of(reports[:200])
    other = dt.Counts.of(reports[200:].read_by(own.truncated()))
    with pytest.raises(Mismatch, match="one codebook"):
        first + other
    both = first + other.read_by(own)
    assert both.n == len(reports)
    assert both.read_by(own.compressed()).question == own.compressed().question


def test_what_is_not_a_summary_is_refused():
    duchi = dt.Duchi(UNIT, epsilon=1)
    summary = dt.Counts.of(some(duchi))
    data = summary.to_bytes()
    for wrong in (b"", b"dither", data[:-3], data[:20] + b"\0" + data[21:], b"x" * 99, data + data[9:], 5):
        with pytest.raises((MalformedReport, Mismatch)):
            dt.Counts.from_bytes(wrong, duchi)
    for change in (
        {"summary": 1},
        {"summary": 3},
        {"n": -1},
        {"n": 1.5},
        {"n": True},
        {"reports": [-1, 1]},
        {"reports": [0, 2]},
        {"reports": [0, 0]},
        {"counts": [1]},
        {"counts": [1, -1]},
        {"counts": [0.5, 1]},
        {"counts": [1 << 70, 1]},
        {"reports": None},
    ):
        with pytest.raises(MalformedReport):
            dt.Counts.from_json(json.dumps(json.loads(summary.to_json()) | change), duchi)
    for text in ("", "[]", "{}", "3"):
        with pytest.raises(MalformedReport):
            dt.Counts.from_json(text, duchi)
    for counts in ([1, 2, 3], [[1, 2]], [0.5, 1], [-1, 2]):
        with pytest.raises(MalformedReport):
            dt.Counts(duchi, np.array(counts), 3)
    with pytest.raises(InvalidParameter, match="question"):
        summarise([0, 1])
    with pytest.raises(InvalidParameter):
        dt.Counts.gather([])


ONCE = [*CASES, dt.Laplace(UNIT, epsilon=1, cells=64)]
COUNTED = [kind(dt.Categories(3), epsilon=1) for kind in (dt.KRR, dt.HadamardResponse, dt.OUE, dt.OLH)]


@pytest.mark.parametrize("mechanism", [*ONCE, *COUNTED[:2]], ids=lambda one: type(one).__name__)
def test_counts_that_do_not_add_up_are_refused(mechanism):
    on_line = mechanism in ONCE
    summary = dt.Counts.of(some(mechanism) if on_line else mechanism.perturb([0, 1, 2] * 20))
    data = json.loads(summary.to_json())
    assert dt.Counts.from_json(json.dumps(data), mechanism) == summary
    for n in (0, summary.n - 1, summary.n + 1):
        with pytest.raises(MalformedReport, match="add up"):
            dt.Counts.from_json(json.dumps(data | {"n": n}), mechanism)


@pytest.mark.parametrize("protocol", COUNTED[2:], ids=lambda one: type(one).__name__)
def test_a_report_supports_a_category_once(protocol):
    dt.Counts(protocol, np.array([5, 0, 5]), 5)
    with pytest.raises(MalformedReport, match="add up"):
        dt.Counts(protocol, np.array([5, 0, 6]), 5)


def test_what_was_cut_off_cells_is_not_too_much():
    fine = CASES[-1]
    counts = np.array(dt.Counts.of(some(fine)).counts)
    counts[-1] = 500 * 15
    dt.Counts(fine, counts, 500)
    counts[-1] += 1
    with pytest.raises(MalformedReport, match="add up"):
        dt.Counts(fine, counts, 500)


def test_a_summary_does_not_change():
    summary = dt.Counts.of(some(CASES[0]))
    with pytest.raises(ValueError, match="read-only"):
        summary.counts[0] = 7
    assert summarise(summary) is summary
