"""Parquet files of a folder that Spark wrote: the questions are in the metadata of its columns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import dither as dt
from dither.cli import main
from dither.errors import DitherError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

QUESTIONS = {
    "minutes": dt.Podium(dt.Interval(0, 180), epsilon=1),
    "tag": dt.OUE(dt.Categories(["a", "b", "c"]), epsilon=1),
    "shop": dt.OLH(dt.Categories(["x", "y"]), epsilon=1),
}
KEY = "org.apache.spark.sql.parquet.row.metadata"


def fields(**carried: str) -> str:
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


def written(path: Path, metadata: str) -> dict[str, dt.Summary]:
    """Write a file as Spark would, and return its counts."""
    minutes = QUESTIONS["minutes"].perturb([10.0] * 50)
    tag, shop = QUESTIONS["tag"].perturb(["a"] * 50), QUESTIONS["shop"].perturb(["x"] * 50)
    table = pa.table(
        {
            "minutes": pa.array(minutes.cells.astype("int32")),
            "tag": pa.array([row.tobytes() for row in tag.cells], pa.binary()),
            "shop": pa.array(shop.cells.astype("int64")),
            "city": ["A"] * 50,
        }
    )
    pq.write_table(table.replace_schema_metadata({KEY: metadata}), path)
    return {name: dt.Summary.of(one) for name, one in zip(QUESTIONS, (minutes, tag, shop), strict=True)}


def test_the_questions_are_found_and_the_reports_counted(tmp_path: Path) -> None:
    path = tmp_path / "part-0.parquet"
    counts = written(path, fields(**{name: dt.to_json(one) for name, one in QUESTIONS.items()}))
    assert dt.files.summarise_file(path) == counts
    done = CliRunner().invoke(main, ["estimate", str(tmp_path / "*.parquet"), "--json"])
    assert done.exit_code == 0, done.output
    with pytest.raises(DitherError, match="random already"):
        dt.files.perturb_file(path, tmp_path / "out.csv", QUESTIONS)


@pytest.mark.parametrize(
    "metadata",
    [
        fields(),
        fields(minutes="no JSON"),
        fields(minutes="[" * 100_000),
        fields(minutes="{}"),
        "{",
        "[]",
        '{"fields": 7}',
        '{"fields": [7]}',
        '{"fields": [{"name": "minutes", "metadata": []}]}',
    ],
)
def test_damaged_metadata_are_no_questions(metadata: str, tmp_path: Path) -> None:
    path = tmp_path / "part-0.parquet"
    written(path, metadata)
    with pytest.raises(DitherError):
        dt.files.summarise_file(path)


def test_reports_that_nobody_sent_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "part-0.parquet"
    written(path, fields(minutes=dt.to_json(dt.Duchi(dt.Interval(0, 180), epsilon=1))))
    with pytest.raises(DitherError, match="column 'minutes'"):
        dt.files.summarise_file(path)
