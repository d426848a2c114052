"""Contracts: what they say, how they are signed, and that they cannot be changed."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import dither as dt
from dither.collection.campaign import Campaign
from dither.collection.published import Published
from dither.errors import InvalidParameter, MalformedReport, Mismatch
from dither.foundation.canonical import canonical
from tests.collection.campaigns import KEY, TOML, contract, published


def test_a_contract_is_read_from_toml_and_from_its_own_text() -> None:
    made = Campaign.from_toml(TOML)
    again = Campaign.from_text(made.text)
    assert again == made
    assert again.id == made.id
    assert len(made.id) == 64
    assert made.guarantee.epsilon == pytest.approx(2, abs=1e-9)


def test_units_and_steps_travel_in_the_text_and_not_to_devices() -> None:
    made = Campaign.from_toml(TOML.replace("[0, 180]", '[0, 180]\nunit = "minutes"\nstep = 5'))
    again = Published.from_json(Published.sign(made, KEY).to_json()).contract
    domain: Any = again.questions["minutes"].domain
    assert (domain.unit, domain.step) == ("minutes", 5)
    assert again.questions["minutes"].fingerprint == contract().questions["minutes"].fingerprint
    assert made.id != contract().id
    data = json.loads(made.text)
    for wrong in (5, {"minutes": {"unit": 5}}, {"browser": {"unit": "h"}}, {"minutes": {"epsilon": 0.1}}):
        with pytest.raises(MalformedReport):
            Campaign.from_text(canonical({**data, "reading": wrong}))


def test_any_change_is_another_identity() -> None:
    one = contract().id
    for change in ({"version": 2}, {"people": 51}, {"purpose": "Another."}, {"labels": ()}):
        assert contract(**change).id != one


def test_a_text_that_promises_something_else_is_refused() -> None:
    data = json.loads(contract().text)
    assert Campaign.from_text(canonical(data)) == contract()
    changes: list[dict[str, Any]] = [
        {"promise": {**data["promise"], "epsilon": 0.1}},
        {"promise": {**data["promise"], "epsilon": None}},
        {"promise": {**data["promise"], "assumptions": ["nobody looks"]}},
        {"promise": "ε ≤ 0.1"},
    ]
    for change in changes:
        with pytest.raises(MalformedReport, match="stated promise differs"):
            Campaign.from_text(canonical({**data, **change}))
    with pytest.raises(MalformedReport, match="canonical"):
        Campaign.from_text(" " + contract().text)


def test_the_text_travels_as_it_was_signed() -> None:
    """A later version may state the last digit of ε otherwise; the identity stays."""
    data = json.loads(contract().text)
    data["promise"]["epsilon"] *= 1 + 1e-15
    text = canonical(data)
    made = Campaign.from_text(text)
    assert made.text == text != contract().text
    assert made.id != contract().id
    assert Published.from_json(Published.sign(made, KEY).to_json()).id == made.id


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": ""}, "name"),
        ({"asker": "a\x00b"}, "cannot be shown"),
        ({"people": 0}, "people"),
        ({"people": True}, "people"),
        ({"version": 1.0}, "version"),
        ({"ends": datetime.date(2026, 4, 1)}, "expected ends on or after begins"),
        ({"begins": datetime.datetime(2026, 4, 1, 12)}, "begins"),
        ({"labels": ("a", "a")}, "labels"),
        ({"labels": ("x" * 65,)}, "label"),
        ({"questions": {}}, "questions"),
        ({"repeat": "once"}, "days"),
        ({"repeat": "kept change", "days": 9}, "expected changes"),
    ],
)
def test_terms_that_do_not_fit_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        contract(**change)


def test_a_term_for_gateways_is_written_where_it_is_used_alone() -> None:
    plain, gateway = contract(reports_a_batch=None), contract(reports_a_batch=500)
    assert "reports_a_batch" not in plain.text
    assert json.loads(gateway.text) == {**json.loads(plain.text), "reports_a_batch": 500}
    assert Campaign.from_text(gateway.text) == gateway
    for wrong in (None, 0, True, 1.5, "9"):
        with pytest.raises(MalformedReport):
            Campaign.from_text(canonical({**json.loads(plain.text), "reports_a_batch": wrong}))


def test_one_person_has_one_report_or_one_for_each_period() -> None:
    days = [datetime.date(2026, 5, 1) + datetime.timedelta(one) for one in (0, 6, 7, 29, 30, 32)]
    for repeat in ("same", "fresh", "per value"):
        made = contract(repeat=repeat, reports_a_batch=None)
        assert {made.most_reports(day) for day in days} == {1}
    weekly = contract(repeat="once", days=7, reports_a_batch=None)
    assert [weekly.most_reports(day) for day in days] == [1, 1, 2, 5, 5, 5]
    assert contract(repeat="once", days=7, reports_a_batch=3).most_reports(days[-1]) == 3


def test_two_questions_of_one_device_text_are_refused() -> None:
    age = dt.Podium(dt.Interval(0, 1), epsilon=1)
    with pytest.raises(InvalidParameter, match="got the same for the questions"):
        contract(questions={"a": age, "b": age})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[campaign]", "[campain]", "no table"),
        ("contact", "contakt", "contact"),
        ('purpose = "How long', '# purpose = "How long', "expected purpose"),
        ('repeat = "fresh"', 'repeat = "frish"', "fresh"),
        ("labels = [", 'labels = "x" #', "list"),
        ("[campaign]", "[campaign]\nsampled = true", "one campaign per question"),
        ("begins = 2026-05-01", 'begins = "2026-05-01"', "without quotes"),
    ],
)
def test_a_wrong_file_is_refused_with_a_word_that_helps(old: str, new: str, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        Campaign.from_toml(TOML.replace(old, new))


def test_a_signature_is_verified_and_a_key_can_be_pinned() -> None:
    made = published()
    text = made.to_json()
    assert Published.from_json(text, key=made.key) == made
    other = Published.sign(contract(), Ed25519PrivateKey.generate())
    with pytest.raises(Mismatch, match="pinned"):
        Published.from_json(other.to_json(), key=made.key)
    for field in ("signature", "key"):
        damaged = json.loads(text)
        damaged[field] = ("1" if damaged[field][0] == "0" else "0") + damaged[field][1:]
        with pytest.raises(MalformedReport, match="signature"):
            Published.from_json(json.dumps(damaged))
    swapped = {**json.loads(text), "campaign": contract(people=1).text}
    with pytest.raises(MalformedReport, match="signature"):
        Published.from_json(json.dumps(swapped))


def test_a_campaign_is_retired_by_its_own_key_alone() -> None:
    day = datetime.date(2026, 5, 10)
    gone = published().retire(day, KEY)
    assert Published.from_json(gone.to_json()).retired == gone.retired
    assert gone.id == published().id
    with pytest.raises(Mismatch, match="another key"):
        published().retire(day, Ed25519PrivateKey.generate())
    moved = json.loads(gone.to_json())
    moved["retired"]["day"] = "2026-05-11"
    with pytest.raises(MalformedReport, match="signature"):
        Published.from_json(json.dumps(moved))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"campaign": 1, "key": "", "signature": "", "retired": null}', "null"]
)
def test_invalid_campaign_texts_are_refused(text: str) -> None:
    with pytest.raises(MalformedReport):
        Published.from_json(text)
