"""Periods, weeks and months, labels side by side with their differences, and pictures with an address."""

from __future__ import annotations

import datetime
import re
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette")
from starlette.applications import Starlette

import dither as dt
from dither.collection.campaign import Campaign
from dither.collection.collector import Collector
from dither.collection.published import Published
from dither.collection.settings import Settings
from dither.collection.web.answers import ReportsPart
from dither.collection.web.answers import rows as answer_rows
from dither.collection.web.endpoints import routes_of
from dither.collection.web.pages import page_handlers
from dither.collection.web.query import By, Query
from dither.collection.web.views import View
from dither.collection.web.words import more_reports
from tests.collection.collectors import KEY, MONDAY, TUESDAY, Asked, NoDisk, make, people, send
from tests.collection.pages.states import collector_in


@pytest.fixture(scope="module")
def site() -> tuple[Any, Any, Asked]:
    collector, published = collector_in("days")
    return collector, published, Asked(Starlette(routes=routes_of(page_handlers(collector))))


def rows(site: tuple[Any, Any, Asked], **terms: str) -> list[dict[str, Any]]:
    _, published, client = site
    answer = client.get(f"/v1/campaigns/{published.id}/answers.json", params=terms)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["rows"]
    return found


def test_weeks_and_months_add_up_the_reports_of_their_days(site: tuple[Any, Any, Asked]) -> None:
    collector, published, _ = site
    days = rows(site, question="minutes", by="day")
    weeks = rows(site, question="minutes", by="week")
    assert [(row["day"], row["n"]) for row in weeks] == [("2026-05-04", 24_000), ("2026-05-11", 16_000)]
    (month,) = rows(site, question="minutes", by="month")
    assert (month["day"], month["n"]) == ("2026-05-01", 40_000)
    live = collector.live
    for week in weeks:
        first = datetime.date.fromisoformat(week["day"])
        inside = [
            day
            for day in (datetime.date.fromisoformat(row["day"]) for row in days)
            if first <= day < first + datetime.timedelta(7)
        ]
        parts = sum(
            (live.summary(published.id, "minutes", day, shown=True) for day in inside[1:]),
            start=live.summary(published.id, "minutes", inside[0], shown=True),
        )
        expected = dt.mean(parts).at_any_time()
        assert (week["value"], week["low"]) == pytest.approx((float(expected), expected.interval()[0]))


def test_a_period_is_a_number_of_days_up_to_today(site: tuple[Any, Any, Asked]) -> None:
    (last,) = rows(site, question="stars", last="7")  # until the 15th: from the 9th on
    (since,) = rows(site, question="stars", since="2026-05-09", until="2026-05-15")
    assert last == since
    assert last["n"] == sum(row["n"] for row in rows(site, question="stars", by="day", last="7"))
    assert rows(site, question="stars", last="90")[0]["n"] == 40_000
    _, published, client = site
    for terms in ({"last": "0"}, {"last": "7", "day": "2026-05-09"}, {"since": "yesterday"}, {"by": "year"}):
        answer = client.get(f"/v1/campaigns/{published.id}/answers.json", params=terms)
        assert answer.status_code == 400


def test_labels_differ_at_any_time(site: tuple[Any, Any, Asked]) -> None:
    collector, published, _ = site
    (row,) = rows(site, question="stars", what="difference")
    assert (row["label"], row["quantity"], row["interval"]) == (
        "1.1",
        "difference from 1.0",
        "95 % at any time",
    )
    assert row["low"] < row["value"] < row["high"]
    assert row["low"] > 0.4
    assert row["p"] == 1e-9
    new, old = (
        dt.mean(collector.live.summary(published.id, "stars", label=label, shown=True)).at_any_time()
        for label in ("1.1", "1.0")
    )
    ends = new.interval(0.975)[0] - old.interval(0.975)[1], new.interval(0.975)[1] - old.interval(0.975)[0]
    assert (row["low"], row["high"]) == pytest.approx(ends)
    (same,) = rows(site, question="minutes", what="difference")
    assert same["low"] < 0 < same["high"]
    assert same["p"] == 1
    assert rows(site, question="satisfaction", what="difference") == []  # one label


