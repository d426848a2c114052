"""Reports as Parquet files for a warehouse, in the table that `dither sql` counts: each batch once.

A folder holds one export. Its file `_dither_export.json` states the last exported tick of the store, and
lists the files. Later files do not contain withdrawn batches. For a withdrawn batch that an earlier file may
contain there is a *tombstone*, a row of the same columns with the digest of the batch and without its
reports.

An export writes its files under hidden names, notes them in the store and in that list, and then gives them
their names. The next export completes, or repeats, an interrupted one.
"""

from __future__ import annotations

import datetime
import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dither.collection.kept_changes import ROW_BYTES, change_of, join_rows, place_of
from dither.collection.live import Slot, as_cells
from dither.collection.presence import stored_question
from dither.collection.published import Published
from dither.collection.store.opening import is_postgresql
from dither.collection.store.sqlite import LAST_ROW, TICK, check_file, lock_store
from dither.collection.store.store import HOLDS, StoreUnavailable, StoreUnusable
from dither.core.question import Question
from dither.core.repetition import KeptChange
from dither.data.sql import TOMBSTONE
from dither.data.sql.delta import is_table_folder
from dither.errors import InvalidParameter, MissingExtra
from dither.foundation.arrays import Array
from dither.foundation.atomic import whole

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import parquet

LIST: Final = "_dither_export.json"
_ROWS: Final = 1 << 10  # parts of batches that are read at once
_BYTES: Final = 1 << 22  # bytes of reports in memory before they are written
Row = tuple[bytes, int, int, bytes]  # identity, part, number of the slot, reports


class ExportedFile(NamedTuple):
    """A file of an export; its name is relative to the folder. The campaign of tombstones is "".

    `batches` of a file of tombstones were taken back on its day.
    """

    file: str
    campaign: str
    day: str
    batches: int
    reports: int


@dataclass(frozen=True)
class Export:
    """The contents of a folder: files with all batches of a store up to a tick, from the day `since` on.

    `folded` are days of which reports were replaced by counts before they could be exported.
    """

    store: str
    since: str = ""
    tick: int = 0
    files: tuple[ExportedFile, ...] = ()
    folded: tuple[str, ...] = field(default=(), compare=False)

    @property
    def sums(self) -> tuple[int, int, int]:
        """The numbers of batches and reports that were written, and of batches that were withdrawn."""
        written = [entry for entry in self.files if entry.campaign]
        withdrawn = sum(entry.batches for entry in self.files if not entry.campaign)
        return sum(entry.batches for entry in written), sum(entry.reports for entry in written), withdrawn

    @classmethod
    def read(cls, folder: Path) -> Export | None:
        """Return the export in a folder; None if nothing was exported to it."""
        position = folder / LIST
        if not position.exists():
            return None
        try:
            table = json.loads(position.read_text(encoding="utf-8"))
            files = tuple(ExportedFile(**entry) for entry in table["files"])
            return cls(table["store"], table["since"], int(table["tick"]), files)
        except (ValueError, KeyError, TypeError):
            raise InvalidParameter(
                f"cannot read {position} because it is damaged; export into a new folder"
            ) from None

    def write(self, folder: Path) -> None:
        """Write the list, completely or not at all."""
        files = [entry._asdict() for entry in self.files]
        table = {"dither": 1, "store": self.store, "since": self.since, "tick": self.tick, "files": files}
        with whole(folder / LIST) as stream:
            json.dump(table, stream, indent=1)

    def finish(self, folder: Path) -> None:
        """Give listed files their names, and remove hidden ones that are not listed."""
        for entry in self.files:
            hidden = _part_of(folder / entry.file)
            if hidden.exists():
                hidden.replace(folder / entry.file)
        for rest in folder.glob("arrived=*/.*.parquet.part"):
            rest.unlink()


