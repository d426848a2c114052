"""Campaigns as contracts: questions, people, days and purpose; immutable and signed.

A published contract is a text. Its identity is the SHA-256 of that text. The signed text
itself is transmitted, so a check does not write it again. A change is a new version with a new identity.
"""

from __future__ import annotations

import datetime
import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Self

from dither.advice.card import card
from dither.advice.explain import Explanation, explain, total_promise
from dither.advice.sheet import CampaignFacts
from dither.collection.account.budget import Data
from dither.collection.account.inquiry import Every, Inquiry
from dither.collection.ohttp import public_key
from dither.collection.secrets import refuse_private
from dither.collection.terms import (
    THOUSAND,
    Phase,
    QuestionTerms,
    Repeating,
    check_labels,
    check_languages,
    check_unit,
    check_whole,
    is_promise,
    promises,
    read_day,
    thousandths,
    values_of_present,
)
from dither.collection.words import check_words
from dither.core.batch import MOST_LABEL, MOST_QUESTIONS
from dither.core.question import Question, as_question
from dither.core.questionnaire import TERMS, Questionnaire
from dither.core.repetition import KeptChange, Once
from dither.core.wire import MOST_BYTES, loads, read_named
from dither.errors import (
    DitherError,
    InvalidParameter,
    MalformedReport,
    check_choice,
    found,
    unknown_name,
)
from dither.foundation.canonical import canonical
from dither.privacy import Guarantee, Pure
from dither_device.total import Total, periods_of, total_of

if TYPE_CHECKING:
    from dither.collection.published import Published

VERSION: Final = 2
_MOST_LABELS: Final = 1000
_ALWAYS: Final = (
    *("name", "version", "asker", "contact", "purpose", "begins", "ends", "people", "retry"),
    *("repeat", "labels"),
)
_MAYBE: Final = tuple(name for name in TERMS if name not in _ALWAYS)
# the limit in bytes, and True if line feeds are allowed
_TEXTS: Final = {"name": (64, True), "asker": (253, False), "contact": (500, True), "purpose": (4000, True)}
_MOST_NAME: Final = 64
_MOST_ASKER: Final = 200  # characters
_NUMBERS: Final = {
    "version": (1 << 31) - 1,
    "people": (1 << 53) - 1,
    "retry": 365,
    "answers": 10**6,
    "days": 36_600,
    "changes": 1000,
    "expects": (1 << 53) - 1,
    "reports_a_batch": (1 << 31) - 1,
}
# The terms that each way of repeating needs or may have; the other ways do not have them.
_NEEDS: Final[dict[str, tuple[str, ...]]] = {
    "kept change": ("days", "changes"),
    "present": ("every", "expects"),
}
_OWN: Final[dict[str, tuple[str, ...]]] = {
    "fresh": ("answers",),
    "once": ("days", "every"),
    "present": ("label_share",),
}
# Draws that a campaign cannot use: of paths, whose length is unknown; of texts, because they are not
# counted; and draws that need several devices.
_NEVER: Final = (
    *("walk", "two copies", "divided", "prefix", "joint response", "joint bits", "joint hashed"),
    *("each", "sampled", "indicator", "kept change", "kept changes"),
)
_PRESENT_VALUES: Final = 128
FEWEST_LABELLED: Final = 100  # expected devices of a campaign with a permanent label, at least
_PRESENT_DEVICES: Final = 20  # expected devices for each report of a permanent label, at least


