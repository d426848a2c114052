"""Oblivious HTTP [RFC 9458]: binary HTTP [RFC 9292], encrypted by HPKE [RFC 9180] to the key of a gateway.

Messages have a known length; the algorithms are DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and AES-128-GCM, of
the package `cryptography`, imported for the first encryption. A collector's gateway uses the same key
schedule and the same parser.
"""

from __future__ import annotations

import re
from functools import lru_cache

from dither_device.campaign import check_sealing_key
from dither_device.exchange import split_address
from dither_device.text import Malformed, need

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

REQUEST, RESPONSE = "message/ohttp-req", "message/ohttp-res"  # the media types
GATEWAY = "/.well-known/ohttp-gateway"  # the path of a gateway [RFC 9540, 3]
KEM, ALGORITHMS = b"\0\x20", b"\0\x01\0\x01"  # DHKEM(X25519, HKDF-SHA256); HKDF-SHA256, AES-128-GCM

_VERSION = b"HPKE-v1"
_DHKEM, _SUITE = b"KEM" + KEM, b"HPKE" + KEM + ALGORITHMS
_KEY, _NONCE = 16, 12  # bytes of AES-128-GCM
_LEAST_REQUEST = 1024  # bytes that are encrypted, at least; more are a power of two
_FIELD = re.compile(rb"[!#$%&'*+\-.^_`|~0-9a-z]+")  # the name of a field: a token in lower case
_VALUE = re.compile(rb"[^\0\r\n]*")
_CUT = "the message in binary HTTP is cut off"


# --- binary HTTP


def pad(message: bytes, least: int) -> bytes:
    """Return a message with zeros behind it, up to a power of two [RFC 9292, 3.8]: for privacy."""
    return message.ljust(max(least, 1 << (len(message) - 1).bit_length()), b"\0")


def number(value: int) -> bytes:
    """Return an integer in 1, 2 or 4 bytes [RFC 9000, 16]."""
    if value < 1 << 6:
        return value.to_bytes(1, "big")
    return (value | 1 << 14).to_bytes(2, "big") if value < 1 << 14 else (value | 1 << 31).to_bytes(4, "big")


def sized(data: bytes) -> bytes:
    """Return a text after its length."""
    return number(len(data)) + data


@lru_cache(16)
def fields(kind: str, retry_after: str = "") -> bytes:
    """Return the header section: the content type and the seconds to wait, each if there is one."""
    lines = {b"content-type": kind, b"retry-after": retry_after}
    return sized(b"".join(sized(name) + sized(value.encode()) for name, value in lines.items() if value))


def binary_request(method: str, address: str, form: str, body: bytes) -> bytes:
    """Return a request to an address in binary HTTP, padded."""
    _, host, path = split_address(address)
    return write_request(method, host, path, form, body)


def write_request(method: str, host: str, path: str, form: str, body: bytes) -> bytes:
    """Return a request to a host over https in binary HTTP, padded to 1 024 bytes or more."""
    head = b"".join(sized(word.encode()) for word in (method, "https", host, path))
    return pad(number(0) + head + fields(form) + sized(body), _LEAST_REQUEST)


