"""Tossing between devices: bytes and processor time of a pair, by the bits of the shared integer; pairing.

`python -m tools.benchmarks.protocols`. Processor times are those of both devices together, on one core. The
unit of the ratios is one X25519 key agreement of the package `cryptography`, measured in the same run.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

import dither as dt
from dither.extensions.protocols import Exchange, Role, Terms, deal_pairs, shuffle_pairs
from dither.extensions.protocols.device import converse
from dither.extensions.protocols.transfer import SESSION, KeyReceiver, KeySender
from dither.foundation.randomness import SYSTEM

JRR = dt.JRR(dt.Categories(2), p=0.7, rho=-0.2, n=2)
COINS = 8
REPEATS = 7


def main() -> None:
    unit = _least(_agreements, 200)
    transfer = _least(_transfers, 200)
    print(f"Python {platform.python_version()}. Processor times are the least of {REPEATS}.")
    print(f"One X25519 key agreement: {unit * 1e3:.3f} ms.")
    print(f"One transfer of a key, both sides: {transfer * 1e3:.3f} ms, ratio {transfer / unit:.1f}.")
    print(
        "\nbits  bytes for one coin  bytes for each more  ms for one coin  ms for each more  ratio, each more"
    )
    for bits in (8, 10, 12, 14, 16, 18, 20):
        one, more = (_toss(Terms(JRR, bits), count) for count in (1, 1 + COINS))
        each = (more[1] - one[1]) / COINS
        print(
            f"{bits:4}  {one[0]:18}  {(more[0] - one[0]) / COINS:19.0f}"
            f"  {one[1] * 1e3:15.1f}  {each * 1e3:16.1f}  {each / unit:16.0f}"
        )
    print("\ndevices  ms by a dealer  s by three servers: on the clock, processor time of all")
    for n in (8, 16, 32, 64, 128):
        begin = time.process_time()
        for _ in range(100):
            deal_pairs(n)
        dealt = (time.process_time() - begin) * 10
        begin, before = time.monotonic(), os.times()
        shuffle_pairs(n, timeout=600)
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        print(f"{n:7}  {dealt:14.2f}  {time.monotonic() - begin:19.1f} {used:.1f}")


def _least(work: Callable[[int], None], count: int) -> float:
    """Return the processor seconds of one of `count` repetitions, the least of several measurements."""
    return min(_seconds(lambda: work(count)) for _ in range(REPEATS)) / count


def _seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _agreements(count: int) -> None:
    mine, theirs = X25519PrivateKey.generate(), X25519PrivateKey.generate().public_key()
    for _ in range(count):
        mine.exchange(theirs)


def _transfers(count: int) -> None:
    sender = KeySender(bytes(SESSION), SYSTEM)
    receiver = KeyReceiver(bytes(SESSION), sender.public, SYSTEM)
    for _ in range(count):
        sender.keys(receiver.query(1)[0])


def _toss(terms: Terms, count: int) -> tuple[int, float]:
    """Return the bytes of an exchange, and its least processor seconds."""
    carried: list[int] = []

    def work() -> None:
        carried.append(converse(*(Exchange(terms, role, count) for role in Role)))

    seconds = min(_seconds(work) for _ in range(REPEATS))
    return carried[0], seconds


if __name__ == "__main__":
    main()
