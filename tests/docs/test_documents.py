"""README and docs are true: their Python runs, and what they show as output is what comes out."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

import dither.core.question.base
from dither.foundation.randomness import Seeded
from tests.support.repository import ROOT
from tests.support.terminal import run

GENERATED = {"catalogue.md", "api.md", "cli.md"}  # made by `make docs` from the code itself
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += sorted((ROOT / "tools" / "benchmarks").glob("*.md"))
PAGES = [page for page in PAGES if page.name not in GENERATED]
_DEAR = (
    "anywhere",
    "anywhere_box",
    "choose",
    "classifiers",
    "classifiers_bounds",
    "classifiers_published",
    "crowd",
    "gallery",
    "gallery_more",
    "optimal",
    "people",
    "rankings",
    "time",
    "time_change",
    "trajectories",
    "trajectories_maps",
)
LONG = {f"{name}.md" for name in _DEAR} | {page.name for page in PAGES if page.stem.startswith("recipe_")}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow if page.name in LONG else ()) for page in PAGES],
    ids=lambda page: page.name,
)
@pytest.mark.some(every=2)
def test_examples_run(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A page is one session; its randomness is seeded here so that the outputs shown are the real ones."""
    monkeypatch.setattr(dither.core.question.base, "SYSTEM", Seeded(2025))
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```(pycon|python|console)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    names: dict[str, object] = {}
    for number, (kind, block) in enumerate(blocks):
        if kind == "console":
            _type_in(block)
        elif ">>>" in block:
            example = doctest.DocTestParser().get_doctest(
                block, names, f"{page.name}[{number}]", str(page), 0
            )
            runner = doctest.DocTestRunner(optionflags=FLAGS)
            runner.run(example, clear_globs=False)
            names.update(example.globs)
            assert runner.failures == 0
        else:
            exec(compile(block, f"{page.name}[{number}]", "exec"), names)


def _type_in(block: str) -> None:
    """Run the lines of a terminal session that begin with `$ dither`, and compare what they print."""
    for session in block.split("$ dither ")[1:]:
        typed, _, expected = session.partition("\n")
        shown = run(*shlex.split(typed))
        assert shown.exit_code == 0, shown.output
        assert doctest.OutputChecker().check_output(expected, shown.output, FLAGS), shown.output


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())
    # The site copies the notebooks beside the pages, so that the folder exists only after `make docs`.
    files = {target: re.sub(r"^notebooks/", "../examples/notebooks/", target) for target in targets}
    missing = [target for target, file in files.items() if not (page.parent / file).exists()]
    assert [target for target in missing if target not in GENERATED] == []


def test_the_calls_of_the_papers_run() -> None:
    """Every call in the tables of papers.md is an expression that can be evaluated; every status is known."""
    page = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    tables = re.findall(
        r"^\| section \| what \| call \| status \|\n\|[-|]+\|\n((?:\|.*\n)+)", page, re.MULTILINE
    )
    names: dict[str, object] = {}
    exec(re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[0], names)
    rows = [row.strip("| ").split(" | ") for table in tables for row in table.splitlines()]
    assert len(tables) >= 5
    assert len(rows) > 50
    for _, what, call, status in rows:
        assert eval(call.strip("`"), names) is not None, what
        assert status.startswith(("holds", "corrected", "as published")), what
