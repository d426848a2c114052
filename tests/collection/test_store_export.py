"""Reports as Parquet: the table that queries count, each batch once, whatever happens meanwhile."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dither.collection.collector import Collector
from dither.collection.live import Slot
from dither.collection.settings import Settings
from dither.collection.store.backup import backup, restore
from dither.collection.store.export import LIST, Export, export_reports, report_columns
from dither.collection.store.opening import open_store
from dither.collection.store.store import Arrived, CollectorStore, Withdrawal
from dither.core.batch import BatchBody
from dither.core.counts import Counts
from dither.data import sql
from dither.errors import InvalidParameter
from tests.collection.campaigns import DAY, contract, hashed, published
from tests.collection.conftest import MakeStore
from tests.collection.test_store import CAMPAIGN, NEXT, arrived, expected
from tests.support.terminal import run

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")
HOSTILE = ("../../up", "a/b", "..", "day=2026-01-01", "naïve label", 'it\'s "1"; --')


def begun(store: CollectorStore, count: int = 20, **changes: Any) -> list[Arrived]:
    """Publish the campaign, and store some batches of two days."""
    store.publish(published(**changes))
    batches = [
        arrived(seed, 1 + seed % 2, (DAY, NEXT)[seed % 2], ("", "1.0")[seed % 3 == 0])
        for seed in range(count)
    ]
    store.append(batches)
    return batches


def counted(folder: Path) -> dict[str, Counts]:
    """Return what DuckDB counts in all files of a folder."""
    with sql.connect(f"duckdb://{folder}/**/*.parquet") as engine:
        return sql.summaries(CAMPAIGN.questions, engine.counts(CAMPAIGN.questions))


def rows(folder: Path) -> list[tuple[Any, ...]]:
    columns = "day, label, question, fingerprint, batch, place, report, report_hex"
    found = duckdb.sql(
        f"SELECT {columns} FROM read_parquet('{folder}/**/*.parquet') ORDER BY batch, question, place"
    )
    return list(found.fetchall())


def asked(batches: Iterable[Arrived]) -> list[tuple[Any, ...]]:
    """Return the rows that `sql.report_rows` makes of the same batches."""
    found = []
    for batch in batches:
        pairs = []
        for slot, data in batch.parts:
            question = CAMPAIGN.questions[slot.question]
            width = question.report_bytes
            pairs += [(question.fingerprint, data[at : at + width]) for at in range(0, len(data), width)]
        body = BatchBody.of(batch.id.hex(), pairs, batch.parts[0][0].label)
        made = sql.report_rows(body, CAMPAIGN.questions, batch.parts[0][0].day)
        found += [tuple((row | {"batch": batch.id.hex()}).values()) for row in made]  # a store has digests
    return found


def unordered(table: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Return rows without their places: a batch lists its reports in an order of its own."""
    return sorted(map(repr, ((*row[:5], *row[6:]) for row in table)))


def test_the_files_are_the_table_that_queries_count(
    make_store: MakeStore, address: str, tmp_path: Path
) -> None:
    store, folder = make_store(), tmp_path / "out"
    batches = begun(store)
    done = run("collector", "export", address, "-o", folder).output
    assert done == "20 batches, 110 reports in 2 new files\n"
    assert os.name != "posix" or folder.stat().st_mode & 0o077 == 0  # as confidential as the store
    assert sorted(path.name for path in folder.glob("arrived=*")) == [
        "arrived=2026-05-04",
        "arrived=2026-05-05",
    ]
    assert counted(folder) == expected(batches)
    assert unordered(rows(folder)) == unordered(asked(batches))
    more = [arrived(100), arrived(101, 2, NEXT)]  # while the collector runs
    store.append(more)
    told = json.loads(run("collector", "export", address, "-o", folder, "--json").output)
    assert (told["batches"], told["reports"], len(told["files"])) == (2, 11, 2)
    assert counted(folder) == expected([*batches, *more])
    assert run("collector", "export", address, "-o", folder).output == "0 batches, 0 reports in 0 new files\n"
    whole = Export.read(folder)
    assert whole is not None
    assert len(whole.files) == 4
    assert not list(folder.rglob(".*"))


def test_libraries_read_the_folder_as_it_is(tmp_path: Path) -> None:
    """A folder `day=…` beside a column `day` of another type is refused by Arrow, and so by pandas."""
    store, folder = open_store(str(tmp_path / "store.sqlite")), tmp_path / "out"
    batches = begun(store)
    store.close()
    export_reports(str(tmp_path / "store.sqlite"), folder)
    from pyarrow import parquet

    days = [row[0] for row in asked(batches)]
    assert sorted(parquet.read_table(folder)["day"].to_pylist()) == sorted(days)
    polars = pytest.importorskip("polars")
    found = polars.read_parquet(folder / "**" / "*.parquet", hive_partitioning=True)
    assert sorted(found["day"].to_list()) == sorted(days)
    assert (found["day"] == found["arrived"]).all()


