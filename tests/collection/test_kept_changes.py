"""Campaigns about kept changes: from accounts over a collector to the share of each day."""

from __future__ import annotations

import csv
import datetime
import io
import json
import urllib.request
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.collection import Client, kinds
from dither.collection.collector import Collector, check
from dither.collection.kept_changes import change_counts, interval_name, join_rows, place_of, split_rows
from dither.collection.refusals import BatchRefused, Reason
from dither.collection.settings import Settings
from dither.collection.store.store import Stored, Withdrawal
from dither.core.batch import BatchBody, ReadBatch
from dither.errors import InvalidParameter, MalformedReport, Mismatch
from dither.results import ChangeCounts
from tests.collection.collectors import MONDAY, Asked, make
from tests.collection.serving import Process
from tests.support import terminal

DAYS = 8
SMOKES = dt.KRR(dt.Categories(["no", "yes"]), epsilon=4)


def day(index: int) -> datetime.date:
    return MONDAY + datetime.timedelta(index)


def changing(today: datetime.date, people: int = 10, **more: Any) -> Any:
    terms: dict[str, Any] = {
        **{"repeat": "kept change", "days": DAYS, "changes": 2, "labels": (), "people": people},
        **{"begins": MONDAY, "ends": day(DAYS - 1), "questions": {"smokes": SMOKES}},
    }
    return make(today, **{**terms, **more})


def send(collector: Any, published: Any, seed: int, n: int) -> tuple[dt.Reports, np.ndarray]:
    """Send the reports of n people, all intervals of a person in one batch; return them, and the values."""
    change = published.contract.change("smokes")
    values = np.array(
        [["no"] * 3 + ["yes"] * 5, ["yes"] * 8, ["no"] * 8, ["yes"] * 6 + ["no"] * 2] * (n // 4)
    )
    reports: Any = change.perturb(values, source=dt.Seeded(seed))
    rows = reports.cells  # sorted by group and interval; people of a group are interchangeable
    for group in range(change.groups):
        own, size = rows[rows[:, 0] == group], change.intervals(group)
        for person in range(len(own) // size):
            mine = own[person :: len(own) // size]
            body = BatchBody.of(f"{seed:02x}{group:02x}{person:028x}", [(change.fingerprint, _bytes(mine))])
            arrived = check(collector, published.id, ReadBatch.from_bytes(body.to_bytes()))
            for slot, data in arrived.parts:
                collector.live.add(slot, data)
    return reports, values


def _bytes(rows: np.ndarray) -> bytes:
    return np.asarray(rows, dtype="<u4").tobytes()


def test_the_counts_are_those_of_the_reports_and_give_the_same_days() -> None:
    collector, published = changing(day(DAYS - 1), people=1)
    reports, values = send(collector, published, 1, 800)
    counts = change_counts(published.contract, collector.live, "smokes")
    assert (counts.totals == ChangeCounts.of(reports).totals).all()
    assert (counts.ones == ChangeCounts.of(reports).ones).all()
    assert len(counts) == len(reports) == collector.live.n(published.id, "smokes")
    days = dt.by_day(counts)
    assert days.records()[0]["day"] == MONDAY.isoformat()
    assert np.allclose(days.value, dt.by_day(reports).value)
    truth = (values == "yes").mean(axis=0)
    assert (np.abs(days.value[:, 1] - truth) <= 5.0 * days.standard_error[:, 1]).all()
    again = ChangeCounts.from_json(counts.to_json())
    assert (again.change, again.begins, again.about) == (counts.change, MONDAY, "smokes")
    assert len(again + counts) == 2 * len(counts)
    with pytest.raises(Mismatch, match="same question"):
        counts + ChangeCounts.of(reports)
    for damaged in (b"", b"[]", counts.to_json().replace('"ones": [', '"ones": [-1, '), "{}"):
        with pytest.raises(MalformedReport):
            ChangeCounts.from_json(damaged)


def test_an_interval_is_shown_from_the_least_number_of_people_on() -> None:
    collector, published = changing(day(DAYS - 1), people=80)
    send(collector, published, 2, 160)  # about 40 people in each of four groups
    assert len(change_counts(published.contract, collector.live, "smokes")) == 0
    assert len(change_counts(published.contract, collector.live, "smokes", shown=False)) > 160
    assert collector.live.waiting(published.id, "smokes") == collector.live.n(published.id, "smokes")
    send(collector, published, 3, 160)
    shown = change_counts(published.contract, collector.live, "smokes").totals
    assert (shown[shown > 0] >= 80).all()
    assert shown.any()


def test_rows_that_no_device_sends_are_refused() -> None:
    collector, published = changing(day(DAYS - 1))
    contract, change = published.contract, published.contract.change("smokes")
    good = [[1, 0, 1], [1, 1, 0]]
    assert split_rows(contract, "smokes", _bytes(np.array(good))) == [
        (interval_name("smokes", 1, 0), b"\1"),
        (interval_name("smokes", 1, 1), b"\0"),
    ]
    wrong: list[tuple[bytes, Reason]] = [
        (_bytes(np.array(rows)), Reason.REPORT)
        for rows in (
            [[1, 1, 0], [1, 0, 1]],  # not in order
            [[1, 0, 1], [1, 0, 1]],  # twice about an interval
            [[1, 0, 1], [2, 1, 1]],  # of two groups
            [[1, 0, 2]],  # a cell that does not exist
            [[1, 7, 0]],  # an interval, and a group, that do not exist
            [[9, 0, 0]],
            [[1, 4294967295, 0]],
        )
    ]
    wrong += [(b"\0" * 11, Reason.REPORT)]
    for data, reason in wrong:
        body = BatchBody.of("0" * 32, [(change.fingerprint, data)])
        with pytest.raises(BatchRefused) as caught:
            check(collector, published.id, ReadBatch.from_bytes(body.to_bytes()))
        assert caught.value.reason is reason
    twice = BatchBody.of("0" * 32, [(change.fingerprint, _bytes(np.array(good)))] * 2)
    with pytest.raises(BatchRefused) as caught:
        check(collector, published.id, ReadBatch.from_bytes(twice.to_bytes()))
    assert caught.value.reason is Reason.MANY
    plain = BatchBody.of("0" * 32, [(SMOKES.fingerprint, b"\1")])  # an answer to the question itself
    with pytest.raises(BatchRefused) as caught:
        check(collector, published.id, ReadBatch.from_bytes(plain.to_bytes()))
    assert caught.value.reason is Reason.FINGERPRINT


def test_a_collector_says_what_it_does_not_count() -> None:
    _, published = changing(MONDAY)
    kinds.check_counted(published.contract)
    _, longer = changing(MONDAY, ends=day(DAYS))
    with pytest.raises(InvalidParameter, match="days = 9"):
        kinds.check_counted(longer.contract)
    _, gateway = changing(MONDAY, reports_a_batch=10)
    with pytest.raises(InvalidParameter, match="reports_a_batch"):
        kinds.check_counted(gateway.contract)
    collector, other = make()
    with pytest.raises(InvalidParameter, match="kept change"):
        change_counts(other.contract, collector.live, "browser")


def test_exported_rows_are_those_of_devices() -> None:
    pytest.importorskip("pyarrow")
    from dither.collection.store.export import report_columns

    collector, published = changing(day(DAYS - 1))
    change = published.contract.change("smokes")
    sent = np.array([[2, 1, 1], [2, 2, 0]])
    body = BatchBody.of("ab" * 16, [(change.fingerprint, _bytes(sent))])
    arrived = check(collector, published.id, ReadBatch.from_bytes(body.to_bytes()))
    rows = [
        row
        for slot, data in arrived.parts
        for row in report_columns(slot, SMOKES.question, [arrived.id], [data], change).to_pylist()
    ]
    assert [row["question"] for row in rows] == ["smokes"] * 2
    assert {row["fingerprint"] for row in rows} == {change.fingerprint}
    assert [row["place"] for row in rows] == [place_of(change, slot.question)[1] for slot, _ in arrived.parts]
    again = np.frombuffer(bytes.fromhex("".join(row["report_hex"] for row in rows)), "<u4").reshape(-1, 3)
    assert (change.reports(again).cells == sent).all()
    assert join_rows(interval_name("smokes", 2, 1), b"\1") == [_bytes(sent[:1])]


def test_the_page_and_its_files_have_the_days() -> None:
    pytest.importorskip("starlette")
    pytest.importorskip("httpx")
    from starlette.applications import Starlette

    from dither.collection.web.endpoints import routes_of
    from dither.collection.web.pages import page_handlers

    collector, published = changing(day(DAYS - 1))
    client = Asked(Starlette(routes=routes_of(page_handlers(collector))))
    try:
        page, base = f"/campaigns/{published.id}", f"/v1/campaigns/{published.id}"
        assert "No day has an estimate yet" in client.get(page).text
        send(collector, published, 5, 400)
        collector.live.revision += 1
        rows = list(csv.DictReader(io.StringIO(client.get(f"{base}/days.csv").text)))
        assert {row["day"] for row in rows} == {day(index).isoformat() for index in range(DAYS)}
        counts = ChangeCounts.from_json(client.get(f"{base}/days.json?question=smokes").content)
        assert float(rows[1]["value"]) == pytest.approx(dt.by_day(counts).value[0, 1])
        assert client.get(f"{base}/days.json?question=drinks").status_code == 400
        assert client.get(f"{base}/days.xml").status_code == 400
        refused = client.get(f"{base}/answers.json")
        assert refused.status_code == 400
        assert "days.csv" in refused.text
    finally:
        for end in collector.at_end:
            end()
    again = Asked(Starlette(routes=routes_of(page_handlers(collector))))
    text = again.get(page).text
    for words in (
        "first 2 changes",
        "By day",
        'class="curve',
        MONDAY.isoformat(),
        "days.csv?question=smokes",
    ):
        assert words in text
    for end in collector.at_end:
        end()


def test_sql_is_refused_with_the_reason(tmp_path: Any) -> None:
    _, published = changing(MONDAY)
    file = tmp_path / "changes.json"
    file.write_text(published.to_json())
    shown = terminal.run("sql", file, "--dialect", "duckdb")
    assert shown.exit_code == 2
    assert "days.csv" in shown.output
    assert json.loads(published.to_json())


def test_stores_keep_fold_and_give_back_what_came(make_store: Any) -> None:
    """The counts are the same after a restart, after folding, and less by what is taken back."""
    today = [day(1)]
    _, published = changing(today[0], people=1)
    contract = published.contract
    change = contract.change("smokes")
    store = make_store()
    collector = Collector(store, Settings(), lambda: today[0])
    collector.publish(published)
    bodies = [
        BatchBody.of(f"{person:032x}", [(change.fingerprint, _bytes(np.array([[1, 0, person % 2]])))])
        for person in range(5)
    ]
    for body in bodies:
        arrived = check(collector, published.id, ReadBatch.from_bytes(body.to_bytes()))
        assert store.append([arrived, arrived]) == [Stored.NEW, Stored.REPEATED]
    collector.catch_up()
    assert change_counts(contract, collector.live, "smokes").interval_counts(1)[0].tolist()[:2] == [5, 0]
    today[0] = day(40)
    collector.tidy()  # folds the day
    store.close()
    again = Collector(make_store(), Settings(), lambda: today[0])
    totals, ones = change_counts(contract, again.live, "smokes").interval_counts(1)
    assert (totals[0], ones[0], totals.sum()) == (5, 2, 5)
    late = BatchBody.of("f" * 32, [(change.fingerprint, _bytes(np.array([[2, 0, 1], [2, 1, 1]])))])
    today[0] = day(5)
    arrived = check(again, published.id, ReadBatch.from_bytes(late.to_bytes()))
    again.store.append([arrived])
    again.catch_up()
    assert change_counts(contract, again.live, "smokes").interval_counts(2)[0].tolist()[:2] == [1, 1]
    again.store.withdraw([Withdrawal(arrived.id, published.id, day(6))])
    again.catch_up()
    assert len(change_counts(contract, again.live, "smokes", shown=False)) == 5


def test_devices_answer_a_collector_that_runs(tmp_path: Any) -> None:
    """Accounts, the client, a socket, the terminal: nobody's values leave a device."""
    today = datetime.datetime.now(datetime.UTC).date()
    begins = today - datetime.timedelta(6)
    toml = (
        f'[campaign]\nname = "moves"\nversion = 1\nasker = "city.example"\ncontact = "a@city.example"\n'
        f'purpose = "Who moves."\nbegins = {begins}\nends = {begins + datetime.timedelta(19)}\npeople = 2\n'
        'repeat = "kept change"\ndays = 20\nchanges = 2\n'
        '[questions.moved]\ncategories = ["no", "yes"]\nepsilon = 4\n'
    )
    with Process(tmp_path, str(tmp_path / "store.sqlite"), toml=toml) as process:
        sent = 0
        for person in range(12):
            with dt.Account.create(
                tmp_path / f"{person}.account", epsilon=5, policy=dt.privacy.Policy(epsilon=4)
            ) as account:
                client = Client(process.campaign, account)
                assert "changes" in client.promise
                answered: Any = client.answer("moved", ["no"] * 4 + ["yes"] * 3)
                rows = 0 if answered is None else len(answered)
                assert client.send().reports == (1 if rows else 0)
                assert client.answer("moved", ["no"] * 4 + ["yes"] * 3) is None  # nothing new is due
                sent += rows
        with urllib.request.urlopen(process.address + "/health") as answer:
            assert json.loads(answer.read())["reports"] == sent
        shown = terminal.run("estimate", process.campaign)
        assert shown.exit_code == 0
        assert "moved" in shown.output
        assert terminal.run("estimate", process.campaign, "--by", "label").exit_code == 2
        assert terminal.run("estimate", process.campaign, "--column", "other").exit_code == 2
        assert set(json.loads(terminal.run("estimate", process.campaign, "--json").output)) == {"moved"}
