"""Campaigns: what a collector publishes, verified by its signature, its terms and its promise.

`Campaign(text, key=…)` raises Malformed unless all is as docs/wire.md says. Whoever has verified a text
before reads it with `verified=True`, which looks at nothing but what is asked.
"""

from __future__ import annotations

import json
import math
from datetime import date

from dither_device.account import Inquiry
from dither_device.question import Question
from dither_device.text import (
    MOST_BYTES,
    MOST_SAFE,
    DeviceError,
    Fields,
    Malformed,
    finish,
    is_digits,
    listed,
    need,
    parse,
    real,
    sha256,
    watch,
    whole,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FIRST = "0" * 64  # what the first entry of a list has for the digest of the one before
# The u-coordinates of small order on Curve25519, modulo p: a key to which everybody knows the common secret.
_SMALL = {
    0,
    1,
    (1 << 255) - 20,
    325606250916557431795983626356110631294008115727848805560023387167927233504,
    39382357235489614581723060781553021112529911719440698176882885853963445705823,
}


def check_sealing_key(text: object) -> bytes:
    """Return the public key of a key configuration [RFC 9458, 3.1]; raise Malformed if it is none to use."""
    need(isinstance(text, str) and is_digits(text, len(text)) and len(text) >= 82, "key")
    data = bytes.fromhex(text) if len(text) % 2 == 0 else b""  # type: ignore[arg-type]
    need(len(data) >= 41 and data[1:3] == b"\0\x20", "key", "X25519 was expected")
    pairs = [data[at : at + 4] for at in range(37, len(data), 4)]
    need(int.from_bytes(data[35:37], "big") == len(data) - 37 and len(data[37:]) % 4 == 0, "key")
    need(b"\0\x01\0\x01" in pairs, "key", "HKDF-SHA256 and AES-128-GCM were expected")
    number = int.from_bytes(data[3:35], "little") & (1 << 255) - 1
    need(number % ((1 << 255) - 19) not in _SMALL, "key", "everybody knows what is encrypted to it")
    return data[3:35]


def _check_text(text: object, most: int, *, lines: bool = True) -> None:
    need(isinstance(text, str) and text.strip(), "terms", "a text was expected")
    shown: str = text.replace("\n", " ") if lines else text  # type: ignore[attr-defined,assignment]
    need(shown.isprintable() and len(shown.encode()) <= most, "terms", "a text that can be shown")


def day_of(text: object) -> int:
    """Return the number of a day that is written as 2026-05-01."""
    try:
        day = date.fromisoformat(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise Malformed("terms", "a day such as 2026-05-01") from None
    need(day.isoformat() == text, "terms", "a day such as 2026-05-01")
    return day.toordinal() - 719_163  # that of 1970-01-01


def _check_reading(reading: Any, questions: dict[str, Question]) -> None:
    """Raise Malformed if units or steps are declared of anything but a number, or cannot be."""
    need(isinstance(reading, Fields), "terms")
    for name in list(reading):
        words, question = reading[name], questions.get(name)
        need(isinstance(words, Fields) and words and question is not None, "terms")
        domain = json.loads(question.device)["domain"]  # type: ignore[union-attr]
        domain = domain["of"] if domain["kind"] == "optional" else domain
        need(domain["kind"] in ("interval", "circle"), "terms")
        length = domain["period"] if domain["kind"] == "circle" else domain["high"] - domain["low"]
        if "step" in words:
            step = real(words["step"])
            need(step > 0, "terms")
            count = length / step
            need(1 - 1e-12 <= count <= 500, "terms")
            need(domain["kind"] == "interval" or abs(count - round(count)) <= 1e-9, "terms")
        if "unit" in words:
            unit = words["unit"]
            need(isinstance(unit, str) and len(unit) <= 40, "terms")
            _check_text("_" + unit, 200, lines=False)


def check_terms(text: str) -> dict[str, Question]:
    """Return the questions of a campaign's text; raise Malformed if it is not in order, or promises else."""
    given = watch(text)
    need(given["dither-campaign"] == 1 and type(given["dither-campaign"]) is int, "version")
    for name, most in (("name", 64), ("contact", 500), ("purpose", 4000)):
        _check_text(given[name], most)
    _check_text(given["asker"], 253, lines=False)
    need(len(given["asker"]) <= 200, "terms")
    whole(given["version"], 1, (1 << 31) - 1)
    whole(given["people"], 1, MOST_SAFE)
    need(day_of(given["begins"]) <= day_of(given["ends"]), "terms")
    if given["repeat"] == "once":
        whole(given["days"], 1, 36_600)
    else:
        need(given["repeat"] in ("fresh", "same", "per value") and given["days"] is None, "terms")
    labels = listed(given["labels"], "terms")
    for label in labels:
        _check_text(label, 64)
    need(len(labels) <= 1000 and len(set(labels)) == len(labels), "terms")
    if "sealing_key" in given:
        check_sealing_key(given["sealing_key"])
    if "reports_a_batch" in given:
        whole(given["reports_a_batch"], 1, (1 << 31) - 1)  # for gateways: a device sends one
    questions: dict[str, Question] = {}
    epsilon = delta = 0.0
    pairs = listed(given["questions"], "terms")
    for pair in pairs:
        name, specification = listed(pair, "terms", 2)
        _check_text(name, 64, lines=False)
        question = Question(specification)
        # The length of a path is not known; texts and tables of attributes are not counted.
        need(not question.is_path and not question.is_joint, "terms")
        need(question.kind not in ("prefix", "questions"), "terms")
        epsilon, delta = epsilon + question.epsilon, delta + question.delta
        questions[name] = question
    marks = {question.fingerprint for question in questions.values()}
    need(1 <= len(pairs) <= 1024 and len(pairs) == len(questions) == len(marks), "terms")
    if "reading" in given:
        _check_reading(given["reading"], questions)
    promise = given["promise"]
    need(isinstance(promise, Fields), "promise")
    need(math.isclose(real(promise["epsilon"]), epsilon, rel_tol=1e-9), "promise", "another ε")
    if delta:
        need(math.isclose(real(promise["delta"]), delta, rel_tol=1e-9), "promise", "another δ")
    else:
        need(promise["delta"] is None, "promise", "another δ")
    need(promise["assumptions"] == [], "promise", "assumptions")
    finish(given)
    return questions


def _open(text: object, pin: str | None) -> dict[str, Any]:
    """Return what is signed with a pinned key, or with the one that the pinned key has signed as the next."""
    need(
        pin is None or not pin.strip().startswith("dither-private-key"), "private", "a private key is pinned"
    )
    given = parse(text, MOST_BYTES)
    if not isinstance(given, dict):
        raise Malformed("text")
    key, before = given.get("key"), given.get("key_before")
    if "key_before" in given:
        if not isinstance(before, dict):
            raise Malformed("text")
        check_signature(before.get("key"), before.get("signature"), f"dither next key 1\n{key}")
    need(
        pin is None or pin == key or (before is not None and before["key"] == pin),
        "key",
        "signed with another key",
    )
    return given


def check_signature(key: object, signature: object, text: str) -> None:
    """Raise Malformed unless a text is signed with a key, both as hexadecimal digits."""
    from dither_device.ed25519 import verify

    need(is_digits(key, 64) and is_digits(signature, 128), "signature")
    try:
        message = text.encode()
    except UnicodeEncodeError:
        raise Malformed("text") from None
    fine = verify(bytes.fromhex(key), bytes.fromhex(signature), message)  # type: ignore[arg-type]
    need(fine, "signature", "it was changed or damaged")


class Campaign:
    """A signed campaign: who asks what, for how long and for what; `asking(name)` is what an account takes.

    `key` is the pinned public key of the asker, 64 hexadecimal digits; None accepts the key that is stated.
    """

    def __init__(self, published: str, *, key: str | None = None, verified: bool = False) -> None:
        try:
            self._read(published, key, verified)
        except DeviceError:
            raise
        except (TypeError, ValueError, KeyError, AttributeError, LookupError, RecursionError):
            raise Malformed("text", "this is not a published campaign") from None

    def _read(self, published: str, pin: str | None, verified: bool) -> None:
        given = json.loads(published) if verified else _open(published, pin)
        text, retired = given["campaign"], given["retired"]
        need(isinstance(text, str), "text")
        self.id = sha256(text.encode()).hexdigest()
        self.key: str = given["key"]
        self.retired: str | None = None if retired is None else retired["day"]
        self._questions: dict[str, Question] = {}
        if not verified:
            check_signature(self.key, given["signature"], f"dither campaign 1\n{text}")
            if retired is not None:
                day_of(self.retired)
                check_signature(
                    self.key, retired["signature"], f"dither retirement 1\n{self.id}\n{self.retired}"
                )
            if "card" in given:
                card = given["card"]
                check_signature(self.key, card["signature"], f"dither card 1\n{card['text']}")
                need(parse(card["text"]).get("campaign") == self.id, "terms", "the card of another campaign")
            self._questions = check_terms(text)
        self.terms: dict[str, Any] = json.loads(text)
        self.questions: dict[str, str] = dict(self.terms["questions"])

    @property
    def asker(self) -> str:
        """Who asks."""
        return str(self.terms["asker"])

    def question(self, name: str) -> Question:
        """Return a question by its name."""
        if name not in self._questions:
            need(name in self.questions, "asking", "the campaign has no such question")
            self._questions[name] = Question(self.questions[name])
        return self._questions[name]

    def asking(self, name: str, *, otherwise: Any = None) -> Inquiry:
        """Return a question as an account takes it."""
        repeat = self.terms["repeat"]
        start = day_of(self.terms["begins"]) if repeat == "once" else 0
        return Inquiry(
            name,
            self.question(name),
            asker=self.asker,
            repeat=repeat,
            days=self.terms["days"],
            start=start,
            otherwise=otherwise,
        )

    def is_open(self, day: int) -> bool:
        """Return whether reports are collected on a day since 1970: it has begun, and is not over."""
        last = day_of(self.terms["ends"])
        if self.retired is not None:
            last = min(last, day_of(self.retired) - 1)
        return day_of(self.terms["begins"]) <= day <= last


def read_log(
    published: str, key: str, kept: tuple[int, str] | None = None
) -> tuple[list[str], dict[str, Any]]:
    """Return the digests of a list of campaigns, and the days of retirement by identity; raise Malformed.

    `kept` are the number of entries and the head that were seen before: the list must continue them.
    """
    try:
        given = _open(published, key)
        heads = [_FIRST]
        campaigns: dict[str, Any] = {}
        entries = listed(given["log"], "log")
        need(1 <= len(entries) <= 10_000, "log")
        for entry in entries:
            fields = dict(watch(entry))
            need(len(entry) <= 1024 and fields.pop("before") == heads[-1], "log")
            names, day = set(fields), fields.get("day")
            name = next(
                (fields[kind] for kind in ("published", "retired", "next_key") if kind in fields), None
            )
            need(is_digits(name, 64), "log")
            name = str(name)
            if names == {"published"}:
                need(name not in campaigns, "log")
                campaigns[name] = None
            elif names == {"retired", "day"}:
                need(name in campaigns, "log")
                day_of(day)
                campaigns[name] = day
            else:
                need(names == {"next_key"}, "log")
            heads.append(sha256(entry.encode()).hexdigest())
        check_signature(given["key"], given["signature"], f"dither log 1\n{heads[-1]}")
    except DeviceError:
        raise
    except (TypeError, ValueError, KeyError, AttributeError, LookupError):
        raise Malformed("log", "this is not a list of campaigns") from None
    heads = heads[1:]
    if kept is not None:
        count, head = kept
        need(
            1 <= count <= len(heads) and heads[count - 1] == head,
            "log",
            "it does not continue the one before",
        )
    return heads, campaigns
