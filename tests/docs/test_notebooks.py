"""The notebooks run from the first cell to the last, and stay small and free of machine paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.repository import ROOT

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
    assert f"notebooks/{path.name}" in (ROOT / "docs" / "index.md").read_text()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not any(output.output_type == "error" for output in outputs)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore")  # the kernel's machinery warns on its own account
def test_runs(path: Path, tmp_path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
