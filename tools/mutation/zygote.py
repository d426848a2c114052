"""One process that has collected the tests, and a child for each mutant, which changes a function.

A function is changed where it stands, by its code: nothing is imported or collected again. That reaches every
function and method, and not what is computed while a module is imported.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest

from tests.support.repository import ROOT
from tools.mutation.operators import Mutant, mutated

SOURCE = ROOT / "src" / "dither"
SECONDS = 120  # of the processor, for one mutant: a loop that does not end counts as seen
LOST, BROKEN = 2, 3  # exit codes: the run itself failed, and says nothing about the tests


def path_of(module: str) -> Path:
    return SOURCE.joinpath(*module.split(".")[1:]).with_suffix(".py")


def codes(code: CodeType) -> Iterator[tuple[str, CodeType]]:
    """Return the outermost functions of a module and of its classes."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_flags & 0x02:  # has locals of its own: a function, not the body of a class
                yield constant.co_qualname, constant
            else:
                yield from codes(constant)


def changed_code(mutant: Mutant) -> tuple[str, CodeType] | None:
    """Return the function that a mutant changes, by name and new code; None for code outside of functions."""
    path = path_of(mutant.module)
    old = dict(codes(compile(path.read_text(encoding="utf-8"), str(path), "exec")))
    new = codes(compile(mutated(mutant, path), str(path), "exec"))
    return next(((name, code) for name, code in new if name in old and old[name] != code), None)


def put(mutant: Mutant, name: str, code: CodeType) -> int:
    """Change every function object of that name; return how many there are."""
    found = [
        thing
        for thing in gc.get_objects()
        if type(thing) is FunctionType  # `isinstance` would wake lazy modules
        and thing.__code__.co_qualname == name
        and thing.__code__.co_filename == str(path_of(mutant.module))
    ]
    for function in found:
        function.__code__ = code
    return len(found)


def child(task: Callable[[], int], *, quiet: bool = True) -> int:
    """Run a task in a child; return its exit code, or the negative number of the signal that ended it."""
    made = os.fork()
    if made == 0:
        if quiet:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
        code = BROKEN
        try:
            code = task()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(made, 0)[1])


class Zygote:
    """A plugin of pytest: instead of running the tests it runs them for each mutant."""

    def __init__(self, wanted: list[Mutant], results: Path, reach: Path) -> None:
        self._wanted, self._results, self._reach, self._failed = wanted, results, reach, False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        if not self._reach.exists():
            child(lambda: self._measure(session.items), quiet=False)
        reach: dict[str, Any] = json.loads(self._reach.read_text(encoding="utf-8"))
        for mutant in self._wanted:
            self._try(mutant, items, reach)
        return True

    def _measure(self, items: list[pytest.Item]) -> int:
        """Write down how long each test takes and which functions it calls."""
        reach: dict[str, Any] = {}
        rooms = str(SOURCE) + os.sep
        for item in items:
            called: set[str] = set()

            def note(frame: FrameType, event: str, _: Any, called: set[str] = called) -> None:
                code = frame.f_code
                if event == "call" and code.co_filename.startswith(rooms):
                    called.add(f"{code.co_filename[len(rooms) :]}:{code.co_qualname.split('.<locals>')[0]}")

            begin = time.process_time()
            sys.setprofile(note)
            self._run(item)
            sys.setprofile(None)
            if self._failed:  # a test that cannot be run alone, or under a profile, tells nothing
                print(f"left out: {item.nodeid}", flush=True)
                self._failed = False
                continue
            reach[item.nodeid] = {"seconds": time.process_time() - begin, "calls": sorted(called)}
        self._reach.write_text(json.dumps(reach), encoding="utf-8")
        return 0

    def _run(self, item: pytest.Item) -> None:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)

    def _try(self, mutant: Mutant, items: dict[str, pytest.Item], reach: dict[str, Any]) -> None:
        begin, change = time.monotonic(), changed_code(mutant)
        if change is None:
            self._say(mutant, "outside of functions", 0, begin)
            return
        place = f"{path_of(mutant.module).relative_to(SOURCE).as_posix()}:{change[0]}"
        near = sorted((test["seconds"], name) for name, test in reach.items() if place in test["calls"])
        if not near:
            self._say(mutant, "survived", 0, begin)
            return
        code = child(lambda: self._mutant(mutant, change, [items[name] for _, name in near if name in items]))
        self._say(
            mutant, "survived" if code == 0 else "seen" if code > 0 else "seen, no end", len(near), begin
        )

    def _mutant(self, mutant: Mutant, change: tuple[str, CodeType], near: list[pytest.Item]) -> int:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        if not put(mutant, *change):
            return LOST
        for item in near:
            self._run(item)
            if self._failed:
                return 1
        return 0

    def _say(self, mutant: Mutant, outcome: str, tests: int, begin: float) -> None:
        seconds = round(time.monotonic() - begin, 1)
        line = {"mutant": mutant.name, "outcome": outcome, "tests": tests, "seconds": seconds}
        with self._results.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")