def test_days_before_since_are_left_out_and_later_exports_continue(
    make_store: MakeStore, address: str, tmp_path: Path
) -> None:
    store, folder = make_store(), tmp_path / "out"
    batches = begun(store)
    late = [batch for batch in batches if batch.parts[0][0].day == NEXT]
    export_reports(address, folder, NEXT)
    assert counted(folder) == expected(late)
    more = [arrived(50, 1, NEXT)]
    store.append(more)
    export_reports(address, folder, NEXT + datetime.timedelta(1))  # a daily job may name a later day
    assert counted(folder) == expected([*late, *more])
    with pytest.raises(InvalidParameter, match="from 2026-05-05 on"):
        export_reports(address, folder, DAY)


@pytest.mark.parametrize("moment", ["write", "note", "list", "name"])
def test_an_export_that_is_killed_is_completed_by_the_next(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, folder = open_store(str(tmp_path / "store.sqlite")), tmp_path / "out"
    batches = begun(store)
    export_reports(str(tmp_path / "store.sqlite"), folder)
    batches += (more := [arrived(seed, 2, NEXT) for seed in range(40, 60)])
    store.append(more)

    class Killed(BaseException):
        pass

    def kill(*_: object, **more: object) -> Any:
        raise Killed

    where = {
        "write": "dither.collection.store.export.report_columns",
        "note": "dither.collection.store.export._SqliteReader.note",
        "list": "dither.collection.store.export.Export.write",
        "name": "dither.collection.store.export.Export.finish",
    }[moment]
    finish = Export.finish
    with monkeypatch.context() as killing:
        calls: list[int] = []
        killing.setattr(where, kill)
        if moment == "name":  # it is called at the start, too
            killing.setattr(
                where, lambda *given: calls.append(1) or (finish(*given) if len(calls) < 2 else kill())
            )
        with pytest.raises(Killed):
            export_reports(str(tmp_path / "store.sqlite"), folder)
    batches += (more := [arrived(seed) for seed in range(60, 70)])
    store.append(more)
    export_reports(str(tmp_path / "store.sqlite"), folder)
    assert unordered(rows(folder)) == unordered(asked(batches))
    assert not list(folder.rglob(".*"))
    store.close()


def test_labels_and_questions_stay_inside_the_folder(
    make_store: MakeStore, address: str, tmp_path: Path
) -> None:
    store, folder = make_store(), tmp_path / "out" / "deep"
    names = {"../minutes": CAMPAIGN.questions["minutes"], "/tmp/x": hashed()}
    terms = contract(name="../../etc", labels=HOSTILE, questions=names)
    store.publish(published(name="../../etc", labels=HOSTILE, questions=names))
    batches = [
        Arrived(bytes([number] * 16), ((Slot(terms.id, "../minutes", DAY, label), bytes([number, 0])),))
        for number, label in enumerate(HOSTILE)
    ]
    store.append(batches)
    before = {path for path in tmp_path.rglob("*") if folder not in path.parents}
    export_reports(address, folder)
    after = {path for path in tmp_path.rglob("*") if folder not in path.parents}
    assert {path for path in after - before if "store" not in path.name} <= {folder, folder.parent}
    assert [path.name for path in folder.iterdir() if path.is_dir()] == ["arrived=2026-05-04"]
    assert sorted(row[1] for row in rows(folder)) == sorted(HOSTILE)


def test_deleting_a_campaign_names_the_files(make_store: MakeStore, address: str, tmp_path: Path) -> None:
    store, folder = make_store(), tmp_path / "out"
    begun(store)
    collector = Collector(store, Settings())
    export_reports(address, folder)
    for _ in range(2):  # asked twice, it says so twice
        files = collector.delete(CAMPAIGN.id)
        assert sorted(files) == sorted(str(path.resolve()) for path in folder.rglob("*.parquet"))
    store.append([arrived(1)])
    Collector(store, Settings())
    export_reports(address, folder)
    assert len(collector.store.exported_files(CAMPAIGN.id)) == 3


def test_exports_go_on_after_a_deletion_and_after_identities_were_forgotten(
    make_store: MakeStore, address: str, tmp_path: Path
) -> None:
    """Ticks never begin anew, also where no report is left: later batches would not be exported."""
    store, folder = make_store(), tmp_path / "out"
    for seed in range(4):  # each in a tick of its own
        begun(store, 2) if not seed else store.append([arrived(10 + seed)])
    export_reports(address, folder)
    store.delete(CAMPAIGN.id)
    assert export_reports(address, folder).files == ()
    store.close()
    store = make_store()
    store.append([arrived(21)])
    assert [entry.batches for entry in export_reports(address, folder).files] == [1]
    collector = Collector(store, Settings(), lambda: NEXT + datetime.timedelta(30))
    collector.tidy()
    assert export_reports(address, folder).files == ()
    store.close()
    store = make_store()
    store.append([arrived(22)])
    assert [entry.batches for entry in export_reports(address, folder).files] == [1]


def test_what_was_taken_back_is_in_no_later_file_and_has_a_tombstone(
    make_store: MakeStore, address: str, tmp_path: Path
) -> None:
    store, folder = make_store(), tmp_path / "out"
    batches = begun(store, 40)
    export_reports(address, folder)
    batches += (more := [arrived(seed, 2, NEXT) for seed in range(40, 60)])
    store.append(more)
    gone = {batches[3].id, batches[45].id}
    store.withdraw([Withdrawal(digest, CAMPAIGN.id, NEXT) for digest in (*gone, bytes(16))])
    export_reports(address, folder)
    left = [one for one in batches if one.id not in gone]
    buried = [row for row in rows(folder) if row[5] == sql.TOMBSTONE]
    assert {row[4] for row in buried} == {one.hex() for one in (*gone, bytes(16))}
    assert {(*row[1:4], *row[6:]) for row in buried} == {(None,) * 5}
    there = [*left, batches[3]]  # it was exported before it was taken back
    assert unordered(row for row in rows(folder) if row not in buried) == unordered(asked(there))
    assert counted(folder) == expected(left)
    assert export_reports(address, folder).files == ()
    store.close()


def test_a_campaign_that_is_deleted_meanwhile_is_not_exported(
    make_store: MakeStore, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, folder = make_store(), tmp_path / "out"
    begun(store)

    def columns(*given: Any) -> Any:
        if store.days():
            store.delete(CAMPAIGN.id)
        return report_columns(*given)

    monkeypatch.setattr("dither.collection.store.export.report_columns", columns)
    assert export_reports(address, folder).files == ()
    assert not list(folder.rglob("*.parquet*"))
    assert store.exported_files(CAMPAIGN.id) == []


def test_folded_days_are_named(make_store: MakeStore, address: str, tmp_path: Path) -> None:
    store, folder = make_store(), tmp_path / "out"
    begun(store, 60)
    collector = Collector(store, Settings())
    collector.catch_up()
    assert store.fold(CAMPAIGN.id, DAY, collector.live)
    told = run("collector", "export", address, "-o", folder)
    assert "only counts are kept: reports of 2026-05-04\n" in told.output
    assert "only counts" not in run("collector", "export", address, "-o", folder).output
    assert 0 < len(rows(folder)) < 330  # of 330 reports, those that were shown on the day after


def test_another_store_and_a_restored_one_need_another_folder(tmp_path: Path) -> None:
    first, second, folder = (tmp_path / name for name in ("one.sqlite", "two.sqlite", "out"))
    for place in (first, second):
        store = open_store(str(place))
        begun(store)
        store.close()
    export_reports(str(first), folder)
    with pytest.raises(InvalidParameter, match="those of another one"):
        export_reports(str(second), folder)
    backup(str(first), tmp_path / "copy")
    first.unlink()
    restore(tmp_path / "copy", str(first))
    with pytest.raises(InvalidParameter, match="restored from a backup"):
        export_reports(str(first), folder)
    (folder / LIST).write_text("{")
    with pytest.raises(InvalidParameter, match="damaged"):
        export_reports(str(first), folder)
    with pytest.raises(Exception, match="file not found"):
        export_reports(str(tmp_path / "none.sqlite"), tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_rows_of_bits_and_large_numbers_are_written_as_they_travel() -> None:
    import dither as dt

    bits = dt.OUE(dt.Categories(list("abcdefghijk")), epsilon=1).question
    slot = Slot("c", "q", DAY, "")
    data = bytes([1, 2, 3, 4])
    table = report_columns(slot, bits, [bytes(16)], [data]).to_pydict()
    assert table["report_hex"] == ["0102", "0304"]
    assert table["report"] == [None, None]
    assert table["place"] == [0, 1]
    numbers = hashed().question
    values = np.array([5, (1 << 64) - 1], dtype=numbers.layout)
    if numbers.report_bytes == 8:
        table = report_columns(slot, numbers, [bytes(16)], [values.tobytes()]).to_pydict()
        assert table["report_hex"] == [value.tobytes().hex() for value in values]
