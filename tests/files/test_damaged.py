"""Damaged files: the process lives, and every error is dither's own and names the file."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.errors import DitherError, InvalidParameter
from dither.files.registry import table_format

pa = pytest.importorskip("pyarrow")

BINARY = ("arrow", "feather", "parquet")
QUESTIONS = {
    "minutes": dt.Podium(dt.Interval(0, 180), epsilon=1),
    "browser": dt.KRR(dt.Categories(["firefox", "chrome"]), epsilon=2),
    "tag": dt.OUE(dt.Categories(["a", "b", "c"]), epsilon=1),
}
TIMES = 200  # damaged files of each kind


def table() -> Any:
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "minutes": rng.random(60) * 180,
            "browser": rng.choice(["firefox", "chrome"], 60),
            "tag": pa.array(rng.choice(["a", "b"], 60)).dictionary_encode(),
            "id": [f"person {number}" for number in range(60)],
            "day": pa.array(rng.integers(0, 2**40, 60), pa.timestamp("us")),
            "list": [[str(number)] * (number % 3) for number in range(60)],
        }
    )


def write(path: Path, compression: str) -> Path:
    if path.suffix == ".parquet":
        from pyarrow import parquet

        parquet.write_table(table(), path)
    else:
        options = pa.ipc.IpcWriteOptions(compression=None if compression == "uncompressed" else compression)
        with pa.ipc.new_file(str(path), table().schema, options=options) as writer:
            writer.write_table(table(), max_chunksize=25)
    return path


def use(path: Path) -> None:
    """Do with a file all that dither does with files."""
    reports = path.with_name("reports" + path.suffix)
    if path.name.startswith("reports"):
        dt.files.summarise_file(path)
    else:
        dt.files.perturb_file(
            path,
            reports,
            QUESTIONS,
            keep=["id", "day", "list"],
            person="id",
            missing=dt.Missing.SKIP,
            force=True,
        )
        dt.files.perturb_file(
            path, path.with_suffix(".csv"), QUESTIONS, keep=["id", "day", "list"], force=True
        )


def damage(good: bytes, rng: random.Random) -> bytes:
    """Return the bytes with some of them changed, or cut short."""
    if rng.random() < 0.1:
        return good[: rng.randrange(len(good))]
    bad = bytearray(good)
    for _ in range(rng.choice((1, 1, 2, 8))):
        bad[rng.randrange(len(bad))] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
    return bytes(bad)


def attack(place: str, ending: str, compression: str) -> None:
    """Use many damaged files; whatever is raised is a DitherError that names the file or the column."""
    rng, folder = random.Random(ending + compression), Path(place)
    good = write(folder / f"good.{ending}", compression)
    use(good)
    sound = {"values": good.read_bytes(), "reports": (folder / f"reports.{ending}").read_bytes()}
    for number in range(TIMES):
        for name, whole in sound.items():
            bad = folder / f"{name} {number}.{ending}"
            bad.write_bytes(damage(whole, rng))
            try:
                use(bad)
            except DitherError as error:
                if bad.name not in str(error) and "column" not in str(error):
                    raise AssertionError("an error does not say where it is") from error
            bad.unlink()


@pytest.mark.parametrize(
    ("ending", "compression"),
    [("arrow", "uncompressed"), ("arrow", "lz4"), ("feather", "zstd"), ("parquet", "snappy")],
)
def test_a_damaged_file_never_ends_the_process(ending: str, compression: str, tmp_path: Path) -> None:
    run = "import sys; from tests.files import test_damaged; test_damaged.attack(*sys.argv[1:])"
    arguments = (str(tmp_path), ending, compression)
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", run, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_offsets_and_indices_beyond_the_data_are_refused(tmp_path: Path) -> None:
    wrong = pa.array([0, 2**30], pa.int32())
    path = tmp_path / "in.arrow"
    columns = [
        pa.DictionaryArray.from_arrays(wrong, ["a"], safe=False),
        pa.array(["abcd", "efgh"]),
    ]
    batch = pa.RecordBatch.from_arrays(columns, ["tag", "text"])
    with pa.ipc.new_file(str(path), batch.schema) as writer:
        writer.write_batch(batch)
    offsets = np.array([0, 4, 8], dtype="<i4").tobytes()
    *before, after = path.read_bytes().split(offsets)  # the last place: others are in the metadata
    path.write_bytes(offsets.join(before) + np.array([0, 4, 2**30], dtype="<i4").tobytes() + after)
    for column in batch.schema.names:
        with pytest.raises(InvalidParameter, match=r"in\.arrow is not a \.arrow file, or it is damaged"):
            list(table_format(path).read(path, [column]))


@pytest.mark.parametrize("ending", BINARY)
def test_a_file_that_is_not_there_is_not_called_damaged(ending: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        dt.files.summarise_file(tmp_path / f"nowhere.{ending}")


@pytest.mark.parametrize("ending", ["arrow", "csv"])
def test_a_column_that_is_there_twice_is_refused(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"in.{ending}"
    if ending == "csv":
        path.write_text("minutes,minutes\n1,2\n")
    else:
        batch = pa.RecordBatch.from_arrays([pa.array([1.0]), pa.array([2.0])], ["minutes", "minutes"])
        with pa.ipc.new_file(str(path), batch.schema) as writer:
            writer.write_batch(batch)
    with pytest.raises(InvalidParameter, match=r"more than one column 'minutes'"):
        dt.files.perturb_file(path, tmp_path / "out.csv", {"minutes": QUESTIONS["minutes"]})
