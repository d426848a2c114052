"""The application of a collector: its routes and their description."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from dither.collection.collector import Collector
from dither.collection.ohttp import GATEWAY, KEYS, REQUEST, RESPONSE
from dither.collection.refusals import Reason
from dither.collection.web.pages import page_routes
from dither.collection.web.playground import playground_headers, playground_page
from dither.collection.web.requests import (
    LOG,
    METHODS,
    PATH,
    Batches,
    Receive,
    Scope,
    Send,
    campaign_of,
    campaign_routes,
    operation_routes,
    report_routes,
)
from dither.collection.writer import Writer
from dither.core.batch import JSON, PACKED

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute


_DIGITS: Final = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
_CAMPAIGN: Final = {
    "name": "campaign",
    "in": "path",
    "required": True,
    "description": "The identity of a campaign: the SHA-256 of its text.",
    "schema": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
}
_BATCH: Final = {
    "type": "object",
    "description": "A batch in canonical JSON, see docs/wire.md: keys and reports sorted, no white space.",
    "required": ["batch", "dither", "label", "reports"],
    "additionalProperties": False,
    "properties": {
        "batch": _DIGITS,
        "dither": {"const": 2},
        "label": {"type": "string", "maxLength": 64},
        "reports": {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1024,
            "propertyNames": {"pattern": "^[0-9a-f]{32}$"},
            "additionalProperties": {
                "type": "array",
                "minItems": 1,
                "items": {"type": "string", "pattern": "^([0-9a-f]{2})+$"},
            },
        },
    },
}
_ACKNOWLEDGED: Final = {
    "type": "object",
    "description": "The identity of the batch: without it a device takes no answer for an acknowledgement.",
    "properties": {"batch": _DIGITS},
    "required": ["batch"],
}
_REFUSED: Final = {
    "type": "object",
    "required": ["refused", "words"],
    "properties": {
        "refused": {"enum": [reason.value for reason in Reason]},
        "words": {"type": "string"},
    },
}


def answer(words: str, schema: Mapping[str, Any] | None = None, form: str = JSON) -> dict[str, Any]:
    """Return the description of an answer."""
    return {"description": words, "content": {form: {"schema": dict(schema or {"type": "object"})}}}


_ASKED: Final = ("question", "what", "share", "bins", "by", "day", "label", "lying")
_BUSY: Final = answer("Too many answers are being computed.")


def _batches() -> dict[str, Any]:
    refused = {str(reason.status): answer(f"Refused: {reason.words}.", _REFUSED) for reason in Reason}
    return {
        "summary": "Send a batch. A 2xx means that it is on disk.",
        "parameters": [_CAMPAIGN],
        "requestBody": {
            "required": True,
            "content": {
                PACKED: {"schema": {"type": "string", "format": "binary"}},
                JSON: {"schema": _BATCH},
            },
        },
        "responses": {
            "200": answer("The batch is on disk, now or since it came first.", _ACKNOWLEDGED),
            **refused,
            "503": answer("The store cannot be written now, or the body got lost: send it again."),
        },
    }


def _gateway() -> dict[str, Any]:
    """Return the description of Oblivious HTTP: keys, and requests that are encrypted to one of them."""
    refused = {
        str(reason.status): answer(f"Refused: {reason.words}.", _REFUSED)
        for reason in (Reason.SEALED, Reason.FORM, Reason.SIZE, Reason.SLOW, Reason.RATE)
    }
    binary = {"type": "string", "format": "binary"}
    return {
        "get": {
            "summary": "The key configurations of RFC 9458.",
            "responses": {"200": answer("The configurations.", binary, KEYS)},
        },
        "post": {
            "summary": "An encrypted request of RFC 9458: a batch, or the reading of a campaign.",
            "requestBody": {"required": True, "content": {REQUEST: {"schema": binary}}},
            "responses": {
                "200": answer("The answer, encrypted.", binary, RESPONSE),
                **refused,
                "503": answer("The body got lost: send it again."),
            },
        },
    }


def _admin(words: str, *fields: str) -> dict[str, Any]:
    schema = {
        "type": "object",
        "required": list(fields),
        "properties": {name: {"type": "string"} for name in fields},
    }
    return {
        "summary": words,
        "security": [{"token": []}],
        "requestBody": {"required": bool(fields), "content": {JSON: {"schema": schema}}},
        "responses": {
            "200": answer("Done."),
            "400": answer("A field is missing or wrong."),
            "401": answer("The token is missing or wrong."),
            "503": answer("The store cannot be written now."),
        },
    }


def _read(words: str, answers: Mapping[str, Any], *parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {"get": {"summary": words, "parameters": list(parameters), "responses": dict(answers)}}


def description(more: Mapping[str, Any], *, admin: bool) -> dict[str, Any]:
    """Return the description; `more` are the paths of other parts, `admin` says whether there is a token."""
    name = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
    gone = {"404": answer("There is no such thing.")}
    paths: dict[str, Any] = {
        "/v1/campaigns": _read("All campaigns.", {"200": answer("Their identities and days.")}),
        "/v1/campaigns/{campaign}": _read(
            "A campaign, signed.", {"200": answer("The campaign."), **gone}, _CAMPAIGN
        ),
        "/v1/campaigns/{campaign}/card": _read(
            "The card of a campaign; its signature is with the campaign.",
            {"200": answer("The card."), **gone},
            _CAMPAIGN,
        ),
        PATH: {"post": _batches()},
        GATEWAY: _gateway(),
        LOG: _read("The list of all campaigns, signed.", {"200": answer("The list."), **gone}),
        "/client/{name}": _read(
            "A file of the JavaScript client.",
            {"200": answer("The file.", {"type": "string"}, "text/javascript"), **gone},
            name,
        ),
        "/v1/campaigns/{campaign}/answers.{form}": _read(
            "Estimates: json, csv or arrow.",
            {"200": answer("The estimates."), "400": answer("A parameter is wrong."), **gone, "503": _BUSY},
            _CAMPAIGN,
            {"name": "form", "in": "path", "required": True, "schema": {"enum": ["json", "csv", "arrow"]}},
            *({"name": name, "in": "query", "schema": {"type": "string"}} for name in _ASKED),
        ),
        "/v1/campaigns/{campaign}/summary": _read(
            "The counts of a question, to merge with those of other collectors.",
            {
                "200": answer("The summary.", {"type": "string"}, "application/vnd.dither.summary"),
                "400": answer("A parameter is wrong."),
                "409": answer("There are too few reports."),
                **gone,
            },
            _CAMPAIGN,
            *(
                {"name": name, "in": "query", "schema": {"type": "string"}}
                for name in ("question", "day", "label")
            ),
        ),
        "/health": _read("The state of the process.", {"200": answer("The state.")}),
        "/ready": _read(
            "Whether the store answers.", {"200": answer("It does."), "503": answer("It does not.")}
        ),
        "/metrics": _read(
            "Metrics for Prometheus.", {"200": answer("The metrics.", {"type": "string"}, "text/plain")}
        ),
        **more,
    }
    if admin:
        paths |= {
            "/v1/admin/reload": {"post": _admin("Read the campaigns again.")},
            "/v1/admin/fold": {"post": _admin("Replace the reports of a day by counts.", "campaign", "day")},
            "/v1/admin/delete": {"post": _admin("Remove all that was collected.", "campaign")},
            "/v1/admin/counts": {
                "post": _admin("Everything that is stored, also what waits.", "campaign", "question")
            },
        }
    return {
        "openapi": "3.1.0",
        "info": {"title": "dither collector", "version": "1"},
        "paths": paths,
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def description_routes(more: Mapping[str, Any], *, admin: bool) -> list[BaseRoute]:
    """Return the route of the description."""
    from starlette.responses import Response as Made
    from starlette.routing import Route

    text = json.dumps(description(more, admin=admin))

    async def shown(request: Request) -> Response:
        return Made(text, media_type="application/json")

    return [Route("/openapi.json", shown)]


PLAYGROUND: Final = "/playground"


class PlaygroundPart:
    """A part of the application: `GET /playground`, with the page's own content policy."""

    paths: Mapping[str, Any] = {
        PLAYGROUND: {
            "get": {
                "summary": "A page that shows what privacy does to an answer; it sends nothing.",
                "responses": {"200": answer("The page.", {"type": "string"}, "text/html")},
            }
        }
    }

    def __call__(self, collector: Collector) -> list[BaseRoute]:
        """Return the route."""
        from starlette.responses import Response as Made
        from starlette.routing import Route

        async def page(request: Request) -> Response:
            return Made(playground_page(), headers=playground_headers())

        return [Route(PLAYGROUND, page)]


