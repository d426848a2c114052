"""The table of endpoints: every path, its handler, and its description in OpenAPI.

Routes and the description are made only from this table. The modules of this room return handlers by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dither.collection.ohttp import GATEWAY, KEYS, REQUEST, RESPONSE
from dither.collection.refusals import Reason
from dither.collection.web.answers import FEW, NO_ANSWER, NONE, SHOWN
from dither.collection.web.formats import COLUMNS, FORMATS
from dither.collection.web.query import MOST_BINS, By, What
from dither.collection.web.requests import LIST, METHODS, PATH, WITHDRAWALS, Handler
from dither.core.batch import JSON, PACKED

if TYPE_CHECKING:
    from starlette.routing import BaseRoute


@dataclass(frozen=True)
class Endpoint:
    """A path of the collector, the name of its handler, and its operations by path and method.

    A path without operations is not described. A route with a parameter may cover several described paths,
    such as those of administrators.
    """

    path: str
    handler: str
    described: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    methods: tuple[str, ...] = ("GET",)


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
    media = form.partition(";")[0]
    return {"description": words, "content": {media: {"schema": dict(schema or {"type": "object"})}}}


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


def _withdrawals() -> dict[str, object]:
    reasons = (Reason.BODY, Reason.CAMPAIGN, Reason.FORM, Reason.RATE, Reason.SIZE, Reason.SLOW)
    body = {
        "type": "object",
        "description": "In canonical JSON: keys sorted, no white space.",
        "required": ["dither", "withdraw"],
        "additionalProperties": False,
        "properties": {"dither": {"const": 2}, "withdraw": _DIGITS},
    }
    done = {"type": "object", "properties": {"withdrawn": _DIGITS}, "required": ["withdrawn"]}
    return {
        "summary": "Take a batch back by its identity, until its day is folded.",
        "parameters": [_CAMPAIGN],
        "requestBody": {"required": True, "content": {JSON: {"schema": body}}},
        "responses": {
            "200": answer("The withdrawal is on disk, whether the batch was known or not.", done),
            **{str(reason.status): answer(f"Refused: {reason.words}.", _REFUSED) for reason in reasons},
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
            "summary": "An encrypted request of RFC 9458: batch, withdrawal, or reading of a campaign.",
            "requestBody": {"required": True, "content": {REQUEST: {"schema": binary}}},
            "responses": {
                "200": answer("The answer, encrypted.", binary, RESPONSE),
                **refused,
                "503": answer("The body got lost: send it again."),
            },
        },
    }


_OPTIONAL: Final = {"counts": ("by", "since")}  # fields of an action that may be left out


def _admin(words: str, *fields: str, more: tuple[str, ...] = ()) -> dict[str, Any]:
    schema = {
        "type": "object",
        "required": list(fields),
        "properties": {name: {"type": "string"} for name in (*fields, *more)},
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
    return {"summary": words, "parameters": list(parameters), "responses": dict(answers)}


_NUMBERS: Final = ("from", "to", "value", "low", "high", "p")
_COLUMN: Final[dict[str, Any]] = {
    **{name: {"type": ["string", "null"]} for name in COLUMNS},
    **{name: {"type": ["number", "null"]} for name in _NUMBERS},
    "n": {"type": "integer"},
    "n of interval": {"type": ["integer", "null"]},
    "state": {"enum": [SHOWN, FEW, NONE, NO_ANSWER]},
}
_ROWS: Final = {
    "type": "object",
    "required": ["dither-answers", "campaign", "level", "rows"],
    "properties": {
        "dither-answers": {"const": 1},
        "campaign": {"type": "string"},
        "level": {"type": "number"},
        "rows": {
            "type": "array",
            "items": {"type": "object", "required": list(COLUMNS), "properties": _COLUMN},
        },
    },
}
_WORDS: Final = {
    "type": "object",
    "required": ["words"],
    "properties": {"words": {"type": "string"}},
}


def _query_parameter(name: str, schema: dict[str, Any], words: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": words}


_SHARE: Final = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
_PART: Final = [
    _query_parameter("question", {"type": "string"}, "The name of a question; without it, all of them."),
    _query_parameter(
        "day", {"type": "string", "format": "date"}, "Reports that arrived on this day, in UTC."
    ),
    _query_parameter(
        "label", {"type": "string"}, "Reports of batches with this label; empty for those without."
    ),
]
_QUERY = [
    *_PART,
    _query_parameter(
        "what", {"enum": [member.value for member in What]}, "The quantity; usual is a mean, or frequencies."
    ),
    _query_parameter("share", _SHARE, "Of a quantile: the share of people below it."),
    _query_parameter("bins", {"type": "integer", "minimum": 1, "maximum": MOST_BINS}, "Of a distribution."),
    _query_parameter(
        "by",
        {"enum": [member.value for member in By]},
        "An answer for each day, week or month, or for each label.",
    ),
    _query_parameter("lying", _SHARE, "Intervals that allow for this share of lies, too."),
]
_DATE: Final = {"type": "string", "format": "date"}
_DAYS: Final = [
    _query_parameter("since", _DATE, "The first day whose reports are used."),
    _query_parameter("until", _DATE, "The last day whose reports are used."),
    _query_parameter(
        "last", {"type": "integer", "minimum": 1}, "The number of days up to today; not with since."
    ),
]
_QUERY += _DAYS
_WRONG: Final = {
    "400": answer("A parameter is wrong.", _WORDS),
    "404": answer("There is no such campaign.", _WORDS),
}


_BUSY: Final = {"503": answer("Too many answers are being computed; ask again.", _WORDS)}
_ARROW: Final = {"501": answer("Arrow needs the extra frames.", _WORDS)}
_PLOT: Final = {"501": answer("PNG needs the extra plot.", _WORDS)}
_TEXT: Final = {"type": "string"}


def _one(path: str, handler: str, **operations: object) -> Endpoint:
    """Return an endpoint that is described by its own path, with one operation per method."""
    return Endpoint(path, handler, {path: operations}, tuple(method.upper() for method in operations))


_CAMPAIGNS: Final = "/v1/campaigns"
_ONE: Final = f"{_CAMPAIGNS}/{{campaign}}"
_NAME: Final = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
_GONE: Final = {"404": answer("There is no such thing.")}
_HTML: Final = "text/html"

ENDPOINTS: Final = (
    _one(_CAMPAIGNS, "campaigns", get=_read("All campaigns.", {"200": answer("Their identities and days.")})),
    _one(
        _ONE, "public", get=_read("A campaign, signed.", {"200": answer("The campaign."), **_GONE}, _CAMPAIGN)
    ),
    _one(
        f"{_ONE}/card",
        "public",
        get=_read(
            "The card of a campaign; its signature is with the campaign.",
            {"200": answer("The card."), **_GONE},
            _CAMPAIGN,
        ),
    ),
    Endpoint(PATH, "batches", {PATH: {"post": _batches()}}, METHODS),
    Endpoint(WITHDRAWALS, "batches", {WITHDRAWALS: {"post": _withdrawals()}}, METHODS),
    Endpoint(GATEWAY, "batches", {GATEWAY: _gateway()}, ("GET", *METHODS)),
    _one(
        LIST, "public", get=_read("The list of all campaigns, signed.", {"200": answer("The list."), **_GONE})
    ),
    _one(
        "/client/{name}",
        "client",
        get=_read(
            "A file of the JavaScript client.",
            {"200": answer("The file.", _TEXT, "text/javascript"), **_GONE},
            _NAME,
        ),
    ),
    Endpoint(
        f"{_ONE}/answers.{{form}}",
        "answers",
        {
            f"{_ONE}/answers.{name}": {
                "get": _read(
                    f"Answers as {name.upper()}.",
                    {
                        "200": answer("The answers.", _ROWS if name == "json" else _TEXT, form.media),
                        **_WRONG,
                        **_BUSY,
                        **(_ARROW if name == "arrow" else {}),
                    },
                    _CAMPAIGN,
                    *_QUERY,
                )
            }
            for name, form in FORMATS.items()
        },
    ),
    Endpoint(
        f"{_ONE}/presence.{{form}}",
        "presence",
        {
            f"{_ONE}/presence.json": {
                "get": _read(
                    "Devices by period, of a campaign that counts who is present.",
                    {"200": answer("The counts, as PresenceCounts.to_json() writes them."), **_WRONG},
                    _CAMPAIGN,
                )
            },
            f"{_ONE}/presence.csv": {
                "get": _read(
                    "Actives, the retention curve, cohorts or public labels as a table.",
                    {"200": answer("The table.", _TEXT, "text/csv"), **_WRONG},
                    _CAMPAIGN,
                    _query_parameter(
                        "table", {"enum": ["actives", "retention", "cohorts", "labels"]}, "The table."
                    ),
                )
            },
        },
    ),
    Endpoint(
        f"{_ONE}/days.{{form}}",
        "days",
        {
            f"{_ONE}/days.json": {
                "get": _read(
                    "Reports by interval, of a campaign about kept changes.",
                    {"200": answer("The counts, as ChangeCounts.to_json() writes them."), **_WRONG},
                    _CAMPAIGN,
                    _query_parameter("question", {"type": "string"}, "The question; the first if left out."),
                )
            },
            f"{_ONE}/days.csv": {
                "get": _read(
                    "The estimated shares of each day, of a campaign about kept changes.",
                    {"200": answer("The table.", _TEXT, "text/csv"), **_WRONG},
                    _CAMPAIGN,
                    _query_parameter("question", {"type": "string"}, "The question; the first if left out."),
                )
            },
        },
    ),
    _one(
        f"{_ONE}/summary",
        "summary",
        get=_read(
            "The counts of a question, as Counts.to_bytes() writes them, to merge with those of others.",
            {
                "200": answer("The summary.", _TEXT, "application/vnd.dither.summary"),
                **_WRONG,
                "409": answer("Too few people.", _WORDS),
            },
            _CAMPAIGN,
            {**_PART[0], "required": True},
            *_PART[1:],
            *_DAYS,
        ),
    ),
    _one("/health", "health", get=_read("The state of the process.", {"200": answer("The state.")})),
    _one(
        "/ready",
        "ready",
        get=_read("Whether the store answers.", {"200": answer("It does."), "503": answer("It does not.")}),
    ),
    _one(
        "/metrics",
        "metrics",
        get=_read("Metrics for Prometheus.", {"200": answer("The metrics.", _TEXT, "text/plain")}),
    ),
    _one(
        "/playground",
        "playground",
        get=_read(
            "A page that shows what privacy does to an answer; it sends nothing.",
            {"200": answer("The page.", _TEXT, _HTML)},
        ),
    ),
    Endpoint("/", "front"),
    _one(
        "/campaigns/{campaign}",
        "page",
        get=_read(
            "The page of a campaign.",
            {
                "200": answer("The page.", _TEXT, _HTML),
                "404": answer("There is no such campaign.", _TEXT, _HTML),
            },
            _CAMPAIGN,
        ),
    ),
    _one(
        "/campaigns/{campaign}/officer",
        "officer",
        get=_read(
            "The page for a privacy officer: the total, the odds, and the data that is visible.",
            {"200": answer("The page.", _TEXT, _HTML), "404": answer("There is no such campaign.", _WORDS)},
            _CAMPAIGN,
        ),
    ),
    Endpoint(
        f"{_ONE}/chart.{{form}}",
        "chart",
        {
            f"{_ONE}/chart.{form}": {
                "get": _read(
                    f"A picture of answers, as {form.upper()}.",
                    {"200": answer("The picture.", _TEXT, media), **_WRONG, **_BUSY, **more},
                    _CAMPAIGN,
                    *_QUERY,
                )
            }
            for form, media, more in (("svg", "image/svg+xml", {}), ("png", "image/png", _PLOT))
        },
    ),
    Endpoint(f"{_ONE}/events", "events"),
    Endpoint("/openapi.json", "description"),
    Endpoint(
        "/v1/admin/{action}",
        "act",
        {
            f"/v1/admin/{name}": {"post": _admin(words, *fields, more=_OPTIONAL.get(name, ()))}
            for name, words, *fields in (
                ("reload", "Read the campaigns again."),
                ("fold", "Replace the reports of a day by counts.", "campaign", "day"),
                ("delete", "Remove all that was collected.", "campaign"),
                ("counts", "Everything that is stored, also what waits.", "campaign", "question"),
            )
        },
        ("POST",),
    ),
)


def routes_of(handlers: Mapping[str, Handler]) -> list[BaseRoute]:
    """Return the routes of the endpoints that have a handler; a handler without an endpoint is an error."""
    from starlette.routing import Route

    unknown = set(handlers) - {endpoint.handler for endpoint in ENDPOINTS}
    if unknown:
        raise KeyError(f"no endpoint has the handlers {', '.join(sorted(unknown))}")
    return [
        Route(endpoint.path, handlers[endpoint.handler], methods=list(endpoint.methods))
        for endpoint in ENDPOINTS
        if endpoint.handler in handlers
    ]


def description(handlers: Mapping[str, Handler]) -> dict[str, Any]:
    """Return the description in OpenAPI of the endpoints that have a handler."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "dither collector", "version": "1"},
        "paths": {
            path: dict(operations)
            for endpoint in ENDPOINTS
            if endpoint.handler in handlers
            for path, operations in endpoint.described.items()
        },
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }
