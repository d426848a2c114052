"""`dither conformance`: words, JSON and exit codes."""

from __future__ import annotations

import json
import sys

from tests.conformance.test_javascript import CLIENT, node
from tests.support.terminal import run


def test_a_subject_that_conforms() -> None:
    words = ["conformance", "--only", "bounds", "--", node(), str(CLIENT / "conformance.mjs")]
    shown = run(*words)
    assert (shown.exit_code, shown.output) == (0, "bounds: 100 met\nIt conforms.\n")


def test_a_subject_that_says_nothing() -> None:
    words = ["conformance", "--only", "batches", "--json", "--", sys.executable, "-c", ""]
    shown = run(*words)
    told = json.loads(shown.output)
    assert shown.exit_code == 1
    assert told["conforms"] is False
    assert told["vectors"]["batches"]["failed"] == 4


def test_no_command() -> None:
    assert run("conformance").exit_code == 2
    shown = run("conformance", "--", "nothing-of-this-name")
    assert shown.exit_code == 2
    assert "there is no command" in shown.output
