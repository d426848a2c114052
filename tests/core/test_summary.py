"""Summaries: a commutative monoid over tallies, which refuses what does not belong together.

Tables of counts: every shape in which a database's result comes, and results that are wrong.
"""

from __future__ import annotations

import functools
import json
import operator
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.summary import summarise
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
    whole = dt.Summary.of(reports)
    parts = [dt.Summary.of(reports[begin : begin + 77]) for begin in range(0, 500, 77)]
    assert sum(parts) == whole
    assert functools.reduce(operator.add, reversed(parts)) == whole
    assert (parts[0] + parts[1]) + parts[2] == parts[0] + (parts[1] + parts[2])
    assert dt.Summary.gather(reports[begin : begin + 77] for begin in range(0, 500, 77)) == whole
    shuffled = np.random.default_rng(3).permutation(500)
    assert dt.Summary.of(reports[shuffled]) == whole
    assert whole.n == len(whole) == 500


@each_case
def test_the_summary_of_nothing_is_neutral(mechanism):
    whole = dt.Summary.of(some(mechanism))
    nothing = dt.Summary.empty(mechanism)
    assert whole + nothing == nothing + whole == whole
    assert dt.Summary.of(mechanism.reports([])) == nothing


@each_case
def test_a_summary_travels_as_bytes_and_as_json(mechanism):
    whole = dt.Summary.of(some(mechanism))
    assert dt.Summary.from_bytes(whole.to_bytes(), mechanism) == whole
    assert dt.Summary.from_json(whole.to_json(), mechanism) == whole


def test_a_fine_window_keeps_the_sum_of_cells_exactly():
    fine = dt.Podium(UNIT, epsilon=1, cells=1 << 32)
    reports = some(fine, 1000)
    counts = dt.Summary.of(reports).counts
    assert counts.size == (1 << 20) + 1
    kept = int(np.dot(np.arange(1 << 20), counts[:-1]))
    assert (kept << 12) + int(counts[-1]) == sum(map(int, reports.cells))


def test_summaries_of_different_mechanisms_refuse_to_add():
    one, other = (dt.Summary.of(some(dt.Podium(UNIT, epsilon=epsilon))) for epsilon in (1, 1.5))
    with pytest.raises(Mismatch):
        one + other
    with pytest.raises(Mismatch):
        dt.Summary.from_bytes(one.to_bytes(), other.question)
    with pytest.raises(Mismatch):
        dt.Summary.from_json(one.to_json(), other.question)
    with pytest.raises(Mismatch):
        one.read_by(other.question)
    with pytest.raises(TypeError):
        one + 1


def test_one_decoding_is_chosen_before_summaries_add():
    own = dt.PM(UNIT, epsilon=1)
    reports = some(own)
    other = dt.Summary.of(reports.read_by(own.truncated()))
    with pytest.raises(Mismatch, match="different codebooks"):
        dt.Summary.of(reports) + other
    both = dt.Summary.of(reports) + other.read_by(own)
    assert both.n == 1000
    assert both.read_by(own.compressed()).question == own.compressed().question


def test_what_is_not_a_summary_is_refused():
    duchi = dt.Duchi(UNIT, epsilon=1)
    summary = dt.Summary.of(some(duchi))
    data = summary.to_bytes()
    for wrong in (b"", b"dither", data[:-3], data[:20] + b"\0" + data[21:], b"x" * 99, data + data[9:], 5):
        with pytest.raises((MalformedReport, Mismatch)):
            dt.Summary.from_bytes(wrong, duchi)
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
            dt.Summary.from_json(json.dumps(json.loads(summary.to_json()) | change), duchi)
    for text in ("", "[]", "{}", "3"):
        with pytest.raises(MalformedReport):
            dt.Summary.from_json(text, duchi)
    for counts in ([1, 2, 3], [[1, 2]], [0.5, 1], [-1, 2]):
        with pytest.raises(MalformedReport):
            dt.Summary(duchi, np.array(counts), 3)
    with pytest.raises(InvalidParameter, match="question"):
        summarise([0, 1])
    with pytest.raises(InvalidParameter):
        dt.Summary.gather([])


ONCE = [*CASES, dt.Laplace(UNIT, epsilon=1, cells=64)]
COUNTED = [kind(dt.Categories(3), epsilon=1) for kind in (dt.KRR, dt.HadamardResponse, dt.OUE, dt.OLH)]


@pytest.mark.parametrize("mechanism", [*ONCE, *COUNTED[:2]], ids=lambda one: type(one).__name__)
def test_counts_that_do_not_add_up_are_refused(mechanism):
    on_line = mechanism in ONCE
    summary = dt.Summary.of(some(mechanism) if on_line else mechanism.perturb([0, 1, 2] * 20))
    data = json.loads(summary.to_json())
    assert dt.Summary.from_json(json.dumps(data), mechanism) == summary
    for n in (0, summary.n - 1, summary.n + 1):
        with pytest.raises(MalformedReport, match="add up"):
            dt.Summary.from_json(json.dumps(data | {"n": n}), mechanism)


@pytest.mark.parametrize("protocol", COUNTED[2:], ids=lambda one: type(one).__name__)
def test_a_report_supports_a_category_once(protocol):
    dt.Summary(protocol, np.array([5, 0, 5]), 5)
    with pytest.raises(MalformedReport, match="add up"):
        dt.Summary(protocol, np.array([5, 0, 6]), 5)


