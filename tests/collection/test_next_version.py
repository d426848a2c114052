"""The second of two campaigns: what is written, from what, and what is refused."""

from __future__ import annotations

import datetime
import secrets
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.collection.campaign import Campaign
from dither.collection.live import Slot
from dither.collection.next_version import found_ranges, next_version, stored_counts
from dither.collection.published import Published
from dither.collection.store.opening import open_store
from dither.collection.store.store import Arrived
from dither.collection.terms import Phase
from dither.collection.web.answers import ReportsPart, rows
from dither.collection.web.query import Query, What
from dither.core.counts import Counts
from dither.errors import BudgetExceeded, InvalidParameter, NotIdentifiable
from tests.collection.campaigns import KEY

DAY = datetime.date(2026, 11, 20)
ALLOWED = dt.privacy.Policy(epsilon=4)
TOML = """
[campaign]
name = "commute"
asker = "city.example"
contact = "data@city.example"
purpose = "How long people travel."
begins = 2026-11-01
ends = 2027-01-31
phase = { share = 0.2 }

[questions.minutes]
interval = [0, 1440]
scale = "log"
unit = "minutes"
text = "How many minutes do you travel?"
epsilon = 2

[questions.pets]
interval = [0, 200]
scale = "linear"
epsilon = 2
optional = true
mechanism = "Podium"

[questions.browser]
categories = ["firefox", "chrome"]
epsilon = 1
"""
FIRST = Campaign.from_toml(TOML.replace("[questions.pets]", "[questions.pets]").split("[questions.pets]")[0])


def minutes(n: int) -> Any:
    return np.clip(np.random.default_rng(5).normal(44, 12, n), 0, 1440)


def answers(n: int, contract: Campaign = FIRST) -> dt.Reports:
    question = contract.questions["minutes"]
    return question.perturb(question.domain.line.positions(minutes(n)), source=dt.Seeded(n))


@pytest.fixture(scope="module")
def second() -> Campaign:
    return next_version(FIRST, {"minutes": Counts.of(answers(20_000))}, begins=DAY).contract


def test_it_asks_on_the_bounds_and_names_the_first(second: Campaign) -> None:
    found = dt.bounds(answers(20_000))
    read = Campaign.from_text(second.text)
    domain = read.questions["minutes"].domain
    assert (read.version, read.phase, read.begins, read.ends) == (2, Phase(follows=FIRST.id), DAY, FIRST.ends)
    assert (domain.line.low, domain.line.high, domain.line.unit) == (found.low, found.high, "minutes")
    assert read.asks["minutes"].clipped
    assert not read.asks["minutes"].scale
    assert read.asks["minutes"].text == {"en": "How many minutes do you travel?"}
    assert domain.line.clipping.outside == pytest.approx(found.outside, abs=1e-3)
    assert read.total.epsilon == pytest.approx(FIRST.total.epsilon)
    assert read.questions["minutes"].name in ("Optimal", "Hybrid", "Podium")
    assert '"clipped":true' in second.card
    share, least, most = (f"{100 * part:.2g}" for part in domain.line.clipping.outside)
    words = (
        f"{least} to {most} % of the people are outside, estimate {share} %; range and share come from the "
    )
    assert f"{words}answers to the campaign {FIRST.id[:12]}… before" in read.explain().officer
    assert found_ranges(read)["minutes"].endswith(f"by the answers to campaign {FIRST.id}")
    assert found_ranges(FIRST) == {}


def test_a_device_that_answered_the_first_refuses_the_second(second: Campaign, tmp_path: Path) -> None:
    """A person answers one of both, with a coin that is tossed once."""
    for number in range(12):
        account, took = dt.Account.create(tmp_path / f"{number}.json", epsilon=8, policy=ALLOWED), []
        for contract in (FIRST, second, FIRST, second):
            try:
                account.answer(contract.asking("minutes"), 44.0)
                took.append(contract.version)
            except BudgetExceeded:
                pass
        assert took in ([1, 1], [2, 2])  # the second answer of each is the same report, sent again


def test_the_page_shows_quantiles_of_the_first_and_the_name_of_the_second(second: Campaign) -> None:
    summary = Counts.of(answers(20_000))
    low, high = rows(Query("minutes"), ReportsPart(), summary)
    assert (low["quantity"], low["answer"], high["answer"]) == ("bound", "quantile 0.02", "quantile 0.98")
    assert low["unit"] == "minutes"
    assert low["interval"] == "95 % over 100 looks"
    assert low["low"] <= np.quantile(minutes(20_000), 0.02) <= low["high"]
    assert low["reason"] == dt.bounds(summary).words
    few = rows(Query("minutes"), ReportsPart(), Counts.of(answers(300)))
    assert "more people have to answer" in few[0]["reason"]
    told = second.questions["minutes"].perturb(minutes(2_000), source=dt.Seeded(1))
    ends = second.questions["minutes"].domain.line
    name = f"values clipped to [{ends.low:g}, {ends.high:g}]"
    (mean,) = rows(Query("minutes"), ReportsPart(), Counts.of(told))
    (median,) = rows(Query("minutes", what=What.QUANTILE), ReportsPart(), Counts.of(told))
    shares = rows(Query("minutes", what=What.DISTRIBUTION), ReportsPart(), Counts.of(told))
    assert mean["quantity"] == f"mean of {name}"
    assert median["quantity"] == f"quantile 0.5 of {name}"
    assert {row["quantity"] for row in shares} == {f"share of a bin of {name}"}
    for row in (mean, median, *shares):
        assert row["outside low"] <= row["outside"] <= row["outside high"]


