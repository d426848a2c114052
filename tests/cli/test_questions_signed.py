"""Signed campaigns, as files and at addresses: every verb verifies them, and says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dither.collection.published import Published
from dither.collection.web.requests import BUNDLES, INTEGRITY, bundle, integrity
from tests.collection.campaigns import TOML
from tests.support.terminal import run

ROOT = "https://city.example"
Serve = Callable[..., str]


@pytest.fixture
def signed(tmp_path: Path) -> Path:
    (tmp_path / "campaign.toml").write_text(TOML, encoding="utf-8")
    words = ("--key", tmp_path / "asker.key", "--new-key", "-o", tmp_path / "signed.json")
    assert run("campaign", "publish", tmp_path / "campaign.toml", *words).exit_code == 0
    return tmp_path / "signed.json"


@pytest.fixture
def serve(signed: Path, monkeypatch: pytest.MonkeyPatch) -> Serve:
    """Return a function that puts files at a collector's paths, and returns the campaign's address."""
    text = signed.read_bytes()
    place = f"/v1/campaigns/{Published.from_json(text).id}"
    files = {place: text, "/v1/list": signed.with_name("asker.campaigns").read_bytes()}
    files |= {f"/client/{name}": bundle(name) or b"" for name in BUNDLES}

    def exchange(to: Any, method: str, path: str, **_: object) -> tuple[int, str, bytes, str]:
        return (200, "", files[path], "") if path in files else (404, "", b"", "")

    def serving(**changed: bytes | None) -> str:
        for path, data in changed.items():
            files.pop(path) if data is None else files.update({path: data})
        return ROOT + place

    monkeypatch.setattr("dither.collection.client.exchange", exchange)
    return serving


def test_every_verb_takes_a_signed_campaign(signed: Path, serve: Serve, tmp_path: Path) -> None:
    raw = tmp_path / "raw.csv"
    raw.write_text("minutes,browser\n" + "30,other\n" * 60, encoding="utf-8")
    plain = json.loads(run("explain", signed.with_name("campaign.toml"), "--json").stdout)
    for place in (signed, serve()):
        for words in (
            ("explain", place),
            ("describe", place),
            ("card", place),
            ("sql", place, "--dialect", "duckdb"),
            ("check", raw, "--campaign", place),
            ("perturb", raw, "--campaign", place, "-o", tmp_path / "reports.csv", "--force"),
            ("estimate", tmp_path / "reports.csv", "--question", place),
        ):
            done = run(*words)
            assert done.exit_code == 0, done.output
            assert "the signature is valid" in done.stderr, words
            assert Published.from_json(signed.read_bytes()).id in done.stderr
        assert json.loads(run("explain", place, "--json").stdout) == plain
    audited = run("audit", signed)
    assert audited.exit_code == 0
    assert "the signature is valid" in audited.stderr
    assert "in total, a person is promised" in audited.stdout


def test_a_changed_campaign_is_refused_by_every_verb(signed: Path, serve: Serve, tmp_path: Path) -> None:
    text = json.loads(signed.read_text(encoding="utf-8"))
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps({**text, "campaign": text["campaign"].replace("city", "town")}))
    for words in (("explain",), ("audit",), ("describe",), ("card",), ("sql", "--dialect", "duckdb")):
        done = run(words[0], changed, *words[1:])
        assert done.exit_code == 2, done.output
        assert "signature" in done.output
    other = serve().replace("/campaigns/", "/campaigns/0")
    serve(**{other.removeprefix(ROOT): signed.read_bytes()})  # a valid campaign, at another's address
    for verb in ("explain", "audit", "card", "describe"):
        done = run(verb, other)
        assert done.exit_code == 2
        assert "another campaign" in done.output


def test_the_card_is_signed_with_the_campaign(signed: Path) -> None:
    published = Published.from_json(signed.read_bytes())
    assert published.card is not None
    card = json.loads(published.card[0])
    assert card["campaign"] == published.id
    assert card["for the person"] == published.contract.explain().person
    assert json.loads(run("card", signed).stdout) == card
    text = json.loads(signed.read_text(encoding="utf-8"))
    text["card"]["text"] = text["card"]["text"].replace("city", "town")
    signed.write_text(json.dumps(text))
    assert "signature" in run("card", signed).output


def test_the_page_of_what_can_be_believed(signed: Path, serve: Serve) -> None:
    address, key = serve(), Published.from_json(signed.read_bytes()).key
    log = json.loads(signed.with_name("asker.campaigns").read_bytes())
    done = run("audit", address, "--key", key)
    assert done.exit_code == 0, done.output
    for words in ("identity", "signature", "promise", "card", "client", "sha384-", "What cannot", "origin"):
        assert words in done.output
    found = {one["name"]: one["ok"] for one in json.loads(run("audit", address, "--json").stdout)["checks"]}
    assert found == dict.fromkeys(found, True) | {"key": None, "list": None}
    for words, failed in ((("--key", "0" * 64), "key"), (("--head", "0" * 64), "list")):
        wrong = run("audit", address, "--json", *words)
        assert wrong.exit_code == 1
        assert [one["name"] for one in json.loads(wrong.stdout)["checks"] if one["ok"] is False] == [failed]
    assert log["key"] == key
    serve(**{"/client/core.js": b"send(value)"})
    changed = run("audit", address)
    assert changed.exit_code == 1
    assert "not those of the build that is installed here: core.js" in changed.output


def test_the_digests_are_those_of_the_files() -> None:
    known = json.loads(bundle(INTEGRITY) or b"")
    for name in BUNDLES:
        assert known[name] == integrity(bundle(name) or b"")


CAMPAIGN = """
[questions.a]
categories = ["x", "y"]
epsilon = {epsilon}
"""


def test_warnings_and_the_largest_epsilon_of_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    raw, campaign = tmp_path / "raw.csv", tmp_path / "survey.toml"
    raw.write_text("a\nx\n", encoding="utf-8")
    words = ("perturb", raw, "--campaign", campaign, "-o", tmp_path / "out.csv", "--force")
    for epsilon, said in ((4, ""), (6, "weak protection"), (12, "protects little")):
        campaign.write_text(CAMPAIGN.format(epsilon=epsilon), encoding="utf-8")
        done = run(*words)
        assert done.exit_code == 0
        assert ("warning" in done.stderr) == bool(said)
        assert said in done.stderr
        assert "warning" not in run("compare", "--categories", "x,y", "--epsilon", epsilon).output
    (tmp_path / "dither.toml").write_text("largest_epsilon = 2", encoding="utf-8")
    for verb in (words, ("explain", campaign), ("check", raw, "--campaign", campaign)):
        done = run(*verb)
        assert done.exit_code == 2
        assert "largest_epsilon = 2" in done.output
        assert "or change the file if this is intended" in " ".join(done.output.split())
    campaign.write_text(CAMPAIGN.format(epsilon=2), encoding="utf-8")
    assert run(*words).exit_code == 0
    assert "in total, a row is promised ε ≤ 2" in run("check", raw, "--campaign", campaign).output
    (tmp_path / "dither.toml").write_text("largest_epsilom = 2", encoding="utf-8")
    assert "did you mean largest_epsilon" in run(*words).output


def test_the_promise_covers_the_complete_campaign(tmp_path: Path) -> None:
    """ε = 2 in each of five weeks is ε = 10, and that is what is warned of."""
    file = tmp_path / "weeks.toml"
    weekly = TOML.replace('repeat = "fresh"', 'repeat = "once"\ndays = 7')
    file.write_text(weekly, encoding="utf-8")
    done = run("campaign", "check", file)
    assert done.exit_code == 0, done.output
    assert "on days drawn at random" in " ".join(done.stdout.split())
    facts = json.loads(run("campaign", "check", file, "--json").stdout)
    assert "ε ≤ 2 " in facts["promise"]
    assert facts["in total"] == "ε = 10 (5 answers of ε = 2)"
    assert "protects little" in done.stderr
