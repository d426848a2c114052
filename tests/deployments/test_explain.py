"""A campaign in words and as a card: computed numbers, short texts, a card that has its schema."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import dither as dt
from dither.cli import main
from dither.deployments.card import schema
from dither.deployments.explain import odds
from dither.errors import InvalidParameter
from dither.privacy import Guarantee, Pure

AGE = {"age": dt.Podium(dt.Interval(18, 100), epsilon=1)}
TOML = """
[questions.minutes]
interval = [0, 180]
epsilon = 0.5
[questions.heading]
circle = 360
epsilon = 0.25
[questions.browser]
categories = ["firefox", "chrome", "other"]
epsilon = 0.25
"""


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.mark.parametrize("prior", [0.01, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_odds_are_reached_by_randomized_response_and_never_exceeded(prior: float, epsilon: float) -> None:
    """Bayes' rule with the exact probabilities of the report that speaks most for a value."""
    coin = dt.RR(dt.Categories(["no", "yes"]), epsilon=epsilon)
    (yes, no) = (Fraction(coin.p), 1 - Fraction(coin.p))
    after = prior * yes / (prior * yes + (1 - prior) * no)
    assert float(after) <= odds(epsilon, prior) + 1e-12
    assert float(after) == pytest.approx(odds(epsilon, prior), rel=1e-6)


def test_the_text_for_the_person_is_short_and_computed() -> None:
    many = {f"a question about something long {number}": AGE["age"] for number in range(40)}
    for questions in (AGE, many):
        text = dt.explain(questions, spent=Guarantee(Pure(2.0))).person
        assert len(text.split()) <= 120
    assert "at most 73 % sure" in dt.explain(AGE).person
    assert "at most 88 % sure" in dt.explain({"age": AGE["age"].at(2)}).person
    assert "95 %" in dt.explain(AGE, spent=Guarantee(Pure(2.0))).person  # e³/(1 + e³)
    assert "100 %" not in dt.explain({"age": AGE["age"].at(20)}).person


def test_the_officer_sees_errors_and_assumptions() -> None:
    near = dt.BoundedLaplace(dt.Interval(0, 1), epsilon=1, sensitivity=0.1)
    text = dt.explain({"x": near}).officer
    assert near.guarantee.assumes[0] in text
    error = dt.goals.Mean(n=1000).error(AGE["age"])
    assert f"{error:.2g} for 1 000 people" in dt.explain(AGE).officer
    assert "no assumptions" in dt.explain(AGE).officer


def test_at_the_terminal(tmp_path: Path) -> None:
    campaign, raw, reports = (tmp_path / name for name in ("survey.toml", "in.jsonl", "reports.csv"))
    campaign.write_text(TOML)
    result = run("explain", campaign)
    assert result.exit_code == 0, result.output
    assert "For the officer" in result.output
    assert f"{round(100 * math.e / (1 + math.e))} % sure" in " ".join(result.output.split())
    assert max(map(len, result.output.splitlines())) <= 80
    assert "officer" not in run("explain", campaign, "--person").output
    raw.write_text('{"minutes": 5, "heading": 3, "browser": "chrome"}\n')
    assert run("perturb", raw, "--campaign", campaign, "-o", reports).exit_code == 0
    assert run("explain", reports, "--json").output == run("explain", campaign, "--json").output
    for verb in ("audit", "describe"):
        for file in (campaign, reports):
            result = run(verb, file)
            assert result.exit_code == 0, result.output
            assert all(name in result.output for name in ("minutes", "heading", "browser"))
    assert json.loads(run("audit", reports, "--json").output)["minutes"]["ok"] is True
    near = dt.Campaign({"x": dt.BoundedLaplace(dt.Interval(0, 1), epsilon=1, sensitivity=0.1)})
    forged = tmp_path / "near.json"
    forged.write_text(near.to_json())
    assert run("explain", forged).exit_code == 0
    for verb in ("explain", "audit", "describe", "card"):
        more = ("--asker", "A", "--contact", "b") if verb == "card" else ()
        for bad in (raw, tmp_path / "none.toml"):
            refused = run(verb, bad, *more)
            assert refused.exit_code == 2, (verb, bad, refused.output)
            assert bad.name in refused.output


def fits(value: Any, given: dict[str, Any], whole: dict[str, Any]) -> bool:
    """Check a value against the part of JSON schema that the card uses; written here, from its definition."""
    if "$ref" in given:
        return fits(value, whole["$defs"][given["$ref"].rpartition("/")[2]], whole)
    kinds = {
        "object": dict,
        "array": list,
        "string": str,
        "integer": int,
        "number": (int, float),
        "null": type(None),
    }
    names = given.get("type", [])
    if names and not any(
        isinstance(value, kinds[name]) for name in ([names] if isinstance(names, str) else names)
    ):
        return False
    if ("const" in given and value != given["const"]) or ("enum" in given and value not in given["enum"]):
        return False
    if isinstance(value, dict):
        parts = given.get("properties", {})
        missing = set(given.get("required", [])) - set(value)
        surplus = set(value) - set(parts) if given.get("additionalProperties") is False else set()
        return (
            not missing and not surplus and all(fits(value[key], parts.get(key, {}), whole) for key in value)
        )
    if isinstance(value, list):
        return all(fits(one, given.get("items", {}), whole) for one in value)
    return True


def test_the_card_has_its_schema(tmp_path: Path) -> None:
    campaign, out = tmp_path / "survey.toml", tmp_path / "card.json"
    campaign.write_text(TOML)
    stated = (
        "--asker",
        "City of X",
        "--contact",
        "data@x.example",
        "--people",
        5000,
        "--begins",
        "2026-05-01",
    )
    assert run("card", campaign, *stated, "-o", out).exit_code == 0
    made, form = json.loads(out.read_text()), schema()
    assert fits(made, form, form)
    assert not fits({**made, "extra": 1}, form, form)
    assert not fits({**made, "people": "many"}, form, form)
    assert made["promise"]["epsilon"] == pytest.approx(1.0)
    assert made["promise"]["unit"] == "one record"
    assert json.loads(run("card", "--schema").output) == form
    assert run("card", campaign, *stated, "-o", out).exit_code == 2  # it exists
    for words in ((), ("--asker", "A"), (*stated, "--ends", "tomorrow"), (*stated, "--ends", "2026-04-01")):
        assert run("card", campaign, *words).exit_code == 2
    with pytest.raises(InvalidParameter, match="names its contact"):
        dt.card(AGE, asker="A", contact=" ")
    with pytest.raises(InvalidParameter, match="people is a whole number"):
        dt.card(AGE, asker="A", contact="b", people=0)


def test_what_was_given_before_is_what_the_account_charged(tmp_path: Path) -> None:
    """Not its budget: a person who gave 0.5 of 2 has given 0.5."""
    campaign, path = tmp_path / "survey.toml", tmp_path / "me.account"
    campaign.write_text(TOML, encoding="utf-8")
    with dt.Account.create(path, epsilon=2) as account:
        account.answer(dt.Asking("age", AGE["age"].at(0.5), asker="clinic.example"), 41)
    told = run("explain", campaign, "--officer", "--account", path).output
    assert "Spent before: ε ≤ 0.5" in told
    assert "Together: ε ≤ 1.5" in " ".join(told.split())
