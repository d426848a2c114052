"""HPKE with a given ephemeral key, from RFC 9180 and primitives: base mode, X25519, HKDF-SHA256, AES-128-GCM.

The house seals by the library, which draws its ephemeral keys; vectors need fixed ones.
"""

from __future__ import annotations

import hmac

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEM = b"KEM\x00\x20"
SUITE = b"HPKE\x00\x20\x00\x01\x00\x01"


def extract(suite: bytes, salt: bytes, label: bytes, key: bytes) -> bytes:
    return hmac.digest(salt, b"HPKE-v1" + suite + label + key, "sha256")


def expand(suite: bytes, secret: bytes, label: bytes, info: bytes, length: int) -> bytes:
    labelled = length.to_bytes(2) + b"HPKE-v1" + suite + label + info
    return hmac.digest(secret, labelled + b"\x01", "sha256")[:length]


def seal(plain: bytes, key: bytes, info: bytes, ephemeral: bytes, more: bytes = b"") -> bytes:
    """Return the ephemeral public key and what is encrypted; `more` is authenticated beside it."""
    own = X25519PrivateKey.from_private_bytes(ephemeral)
    public = own.public_key().public_bytes_raw()
    common = own.exchange(X25519PublicKey.from_public_bytes(key))
    shared = expand(KEM, extract(KEM, b"", b"eae_prk", common), b"shared_secret", public + key, 32)
    bound = b"\x00" + extract(SUITE, b"", b"psk_id_hash", b"") + extract(SUITE, b"", b"info_hash", info)
    secret = extract(SUITE, shared, b"secret", b"")
    cipher = AESGCM(expand(SUITE, secret, b"key", bound, 16))
    return public + cipher.encrypt(expand(SUITE, secret, b"base_nonce", bound, 12), plain, more)
