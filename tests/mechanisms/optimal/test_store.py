"""Designs: shipped, interpolated, remembered; with scipy and without."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.foundation.losses import as_power
from dither.mechanisms.optimal import design, store
from dither.mechanisms.optimal.design import FORMAT, Design
from dither.mechanisms.optimal.problem import Problem
from dither.mechanisms.optimal.solver import solve_design as solver
from tests.support.cases.optimal import KINDS, UNIT, optimal

ARCHIVE = Path(store.__file__).with_name(store.SHIPPED)


@pytest.mark.parametrize("kind", KINDS)
def test_shipped_budgets(kind: str) -> None:
    budgets = store.budgets(optimal(kind, 1.0).problem.kind)
    assert budgets[0] == 0.05
    assert budgets[-1] == 8.0
    assert max(np.diff(budgets)) <= 0.25
    assert set(np.arange(1, 33) / 4) <= set(budgets)
    assert set(np.arange(1, 33) / 8) <= set(budgets)


def test_the_archive_is_small() -> None:
    assert ARCHIVE.stat().st_size < 500_000
    with zipfile.ZipFile(ARCHIVE) as archive:
        assert archive.testzip() is None


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_shipped_design_is_certified(kind: str) -> None:
    for epsilon in store.budgets(optimal(kind, 1.0).problem.kind):
        assert optimal(kind, epsilon).gap <= (0.004 if epsilon <= 6 else 0.01)


@pytest.mark.some(every=4)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", [0.09, 1.31, 2.69, 4.6, pytest.param(7.1, marks=pytest.mark.slow)])
def test_interpolated_designs(kind: str, epsilon: float) -> None:
    """Between shipped ones: the gap is that of the mixture itself, as docs/optimal.md says it."""
    mechanism = optimal(kind, epsilon)
    assert mechanism.gap <= (0.004 if epsilon < 4 else 0.013)
    assert mechanism.certificate.error >= optimal(kind, np.ceil(4 * epsilon) / 4).certificate.bound
    assert mechanism.certificate.bound <= optimal(kind, np.floor(4 * epsilon) / 4 or 0.05).certificate.error
    assert dt.audit(mechanism).ok
    if mechanism.unbiased:
        x = np.linspace(0, 1, 101)
        assert np.abs(np.asarray(mechanism.sampled.bias(x))).max() <= 1e-9


def test_a_design_is_solved_once(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Problem(1.0, as_power(1.5))
    made = store.find(asked)
    assert made.gap <= 0.005
    files = [path for path in empty_cache.rglob("*") if path.is_file()]
    assert len(files) == 1
    monkeypatch.setattr(solver, "solve_design", _refuse)
    store.find.cache_clear()
    again = store.find(asked)
    assert again.to_bytes() == made.to_bytes()
    assert (again.error, again.bound) == (made.error, made.bound)


def _refuse(*_: Any, **__: Any) -> Design:
    raise AssertionError("solved again")


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "another"])
def test_a_damaged_file_is_not_believed(empty_cache: Path, damage: str) -> None:
    asked = Problem(1.3, as_power("absolute"))
    made = store.find(asked)
    (file,) = (path for path in empty_cache.rglob("*") if path.is_file())
    whole = file.read_bytes()
    other = store.find(Problem(2.3, as_power("absolute"))).to_bytes()
    changed = whole[:40] + bytes([whole[40] ^ 1]) + whole[41:]
    file.write_bytes({"cut": whole[:-5], "changed": changed, "empty": b"", "another": other}[damage])
    store.find.cache_clear()
    assert store.find(asked).to_bytes() == made.to_bytes()
    assert file.read_bytes() == whole  # and it was mended


def test_another_format_is_not_read(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Problem(1.3, as_power("absolute"))
    made = store.find(asked)
    monkeypatch.setattr(design, "FORMAT", design.FORMAT + 1)
    assert Design.from_bytes(made.to_bytes(), asked) is not None
    monkeypatch.undo()
    newer = made.to_bytes()
    newer = newer[:4] + (design.FORMAT + 1).to_bytes(2, "little") + newer[6:]
    assert Design.from_bytes(newer, asked) is None


def test_a_folder_nobody_can_write_to_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("not a folder")
    monkeypatch.setenv("DITHER_CACHE", str(file))
    store.find.cache_clear()
    assert store.find(Problem(1.3, as_power("absolute"))).gap < 0.01
    store.find.cache_clear()


def _hammer(number: int, failures: Any) -> None:
    """Throw a design away, find it again and read its file: it is whole and the right one, or not there."""
    asked = Problem(1.0)
    made = store.find(asked)
    solver.solve_design = lambda problem: made  # solving takes seconds, and is not what is tested
    path = store.folder() / f"design-{FORMAT}" / f"fresh-{asked.name}"
    for _ in range(150):
        path.unlink(missing_ok=True)
        store.find.cache_clear()
        found = store.find(asked, fresh=True)
        try:
            kept = Design.from_bytes(path.read_bytes(), asked)
        except FileNotFoundError:  # another process has just thrown it away
            kept = found
        if kept is None or not kept.to_bytes() == found.to_bytes() == made.to_bytes():
            failures.put(number)
    store.find.cache_clear()
    store.find(asked, fresh=True)


@pytest.mark.slow
def test_many_processes_share_the_folder(empty_cache: Path) -> None:
    context = multiprocessing.get_context("spawn")
    failures = context.Queue()
    workers = [context.Process(target=_hammer, args=(number, failures)) for number in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=120)
        assert worker.exitcode == 0
    assert failures.empty()
    assert [path.name for path in empty_cache.rglob("*") if path.is_file()] == ["fresh-" + Problem(1.0).name]


WITHOUT_SCIPY = """
import sys
sys.modules["scipy"] = None
import dither as dt
assert dt.Optimal(dt.Interval(0, 1), epsilon=1).gap < 0.005
assert dt.Optimal(dt.Interval(0, 1), epsilon=1.1, unbiased=True).gap < 0.011
for more in ({"loss": 3}, {"fresh": True}):
    try:
        dt.Optimal(dt.Interval(0, 1), epsilon=1, **more)
    except dt.errors.MissingExtra as error:
        assert ".[optimal]" in str(error)
    else:
        raise AssertionError("solved without a solver")
