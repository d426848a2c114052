"""One record batch by a specification: what the workers of Spark, Ray and Dask call."""

from __future__ import annotations

import pickle
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain

pa = pytest.importorskip("pyarrow")

N = 4000
QUESTIONS = {
    "minutes": dt.Podium(dt.Interval(0, 180), epsilon=1),
    "browser": dt.KRR(dt.Categories(["firefox", "chrome", "other"]), epsilon=2),
    "tag": dt.OUE(dt.Categories(["a", "b", "c"]), epsilon=1),
}
SPECIFICATION = dt.Questionnaire(QUESTIONS).to_json()


def batch(n: int = N) -> Any:
    rng = np.random.default_rng(3)
    return pa.record_batch(
        {
            "id": np.arange(n),
            "minutes": rng.uniform(0, 180, n),
            "browser": rng.choice(["firefox", "chrome", "other"], n),
            "tag": pa.array(rng.choice(["a", "b"], n)).dictionary_encode(),
        }
    )


def test_a_batch_of_values_becomes_a_batch_of_reports() -> None:
    given = batch()
    out = dt.data.perturb_batch(given, SPECIFICATION, keep=["id"])
    assert isinstance(out, pa.RecordBatch)
    assert out.schema.names == given.schema.names
    assert out.column("id").equals(given.column("id"))
    assert out.schema.field("minutes").type == pa.uint16()
    totals = dt.data.summarise(pa.Table.from_batches([out]))  # the questions are in the metadata
    assert {name: total.n for name, total in totals.items()} == dict.fromkeys(QUESTIONS, N)
    mean = dt.mean(totals["minutes"])
    truth = given.column("minutes").to_numpy().mean()
    assert abs(float(mean) - truth) < 5 * mean.standard_error


def test_a_table_becomes_a_table() -> None:
    table = pa.Table.from_batches([batch(), batch(10)])
    out = dt.data.perturb_batch(table, SPECIFICATION)
    assert isinstance(out, pa.Table)
    assert out.num_rows == N + 10
    assert dt.data.perturb_batch(table.slice(0, 0), SPECIFICATION).schema == out.schema


def test_no_other_column_leaves_unless_it_is_named() -> None:
    given = batch(5)
    for values in (given, pa.Table.from_batches([given])):
        assert dt.data.perturb_batch(values, SPECIFICATION).schema.names == list(QUESTIONS)
    for keep, words in ((["ID"], "no column 'ID'"), ("id", "list"), (["minutes"], "other than the question")):
        with pytest.raises(InvalidParameter, match=words):
            dt.data.perturb_batch(given, SPECIFICATION, keep=keep)


def test_two_calls_draw_twice() -> None:
    given = batch()
    first, second = (dt.data.perturb_batch(given, SPECIFICATION)["minutes"] for _ in range(2))
    assert not first.equals(second)


def _constant(specification: str, task: int) -> Any:
    values = pa.record_batch({"minutes": np.full(500, 60.0)})
    return dt.data.perturb_batch(values, specification)["minutes"].to_numpy()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # of Python 3.12, where threads run
def test_processes_share_no_noise() -> None:
    """A generator that travels with the function repeats its stream in every process; a text cannot."""
    specification = dt.Questionnaire({"minutes": QUESTIONS["minutes"]}).to_json()
    work = partial(_constant, specification)
    assert pickle.loads(pickle.dumps(work))(0).size == 500
    _constant(specification, 0)  # the parent has streams that forks inherit
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        drawn = [_constant(specification, 0), *pool.map(work, range(4))]
    for index, one in enumerate(drawn):
        assert all(not np.array_equal(one, other) for other in drawn[:index])


def test_dictionaries_hold_no_values_of_other_rows() -> None:
    cities = pa.DictionaryArray.from_arrays([0, 0], pa.array(["Kyoto", "secret"]))
    given = pa.record_batch({"city": cities, "minutes": [1.0, 2.0]})
    one = dt.Questionnaire({"minutes": QUESTIONS["minutes"]}).to_json()
    out = dt.data.perturb_batch(given, one, keep=["city"])
    assert out.schema.field("city").type == pa.string()
    assert "secret" not in str(out.column("city").buffers())
    assert out.column("city").to_pylist() == ["Kyoto", "Kyoto"]


def test_missing_answers() -> None:
    given = pa.record_batch({"minutes": pa.array([1.0, None])})
    one = dt.Questionnaire({"minutes": QUESTIONS["minutes"]}).to_json()
    with pytest.raises(OutsideDomain, match="row 2, column 'minutes': the answer is missing"):
        dt.data.perturb_batch(given, one)
    with pytest.raises(OutsideDomain, match="partition 7, row 12, column 'minutes'"):
        dt.data.perturb_batch(given, one, first=11, place="partition 7, ")
    out = dt.data.perturb_batch(given, one, missing="skip")
    assert out["minutes"].is_null().to_pylist() == [False, True]
    with pytest.raises(InvalidParameter, match="no missing"):
        dt.data.perturb_batch(given, one, missing="skp")


@pytest.mark.parametrize(
    ("given", "specification", "error", "words"),
    [
        ({"minutes": [1.0]}, SPECIFICATION, InvalidParameter, "got dict"),
        (batch(3), "{}", MalformedReport, "expected a specification"),
        (batch(3), QUESTIONS, InvalidParameter, "got dict"),
        (batch(3), 7, InvalidParameter, r"to_json\(\)"),
        (batch(3).select(["id"]), SPECIFICATION, InvalidParameter, "there is no column 'minutes'"),
    ],
)
def test_wrong_input(given: Any, specification: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        dt.data.perturb_batch(given, specification)


def test_two_columns_of_one_name_are_refused() -> None:
    twice = pa.RecordBatch.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["minutes", "minutes"])
    with pytest.raises(InvalidParameter, match="got one twice"):
        dt.data.perturb_batch(twice, SPECIFICATION)


def test_a_value_outside_is_not_shown() -> None:
    given = pa.record_batch({"minutes": [1.0, 98765.4321]})
    with pytest.raises(OutsideDomain) as caught:
        dt.data.perturb_batch(given, dt.Questionnaire({"minutes": QUESTIONS["minutes"]}).to_json())
    assert "98765" not in str(caught.value)
