"""The program that solves the shipped designs keeps what it finds, and solves what is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dither.foundation.losses import as_power
from dither.mechanisms.optimal.design import Design
from dither.mechanisms.optimal.problem import Problem
from tests.support.repository import ROOT
from tools.shipped import NUMBERS, PREFIXES, main, read, write


@pytest.mark.slow
def test_the_command_that_builds_the_archive_finds_it_complete() -> None:
    """`python -m tools.shipped` keeps what the package's own archives hold."""
    for kind, archive in (("numbers", NUMBERS), ("prefixes", PREFIXES)):
        before = archive.read_bytes()
        command = [sys.executable, "-m", "tools.shipped", kind]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
        assert done.stdout == ""  # a line for each design that is solved
        assert archive.read_bytes() == before


def test_the_command_that_builds_the_archive_solves_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("scipy")
    missing = Problem(0.125, as_power("squared"))
    designs = read(NUMBERS)
    assert designs.pop(missing.name)
    part = tmp_path / "designs.zip"
    write(part, designs)
    main(["numbers", "--archive", str(part)])
    assert capsys.readouterr().out.startswith(f"{missing.name}: error ")
    found = read(part)
    solved = Design.from_bytes(found.pop(missing.name), missing)
    assert found == designs
    assert solved is not None
    assert solved.gap <= 0.002
