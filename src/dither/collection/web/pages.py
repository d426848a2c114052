"""The pages of campaigns, drawn once for all readers while reports arrive."""

from __future__ import annotations

import asyncio
import datetime
import gzip
import json
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Final, NamedTuple

from dither.advice.explain import BatchPromise, batch_promise, explain
from dither.advice.sheet import officer_sheet
from dither.collection.campaign import Campaign
from dither.collection.collector import Collector
from dither.collection.published import Published
from dither.collection.settings import Networks, limited_as
from dither.collection.web.answers import (
    SHOWN,
    Answers,
    TooBusy,
    answer_handlers,
    guard,
    problem,
    query_terms,
    versions_of,
)
from dither.collection.web.charts import standalone
from dither.collection.web.documents import Parts, failure, listing, surroundings, whole_page
from dither.collection.web.formats import PlainRow, in_words, question_text
from dither.collection.web.images import as_png
from dither.collection.web.kept_changes import change_handlers
from dither.collection.web.playground import playground_headers, playground_page
from dither.collection.web.presence import presence_handlers
from dither.collection.web.query import By, Query, What
from dither.collection.web.requests import Handler, client_address
from dither.collection.web.sections import (
    COMING,
    Files,
    Told,
    draw_answers,
    headline,
    queries,
    regions,
    table_of,
)
from dither.collection.web.style import HEADERS, STYLE
from dither.collection.web.views import USUAL, View, has_sections, question_names, starts_of, step_of
from dither.collection.web.words import number_of
from dither.errors import InvalidParameter, unknown_name
from dither.foundation.digits import whole
from dither.foundation.markup import Markup, element, join_markup, page_of_markdown

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


_PLAIN: Final = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
_DRAWN: Final = {**_PLAIN, "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"}
_PICTURES: Final = ("svg", "png")
_PAUSE: Final = 1.0  # seconds between two checks for news
_STALE: Final = 10.0  # seconds after which parts are drawn again even without news
_LIFE: Final = 20.0  # seconds until the browser reconnects; less than a stop waits for open requests
_MOST_STREAMS: Final = 256
_PATIENCE: Final = 0.15  # seconds that a reader waits for all answers; slower ones follow
_KEPT: Final = 1024  # largest number of drawn sections that are kept
_DRAWINGS: Final = 8  # largest number of pictures that wait to be drawn as PNG
_HEADLINES: Final = 12  # questions of a campaign on the page of all campaigns
_SETTLED: Final = 1.0  # seconds after a start until pages are drawn in advance
_EARLY: Final = 8  # number of campaigns whose pages are drawn then


Mark = tuple[object, By, datetime.date]  # changes whenever a section does


class Drawn(NamedTuple):
    """The drawn parts of a page: their revision, their time, and whether all are up to date."""

    revision: int
    at: float
    parts: Parts
    complete: bool
    by: By


