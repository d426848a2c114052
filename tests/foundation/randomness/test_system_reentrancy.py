"""A draw made during another one receives bytes of its own: signal handlers, threads, forks, finalisers."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any

import pytest

from dither.foundation import randomness
from dither.foundation.randomness import SYSTEM, Keyed, Seeded, Source, System
from dither.foundation.randomness.system import BUFFER, ErasingStream
from tests.support.ciphers import recorded_streams

FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def take(source: Source) -> bytes:
    return source.take(8)


def fill(source: Source) -> bytes:
    buffer = bytearray(8)
    source.fill(buffer)
    return bytes(buffer)


def interrupted(outer: Callable[[], bytes], inner: Callable[[], bytes], calls: int) -> list[bytes]:
    """Run `outer` many times, and `inner` before every bytecode that the sources execute meanwhile."""
    drawn: list[bytes] = []
    room = os.path.dirname(randomness.__file__)  # noqa: PTH120

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(room):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            sys.settrace(None)  # one level deep: what `inner` executes is not interrupted
            drawn.append(inner())
            sys.settrace(trace)
        return trace

    before = sys.gettrace()
    try:
        for _ in range(calls):
            sys.settrace(trace)
            result = outer()
            sys.settrace(None)
            drawn.append(result)
    finally:
        sys.settrace(before)
    return drawn


SOURCES = {
    "system": System,
    "seeded": lambda: Seeded(7),
    "keyed": lambda: Keyed(b"key", b"context"),
}


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("outer", [take, fill])
@pytest.mark.parametrize("inner", [take, fill])
def test_draws_between_any_two_bytecodes_share_nothing(
    name: str, outer: Callable[[Source], bytes], inner: Callable[[Source], bytes]
) -> None:
    source = SOURCES[name]()
    drawn = interrupted(lambda: outer(source), lambda: inner(source), 20)
    assert len(drawn) > 400  # the tracing works
    assert bytes(8) not in drawn
    assert len(set(drawn)) == len(drawn)


def test_a_draw_that_is_interrupted_inside_receives_what_it_would_have_received() -> None:
    """The bytes of the outer calls are those of the undisturbed stream, whatever happens during them."""

    def reference(size: int) -> list[bytes]:
        source = Seeded(7)
        return [source.take(8) for _ in range(size)]

    source = Seeded(7)
    drawn = interrupted(lambda: source.take(8), lambda: source.take(8), 20)
    known = reference(len(drawn))
    from_stream = [part for part in drawn if part in set(known)]
    # Calls that began before or ended after another one used the stream, without a gap; those made during a
    # call did not.
    assert sorted(from_stream, key=known.index) == known[: len(from_stream)]
    assert 0 < len(from_stream) < len(drawn)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")
@pytest.mark.parametrize("name", SOURCES)
def test_a_signal_handler_may_draw(name: str) -> None:
    source = SOURCES[name]()
    handled: list[bytes] = []

    def handler(number: int, frame: FrameType | None) -> None:
        handled.append(source.take(8))
        handled.append(source.words(4).tobytes()[:8])

    previous = signal.signal(signal.SIGALRM, handler)
    drawn: list[bytes] = []
    try:
        signal.setitimer(signal.ITIMER_REAL, 2e-4, 2e-4)
        end = time.monotonic() + 5
        while len(handled) < 400 and time.monotonic() < end:
            drawn += [source.take(8) for _ in range(100)]
            drawn.append(source.words(4).tobytes()[:8])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert handled
    together = drawn + handled
    assert bytes(8) not in together
    assert len(set(together)) == len(together)


@pytest.mark.parametrize("name", SOURCES)
def test_threads_that_share_an_object_share_no_byte(name: str) -> None:
    source = SOURCES[name]()
    found: list[list[bytes]] = []
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [
            threading.Thread(target=lambda: found.append([source.take(8) for _ in range(2000)]))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    drawn = [part for each in found for part in each]
    assert len(drawn) == len(set(drawn)) == 8000
    assert bytes(8) not in drawn


def test_an_interrupted_draw_loses_its_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    recorders = recorded_streams(monkeypatch)
    system = System()
    system.take(8)
    known = recorders[0].keystream(-2, BUFFER)
    assert system.take(8) == known[8:16]

    def interrupt(stream: ErasingStream, size: int) -> bytes:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ErasingStream, "take", interrupt)
        with pytest.raises(KeyboardInterrupt):
            system.take(8)
    assert system.take(8) not in known
    assert len(recorders) == 2


@FORKS
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("method", ["take", "fill"])
def test_a_fork_during_a_draw_does_not_give_both_processes_its_bytes(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = System()
    system.take(8)
    read, write = os.pipe()
    original = getattr(ErasingStream, method)
    children: list[int] = []

    def forking(stream: ErasingStream, what: Any) -> Any:
        result = original(stream, what)
        if not children:
            children.append(os.fork())  # as a signal handler could, before the draw has ended
        return result

    monkeypatch.setattr(ErasingStream, method, forking)
    mine = take(system) if method == "take" else fill(system)
    if children == [0]:
        os.write(write, mine)
        os._exit(0)
    os.waitpid(children[0], 0)
    theirs = os.read(read, 8)
    assert len(theirs) == 8
    assert mine != theirs


def _tell(pipe: Connection) -> None:
    pipe.send_bytes(SYSTEM.take(64) + SYSTEM.words(512).tobytes())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_processes_of_multiprocessing_have_their_own_streams(method: str) -> None:
    SYSTEM.take(8)  # there is a stream to inherit, with bytes in its buffer
    context = multiprocessing.get_context(method)
    told: list[bytes] = []
    for _ in range(2):
        read, write = context.Pipe(duplex=False)
        process = context.Process(target=_tell, args=(write,))
        process.start()
        told.append(read.recv_bytes())
        process.join()
    told.append(SYSTEM.take(64) + SYSTEM.words(512).tobytes())
    parts = [each[i : i + 8] for each in told for i in range(0, len(each), 8)]
    assert len(parts) == len(set(parts)) == 3 * (8 + 512)