@dataclass(frozen=True)
class Campaign:
    """The promises of a campaign to its people, and the obligations of the collector.

    `begins` and `ends` are days in UTC, both included. `people` is the number of reports below which no
    answer is shown. `retry` is the number of days for which a repeated batch is recognised. `repeat` states
    how often a person may answer: `"fresh"` up to `answers` times, `"once"` in each period of `days` days
    or in `every` day, week or month, `"kept change"` with `days` and `changes`, `"present"` once in `every`
    period, with the share of devices that carry the permanent label (`label_share`) and the number of
    devices that it `expects`. `labels` are the public labels that a batch may carry (or none). `phase`
    divides people between two campaigns. `languages` are the languages of `purposes` and of the words of
    `asks`, the terms of each question; `purpose` is in the first of them. `sealing_key` is the key
    configuration (RFC 9458, as hexadecimal text) that devices encrypt requests to, so that a relay cannot
    read them. `reports_a_batch` is the largest number of reports to a question in a batch, for gateways
    that send for many people; None if each batch is from one person.
    """

    name: str
    version: int
    asker: str
    contact: str
    purpose: str
    begins: datetime.date
    ends: datetime.date
    questions: Mapping[str, Question]
    people: int = 100
    repeat: Repeating = "same"
    days: int | None = None
    labels: tuple[str, ...] = ()
    sealing_key: str | None = None
    reports_a_batch: int | None = None
    retry: int = 14
    answers: int | None = None
    every: Every | None = None
    changes: int | None = None
    label_share: float | None = None
    expects: int | None = None
    phase: Phase | None = None
    languages: tuple[str, ...] = ()
    purposes: Mapping[str, str] = field(default_factory=dict)
    asks: Mapping[str, QuestionTerms] = field(default_factory=dict)  # by the name of a question
    signed_text: str | None = field(default=None, repr=False, compare=False)  # the text that was signed

    def __post_init__(self) -> None:
        for name, (size, lines) in _TEXTS.items():
            check_words(name, getattr(self, name), size=size, lines=lines)
        if len(self.asker) > _MOST_ASKER:
            raise InvalidParameter(
                f"expected asker to be a text of at most {_MOST_ASKER} characters, got "
                f"{len(self.asker)}; "
                "shorten it"
            )
        for name, most in _NUMBERS.items():
            if name in _ALWAYS or getattr(self, name) is not None:
                check_whole(name, getattr(self, name), 1, most)
        for name in ("begins", "ends"):
            if type(getattr(self, name)) is not datetime.date:
                raise InvalidParameter(
                    f"expected {name} to be a day such as 2026-05-01, got {found(getattr(self, name))}; "
                    "write it without quotes and time"
                )
        if self.ends < self.begins:
            raise InvalidParameter(f"expected ends on or after begins ({self.begins}), got {self.ends}")
        if len(set(self.labels)) != len(self.labels) or len(self.labels) > _MOST_LABELS:
            raise InvalidParameter(
                f"expected labels to be at most {_MOST_LABELS} different texts, got "
                f"{len(self.labels)}; "
                "remove repeated ones"
            )
        for label in self.labels:
            check_words("a label", label, size=MOST_LABEL, lines=True)
        if self.sealing_key is not None:
            refuse_private("sealing_key", self.sealing_key)
            public_key(self.sealing_key)
        made = {name: self._with_terms(name, as_question(given)) for name, given in self.questions.items()}
        for name, given in (("questions", made), ("purposes", self.purposes), ("asks", self.asks)):
            object.__setattr__(self, name, MappingProxyType(dict(given)))
        self._check_repeat()
        self._check_words()
        self._check_questions()

    def _with_terms(self, name: str, question: Question) -> Question:
        """Return a question whose domain has the scale, or the clipping, that its terms or itself declare."""
        line, terms = question.domain.line, self.asks.get(name)
        if line is None or terms is None or (line.circular and terms.form != "time"):
            return question
        declared = {key: getattr(line, key) for key in line.declares}
        own = terms.declarations(question, self.phase)
        wanted = {**declared, **{key: used for key, used in own.items() if used}}
        if wanted == declared:
            return question
        try:
            return replace(question, domain=question.domain.read_as(**wanted), made_by=None)
        except InvalidParameter as error:
            raise InvalidParameter(f"question {name!r}: {error}") from None

    def _check_repeat(self) -> None:
        """Raise InvalidParameter if a term that `repeat` needs is missing, or an excluded one is given."""
        check_choice("repeat", self.repeat, Repeating)
        needed, own = _NEEDS.get(self.repeat, ()), _OWN.get(self.repeat, ())
        for name in dict.fromkeys(name for some in (*_NEEDS.values(), *_OWN.values()) for name in some):
            given = getattr(self, name) is not None
            if given and name not in (*needed, *own):
                raise InvalidParameter(f"expected no {name} with repeat = {self.repeat!r}; leave it out")
            if not given and name in needed:
                raise InvalidParameter(f"expected {name} with repeat = {self.repeat!r}; add it")
        if self.every is not None:
            check_choice("every", self.every, Every)
        if self.repeat == "once" and (self.days is None) == (self.every is None):
            raise InvalidParameter(
                'expected repeat = "once" with either days, such as days = 7, or every = "day", '
                '"week" or "month"; give one of them'
            )
        if self.repeat == "kept change" and not 0 < (self.changes or 0) < (self.days or 0):
            raise InvalidParameter(
                "expected at least 2 days for a kept change, and fewer changes than days, got "
                f"{self.days} "
                f"days and {self.changes} changes"
            )
        if self.label_share is not None:
            thousandths("label_share", self.label_share)
        if self.repeat == "present" and (self.phase is not None or self.reports_a_batch is not None):
            raise InvalidParameter(
                'expected neither phase nor reports_a_batch with repeat = "present"; leave them out'
            )
        if self.phase is not None and not isinstance(self.phase, Phase):
            raise InvalidParameter(
                "expected phase to have a share or to name the first campaign; write for example phase = "
                "{ share = 0.1 }"
            )

    def _check_words(self) -> None:
        check_languages(self.languages)
        if self.purposes:
            if not self.languages or set(self.purposes) != set(self.languages[1:]):
                raise InvalidParameter(
                    "expected purposes in each of the languages except the first, the language "
                    "that `purpose` is "
                    "in; "
                    "add or remove some"
                )
            for words in self.purposes.values():
                check_words("a purpose", words, size=_TEXTS["purpose"][0], lines=True)
        for name in self.asks:
            if name not in self.questions:
                raise unknown_name("question", name, list(self.questions))

    def _check_questions(self) -> None:
        present = self.repeat == "present"
        least, most = (0, 1) if present else (1, MOST_QUESTIONS)
        if not least <= len(self.questions) <= most:
            raise InvalidParameter(
                f"expected {least} to {most} questions in this kind of campaign, got "
                f"{len(self.questions)}; change their number"
            )
        if present and (self.label_share is None) == bool(self.questions):
            raise InvalidParameter(
                "expected label_share if and only if there is a question, the permanent label; add one, or "
                "leave label_share out"
            )
        seen: dict[str, str] = {}
        for name, question in self.questions.items():
            check_words("the name of a question", name, size=_MOST_NAME)
            twin = seen.setdefault(question.fingerprint, name)
            if twin != name:
                raise InvalidParameter(
                    f"expected different device texts, got the same for the questions {twin!r} and "
                    f"{name!r}, whose reports would be indistinguishable; put one of them into another "
                    "campaign"
                )
            try:
                self._check_question(question, self.asks.get(name))
            except DitherError as error:
                raise InvalidParameter(f"question {name!r}: {error}") from None

    def _check_question(self, question: Question, terms: QuestionTerms | None) -> None:
        draw, domain = question.device()["draw"], question.domain
        if draw in _NEVER or not question.alone or question.guarantee.assumes:
            raise InvalidParameter(
                "expected a question that a device answers by itself, about one value or one location, got "
                f"a path or a text (draw {draw!r}); choose another mechanism"
            )
        check_labels(domain)
        if domain.line is not None:
            check_unit(domain.line.plain_unit)
        if terms is not None:
            terms.check(question, self.languages, self.repeat == "present")
        if self.repeat == "kept change":
            _ = self._changing(question)
            if draw != "response":  # devices draw the answers of intervals in this way
                raise InvalidParameter(
                    'expected mechanism = "KRR" for a kept change, drawn as "response", got '
                    f"{question.name!r}"
                )
        if self.repeat == "present":
            self._check_present(question)

    def _check_present(self, question: Question) -> None:
        if (self.expects or 0) < FEWEST_LABELLED:
            raise InvalidParameter(
                f"expected at least {FEWEST_LABELLED} devices for a permanent label, because a report of "
                "fewer almost identifies a device; leave out the question and label_share, so that devices "
                "are only counted"
            )
        values = values_of_present(question)
        expected = (self.expects or 0) * thousandths("label_share", self.label_share)
        most = min(_PRESENT_VALUES, expected // (THOUSAND * _PRESENT_DEVICES))
        if question.domain.kind != "categories" or values is None or values > most:
            raise InvalidParameter(
                f"expected a permanent label to be one of a list with at most {most} different reports "
                "(128, or one for every 20 expected devices that carry it), because more would identify "
                "devices; shorten the list"
            )

    def _changing(self, question: Question) -> KeptChange:
        return KeptChange(question, days=self.days or 0, changes=self.changes or 0)

    def change(self, name: str) -> KeptChange:
        """Return the kept change of a question; only with `repeat = "kept change"`."""
        return self._changing(self.questions[name])

    def fingerprint(self, name: str) -> str:
        """Return the fingerprint that reports to a question have in a batch."""
        question = self.questions[name]
        return self._changing(question).fingerprint if self.repeat == "kept change" else question.fingerprint

    def asking(self, name: str) -> Inquiry:
        """Return the inquiry about a question for the account of a person."""
        if name not in self.questions:
            raise unknown_name("question", name, list(self.questions))
        if self.repeat == "present":
            raise InvalidParameter(
                'expected a campaign with inquiries, got repeat = "present"; report presence with '
                "Account.present of dither-device"
            )
        facts, question = self.account_terms(name), self.questions[name]
        request = Inquiry(
            name,
            question,
            asker=self.asker,
            repeat=self.repeat,
            days=self.days,
            every=self.every,
            changes=self.changes,
            times=facts.get("times"),
            terms={key: facts[key] for key in ("limit", "phase") if key in facts} or None,
            taken=None if name not in self.asks else partial(self.value, name),
            words=self.words(name),
        )
        return request if self.days is None else replace(request, start=self.begins)

    def words(self, name: str) -> Data:
        """Return the words of the campaign about a question, by language, and its labels."""
        said = self.asks.get(name, QuestionTerms())
        labels = getattr(self.questions[name].domain, "labels", ())
        listed = () if isinstance(labels, range) else labels
        return {"text": said.text, "names": said.names, "languages": self.languages, "labels": listed}

    def value(self, name: str, given: object) -> object:
        """Return the question's input for a person's value: scales, dates and times are converted."""
        terms = self.asks.get(name)
        return given if terms is None else terms.value(given, self.questions[name])

    def account_terms(self, name: str) -> Data:
        """Return an account's data about a question, except the asker and the mechanism."""
        periodic = self.days is not None
        facts: Data = {
            "asker": self.asker,
            "question": name,
            "fingerprint": self.fingerprint(name),
            "repeat": self.repeat,
            "days": self.days,
            "start": (self.begins - datetime.date(1970, 1, 1)).days if periodic else None,
        }
        if self.every is not None:
            facts["every"] = self.every
        if self.changes is not None:
            facts["changes"] = self.changes
        if self.questions[name].unit == "location":
            facts["times"] = 1
        if self.answers is not None:
            facts["limit"] = {"campaign": self.id, "answers": self.answers}
        if self.phase is not None:
            facts["phase"] = {"campaign": self.id, "name": self.name, **self.phase.data()}
        return facts

    def most_reports(self, day: datetime.date) -> int:
        """Return the largest number of reports to a question in a batch that arrives on a day.

        One person has one report, or one for each period that has begun: their device may have been offline.
        """
        if self.reports_a_batch is not None:
            return self.reports_a_batch
        if self.repeat != "once":
            return 1
        return self._periods(min(day, self.ends))

    def _periods(self, last: datetime.date) -> int:
        """Return the number of periods that have begun by the end of a day."""
        ends = {"begins": self.begins.isoformat(), "ends": last.isoformat()}
        return periods_of({"days": self.days, "every": self.every, **ends}) if last >= self.begins else 0

    @cached_property
    def report_sizes(self) -> Mapping[str, tuple[str, int]]:
        """The name of the question and the size of a report in bytes, by fingerprint."""
        found = {
            self.fingerprint(name): (name, question.report_bytes) for name, question in self.questions.items()
        }
        return MappingProxyType(found)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person who answers every question once."""
        return Questionnaire(self.questions).guarantee if self.questions else Guarantee(Pure(0.0))

    @cached_property
    def over_time(self) -> Mapping[str, Any]:
        """The ledger of a person's answers over the complete campaign: with `"once"`, one in each period."""
        if self.repeat == "kept change":
            return {name: self._changing(question) for name, question in self.questions.items()}
        if self.repeat != "once":
            return self.questions
        days = (self.ends - self.begins).days + 1
        every = None if self.days is None else min(self.days, days)
        if self.every is not None:
            days, every = self._periods(self.ends), 1  # only their number counts
        return {name: Once(question, days=days, every=every) for name, question in self.questions.items()}

    @cached_property
    def total(self) -> Total:
        """The largest privacy loss of one person over the complete campaign. All texts state it."""
        terms = {name: getattr(self, name, None) for name in ("repeat", "days", "every", "answers")}
        days = {"begins": self.begins.isoformat(), "ends": self.ends.isoformat()}
        return total_of({**terms, **days}, self.guarantee.epsilon, self.guarantee.delta)

    @cached_property
    def whole_guarantee(self) -> Guarantee:
        """A person's guarantee over the complete campaign; `Nothing` for fresh answers without a limit."""
        return total_promise(self.total)

    def explain(self, spent: Guarantee | None = None) -> Explanation:
        """Return the promise of the campaign over all its days, in plain words."""
        return explain(self.over_time, spent=spent, **self.spoken)

    @property
    def spoken(self) -> Data:
        """The further arguments of `explain` and `card`: the repetition, the total, and stated terms."""
        stated = {name: terms.data() for name, terms in self.asks.items()}
        phase = None if self.phase is None else self.phase.data()
        facts = {"repeat": self.repeat, "total": self.total, "every": self.every, "stated": stated}
        return {**facts, "phase": phase}

    def facts(self, published: Published | None = None) -> CampaignFacts:
        """Return the statements of the campaign about itself, for the officer's sheet of today."""
        return CampaignFacts(
            name=self.name,
            version=self.version,
            digest=self.id,
            signed=None if published is None else published.key,
            date=datetime.datetime.now(datetime.UTC).date().isoformat(),
            asker=self.asker,
            contact=self.contact,
            purposes={**dict.fromkeys(self.languages[:1] or ("",), self.purpose), **self.purposes},
            labels=self.labels,
            retry=self.retry,
            begins=self.begins.isoformat(),
            ends=self.ends.isoformat(),
            people=self.people,
            sealed=self.sealing_key is not None,
            repeat=self.repeat,
            total=self.total,
        )

    @cached_property
    def card(self) -> str:
        """The card of the campaign, as canonical JSON; it is signed with the campaign and served."""
        made = card(
            self.over_time,
            asker=self.asker,
            contact=self.contact,
            purpose=self.purpose,
            begins=self.begins.isoformat(),
            ends=self.ends.isoformat(),
            campaign=self.id,
            **self.spoken,
        )
        return canonical(made)

    @cached_property
    def text(self) -> str:
        """The contract as canonical JSON: this text is signed, and its digest is the identity.

        A campaign that was read from a text keeps that text: a later version may write specifications
        differently.
        """
        if self.signed_text is not None:
            return self.signed_text
        terms: Data = {name: getattr(self, name) for name in _ALWAYS}
        terms |= {name: used for name in _MAYBE if (used := getattr(self, name))}
        terms |= {name: terms[name].isoformat() for name in ("begins", "ends")}
        if self.label_share is not None:
            terms["label_share"] = thousandths("label_share", self.label_share)
        if self.phase is not None:
            terms["phase"] = self.phase.data()
        if self.purposes:
            terms["purposes"] = dict(self.purposes)
        questions = [self._write_question(name) for name in self.questions]
        promise = _total(questions)
        return canonical({"dither-campaign": VERSION, **terms, "promise": promise, "questions": questions})

    def _write_question(self, name: str) -> Data:
        """Return the entry of a question in the text."""
        question, terms, line = self.questions[name], self.asks.get(name), self.questions[name].domain.line
        data = _promise(question)
        if line is not None:
            data |= {} if line.step is None else {"step": line.step}
            data |= {"unit": line.plain_unit} if line.plain_unit else {}
        return {"name": name, "specification": question.to_json(), **data, **(terms.data() if terms else {})}

    @cached_property
    def id(self) -> str:
        """The SHA-256 of the text, 64 hexadecimal digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the contract of a published text; raise MalformedReport if its form is wrong."""
        data = loads(text, "a campaign", MOST_BYTES)
        try:
            version = data["dither-campaign"]
            if version != VERSION or isinstance(version, bool):
                raise MalformedReport(
                    f"expected a campaign of version {VERSION}; publish an older one again, and read a "
                    "newer one with a newer dither"
                )
            text.encode()  # an unpaired surrogate of UTF-16 has no UTF-8, and so no digest
            made = cls(**_read_terms(data), signed_text=text)
            stated = data["promise"], [_read_promise(each) for each in data["questions"]]
        except InvalidParameter as error:
            raise MalformedReport(f"the campaign is not valid: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            if isinstance(error, DitherError):
                raise
            raise MalformedReport(
                "expected a published campaign; make one with dither campaign publish"
            ) from None
        computed = [_promise(question) for question in made.questions.values()]
        fine = all(is_promise(given, own) for given, own in zip(stated[1], computed, strict=True))
        if not fine or not is_promise(stated[0], _total(computed)):
            raise MalformedReport(
                "the stated promise differs from the computed one; publish the campaign again"
            )
        if canonical(data) != text:
            raise MalformedReport(
                "expected the text of a campaign in canonical JSON, as it was published; fetch it again"
            )
        return made

    @classmethod
    def from_store(cls, text: str) -> Self:
        """Return a campaign from a store, also of version 1; it was checked when it was published."""
        data = loads(text, "a campaign", MOST_BYTES)
        if data.get("dither-campaign") != 1:
            return cls.from_text(text)
        try:
            reading = data.pop("reading", {})
            questions = [
                {"name": name, "specification": given, **reading.get(name, {})}
                for name, given in data["questions"]
            ]
            stated = {name: value for name, value in data.items() if value is not None}
            return cls(**_read_terms({"retry": 14, **stated, "questions": questions}), signed_text=text)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise MalformedReport("a campaign of version 1 in the store is damaged") from None

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """Return the contract of a TOML text: a table `[campaign]` and several `[questions.NAME]`."""
        from dither.collection.campaign_file import read_campaign

        return cls(**read_campaign(text))

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """Return the contract of a TOML file."""
        try:
            return cls.from_toml(Path(path).read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            raise InvalidParameter(
                f"expected the campaign file {Path(path).name} to be text in UTF-8; save it in UTF-8"
            ) from None


def _promise(question: Question) -> Data:
    """Return the promise of a question as the text states it: ε, and δ if it has one."""
    facts = promises(question.guarantee)
    return {name: facts[name] for name in ("epsilon", "delta") if facts[name] is not None}


def _read_promise(stated: Data) -> Data:
    return {name: stated[name] for name in ("epsilon", "delta") if name in stated}


def _total(questions: list[Data]) -> Data:
    """Return the promise of all questions together: the sums of their ε and δ."""
    deltas = [fields["delta"] for fields in questions if "delta" in fields]
    epsilon = math.fsum(fields["epsilon"] for fields in questions)
    return {"epsilon": epsilon, "delta": math.fsum(deltas) if deltas else None, "assumptions": []}


_QUESTION: Final = {"name", "specification", "epsilon", "delta", "step", "unit"}
_ASKED: Final = {"text", "names", "scale", "form", "clipped", "outside"}


def _read_terms(data: Data) -> Data:
    """Return the arguments of a campaign from its text; raise MalformedReport if a term is malformed."""
    fixed = {"dither-campaign", "promise", "questions"}
    if not data.keys() >= fixed | set(_ALWAYS) or data.keys() - fixed - {*_ALWAYS, *_MAYBE}:
        raise MalformedReport(
            "a term of the campaign is missing or unknown; publish it again with this version of dither"
        )
    terms = {name: data[name] for name in data if name not in fixed}
    if None in terms.values():
        raise MalformedReport("the campaign writes a term that it does not use; publish it again")
    terms |= {name: read_day(terms[name]) for name in ("begins", "ends")}
    kinds = {"labels": list, "languages": list, "purposes": dict, "phase": dict}
    for name, kind in kinds.items():
        if name in terms and (not isinstance(terms[name], kind) or not (terms[name] or name == "labels")):
            raise MalformedReport(f"{name} of a campaign is not in its form, or empty")
    terms |= {name: tuple(terms[name]) for name in ("labels", "languages") if name in terms}
    if "label_share" in terms:
        check_whole("label_share", terms["label_share"], 1, THOUSAND - 1)
        terms["label_share"] /= THOUSAND
    if "phase" in terms:
        terms["phase"] = Phase.read(terms["phase"])
    return {**terms, **_read_questions(data["questions"])}


def _read_questions(listed: object) -> Data:
    """Return the questions of a text by name, and the terms of those that have any."""
    questions: dict[str, Question] = {}
    asks: dict[str, QuestionTerms] = {}
    for stated in listed if isinstance(listed, list) else [None]:
        if not isinstance(stated, dict) or stated.keys() - _QUESTION - _ASKED or stated["name"] in questions:
            raise MalformedReport("expected the questions of a campaign in their form, each name once")
        questions[stated["name"]] = _read_question(stated)
        own = {name: stated[name] for name in stated.keys() & _ASKED}
        if own:
            asks[stated["name"]] = QuestionTerms.read(own)
    return {"questions": questions, "asks": asks}


def _read_question(stated: Data) -> Question:
    question = read_named(stated["specification"])
    declared = {name: stated[name] for name in ("step", "unit") if name in stated}
    if not declared:
        return question
    if question.domain.line is None or None in declared.values() or declared.get("unit") == "":
        raise MalformedReport("units and steps are of numbers, and not written where they are not used")
    return replace(question, domain=question.domain.read_as(**declared), made_by=None)