class Pages:
    """The changing parts of every page, drawn once for all readers.

    The estimate of each question is drawn at once. Distributions, dates and labels follow in another thread;
    a page that cannot wait for them has the previous ones, or announces them.
    """

    def __init__(self, collector: Collector, answers: Answers) -> None:
        self._collector, self._answers = collector, answers
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="dither-pages")
        self._later = ThreadPoolExecutor(1, thread_name_prefix="dither-sections")
        self._slow = ThreadPoolExecutor(2, thread_name_prefix="dither-promises")  # also draws pictures
        collector.at_begin.append(self.begin)
        collector.at_end.append(self.close)
        self._early: asyncio.TimerHandle | None = None
        self._drawn: dict[tuple[str, View], Drawn] = {}
        self._sections: OrderedDict[tuple[str, View, str], tuple[Mark, Parts]] = OrderedDict()
        self._coming: dict[tuple[str, View], Future[None]] = {}
        self._drawings = 0  # number of waiting pictures
        self._bodies: dict[tuple[str, View], tuple[Parts, list[str], bytes]] = {}
        self._batches: dict[str, Future[BatchPromise]] = {}
        self._sheets: dict[str, str] = {}  # pages for officers, by campaign
        self._locks: dict[str, asyncio.Lock] = {}
        self.streams: Counter[str] = Counter()  # keys: addresses

    def begin(self) -> None:
        """Draw the pages of running campaigns in advance, so that the first reader need not wait."""
        loop = asyncio.get_running_loop()
        self._early = loop.call_later(_SETTLED, self._pool.submit, self._draw_early)

    def _draw_early(self) -> None:
        """Draw the sections of the latest collecting campaigns that had no reader yet."""
        day = self._collector.day()
        known = [each for each in self._collector.campaigns.values() if each.contract.ends >= day]
        for published in known[-_EARLY:]:
            if (published.id, USUAL) not in self._coming:
                marks = self._marks(published, step_of(self._collector, published, USUAL), day)
                coming = self._later.submit(self._draw_sections, published, USUAL, marks)
                self._coming[published.id, USUAL] = coming

    def _marks(self, published: Published, by: By, day: datetime.date) -> dict[str, Mark]:
        """Return a mark for each question that changes whenever its section changes."""
        return {name: (self._answers.mark(published.id, name), by, day) for name in question_names(published)}

    async def parts(self, published: Published, view: View = USUAL) -> Parts:
        """Return the present parts, at most a second old."""
        return (await self._now(published, view)).parts

    async def page(self, published: Published, view: View) -> bytes:
        """Return the page of a campaign, compressed."""
        drawn = await self._now(published, view)
        known = list(self._collector.campaigns.values())
        others = [each.id for each in known]
        body = self._bodies.get((published.id, view))
        if body is None or body[0] is not drawn.parts or body[1] != others:

            def make() -> bytes:
                starts = starts_of(self._collector, published)
                return compress(whole_page(published, drawn.parts, known, view, drawn.by, starts))

            made = await asyncio.get_running_loop().run_in_executor(self._pool, make)
            body = self._bodies[published.id, view] = (drawn.parts, others, made)
        return body[2]

    async def overview(self) -> bytes:
        """Return the page of all campaigns, compressed."""
        known, day = list(self._collector.campaigns.values()), self._collector.day()

        def make() -> bytes:
            until = time.monotonic() + _PATIENCE
            newest = {each.id: each for each in (versions_of(version, known)[-1] for version in known)}
            parts = {identity: self._headlines(each, until) for identity, each in newest.items()}
            return compress(listing(known, parts, day, self._collector.settings.grace))

        return await asyncio.get_running_loop().run_in_executor(self._pool, make)

    async def png(self, picture: str) -> bytes:
        """Return a picture as PNG; raise TooBusy if many wait."""
        if self._drawings >= _DRAWINGS:
            raise TooBusy
        self._drawings += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._slow, as_png, picture)
        finally:
            self._drawings -= 1

    async def officer(self, published: Published) -> str:
        """Return the page for a privacy officer: statements of this campaign, and of every campaign."""

        def make() -> str:
            contract = published.contract
            language = "de" if contract.languages[:1] == ("de",) else "en"
            made = explain(contract.over_time, language=language, **contract.spoken)
            facts = contract.facts(published)
            return page_of_markdown(officer_sheet(facts, made, contract.name, "device", language), language)

        sheet = self._sheets.get(published.id)
        if sheet is None:
            sheet = await asyncio.get_running_loop().run_in_executor(self._slow, make)
            self._sheets[published.id] = sheet
        return sheet

    def _headlines(self, published: Published, until: float) -> Markup:
        """Return a table of each question's estimate, from all versions together where they can be combined.

        After `until` only one more is computed; the others follow when the page is loaded again.
        """
        lines: list[tuple[str, str, str]] = []
        versions = versions_of(published, self._collector.campaigns.values())
        names = list(dict.fromkeys(name for each in reversed(versions) for name in question_names(each)))
        for name in names[:_HEADLINES]:
            if lines and time.monotonic() > until:
                break
            there = self._answers.versions(published.id, name)
            newest, several = there[-1], len(there) > 1
            query = Query(name, what=What.VERSIONS if several else What.USUAL)
            rows = _with_words(self._answers.compute(newest.id, [query]), newest.contract)
            number = "" if newest.id == published.id else str(newest.contract.version)
            if several:  # the last row of an answer may be for all versions together
                rows = list({row["answer"]: row for row in rows if row["state"] == SHOWN}.values()) or rows
                if not any("+" in (row["version"] or "") for row in rows):
                    number = rows[-1]["version"] or number
                    rows = [row for row in rows if row["version"] == rows[-1]["version"]]
            heading = (question_text(name, newest.contract) or name) + (
                f" (version {number})" if number else ""
            )
            answer = headline(rows, newest.contract.questions[name])
            lines.append((heading, answer, whole(_reports(rows))))
        if not lines:
            return Markup()
        table = table_of("Answers of all versions", ("question", "answer", "reports"), lines)
        missing = len(names[:_HEADLINES]) - len(lines)
        if missing:
            return join_markup([table, COMING])
        more = len(names) - len(lines)
        words = f"and {number_of(more, 'more question')}" if more else ""
        return join_markup([table, element("p", words, class_="soft") if more else Markup()])

    async def _now(self, published: Published, view: View) -> Drawn:
        lock = self._locks.setdefault(published.id, asyncio.Lock())
        async with lock:
            revision, now = self._collector.live.revision, time.monotonic()
            drawn = self._drawn.get((published.id, view))
            if drawn is not None:
                age = now - drawn.at
                if age < _PAUSE or (drawn.complete and drawn.revision == revision and age < _STALE):
                    return drawn
            loop = asyncio.get_running_loop()
            parts, complete, by = await loop.run_in_executor(self._pool, self._draw, published, view)
            made = self._drawn[published.id, view] = Drawn(revision, now, parts, complete, by)
            return made

    def _draw(self, published: Published, view: View) -> tuple[Parts, bool, By]:
        """Return all parts, whether all are up to date, and the period of answers over time."""
        until = time.monotonic() + _PATIENCE
        by, day = step_of(self._collector, published, view), self._collector.day()
        marks = self._marks(published, by, day)
        answers = {
            name: self._ask(published, Query(name, since=view.since(day)))
            for name, mark in marks.items()
            if self._section(published, view, name)[0] != mark
        }
        if answers:
            coming = self._coming.get((published.id, view))
            if coming is None or coming.done():
                late = {name: marks[name] for name in answers}
                coming = self._later.submit(self._draw_sections, published, view, late)
                self._coming[published.id, view] = coming
            wait([coming], max(until - time.monotonic(), 0.0))
        parts, complete = surroundings(self._collector, published, self._batch(published)), True
        for number, (name, mark) in enumerate(marks.items()):
            drawn, section_parts = self._section(published, view, name)
            if drawn != mark:
                complete = False
                early, files = Told(answers[name], (), (), ()), _files(published, name, view)
                quick = regions(number, early, published.contract, by, files)
                before = section_parts or {**quick, f"q{number}-days": COMING}
                section_parts = {**before, f"q{number}-answer": quick[f"q{number}-answer"]}
            parts |= section_parts
        return parts, complete, by

    def _section(self, published: Published, view: View, name: str) -> tuple[Mark | None, Parts]:
        """Return the last drawn parts of a question, and their mark."""
        return self._sections.get((published.id, view, name), (None, {}))

    def _draw_sections(self, published: Published, view: View, late: Mapping[str, Mark]) -> None:
        """Draw the sections of some questions, each with its mark."""
        names, contract = list(published.contract.questions), published.contract
        for name, mark in late.items():
            _, by, day = mark
            requests = queries(name, contract.questions[name], view, by, day)
            rows = {kind: self._ask(published, query) if query else [] for kind, query in requests.items()}
            files = _files(published, name, view)
            made = regions(names.index(name), Told(**rows), contract, by, files)
            self._sections[published.id, view, name] = (mark, made)
            while len(self._sections) > _KEPT:
                self._sections.popitem(last=False)

    def _ask(self, published: Published, query: Query) -> list[PlainRow]:
        """Return rows with the campaign's words for the answers."""
        return _with_words(self._answers.compute(published.id, [query]), published.contract)

    def _batch(self, published: Published) -> Future[BatchPromise] | None:
        people = published.contract.people
        if people < 2 or not has_sections(published.contract):
            return None
        if published.id not in self._batches:
            self._batches[published.id] = self._slow.submit(
                lambda: batch_promise(published.contract.questions, minimum_batch=people)
            )
        return self._batches[published.id]

    def close(self) -> None:
        """Stop the threads."""
        if self._early is not None:
            self._early.cancel()
        for pool in (self._pool, self._later, self._slow):
            pool.shutdown(wait=False, cancel_futures=True)

    async def news(
        self,
        published: Published,
        request: Request,
        address: str,
        view: View = USUAL,
    ) -> AsyncIterator[bytes]:
        """Yield changes as events until the stream is old or the browser has left."""
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
    """Return whether a stream has to end because the browser has left or the server stops."""
    return bool(getattr(request.app.state, "stopping", False)) or await request.is_disconnected()