def export_reports(address: str, folder: Path, since: datetime.date | None = None) -> Export:
    """Export the reports since the last export to a folder, also while collectors write.

    `since` is the first day. Later exports into the same folder continue, and write all later reports. Return
    the export's own files.
    """
    _load_parquet()
    if is_table_folder(folder):
        raise InvalidParameter(
            f"expected a folder for plain files, got {folder} with a Delta table; export to another folder"
        )
    with ExitStack() as opened:
        store = None
        if not folder.is_dir():  # a wrong address must not leave a folder
            store = opened.enter_context(closing(open_source(address)))
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(
            mode=0o700, exist_ok=True
        )  # as confidential as the store; an existing one keeps its rights
        try:
            opened.enter_context(closing(lock_store(folder / "_export")))
        except StoreUnusable:
            raise InvalidParameter(
                f"cannot export to {folder}, because another export writes to it; wait until it ends"
            ) from None
        found = Export.read(folder)
        if store is None or found is not None:  # the snapshot must be taken after the folder is read
            store = opened.enter_context(closing(open_source(address)))
        begun = found or Export(store.identity, "" if since is None else since.isoformat())
        _check(begun, store, since, folder)
        begun.finish(folder)
        return _continue(begun, store, folder)


def _check(begun: Export, store: StoreReader, since: datetime.date | None, folder: Path) -> None:
    if begun.store != store.identity or begun.tick > store.last:
        raise InvalidParameter(
            f"expected the exports of this store in {folder}, got those of another one, or of this one "
            "before it was restored from a backup; export into a new folder"
        )
    if since is not None and since.isoformat() < begun.since:
        raise InvalidParameter(
            f"expected --since from {begun.since} on, the first day in {folder}, got {since}; export "
            "earlier days into a new folder"
        )


def _continue(begun: Export, store: StoreReader, folder: Path) -> Export:
    slots = {number: slot for number, slot in store.slots.items() if slot.day.isoformat() >= begun.since}
    with _Files(folder, begun.tick, store.campaigns) as files:
        held: dict[int, list[Row]] = {}
        size = 0
        for row in store.rows(begun.tick, list(slots)):
            held.setdefault(row[2], []).append(row)
            size += len(row[3])
            if size >= _BYTES:
                files.write(held, slots)
                held, size = {}, 0
        files.write(held, slots)
        for day, digests in sorted(store.withdrawn(begun.tick).items()):
            files.bury(day, digests)
    folded = tuple(day for day in store.folded_days(begun.tick) if day >= begun.since)
    made = files.entries()
    there = store.note([files.as_noted(entry) for entry in made if entry.campaign])
    kept = [entry for entry in made if entry.campaign in (*there, "")]  # others were deleted meanwhile
    done = replace(begun, tick=store.last, files=(*begun.files, *kept))
    done.write(folder)
    done.finish(folder)
    return replace(done, files=tuple(kept), folded=folded)


