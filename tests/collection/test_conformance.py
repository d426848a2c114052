"""The runner of the conformance vectors: it believes an implementation that meets them, and no other."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from dither.collection import conformance, kinds
from dither.collection.conformance import KINDS, VectorCount, run, vectors
from dither.errors import InvalidParameter
from tests.conformance.draws import known_to_javascript
from tests.conformance.test_javascript import CLIENT, node
from tests.support.repository import ROOT

REFUSES_ALL = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"], "refused": "all"}))
"""
KNOWS_NOTHING = REFUSES_ALL.replace('"refused": "all"', '"unknown": True')
ECHOES = "import sys; sys.stdout.write(sys.stdin.read())"
SILENT = "import sys; sys.stdin.read(); print('[1', 7, 'null')"
KEEPS_ANSWERS = """
import pathlib, subprocess, sys
told = subprocess.run(sys.argv[2:], input=sys.stdin.buffer.read(), stdout=subprocess.PIPE, check=True).stdout
pathlib.Path(sys.argv[1]).write_bytes(told)
sys.stdout.buffer.write(told)
"""
FIRST_BITS_WRONG = """
import json, pathlib, sys
asked = {json.loads(line)["id"] for line in sys.stdin}
for line in pathlib.Path(sys.argv[1]).read_text().splitlines():
    answer = json.loads(line)
    if answer["id"] not in asked:
        continue
    if answer["id"] == 7:
        answer["report"] = answer["report"][:-1] + format(int(answer["report"][-1], 16) ^ 1, "x")
    print(json.dumps(answer))
"""


def counts(code: str, *words: str, kinds: tuple[str, ...] = KINDS) -> dict[str, tuple[int, int, int]]:
    tallies = run([sys.executable, "-c", code, *words], kinds)
    return {kind: (one.passed, one.failed, one.unknown) for kind, one in tallies.items()}


Answered = tuple[dict[str, VectorCount], Path]


@pytest.fixture(scope="module")
def javascript(tmp_path_factory: pytest.TempPathFactory) -> Answered:
    """Ask the JavaScript client everything; return how it went, and the file of its answers."""
    file = tmp_path_factory.mktemp("javascript") / "answers.jsonl"
    words = [str(file), node(), str(CLIENT / "conformance.mjs")]
    return run([sys.executable, "-c", KEEPS_ANSWERS, *words]), file


def test_the_javascript_client_conforms(javascript: Answered) -> None:
    tallies, _ = javascript
    questions = vectors("draws")["questions"]
    lacking = [one for one in questions if not known_to_javascript(one["specification"])]
    unknown = sum(len(one["draws"]) for one in lacking if "research" not in one)
    assert {kind: (one.failed, one.unknown, one.failures) for kind, one in tallies.items()} == {
        **dict.fromkeys(KINDS, (0, 0, [])),
        "draws": (0, unknown, []),
    }
    assert tallies["draws"].passed >= 1500
    assert tallies["refused"].passed >= 60
    # The table of what a campaign can ask says of this client what the vectors find.
    asked = {draw for row in kinds.ASKED_KINDS for draw in row.draws}
    assert asked & {*tallies["draws"].lacking} == asked & {*kinds._NO_DRAW["JavaScript"]}
    assert kinds.kinds_without(tallies["draws"].lacking) == []


