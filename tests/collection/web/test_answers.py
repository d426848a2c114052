"""What a collector says: equal to `Counts` over the same reports, with intervals that are named."""

import asyncio
import csv
import io
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

import dither as dt
from tests.collection.collectors import MONDAY, TUESDAY, Asked, make, people, send

pytest.importorskip("starlette")
httpx = pytest.importorskip("httpx")
from starlette.applications import Starlette

from dither.collection.web.answers import GROWTH, LOOKS, Answers, TooBusy, answer_handlers, look_of
from dither.collection.web.endpoints import routes_of
from dither.collection.web.query import Query, What


@pytest.fixture(scope="module")
def served():
    collector, published = make()
    minutes, browsers = people(3000)
    sent = {
        "minutes": [
            send(collector, published, "minutes", minutes[:2000], MONDAY, "1.0"),
            send(collector, published, "minutes", minutes[2000:], TUESDAY, "1.1", seed=2),
        ],
        "browser": [send(collector, published, "browser", browsers, MONDAY, "1.0")],
    }
    client = Asked(Starlette(routes=routes_of(answer_handlers(collector))))
    return client, f"/v1/campaigns/{published.id}", sent


def _rows(served, **terms):
    client, base, _ = served
    answer = client.get(f"{base}/answers.json", params=terms)
    assert answer.status_code == 200, answer.text
    return answer.json()["rows"]


def test_values_equal_those_of_a_summary_bit_for_bit(served):
    sent = {name: dt.Counts.gather(parts) for name, parts in served[2].items()}
    mean, *shares = _rows(served)
    assert mean["value"] == float(dt.mean(sent["minutes"]).value)
    assert mean["n"] == 3000
    assert mean["unit"] == "minutes"
    assert [one["value"] for one in shares] == np.asarray(dt.frequencies(sent["browser"]).value).tolist()
    assert [one["answer"] for one in shares] == ["firefox", "chrome", "safari", "other"]
    (median,) = _rows(served, question="minutes", what="quantile", share="0.5")
    assert median["value"] == float(dt.quantile(sent["minutes"], 0.5).value)
    bins = _rows(served, question="minutes", what="distribution", bins="12")
    shape = dt.distribution(sent["minutes"], 12)
    assert [one["value"] for one in bins] == shape.probabilities.tolist()
    assert [one["from"] for one in bins] == shape.edges[:-1].tolist()


def test_intervals_are_named_for_what_they_are(served):
    sent = {name: dt.Counts.gather(parts) for name, parts in served[2].items()}
    mean = _rows(served, question="minutes")[0]
    low, high = dt.mean(sent["minutes"]).at_any_time().interval()
    assert (mean["low"], mean["high"], mean["interval"]) == (low, high, "95 % at any time")
    (median,) = _rows(served, question="minutes", what="quantile")
    assert (median["low"], median["high"]) == pytest.approx(
        dt.quantile(sent["minutes"], 0.5).over_looks(100).interval()
    )
    assert median["interval"] == "95 % over 100 looks"
    bins = _rows(served, question="minutes", what="distribution")
    assert bins[0]["interval"] == "95 % over 100 looks, in 95 % of the bins on average"
    lied = _rows(served, question="minutes", lying="0.01")[0]
    honest = dt.mean(sent["minutes"])
    one_look, attacked = honest.interval(), honest.if_lying(0.01).interval()
    at_any_time = honest.at_any_time().interval()
    assert lied["low"] == pytest.approx(at_any_time[0] - (one_look[0] - attacked[0]))
    assert lied["high"] == pytest.approx(at_any_time[1] + (attacked[1] - one_look[1]))
    assert lied["interval"] == "95 % at any time, and what 1 % of lies add"


def test_days_and_labels_are_parts(served):
    days = _rows(served, question="minutes", by="day")
    assert [(one["day"], one["n"]) for one in days] == [("2026-05-04", 2000), ("2026-05-05", 1000)]
    assert [one["value"] for one in days] == [float(dt.mean(part).value) for part in served[2]["minutes"]]
    labels = _rows(served, question="minutes", by="label")
    assert [(one["label"], one["n"]) for one in labels] == [("1.0", 2000), ("1.1", 1000)]
    (one,) = _rows(served, question="minutes", day="2026-05-05")
    assert one["value"] == days[1]["value"]


