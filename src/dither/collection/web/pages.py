"""The page of a campaign; it shows answers while reports arrive."""

from __future__ import annotations

import asyncio
import datetime
import gzip
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from dither.advice.explain import BatchPromise, batch_promise
from dither.collection.campaign import Published
from dither.collection.collector import Collector
from dither.collection.presence import counts_presence
from dither.collection.settings import Networks, limited_as
from dither.collection.web.answers import (
    Answers,
    By,
    Query,
    answer_handlers,
    guard,
    problem,
    query_terms,
)
from dither.collection.web.charts import (
    standalone,
)
from dither.collection.web.playground import playground_headers, playground_page
from dither.collection.web.presence import draw_presence, presence_handlers
from dither.collection.web.requests import Handler, client_address
from dither.collection.web.sections import (
    FILES,
    PERIODS,
    STEPS,
    USUAL,
    Told,
    View,
    answers_in_words,
    draw_answers,
    queries,
    regions,
    section,
)
from dither.collection.web.style import HEADERS, SCRIPT, STYLE
from dither.collection.web.words import (
    narrow,
    number_of,
    promise,
    short_budget,
)
from dither.errors import InvalidParameter
from dither.foundation.digits import whole
from dither.foundation.markup import Markup, element, join_markup

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


_CROWD: Final = (
    "Whoever reads this page sees such batches: its numbers are counts, and grow by at least the minimum at "
    "a time. Whoever runs the collector sees reports arrive; it stores no address."
)
_LOOKS: Final = (
    "Intervals “at any time” of means and frequencies hold together at all numbers of reports, however often "
    "somebody looks. Those of quantiles and distributions hold at 100 looks, taken whenever the number of "
    "reports has grown by a fifth."
)
_PLAIN: Final = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
_BLANK: Final = "data:,"  # an icon that needs no request


def state(published: Published, day: datetime.date, grace: int) -> tuple[str, str]:
    """Return the state of a campaign in a word and in a sentence."""
    contract = published.contract
    if published.retired is not None and published.retired[0] <= day:
        return "retired", f"Retired on {published.retired[0]}; nothing is collected any more."
    if day < contract.begins:
        return "not begun", f"Collecting begins on {contract.begins}."
    if day > contract.ends + datetime.timedelta(grace):
        return "ended", f"Ended on {contract.ends}; these are its final numbers."
    return "collecting", f"From {contract.begins} to {contract.ends}."


def changing(
    collector: Collector,
    answers: Answers,
    published: Published,
    batch: Future[BatchPromise] | None,
    view: View,
) -> dict[str, Markup]:
    """Return the parts that change, by identity. Computes answers: call it in a thread."""
    contract, total, waiting, by = published.contract, 0, 0, step_of(collector, published, view)
    parts: dict[str, Markup] = {}
    parts["presence"] = draw_presence(collector, published)
    part = {} if counts_presence(contract) else contract.questions
    for number, (name, question) in enumerate(part.items()):
        words = answers_in_words(name, contract)
        rows = {
            kind: []
            if query is None
            else [
                {**row, "answer": words.get(row["answer"], row["answer"])}
                for row in answers.compute(published.id, [query])
            ]
            for kind, query in queries(name, question, view, by, collector.day()).items()
        }
        parts |= regions(number, Told(**rows), contract, by)
        total += collector.live.n(published.id, name, shown=True)
        waiting += collector.live.waiting(published.id, name)
    now = datetime.datetime.now(datetime.UTC)
    word, sentence = state(published, collector.day(), collector.settings.grace)
    parts["state"] = join_markup(
        [element("span", word, class_="state" if word == "collecting" else "state warn"), " ", sentence]
    )
    more = f" {whole(waiting)} of them are counted when enough others have come." if waiting else ""
    total_text = "" if counts_presence(contract) else f"{number_of(total + waiting, 'report')}, "
    parts["status"] = join_markup([f"{total_text}{now:%Y-%m-%d %H:%M} UTC.{more}"])
    parts["refused"] = _refusal_list(collector, published.id)
    parts["health"] = _health(collector)
    parts["batch"] = _batch(batch)
    return parts


