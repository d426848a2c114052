"""The processor time that the default suite may take, kept by a check of every run.

Times are told in loops of a fixed amount of work, measured between the tests of the same process: a busy or
slow machine needs longer for both, so that the sum means the same everywhere.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase

import pytest

# Loops; an idle core runs a hundred in a second. 28 000 when the suite was cut, 35 000 to 38 000 with two
# more clients, the analyst's desk, boxes and the years of a collector, 51 000 with campaigns of version
# 2, what people are promised, polynomials, vectors, matrices, rows and moments. Then the dear tests left
# cases to the long runs; with Go, presence, withdrawals, Delta tables, bounds, routes, dates and regressions
# it was 45 000. A tenth of that compiled Go's standard library, which the installation does now; less garbage
# is searched for. A tenth is for noise.
BUDGET = 46_000.0
DEAR = 50.0  # loops of one test above which it is listed
DEAREST = 40  # files of tests that are listed, the dearest first
OFTEN = 1.0  # seconds of processor time after which the loop is measured again
PROPERTY = "loops"


def spent() -> float:
    """Return the processor time of this process and of the children that it has waited for."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def loop() -> None:
    """Do the fixed amount of work."""
    table: dict[int, int] = {}
    total = 0
    for number in range(107_000):
        total += number * number % 7
        table[number & 255] = total


def leave_some(items: Sequence[pytest.Item]) -> None:
    """Give the long runs the cases of a test that its mark `some` does not keep for every run."""
    cases: dict[tuple[object, str], list[pytest.Function]] = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function) and item.get_closest_marker("some"):
            cases[item.parent, item.originalname].append(item)
    for (_, name), together in cases.items():
        mark = together[0].get_closest_marker("some")
        kept = [case for place, case in enumerate(together) if mark and _keeps(mark, place, case)]
        if not kept and len(together) > 1:
            raise pytest.UsageError(f"the mark `some` of {name} keeps no case")
        for case in together:
            if case not in kept:
                case.add_marker(pytest.mark.slow)


def _keeps(mark: pytest.Mark, place: int, case: pytest.Function) -> bool:
    if "every" in mark.kwargs:
        step = mark.kwargs["every"]
        return place % step == place // step % step  # another place in each row, for tables of cases
    return any(fnmatchcase(case.callspec.id, pattern) for pattern in mark.args)


class Meter:
    """Measures the tests of one process."""

    def __init__(self, clock: Callable[[], float] = spent) -> None:
        self._clock = clock
        self._loop = 0.0
        self._measured_at = -OFTEN
        self._started = 0.0

    def start(self) -> None:
        if self._clock() - self._measured_at >= OFTEN:
            before = self._clock()
            loop()
            self._measured_at = self._clock()
            self._loop = self._measured_at - before
        self._started = self._clock()

    def stop(self) -> float:
        """Return the loops since the start."""
        return (self._clock() - self._started) / self._loop


class Budget:
    """A plug-in of pytest: every process measures its tests, the one that reports adds them up and judges."""

    def __init__(self, budget: float = BUDGET) -> None:
        self.budget = budget
        self.loops: dict[str, float] = {}
        self._meter = Meter()

    @property
    def total(self) -> float:
        return sum(self.loops.values())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        self._meter.start()
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        if call.when == "teardown" and not item.get_closest_marker("slow"):
            item.user_properties.append((PROPERTY, self._meter.stop()))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, value in report.user_properties:
            if name == PROPERTY:
                self.loops[report.nodeid] = float(value)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        cache = getattr(session.config, "cache", None)
        if self.loops and cache is not None:  # .pytest_cache/v/budget/loops: where the time goes
            cache.set("budget/loops", {test: round(loops, 2) for test, loops in self.loops.items()})
        if self.total > self.budget and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what the tests took, and name the dear ones."""
        if not self.loops:
            return
        write = terminalreporter.write_line
        dear = sorted((pair for pair in self.loops.items() if pair[1] > DEAR), key=lambda pair: -pair[1])
        for test, loops in dear:
            write(f"{loops:6.0f} loops  {test}")
        write(f"{len(dear)} tests take more than {DEAR:.0f} loops of processor time")
        files: dict[str, float] = defaultdict(float)
        for test, loops in self.loops.items():
            files[test.partition("::")[0]] += loops
        for file, loops in sorted(files.items(), key=lambda pair: -pair[1])[:DEAREST]:
            write(f"{loops:6.0f} loops  {file}")
        write(f"all tests take {self.total:.0f} of {self.budget:.0f} loops of processor time")
        if self.total > self.budget:
            write("The default suite is too dear: make a test cheaper, or give its long form to `make slow`.")