def test_a_period_is_compared_with_the_one_before(site: tuple[Any, Any, Asked]) -> None:
    _, published, client = site
    (row,) = rows(site, question="minutes", what="change", last="5")
    assert (row["quantity"], row["interval"]) == ("change from the 5 days before", "95 % at any time")
    now, before = (
        rows(site, question="minutes", since=since, until=until)[0]
        for since, until in (("2026-05-11", "2026-05-15"), ("2026-05-06", "2026-05-10"))
    )
    assert row["n"] == now["n"] + before["n"]
    assert row["value"] == pytest.approx(now["value"] - before["value"])
    assert row["low"] < row["value"] < row["high"]
    (same,) = rows(site, question="minutes", what="change", since="2026-05-11", until="2026-05-15")
    assert same == row
    assert rows(site, question="minutes", what="change", last="90") == []  # nothing came before
    for terms in ({}, {"since": "2026-05-11", "until": "2026-05-10"}):
        answer = client.get(
            f"/v1/campaigns/{published.id}/answers.json",
            params={"what": "change", "question": "minutes", **terms},
        )
        assert answer.status_code == 400, answer.text
    shown = client.get(f"/campaigns/{published.id}", params={"last": "7"}).text
    assert "Change from the 7 days before: " in shown


def test_questions_and_answers_are_in_the_words_of_the_campaign() -> None:
    from dither.collection.web.formats import in_words
    from dither.collection.web.sections import Files, Told, regions, section

    contract = Campaign.from_toml(WORDS)
    question = contract.questions["travel"]
    sent = question.perturb(["b", "c"] * 2_000, source=dt.Seeded(1))
    found = [
        {**row, "answer": row["answer in words"]}
        for row in in_words(answer_rows(Query("travel"), ReportsPart(), dt.Counts.of(sent)), contract)
    ]
    assert [row["answer"] for row in found] == ["By <bus>", "By car"]
    files = Files.of("/base", "travel", View())
    parts = regions(0, Told(found, (), (), ()), contract, By.DAY, files)
    text = str(section(0, "travel", contract, "/base", parts, View(), By.DAY))
    assert '<span lang="en">How do you get to work?</span> <small>travel</small>' in text
    assert "By &lt;bus&gt;" in text
    assert "<bus>" not in text


WORDS = """\
[campaign]
name = "commute"
asker = "city.example"
contact = "a@city.example"
purpose = "plan buses"
begins = 2026-05-01
ends = 2026-05-31
languages = ["en"]

[questions.travel]
categories = ["b", "c"]
epsilon = 1
text = { en = "How do you get to work?" }
names = { en = ["By <bus>", "By car"] }
"""


@pytest.mark.slow
def test_differences_of_one_population_are_rarely_excluded() -> None:
    """At any of ten looks, in 5 % of the runs at most: here in none of sixty."""
    from dither.collection.web.answers import difference_rows

    question = dt.KRR(dt.Categories(["yes", "no"]), epsilon=1)
    wrong = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        sent = [
            question.perturb(rng.choice(["yes", "no"], 2000), source=dt.Seeded(2 * seed + k)) for k in (0, 1)
        ]
        looks = [
            difference_rows(
                Query("q"),
                [
                    (Query("q", label=name), dt.Counts.of(part[:n]))
                    for name, part in zip("ab", sent, strict=True)
                ],
                "difference from a",
            )[0]
            for n in range(200, 2001, 200)
        ]
        wrong += any(row["low"] > 0 or row["high"] < 0 for row in looks)
    assert wrong <= 3


def test_the_page_offers_periods_and_shows_the_chosen_one(site: tuple[Any, Any, Asked]) -> None:
    _, published, client = site
    base = f"/campaigns/{published.id}"
    text = client.get(base, params={"last": "7", "by": "week"}).text
    assert 'aria-current="true">last 7 days</a>' in text
    assert 'aria-current="true">by week</a>' in text
    assert f'data-events="/v1/campaigns/{published.id}/events?last=7&amp;by=week"' in text
    assert "By week" in text
    assert "20\u202f000\u202freports" in text  # five days of 4 000
    assert "Difference from 1.0; 95" in text
    plain = client.get(base, params={"last": "8", "by": "year"}).text  # which are not offered
    assert 'aria-current="true">all days</a>' in plain
    assert View.of({"last": "30", "by": "month"}) == View(30, By.MONTH)
    assert [View().step(days) for days in (1, 31, 32, 217, 218, 5000)] == [
        *(By.DAY, By.DAY, By.WEEK, By.WEEK, By.MONTH, By.MONTH)
    ]


