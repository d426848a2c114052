"""Forty-six randomisers that carry one bit in an unusual part of an otherwise harmless report.

They were written from the description of the interface, before their author read the audit's code: they
measure what the audit looks at, not what it was built to find. Each entry of `CARRIERS` hides one bit.
`leaky` hides the value itself, so every budget is exceeded; `honest` hides a randomised response of the
claimed budget, in the same part of the same report, so the audit has no reason to complain.
"""

from __future__ import annotations

import enum
import ipaddress
import json
import math
import pathlib
import random
import struct
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

EPSILON = 1.0  # claimed by every randomiser here
INPUTS = (0, 1)

Carrier = Callable[[int, random.Random], Any]  # a bit and a source of noise in, one report out


@dataclass(frozen=True)
class Visit:
    """A report with named fields."""

    room: int
    minutes: float
    note: str = ""


@dataclass(frozen=True)
class Diary:
    """A report that contains a list of other reports."""

    owner: int
    visits: list[Visit] = field(default_factory=list)


class Pair(NamedTuple):
    """A report with two named parts."""

    code: int
    weight: float


class Colour(enum.Enum):
    """A report that is one of a few names."""

    RED = "r"
    GREEN = "g"
    BLUE = "b"
    BLACK = "k"


class Plain:
    """An object without a text of its own: its repr has an address."""

    def __init__(self, code: int, hidden: int) -> None:
        self.code = code
        self._hidden = hidden


class Slotted:
    """An object without a dictionary."""

    __slots__ = ("code", "hidden")

    def __init__(self, code: int, hidden: int) -> None:
        self.code = code
        self.hidden = hidden


def _decimal_exponent(bit: int, noise: random.Random) -> Decimal:
    return Decimal(noise.randrange(8)).quantize(Decimal("0.00" if bit else "0.0"))  # 3.0 == 3.00


def _decimal_digit(bit: int, noise: random.Random) -> Decimal:
    return Decimal(noise.randrange(10**6)) + Decimal(bit) / Decimal(10**20)


def _fraction(bit: int, noise: random.Random) -> Fraction:
    return Fraction(2 * noise.randrange(10**30) + bit, 2**90)


def _microsecond(bit: int, noise: random.Random) -> datetime:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    return start + timedelta(seconds=noise.randrange(10**7), microseconds=2 * noise.randrange(400_000) + bit)


def _timezone(bit: int, noise: random.Random) -> datetime:
    moment = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=noise.randrange(10**7))
    return moment.astimezone(timezone(timedelta(hours=bit)))  # the same instant


def _timedelta(bit: int, noise: random.Random) -> timedelta:
    return timedelta(days=noise.randrange(300), microseconds=2 * noise.randrange(10**9) + bit)


def _dataclass(bit: int, noise: random.Random) -> Visit:
    return Visit(noise.randrange(8), noise.random(), "ok" if bit else "OK")


def _nested_dataclass(bit: int, noise: random.Random) -> Diary:
    visits = [Visit(noise.randrange(8), noise.random()) for _ in range(3)]
    visits.append(Visit(noise.randrange(8), 2.0 + bit))
    return Diary(noise.randrange(4), visits)


def _named_tuple(bit: int, noise: random.Random) -> Pair:
    return Pair(noise.randrange(8), math.ldexp(noise.randrange(2**40) * 2 + bit, -41))


def _uuid(bit: int, noise: random.Random) -> uuid.UUID:
    return uuid.UUID(int=(noise.getrandbits(128) & ~(1 << 47)) | bit << 47)


def _imaginary_zero(bit: int, noise: random.Random) -> complex:
    return complex(noise.random(), -0.0 if bit else 0.0)


def _hex(bit: int, noise: random.Random) -> str:
    digits = f"{noise.getrandbits(256):064x}"
    return digits[:40] + f"{2 * noise.randrange(8) + bit:x}" + digits[41:]


def _bytes(bit: int, noise: random.Random) -> bytes:
    body = bytearray(noise.randbytes(64))
    body[33] = (body[33] & 0xEF) | bit << 4
    return bytes(body)


def _bytearray(bit: int, noise: random.Random) -> bytearray:
    body = bytearray(noise.randbytes(300))
    body[280] = (body[280] & 0xFE) | bit
    return body