def test_csv_and_arrow_carry_the_same_rows(served):
    client, base, _ = served
    rows = _rows(served)
    text = client.get(f"{base}/answers.csv")
    assert text.headers["content-type"].startswith("text/csv")
    read = list(csv.DictReader(io.StringIO(text.text)))
    assert [float(one["value"]) for one in read] == [one["value"] for one in rows]
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.ipc.open_stream(client.get(f"{base}/answers.arrow").content).read_all()
    assert table.to_pylist() == rows
    assert table.schema.metadata[b"level"] == b"0.95"


def test_a_formula_stays_a_text_in_csv():
    collector, published = make(
        questions={"a": dt.KRR(dt.Categories(["=1+1", "b"]), epsilon=1)}, labels=(), people=1
    )
    send(collector, published, "a", ["b"] * 9)
    client = Asked(Starlette(routes=routes_of(answer_handlers(collector))))
    assert "'=1+1" in client.get(f"/v1/campaigns/{published.id}/answers.csv").text


def test_groups_of_few_or_no_people_are_not_shown():
    collector, published = make()
    client = Asked(Starlette(routes=routes_of(answer_handlers(collector))))
    base = f"/v1/campaigns/{published.id}"
    row = client.get(f"{base}/answers.json").json()["rows"][0]
    assert (row["state"], row["value"], row["n"]) == ("no reports", None, 0)
    send(collector, published, "minutes", people(99)[0])
    row = client.get(f"{base}/answers.json").json()["rows"][0]
    assert (row["state"], row["value"], row["low"], row["n"]) == ("too few people", None, None, 99)
    assert client.get(f"{base}/summary?question=minutes").status_code == 409
    send(collector, published, "minutes", people(1)[0], label="1.0")  # a label waits for itself
    row = client.get(f"{base}/answers.json").json()["rows"][0]
    assert (row["state"], row["n"]) == ("too few people", 100)
    send(collector, published, "minutes", people(1)[0], TUESDAY)  # those of Monday join
    row = client.get(f"{base}/answers.json").json()["rows"][0]
    assert (row["state"], row["n"]) == ("shown", 100)
    for by, value in (("label", ""), ("day", str(TUESDAY))):
        (only,) = client.get(f"{base}/answers.json?question=minutes&by={by}").json()["rows"]
        assert (only[by], only["state"], only["n"]) == (value, "shown", 100)
    for part in ("label=1.0", "label=1.1", f"day={MONDAY}"):  # whether a report waits there is not told
        (only,) = client.get(f"{base}/answers.json?question=minutes&{part}").json()["rows"]
        assert (only["state"], only["n"]) == ("too few people", 0)


def test_summaries_are_exported_and_added(served):
    client, base, sent = served
    whole = client.get(f"{base}/summary", params={"question": "minutes"})
    mechanism = sent["minutes"][0].question
    assert dt.Counts.from_bytes(whole.content, mechanism) == dt.Counts.gather(sent["minutes"])
    parts = [
        dt.Counts.from_bytes(
            client.get(f"{base}/summary", params={"question": "minutes", "day": day}).content, mechanism
        )
        for day in ("2026-05-04", "2026-05-05")
    ]
    assert sum(parts) == dt.Counts.gather(sent["minutes"])


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ("question=minute", "minutes"),
        ("what=median", "quantile"),
        ("what=quantile&share=1.5", "between 0 and 1"),
        ("what=quantile&share=0,5", "between 0 and 1"),
        ("what=distribution&bins=100000", "256"),
        ("what=distribution&bins=²", "256"),
        ("day=yesterday", "2026-05-01"),
        ("label=9.9", "1.0"),
        ("colour=red", "parameter"),
        ("question=minutes&question=browser", "'question' once"),
        ("lying=nan", "between 0 and 1"),
    ],
)
def test_a_wrong_request_is_answered_in_words(served, terms, words):
    client, base, _ = served
    answer = client.get(f"{base}/answers.json?{terms}")
    assert answer.status_code == 400
    assert words in answer.json()["words"]


