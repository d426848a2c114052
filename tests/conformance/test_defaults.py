"""Every default that a campaign asks is answered by every client, and counted by a collector."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import pytest

import dither_device
from dither.collection.campaign import Campaign
from dither.collection.kinds import ADD_ONS
from dither.core.counts import Counts
from tests.collection.serving import Process
from tests.conformance import test_go
from tests.conformance.test_browser import command, opened, pages
from tests.conformance.test_java import checks, java  # noqa: F401  (a fixture)
from tests.conformance.test_javascript import node
from tests.support.repository import ROOT

LENGTHS: Final = (2, 3, 4, 5, 6, 7, 8, 10, 12, 20, 50, 300)
EPSILONS: Final = (0.5, 1, 2)
HEAD: Final = """
[campaign]
name = "everything"
asker = "city.example"
contact = "mail@city.example"
purpose = "Every default is answered by every client."
begins = 2020-01-01
ends = 2120-01-01
people = 1
repeat = "fresh"
"""
PATHS: Final = [[[0, a], [1, b], [2, a]] for a in (0, 1, 2) for b in (0, 1, 2)]
KINDS: Final[dict[str, tuple[str, Any]]] = {
    "interval": ("interval = [0, 100]", 42),
    "steps": ("interval = [0, 90]\nstep = 5", 42),
    "circle": ("circle = 360", 90),
    "optional": ("interval = [0, 110]\noptional = true", None),
    "optional circle": ("circle = 360\noptional = true", 7),
    "date": ("date = [2000-01-01, 2026-12-31]", "2025-02-03"),
    "time": ("time = true", "13:45"),
    "scale": ('interval = [0, 100000]\nscale = "log"', 1234.5),
    "edges": ("interval = [0, 100]\nscale = [0, 1, 10, 100]", 3),
    "several": ('several = ["a", "b", "c", "d", "e"]\nmost = 2', ["a", "c", "unknown"]),
    "several of many": (f"several = {json.dumps([f'item {i}' for i in range(3000)])}\nmost = 4", ["item 5"]),
    "rectangle": ("rectangle = [[0, 10], [0, 5]]", [3, 4]),
    "disk": ("disk = 2", [0.5, 1]),
    "sphere": ("sphere = true", [8.5, 47.4]),
    "places": ("places = { home = [0, 0], shop = [1, 2], station = [5, 2] }", "shop"),
    "vector": ("vectors = 8\nlength = 2", [0.5] * 8),
    "path": (f"routes = [[0, 2], [0, 2]]\npoints = 3\nprior = [{PATHS}, 'lines']", [[0, 0], [2, 1]]),
    "box": ("box = { age = [18, 100], bmi = [10, 60] }", {"age": 52, "bmi": 24.5}),
    "profile": ('profile = { sex = ["f", "m"], age = ["young", "old"] }', {"sex": "f", "age": "old"}),
}


def questions() -> dict[str, tuple[str, Any]]:
    """Return the table of each question, without a mechanism, and a value."""
    asked = {name: (f"{table}\nepsilon = 1", value) for name, (table, value) in KINDS.items()}
    for length in LENGTHS:
        labels = json.dumps([f"label {code}" for code in range(length)])
        for epsilon in EPSILONS:
            table = f"categories = {labels}\nepsilon = {epsilon}"
            asked[f"{length} at {epsilon}"] = (table, f"label {length - 1}")
            if epsilon == 1:
                asked[f"{length} or none"] = (f"{table}\noptional = true", None)
    return asked


def counted(collector: Process) -> Counter[int]:
    """Return to how many questions a collector has counted how many reports."""
    found: Counter[int] = Counter()
    for name, question in Campaign.read(collector.file).questions.items():
        address = f"{collector.campaign}/summary?{urlencode({'question': name})}"
        with urllib.request.urlopen(address) as answer:
            found[Counts.from_bytes(answer.read(), question).n] += 1
    return found


def by_python(folder: Path, address: str, published: str, values: dict[str, Any]) -> dict[str, Any]:
    """Answer with dither-device."""
    campaign = dither_device.Campaign(published)
    file = folder / "me.account"
    dither_device.Account.create(file, epsilon=1000)
    account = dither_device.Account(file, policy=dither_device.Policy(epsilon=5))
    for name, value in values.items():
        account.answer(campaign.asking(name), campaign.value(name, value))
    done = dither_device.send(account, campaign, address)
    return {"sent": done.sent, "waiting": done.waiting, "refused": done.refused}


def _add_on(question: Any) -> bool:
    return question.device()["draw"] in ADD_ONS


def by_node(client: str, *words: Any) -> Any:
    """Answer in Node with a client, an expression of JavaScript; DIST stands for the folder of its files."""
    dist = f"{ROOT.as_uri()}/clients/javascript/dist"
    script = (
        f"const {{ answerAll }} = await import('{ROOT.as_uri()}/tests/conformance/browser/answers.js');"
        f"const client = {client.replace('DIST', dist)};"
        f"console.log(JSON.stringify(await answerAll(client, ...{json.dumps(words)})))"
    )
    command = [node(), "--input-type=module", "-e", script]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.slow
def test_every_default_is_answered_by_every_client(java: list[str], tmp_path: Path) -> None:  # noqa: F811
    """In Chromium and in Node, in Java, in Go and in Python. The collector counts each after each client."""
    asked = questions()
    tables = "\n".join(f'[questions."{name}"]\n{table}\n' for name, (table, _) in asked.items())
    values = {name: value for name, (_, value) in asked.items()}
    expected = {"sent": len(asked), "waiting": 0, "refused": []}
    with pages("{}") as server:
        origin = f"http://127.0.0.1:{server.server_port}"
        store = str(tmp_path / "reports.db")
        with Process(tmp_path, store, "--origin", origin, toml=HEAD + tables) as collector:
            with urllib.request.urlopen(collector.campaign) as answer:
                published = answer.read().decode()
            words = {"address": collector.campaign, "key": json.loads(published)["key"]}
            found = {"dither-device": by_python(tmp_path, collector.address, published, values)}
            assert counted(collector) == {1: len(asked)}
            given = *words.values(), values
            found["Node"] = by_node("(await import('DIST/dither.global.js'), dither)", *given)
            assert counted(collector) == {2: len(asked)}
            told = checks(java, "all", *words.values(), given=json.dumps(values))
            found["Java"] = json.loads(told[0])
            assert counted(collector) == {3: len(asked)}
            told = test_go.checks(
                test_go.compiled(tmp_path), "all", *words.values(), given=json.dumps(values)
            )
            found["Go"] = json.loads(told[0])
            assert counted(collector) == {4: len(asked)}
            page = f"{server.address('answers.html')}?{urlencode(words | {'values': json.dumps(values)})}"
            with opened(command("chromium", tmp_path / "profile"), page):
                found["Chromium"] = server.told.get(timeout=120)
            assert counted(collector) == {5: len(asked)}
            # The main entry point alone answers what needs no other, and names the others.
            main = "{ ...await import('DIST/dither.js'), ...await import('DIST/signatures.js') }"
            alone = by_node(main, *given)
            asks = Campaign.read(collector.file).questions
            assert set(alone.pop("unanswered")) == {name for name in asks if _add_on(asks[name])}
            assert alone == expected | {"sent": counted(collector)[6], "outcomes": {}}
            more = {"outcomes": {}, "unanswered": []}
            assert found == {
                "dither-device": expected,
                "Node": expected | more,
                "Java": expected,
                "Go": expected,
                "Chromium": expected | more,
            }
