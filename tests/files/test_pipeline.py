"""Threads that read, draw and write at the same time change neither the order nor the errors."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import dither as dt
from dither.errors import OutsideDomain
from dither.files.arrow import BATCH
from dither.files.pipeline import DEPTH, run_ahead

pyarrow = pytest.importorskip("pyarrow")
from pyarrow import parquet

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


def test_who_stops_early_ends_the_threads() -> None:
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
    counts = dt.files.perturb_file(path, tmp_path / "out.parquet", {"x": sharp}, keep=["id"])
    assert counts.written == numbers.size
    written = parquet.read_table(tmp_path / "out.parquet")
    frame = dt.frames.perturb(parquet.read_table(path), {"x": sharp})
    for table in (written, frame):
        assert np.array_equal(table["id"].to_numpy(), np.arange(numbers.size))
        cells = table["x"].to_numpy()
        # Each row has the report of its own value, which at this ε is nearly always close.
        assert np.quantile(np.abs(sharp.decode(cells) - numbers), 0.99) < 0.01
        assert np.count_nonzero(cells[:BATCH] == cells[BATCH : 2 * BATCH]) < BATCH // 2
    assert names() == []


def test_a_seeded_source_is_drawn_in_the_order_of_the_rows(
    values: tuple[Path, np.ndarray], tmp_path: Path
) -> None:
    path, numbers = values
    source = dt.Seeded(5)
    parts = [UNIT.perturb(numbers[i : i + BATCH], source=source).cells for i in range(0, numbers.size, BATCH)]
    dt.files.perturb_file(path, tmp_path / "out.parquet", {"x": UNIT}, source=dt.Seeded(5))
    assert np.array_equal(parquet.read_table(tmp_path / "out.parquet")["x"].to_numpy(), np.concatenate(parts))
    frame = dt.frames.perturb(pyarrow.table({"x": numbers}), {"x": UNIT}, source=dt.Seeded(5))
    assert np.array_equal(frame["x"].to_numpy(), np.concatenate(parts))


def test_a_value_that_does_not_fit_leaves_no_file_and_no_thread(tmp_path: Path) -> None:
    numbers = np.full(3 * BATCH, 0.5)
    numbers[2 * BATCH + 4] = 7.0
    parquet.write_table(pyarrow.table({"x": numbers}), tmp_path / "in.parquet")
    with pytest.raises(OutsideDomain, match=f"row {2 * BATCH + 5}"):
        dt.files.perturb_file(tmp_path / "in.parquet", tmp_path / "out.parquet", {"x": UNIT})
    with pytest.raises(OutsideDomain, match=f"row {2 * BATCH + 5}"):
        dt.frames.perturb(pyarrow.table({"x": numbers}), {"x": UNIT})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet"]
    assert names() == []


def test_progress_is_told_by_the_calling_thread(values: tuple[Path, np.ndarray], tmp_path: Path) -> None:
    told: list[tuple[str, int]] = []

    def progress(count: int) -> None:
        told.append((threading.current_thread().name, count))

    dt.files.perturb_file(values[0], tmp_path / "out.parquet", {"x": UNIT}, progress=progress)
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
    dt.files.perturb_file(path, out, questions, keep=["city"])
    expected = parquet.read_table(out)
    assert polars.read_parquet(out).to_arrow()["window"].to_pylist() == expected["window"].to_pylist()
    for name in [*questions, "city"]:
        read = duckdb.read_parquet(str(out)).select(duckdb.ColumnExpression(name)).fetchall()
        assert [row[0] for row in read] == expected[name].to_pylist()
    group = parquet.ParquetFile(out).metadata.row_group(0)
    sizes = {group.column(i).path_in_schema: group.column(i).total_compressed_size for i in range(6)}
    assert sizes["window"] < 2.5 * 50_000
    assert sizes["answer"] < 0.6 * 50_000


def test_long_reports_are_drawn_in_pieces_and_stay_with_their_rows(tmp_path: Path) -> None:
    """Reports of 2 kB: 64 MB of them, which are drawn at once, are fewer rows than the file has."""
    kinds, count = 16_384, 40_000
    sharp = dt.SUE(dt.Categories(kinds), epsilon=30)  # a bit is wrong with probability 3e-7
    values = np.random.default_rng(1).integers(0, kinds, count)
    path, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    parquet.write_table(pyarrow.table({"x": values, "id": np.arange(count)}), path)
    told: list[int] = []
    dt.files.perturb_file(path, out, {"x": sharp}, keep=["id"], progress=told.append)
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
