"""The page of a campaign, which shows answers while reports arrive."""

from __future__ import annotations

import asyncio
import datetime
import gzip
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from dither.advice.explain import BatchPromise, batch_promise
from dither.collection.campaign import Campaign, Published
from dither.collection.collector import Collector
from dither.collection.settings import Networks, limited_as
from dither.collection.web.answers import (
    FEW,
    NONE,
    PATHS,
    SHOWN,
    Answers,
    By,
    PlainRow,
    Query,
    What,
    answer_routes,
    guard,
    problem,
)
from dither.collection.web.drawing import (
    HEADERS,
    MOST_BARS,
    SCRIPT,
    STYLE,
    bounds,
    draw_bars,
    draw_history,
    draw_shape,
    narrow,
    number_of,
    promise,
    question_words,
    with_interval,
)
from dither.collection.web.requests import client_address
from dither.core.question import Question
from dither.foundation.digits import whole
from dither.foundation.markup import Markup, element, join_markup

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute


_LIES: Final = 0.01  # the share of lies that the page allows for in a second interval
FILES: Final = {"json": "JSON", "csv": "CSV", "arrow": "Arrow"}
_MOST_DAYS: Final = 31  # rows of the table by day


@dataclass(frozen=True)
class Told:
    """The rows that the page shows of a question."""

    usual: Sequence[PlainRow]
    shape: Sequence[PlainRow]
    days: Sequence[PlainRow]
    lying: Sequence[PlainRow]
    sizes: Sequence[PlainRow] = ()


def queries(name: str, question: Question) -> dict[str, Query | None]:
    """Return what has to be asked for the page of a question, by the field of `Told`."""
    domain = question.domain
    straight = domain.line is domain and not domain.circular
    return {
        "usual": Query(name),
        "shape": Query(name, What.DISTRIBUTION) if straight else None,
        "days": Query(name, by=By.DAY),
        "lying": Query(name, lying=_LIES),
        "sizes": Query(name, What.SIZES) if domain.sets else None,
    }


def regions(number: int, told: Told, contract: Campaign) -> dict[str, Markup]:
    """Return the parts of a question that change, by their identity on the page."""
    first = told.usual[0]
    return {
        f"q{number}-answer": _answer(told, contract.people),
        f"q{number}-picture": _picture(told, first),
        f"q{number}-days": _days(told),
        f"q{number}-table": _table(told),
    }


def section(number: int, name: str, contract: Campaign, base: str, parts: dict[str, Markup]) -> Markup:
    """Return the section of a question with its changing parts in place."""

    def region(kind: str) -> Markup:
        identity = f"q{number}-{kind}"
        return element("div", parts[identity], id=identity)

    files = [
        element("a", FILES[form], href=f"{base}/answers.{form}?{urlencode({'question': name})}")
        for form in FILES
    ]
    files.append(element("a", "summary", href=f"{base}/summary?{urlencode({'question': name})}"))
    return element(
        "section",
        element("h2", name, id=f"q{number}"),
        element("p", question_words(contract.questions[name]), ".", class_="soft"),
        region("answer"),
        region("picture"),
        region("days"),
        element("details", element("summary", f"All numbers of {name}"), region("table")),
        element("p", "Export: ", join_markup(files, ", "), class_="soft"),
        **{"aria-labelledby": f"q{number}"},
    )


def _answer(told: Told, people: int) -> Markup:
    first = told.usual[0]
    if first["state"] == NONE:
        return element("p", "No reports have arrived yet.", class_="big")
    if first["state"] == FEW:
        words = f"{number_of(first['n'], 'report')} so far; an answer is shown from {whole(people)} on."
        return join_markup([element("p", "Too few people", class_="big"), element("p", words, class_="warn")])
    if first["state"] != SHOWN:
        return join_markup(
            [
                element("p", "No answer", class_="big"),
                element("p", f"{number_of(first['n'], 'report')}. {first['reason']}", class_="warn"),
            ]
        )
    top = max(told.usual, key=lambda row: row["value"])
    lead = with_interval(top)
    named = first["answer"] is not None
    lines = [
        element("p", f"{top['answer']}: {lead}" if named else lead, class_="big"),
        element(
            "p",
            f"{'most frequent answer' if named else first['quantity']} of {number_of(first['n'], 'report')}; "
            f"interval: {narrow(top['interval'])}",
            class_="soft",
        ),
    ]
    for row in told.sizes[-1:]:  # beyond it nothing is seen
        if row["state"] == SHOWN:
            words = f"{row['answer']} items: {bounds(row)} of the people, at many looks."
            lines.append(element("p", words, class_="soft"))
    for row in told.lying:
        if row["state"] == SHOWN and row["answer"] == top["answer"]:
            lines.append(
                element(
                    "p", f"If 1\u202f% of the reports are lies: {bounds(row)}, at one look.", class_="soft"
                )
            )
    return join_markup(lines)


