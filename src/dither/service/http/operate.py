"""For operators: health, readiness, metrics, and admin actions behind a token."""

from __future__ import annotations

import asyncio
import datetime
import hmac
import json
from typing import TYPE_CHECKING, Any

from dither.errors import DitherError, InvalidParameter
from dither.service.collector import Collector
from dither.service.http.metrics import exposition
from dither.service.logs import log
from dither.service.store.store import StoreUnavailable
from dither.service.writer import Writer

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute


def routes(writer: Writer, token: str | None) -> list[BaseRoute]:
    """Return the routes of operators; without a token there are no admin actions."""
    from starlette.responses import JSONResponse, PlainTextResponse
    from starlette.routing import Route

    collector = writer.collector

    async def health(request: Request) -> Response:
        return JSONResponse(collector.health())

    async def ready(request: Request) -> Response:
        able = await asyncio.to_thread(writer.able)
        return JSONResponse({"ready": able}, 200 if able else 503)

    async def metrics(request: Request) -> Response:
        return PlainTextResponse(exposition(writer), media_type="text/plain; version=0.0.4")

    async def act(request: Request) -> Response:
        if not permitted(request, token):
            return JSONResponse({"words": "this needs the token, in the header authorization"}, 401)
        try:
            done = await _act(writer, request.path_params["action"], await _asked(request))
        except StoreUnavailable:
            return JSONResponse({"words": "the store cannot be written now"}, 503)
        except (DitherError, ValueError, KeyError, TypeError) as error:
            words = str(error) if isinstance(error, DitherError) else "campaign or day is missing or wrong"
            return JSONResponse({"words": words}, 400)
        log("admin action", action=request.path_params["action"])
        return JSONResponse(done, 404 if "words" in done else 200)

    shown: list[BaseRoute] = [
        Route("/health", health),
        Route("/ready", ready),
        Route("/metrics", metrics),
    ]
    if token is not None:
        shown.append(Route("/v1/admin/{action}", act, methods=["POST"]))
    return shown


def permitted(request: Request, token: str | None) -> bool:
    """Return whether a request carries the token, compared in constant time."""
    given = request.headers.get("authorization", "")
    return token is not None and hmac.compare_digest(given.encode(), f"Bearer {token}".encode())


async def _asked(request: Request) -> dict[str, Any]:
    body = await request.body()
    found = json.loads(body) if body else {}
    if not isinstance(found, dict):
        raise TypeError
    return found


async def _act(writer: Writer, action: str, asked: dict[str, Any]) -> dict[str, Any]:
    collector = writer.collector
    match action:
        case "reload":
            known = await asyncio.to_thread(writer.reload)
            return {"campaigns": known}
        case "fold":
            day, campaign = datetime.date.fromisoformat(asked["day"]), str(asked["campaign"])
            parts = await asyncio.wrap_future(writer.call(lambda: collector.fold(campaign, day)))
            return {"folded": parts}
        case "delete":
            campaign = str(asked["campaign"])
            await asyncio.wrap_future(writer.call(lambda: collector.delete(campaign)))
            return {"deleted": campaign}
        case "counts":
            names = str(asked["campaign"]), str(asked["question"])
            return {"counts": await asyncio.to_thread(_counts, collector, *names, asked.get("by"))}
    return {"words": "the actions are reload, fold, delete and counts"}


def _counts(collector: Collector, campaign: str, question: str, by: object) -> dict[str, str]:
    """Return everything that is stored of a question, also what waits: summaries in hexadecimal, by group.

    Groups are days or labels, as `by` says; without it there is one, whose name is empty.
    """
    live = collector.live
    parts: dict[str, dict[str, Any]] = {"": {}}
    if by == "day":
        parts = {day.isoformat(): {"day": day} for day in live.days(campaign, question)}
    elif by == "label":
        parts = {label: {"label": label} for label in live.labels(campaign, question)}
    elif by is not None:
        raise InvalidParameter("by is day or label, or left out")
    return {group: live.summary(campaign, question, **part).to_bytes().hex() for group, part in parts.items()}
