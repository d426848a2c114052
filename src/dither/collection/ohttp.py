"""The gateway's half of Oblivious HTTP [RFC 9458]; the device's half is `dither_device.ohttp`.

A relay passes requests on and reads neither them nor their answers. Both halves share one key schedule and
one parser of binary HTTP.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final, NamedTuple, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from dither.errors import InvalidParameter, MalformedReport, found
from dither.foundation.randomness import SYSTEM
from dither_device import ohttp as device
from dither_device.campaign import check_sealing_key
from dither_device.ohttp import ALGORITHMS, GATEWAY, KEM, REQUEST, RESPONSE
from dither_device.text import Malformed

__all__ = ["GATEWAY", "REQUEST", "RESPONSE"]  # imported; the names below are public, too
KEYS: Final = "application/ohttp-keys"
GatewayKeys = Mapping[str, X25519PrivateKey]  # private keys by key configuration, as campaigns name it

_TAG, _CHOSEN = 16, 16  # bytes of a tag, and of the nonce of an answer
_HEADER, _ENCAPSULATED = 7, 32  # bytes before the ciphertext: key id and algorithms, the ephemeral key
_LEAST_RESPONSE: Final = 512  # smallest number of encrypted bytes; larger numbers are powers of two
_ROOM: Final = 1024  # largest number of bytes of method, address and fields of a request


def configuration(key: X25519PrivateKey) -> str:
    """Return the key configuration of a private key [RFC 9458, 3.1], as hexadecimal text.

    The key id is the first byte of the public key's SHA-256.
    """
    public = key.public_key().public_bytes_raw()
    identity = hashlib.sha256(public).digest()[:1]
    return (identity + KEM + public + b"\x00\x04" + ALGORITHMS).hex()


def configurations(keys: GatewayKeys) -> bytes:
    """Return the body of `application/ohttp-keys`: each configuration after its length."""
    made = [bytes.fromhex(text) for text in keys]
    return b"".join(len(data).to_bytes(2) + data for data in made)


def public_key(text: object) -> X25519PublicKey:
    """Return the key of a configuration; raise InvalidParameter unless requests can be encrypted to it."""
    try:
        return X25519PublicKey.from_public_bytes(check_sealing_key(text))
    except Malformed:
        raise InvalidParameter(
            "expected a sealing key, a key configuration of RFC 9458 with X25519, HKDF-SHA256 and "
            "AES-128-GCM in lower-case hexadecimal digits, not of a key of small order, got "
            f"{found(text)}; `dither campaign sealing-key FILE` prints it"
        ) from None


class AnswerContext:
    """One end of a request, with the secret that encrypts its answer."""

    def __init__(self, keys: device.AnswerKeys) -> None:
        self._keys = keys

    def encrypt_answer(self, plain: bytes) -> bytes:
        """Return an answer encrypted for the device that made the request [RFC 9458, 4.4]."""
        chosen = _draw_nonce()
        cipher, nonce = self._keys.cipher(chosen)
        sealed: bytes = cipher.encrypt(nonce, plain, None)
        return chosen + sealed

    def decrypt_answer(self, sealed: bytes) -> bytes:
        """Return an answer; raise MalformedReport if it was changed, or belongs to another request."""
        try:
            return self._keys.open(sealed)
        except Malformed as error:
            raise MalformedReport(str(error)) from None


def _draw_nonce() -> bytes:
    return SYSTEM.take(_CHOSEN)


def encapsulate(plain: bytes, text: str, ephemeral: bytes | None = None) -> tuple[bytes, AnswerContext]:
    """Return an encrypted request [RFC 9458, 4.3], drawn anew, and the context that decrypts its answer.

    `text` is the key configuration of the gateway, as hexadecimal text; `ephemeral` is for vectors only.
    """
    public_key(text)
    sealed, keys = device.encapsulate(text, plain, ephemeral)
    return sealed, AnswerContext(keys)


def decapsulate(sealed: bytes, keys: GatewayKeys) -> tuple[bytes, AnswerContext]:
    """Return the contents of a request, and the context that encrypts its answer.

    Raise MalformedReport if no key has its id, if it names other algorithms, or if decryption fails. Two keys
    may have the same id: both are tried.
    """
    header, encapsulated = sealed[:_HEADER], sealed[_HEADER : _HEADER + _ENCAPSULATED]
    if header[1:] != KEM + ALGORITHMS or len(sealed) < _HEADER + _ENCAPSULATED + _TAG:
        raise MalformedReport("the encrypted request is too short, or names other algorithms")
    for text, key in keys.items():
        if bytes.fromhex(text[:2]) != header[:1]:
            continue
        try:
            common = key.exchange(X25519PublicKey.from_public_bytes(encapsulated))
            cipher, nonce, keys_of_answer = device.schedule(
                common, encapsulated, bytes.fromhex(text[6:70]), header
            )
            plain = cipher.decrypt(nonce, sealed[_HEADER + _ENCAPSULATED :], None)
            return plain, AnswerContext(keys_of_answer)
        except (InvalidTag, ValueError):  # the other key of this id, or a point of small order
            continue
    raise MalformedReport("the encrypted request cannot be opened with a key of this collector")


def sealed_size(size: int) -> int:
    """Return the largest size of an encrypted request, given the size of its body, in bytes."""
    return _HEADER + _ENCAPSULATED + _TAG + (1 << (size + _ROOM - 1).bit_length())


class BinaryRequest(NamedTuple):
    """A request in binary HTTP: a method, a path, and a body of a content type."""

    method: str
    path: str
    kind: str = ""
    content: bytes = b""

    def to_bytes(self, authority: str) -> bytes:
        """Return the request to a host over https, padded."""
        return device.write_request(self.method, authority, self.path, self.kind, self.content)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the request; raise MalformedReport unless it is complete and of known length."""
        parts = device.Parts(data)
        try:
            if parts.number() != 0:
                raise MalformedReport("expected a request in binary HTTP of known length")
            method, _, _, path = parts.text(), parts.text(), parts.text(), parts.text()
            kind = parts.fields().get(b"content-type", b"").decode("latin-1")
            return cls(method.decode("latin-1"), path.decode("latin-1"), kind, parts.content())
        except Malformed as error:
            raise MalformedReport(str(error)) from None


class BinaryResponse(NamedTuple):
    """A response in binary HTTP: a status, a body of a content type, and the seconds until a retry."""

    status: int
    kind: str = ""
    content: bytes = b""
    retry_after: str = ""

    def to_bytes(self) -> bytes:
        """Return the response, padded: a refusal has the length of an acknowledgement."""
        head = device.number(1) + device.number(self.status) + device.fields(self.kind, self.retry_after)
        return device.pad(head + device.sized(self.content), _LEAST_RESPONSE)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the response; raise MalformedReport unless it is complete and of known length."""
        try:
            status, fields, content = device.binary_response(data)
        except Malformed as error:
            raise MalformedReport(str(error)) from None
        return cls(status, fields.get("content-type", ""), content, fields.get("retry-after", ""))
