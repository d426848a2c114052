"""Data frames: the kind that came in comes out, noise is drawn once, and nulls are not given away."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")
frames = pytest.importorskip("dither.frames")

N = 3000
MINUTES = dt.Podium(dt.Interval(0, 180), epsilon=1)
BROWSER = dt.KRR(dt.Categories(["firefox", "chrome", "other"]), epsilon=2)
TAGS = dt.OUE(dt.Categories(["a", "b", "c"]), epsilon=1)
QUESTIONS = {"minutes": MINUTES, "browser": BROWSER, "tag": TAGS}


def table() -> Any:
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "id": np.arange(N),
            "minutes": rng.gamma(4, 10, N).clip(0, 180),
            "browser": rng.choice(["firefox", "chrome", "other"], N),
            "tag": pa.array(rng.choice(["a", "b"], N)).dictionary_encode(),
        }
    )


def _dataset() -> Any:
    import pyarrow.dataset

    return pyarrow.dataset.dataset(table())


KINDS = {
    "table": table,
    "reader": lambda: table().to_reader(max_chunksize=700),
    "dataset": _dataset,
    "pandas": lambda: table().to_pandas(),
    "polars": lambda: pl.from_arrow(table()),
    "lazy": lambda: pl.from_arrow(table()).lazy(),
    "duckdb": lambda: duckdb.from_arrow(table()),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_that_came_in_comes_out(kind: str) -> None:
    frame = KINDS[kind]()
    out = frames.perturb(frame, QUESTIONS, source=dt.Seeded(5))
    assert type(out) is type(frame) or kind == "dataset"
    totals = frames.summarise(out, QUESTIONS)
    assert {name: total.n for name, total in totals.items()} == dict.fromkeys(QUESTIONS, N)


def test_every_kind_gives_the_same_reports() -> None:
    totals = {
        kind: frames.summarise(frames.perturb(make(), QUESTIONS, source=dt.Seeded(5)), QUESTIONS)
        for kind, make in KINDS.items()
        if kind != "reader"  # its batches are of another size, so the words fall differently
    }
    for name in QUESTIONS:
        first = totals["table"][name].counts
        assert all(np.array_equal(total[name].counts, first) for total in totals.values())


def test_other_columns_pass_and_arrow_carries_the_questions() -> None:
    out = frames.perturb(table(), QUESTIONS)
    assert out.column("id").to_pylist() == list(range(N))
    assert out.schema.field("minutes").type == pa.uint16()
    assert frames.summarise(out)["minutes"].question == MINUTES.question
    with pytest.raises(InvalidParameter, match="pass them"):
        frames.summarise(pl.from_arrow(out))


def test_pandas_keeps_its_index() -> None:
    frame = table().to_pandas().set_index(np.arange(N)[::-1])
    out = frames.perturb(frame, {"minutes": MINUTES})
    assert out.index.tolist() == frame.index.tolist()


@pytest.mark.parametrize("kind", ["pandas", "polars", "table"])
def test_nulls_are_not_given_away(kind: str) -> None:
    column = pa.array([1.0, None, 3.0, None, 5.0])
    frame = {"table": pa.table({"minutes": column})}
    frame["polars"] = pl.from_arrow(frame["table"])
    frame["pandas"] = frame["table"].to_pandas(types_mapper={pa.float64(): pd.Float64Dtype()}.get)
    with pytest.raises(OutsideDomain, match="public"):
        frames.perturb(frame[kind], {"minutes": MINUTES})
    out = frames.perturb(frame[kind], {"minutes": MINUTES}, missing=frames.Missing.SKIP)
    assert frames.summarise(out, {"minutes": MINUTES})["minutes"].n == 3
    back = pa.table(out) if kind == "table" else pa.RecordBatchReader.from_stream(out).read_all()
    assert back.column("minutes").is_valid().to_pylist() == [True, False, True, False, True]
    assert pa.types.is_integer(back.schema.field("minutes").type)


@pytest.mark.parametrize("choice", ["skip", "error", True, None])
def test_what_is_no_choice_for_missing_answers_is_refused(choice: Any) -> None:
    import dither.frames.polars  # noqa: F401

    frame = pa.table({"minutes": [1.0, None]})
    with pytest.raises(InvalidParameter, match=r"Missing\.SKIP"):
        frames.perturb(frame, {"minutes": MINUTES}, missing=choice)
    with pytest.raises(InvalidParameter, match=r"Missing\.SKIP"):
        pl.col("minutes").dither.perturb(MINUTES, missing=choice)


def test_nan_is_not_null() -> None:
    for frame in (pl.DataFrame({"minutes": [1.0, float("nan")]}), pa.table({"minutes": [1.0, float("nan")]})):
        with pytest.raises(OutsideDomain):
            frames.perturb(frame, {"minutes": MINUTES}, missing=frames.Missing.SKIP)


def test_a_lazy_frame_is_perturbed_once() -> None:
    """Looking twice must not draw twice: two draws of one value spend the budget twice."""
    lazy = frames.perturb(pl.DataFrame({"minutes": np.full(500, 60.0)}).lazy(), {"minutes": MINUTES})
    assert lazy.collect().equals(lazy.collect())
    assert lazy.filter(pl.col("minutes") > 30000).collect()["minutes"].min() > 30000


def test_a_duckdb_relation_is_perturbed_once_and_each_row_anew() -> None:
    relation = frames.perturb(
        duckdb.sql("select 60.0::double as minutes from range(500)"), {"minutes": MINUTES}
    )
    first = relation.fetchnumpy()["minutes"]
    assert np.array_equal(first, relation.fetchnumpy()["minutes"])
    assert np.unique(first).size > 100


def test_values_outside_are_named_by_place_alone() -> None:
    frame = pa.table({"minutes": [1.0, 987654.321]})
    with pytest.raises(OutsideDomain) as caught:
        frames.perturb(frame, {"minutes": MINUTES})
    assert "row 2, column 'minutes'" in str(caught.value)
    assert "987654" not in str(caught.value)


@pytest.mark.parametrize(
    ("frame", "questions", "error"),
    [
        ({"a": 1}, {"minutes": MINUTES}, InvalidParameter),
        (table, {"nothing": MINUTES}, InvalidParameter),
        (table, {"minutes": "Podium"}, InvalidParameter),
        (table, {}, InvalidParameter),
        (table, {"browser": MINUTES}, OutsideDomain),
    ],
)
def test_wrong_input(frame: Any, questions: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        frames.perturb(frame() if callable(frame) else frame, questions)


def test_columns_that_are_no_reports_are_refused() -> None:
    with pytest.raises(MalformedReport):
        frames.summarise(pa.table({"minutes": [0.5]}), {"minutes": MINUTES})
    with pytest.raises(MalformedReport):
        frames.summarise(pa.table({"minutes": [70000]}), {"minutes": MINUTES})
    with pytest.raises(InvalidParameter, match="there is no column 'hours': there are minutes"):
        frames.summarise(pa.table({"minutes": [7]}), {"hours": MINUTES})


def test_estimates_of_a_frame() -> None:
    out = frames.perturb(table(), QUESTIONS)
    found = frames.estimate(out)
    assert abs(float(found["minutes"]) - 40) < 20
    assert found["browser"]["chrome"].n == N


def test_polars_expressions() -> None:
    import dither.frames.polars  # noqa: F401

    frame = pl.DataFrame({"minutes": np.linspace(0, 180, 1000)})
    out = frame.with_columns(pl.col("minutes").dither.perturb(MINUTES).alias("report"))
    assert out["report"].dtype == pl.UInt16
    assert frames.summarise(out, {"report": MINUTES})["report"].n == 1000
    two = frame.select(
        pl.col("minutes").dither.perturb(MINUTES).alias("a"),
        pl.col("minutes").dither.perturb(MINUTES).alias("b"),
    )
    assert not two["a"].equals(two["b"])
    with pytest.raises(Exception, match="public"):
        pl.DataFrame({"minutes": [1.0, None]}).select(pl.col("minutes").dither.perturb(MINUTES))
    skipped = pl.col("minutes").dither.perturb(MINUTES, missing=frames.Missing.SKIP)
    assert pl.DataFrame({"minutes": [1.0, None]}).select(skipped)["minutes"].is_null().to_list() == [
        False,
        True,
    ]
