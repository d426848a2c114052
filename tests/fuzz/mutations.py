"""Changes at random: to plain data (types, sizes, nesting, letters), to text and to bytes."""

from __future__ import annotations

import copy
import json
import math
from random import Random
from typing import Any

NUMBERS: tuple[Any, ...] = (
    *(0, 1, -1, 2, 3, 7, 28.0, 0.5, -0.0, 1e-9, 1e-300, 5e-324, 1e30, 1e300, 1.7976931348623157e308, -1e300),
    *(1 << 16, 1 << 20, (1 << 24) + 1, 1 << 31, 1 << 32, (1 << 53) - 1, 1 << 53, 1 << 63, 1 << 64, 1 << 128),
    *(10**14, 10**18, -(1 << 63), 10**300, 400_000_000, math.inf, -math.inf, math.nan),
)
TEXTS = (
    *(
        "",
        "0",
        "a",
        "é",
        "\ud800",
        "\x00",
        "1e40000000",
        "1/0",
        "-1/3",
        "NaN",
        "S2000000000",
        "<u2",
        "Decoding",
    ),
    *(
        "PM",
        "OUE",
        "Optimal",
        "Interval",
        "__class__",
        "ffff" * 60,
        "f" * 5000,
        "9" * 5000,
        "interval",
        "text",
    ),
    *(
        "sliding",
        "lattice",
        "bits",
        "channel",
        "divided",
        "𝟙",
        "١",
        "EPSG:4326",
        "+proj=longlat",
        "2026-01-01",
    ),
)
OTHERS: tuple[Any, ...] = (
    None,
    True,
    False,
    [],
    {},
    [[]],
    [None],
    {"a": 1},
    [1, 2],
    [0.5],
    {"fraction": "1e99999"},
)


def value(random: Random) -> Any:
    """Return a number, a text or a small structure."""
    return copy.deepcopy(random.choice(random.choice((NUMBERS, NUMBERS, TEXTS, OTHERS))))


def places(data: Any) -> list[tuple[Any, Any]]:
    """Return every container and key of plain data."""
    found: list[tuple[Any, Any]] = []
    waiting = [data]
    while waiting:
        one = waiting.pop()
        keys: Any = one if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ()
        for key in keys:
            found.append((one, key))
            waiting.append(one[key])
    return found


def change(data: Any, random: Random) -> Any:
    """Change one to three places of plain data, in place where there is one."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        found = places(data)
        if not found:
            return value(random)
        where, key = random.choice(found)
        old = where[key]
        match random.randrange(9):
            case 0:
                del where[key]
            case 1 if isinstance(old, int | float) and not isinstance(old, bool) and math.isfinite(old):
                where[key] = random.choice((old + 1, old - 1, -old, old * 2, float(old), str(old), [old]))
            case 2 if isinstance(old, str):
                where[key] = text(old, random)
            case 3 if isinstance(where, list):
                where.append(copy.deepcopy(old))
            case 4 if isinstance(where, dict):
                where[random.choice(TEXTS)] = value(random)
            case 5:
                other, another = random.choice(found)
                where[key] = copy.deepcopy(other[another]) if another in _keys(other) else value(random)
            case 6:
                where[key] = nested(old, random.choice((1, 2, 30, 200)))
            case 7 if isinstance(old, list):
                where[key] = old * random.choice((2, 50))
            case _:
                where[key] = value(random)
    return data


def _keys(one: Any) -> Any:
    return one.keys() if isinstance(one, dict) else range(len(one))


def nested(data: Any, depth: int) -> Any:
    """Put data into so many lists."""
    for _ in range(depth):
        data = [data]
    return data


def text(old: str, random: Random) -> str:
    """Cut, repeat, insert or replace a piece of a text."""
    begin = random.randrange(len(old) + 1)
    end = min(len(old), begin + random.choice((0, 1, 1, 3, 20)))
    new = random.choice(
        ("", random.choice(TEXTS), old[begin:end] * 3, chr(random.randrange(1, 0x3000)), "[" * 50)
    )
    return old[:begin] + new + old[end:]


def bits(old: bytes, random: Random) -> bytes:
    """Flip, cut, repeat or insert bytes."""
    data = bytearray(old)
    for _ in range(random.choice((1, 1, 2, 5))):
        at = random.randrange(len(data) + 1)
        match random.randrange(5):
            case 0:
                del data[at:]
            case 1:
                data[at:at] = random.randbytes(random.choice((1, 4, 50)))
            case 2:
                data[at:at] = data[at : at + 20]
            case 3:
                data[at : at + 4] = random.choice((b"\xff" * 4, bytes(4), b"\x7f\xff\xff\xff"))
            case _ if at < len(data):
                data[at] ^= 1 << random.randrange(8)
    return bytes(data)


def dumped(data: Any) -> str:
    """Return JSON, with NaN and infinite numbers as some writers write them."""
    try:
        return json.dumps(data, ensure_ascii=False)
    except (RecursionError, ValueError):
        return "[" * 2000