def test_the_page_offers_the_days_since_a_version() -> None:
    """A label that began later is offered; another day is not a view, so that readers fill no memory."""
    collector, published = make(datetime.date(2026, 5, 12))
    for day, label in ((4, "1.0"), (5, "1.0"), (9, "1.1"), (10, "1.0")):
        when = datetime.date(2026, 5, day)
        send(collector, published, "minutes", people(400, day)[0], when, label, seed=day)
    client = Asked(Starlette(routes=routes_of(page_handlers(collector))))
    base = f"/campaigns/{published.id}"
    first = client.get(base).text
    assert f'href="{base}?since=2026-05-09">since 1.1 (2026-05-09)</a>' in first
    since = client.get(base, params={"since": "2026-05-09"}).text
    assert 'aria-current="true">since 1.1 (2026-05-09)</a>' in since
    assert "mean of 800\u202freports" in since
    assert f"/v1{base}/summary?question=minutes&amp;since=2026-05-09" in since
    plain = client.get(base, params={"since": "2026-05-05"}).text
    assert 'aria-current="true">all days</a>' in plain
    summary = client.get(f"/v1{base}/summary", params={"question": "minutes", "since": "2026-05-09"})
    question = published.contract.questions["minutes"]
    assert dt.Counts.from_bytes(summary.content, question).n == 800
    refused = client.get(f"/v1{base}/summary", params={"question": "minutes", "by": "day"})
    assert refused.status_code == 400
    assert "parameter of a summary" in refused.text


def test_an_officer_has_a_page(site: tuple[Any, Any, Asked]) -> None:
    _, published, client = site
    page = client.get(f"/campaigns/{published.id}").text
    assert f'href="/campaigns/{published.id}/officer"' in page
    assert 'href="#promised"' in page
    answer = client.get(f"/campaigns/{published.id}/officer")
    assert answer.headers["content-type"].startswith("text/html")
    for words in (published.contract.name, published.id, published.contract.contact, "odds"):
        assert words in answer.text
    assert client.get(f"/campaigns/{'0' * 64}/officer").status_code == 404
    footer = page.partition("<footer>")[2]
    assert ">Health</h2>" in footer
    assert ">Refused batches</h2>" in footer


def test_a_picture_has_an_address(site: tuple[Any, Any, Asked]) -> None:
    from xml.etree import ElementTree

    _, published, client = site
    base = f"/v1/campaigns/{published.id}/chart.svg"
    for terms in (
        {"question": "stars", "what": "distribution"},
        {"question": "satisfaction"},
        {"question": "minutes", "by": "week"},
        {"question": "minutes", "by": "label"},
        {"question": "stars", "by": "label"},
    ):
        answer = client.get(base, params=terms)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "image/svg+xml"
        tree = ElementTree.fromstring(answer.text)
        assert tree.tag == "{http://www.w3.org/2000/svg}svg"
        assert len(list(tree.iter())) >= 20
    for terms in ({"question": "minutes"}, {}, {"question": "nothing"}):
        assert client.get(base, params=terms).status_code == 400
    page = client.get(f"/campaigns/{published.id}").text
    links = re.findall(r'href="(/v1/[^"]*(?:chart.svg|answers.csv)[^"]*)"', page)
    assert len([link for link in links if "chart.svg" in link]) == page.count("SVG</a>") == 8  # every picture
    for link in links:
        assert client.get(link.replace("&amp;", "&")).status_code == 200


def test_an_interval_that_says_nothing_is_no_headline() -> None:
    row = {
        "quantity": "frequency",
        "answer": "yes",
        "value": 0.4,
        "low": -0.2,
        "high": 1.0,
        "unit": None,
        "n": 100,
    }
    said = more_reports(row, 1.0)
    assert said is not None
    assert said.replace("\u202f", " ") == "Too few reports to say: 0 to 100 %. About 14 000 more for ± 5 %."
    assert more_reports({**row, "low": 0.3, "high": 0.5}, 1.0) is None
    minutes = {**row, "quantity": "mean", "answer": None, "low": 0.0, "high": 90.0, "unit": "minutes"}
    assert str(more_reports(minutes, 180.0)).replace("\u202f", " ").endswith("more for ± 9 minutes.")