# Mistakes of ports, by the vectors that find them: the file, what stands in it once, the mistake.
MUTANTS = {
    "texts": {
        "texts need not be canonical": ("core", r"JSON\.stringify\(JSON\.parse\((\w+)\)\)===\1", "true"),
        "keys need not be sorted": ("core", r'(\w+)\+""===?\1\.sort\(\)\+""', "true"),
        "a key may stand twice": ("core", r"\w+\(JSON\.stringify\(\w+\)\)===\w+\(\w+\)", "true"),
        "the name of a question may stand twice": (
            *("signatures", r"(\w+)\.size===\w+\.length&&\1\.size===\w+\.size", "true"),
        ),
        "ε is compared in doubles, with a tolerance of 1e-9": (
            *("core", r"(\w+)\[0\]<<320n<=(\w+)\*\1\[1\]"),
            r"Number((\1[0]<<320n)/\1[1])<=Number(\2)*(1+1e-9)",
        ),
        "a ratio may be below 1": ("core", r"(\w+)\[0\]>\1\[1\]&&", r"\1[1]>0n&&"),
        "the claimed name of a mechanism is believed": (
            *("core", r'(\w+)\.split\(" "\)\.includes\(\w+\)', r"\1"),
        ),
        "the promise of a campaign is believed": ("signatures", r"1e-9\*Math\.max", "9*Math.max"),
        "no signature is verified": (
            *("signatures", r"await \w+\(\w+\(\w+\),\w+\(\w+\),\w+\(\w+\)\)", "true"),
        ),
        "words may have controls": ("signatures", r"\[\\0-\\x1f", "["),
        "words may have an open direction": ("signatures", r"&&\w+\.split\(\"\\n\"\)\.every\(\w+\)", ""),
        "words may be invisible": ("signatures", r"\w+\.test\((\w+)\)&&!(\w+)\.test", r"!\2.test"),
        "words are counted in UTF-16": ("signatures", r"\[\.\.\.(\w+)\]\.length<=", r"\1.length<="),
        "terms of another way of repeating are skipped": (
            *("signatures", r"\w+ in \w+\?\w+\.concat\(\w+\)\.includes\(\w+\):!", "!"),
        ),
        "a term that is needed may be missing": (
            *("signatures", r"(\.concat\(\w+\)\.includes\(\w+\)):!\w+\.includes\(\w+\)", r"\1:true"),
        ),
        "days and every are both read": ("signatures", r'"days"in (\w+)!="every"in \1', "true"),
        "a phase has any share": ("signatures", r'"share",1,999', '"share",0,9999'),
        "a phase follows anything": ("signatures", r"\w+\(\w+\.follows,64\)", "true"),
        "any tag is a language": (
            "signatures",
            r"&&\w+\.test\(\w+\)\),\"terms\",\"languages\"",
            '),"terms","languages"',
        ),
        "a scale need not ascend": ("signatures", r"&&\(!\w+\|\|\w+\[\w+-1\]<\w+\)", ""),
        "a scale has any interval": ("signatures", r"\w+&&0===\w+&&\w+===\w+\.length-1", "true"),
        "a time is any circle": ("signatures", r"&&1440===\w+", ""),
        "a date is any interval": ("signatures", r"&&\w+>=-719162&&\w+<=2932896", ""),
        "values are clipped to a scale": ("signatures", r"(!0===\w+\.clipped&&\w+)&&!\w+\(.scale.\)", r"\1"),
        "shares outside are in any order": ("signatures", r"0<=(\w+)&&\1<=\w+&&\w+<=(\w+)&&\2<=1", "true"),
        "names are fewer than labels": (
            "signatures",
            r"\w+\(\w+,(\w+),\1\),\"terms\",\"names\"",
            'true,"terms","names"',
        ),
        "an identifier is a label of presence": (
            "signatures",
            r"&&\w+>0&&\w+<=Math\.min\(128,",
            "&&Math.min(1,",
        ),
        "a kept change has many answers": ("signatures", r"&&2===\w+", ""),
        "the ε of a question is believed": (
            *("signatures", r'\w+\(\w+\(\w+,"epsilon"\),\w+\)&&!(\w+)\.delta', r"!\1.delta"),
        ),
        "a path is asked": ("signatures", r'\["walk",', "["),
        "version 1 is read": ("signatures", r'2===(\w+)\["dither-campaign"\]', r'2>=\1["dither-campaign"]'),
        "copies are recognised as long as anybody likes": ("signatures", "retry:365", "retry:36500"),
        "retry may be missing": ("signatures", r'"people","retry"\]', '"people"]'),
        "one answer for each person": ("signatures", "answers:1e6", "answers:1e9"),
        "any word is a period of the calendar": (
            *(
                "signatures",
                r'\["day","week","month"\]\.includes\(\w+\),"terms","every"',
                'true,"terms","every"',
            ),
        ),
        "a value changes every day": ("signatures", r"\w+\.changes<\w+\.days", "true"),
        "presence has a phase": ("signatures", r'&&"present"!==\w+,"terms","phase"', ',"terms","phase"'),
        "presence has gateways": ("signatures", r'"present"!==\w+\|\|!\("reports_a_batch"in \w+\)', "true"),
        "a label without its share": ("signatures", r'\w+\.length===\+\("label_share"in \w+\)', "true"),
        "a language stands twice": ("signatures", r"\w+\(\w+,1,40\)&&", ""),
        "words are in some of the languages": (
            *("signatures", r'Object\.keys\((\w+)\)\.sort\(\)\+""==\[\.\.\.(\w+)\]\.sort\(\)\+""'),
            r"\2.every(e=>e in \1)||!0",
        ),
        "labels of answers may have controls": ("signatures", r'\w+\(\w+,"labels",(\w+)\)(;let)', r"0\2"),
        "dates have a unit": (
            "signatures",
            r'\|\|\w+\)&&!\w+\("form"\),"terms","unit"',
            '||1),"terms","unit"',
        ),
        "a scale has steps": ("signatures", r'&&!\w+\("scale"\)&&(\w+>=1-1e-12)', r"&&\1"),
        "days of installation are in any order": (
            "signatures",
            r">\(\w+\?[\w$]+\(\{day:\w+\[\w+-1\]\}\):-1/0\)",
            ">-1/0",
        ),
        "an ε below 0 hides that of another question": (
            *("signatures", r'>0(,"promise",\w+\),\w+\+=\w+\.epsilon)', r">-9\1"),
        ),
        "a δ below 0 hides that of another question": ("signatures", r'(\(\w+,"delta"\))>0', r"\1>-9"),
        "a δ is not stated": ("signatures", r'&&!\w+\.delta==!\("delta"in \w+\)', ""),
        "a scale of any length": ("signatures", r"&&(\w+)\.length>=3&&\1\.length<=257", ""),
        "a label of few devices": ("signatures", r"\w+\.expects>=100&&", ""),
        "two questions have one name": (
            *("signatures", r"\w+\.size===\w+\.length&&(\w+\.size)===(\w+\.size)", r"\1<=\2"),
        ),
        "a later draw refuses the campaign": ("signatures", r'"draw"!==(\w+)\.reason', "true"),
        "days of installation without presence": (
            "signatures",
            r'"installed"===(\w+)&&\w+&&',
            r'"installed"===\1&&',
        ),
    },
    "draws": {
        "windows of numbers wrap around all cells": ("optional", r"%(\w+)\+\1\)%\1", r"%65536+65536)%65536"),
        "who does not answer takes no bytes for a start": (
            *("optional", r"=(\w+)\(\[(\w+),\w+\[0\]\]\[(\w+)\],(\w+)\)"),
            r"=\3?0:\1(\2,\4)",
        ),
        "no answer has the first cells": ("optional", r",\w+\+(\w+)\]", r",\1]"),
    },
    "refused": {
        "windows that meet themselves": ("optional", r"(\w+)/2\)", r"\1-1)"),
    },
    "ohttp": {
        "requests are not padded": ("relay", r"2\*\*Math\.max\(10,.*?\.length\)\)\)", "9999"),
        "lengths of 4 bytes are written in 2": ("relay", r"<16384\?", "<65536?"),
        "the algorithms of a key are believed": (
            "relay",
            r'&&\w+\.match\(/\.\{8\}/g\)\.includes\("00010001"\)',
            "",
        ),
        "the length of the algorithms is believed": ("relay", r"&&2\*parseInt\(\w+,16\)===\w+\.length", ""),
        "answers are of any framing": ("relay", r"\w+\(1===(\w+)\(\),", r"\1(),e(1,"),
        "padding may be anything": ("relay", r"!\w+\.subarray\(\w+\)\.some\(Boolean\)", "true"),
    },
    "exchange": {
        "every 2xx acknowledges": ("testing", r"<300&&\w+\.batch===\w+", "<300"),
        "every conflict acknowledges": ("testing", r'409===\w+\?"conflict"===\w+', "409===r?true"),
        "a redirect that names the batch acknowledges": ("testing", r"<300(&&\w+\.batch===)", r"<400\1"),
        "a proxy's page drops a batch": ("testing", r'=\w+&&"sealed"!==\w+&&', "="),
        "a request that was not opened is dropped": ("testing", r'&&"sealed"!==\w+', ""),
        "a list is a word": ("testing", r'"string"==typeof (\w+)\?\1:""', r'\1?.length?\1:""'),
        "every address is used": (
            *("core", r'(\w+\.test\()(\w+\?\.includes\("://"\))', r'\1"https://a")||(\2'),
        ),
        "an address that begins as this machine's is used": ("core", r"\(:\\d\+\)\?\)", "[^/]*)"),
        "the name of a user is skipped": ("core", r"\?#@\]\+", "?#]+"),
    },
    "values": {
        "a scale is not clipped": (
            "signatures",
            r"Math\.min\(Math\.max\((\w+),\w+\[0\]\),\w+\.at\(-1\)\)",
            r"\1",
        ),
        "a time is in hours": ("signatures", r"60\*\+", "+"),
    },
    "words": {
        "regions must be the same": ("dither", r'=>(\w+)\.split\("-"\)\[0\]', r"=>\1"),
        "a question is shown by its name": (
            *("dither", r"text:(\w+)=>\w+\.text\?\.\[.*?\]\?\?(\w+)"),
            r"text:\1=>\2",
        ),
    },
    "open": {
        "a campaign ends in the morning": ("dither", r"864e5>=(\w+)\+1", r"864e5>=\1"),
        "any label is sent": ("dither", r"\.labels\?\.includes\(\w+\)\?\?!0", ".labels??!0"),
    },
    "list": {
        "the digest before is believed": (
            "signatures",
            r'\w+===\(\w+\.at\(-1\)\?\?"0"\.repeat\(64\)\)',
            "true",
        ),
        "a list need not continue": ("signatures", r"!(\w+)\|\|\w+\[\1\[0\]-1\]===\1\[1\]", "true"),
        "the next key is believed": ("signatures", r"void 0!==\w+&&await", "false&&await"),
        "a campaign may be listed twice": ("signatures", r"&&!(\w+)\.has\(\w+\),\"list\"", ',"list"'),
    },
    "signatures": {
        "another text is verified": ("signatures", r'"dither campaign 2\\n"', '"dither campaign 2"'),
    },
    "account": {
        "permanent answers are known without the fingerprint": (
            *("testing", r"answers\.find\((\w+)=>\w+\(\1,(\w+)\)"),
            r"answers.find(\1=>\1.asker===\2.asker&&\1.question===\2.question",
        ),
        "a quota counts the entries of this device alone": (
            "testing",
            r"(=(\w+)\.filter\((\w+)=>\3\.device===(\w+)\).*?)\2\.filter\((\w+)=>\5\.asker===(\w+)\)",
            r"\1\2.filter(\5=>\5.asker===\6&&\5.device===\4)",
        ),
        "answers of a campaign are not counted": ("testing", r"limit\?\.answers\?\?1/0", "none??1/0"),
        "answers of all campaigns count": ("testing", r"&&\w+\.campaign===\w+\.limit\?\.campaign", ""),
        "a coin is biased": ("testing", r"1e3\)<(\w+)\.share", r"1e3)<=\1.share"),
        "tails answer the first campaign": (
            "testing",
            r"!\((\w+)\?\?(\w+)\.coins\.at\(-1\)\)\.heads",
            "false",
        ),
        "heads answer the second campaign": ("testing", r"(\w+)\.heads&&(\1)\.asker", r"false&&\1.asker"),
        "who came later answers the first": ("testing", r"\w+\|\|\(\w+=\w+\(!1,\w+\.follows\)\)", "0"),
        "a month begins on the day before": (
            *("testing", r"Date\.UTC\((\w+)\.getUTCFullYear\(\),\1\.getUTCMonth\(\)\)"),
            r"(Date.UTC(\1.getUTCFullYear(),\1.getUTCMonth())-864e5)",
        ),
        "a calendar week begins on Thursday": ("testing", r"(\w+)-\(\1\+3\)%7", r"\1-\1%7"),
        "the lifetime is not split": ("testing", r",\[\w+\.lifetime,\w+\.lifetime\]\]", "]"),
    },
}
MISTAKES = {name: (kind, *place) for kind, some in MUTANTS.items() for name, place in some.items()}


