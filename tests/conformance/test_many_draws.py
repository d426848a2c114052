"""Many draws of each mechanism: Python draws once, and every client that is found draws the same."""

from __future__ import annotations

import json
import secrets
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import test_go
from tests.conformance.draws import known_to_javascript, text, vectors
from tests.conformance.test_browser import BROWSERS, differing
from tests.conformance.test_java import compiled
from tests.conformance.test_javascript import failures, run

Questions = list[dict[str, Any]]
PARTS = 2  # of 10^4 draws each, other ones in every run; 10^5 of each mechanism were compared with 10


def differing_in(command: list[str], made: Questions) -> list[str]:
    """Return the questions of draws whose report, or number of bytes, is another one from a command."""
    names: list[tuple[str, str]] = []
    lines: list[str] = []
    for question in made:
        specification = question["specification"]
        for draw in question["draws"]:
            asked = {"id": len(lines), "do": "draw", "specification": specification, **draw}
            lines.append(json.dumps(asked, ensure_ascii=False))
            names.append((question["name"], draw["report"]))
            specification = ""  # as before
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=True)
    told = {
        one["id"]: (one.get("report"), one.get("left")) for one in map(json.loads, done.stdout.splitlines())
    }
    return [name for at, (name, report) in enumerate(names) if told[at] != (report, 0)]


def without_research(made: Questions) -> Questions:
    """Return the questions but those that a port may leave out."""
    return [question for question in made if "research" not in question]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_ten_thousand_fresh_draws_of_each_mechanism(part: int, tmp_path: Path) -> None:
    """In Java, in Go, in Node and in every browser that is found. A location of a path is a draw.

    Chromium has the engine of Node: it draws a tenth.
    """
    seed = secrets.token_hex(4)
    print(f"vectors(10_000, {seed!r})")  # shown where the test fails
    every = vectors(10_000, seed)
    assert sum(len(question["draws"]) for question in every) > 400_000
    java = compiled(tmp_path)
    if java is not None:
        assert differing_in([*java, "dither.Conformance"], every) == []
    if test_go.found() is not None:
        (tmp_path / "go").mkdir()
        assert differing_in([*test_go.compiled(tmp_path / "go"), "-answer"], without_research(every)) == []
    known = [question for question in every if known_to_javascript(question["specification"])]
    file = tmp_path / "vectors.json"
    file.write_text(text(known), encoding="utf-8")
    done = run("test/draws.test.mjs", vectors=file)
    assert done.returncode == 0, failures(done)
    for browser in BROWSERS:
        if any(map(shutil.which, BROWSERS[browser])) and (browser != "chromium" or part == 0):
            told = differing(browser, tmp_path / browser, file.read_text(encoding="utf-8"))
            count = sum(len(question["draws"]) for question in known)
            assert told == {"draws": count, "differences": 0, "questions": len(known)}
