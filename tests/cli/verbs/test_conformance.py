"""`dither conformance`: words, JSON and exit codes."""

from __future__ import annotations

import json
import sys

from dither.collection.conformance import vectors
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
    assert told["vectors"]["batches"]["failed"] == len(vectors("batches")["batches"])


def test_json_names_all_failures() -> None:
    """Some of a hundred are shown, with what was told for what was expected; as JSON all are."""
    code = (
        "import json, sys\nfor line in sys.stdin:"
        " print(json.dumps({'id': json.loads(line)['id'], 'below': '1f'}))"
    )
    words = ["--only", "bounds", "--", sys.executable, "-c", code]
    shown = run("conformance", *words).output.splitlines()
    assert shown[0] == "bounds: 0 met, 100 failed"
    assert shown[6:] == ["  … and 95 more; --json names them", "It does not conform."]
    assert all(": another below: 1f for " in line for line in shown[1:6])
    told = json.loads(run("conformance", "--json", *words).output)["vectors"]["bounds"]
    assert len(set(told["failures"])) == told["failed"] == 100


def test_no_command() -> None:
    assert run("conformance").exit_code == 2
    shown = run("conformance", "--", "nothing-of-this-name")
    assert shown.exit_code == 2
    assert "command not found" in shown.output
