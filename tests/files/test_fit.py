"""Cells that do not fit: told apart, all counted, the first ten named, and never shown."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest

import dither as dt
from dither.errors import InvalidParameter, OutsideDomain
from dither.files import Dialect, Outside, streams

MINUTES = {"minutes": dt.Podium(dt.Interval(0, 180), epsilon=1)}


def table(folder: Path, cells: list[str], name: str = "in.csv") -> Path:
    path = folder / name
    path.write_text("minutes;town\n" + "".join(f"{cell};x\n" for cell in cells))
    return path


def test_every_misfit_is_counted_and_ten_are_named(tmp_path: Path) -> None:
    path = table(tmp_path, ["7"] * 100_000 + ["4711"] * 14 + ["", "unknown"] + ["7"] * 70_000 + ["4712"])
    with pytest.raises(OutsideDomain) as caught:
        dt.files.perturb_file(path, tmp_path / "out.csv", MINUTES)
    outside, missing, text = sorted(str(caught.value).splitlines(), key=lambda line: "outside" not in line)[
        :3
    ]
    assert "in.csv, row 100001, column 'minutes': the value is not in [0, 180]" in str(caught.value)
    assert "(15 such cells: rows 100001, 100002" in str(caught.value)
    assert "100010, …)" in str(caught.value)
    assert "row 100015, column 'minutes': the answer is missing" in str(caught.value)
    assert "row 100016, column 'minutes': the cell is not a number" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 3
    assert all(word not in str(caught.value) for word in ("4711", "4712", "unknown"))
    assert len({outside, missing, text}) == 3
    assert not (tmp_path / "out.csv").exists()


def test_the_check_draws_nothing_and_counts_the_same(tmp_path: Path, monkeypatch: Any) -> None:
    path = table(tmp_path, ["12,5", "NA", "", "500", "17", "-3"])
    monkeypatch.setattr(dt.Podium, "perturb", None)  # a draw would fail
    fit = dt.files.check_file(path, MINUTES, dialect=Dialect(decimal=",", na=["NA"]))["minutes"]
    assert (fit.cells, fit.fit, fit.missing, fit.text, fit.outside) == (6, 2, 2, 0, 2)
    assert fit.rows == {"missing": (2, 3), "outside": (4, 6)}
    fit = dt.files.check_file(path, {"minutes": dt.Interval(0, 180)})["minutes"]
    assert (fit.fit, fit.missing, fit.text, fit.outside, fit.decimal) == (1, 1, 2, 2, True)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["in.csv"]


def test_values_outside(tmp_path: Path) -> None:
    path, out = table(tmp_path, ["-1", "500", "90", "inf"]), tmp_path / "out.csv"
    exact = {"minutes": dt.Podium(dt.Interval(0, 180), epsilon=50)}
    with pytest.raises(OutsideDomain, match="--outside clip"):
        dt.files.perturb_file(path, out, exact)
    counts = dt.files.perturb_file(path, out, exact, outside=Outside.CLIP)
    assert counts == dt.files.RowCounts(written=4, clipped=3)
    assert dt.mean(dt.files.summarise_file(out)["minutes"]).value == pytest.approx(450 / 4, abs=1)
    counts = dt.files.perturb_file(path, out, exact, outside=Outside.SKIP, force=True)
    assert counts == dt.files.RowCounts(written=1, outside=3)
    with pytest.raises(InvalidParameter, match=r"Outside\.CLIP"):
        dt.files.perturb_file(path, out, exact, outside="clip")  # type: ignore[arg-type]


def test_angles_are_wrapped_and_labels_are_not_clipped(tmp_path: Path) -> None:
    path, out = table(tmp_path, ["370", "-350"]), tmp_path / "out.csv"
    angle = {"minutes": dt.OGPM(dt.Circle(360), epsilon=50)}
    dt.files.perturb_file(path, out, angle, outside=Outside.CLIP)
    assert dt.mean(dt.files.summarise_file(out)["minutes"]).value == pytest.approx(10, abs=1)
    for outside in (Outside.ERROR, Outside.CLIP):
        with pytest.raises(OutsideDomain, match="add a category"):
            dt.files.perturb_file(
                path, out, {"town": dt.KRR(dt.Categories(["a", "b"]), epsilon=1)}, outside=outside, force=True
            )


def test_whole_numbers_of_categories(tmp_path: Path) -> None:
    """2.7 is not rounded to an answer; 2.0 is 2, as programs write columns with gaps."""
    asked = {"minutes": dt.KRR(dt.Categories(5), epsilon=1)}
    fit = dt.files.check_file(table(tmp_path, ["2", "2.0", "2.7", "5", "-1", "x"]), asked)["minutes"]
    assert (fit.fit, fit.text, fit.outside) == (2, 1, 3)
    path = tmp_path / "in.jsonl"
    path.write_text('{"minutes": 2.7}\n{"minutes": [1]}\n{"minutes": 3}\n')
    fit = dt.files.check_file(path, asked)["minutes"]
    assert (fit.fit, fit.text, fit.outside) == (1, 1, 1)


def test_standard_input_is_read_once_in_constant_memory(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(streams, "KEPT", 1 << 12)
    text = b"minutes\n" + b"".join(b"%d\n" % (number % 180) for number in range(200_000))

    class Standard:
        def __init__(self, data: bytes) -> None:
            self.buffer = io.BytesIO(data)

    for data, count in ((text, 200_000), (b"minutes\n5\n", 1)):
        monkeypatch.setattr(sys, "stdin", Standard(data))
        out = tmp_path / f"{count}.csv"
        assert dt.files.perturb_file("-", out, MINUTES).written == count
    monkeypatch.setattr(sys, "stdin", Standard(b"minutes\n4711\n"))
    with pytest.raises(OutsideDomain, match="standard input, row 1, column 'minutes'"):
        dt.files.perturb_file("-", tmp_path / "out.csv", MINUTES)


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_a_damaged_compressed_file_is_named(ending: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / f"in.csv.{ending}"
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(
        InvalidParameter, match=rf"in\.csv\.{ending} is not a \.{ending} file, or it is damaged"
    ):
        dt.files.check_file(path, MINUTES)
    good = tmp_path / f"good.csv.{ending}"
    dt.files.perturb_file(table(tmp_path, ["7"] * 9999), good, MINUTES)
    path.write_bytes(good.read_bytes()[:-20])
    with pytest.raises(InvalidParameter, match="damaged"):
        dt.files.summarise_file(path)
    with pytest.raises(InvalidParameter, match="compressed inside"):
        dt.files.check_file(tmp_path / f"in.parquet.{ending}", MINUTES)


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ({"sep": ",,"}, "one character"),
        ({"sep": "x"}, "one character"),
        ({"sep": 3}, "one character"),
        ({"decimal": "·"}, "decimal sign"),
        ({"encoding": "klingon"}, "cp1252"),
        ({"encoding": "base64"}, "cp1252"),
        ({"na": "NA"}, "list of words"),
    ],
)
def test_dialects_that_do_not_exist(wrong: dict[str, Any], hint: str) -> None:
    with pytest.raises(InvalidParameter, match=hint):
        Dialect(**wrong)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("minutes,town\n12,Berlin\n", True),
        ("12,Berlin\n55,Rome\n", False),
        ("Anna,Berlin\nBert,Rome\n", False),
        ("Anna,3\nBert,4\n", False),
        ("2026-01-02,x\n3,4\n", False),
        ("a@b.c,\n3,4\n", False),
    ],
)
def test_a_first_row_that_may_be_a_person_is_not_shown(text: str, shown: bool, tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text(text)
    with pytest.raises(InvalidParameter) as caught:
        dt.files.check_file(path, {"hours": dt.Interval(0, 1)})
    assert (text.split("\n", 1)[0].split(",", maxsplit=1)[0] in str(caught.value)) is shown
    assert "hours" in str(caught.value)


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_labels_of_a_file_are_drawn_as_the_same_list(tmp_path: Path, ending: str) -> None:
    polars = pytest.importorskip("polars")
    browser = dt.KRR(dt.Categories(["firefox", "chrome", "other"]), epsilon=1)
    answers = ["chrome", "firefox", "chrome", "other"] * 50
    path, out = tmp_path / f"in{ending}", tmp_path / "out.parquet"
    frame = polars.DataFrame({"browser": answers})
    write = {".csv": frame.write_csv, ".jsonl": frame.write_ndjson, ".parquet": frame.write_parquet}
    write[ending](path)
    dt.files.perturb_file(path, out, {"browser": browser}, source=dt.Seeded(4))
    expected = browser.perturb(answers, source=dt.Seeded(4)).cells.tolist()
    assert polars.read_parquet(out)["browser"].to_list() == expected
    drawn = dt.frames.perturb(frame, {"browser": browser}, source=dt.Seeded(4))
    assert drawn["browser"].to_list() == expected
