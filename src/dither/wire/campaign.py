"""Campaigns: several questions to the same people, described by a TOML file."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import reduce
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from dither import losses
from dither.domains import Categories, Circle, Domain, Interval, Line
from dither.errors import DitherError, InvalidParameter, MalformedReport, MissingExtra, unknown_name
from dither.privacy import Guarantee
from dither.question import as_question, check_epsilon
from dither.registry import named
from dither.wire.codec import MOST_BYTES, bounded, from_specification, loads, refused, specification

VERSION: Final = 1
_DOMAINS: Final = ("interval", "circle", "categories")


@dataclass(frozen=True)
class Campaign:
    """Named questions to the same people. Answering all of them has the composed guarantee.

    >>> survey = Campaign.from_toml("[questions.age]\\ninterval = [18, 100]\\nepsilon = 1")
    >>> survey.guarantee
    Guarantee: ε ≤ 1 for one value
    """

    questions: Mapping[str, Any]  # of each the question is kept, if a design is given

    def __post_init__(self) -> None:
        if not isinstance(self.questions, Mapping):
            raise InvalidParameter(
                "questions must be a mapping from column names to mechanisms, not "
                f"{type(self.questions).__name__}"
            )
        asked = {}
        for name, question in self.questions.items():
            try:
                asked[name] = as_question(question)
            except InvalidParameter:
                raise InvalidParameter(
                    f"questions must be a mapping from column names to mechanisms; {name!r} is "
                    f"{type(question).__name__}"
                ) from None
        if not self.questions:
            raise InvalidParameter("a campaign needs at least one question; none was given")
        object.__setattr__(self, "questions", MappingProxyType(asked))

    @staticmethod
    def of(questions: Mapping[str, Any] | Campaign) -> Campaign:
        """Return the questions as a campaign; raise InvalidParameter if they are no mapping to mechanisms."""
        if isinstance(questions, Campaign):
            return questions
        return Campaign(questions)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person who answers every question once.

        Several answers are one record: the bound is for all of them together.
        """
        whole: Guarantee = reduce(
            Guarantee.compose, (question.guarantee for question in self.questions.values())
        )
        return whole.of_record() if len(self.questions) > 1 else whole

    @staticmethod
    def from_toml(text: str) -> Campaign:
        """Return the campaign of a TOML text: a table `[questions.NAME]` for each question."""
        if not isinstance(text, str) or len(text) > MOST_BYTES:
            given = f"{len(text)} characters" if isinstance(text, str) else type(text).__name__
            raise InvalidParameter(f"a campaign is a text of at most {MOST_BYTES} characters, not {given}")
        try:
            data = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidParameter(f"the campaign is not valid TOML: {error}") from None
        tables = data.get("questions")
        try:
            bounded(tables)
        except MalformedReport as error:
            raise InvalidParameter(f"the questions of a campaign: {error}") from None
        if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
            raise InvalidParameter(
                "the campaign has no questions: write a table [questions.NAME] for each question"
            )
        return Campaign({name: _question(name, table) for name, table in tables.items()})

    @staticmethod
    def read(path: Path | str) -> Campaign:
        """Return the campaign of a TOML file."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise InvalidParameter(f"the campaign file {path.name} is not text in UTF-8") from None
        return Campaign.from_toml(text)

    def to_json(self) -> str:
        """Return the specifications of all questions as JSON, as stored at the head of a file of reports."""
        questions = {name: specification(question) for name, question in self.questions.items()}
        head = {"dither": VERSION, "questions": questions, **reading(self.questions)}
        return json.dumps(head, ensure_ascii=False, allow_nan=False)

    @staticmethod
    def from_json(text: str) -> Campaign:
        """Return the campaign that `to_json` wrote; raise MalformedReport if the text is not one."""
        data = loads(text, "the head of a file")
        questions = data.get("questions") if isinstance(data, dict) else None
        if not isinstance(questions, dict):
            raise MalformedReport("the head of this file is not a specification that dither wrote")
        with refused("the head of this file"):
            made = {name: from_specification(part) for name, part in questions.items()}
            return Campaign(read_as(made, data))


def reading(questions: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is declared about answers and is no device's business: units and steps, if there are any.

    The result has one key, "reading", or none, so that campaigns without declarations keep their text.
    """
    declared: dict[str, dict[str, Any]] = {}
    for name, one in questions.items():
        if isinstance(one.domain, Line):
            words = {"step": one.domain.step, "unit": one.domain.unit or None}
            declared[name] = {key: value for key, value in words.items() if value is not None}
    declared = {name: words for name, words in declared.items() if words}
    return {"reading": declared} if declared else {}