def _with_words(rows: Sequence[PlainRow], contract: Campaign) -> list[PlainRow]:
    return [{**row, "answer": row["answer in words"] or row["answer"]} for row in in_words(rows, contract)]


def _files(published: Published, name: str, view: View) -> Files:
    return Files.of(f"/v1/campaigns/{published.id}", name, view)


def _reports(rows: Sequence[PlainRow]) -> int:
    return max((row["n"] for row in rows), default=0)


def compress(text: str) -> bytes:
    """Return a compressed page, for nearly all browsers."""
    return gzip.compress(text.encode(), 6)


def page_handlers(collector: Collector) -> dict[str, Handler]:
    """Return the handlers of answers, summaries and pages."""
    from starlette.responses import Response, StreamingResponse

    answers = Answers(collector)
    pages = Pages(collector, answers)

    def show(request: Request, body: bytes, status: int = 200) -> Response:
        headers = dict(HEADERS)
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["content-encoding"] = "gzip"
        else:
            body = gzip.decompress(body)
        headers["vary"] = "accept-encoding"
        return Response(body, status, headers, media_type="text/html; charset=utf-8")

    def view_of(request: Request, published: Published) -> View:
        return View.of(request.query_params, starts_of(collector, published))

    async def front(request: Request) -> Response:
        known = list(collector.campaigns.values())
        if len(known) == 1:
            return show(request, await pages.page(known[0], view_of(request, known[0])))
        return show(request, await pages.overview())

    async def page(request: Request) -> Response:
        published = collector.campaigns.get(request.path_params["campaign"])
        if published is None:
            return show(request, compress(failure("This collector has no such campaign.")), 404)
        return show(request, await pages.page(published, view_of(request, published)))

    async def officer(request: Request) -> Response:
        published = collector.campaigns[request.path_params["campaign"]]
        return Response(await pages.officer(published), headers=_DRAWN, media_type="text/html; charset=utf-8")

    async def chart(request: Request) -> Response:
        published = collector.campaigns[request.path_params["campaign"]]
        target = Query.of(query_terms(request), published.contract, collector.day())
        form = request.path_params["form"]
        if form not in _PICTURES:
            raise unknown_name("form of a picture", form, list(_PICTURES))
        if len(target) != 1:
            raise InvalidParameter(f"expected one question for a picture; write chart.{form}?question=…")
        reader = limited_as(client_address(request.scope, Networks(collector.settings.proxies)))
        rows = await answers.of(published.id, target, reader)
        drawn = draw_answers(target[0], _with_words(rows, published.contract))
        if not drawn:
            raise InvalidParameter("these answers cannot be drawn; use what=distribution, or by=day")
        picture = standalone(drawn, STYLE)
        if form == "svg":
            return Response(picture, headers=_DRAWN, media_type="image/svg+xml")
        return Response(await pages.png(picture), headers=_DRAWN, media_type="image/png")

    async def playground(request: Request) -> Response:
        return Response(playground_page(), headers=playground_headers())

    async def events(request: Request) -> Response:
        address = limited_as(client_address(request.scope, Networks(collector.settings.proxies)))
        if pages.streams.total() >= _MOST_STREAMS or pages.streams[address] >= collector.settings.pages:
            return problem(503, "too many pages are open; the numbers do not change by themselves")
        published = collector.campaigns[request.path_params["campaign"]]
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(
            pages.news(published, request, address, view_of(request, published)),
            headers=headers,
            media_type="text/event-stream",
        )

    return {
        **answer_handlers(collector, answers),
        **presence_handlers(collector),
        **change_handlers(collector),
        "front": front,
        "page": page,
        "chart": guard(collector, chart),
        "officer": guard(collector, officer),
        "events": guard(collector, events),
        "playground": playground,
    }
