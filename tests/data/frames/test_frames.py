"""Data frames: the kind that came in comes out, noise is drawn once, nulls are not given away; groups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")

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
    out = dt.data.perturb(frame, QUESTIONS, source=dt.Seeded(5))
    assert type(out) is type(frame) or kind == "dataset"
    totals = dt.data.summarise(out, QUESTIONS)
    assert {name: total.n for name, total in totals.items()} == dict.fromkeys(QUESTIONS, N)


def test_every_kind_gives_the_same_reports() -> None:
    totals = {
        kind: dt.data.summarise(dt.data.perturb(make(), QUESTIONS, source=dt.Seeded(5)), QUESTIONS)
        for kind, make in KINDS.items()
        if kind != "reader"  # its batches are of another size, so the words fall differently
    }
    for name in QUESTIONS:
        first = totals["table"][name].counts
        assert all(np.array_equal(total[name].counts, first) for total in totals.values())


def test_kept_columns_pass_no_others_do_and_arrow_carries_the_questions() -> None:
    for kind in ("table", "pandas", "polars"):
        names = [*getattr(dt.data.perturb(KINDS[kind](), QUESTIONS), "column_names", []), *QUESTIONS]
        assert "id" not in names, kind
    named = table().to_pandas().set_index("id")
    assert dt.data.perturb(named, QUESTIONS).index.tolist()[-1] == N - 1
    assert dt.data.perturb(named.rename(lambda row: f"p{row}"), QUESTIONS).index.tolist()[0] == 0
    out = dt.data.perturb(table(), QUESTIONS, keep=["id"])
    assert out.column("id").to_pylist() == list(range(N))
    assert out.schema.field("minutes").type == pa.uint16()
    assert dt.data.summarise(out)["minutes"].question == MINUTES.question
    with pytest.raises(InvalidParameter, match="pass them"):
        dt.data.summarise(pl.from_arrow(out))


def test_pandas_carries_the_questions_into_a_file_and_back(tmp_path: Path) -> None:
    out = dt.data.perturb(table().to_pandas(), QUESTIONS, keep=["id"], source=dt.Seeded(1))
    mean = dt.data.estimate(out)["minutes"].value
    some = dt.data.estimate(out[out["id"] % 2 == 0])["minutes"]
    assert some.n == N // 2
    out.to_parquet(tmp_path / "out.parquet")
    back = pd.read_parquet(tmp_path / "out.parquet")
    assert dt.data.estimate(back)["minutes"].value == mean
    read = dt.data.read(tmp_path / "out.parquet")
    assert dt.mean(read["minutes"]).value == mean
    assert list(read.public) == ["id"]
    with pytest.raises(InvalidParameter, match="there is no column 'minutes'"):
        dt.data.estimate(out.drop(columns="minutes"))
    out.attrs = {"dither": {"no": "questions"}}
    out.to_parquet(tmp_path / "out.parquet")
    with pytest.raises(MalformedReport, match="expected a file of reports with a specification"):
        dt.data.read(tmp_path / "out.parquet")


def test_pandas_keeps_its_index() -> None:
    frame = table().to_pandas().set_index(np.arange(N)[::-1])
    out = dt.data.perturb(frame, {"minutes": MINUTES})
    assert out.index.tolist() == frame.index.tolist()


@pytest.mark.parametrize("kind", ["pandas", "polars", "table"])
def test_nulls_are_an_error_unless_skipped(kind: str) -> None:
    column = pa.array([1.0, None, 3.0, None, 5.0])
    frame = {"table": pa.table({"minutes": column})}
    frame["polars"] = pl.from_arrow(frame["table"])
    frame["pandas"] = frame["table"].to_pandas(types_mapper={pa.float64(): pd.Float64Dtype()}.get)
    with pytest.raises(OutsideDomain, match="public"):
        dt.data.perturb(frame[kind], {"minutes": MINUTES})
    out = dt.data.perturb(frame[kind], {"minutes": MINUTES}, missing="skip")
    assert dt.data.summarise(out, {"minutes": MINUTES})["minutes"].n == 3
    back = pa.table(out) if kind == "table" else pa.RecordBatchReader.from_stream(out).read_all()
    assert back.column("minutes").is_valid().to_pylist() == [True, False, True, False, True]
    assert pa.types.is_integer(back.schema.field("minutes").type)


@pytest.mark.parametrize("choice", ["skp", "SKIP", True, None])
def test_what_is_no_choice_for_missing_answers_is_refused(choice: Any) -> None:
    import dither.data.frames.polars  # noqa: F401

    frame = pa.table({"minutes": [1.0, None]})
    with pytest.raises(InvalidParameter, match="no missing"):
        dt.data.perturb(frame, {"minutes": MINUTES}, missing=choice)
    with pytest.raises(InvalidParameter, match="no missing"):
        pl.col("minutes").dither.perturb(MINUTES, missing=choice)


def test_nan_is_not_null() -> None:
    for frame in (pl.DataFrame({"minutes": [1.0, float("nan")]}), pa.table({"minutes": [1.0, float("nan")]})):
        with pytest.raises(OutsideDomain):
            dt.data.perturb(frame, {"minutes": MINUTES}, missing="skip")


def test_a_lazy_frame_is_perturbed_once() -> None:
    """Looking twice must not draw twice: two draws of one value spend the budget twice."""
    lazy = dt.data.perturb(pl.DataFrame({"minutes": np.full(500, 60.0)}).lazy(), {"minutes": MINUTES})
    assert lazy.collect().equals(lazy.collect())
    assert lazy.filter(pl.col("minutes") > 30000).collect()["minutes"].min() > 30000


def test_a_duckdb_relation_is_perturbed_once_and_each_row_anew() -> None:
    relation = dt.data.perturb(
        duckdb.sql("select 60.0::double as minutes from range(500)"), {"minutes": MINUTES}
    )
    first = relation.fetchnumpy()["minutes"]
    assert np.array_equal(first, relation.fetchnumpy()["minutes"])
    assert np.unique(first).size > 100


def test_values_outside_are_named_by_place_alone() -> None:
    frame = pa.table({"minutes": [1.0, 987654.321]})
    with pytest.raises(OutsideDomain) as caught:
        dt.data.perturb(frame, {"minutes": MINUTES})
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
        dt.data.perturb(frame() if callable(frame) else frame, questions)


def test_columns_that_are_no_reports_are_refused() -> None:
    with pytest.raises(MalformedReport):
        dt.data.summarise(pa.table({"minutes": [0.5]}), {"minutes": MINUTES})
    with pytest.raises(MalformedReport):
        dt.data.summarise(pa.table({"minutes": [70000]}), {"minutes": MINUTES})
    with pytest.raises(InvalidParameter, match="there is no column 'hours': there are minutes"):
        dt.data.summarise(pa.table({"minutes": [7]}), {"hours": MINUTES})


def test_estimates_of_a_frame() -> None:
    out = dt.data.perturb(table(), QUESTIONS)
    found = dt.data.estimate(out)
    assert abs(float(found["minutes"]) - 40) < 20
    assert found["browser"]["chrome"].n == N


GROUP_QUESTIONS = {
    "age": dt.Podium(dt.Interval(0, 100), epsilon=2),
    "pet": dt.OUE(dt.Categories(["cat", "dog", "none"]), epsilon=2),
}


def grouped_frame(n=1200):
    rng = np.random.default_rng(5)
    raw = pa.table(
        {
            "age": rng.uniform(0, 100, n),
            "pet": rng.choice(["cat", "dog", "none"], n),
            "city": rng.choice(["Kyoto", "Nara"], n),
            "day": rng.integers(1, 3, n),
        }
    )
    return dt.data.perturb(raw, GROUP_QUESTIONS, keep=["city", "day"], source=dt.Seeded(5))


def test_groups_of_a_frame_are_those_of_its_reports():
    noisy = grouped_frame()
    tables = dt.data.estimate(noisy, by=["city", "day"])
    apart = dt.data.reports(noisy)
    labels = {name: noisy[name].to_pylist() for name in ("city", "day")}
    for name, table in tables.items():
        other = dt.estimate(apart[name], by=labels)
        assert [dict(row) for row in table] == [dict(row) for row in other]
    assert list(tables["age"].to_frame().columns) == ["city", "day", "value", "low", "high", "n"]
    assert isinstance(tables["pet"].to_frame(), pd.DataFrame)


def test_nulls_are_not_counted_and_reports_stay_aligned():
    noisy = grouped_frame()
    ages = noisy["age"].to_pylist()
    ages[0] = ages[7] = None
    gaps = noisy.set_column(0, "age", pa.array(ages, noisy.schema.field("age").type))
    table = dt.data.estimate(gaps, GROUP_QUESTIONS, by="city")
    assert sum(row["n"] for row in table["age"]) == 1198
    aligned = dt.data.reports(gaps, GROUP_QUESTIONS)
    assert len(aligned["age"]) == len(aligned["pet"]) == 1198
    assert np.array_equal(
        aligned["pet"].cells, np.delete(dt.data.reports(noisy)["pet"].cells, [0, 7], axis=0)
    )


def test_bad_columns_are_named():
    noisy = grouped_frame(10)
    with pytest.raises(InvalidParameter, match="did you mean city"):
        dt.data.estimate(noisy, by="citi")
    with pytest.raises(InvalidParameter, match="got the question 'pet'"):
        dt.data.estimate(noisy, by=["pet"])
    with pytest.raises(InvalidParameter, match="each once"):
        dt.data.estimate(noisy, by=["city", "city"])


@pytest.mark.parametrize(
    ("wrong", "words"), [({"level": 95}, "confidence level"), ({"minimum": 1}, "from 2")]
)
def test_a_wrong_choice_is_refused_before_a_report_is_read(wrong, words):
    schema = pa.schema([("city", pa.string()), ("minutes", pa.uint16())])

    def batches():
        raise AssertionError("a batch was read")
        yield

    unread = pa.RecordBatchReader.from_batches(schema, batches())
    question = {"minutes": dt.Podium(dt.Interval(0, 180), epsilon=1)}
    with pytest.raises(InvalidParameter, match=words):
        dt.data.estimate(unread, question, by="city", **wrong)


def test_columns_of_pandas_that_arrow_does_not_take() -> None:
    asked = {"age": dt.Podium(dt.Interval(18, 100), epsilon=1)}
    twice = pd.DataFrame([[20.0, 30.0]], columns=["age", "age"])
    sparse = pd.DataFrame({"age": pd.arrays.SparseArray([20.0, 30.0])})
    for read in (dt.data.perturb, dt.data.summarise):
        with pytest.raises(InvalidParameter, match="one column of each name, got 'age' twice; rename one"):
            read(twice, asked)
        with pytest.raises(InvalidParameter, match=r"'age', got a sparse one; .*to_dense"):
            read(sparse, asked)
    assert len(dt.data.perturb(sparse.sparse.to_dense(), asked)) == 2
