"""The page over HTTP: `/`, `/campaigns/ID`, and its news as server-sent events."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import AsyncIterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, final

from dither.deployments.batch import BatchPromise, batch_promise
from dither.html import Markup
from dither.service.answers.answering import Answers
from dither.service.answers.description import PATHS
from dither.service.answers.routes import guarded, problem
from dither.service.answers.routes import routes as answer_routes
from dither.service.collector import Collector
from dither.service.contract import Published
from dither.service.pages.assets import HEADERS
from dither.service.pages.page import changing, failure, listing, whole_page

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

_PAUSE: Final = 1.0  # seconds between two looks for news
_STALE: Final = 10.0  # seconds after which parts are drawn again without any news
_LIFE: Final = 20.0  # seconds of a stream, after which the browser connects again; below the drain of a stop
_MOST_STREAMS: Final = 256


@final
class Pages:
    """The parts of every page that change, drawn once for all who look."""

    def __init__(self, collector: Collector, answers: Answers) -> None:
        self._collector, self._answers = collector, answers
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="dither-pages")
        self._slow = ThreadPoolExecutor(1, thread_name_prefix="dither-promises")
        self._drawn: dict[str, tuple[int, float, dict[str, Markup]]] = {}
        self._batches: dict[str, Future[BatchPromise]] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self.streams = 0

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

    async def news(self, published: Published, request: Request) -> AsyncIterator[bytes]:
        """Yield what has changed, as events, until the stream is old or the browser has gone."""
        self.streams += 1
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
            self.streams -= 1


async def _over(request: Request) -> bool:
    """Return whether a stream has to end: the browser has gone, or the server stops."""
    return bool(getattr(request.app.state, "stopping", False)) or await request.is_disconnected()


def routes(collector: Collector) -> list[BaseRoute]:
    """Return the routes of answers, summaries and pages."""
    from starlette.responses import Response, StreamingResponse
    from starlette.routing import Route

    answers = Answers(collector)
    pages = Pages(collector, answers)

    def shown(request: Request, text: str, status: int = 200) -> Response:
        body, headers = text.encode(), dict(HEADERS)
        if "gzip" in request.headers.get("accept-encoding", ""):
            body, headers["content-encoding"] = gzip.compress(body, 6), "gzip"
        headers["vary"] = "accept-encoding"
        return Response(body, status, headers, media_type="text/html; charset=utf-8")

    async def front(request: Request) -> Response:
        known = list(collector.campaigns.values())
        if len(known) == 1:
            return await one_page(request, known[0])
        return shown(request, listing(known, collector.day(), collector.settings.grace))

    async def page(request: Request) -> Response:
        published = collector.campaigns.get(request.path_params["campaign"])
        if published is None:
            return shown(request, failure("This collector has no such campaign."), 404)
        return await one_page(request, published)

    async def one_page(request: Request, published: Published) -> Response:
        parts = await pages.parts(published)
        return shown(request, whole_page(published, parts, list(collector.campaigns.values())))

    async def events(request: Request) -> Response:
        if pages.streams >= _MOST_STREAMS:
            return problem(503, "too many pages are open; the numbers do not change by themselves")
        published = collector.campaigns[request.path_params["campaign"]]
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(
            pages.news(published, request), headers=headers, media_type="text/event-stream"
        )

    return [
        *answer_routes(collector, answers),
        Route("/", front, methods=["GET"]),
        Route("/campaigns/{campaign}", page, methods=["GET"]),
        Route("/v1/campaigns/{campaign}/events", guarded(collector, events), methods=["GET"]),
    ]


routes.paths = PATHS  # type: ignore[attr-defined]  # for the OpenAPI description
