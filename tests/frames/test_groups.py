"""Groups of a data frame: read once, in batches, with the same answers as from arrays."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dither as dt
from dither.errors import InvalidParameter

QUESTIONS = {
    "age": dt.Podium(dt.Interval(0, 100), epsilon=2),
    "pet": dt.OUE(dt.Categories(["cat", "dog", "none"]), epsilon=2),
}


def frame(n=1200):
    rng = np.random.default_rng(5)
    raw = pa.table(
        {
            "age": rng.uniform(0, 100, n),
            "pet": rng.choice(["cat", "dog", "none"], n),
            "city": rng.choice(["Kyoto", "Nara"], n),
            "day": rng.integers(1, 3, n),
        }
    )
    return dt.frames.perturb(raw, QUESTIONS, source=dt.Seeded(5))


def test_groups_of_a_frame_are_those_of_its_reports():
    noisy = frame()
    tables = dt.frames.estimate(noisy, by=["city", "day"])
    apart = dt.frames.reports(noisy)
    labels = {name: noisy[name].to_pylist() for name in ("city", "day")}
    for name, table in tables.items():
        other = dt.estimate(apart[name], by=labels)
        assert [dict(row) for row in table] == [dict(row) for row in other]
    assert list(tables["age"].to_frame().columns) == ["city", "day", "value", "low", "high", "n"]
    assert isinstance(tables["pet"].to_frame(), pd.DataFrame)


def test_nulls_are_not_counted_and_reports_stay_aligned():
    noisy = frame()
    ages = noisy["age"].to_pylist()
    ages[0] = ages[7] = None
    gaps = noisy.set_column(0, "age", pa.array(ages, noisy.schema.field("age").type))
    table = dt.frames.estimate(gaps, QUESTIONS, by="city")
    assert sum(row["n"] for row in table["age"]) == 1198
    aligned = dt.frames.reports(gaps, QUESTIONS)
    assert len(aligned["age"]) == len(aligned["pet"]) == 1198
    assert np.array_equal(
        aligned["pet"].cells, np.delete(dt.frames.reports(noisy)["pet"].cells, [0, 7], axis=0)
    )


def test_bad_columns_are_named():
    noisy = frame(10)
    with pytest.raises(InvalidParameter, match="did you mean city"):
        dt.frames.estimate(noisy, by="citi")
    with pytest.raises(InvalidParameter, match="'pet' is a question"):
        dt.frames.estimate(noisy, by=["pet"])
    with pytest.raises(InvalidParameter, match="none twice"):
        dt.frames.estimate(noisy, by=["city", "city"])


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
        dt.frames.estimate(unread, question, by="city", **wrong)