def _picture(told: Told, first: PlainRow) -> Markup:
    if first["state"] != SHOWN:
        return Markup()
    if first["answer"] is not None:
        shown = sum(row["state"] == SHOWN for row in told.usual)
        picture = draw_bars(told.usual)
        more = shown - MOST_BARS
        note = element("p", f"and {whole(more)} more answers", class_="soft") if more > 0 else Markup()
        return join_markup([element("h3", "Shares"), picture, note])
    picture = draw_shape(told.shape, first["unit"] or "")
    return join_markup([element("h3", "Distribution"), picture]) if picture else Markup()


def _days(told: Told) -> Markup:
    picture, names = draw_history(told.days)
    if not picture:
        return Markup()
    series = [element("span", name, class_=f"t{number}") for number, name in enumerate(names)]
    title = element("h3", "By day: ", join_markup(series, ", ")) if series else element("h3", "By day")
    return join_markup([title, picture])


def _table(told: Told) -> Markup:
    lines = [row for row in told.usual if row["state"] == SHOWN]
    kept = []
    if lines and lines[0]["answer"] is not None:
        kept.append(
            _rows(
                "Shares",
                ("answer", "share", "reports"),
                [(row["answer"], with_interval(row), whole(row["n"])) for row in lines[:100]],
            )
        )
    bins = [row for row in told.shape if row["state"] == SHOWN]
    if bins:
        name = f"Distribution; {narrow(bins[0]['interval'])}, by {whole(bins[0]['n of interval'])} reports"
        shares = [(f"{row['from']:.4g} – {row['to']:.4g}", with_interval(row)) for row in bins]
        kept.append(_rows(name, ("from – to", "share"), shares))
    days = [row for row in told.days if row["answer"] is None or row["answer"] == _leading(told)]
    if days:
        leading = _leading(told)
        name = "By day" if leading is None else f"By day: {leading}"
        cells = [
            (row["day"], with_interval(row) if row["state"] == SHOWN else row["state"], whole(row["n"]))
            for row in days[-_MOST_DAYS:]
        ]
        kept.append(_rows(name, ("day", "estimate", "reports"), cells))
    return join_markup(kept) if kept else element("p", "Nothing yet.")


def _leading(told: Told) -> str | None:
    lines = [row for row in told.usual if row["state"] == SHOWN]
    answer = max(lines, key=lambda row: row["value"])["answer"] if lines else None
    return None if answer is None else str(answer)


def _rows(name: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    top = element("tr", *(element("th", heading, scope="col") for heading in head))
    body = [
        element("tr", element("th", row[0], scope="row"), *(element("td", cell) for cell in row[1:]))
        for row in rows
    ]
    table = element("table", element("caption", name), element("thead", top), element("tbody", *body))
    return element("div", table, class_="scroll", tabindex="0", role="group", **{"aria-label": name})


_CROWD: Final = (
    "Whoever reads this page sees such batches: its numbers are counts, and grow by at least the minimum at "
    "a time. Whoever runs the collector sees reports arrive; it stores no address."
)
_LOOKS: Final = (
    "Intervals “at any time” of means and frequencies hold together at all numbers of reports, however often "
    "somebody looks. Those of quantiles and distributions hold at 100 looks, taken whenever the number of "
    "reports has grown by a fifth."
)
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
    collector: Collector, answers: Answers, published: Published, batch: Future[BatchPromise] | None
) -> dict[str, Markup]:
    """Return the parts that change, by identity. Computes answers: call it in a thread."""
    contract, total, waiting = published.contract, 0, 0
    parts: dict[str, Markup] = {}
    for number, (name, question) in enumerate(contract.questions.items()):
        rows = {
            kind: [] if query is None else answers.compute(published.id, [query])
            for kind, query in queries(name, question).items()
        }
        parts |= regions(number, Told(**rows), contract)
        total += collector.live.n(published.id, name, shown=True)
        waiting += collector.live.waiting(published.id, name)
    now = datetime.datetime.now(datetime.UTC)
    word, sentence = state(published, collector.day(), collector.settings.grace)
    parts["state"] = join_markup(
        [element("span", word, class_="state" if word == "collecting" else "state warn"), " ", sentence]
    )
    more = f", of which {whole(waiting)} wait for more to come" if waiting else ""
    parts["status"] = join_markup(
        [f"{number_of(total + waiting, 'report')}{more}; {now:%Y-%m-%d %H:%M} UTC."]
    )
    parts["refused"] = _refusal_list(collector, published.id)
    parts["health"] = _health(collector)
    parts["batch"] = _batch(batch)
    return parts


