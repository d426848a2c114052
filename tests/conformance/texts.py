"""Vectors of texts with a verdict: specifications and signed campaigns that every device reads, or refuses.

`python -m tests.conformance.texts` writes clients/conformance/2/texts.json anew. What is read has beside it
what was read from it. The file `refused.json` has more specifications that are refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

import dither as dt
from dither.collection.secrets import public_part
from dither.core.question import as_question
from dither.core.wire import read_named
from dither.errors import DitherError
from dither.foundation.canonical import digest
from dither.mechanisms.mechanism import Mechanism
from tests.conformance import agreement
from tests.conformance.campaigns import Case, Row, campaigns, read_campaign
from tests.conformance.draws import nearest
from tests.conformance.refused import FOLDER, LINE, WORDS
from tests.conformance.signatures import KEY
from tests.conformance.term_ends import LATER, read_later
from tests.support.travel import changed

FILE: Final = FOLDER / "texts.json"
READ, REFUSED = "read", "refused"


def read_specification(text: str) -> Row:
    """Return what a device reads from a specification; raise DitherError if it refuses it."""
    return {"fingerprint": read_named(text).fingerprint}


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
        ("polynomial", dt.SetResponse(dt.Several(1000, most=4), epsilon=1), "heads", 1),
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


def rows(cases: Iterator[Case], field: str, read: Callable[[str], Row]) -> list[dict[str, Any]]:
    """Return the cases of one kind; what is read has beside it what Python reads from it."""
    made = []
    for verdict, name, reason, text in cases:
        row: Row = {"name": name, "reason": reason, "verdict": verdict, field: text}
        made.append(row | ((read_later if name == LATER else read)(text) if verdict == READ else {}))
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
