"""Campaigns: several questions to the same people, described by a TOML file."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import reduce
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from dither.core import registry
from dither.core.domains.domain import Domain
from dither.core.domains.tables import take_domain
from dither.core.question import as_question, check_epsilon
from dither.core.registry import design_of
from dither.core.wire import (
    MOST_BYTES,
    check_bounds,
    from_specification,
    loads,
    refuse_malformed,
)
from dither.errors import DitherError, InvalidParameter, MalformedReport, MissingExtra, found, unknown_name
from dither.foundation import losses
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from dither.advice.explain import Explanation
    from dither.advice.plan import Plan

_CAMPAIGN_VERSION: Final = 1
# Keys of the table [campaign] of a file.
TERMS: Final = (
    *("name", "version", "asker", "contact", "purpose", "begins", "ends", "people", "retry", "repeat"),
    *("answers", "days", "every", "changes", "labels", "label_share", "expects", "phase"),
    *("languages", "purposes", "sealing_key", "reports_a_batch"),
)
# Keys of the table of a question that are for people and collectors, not for its mechanism.
WORDS: Final = ("text", "names", "installed")
BUDGET: Final = ("epsilon", "sampled")  # keys of [campaign] that divide a person's ε


@dataclass(frozen=True)
class Questionnaire:
    """Named questions to the same people. Answering all of them has the composed guarantee.

    >>> survey = Questionnaire.from_toml("[questions.age]\\ninterval = [18, 100]\\nepsilon = 1")
    >>> survey.guarantee
    Guarantee: ε ≤ 1 for one value
    """

    questions: Mapping[str, Any]  # a given design is replaced by its question
    sampled: bool = False  # True if each person answers only one question, drawn at random

    def __post_init__(self) -> None:
        if not isinstance(self.sampled, bool):
            raise InvalidParameter(f"expected sampled to be true or false, got {found(self.sampled)}")
        if not isinstance(self.questions, Mapping):
            raise InvalidParameter(
                "questions must be a mapping from column names to mechanisms, not "
                f"{type(self.questions).__name__}"
            )
        questions = {}
        for name, question in self.questions.items():
            try:
                questions[name] = as_question(question)
            except InvalidParameter:
                raise InvalidParameter(
                    f"questions must be a mapping from column names to mechanisms; {name!r} is "
                    f"{type(question).__name__}"
                ) from None
        if not self.questions:
            raise InvalidParameter("expected at least one question in a campaign, got none")
        object.__setattr__(self, "questions", MappingProxyType(questions))

    @staticmethod
    def of(questions: Mapping[str, Any] | Questionnaire) -> Questionnaire:
        """Return the questions as a campaign; raise InvalidParameter unless they map names to mechanisms."""
        if isinstance(questions, Questionnaire):
            return questions
        return Questionnaire(questions)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person who answers every question once, or the one that was drawn.

        Several answers are one record: the bound is for all of them together.
        """
        if self.sampled:
            first, *others = (as_question(part).guarantee for part in self.questions.values())
            return first.either(*others).of_record() if others else first
        total: Guarantee = reduce(
            Guarantee.compose, (question.guarantee for question in self.questions.values())
        )
        return total.of_record() if len(self.questions) > 1 else total

    @staticmethod
    def from_toml(text: str) -> Questionnaire:
        """Return the campaign of a TOML text: a table `[questions.NAME]` for each question."""
        if not isinstance(text, str) or len(text) > MOST_BYTES:
            given = f"{len(text)} characters" if isinstance(text, str) else type(text).__name__
            raise InvalidParameter(
                f"expected a campaign to be a text of at most {MOST_BYTES} characters, got {given}"
            )
        try:
            data = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidParameter(f"expected a campaign in valid TOML: {error}") from None
        for key in data:
            if key not in ("campaign", "questions"):
                raise unknown_name(
                    "table of a campaign", key, ["campaign", "questions"], also="and nothing outside of them"
                )
        terms = data.get("campaign", {})
        for key in terms if isinstance(terms, dict) else ():
            if key not in (*TERMS, *BUDGET):
                raise unknown_name("term of a campaign", key, (*TERMS, *BUDGET))
        tables = data.get("questions")
        try:
            check_bounds(_without_dates(tables))
        except MalformedReport as error:
            raise InvalidParameter(f"the questions of a campaign: {error}") from None
        if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
            raise InvalidParameter(
                "expected at least one question in a campaign, got none; write a table "
                "[questions.NAME] for each question"
            )
        budget = terms if isinstance(terms, dict) else {}
        sampled = budget.get("sampled", False)
        if "epsilon" in budget:
            tables = _share_budget(budget["epsilon"], tables, sampled is True)
        made = {name: _question(name, table) for name, table in tables.items()}
        return Questionnaire(made, sampled=sampled)

    @staticmethod
    def read(path: Path | str) -> Questionnaire:
        """Return the campaign of a TOML file."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise InvalidParameter(
                f"expected the campaign file {path.name} to be text in UTF-8; save it as UTF-8"
            ) from None
        return Questionnaire.from_toml(text)

    def explain(self, **options: object) -> Explanation:
        """Explain the questions in plain words: to the person who answers, and to an officer.

        `spent` is the privacy loss of a person's earlier answers, such as `account.ledger.spent`. With
        `minimum_batch`, the texts add the (ε, δ) of reports that are mixed in batches of that many people.
        `randomiser="holder"` is for the holder of a file; `keep` and `weights` are its columns that stay
        unchanged. `repeat` is how a second answer is made; see `dt.Inquiry`. `language` is "en" or "de".

        >>> from dither import Interval, Podium
        >>> told = Questionnaire({"age": Podium(Interval(18, 100), epsilon=1)}).explain()
        >>> "50 % can be at most 74 % sure" in told.person
        True
        """
        explained: Explanation = registry.adviser("explain").explain(self, **options)
        return explained

    def card(self, *, asker: str, contact: str, **more: Any) -> dict[str, Any]:
        """Return the card of a deployment: the collector, the questions, ε, unit, mechanism and assumptions.

        `purpose`, `people` (their expected number), `begins` and `ends` (days such as "2026-05-01"), `repeat`
        and `campaign` (the identity of a published campaign) are also stated if they are known.

        >>> from dither import Interval, Podium
        >>> survey = Questionnaire({"age": Podium(Interval(18, 100), epsilon=1)})
        >>> round(survey.card(asker="A", contact="a@b.c")["promise"]["epsilon"], 9)
        1.0
        """
        made: dict[str, Any] = registry.adviser("card").card(self, asker=asker, contact=contact, **more)
        return made

    def plan(self, people: int) -> Plan:
        """Return the error of each question for a number of people, from privacy and from sampling.

        The result also has the errors of the other way to spend the same ε: split between the questions, or
        one question each (`sampled`).

        >>> from dither import Interval, Podium
        >>> survey = Questionnaire({"age": Podium(Interval(18, 100), epsilon=1)})
        >>> round(survey.plan(1_000)["age"]["±"], 1)
        5.3
        """
        made: Plan = registry.adviser("plan").plan(self, people)
        return made

    def to_json(self) -> str:
        """Return the specifications of all questions as JSON, as stored at the head of a file of reports."""
        questions = {name: question.specification() for name, question in self.questions.items()}
        head = {"dither": _CAMPAIGN_VERSION, "questions": questions, **reading(self.questions)}
        head |= {"sampled": True} if self.sampled else {}
        return json.dumps(head, ensure_ascii=False, allow_nan=False)

    @staticmethod
    def from_json(text: str) -> Questionnaire:
        """Return the campaign that `to_json` wrote; raise MalformedReport if the text is not one."""
        data = loads(text, "the head of a file")
        questions = data.get("questions") if isinstance(data, dict) else None
        if not isinstance(questions, dict):
            raise MalformedReport(
                "expected a specification that dither wrote at the head of this file; pass a file that "
                "dither wrote"
            )
        with refuse_malformed("the head of this file"):
            made = {name: from_specification(part) for name, part in questions.items()}
            return Questionnaire(read_as(made, data), sampled=data.get("sampled", False))


def _without_dates(tables: object) -> object:
    """Return tables of questions without their dates (or misspelled ones), because JSON has no dates."""
    if not isinstance(tables, dict):
        return tables
    return {
        name: {key: value for key, value in table.items() if key not in ("date", "dates")}
        if isinstance(table, dict)
        else table
        for name, table in tables.items()
    }


def _share_budget(total: object, tables: dict[str, Any], sampled: bool) -> dict[str, Any]:
    """Return tables of questions; those without their own ε share the campaign's ε.

    If a person answers only one question, each question has the complete ε.
    """
    budget, tables = check_epsilon(total), {name: dict(table) for name, table in tables.items()}
    free = [name for name, table in tables.items() if "epsilon" not in table]
    stated = [table["epsilon"] for table in tables.values() if "epsilon" in table]
    if not all(isinstance(given, int | float) and not isinstance(given, bool) for given in stated):
        raise InvalidParameter("expected epsilon of a question to be a number")
    spent = max(stated, default=0.0) if sampled else math.fsum(stated)
    left = budget if sampled else budget - spent
    if (free and not left > 0.0) or spent > budget * (1.0 + 1e-9):
        raise InvalidParameter(
            f"epsilon = {budget:g} of the campaign is for all questions together, and those that state their "
            f"own have {spent:g}; give these less, or the campaign more"
        )
    for name in free:
        tables[name]["epsilon"] = left if sampled else left / len(free)
    return tables


_UNDECLARED: Final = (None, "", "missing", ())
_DECLARED: Final = "reading"  # the key of these declarations in a file


def reading(questions: Mapping[str, Any]) -> dict[str, Any]:
    """Return the declarations about answers that devices do not need, such as units and steps.

    The result has at most one key, so that campaigns without declarations keep their text.
    """
    declared = {
        name: {key: value for key in domain.declares if (value := getattr(domain, key)) not in _UNDECLARED}
        for name, domain in ((name, question.domain) for name, question in questions.items())
    }
    declared = {name: words for name, words in declared.items() if words}
    return {_DECLARED: declared} if declared else {}


def read_as(questions: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return questions with the declared units and steps of some data."""
    made, declared = dict(questions), data.get(_DECLARED, {})
    if not isinstance(declared, dict):
        raise MalformedReport(f"expected {_DECLARED!r} to hold declarations by the name of the question")
    for name, words in declared.items():
        question = made.get(name)
        declares = set() if question is None else set(question.domain.declares)
        known = isinstance(words, dict) and words and words.keys() <= declares
        if question is None or not known or None in words.values():
            raise MalformedReport(
                f"expected units and steps of numbers and empty cells of sets in {_DECLARED!r}, by question"
            )
        made[name] = replace(question, domain=question.domain.read_as(**words), made_by=None)
    return made