def whole_page(published: Published, parts: Mapping[str, Markup], others: Sequence[Published]) -> str:
    """Return the page of a campaign as HTML."""
    contract, base = published.contract, f"/v1/campaigns/{published.id}"
    sections = [
        section(number, name, contract, base, dict(parts)) for number, name in enumerate(contract.questions)
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
            element("div", *sections, class_="questions"),
            promised,
            _section("Refused batches", "refusals", region("refused")),
            _section("Health", "healthy", region("health")),
            _section("All answers", "export", _exports(base), element("p", _LOOKS, class_="soft")),
            **{"data-events": f"{base}/events"},
        ),
        _others(published, others),
    ]
    return document(f"{contract.name}: answers", body)


def document(title: str, body: Sequence[Markup]) -> str:
    """Return a whole document with the style and the script that the policy allows."""
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
    """Return the page that lists the campaigns; also if there is none."""
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
    """Return a page that says what is wrong."""
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
    person, officer = narrow(found.person), narrow(found.officer)
    return join_markup([element("p", person), element("p", officer, " ", _CROWD, class_="soft")])


def _assumptions(assumed: Sequence[str]) -> str:
    return f"It assumes that {'; '.join(assumed)}." if assumed else "Nothing is assumed about who reads it."


def _exports(base: str) -> Markup:
    links = [element("a", word, href=f"{base}/answers.{ending}") for ending, word in FILES.items()]
    return element("p", join_markup(links, ", "), "; ", element("a", "the signed campaign", href=base))


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
_LIFE: Final = 20.0  # seconds of a stream, after which the browser connects again; below the drain of a stop
_MOST_STREAMS: Final = 256


class Pages:
    """The parts of every page that change, drawn once for all who look."""

    def __init__(self, collector: Collector, answers: Answers) -> None:
        self._collector, self._answers = collector, answers
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="dither-pages")
        self._slow = ThreadPoolExecutor(1, thread_name_prefix="dither-promises")
        collector.at_end.append(self.close)
        self._drawn: dict[str, tuple[int, float, dict[str, Markup]]] = {}
        self._batches: dict[str, Future[BatchPromise]] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self.streams: Counter[str] = Counter()  # by address

    async def parts(self, published: Published) -> dict[str, Markup]:
        """Return the parts as they are now, or as they were at most a second ago."""
        lock = self._locks.setdefault(published.id, asyncio.Lock())
        async with lock:
            revision, now = self._collector.live.revision, time.monotonic()
            drawn = self._drawn.get(published.id)
            if drawn is not None:
                age = now - drawn[1]
                if age < _PAUSE or (drawn[0] == revision and age < _STALE):
                    return drawn[2]
            loop = asyncio.get_running_loop()
            made = await loop.run_in_executor(self._pool, self._draw, published)
            self._drawn[published.id] = (revision, now, made)
            return made

    def _draw(self, published: Published) -> dict[str, Markup]:
        return changing(self._collector, self._answers, published, self._batch(published))

    def _batch(self, published: Published) -> Future[BatchPromise] | None:
        people = published.contract.people
        if people < 2:
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

    async def news(self, published: Published, request: Request, address: str) -> AsyncIterator[bytes]:
        """Yield what has changed, as events, until the stream is old or the browser has gone."""
        self.streams[address] += 1
        try:
            sent: dict[str, Markup] = {}
            until = time.monotonic() + _LIFE
            yield b"retry: 2000\n\n"
            while time.monotonic() < until and not await _over(request):
                parts = await self.parts(published)
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


def page_routes(collector: Collector) -> list[BaseRoute]:
    """Return the routes of answers, summaries and pages."""
    from starlette.responses import Response, StreamingResponse
    from starlette.routing import Route

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
        parts = await pages.parts(published)
        return show(request, whole_page(published, parts, list(collector.campaigns.values())))

    async def events(request: Request) -> Response:
        address = limited_as(client_address(request.scope, Networks(collector.settings.proxies)))
        if pages.streams.total() >= _MOST_STREAMS or pages.streams[address] >= collector.settings.pages:
            return problem(503, "too many pages are open; the numbers do not change by themselves")
        published = collector.campaigns[request.path_params["campaign"]]
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(
            pages.news(published, request, address), headers=headers, media_type="text/event-stream"
        )

    return [
        *answer_routes(collector, answers),
        Route("/", front, methods=["GET"]),
        Route("/campaigns/{campaign}", page, methods=["GET"]),
        Route("/v1/campaigns/{campaign}/events", guard(collector, events), methods=["GET"]),
    ]


page_routes.paths = PATHS  # type: ignore[attr-defined]  # for the OpenAPI description
