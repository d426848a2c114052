"""Ed25519 (RFC 8032): verification of signatures, in Python's integers. Nothing here is secret, or signs.

One verdict where libraries differ: S is below the group's order; the key and R are canonical encodings; the
key is not of small order (any text has signatures under such keys); and [S]B = R + [h]A without the cofactor.
"""

from __future__ import annotations

from dither_device.text import sha512

TYPE_CHECKING = False
if TYPE_CHECKING:
    Point = tuple[int, int, int, int]  # X, Y, Z, T with x = X/Z, y = Y/Z, xy = T/Z

P = (1 << 255) - 19
ORDER = (1 << 252) + 27742317777372353535851937790883648493
D = 37095705934669439343138083508754565189542113879843219016388785533085940283555  # −121665/121666
_TWICE_D = 2 * D % P
_ROOT = pow(2, (P - 1) // 4, P)  # a square root of −1
_MASK = (1 << 255) - 1


def _add(a: Point, b: Point) -> Point:
    """Return the sum of two points [RFC 8032, 5.1.4]."""
    x1, y1, z1, t1 = a
    x2, y2, z2, t2 = b
    e, f = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    g, h = t1 * t2 * _TWICE_D % P, 2 * z1 * z2 % P
    s, m, q, r = f - e, h - g, h + g, f + e
    return s * m % P, q * r % P, m * q % P, s * r % P


def _double(a: Point) -> Point:
    x, y, z, _ = a
    e, f = x * x % P, y * y % P
    h = e + f
    s, g = h - (x + y) * (x + y) % P, e - f
    m = 2 * z * z % P + g
    return s * m % P, g * h % P, m * g % P, s * h % P


def _decode(data: bytes) -> Point | None:
    """Return the point of 32 bytes; None unless it is a canonical encoding of a point of the curve."""
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number & _MASK
    if y >= P:
        return None
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * v**3 * pow(u * v**7, (P - 5) // 8, P) % P
    if v * x * x % P != u:
        x = x * _ROOT % P
        if v * x * x % P != u:
            return None
    if x == 0 and sign:
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def _table(point: Point) -> list[Point]:
    """Return the odd multiples 1, 3, 5 … 15 of a point."""
    twice, table = _double(point), [point]
    for _ in range(7):
        table.append(_add(table[-1], twice))
    return table


def _signed_digits(scalar: int) -> list[int]:
    """Return odd digits from −15 to 15, and zeros between, lowest first: width 5, non-adjacent."""
    digits = []
    while scalar:
        digit = 0
        if scalar & 1:
            digit = scalar & 31
            digit -= 32 * (digit > 15)
            scalar -= digit
        digits.append(digit)
        scalar >>= 1
    return digits


def _negate(a: Point) -> Point:
    return -a[0] % P, a[1], a[2], -a[3] % P


def _combine(first: int, a: Point, second: int, b: Point) -> Point:
    """Return first·A + second·B, by the method of Straus."""
    rows = []
    for scalar, point in ((first, a), (second, b)):
        table = _table(point)
        rows.append((_signed_digits(scalar), table, [_negate(entry) for entry in table]))
    total: Point = (0, 1, 1, 0)
    for at in range(max(len(digits) for digits, _, _ in rows) - 1, -1, -1):
        total = _double(total)
        for digits, plus, minus in rows:
            digit = digits[at] if at < len(digits) else 0
            if digit:
                total = _add(total, plus[digit >> 1] if digit > 0 else minus[-digit >> 1])
    return total


_BASE: Point = _decode((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))  # type: ignore[assignment]


def is_sound_key(key: bytes) -> bool:
    """Return whether 32 bytes are a public key: canonical, on the curve, and not of small order."""
    point = _decode(key) if len(key) == 32 else None
    if point is None:
        return False
    x, _, _, _ = _double(_double(_double(point)))
    return x != 0  # eight times a point of small order is (0, 1)


def verify(key: bytes, signature: bytes, message: bytes) -> bool:
    """Return whether a signature of 64 bytes fits a message and a public key of 32 bytes."""
    if len(key) != 32 or len(signature) != 64 or not is_sound_key(key):
        return False
    scalar = int.from_bytes(signature[32:], "little")
    point = _decode(key)
    if scalar >= ORDER or point is None:
        return False
    reported = int.from_bytes(sha512(signature[:32] + key + message).digest(), "little") % ORDER
    x, y, z, _ = _combine(scalar, _BASE, reported, _negate(point))
    inverse = pow(z, P - 2, P)
    x, y = x * inverse % P, y * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little") == signature[:32]
