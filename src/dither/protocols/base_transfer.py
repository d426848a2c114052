"""Oblivious transfer of one key out of two: the "simplest" protocol [Chou15], with random keys.

    sender      a secret, A = a·G                              sends A once for an exchange
    receiver    b secret, B = b·G, or A + b·G if its bit is 1    sends B for every transfer
    sender      key 0 = H(a·B), key 1 = H(a·B − a·A)
    receiver    the key of its bit = H(b·A)

H is BLAKE2b over the session, A, B, the number of the transfer and the shared point. The session is a hash of
both devices' first messages and of the direction, so no two transfers anywhere have the same input.
Nothing but A and the B's is sent: the keys themselves mask what is transferred.

What holds against whom (G has prime order, and `group` refuses every received point that is not in it):

- The receiver's bit is hidden from any sender, also from one that deviates or has unlimited time: b is
  uniform, so B is a uniform point whatever the bit is.
- Whether the receiver goes on does not depend on its bit: it computes the key of its bit from what it sent
  itself, and verifies nothing that could fail for one bit only ("selective failure").
- The other key is hidden from a receiver that follows the protocol, in the random oracle model, if the
  computational Diffie-Hellman problem is hard. Who knows both keys has asked H for a·B and for a·B − a·A.
  The difference is a·A = a²·G, and computing a²·G from a·G is as hard as that problem. The same holds for a
  receiver that deviates if the problem stays hard with an oracle for its decisional variant (the gap
  Diffie-Hellman assumption), which a reduction needs in order to recognise the right question to H.

What does not hold: universally composable security against a receiver that deviates, which [Chou15] claimed.
Its simulator would have to decide a Diffie-Hellman problem [Genc20], and to know the receiver's bit before
the receiver has fixed it [Li18]. Nor is a sender forced to use the keys. The guarantees of `Terms` assume
partners who follow the protocol.
"""

from __future__ import annotations

import hashlib
from typing import Final, final

import numpy as np

from dither.errors import ExchangeFailed
from dither.protocols import group
from dither.randomness import Source

KEY: Final = 16  # bytes of a key
SESSION: Final = 32  # bytes of a session
_PURPOSE: Final = b"dither transfer2"  # separates this use of BLAKE2b from every other; at most 16 bytes


@final
class KeySender:
    """The side that obtains both keys of every transfer."""

    def __init__(self, session: bytes, source: Source) -> None:
        self._session, self._count = session, 0
        self._secret = group.draw_scalar(source)
        self.public = group.generate(self._secret)
        self._square = group.multiply(self._secret, self.public)  # a·A

    def keys(self, query: bytes) -> tuple[bytes, bytes]:
        """Return both keys of the next transfer; raise ExchangeFailed if the query is not a valid point."""
        if query == self.public:
            # B − A would be the identity. A receiver that follows the protocol draws b ≠ 0.
            raise ExchangeFailed("a query repeats the public key")
        zero = group.multiply(self._secret, query)
        one = group.subtract(zero, self._square)
        first, second = (_key(self._session, self.public, query, self._count, point) for point in (zero, one))
        self._count += 1
        return first, second


@final
class KeyReceiver:
    """The side that obtains one key of every transfer, without the sender learning which."""

    def __init__(self, session: bytes, public: bytes, source: Source) -> None:
        group.check(public)  # a point outside the group would make queries show the bit
        self._session, self._public, self._source, self._count = session, public, source, 0

    def query(self, bit: int) -> tuple[bytes, bytes]:
        """Return the query of the next transfer, to be sent, and the key of this bit, to be kept secret."""
        secret = group.draw_scalar(self._source)
        plain = group.generate(secret)
        query = _select(bit, plain, group.add(plain, self._public))
        key = _key(self._session, self._public, query, self._count, group.multiply(secret, self._public))
        self._count += 1
        return query, key


def _key(session: bytes, public: bytes, query: bytes, count: int, shared: bytes) -> bytes:
    # Every field has a fixed width, so two different inputs never have the same bytes.
    fields = session + public + query + count.to_bytes(8, "little") + shared
    return hashlib.blake2b(fields, digest_size=KEY, person=_PURPOSE).digest()


def _select(bit: int, zero: bytes, one: bytes) -> bytes:
    """Return one if the bit is 1, else zero; computes the same for both, so time does not show the bit."""
    mask = np.uint8(-bit & 0xFF)
    first, second = np.frombuffer(zero, np.uint8), np.frombuffer(one, np.uint8)
    return (first ^ ((first ^ second) & mask)).tobytes()