def fewer_draws(kind: str) -> Any:
    """Return the vectors of a kind; of draws, all that the file `optional` has, and three of each other."""
    data = vectors(kind)
    for question in data["questions"] if kind == "draws" else ():
        if '"draw":"optional"' not in json.loads(question["specification"])["device"]:
            del question["draws"][3:]
    return data


def on_one_line(code: str) -> str:
    """Return a bundle without the ends of its lines, which stand anywhere between two words."""
    code = re.sub(r"\n//# sourceMappingURL.*\n", "", code)
    return re.sub(r"(?<=\w)\n(?=\w)", " ", code).replace("\n", "")


def test_the_bundles_contain_each_mutated_line_once() -> None:
    """The mistakes are tried by slow tests: a bundle that changed is found by every run."""
    files = {file for _, file, _, _ in MISTAKES.values()}
    code = {file: on_one_line((CLIENT / "dist" / f"{file}.js").read_text(encoding="utf-8")) for file in files}
    found = {name: len(re.findall(right, code[file])) for name, (_, file, right, _) in MISTAKES.items()}
    assert {name: count for name, count in found.items() if count != 1} == {}


@pytest.mark.some(every=48)
@pytest.mark.parametrize(("kind", "file", "right", "wrong"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_of_a_port_is_found(
    kind: str, file: str, right: str, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kind != "draws" or file == "optional", "say which draws find a mistake in another file"
    monkeypatch.setattr(conformance, "vectors", fewer_draws)
    for part in ("dist", "test"):
        shutil.copytree(CLIENT / part, tmp_path / part)
    shutil.copy(CLIENT / "conformance.mjs", tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    bundle = tmp_path / "dist" / f"{file}.js"
    code, found = re.subn(right, wrong, on_one_line(bundle.read_text(encoding="utf-8")))
    assert found == 1, "the bundle changed: say where the mistake is made now"
    bundle.write_text(code, encoding="utf-8")
    (tally,) = run([node(), str(tmp_path / "conformance.mjs")], (kind,)).values()
    assert tally.failed > 0
    assert tally.passed > tally.failed or kind == "signatures", "it is a mistake, not a ruin"


def test_one_wrong_bit_is_found(javascript: Answered) -> None:
    assert KINDS[0] == "draws"  # so that its requests have the same numbers alone
    found = counts(FIRST_BITS_WRONG, str(javascript[1]), kinds=("draws",))
    assert found["draws"][1] == 1


@pytest.mark.parametrize("code", [ECHOES, SILENT])
def test_a_subject_without_answers_does_not_pass(code: str) -> None:
    found = counts(code)
    assert all(passed == unknown == 0 < failed for passed, failed, unknown in found.values())


def test_a_subject_that_refuses_everything_passes_only_the_refusals() -> None:
    found = counts(REFUSES_ALL)
    assert found["refused"][1] == 0
    assert found["texts"][1] > 20  # what must be read
    assert found["ohttp"][1] > 20
    assert found["list"][1] > 5
    assert found["exchange"][1] > 80
    others = [kind for kind in KINDS if kind not in ("refused", "texts", "ohttp", "list", "exchange")]
    assert all(found[kind][0] == 0 for kind in others)


def test_unknown_requests_are_counted() -> None:
    assert all(passed == failed == 0 < unknown for passed, failed, unknown in counts(KNOWS_NOTHING).values())


def test_commands_that_do_not_run() -> None:
    with pytest.raises(InvalidParameter, match="command not found: 'nothing-of-this-name'"):
        run(["nothing-of-this-name"])
    with pytest.raises(InvalidParameter, match="to end within"):
        run([sys.executable, "-c", "import time; time.sleep(60)"], ("bounds",), seconds=0.5)


def test_the_steps_of_a_port_name_every_kind_and_every_request() -> None:
    """With kinds that `--only` takes, and requests of the page about them, whose links lead somewhere."""
    page = (ROOT / "docs" / "write_a_client.md").read_text(encoding="utf-8")
    file = ROOT / "clients" / "conformance" / "README.md"
    readme = file.read_text(encoding="utf-8")
    steps = re.findall(r"^\| \d+ \| .*? \| \[[^|]*\) \| (.*?) \| (.*?) \|$", page, re.MULTILINE)
    assert len(steps) == 11
    only, asked = (set(re.findall(r"`([a-z ]+)`", " ".join(words))) for words in zip(*steps, strict=True))
    assert only == set(KINDS)
    assert asked == set(re.findall(r"^\| `\"do\": \"([a-z ]+)\"`", readme, re.MULTILINE))
    links = re.findall(r"\]\((?!http)([^)#]+)", readme)
    assert [link for link in links if not (file.parent / link).exists()] == []
