"""Campaigns as contracts: what is asked of whom, for how long and for what; immutable and signed.

A published contract is a text. Its identity is the SHA-256 of that text, which travels as it was signed, so
that nothing has to be written again in order to be checked. A change is a new version with a new identity.

Terms of a contract: texts that can be shown, and the promise that is computed from the questions.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Self

from dither.account.asking import Asking, Repeat
from dither.device_text import canonical
from dither.errors import (
    DitherError,
    InvalidParameter,
    MalformedReport,
    Mismatch,
    check_choice,
    found,
    unknown_name,
)
from dither.privacy import Guarantee
from dither.question import Question, as_question
from dither.service.settings import public_part
from dither.wire.batch import MOST_LABEL, MOST_QUESTIONS, public_key
from dither.wire.codec import MOST_BYTES, Campaign, loads, read_as, read_named, reading, to_json


def promised(guarantee: Guarantee) -> dict[str, Any]:
    """Return what a person is promised, computed from the integers of the questions."""
    epsilon, delta = (getattr(guarantee.bound, name, None) for name in ("epsilon", "delta"))
    return {"epsilon": epsilon, "delta": delta, "assumptions": list(guarantee.assumes)}


def is_promise(stated: object, guarantee: Guarantee) -> bool:
    """Return whether a stated promise is the computed one; the last digits may be another version's."""
    computed = promised(guarantee)
    if not isinstance(stated, dict) or stated.keys() != computed.keys():
        return False
    for name in ("epsilon", "delta"):
        given, own = stated[name], computed[name]
        if own is None or given is None:
            if given is not own:
                return False
        elif (
            isinstance(given, bool)
            or not isinstance(given, int | float)
            or not math.isclose(given, own, rel_tol=1e-9)
        ):
            return False
    return bool(stated["assumptions"] == computed["assumptions"])


def read_day(text: object) -> datetime.date:
    """Return the day of a text such as 2026-05-01; raise ValueError for any other form of it."""
    day = datetime.date.fromisoformat(str(text))
    if day.isoformat() != text:
        raise ValueError("a day is written as 2026-05-01")
    return day


def from_digits(text: object) -> bytes:
    """Return the bytes of lower-case hexadecimal digits; raise ValueError for any other text."""
    data = bytes.fromhex(str(text))
    if data.hex() != text:
        raise ValueError("bytes are written as lower-case hexadecimal digits")
    return data


def check_text(what: str, text: object, most: int) -> None:
    """Raise InvalidParameter unless a term is a text that can be shown, of at most so many bytes."""
    if not isinstance(text, str) or not text.strip() or len(text.encode(errors="replace")) > most:
        raise InvalidParameter(f"{what} is a text of 1 to {most} bytes, not {found(text)}")
    if not text.replace("\n", " ").isprintable():
        raise InvalidParameter(f"{what} has characters that cannot be shown")


VERSION: Final = 1
_MOST_LABELS: Final = 1000
_MOST_TEXT: Final = 4000
_MOST_NAME: Final = 64
_SIGNED: Final = b"dither campaign 1\n"
_RETIRED: Final = b"dither retirement 1\n"
_TERMS: Final = (
    "name",
    "version",
    "asker",
    "contact",
    "purpose",
    "begins",
    "ends",
    "people",
    "repeat",
    "days",
    "labels",
)
_SEALING: Final = "sealing_key"
_TOGETHER: Final = "reports_a_batch"
_OPTIONAL: Final = (_SEALING, _TOGETHER)  # terms that are not written where they are not used


