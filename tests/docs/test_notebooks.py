"""The notebooks run from the first cell to the last, and stay small and free of machine paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.repository import ROOT
from tools.notebooks import execute, masked, texts

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


def test_there_is_one_for_each_kind_of_user() -> None:
    assert {path.stem for path in NOTEBOOKS} >= {"collect", "analyse", "research", "places", "classifier"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_well_formed(path: Path) -> None:
    import nbformat  # which takes seconds

    text = path.read_text()
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    assert len(text) < 200_000
    assert notebook.cells[0].source.startswith("# ")
    assert not any(place in text for place in ("/home/", "/tmp/", "/root/", "site-packages"))
    assert f"notebooks/{path.stem}" in (ROOT / "docs" / "start.md").read_text()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not any(output.output_type == "error" for output in outputs)
    assert any("image/png" in output.get("data", {}) for output in outputs), "it has no picture"


def test_numbers_are_masked_and_words_are_not() -> None:
    first, second = "44.2 ± 0.8 (95 %, n = 40 000)", "43.95 ± 1 (95 %, n = 40 000)"
    assert masked(first) == masked(second)
    assert masked("0.01 (‹0 – 0.04)") == masked("0.05 ± 0.02")
    assert masked("mean 1.5") != masked("median 1.5")


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore")  # the kernel's machinery warns on its own account
def test_runs_and_says_what_is_stored(path: Path) -> None:
    import nbformat

    now, stored = execute(path), nbformat.read(path, as_version=4)
    assert all(cell.execution_count for cell in now.cells if cell.cell_type == "code")
    assert texts(now) == texts(stored), f"python -m tools.notebooks {path.stem} stores it anew"
