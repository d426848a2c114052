"""Kept changes of three clients: their reports are estimated together, and nothing is drawn twice."""

from __future__ import annotations

import datetime
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

import dither as dt
import dither_device
from dither.collection.campaign import Campaign
from dither.collection.published import Published
from tests.conformance import changes, test_go
from tests.conformance.signatures import KEY
from tests.conformance.test_go import binary  # noqa: F401  (a fixture)
from tests.conformance.test_java import checks, java  # noqa: F401  (a fixture)
from tests.conformance.test_javascript import node
from tests.support.repository import ROOT

DAYS, PEOPLE = 9, 1_500
FEW = 200  # a file and two writes for each
BEGINS = datetime.date(2026, 1, 5)
LAST = (BEGINS - datetime.date(1970, 1, 1)).days + DAYS - 1  # of the first period
LIFE = ["no", "no", "no", "yes", "yes", "yes", "no", "no", "no"]
YES = np.array([value == "yes" for value in LIFE], dtype=np.float64)
CAMPAIGN = f"""
[campaign]
name = "smokes"
asker = "city.example"
contact = "mail@city.example"
purpose = "How many people smoke on a day."
begins = {BEGINS}
ends = 2120-01-01
repeat = "kept change"
days = {DAYS}
changes = CHANGES
[questions.smokes]
categories = ["no", "yes"]
epsilon = 4
"""
SCRIPT = """
await import("DIST/dither.global.js");
const { Device, allRules, changes, memoryStore, readCampaign } = dither;
const { published, key, days, life, people } = JSON.parse(await new Promise((resolve) => {
  let text = "";
  process.stdin.on("data", (part) => (text += part)).on("end", () => resolve(text));
}));
const campaign = await readCampaign(published, key);
for (let n = 0; n < people; n++) {
  let day = days - 8;
  const rules = allRules({ changes, now: () => ({ wall: day * 86400, boot: "a", elapsed: day * 86400 }) });
  const store = memoryStore();
  const options = { epsilon: 100, store, policy: { epsilon: 5 }, rules };
  const sent = [];
  for (; day <= days; day += 4) {
    const device = await Device.open(options); // opened again each time
    const inquiry = device.asking(...campaign.questions.smokes);
    for (const value of [life, "no", ["no"]]) {
      const { report } = await device.answer(inquiry, value === life ? life.slice(0, day - days + 9) : value);
      if (report) sent.push(report);
    }
  }
  console.log(sent.join(""));
}
"""


def campaign(count: int) -> tuple[Campaign, str]:
    contract = Campaign.from_toml(CAMPAIGN.replace("CHANGES", str(count)))
    return contract, Published.sign(contract, KEY).to_json()


def estimated(contract: Campaign, told: list[str], people: int = PEOPLE) -> None:
    """Assert that the reports of all people, in hexadecimal digits, are about how they live."""
    change = contract.over_time["smokes"]
    rows = np.frombuffer(bytes.fromhex("".join(told)), "<u4").reshape(-1, 3)
    found = dt.by_day(change.reports(rows))
    assert found.n == people
    # With one change, the first one is kept.
    truth = YES if contract.changes == 2 else np.array([0, 0, 0, *[1] * 6], dtype=np.float64)
    share, error = (np.asarray(part)[:, 1] for part in (found.value, found.standard_error))
    assert np.abs((share - truth) / error).max() < 5.5
    assert error.max() < 0.3


def by_python(published: str, folder: Path) -> list[str]:
    read = dither_device.Campaign(published)
    told = []
    for number in range(FEW):
        day = [LAST - 8]

        def now(day: list[int] = day) -> dict[str, object]:
            return {"wall": day[0] * 86_400, "boot": "a", "elapsed": day[0] * 86_400}

        file = folder / f"{number}.account"
        policy = dither_device.Policy(epsilon=5)
        account = dither_device.Account.create(file, epsilon=100, policy=policy, now=now)
        for day[0] in (LAST - 8, LAST - 4, LAST):
            given = account.answer(read.asking("smokes"), LIFE[: day[0] - LAST + 9])
            told.append("" if given.report is None else given.report.hex())
    return told


def by_node(published: str) -> list[str]:
    key = Published.from_json(published).key
    given = {"published": published, "key": key, "days": LAST, "life": LIFE, "people": PEOPLE}
    script = SCRIPT.replace("DIST", f"{ROOT.as_uri()}/clients/javascript/dist")
    command = [node(), "--input-type=module", "-e", script]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2])
def test_three_clients_report_the_same_life(count: int, java: list[str], tmp_path: Path) -> None:  # noqa: F811
    contract, published = campaign(count)
    estimated(contract, by_node(published))
    given = {"published": published, "key": Published.from_json(published).key, "life": LIFE}
    words = "changes", str(LAST), str(PEOPLE)
    estimated(contract, checks(java, *words, given=json.dumps(given) + "\n"))
    estimated(contract, by_python(published, tmp_path), FEW)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2])
def test_go_reports_the_same_life(count: int, binary: list[str]) -> None:  # noqa: F811
    contract, published = campaign(count)
    given = {"published": published, "key": Published.from_json(published).key, "life": LIFE}
    words = ("changes", str(LAST), str(PEOPLE))
    estimated(contract, test_go.checks(binary, *words, given=json.dumps(given) + "\n"))


def test_the_file_is_what_the_script_writes() -> None:
    assert changes.FILE.read_text(encoding="utf-8") == changes.text(), "python -m tests.conformance.changes"


def test_the_vectors_have_every_kind_of_draw() -> None:
    rows = changes.DRAWS.values()
    assert {group for _, _, group, _, _, _ in rows} == {0, 1, 2, 3, 4}
    assert {count for _, count, _, _, _, _ in rows} >= {1, 2, 3, 5, 8}
