"""Vectors of signed campaigns that every device reads, or refuses: a part of texts.json."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

import dither as dt
from dither.collection.campaign import Campaign
from dither.collection.published import Published
from dither.collection.secrets import public_part
from dither.collection.terms import promises
from dither.core.question import as_question
from dither.foundation.canonical import canonical
from dither.mechanisms.mechanism import Mechanism
from tests.conformance.draws import nearest, routes
from tests.conformance.lists import NEXT, THIRD, key_before
from tests.conformance.refused import LINE, MISSING, WORDS, put
from tests.conformance.signatures import KEY, contract
from tests.conformance.term_ends import later_draws, term_ends

READ, REFUSED = "read", "refused"

Row = dict[str, Any]
Case = tuple[str, str, str, str]  # the verdict, the name, the reason and the text


def read_campaign(published: str) -> Row:
    """Return what a device reads from a published campaign; raise DitherError if it refuses it."""
    made = Published.from_json(published, key=public_part(KEY))
    return {
        "campaign": made.id,
        "retired": made.retired and made.retired[0].isoformat(),
        "asks": [made.contract.account_terms(name) for name in made.contract.questions],
    }


P: Final = (1 << 255) - 19  # Ed25519: the field, and the order of the group
ORDER: Final = (1 << 252) + 27742317777372353535851937790883648493
EIGHTH: Final = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD83D3D706A17C7  # y of a point of order 8
SMALL: Final[tuple[tuple[int, str], ...]] = (
    (1, "of order 1"),
    (1 + (1 << 255), "of order 1, with a sign"),
    (P - 1, "of order 2"),
    (0, "of order 4"),
    (1 << 255, "of order 4, with a sign"),
    (EIGHTH, "of order 8"),
    (P - EIGHTH + (1 << 255), "of order 8, with a sign"),
    (P, "of order 4, not canonical"),
    (P + 1, "of order 1, not canonical"),
)


def _digits(number: int) -> str:
    return number.to_bytes(32, "little").hex()


def _told(mark: str, key: str, message: bytes) -> int:
    """Return the number h of a signature that begins with R = `mark` [RFC 8032, 5.1.7]."""
    data = bytes.fromhex(mark + key) + message
    return int.from_bytes(hashlib.sha512(data).digest(), "little") % ORDER


def _forged(point: int) -> str:
    """Return a campaign with a valid signature of a next key of small order, which the pinned key has signed.

    Nobody needs a private key for it: with S = 0, R = (0, 1) and h a multiple of 8, [S]B = R + [h]A.
    """
    key, mark = _digits(point), _digits(1)
    statement = KEY.sign(b"dither next key 1\n" + key.encode()).hex()
    for version in range(1, 1000):
        text = replace(contract(), version=version).text
        if _told(mark, key, b"dither campaign 2\n" + text.encode()) % 8 == 0:
            break
    before = {"key": public_part(KEY), "signature": statement}
    return _signed(text, key=key, signature=mark + _digits(0), key_before=before)


def _signature(text: str, point: int, more: int = 0) -> str:
    """Return a signature of the pinned key whose R is an encoding of (0, 1); `more` is added to S."""
    seed = hashlib.sha512(KEY.private_bytes_raw()).digest()[:32]
    scalar = int.from_bytes(seed, "little") & ((1 << 254) - 8) | 1 << 254
    mark = _digits(point)
    told = _told(mark, public_part(KEY), b"dither campaign 2\n" + text.encode())
    return mark + _digits(told * scalar % ORDER + more)


def _signed(text: str, **more: Any) -> str:
    """Return a text as it is published, with a signature that is valid."""
    message = b"dither campaign 2\n" + text.encode(errors="replace")
    whole = {"campaign": text, "key": public_part(KEY), "signature": KEY.sign(message).hex(), "retired": None}
    return json.dumps(whole | more, ensure_ascii=False)


def _with(published: Published, **more: Any) -> str:
    """Return a published campaign with other fields around its text."""
    return json.dumps(json.loads(published.to_json()) | more)


def _upper(published: Published, name: str) -> dict[str, str]:
    before: dict[str, str] = json.loads(published.to_json())["key_before"]
    return before | {name: before[name].upper()}


def _two() -> dict[str, Mechanism[Any]]:
    return {"minutes": dt.Podium(dt.Interval(0, 180), epsilon=1), "browser": dt.KRR(WORDS, epsilon=0.5)}


def _asked(name: str, question: Any, **more: Any) -> dict[str, Any]:
    """Return a question as a campaign states it."""
    told = promises(as_question(question).guarantee)
    spent = {field: told[field] for field in ("epsilon", "delta") if told[field] is not None}
    return {"name": name, "specification": question.to_json(), **spent, **more}


def _asking(*questions: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a campaign about its questions."""
    deltas = [one["delta"] for one in questions if "delta" in one]
    total = {"epsilon": sum(one["epsilon"] for one in questions), "delta": sum(deltas) if deltas else None}
    return {"questions": list(questions), "promise": {**total, "assumptions": []}}


