"""Oblivious HTTP [RFC 9458]: binary HTTP [RFC 9292], encrypted by HPKE [RFC 9180] to the key of a gateway.

A relay passes such requests on and reads neither them nor their answers. Known-length messages alone are
written and read; the algorithms are DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and AES-128-GCM.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from dither.errors import InvalidParameter, MalformedReport, found
from dither.foundation.randomness import SYSTEM

REQUEST: Final = "message/ohttp-req"  # the media types
RESPONSE: Final = "message/ohttp-res"
KEYS: Final = "application/ohttp-keys"
GATEWAY: Final = "/.well-known/ohttp-gateway"  # the path of a gateway [RFC 9540, 3]
GatewayKeys = Mapping[str, X25519PrivateKey]  # private keys by key configuration, as campaigns name it

_VERSION: Final = b"HPKE-v1"
_KEM: Final = b"\x00\x20"  # DHKEM(X25519, HKDF-SHA256)
_ALGORITHMS: Final = b"\x00\x01\x00\x01"  # HKDF-SHA256, AES-128-GCM
_DHKEM: Final = b"KEM" + _KEM
_SUITE: Final = b"HPKE" + _KEM + _ALGORITHMS
_KEY, _NONCE, _TAG = 16, 12, 16  # bytes of AES-128-GCM
_HEADER, _ENCAPSULATED = 7, 32  # bytes before the ciphertext: key id and algorithms, the ephemeral key
_CONFIGURATION: Final = re.compile(r"([0-9a-f]{2})0020([0-9a-f]{64})([0-9a-f]{4})((?:[0-9a-f]{8})+)")
_LEAST_REQUEST, _LEAST_RESPONSE = 1024, 512  # bytes that are encrypted, at least; more are a power of two
_ROOM: Final = 1024  # bytes that method, address and fields of a request take, at most
_FIELD: Final = re.compile(rb"[!#$%&'*+\-.^_`|~0-9a-z]+")  # the name of a field: a token in lower case
_VALUE: Final = re.compile(rb"[^\0\r\n]*")
_CUT: Final = "the message in binary HTTP is cut off"


def configuration(key: X25519PrivateKey) -> str:
    """Return the key configuration of a private key [RFC 9458, 3.1], as hexadecimal text.

    The key id is the first byte of the public key's SHA-256.
    """
    public = key.public_key().public_bytes_raw()
    identity = hashlib.sha256(public).digest()[:1]
    return (identity + _KEM + public + b"\x00\x04" + _ALGORITHMS).hex()


def configurations(keys: GatewayKeys) -> bytes:
    """Return what a gateway serves as `application/ohttp-keys`: each configuration after its length."""
    made = [bytes.fromhex(text) for text in keys]
    return b"".join(len(data).to_bytes(2) + data for data in made)


def public_key(text: object) -> X25519PublicKey:
    """Return the key of a configuration; raise InvalidParameter unless requests can be encrypted to it."""
    parts = _CONFIGURATION.fullmatch(text) if isinstance(text, str) else None
    offered = bytes.fromhex(parts[4]) if parts is not None else b""
    pairs = [offered[at : at + 4] for at in range(0, len(offered), 4)]
    if parts is None or int(parts[3], 16) != len(offered) or _ALGORITHMS not in pairs:
        raise InvalidParameter(
            "a sealing key is a key configuration of RFC 9458 with X25519, HKDF-SHA256 and AES-128-GCM, in "
            f"lower-case hexadecimal digits, not {found(text)}; `dither campaign sealing-key FILE` prints it"
        )
    made = X25519PublicKey.from_public_bytes(bytes.fromhex(parts[2]))
    try:
        X25519PrivateKey.from_private_bytes(bytes(32)).exchange(made)
    except ValueError:  # a point of small order: everybody would know what is encrypted to it
        raise InvalidParameter("this sealing key protects nothing; make one with `dither campaign`") from None
    return made


def _mac(key: bytes, message: bytes) -> bytes:
    """Return HMAC-SHA256: both steps of HKDF are one of it, for no more than 32 bytes are needed."""
    return hmac.digest(key, message, "sha256")


def _expansion(suite: bytes, label: bytes, length: int) -> bytes:
    """Return what the message of LabeledExpand begins with [RFC 9180, 4]; its info and a byte 1 follow."""
    return length.to_bytes(2) + _VERSION + suite + label


_SHARED: Final = _expansion(_DHKEM, b"shared_secret", 32)
_CIPHER: Final = _expansion(_SUITE, b"key", _KEY)
_BASE_NONCE: Final = _expansion(_SUITE, b"base_nonce", _NONCE)
_EXPORTER: Final = _expansion(_SUITE, b"exp", 32)
_ANSWERS: Final = _expansion(_SUITE, b"sec", _KEY) + b"message/bhttp response\x01"
_AGREED, _SECRET = _VERSION + _DHKEM + b"eae_prk", _VERSION + _SUITE + b"secret"


@lru_cache(256)
def _bound(header: bytes) -> bytes:
    """Return the context of the key schedule [RFC 9180, 5.1] and a byte 1, given how the request begins."""
    info = b"message/bhttp request\x00" + header
    digests = [_mac(b"", _VERSION + _SUITE + text) for text in (b"psk_id_hash", b"info_hash" + info)]
    return b"".join([b"\x00", *digests, b"\x01"])


class AnswerContext:
    """What both ends of a request share beside its cipher: the secret that its answer is encrypted with."""

    def __init__(self, encapsulated: bytes, secret: bytes) -> None:
        self._encapsulated, self._secret = encapsulated, secret

    def encrypt_answer(self, plain: bytes) -> bytes:
        """Return an answer encrypted for whoever made the request [RFC 9458, 4.4]."""
        chosen = _draw_nonce()
        key, nonce = self._answer_key(chosen)
        return chosen + AESGCM(key).encrypt(nonce, plain, None)

    def decrypt_answer(self, sealed: bytes) -> bytes:
        """Return an answer; raise MalformedReport if it was changed, or is that of another request."""
        key, nonce = self._answer_key(sealed[:_KEY])
        try:
            return AESGCM(key).decrypt(nonce, sealed[_KEY:], None)
        except (InvalidTag, ValueError):
            raise MalformedReport("the answer was changed, or is that of another request") from None

    def _answer_key(self, chosen: bytes) -> tuple[bytes, bytes]:
        secret = _mac(self._encapsulated + chosen, self._secret)
        return _mac(secret, b"key\x01")[:_KEY], _mac(secret, b"nonce\x01")[:_NONCE]


def _schedule(
    common: bytes, encapsulated: bytes, public: bytes, header: bytes
) -> tuple[AESGCM, bytes, AnswerContext]:
    """Return the cipher and the nonce of a request, and its exchange [RFC 9180, 4.1 and 5.1]."""
    shared = _mac(_mac(b"", _AGREED + common), _SHARED + encapsulated + public + b"\x01")
    secret, bound = _mac(shared, _SECRET), _bound(header)
    answers = _mac(_mac(secret, _EXPORTER + bound), _ANSWERS)[:_KEY]
    cipher, nonce = AESGCM(_mac(secret, _CIPHER + bound)[:_KEY]), _mac(secret, _BASE_NONCE + bound)[:_NONCE]
    return cipher, nonce, AnswerContext(encapsulated, answers)


def _draw_nonce() -> bytes:
    return SYSTEM.take(_KEY)


def _draw_key() -> X25519PrivateKey:
    return X25519PrivateKey.generate()


def encapsulate(plain: bytes, text: str) -> tuple[bytes, AnswerContext]:
    """Return an encrypted request [RFC 9458, 4.3], of other bytes every time, and what opens its answer.

    `text` is the key configuration of the gateway, as hexadecimal text.
    """
    key, own = public_key(text), _draw_key()
    encapsulated = own.public_key().public_bytes_raw()
    header = bytes.fromhex(text[:2]) + _KEM + _ALGORITHMS
    cipher, nonce, made = _schedule(own.exchange(key), encapsulated, key.public_bytes_raw(), header)
    return header + encapsulated + cipher.encrypt(nonce, plain, None), made


def decapsulate(sealed: bytes, keys: GatewayKeys) -> tuple[bytes, AnswerContext]:
    """Return what a request holds, and what its answer is encrypted with.

    Raise MalformedReport if no key has its id, if it names other algorithms, or if it cannot be opened. Two
    keys may have one id: both are tried.
    """
    header, encapsulated = sealed[:_HEADER], sealed[_HEADER : _HEADER + _ENCAPSULATED]
    if header[1:] != _KEM + _ALGORITHMS or len(sealed) < _HEADER + _ENCAPSULATED + _TAG:
        raise MalformedReport("the encrypted request is too short, or names other algorithms")
    for text, key in keys.items():
        if bytes.fromhex(text[:2]) != header[:1]:
            continue
        try:
            common = key.exchange(X25519PublicKey.from_public_bytes(encapsulated))
            cipher, nonce, made = _schedule(common, encapsulated, bytes.fromhex(text[6:70]), header)
            return cipher.decrypt(nonce, sealed[_HEADER + _ENCAPSULATED :], None), made
        except (InvalidTag, ValueError):  # the other key of this id, or a point of small order
            continue
    raise MalformedReport("the encrypted request cannot be opened with a key of this collector")


def sealed_size(size: int) -> int:
    """Return the most bytes of an encrypted request, given those of the body inside."""
    return _HEADER + _ENCAPSULATED + _TAG + (1 << (size + _ROOM - 1).bit_length())


def _pad(message: bytes, least: int) -> bytes:
    """Return a message with zeros behind it, up to a power of two [RFC 9292, 3.8]: its length tells less."""
    return message.ljust(max(least, 1 << (len(message) - 1).bit_length()), b"\0")


def _number(value: int) -> bytes:
    """Return a whole number in 1, 2 or 4 bytes [RFC 9000, 16]."""
    if value < 1 << 6:
        return value.to_bytes()
    return (value | 1 << 14).to_bytes(2) if value < 1 << 14 else (value | 1 << 31).to_bytes(4)


def _text(data: bytes) -> bytes:
    return _number(len(data)) + data


@lru_cache(16)
def _fields(kind: str, retry_after: str = "") -> bytes:
    """Return the header section: the content type and the seconds to wait, each if there is one."""
    lines = {b"content-type": kind, b"retry-after": retry_after}
    return _text(b"".join(_text(name) + _text(value.encode()) for name, value in lines.items() if value))


class _Parts:
    """The parts of a message in binary HTTP, read one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def number(self) -> int:
        """Return the next number, of 1, 2, 4 or 8 bytes."""
        at = self._at
        try:
            first = self._data[at]
        except IndexError:
            raise MalformedReport(_CUT) from None
        if first < 64:
            self._at = at + 1
            return first
        self._at = end = at + (1 << (first >> 6))
        if end > len(self._data):
            raise MalformedReport(_CUT)
        return int.from_bytes(self._data[at:end]) & (1 << 8 * (end - at) - 2) - 1

    def text(self) -> bytes:
        """Return the next text, which follows its length."""
        size = self.number()
        at = self._at
        self._at = end = at + size
        part = self._data[at:end]
        if len(part) != size:
            raise MalformedReport(_CUT)
        return part

    def section(self) -> bytes:
        """Return a part that may be left out where nothing follows [RFC 9292, 3.8]."""
        return self.text() if self._at < len(self._data) else b""

    def fields(self) -> dict[bytes, bytes]:
        """Return a section of fields by name; MalformedReport if a name is none, or stands twice."""
        lines = self.section()
        found: dict[bytes, bytes] = {}
        section, end = _Parts(lines), len(lines)
        while section._at < end:
            name, value = section.text(), section.text()
            if name in found or not _FIELD.fullmatch(name) or not _VALUE.fullmatch(value):
                raise MalformedReport("a field in binary HTTP is not one of HTTP, or stands twice")
            found[name] = value
        return found

    def content(self) -> bytes:
        """Return the content; what follows are trailers, which are not used, and zeros."""
        content = self.section()
        if self._at < len(self._data) and self._data[self._at]:
            self.fields()
        if self._data[self._at :] != bytes(len(self._data) - self._at):
            raise MalformedReport("binary HTTP is followed by zeros alone")
        return content


