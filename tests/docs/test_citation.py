"""The citation file names this version, and the papers that the references name."""

from __future__ import annotations

import re

from tests.support.repository import PYPROJECT, ROOT
from tools import references

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


def test_the_page_and_the_citation_file_are_written_from_the_bibliography() -> None:
    known = references.read(references.BIBLIOGRAPHY.read_text(encoding="utf-8"))
    assert len(known) > 90
    assert len({reference.key for reference in known}) == len(known)
    page = references.PAGE.read_text(encoding="utf-8")
    assert references.page(known, page) == page, "python -m tools.references writes it"
    assert references.citation(known, CITATION) == CITATION, "python -m tools.references writes it"
    listed = re.findall(r"^- \*\*\[(\w+)\]\*\*", page, re.MULTILINE)
    assert listed == [reference.key for reference in known]


def test_every_entry_is_what_bibtex_reads() -> None:
    text = references.BIBLIOGRAPHY.read_text(encoding="utf-8")
    assert text.count("{") == text.count("}")
    for reference in references.read(text):
        assert {"author", "title"} <= reference.fields.keys(), reference.key
        assert all(name.strip() for name in reference.authors), reference.key
    assert text.count("\n@") == len(references.read(text))