def _replaced(asked: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    return asked | {"specification": asked["specification"].replace(old, new)}


# the place in the campaign, what is put there (a function is applied), why it must be refused
SEALING = f"010020{'0a'.ljust(64, '0')}000400010001"
BOTH = SEALING.replace("000400010001", "00080001000300010001")

TERMS: Final[tuple[tuple[str, Any, str], ...]] = (
    ("promise.epsilon", 0.1, "the stated promise is smaller than its question's"),
    ("promise.epsilon", lambda given: given * (1 - 1e-8), "the stated promise is smaller by 10^-8 of it"),
    ("promise.epsilon", 2, "the stated promise is larger than its question's"),
    ("promise.epsilon", None, "no ε is promised"),
    ("promise.epsilon", "1", "a text for a number"),
    ("promise.epsilon", True, "a truth value for a number"),
    ("promise.epsilon", MISSING, "no ε is promised"),
    ("promise.delta", 0, "a δ of 0 is written as null"),
    ("promise.delta", 1e-6, "a δ that the question does not need"),
    ("promise.delta", MISSING, "no δ, not even null"),
    ("promise.assumptions", ["nobody looks"], "an assumption that the question does not make"),
    ("promise.assumptions", {}, "an object for a list"),
    ("promise.assumptions", MISSING, "no list of assumptions"),
    ("promise.unit", "value", "a field that nobody knows"),
    ("promise", None, "nothing is promised"),
    ("promise", MISSING, "nothing is promised"),
    ("days", 1e300, "a number of days beyond all integers"),
    ("days", 7, "days of a question that is not asked once in a period"),
    ("days", None, "null for a term that is not used"),
    ("retry", MISSING, "nothing says how long a copy is recognised"),
    ("retry", 0, "a copy is not recognised"),
    ("retry", 366, "a copy is recognised for more than a year"),
    ("retry", "14", "a text for a number"),
    ("answers", 12, "a number of answers of a question that is answered once"),
    ("every", "week", "a period of a question that is not asked in periods"),
    ("changes", 1, "a number of changes of a question about no change"),
    ("expects", 5000, "a number of devices of a campaign that does not count them"),
    ("label_share", 700, "a share of devices of a campaign without a permanent label"),
    ("phase", {}, "a phase that says nothing"),
    ("phase", {"share": 0}, "a phase of nobody"),
    ("phase", {"share": 1000}, "a phase of everybody"),
    ("phase", {"share": 0.1}, "a share that is not in thousandths"),
    ("phase", {"share": 100, "follows": "0" * 64}, "a first phase that follows another"),
    ("phase", {"follows": "0" * 63}, "an identity of 63 digits"),
    ("phase", {"follows": "A" * 64}, "an identity in upper case"),
    ("phase", 100, "a number for an object"),
    ("phase", {"share": 100, "name": "x"}, "a field that nobody knows"),
    ("languages", [], "no language"),
    ("languages", "en", "a text for a list"),
    ("languages", ["en", "en"], "a language that stands twice"),
    ("languages", ["EN"], "a language in upper case"),
    ("languages", ["english"], "a language that is no tag"),
    ("languages", ["de-at"], "a country in lower case"),
    ("languages", ["zh-hant"], "a script in lower case"),
    ("languages", [f"x{chr(97 + at // 9)}{chr(97 + at % 9)}" for at in range(41)], "more than 40 languages"),
    ("purposes", {"de": "Wie lange?"}, "a purpose in a language that is not stated"),
    ("begins", "first of May", "a day in words"),
    ("begins", "20260101", "a day without hyphens"),
    ("begins", "2026-W01-4", "a day by its week"),
    ("begins", "2026-1-1", "a day without zeros"),
    ("begins", "2026-01-01T00:00:00Z", "a day with a time"),
    ("begins", "2026-02-30", "a day that does not exist"),
    ("begins", "0000-01-01", "a year that does not exist"),
    ("begins", "+002026-01-01", "a year of six digits"),
    ("begins", " 2026-01-01", "a space before the day"),
    ("begins", ["2026-01-01"], "a list for a day"),
    ("begins", 20454, "a number for a day"),
    ("begins", "2027-01-01", "it ends before it begins"),
    ("ends", "2026-13-01", "a month that does not exist"),
    ("ends", None, "null for a day"),
    ("repeat", "often", "a rule that nobody knows"),
    ("repeat", "kept change", "a rule that needs days and changes"),
    ("repeat", "present", "a rule that needs a period and a number of devices"),
    ("repeat", "constructor", "a rule that is a name of the language"),
    ("repeat", ["same"], "a list for a text"),
    ("name", "", "an empty name"),
    ("name", "  ", "a name of spaces"),
    ("name", "x" * 65, "a name of 65 bytes"),
    ("name", "é" * 33, "a name of 66 bytes, 33 letters"),
    ("name", 7, "a number for a text"),
    ("name", "a\u200bb", "a character that cannot be seen"),
    ("name", "a\u001b[2J", "an escape sequence"),
    ("name", "a\u202eb", "a direction that is not closed"),
    ("name", "a\u202cb", "a direction that was not opened"),
    ("name", "a\u2067b\u202cc\u2069", "a direction that is closed by the other mark"),
    ("name", "a\u202ab\u2066c\u202cd\u2069", "directions that are closed in another order"),
    ("name", "\u00a0\u200d\u200e", "nothing that can be seen"),
    ("name", "a\ufeffb", "a mark of the order of bytes"),
    ("name", "a\U000e0041b", "a tag, which cannot be seen"),
    ("name", "a\u0085b", "a control beyond ASCII"),
    ("name", "a\u2028b", "a line separator"),
    ("name", "a\u2066b\nc\u2069", "a direction that goes on in the next line"),
    ("asker", "", "no asker"),
    ("asker", "a\nb", "an asker on two lines"),
    ("asker", "a" * 201, "an asker of 201 letters"),
    ("asker", None, "null for a text"),
    ("contact", MISSING, "nobody to ask"),
    ("contact", "x" * 501, "a contact of 501 bytes"),
    ("purpose", "x" * 4001, "a purpose of 4 001 bytes"),
    ("purpose", "\u0007", "a character that cannot be shown"),
    ("version", 0, "a version below 1"),
    ("version", 1.5, "a fraction for a whole number"),
    ("version", 1 << 31, "a version of 2^31"),
    ("version", "1", "a text for a number"),
    ("version", True, "a truth value for a number"),
    ("people", 0, "answers are shown of nobody"),
    ("people", 1e300, "more people than all integers"),
    ("people", None, "null for a number"),
    ("labels", "ab", "a text for a list"),
    ("labels", {"a": 1}, "an object for a list"),
    ("labels", ["a", "a"], "a label that stands twice"),
    ("labels", [""], "an empty label"),
    ("labels", [" \n"], "a label of white space"),
    ("labels", ["a\tb"], "a label with a tab"),
    ("labels", [1], "a number for a label"),
    ("labels", ["x" * 65], "a label of 65 bytes"),
    ("labels", [f"{at}" for at in range(1001)], "more than 1 000 labels"),
    ("sealing_key", None, "null for a key"),
    ("sealing_key", f"010020{'0' * 64}000400010001", "a key that protects nothing"),
    ("sealing_key", SEALING.upper(), "hexadecimal digits are lower case"),
    ("sealing_key", SEALING[:-2], "a short configuration"),
    ("sealing_key", SEALING[6:70], "a key without its configuration"),
    ("sealing_key", SEALING.replace("000400010001", "000400010003"), "other algorithms alone"),
    ("sealing_key", [SEALING], "a list of configurations"),
    ("reports_a_batch", None, "null for a number of reports"),
    ("reports_a_batch", 0, "batches without a report"),
    ("reports_a_batch", 1.5, "a fraction of a report"),
    ("reports_a_batch", 1 << 31, "a batch of 2^31 reports"),
    ("reading", {}, "a term of version 1"),
    ("note", "x", "a term that nobody knows"),
    ("dither-campaign", 1, "a version that is not read any more"),
    ("dither-campaign", 3, "a version that nobody knows"),
    ("dither-campaign", "2", "a text for the version"),
    ("dither-campaign", True, "a truth value for the version"),
    ("dither-campaign", MISSING, "the version is missing"),
    ("questions", [], "no questions"),
    ("questions", {}, "an object for a list"),
    ("questions", MISSING, "no questions"),
    ("questions", lambda given: given * 2, "a name that stands twice, with one text"),
    ("questions", lambda given: [*given, given[0] | {"name": "hours"}], "two questions with one device text"),
    ("questions", lambda given: [given[0] | {"name": ""}], "a question without a name"),
    ("questions", lambda given: [given[0] | {"name": "a\nb"}], "a name on two lines"),
    ("questions", lambda given: [given[0] | {"name": "x" * 65}], "a name of 65 bytes"),
    ("questions", lambda given: [given[0] | {"name": 1}], "a number for a name"),
    ("questions", lambda given: [given[0] | {"note": 1}], "a field of a question that nobody knows"),
    ("questions", lambda given: [[given[0]["name"], given[0]["specification"]]], "a pair, as in version 1"),
    ("questions", lambda given: [{"name": "minutes", "epsilon": 1}], "a name without a question"),
    (
        *("questions", lambda given: [given[0] | {"specification": json.loads(given[0]["specification"])}]),
        "an object for a specification",
    ),
    (
        *("questions", lambda given: [_replaced(given[0], "Podium", "KRR")]),
        "a false name",
    ),
    ("questions", lambda given: [given[0] | {"epsilon": 0.5}], "a smaller ε than its integers spend"),
    ("questions", lambda given: [given[0] | {"epsilon": "1"}], "a text for ε"),
    ("questions", lambda given: [given[0] | {"delta": 0}], "a δ of 0"),
    ("questions", lambda given: [given[0] | {"delta": None}], "null for a δ"),
    *(
        ("questions", lambda given, more=more: [given[0] | more], reason)
        for more, reason in (
            ({"unit": ""}, "a unit that is not used"),
            ({"unit": "a\nb"}, "a unit on two lines"),
            ({"unit": "x" * 41}, "a unit of 41 letters"),
            ({"unit": None}, "null for a unit"),
            ({"step": 0}, "a step of 0"),
            ({"step": 200}, "a step beyond the domain"),
            ({"step": 0.1}, "more than 501 answers"),
            ({"step": "1"}, "a text for a step"),
            ({"step": None}, "null for a step"),
            ({"scale": [0, 90, 180]}, "a scale of an interval that is not from 0 to 2"),
            ({"form": "date", "unit": "d"}, "dates with a unit"),
            ({"form": "time"}, "times that are no circle"),
            ({"form": "installed"}, "days of installation that are numbers"),
            ({"form": "colour"}, "a form that nobody knows"),
            ({"form": None}, "null for a form"),
            ({"clipped": False}, "a term that is not used"),
            ({"outside": [0.02, 0.01, 0.04]}, "a share outside of values that are not clipped"),
            ({"clipped": True, "outside": [0.05, 0.01, 0.04]}, "a share outside of its interval"),
            ({"clipped": True, "outside": [0.02, 0.04]}, "two numbers for three"),
            ({"clipped": True, "outside": [0.02, 0.01, 1.5]}, "a share above 1"),
            ({"text": {"en": "How long?"}}, "words in a language that is not stated"),
            ({"text": "How long?"}, "a text for words by language"),
            ({"names": {"en": ["a", "b"]}}, "names of numbers"),
        )
    ),
)  # fmt: skip


def _terms(change: Callable[[dict[str, Any]], None], base: Campaign | None = None) -> str:
    data = json.loads((base or contract()).text)
    change(data)
    return canonical(data)


def _put(place: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda data: put(data, place, value)


def _updated(terms: dict[str, Any]) -> Callable[[dict[str, Any]], None]:
    return lambda data: data.update(terms)


def _asked_once(days: Any) -> Callable[[dict[str, Any]], None]:
    return lambda data: data.update(repeat="once", days=days)


def _without(*names: str) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        for name in names:
            del data[name]

    return change


def _twins(first: Mechanism[Any], second: Mechanism[Any], *promise: Mechanism[Any]) -> str:
    """Return a campaign that asks two questions under one name, and promises for some of them."""
    both = [_asked("minutes", first), _asked("minutes", second)]
    told = _asking(*(_asked("minutes", one) for one in promise))["promise"]
    return _terms(lambda data: data.update(questions=both, promise=told))


def _no_delta(data: dict[str, Any]) -> None:
    for asked in data["questions"]:
        asked.pop("delta", None)


SQUARE: Final = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
YES: Final = dt.KRR(dt.Categories(["no", "yes"]), epsilon=1)
MOODS: Final = dt.KRR(dt.Categories(["good", "bad", None]), epsilon=1)
WEEKS: Final = ("2026-01-05", "2026-02-02", "2026-03-02", "2026-04-06")
HELLO: Final = (
    "\u0645\u0631\u062d\u0628\u0627 \u200f\u05e9\u05dc\u05d5\u05dd \u2067abc\u2069 "
    "\u202babc\u202c \U0001f469\u200d\U0001f52c"
)


def _new_terms(plain: Campaign) -> Iterator[Case]:
    """Yield what version 2 brought: how often, phases, presence, places and words."""
    line = dt.SW(dt.Interval(0, 4), epsilon=1)

    def signed(**terms: Any) -> str:
        return _signed(_terms(_updated(terms)))

    def asked(*questions: dict[str, Any], **terms: Any) -> str:
        return signed(
            **((_asking(*questions) if "promise" not in terms else {"questions": list(questions)}) | terms)
        )

    yield READ, "retry", "a copy is recognised for 2 days", signed(retry=2)
    yield READ, "answers", "12 answers of one person", signed(repeat="fresh", answers=12)
    for every in ("day", "week", "month"):
        yield READ, "every", f"once in every {every}", signed(repeat="once", every=every)
    for count, reason in (
        (0, "no answer"),
        (10**6 + 1, "more than 10^6"),
        (1.5, "a fraction"),
        (True, "a truth value"),
    ):
        yield REFUSED, "answers", reason, signed(repeat="fresh", answers=count)
    yield REFUSED, "every", "a year", signed(repeat="once", every="year")
    yield REFUSED, "every", "a name of the language", signed(repeat="once", every="constructor")
    yield REFUSED, "every", "days and a period of the calendar", signed(repeat="once", days=7, every="week")
    yield REFUSED, "every", "neither days nor a period of the calendar", signed(repeat="once")
    yield READ, "phase", "a first phase of one in ten", signed(phase={"share": 100})
    yield READ, "phase", "the second phase", signed(phase={"follows": "0a" * 32})

    change = {"repeat": "kept change", "days": 28, "changes": 1}
    yield READ, "kept change", "two answers", asked(_asked("smokes", YES), **change)
    yield REFUSED, "kept change", "numbers", signed(**change)
    yield REFUSED, "kept change", "three answers", asked(_asked("mood", MOODS), **change)
    yield (
        REFUSED,
        "question",
        "a smaller ε, and a promise that is its sum",
        asked(_asked("mood", MOODS, epsilon=0.5)),
    )
    yield (
        REFUSED,
        "kept change",
        "one day",
        asked(_asked("smokes", YES), **(change | {"days": 1, "changes": 1})),
    )
    yield (
        REFUSED,
        "kept change",
        "as many changes as days",
        asked(_asked("smokes", YES), **(change | {"changes": 28})),
    )
    yield REFUSED, "kept change", "no changes", asked(_asked("smokes", YES), repeat="kept change", days=28)

    count: dict[str, Any] = {"repeat": "present", "every": "week", "expects": 1000}
    weeks = dt.KRR(dt.Categories(list(WEEKS)), epsilon=2)
    label = _asked("since", weeks, form="installed")
    nothing = {"questions": [], "promise": {"epsilon": 0, "delta": None, "assumptions": []}}
    yield READ, "present", "devices are counted, without a label", signed(**count, **nothing)
    yield READ, "present", "with a permanent label", asked(label, **count, label_share=700)
    yield (
        READ,
        "present",
        "with any list as the label",
        asked(_asked("browser", dt.KRR(WORDS, epsilon=1)), **count, label_share=500),
    )
    for lacking in ("every", "expects"):
        rest = {name: value for name, value in count.items() if name != lacking}
        yield REFUSED, "present", f"without {lacking}", signed(**rest, **nothing)
    yield REFUSED, "present", "a label without a share", asked(label, **count)
    yield REFUSED, "present", "a share without a label", signed(**count, **nothing, label_share=700)
    yield (
        REFUSED,
        "present",
        "two labels",
        asked(label, _asked("browser", dt.KRR(WORDS, epsilon=1)), **count, label_share=700),
    )
    yield (
        READ,
        "present",
        "four reports of 80 devices",
        asked(label, **(count | {"expects": 115}), label_share=700),
    )
    yield (
        REFUSED,
        "present",
        "four reports of 79 devices",
        asked(label, **(count | {"expects": 113}), label_share=700),
    )
    for verdict, expects in ((READ, 100), (REFUSED, 99)):
        yield (
            verdict,
            "present",
            f"a label of two reports, of {expects} expected devices",
            asked(
                _asked("code", dt.KRR(dt.Categories(2), epsilon=2)),
                **(count | {"expects": expects}),
                label_share=700,
            ),
        )
    many = _asked("code", dt.KRR(dt.Categories(129), epsilon=2))
    yield (
        REFUSED,
        "present",
        "129 reports would be an identifier",
        asked(many, **(count | {"expects": 10**6}), label_share=700),
    )
    most = _asked("code", dt.KRR(dt.Categories(128), epsilon=2))
    yield READ, "present", "128 reports", asked(most, **(count | {"expects": 10**6}), label_share=700)
    sets = _asked("code", dt.SubsetSelection(dt.Categories(20), epsilon=1))
    yield (
        REFUSED,
        "present",
        "sets would be an identifier",
        asked(sets, **(count | {"expects": 10**6}), label_share=700),
    )
    for share in (0, 1000, 0.7, "700"):
        yield REFUSED, "label_share", f"{share!r} for thousandths", asked(label, **count, label_share=share)
    yield REFUSED, "present", "a phase", signed(**count, **nothing, phase={"share": 100})
    yield REFUSED, "present", "a gateway", signed(**count, **nothing, reports_a_batch=5)
    yield (
        REFUSED,
        "form",
        "days of installation in another order",
        asked(
            _asked("since", dt.KRR(dt.Categories(list(reversed(WEEKS))), epsilon=2), form="installed"),
            **count,
            label_share=700,
        ),
    )
    yield (
        REFUSED,
        "form",
        "labels that are no days",
        asked(_asked("browser", dt.KRR(WORDS, epsilon=1), form="installed"), **count, label_share=700),
    )
    yield REFUSED, "form", "days of installation without presence", asked(label)

    days = dt.Podium(dt.Interval(20454, 20818), epsilon=1)
    yield READ, "form", "dates", asked(_asked("day", days, form="date"))
    yield (
        REFUSED,
        "form",
        "dates that are no whole days",
        asked(_asked("day", dt.Podium(dt.Interval(0.5, 9.5), epsilon=1), form="date")),
    )
    yield (
        REFUSED,
        "form",
        "dates beyond the year 9999",
        asked(_asked("day", dt.Podium(dt.Interval(0, 2_932_897), epsilon=1), form="date")),
    )
    yield (
        READ,
        "form",
        "times of the day",
        asked(_asked("hour", dt.OGPM(dt.Circle(1440), epsilon=1), form="time")),
    )
    yield (
        REFUSED,
        "form",
        "times on a circle of 24",
        asked(_asked("hour", dt.OGPM(dt.Circle(24), epsilon=1), form="time")),
    )
    yield READ, "scale", "edges", asked(_asked("pay", line, scale=[0, 1, 10, 100, 1000.5], unit="EUR"))
    yield (
        READ,
        "scale",
        "edges of a number that may be missing",
        asked(_asked("pay", dt.Podium(dt.Nullable(dt.Interval(0, 2)), epsilon=1), scale=[-5, 0, 5])),
    )
    for edges, reason in (
        ([0, 1, 10, 100], "fewer edges than the interval has parts"),
        ([0, 1, 1, 100, 1000], "equal edges"),
        ([0, 1, 100, 10, 1000], "edges that fall"),
        ([0, 1, 10, 100, "1000"], "a text for an edge"),
        ([0, 1, 10, 100, 1e31], "an edge beyond 10^30"),
        ([0, 1, 10, 100, True], "a truth value for an edge"),
        ({"0": 1}, "an object for a list"),
    ):
        yield REFUSED, "scale", reason, asked(_asked("pay", line, scale=edges))
    yield (
        REFUSED,
        "scale",
        "a scale and a step",
        asked(_asked("pay", line, scale=[0, 1, 10, 100, 1000], step=1)),
    )
    yield (
        REFUSED,
        "scale",
        "a scale of dates",
        asked(_asked("pay", line, scale=[0, 1, 10, 100, 1000], form="date")),
    )
    yield (
        REFUSED,
        "scale",
        "a scale of a circle",
        asked(_asked("pay", dt.OGPM(dt.Circle(4), epsilon=1), scale=[0, 1, 10, 100, 1000])),
    )
    yield READ, "clipped", "values are clipped on purpose", asked(_asked("pay", line, clipped=True))
    yield (
        READ,
        "clipped",
        "with the share outside",
        asked(_asked("pay", line, clipped=True, outside=[0.02, 0.01, 0.04])),
    )
    yield (
        REFUSED,
        "clipped",
        "a scale that is clipped",
        asked(_asked("pay", line, clipped=True, scale=[0, 1, 10, 100, 1000])),
    )
    yield READ, "clipped", "dates that are clipped", asked(_asked("day", days, form="date", clipped=True))
    yield REFUSED, "clipped", "a list that is clipped", asked(_asked("mood", MOODS, clipped=True))

    english = {"en": "How are you?"}
    both = english | {"de": "Wie geht es Ihnen?"}
    names = {"en": ["fine", "not so well", "no answer"], "de": ["gut", "schlecht", "keine Angabe"]}
    yield READ, "languages", "the language of the purpose", signed(languages=["pt-BR"])
    yield READ, "languages", "scripts and regions", signed(languages=["zh-Hant-TW", "es-419", "gsw", "de"])
    yield (
        READ,
        "purposes",
        "in two languages",
        signed(languages=["en", "de"], purposes={"de": "Wie lange\nman wartet"}),
    )
    yield (
        READ,
        "words",
        "a text and names in one language",
        asked(_asked("mood", MOODS, text=english, names={"en": names["en"]}), languages=["en"]),
    )
    yield (
        READ,
        "words",
        "in two languages",
        asked(_asked("mood", MOODS, text=both, names=names), languages=["en", "de"]),
    )
    yield (
        READ,
        "words",
        "Arabic, Hebrew, closed directions, a joiner",
        asked(_asked("mood", MOODS, text={"en": HELLO}), languages=["en"]),
    )
    yield (
        READ,
        "words",
        "500 characters beyond the first plane",
        asked(_asked("mood", MOODS, text={"en": "\U0001f600" * 500}), languages=["en"]),
    )
    sets = dt.SetResponse(dt.Several(["mail", "maps", "music"], most=2), epsilon=1)
    yield (
        READ,
        "words",
        "names of items",
        asked(_asked("apps", sets, names={"en": ["Mail", "Maps", "Music"]}), languages=["en"]),
    )
    for words, reason in (
        (english, "one language of two"),
        (both | {"fr": "Comment allez-vous ?"}, "a language that is not stated"),
        (both | {"de": ""}, "no words"),
        (both | {"de": " \u200d"}, "words that cannot be seen"),
        (both | {"de": "a\nb"}, "words on two lines"),
        (both | {"de": "x" * 501}, "501 characters"),
        (both | {"de": "a\u001bb"}, "an escape"),
        (both | {"de": "a\u202eb"}, "a direction that is not closed"),
        (both | {"de": 7}, "a number for words"),
        ([], "a list for an object"),
        ({}, "no language"),
    ):
        yield REFUSED, "words", reason, asked(_asked("mood", MOODS, text=words), languages=["en", "de"])
    for made, reason in (
        ({"en": names["en"]}, "names in one language of two"),
        (names | {"de": ["gut", "schlecht"]}, "fewer names than labels"),
        (names | {"de": ["gut", "gut", "schlecht"]}, "two equal names"),
        (names | {"de": ["gut", "schlecht", None]}, "null for a name"),
        (names | {"de": "abc"}, "a text for a list"),
    ):
        yield REFUSED, "words", reason, asked(_asked("mood", MOODS, names=made), languages=["en", "de"])
    for purposes, reason in (
        ({}, "no other language"),
        ({"en": "How long?", "de": "Wie lange?"}, "the language of the purpose"),
        ({"de": "x" * 4001}, "a purpose of 4 001 bytes"),
        ("Wie lange?", "a text for an object"),
    ):
        yield REFUSED, "purposes", reason, signed(languages=["en", "de"], purposes=purposes)

    def krr(label: str) -> dict[str, Any]:
        return _asked("browser", dt.KRR(dt.Categories(["a", label]), epsilon=1))

    yield READ, "labels of answers", "any script", asked(krr(HELLO))
    yield READ, "labels of answers", "500 characters", asked(krr("x" * 500))
    yield READ, "labels of answers", "HTML, which is text", asked(krr("<img src=x onerror=alert(1)>&amp;"))
    for label, reason in (
        ("b\u001b[2Jc", "an escape sequence"),
        ("b\nc", "a line feed"),
        ("", "an empty label"),
        ("x" * 501, "501 characters"),
        ("b\u2067c", "a direction that is not closed"),
        ("b\u0000", "a zero"),
    ):
        yield REFUSED, "labels of answers", reason, asked(krr(label))
    items = dt.SetResponse(dt.Several(["mail", "a\u001bb"], most=1), epsilon=1)
    yield REFUSED, "labels of answers", "an escape in a set", asked(_asked("apps", items))
    yield READ, "place", "one place of a rectangle", asked(_asked("where", dt.TraCSC(SQUARE, epsilon=1)))
    yield READ, "place", "one place of a disk", asked(_asked("where", dt.Polar(dt.Disk(2.5), epsilon=1)))
    yield READ, "place", "the nearest points of a disk", asked(_asked("where", nearest()["disk"]))
    yield READ, "place", "the nearest points of a sphere", asked(_asked("where", nearest()["sphere"]))
    yield READ, "place", "a list", asked(_asked("where", nearest()["listing"]))
    yield READ, "vector", "numbers of a ball", asked(_asked("face", dt.Optimal(dt.Vectors(5), epsilon=1)))
    yield READ, "complete path", "one value", asked(_asked("way", routes()["routes, warped"]))
    yield READ, "box", "three numbers together", asked(_asked("body", nearest()["box"]))
    profile = dt.Marginals({"age": dt.Categories(3), "browser": WORDS}, epsilon=1)
    yield READ, "profile", "a table of two attributes", asked(_asked("who", profile))
    hostile = dt.Marginals({"age": dt.Categories(3), "a\u001bb": WORDS}, epsilon=1)
    yield REFUSED, "profile", "an escape in the name of an attribute", asked(_asked("who", hostile))
    yield from term_ends(_asked, asked)
    yield from later_draws(_asked, asked)


def campaigns() -> Iterator[Case]:
    """Yield the verdict, the name of a case, the reason, and what is published."""
    plain, two = contract(), replace(contract(), questions=_two())
    text = plain.text

    yield READ, "as written", "what Python signs", _signed(text)
    yield READ, "two questions", "their ε are added", _signed(two.text)
    for repeat in ("fresh", "per value"):
        yield READ, "repeat", f"asked {repeat}", _signed(replace(plain, repeat=repeat).text)
    once = replace(plain, repeat="once", days=7)
    yield READ, "repeat", "asked once in 7 days, from the day on which it begins", _signed(once.text)
    early = replace(once, begins=datetime.date(1969, 12, 31), days=36_600)
    yield READ, "repeat", "the longest period, and a day before 1970", _signed(early.text)
    lettered = replace(plain, labels=("a", "b b", "😀"), purpose="Wie lange?\nPourquoi? 😀", asker="é" * 126)
    yield READ, "texts", "labels, lines and letters of any kind", _signed(lettered.text)
    declared = dt.Podium(dt.Interval(0, 180, step=15, unit="minutes"), epsilon=1)
    yield (
        *(READ, "declared", "a unit and a step, which devices do not use"),
        _signed(replace(plain, questions={"minutes": declared}).text),
    )
    for made in (
        dt.Podium(dt.Nullable(dt.Interval(0, 180)), epsilon=1),
        dt.OGPM(dt.Nullable(dt.Circle(360)), epsilon=1),
    ):
        for words, reason in (({"step": 15, "unit": "h"}, "a unit and a step"), ({"unit": "h"}, "a unit")):
            kind = type(made).__name__
            yield (
                *(READ, "declared", f"{reason} of a number that may be missing, {kind}"),
                _signed(_terms(_updated(_asking(_asked("minutes", made, **words))))),
            )
    yield from _new_terms(plain)
    noise = dt.Gaussian(LINE, epsilon=1, delta=1e-6, cells=1024)
    normal = replace(plain, questions=_two() | {"noise": noise})
    yield READ, "δ", "the δ of a question is computed from its integers", _signed(normal.text)
    yield (
        *(READ, "promise.epsilon", "the last digits may be another version's"),
        _signed(_terms(_put("promise.epsilon", lambda given: given * (1 + 1e-12)))),
    )
    for key, reason in ((SEALING, "a key configuration"), (BOTH, "with other algorithms beside ours")):
        yield READ, "sealing_key", reason, _signed(replace(plain, sealing_key=key).text)
    gateway = replace(plain, reports_a_batch=500)
    yield READ, "reports_a_batch", "gateways send for many people", _signed(gateway.text)
    signed = Published.sign(plain, KEY)
    retired = signed.retire(datetime.date(2026, 6, 1), KEY)
    yield READ, "retired", "retired from a day on", retired.to_json()
    following = Published.sign(plain, NEXT, key_before(KEY, NEXT))
    yield READ, "key_before", "the next key, which the pinned one has signed", following.to_json()
    yield (
        *(READ, "key_before", "the same, retired"),
        following.retire(datetime.date(2026, 6, 1), NEXT).to_json(),
    )
    earlier = Published.sign(plain, KEY, key_before(THIRD, KEY))
    yield READ, "key_before", "the pinned key, which follows another", earlier.to_json()
    yield READ, "around", "a field beside those of a published campaign", _signed(text, note="x")
    yield READ, "around", "white space", json.dumps(json.loads(_signed(text)), indent=1)

    for place, value, reason in TERMS:
        yield REFUSED, place, reason, _signed(_terms(_put(place, value)))
    for days, reason in (
        (0, "a period of 0 days"),
        (-7, "a negative period"),
        (36_601, "a period of more than 36 600 days"),
        (1e300, "a number of days beyond all integers"),
        (0.5, "half a day"),
        ("7", "a text for a number"),
        (True, "a truth value for a number"),
    ):
        yield REFUSED, "days", f"once in a period: {reason}", _signed(_terms(_asked_once(days)))
    little, much = dt.Podium(LINE, epsilon=0.5), dt.Podium(LINE, epsilon=2)
    yield (
        *(REFUSED, "questions", "a name that stands twice; the promise is that of the last"),
        _signed(_twins(much, little, little)),
    )
    yield (
        *(REFUSED, "questions", "a name that stands twice; the promise is that of the first"),
        _signed(_twins(little, much, little)),
    )
    yield (
        *(REFUSED, "questions", "a name that stands twice; the promise is that of both"),
        _signed(_twins(little, much, little, much)),
    )
    alone = _asking(_asked("minutes", _two()["minutes"]))["promise"]
    yield (
        *(REFUSED, "promise", "the promise of one question of two"),
        _signed(_terms(lambda data: data.update(promise=alone), two)),
    )
    yield (
        *(REFUSED, "promise", "the δ that the parameters state, in place of the δ of the integers"),
        _signed(_terms(_put("promise.delta", 1e-6), normal)),
    )
    yield REFUSED, "promise", "a δ of a question that is not stated", _signed(_terms(_no_delta, normal))
    for asked, reason in (
        (dt.TraCSD(dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1)), epsilon=1), "a path"),
        (dt.PEM(dt.Text(6), epsilon=1), "a text: a collector counts none"),
    ):
        yield REFUSED, "questions", reason, _signed(_terms(_updated(_asking(_asked("way", asked)))))
    turned = _asked("angle", dt.OGPM(dt.Circle(360), epsilon=1), step=7)
    yield (
        *(REFUSED, "declared", "a step that does not divide a circle"),
        _signed(_terms(_updated(_asking(turned)))),
    )
    listed = _asked("browser", dt.KRR(WORDS, epsilon=1), unit="h")
    yield REFUSED, "declared", "a unit of a list of answers", _signed(_terms(_updated(_asking(listed))))

    for reason, written in (
        ("a space before the text", " " + text),
        ("a line feed after the text", text + "\n"),
        ("white space", json.dumps(json.loads(text))),
        ("keys in another order", '{"version":1,' + text[1:].replace(',"version":1', "")),
        ("a key that stands twice", text.replace("{", '{"asker":"clinic.example",', 1)),
        ("a key that stands twice, the first with another value", text.replace("{", '{"asker":"other",', 1)),
        (
            "a key that stands twice, in the promise",
            text.replace('"epsilon":0.9', '"epsilon":9,"epsilon":0.9'),
        ),
        ("a whole number as 100.0", text.replace(":100,", ":100.0,")),
        ("an escape of a letter", text.replace("How long", "How l\\u006fng")),
        ("half a pair of UTF-16", text.replace("How long", "How \\ud83d long")),
        ("a text that was cut", text[:-1]),
        ("no object", "[]"),
    ):
        assert written != text
        yield REFUSED, "not canonical", reason, _signed(written)

    whole = json.loads(signed.to_json())
    digits = whole["signature"]
    other = "1" if digits[0] == "0" else "0"
    gone = json.loads(retired.to_json())["retired"]
    around: tuple[tuple[str, str, Any], ...] = (
        ("signature", "another signature", other + digits[1:]),
        ("signature", "an empty signature", ""),
        ("signature", "hexadecimal digits are lower case", digits.upper()),
        ("signature", "spaces between the digits", " ".join(digits[at : at + 2] for at in range(0, 128, 2))),
        ("signature", "a byte too many", digits + "00"),
        ("signature", "null for a signature", None),
        ("signature", "no signature", MISSING),
        ("campaign", "another text under the signature", text.replace("minutes", "seconds")),
        ("campaign", "an object for a text", json.loads(text)),
        ("campaign", "no text", MISSING),
        ("key", "another key than the pinned one", "0" * 64),
        ("key", "no key", MISSING),
        ("key", "a list for a key", [public_part(KEY)]),
        ("retired", "nothing is said about retirement, not even null", MISSING),
        ("retired", "a truth value", False),
        ("retired", "an empty text", ""),
        ("retired", "an empty object", {}),
        ("retired", "a retirement without a signature", {"day": "2026-06-01"}),
        ("retired", "the signature of the campaign", {"day": "2026-06-01", "signature": digits}),
        ("retired", "another day than the signed one", gone | {"day": "2027-06-01"}),
        ("retired", "the signed day without hyphens", gone | {"day": "20260601"}),
        ("retired", "a day in words", gone | {"day": "soon"}),
    )
    yield READ, "signature", "an R of small order", _signed(text, signature=_signature(text, 1))
    for point, more, reason in (
        (P + 1, 0, "an R that is not canonical"),
        (1 + (1 << 255), 0, "an R of x = 0 with a sign"),
        (1, ORDER, "an S that is not below the order of the group"),
    ):
        yield REFUSED, "signature", reason, _signed(text, signature=_signature(text, point, more))
    for point, reason in SMALL:
        yield REFUSED, "key", f"a next key {reason}, under which signatures of any text exist", _forged(point)
    third = key_before(KEY, THIRD)._asdict()
    for reason, made in (
        ("the next key of the next key", Published.sign(plain, THIRD, key_before(NEXT, THIRD)).to_json()),
        (
            "a next key that another one signed",
            _signed(plain.text, key_before=key_before(THIRD, NEXT)._asdict()),
        ),
        ("a next key that the pinned one did not sign", _with(following, key_before=third)),
        ("no statement of the pinned key", Published.sign(plain, NEXT).to_json()),
        ("null", _signed(plain.text, key_before=None)),
        ("a key before without a signature", _signed(plain.text, key_before={"key": third["key"]})),
        ("a signature in upper case", _with(following, key_before=_upper(following, "signature"))),
    ):
        yield REFUSED, "key_before", reason, made
    for place, reason, value in around:
        data = dict(whole)
        put(data, place, value)
        yield REFUSED, place, reason, json.dumps(data)
    twice = signed.to_json().replace('"retired"', '"retired": null, "retired"')
    yield REFUSED, "around", "a key that stands twice", twice
    yield REFUSED, "around", "a text that was cut", signed.to_json()[:-1]
    yield REFUSED, "around", "not an object", "[]"