def whole_page(
    published: Published, parts: Mapping[str, Markup], others: Sequence[Published], view: View, by: By
) -> str:
    """Return the page of a campaign as HTML."""
    contract, base = published.contract, f"/v1/campaigns/{published.id}"
    sections = [
        section(number, name, contract, base, dict(parts), view, by)
        for number, name in enumerate(() if counts_presence(contract) else contract.questions)
    ]

    def region(identity: str, name: str = "div", **more: str) -> Markup:
        return element(name, parts[identity], id=identity, **more)

    promised = element(
        "section",
        element("h2", "What is promised to a person", id="promised"),
        *(element("p", sentence) for sentence in promise(contract)),
        region("batch"),
        element("p", _assumptions(contract.guarantee.assumes), class_="soft"),
        **{"aria-labelledby": "promised"},
    )
    body = [
        element(
            "header",
            element("h1", contract.name),
            region("state", "p"),
            element("p", contract.purpose),
            element("p", f"{contract.asker}; {contract.contact}; version {contract.version}", class_="soft"),
        ),
        element(
            "main",
            region("status", "p", class_="soft"),
            element("p", "", id="live", role="status", class_="soft"),
            _picker(published, view, by),
            region("presence"),
            element("div", *sections, class_="questions"),
            promised,
            _section("Refused batches", "refusals", region("refused")),
            _section("Health", "healthy", region("health")),
            *([] if counts_presence(contract) else [_all_answers(base)]),
            **{"data-events": f"{base}/events{view.query}"},
        ),
        _others(published, others),
    ]
    return document(f"{contract.name}: answers", body)


def step_of(collector: Collector, published: Published, view: View) -> By:
    """Return the period of the page's answers over time: the chosen one, or one that fits."""
    days = {day for name in published.contract.questions for day in collector.live.days(published.id, name)}
    since = collector.day() - datetime.timedelta((view.last or 1) - 1)
    return view.step(len(days) if view.last is None else sum(day >= since for day in days))


def _picker(published: Published, view: View, by: By) -> Markup:
    """Return links to the other periods, and to days, weeks and months."""

    def link(words: str, other: View, chosen: bool) -> Markup:
        address = f"/campaigns/{published.id}{other.query}"
        return element("a", words, href=address, **{"aria-current": "true" if chosen else None})

    periods = [
        link("all days" if last is None else f"last {last} days", replace(view, last=last), last == view.last)
        for last in PERIODS
    ]
    steps = [link(f"by {step.value}", replace(view, by=step), step is by) for step in STEPS]
    links = join_markup([join_markup(periods, " · "), join_markup(steps, " · ")], " | ")
    return element("nav", element("p", links, class_="soft"), **{"aria-label": "Period"})


def document(title: str, body: Sequence[Markup]) -> str:
    """Return a complete document with the style and the script that the policy allows."""
    head = [
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        Markup(f'<link rel="icon" href="{_BLANK}">'),
        element("style", Markup(STYLE)),
    ]
    script = element("script", Markup(SCRIPT))
    whole_document = element("html", element("head", *head), element("body", *body, script), lang="en")
    return f"<!doctype html>\n{whole_document}\n"


def listing(published: Sequence[Published], day: datetime.date, grace: int) -> str:
    """Return the page that lists the campaigns, also an empty list."""
    rows = [
        element(
            "li",
            element(
                "a",
                f"{campaign.contract.name}, version {campaign.contract.version}",
                href=f"/campaigns/{campaign.id}",
            ),
            f" ({state(campaign, day, grace)[0]})",
        )
        for campaign in published
    ]
    shown = element("ul", *rows) if rows else element("p", "No campaign has been published here.")
    return document("Campaigns", [element("main", element("h1", "Campaigns"), shown)])


def failure(words: str) -> str:
    """Return a page with an error."""
    link = element("p", element("a", "All campaigns", href="/"))
    return document("Not shown", [element("main", element("h1", "Not shown"), element("p", words), link)])


def _refusal_list(collector: Collector, campaign: str) -> Markup:
    counts: Counter[str] = Counter()
    words: dict[str, str] = {}
    for (whose, _, reason), count in collector.refused.items():
        if whose in (campaign, ""):
            counts[reason.value] += count
            words[reason.value] = reason.words
    if not counts:
        return element("p", "None.")
    top = element(
        "tr",
        *(element("th", heading, scope="col") for heading in ("batches", "reason", "what a device is told")),
    )
    body = [
        element(
            "tr",
            element("td", whole(count)),
            element("th", reason, scope="row"),
            element("td", words[reason]),
        )
        for reason, count in counts.most_common()
    ]
    table = element("table", element("thead", top), element("tbody", *body))
    more: dict[str, str] = {"aria-label": "Refused batches"}
    return element("div", table, class_="scroll", tabindex="0", role="group", **more)


