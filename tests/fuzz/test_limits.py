"""The limits themselves: a reader that fails in another way, hangs or fills the memory is found."""

from __future__ import annotations

import os
import sys
from mmap import mmap
from random import Random

import pytest

from dither.errors import MalformedReport
from tests.fuzz import limits


def test_another_error_is_found() -> None:
    with pytest.raises(ZeroDivisionError):
        limits.fuzz(lambda random: 1 // random.choice((0, 1, 2)), 100)


def test_an_error_of_dither_is_none() -> None:
    def refuse(random: Random) -> None:
        raise MalformedReport("as it should")

    limits.fuzz(refuse, 100)


def test_a_case_that_does_not_end_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SECONDS", 0.05)

    def turn(random: Random) -> None:
        while True:
            try:
                random.random()
            except Exception:
                continue

    with pytest.raises(limits.TooLong):
        limits.fuzz(turn, 1)


@pytest.mark.slow
def test_memory_that_is_really_used_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also after a test that used more, and gave it back."""
    monkeypatch.setattr(limits, "MEMORY", 16 << 20)
    if sys.platform.startswith("linux"):
        large = bytearray(b"x") * (100 << 20)
        del large
    most = 24 << 20 if sys.platform.startswith("linux") else limits.peak()

    def fill(random: Random) -> None:
        # Pages of its own: an array might get pages that an earlier test left to the process.
        with mmap(-1, most) as pages:
            pages[:: os.sysconf("SC_PAGE_SIZE")] = b"x" * len(range(0, most, os.sysconf("SC_PAGE_SIZE")))

    limits.fuzz(lambda random: None, 1)
    with pytest.raises(AssertionError):
        limits.fuzz(fill, 1)