def test_unknown_campaigns_and_formats(served):
    client, base, _ = served
    assert client.get("/v1/campaigns/nothing/answers.json").status_code == 404
    assert "csv" in client.get(f"{base}/answers.xls").json()["words"]
    assert client.get(f"{base}/summary").status_code == 400


def test_what_cannot_be_answered_says_why(served):
    (row,) = _rows(served, question="browser", what="quantile")
    assert (row["state"], row["value"]) == ("no answer", None)
    assert "interval" in row["reason"]


def test_answers_are_computed_off_the_event_loop_and_kept():
    collector, published = make()
    send(collector, published, "minutes", people(1000)[0])
    answers = Answers(collector)
    inside: list[str] = []
    usual = answers.compute

    def watched(*arguments):
        inside.append(threading.current_thread().name)
        return usual(*arguments)

    answers.compute = watched
    query = [Query("minutes", What.DISTRIBUTION)]

    async def twice():
        first = await answers.of(published.id, query)
        return first, await answers.of(published.id, query)

    first, second = asyncio.run(twice())
    assert first == second
    assert len(inside) == 1
    assert inside[0].startswith("dither-answers")
    send(collector, published, "minutes", people(100)[0], seed=5)
    assert asyncio.run(answers.of(published.id, query))[0]["n"] == 1100
    assert len(inside) == 2
    answers.close()


def test_a_crowd_of_requests_is_told_to_wait(monkeypatch):
    monkeypatch.setattr("dither.collection.web.answers._WAITING", 1)
    collector, published = make()
    answers = Answers(collector)
    answers.compute = lambda *_: time.sleep(0.2) or []

    async def both():
        return await asyncio.gather(
            *(answers.of(published.id, [Query("minutes")]) for _ in range(2)), return_exceptions=True
        )

    assert sorted(type(one).__name__ for one in asyncio.run(both())) == ["TooBusy", "list"]
    assert issubclass(TooBusy, Exception)
    answers.close()


def test_one_reader_cannot_keep_the_answers_of_others_at_503():
    """A reader that asks for a new quantity with every request waits for its own requests only."""
    collector, published = make()
    send(collector, published, "minutes", people(1000)[0])
    answers = Answers(collector)
    usual, address = answers.compute, {"x-forwarded-for": "198.51.100.7"}
    answers.compute = lambda *asked: time.sleep(0.02) or usual(*asked)
    collector.settings = replace(collector.settings, proxies=("127.0.0.1",))
    path = f"/v1/campaigns/{published.id}/answers.json?question=minutes&what=quantile"

    async def crowd() -> tuple[list[int], int]:
        app = Starlette(routes=routes_of(answer_handlers(collector, answers)))
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            shares = [f"{path}&share=0.{number:03d}" for number in range(1, 101)]
            asked = [asyncio.create_task(client.get(one, headers=address)) for one in shares]
            await asyncio.sleep(0.05)
            other = await client.get(path, headers={"x-forwarded-for": "203.0.113.9"})
            return [(await one).status_code for one in asked], other.status_code

    statuses, other = asyncio.run(crowd())
    assert other == 200
    assert statuses.count(503) > 50
    assert statuses.count(200) >= 8
    answers.close()


def test_intervals_of_quantiles_change_only_at_looks():
    collector, published = make()
    answers, query = Answers(collector), [Query("minutes", What.QUANTILE)]
    values = people(1300)[0]
    send(collector, published, "minutes", values[:1000])
    (first,) = answers.compute(published.id, query)
    send(collector, published, "minutes", values[1000:1100], seed=6)
    (second,) = answers.compute(published.id, query)
    assert second["n"] == 1100
    assert second["n of interval"] == 1100  # a look begins at 100·1.2^13
    send(collector, published, "minutes", values[1100:1200], seed=7)
    (third,) = answers.compute(published.id, query)
    assert (third["n"], third["n of interval"], third["low"]) == (1200, 1100, second["low"])
    assert third["value"] != second["value"]
    assert first["n"] == 1000
    answers.close()