class _Files:
    """The files that one export writes: one for each day and campaign, hidden until they are listed."""

    def __init__(self, folder: Path, after: int, campaigns: Mapping[str, Published]) -> None:
        self._folder, self._after, self._campaigns = folder, after, campaigns
        self._writers: dict[tuple[datetime.date, str], Any] = {}
        self._counts: dict[tuple[datetime.date, str], list[int]] = {}

    def __enter__(self) -> _Files:
        return self

    def __exit__(self, *error: object) -> None:
        for writer in self._writers.values():
            writer.close()

    def write(self, held: Mapping[int, Sequence[Row]], slots: Mapping[int, Slot]) -> None:
        """Write rows of the store; `slots` maps their numbers to slots."""
        for number, rows in held.items():
            slot = slots[number]
            contract = self._campaigns[slot.campaign].contract
            parts = [row[0] for row in rows], [row[3] for row in rows]
            question, change = stored_question(contract, slot.question), change_of(contract, slot.question)
            table = report_columns(slot, question, *parts, change)
            key = (slot.day, slot.campaign)
            if key not in self._writers:
                self._writers[key] = self._open(*key, table.schema)
                self._counts[key] = [0, 0]
            self._writers[key].write_table(table)
            self._counts[key][0] += sum(row[1] == 0 for row in rows)
            self._counts[key][1] += len(table)

    def bury(self, day: datetime.date, digests: Sequence[bytes]) -> None:
        """Write tombstones of batches that were taken back on a day."""
        table = tombstones(day, digests)
        self._writers[day, ""] = self._open(day, "", table.schema)
        self._counts[day, ""] = [len(digests), 0]
        self._writers[day, ""].write_table(table)

    def _open(self, day: datetime.date, campaign: str, schema: object) -> parquet.ParquetWriter:
        position = _part_of(self._folder / self._name(day, campaign))
        position.parent.mkdir(exist_ok=True)
        return open_writer(position, schema)

    def _name(self, day: datetime.date, campaign: str) -> str:
        what = campaign[:16] or "withdrawn"
        return f"arrived={day.isoformat()}/{what}-{self._after:015d}.parquet"

    def as_noted(self, entry: ExportedFile) -> tuple[str, str, int]:
        """Return the store's note of a file: its path, its campaign and its day."""
        position = (self._folder / entry.file).resolve()
        return str(position), entry.campaign, datetime.date.fromisoformat(entry.day).toordinal()

    def entries(self) -> list[ExportedFile]:
        """Return the written files."""
        return [
            ExportedFile(self._name(day, campaign), campaign, day.isoformat(), *counts)
            for (day, campaign), counts in self._counts.items()
        ]


