"""The file that an author writes: a campaign in TOML, with the words of its questions."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Final

from dither.collection.account.budget import Data
from dither.collection.terms import Phase, QuestionTerms, Repeating
from dither.core.domains.ranges import scale_edges
from dither.core.questionnaire import BUDGET, Questionnaire
from dither.errors import InvalidParameter, check_choice, found

_NEEDED: Final = ("name", "asker", "contact", "purpose", "begins", "ends")
_SHARE: Final = "phase = { share = 0.1 } or phase = { follows = '…' }"


def read_campaign(text: str) -> Data:
    """Return the arguments of the campaign that a TOML text describes."""
    data = tomllib.loads(text) if _is_presence(text) else None
    questions = (
        {} if data is not None and "questions" not in data else Questionnaire.from_toml(text).questions
    )
    document = tomllib.loads(text)
    table = document.get("campaign")
    if not isinstance(table, dict):
        raise InvalidParameter(
            "expected a table [campaign] with name, asker, contact, begins and ends; add it to the file"
        )
    lacking = [key for key in _NEEDED if key not in table]
    if lacking:
        raise InvalidParameter(f"expected {', '.join(lacking)} in the table [campaign]; add them")
    if table.get("sampled", False):
        raise InvalidParameter(
            "expected no sampled = true in a signed campaign, because a device answers all its questions; "
            "leave it out, so that epsilon is divided between the questions, or publish one campaign per "
            "question with all of epsilon, and give each person the address of one of them, drawn at random"
        )
    terms = {"version": 1, **{key: value for key, value in table.items() if key not in BUDGET}}
    if "repeat" in terms:
        check_choice("repeat", terms["repeat"], Repeating)
    if isinstance(terms.get("labels"), float) and terms.get("repeat") == "present":
        if "label_share" in terms:  # labels = 0.7 is an abbreviation of label_share
            raise InvalidParameter(
                "expected either labels = 0.7 (the share of permanent labels) or "
                "label_share, got "
                "both; leave one of them out"
            )
        terms["label_share"] = terms.pop("labels")
    for name in ("labels", "languages"):
        if not isinstance(terms.get(name, []), list):
            raise InvalidParameter(f"expected {name} to be a list of texts, such as labels = ['1.0', '1.1']")
        if name in terms:
            terms[name] = tuple(terms[name])
    if "phase" in terms:
        terms["phase"] = _phase(terms["phase"])
    tables = document.get("questions", {})
    if "languages" not in terms and any("text" in table or "names" in table for table in tables.values()):
        terms["languages"] = ("en",)
    asks = {name: _question_terms(table, terms.get("languages", ())) for name, table in tables.items()}
    return {
        **terms,
        "questions": questions,
        "asks": {name: request for name, request in asks.items() if request.data()},
    }


def _is_presence(text: str) -> bool:
    """Return whether a file counts presence; only then may it have no question."""
    try:
        table = tomllib.loads(text).get("campaign")
    except (ValueError, RecursionError):
        return False
    return isinstance(table, dict) and table.get("repeat") == "present"


def _phase(given: object) -> Phase:
    if not isinstance(given, Mapping) or given.keys() not in ({"share"}, {"follows"}):
        raise InvalidParameter(f"expected a phase to be {_SHARE}, got {found(given)}")
    return Phase(**given)


def _question_terms(table: Data, languages: tuple[str, ...]) -> QuestionTerms:
    """Return the terms in a question's table; a text or a list without a language is in the only language."""
    terms: Data = {}
    for name, plain in (("text", str), ("names", list)):
        if name in table:
            given = table[name]
            terms[name] = (
                dict.fromkeys(languages, given) if isinstance(given, plain) and len(languages) == 1 else given
            )
    if "scale" in table and "date" not in table:
        terms["scale"] = scale_edges(table)
    for name in ("date", "time"):
        if name in table:
            terms["form"] = name
    if table.get("installed", False) is True:
        terms["form"] = "installed"
    if "clipped" in table:
        terms["clipped"] = table["clipped"]
    if "outside" in table:
        terms["outside"] = tuple(table["outside"])
    return QuestionTerms(**terms)