def test_what_cannot_follow_is_refused() -> None:
    counts = {"minutes": Counts.of(answers(20_000))}
    few = {"minutes": Counts.of(answers(300))}
    plain = replace(FIRST, phase=None, signed_text=None)
    listed = replace(FIRST, questions={"a": dt.KRR(dt.Categories(["a", "b"]), epsilon=1)}, asks={})
    for contract, given, error, words in (
        (plain, counts, InvalidParameter, "only a first phase"),
        (replace(FIRST, phase=Phase(follows="0" * 64)), counts, InvalidParameter, "only a first phase"),
        (listed, counts, InvalidParameter, "expected a number on a scale"),
        (FIRST, few, NotIdentifiable, "question 'minutes'.*more people have to answer"),
        (FIRST, {"minutes": "too few people"}, NotIdentifiable, "too few people"),
    ):
        with pytest.raises(error, match=words):
            next_version(contract, given, begins=DAY)
    with pytest.raises(InvalidParameter, match="give its last day"):
        next_version(FIRST, counts, begins=datetime.date(2027, 3, 1))


def test_a_number_that_may_be_missing_stays_so() -> None:
    contract = Campaign.from_toml(TOML)
    question = contract.questions["pets"]
    values = [None, *np.random.default_rng(1).uniform(20, 60, 29_999)]
    positions = [None if value is None else float(question.domain.line.positions(value)) for value in values]
    counts = {
        "minutes": Counts.of(answers(20_000, contract)),
        "pets": Counts.of(question.perturb(positions, source=dt.Seeded(1))),
    }
    made = next_version(contract, counts, begins=DAY).contract
    assert made.questions["pets"].domain.optional
    assert made.questions["pets"].domain.line.clipping is not None
    assert made.questions["browser"] == contract.questions["browser"]
    assert Campaign.from_text(made.text) == made


def test_dates_have_a_first_phase() -> None:
    text = TOML.split("[questions.pets]", maxsplit=1)[0].replace(
        'interval = [0, 1440]\nscale = "log"\nunit = "minutes"',
        'date = [1900-01-01, 2026-12-31]\nscale = "linear"',
    )
    written = Campaign.from_toml(text)
    contract = Campaign.from_text(written.text)
    question = contract.questions["minutes"]
    assert (question.name, contract.asks["minutes"].form, contract.asks["minutes"].scale) == (
        "SW",
        "date",
        (),
    )
    line = question.domain.line
    days = np.random.default_rng(2).normal(7_000, 2_000, 20_000).clip(line.low, line.high).round()
    counts = Counts.of(question.perturb(days, source=dt.Seeded(1)))
    shown = rows(Query("minutes"), ReportsPart(), counts)
    assert [row["answer"] for row in shown] == ["quantile 0.02", "quantile 0.98"]
    made = next_version(contract, {"minutes": counts}, begins=DAY).contract
    second = Campaign.from_text(made.text)
    asked, terms = second.questions["minutes"].domain.line, second.asks["minutes"]
    assert (terms.form, terms.clipped, asked.low, asked.scale) == ("date", True, round(asked.low), ())
    assert np.mean((days < asked.low) | (days > asked.high)) < 1.0 / 50
    ends = [str(datetime.date(1970, 1, 1) + datetime.timedelta(end)) for end in (asked.low, asked.high)]
    assert f"values clipped to [{ends[0]}, {ends[1]}]" in found_ranges(second)["minutes"]
    with pytest.raises(InvalidParameter, match="linear"):
        Campaign.from_toml(text.replace('"linear"', '"log"'))


def store_of(path: Path | str, n: int, contract: Campaign = FIRST) -> None:
    """Write a store with the reports of some people."""
    reports = answers(n, contract)
    layout = reports.cells.dtype.newbyteorder("<")
    parts = np.array_split(np.asarray(reports.cells, dtype=layout), 20)
    slot = Slot(contract.id, "minutes", datetime.date(2026, 11, 3), "")
    with closing(open_store(str(path))) as store:
        store.publish(Published.sign(contract, KEY))
        store.append([Arrived(secrets.token_bytes(16), ((slot, part.tobytes()),)) for part in parts])


def test_a_store_is_read_beside_its_collector(tmp_path: Path) -> None:
    place = tmp_path / "store.sqlite"
    store_of(place, 1_000)
    with closing(open_store(str(place))):  # a collector has it open
        counts = stored_counts(str(place), FIRST)
        assert counts["minutes"].n == 1_000
        assert (counts["minutes"].counts == Counts.of(answers(1_000)).counts).all()
        with pytest.raises(InvalidParameter, match="cannot find the campaign 'commute' version 9"):
            stored_counts(str(place), replace(FIRST, version=9, signed_text=None))


def test_a_store_in_postgresql_is_read(database: str) -> None:
    store_of(database, 1_000)
    counts = stored_counts(database, FIRST)
    assert (counts["minutes"].counts == Counts.of(answers(1_000)).counts).all()
