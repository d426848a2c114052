"""Reports in a Delta table, in a folder or an object store, for engines that count there.

One commit holds everything that arrived in a store since the last commit. It also states the last tick that
it contains, as a transaction identifier of the Delta protocol, one for each store. So two concurrent exports
of one store cannot both commit, and an export that is killed has committed completely or not at all. Several
stores may write to one table.

The columns are `export.report_columns` and `campaign`; the table is partitioned by campaign and
day. Tombstones are rows of the campaign "withdrawn". Once a day the files with batches that were taken back
are rewritten without them, and small files of past days are joined.
"""

from __future__ import annotations

import datetime
import json
import os
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final, NamedTuple

from dither.collection.collector import today
from dither.collection.kept_changes import change_of
from dither.collection.live import Slot
from dither.collection.presence import stored_question
from dither.collection.store.export import (
    LIST,
    Row,
    StoreReader,
    open_source,
    open_writer,
    report_columns,
    tombstones,
)
from dither.data.sql.delta import WITHDRAWN, check_address, load_delta, open_table, table_errors
from dither.errors import InvalidParameter

if TYPE_CHECKING:
    import deltalake
    import pyarrow as pa
    from deltalake.transaction import AddAction
    from pyarrow import fs, parquet

NAME: Final = "dither reports"
FORM: Final = "dither export 1"  # the description of a table that an export made
_MAINTAINED: Final = "dither maintenance"  # an identifier, whose version is the day
_ATTEMPTS: Final = 5  # attempts of a commit while other exports of the store are faster
_BYTES: Final = 1 << 22  # bytes of reports in memory before they are written
_FILE: Final = 1 << 27  # largest size of a file, in bytes
_SMALL: Final = 1 << 25  # bytes; smaller files are joined,
_MANY: Final = 4  # if a past day has at least this number of them
_LONGEST: Final = 366  # largest number of days for which a batch can be taken back
_CLOCK: Final = "_dither_clock"  # a file for comparing clocks; readers ignore it
_SKEW: Final = 600  # largest difference of two clocks, in seconds
_MOST: Final = 64  # largest number of files that are written at a time
_PARTITIONS: Final = ["campaign", "day"]
_CONFIGURATION: Final = {"delta.deletedFileRetentionDuration": "interval 1 days"}


class DeltaExport(NamedTuple):
    """The result of an export: added batches, reports and withdrawn batches; days that were folded before.

    `rewritten` is the number of rows of withdrawn batches that were removed. `clock` is the number of seconds
    by which the clock of this machine is ahead of the table's if that is too much to remove files by their
    age; else 0.
    """

    batches: int
    reports: int
    withdrawn: int
    folded: tuple[str, ...]
    rewritten: int
    clock: int = 0


def export_to_delta(
    address: str, table: str, since: datetime.date | None = None, day: datetime.date | None = None
) -> DeltaExport:
    """Append all batches since a store's last export to a Delta table, even while collectors write.

    `table` is a folder, or an address such as s3://bucket/reports; credentials come from the environment.
    `since` is the first day of the first export. `day` is the present day.
    """
    load_delta()
    check_address(table)
    if "://" not in table:
        _check_folder(Path(table))
    with closing(open_source(address)):  # a wrong address must not leave a table
        pass
    with table_errors(table):
        for _ in range(_ATTEMPTS):
            made = _open_or_create(table)
            done = _append(address, made, table, since)
            if done is not None:
                break
        else:
            raise InvalidParameter(
                f"cannot commit, because other exports of this store write to {table}; try again after "
                "they have ended"
            )
        present, made = day or today(), _open_or_create(table)
        if (made.transaction_version(_MAINTAINED) or 0) >= present.toordinal():
            return done
        ahead = _seconds_ahead(made)
        if abs(ahead) > _SKEW:  # files of other exports would seem to be old
            return done._replace(clock=ahead)
        return done._replace(rewritten=_maintain(made, present))