@dataclass(frozen=True)
class Contract:
    """What a campaign promises to the people it asks, and what the collector holds itself to.

    `begins` and `ends` are days in UTC, both included. `people` is the number of reports below which no
    answer is shown. `repeat` (with `days` for `"once"`) is how often a person may answer. `labels` are
    the public labels that a batch may carry beside none. `sealing_key` is the public key (64 hexadecimal
    digits) that devices encrypt batches to, so that a relay cannot read them; None if there is none.
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
            public_key(self.sealing_key)
        asked = {name: as_question(one) for name, one in self.questions.items()}
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
        for name, mechanism in self.questions.items():
            check_text("the name of a question", name, _MOST_NAME)
            twin = seen.setdefault(mechanism.fingerprint, name)
            if twin != name:
                raise InvalidParameter(
                    f"questions {twin!r} and {name!r} have the same device text, so that nobody could tell "
                    "their reports apart; ask one of them in a campaign of its own"
                )
            try:
                self.asking(name)
                _ = mechanism.counting.size
            except DitherError as error:
                raise InvalidParameter(f"question {name!r}: {error}") from None

    def asking(self, name: str) -> Asking:
        """Return a question as the account of a person takes it."""
        if name not in self.questions:
            raise unknown_name("question", name, list(self.questions))
        plain = Asking(name, self.questions[name], asker=self.asker)
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
    def by_fingerprint(self) -> Mapping[str, str]:
        """The name of the question of every fingerprint."""
        return MappingProxyType({one.fingerprint: name for name, one in self.questions.items()})

    @cached_property
    def report_sizes(self) -> Mapping[str, tuple[str, int]]:
        """By fingerprint: the name of the question, and the bytes of a report."""
        found = {one.fingerprint: (name, one.report_bytes) for name, one in self.questions.items()}
        return MappingProxyType(found)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person who answers every question once."""
        return Campaign(self.questions).guarantee

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
                "promise": promised(self.guarantee),
                "questions": [[name, to_json(one)] for name, one in self.questions.items()],
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
            if data["dither-campaign"] != VERSION:
                raise MalformedReport(
                    f"a campaign of version {VERSION} was expected; a newer dither reads newer"
                )
            terms = {name: data[name] for name in _TERMS}
            terms |= {name: read_day(terms[name]) for name in ("begins", "ends")}
            if not isinstance(terms["labels"], list) or not isinstance(data["questions"], list):
                raise MalformedReport("the labels and the questions of a campaign are lists")
            terms["labels"] = tuple(terms["labels"])
            text.encode()  # half a pair of UTF-16 has no UTF-8, and so no digest
            questions = {name: read_named(one) for name, one in data["questions"]}
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
        questions = Campaign.from_toml(text).questions
        table = tomllib.loads(text).get("campaign")
        if not isinstance(table, dict):
            raise InvalidParameter(
                "the file has no table [campaign] with name, asker, contact, begins, ends …"
            )
        for key in table:
            if key not in (*_TERMS, *_OPTIONAL):
                raise unknown_name("term of a campaign", key, [*_TERMS, *_OPTIONAL])
        lacking = [
            key for key in ("name", "asker", "contact", "purpose", "begins", "ends") if key not in table
        ]
        if lacking:
            raise InvalidParameter(f"the table [campaign] lacks {', '.join(lacking)}")
        terms = {"version": 1, **table}
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


@dataclass(frozen=True)
class Published:
    """A contract with the signature of its asker, which is what devices read, and maybe its retirement."""

    contract: Contract
    key: str  # 64 hexadecimal digits: the public key
    signature: str  # 128 hexadecimal digits
    retired: tuple[datetime.date, str] | None = None  # the day, and a signature

    def __post_init__(self) -> None:
        _verify(self.key, self.signature, _SIGNED + self.contract.text.encode())
        if self.retired is not None:
            _verify(self.key, self.retired[1], _retirement(self.id, self.retired[0]))

    @property
    def id(self) -> str:
        """The identity of the contract."""
        return self.contract.id

    @classmethod
    def sign(cls, contract: Contract, key: Any) -> Self:
        """Return the contract signed with an Ed25519 private key of `cryptography`."""
        signature = key.sign(_SIGNED + contract.text.encode()).hex()
        return cls(contract, public_part(key), signature)

    def retire(self, day: datetime.date, key: Any) -> Self:
        """Return the same, retired from a day on; the key must be the one that signed it."""
        if public_part(key) != self.key:
            raise Mismatch("this campaign was published with another key")
        return type(self)(
            self.contract, self.key, self.signature, (day, key.sign(_retirement(self.id, day)).hex())
        )

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
        }
        return json.dumps(whole, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes, *, key: str | None = None) -> Self:
        """Return what `to_json` wrote, verified; raise Mismatch if a pinned `key` is another one."""
        data = loads(text, "a published campaign")
        try:
            gone = data["retired"]
            retired = None if gone is None else (read_day(gone["day"]), gone["signature"])
            stated, signature, inner = data["key"], data["signature"], data["campaign"]
        except (KeyError, TypeError, ValueError):
            raise MalformedReport("this is not a published campaign") from None
        if key is not None and stated != key:
            raise Mismatch("the campaign is signed with another key than the pinned one; do not answer it")
        if not isinstance(inner, str):
            raise MalformedReport("this is not a published campaign")
        return cls(Contract.from_text(inner), stated, signature, retired)


def _retirement(identity: str, day: datetime.date) -> bytes:
    return _RETIRED + f"{identity}\n{day.isoformat()}".encode()


def _verify(key: str, signature: str, message: bytes) -> None:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(from_digits(key)).verify(from_digits(signature), message)
    except (InvalidSignature, ValueError):
        raise MalformedReport(
            "the signature of the campaign is not valid: it was changed or damaged"
        ) from None
