"""Device texts in canonical JSON: their members, declared once for the writer and the reader; digests.

A device text contains all that a device needs to draw a report: see docs/wire.md. It is canonical JSON [RFC
8785]: no white space, sorted keys, numbers as in ECMAScript. So programs in other languages write the same
bytes. Integers that may exceed 2^53 are lower-case hexadecimal text.

A class declares in `fields` how its objects are written:

    fields = Fields(size=WHOLE, own=HEXADECIMAL, chances=list_of(REAL))

writes {"size": 3, "own": "ff", "chances": [0.5, 0.25]} from the attributes with these names, and reads such
data as the arguments of the class. Reading is strict: it raises MalformedReport, or an error that the caller
converts to it, such as KeyError for a missing member.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar, Final, NamedTuple, Protocol, TypeVar

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
                raise InvalidParameter(
                    "expected integers of at most 2^53 for canonical JSON, got a larger one; write it "
                    "as hexadecimal text"
                )
            return str(data)
        case float():
            return _number(data)
        case Mapping():
            # RFC 8785 orders keys by their UTF-16 code units.
            keys = sorted(data, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
            return "{" + ",".join(f"{canonical(key)}:{canonical(data[key])}" for key in keys) + "}"
        case list() | tuple():
            return "[" + ",".join(canonical(item) for item in data) + "]"
    raise InvalidParameter(
        f"expected texts, numbers, lists and mappings for canonical JSON, got {type(data).__name__}; "
        "convert it first"
    )


def _number(value: float) -> str:
    """Return a double as ECMAScript's Number::toString does: the shortest digits that identify it."""
    if not math.isfinite(value):
        raise InvalidParameter(
            "expected finite numbers for canonical JSON, got NaN or an infinity; leave it out"
        )
    if value == 0.0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    shown = "".join(map(str, digits))
    point = len(shown) + int(exponent)  # digits before the decimal point
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
        raise InvalidParameter(
            "expected labels that UTF-8 can encode, got one with a lone surrogate; replace that character"
        ) from None


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
    raise MalformedReport(
        "expected a device text in canonical JSON; pass the text of question.device_text without changes"
    )


def hexadecimal(number: int) -> str:
    """Return an integer ≥ 0 as lower-case hexadecimal text without leading zeros."""
    return f"{number:x}"


def from_hexadecimal(text: object) -> int:
    """Return the integer of a text that `hexadecimal` wrote; raise MalformedReport for any other text."""
    if not isinstance(text, str) or len(text) > MOST_HEXADECIMAL or not _HEXADECIMAL.fullmatch(text):
        raise MalformedReport(
            f"expected an integer as lower-case hexadecimal text without leading zeros, got {found(text)}"
        )
    return int(text, 16)


def whole(number: object) -> int:
    """Return a JSON number that is an integer; raise MalformedReport if it is not one, or too long."""
    if isinstance(number, bool) or not isinstance(number, int) or number.bit_length() > MOST_BITS:
        raise MalformedReport(f"expected an integer of at most {MOST_BITS} bits, got {found(number)}")
    return number


def real(number: object) -> float:
    """Return a JSON number as a float; raise MalformedReport if it is not a finite number."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise MalformedReport(f"expected a finite number, got {found(number)}")
    if isinstance(number, int):
        return float(whole(number))
    if not math.isfinite(number):
        raise MalformedReport(f"expected a finite number, got {found(number)}")
    return number


Data = Mapping[str, Any]  # members of a text, or arguments by name


class Member(NamedTuple):
    """The members of a text that describe one argument of a class.

    `write` takes the argument's name and the object, and returns members. `read` takes the name, all members
    and the known arguments: those that were read before and those that the caller adds, such as the domain.
    It returns arguments.
    """

    write: Callable[[str, Any], Data]
    read: Callable[[str, Data, Data], Data]


class Codec(NamedTuple):
    """Two functions that write a value as JSON-compatible data and read it."""

    encode: Callable[[Any], object]
    decode: Callable[[Any], object]

    def member(self, label: str = "", *, attribute: str = "") -> Member:
        """Return a member with this value. By default the argument's name is its label and attribute."""
        return Member(
            lambda name, value: {label or name: self.encode(getattr(value, attribute or name))},
            lambda name, data, known: {name: self.decode(data[label or name])},
        )


