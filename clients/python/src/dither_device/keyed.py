"""Randomness that a secret key determines, for answers that must not change: as `dt.Memoised` makes them.

HMAC-SHA-256 of the context, and then ChaCha20 (RFC 8439, with a nonce of zeros), so that `dt.Account` and
this client give one answer to one value, with the same file.
"""

from __future__ import annotations

from struct import pack, unpack

from dither_device.text import sha256

_WORD = 0xFFFFFFFF
_CONSTANTS = unpack("<4I", b"expand 32-byte k")
_BUFFER = 4096  # bytes that are drawn at once; the rest is not used by the next draw
_ROUND = (
    *((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)),
    *((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)),
)


def _block(key: tuple[int, ...], counter: int) -> bytes:
    """Return 64 bytes of ChaCha20's keystream [RFC 8439, 2.3]."""
    begin = [*_CONSTANTS, *key, counter & _WORD, counter >> 32 & _WORD, 0, 0]
    x = begin[:]
    for _ in range(10):
        for a, b, c, d in _ROUND:
            for left, right, by in ((a, d, 16), (c, b, 12), (a, d, 8), (c, b, 7)):
                x[left] = x[left] + x[b if left == a else d] & _WORD
                turned = x[right] ^ x[left]
                x[right] = (turned << by | turned >> 32 - by) & _WORD
    return pack("<16I", *((one + two) & _WORD for one, two in zip(x, begin, strict=True)))


def hmac(key: bytes, message: bytes) -> bytes:
    """Return HMAC-SHA-256 [RFC 2104]; the key has at most 64 bytes."""
    padded = key + bytes(64 - len(key))
    inner = sha256(bytes(byte ^ 0x36 for byte in padded) + message).digest()
    return sha256(bytes(byte ^ 0x5C for byte in padded) + inner).digest()


class Keyed:
    """A function that returns the next bytes, the same ones for the same key and context."""

    def __init__(self, key: bytes, context: bytes) -> None:
        self._key = unpack("<8I", hmac(key, b"dither keyed source\0" + context))
        self._next = 0  # the first byte of the keystream that is not taken
        self._at = self._end = 0  # the rest of the buffer

    def __call__(self, size: int) -> bytes:
        if size > _BUFFER:
            begin, self._next = self._next, self._next + size
            return self._stream(begin, size)
        if self._at + size > self._end:
            self._at, self._end = self._next, self._next + _BUFFER
            self._next = self._end
        begin, self._at = self._at, self._at + size
        return self._stream(begin, size)

    def _stream(self, begin: int, size: int) -> bytes:
        first = begin >> 6
        blocks = [_block(self._key, n) for n in range(first, (begin + size + 63) >> 6)]
        return b"".join(blocks)[begin - 64 * first :][:size]


def source_of(key: bytes, asker: str, name: str, fingerprint: str, mark: bytes, purpose: bytes) -> Keyed:
    """Return the source of an answer per value. Each part is preceded by its length."""
    parts = fingerprint.encode(), f"{len(asker)} {asker} {name}".encode(), mark
    sized = (len(part).to_bytes(8, "little") + part for part in parts)
    return Keyed(key, purpose + b"".join(sized))


REPORT, MARK = b"memoised 2\0", b"told 1\0"
