"""Answers and summaries over HTTP: `GET /v1/campaigns/ID/answers.json`, `.csv`, `.arrow` and `/summary`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from dither.errors import DitherError, InvalidParameter, MissingExtra, found, unknown_name
from dither.service.answers.answering import Answers, TooBusy
from dither.service.answers.formats import FORMATS
from dither.service.answers.query import Query
from dither.service.collector import Collector

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

_PLAIN: Final = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
_SUMMARY: Final = "application/vnd.dither.summary"


def routes(collector: Collector, answers: Answers | None = None) -> list[BaseRoute]:
    """Return the routes of answers and summaries."""
    from starlette.responses import Response
    from starlette.routing import Route

    said = Answers(collector) if answers is None else answers

    async def answer(request: Request) -> Response:
        published = collector.campaigns[request.path_params["campaign"]]
        name = request.path_params["form"]
        if name not in FORMATS:
            raise unknown_name("format", name, list(FORMATS))
        queries = Query.of(_terms(request), published.contract)
        rows = await said.of(published.id, queries)
        form = FORMATS[name]
        body = await asyncio.get_running_loop().run_in_executor(None, form.write, published.id, rows)
        return Response(body, media_type=form.media, headers=_PLAIN)

    async def summary(request: Request) -> Response:
        published = collector.campaigns[request.path_params["campaign"]]
        (query,) = Query.of({"question": "", **_terms(request)}, published.contract)
        asked = partial(collector.live.summary, published.id, query.question, query.day, query.label)
        made = await asyncio.get_running_loop().run_in_executor(None, partial(asked, shown=True))
        if not made.n:
            people = published.contract.people
            return problem(409, f"too few people: summaries are given from {people} reports on")
        return Response(made.to_bytes(), media_type=_SUMMARY, headers=_PLAIN)

    return [
        Route("/v1/campaigns/{campaign}/answers.{form}", guarded(collector, answer), methods=["GET"]),
        Route("/v1/campaigns/{campaign}/summary", guarded(collector, summary), methods=["GET"]),
    ]


def problem(status: int, words: str) -> Response:
    """Return an answer that says what is wrong, as JSON."""
    from starlette.responses import JSONResponse

    return JSONResponse({"words": words}, status_code=status, headers=_PLAIN)


def guarded(
    collector: Collector, endpoint: Callable[[Any], Awaitable[Response]]
) -> Callable[[Any], Awaitable[Response]]:
    """Return an endpoint of a campaign that answers a wrong request in words, and never with a 500."""

    async def checked(request: Request) -> Response:
        if request.path_params["campaign"] not in collector.campaigns:
            return problem(404, "this collector has no such campaign")
        try:
            return await endpoint(request)
        except TooBusy:
            return problem(503, "too many answers are being computed; ask again in a few seconds")
        except MissingExtra as error:
            return problem(501, str(error))
        except DitherError as error:
            return problem(400, str(error))

    return checked


def _terms(request: Request) -> dict[str, str]:
    terms: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in terms:
            raise InvalidParameter(f"the parameter {found(name)} is given twice")
        terms[name] = value
    return terms
