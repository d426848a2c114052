"""Device texts (all that a device needs in order to draw) and their digests: see docs/wire.md.

A device text is canonical JSON [RFC 8785]: no white space, sorted keys, numbers as in ECMAScript. So programs
in other languages write the same bytes. Integers that may exceed 2^53 are lower-case hexadecimal text.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from dither.errors import InvalidParameter, MalformedReport, found

MOST_SAFE: Final = (1 << 53) - 1  # larger integers are not exact in the JSON of every language
DIGITS: Final = 32  # hexadecimal digits of a fingerprint: 128 bits
MOST_HEXADECIMAL: Final = 1 << 10  # the most digits of an integer in hexadecimal text
MOST_BITS: Final = 256  # the most bits of an integer that is a JSON number
_HEXADECIMAL: Final = re.compile(r"0|[1-9a-f][0-9a-f]*")


def canonical(data: object) -> str:
    """Return the canonical JSON of dictionaries, lists, texts, numbers, booleans and None.

    >>> canonical({"b": [1.0, 1e-7, 0.1], "a": None})
    '{"a":null,"b":[1,1e-7,0.1]}'
    """
    match data:
        case None | bool():
            return json.dumps(data)
        case str():
            return json.dumps(data, ensure_ascii=False)
        case int():
            if abs(data) > MOST_SAFE:
                raise InvalidParameter("integers beyond 2^53 must be written as hexadecimal text")
            return str(data)
        case float():
            return _number(data)
        case Mapping():
            # RFC 8785 orders keys by their UTF-16 code units.
            keys = sorted(data, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
            return "{" + ",".join(f"{canonical(key)}:{canonical(data[key])}" for key in keys) + "}"
        case list() | tuple():
            return "[" + ",".join(canonical(item) for item in data) + "]"
    raise InvalidParameter(f"a {type(data).__name__} cannot be written as canonical JSON")


def _number(value: float) -> str:
    """Return a double as ECMAScript's Number::toString does: the shortest digits that identify it."""
    if not math.isfinite(value):
        raise InvalidParameter("an infinite number or NaN cannot be written as canonical JSON")
    if value == 0.0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    shown = "".join(map(str, digits))
    point = len(shown) + int(exponent)  # the position of the decimal point among the digits
    if len(shown) <= point <= 21:
        text = shown + "0" * (point - len(shown))
    elif 0 < point <= 21:
        text = f"{shown[:point]}.{shown[point:]}"
    elif -6 < point <= 0:
        text = f"0.{'0' * -point}{shown}"
    else:
        rest = f".{shown[1:]}" if len(shown) > 1 else ""
        text = f"{shown[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return f"-{text}" if sign else text


def digest(text: str) -> str:
    """Return the fingerprint of a device text: the first 32 hexadecimal digits of its SHA-256."""
    try:
        return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
    except UnicodeEncodeError:
        raise InvalidParameter("a label has a character that UTF-8 cannot encode, a lone surrogate") from None


def _integer(digits: str) -> int | float:
    """Return a number without a decimal point; beyond 2^53 it is a double, as in ECMAScript."""
    number = int(digits)
    return number if abs(number) <= MOST_SAFE else float(number)


def parse(text: object) -> dict[str, Any]:
    """Return the dictionary of a device text; raise MalformedReport unless the text is canonical."""
    try:
        data = json.loads(text, parse_int=_integer) if isinstance(text, str) else None
        if isinstance(data, dict) and canonical(data) == text:
            return data
    except (ValueError, RecursionError, OverflowError, AttributeError):  # InvalidParameter is a ValueError
        pass
    raise MalformedReport("the device text is not canonical JSON")


def hexadecimal(number: int) -> str:
    """Return an integer ≥ 0 as lower-case hexadecimal text without leading zeros."""
    return f"{number:x}"


def from_hexadecimal(text: object) -> int:
    """Return the integer of a text that `hexadecimal` wrote; raise MalformedReport for any other text."""
    if not isinstance(text, str) or len(text) > MOST_HEXADECIMAL or not _HEXADECIMAL.fullmatch(text):
        raise MalformedReport(
            f"an integer was expected as lower-case hexadecimal text without leading zeros, not {found(text)}"
        )
    return int(text, 16)


def whole(number: object) -> int:
    """Return a JSON number that is an integer; raise MalformedReport if it is not one, or too long."""
    if isinstance(number, bool) or not isinstance(number, int) or number.bit_length() > MOST_BITS:
        raise MalformedReport(f"an integer of at most {MOST_BITS} bits was expected, not {found(number)}")
    return number


def real(number: object) -> float:
    """Return a JSON number as a float; raise MalformedReport if it is not a finite number."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise MalformedReport(f"a finite number was expected, not {found(number)}")
    if isinstance(number, int):
        return float(whole(number))
    if not math.isfinite(number):
        raise MalformedReport(f"a finite number was expected, not {found(number)}")
    return number