class Parts:
    """The parts of a message in binary HTTP, read one after the other; Malformed if it is not one."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def number(self) -> int:
        """Return the next number, of 1, 2, 4 or 8 bytes."""
        at = self._at
        try:
            first = self._data[at]
        except IndexError:
            raise Malformed("text", _CUT) from None
        if first < 64:
            self._at = at + 1
            return first
        self._at = end = at + (1 << (first >> 6))
        if end > len(self._data):
            raise Malformed("text", _CUT)
        return int.from_bytes(self._data[at:end], "big") & (1 << 8 * (end - at) - 2) - 1

    def text(self) -> bytes:
        """Return the next text, after its length."""
        size = self.number()
        at = self._at
        self._at = end = at + size
        part = self._data[at:end]
        if len(part) != size:
            raise Malformed("text", _CUT)
        return part

    def section(self) -> bytes:
        """Return a part that may be left out where nothing follows [RFC 9292, 3.8]."""
        return self.text() if self._at < len(self._data) else b""

    def fields(self) -> dict[bytes, bytes]:
        """Return a section of fields by name; Malformed if a name is invalid or repeated."""
        lines = self.section()
        found: dict[bytes, bytes] = {}
        section, end = Parts(lines), len(lines)
        while section._at < end:
            name, value = section.text(), section.text()
            if name in found or not _FIELD.fullmatch(name) or not _VALUE.fullmatch(value):
                raise Malformed("text", "a field in binary HTTP is invalid or repeated")
            found[name] = value
        return found

    def content(self) -> bytes:
        """Return the content; trailers (not used) and zeros follow."""
        content = self.section()
        if self._at < len(self._data) and self._data[self._at]:
            self.fields()
        if self._data[self._at :] != bytes(len(self._data) - self._at):
            raise Malformed("text", "binary HTTP is followed by something else than zeros")
        return content


def binary_response(data: bytes) -> tuple[int, dict[str, str], bytes]:
    """Return status, fields and content of a response; raise Malformed unless it is a complete one."""
    parts = Parts(data)
    need(parts.number() == 1, "text", "a response in binary HTTP of known length was expected")
    while 100 <= (status := parts.number()) < 200:  # informational ones come before
        parts.fields()
    need(200 <= status < 600, "text", "a status is a number from 200 to 599")
    found = {name.decode("latin-1"): value.decode("latin-1") for name, value in parts.fields().items()}
    return status, found, parts.content()


# --- HPKE in base mode


def mac(key: bytes, message: bytes) -> bytes:
    """Return HMAC-SHA256: both steps of HKDF are one of it, because no more than 32 bytes are needed."""
    from hmac import digest

    return digest(key, message, "sha256")


def _expansion(suite: bytes, label: bytes, length: int) -> bytes:
    """Return how the message of LabeledExpand begins [RFC 9180, 4]; its info and a byte 1 follow."""
    return length.to_bytes(2, "big") + _VERSION + suite + label


_SHARED = _expansion(_DHKEM, b"shared_secret", 32)
_CIPHER = _expansion(_SUITE, b"key", _KEY)
_BASE_NONCE = _expansion(_SUITE, b"base_nonce", _NONCE)
_EXPORTER = _expansion(_SUITE, b"exp", 32)
_ANSWERS = _expansion(_SUITE, b"sec", _KEY) + b"message/bhttp response\x01"
_AGREED, _SECRET = _VERSION + _DHKEM + b"eae_prk", _VERSION + _SUITE + b"secret"


@lru_cache(256)
def _bound(header: bytes) -> bytes:
    """Return the context of the key schedule [RFC 9180, 5.1] and a byte 1, given how the request begins."""
    info = b"message/bhttp request\0" + header
    digests = [mac(b"", _VERSION + _SUITE + text) for text in (b"psk_id_hash", b"info_hash" + info)]
    return b"".join([b"\0", *digests, b"\x01"])


class AnswerKeys:
    """The secret that both ends of a request share for its answer [RFC 9458, 4.4]."""

    __slots__ = ("_encapsulated", "_secret")

    def __init__(self, encapsulated: bytes, secret: bytes) -> None:
        self._encapsulated, self._secret = encapsulated, secret

    def cipher(self, chosen: bytes) -> tuple[Any, bytes]:
        """Return the cipher and the nonce of an answer that begins with 16 chosen bytes."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        secret = mac(self._encapsulated + chosen, self._secret)
        return AESGCM(mac(secret, b"key\x01")[:_KEY]), mac(secret, b"nonce\x01")[:_NONCE]

    def open(self, answer: bytes) -> bytes:
        """Return an answer's contents; raise Malformed if it was changed, or belongs to another request."""
        cipher, nonce = self.cipher(answer[:_KEY])
        try:
            plain: bytes = cipher.decrypt(nonce, answer[_KEY:], None)
        except Exception:  # a tag that does not fit, or too few bytes
            raise Malformed("text", "the answer was changed, or belongs to another request") from None
        return plain


def schedule(
    common: bytes, encapsulated: bytes, public: bytes, header: bytes
) -> tuple[Any, bytes, AnswerKeys]:
    """Return the cipher and the nonce of a request, and the keys of its answer [RFC 9180, 4.1 and 5.1]."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    shared = mac(mac(b"", _AGREED + common), _SHARED + encapsulated + public + b"\x01")
    secret, bound = mac(shared, _SECRET), _bound(header)
    answers = mac(mac(secret, _EXPORTER + bound), _ANSWERS)[:_KEY]
    cipher, nonce = AESGCM(mac(secret, _CIPHER + bound)[:_KEY]), mac(secret, _BASE_NONCE + bound)[:_NONCE]
    return cipher, nonce, AnswerKeys(encapsulated, answers)


def encapsulate(configuration: str, plain: bytes, ephemeral: bytes | None = None) -> tuple[bytes, AnswerKeys]:
    """Return an encrypted request [RFC 9458, 4.3], of other bytes every time, and what opens its answer.

    `configuration` describes the gateway's key, as hexadecimal text. `ephemeral` is a private key, for
    vectors only.
    """
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

    key = check_sealing_key(configuration)
    own = X25519PrivateKey.from_private_bytes(ephemeral) if ephemeral else X25519PrivateKey.generate()
    encapsulated = own.public_key().public_bytes_raw()
    try:
        common = own.exchange(X25519PublicKey.from_public_bytes(key))
    except ValueError:
        raise Malformed("key", "everybody knows what is encrypted to it") from None
    header = bytes.fromhex(configuration[:2]) + KEM + ALGORITHMS
    cipher, nonce, answers = schedule(common, encapsulated, key, header)
    return header + encapsulated + cipher.encrypt(nonce, plain, None), answers


def can_seal() -> bool:
    """Return whether requests can be encrypted here: `cryptography` is installed."""
    try:
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        AESGCM(X25519PrivateKey.generate().private_bytes_raw())
    except Exception:
        return False
    return True
