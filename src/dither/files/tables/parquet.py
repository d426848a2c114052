"""Parquet. The specification is in the metadata of the schema. Needs the extra `frames`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from dither.files.arrow import BATCH, arrow
from dither.files.tables.columnar import ColumnarFormat, checked

if TYPE_CHECKING:
    import pyarrow

    from dither.files.tables.columnar import Batches


@final
class Parquet(ColumnarFormat):
    """Parquet, by row groups."""

    endings = (".parquet",)

    def opened(self, path: Path) -> Any:
        return _parquet().ParquetFile(path, pre_buffer=False)  # with it, what was read stays in memory

    def schema(self, file: Any) -> pyarrow.Schema:
        return file.schema_arrow

    def batches(self, path: Path, file: Any, columns: list[str]) -> Batches:
        yield from map(checked, file.iter_batches(batch_size=BATCH, columns=columns))

    def writer(self, path: Path, schema: pyarrow.Schema) -> Any:
        return _parquet().ParquetWriter(path, schema)


def _parquet() -> Any:
    arrow()  # raises MissingExtra if it is not installed
    from pyarrow import parquet

    return parquet
