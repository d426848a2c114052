"""The page without a browser: its size, its policy, its words in every state, and its events."""

import asyncio
import gzip
import hashlib
import json
import re
import threading
from base64 import b64encode
from html.parser import HTMLParser

import numpy as np
import pytest

import dither as dt
from dither.collection.refusals import Reason
from tests.collection.collectors import Asked, make, people, send
from tests.collection.pages.states import HOSTILE, STATES, collector_in

pytest.importorskip("starlette")
pytest.importorskip("httpx")
from starlette.applications import Starlette

from dither.collection.web import words
from dither.collection.web.answers import Answers
from dither.collection.web.endpoints import routes_of
from dither.collection.web.pages import Pages, page_handlers
from dither.collection.web.views import USUAL


def _page(collector, path: str = "/"):
    return Asked(Starlette(routes=routes_of(page_handlers(collector)))).get(path)


@pytest.fixture(scope="module")
def pages():
    return {state: _page(collector_in(state)[0]) for state in STATES}


@pytest.mark.parametrize("state", STATES)
def test_pages_are_small_and_strict(pages, state):
    answer = pages[state]
    assert answer.status_code == 200
    assert len(gzip.compress(answer.content, 6)) <= 12_000
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        inside = re.findall(rf"<{tag}>(.*?)</{tag}>", answer.text, re.DOTALL)
        assert len(inside) == 1
        assert b64encode(hashlib.sha256(inside[0].encode()).digest()).decode() in policy
    assert not re.search(r"\son\w+=|style=|javascript:|https?://(?!www.w3.org)", answer.text)


