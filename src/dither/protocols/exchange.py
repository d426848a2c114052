"""One device's side of a toss, without a network: give it what arrives, send what it gives.

    both     HELLO   terms, role, nonce        once; the nonces name the exchange
    both     OFFER   the giver's public key    once
    both     QUERY   one entry of each table   for every batch of tosses
    both     REPLY   masked tables             for every batch of tosses
    both     DONE

The first device speaks first, the second answers, so neither waits for the other to read. Each draws a
secret number r; R = r₁ + r₂ mod 2^ℓ decides both coins. The first device's table says, for every r₂, the
second's coin; the second takes the entry of its own r₂. And the other way round. Each reads its own coin and
nothing else.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Generator
from enum import IntEnum
from typing import Final, final

import numpy as np

from dither.errors import ExchangeFailed, InvalidParameter
from dither.mechanisms.joint.coin import Coin
from dither.protocols.net.messages import NOBODY, Expected, Kind, Reader, pack
from dither.protocols.terms import Terms
from dither.protocols.transfer import POINT, Giver, Taker, reply_size
from dither.randomness import SYSTEM, Source

_HELLO: Final = struct.Struct(">BBI32s16s")
_BATCH: Final = 64  # tosses in one message, at most
_ROOM: Final = 1 << 19  # bytes of a message, about
MOST: Final = 1 << 20  # tosses of one exchange


class Role(IntEnum):
    """Which of the two a device is; the pairing says."""

    FIRST = 0
    SECOND = 1


@final
class Exchange:
    """Deals coins to this device, together with one other; for one use.

    After an error it is dead, and what it drew is forgotten: begin a new one, which draws anew. Nothing is
    kept between runs of a program, so nothing can be used twice.
    """

    def __init__(
        self, terms: Terms, role: Role, count: int = 1, *, context: bytes = b"", source: Source | None = None
    ) -> None:
        if (
            isinstance(count, bool)
            or not isinstance(count, int)
            or not 1 <= count * terms.mechanism.kernel.each <= MOST
        ):
            raise InvalidParameter(f"an exchange deals from 1 to {MOST} coins")
        self._terms, self._role, self._count = terms, Role(role), count
        self._source = SYSTEM if source is None else source
        self._digest = hashlib.sha256(terms.digest + context).digest()
        self._reader, self._outbox = Reader(), bytearray()
        self._exchange, self._sent, self._read = NOBODY, 0, 0
        self._tossed: list[bool] | None = None
        self._failed = False
        self._steps = self._run()
        self._expected: Expected | None = None

    def start(self) -> bytes:
        """Begin, and give what is to be sent: nothing for the second device, which listens first."""
        if self._expected is not None or self._failed or self.done:
            raise ExchangeFailed("this exchange has begun already; every toss needs its own")
        self._expected = next(self._steps)
        return self._drained()

    def receive(self, data: bytes) -> bytes:
        """Take bytes that arrived, in any pieces, and give what is to be sent."""
        if self._failed:
            raise ExchangeFailed("this exchange has failed; begin a new one")
        try:
            self._reader.feed(data)
            self._advance()
        except ExchangeFailed:
            self._drop()
            raise
        return self._drained()

    def lost(self) -> None:
        """Say that the other device is gone: the exchange is over, unless its coins were dealt."""
        if not self.done:
            self._drop()

    @property
    def agreed(self) -> bool:
        """Whether the other device has shown that it tosses under the same terms."""
        return self._exchange != NOBODY

    @property
    def done(self) -> bool:
        """Whether all coins were dealt, on both sides as far as this one can know."""
        return self._expected is None and self._tossed is not None and not self._failed

    def coins(self) -> list[Coin]:
        """Give the coins, once."""
        if not self.done or self._tossed is None:
            raise ExchangeFailed("no coins were dealt: the exchange has not ended")
        tossed, self._tossed, self._failed = self._tossed, None, True
        return self._terms.coins(np.array(tossed).reshape(self._count, -1))

    # --- steps ---------------------------------------------------------------------------------------------

    def _advance(self) -> None:
        while self._expected is not None:
            body = self._reader.take(self._expected)
            if body is None:
                return
            self._read += 1
            try:
                self._expected = self._steps.send(body)
            except StopIteration:
                self._expected = None
        self._reader.finish()

    def _run(self) -> Generator[Expected, bytes, None]:
        bits, each = self._terms.bits, self._terms.mechanism.kernel.each
        tosses = self._count * each
        mine = _HELLO.pack(self._role, bits, tosses, self._digest, self._source.take(16))
        theirs = yield from self._swap(Kind.HELLO, mine, len(mine))
        self._agree(mine, theirs)
        giver = Giver(bits, self._source)
        taker = Taker(bits, (yield from self._swap(Kind.OFFER, giver.public, POINT)))
        first = self._role is Role.FIRST
        other = self._terms.says(not first)
        batch = max(1, min(_BATCH, _ROOM // reply_size(bits)))
        tossed: list[bool] = []
        while len(tossed) < tosses:
            size = min(batch, tosses - len(tossed))
            secrets = self._source.integers(1 << bits, size).tolist()
            length = size * bits * POINT
            queries = yield from self._swap(Kind.QUERY, taker.query(secrets), length)
            tables = np.stack([np.roll(other, -secret) for secret in secrets])
            reply = giver.reply(queries, tables)
            tossed += taker.read((yield from self._swap(Kind.REPLY, reply, size * reply_size(bits))))
        yield from self._swap(Kind.DONE, b"", 0)
        self._tossed = tossed

    def _swap(self, kind: Kind, body: bytes, length: int) -> Generator[Expected, bytes, bytes]:
        """Send a message and wait for the other device's; the first device sends first."""
        expected = Expected(kind, self._read, self._exchange, length, length)
        if self._role is Role.FIRST:
            self._send(kind, body)
            return (yield expected)
        theirs = yield expected
        self._send(kind, body)
        return theirs

    def _send(self, kind: Kind, body: bytes) -> None:
        self._outbox += pack(kind, self._sent, self._exchange, body)
        self._sent += 1

    def _agree(self, mine: bytes, theirs: bytes) -> None:
        role, bits, tosses, digest, nonce = _HELLO.unpack(theirs)
        if role != 1 - self._role:
            raise ExchangeFailed("both devices claim to be the first, or the second: the pairing says who is")
        if (bits, digest) != (self._terms.bits, self._digest):
            raise ExchangeFailed("the other device tosses for another question, with other coins or partners")
        if tosses != self._count * self._terms.mechanism.kernel.each:
            raise ExchangeFailed("the other device wants another number of coins")
        if nonce == mine[-16:]:
            raise ExchangeFailed("the other device sends back what it was sent")
        both = mine + theirs if self._role is Role.FIRST else theirs + mine
        self._exchange = hashlib.sha256(both).digest()[:8]

    def _drop(self) -> None:
        self._failed, self._expected, self._tossed = True, None, None
        self._outbox.clear()
        self._steps.close()

    def _drained(self) -> bytes:
        sent = bytes(self._outbox)
        self._outbox.clear()
        return sent