def test_dates_and_times_of_a_signed_campaign_are_written_as_such() -> None:
    """The signed text says that numbers are dates; the page printed 20 614."""
    head = (
        'name = "born"\nversion = 1\nasker = "a.example"\ncontact = "a@a.example"\npurpose = "When."\n'
        "begins = 2026-05-01\nends = 2026-05-31\npeople = 100\n"
    )
    born = '[questions.born]\ndate = [2026-01-01, 2026-12-31]\nmechanism = "SW"\nepsilon = 4\n'
    text = f"[campaign]\n{head}{born}[questions.up]\ntime = true\nepsilon = 4\n"
    published = Published.from_json(Published.sign(Campaign.from_toml(text), KEY).to_json())
    assert repr(published.contract.questions["born"].domain) == "Dates('2026-01-01', '2026-12-31')"
    collector = Collector(NoDisk(), Settings(), lambda: TUESDAY)  # type: ignore[arg-type]
    collector.publish(published)
    for day, value in ((MONDAY, "2026-06-10"), (TUESDAY, "2026-06-20")):
        send(collector, published, "born", [value] * 1000, day)
        send(collector, published, "up", ["08:15"] * 1000, day)
    client = Asked(Starlette(routes=routes_of(page_handlers(collector))))
    rows = client.get(f"/v1/campaigns/{published.id}/answers.json", params={"question": "born"}).json()[
        "rows"
    ]
    assert (rows[0]["unit"], rows[0]["value"] > 20_000) == ("days since 1970-01-01", True)
    page = client.get(f"/campaigns/{published.id}").text
    shown = re.sub(r"<[^>]*>", " ", page)
    assert re.search(r"2026-06-1\d ± [\d.]+ days", shown)
    assert re.search(r"08:\d\d ± [\d.]+ minutes", shown)
    assert "Distribution from 2026-01-01 to 2026-12-31" in page
    assert not re.search(r"20.?6\d\d\b(?!-)", shown)


def test_an_unclear_number_is_shown_nowhere() -> None:
    """A label and a difference said 0 ± 1 500 km of an interval of 1 000 km."""
    _, client, page = _page_of(
        '[questions.far]\ninterval = [0, 1000]\nepsilon = 0.2\nmechanism = "Laplace"\n',
        {"far": [200.0] * 150},
    )
    section = _shown(page)
    assert "Not clear yet" in section
    assert section.count("not clear yet") == 3  # of each label, and of their difference
    assert "±" not in section.partition("By label")[2].partition("All numbers")[0]
    assert "not clear yet" in _shown(client.get("/").text)
    more = {"quantity": "frequency", "answer": "a", "value": 0.5, "low": 0.45, "high": 1.0, "unit": None}
    assert more_reports({**more, "n": 900}, 1.0) is not None
    assert more_reports({**more, "n": 900}, 1.0, thinned=True) is None  # no number of reports would help


def test_directions_of_labels_differ_by_the_shorter_way() -> None:
    questions = "[questions.go]\ncircle = 360\nepsilon = 4\n"
    published, client, page = _page_of(questions, {"go": [350.0] * 900}, {"go": [15.0] * 900})
    where = f"/v1/campaigns/{published.id}/answers.json"
    (row,) = client.get(where, params={"what": "difference"}).json()["rows"]
    assert row["state"] == "shown"
    assert row["interval"] == "95 % over 100 looks"
    assert row["value"] == pytest.approx(25.0, abs=4.0)
    assert 0.0 < row["low"] < row["value"] < row["high"] < 60.0
    assert row["p"] <= 1e-6
    assert "p, 100 looks" in page


def test_answers_that_may_be_left_out_have_a_distribution_and_their_share() -> None:
    questions = "[questions.rent]\ninterval = [0, 100]\noptional = true\nepsilon = 4\n"
    published, client, page = _page_of(questions, {"rent": [40.0] * 700 + [None] * 300})
    where = f"/v1/campaigns/{published.id}/"
    (row,) = client.get(f"{where}answers.json", params={"what": "answered"}).json()["rows"]
    summary = client.get(f"{where}summary", params={"question": "rent"}).content
    expected = dt.stats.response_rate(dt.Counts.from_bytes(summary, published.contract.questions["rent"]))
    assert (row["quantity"], row["value"]) == ("answered", float(expected.value))
    assert row["low"] < 0.7 < row["high"]
    assert re.search(r"Answered by \d\d ± \d+ % of the people", _shown(page))
    assert "Distribution from 0 to 100" in page