def _check_folder(folder: Path) -> None:
    """Raise InvalidParameter for a file, a folder that cannot be written, and one with plain exports."""
    if (folder / LIST).exists():
        raise InvalidParameter(
            f"expected a folder for a Delta table, got {folder} with plain exports; export to another folder"
        )
    there = next(parent for parent in (folder.absolute(), *folder.absolute().parents) if parent.exists())
    if not there.is_dir():
        raise InvalidParameter(
            f"expected a folder for the Delta table, got the file {there}; give another one"
        )
    if not os.access(there, os.W_OK | os.X_OK):
        raise InvalidParameter(
            f"cannot write to {there} for the table {folder}; change its permissions, or give another folder"
        )


def _open_or_create(address: str) -> deltalake.DeltaTable:
    """Return the table; make a missing one, and raise InvalidParameter if another program made it."""
    module = load_delta()
    made = open_table(address)
    if made is None:
        module.DeltaTable.create(
            address,
            schema(),
            mode="ignore",  # another export may be faster
            partition_by=_PARTITIONS,
            name=NAME,
            description=FORM,
            configuration=_CONFIGURATION,
        )
        made = module.DeltaTable(address)
    about = made.metadata()
    if about.name != NAME or about.description != FORM:
        theirs = "of another version of dither" if about.name == NAME else "that dither did not make"
        raise InvalidParameter(
            f"expected a Delta table that this version of dither made, got {address}, {theirs}; "
            "export to "
            "another address"
        )
    return made


def schema() -> pa.Schema:
    """Return the columns of a table."""
    import pyarrow as pa

    types = {"day": pa.date32(), "place": pa.int32(), "report": pa.int64()}  # the other columns are texts
    names = ("campaign", "day", "label", "question", "fingerprint", "batch", "place", "report", "report_hex")
    return pa.schema([(name, types.get(name, pa.string())) for name in names])


class _Run:
    """The rows of one export, a campaign and a day at a time, and their number."""

    def __init__(self, source: StoreReader, after: int, since: datetime.date) -> None:
        self._source, self._after = source, after
        self._slots = {number: slot for number, slot in source.slots.items() if slot.day >= since}
        self.batches = self.reports = self.withdrawn = 0
        self.campaigns: set[str] = set()

    def write(self, files: _TableFiles) -> None:
        """Write all rows."""
        held: dict[int, list[Row]] = {}
        size = 0
        for row in self._source.rows(self._after, list(self._slots)):
            held.setdefault(row[2], []).append(row)
            size += len(row[3])
            if size >= _BYTES:
                self._hand_on(held, files)
                held, size = {}, 0
        self._hand_on(held, files)
        for day, digests in sorted(self._source.withdrawn(self._after).items()):
            self.withdrawn += len(digests)
            files.write(WITHDRAWN, day, tombstones(day, digests))

    def _hand_on(self, held: Mapping[int, Sequence[Row]], files: _TableFiles) -> None:
        """Write the rows in memory, grouped by campaign and day."""
        import pyarrow as pa

        parts: dict[tuple[str, datetime.date], list[pa.Table]] = {}
        for number, rows in held.items():
            slot = self._slots[number]
            parts.setdefault((slot.campaign, slot.day), []).append(self._table(slot, rows))
        for (campaign, day), tables in parts.items():
            files.write(campaign, day, pa.concat_tables(tables).unify_dictionaries())

    def _table(self, slot: Slot, rows: Sequence[Row]) -> pa.Table:
        contract = self._source.campaigns[slot.campaign].contract
        question, change = stored_question(contract, slot.question), change_of(contract, slot.question)
        made = report_columns(slot, question, [row[0] for row in rows], [row[3] for row in rows], change)
        self.batches += sum(row[1] == 0 for row in rows)
        self.reports += len(made)
        self.campaigns.add(slot.campaign)
        return made