def _health(collector: Collector) -> Markup:
    known = collector.health()
    word = "Ready to store reports." if known["ready"] else "Not ready: reports are refused for now."
    hours, minutes = divmod(int(known["seconds"]) // 60, 60)
    return join_markup(
        [
            element("p", word, class_=None if known["ready"] else "warn"),
            element(
                "p",
                f"{number_of(known['reports'], 'report')} in {number_of(known['campaigns'], 'campaign')}; up "
                f"for {whole(hours)}\u202fh {minutes}\u202fmin.",
                class_="soft",
            ),
        ]
    )


def _batch(batch: Future[BatchPromise] | None) -> Markup:
    if batch is None:
        return Markup()
    if not batch.done():
        return element("p", "The promise for shuffled reports is being computed.", class_="soft")
    if batch.exception() is not None:
        return element("p", "The promise for shuffled reports could not be computed.", class_="soft")
    found = batch.result()
    if found.guarantee is None:
        return element("p", found.officer, class_="soft")
    person, officer = narrow(found.person), narrow(short_budget(found.officer))
    return join_markup([element("p", person), element("p", officer, " ", _CROWD, class_="soft")])


def _assumptions(assumed: Sequence[str]) -> str:
    return f"It assumes that {'; '.join(assumed)}." if assumed else "Nothing is assumed about who reads it."


def _exports(base: str) -> Markup:
    links = [element("a", word, href=f"{base}/answers.{ending}") for ending, word in FILES.items()]
    return element("p", join_markup(links, ", "), "; ", element("a", "the signed campaign", href=base))


def _all_answers(base: str) -> Markup:
    return _section("All answers", "export", _exports(base), element("p", _LOOKS, class_="soft"))


def _section(title: str, identity: str, *parts: Markup) -> Markup:
    return element("section", element("h2", title, id=identity), *parts, **{"aria-labelledby": identity})


def _others(published: Published, others: Sequence[Published]) -> Markup:
    rest = [campaign for campaign in others if campaign.id != published.id]
    if not rest:
        return Markup()
    links = [element("a", campaign.contract.name, href=f"/campaigns/{campaign.id}") for campaign in rest[:20]]
    return element("footer", element("p", "Other campaigns: ", join_markup(links, ", ")))


_PAUSE: Final = 1.0  # seconds between two looks for news
_STALE: Final = 10.0  # seconds after which parts are drawn again without any news
_LIFE: Final = 20.0  # seconds until the browser connects again; below the drain of a stop
_MOST_STREAMS: Final = 256


class Pages:
    """The parts of every page that change, drawn once for all who look."""

    def __init__(self, collector: Collector, answers: Answers) -> None:
        self._collector, self._answers = collector, answers
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="dither-pages")
        self._slow = ThreadPoolExecutor(1, thread_name_prefix="dither-promises")
        collector.at_end.append(self.close)
        self._drawn: dict[tuple[str, View], tuple[int, float, dict[str, Markup]]] = {}
        self._batches: dict[str, Future[BatchPromise]] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self.streams: Counter[str] = Counter()  # keys: addresses

    async def parts(self, published: Published, view: View = USUAL) -> dict[str, Markup]:
        """Return the parts as they are now, or as they were at most a second ago."""
        lock = self._locks.setdefault(published.id, asyncio.Lock())
        async with lock:
            revision, now = self._collector.live.revision, time.monotonic()
            drawn = self._drawn.get((published.id, view))
            if drawn is not None:
                age = now - drawn[1]
                if age < _PAUSE or (drawn[0] == revision and age < _STALE):
                    return drawn[2]
            loop = asyncio.get_running_loop()
            made = await loop.run_in_executor(self._pool, self._draw, published, view)
            self._drawn[published.id, view] = (revision, now, made)
            return made

    def _draw(self, published: Published, view: View) -> dict[str, Markup]:
        return changing(self._collector, self._answers, published, self._batch(published), view)

    def _batch(self, published: Published) -> Future[BatchPromise] | None:
        people = published.contract.people
        if people < 2 or counts_presence(published.contract):
            return None
        if published.id not in self._batches:
            self._batches[published.id] = self._slow.submit(
                lambda: batch_promise(published.contract.questions, minimum_batch=people)
            )
        return self._batches[published.id]

    def close(self) -> None:
        """Stop the threads."""
        for pool in (self._pool, self._slow):
            pool.shutdown(wait=False, cancel_futures=True)

    async def news(
        self,
        published: Published,
        request: Request,
        address: str,
        view: View = USUAL,
    ) -> AsyncIterator[bytes]:
        """Yield changes, as events, until the stream is old or the browser has gone."""
        self.streams[address] += 1
        try:
            sent: dict[str, Markup] = {}
            until = time.monotonic() + _LIFE
            yield b"retry: 2000\n\n"
            while time.monotonic() < until and not await _over(request):
                parts = await self.parts(published, view)
                changed = {name: part for name, part in parts.items() if sent.get(name) != part}
                if changed:
                    yield f"data: {json.dumps(changed, ensure_ascii=False)}\n\n".encode()
                    sent = parts
                await asyncio.sleep(_PAUSE)
        finally:
            self.streams[address] -= 1
            if not self.streams[address]:
                del self.streams[address]


async def _over(request: Request) -> bool:
    """Return whether a stream has to end: the browser has gone, or the server stops."""
    return bool(getattr(request.app.state, "stopping", False)) or await request.is_disconnected()


def page_handlers(collector: Collector) -> dict[str, Handler]:
    """Return the handlers of answers, summaries and pages."""
    from starlette.responses import Response, StreamingResponse

    answers = Answers(collector)
    pages = Pages(collector, answers)

    def show(request: Request, text: str, status: int = 200) -> Response:
        body, headers = text.encode(), dict(HEADERS)
        if "gzip" in request.headers.get("accept-encoding", ""):
            body, headers["content-encoding"] = gzip.compress(body, 6), "gzip"
        headers["vary"] = "accept-encoding"
        return Response(body, status, headers, media_type="text/html; charset=utf-8")

    async def front(request: Request) -> Response:
        known = list(collector.campaigns.values())
        if len(known) == 1:
            return await one_page(request, known[0])
        return show(request, listing(known, collector.day(), collector.settings.grace))

    async def page(request: Request) -> Response:
        published = collector.campaigns.get(request.path_params["campaign"])
        if published is None:
            return show(request, failure("This collector has no such campaign."), 404)
        return await one_page(request, published)

    async def one_page(request: Request, published: Published) -> Response:
        view = View.of(request.query_params)
        parts = await pages.parts(published, view)
        by, known = step_of(collector, published, view), list(collector.campaigns.values())
        return show(request, whole_page(published, parts, known, view, by))

    async def chart(request: Request) -> Response:
        published = collector.campaigns[request.path_params["campaign"]]
        target = Query.of(query_terms(request), published.contract, collector.day())
        if len(target) != 1:
            raise InvalidParameter("a picture is of one question: chart.svg?question=…")
        reader = limited_as(client_address(request.scope, Networks(collector.settings.proxies)))
        rows = await answers.of(published.id, target, reader)
        drawn = draw_answers(target[0], rows)
        if not drawn:
            raise InvalidParameter("these answers have no picture: ask for what=distribution, or by=day")
        headers = {**_PLAIN, "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"}
        return Response(standalone(drawn, STYLE), headers=headers, media_type="image/svg+xml")

    async def playground(request: Request) -> Response:
        return Response(playground_page(), headers=playground_headers())

    async def events(request: Request) -> Response:
        address = limited_as(client_address(request.scope, Networks(collector.settings.proxies)))
        if pages.streams.total() >= _MOST_STREAMS or pages.streams[address] >= collector.settings.pages:
            return problem(503, "too many pages are open; the numbers do not change by themselves")
        published = collector.campaigns[request.path_params["campaign"]]
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(
            pages.news(published, request, address, View.of(request.query_params)),
            headers=headers,
            media_type="text/event-stream",
        )

    return {
        **answer_handlers(collector, answers),
        **presence_handlers(collector),
        "front": front,
        "page": page,
        "chart": guard(collector, chart),
        "events": guard(collector, events),
        "playground": playground,
    }
