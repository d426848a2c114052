"""A campaign: several questions to the same people, as a TOML file says them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, final

from dither import losses
from dither.domains import Categories, Circle, Domain, Interval
from dither.errors import DitherError, InvalidParameter, MalformedReport, MissingExtra
from dither.mechanisms.base import Mechanism
from dither.privacy import Guarantee
from dither.registry import named
from dither.wire.codec import from_specification, specification
from dither.wire.schema import MOST_BYTES, bounded, loads, refused

VERSION: Final = 1
_DOMAINS: Final = ("interval", "circle", "categories")


@final
@dataclass(frozen=True)
class Campaign:
    """Named questions. Whoever answers all of them is promised the sum of their guarantees.

    >>> survey = Campaign.from_toml("[questions.age]\\ninterval = [18, 100]\\nepsilon = 1")
    >>> survey.guarantee
    Guarantee: ε ≤ 1 for one value
    """

    questions: Mapping[str, Mechanism[Any]]

    def __post_init__(self) -> None:
        if not self.questions:
            raise InvalidParameter("a campaign asks at least one question")
        object.__setattr__(self, "questions", MappingProxyType(dict(self.questions)))

    @staticmethod
    def of(questions: Mapping[str, Mechanism[Any]] | Campaign) -> Campaign:
        """Give the questions as a campaign, or say what was expected."""
        if isinstance(questions, Campaign):
            return questions
        if not isinstance(questions, Mapping) or not all(
            isinstance(mechanism, Mechanism) for mechanism in questions.values()
        ):
            raise InvalidParameter("questions are a mapping from column names to mechanisms")
        return Campaign(questions)

    @property
    def guarantee(self) -> Guarantee:
        """What a person who answers every question once is promised."""
        return reduce(Guarantee.compose, (question.guarantee for question in self.questions.values()))

    @staticmethod
    def from_toml(text: str) -> Campaign:
        """Read a campaign file: a table `[questions.NAME]` for each question."""
        if not isinstance(text, str) or len(text) > MOST_BYTES:
            raise InvalidParameter(f"a campaign is a text of at most {MOST_BYTES} letters")
        try:
            data = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidParameter(f"the campaign is not TOML: {error}") from None
        tables = data.get("questions")
        try:
            bounded(tables)
        except MalformedReport as error:
            raise InvalidParameter(f"the questions of a campaign: {error}") from None
        if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
            raise InvalidParameter("a campaign has a table [questions.NAME] for each question")
        return Campaign({name: _question(name, table) for name, table in tables.items()})

    @staticmethod
    def read(path: Path) -> Campaign:
        """Read a campaign file."""
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise InvalidParameter("a campaign file is text in UTF-8") from None
        return Campaign.from_toml(text)

    def to_json(self) -> str:
        """Write the whole specification, as it stands at the head of a file of reports."""
        questions = {name: specification(question) for name, question in self.questions.items()}
        return json.dumps({"dither": VERSION, "questions": questions}, ensure_ascii=False, allow_nan=False)

    @staticmethod
    def from_json(text: str) -> Campaign:
        """Read the specification back."""
        data = loads(text, "the head of a file")
        questions = data.get("questions") if isinstance(data, dict) else None
        if not isinstance(questions, dict):
            raise MalformedReport("the head of this file is not a specification of dither reports")
        with refused("the head of this file"):
            return Campaign({name: from_specification(part) for name, part in questions.items()})


def _question(name: str, table: dict[str, Any]) -> Mechanism[Any]:
    table = dict(table)
    try:
        domain = read_domain({kind: table.pop(kind) for kind in _DOMAINS if kind in table})
        kind = named(table.pop("mechanism")) if "mechanism" in table else default_mechanism(domain)
        if "epsilon" not in table:
            raise InvalidParameter("epsilon is missing: the budget of this question")
        if isinstance(table.get("loss"), str):
            table["loss"] = losses.named(table["loss"])
        if isinstance(table.get("criterion"), str):
            table["criterion"] = losses.criterion_named(table["criterion"])
        return kind(domain, **table)
    except MissingExtra:
        raise
    except DitherError as error:
        raise InvalidParameter(f"question {name!r}: {error}") from None
    except (TypeError, KeyError):
        raise InvalidParameter(f"question {name!r} has a key that its mechanism does not know") from None
    except Exception as error:
        raise InvalidParameter(f"question {name!r} cannot be built ({type(error).__name__})") from None


def read_domain(table: Mapping[str, Any]) -> Domain:
    """Give the domain that one of `interval`, `circle` and `categories` names."""
    given = [kind for kind in _DOMAINS if table.get(kind) is not None]
    if len(given) != 1:
        raise InvalidParameter("give one domain: interval = [low, high], circle = period or categories = […]")
    value = table[given[0]]
    if given[0] == "circle":
        return Circle(value)
    if given[0] == "categories":
        return Categories(value)
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise InvalidParameter("an interval is a pair: interval = [low, high]")
    return Interval(*value)


def default_mechanism(domain: Domain) -> type[Mechanism[Any]]:
    """Give the mechanism to use where none is named: the safe choice for a mean or a count."""
    if isinstance(domain, Circle):
        return named("OGPM")
    return named("OUE" if isinstance(domain, Categories) else "Hybrid")
