"""The search finds the pages that answer what people type; docs/_static/search.js ranks, run by Node."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.support.repository import ROOT

sys.path.insert(0, str(ROOT / "docs"))

import search_index

QUERIES = tomllib.loads((ROOT / "tests" / "docs" / "queries.toml").read_text(encoding="utf-8"))
RANK = """
const { address, prepare, search } = require(process.argv[1]);
const { pages, queries } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const index = prepare(pages);
const found = queries.map((query) => search(index, query).slice(0, 5).map((one) => address(one)));
process.stdout.write(JSON.stringify(found));
"""


@pytest.fixture(scope="module")
def pages() -> list[dict[str, Any]]:
    return search_index.build()


def ranked(pages: list[dict[str, Any]], queries: list[str]) -> dict[str, list[str]]:
    """Return the first five addresses for each query."""
    node = shutil.which("node") or shutil.which("node", path=str(Path(sys.executable).parent))
    if node is None:
        pytest.skip("there is no Node on this machine")
    script = str(ROOT / "docs" / "_static" / "search.js")
    given = json.dumps({"pages": pages, "queries": queries})
    done = subprocess.run([node, "-e", RANK, script], input=given, capture_output=True, text=True, check=True)
    return dict(zip(queries, json.loads(done.stdout), strict=True))


def lost(found: dict[str, list[str]], wanted: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the queries whose pages are not among the first three results, with these results."""
    first = {query: [page.partition(".html")[0] for page in results[:3]] for query, results in found.items()}
    return {query: first[query] for query, pages in wanted.items() if not set(first[query]) & set(pages)}


def test_nine_queries_of_ten_have_their_page_in_the_first_three(pages: list[dict[str, Any]]) -> None:
    found = ranked(pages, [query for queries in QUERIES.values() for query in queries])
    for part, wanted in QUERIES.items():
        missed = lost(found, wanted)
        assert len(wanted) >= (30 if part == "continued" else 60)
        assert len(missed) <= 0.1 * len(wanted), f"{part}: {missed}"
    assert found["install"][0] == "start.html#install"
    assert found["dt.recommend"][0] == "api/recommend.html"


@pytest.mark.slow
def test_the_measure_sees_a_search_without_the_words_of_readers(pages: list[dict[str, Any]]) -> None:
    wanted = QUERIES["known"]
    without = [{key: value for key, value in page.items() if key != "words"} for page in pages]
    assert len(lost(ranked(without, list(wanted)), wanted)) > 0.2 * len(wanted)


def test_words_of_readers_are_of_pages_that_exist(pages: list[dict[str, Any]]) -> None:
    known = {page["page"] for page in pages}
    assert set(search_index.WORDS) <= known
    assert {page for queries in QUERIES.values() for names in queries.values() for page in names} <= known
