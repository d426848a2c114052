"""One way back in: reports of every format that dither writes, and Polars frames of every type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.errors import DitherError, InvalidParameter, MalformedReport, Mismatch

polars = pytest.importorskip("polars")
ASKED: dict[str, Any] = {
    "age": dt.Podium(dt.Interval(18, 100), epsilon=2),
    "mood": dt.KRR(dt.Nullable(dt.Categories(["good", "bad"])), epsilon=2),
    "uses": dt.OUE(dt.Categories(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]), epsilon=2),
}
ENDINGS = ["csv", "tsv", "jsonl", "parquet", "arrow", "xlsx", "csv.gz"]


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    rows = ["age,mood,uses,city"]
    for i in range(90):
        age = "" if i % 3 == 0 else 20 + i % 60
        rows.append(f"{age},{'good' if i % 2 else ''},{'abcdefghij'[i % 10]},{'Rome' if i < 30 else 'Nara'}")
    (tmp_path / "in.csv").write_text("\n".join(rows))
    return tmp_path / "in.csv"


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_written_is_read(ending: str, survey: Path, tmp_path: Path) -> None:
    out = tmp_path / f"out.{ending}"
    dt.data.perturb_file(survey, out, ASKED, keep=["city"], missing="skip")
    found = dt.data.read(out)
    assert {name: len(reports) for name, reports in found.items()} == {"age": 60, "mood": 90, "uses": 90}
    assert found.public["city"] == ["Rome"] * 30 + ["Nara"] * 60
    sums = dt.data.summarise_file(out)
    assert all(dt.Counts.of(found[name]) == sums[name] for name in ASKED)
    both = found.together("age", "uses")
    assert {len(reports) for reports in both.values()} == {60}
    where = np.flatnonzero(found.rows("age"))
    assert np.array_equal(both["uses"].cells, found["uses"].cells[where])
    groups = dt.estimate(found["age"], by=found.labels("city", "age"), minimum=10)
    assert {label for label, _ in groups.items()} == {"Rome", "Nara"}
    assert dt.stats.crosstab(found["mood"], found["uses"]).n == 90
    more = tmp_path / f"more.{ending}"
    dt.data.perturb_file(survey, more, ASKED, keep=["city"], missing="skip")
    both_files = dt.data.read(out, more)
    assert len(both_files["age"]) == 120
    assert len(both_files.public["city"]) == 180
    with pytest.raises(InvalidParameter, match="counted twice"):
        dt.data.read(out, out)


def test_wrong_files_are_named(survey: Path, tmp_path: Path) -> None:
    with pytest.raises(MalformedReport, match="expected a file of reports"):
        dt.data.read(survey)
    dt.data.perturb_file(survey, tmp_path / "a.csv", {"uses": ASKED["uses"]})
    dt.data.perturb_file(survey, tmp_path / "b.csv", {"uses": ASKED["uses"].at(1)})
    dt.data.perturb_file(survey, tmp_path / "c.csv", {"uses": ASKED["uses"]}, keep=["city"])
    with pytest.raises(Mismatch, match=r"b\.csv"):
        dt.data.read(tmp_path / "a.csv", tmp_path / "b.csv")
    with pytest.raises(Mismatch, match="public columns"):
        dt.data.read(tmp_path / "a.csv", tmp_path / "c.csv")
    found = dt.data.read(tmp_path / "a.csv")
    for wrong in (lambda: found["age"], lambda: found.labels("city"), lambda: found.together("x")):
        with pytest.raises(InvalidParameter, match="there is no"):
            wrong()
    text = (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()
    assert all(len(line) == 4 for line in text[2:])  # "0203" stays four digits: it is no number 203
    assert found["uses"].cells.shape == (90, 2)


def test_polars_frames_with_texts_and_bytes_work_everywhere() -> None:
    frame = polars.DataFrame(
        {
            "age": [30.0, None, 41.0] * 100,
            "mood": ["good", None, "bad"] * 100,
            "uses": ["a", "b", "j"] * 100,
            "tools": [["saw"], [], ["saw", "drill"]] * 100,
            "city": ["Rome", "Nara", "Kyoto"] * 100,
            "raw": [b"\x00\x01", b"", None] * 100,
        }
    )
    asked = {**ASKED, "tools": dt.SetResponse(dt.Several(["saw", "drill", "level"], most=2), epsilon=2)}
    for given in (frame, frame.lazy(), frame.rechunk()[::-1]):
        told = dt.data.perturb(given, asked, keep=["city", "raw"], missing="skip")
        told = told.collect() if isinstance(told, polars.LazyFrame) else told
        assert sorted(told["city"].to_list()) == sorted(frame["city"].to_list())
        assert {name: total.n for name, total in dt.data.summarise(told, asked).items()} == {
            **{"age": 200, "mood": 300, "uses": 300, "tools": 300}
        }
        assert len(dt.data.reports(told, asked)["tools"]) == 200
        groups = dt.data.estimate(told, asked, by="city", minimum=2)["uses"]
        assert {label for label, _ in groups.items()} == {"Rome", "Nara", "Kyoto"}
        assert float(dt.data.estimate(told, asked)["age"]) > 0
        assert dt.data.summarise(told.filter(polars.col("city") == "Rome"), asked)["uses"].n == 100
    with pytest.raises(DitherError):
        dt.data.perturb(frame, {"raw": dt.Podium(dt.Interval(0, 1), epsilon=1)}, missing="skip")
    for wrong in ("uses", "city"):
        with pytest.raises(DitherError):
            dt.data.perturb(frame, {wrong: dt.Podium(dt.Interval(0, 1), epsilon=1)}, outside="skip")
