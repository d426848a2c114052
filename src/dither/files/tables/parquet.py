"""Parquet. The specification is in the metadata of the schema. Needs the extra `frames`.

Spark writes the metadata of columns in its own way. A file of a folder that `dt.frames.spark.perturb` wrote
has the questions there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from dither.files.arrow import BATCH, SPECIFICATION, arrow
from dither.files.tables.columnar import ColumnarFormat, checked
from dither.wire.campaign import VERSION

if TYPE_CHECKING:
    import pyarrow

    from dither.files.tables.columnar import Batches

_SPARK: Final = b"org.apache.spark.sql.parquet.row.metadata"


@final
class Parquet(ColumnarFormat):
    """Parquet, by row groups."""

    endings = (".parquet",)

    def opened(self, path: Path) -> Any:
        return _parquet().ParquetFile(path, pre_buffer=False)  # with it, what was read stays in memory

    def schema(self, file: Any) -> pyarrow.Schema:
        return file.schema_arrow

    def specification(self, path: Path) -> str | None:
        own = super().specification(path)
        if own is not None:
            return own
        with self._open(path) as file:
            return _written_by_spark(self.schema(file).metadata or {})

    def batches(self, path: Path, file: Any, columns: list[str]) -> Batches:
        yield from map(checked, file.iter_batches(batch_size=BATCH, columns=columns))

    def writer(self, path: Path, schema: pyarrow.Schema, reports: Sequence[str] = ()) -> Any:
        # Reports are random: a dictionary of them takes time and more room. Differences are packed in bits,
        # so that a report below 2^16 takes about 2 bytes, and not the 4 of Parquet's smallest integer.
        short = {name: "DELTA_BINARY_PACKED" for name in reports if _is_short(schema.field(name).type)}
        others = [name for name in schema.names if name not in reports]
        return _parquet().ParquetWriter(
            path, schema, use_dictionary=others or False, column_encoding=short or None
        )


def _is_short(kind: pyarrow.DataType) -> bool:
    """Return whether a type is one of integers of one or two bytes."""
    return bool(arrow().types.is_integer(kind) and kind.bit_width <= 16)


def _written_by_spark(metadata: Mapping[bytes, bytes]) -> str | None:
    """Return the head of a file whose columns carry their questions in Spark's metadata, or None."""
    try:
        fields = json.loads(metadata.get(_SPARK, b"{}")).get("fields", [])
        carried = {one["name"]: one["metadata"].get(SPECIFICATION.decode()) for one in fields}
        questions = {name: json.loads(text) for name, text in carried.items() if text is not None}
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None
    return json.dumps({"dither": VERSION, "questions": questions}, ensure_ascii=False) if questions else None


def _parquet() -> Any:
    arrow()  # raises MissingExtra if it is not installed
    from pyarrow import parquet

    return parquet
