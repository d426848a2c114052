"""Campaigns: what a collector publishes, verified by its signature, its terms and its promise.

`Campaign(text, key=…)` raises Malformed unless all is as docs/wire.md says. For a text that was verified
before, `verified=True` reads only the questions.
"""

from __future__ import annotations

import json
import math
from datetime import date
from functools import partial
from itertools import pairwise

from dither_device.account import Inquiry
from dither_device.question import Question
from dither_device.text import (
    MOST_BYTES,
    MOST_SAFE,
    DeviceError,
    Fields,
    Malformed,
    UnknownDraw,
    check_words,
    finish,
    integer,
    is_digits,
    is_tag,
    listed,
    need,
    parse,
    real,
    sha256,
    watch,
)
from dither_device.words import Words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_FIRST = "0" * 64  # in place of the digest of the previous entry, in the first entry of a list
# The u-coordinates of small order on Curve25519, modulo p: a key to which everybody knows the common secret.
_SMALL = {
    0,
    1,
    (1 << 255) - 20,
    325606250916557431795983626356110631294008115727848805560023387167927233504,
    39382357235489614581723060781553021112529911719440698176882885853963445705823,
}


def check_sealing_key(text: object) -> bytes:
    """Return the public key of a key configuration [RFC 9458, 3.1]; raise Malformed if it is not usable."""
    need(isinstance(text, str) and is_digits(text, len(text)) and len(text) >= 82, "key")
    data = bytes.fromhex(text) if len(text) % 2 == 0 else b""  # type: ignore[arg-type]
    need(len(data) >= 41 and data[1:3] == b"\0\x20", "key", "X25519 was expected")
    pairs = [data[at : at + 4] for at in range(37, len(data), 4)]
    need(int.from_bytes(data[35:37], "big") == len(data) - 37 and len(data[37:]) % 4 == 0, "key")
    need(b"\0\x01\0\x01" in pairs, "key", "HKDF-SHA256 and AES-128-GCM were expected")
    number = int.from_bytes(data[3:35], "little") & (1 << 255) - 1
    need(number % ((1 << 255) - 19) not in _SMALL, "key", "everybody knows what is encrypted to it")
    return data[3:35]


