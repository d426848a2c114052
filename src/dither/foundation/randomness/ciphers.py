"""The ciphers of the default source. A key is used for one context, so the nonce is zero."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Final

from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

CHUNK: Final = 1 << 18  # bytes encrypted at once
KEY: Final = 32  # bytes of a key
ZEROS: Final = memoryview(bytes(CHUNK))  # encrypting zeros returns the keystream

NewCipher = Callable[[bytes | bytearray], CipherContext]


def gcm(key: bytes | bytearray) -> CipherContext:
    """Return AES-256-GCM under a key: 2^36 bytes of keystream. The authentication tag is not used."""
    return Cipher(algorithms.AES(key), modes.GCM(bytes(12))).encryptor()


def chacha(key: bytes | bytearray) -> CipherContext:
    """Return ChaCha20 under a key: the block counter starts at zero and lasts for 2^38 bytes."""
    return Cipher(algorithms.ChaCha20(key, bytes(16)), None).encryptor()


@cache
def faster() -> NewCipher:
    """Return the cipher that is faster on this machine: AES is slow without AES instructions."""

    def seconds(new: NewCipher) -> float:
        out = bytearray(1 << 16)
        zeros = ZEROS[: 1 << 16]
        encryptor = new(bytes(KEY))  # a zero key, for the measurement only; its keystream is discarded
        encryptor.update_into(zeros, out)
        times = []
        for _ in range(5):  # the best of five, so that other load on the machine does not decide
            begin = time.perf_counter()
            encryptor.update_into(zeros, out)
            times.append(time.perf_counter() - begin)
        return min(times)

    return min((gcm, chacha), key=seconds)
