"""Arrow's own file format, also called Feather. The specification is in the metadata of the schema.

Needs the extra `frames`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from dither.files.arrow import BATCH, arrow
from dither.files.tables.columnar import ColumnarFormat, checked

if TYPE_CHECKING:
    import pyarrow

    from dither.files.tables.columnar import Batches


@final
class ArrowFile(ColumnarFormat):
    """The Arrow IPC file format."""

    endings = (".arrow", ".feather")

    def opened(self, path: Path) -> Any:
        return _opened(path, None)

    def schema(self, file: Any) -> pyarrow.Schema:
        return file.schema

    def batches(self, path: Path, file: Any, columns: list[str]) -> Batches:
        places = sorted(file.schema.get_field_index(column) for column in columns)
        with _opened(path, places) as part:
            for number in range(part.num_record_batches):
                batch = checked(part.get_batch(number).select(columns))
                for begin in range(0, batch.num_rows, BATCH):  # one batch may hold the whole file
                    yield batch.slice(begin, BATCH)

    def writer(self, path: Path, schema: pyarrow.Schema, reports: Sequence[str] = ()) -> Any:
        return arrow().ipc.new_file(str(path), schema)


def _opened(path: Path, fields: list[int] | None) -> Any:
    """Return an open file that reads the fields at these places, or all of them.

    It is not a memory map: a damaged file, or one that is cut while it is read, would end the process.
    """
    pa = arrow()
    return pa.ipc.open_file(pa.OSFile(str(path)), options=pa.ipc.IpcReadOptions(included_fields=fields))
