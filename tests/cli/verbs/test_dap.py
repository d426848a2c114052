"""`dither dap task`: the parameters, the promise, and counts that two aggregators made of reports."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.mechanisms.shuffled import SHUFFLER
from tests.support.terminal import run

ROOT = Path(__file__).parents[3]
CLIENT = ROOT / "clients" / "javascript"
SURVEY = """
[questions.age]
interval = [18, 100]
mechanism = "SW"
epsilon = 1
cells = 64

[questions.browser]
categories = ["firefox", "chrome", "other"]
mechanism = "KRR"
epsilon = 1
"""


def survey(folder: Path, text: str = SURVEY) -> Path:
    path = folder / "survey.toml"
    path.write_text(text)
    return path


def test_the_tasks_and_the_promise_of_an_aggregate(tmp_path: Path) -> None:
    told = json.loads(run("dap", "task", survey(tmp_path), "--minimum-batch", 5000, "--json").output)
    age = dt.SW(dt.Interval(18, 100), epsilon=1, cells=64)
    browser = dt.KRR(dt.Categories(["firefox", "chrome", "other"]), epsilon=1)
    assert {name: one["length"] for name, one in told["tasks"].items()} == {"age": 64, "browser": 3}
    assert told["tasks"]["age"]["chunk_length"] == 8
    assert told["tasks"]["age"]["min_batch_size"] == 5000
    assert told["tasks"]["age"]["fingerprint"] == age.fingerprint
    both = dt.shuffled(dt.Each(age=age, browser=browser), n=5000, delta=1e-6)
    assert told["aggregate"]["epsilon"] == both.epsilon
    assert SHUFFLER not in told["aggregate"]["assumes"]
    assert any("one of the two aggregators" in one for one in told["aggregate"]["assumes"])
    words = " ".join(run("dap", "task", survey(tmp_path)).output.split())
    assert "age: Prio3Histogram, length 64, chunk length 8, minimum batch 1000" in words
    assert "fills a batch with its own reports" in words


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("cells = 64", "", "got 65536"),
        ('"KRR"', '"OUE"', "browser: expected reports of one cell"),
        ('"KRR"', '"OLH"', "browser: expected reports of one cell"),
    ],
)
def test_what_cannot_be_aggregated_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    told = run("dap", "task", survey(tmp_path, SURVEY.replace(old, new)))
    assert told.exit_code == 2
    assert words in " ".join(told.output.split())


def test_a_batch_of_one_is_refused(tmp_path: Path) -> None:
    told = run("dap", "task", survey(tmp_path), "--minimum-batch", 1)
    assert told.exit_code == 2
    assert "minimum batch" in told.output


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("node") is None or not (CLIENT / "node_modules" / "@divviup" / "prio3").is_dir(),
    reason="node and @divviup/prio3 are needed",
)
@pytest.mark.parametrize(
    "question",
    [
        dt.KRR(dt.Categories(range(5)), epsilon=1),
        dt.ProjectiveResponse(dt.Categories(range(40)), epsilon=1),
        dt.SW(dt.Interval(0, 1), epsilon=2, cells=64),
    ],
    ids=str,
)
def test_two_aggregators_count_what_a_summary_counts(question: Any, tmp_path: Path) -> None:
    values = np.linspace(0, 1, 40) if isinstance(question, dt.SW) else np.arange(40) % 5
    reports = question.perturb(values)
    spec = tmp_path / "question.json"
    spec.write_text(question.to_json())
    (task,) = json.loads(run("dap", "task", spec, "--json").output)["tasks"].values()
    asked = {**task, "cells": reports.cells.tolist()}
    told = subprocess.run(
        ["node", "prio3.mjs"],
        cwd=CLIENT,
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    answer = json.loads(told.stdout)
    summary = dt.Counts.from_counts(question, answer["counts"])
    assert summary.n == 40
    assert np.array_equal(summary.counts, dt.Counts.of(reports).counts)
    assert answer["bytes"] == task["report_bytes"]
