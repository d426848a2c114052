"""The suite keeps its budget of processor time: what is too dear fails, what is slow is not counted."""

from __future__ import annotations

import hashlib
import re
from itertools import count
from pathlib import Path

import pytest

from tests.support import budget
from tests.support.budget import Budget, Meter, leave_some

CASES = """
import pytest

@pytest.mark.some(every=3)
@pytest.mark.parametrize("number", range(9))
def test_every(number): pass

@pytest.mark.some("a*", "d")
@pytest.mark.parametrize("name", ["ab", "b", "ca", "d"])
def test_named(name): pass

@pytest.mark.slow
def test_long(): sum(range(3_000_000))
"""


class Inner:
    """The hooks of conftest.py, for a run inside of a test; keeps the names of what ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        leave_some(items)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self.ran.append(report.nodeid.rpartition("::")[2])


def run(folder: Path, code: str, *words: str, limit: float = 1e6) -> tuple[int, list[str], Budget]:
    """Run the tests of some code with the checks of this suite; return status, tests and budget."""
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    slow\n    some\n", encoding="utf-8")
    code_file = folder / f"test_{hashlib.sha256(code.encode()).hexdigest()[:8]}.py"  # a module is read once
    code_file.write_text(code, encoding="utf-8")
    inner, kept = Inner(), Budget(limit)
    words = (*words, "-q", "--rootdir", str(folder), "-p", "no:xdist", "-p", "no:cacheprovider")
    status = pytest.main([*words, "--import-mode=importlib", str(code_file)], plugins=[inner, kept])
    return int(status), inner.ran, kept


def test_a_default_run_takes_some_cases_and_a_slow_run_the_others(tmp_path: Path) -> None:
    default = run(tmp_path, CASES, "-m", "not slow")[1]
    assert default == [*(f"test_every[{number}]" for number in (0, 4, 8)), "test_named[ab]", "test_named[d]"]
    status, slow, kept = run(tmp_path, CASES, "-m", "slow")
    assert status == 0
    assert len(default) + len(slow) == 9 + 4 + 1
    assert not set(default) & set(slow)
    assert kept.loops == {}  # what is slow costs what it costs
    nothing = CASES.replace('"a*", "d"', '"no such case"')
    assert run(tmp_path, nothing)[0] == pytest.ExitCode.USAGE_ERROR


def test_a_suite_above_its_budget_fails_and_is_told_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "DEAR", 5.0)
    dear = "def test_dear():\n    sum(range(6_000_000))\n\ndef test_cheap(): pass\n"
    status, ran, _ = run(tmp_path, dear, limit=4)
    assert status == pytest.ExitCode.TESTS_FAILED
    assert ran == ["test_dear", "test_cheap"]
    told = capsys.readouterr().out
    assert "The default suite is too dear" in told
    assert "::test_dear" in told
    assert "::test_cheap" not in told
    assert re.search(r"^ +\d+ loops  test_\w+\.py$", told, re.MULTILINE), "where the time goes, by file"
    assert run(tmp_path, "def test_cheap(): pass", limit=4)[0] == 0


def test_times_are_told_in_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is half as fast takes twice the time for the loop, too."""
    for slower in (1.0, 2.0):
        ticks = (slower * number for number in count())
        meter = Meter(lambda ticks=ticks: next(ticks))  # type: ignore[misc]
        monkeypatch.setattr(budget, "loop", lambda ticks=ticks: [next(ticks) for _ in range(9)])
        meter.start()  # the loop takes ten ticks
        for _ in range(19):
            next(ticks)
        assert meter.stop() == 2.0