def test_both_quantiles_of_a_range_are_shown_for_each_label_with_digits_of_their_own() -> None:
    """The lower one was lost, or rounded to 0 because the higher one is known to hundreds only."""
    random = np.random.default_rng(4)
    lengths = np.exp(random.normal(4.5, 0.8, 4000)).clip(1, 1440).tolist()
    questions = '[questions.long]\ninterval = [0, 1440]\nscale = "log"\nunit = "minutes"\nepsilon = 4\n'
    published, client, page = _page_of(questions, {"long": lengths})
    labels = page.partition("By label")[2].partition("<details")[0].replace("\u202f", "")
    found = re.findall(r">quantile 0\.(02|98): (\d+)", labels)
    assert [name for name, _ in found] == ["02", "98"] * 2
    values = [int(text) for _, text in found]
    assert all(5 < value < 40 for value in values[::2])
    assert all(200 < value < 1000 for value in values[1::2])
    rows = client.get(f"/v1/campaigns/{published.id}/answers.json", params={"what": "difference"}).json()
    assert rows["rows"][0]["reason"] == "the quantiles of a range are not compared"


def _page_of(
    questions: str, answers: dict[str, list[Any]], others: dict[str, list[Any]] | None = None
) -> tuple[Published, Asked, str]:
    """Return a campaign, requests to its collector, and its page.

    People of label A gave some answers; those of label B gave others, or the same.
    """
    collector = Collector(NoDisk(), Settings(), lambda: TUESDAY)  # type: ignore[arg-type]
    head = KINDS.partition("[questions")[0].replace("people = 100", "people = 1")  # no batches are promised
    published = Published.sign(Campaign.from_toml(head + questions), KEY)
    collector.publish(published)
    for seed, (label, given) in enumerate((("A", answers), ("B", others or answers))):
        for name, values in given.items():
            domain: Any = published.contract.questions[name].domain
            own = domain.positions(values) if hasattr(domain, "positions") else values
            send(collector, published, name, own, MONDAY, label, seed=seed)
    client = Asked(Starlette(routes=routes_of(page_handlers(collector))))
    return published, client, client.get(f"/campaigns/{published.id}").text


KINDS = """\
[campaign]
name = "kinds"
asker = "city.example"
contact = "a@city.example"
purpose = "every kind"
begins = 2026-05-01
ends = 2026-05-31
people = 100
labels = ["A", "B"]

[questions.travel]
categories = ["by bus", "by car"]
epsilon = 4

[questions.reasons]
several = ["price", "time", "comfort", "weather"]
most = 2
epsilon = 4

[questions.leave]
time = true
epsilon = 4

[questions.home]
rectangle = [[0, 10], [0, 10]]
epsilon = 4
"""


def _shown(markup: str) -> str:
    return re.sub(r"<[^>]*>", " ", markup).replace("\u202f", " ")


def test_every_kind_of_question_has_its_section_and_no_picture_that_is_not_there() -> None:
    collector = Collector(NoDisk(), Settings(), lambda: TUESDAY)  # type: ignore[arg-type]
    published = Published.sign(Campaign.from_toml(KINDS), KEY)
    collector.publish(published)
    sets = [["price"], ["price", "time"], [], ["weather"]] * 250
    for day in (MONDAY, TUESDAY):
        for label, bus in (("A", 700), ("B", 300)):
            send(collector, published, "travel", ["by bus"] * bus + ["by car"] * (1000 - bus), day, label)
            send(collector, published, "reasons", sets, day, label)
            send(collector, published, "leave", ["08:15", "09:45"] * 500, day, label)
            send(collector, published, "home", [(2.0, 3.0)] * 1000, day, label)
    client = Asked(Starlette(routes=routes_of(page_handlers(collector))))
    page = client.get(f"/campaigns/{published.id}").text
    travel, reasons, leave, home = re.findall(
        r'<section aria-labelledby="q\d">.*?</section>', page, re.DOTALL
    )
    assert "B: difference from A; 95 % at any time" in _shown(travel)  # a label keeps its letters
    assert re.search(r'<th scope="row">by bus</th><td>−4\d', travel)
    assert re.search(r"2 or more items:\s+\d[\d.]* to \d[\d.]* % of the people", _shown(reasons))
    assert "A device reports at most 2" in _shown(reasons)
    times = re.findall(r'class="tick"[^>]*>(\d\d:\d\d)<', leave)
    assert {"00:00", "06:00", "12:00", "18:00"} <= set(times)
    assert any(time not in ("00:00", "06:00", "12:00", "18:00") for time in times)  # beside the history
    assert "a location in [0, 10] × [0, 10]" in _shown(home)
    assert "dt.maps" in _shown(home)
    assert "expected" not in _shown(home)
    assert "chart" not in home
    assert "By version" not in home
    for link in re.findall(r'href="(/v1/[^"]*chart[^"]*)"', page):
        assert client.get(link.replace("&amp;", "&")).status_code == 200, link
