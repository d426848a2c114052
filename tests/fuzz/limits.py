"""Runs a reader on changed input: it returns or raises one of dither's errors, soon and in little memory."""

from __future__ import annotations

import resource
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from types import FrameType

from hypothesis import given, settings
from hypothesis import strategies as st

from dither.errors import DitherError

SECONDS = 5.0  # of the processor, for one case
MEMORY = 600 << 20  # bytes by which the process may grow, all cases of a way in together
BATCH = 50  # cases of one example of hypothesis, which has a cost of its own
SOME, MANY = 100, 10_000  # cases of a way in: in every run, in long runs


class TooLong(BaseException):
    """A case did not end: no reader may catch this."""


def fuzz(case: Callable[[Random], object], cases: int) -> None:
    """Run so many cases; each is made of a seed that hypothesis draws and shrinks."""

    @settings(max_examples=-(-cases // BATCH), database=None, deadline=None)
    @given(st.integers(0, (1 << 32) - 1))
    def batch(seed: int) -> None:
        for number in range(BATCH):
            random = Random((seed << 8) + number)
            with _in_time(), suppress(DitherError):
                case(random)

    forget_peak()
    before = peak()
    with warnings.catch_warnings(), _little_memory():
        warnings.simplefilter("ignore")
        batch()
    assert peak() - before < MEMORY


@contextmanager
def _in_time() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TooLong(f"a case took longer than {SECONDS:g} s")

    old = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)


@contextmanager
def _little_memory() -> Iterator[None]:
    """Let no single allocation pass 4 GB; what was really used is measured by `fuzz`."""
    if not sys.platform.startswith("linux"):
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    used = pages * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (4 << 30), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def forget_peak() -> None:
    """Let the peak of memory begin anew, where the system can: earlier tests may have had a larger one."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak() -> int:
    """Return the most bytes of memory that this process had, since `forget_peak` on Linux."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) * 1024
    except (OSError, StopIteration):
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