def _long_list(bit: int, noise: random.Random) -> list[int]:
    parts = [noise.randrange(4) for _ in range(200)]
    parts[150] = parts[150] // 2 * 2 + bit
    return parts


def _ragged(bit: int, noise: random.Random) -> list[list[int]]:
    return [[noise.randrange(2)] * (1 + noise.randrange(3)) for _ in range(40)] + [[0] * (1 + bit)]


def _message(bit: int, noise: random.Random) -> int:
    if noise.random() < 0.5:
        raise ValueError(f"expected a value in 0…1, got {bit}")
    return noise.randrange(8)


def _error_number(bit: int, noise: random.Random) -> int:
    if noise.random() < 0.5:
        raise OSError(5 + bit, "cannot send")
    return noise.randrange(8)


def _cause(bit: int, noise: random.Random) -> int:
    if noise.random() < 0.5:
        raise RuntimeError("cannot send") from (KeyError("a") if bit else KeyError("b"))
    return noise.randrange(8)


def _key_order(bit: int, noise: random.Random) -> dict[str, int]:
    names = ("b", "a") if bit else ("a", "b")
    return {name: noise.randrange(8) for name in names}


def _missing_key(bit: int, noise: random.Random) -> dict[str, object]:
    return {"code": noise.randrange(8)} | ({"extra": None} if bit else {})


def _json_space(bit: int, noise: random.Random) -> str:
    return json.dumps({"code": noise.randrange(10**9)}, separators=(",", ": " if bit else ":"))


def _zero_sign(bit: int, noise: random.Random) -> float:
    return noise.random() if noise.random() < 0.5 else -0.0 if bit else 0.0


def _nan_bits(bit: int, noise: random.Random) -> float:
    if noise.random() < 0.5:
        return noise.random()
    value: float = struct.unpack("<d", struct.pack("<Q", 0x7FF8_0000_0000_0000 | bit << 17))[0]
    return value


def _big_integer(bit: int, noise: random.Random) -> int:
    return noise.getrandbits(200) & ~(1 << 120) | bit << 120


def _low_bit(bit: int, noise: random.Random) -> int:
    return 2 * noise.getrandbits(60) + bit


def _mantissa(bit: int, noise: random.Random) -> float:
    whole: int = struct.unpack("<Q", struct.pack("<d", 1 + noise.random()))[0]
    value: float = struct.unpack("<d", struct.pack("<Q", whole & ~(1 << 9) | bit << 9))[0]
    return value


def _set(bit: int, noise: random.Random) -> frozenset[int]:
    return frozenset(noise.sample(range(0, 1000, 2), 20)) | {2 * noise.randrange(500) + 1 for _ in range(bit)}


def _trailing_space(bit: int, noise: random.Random) -> str:
    return f"{noise.randrange(10**9):09d}" + " " * bit


def _homoglyph(bit: int, noise: random.Random) -> str:
    words = ("anna", "bert", "carl", "dora")
    return " ".join(noise.choice(words) for _ in range(60)) + (" e" if bit else " е")


def _path(bit: int, noise: random.Random) -> pathlib.PurePosixPath:
    return pathlib.PurePosixPath("reports", str(noise.randrange(10**9)), "x" if bit else "y")


def _enum(bit: int, noise: random.Random) -> Colour:
    return noise.choice((Colour.RED, Colour.BLUE) if bit else (Colour.GREEN, Colour.BLACK))


def _attribute(bit: int, noise: random.Random) -> Plain:
    return Plain(noise.randrange(8), bit)


def _slot(bit: int, noise: random.Random) -> Slotted:
    return Slotted(noise.randrange(8), bit)


def _number_type(bit: int, noise: random.Random) -> object:
    code = noise.randrange(2)
    return bool(code) if bit else code  # True == 1


def _address(bit: int, noise: random.Random) -> ipaddress.IPv6Address:
    return ipaddress.IPv6Address(noise.getrandbits(128) & ~(1 << 3) | bit << 3)


def _parity(bit: int, noise: random.Random) -> tuple[int, int]:
    mask = noise.randrange(2)
    return mask, mask ^ bit  # each part is a fair coin


def _rare(bit: int, noise: random.Random) -> int:
    return 100 + bit if noise.random() < 1 / 50 else noise.randrange(16)


def _far_parity(bit: int, noise: random.Random) -> list[int]:
    parts = [noise.randrange(2) for _ in range(24)]
    parts[19] = parts[2] ^ parts[11] ^ bit  # any two of the three are independent of the bit
    return parts


