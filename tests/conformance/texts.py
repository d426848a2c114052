"""Vectors of texts with a verdict: specifications and signed campaigns that every device reads, or refuses.

`python -m tests.conformance.texts` writes clients/conformance/2/texts.json anew. What is read has beside it
what was read from it. The file `refused.json` has more specifications that are refused.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

import dither as dt
from dither.collection.campaign import Campaign, Published
from dither.collection.secrets import public_part
from dither.collection.terms import promises
from dither.core.question import as_question
from dither.core.questionnaire import Questionnaire
from dither.core.wire import read_named
from dither.errors import DitherError
from dither.foundation.canonical import canonical, digest
from dither.mechanisms.mechanism import Mechanism
from tests.conformance import agreement
from tests.conformance.draws import nearest
from tests.conformance.logs import NEXT, THIRD, key_before
from tests.conformance.refused import FOLDER, LINE, MISSING, WORDS, put
from tests.conformance.signatures import KEY, contract
from tests.support.travel import changed

FILE: Final = FOLDER / "texts.json"
READ, REFUSED = "read", "refused"
ASKED: Final = ("asker", "question", "fingerprint", "repeat", "days", "start")

Row = dict[str, Any]
Case = tuple[str, str, str, str]  # the verdict, the name, the reason and the text


def read_specification(text: str) -> Row:
    """Return what a device reads from a specification; raise DitherError if it refuses it."""
    return {"fingerprint": read_named(text).fingerprint}


def read_campaign(published: str) -> Row:
    """Return what a device reads from a published campaign; raise DitherError if it refuses it."""
    made = Published.from_json(published, key=public_part(KEY))
    facts = [made.contract.asking(name).facts for name in made.contract.questions]
    return {
        "campaign": made.id,
        "retired": made.retired and made.retired[0].isoformat(),
        "asks": [{name: one[name] for name in ASKED} for one in facts],
    }


# --- specifications


def _whole(mechanism: Mechanism[Any]) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(mechanism.to_json())
    return data


def _with_device(mechanism: Mechanism[Any], write: Callable[[str], str]) -> str:
    """Return a specification whose device text is written otherwise; the fingerprint fits."""
    data = _whole(mechanism)
    text = write(data["device"])
    return json.dumps(data | {"device": text, "fingerprint": digest(text)})


def _claimed(mechanism: Mechanism[Any], name: str, like: Mechanism[Any] | None = None) -> str:
    """Return a specification that names another mechanism, with the parameters of one that is `like` it."""
    data = _whole(mechanism)
    return json.dumps(data | {"mechanism": name, "parameters": _whole(like or mechanism)["parameters"]})


def edge(mechanism: Mechanism[Any], field: str, sign: int) -> tuple[str, str]:
    """Return two specifications: an integer that just keeps ε, and the same with one unit that does not.

    The field may be further inside, `draws.0.heads`.
    """
    path = [int(name) if name.isdigit() else name for name in field.split(".")]

    def holder(device: Any) -> Any:
        for name in path[:-1]:
            device = device[name]
        return device

    def text(number: int) -> str:
        return changed(mechanism, lambda device: holder(device).__setitem__(path[-1], f"{number:x}"))

    def keeps(number: int) -> bool:
        try:
            dt.from_json(text(number))
        except DitherError:
            return False
        return True

    fine = int(holder(json.loads(as_question(mechanism).device_text))[path[-1]], 16)
    gap = fine >> 20
    assert keeps(fine)
    assert not keeps(fine + sign * gap)
    while gap > 1:
        half = gap // 2
        if keeps(fine + sign * half):
            fine += sign * half
            gap -= half
        else:
            gap = half
    return text(fine), text(fine + sign)


def specifications() -> Iterator[Case]:
    """Yield the verdict, the name of a case, the reason, and the text."""
    window, answer = dt.Podium(LINE, epsilon=1), dt.KRR(WORDS, epsilon=1)
    text = window.to_json()
    data = _whole(window)

    yield READ, "as written", "what Python writes", text
    yield READ, "spaces", "white space between the parts", json.dumps(data, indent=2)
    yield READ, "compact", "no white space", json.dumps(data, separators=(",", ":"))
    yield READ, "order", "the parts in another order", json.dumps(dict(reversed(data.items())))
    yield READ, "escapes", "an escape in the outer text", text.replace("Podium", "Po\\u0064ium")
    yield READ, "whole ε", "1 and 1.0 are one number", text.replace('"epsilon": 1.0', '"epsilon": 1')
    yield READ, "exponent", "10e-1 and 1.0 are one number", text.replace('"epsilon": 1.0', '"epsilon": 10e-1')
    colons = dt.KRR(dt.Categories(['a":"b', "\\", '\\"', ":::", "😀"]), epsilon=1)
    yield READ, "colons", "colons, quotes and backslashes in labels", colons.to_json()

    for part in ("device", "fingerprint", "dither"):
        twice = text.replace(f'"{part}":', f'"{part}": {json.dumps(data[part])}, "{part}":')
        yield REFUSED, "twice", f'the name "{part}" stands twice, with one value', twice
    yield (
        *(REFUSED, "twice", 'the name "epsilon" stands twice: languages keep different ones'),
        text.replace('"epsilon": 1.0', '"epsilon": 0.1, "epsilon": 1.0'),
    )
    yield (
        *(REFUSED, "twice", 'the name "epsilon" stands twice, once with an escape'),
        text.replace('"epsilon": 1.0', '"epsilo\\u006e": 0.1, "epsilon": 1.0'),
    )
    yield (
        *(REFUSED, "twice", "a name stands twice in the codebook"),
        text.replace('"codebook": {', '"codebook": {"step": 1, '),
    )
    yield (
        *(REFUSED, "twice", "a name stands twice, and colons elsewhere make up for it"),
        text.replace('"epsilon": 1.0', '"epsilon": 0.1, "epsilon": 1.0').replace("Podium", "Pod\\u003aium"),
    )
    for part in data:
        left = {name: value for name, value in data.items() if name != part}
        yield REFUSED, "parts", f'the part "{part}" is missing', json.dumps(left)
    yield REFUSED, "parts", "a part that nobody knows", json.dumps(data | {"note": "x"})
    yield REFUSED, "after", "something after the end", text + "{}"

    def device(reason: str, write: Callable[[str], str], one: Mechanism[Any] = window) -> Case:
        return REFUSED, "not canonical", reason, _with_device(one, write)

    inner = json.loads(data["device"])
    yield device("a space before the device text", lambda one: " " + one)
    yield device("a line feed after the device text", lambda one: one + "\n")
    yield device("spaces after the colons", lambda one: one.replace(":", ": "))
    yield device(
        "keys in another order",
        lambda one: json.dumps(dict(reversed(inner.items())), separators=(",", ":")),
    )
    yield device(
        "keys in another order, further inside",
        lambda one: one.replace('"high":7.5,"kind":"interval"', '"kind":"interval","high":7.5'),
    )
    yield device("a key that stands twice", lambda one: one.replace("{", '{"bits":64,', 1))
    yield device(
        "a key that stands twice, the first with another value",
        lambda one: one.replace("{", '{"bits":96,', 1),
    )
    yield device("a whole number as 64.0", lambda one: one.replace(":64,", ":64.0,"))
    yield device("a number as 7.50", lambda one: one.replace("7.5", "7.50"))
    yield device("a number as 75e-1", lambda one: one.replace("7.5", "75e-1"))
    yield device(
        "a number with more digits than it needs",
        lambda one: one.replace("-3.0000000043416963", "-3.00000000434169631"),
    )
    yield device("an escape of a letter", lambda one: one.replace("clip", "cl\\u0069p"))
    yield device(
        "an escape of a letter that needs one in no label",
        lambda one: one.replace("firefox", "fire\\/fox"),
        answer,
    )
    yield device("an escape of a letter beyond ASCII", lambda one: one.replace("firefox", "\\u00e9"), answer)
    yield device(
        "half a pair of UTF-16, which has no UTF-8", lambda one: one.replace("firefox", "\\ud83d"), answer
    )

    yield (
        *(READ, "named", "another mechanism that draws windows: devices do the same"),
        _claimed(window, "PM", dt.PM(LINE, epsilon=1)),
    )
    binary = dt.KRR(dt.Categories(["no", "yes"]), epsilon=1)
    yield READ, "named", "RR and KRR draw the same", _claimed(binary, "KRR")
    yield REFUSED, "named", "an RR that is called Podium", _claimed(binary, "Podium", window)
    yield REFUSED, "named", "an RR that is called Podium, without its parameters", _claimed(binary, "Podium")
    yield REFUSED, "named", "a Podium that is called KRR", _claimed(window, "KRR")
    yield REFUSED, "named", "an OUE that is called OLH", _claimed(dt.OUE(WORDS, epsilon=1), "OLH")
    yield REFUSED, "named", "a Hybrid that is called Podium", _claimed(dt.Hybrid(LINE, epsilon=1), "Podium")
    yield REFUSED, "named", "a Laplace that is called Podium", _claimed(dt.Laplace(LINE, epsilon=1), "Podium")
    for name in ("Nothing", "podium", "Podium ", "", "sliding", "Mechanism", "constructor", "Podium PM"):
        yield REFUSED, "named", "a mechanism that nobody knows", _claimed(window, name)

    for kind, made, field, sign in (
        ("window", dt.SW(LINE, epsilon=1), "step", 1),
        ("response", answer, "step", -1),
        ("bits", dt.OUE(dt.Categories(37), epsilon=2), "own", 1),
        ("hashed", dt.OLH(dt.Categories(5000), epsilon=2), "step", -1),
        ("hadamard", dt.HadamardResponse(dt.Categories(100), epsilon=1), "heads", 1),
        ("subset", dt.SubsetSelection(dt.Categories(20), epsilon=1), "heads", 1),
        ("sectors", dt.rivals.Sectors(dt.Circle(360), epsilon=1), "step", -1),
        ("mixture", dt.Hybrid(LINE, epsilon=1), "second.step", 1),
        ("several", dt.SetResponse(dt.Several(9, most=2), epsilon=1), "heads", 1),
        ("projective", dt.ProjectiveResponse(dt.Categories(20), epsilon=1), "own", 1),
        ("pair", dt.TraCSC(dt.Rectangle(LINE, LINE), epsilon=2), "first.step", 1),
        ("nearest", nearest()["disk"], "step", 1),
        ("listing", nearest()["listing"], "step", 1),
    ):
        fine, wrong = edge(made, field, sign)
        yield READ, f"to the last unit: {kind}", f'the last "{field}" that keeps ε', fine
        yield REFUSED, f"to the last unit: {kind}", f'one unit of "{field}" beyond ε', wrong
    for kind, made in (
        ("hadamard", dt.HadamardResponse(dt.Categories(100), epsilon=1)),
        ("subset", dt.SubsetSelection(dt.Categories(20), epsilon=1)),
    ):
        for heads in ("0", "1", "f" * 30):
            low = changed(made, lambda device, heads=heads: device.update(heads=heads))  # type: ignore[misc]
            yield REFUSED, f"less than 1: {kind}", f"the input is the least likely: {heads} for heads", low
    last = changed(window, lambda device: device["start"].update(last=(1 << 31) - (1 << 15)))
    yield READ, "start", "the last start of 31 bits, less the random rounding", last
    labels = dt.KRR(dt.Categories(["a", None, True, 0.5, 2, -(2**53) + 1]), epsilon=1)
    yield READ, "labels", "a text, null, a truth value, a fraction, whole numbers", labels.to_json()
    far = changed(
        dt.TraCSD(dt.Disk(2.5), epsilon=2), lambda device: device.update(start=[2.5 * (1 + 4e-16), 0])
    )
    yield READ, "start", "a start on the border of a disk, by rounding outside", far
    larger = changed(dt.HadamardResponse(dt.Categories(7), epsilon=1), lambda device: device.update(order=16))
    yield REFUSED, "order", "a larger order than the categories need", larger
    yield from agreement.specifications()


# --- campaigns

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
        if _told(mark, key, b"dither campaign 1\n" + text.encode()) % 8 == 0:
            break
    before = {"key": public_part(KEY), "signature": statement}
    return _signed(text, key=key, signature=mark + _digits(0), key_before=before)


def _signature(text: str, point: int, more: int = 0) -> str:
    """Return a signature of the pinned key whose R is an encoding of (0, 1); `more` is added to S."""
    seed = hashlib.sha512(KEY.private_bytes_raw()).digest()[:32]
    scalar = int.from_bytes(seed, "little") & ((1 << 254) - 8) | 1 << 254
    mark = _digits(point)
    told = _told(mark, public_part(KEY), b"dither campaign 1\n" + text.encode())
    return mark + _digits(told * scalar % ORDER + more)


def _signed(text: str, **more: Any) -> str:
    """Return a text as it is published, with a signature that is valid."""
    message = b"dither campaign 1\n" + text.encode(errors="replace")
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


def _promise(*questions: Mechanism[Any]) -> dict[str, Any]:
    return promises(Questionnaire({str(at): one for at, one in enumerate(questions)}).guarantee)


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
    ("days", MISSING, "a term is missing"),
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
    ("repeat", "kept change", "a rule that no campaign has"),
    ("repeat", "constructor", "a rule that is a name of the language"),
    ("repeat", "once", "a rule that needs a number of days"),
    ("repeat", ["same"], "a list for a text"),
    ("name", "", "an empty name"),
    ("name", "  ", "a name of spaces"),
    ("name", "x" * 65, "a name of 65 bytes"),
    ("name", "é" * 33, "a name of 66 bytes, 33 letters"),
    ("name", 7, "a number for a text"),
    ("name", "a\u200bb", "a character that cannot be shown"),
    ("asker", "", "no asker"),
    ("asker", "a\nb", "an asker on two lines"),
    ("asker", "a" * 201, "an asker of 201 letters"),
    ("asker", None, "null for a text"),
    ("contact", MISSING, "nobody to ask"),
    ("contact", "x" * 501, "a contact of 501 bytes"),
    ("purpose", "x" * 4001, "a purpose of 4 001 bytes"),
    ("purpose", "\u0007", "a character that cannot be shown"),
    ("purpose", "a\u00a0b", "a space of another kind"),
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
    ("labels", ["a\u00a0b"], "a label with a space that is not a space"),
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
    ("reading", None, "null for an object"),
    ("reading", [], "a list for an object"),
    ("reading", {"hours": {"unit": "h"}}, "a unit of a question that is not asked"),
    ("reading", {"minutes": {}}, "nothing is declared"),
    ("reading", {"minutes": "h"}, "a text for an object"),
    ("reading", {"minutes": ["h"]}, "a list for an object"),
    ("reading", {"minutes": {"colour": "red"}}, "a declaration that nobody knows"),
    ("reading", {"minutes": {"step": 0}}, "a step of 0"),
    ("reading", {"minutes": {"step": 200}}, "a step beyond the domain"),
    ("reading", {"minutes": {"step": 0.1}}, "more than 501 answers"),
    ("reading", {"minutes": {"step": "1"}}, "a text for a number"),
    ("reading", {"minutes": {"step": None}}, "null for a step"),
    ("reading", {"minutes": {"step": 15, "unit": None}}, "null for a unit"),
    ("reading", {"minutes": {"unit": "a\nb"}}, "a unit on two lines"),
    ("reading", {"minutes": {"unit": "x" * 41}}, "a unit of 41 letters"),
    ("note", "x", "a term that nobody knows"),
    ("dither-campaign", 2, "a version that nobody knows"),
    ("dither-campaign", "1", "a text for the version"),
    ("dither-campaign", True, "a truth value for the version"),
    ("dither-campaign", MISSING, "the version is missing"),
    ("questions", [], "no questions"),
    ("questions", {}, "an object for a list"),
    ("questions", MISSING, "no questions"),
    ("questions", lambda given: given * 2, "a name that stands twice, with one text"),
    ("questions", lambda given: [*given, ["hours", given[0][1]]], "two questions with one device text"),
    ("questions", lambda given: [["", given[0][1]]], "a question without a name"),
    ("questions", lambda given: [["a\nb", given[0][1]]], "a name on two lines"),
    ("questions", lambda given: [["x" * 65, given[0][1]]], "a name of 65 bytes"),
    ("questions", lambda given: [[1, given[0][1]]], "a number for a name"),
    ("questions", lambda given: [[*given[0], 1]], "three entries for a question"),
    ("questions", lambda given: [given[0][:1]], "a name without a question"),
    ("questions", lambda given: [["minutes", json.loads(given[0][1])]], "an object for a specification"),
    ("questions", lambda given: [["minutes", given[0][1].replace("Podium", "KRR")]], "a false name"),
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


def _twins(first: Mechanism[Any], second: Mechanism[Any], *promise: Mechanism[Any]) -> str:
    """Return a campaign that asks two questions under one name, and promises for some of them."""
    both = [["minutes", first.to_json()], ["minutes", second.to_json()]]
    return _terms(lambda data: data.update(questions=both, promise=_promise(*promise)))


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
        *(READ, "reading", "a unit and a step, which devices do not use"),
        _signed(replace(plain, questions={"minutes": declared}).text),
    )
    for made in (
        dt.Podium(dt.Nullable(dt.Interval(0, 180)), epsilon=1),
        dt.OGPM(dt.Nullable(dt.Circle(360)), epsilon=1),
    ):
        missing = replace(plain, questions={"minutes": made})
        for words, reason in (({"step": 15, "unit": "h"}, "a unit and a step"), ({"unit": "h"}, "a unit")):
            kind = type(made).__name__
            yield (
                *(READ, "reading", f"{reason} of a number that may be missing, {kind}"),
                _signed(_terms(_put("reading", {"minutes": words}), missing)),
            )
    yield READ, "reading", "nothing is declared", _signed(_terms(_put("reading", {})))
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
    alone = _promise(_two()["minutes"])
    yield (
        *(REFUSED, "promise", "the promise of one question of two"),
        _signed(_terms(lambda data: data.update(promise=alone), two)),
    )
    yield (
        *(REFUSED, "promise", "the δ that the parameters state, in place of the δ of the integers"),
        _signed(_terms(_put("promise.delta", 1e-6), normal)),
    )
    for asked, reason in (
        (
            dt.TraCSC(dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1)), epsilon=1),
            "a path, of which nobody says how many places are asked",
        ),
        (dt.Polar(dt.Disk(2.5), epsilon=1), "a place, of which nobody says how many are asked"),
        (dt.PEM(dt.Text(6), epsilon=1), "a text: a collector counts none"),
        (dt.Marginals({"age": dt.Categories(3), "browser": WORDS}, epsilon=1), "a collector shows no tables"),
    ):
        told = {"questions": [["way", asked.to_json()]], "promise": _promise(asked)}
        yield REFUSED, "questions", reason, _signed(_terms(_updated(told)))
    yield (
        *(REFUSED, "reading", "a unit of a list of answers"),
        _signed(_terms(_put("reading", {"browser": {"unit": "h"}}), two)),
    )
    turned = replace(plain, questions={"angle": dt.OGPM(dt.Circle(360), epsilon=1)})
    yield (
        *(REFUSED, "reading", "a step that does not divide a circle"),
        _signed(_terms(_put("reading", {"angle": {"step": 7}}), turned)),
    )

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


def rows(cases: Iterator[Case], field: str, read: Callable[[str], Row]) -> list[dict[str, Any]]:
    """Return the cases of one kind; what is read has beside it what Python reads from it."""
    made = []
    for verdict, name, reason, text in cases:
        row: Row = {"name": name, "reason": reason, "verdict": verdict, field: text}
        made.append(row | (read(text) if verdict == READ else {}))
    return made


def text() -> str:
    """Return the whole file, one line for each text."""

    def lines(made: list[dict[str, Any]]) -> str:
        return ",\n".join(json.dumps(one) for one in made)

    asked = lines(rows(specifications(), "specification", read_specification))
    signed = lines(rows(campaigns(), "published", read_campaign))
    head = f'{{"dither": 2, "key": "{public_part(KEY)}"'
    return f'{head}, "specifications": [\n{asked}\n], "campaigns": [\n{signed}\n]}}\n'


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
