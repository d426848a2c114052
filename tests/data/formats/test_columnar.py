"""Parquet and Arrow files: damaged ones are refused by name; files that Spark wrote have their questions."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.data.formats.format import table_format
from dither.errors import DitherError, InvalidParameter
from tests.support.terminal import run

pa = pytest.importorskip("pyarrow")

BINARY = ("arrow", "feather", "parquet")
QUESTIONS = {
    "minutes": dt.Podium(dt.Interval(0, 180), epsilon=1),
    "browser": dt.KRR(dt.Categories(["firefox", "chrome"]), epsilon=2),
    "tag": dt.OUE(dt.Categories(["a", "b", "c"]), epsilon=1),
}
TIMES = 100  # damaged files of each kind


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
        dt.data.summarise_file(path)
    else:
        dt.data.perturb_file(
            path,
            reports,
            QUESTIONS,
            keep=["id", "day", "list"],
            person="id",
            missing="skip",
            force=True,
        )
        dt.data.perturb_file(
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


@pytest.mark.some("parquet-snappy")
@pytest.mark.parametrize(
    ("ending", "compression"),
    [("arrow", "uncompressed"), ("arrow", "lz4"), ("feather", "zstd"), ("parquet", "snappy")],
)
@pytest.mark.slow
def test_a_damaged_file_never_ends_the_process(ending: str, compression: str, tmp_path: Path) -> None:
    run = "import sys; from tests.data.formats import test_columnar; test_columnar.attack(*sys.argv[1:])"
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
        with pytest.raises(InvalidParameter, match=r"in\.arrow to be a valid \.arrow file"):
            list(table_format(path).read(path, [column]))


@pytest.mark.parametrize("ending", BINARY)
def test_a_file_that_is_not_there_is_not_called_damaged(ending: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        dt.data.summarise_file(tmp_path / f"nowhere.{ending}")


@pytest.mark.parametrize("ending", ["arrow", "csv"])
def test_a_column_that_is_there_twice_is_refused(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"in.{ending}"
    if ending == "csv":
        path.write_text("minutes,minutes\n1,2\n")
    else:
        batch = pa.RecordBatch.from_arrays([pa.array([1.0]), pa.array([2.0])], ["minutes", "minutes"])
        with pa.ipc.new_file(str(path), batch.schema) as writer:
            writer.write_batch(batch)
    with pytest.raises(InvalidParameter, match=r"expected one column 'minutes'"):
        dt.data.perturb_file(path, tmp_path / "out.csv", {"minutes": QUESTIONS["minutes"]})


pq = pytest.importorskip("pyarrow.parquet")

SPARK_QUESTIONS = {
    "minutes": dt.Podium(dt.Interval(0, 180), epsilon=1),
    "tag": dt.OUE(dt.Categories(["a", "b", "c"]), epsilon=1),
    "shop": dt.OLH(dt.Categories(["x", "y"]), epsilon=1),
}
KEY = "org.apache.spark.sql.parquet.row.metadata"


def spark_fields(**carried: str) -> str:
    """Return the schema of a frame as Spark 4.3 writes it."""
    kinds = {"minutes": "integer", "tag": "binary", "shop": "long", "city": "string"}
    listed = [
        {
            "name": name,
            "type": kind,
            "nullable": True,
            "metadata": {"dither": carried[name]} if name in carried else {},
        }
        for name, kind in kinds.items()
    ]
    return json.dumps({"type": "struct", "fields": listed})


def write_as_spark(path: Path, metadata: str) -> dict[str, dt.Counts]:
    """Write a file as Spark would, and return its counts."""
    minutes = SPARK_QUESTIONS["minutes"].perturb([10.0] * 50)
    tag, shop = SPARK_QUESTIONS["tag"].perturb(["a"] * 50), SPARK_QUESTIONS["shop"].perturb(["x"] * 50)
    table = pa.table(
        {
            "minutes": pa.array(minutes.cells.astype("int32")),
            "tag": pa.array([row.tobytes() for row in tag.cells], pa.binary()),
            "shop": pa.array(shop.cells.astype("int64")),
            "city": ["A"] * 50,
        }
    )
    pq.write_table(table.replace_schema_metadata({KEY: metadata}), path)
    return {name: dt.Counts.of(one) for name, one in zip(SPARK_QUESTIONS, (minutes, tag, shop), strict=True)}


def test_the_questions_are_found_and_the_reports_counted(tmp_path: Path) -> None:
    path = tmp_path / "part-0.parquet"
    counts = write_as_spark(
        path, spark_fields(**{name: one.to_json() for name, one in SPARK_QUESTIONS.items()})
    )
    assert dt.data.summarise_file(path) == counts
    done = run("estimate", str(tmp_path / "*.parquet"), "--json")
    assert done.exit_code == 0, done.output
    with pytest.raises(DitherError, match="further noise would spoil"):
        dt.data.perturb_file(path, tmp_path / "out.csv", SPARK_QUESTIONS)


@pytest.mark.parametrize(
    "metadata",
    [
        spark_fields(),
        spark_fields(minutes="no JSON"),
        spark_fields(minutes="[" * 100_000),
        spark_fields(minutes="{}"),
        "{",
        "[]",
        '{"fields": 7}',
        '{"fields": [7]}',
        '{"fields": [{"name": "minutes", "metadata": []}]}',
    ],
)
def test_damaged_metadata_are_no_questions(metadata: str, tmp_path: Path) -> None:
    path = tmp_path / "part-0.parquet"
    write_as_spark(path, metadata)
    with pytest.raises(DitherError):
        dt.data.summarise_file(path)


def test_reports_that_nobody_sent_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "part-0.parquet"
    write_as_spark(path, spark_fields(minutes=dt.Duchi(dt.Interval(0, 180), epsilon=1).to_json()))
    with pytest.raises(DitherError, match="column 'minutes'"):
        dt.data.summarise_file(path)