def read_as(questions: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return questions with the units and steps that `reading` wrote into some data."""
    made, declared = dict(questions), data.get("reading", {})
    if not isinstance(declared, dict):
        raise MalformedReport('"reading" has units and steps by the name of the question')
    for name, words in declared.items():
        one = made.get(name)
        known = isinstance(words, dict) and words and words.keys() <= {"step", "unit"}
        if one is None or not known or not isinstance(one.domain, Line):
            raise MalformedReport('"reading" has units and steps of numbers, by the name of the question')
        made[name] = replace(one, domain=one.domain.read_as(**words), made_by=None)
    return made


def _declared(domain: Domain, table: dict[str, Any]) -> Domain:
    """Return the domain with the `step` and `unit` that a table declares; take them out of the table."""
    words = {key: table.pop(key) for key in ("step", "unit") if key in table}
    if not words:
        return domain
    if not isinstance(domain, Line):
        raise InvalidParameter(f"{' and '.join(words)} are for numbers; these answers are categories")
    return domain.read_as(**words)


def _question(name: str, table: dict[str, Any]) -> Any:
    table, kind = dict(table), None
    try:
        domain = read_domain({kind: table.pop(kind) for kind in _DOMAINS if kind in table})
        domain = _declared(domain, table)
        if "epsilon" not in table:
            raise InvalidParameter("epsilon, the privacy budget, is missing")
        stated = table.pop("mechanism", None)
        kind = default_mechanism(domain, table["epsilon"]) if stated is None else named(stated)
        if isinstance(table.get("loss"), str):
            table["loss"] = losses.named(table["loss"])
        return kind(domain, **table)
    except MissingExtra:
        raise
    except DitherError as error:
        raise InvalidParameter(f"question {name!r}: {error}") from None
    except (TypeError, KeyError):
        raise _wrong_key(name, kind, table) from None
    except Exception as error:
        raise InvalidParameter(f"question {name!r} cannot be built ({type(error).__name__})") from None


def _wrong_key(name: str, kind: type[Any] | None, table: Mapping[str, Any]) -> InvalidParameter:
    """Return the error for a question with a key that its mechanism lacks, or a value of a wrong type."""
    if kind is None:
        return InvalidParameter(f"question {name!r}: its domain has a value of a wrong type")
    known = [item.name for item in fields(kind) if item.init and item.name != "domain"]
    for key in table:
        if key not in known:
            wrong = unknown_name(f"parameter of {kind.__name__}", key, known)
            return InvalidParameter(f"question {name!r}: {wrong}")
    return InvalidParameter(
        f"question {name!r}: {kind.__name__} does not accept the type of one of its values"
    )


def read_domain(table: Mapping[str, Any]) -> Domain:
    """Return the domain that exactly one of the keys `interval`, `circle` and `categories` describes."""
    given = [kind for kind in _DOMAINS if table.get(kind) is not None]
    if len(given) != 1:
        raise InvalidParameter(
            "exactly one domain is needed: interval = [low, high], circle = period or categories = […]; "
            f"{' and '.join(given) or 'none'} was given"
        )
    value = table[given[0]]
    if given[0] == "circle":
        return Circle(value)
    if given[0] == "categories":
        return Categories(value)
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise InvalidParameter("an interval is a pair of numbers: interval = [low, high]")
    return Interval(*value)


def default_mechanism(domain: Domain, epsilon: object) -> type[Any]:
    """Return the mechanism of a question that names none.

    On categories it is the one with the smallest variance in short reports (`default_protocol`), on a circle
    OGPM, on an interval the one of Hybrid and Podium that `dt.recommend` ranks first for a mean. Solved
    mechanisms have still smaller errors and long specifications; they are asked for by name.
    """
    if isinstance(domain, Circle):
        return named("OGPM")
    if isinstance(domain, Categories):
        return type(_loaded("advice.catalogue").default_protocol(domain, check_epsilon(epsilon)))
    crossover: float = _loaded("mechanisms.numeric.pm").CROSSOVER["worst"]
    return named("Podium" if check_epsilon(epsilon) > crossover else "Hybrid")


def _loaded(module: str) -> Any:
    """Return a module that only a question without a mechanism needs: who is given a question does not."""
    return import_module(f"dither.{module}")