class _Open(NamedTuple):
    """A file that is being written."""

    name: str
    sink: pa.NativeFile
    writer: parquet.ParquetWriter
    metadata: list[parquet.FileMetaData]


class _TableFiles:
    """The Parquet files of one commit. Readers do not find them before it: the log does not list them yet."""

    def __init__(self, table: deltalake.DeltaTable) -> None:
        self._store = _files_of(table)
        self._open: dict[tuple[str, datetime.date], _Open] = {}
        self.added: list[AddAction] = []  # the actions that name them

    def write(self, campaign: str, day: datetime.date, table: pa.Table) -> None:
        """Write rows of a campaign and a day."""
        if not len(table):
            return
        table = table.drop_columns(["day"])  # the partition states the day and the campaign
        there = self._open.get((campaign, day))
        if there is None:
            if len(self._open) >= _MOST:
                self._end(*next(iter(self._open)))
            name = f"campaign={campaign}/day={day.isoformat()}/part-{uuid.uuid4()}.parquet"
            metadata: list[parquet.FileMetaData] = []
            sink = self._store.open_output_stream(name)
            there = _Open(name, sink, open_writer(sink, table.schema, metadata), metadata)
            self._open[campaign, day] = there
        there.writer.write_table(table)
        if there.sink.tell() >= _FILE:
            self._end(campaign, day)

    def _end(self, campaign: str, day: datetime.date) -> None:
        from deltalake.transaction import AddAction

        name, sink, writer, metadata = self._open.pop((campaign, day))
        writer.close()
        size = sink.tell()
        sink.close()
        values, now = {"campaign": campaign, "day": day.isoformat()}, round(time.time() * 1000)
        self.added.append(AddAction(name, size, values, now, True, _statistics(metadata[0])))

    def close(self) -> None:
        """End all files."""
        for place in list(self._open):
            self._end(*place)


def _statistics(metadata: parquet.FileMetaData) -> str:
    """Return the statistics of a file for the log: readers treat a column without statistics as empty."""
    least: dict[str, int | str] = {}
    most: dict[str, int | str] = {}
    nulls: dict[str, int] = {}
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for place in range(group.num_columns):
            column = group.column(place)
            name, found = column.path_in_schema, column.statistics
            nulls[name] = nulls.get(name, 0) + found.null_count
            if found.has_min_max:
                least[name] = min(least.get(name, found.min), found.min)
                most[name] = max(most.get(name, found.max), found.max)
    said = {"numRecords": metadata.num_rows, "minValues": least, "maxValues": most, "nullCount": nulls}
    return json.dumps(said)


def _append(
    address: str, made: deltalake.DeltaTable, table: str, since: datetime.date | None
) -> DeltaExport | None:
    """Commit the new rows; return None if another export of the store was faster."""
    module = load_delta()
    with closing(open_source(address)) as source:
        # The table is noted first, so that deleting a campaign names it even if the export is killed.
        campaigns = {slot.campaign: slot.day.toordinal() for slot in source.slots.values()}
        noted = [(f"{table}/campaign={name}", name, day) for name, day in sorted(campaigns.items())]
        source.note(noted)
    with closing(open_source(address)) as source:
        writer = f"dither store {source.identity}"
        begun = made.transaction_version(writer) or 0
        if begun > source.last:
            raise InvalidParameter(
                f"expected the store that wrote {table}, got one without some of its reports, as after "
                "restoring a backup; export to another folder or address"
            )
        run = _Run(source, begun, since or datetime.date.min)
        files = _TableFiles(made)
        run.write(files)
        files.close()
        folded = tuple(day for day in source.folded_days(begun) if since is None or day >= since.isoformat())
        if files.added and not _commit(module, made, files.added, writer, source.last):
            return None
        there = source.note([])
    for campaign in run.campaigns - there:  # campaigns that were deleted meanwhile
        made.update_incremental()
        made.delete(f"campaign = '{campaign}'")
    return DeltaExport(run.batches, run.reports, run.withdrawn, folded, 0)


