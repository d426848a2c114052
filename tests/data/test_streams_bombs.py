"""Small files that would become gigabytes, and quotes that are not closed: refused, with the file's name."""

from __future__ import annotations

import gzip
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from dither.data import streams
from dither.data.dialect import USUAL
from dither.data.formats import columnar
from dither.data.formats.csv import Csv
from dither.data.formats.format import table_format
from dither.errors import InvalidParameter
from tests.support.terminal import run


@pytest.mark.parametrize("ending", ["csv.gz", "jsonl.gz"])
def test_a_line_without_an_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    monkeypatch.setattr(streams, "MOST_LINE", 1 << 16)
    file = tmp_path / f"bomb.{ending}"
    for head in (b"", b"a,b\n1,2\n"):  # the first line, and one below
        file.write_bytes(gzip.compress(head + b"1" * (1 << 20)))
        words = ("--column", "a", "--interval", 0, 1, "--epsilon", 1, "-o", tmp_path / "out.csv")
        done = run("perturb", file, *words)
        assert done.exit_code == 2, done.output
        assert "bomb" in done.output
        assert not isinstance(done.exception, MemoryError | OverflowError)


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("end", ["\n5,6\n", "", "\n"])
def test_an_unclosed_quote_is_not_a_row(tmp_path: Path, quick: bool, end: str) -> None:
    file = tmp_path / "quote.csv"
    file.write_text('a,b\n1,2\n3,"4' + end, encoding="utf-8")
    with pytest.raises(InvalidParameter, match="a closing quote"):
        list(Csv(quick=quick).read(file, ["a"]))
    file.write_text('a,b\n1,"2\n 3"\n3,5" pipe\n', encoding="utf-8")  # closed, and one that opens nothing
    assert sum(len(chunk) for chunk in Csv(quick=quick).read(file, ["a", "b"])) == 2


def test_parquet_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(columnar, "_MOST_BYTES", 1 << 20)
    zeros, texts, fair = (tmp_path / name for name in ("zeros.parquet", "texts.parquet", "fair.parquet"))
    parquet.write_table(pa.table({"a": np.zeros(8_000_000)}), zeros, compression="zstd", use_dictionary=False)
    assert 1000 * zeros.stat().st_size < 64_000_000
    many = pa.DictionaryArray.from_arrays(pa.array(np.zeros(2000, np.int32)), pa.array(["x" * 10_000]))
    parquet.write_table(pa.table({"a": many}), texts, compression="zstd")
    assert texts.stat().st_size < 1 << 14
    plain, arrow = tmp_path / "plain.parquet", tmp_path / "texts.arrow"
    parquet.write_table(pa.table({"a": many.dictionary_decode()}), plain, compression="zstd")
    with pa.ipc.new_file(str(arrow), pa.schema({"a": many.type})) as writer:
        writer.write_table(pa.table({"a": many}))
    for file in (zeros, texts, plain, arrow):
        with pytest.raises(InvalidParameter, match=f"{file.name} is refused"):
            list(table_format(file).read(file, ["a"]))
    parquet.write_table(pa.table({"a": ["yes", None, "no"] * 1000}), fair)
    (chunk,) = table_format(fair).read(fair, ["a"])
    assert list(chunk.cells("a")[:3]) == ["yes", None, "no"]


@pytest.mark.parametrize("block", [1, 2, 3, 7, 1 << 13])
def test_lines_are_the_same_in_blocks_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    """Lines end as Python says, also where a block ends between the two characters of an end."""
    monkeypatch.setattr(streams, "_BLOCK", block)
    texts = ["", "a", "a\n", "\n\n", "a\r\nbc\rd\n\r\n\re", 'a,"b\u2028c"\r\n\x0b1\x1c\n', "\r", "ab\r\n" * 9]
    for text in texts:
        (tmp_path / "some.csv").write_text(text, encoding="utf-8", newline="")
        with streams.text_stream(tmp_path / "some.csv", USUAL) as stream:
            found = list(streams.lines(tmp_path / "some.csv", stream))
        with (tmp_path / "some.csv").open(encoding="utf-8", newline="") as stream:
            assert found == list(stream)


@pytest.mark.parametrize("block", [1, 5, 16])
def test_the_longest_line_is_the_same_in_blocks_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(streams, "_BLOCK", block)
    monkeypatch.setattr(streams, "MOST_LINE", 20)
    file = tmp_path / "some.csv"
    for length, refused in ((18, False), (19, True)):  # and the character that ends a line
        file.write_text("a\n" + "1" * length + "\n2\n", encoding="utf-8")
        with (
            streams.text_stream(file, USUAL) as stream,
            pytest.raises(InvalidParameter) if refused else nullcontext(),
        ):
            assert [len(line) for line in streams.lines(file, stream)] == [2, 19, 2]
