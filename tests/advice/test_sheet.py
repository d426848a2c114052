"""The officer's sheet and the draft of an assessment: from the campaign, with what is missing marked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.terminal import run

TOML = """
[campaign]
name = "commute"
asker = "City of X"
contact = "data@x.example"
purpose = "How long people | travel."
begins = 2026-01-01
ends = 2026-11-21
repeat = "once"
days = 30

[questions.minutes]
interval = [0, 180]
epsilon = 0.5
"""


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    file = tmp_path / "campaign.toml"
    file.write_text(TOML, encoding="utf-8")
    done = run(
        "campaign",
        "publish",
        file,
        "--key",
        tmp_path / "asker.key",
        "--new-key",
        "-o",
        tmp_path / "campaign.json",
    )
    assert done.exit_code == 0, done.output
    return file


def test_the_sheet_states_what_is_signed(campaign: Path, tmp_path: Path) -> None:
    signed = campaign.with_name("campaign.json")
    digest = json.loads(run("campaign", "check", signed, "--json").stdout)["id"]
    for language, words in (("en", "total of one person"), ("de", "Summe für einen Menschen")):
        out = tmp_path / f"{language}.md"
        assert run("explain", signed, "--officer", "--language", language, "-o", out).exit_code == 0
        page = out.read_text(encoding="utf-8")
        for text in ("commute", digest, "City of X", "data@x.example", "How long people / travel.", words):
            assert text in page, text
        assert "2026-01-01 – 2026-11-21" in page
        assert "5.5" in page or "5,5" in page
        assert "50 % → 99,6 %" in page or "50 % → 99.6 %" in page
        assert "____" in page
        assert page.count("\n## ") == 4  # its own facts, and three topics: one sheet
        assert "TO WRITE" in page or "ZU ERGÄNZEN" in page
    unsigned = tmp_path / "unsigned.md"
    assert run("explain", campaign, "--officer", "-o", unsigned).exit_code == 0
    assert "not signed" in unsigned.read_text(encoding="utf-8")


@pytest.mark.parametrize(("language", "mark"), [("en", "TO WRITE"), ("de", "ZU ERGÄNZEN")])
def test_an_assessment_is_filled_as_far_as_it_goes(language: str, mark: str, campaign: Path) -> None:
    done = run("explain", campaign, "--dpia", "--language", language)
    assert done.exit_code == 0, done.output
    parts = done.stdout.split("\n## ")
    assert len(parts) == 11  # title, nine topics and the decision
    marked = [part for part in parts[1:] if mark in part]
    assert len(marked) == 10  # in every part something is the author's
    assert "City of X" in done.stdout
    assert "{" not in done.stdout
    made = json.loads(run("explain", campaign, "--dpia", "--json", "--language", language).stdout)
    assert made["dpia"].rstrip("\n") == done.stdout.rstrip("\n")
    out = campaign.with_name("dpia.html")
    assert run("explain", campaign, "--dpia", "--language", language, "-o", out).exit_code == 0
    assert f'lang="{language}"' in out.read_text(encoding="utf-8")


def test_questions_alone_have_no_assessment(tmp_path: Path) -> None:
    file = tmp_path / "survey.toml"
    file.write_text("[questions.x]\ninterval = [0, 1]\nepsilon = 1\n", encoding="utf-8")
    done = run("explain", file, "--dpia")
    assert done.exit_code == 2
    assert "[campaign]" in done.output


def test_a_card_has_the_asker_of_the_campaign(campaign: Path, tmp_path: Path) -> None:
    made = json.loads(run("card", campaign).stdout)
    assert (made["asker"], made["contact"], made["begins"]) == ("City of X", "data@x.example", "2026-01-01")
    assert made["promise"]["words"] == "ε = 5.5 (11 answers of ε = 0.5)"
    assert json.loads(run("card", campaign, "--asker", "other").stdout)["asker"] == "other"
    file = tmp_path / "survey.toml"
    file.write_text("[questions.x]\ninterval = [0, 1]\nepsilon = 1\n", encoding="utf-8")
    done = run("card", file, "--asker", "me")
    assert done.exit_code == 2
    assert "expected --contact; give" in " ".join(done.output.split())


def test_a_campaign_that_only_counts_who_is_present_has_its_texts(tmp_path: Path) -> None:
    """It has no questions, so that ε says nothing: what is seen is said."""
    file = tmp_path / "present.toml"
    text = TOML[: TOML.index("[questions")].replace(
        '"once"\ndays = 30', '"present"\nevery = "week"\nexpects = 900'
    )
    file.write_text(text, encoding="utf-8")
    checked = run("campaign", "check", file)
    assert checked.exit_code == 0, checked.output
    assert "No question is asked." in " ".join(checked.stdout.split())
    told = json.loads(run("explain", file, "--json").stdout)
    assert "ε does not limit it" in told["officer"][0]
    out = tmp_path / "present.json"
    done = run("campaign", "publish", file, "--new-key", "--key", tmp_path / "asker.key", "-o", out)
    assert done.exit_code == 0, done.output
    assert run("explain", out, "--dpia", "--language", "de").exit_code == 0
    assert json.loads(run("card", file).stdout)["questions"] == []
    done = run("audit", out)
    assert (done.exit_code, "expected a campaign with questions" in done.output) == (2, True)