class Fields:
    """The parts of a text. They are read in this order."""

    def __init__(self, **parts: Member | Codec) -> None:
        self.parts = {
            name: part.member() if isinstance(part, Codec) else part for name, part in parts.items()
        }

    def write(self, value: object) -> dict[str, Any]:
        """Return the members of an object."""
        return {
            member: data
            for name, part in self.parts.items()
            for member, data in part.write(name, value).items()
        }

    def read(self, data: Data, **known: object) -> dict[str, Any]:
        """Return the arguments that the members describe."""
        arguments: dict[str, Any] = {}
        for name, part in self.parts.items():
            arguments |= part.read(name, data, {**known, **arguments})
        return arguments


WHOLE: Final = Codec(lambda value: value, whole)
REAL: Final = Codec(lambda value: value, real)
HEXADECIMAL: Final = Codec(hexadecimal, from_hexadecimal)
ANY: Final = Codec(lambda value: value, lambda data: data)  # the class checks its argument


def list_of(codec: Codec, length: int | None = None) -> Codec:
    """Return the codec of a tuple that is written as a list; check `length` if it is given."""

    def decode(data: Sequence[object]) -> tuple[object, ...]:
        if length is not None and len(data) != length:
            raise ValueError(length)
        return tuple(codec.decode(item) for item in data)

    return Codec(lambda values: [codec.encode(value) for value in values], decode)


def nullable(codec: Codec) -> Codec:
    """Return the codec of a value that may be None, written as null."""
    return Codec(
        lambda value: None if value is None else codec.encode(value),
        lambda data: None if data is None else codec.decode(data),
    )


class Recorded(Protocol):
    """An object whose class declares how it is written."""

    fields: ClassVar[Fields]


class Tagged(Protocol):
    """One of several classes, distinguished by `kind` in the text."""

    fields: ClassVar[Fields]
    kind: ClassVar[str]


OneOf = TypeVar("OneOf", bound=Tagged)


def inline(kind: type[Recorded], fields: Fields | None = None) -> Member:
    """Return a member for an object whose members are written among the others; `fields` replace its own."""
    own = fields or kind.fields
    return Member(
        lambda name, value: own.write(getattr(value, name)),
        lambda name, data, known: {name: kind(**own.read(data, **known))},
    )


def record(kind: type[Recorded], fields: Fields | None = None) -> Member:
    """Return a member for an object that is written as a dictionary; `fields` replace its own."""
    members = inline(kind, fields)
    return Member(
        lambda name, value: {name: members.write(name, value)},
        lambda name, data, known: members.read(name, data[name], known),
    )


def write_tagged(value: Tagged, tag: str = "kind") -> dict[str, Any]:
    """Return the members of an object, and its kind."""
    return {tag: value.kind, **value.fields.write(value)}


def read_tagged(
    data: Data, known: Data, kinds: Sequence[type[OneOf]], wrong: str = "", tag: str = "kind"
) -> OneOf:
    """Return an object of the class of this kind, or raise an error that begins with `wrong`."""
    for kind in kinds:
        if data[tag] == kind.kind:
            return kind(**kind.fields.read(data, **known))
    if not wrong:
        raise KeyError(tag)
    raise MalformedReport(f"{wrong}, not {found(data[tag])}")


def one_of(*kinds: type[Tagged], member: str = "", wrong: str = "") -> Member:
    """Return a member for an object of one of several classes: a dictionary with the member "kind"."""
    return Member(
        lambda name, value: {member or name: write_tagged(getattr(value, name))},
        lambda name, data, known: {name: read_tagged(data[member or name], known, kinds, wrong)},
    )


def constant(text: str, wrong: str) -> Member:
    """Return a member that is always this text."""

    def read(name: str, data: Data, known: Data) -> Data:
        if data[name] != text:
            raise MalformedReport(f"{wrong} must be {text!r}, not {found(data[name])}")
        return {}

    return Member(lambda name, value: {name: text}, read)


def condition(check: Callable[[Data, Data], None]) -> Member:
    """Return a member that only checks the others and the known arguments; it writes nothing."""

    def read(name: str, data: Data, known: Data) -> Data:
        check(data, known)
        return {}

    return Member(lambda name, value: {}, read)


def from_domain(get: Callable[[Any], object]) -> Member:
    """Return a member whose argument is computed from the domain; it writes nothing."""
    return Member(lambda name, value: {}, lambda name, data, known: {name: get(known["domain"])})


def as_indices(rows: Sequence[Sequence[int]]) -> tuple[list[int], list[list[int]]]:
    """Return the different numbers of some rows, the largest first, and the rows as indices into them."""
    different = sorted({number for row in rows for number in row}, reverse=True)
    index = {number: position for position, number in enumerate(different)}
    return different, [[index[number] for number in row] for row in rows]
