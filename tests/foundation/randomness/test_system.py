"""The streams of the default source: they last as long as their key is used, and erase what was used."""

from __future__ import annotations

import gc
import os
import pickle
import threading
from collections.abc import Callable
from types import FunctionType, ModuleType

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import CipherContext

import dither as dt
from dither.foundation.randomness import SYSTEM, Seeded, System
from dither.foundation.randomness.ciphers import CHUNK, KEY, chacha, faster, gcm
from dither.foundation.randomness.system import BUFFER, CADENCE, SMALL, ErasingStream
from tests.support.ciphers import Recorder, recorded_streams
from tests.support.sources import Recorded


def test_the_system_source_never_repeats() -> None:
    words = np.concatenate([SYSTEM.words(1000), System().words(1000), SYSTEM.words(1000)])
    assert np.unique(words).size == words.size
    small = {SYSTEM.take(8) for _ in range(5000)}
    assert len(small) == 5000


def test_threads_do_not_share_a_stream() -> None:
    found: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: found.append(SYSTEM.words(2000))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    words = np.concatenate(found)
    assert np.unique(words).size == words.size


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_starts_a_new_stream() -> None:
    SYSTEM.take(8)  # the parent has a stream, and bytes in its buffer
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, SYSTEM.take(64) + SYSTEM.words(64).tobytes())
        os._exit(0)
    mine = SYSTEM.take(64) + SYSTEM.words(64).tobytes()
    os.waitpid(child, 0)
    theirs = os.read(read, len(mine))
    words = [np.frombuffer(part, np.uint64) for part in (mine, theirs)]
    assert not np.isin(words[0], words[1]).any()


def test_a_pickled_source_makes_its_own_stream() -> None:
    copy = pickle.loads(pickle.dumps(SYSTEM))
    assert copy.words(4).tolist() != SYSTEM.words(4).tolist()


CIPHERS = [gcm, chacha]