class _Balance(HTMLParser):
    """Whether tags that are opened are closed, and identities are used once."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("state", STATES)
def test_pages_are_well_formed(pages, state):
    reader = _Balance()
    reader.feed(pages[state].text)
    assert reader.open == []
    assert len(set(reader.ids)) == len(reader.ids)


def test_every_state_of_the_page_has_its_text(pages):
    said = {state: re.sub(r"<[^>]*>", " ", page.text) for state, page in pages.items()}
    assert "collecting" in said["full"]
    assert "36\u202f000\u202freports" in said["full"]
    assert "minutes" in said["full"]
    assert "If 1\u202f% of the reports are lies" in said["full"]
    assert "ε = 3" in said["full"]
    assert "20.1 times (e^ε)" in said["full"]
    assert "1\u202f204" in said["full"]
    assert "no device could have sent" in said["full"]
    assert "Too few people" in said["few"]
    assert "60\u202freports so far; an answer is shown from 100 on" in said["few"]
    assert "No reports have arrived yet" in said["empty"]
    assert "ended" in said["ended"]
    assert "final numbers" in said["ended"]
    assert "Collecting begins on 2026-05-01" in said["soon"]
    assert "± 3" not in said["few"]


def test_names_never_become_tags(pages):
    assert HOSTILE not in pages["wrong"].text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in pages["wrong"].text


def test_pictures_carry_words_and_exports_are_linked(pages):
    text = pages["full"].text
    drawn = re.findall(r"<svg[^>]*>", text)
    assert len(drawn) == 4
    assert all('role="group"' in one and 'aria-label="' in one for one in drawn)
    for form in ("answers.json", "answers.csv", "answers.arrow", "summary"):
        assert f"/{form}?question=minutes" in text


def _version(collector, number, **changes):
    """Publish a further version, and send 900 answers to each question."""
    from dither.collection.campaign import Campaign
    from dither.collection.published import Published
    from tests.collection.collectors import KEY, TERMS

    published = Published.sign(Campaign(**{**TERMS, "version": number, **changes}), KEY)
    collector.publish(published)
    rng = np.random.default_rng(number)
    for name, question in published.contract.questions.items():
        listed = question.domain.listed
        values = rng.choice(listed.labels, 900) if listed else np.full(900, 40.0)
        send(collector, published, name, values, seed=number)
    return published


def test_several_campaigns_are_on_one_page_with_their_versions():
    collector, first = make()
    assert first.contract.name in _page(collector).text
    second = _version(collector, 2)
    other = _version(collector, 1, name="second")
    text = _page(collector).text
    for published in (first, second, other):
        assert f'<a href="/campaigns/{published.id}">version {published.contract.version}</a>' in text
    assert text.count("<section") == 2
    assert text.count("\u202fminutes</td>") == 2
    page = _page(collector, f"/campaigns/{first.id}").text
    assert "Other campaigns" in page
    assert f'Also: <a href="/campaigns/{second.id}">version 2</a>' in page
    yes_no = dt.KRR(dt.Categories(["no", "yes"]), epsilon=2)
    send(collector, _version(collector, 3, questions={"dog": yes_no}), "dog", ["no", "yes"] * 450)
    listed = re.sub(r"<[^>]*>", " ", _page(collector).text)
    assert re.search(r"dog\s+(no|yes): ", listed)
    assert "minutes (version 2)" in listed  # what the newest version does not ask is listed, too
    gone = _page(collector, "/campaigns/0000")
    assert gone.status_code == 404
    assert "no such campaign" in gone.text


def test_versions_that_can_be_combined_are_and_others_say_why():
    minutes = dt.SW(dt.Interval(0, 180, unit="minutes"), epsilon=1, cells=1 << 12)
    browsers = ["firefox", "chrome", "safari", "other"]
    grown = dt.KRR(dt.Categories([*browsers, "ladybird"]), epsilon=1)
    collector, first = make()
    again = _version(collector, 2, questions={"minutes": minutes, "browser": grown})
    client = Asked(Starlette(routes=routes_of(page_handlers(collector))))

    def rows(published, question):
        asked = {"question": question, "what": "versions"}
        return client.get(f"/v1/campaigns/{published.id}/answers.json", params=asked).json()["rows"]

    assert {row["version"] for row in rows(again, "minutes")} == {"2"}  # nothing is shown of version 1
    send(collector, first, "minutes", np.full(900, 50.0))
    send(collector, first, "browser", browsers * 225)
    one, two, both = rows(first, "minutes")
    assert [row["version"] for row in (one, two, both)] == ["1", "2", "1 + 2"]
    parts = [collector.live.summary(each.id, "minutes", shown=True) for each in (first, again)]
    expected = dt.stats.combine(parts).at_any_time()
    assert both["value"] == float(expected.value)
    assert (both["low"], both["high"]) == tuple(map(float, expected.interval()))
    assert rows(again, "minutes") == rows(first, "minutes")
    shares = {(row["answer"], row["version"]): row for row in rows(first, "browser")}
    assert shares["firefox", "1 + 2"]["n"] == 1800
    assert {row["interval"] for row in shares.values()} == {"95 % at any time"}  # all hold at the same looks
    assert ("ladybird", "1") not in shares
    assert shares["ladybird", "2"]["n"] == 900
    text = _page(collector, f"/campaigns/{first.id}").text
    assert "By version" in text
    assert "not offered" in text
    _version(collector, 3, questions={"minutes": dt.SW(dt.Interval(0, 90), epsilon=1)})
    *_, reason = rows(first, "minutes")
    assert reason["state"] == "no answer"
    assert "[0, 90]" in reason["reason"]
    assert "The versions are not added: " in _page(collector, f"/campaigns/{first.id}").text


def test_versions_that_draw_the_same_are_counted_together():
    """Their interval is that of all reports, and no wider than that of one version."""
    collector, first = make()
    again = _version(collector, 2)
    send(collector, first, "minutes", np.full(900, 50.0))
    send(collector, first, "browser", ["firefox", "other"] * 450)
    client = Asked(Starlette(routes=routes_of(page_handlers(collector))))
    asked = {"question": "minutes", "what": "versions"}
    one, two, both = client.get(f"/v1/campaigns/{again.id}/answers.json", params=asked).json()["rows"]
    parts = [collector.live.summary(each.id, "minutes", shown=True) for each in (first, again)]
    low, high = dt.mean(parts[0] + parts[1]).at_any_time().interval()
    assert (both["low"], both["high"]) == (float(low), float(high))
    assert both["high"] - both["low"] < min(row["high"] - row["low"] for row in (one, two))


def test_a_reader_without_patience_has_the_estimates_first(monkeypatch):
    """Nothing but the headline is waited for; a browser without scripts looks once more."""
    monkeypatch.setattr("dither.collection.web.pages._PATIENCE", 0.0)
    collector, published = collector_in("full")
    pages = Pages(collector, Answers(collector))
    held = threading.Event()
    draw = pages._draw_sections
    monkeypatch.setattr(pages, "_draw_sections", lambda *given: held.wait(20) and draw(*given))

    async def read() -> tuple[str, str]:
        first = gzip.decompress(await pages.page(published, USUAL)).decode()
        held.set()
        while not (await pages._now(published, USUAL)).complete:
            await asyncio.sleep(0.01)
            pages._drawn.clear()
        return first, gzip.decompress(await pages.page(published, USUAL)).decode()

    first, then = asyncio.run(read())
    assert "most frequent answer of" in first
    assert "More is being computed" in first
    assert '<noscript><meta content="2" http-equiv="refresh"></noscript>' in first
    assert "More is being computed" not in then
    assert "http-equiv" not in then
    assert then.count("<svg") == 4 > first.count("<svg")
    pages.close()


def test_the_first_reader_after_a_start_finds_everything(monkeypatch):
    """Pages are drawn soon after a start; nobody has looked before."""
    monkeypatch.setattr("dither.collection.web.pages._PATIENCE", 0.0)
    monkeypatch.setattr("dither.collection.web.pages._SETTLED", 0.0)
    collector, published = collector_in("full")
    pages = Pages(collector, Answers(collector))

    async def read() -> str:
        for begin in collector.at_begin:
            begin()
        while len(pages._sections) < len(published.contract.questions):
            await asyncio.sleep(0.01)
        return gzip.decompress(await pages.page(published, USUAL)).decode()

    text = asyncio.run(read())
    assert "More is being computed" not in text
    assert text.count("<svg") == 4
    pages.close()
    ended, over = collector_in("ended")
    late = Pages(ended, Answers(ended))
    late._draw_early()  # nothing more comes
    assert not late._coming
    assert over.id in ended.campaigns
    late.close()


def test_events_carry_what_changed_and_nothing_else(monkeypatch):
    monkeypatch.setattr("dither.collection.web.pages._PAUSE", 0.01)
    collector, published = make()
    made = Pages(collector, Answers(collector))

    class Request:
        app = Starlette()

        async def is_disconnected(self) -> bool:
            return False

    async def read() -> list[dict[str, str]]:
        stream, found = made.news(published, Request(), "here"), []
        assert await anext(stream) == b"retry: 2000\n\n"
        assert made.streams.total() == 1
        found.append(await anext(stream))
        send(collector, published, "minutes", people(300)[0])
        collector.refuse(Reason.LATE, published.id)
        found.append(await anext(stream))
        await stream.aclose()
        assert made.streams.total() == 0
        return [json.loads(one.decode().removeprefix("data: ")) for one in found]

    first, second = asyncio.run(read())
    assert {"status", "state", "q0-answer", "q1-answer", "refused", "health"} <= set(first)
    assert {"q0-answer", "status", "refused"} <= set(second)
    assert "q1-answer" not in second
    assert "300\u202freports" in second["status"]


def test_a_crowd_of_streams_is_told_to_wait(monkeypatch):
    monkeypatch.setattr("dither.collection.web.pages._MOST_STREAMS", 0)
    collector, published = make()
    answer = _page(collector, f"/v1/campaigns/{published.id}/events")
    assert answer.status_code == 503


def test_numbers_are_grouped_by_narrow_spaces():
    assert words.number_of(1, "report") == "1\u202freport"
    assert words.narrow("95 % of 10 000 people") == "95\u202f% of 10\u202f000 people"
    assert words.percent(0.123) == "12.3\u202f%"


def test_promises_that_are_not_pure_and_every_repeat():
    from tests.collection.collectors import TERMS

    for repeat, lines in (("fresh", 3), ("same", 2)):  # a warning: nothing limits fresh answers
        _, published = make(repeat=repeat)
        assert len(words.promise(published.contract)) == lines
    assert "minutes" in words.question_words(TERMS["questions"]["minutes"].question)
    assert "direction" in words.question_words(dt.OGPM(dt.Circle(360), epsilon=1).question)
