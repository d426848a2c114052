"""Campaigns as contracts: what is asked of whom, for how long and for what; immutable and signed.

A published contract is a text. Its identity is the SHA-256 of that text, which travels as it was signed, so
that nothing has to be written again in order to be checked. A change is a new version with a new identity.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Self

from dither.advice.card import card
from dither.advice.explain import Explanation, explain, whole_promise
from dither.collection.account.inquiry import Inquiry, Repeat
from dither.collection.ohttp import public_key
from dither.collection.secrets import public_part, refuse_private
from dither.collection.terms import check_text, from_digits, is_promise, promises, read_day
from dither.core.batch import MOST_LABEL, MOST_QUESTIONS
from dither.core.question import Question, as_question
from dither.core.questionnaire import BUDGET, TERMS, Questionnaire, read_as, reading
from dither.core.repetition import Once
from dither.core.wire import MOST_BYTES, loads, read_named
from dither.errors import (
    DitherError,
    InvalidParameter,
    MalformedReport,
    Mismatch,
    check_choice,
    found,
    unknown_name,
)
from dither.foundation.canonical import canonical
from dither.privacy import Guarantee

VERSION: Final = 1
_MOST_LABELS: Final = 1000
_MOST_TEXT: Final = 4000
_MOST_NAME: Final = 64
_SIGNED: Final = b"dither campaign 1\n"
_RETIRED: Final = b"dither retirement 1\n"
_NEXT_KEY: Final = b"dither next key 1\n"
_LISTED: Final = b"dither log 1\n"
_FIRST: Final = "0" * 64  # what the first entry of a list has for the digest of the one before
_MOST_ENTRIES: Final = 10_000
_CARD: Final = b"dither card 1\n"
_PRIME: Final = (1 << 255) - 19  # of Ed25519, and its d
_CURVE: Final = 37095705934669439343138083508754565189542113879843219016388785533085940283555
_TERMS: Final = TERMS[:-2]
_OPTIONAL: Final = TERMS[-2:]
_SEALING, _TOGETHER = _OPTIONAL


@dataclass(frozen=True)
class Campaign:
    """What a campaign promises to the people it asks, and what the collector holds itself to.

    `begins` and `ends` are days in UTC, both included. `people` is the number of reports below which no
    answer is shown. `repeat` (with `days` for `"once"`) is how often a person may answer. `labels` are
    the public labels that a batch may carry beside none. `sealing_key` is the key configuration (RFC 9458, as
    hexadecimal text) that devices encrypt requests to, so that a relay cannot read them; None if there is
    none.
    `reports_a_batch` is how many reports to a question a batch may hold, for gateways that send for many
    people; None if every batch is of one person.
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
    repeat: Repeat = "same"
    days: int | None = None
    labels: tuple[str, ...] = ()
    sealing_key: str | None = None
    reports_a_batch: int | None = None
    signed_text: str | None = field(default=None, repr=False, compare=False)  # the text that was signed

    def __post_init__(self) -> None:
        for name, most in (("name", _MOST_NAME), ("asker", 253), ("contact", 500), ("purpose", _MOST_TEXT)):
            check_text(name, getattr(self, name), most)
        for name, most in (("version", 1 << 31), ("people", 1 << 53), (_TOGETHER, 1 << 31)):
            number = getattr(self, name)
            if name in _OPTIONAL and number is None:
                continue
            if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number < most:
                raise InvalidParameter(f"{name} is a whole number from 1 upwards, not {found(number)}")
        for name in ("begins", "ends"):
            if type(getattr(self, name)) is not datetime.date:
                raise InvalidParameter(f"{name} is a day such as 2026-05-01, without quotes or a time")
        if self.ends < self.begins:
            raise InvalidParameter(f"the campaign ends on {self.ends}, before it begins on {self.begins}")
        if len(set(self.labels)) != len(self.labels) or len(self.labels) > _MOST_LABELS:
            raise InvalidParameter(f"labels are at most {_MOST_LABELS} different texts")
        for label in self.labels:
            check_text("a label", label, MOST_LABEL)
        if self.sealing_key is not None:
            refuse_private(_SEALING, self.sealing_key)
            public_key(self.sealing_key)
        asked = {name: as_question(given) for name, given in self.questions.items()}
        object.__setattr__(self, "questions", MappingProxyType(asked))
        self._check_questions()

    def _check_questions(self) -> None:
        if self.repeat == "kept change":
            raise InvalidParameter(
                "a campaign does not ask about kept changes yet; repeat is one of "
                "fresh, same, per value, once"
            )
        if not 1 <= len(self.questions) <= MOST_QUESTIONS:
            raise InvalidParameter(f"a campaign has 1 to {MOST_QUESTIONS} questions")
        seen: dict[str, str] = {}
        for name, question in self.questions.items():
            check_text("the name of a question", name, _MOST_NAME)
            twin = seen.setdefault(question.fingerprint, name)
            if twin != name:
                raise InvalidParameter(
                    f"questions {twin!r} and {name!r} have the same device text, so that nobody could tell "
                    "their reports apart; ask one of them in a campaign of its own"
                )
            try:
                if question.domain.kind == "profile":
                    raise InvalidParameter(
                        "a collector shows no tables of several attributes: collect reports in files, and "
                        "dt.stats.tables estimates them"
                    )
                self.asking(name)
                _ = question.counting.size
            except DitherError as error:
                raise InvalidParameter(f"question {name!r}: {error}") from None

    def asking(self, name: str) -> Inquiry:
        """Return a question as the account of a person takes it."""
        if name not in self.questions:
            raise unknown_name("question", name, list(self.questions))
        plain = Inquiry(name, self.questions[name], asker=self.asker)
        if self.repeat != "once":
            return replace(plain, repeat=self.repeat, days=self.days)
        return replace(plain, repeat=self.repeat, days=self.days, start=self.begins)

    def most_reports(self, day: datetime.date) -> int:
        """Return how many reports to a question a batch that arrives on a day may hold.

        One person has one, or one for each period that has begun: their device may have been offline.
        """
        if self.reports_a_batch is not None:
            return self.reports_a_batch
        if self.repeat != "once" or self.days is None:
            return 1
        return (min(day, self.ends) - self.begins).days // self.days + 1

    @cached_property
    def report_sizes(self) -> Mapping[str, tuple[str, int]]:
        """By fingerprint: the name of the question, and the bytes of a report."""
        found = {
            question.fingerprint: (name, question.report_bytes) for name, question in self.questions.items()
        }
        return MappingProxyType(found)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person who answers every question once."""
        return Questionnaire(self.questions).guarantee

    @cached_property
    def over_time(self) -> Mapping[str, Any]:
        """What a person is asked over the whole campaign: with `"once"`, one answer in each period."""
        if self.repeat != "once":
            return self.questions
        days = (self.ends - self.begins).days + 1
        every = None if self.days is None else min(self.days, days)
        return {name: Once(question, days=days, every=every) for name, question in self.questions.items()}

    @property
    def whole_guarantee(self) -> Guarantee:
        """The guarantee of a person over the whole campaign; of fresh answers, if each is given once."""
        return whole_promise(self.over_time)

    def explain(self, spent: Guarantee | None = None) -> Explanation:
        """Return what the campaign promises over all its days, in plain words."""
        return explain(self.over_time, spent=spent, repeat=self.repeat)

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
            repeat=self.repeat,
            campaign=self.id,
        )
        return canonical(made)

    @cached_property
    def text(self) -> str:
        """The contract as canonical JSON: this text is signed, and its digest is the identity.

        What was read from a text keeps it: a later version may write the specifications otherwise.
        """
        if self.signed_text is not None:
            return self.signed_text
        terms: dict[str, Any] = {name: getattr(self, name) for name in _TERMS}
        terms |= {name: terms[name].isoformat() for name in ("begins", "ends")}
        return canonical(
            {
                "dither-campaign": VERSION,
                **terms,
                "repeat": self.repeat,
                "promise": promises(self.guarantee),
                "questions": [[name, question.to_json()] for name, question in self.questions.items()],
                **{name: used for name in _OPTIONAL if (used := getattr(self, name)) is not None},
                **reading(self.questions),
            }
        )

    @cached_property
    def id(self) -> str:
        """The SHA-256 of the text, 64 hexadecimal digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the contract of a published text; raise MalformedReport unless it keeps to its form."""
        data = loads(text, "a campaign", MOST_BYTES)
        try:
            version = data["dither-campaign"]
            if version != VERSION or isinstance(version, bool):  # in Python, true is 1
                raise MalformedReport(
                    f"a campaign of version {VERSION} was expected; a newer dither reads newer"
                )
            terms = {name: data[name] for name in _TERMS}
            terms |= {name: read_day(terms[name]) for name in ("begins", "ends")}
            if not isinstance(terms["labels"], list) or not isinstance(data["questions"], list):
                raise MalformedReport("the labels and the questions of a campaign are lists")
            terms["labels"] = tuple(terms["labels"])
            text.encode()  # half a pair of UTF-16 has no UTF-8, and so no digest
            questions = {name: read_named(text) for name, text in data["questions"]}
            if len(questions) != len(data["questions"]):
                raise MalformedReport("two questions of the campaign have the same name")
            for name in _OPTIONAL:
                if name in data:
                    if data[name] is None:  # null is none, and is not written
                        raise MalformedReport(f"a campaign without {name} does not name it")
                    terms[name] = data[name]
            made = cls(**terms, questions=read_as(questions, data), signed_text=text)
        except InvalidParameter as error:
            raise MalformedReport(f"the campaign is not valid: {error}") from None
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, DitherError):
                raise
            raise MalformedReport("this is not a published campaign") from None
        stated = data.pop("promise", None)
        if data.keys() - {"reading", *_OPTIONAL} != {
            "dither-campaign",
            "questions",
            *_TERMS,
        } or not is_promise(stated, made.guarantee):
            raise MalformedReport("the campaign does not say what its questions promise, or not in this form")
        if canonical({**data, "promise": stated}) != text:
            raise MalformedReport("the text of a campaign is canonical JSON")
        return made

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """Return the contract of a TOML text: a table `[campaign]` and one `[questions.NAME]` each."""
        questions = Questionnaire.from_toml(text).questions
        table = tomllib.loads(text).get("campaign")
        if not isinstance(table, dict):
            raise InvalidParameter(
                "the file has no table [campaign] with name, asker, contact, begins, ends …"
            )
        lacking = [
            key for key in ("name", "asker", "contact", "purpose", "begins", "ends") if key not in table
        ]
        if lacking:
            raise InvalidParameter(f"the table [campaign] lacks {', '.join(lacking)}")
        if table.get("sampled", False):
            raise InvalidParameter(
                "sampled = true is for files: a device answers every question of a signed campaign. Leave it "
                "out, so that epsilon is divided between the questions, or publish one campaign for each "
                "question, each with all of epsilon, and give each person the address of one, drawn at random"
            )
        terms = {"version": 1, **{key: value for key, value in table.items() if key not in BUDGET}}
        if "repeat" in terms:
            check_choice("repeat", terms["repeat"], Repeat)
        labels = terms.get("labels", [])
        if not isinstance(labels, list):
            raise InvalidParameter("labels is a list of texts, such as labels = ['1.0', '1.1']")
        return cls(**{**terms, "labels": tuple(labels)}, questions=questions)

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """Return the contract of a TOML file."""
        try:
            return cls.from_toml(Path(path).read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            raise InvalidParameter(f"the campaign file {Path(path).name} is not text in UTF-8") from None


class KeyBefore(NamedTuple):
    """The key that an asker had before, and its signature of the present one: who pinned it may follow."""

    key: str
    signature: str

    @classmethod
    def sign(cls, key: Any, present: str) -> Self:
        """Return the statement of a private key, an Ed25519 one of `cryptography`, about the next."""
        return cls(public_part(key), key.sign(_NEXT_KEY + present.encode()).hex())

    def check(self, present: str) -> None:
        """Raise MalformedReport unless the key before has signed the present one."""
        _verify(self.key, self.signature, _NEXT_KEY + present.encode())


def check_pin(stated: str, before: KeyBefore | None, pin: str | None) -> None:
    """Raise Mismatch unless what is signed with a key is accepted by who pinned one: that key, or the next.

    What `before` states must have been verified.
    """
    refuse_private("key", pin)
    if pin is not None and stated != pin and (before is None or before.key != pin):
        raise Mismatch("the campaign is signed with another key than the pinned one; do not answer it")


@dataclass(frozen=True)
class Published:
    """A contract with the signature of its asker, which is what devices read, and maybe its retirement."""

    contract: Campaign
    key: str  # 64 hexadecimal digits: the public key
    signature: str  # 128 hexadecimal digits
    retired: tuple[datetime.date, str] | None = None  # the day, and a signature
    before: KeyBefore | None = None
    card: tuple[str, str] | None = None  # the text, and a signature

    def __post_init__(self) -> None:
        _verify(self.key, self.signature, _SIGNED + self.contract.text.encode())
        if self.card is not None:
            _verify(self.key, self.card[1], _CARD + self.card[0].encode())
            if loads(self.card[0], "a card").get("campaign") != self.id:
                raise MalformedReport("the card is that of another campaign")
        if self.retired is not None:
            _verify(self.key, self.retired[1], _retirement(self.id, self.retired[0]))
        if self.before is not None:
            self.before.check(self.key)

    @property
    def id(self) -> str:
        """The identity of the contract."""
        return self.contract.id

    @classmethod
    def sign(cls, contract: Campaign, key: Any, before: KeyBefore | None = None) -> Self:
        """Return the contract signed with an Ed25519 private key of `cryptography`."""
        signature = key.sign(_SIGNED + contract.text.encode()).hex()
        text = contract.card
        card = text, key.sign(_CARD + text.encode()).hex()
        return cls(contract, public_part(key), signature, before=before, card=card)

    def retire(self, day: datetime.date, key: Any) -> Self:
        """Return the same, retired from a day on; the key must be the one that signed it."""
        if public_part(key) != self.key:
            raise Mismatch("this campaign was published with another key")
        return replace(self, retired=(day, key.sign(_retirement(self.id, day)).hex()))

    def to_json(self) -> str:
        """Return what a collector serves and a file holds."""
        gone = None
        if self.retired is not None:
            gone = {"day": self.retired[0].isoformat(), "signature": self.retired[1]}
        whole = {
            "campaign": self.contract.text,
            "key": self.key,
            "signature": self.signature,
            "retired": gone,
            **_write_before(self.before),
            **({} if self.card is None else {"card": {"text": self.card[0], "signature": self.card[1]}}),
        }
        return json.dumps(whole, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes, *, key: str | None = None) -> Self:
        """Return what `to_json` wrote, verified.

        Raise Mismatch if it is signed with another key than a pinned `key`, or than the one that the pinned
        key has signed as the next. Who follows it to the next must keep that one, so as to follow once.
        """
        data = loads(text, "a published campaign")
        try:
            gone = data["retired"]
            retired = None if gone is None else (read_day(gone["day"]), gone["signature"])
            stated, signature, inner = data["key"], data["signature"], data["campaign"]
            before = _key_before(data)
            card = (data["card"]["text"], data["card"]["signature"]) if "card" in data else None
        except (KeyError, TypeError, ValueError):
            raise MalformedReport("this is not a published campaign") from None
        check_pin(stated, before, key)
        if not all(isinstance(part, str) for part in (inner, *(card or ()))):
            raise MalformedReport("this is not a published campaign")
        return cls(Campaign.from_text(inner), stated, signature, retired, before, card)


@dataclass(frozen=True)
class CampaignLog:
    """The list of all campaigns that an asker published and retired, in order, and of new keys.

    Every entry is a text in canonical JSON with the digest of the one before; the digest of the last, the
    head, is signed. So whoever has one head has the whole list before it.
    """

    entries: tuple[str, ...]
    key: str
    signature: str
    before: KeyBefore | None = None
    heads: tuple[str, ...] = field(init=False)  # the digest of each entry
    campaigns: Mapping[str, datetime.date | None] = field(init=False)  # and the days of retirement
    last_key: str | None = field(init=False)  # the last new key

    def __post_init__(self) -> None:
        heads, campaigns, key = [_FIRST], dict[str, datetime.date | None](), None
        try:
            for text in self.entries:
                data = loads(text, "an entry of a list of campaigns", 1 << 10)
                if data["before"] != heads[-1] or canonical(data) != text:
                    raise ValueError
                match {name: data[name] for name in data if name != "before"}:
                    case {"published": str(name), **more} if not more and name not in campaigns:
                        campaigns[name] = None
                    case {"retired": str(name), "day": day, **more} if not more and name in campaigns:
                        campaigns[name] = read_day(day)
                    case {"next_key": str(name), **more} if not more:
                        key = name
                    case _:
                        raise ValueError
                if len(from_digits(name)) != 32:
                    raise ValueError
                heads.append(hashlib.sha256(text.encode()).hexdigest())
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, DitherError):
                raise
            raise MalformedReport(f"the list of campaigns is broken at entry {len(heads)}") from None
        if not 1 <= len(self.entries) <= _MOST_ENTRIES:
            raise MalformedReport(f"a list of campaigns has 1 to {_MOST_ENTRIES} entries")
        _verify(self.key, self.signature, _LISTED + heads[-1].encode())
        if self.before is not None:
            self.before.check(self.key)
        for name, value in (("heads", tuple(heads[1:])), ("campaigns", campaigns), ("last_key", key)):
            object.__setattr__(self, name, value)

    @property
    def head(self) -> str:
        """The digest of the last entry, 64 hexadecimal digits: two people who have one head saw one list."""
        return self.heads[-1]

    def continues(self, count: int, head: str) -> bool:
        """Return whether the list is one of `count` entries with that head, or goes on from there."""
        return 1 <= count <= len(self.heads) and self.heads[count - 1] == head

    @classmethod
    def extend(
        cls, log: CampaignLog | None, key: Any, before: KeyBefore | None = None, **entry: str
    ) -> CampaignLog:
        """Return a list with one entry more, signed with an Ed25519 private key; None is an empty list."""
        text = canonical({"before": _FIRST if log is None else log.head, **entry})
        head = hashlib.sha256(text.encode()).hexdigest()
        entries = () if log is None else log.entries
        return cls((*entries, text), public_part(key), key.sign(_LISTED + head.encode()).hex(), before)

    def to_json(self) -> str:
        """Return what a collector serves and a file holds."""
        whole = {
            "log": self.entries,
            "key": self.key,
            "signature": self.signature,
            **_write_before(self.before),
        }
        return json.dumps(whole, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes, *, key: str | None = None) -> CampaignLog:
        """Return what `to_json` wrote, verified; raise Mismatch as `Published.from_json` does."""
        data = loads(text, "a list of campaigns")
        try:
            entries, stated, signature, before = (
                data["log"],
                data["key"],
                data["signature"],
                _key_before(data),
            )
        except (KeyError, TypeError):
            raise MalformedReport("this is not a list of campaigns") from None
        if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
            raise MalformedReport("this is not a list of campaigns")
        check_pin(stated, before, key)
        return cls(tuple(entries), stated, signature, before)


def _write_before(before: KeyBefore | None) -> dict[str, Any]:
    return {} if before is None else {"key_before": before._asdict()}


def _key_before(data: Mapping[str, Any]) -> KeyBefore | None:
    if "key_before" not in data:
        return None
    return KeyBefore(data["key_before"]["key"], data["key_before"]["signature"])


def _retirement(identity: str, day: datetime.date) -> bytes:
    return _RETIRED + f"{identity}\n{day.isoformat()}".encode()


def _is_sound(public: bytes) -> bool:
    """Return whether a public key of Ed25519 is canonical, and of no small order.

    Libraries differ in what they make of others, and under a key of small order signatures of any text exist.
    The y-coordinates of small order are 0, ±1, and those with d·y^4 + 2·y² = 1.
    """
    y = int.from_bytes(public, "little") & (1 << 255) - 1
    square = y * y
    return y < _PRIME and y * (square - 1) * (_CURVE * square * square + 2 * square - 1) % _PRIME != 0


def _verify(key: str, signature: str, message: bytes) -> None:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        public = from_digits(key)
        if not _is_sound(public):
            raise ValueError
        Ed25519PublicKey.from_public_bytes(public).verify(from_digits(signature), message)
    except (InvalidSignature, ValueError):
        raise MalformedReport(
            "the signature of the campaign is not valid: it was changed or damaged"
        ) from None
