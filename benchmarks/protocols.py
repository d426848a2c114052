"""Tossing between devices: bytes and processor time of a pair, by the bits of the shared number; pairing.

`python -m benchmarks.protocols`. Processor milliseconds are both devices' together, on one core.
"""

from __future__ import annotations

import os
import platform
import time

import dither as dt
from dither.protocols import Exchange, Role, Terms, deal_pairs, shuffle_pairs
from dither.protocols.local import converse

JRR = dt.JRR(dt.Categories(2), p=0.7, rho=-0.2, n=2)
COINS = 8


def main() -> None:
    print(f"Python {platform.python_version()}.\n")
    print("bits  bytes for one coin  bytes for each more  ms for one coin  ms for each more")
    for bits in (8, 10, 12, 14, 16, 18, 20):
        one, more = (_toss(Terms(JRR, bits), count) for count in (1, 1 + COINS))
        print(
            f"{bits:4}  {one[0]:18}  {(more[0] - one[0]) / COINS:19.0f}"
            f"  {one[1]:15.1f}  {(more[1] - one[1]) / COINS:16.1f}"
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


def _toss(terms: Terms, count: int) -> tuple[int, float]:
    """Give the bytes of an exchange, and the least processor milliseconds of five."""
    best = float("inf")
    for _ in range(5):
        first, second = (Exchange(terms, role, count) for role in Role)
        begin = time.process_time()
        carried = converse(first, second)
        best = min(best, time.process_time() - begin)
    return carried, best * 1e3


if __name__ == "__main__":
    main()
