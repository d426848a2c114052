"""The texts of the protocol: canonical JSON (RFC 8785), SHA-256, hexadecimal numbers, strict readers.

Everything here is needed by a program that answers one question and ends, so it imports little: no `re`
beyond what `json` needs, no `dataclasses`, no OpenSSL.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, NoReturn

if TYPE_CHECKING:
    from hashlib import sha256, sha512
else:
    try:  # without OpenSSL: it takes 2 MB and 2 ms; `random` does the same
        from _sha2 import sha256, sha512
    except ImportError:
        try:
            from _sha256 import sha256
            from _sha512 import sha512
        except ImportError:
            from hashlib import sha256, sha512

MOST_BYTES = 1 << 22  # bytes of a text
MOST_SAFE = (1 << 53) - 1  # larger integers are not exact in the JSON of every language
MOST_DEPTH = 24
MOST_ITEMS = 1 << 21  # numbers, texts, lists and objects together

__all__ = ["AccountUnusable", "DeviceError", "Malformed", "Refused", "sha256", "sha512"]


class DeviceError(Exception):
    """What can go wrong on a device. No message ever holds a value that a person gave."""


class Malformed(DeviceError, ValueError):
    """What was read is not allowed. `word` is one of the words of docs/devices.md."""

    def __init__(self, word: str, message: str = "") -> None:
        super().__init__(f"{word}: {message}" if message else word)
        self.word = word


class UnknownDraw(Malformed):
    """A question is drawn in a way that this client does not know: it answers the others."""

    def __init__(self, message: str, draw: str = "") -> None:
        super().__init__("draw", message)
        self.draw = draw


class Refused(DeviceError):
    """A question is not answered; `reason` is one of the words of docs/account.md."""

    def __init__(self, reason: str, message: str = "") -> None:
        super().__init__(message or reason)
        self.reason = reason


class AccountUnusable(DeviceError):
    """The file of an account is missing, damaged, in use, readable by others, or cannot be written."""


def need(fine: object, word: str, message: str = "") -> None:
    """Raise Malformed unless something is as it must be."""
    if not fine:
        raise Malformed(word, message)


# --- strict readers


class Fields(dict[str, "Any"]):
    """An object of a device text that records which fields were read: unknown fields are refused."""

    __slots__ = ("unread",)

    def __init__(self, pairs: Iterable[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.unread = set(self)

    def __getitem__(self, name: str) -> Any:
        self.unread.discard(name)
        try:
            return super().__getitem__(name)
        except KeyError:
            raise Malformed("fields", f"{name} is missing") from None


def _object(pairs: list[tuple[str, Any]]) -> Fields:
    fields = Fields(pairs)
    need(len(fields) == len(pairs), "text", "a key is repeated")
    return fields


def _integer(digits: str) -> int | float:
    number = int(digits)
    return number if abs(number) <= MOST_SAFE else float(number)  # ECMAScript's rule


def _constant(name: str) -> NoReturn:
    raise Malformed("text", f"{name} is not a number of JSON")


def _load(text: object, most: int, hook: Any, integer: Any = None) -> Any:
    need(isinstance(text, str), "text", "a text was expected")
    need(len(text) < most, "text", "too long")  # type: ignore[arg-type]
    try:
        text.encode()  # type: ignore[attr-defined]  # half a pair of UTF-16 has no UTF-8
        return json.loads(text, object_pairs_hook=hook, parse_int=integer, parse_constant=_constant)  # type: ignore[arg-type]
    except Malformed:
        raise
    except (ValueError, RecursionError, OverflowError):
        raise Malformed("text", "no JSON") from None


def parse(text: object, most: int = MOST_BYTES) -> Any:
    """Return the data of a JSON text; refuse repeated keys, and very deep or large texts."""
    data = _load(text, most, _plain_object)
    try:
        if "\\u" in text:  # type: ignore[operator]  # half a pair of UTF-16 may be escaped
            json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Malformed("text", "half a pair of UTF-16") from None
    level, items = [data], 0
    for _ in range(MOST_DEPTH):
        items += len(level)
        need(items <= MOST_ITEMS, "text", "too many parts")
        inner: list[Any] = []
        for part in level:
            if isinstance(part, dict):
                inner += part.values()
            elif isinstance(part, list):
                inner += part
            elif isinstance(part, int):
                need(part.bit_length() <= 256, "text", "too long a number")
        level = inner
        if not level:
            return data
    raise Malformed("text", "too deep")


def _plain_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    need(len(data) == len(pairs), "text", "a key is repeated")
    return data


def watch(text: object) -> Fields:
    """Return the object that a canonical text holds; `finish` refuses what nobody has read of it."""
    data = _load(text, MOST_BYTES, _object, _integer)
    need(isinstance(data, Fields), "text", "an object was expected")
    try:
        need(canonical(data) == text, "text", "not canonical JSON")
    except (RecursionError, OverflowError):
        raise Malformed("text", "not canonical JSON") from None
    fields: Fields = data
    return fields


def finish(data: Any) -> None:
    """Raise Malformed if an object, at any depth, has a field that was not read."""
    level = [data]
    while level:
        inner: list[Any] = []
        for part in level:
            if isinstance(part, Fields):
                need(not part.unread, "fields", "a field that is not known")
                inner += dict.values(part)
            elif isinstance(part, list):
                inner += part
        level = inner


def real(value: object) -> float:
    """Return a finite number; texts and truth values are not read as one."""
    if type(value) is int and abs(value) <= MOST_SAFE:
        return float(value)
    need(type(value) is float and value - value == 0, "number", "a finite number was expected")
    number: float = value  # type: ignore[assignment]
    return number


def integer(value: object, least: int, most: int) -> int:
    """Return an integer within bounds; texts, fractions and truth values are not read as one."""
    need(type(value) is int and least <= value <= most, "number", f"an integer of {least} … {most}")
    number: int = value  # type: ignore[assignment]
    return number


_DIGITS = frozenset("0123456789abcdef")


def hexadecimal(value: object, digits: int) -> int:
    """Return an integer that is written as lower-case hexadecimal text without leading zeros."""
    need(isinstance(value, str) and 0 < len(value) <= digits and _DIGITS.issuperset(value), "number")
    need(value == "0" or value[0] != "0", "number", "a leading zero")  # type: ignore[index]
    return int(value, 16)  # type: ignore[call-overload,no-any-return]


def is_digits(value: object, length: int) -> bool:
    """Return whether this is a text of `count` lower-case hexadecimal digits."""
    return isinstance(value, str) and len(value) == length and _DIGITS.issuperset(value)


def listed(value: object, word: str = "fields", length: int | None = None) -> list[Any]:
    """Return a list, of a length if one is given."""
    need(isinstance(value, list) and (length is None or len(value) == length), word, "a list was expected")
    items: list[Any] = value  # type: ignore[assignment]
    return items


# --- words: what people are shown (docs/wire.md)

_REFUSED = (
    *((0x0, 0x1F), (0x7F, 0x9F), (0x200B, 0x200B), (0x2028, 0x2029), (0x2060, 0x2064), (0x206A, 0x206F)),
    *((0xD800, 0xDFFF), (0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB), (0xFFFE, 0xFFFF), (0xE0000, 0xE0FFF)),
)
_INVISIBLE = (
    *((0xA, 0xA), (0x20, 0x20), (0xA0, 0xA0), (0xAD, 0xAD), (0x61C, 0x61C), (0x1680, 0x1680)),
    *((0x2000, 0x200F), (0x202A, 0x202F), (0x205F, 0x205F), (0x2066, 0x2069), (0x3000, 0x3000)),
    (0xFE00, 0xFE0F),
)
_CLOSES = {0x202A: 0x202C, 0x202B: 0x202C, 0x202D: 0x202C, 0x202E: 0x202C}
_CLOSES |= {0x2066: 0x2069, 0x2067: 0x2069, 0x2068: 0x2069}


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)


def check_words(
    given: object, *, size: int | None = None, characters: int | None = None, lines: bool = False
) -> str:
    """Return printable words of at most `size` bytes and `most` characters; raise Malformed otherwise."""
    need(isinstance(given, str), "terms", "a text was expected")
    text: str = given  # type: ignore[assignment]
    need(characters is None or len(text) <= characters, "terms", "too long a text")
    need(size is None or len(text.encode()) <= size, "terms", "too long a text")
    if text.isascii() and text.isprintable() and text.strip():
        return text
    opened: list[int] = []
    seen = False
    for code in map(ord, text):
        if code == 0xA and lines:
            need(not opened, "terms", "a direction that is not closed")
            continue
        need(not _within(code, _REFUSED), "terms", "a character that cannot be shown")
        if code in _CLOSES:
            opened.append(_CLOSES[code])
        elif code in (0x202C, 0x2069):
            need(opened and opened.pop() == code, "terms", "a direction that was not opened")
        seen = seen or not _within(code, _INVISIBLE)
    need(seen and not opened, "terms", "nothing to see, or a direction that is not closed")
    return text


def day_text(day: int) -> str:
    """Return a day since 1970 as it is written, such as 2026-05-01."""
    from datetime import date, timedelta

    return (date(1970, 1, 1) + timedelta(days=day)).isoformat()


def is_tag(tag: object) -> bool:
    """Return whether this is a language tag such as de, pt-BR or zh-Hant."""
    if not isinstance(tag, str) or not tag.isascii():
        return False
    first, *rest = tag.split("-")
    fine = first.isalpha() and first.islower() and 2 <= len(first) <= 3
    if rest and len(rest[0]) == 4:
        fine = fine and rest[0].isalpha() and rest.pop(0).istitle()
    if rest:
        position = rest.pop(0)
        letters = len(position) == 2 and position.isalpha() and position.isupper()
        fine = fine and (letters or (len(position) == 3 and position.isdigit()))
    return fine and not rest


# --- writing


def canonical(data: object) -> str:
    """Return the canonical JSON of objects, lists, texts, numbers, truth values and None."""
    kind = type(data)
    if kind is str:
        return encode_basestring(data)  # type: ignore[arg-type]
    if data is None:
        return "null"
    if kind is bool:
        return "true" if data else "false"
    if kind is int:
        need(abs(data) <= MOST_SAFE, "number", "beyond 2^53")  # type: ignore[arg-type]
        return str(data)
    if kind is float:
        return _number(data)  # type: ignore[arg-type]
    if isinstance(data, dict):
        keys = sorted(data) if all(map(str.isascii, data)) else sorted(data, key=utf_16)
        return (
            "{"
            + ",".join([f"{encode_basestring(key)}:{canonical(dict.__getitem__(data, key))}" for key in keys])
            + "}"
        )
    need(isinstance(data, list | tuple), "text", "this cannot be written as JSON")
    return "[" + ",".join(map(canonical, data)) + "]"  # type: ignore[call-overload]


def utf_16(text: str) -> bytes:
    """Return what texts are sorted by: their UTF-16 code units, as in JavaScript."""
    return text.encode("utf-16-be", "surrogatepass")


def _number(value: float) -> str:
    """Return a double as ECMAScript's Number::toString does: the shortest digits that identify it."""
    need(value - value == 0, "number", "an infinite number")
    if value == 0:
        return "0"
    mantissa, _, exponent = repr(abs(value)).partition("e")
    before, _, after = mantissa.partition(".")
    digits = before + after
    shown = digits.lstrip("0")
    point = len(before) + int(exponent or 0) - (len(digits) - len(shown))  # its place among the digits
    shown = shown.rstrip("0")
    if len(shown) <= point <= 21:
        text = shown + "0" * (point - len(shown))
    elif 0 < point <= 21:
        text = f"{shown[:point]}.{shown[point:]}"
    elif -6 < point <= 0:
        text = f"0.{'0' * -point}{shown}"
    else:
        rest = f".{shown[1:]}" if len(shown) > 1 else ""
        text = f"{shown[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return f"-{text}" if value < 0 else text


def digest(text: str | bytes, digits: int = 32) -> str:
    """Return the first hexadecimal digits of a SHA-256."""
    return sha256(text.encode() if isinstance(text, str) else text).hexdigest()[:digits]
