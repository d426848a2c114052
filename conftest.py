"""What all tests share."""

import gc
import os
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import settings

# Tests run in several processes; threads of small matrix products would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from tests.support.budget import Budget, leave_some
from tests.support.postgresql import postgresql  # a fixture

__all__ = ["postgresql"]

# The same examples on every machine: a failure is reproduced by running the test again.
settings.register_profile("dither", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("dither")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Budget(), "budget")


@pytest.hookimpl(tryfirst=True)  # before cases are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    leave_some(items)


def pytest_collection_finish() -> None:
    """Leave out of every later search for garbage what the whole run keeps: modules and tests.

    Later searches are rarer: with Python's thresholds they take a twentieth of the tests' processor time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def pytest_unconfigure() -> None:
    gc.unfreeze()  # some libraries call what is left at the end a leak


@pytest.fixture(autouse=True, scope="session")
def _switches() -> Iterator[None]:
    """Telemetry is off under continuous integration; the tests run there and on a desk alike."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CI", "DO_NOT_TRACK", "NO_TELEMETRY"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(autouse=True, scope="session")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Solved mechanisms are remembered in a folder of the tests' own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DITHER_CACHE", str(tmp_path_factory.mktemp("designs")))
        yield


@pytest.fixture(autouse=True, scope="session")
def _threads() -> Iterator[dict[threading.Thread, str]]:
    """Fail the run if a thread is left that was not there before, and name the test that left it.

    A server that nobody shuts down polls its closed socket and takes a core until the run ends.
    """
    before = set(threading.enumerate())
    first_seen_after: dict[threading.Thread, str] = {}
    yield first_seen_after
    deadline = time.monotonic() + 30  # what a page still computes may take seconds on a busy machine
    while (left := set(threading.enumerate()) - before) and time.monotonic() < deadline:
        gc.collect()  # the threads of a pool end with it
        time.sleep(0.05)
    assert not left, "threads are left: " + ", ".join(
        f"{thread.name}, first seen after {first_seen_after.get(thread, 'the last test')}" for thread in left
    )


@pytest.fixture(autouse=True)
def _thread_of_a_test(
    request: pytest.FixtureRequest, _threads: dict[threading.Thread, str]
) -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        _threads.setdefault(thread, request.node.nodeid)