@pytest.mark.parametrize("new", CIPHERS)
def test_a_stream_outlasts_the_cadence_of_its_keys(new: Callable[[bytes], CipherContext]) -> None:
    encryptor = new(b"\xff" * KEY)
    blocks = {encryptor.update(bytes(CHUNK)) for _ in range(CADENCE // CHUNK + 2)}
    assert len(blocks) == CADENCE // CHUNK + 2


@pytest.mark.parametrize("new", CIPHERS)
def test_the_stream_of_every_key_differs(new: Callable[[bytes], CipherContext]) -> None:
    assert new(bytes(KEY)).update(bytes(64)) != new(bytes(KEY - 1) + b"\1").update(bytes(64))
    assert ErasingStream(new).take(64) != ErasingStream(new).take(64)


def test_the_choice_of_cipher_is_made_once() -> None:
    assert faster() is faster()


def image(root: object) -> bytes:
    """Return every byte and number that can be reached from an object, but not through code."""
    seen: dict[int, object] = {}
    left: list[object] = [root]
    parts: list[bytes] = []
    while left:
        thing = left.pop()
        if id(thing) in seen or isinstance(thing, type | ModuleType | FunctionType):
            continue
        seen[id(thing)] = thing
        if isinstance(thing, bytes | bytearray | memoryview):
            parts.append(bytes(thing))
        elif isinstance(thing, int):
            parts.append(thing.to_bytes(thing.bit_length() // 8 + 1, "little", signed=True))
        left += gc.get_referents(thing)
        left += getattr(thing, "__dict__", {}).values()
    return b"|".join(parts)


@pytest.mark.parametrize("new", CIPHERS)
def test_used_bytes_and_old_keys_are_not_in_the_source(new: Callable[[bytes], CipherContext]) -> None:
    recorder = Recorder(new)
    stream = recorder.stream()
    used = [stream.take(64) for _ in range(2 * BUFFER // 64 + 5)]  # the buffer is refilled twice
    small = bytearray(SMALL)
    stream.fill(small)
    used += [bytes(small[i : i + 64]) for i in range(0, SMALL, 64)]
    found = image(stream)
    assert not [part for part in used if part in found]
    assert len(recorder.keys) == 5  # the system's, the stream's first, one after each of three refills
    assert not [key for key in recorder.keys if key in found]  # not even the present one: OpenSSL has it
    # The image does contain the buffer, so used bytes would have been found: its unused end is there.
    assert recorder.keystream(-2, BUFFER)[-1000:] in found


@pytest.mark.parametrize("new", CIPHERS)
def test_an_image_of_the_state_does_not_reproduce_earlier_output(
    new: Callable[[bytes], CipherContext],
) -> None:
    recorder = Recorder(new)
    stream = recorder.stream()
    used = [stream.take(16) for _ in range(100)]
    reachable = recorder.keystream(-1, 1 << 20)  # the key inside the context, which an image would contain
    assert not [part for part in used if part in reachable]
    assert all(part in recorder.keystream(-2, BUFFER) for part in used)  # the erased key would have told
    # What comes later can be computed from the image as far as the buffer goes: no generator can avoid that.
    assert stream.take(16) in recorder.keystream(-2, BUFFER)


@pytest.mark.parametrize("size", [SMALL + 1, CHUNK, 3 * CHUNK + 5])
def test_a_large_fill_is_erased_on_request(size: int) -> None:
    recorder = Recorder(chacha)
    stream = recorder.stream()
    large = bytearray(size)
    stream.fill(large)
    assert bytes(large[:64]) in recorder.keystream(-1, 1 << 20)  # the stated limit
    stream.erase()
    assert bytes(large[:64]) not in recorder.keystream(-1, 1 << 20)
    keys = len(recorder.keys)
    stream.erase()
    assert len(recorder.keys) == keys  # nothing to erase, nothing done


def test_large_fills_change_the_key_at_the_cadence() -> None:
    recorder = Recorder(gcm)
    stream = recorder.stream()
    large = bytearray(2 * CADENCE + CHUNK)
    stream.fill(large)
    assert len(recorder.keys) == 4
    assert bytes(large[: 2 * CADENCE]) == recorder.keystream(1, CADENCE) + recorder.keystream(2, CADENCE)
    large_take = stream.take(SMALL + 1)
    assert large_take not in recorder.keystream(-1, 1 << 20)


def test_perturb_erases_when_its_reports_are_drawn() -> None:
    for count in (1, 1000, 100_000):
        source = Recorded(Seeded(1))
        dt.Podium(dt.Interval(0, 1), epsilon=1).perturb(np.full(count, 0.5), source=source, threads=2)
        assert source.asked[-1][0] == "erase"
        assert [verb for verb, _ in source.asked].count("erase") == 1


def test_the_system_source_has_nothing_left_to_erase_after_perturb(monkeypatch: pytest.MonkeyPatch) -> None:
    """A present key determines what was drawn before, and does not after; a second erase does nothing."""
    recorders = recorded_streams(monkeypatch)
    system = System()
    drawn = system.words(100_000).tobytes()
    assert drawn[:64] in recorders[0].keystream(-1, 1 << 20)
    dt.Podium(dt.Interval(0, 1), epsilon=1).perturb(np.full(100_000, 0.5), source=system, threads=2)
    assert not any(drawn[:64] in recorder.keystream(-1, 1 << 20) for recorder in recorders)
    keys = [len(recorder.keys) for recorder in recorders]
    system.erase()
    assert [len(recorder.keys) for recorder in recorders] == keys
    system.words(100_000)
    system.erase()
    assert [len(recorder.keys) for recorder in recorders] != keys  # a key would have been seen to change


def test_copies_of_one_state_part_at_the_next_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a virtual machine that is started twice from one snapshot would do."""
    with monkeypatch.context() as patch:
        patch.setattr(os, "urandom", bytes)
        first, second = ErasingStream(chacha), ErasingStream(chacha)
        assert first.take(BUFFER // 8) == second.take(BUFFER // 8)  # the same state
    for _ in range(7 + 8):  # the rest of the buffer, and the next one: its key was in the snapshot
        assert first.take(BUFFER // 8) == second.take(BUFFER // 8)
    for _ in range(8):
        assert first.take(BUFFER // 8) != second.take(BUFFER // 8)


def test_a_restart_drops_every_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot of the process determines the next bytes of every source; after a restart it does not."""
    recorders = recorded_streams(monkeypatch)
    sources = System(), System()
    for source in sources:
        source.take(8)
    known = [recorder.keystream(-2, BUFFER) for recorder in recorders]
    assert [source.take(8) for source in sources] == [
        stream[8:16] for stream in known
    ]  # as the snapshot says
    sources[0].restart()  # for the whole process
    later = [source.take(8) for source in sources]
    assert not [part for part, stream in zip(later, known, strict=True) if part in stream]
    assert len({recorder.keys[0] for recorder in recorders}) == 4  # each has a new key of the system's
