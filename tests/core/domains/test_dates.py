"""Dates and times of the day: intervals and circles of numbers, read and shown as what they are."""

from __future__ import annotations

import datetime
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.domains.calendar import Calendar
from dither.errors import InvalidParameter, OutsideDomain
from tests.support.terminal import run

YEAR = dt.Dates("2026-01-01", "2026-12-31")
DAY = datetime.date(2026, 5, 3)
NUMBER = float((DAY - datetime.date(1970, 1, 1)).days)
UTC = datetime.UTC


def test_they_are_the_interval_and_the_circle_of_their_numbers() -> None:
    assert dt.Interval(YEAR.low, YEAR.high) == YEAR
    assert dt.Circle(1440) == dt.Times()
    ask = dt.Podium(YEAR, epsilon=1)
    assert ask.fingerprint == dt.Podium(dt.Interval(YEAR.low, YEAR.high), epsilon=1).fingerprint
    assert (repr(YEAR), str(YEAR)) == ("Dates('2026-01-01', '2026-12-31')", "[2026-01-01, 2026-12-31]")
    assert eval(repr(dt.Times(zone="Europe/Berlin")), {"Times": dt.Times}).unit.zone == "Europe/Berlin"
    assert YEAR.words() == "a date from 2026-01-01 to 2026-12-31"
    assert dt.Times().words() == "a time of the day"
    campaign = dt.Questionnaire({"day": ask})
    assert repr(dt.Questionnaire.from_json(campaign.to_json()).questions["day"].domain) == repr(YEAR)
    text = "[questions.day]\ndate = [2026-01-01, 2026-12-31]\nepsilon = 1\n"
    quoted = text.replace("2026-01-01, 2026-12-31", '"2026-01-01", "2026-12-31"')
    for form in (text, quoted):
        assert repr(dt.Questionnaire.from_toml(form).questions["day"].domain) == repr(YEAR)
    for wrong, sentence in (
        (text.replace("date =", "dates ="), "there is no domain 'dates': did you mean date?"),
        (quoted.replace("12-31", "12-32"), "expected two days: date = .*, got '2026-12-32'"),
        (text.replace("2026-01-01, ", ""), "expected two days"),
    ):
        with pytest.raises(InvalidParameter, match=sentence):
            dt.Questionnaire.from_toml(wrong)


@pytest.mark.parametrize(
    "values",
    [
        [DAY],
        ["2026-05-03"],
        [datetime.datetime(2026, 5, 3, 23, 59)],
        ["2026-05-03T23:59:59+02:00"],
        np.array(["2026-05-03"], dtype="datetime64[D]"),
        np.array(["2026-05-03T23:00"], dtype="datetime64[ns]"),
        [NUMBER],
    ],
    ids=str,
)
def test_days_are_read(values: Any) -> None:
    assert YEAR.check(values).tolist() == [NUMBER]
    assert YEAR.clip(values).tolist() == [NUMBER]
    reports = [dt.Podium(YEAR, epsilon=1).perturb(given, source=dt.Seeded(1)) for given in (values, [NUMBER])]
    assert reports[0].cells.tolist() == reports[1].cells.tolist()


def test_times_are_read() -> None:
    stamp = datetime.datetime(2026, 5, 3, 8, 15)
    times = ["08:15", "8:15", datetime.time(8, 15), stamp, np.datetime64("2026-05-03T08:15")]
    assert dt.Times().check(times).tolist() == [495.0] * 5
    assert dt.Times().check(np.array(["2026-05-03T08:15:30"], dtype="datetime64[s]")).tolist() == [495.5]
    # One zone: of summer and winter, of a zone and of another.
    stamps = ["2026-07-01T08:15:00+02:00", "2026-01-01T08:15:00+01:00", "2026-07-01T06:15:00+00:00"]
    assert dt.Times(zone="Europe/Berlin").check(stamps).tolist() == [495.0] * 3
    with pytest.raises(OutsideDomain, match="of one time zone, got several"):
        dt.Times().check(stamps)
    with pytest.raises(OutsideDomain, match="to be read in Europe/Berlin; some have none"):
        dt.Times(zone="Europe/Berlin").check([*stamps, "2026-07-01T08:15:00"])
    assert (
        dt.Dates("2026-01-01", "2026-12-31", zone="Asia/Tokyo").check(["2026-05-02T20:00:00+00:00"]) == NUMBER
    )


@pytest.mark.parametrize(
    "wrong", ["2026-13-01", "tomorrow", "03.05.2026", "08:15", True, None, b"x", 2j, "2027-01-01"]
)
def test_what_is_no_day_is_refused_without_being_shown(wrong: Any) -> None:
    with pytest.raises(OutsideDomain) as refused:
        dt.Podium(YEAR, epsilon=1).perturb([wrong])
    assert str(wrong) not in str(refused.value) or wrong in (True, None)