def _question(name: str, table: dict[str, Any]) -> Any:
    table = {key: value for key, value in table.items() if key not in WORDS}
    kind = domain = None
    try:
        domain = take_domain(table)
        if "epsilon" not in table:
            raise InvalidParameter(
                "expected epsilon, the privacy budget, got none; state one, such as epsilon = 1"
            )
        stated = table.pop("mechanism", None)
        if stated is None:
            kind, more = registry.adviser("ask").default_mechanism(domain, table["epsilon"])
            table = {**more, **table}
        else:
            kind = design_of(stated)
        if isinstance(table.get("loss"), str):
            table["loss"] = losses.loss_of(table["loss"])
        if isinstance(table.get("prior"), list):  # TOML has no pairs
            table["prior"] = tuple(table["prior"])
        return kind(domain, **table)
    except MissingExtra:
        raise
    except DitherError as error:
        raise InvalidParameter(f"question {name!r}: {error}") from None
    except (TypeError, KeyError):
        raise _wrong_key(name, kind, domain, table) from None
    except Exception as error:
        raise InvalidParameter(
            f"question {name!r}: expected parameters from which it can be built, got others "
            f"({type(error).__name__}); check their types"
        ) from None


def _wrong_key(
    name: str, kind: type[Any] | None, domain: Domain | None, table: Mapping[str, Any]
) -> InvalidParameter:
    """Return the error for a question with a key that its mechanism lacks, or a value of a wrong type."""
    if kind is None or domain is None:
        return InvalidParameter(
            f"question {name!r}: expected a domain with values of the right types, got another type; "
            "compare it with the pages of the domains"
        )
    known = [item.name for item in fields(kind) if item.init and item.name != "domain"]
    known += domain.keys
    for key in table:
        if key not in known:
            wrong = unknown_name(f"parameter of {kind.__name__}", key, known)
            return InvalidParameter(f"question {name!r}: {wrong}")
    return InvalidParameter(
        f"question {name!r}: expected values of the types that {kind.__name__} takes, got another type; "
        "check its parameters"
    )
