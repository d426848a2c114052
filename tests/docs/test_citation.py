"""The citation file names this version, and the papers that the references name."""

from __future__ import annotations

import re

from tests.support.repository import PYPROJECT, ROOT

CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_it_is_this_version() -> None:
    project = PYPROJECT["project"]
    assert re.search(r"^version: (.+)$", CITATION, re.MULTILINE).group(1) == project["version"]
    assert f"name: {project['authors'][0]['name']}" in CITATION


def test_its_papers_are_among_the_references() -> None:
    references = " ".join((ROOT / "docs" / "references.md").read_text(encoding="utf-8").split())
    numbers = re.findall(r"arxiv\.org/abs/(\S+)", CITATION)
    assert len(numbers) == 3
    assert [number for number in numbers if f"arXiv {number}" not in references] == []