# The parts beside intake and operation, such as answers and the page: each takes the collector. An attribute
# `paths` of such a function is added to the OpenAPI description.
Routes = Callable[[Collector], "list[BaseRoute]"]
PARTS: Final[tuple[Routes, ...]] = (PlaygroundPart(), page_routes)


def application(writer: Writer, *parts: Routes, token: str | None = None) -> Starlette:
    """Return the application of a collector: its own routes and those of other parts.

    `token` is the secret of administrators; without it there are no admin actions.
    """
    from starlette.applications import Starlette

    collector, batches = writer.collector, Batches(writer)

    class Quick(Starlette):
        """The application, with a short way to the intake: it answers most requests by far."""

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http" and scope["method"] in METHODS:
                found = campaign_of(scope["path"])
                if found is not None or scope["path"] == GATEWAY:
                    scope["path_params"] = {} if found is None else {"campaign": found}
                    await batches(scope, receive, send)
                    return
            await super().__call__(scope, receive, send)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        on_hangup(writer.reload)
        yield
        for end in collector.at_end:
            end()
        await asyncio.to_thread(writer.close)
        collector.store.close()

    own = [*report_routes(batches), *campaign_routes(collector), *operation_routes(writer, token)]
    paths = {name: route for part in parts for name, route in getattr(part, "paths", {}).items()}
    own += description_routes(paths, admin=token is not None)
    app = Quick(routes=[*own, *(route for part in parts for route in part(collector))], lifespan=lifespan)
    app.router.redirect_slashes = False  # a device follows no redirect
    return app


def on_hangup(act: Callable[[], Any]) -> None:
    """Call a function in a thread whenever SIGHUP comes, where a loop runs in the main thread."""
    loop = asyncio.get_running_loop()

    def safely() -> None:
        try:
            act()
        except Exception:  # such as a file that is not a campaign: what was published before goes on
            logging.getLogger("dither.collection").exception("reloading failed")

    try:
        loop.add_signal_handler(signal.SIGHUP, lambda: loop.run_in_executor(None, safely))
    except (AttributeError, NotImplementedError, RuntimeError, ValueError):
        # Windows has no such signal; in another thread than the main one, as in tests, none is handled.
        return