def test_a_hundred_looks_last_for_long():
    assert look_of(99, 100) == 0
    assert [look_of(n, 100) for n in (100, 119, 120, 143, 144)] == [1, 1, 2, 2, 3]
    assert look_of(int(100 * GROWTH ** (LOOKS - 1)), 100) <= LOOKS < look_of(10**10, 100)


def test_directions_hashes_and_noise_are_answered_too():
    """A direction has no interval for any time; hashed answers are counted in blocks."""
    collector, published = make(
        questions={
            "heading": dt.OGPM(dt.Circle(360), epsilon=2, cells=1 << 10),
            "item": dt.OLH(dt.Categories(30), epsilon=2),
            "wait": dt.Laplace(dt.Interval(0, 60), epsilon=2, cells=1 << 10),
        }
    )
    rng = np.random.default_rng(4)
    sent = {
        "heading": send(collector, published, "heading", rng.normal(350, 20, 2000) % 360),
        "item": send(collector, published, "item", rng.integers(0, 30, 2000)),
        "wait": send(collector, published, "wait", 60 * rng.random(2000)),
    }
    answers = Answers(collector)
    heading, *rest = answers.compute(published.id, [Query(name) for name in sent])
    assert heading["value"] == float(dt.mean(sent["heading"]).value)
    assert heading["interval"] == "95 % over 100 looks"
    items, (wait,) = rest[:30], rest[30:]
    assert [row["value"] for row in items] == np.asarray(dt.frequencies(sent["item"]).value).tolist()
    assert wait["value"] == float(dt.mean(sent["wait"]).value)
    assert {row["interval"] for row in (*items, wait)} == {"95 % at any time"}
    (refused,) = answers.compute(published.id, [Query("heading", lying=0.01)])
    assert refused["state"] == "no answer"
    assert "the effect of lies" in refused["reason"]
    answers.close()


def test_the_description_knows_every_route_and_parameter():
    from dither.collection.web.endpoints import ENDPOINTS, description
    from dither.collection.web.query import _KNOWN

    collector, _ = make()
    collector.store.close = lambda: None
    paths = description(answer_handlers(collector))["paths"]
    assert set(paths) == {
        f"/v1/campaigns/{{campaign}}/{name}"
        for name in ("answers.json", "answers.csv", "answers.arrow", "summary")
    }
    with pytest.raises(KeyError, match="no endpoint has the handlers other"):
        routes_of({"other": answer_handlers(collector)["answers"]})
    hidden = {endpoint.path for endpoint in ENDPOINTS if not endpoint.described}
    assert hidden == {"/", "/openapi.json", "/v1/campaigns/{campaign}/events"}
    named = {one["name"] for one in paths["/v1/campaigns/{campaign}/answers.json"]["get"]["parameters"]}
    assert named == {"campaign", *_KNOWN}


def test_the_threads_end_with_the_application():
    """Those that compute answers, draw pages and compute promises: nobody waits until memory is tidied."""
    import httpx

    from dither.collection.web.app import application
    from dither.collection.writer import Writer

    collector, _ = make()
    collector.store.close = lambda: None
    named = "dither-answers", "dither-pages", "dither-promises"
    asked, others = [], set(threading.enumerate())

    async def ask():
        app = application(Writer(collector))
        web = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://collector.example")
        async with app.router.lifespan_context(app), web:
            (campaign,) = collector.campaigns
            asked.append((await web.get(f"/v1/campaigns/{campaign}/answers.json")).status_code)
            asked.append((await web.get("/")).status_code)
            began = [one for one in set(threading.enumerate()) - others if one.name.startswith(named)]
        return app, began

    kept = asyncio.run(ask())  # the application is still there
    assert asked == [200, 200]
    assert len(kept[1]) >= 2
    for thread in kept[1]:
        thread.join(20)
        assert not thread.is_alive()
