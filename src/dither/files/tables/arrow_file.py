"""Arrow's own file format, also called Feather. The specification is in the metadata of the schema.

Needs the extra `frames`.
"""

from __future__ import annotations

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
        # Not a memory map: a file that is cut short, or while it is read, would end the process by a signal.
        return arrow().ipc.open_file(arrow().OSFile(str(path)))

    def schema(self, file: Any) -> pyarrow.Schema:
        return file.schema

    def batches(self, file: Any, columns: list[str]) -> Batches:
        for number in range(file.num_record_batches):
            batch = checked(file.get_batch(number).select(columns))
            for begin in range(0, batch.num_rows, BATCH):  # one batch may hold the whole file
                yield batch.slice(begin, BATCH)

    def writer(self, path: Path, schema: pyarrow.Schema) -> Any:
        return arrow().ipc.new_file(str(path), schema)