def report_columns(
    slot: Slot,
    question: Question,
    ids: Sequence[bytes],
    parts: Sequence[bytes],
    change: KeptChange | None = None,
) -> Any:
    """Return the reports of parts of batches as an Arrow table with the columns of `sql.ReportTable`.

    Repeated texts are dictionaries here, and plain texts in files. A row about a kept change names its
    question; its `place` is the index of its interval over all groups.
    """
    import pyarrow as pa

    name, width, first = slot.question, question.report_bytes, 0
    fingerprint = question.fingerprint
    one_number = question.layout.subdtype is None
    if change is not None:
        name, first = place_of(change, slot.question)
        fingerprint, width, one_number = change.fingerprint, ROW_BYTES, False
        parts = [b"".join(join_rows(slot.question, data)) for data in parts]
    sizes = np.array([len(data) // width for data in parts])
    n, rows = int(sizes.sum()), np.repeat(np.arange(len(ids), dtype=np.int32), sizes)
    cells = as_cells(question, parts) if one_number else np.zeros(0, dtype=np.int64)
    one_number = one_number and int(cells.max(initial=0)) < 1 << 63
    hexed = "" if one_number else b"".join(parts).hex()
    alike = np.zeros(n, dtype=np.int32)
    place = np.arange(n, dtype=np.int32) - np.repeat((np.cumsum(sizes) - sizes).astype(np.int32), sizes)
    place += np.int32(first)

    def texts(values: Sequence[str], places: Array) -> pa.Array:
        """Return texts by their indices in a list, as in the file."""
        return pa.DictionaryArray.from_arrays(pa.array(places), pa.array(values, pa.string()))

    columns = {
        "day": pa.repeat(pa.scalar(slot.day, pa.date32()), n),
        "label": texts([slot.label], alike),
        "question": texts([name], alike),
        "fingerprint": texts([fingerprint], alike),
        "batch": texts([batch.hex() for batch in ids], rows),
        "place": pa.array(place, pa.int32()),
        "report": pa.array(cells.astype(np.int64, copy=False)) if one_number else pa.nulls(n, pa.int64()),
        "report_hex": pa.nulls(n, pa.string())
        if one_number
        else pa.array([hexed[at : at + 2 * width] for at in range(0, len(hexed), 2 * width)], pa.string()),
    }
    return pa.table(columns)


def open_writer(
    place: object, schema: object, metadata: list[parquet.FileMetaData] | None = None
) -> parquet.ParquetWriter:
    """Return a writer of a Parquet file with the columns of `report_columns`, and its texts as texts.

    The description of the file is appended to `metadata` when it is closed.
    """
    some = ["label", "question", "fingerprint", "batch", "day"]  # the file holds their indices in a list
    return _load_parquet().ParquetWriter(
        place,
        schema,
        compression="zstd",
        use_dictionary=some,
        store_schema=False,
        metadata_collector=metadata,
    )


def tombstones(day: datetime.date, digests: Sequence[bytes]) -> pa.Table:
    """Return rows for the batches that were withdrawn on a day; their `place` is -1."""
    import pyarrow as pa

    n = len(digests)
    missing = {name: pa.nulls(n, pa.string()) for name in ("label", "question", "fingerprint")}
    return pa.table(
        {
            "day": pa.array([day] * n, pa.date32()),
            **missing,
            "batch": pa.array([digest.hex() for digest in digests], pa.string()),
            "place": pa.array([TOMBSTONE] * n, pa.int32()),
            "report": pa.nulls(n, pa.int64()),
            "report_hex": pa.nulls(n, pa.string()),
        }
    )


def _part_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.part")


def _load_parquet() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("the export of reports", "frames") from None
    return pyarrow.parquet


class StoreReader(ABC):
    """A snapshot of a store, with all reports up to the tick `last`."""

    prefix = ""

    def __init__(self, identity: str, last: int) -> None:
        self.identity, self.last = identity, last
        documents = self.query(f"SELECT document FROM {self.prefix}campaigns")
        self.campaigns = {made.id: made for made in (Published.from_store(text) for (text,) in documents)}
        columns = "number, campaign, question, day, label"
        self.slots = {
            number: Slot(campaign, question, datetime.date.fromordinal(day), label)
            for number, campaign, question, day, label in self.query(
                f"SELECT {columns} FROM {self.prefix}slots WHERE counts IS NULL"
            )
        }

    @abstractmethod
    def query(self, text: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""

    @abstractmethod
    def later(self, tick: int) -> str:
        """Return the SQL condition that a part of a batch was stored after a tick."""

    @abstractmethod
    def rows(self, after: int, slots: Sequence[int]) -> Iterator[Row]:
        """Yield the parts of batches of some slots that were stored after a tick."""

    def withdrawn(self, after: int) -> dict[datetime.date, list[bytes]]:
        """Return the digests of batches that were taken back after a tick, by day."""
        found: dict[datetime.date, list[bytes]] = {}
        query = f"SELECT day, id FROM {self.prefix}withdrawn WHERE tick > {after} AND tick <= {self.last}"
        for day, digest in self.query(f"{query} ORDER BY day, id"):
            found.setdefault(datetime.date.fromordinal(day), []).append(bytes(digest))
        return found

    @abstractmethod
    def close(self) -> None:
        """Close the store."""

    @abstractmethod
    def note(self, files: Sequence[tuple[str, str, int]]) -> set[str]:
        """Note files with their campaigns and days, and return the campaigns that still have reports.

        The snapshot ends here; a campaign that was deleted meanwhile is not noted.
        """

    def folded_days(self, after: int) -> list[str]:
        """Return the days of which reports after the last export are stored only as counts."""
        some = f"SELECT slot FROM {self.prefix}reports WHERE {self.later(after)}"
        later = f" AND number IN ({some})" if after else ""
        folded = f"SELECT DISTINCT day FROM {self.prefix}slots WHERE counts IS NOT NULL AND {HOLDS}"
        days = self.query(folded + later)
        return sorted(datetime.date.fromordinal(day).isoformat() for (day,) in days)


class _SqliteReader(StoreReader):
    """A SQLite file, read while its collector writes it."""

    def __init__(self, address: str) -> None:
        path = Path(address)
        # A writer of another library takes rows in a thread of its own.
        self._sql = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        try:
            if check_file(self._sql, path):
                raise StoreUnusable(f"{path} is of an earlier version; run `dither collector migrate` first")
            self._sql.execute("INSERT OR IGNORE INTO notes VALUES (1, randomblob(16))")
            identity = self._sql.execute("SELECT hex(data) FROM notes WHERE number = 1").fetchone()[0]
            self._sql.execute("BEGIN")
            last = self._sql.execute(LAST_ROW).fetchone()[0]
            super().__init__(identity.lower(), last >> TICK)
        except sqlite3.Error as error:
            self.close()
            raise StoreUnusable(f"{path} cannot be read as a store: {error}") from None
        except BaseException:
            self.close()
            raise

    def query(self, text: str) -> list[tuple[Any, ...]]:
        return self._sql.execute(text).fetchall()

    def later(self, tick: int) -> str:
        return f"number >= {(tick + 1) << TICK}"

    def rows(self, after: int, slots: Sequence[int]) -> Iterator[Row]:
        numbers = ",".join(map(str, slots)) or "NULL"
        query = f"SELECT id, part, slot, data FROM reports WHERE {self.later(after)} AND slot IN ({numbers})"
        cursor = self._sql.execute(f"{query} AND id NOT IN (SELECT id FROM withdrawn) ORDER BY number")
        while rows := cursor.fetchmany(_ROWS):
            yield from rows

    def note(self, files: Sequence[tuple[str, str, int]]) -> set[str]:
        self._sql.execute("COMMIT")
        self._sql.execute("BEGIN IMMEDIATE")
        kept = {campaign for (campaign,) in self.query("SELECT DISTINCT campaign FROM slots")}
        self._sql.executemany(
            "INSERT OR REPLACE INTO exports (file, campaign, day) VALUES (?, ?, ?)",
            [entry for entry in files if entry[1] in kept],
        )
        self._sql.execute("COMMIT")
        return kept

    def close(self) -> None:
        """Close the file."""
        self._sql.close()


def open_source(address: str) -> StoreReader:
    """Open a store for an export; raise StoreUnusable if that fails."""
    if is_postgresql(address):
        return _PostgresqlReader(address)
    if not Path(address).is_file():
        raise StoreUnusable(f"file not found: {address}")
    return _SqliteReader(address)


class _PostgresqlReader(StoreReader):
    """A PostgreSQL database, read while its collectors write it."""

    prefix = "dither_"

    def __init__(self, address: str) -> None:
        from dither.collection.store.postgresql import PostgresqlStore

        self._store = PostgresqlStore(address)
        try:
            identity, last = self._store.identity(), self._store.last_tick()
            self._seen = ExitStack()
            self._sql = self._seen.enter_context(self._store.snapshot())
            super().__init__(identity, last)
        except BaseException:
            self._store.close()
            raise

    def query(self, text: str) -> list[tuple[Any, ...]]:
        return self._sql.execute(text).fetchall()

    def later(self, tick: int) -> str:
        return f"tick > {tick} AND tick <= {self.last}"

    def rows(self, after: int, slots: Sequence[int]) -> Iterator[Row]:
        query = (
            f"SELECT id, part, slot, data FROM dither_reports WHERE {self.later(after)} AND slot = ANY(%b) "
            "AND NOT EXISTS (SELECT 1 FROM dither_withdrawn WHERE dither_withdrawn.id = dither_reports.id)"
        )
        with self._sql.cursor("export", binary=True) as cursor:
            cursor.execute(query, (list(slots),))
            while rows := cursor.fetchmany(_ROWS):
                yield from ((bytes(batch), part, slot, bytes(data)) for batch, part, slot, data in rows)

    def note(self, files: Sequence[tuple[str, str, int]]) -> set[str]:
        self._seen.close()
        return self._store.note_exports(files)

    def close(self) -> None:
        """Close the database."""
        with suppress(StoreUnavailable):
            self._seen.close()
        self._store.close()