def day_of(text: object) -> int:
    """Return the number of a day that is written as 2026-05-01."""
    try:
        day = date.fromisoformat(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise Malformed("terms", "a day such as 2026-05-01") from None
    need(day.isoformat() == text, "terms", "a day such as 2026-05-01")
    return day.toordinal() - 719_163  # the number of 1970-01-01


_ALWAYS = (
    *("name", "asker", "contact", "purpose", "version", "people", "begins", "ends", "retry", "repeat"),
    *("labels", "questions", "promise"),
)
_TEXTS = (("name", 64, True), ("asker", 253, False), ("contact", 500, True), ("purpose", 4000, True))
_NUMBERS = {
    "version": (1 << 31) - 1,
    "people": MOST_SAFE,
    "retry": 365,
    "answers": 10**6,
    "days": 36_600,
    "changes": 1000,
    "label_share": 999,
    "expects": MOST_SAFE,
    "reports_a_batch": (1 << 31) - 1,
}
# The terms that a way of repeating must have, and those that it may have; no other way has them.
_NEEDS: dict[str, tuple[str, ...]] = {"kept change": ("days", "changes"), "present": ("every", "expects")}
_OWN: dict[str, tuple[str, ...]] = {
    "fresh": ("answers",),
    "same": (),
    "per value": (),
    "once": ("days", "every"),
    "kept change": (),
    "present": ("label_share",),
}
_PERIODIC = ("days", "changes", "every", "expects", "answers", "label_share")
_CHARACTERS = 500
# The length of a path is not known, texts are not counted, and the others are not answers of one device.
_NEVER = (
    *("walk", "two copies", "divided", "prefix", "joint response", "joint bits", "joint hashed"),
    *("each", "sampled", "indicator", "kept change", "kept changes"),
)


def _check_repeat(given: Fields) -> None:
    repeat = given["repeat"]
    need(isinstance(repeat, str) and repeat in _OWN, "terms", "repeat")
    needed, own = _NEEDS.get(repeat, ()), _OWN[repeat]
    for name in _PERIODIC:
        need(name in needed + own if name in given else name not in needed, "terms", name)
    if "every" in given:
        need(given["every"] in ("day", "week", "month"), "terms", "every")
    need(repeat != "once" or ("days" in given) != ("every" in given), "terms", "days or every")
    need(repeat != "kept change" or given["changes"] < given["days"], "terms", "changes")
    if "phase" in given:
        phase = given["phase"]
        need(isinstance(phase, Fields) and len(phase) == 1 and repeat != "present", "terms", "phase")
        if "share" in phase:
            integer(phase["share"], 1, 999)
        else:
            need(is_digits(phase["follows"], 64), "terms", "phase")
    need(repeat != "present" or "reports_a_batch" not in given, "terms", "reports_a_batch")


def _check_languages(given: Fields) -> list[str]:
    if "languages" not in given:
        need("purposes" not in given, "terms", "purposes")
        return []
    tags = listed(given["languages"], "terms")
    need(1 <= len(tags) <= 40 and all(map(is_tag, tags)), "terms", "languages")
    need(len(set(tags)) == len(tags), "terms", "languages")
    if "purposes" in given:
        purposes = given["purposes"]
        need(len(tags) > 1, "terms", "purposes")
        for words in _by_tag(purposes, tags[1:]):
            check_words(words, size=4000, lines=True)
    return tags


def _by_tag(given: Any, tags: list[str]) -> list[Any]:
    """Return the words in each language; raise Malformed unless all languages have them."""
    need(isinstance(given, Fields) and set(given) == set(tags) and tags, "terms", "languages")
    return [given[tag] for tag in tags]


def _check_declared(stated: Fields, question: Question, tags: list[str], present: bool) -> None:
    """Raise Malformed unless the terms of a question fit it: units, steps, scales, dates and words."""
    domain = json.loads(question.device)["domain"]
    for text in shown_texts(domain):
        check_words(text, characters=_CHARACTERS)
    plain = domain["of"] if domain["kind"] == "optional" else domain
    interval, circle = plain["kind"] == "interval", plain["kind"] == "circle"
    form = None
    if "form" in stated:
        form = stated["form"]
        _check_form(form, plain, domain, present)
    if "unit" in stated:
        need((interval or circle) and form is None, "terms", "unit")
        check_words(stated["unit"], characters=40)
    if "step" in stated:
        need((interval or circle) and "scale" not in stated, "terms", "step")
        length, step = plain["period"] if circle else plain["high"] - plain["low"], real(stated["step"])
        need(step > 0, "terms", "step")
        count = length / step
        need(1 - 1e-12 <= count <= 500 and (interval or abs(count - round(count)) <= 1e-9), "terms", "step")
    if "scale" in stated:
        edges = [real(edge) for edge in listed(stated["scale"], "terms")]
        need(interval and form is None and 3 <= len(edges) <= 257, "terms", "scale")
        need(all(abs(edge) <= 1e30 for edge in edges), "terms", "scale")
        need(all(a < b for a, b in pairwise(edges)), "terms", "scale")
        need(plain["low"] == 0 and plain["high"] == len(edges) - 1, "terms", "scale")
    if "clipped" in stated:
        need(stated["clipped"] is True and interval and "scale" not in stated, "terms", "clipped")
    if "outside" in stated:
        share, low, high = map(real, listed(stated["outside"], "terms", 3))
        need("clipped" in stated and 0 <= low <= share <= high <= 1, "terms", "outside")
    if "text" in stated:
        for words in _by_tag(stated["text"], tags):
            check_words(words, characters=_CHARACTERS)
    if "names" in stated:
        need(domain["kind"] in ("categories", "several"), "terms", "names")
        count = domain["count"] if "count" in domain else len(domain["labels"])
        for names in _by_tag(stated["names"], tags):
            for name in listed(names, "terms", count):
                check_words(name, characters=_CHARACTERS)
            need(len(set(names)) == count, "terms", "names")


def _check_form(form: Any, plain: dict[str, Any], domain: dict[str, Any], present: bool) -> None:
    if form == "time":
        need(plain["kind"] == "circle" and plain["period"] == 1440, "terms", "form")
    elif form == "date":
        need(plain["kind"] == "interval", "terms", "form")
        ends = plain["low"], plain["high"]
        need(all(end == int(end) and -719_162 <= end <= 2_932_896 for end in ends), "terms", "form")
    else:
        need(form == "installed" and present and domain["kind"] == "categories", "terms", "form")
        days = listed(domain.get("labels"), "terms")
        for day in days:
            day_of(day)
        need(days == sorted(days), "terms", "form")


def shown_texts(domain: dict[str, Any]) -> list[str]:
    """Return the texts of a domain that people are shown: labels, names of attributes and of sides."""
    texts = [label for label in domain.get("labels", ()) if isinstance(label, str)]
    for name, categories in domain.get("attributes", ()):
        texts += [name, *shown_texts(categories)]
    return texts + [side[0] for side in domain.get("sides", ())]


def _read_question(stated: Fields, repeat: str) -> Question | None:
    """Return the question of a campaign, verified; None if its draw is not known here."""
    try:
        question = Question(stated["specification"])
    except UnknownDraw as error:
        need(error.draw not in _NEVER, "terms", "expected a question that campaigns allow")
        return None
    need(question.kind not in _NEVER, "terms", "expected a question that campaigns allow")
    near = math.isclose(real(stated["epsilon"]), question.epsilon, rel_tol=1e-9)
    need(near, "promise", "another ε of a question")
    need(bool(question.delta) == ("delta" in stated), "promise", "δ of a question")
    if question.delta:
        near = math.isclose(real(stated["delta"]), question.delta, rel_tol=1e-9)
        need(near, "promise", "another δ of a question")
    if repeat == "kept change":
        domain = json.loads(question.device)["domain"]
        need(question.kind == "response" and domain["kind"] == "categories", "terms", "two answers")
        need(json.loads(question.device)["cells"] == 2, "terms", "two answers")
    return question


def _check_present(given: Fields, questions: list[Question | None]) -> None:
    need(len(questions) == ("label_share" in given), "terms", "label_share")
    for question in questions:
        if question is not None:
            device = json.loads(question.device)
            values = present_values(device)
            most = min(128, given["expects"] * given["label_share"] // 20_000)
            fine = given["expects"] >= 100 and device["domain"]["kind"] == "categories"
            need(fine and 0 < values <= most, "terms", "an identifier")


def present_values(device: dict[str, Any]) -> int:
    """Return how many different reports a draw has; 0 if presence does not use it."""
    if device["draw"] == "projective":
        order, dimension = device["order"], device["dimension"]
        return int((order**dimension - 1) // (order - 1))
    return int(device.get({"response": "cells", "hadamard": "order"}.get(device["draw"], ""), 0))


def check_terms(text: str) -> dict[str, Question | None]:
    """Return the questions of a campaign's text; raise Malformed if it is invalid or its promise is wrong.

    A question whose draw is not known here is None: it is not answered.
    """
    given = watch(text)
    need(given["dither-campaign"] == 2 and type(given["dither-campaign"]) is int, "version")
    for name in _ALWAYS:
        need(name in given, "fields", f"{name} is missing")
    for name, most, lines in _TEXTS:
        check_words(given[name], size=most, lines=lines)
    need(len(given["asker"]) <= 200, "terms", "asker")
    for name, most in _NUMBERS.items():
        if name in given:
            integer(given[name], 1, most)
    need(day_of(given["begins"]) <= day_of(given["ends"]), "terms", "ends")
    labels = listed(given["labels"], "terms")
    for label in labels:
        check_words(label, size=64, lines=True)
    need(len(labels) <= 1000 and len(set(labels)) == len(labels), "terms", "labels")
    _check_repeat(given)
    tags = _check_languages(given)
    if "sealing_key" in given:
        check_sealing_key(given["sealing_key"])
    present = given["repeat"] == "present"
    questions: dict[str, Question | None] = {}
    marks = set()
    epsilon = delta = 0.0
    stated = listed(given["questions"], "terms")
    for fields in stated:
        need(isinstance(fields, Fields), "terms", "a question is an object")
        name = check_words(fields["name"], size=64)
        question = questions[name] = _read_question(fields, given["repeat"])
        stated_delta = real(fields["delta"]) if "delta" in fields else None
        # For a question that is not known here, ε and δ are believed: below 0 they would hide another
        # question's.
        need(real(fields["epsilon"]) > 0, "promise", "ε of a question")
        need(stated_delta is None or stated_delta > 0, "promise", "δ of a question")
        epsilon, delta = epsilon + fields["epsilon"], delta + (stated_delta or 0.0)
        if question is not None:
            _check_declared(fields, question, tags, present)
            marks.add(question.fingerprint)
        else:
            marks.add(str(parse(fields["specification"])["fingerprint"]))
            fields.unread.clear()
    least, most = (0, 1) if present else (1, 1024)
    need(least <= len(stated) <= most and len(stated) == len(questions) == len(marks), "terms", "questions")
    if present:
        _check_present(given, list(questions.values()))
    _check_promise(given["promise"], epsilon, delta)
    finish(given)
    return questions


def _check_promise(promise: Any, epsilon: float, delta: float) -> None:
    need(isinstance(promise, Fields), "promise")
    need(math.isclose(real(promise["epsilon"]), epsilon, rel_tol=1e-9), "promise", "another ε")
    if delta:
        need(math.isclose(real(promise["delta"]), delta, rel_tol=1e-9), "promise", "another δ")
    else:
        need(promise["delta"] is None, "promise", "another δ")
    need(promise["assumptions"] == [], "promise", "assumptions")


def _open(text: object, pin: str | None) -> dict[str, Any]:
    """Return the text signed with a pinned key, or with the next key that the pinned one has signed."""
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
    """A signed campaign: asker, questions, days and purpose; `asking(name)` is the input of an account.

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
        self._questions: dict[str, Question | None] = {}
        if not verified:
            check_signature(self.key, given["signature"], f"dither campaign 2\n{text}")
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
        self.stated: dict[str, dict[str, Any]] = {part["name"]: part for part in self.terms["questions"]}

    @property
    def asker(self) -> str:
        """The asker."""
        return str(self.terms["asker"])

    @property
    def questions(self) -> list[str]:
        """The names of the questions, in the order of the campaign."""
        return list(self.stated)

    def question(self, name: str) -> Question:
        """Return a question by its name; raise Malformed ("draw") if this client cannot answer it."""
        if name not in self._questions:
            need(name in self.stated, "asking", "the campaign has no such question")
            try:
                self._questions[name] = Question(self.stated[name]["specification"])
            except UnknownDraw:
                self._questions[name] = None
        found = self._questions[name]
        if found is None:
            raise UnknownDraw(f"{name} is drawn in a way that this client does not know")
        return found

    @property
    def marks(self) -> list[list[str]]:
        """Pairs of a name and a fingerprint: the reports to these questions go to this campaign."""
        pairs = []
        for name in self.stated:
            if self.can_answer(name):
                reported = self.account_terms(name)
                pairs.append([reported["question"], reported["fingerprint"]])
        return pairs

    def can_answer(self, name: str) -> bool:
        """Return whether this client knows how a question is drawn."""
        try:
            return bool(self.question(name))
        except UnknownDraw:
            return False

    def asking(self, name: str, *, otherwise: Any = None) -> Inquiry:
        """Return a question in the form for an account."""
        reported = self.account_terms(name)
        need(reported["repeat"] != "present", "asking", "presence is not an answer to a question")
        more = {
            key: reported[key] for key in ("every", "changes", "times", "limit", "phase") if key in reported
        }
        plain = not self.stated[name].keys() & {"scale", "form"}
        return Inquiry(
            name,
            self.question(name),
            asker=self.asker,
            repeat=reported["repeat"],
            days=reported["days"],
            start=reported["start"] or 0,
            otherwise=otherwise,
            taken=None if plain else partial(self.value, name),
            words=self.words(name),
            **more,
        )

    def presence(self) -> tuple[dict[str, Any], Inquiry | None]:
        """Return the account's data about presence, and the question of the permanent label."""
        terms = self.terms
        need(terms["repeat"] == "present", "asking", "the campaign does not count who is present")
        facts = {"asker": self.asker, "name": terms["name"], "every": terms["every"]}
        if not self.stated:
            return facts, None
        (name,) = self.stated
        installed = self.stated[name].get("form") == "installed"
        taken = partial(self.value, name) if installed else None
        more = {"repeat": "present", "every": terms["every"], "asker": self.asker}
        label = Inquiry(name, self.question(name), taken=taken, is_installed=installed, **more)
        return {**facts, "share": terms["label_share"]}, label

    def words(self, name: str) -> Words:
        """Return the campaign's words for people about a question, by language."""
        labels = self.question(name).labels or ()
        more = {"languages": self.terms.get("languages", ()), "labels": labels}
        return Words(name, {**self.stated[name], **more})

    def account_terms(self, name: str) -> dict[str, Any]:
        """Return an account's data about a question, except the asker and the mechanism."""
        terms, question = self.terms, self.question(name)
        days: Any = terms.get("days")
        mark = question.fingerprint
        if terms["repeat"] == "kept change":
            from dither_device.kept_change import fingerprint_of

            mark = fingerprint_of(question, terms["days"], terms["changes"])
        facts = {"asker": self.asker, "question": name, "fingerprint": mark, "repeat": terms["repeat"]}
        facts |= {"days": days, "start": None if days is None else day_of(terms["begins"])}
        facts |= {name: terms[name] for name in ("every", "changes") if name in terms}
        if question.is_path:
            facts["times"] = 1
        if "answers" in terms:
            facts["limit"] = {"campaign": self.id, "answers": terms["answers"]}
        if "phase" in terms:
            facts["phase"] = {"campaign": self.id, "name": terms["name"], **terms["phase"]}
        return facts

    def value(self, name: str, given: Any) -> Any:
        """Return the question's input for a person's value: scales, dates and times are converted."""
        if self.question(name).is_path:
            return [given]  # one place
        labels = self.question(name).labels if self.stated[name].get("form") == "installed" else ()
        return take_value(self.stated[name], given, labels or ())

    def is_open(self, day: int) -> bool:
        """Return whether reports are collected on a day since 1970: it has begun, and is not over."""
        last = day_of(self.terms["ends"])
        if self.retired is not None:
            last = min(last, day_of(self.retired) - 1)
        return day_of(self.terms["begins"]) <= day <= last


def take_value(stated: dict[str, Any], given: Any, labels: Any = ()) -> Any:
    """Return the question's input for a value, by the terms of a campaign.

    A number is put on the scale; a text is read as a date, as a time of the day, or as a day of installation
    (one of the `labels`).
    """
    form = stated.get("form")
    if "scale" in stated and isinstance(given, int | float) and not isinstance(given, bool):
        return on_scale(stated["scale"], given)
    if form is None or not isinstance(given, str):
        return given
    if form == "time":
        hours, minutes = given[:2], given[3:]
        fine = len(given) == 5 and given[2] == ":" and given.isascii()
        need(fine and hours.isdigit() and minutes.isdigit(), "asking", "a time such as 13:45")
        need(int(hours) < 24 and int(minutes) < 60, "asking", "a time such as 13:45")
        return 60 * int(hours) + int(minutes)
    day = day_of(given)
    return day if form == "date" else max((label for label in labels if label <= given), default=labels[0])


def on_scale(edges: Sequence[float], value: float) -> float:
    """Return where a value lies on a scale: the number of the part, and the share of the way through it."""
    need(not math.isnan(value), "asking", "a number was expected")
    inside = min(max(value, edges[0]), edges[-1])
    part = max(at for at in range(len(edges) - 1) if edges[at] <= inside)
    return part + (inside - edges[part]) / (edges[part + 1] - edges[part])


def read_list(
    published: str, key: str, kept: tuple[int, str] | None = None
) -> tuple[list[str], dict[str, Any]]:
    """Return the digests of a list of campaigns, and the days of retirement by identity; raise Malformed.

    `kept` are the number of entries and the head that were seen before: the list must continue them.
    """
    try:
        given = _open(published, key)
        heads = [_FIRST]
        campaigns: dict[str, Any] = {}
        entries = listed(given["list"], "list")
        need(1 <= len(entries) <= 10_000, "list")
        for entry in entries:
            fields = dict(watch(entry))
            need(len(entry) <= 1024 and fields.pop("before") == heads[-1], "list")
            names, day = set(fields), fields.get("day")
            name = next(
                (fields[kind] for kind in ("published", "retired", "next_key") if kind in fields), None
            )
            need(is_digits(name, 64), "list")
            name = str(name)
            if names == {"published"}:
                need(name not in campaigns, "list")
                campaigns[name] = None
            elif names == {"retired", "day"}:
                need(name in campaigns, "list")
                day_of(day)
                campaigns[name] = day
            else:
                need(names == {"next_key"}, "list")
            heads.append(sha256(entry.encode()).hexdigest())
        check_signature(given["key"], given["signature"], f"dither list 2\n{heads[-1]}")
    except DeviceError:
        raise
    except (TypeError, ValueError, KeyError, AttributeError, LookupError):
        raise Malformed("list", "this is not a list of campaigns") from None
    heads = heads[1:]
    if kept is not None:
        count, head = kept
        need(
            1 <= count <= len(heads) and heads[count - 1] == head,
            "list",
            "it does not continue the one before",
        )
    return heads, campaigns
