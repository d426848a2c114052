"""The table of what a campaign can ask: in the page, in `campaign check`, and against the vectors."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import dither as dt
from dither.collection import kinds
from dither.collection.campaign import Campaign
from dither.collection.published import Published
from dither.errors import InvalidParameter
from dither_device.campaign import Campaign as DeviceCampaign
from dither_device.consent import words_of
from tests.collection.campaigns import KEY
from tests.conformance.draws import PYTHON_ONLY
from tests.support.repository import ROOT
from tests.support.terminal import run

HEAD = """
[campaign]
name = "kinds"
asker = "city.example"
contact = "a@city.example"
purpose = "What can be asked"
begins = 2026-01-01
ends = 2026-12-31
"""
PATHS = [[[0, a], [1, b], [2, a]] for a in (0, 1, 2) for b in (0, 1, 2)]
TABLES = {
    "number": "interval = [0, 180]",
    "number on a scale": 'interval = [0, 1000]\nscale = "log"',
    "number in steps": "interval = [0, 180]\nstep = 15",
    "date": "date = [2026-01-01, 2026-12-31]",
    "angle": "circle = 360",
    "time of the day": "time = true",
    "one of a list": 'categories = ["a", "b", "c", "d", "e", "f", "g", "h"]',
    "several of a list": 'several = ["a", "b", "c"]\nmost = 2',
    "number or no answer": "interval = [0, 180]\noptional = true",
    "one of a list or no answer": 'categories = ["a", "b"]\noptional = true',
    "place in a rectangle": "rectangle = [[0, 2], [0, 1]]",
    "place on a sphere": "sphere = true",
    "place in a disk": "disk = 2.5\ncentre = [0, 0]",
    "place of a list": "places = { home = [0, 0], shop = [1, 2], station = [5, 2] }",
    "vector": "vectors = 8\nlength = 2",
    "complete path": f"routes = [[0, 2], [0, 2]]\npoints = 3\nprior = [{PATHS}, 'lines of the city']",
    "several numbers": "box = { age = [18, 100], bmi = [10, 60] }",
    "profile": 'profile = { sex = ["f", "m"], age = 3 }',
}


def test_the_page_has_the_table() -> None:
    assert kinds.table() in (ROOT / "docs" / "wire.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.some(every=3)
def test_toml_asks_every_kind_and_the_default_draws_as_the_table_says(kind: str) -> None:
    (row,) = (asked for asked in kinds.ASKED_KINDS if asked.kind == kind)
    contract = Campaign.from_toml(f"{HEAD}\n[questions.asked]\n{TABLES[kind]}\nepsilon = 1\n")
    assert contract.questions["asked"].device()["draw"] in row.draws
    assert Campaign.from_text(contract.text) == contract
    kinds.check_counted(contract)
    assert kinds.rows(contract)[0].startswith(f"asked: {kind}, drawn as ")


READ = {
    "number": "a number from 0 to 180",
    "number on a scale": "a number from 0 to 1000",
    "date": "a day from 2026-01-01 to 2026-12-31",
    "angle": "an angle, of 360",
    "time of the day": "a time of the day",
    "several of a list": "any of a, b, c, of which 2 are reported",
    "number or no answer": "a number from 0 to 180, or no answer",
    "one of a list or no answer": "one of a, b, or no answer",
    "place in a disk": "a place",
    "several numbers": "together age from 18 to 100, bmi from 10 to 60",
    "profile": "together sex, age",
}


def test_a_person_reads_what_they_are_asked_for_and_not_the_numbers_of_the_device() -> None:
    """A scale is from 0 to 32 on the device, and a date a number of days."""
    for kind, words in READ.items():
        contract = Campaign.from_toml(f"{HEAD}\n[questions.asked]\n{TABLES[kind]}\nepsilon = 1\n")
        device = DeviceCampaign(Published.sign(contract, KEY).to_json())
        assert f"asked: {words} (ε = 1)" in words_of(device, 1.0), kind
    scaled = Campaign.from_toml(f"{HEAD}\n[questions.asked]\n{TABLES['number on a scale']}\nepsilon = 1\n")
    officer = scaled.explain().officer.split("\n")[0]
    assert officer.startswith("asked: a number from 0 to 1000, on a scale of 32 parts, ")
    assert "standard error" not in officer  # it would be one of the parts
    assert json.loads(scaled.card)["questions"][0]["scale"][-1] == 1000


def test_a_list_of_places_keeps_what_estimates_need_when_it_is_read_back() -> None:
    """The distances do not travel. Places with one list of neighbours have one report, and one share."""
    distances = [[abs(i - j) for j in range(5)] for i in range(5)]
    asked = f'places = ["a", "b", "c", "d", "e"]\ndistances = {distances}\nepsilon = '
    contract = Campaign.from_toml(f"{HEAD}\n[questions.near]\n{asked}4\n[questions.far]\n{asked}1\n")
    read = Campaign.from_text(contract.text)
    people = ["a"] * 4_000 + ["c"] * 1_000
    near = dt.frequencies(read.questions["near"].perturb(people, source=dt.Seeded(1)))
    assert near.labels == ("a", "b", "c", "d", "e")
    assert np.abs(near.value - [0.8, 0, 0.2, 0, 0]).max() < 0.03
    far = dt.frequencies(read.questions["far"].perturb(people, source=dt.Seeded(1)))
    assert far.labels == ("a, b", "c", "d, e")
    assert np.abs(far.value - [0.8, 0.2, 0]).max() < 0.12
    assert read.questions["far"].quantities == ("frequencies",)


def test_wrong_places_vectors_and_paths_are_refused() -> None:
    for asked, words in (
        ('places = ["a", "b"]', "expected distances"),
        ('places = ["a", "b"]\ndistances = [[0, 1]]', "square"),
        ("places = { a = [0, 1], b = [1] }", "coordinates"),
        ("vectors = 8\nlenght = 2", "length"),
        ("routes = [[0, 2], [0, 2]]", "public paths"),
        ("routes = 3", "two intervals"),
    ):
        with pytest.raises(InvalidParameter, match=words):
            Campaign.from_toml(f"{HEAD}\n[questions.asked]\n{asked}\nepsilon = 1\n")


def test_the_share_of_labels_has_a_short_form() -> None:
    """As the number `labels`, where the campaign has no public labels: these are a list."""
    asked = 'every = "week"\nexpects = 90000\n[questions.a]\ncategories = ["n", "y"]\nepsilon = 1\n'
    head = f'{HEAD}repeat = "present"\n'
    short, long = (Campaign.from_toml(f"{head}{name} = 0.7\n{asked}") for name in ("labels", "label_share"))
    assert short == long
    assert json.loads(short.text)["label_share"] == 700
    with pytest.raises(InvalidParameter, match="leave one of them out"):
        Campaign.from_toml(f"{head}labels = 0.7\nlabel_share = 0.7\n{asked}")
    with pytest.raises(InvalidParameter, match="list of texts"):
        Campaign.from_toml(f"{HEAD}labels = 0.7\n[questions.a]\ncircle = 360\nepsilon = 1\n")


def test_every_kind_is_tried_or_is_not_asked_by_default() -> None:
    others = {asked.kind for asked in kinds.ASKED_KINDS} - set(TABLES)
    assert others == {"kept change"}


def test_clients_that_lack_a_draw_are_named() -> None:
    assert set(kinds._NO_DRAW["JavaScript"]) >= {name for name in PYTHON_ONLY if not name.startswith("joint")}
    asked = "[questions.a]\ninterval = [0, 1]\nepsilon = 1\n"
    for terms in ('"fresh"\nanswers = 3', '"once"\nevery = "week"', '"same"\nphase = { share = 0.1 }'):
        assert not kinds.gaps_of_clients(Campaign.from_toml(f"{HEAD}repeat = {terms}\n{asked}"))
    asked = '[questions.a]\ncategories = ["n", "y"]\nepsilon = 1\n'
    change = Campaign.from_toml(f'{HEAD}repeat = "kept change"\ndays = 28\nchanges = 1\n{asked}')
    assert not kinds.gaps_of_clients(change)
    assert kinds.rows(change)[0].startswith("a: kept change, drawn as 'response' by RR; answered by ")
    assert "JavaScript with changes" in kinds.rows(change)[0]


def test_the_entry_points_of_javascript_are_those_of_its_client() -> None:
    code = (ROOT / "clients" / "javascript" / "src" / "question.ts").read_text(encoding="utf-8")
    (listed,) = re.findall(r"const ENTRIES[^=]*= \{(.*?)\n\};", code, re.DOTALL)
    assert dict(re.findall(r"^  (\w+): \"(\w+)\",$", listed, re.MULTILINE)) == kinds.ADD_ONS
    assert kinds.javascript() in (ROOT / "docs" / "devices_client.md").read_text(encoding="utf-8")


def test_what_a_collector_cannot_count_is_refused_by_it() -> None:
    asked = '[questions.a]\ncategories = ["n", "y"]\nepsilon = 1\n'
    change = f'{HEAD}repeat = "kept change"\ndays = 28\nchanges = 1\n{asked}'
    with pytest.raises(InvalidParameter, match="kept changes do not name their period"):
        kinds.check_counted(Campaign.from_toml(change))


@pytest.mark.parametrize(
    "file", sorted((ROOT / "examples").rglob("campaign.toml")), ids=lambda file: file.parent.name
)
def test_check_prints_the_row_of_every_question_of_the_examples(file: Path) -> None:
    told = run("campaign", "check", str(file))
    assert told.exit_code == 0
    kind = "|".join(asked.kind for asked in kinds.ASKED_KINDS)
    for name in Campaign.read(file).questions:
        row = rf"asks +{name}: ({kind}), drawn as '.*; answered by Python, dither-device"
        assert re.search(row, told.output)
