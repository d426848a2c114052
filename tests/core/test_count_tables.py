"""Tables of counts: every shape in which a database's result comes, and results that are wrong."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, MalformedReport, Mismatch

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
        summary = dt.Counts.from_counts(KRR, table)
        assert summary.counts.tolist() == [4, 0, 5, 0]
        assert summary.n == 9
    assert dt.Counts.from_counts(KRR, [row(Decimal(3), 2.0)]).counts.tolist() == [0, 0, 0, 2]
    assert dt.Counts.from_counts(KRR, []) == dt.Counts.empty(KRR)


def test_bits_state_the_number_of_reports() -> None:
    counted = [row(0, 3, mechanism=OUE), row(2, 5, mechanism=OUE)]
    assert dt.Counts.from_counts(OUE, [*counted, row(0, 6, "reports", OUE)]).n == 6
    with pytest.raises(MalformedReport, match="add up"):
        dt.Counts.from_counts(OUE, counted)


def test_questions_are_told_apart_by_fingerprint_and_name() -> None:
    both = [*ROWS, row(1, 9, mechanism=OUE, question="b"), row(0, 9, "reports", OUE, question="b")]
    assert dt.Counts.from_counts(KRR, both).n == 9
    assert dt.Counts.from_counts(OUE, both).counts.tolist() == [0, 9, 0]
    with pytest.raises(Mismatch, match="got none"):
        dt.Counts.from_counts(dt.KRR(dt.Categories(4), epsilon=2), both)
    twins = [*ROWS, row(1, 1, question="c")]
    with pytest.raises(InvalidParameter, match="name="):
        dt.Counts.from_counts(KRR, twins)
    assert dt.Counts.from_counts(KRR, twins, name="c").counts.tolist() == [0, 1, 0, 0]
    with pytest.raises(Mismatch, match="'d'"):
        dt.Counts.from_counts(KRR, twins, name="d")


@pytest.mark.parametrize("wrong", [-1, 1.5, "x", None, True, float("nan"), float("inf"), 1 << 63])
def test_numbers_that_are_no_counts(wrong: Any) -> None:
    with pytest.raises(MalformedReport):
        dt.Counts.from_counts(KRR, [row(0, wrong)])


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_a_list_of_all_counts(kind: Any) -> None:
    assert dt.Counts.from_counts(KRR, kind([3, 0, 4, 2])).counts.tolist() == [3, 0, 4, 2]
    assert dt.Counts.from_counts(KRR, kind([3, 0, 4, 2])).n == 9
    for wrong in ([1, 2], [1, 2, 3, 4, 5]):
        with pytest.raises(InvalidParameter, match="4 counts"):
            dt.Counts.from_counts(KRR, kind(wrong))
    with pytest.raises(MalformedReport, match="integers"):
        dt.Counts.from_counts(KRR, kind([1, -2, 3, 4]))
    with pytest.raises(InvalidParameter, match="leave name= out"):
        dt.Counts.from_counts(KRR, kind([3, 0, 4, 2]), name="a")
    with pytest.raises(InvalidParameter, match="the number of answers"):
        dt.Counts.from_counts(OUE, kind([3, 0, 4]))


def test_wrong_tables() -> None:
    with pytest.raises(MalformedReport, match="from 0 to 3"):
        dt.Counts.from_counts(KRR, [row(4, 1)])
    with pytest.raises(MalformedReport, match="measure"):
        dt.Counts.from_counts(KRR, [row(0, 1, "counts")])
    with pytest.raises(InvalidParameter, match="'total'"):
        dt.Counts.from_counts(KRR, {name: [] for name in ("fingerprint", "measure", "cell")})
    with pytest.raises(InvalidParameter, match="one length"):
        dt.Counts.from_counts(KRR, {**columns(ROWS), "cell": [0]})
    for wrong in (3, "table", [1, 2], [ROWS[0], {}]):
        with pytest.raises(InvalidParameter):
            dt.Counts.from_counts(KRR, wrong)
    with pytest.raises(InvalidParameter, match="without a column 'question'"):
        dt.Counts.from_counts(KRR, {k: v for k, v in columns(ROWS).items() if k != "question"}, name="a")
    with pytest.raises(InvalidParameter, match="mechanism"):
        dt.Counts.from_counts("KRR", ROWS)  # type: ignore[arg-type]
