"""What the OpenAPI description says of answers, summaries, events and pages."""

from __future__ import annotations

from typing import Any, Final

from dither.service.answers.formats import FORMATS
from dither.service.answers.query import MOST_BINS, By, What
from dither.service.answers.rows import COLUMNS, FEW, NO_ANSWER, NONE, SHOWN

_CAMPAIGN: Final = {
    "name": "campaign",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
}
_NUMBERS: Final = ("from", "to", "value", "low", "high")
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


def _asked(name: str, schema: dict[str, Any], words: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": words}


def _told(words: str, schema: dict[str, Any], media: str = "application/json") -> dict[str, Any]:
    return {"description": words, "content": {media.partition(";")[0]: {"schema": schema}}}


_SHARE: Final = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
_PART: Final = [
    _asked("question", {"type": "string"}, "The name of a question; without it, all of them."),
    _asked("day", {"type": "string", "format": "date"}, "Reports that arrived on this day, in UTC."),
    _asked("label", {"type": "string"}, "Reports of batches with this label; empty for those without."),
]
_QUERY: Final = [
    *_PART,
    _asked("what", {"enum": [one.value for one in What]}, "The quantity; usual is a mean, or frequencies."),
    _asked("share", _SHARE, "Of a quantile: the share of people below it."),
    _asked("bins", {"type": "integer", "minimum": 1, "maximum": MOST_BINS}, "Of a distribution."),
    _asked("by", {"enum": [one.value for one in By]}, "An answer for each day, or for each label."),
    _asked("lying", _SHARE, "Intervals that allow for this share of lies, for one look."),
]
_WRONG: Final = {
    "400": _told("A parameter is wrong.", _WORDS),
    "404": _told("There is no such campaign.", _WORDS),
}


def _get(words: str, parameters: list[Any], answers: dict[str, Any]) -> dict[str, Any]:
    return {"get": {"summary": words, "parameters": [_CAMPAIGN, *parameters], "responses": answers}}


_BUSY: Final = {"503": _told("Too many answers are being computed; ask again.", _WORDS)}
_ARROW: Final = {"501": _told("Arrow needs the extra frames.", _WORDS)}
_TEXT: Final = {"type": "string"}

PATHS: Final[dict[str, Any]] = {
    **{
        f"/v1/campaigns/{{campaign}}/answers.{name}": _get(
            f"Answers as {name.upper()}.",
            _QUERY,
            {
                "200": _told("The answers.", _ROWS if name == "json" else _TEXT, form.media),
                **_WRONG,
                **_BUSY,
                **(_ARROW if name == "arrow" else {}),
            },
        )
        for name, form in FORMATS.items()
    },
    "/v1/campaigns/{campaign}/summary": _get(
        "The counts of a question, as Summary.to_bytes() writes them.",
        [{**_PART[0], "required": True}, *_PART[1:]],
        {
            "200": _told("The summary.", _TEXT, "application/vnd.dither.summary"),
            **_WRONG,
            "409": _told("Too few people.", _WORDS),
        },
    ),
    "/campaigns/{campaign}": _get(
        "The page of a campaign.",
        [],
        {
            "200": _told("The page.", _TEXT, "text/html"),
            "404": _told("There is no such campaign.", _TEXT, "text/html"),
        },
    ),
}