def _commit(
    module: ModuleType, made: deltalake.DeltaTable, added: Sequence[AddAction], writer: str, tick: int
) -> bool:
    done = module.CommitProperties(app_transactions=[module.Transaction(writer, tick)])
    try:
        made.create_write_transaction(
            list(added), "append", made.schema(), _PARTITIONS, commit_properties=done
        )
    except module.exceptions.CommitFailedError:
        return False
    return True


def _properties(module: ModuleType) -> object:
    """Return the properties of files. They have statistics: readers treat a column without them as empty."""
    return module.WriterProperties(compression="ZSTD")


def _files_of(made: deltalake.DeltaTable) -> fs.FileSystem:
    """Return the folder or the bucket of a table."""
    from deltalake.fs import DeltaStorageHandler
    from pyarrow.fs import PyFileSystem

    return PyFileSystem(DeltaStorageHandler(made.table_uri))


def _seconds_ahead(made: deltalake.DeltaTable) -> int:
    """Return the seconds by which this machine's clock is ahead of the clock that dates the table's files."""
    import pyarrow as pa

    files = _files_of(made)
    with pa.BufferedOutputStream(files.open_output_stream(_CLOCK), 1 << 10) as stream:
        stream.write(b"dither")
    dated = files.get_file_info(_CLOCK).mtime_ns
    return 0 if dated is None else round(time.time() - dated / 1e9)


def _maintain(made: deltalake.DeltaTable, day: datetime.date) -> int:
    """Remove withdrawn batches and join small files, once a day; return the number of removed rows."""
    module, removed = load_delta(), 0
    try:
        # This commit comes first: it marks the day as done, so that no other export joins the same files.
        claim = module.CommitProperties(app_transactions=[module.Transaction(_MAINTAINED, day.toordinal())])
        made.create_write_transaction([], "append", made.schema(), _PARTITIONS, commit_properties=claim)
    except module.exceptions.CommitFailedError:
        return 0  # another export maintains the table
    made.update_incremental()
    from pyarrow import dataset

    found, field = made.to_pyarrow_dataset(), dataset.field
    buried = found.to_table(["batch", "day"], filter=field("campaign") == WITHDRAWN)
    gone, first = buried["batch"].unique(), min(buried["day"].to_pylist(), default=day)
    for campaign, when, small in _partitions(made):
        part = (field("campaign") == campaign) & (field("day") == when)
        rows, taken = 0, field("batch").isin(gone)
        if len(gone) and when >= first - datetime.timedelta(_LONGEST):
            rows = found.count_rows(filter=part & taken)
        if not rows and (small < _MANY or when >= day):
            continue
        # `delete` and `optimize` are not used: they write text columns with another type.
        left = found.scanner(filter=part & ~taken if rows else part).to_reader()
        try:
            module.write_deltalake(
                made,
                left,
                mode="overwrite",
                predicate=f"campaign = '{campaign}' AND day = '{when.isoformat()}'",
                target_file_size=_FILE,
                writer_properties=_properties(module),
            )
        except module.exceptions.CommitFailedError:
            continue  # rows were added meanwhile; the next day repeats this
        removed += rows
    made.vacuum(dry_run=False)
    return removed


def _partitions(made: deltalake.DeltaTable) -> list[tuple[str, datetime.date, int]]:
    """Return campaigns and days of reports, each with the number of its small files."""
    files = made.get_add_actions(flatten=True)
    names = ("partition.campaign", "partition.day", "size_bytes")
    columns = [files.column(name).to_pylist() for name in names]
    found: dict[tuple[str, datetime.date], int] = {}
    for campaign, when, size in zip(*columns, strict=True):
        if campaign != WITHDRAWN:
            found[campaign, when] = found.get((campaign, when), 0) + (size < _SMALL)
    return sorted((campaign, when, small) for (campaign, when), small in found.items())