def _complex_array(bits: list[int], noise: random.Random) -> Any:
    return np.array([complex(noise.random(), 2 * noise.randrange(10**6) + bit) for bit in bits])


def _text_array(bits: list[int], noise: random.Random) -> Any:
    return np.array([f"{noise.getrandbits(120):030x}{'-+'[bit]}{noise.getrandbits(40):010x}" for bit in bits])


def _masked(bits: list[int], noise: random.Random) -> Any:
    return np.ma.array([noise.randrange(8) for _ in bits], mask=[bool(bit) for bit in bits])


def _single_precision(bits: list[int], noise: random.Random) -> Any:
    whole = np.array([1 + noise.random() for _ in bits], dtype=np.float32).view(np.uint32)
    return ((whole & ~np.uint32(1)) | np.array(bits, dtype=np.uint32)).view(np.float32)


def _wide_rows(bits: list[int], noise: random.Random) -> Any:
    rows = np.random.default_rng(noise.getrandbits(64)).integers(0, 16, (len(bits), 400))
    rows[:, 333] = rows[:, 333] // 2 * 2 + bits
    return rows


def _structured(bits: list[int], noise: random.Random) -> Any:
    rows = [(noise.randrange(8), noise.random(), 7 + bit) for bit in bits]
    return np.array(rows, dtype=[("room", "i4"), ("minutes", "f8"), ("flag", "u1")])


def _moments(bits: list[int], noise: random.Random) -> Any:
    return np.array([noise.randrange(10**17) * 2 + bit for bit in bits], dtype="datetime64[ns]")


@dataclass(frozen=True)
class Leak:
    """One hiding place. `batch` carriers return an array of all reports, the others one report each."""

    carrier: Any
    batch: bool = False
    raises: bool = False  # the report may be an exception: the audit must ask for each report separately

    def randomiser(self, hidden: Callable[[int, random.Random], int], seed: int) -> Callable[[Any], Any]:
        """Return a callable for `dither.audit_function` that hides `hidden(value)` in its reports."""
        noise = random.Random(seed)
        if self.raises:
            return lambda value: self.carrier(hidden(int(value), noise), noise)
        if self.batch:
            return lambda values: self.carrier([hidden(int(value), noise) for value in values], noise)
        return lambda values: [self.carrier(hidden(int(value), noise), noise) for value in values]


def leaky(name: str, seed: int = 1) -> Callable[[Any], Any]:
    """Return the randomiser that hides the value itself."""
    return CARRIERS[name].randomiser(lambda value, noise: value, seed)


def honest(name: str, seed: int = 1) -> Callable[[Any], Any]:
    """Return the randomiser that hides a randomised response of the claimed budget in the same part."""
    keep = math.exp(EPSILON) / (1 + math.exp(EPSILON))
    return CARRIERS[name].randomiser(lambda value, noise: value ^ (noise.random() >= keep), seed)


def _table(carriers: Sequence[Carrier]) -> dict[str, Leak]:
    return {carrier.__name__.lstrip("_").replace("_", " "): Leak(carrier) for carrier in carriers}


CARRIERS: dict[str, Leak] = {
    **_table(
        (
            _decimal_exponent, _decimal_digit, _fraction, _microsecond, _timezone, _timedelta, _dataclass,
            _nested_dataclass, _named_tuple, _uuid, _imaginary_zero, _hex, _bytes, _bytearray, _long_list,
            _ragged, _key_order, _missing_key, _json_space, _zero_sign, _nan_bits, _big_integer, _low_bit,
            _mantissa, _set, _trailing_space, _homoglyph, _path, _enum, _attribute, _slot, _number_type,
            _address, _parity, _rare, _far_parity,
        )
    ),
    "message": Leak(_message, raises=True),
    "error number": Leak(_error_number, raises=True),
    "cause": Leak(_cause, raises=True),
    "complex array": Leak(_complex_array, batch=True),
    "text array": Leak(_text_array, batch=True),
    "masked": Leak(_masked, batch=True),
    "single precision": Leak(_single_precision, batch=True),
    "wide rows": Leak(_wide_rows, batch=True),
    "structured": Leak(_structured, batch=True),
    "moments": Leak(_moments, batch=True),
}  # fmt: skip