def test_what_is_no_domain_is_refused() -> None:
    for make, words in (
        (lambda: dt.Dates("2026-12-31", "2026-01-01"), "first day"),
        (lambda: dt.Dates("2026", "2027-01-01"), "2026-05-03"),
        (lambda: dt.Times(zone="Mars/North"), "Europe/Berlin"),
        (lambda: Calendar.make(dates=True).edges(0.0, 9.0, "fortnight"), "week, month"),
    ):
        with pytest.raises((InvalidParameter, OutsideDomain), match=words):
            make()


def test_answers_are_dates() -> None:
    rng = np.random.default_rng(1)
    days = np.datetime64("2026-01-01") + (365 * rng.beta(2, 5, 20_000)).astype(int)
    reports = dt.Podium(YEAR, epsilon=2).perturb(days, source=dt.Seeded(1))
    mean = dt.mean(reports)
    assert repr(mean).startswith("2026-04-1")
    assert "days (95 %" in repr(mean)
    (row,) = mean.records()
    assert row["low"] < row["value"] < row["high"] < "2026-05"
    months = dt.distribution(reports, "month")
    assert [(row["from"], row["to"]) for row in months.records()[:2]] == [
        ("2026-01-01", "2026-01-31"), ("2026-02-01", "2026-02-28"),
    ]  # fmt: skip
    assert months.bins == 12
    truth = float((days <= np.datetime64("2026-04-01")).mean())
    assert months.cdf("2026-04-01").covers(truth, 1 - 1e-6)
    assert months.tail(datetime.date(2026, 4, 1)).covers(1 - truth, 1 - 1e-6)
    later = dt.mean(dt.Podium(YEAR, epsilon=2).perturb(days + 10, source=dt.Seeded(2)))
    assert (later - mean).unit == "days"
    assert repr(0.5 * later + 0.5 * mean).startswith("2026-04-2")
    labels = [tick.get_text() for tick in mean.plot().get_xticklabels()]
    assert any(label.startswith("2026-04") for label in labels)
    assert months.plot().get_ylabel() == "density (1/days)"
    groups = dt.estimate(reports, by=["a", "b"] * 10_000)
    assert "2026-04-1" in repr(groups)
    assert groups.plot() is not None
    assert "2026-04-1" in groups.to_latex()
    with pytest.raises(InvalidParameter, match="month"):
        dt.distribution(reports, "fortnight")
    with pytest.raises(InvalidParameter, match="increasing edges"):
        dt.distribution(dt.Podium(dt.Interval(0, 1), epsilon=2).perturb([0.5]), "month")


def test_answers_are_times() -> None:
    rng = np.random.default_rng(1)
    minutes = [f"{(int(m) // 60) % 24:02}:{int(m) % 60:02}" for m in 1435 + rng.normal(0, 60, 20_000)]
    reports = dt.OGPM(dt.Times(), epsilon=4).perturb(minutes, source=dt.Seeded(1))
    assert repr(dt.mean(reports))[:3] in ("23:", "00:")  # noon would be the mean of numbers
    assert "minutes (95 %" in repr(dt.mean(reports))
    hours = dt.distribution(
        dt.SW(dt.Times(), epsilon=4).perturb(minutes, source=dt.Seeded(1)), "hour"
    ).records()
    assert (len(hours), hours[23]["from"], hours[23]["to"]) == (24, "23:00", "00:00")
    assert hours[23]["value"] > 0.2


def test_no_answer_is_private() -> None:
    asked = dt.Podium(dt.Nullable(YEAR), epsilon=4)
    for missing in (None, np.datetime64("NaT")):
        reports = asked.perturb([DAY, missing] * 3000, source=dt.Seeded(1))
        assert dt.stats.response_rate(reports).covers(0.5, 1 - 1e-6)
        assert dt.mean(reports).covers(NUMBER, 1 - 1e-6)


def test_columns_of_every_format(tmp_path: Path) -> None:
    pyarrow, pandas = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    asked = {"day": dt.Podium(YEAR, epsilon=20)}
    texts = ["2026-05-03", "2026-05-05T10:00:00"] * 50
    (tmp_path / "in.csv").write_text("day\n" + "\n".join(texts) + "\n")
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"day": text}) + "\n" for text in texts))
    stamps = pandas.to_datetime(pandas.Series(texts), format="ISO8601")
    frame = pandas.DataFrame({"day": stamps})
    frame.to_parquet(tmp_path / "in.parquet")
    frame.to_excel(tmp_path / "in.xlsx", index=False)
    for name in ("in.csv", "in.jsonl", "in.parquet", "in.xlsx"):
        out = tmp_path / f"{name}.csv"
        assert dt.data.perturb_file(tmp_path / name, out, asked, source=dt.Seeded(1)).written == 100
        assert repr(dt.mean(dt.data.summarise_file(out)["day"])).startswith("2026-05-04")
    days = pyarrow.table({"day": stamps.dt.date.tolist()})
    for given in (frame, days):
        told = dt.data.perturb(given, asked, source=dt.Seeded(1))
        assert repr(dt.data.estimate(told, asked)["day"]).startswith("2026-05-04")
    (tmp_path / "in.csv").write_text("day\n2026-05-03T00:00:00+02:00\n2026-05-03T00:00:00+01:00\n")
    with pytest.raises(InvalidParameter, match="column 'day': expected time stamps of one time zone"):
        dt.data.perturb_file(tmp_path / "in.csv", tmp_path / "out.csv", asked)
    (tmp_path / "in.csv").write_text("day\nsoon\n2027-01-01\n")
    fit = dt.data.check_file(tmp_path / "in.csv", asked)["day"]
    assert (fit.text, fit.outside) == (1, 1)