class BinaryRequest(NamedTuple):
    """A request in binary HTTP: a method, a path, and a body of a content type."""

    method: str
    path: str
    kind: str = ""
    content: bytes = b""

    def to_bytes(self, authority: str) -> bytes:
        """Return the request to a host over https, padded."""
        words = (self.method, "https", authority, self.path)
        head = b"".join(_text(word.encode()) for word in words)
        return _pad(_number(0) + head + _fields(self.kind) + _text(self.content), _LEAST_REQUEST)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the request; raise MalformedReport unless it is a whole one of known length."""
        parts = _Parts(data)
        if parts.number() != 0:
            raise MalformedReport("a request in binary HTTP of known length was expected")
        method, _, _, path = parts.text(), parts.text(), parts.text(), parts.text()
        kind = parts.fields().get(b"content-type", b"").decode("latin-1")
        return cls(method.decode("latin-1"), path.decode("latin-1"), kind, parts.content())


class BinaryResponse(NamedTuple):
    """A response in binary HTTP: a status, a body of a content type, and when to send again, in seconds."""

    status: int
    kind: str = ""
    content: bytes = b""
    retry_after: str = ""

    def to_bytes(self) -> bytes:
        """Return the response, padded: the length of a refusal is that of an acknowledgement."""
        head = _number(1) + _number(self.status) + _fields(self.kind, self.retry_after)
        return _pad(head + _text(self.content), _LEAST_RESPONSE)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the response; raise MalformedReport unless it is a whole one of known length."""
        parts = _Parts(data)
        if parts.number() != 1:
            raise MalformedReport("a response in binary HTTP of known length was expected")
        while 100 <= (status := parts.number()) < 200:  # informational ones come before
            parts.fields()
        if not 200 <= status < 600:
            raise MalformedReport("a status is a number from 200 to 599")
        fields = parts.fields()
        kind, after = (fields.get(name, b"").decode("latin-1") for name in (b"content-type", b"retry-after"))
        return cls(status, kind, parts.content(), after)
