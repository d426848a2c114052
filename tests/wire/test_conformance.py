"""The runner of the conformance vectors: it believes an implementation that meets them, and no other."""

from __future__ import annotations

import sys

import pytest

from dither.errors import InvalidParameter
from dither.wire.conformance import KINDS, run, vectors
from tests.conformance.draws import known_to_javascript
from tests.conformance.test_javascript import CLIENT, node

REFUSES_ALL = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"], "refused": "all"}))
"""
KNOWS_NOTHING = REFUSES_ALL.replace('"refused": "all"', '"unknown": True')
ECHOES = "import sys; sys.stdout.write(sys.stdin.read())"
SILENT = "import sys; sys.stdin.read(); print('[1', 7, 'null')"
FIRST_BITS_WRONG = """
import json, subprocess, sys
told = subprocess.run(sys.argv[1:], input=sys.stdin.buffer.read(), stdout=subprocess.PIPE, check=True).stdout
for line in told.splitlines():
    answer = json.loads(line)
    if answer["id"] == 7:
        answer["report"] = answer["report"][:-1] + format(int(answer["report"][-1], 16) ^ 1, "x")
    print(json.dumps(answer))
"""


def counts(code: str, *words: str, kinds: tuple[str, ...] = KINDS) -> dict[str, tuple[int, int, int]]:
    tallies = run([sys.executable, "-c", code, *words], kinds)
    return {kind: (one.passed, one.failed, one.unknown) for kind, one in tallies.items()}


def test_the_javascript_client_conforms() -> None:
    tallies = run([node(), str(CLIENT / "conformance.mjs")])
    questions = vectors("draws")["questions"]
    unknown = sum(len(one["draws"]) for one in questions if not known_to_javascript(one["specification"]))
    assert {kind: (one.failed, one.unknown, one.failures) for kind, one in tallies.items()} == {
        **dict.fromkeys(KINDS, (0, 0, [])),
        "draws": (0, unknown, []),
    }
    assert tallies["draws"].passed >= 1500
    assert tallies["refused"].passed >= 60


def test_one_wrong_bit_is_found() -> None:
    found = counts(FIRST_BITS_WRONG, node(), str(CLIENT / "conformance.mjs"), kinds=("draws",))
    assert found["draws"][1] == 1


@pytest.mark.parametrize("code", [ECHOES, SILENT])
def test_no_answer_is_no_proof(code: str) -> None:
    found = counts(code)
    assert all(passed == unknown == 0 < failed for passed, failed, unknown in found.values())


def test_who_refuses_everything_meets_the_refusals_alone() -> None:
    found = counts(REFUSES_ALL)
    assert found["refused"][1] == 0
    assert all(found[kind][0] == 0 for kind in KINDS if kind != "refused")


def test_what_is_not_known_is_counted() -> None:
    assert all(passed == failed == 0 < unknown for passed, failed, unknown in counts(KNOWS_NOTHING).values())


def test_commands_that_do_not_run() -> None:
    with pytest.raises(InvalidParameter, match="no command 'nothing-of-this-name'"):
        run(["nothing-of-this-name"])
    with pytest.raises(InvalidParameter, match="did not end within"):
        run([sys.executable, "-c", "import time; time.sleep(60)"], ("bounds",), seconds=0.5)