def test_what_was_cut_off_cells_is_not_too_much():
    fine = CASES[-1]
    counts = np.array(dt.Summary.of(some(fine)).counts)
    counts[-1] = 500 * 15
    dt.Summary(fine, counts, 500)
    counts[-1] += 1
    with pytest.raises(MalformedReport, match="add up"):
        dt.Summary(fine, counts, 500)


def test_a_summary_does_not_change():
    summary = dt.Summary.of(some(CASES[0]))
    with pytest.raises(ValueError, match="read-only"):
        summary.counts[0] = 7
    assert summarise(summary) is summary


KRR = dt.KRR(dt.Categories(4), epsilon=1)
OUE = dt.OUE(dt.Categories(3), epsilon=1)


def row(cell: Any, total: Any, measure: str = "count", mechanism: Any = KRR, **more: Any) -> dict[str, Any]:
    named = {"fingerprint": mechanism.fingerprint, "measure": measure, "cell": cell, "total": total}
    return {"day": None, "question": "a", **named, **more}


ROWS = [row(0, 3), row(2, 5), row(0, 1), row(0, 7, "malformed"), row(0, 2, "other fingerprint")]


def columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [one[name] for one in rows] for name in rows[0]}


def test_all_shapes_of_tables() -> None:
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    upper = {name.upper(): values for name, values in columns(ROWS).items()}
    shapes: list[Any] = [
        ROWS,
        iter(ROWS),
        columns(ROWS),
        upper,
        pandas.DataFrame(ROWS),
        polars.DataFrame(ROWS),
    ]
    for table in [*shapes, pyarrow.Table.from_pylist(ROWS)]:
        summary = dt.Summary.from_counts(KRR, table)
        assert summary.counts.tolist() == [4, 0, 5, 0]
        assert summary.n == 9
    assert dt.Summary.from_counts(KRR, [row(Decimal(3), 2.0)]).counts.tolist() == [0, 0, 0, 2]
    assert dt.Summary.from_counts(KRR, []) == dt.Summary.empty(KRR)


def test_bits_state_the_number_of_reports() -> None:
    counted = [row(0, 3, mechanism=OUE), row(2, 5, mechanism=OUE)]
    assert dt.Summary.from_counts(OUE, [*counted, row(0, 6, "reports", OUE)]).n == 6
    with pytest.raises(MalformedReport, match="add up"):
        dt.Summary.from_counts(OUE, counted)


def test_questions_are_told_apart_by_fingerprint_and_name() -> None:
    both = [*ROWS, row(1, 9, mechanism=OUE, question="b"), row(0, 9, "reports", OUE, question="b")]
    assert dt.Summary.from_counts(KRR, both).n == 9
    assert dt.Summary.from_counts(OUE, both).counts.tolist() == [0, 9, 0]
    with pytest.raises(Mismatch, match="no rows"):
        dt.Summary.from_counts(dt.KRR(dt.Categories(4), epsilon=2), both)
    twins = [*ROWS, row(1, 1, question="c")]
    with pytest.raises(InvalidParameter, match="name="):
        dt.Summary.from_counts(KRR, twins)
    assert dt.Summary.from_counts(KRR, twins, name="c").counts.tolist() == [0, 1, 0, 0]
    with pytest.raises(Mismatch, match="'d'"):
        dt.Summary.from_counts(KRR, twins, name="d")


@pytest.mark.parametrize("wrong", [-1, 1.5, "x", None, True, float("nan"), float("inf"), 1 << 63])
def test_numbers_that_are_no_counts(wrong: Any) -> None:
    with pytest.raises(MalformedReport):
        dt.Summary.from_counts(KRR, [row(0, wrong)])


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_a_list_of_all_counts(kind: Any) -> None:
    assert dt.Summary.from_counts(KRR, kind([3, 0, 4, 2])).counts.tolist() == [3, 0, 4, 2]
    assert dt.Summary.from_counts(KRR, kind([3, 0, 4, 2])).n == 9
    for wrong in ([1, 2], [1, 2, 3, 4, 5]):
        with pytest.raises(InvalidParameter, match="4 counts"):
            dt.Summary.from_counts(KRR, kind(wrong))
    with pytest.raises(MalformedReport, match="whole numbers"):
        dt.Summary.from_counts(KRR, kind([1, -2, 3, 4]))
    with pytest.raises(InvalidParameter, match="leave out the name"):
        dt.Summary.from_counts(KRR, kind([3, 0, 4, 2]), name="a")
    with pytest.raises(InvalidParameter, match="how many answers"):
        dt.Summary.from_counts(OUE, kind([3, 0, 4]))


def test_wrong_tables() -> None:
    with pytest.raises(MalformedReport, match="below 4"):
        dt.Summary.from_counts(KRR, [row(4, 1)])
    with pytest.raises(MalformedReport, match="measure"):
        dt.Summary.from_counts(KRR, [row(0, 1, "counts")])
    with pytest.raises(InvalidParameter, match="'total'"):
        dt.Summary.from_counts(KRR, {name: [] for name in ("fingerprint", "measure", "cell")})
    with pytest.raises(InvalidParameter, match="one length"):
        dt.Summary.from_counts(KRR, {**columns(ROWS), "cell": [0]})
    for wrong in (3, "table", [1, 2], [ROWS[0], {}]):
        with pytest.raises(InvalidParameter):
            dt.Summary.from_counts(KRR, wrong)
    with pytest.raises(InvalidParameter, match="no column 'question'"):
        dt.Summary.from_counts(KRR, {k: v for k, v in columns(ROWS).items() if k != "question"}, name="a")
    with pytest.raises(InvalidParameter, match="mechanism"):
        dt.Summary.from_counts("KRR", ROWS)  # type: ignore[arg-type]