"""
REPORTS_OF_ELSEWHERE = """
import sys
sys.modules["scipy"] = None
import dither as dt
reports = dt.from_bytes(sys.stdin.buffer.read())
assert reports.question.parameters["loss"] == {"loss": 3.0}
assert len(reports.values) == 50
assert sum(reports.question.probabilities(0.3)) == 1
"""


def test_without_scipy(tmp_path: Path) -> None:
    """Shipped and interpolated designs need no solver; others say which extra to install."""
    _run(WITHOUT_SCIPY, tmp_path)
    made = dt.Optimal(UNIT, epsilon=1, loss=3)
    reports = made.perturb(np.linspace(0, 1, 50), source=dt.Seeded(1))
    _run(REPORTS_OF_ELSEWHERE, tmp_path, reports.to_bytes())


def test_scipy_is_not_loaded_for_what_ships(tmp_path: Path) -> None:
    _run(
        "import sys, dither as dt\n"
        "dt.Optimal(dt.Interval(0, 1), epsilon=2).perturb([0.5]).values\n"
        "assert not any(name.split('.')[0] == 'scipy' for name in sys.modules)",
        tmp_path,
    )


def _run(code: str, cache: Path, given: bytes = b"") -> None:
    import os

    environment = {**os.environ, "DITHER_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", code], input=given, capture_output=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def test_a_request_that_no_mechanism_meets() -> None:
    """Reports inside the domain cannot average to its end."""
    pytest.importorskip("scipy")
    from dither.mechanisms.optimal.solver.program import ProgramGrid, solve

    points = np.linspace(0.0, 0.5, 9)
    inside = np.linspace(-0.5, 0.5, 17)
    with pytest.raises(dt.errors.Infeasible):
        solve(Problem(1.0, as_power("squared"), unbiased=True), ProgramGrid.at(points, inside))


@pytest.mark.parametrize("kind", KINDS)
def test_designs_are_checked(kind: str) -> None:
    design = optimal(kind, 2.0).design
    values, counts, width = design.values, design.counts, design.width
    for wrong in (
        (values[:-1], counts, width),
        (-values - 1, counts, width),
        (values, counts * 0, width),
        (values, counts * 3, width),
        (values, counts, 0),
        (values, counts, design.cells),
        (values * np.nan, counts, width),
    ):
        with pytest.raises(dt.errors.InvalidParameter):
            Design(design.problem, *wrong, design.prices)