def test_at_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("day,time\n" + "2026-05-03,08:15\n" * 200)
    domain = ("--date", "2026-01-01", "2026-12-31")
    out = tmp_path / "out.csv"
    asked = ("perturb", tmp_path / "in.csv", "--column", "day", *domain, "--epsilon", 4, "-o", out)
    assert run(*asked).exit_code == 0
    assert "2026-0" in run("estimate", out).output
    found = json.loads(run("estimate", out, "--json").output)
    assert "2026-0" in json.dumps(found)
    assert "2026-01-01 – 2026-03-02" in run("estimate", out, "--bins", 6).output
    (_, shape) = json.loads(run("estimate", out, "--bins", 2, "--json").output)["day"]
    assert shape["bins"][1] == ["2026-07-03", "2026-12-31"]
    assert len(shape["low"]) == 2
    assert "2026-12-01 – 2026-12-31" in run("estimate", out, "--bins", "month").output
    assert "expected a number of bins, or of dates" in run("estimate", out, "--bins", "moth").output
    (tmp_path / "mixed.csv").write_text("day\n2026-05-03T00:00:00+02:00\n2026-05-03T00:00:00\n")
    mixed = run("perturb", tmp_path / "mixed.csv", *asked[2:], "--force").output
    assert "column 'day': expected time stamps of one time zone" in mixed
    assert "in: --zone Europe/Berlin" in mixed
    check = ("check", tmp_path / "in.csv", "--column", "time", "--time")
    assert run(*check).exit_code == 0
    assert "one domain" in run(*check, "--circle", 3).output
    assert (
        "expected --zone with --date or --time"
        in run("compare", "--interval", 0, 1, "--epsilon", 1, "--zone", "UTC").output
    )


def test_dates_may_be_clipped() -> None:
    """Before, an estimate said that values were clipped to [20 454, 20 818]."""
    wide = dt.Dates("2020-01-01", "2030-01-01")
    year = dt.Dates("2026-01-01", "2026-12-31", clipped_from=wide)
    assert repr(year) == "Dates('2026-01-01', '2026-12-31', clipped_from=True)"
    assert (
        year.words()
        == "a date; one before 2026-01-01 counts as 2026-01-01, one after 2026-12-31 as 2026-12-31"
    )
    days = np.datetime64("2025-12-01") + np.arange(400)
    mean = dt.mean(dt.Podium(year, epsilon=4).perturb(year.clip(days), source=dt.Seeded(1)))
    assert "mean of values clipped to [2026-01-01, 2026-12-31]" in repr(mean)
    with pytest.raises(InvalidParameter, match=r"to contain \[2019-01-01, 2026-12-31\]"):
        dt.Dates("2019-01-01", "2026-12-31", clipped_from=wide)
    text = "[questions.day]\ndate = [2026-01-01, 2026-12-31]\nclipped = true\nepsilon = 1\n"
    read = dt.Questionnaire.from_toml(text).questions["day"].domain
    assert (repr(read), read.clipping.values) == (repr(year), year.clipping.values)
    found = dt.bounds(dt.SW(wide, epsilon=8).perturb(np.tile(days, 10), source=dt.Seeded(1)))
    low, high = (str(np.datetime64("1970-01-01") + int(end)) for end in (found.low, found.high))
    assert found.low == int(found.low)
    assert f"[{low}, {high}]" in repr(found)
    assert repr(found.interval_domain()).startswith(f"Dates('{low}', '{high}', clipped_from=(")


def test_days_of_dates_and_point_masses_are_dates() -> None:
    each = dt.Once(dt.Podium(YEAR, epsilon=8), days=2).perturb(
        [["2026-05-03", "2026-06-03"]] * 400, source=dt.Seeded(1)
    )
    found = dt.by_day(each)
    assert [row["value"][:6] for row in found.records()] == ["2026-0", "2026-0"]
    assert isinstance(found.numbers()[0]["value"], float)
    assert any(tick.get_text().startswith("2026-0") for tick in found.plot().get_yticklabels())
    half = ["2026-05-03"] * 2000 + ["2026-02-03", "2026-03-03", "2026-08-03", "2026-10-03"] * 500
    shape = dt.distribution(dt.SW(YEAR, epsilon=6).perturb(half, source=dt.Seeded(1)), 6)
    assert repr(shape.atoms[0])[-10:-2] == "2026-05-"
    assert "days" in shape.quantile(0.2).condition
    bins = shape.records()
    assert all(before["to"] < after["from"] for before, after in pairwise(bins))
