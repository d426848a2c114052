"""Files of reports: threads keep the order, raw data are neither destroyed nor leaked, files are added up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

import dither as dt
from dither import results
from dither.data.files import DEPTH, run_ahead
from dither.data.formats.arrow import BATCH
from dither.errors import InvalidParameter, Mismatch, OutsideDomain
from tests.support.terminal import run

pyarrow = pytest.importorskip("pyarrow")

UNIT = dt.Podium(dt.Interval(0, 1), epsilon=1)


class Counted:
    """Numbers below `count`, and how many were taken; after that an error, if there is one."""

    def __init__(self, count: int, error: Exception | None = None) -> None:
        self.count, self.error = count, error
        self.taken, self.closed = 0, False

    def __call__(self) -> Iterator[int]:
        try:
            for number in range(self.count):
                self.taken += 1
                yield number
            if self.error is not None:
                raise self.error
        finally:
            self.closed = True


def names() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name.startswith("dither")]


def test_items_run_ahead_in_order_and_not_far() -> None:
    numbers = Counted(50)
    seen = []
    for item in run_ahead(numbers()):
        assert numbers.taken <= item + DEPTH + 3  # those that wait, the one here, and the one in hand
        seen.append(item)
    assert seen == list(range(50))
    assert numbers.closed
    assert names() == []


def test_an_error_comes_after_the_items_before_it() -> None:
    numbers: Counted = Counted(5, ValueError("at the end"))
    seen: list[int] = []
    with pytest.raises(ValueError, match="at the end"):
        seen.extend(run_ahead(numbers()))
    assert seen == [0, 1, 2, 3, 4]
    assert names() == []


def test_a_caller_that_stops_early_ends_the_threads() -> None:
    numbers = Counted(10**9)
    items = run_ahead(run_ahead(numbers()))
    assert [next(items), next(items)] == [0, 1]
    items.close()
    assert numbers.closed
    assert names() == []


@pytest.fixture
def values(tmp_path: Path) -> tuple[Path, np.ndarray]:
    """A file of three batches and a bit, the first two with equal values."""
    part = np.random.default_rng(1).random(BATCH)
    all_values = np.concatenate([part, part, np.random.default_rng(2).random(BATCH + 77)])
    path = tmp_path / "values.parquet"
    parquet.write_table(pyarrow.table({"x": all_values, "id": np.arange(all_values.size)}), path)
    return path, all_values


def test_rows_stay_together_and_batches_share_no_randomness(
    values: tuple[Path, np.ndarray], tmp_path: Path
) -> None:
    path, numbers = values
    sharp = dt.Podium(dt.Interval(0, 1), epsilon=20)
    counts = dt.data.perturb_file(path, tmp_path / "out.parquet", {"x": sharp}, keep=["id"])
    assert counts.written == numbers.size
    written = parquet.read_table(tmp_path / "out.parquet")
    frame = dt.data.perturb(parquet.read_table(path), {"x": sharp}, keep=["id"])
    for table in (written, frame):
        assert np.array_equal(table["id"].to_numpy(), np.arange(numbers.size))
        cells = table["x"].to_numpy()
        # Each row has the report of its own value, which at this ε is nearly always close.
        assert np.quantile(np.abs(sharp.question.decode(cells) - numbers), 0.99) < 0.01
        assert np.count_nonzero(cells[:BATCH] == cells[BATCH : 2 * BATCH]) < BATCH // 2
    assert names() == []


def test_a_seeded_source_is_drawn_in_the_order_of_the_rows(
    values: tuple[Path, np.ndarray], tmp_path: Path
) -> None:
    path, numbers = values
    source = dt.Seeded(5)
    parts = [UNIT.perturb(numbers[i : i + BATCH], source=source).cells for i in range(0, numbers.size, BATCH)]
    dt.data.perturb_file(path, tmp_path / "out.parquet", {"x": UNIT}, source=dt.Seeded(5))
    assert np.array_equal(parquet.read_table(tmp_path / "out.parquet")["x"].to_numpy(), np.concatenate(parts))
    frame = dt.data.perturb(pyarrow.table({"x": numbers}), {"x": UNIT}, source=dt.Seeded(5))
    assert np.array_equal(frame["x"].to_numpy(), np.concatenate(parts))


def test_a_value_that_does_not_fit_leaves_no_file_and_no_thread(tmp_path: Path) -> None:
    numbers = np.full(3 * BATCH, 0.5)
    numbers[2 * BATCH + 4] = 7.0
    parquet.write_table(pyarrow.table({"x": numbers}), tmp_path / "in.parquet")
    with pytest.raises(OutsideDomain, match=f"row {2 * BATCH + 5}"):
        dt.data.perturb_file(tmp_path / "in.parquet", tmp_path / "out.parquet", {"x": UNIT})
    with pytest.raises(OutsideDomain, match=f"row {2 * BATCH + 5}"):
        dt.data.perturb(pyarrow.table({"x": numbers}), {"x": UNIT})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet"]
    assert names() == []


def test_progress_is_reported_by_the_calling_thread(values: tuple[Path, np.ndarray], tmp_path: Path) -> None:
    told: list[tuple[str, int]] = []

    def progress(count: int) -> None:
        told.append((threading.current_thread().name, count))

    dt.data.perturb_file(values[0], tmp_path / "out.parquet", {"x": UNIT}, progress=progress)
    assert sum(count for _, count in told) == values[1].size
    assert {name for name, _ in told} == {threading.current_thread().name}


def test_other_programs_read_the_file_and_it_is_small(tmp_path: Path) -> None:
    duckdb, polars = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    questions = {
        "window": UNIT,
        "answer": dt.KRR(dt.Categories(4), epsilon=1),
        "bits": dt.OUE(dt.Categories(12), epsilon=1),
        "hash": dt.OLH(dt.Categories(12), epsilon=1),
        "many": dt.KRR(dt.Categories(70_000), epsilon=1),
    }
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 4, 50_000)
    columns = {name: rng.random(50_000) if name == "window" else codes for name in questions}
    path, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    parquet.write_table(pyarrow.table({**columns, "city": ["Kyoto", "Oslo"] * 25_000}), path)
    dt.data.perturb_file(path, out, questions, keep=["city"])
    expected = parquet.read_table(out)
    assert polars.read_parquet(out).to_arrow()["window"].to_pylist() == expected["window"].to_pylist()
    for name in [*questions, "city"]:
        read = duckdb.read_parquet(str(out)).select(duckdb.ColumnExpression(name)).fetchall()
        assert [row[0] for row in read] == expected[name].to_pylist()
    group = parquet.ParquetFile(out).metadata.row_group(0)
    sizes = {group.column(i).path_in_schema: group.column(i).total_compressed_size for i in range(6)}
    assert sizes["window"] < 2.5 * 50_000
    assert sizes["answer"] < 0.6 * 50_000


@pytest.mark.slow
def test_long_reports_are_drawn_in_pieces_and_stay_with_their_rows(tmp_path: Path) -> None:
    """Reports of 2 kB: 64 MB of them, which are drawn at once, are fewer rows than the file has."""
    kinds, count = 16_384, 40_000
    sharp = dt.rivals.SUE(dt.Categories(kinds), epsilon=30)  # a bit is wrong with probability 3e-7
    values = np.random.default_rng(1).integers(0, kinds, count)
    path, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    parquet.write_table(pyarrow.table({"x": values, "id": np.arange(count)}), path)
    told: list[int] = []
    dt.data.perturb_file(path, out, {"x": sharp}, keep=["id"], progress=told.append)
    assert sum(told) == count
    assert len(told) > 1
    rows = 0
    for batch in parquet.ParquetFile(out).iter_batches(batch_size=5000):
        reports = np.frombuffer(b"".join(batch["x"].to_pylist()), np.uint8).reshape(batch.num_rows, -1)
        asked = values[rows : rows + batch.num_rows]
        bits = reports[np.arange(batch.num_rows), asked >> 3] >> (asked & 7) & 1
        assert np.count_nonzero(bits) > 0.99 * batch.num_rows
        assert batch["id"].to_pylist() == list(range(rows, rows + batch.num_rows))
        rows += batch.num_rows
    assert rows == count


MINUTES = {"minutes": dt.Podium(dt.Interval(0, 180), epsilon=1)}


def raw(folder: Path, text: str = "minutes,city\n12,Berlin\n55,Rome\n") -> Path:
    path = folder / "trips.csv"
    path.write_text(text, encoding="utf-8")
    return path


ASKED = ("--column", "minutes", "--interval", 0, 180, "--epsilon", 1)


def test_the_input_is_never_overwritten(tmp_path: Path) -> None:
    path = raw(tmp_path)
    before = path.read_bytes()
    hard, soft = tmp_path / "hard.csv", tmp_path / "soft.csv"
    os.link(path, hard)
    soft.symlink_to(path)
    for out in (path, tmp_path / "." / "trips.csv", hard, soft):
        with pytest.raises(InvalidParameter, match="other than the input"):
            dt.data.perturb_file(path, out, MINUTES, force=True)
    done = run("perturb", path, *ASKED, "-o", path, "--force")
    code, words = done.exit_code, done.output
    assert code == 2
    assert "other than the input" in words
    assert path.read_bytes() == before


def test_an_existing_output_is_replaced_on_purpose_alone(tmp_path: Path) -> None:
    path, out = raw(tmp_path), tmp_path / "reports.csv"
    out.write_text("precious")
    with pytest.raises(InvalidParameter, match=r"reports\.csv exists.*force"):
        dt.data.perturb_file(path, out, MINUTES)
    done = run("perturb", path, *ASKED, "-o", out)
    code, words = done.exit_code, done.output
    assert (code, out.read_text()) == (2, "precious")
    assert "--force" in words
    assert "force=True" not in words
    assert run("perturb", path, *ASKED, "-o", out, "--force").exit_code == 0
    assert dt.data.summarise_file(out)["minutes"].n == 2


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("minutes,city\n7,Rome\n12,5,Berlin\n", 2),
        ("minutes,city\n12\n", 1),
        ('minutes,city\n1,"a\nb"\n2,c,d\n', 2),
    ],
)
def test_a_ragged_row_is_an_error_that_shows_no_value(tmp_path: Path, text: str, row: int) -> None:
    """A decimal comma would publish the decimals of a private value in the column that is kept."""
    path, out = raw(tmp_path, text), tmp_path / "reports.csv"
    with pytest.raises(InvalidParameter) as caught:
        dt.data.perturb_file(path, out, MINUTES, keep=["city"], missing="skip")
    words = str(caught.value)
    assert "trips.csv" in words
    assert f"row {row}:" in words
    assert "12" not in words
    assert not out.exists()


def test_an_empty_line_is_a_row_without_an_answer(tmp_path: Path) -> None:
    path = raw(tmp_path, "minutes,city\n12,Berlin\n\n55,Rome\n\n")
    with pytest.raises(OutsideDomain, match="row 2, column 'minutes': the answer is missing"):
        dt.data.perturb_file(path, tmp_path / "reports.csv", MINUTES)
    counts = dt.data.perturb_file(path, tmp_path / "reports.csv", MINUTES, missing="skip")
    assert counts == results.RowCounts(written=2, missing=2)


def test_reports_are_not_randomised_again(tmp_path: Path) -> None:
    path, once, twice = raw(tmp_path), tmp_path / "once.csv", tmp_path / "twice.csv"
    dt.data.perturb_file(path, once, MINUTES)
    with pytest.raises(InvalidParameter, match="got reports in"):
        dt.data.perturb_file(once, twice, MINUTES)
    assert run("perturb", once, *ASKED, "-o", twice).exit_code == 2
    assert not twice.exists()


def test_one_column_is_asked_at_a_time(tmp_path: Path) -> None:
    path = raw(tmp_path, "minutes,age\n12,40\n")
    done = run("perturb", path, "--column", "age", *ASKED, "-o", tmp_path / "reports.csv")
    code, words = done.exit_code, done.output
    assert code == 2
    assert "--campaign" in words


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = raw(tmp_path, "minutes,city,city\n12,a,b\n")
    with pytest.raises(InvalidParameter, match="expected one column 'city'"):
        dt.data.perturb_file(path, tmp_path / "reports.csv", MINUTES)


def write_reports(path: Path, values: range, questions: dict[str, dt.Podium] = MINUTES) -> Path:
    raw = path.with_name(f"raw {path.stem}.csv")
    raw.write_text("minutes\n" + "\n".join(map(str, values)) + "\n", encoding="utf-8")
    dt.data.perturb_file(raw, path, questions)
    return path


def test_two_files_are_the_sum_of_each(tmp_path: Path) -> None:
    one, two = write_reports(tmp_path / "a.csv", range(50)), write_reports(tmp_path / "b.jsonl", range(30))
    together = dt.data.summarise_file(one, str(two))["minutes"]
    apart = dt.data.summarise_file(one)["minutes"] + dt.data.summarise_file(two)["minutes"]
    assert together.n == 80
    assert np.array_equal(together.counts, apart.counts)


def test_files_of_other_questions_are_refused(tmp_path: Path) -> None:
    one = write_reports(tmp_path / "a.csv", range(5))
    other = write_reports(
        tmp_path / "b.csv", range(5), {"minutes": dt.Podium(dt.Interval(0, 180), epsilon=2)}
    )
    with pytest.raises(Mismatch, match=r"b\.csv"):
        dt.data.summarise_file(one, other)


HYBRID = {"minutes": dt.Hybrid(dt.Interval(0, 180), epsilon=2)}


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(1)
    values, cities, days = (
        180 * rng.beta(2, 5, 900),
        rng.choice(["Kyoto", "Nara"], 900),
        rng.integers(1, 3, 900),
    )
    raw = tmp_path / "raw.csv"
    rows = zip(values.tolist(), cities, days, strict=True)
    raw.write_text("minutes,city,day\n" + "".join(f"{value},{city},{day}\n" for value, city, day in rows))
    made = []
    for number, name in enumerate(("a.csv", "b.parquet")):
        out = tmp_path / name
        dt.data.perturb_file(raw, out, HYBRID, keep=["city", "day"], source=dt.Seeded(number))
        made.append(out)
    return made


def test_files_are_counted_by_group(files):
    counts = dt.data.group_files(files, ["city"])
    table = counts["minutes"].estimates(dt.estimate)
    alone = [dt.data.group_files([one], ["city"])["minutes"].estimates(dt.estimate) for one in files]
    assert sum(row["n"] for row in table) == 1800
    assert table["Nara"].n == sum(one["Nara"].n for one in alone)
    pooled = sum(one["Nara"].value * one["Nara"].n for one in alone) / table["Nara"].n
    assert table["Nara"].value == pytest.approx(pooled)


def test_the_terminal_prints_a_table(files):
    shown = run("estimate", str(files[0]), "--by", "city", "--by", "day", "--minimum", "50")
    assert shown.exit_code == 0, shown.output
    assert "4 groups by city, day" in shown.output
    assert shown.output.count("Kyoto") == 2
    plain = run("estimate", str(files[0]), "--by", "city", "--json")
    table = dt.data.group_files([files[0]], ["city"])["minutes"].estimates(dt.estimate)
    assert json.loads(plain.output) == {"minutes": [dict(row) for row in table]}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--by", "citi"], "did you mean city"),
        (["--by", "minutes"], "a question other than"),
        (["--by", "city", "--by", "city"], "each once"),
        (["--by", "city", "--minimum", "9000"], "smaller minimum"),
        (["--by", "city", "--minimum", "1"], "minimum"),
        (["--by", "city", "--bins", "4"], "leave out --bins"),
        (["--by", "city", "--column", "minute"], "did you mean minutes"),
    ],
)
def test_bad_options_are_refused_in_words(files, options, said):
    shown = run("estimate", str(files[0]), *options)
    assert shown.exit_code != 0
    assert said in shown.output + str(shown.exception)


def test_groups_of_other_questions_are_refused(files, tmp_path):
    raw, other = tmp_path / "raw.csv", tmp_path / "other.csv"
    dt.data.perturb_file(raw, other, {"minutes": HYBRID["minutes"].at(1)}, keep=["city"])
    with pytest.raises(Mismatch, match=r"other\.csv does not have the same questions"):
        dt.data.group_files([files[0], other], ["city"])
    with pytest.raises(InvalidParameter, match="expected at least one file"):
        dt.data.group_files([], ["city"])


@pytest.mark.parametrize(("ending", "rows"), [("csv", 1_000), ("csv", 10_000), ("parquet", 2)])
def test_a_file_is_perturbed_without_pandas_and_without_other_formats(
    ending: str, rows: int, tmp_path: Path
) -> None:
    """pyarrow's `to_numpy` and `array` import pandas, which takes longer than everything else here."""
    raw, out = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
    raw.write_text("x\n" + "0.100000000000000\n" * rows)
    if ending == "parquet":
        parquet.write_table(pyarrow.table({"x": [0.1, 0.2]}), raw)
    code = (
        "import sys, dither as dt; question = {'x': dt.Podium(dt.Interval(0, 1), epsilon=1)}; "
        "dt.data.perturb_file(*sys.argv[1:], question); print(' '.join(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code, raw, out], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert ("pyarrow" in loaded) == (rows != 1_000)  # which takes longer than a small file
    assert not {"pandas", "polars", "urllib.request"} & loaded
    names = [
        "formats.csv",
        "formats.columnar",
        "formats.jsonl",
        "formats.excel",
        "frames.frames",
        "trips",
        "sql",
    ]
    found = {name for name in names if f"dither.data.{name}" in loaded}
    assert found == {"formats.csv" if ending == "csv" else "formats.columnar"}
