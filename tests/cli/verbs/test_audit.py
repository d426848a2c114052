"""`dither audit` of functions and commands: any language, one verdict."""

from __future__ import annotations

import json
import re
import sys
from functools import partial
from pathlib import Path

import pytest

import dither as dt
from tests.support import terminal

CLIENT = """
import json, random, sys
rng = random.Random()
for line in sys.stdin:
    value = json.loads(line)
    print(json.dumps(value) if rng.random() < {truth} else json.dumps(rng.choice({words})))
"""
WORDS = ("yes", "no", "often", "never")
MODULE = """
import numpy as np
rng = np.random.default_rng(1)
def fair(values):
    return np.round(64 * values + rng.laplace(scale=64, size=len(values)))
def bare(values):
    return values
def total(data):
    return round(sum(data) + float(rng.laplace()), 1)
number = 3
"""


run = partial(terminal.run, "audit")


def _client(folder: Path, truth: float, words: tuple[str, ...] = ("yes", "no")) -> list[str]:
    path = folder / "client.py"
    path.write_text(CLIENT.format(truth=truth, words=list(words)))
    return [sys.executable, str(path)]


def test_a_command_is_audited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Four answers, truth in 7 of 10 reports: ln 7 is spent, while two reports of a call are equal too seldom
    # to be taken for reports that share their noise, which is tried first and by many more calls.
    # Without the usual limit of time: a busy machine would draw fewer reports, and prove less.
    monkeypatch.setattr("dither.advice.audits.api.audit_function", partial(dt.audit_function, seconds=1e6))
    found = run(
        "--categories",
        ",".join(WORDS),
        "--epsilon",
        "1",
        "--samples",
        "4000",
        "--repeat",
        "1000",
        "--json",
        "--",
        *_client(tmp_path, 0.6, WORDS),
    )
    assert found.exit_code == 1, found.output
    data = json.loads(found.output)
    assert not data["ok"]
    assert data["realised"] > 1  # it ends as soon as more than ε is proved; the repetition proves how much
    assert data["evidence"]["trials"][0] > 50
    assert {data["evidence"]["first"], data["evidence"]["second"]} < {f"'{word}'" for word in WORDS}
    assert data["repeated"]["trials"] == [1000, 1000]
    assert data["repeated"]["event"] == data["evidence"]["event"]
    assert data["repeated"]["epsilon"] > 1.3


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("raise SystemExit('no such luck')", "ended with exit code 1: no such luck"),
        ("print(1)", "got 1 for"),
    ],
)
def test_commands_that_fail(program: str, words: str) -> None:
    found = run("--categories", "a,b", "--epsilon", "1", "--", sys.executable, "-c", program)
    assert found.exit_code == 2
    assert words in found.output


def test_commands_that_do_not_exist() -> None:
    found = run("--categories", "a,b", "--epsilon", "1", "--", "no-such-command-here")
    assert found.exit_code == 2
    assert "expected a program named no-such-command-here" in found.output


def test_a_function_is_audited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "somebodys.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    line = ["--interval", "0", "1", "--epsilon", "1", "--samples", "4000"]
    fair = run("somebodys:fair", *line)
    assert fair.exit_code == 0, fair.output
    assert "ε = 1 is not refuted" in fair.output
    picture = tmp_path / "found.png"
    bare = run("somebodys:bare", *line, "--plot", str(picture), "--repeat", "300", "--seed", "5")
    assert bare.exit_code == 1
    assert "DOES NOT HOLD" in bare.output
    assert "--repeat 10000 of dither audit; the audit's seed is 5" in bare.output
    assert re.search(r"repeated on fresh reports:\n  input .*\n  300 of 300 against 0 of 300", bare.output)
    assert picture.stat().st_size > 5000
    data = ["--inputs", "[[0, 0.5], [1, 0.5]]", "--each", "--epsilon", "1", "--samples", "2000"]
    curator = run("somebodys:total", *data)
    assert curator.exit_code == 0, curator.output
    sys.modules.pop("somebodys", None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--interval", "0", "1"], "give a mechanism, MODULE:FUNCTION, or a command"),
        (["podium", "--", "node"], "got both"),
        (["podium", "--interval", "0", "1", "--epsilon", "1", "--repeat", "9"], "--repeat with a function"),
        (["--epsilon", "1", "--"], "expected a command after --"),
        (["math:nothing", "--interval", "0", "1", "--epsilon", "1"], "cannot import math:nothing"),
        (["nowhere:f", "--interval", "0", "1", "--epsilon", "1"], "cannot import nowhere:f"),
        (["math:pi", "--interval", "0", "1", "--epsilon", "1"], "to be a function, got"),
        (["math:sin", "--interval", "0", "1"], "--epsilon"),
        (["math:sin", "--epsilon", "1"], "expected a domain"),
        (["math:sin", "--epsilon", "1", "--inputs", "{"], "JSON list"),
    ],
)
def test_wrong_words(words: list[str], said: str) -> None:
    found = run(*words)
    assert found.exit_code == 2
    assert said in found.output
