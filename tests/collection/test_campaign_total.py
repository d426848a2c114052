"""The total of a campaign: every text names the number that one device's account is charged.

The second implementation is here: it plays all answers of one device through the rules of the account, day by
day, and adds up the charges.
"""

from __future__ import annotations

import datetime
import itertools
import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dither as dt
from dither.advice.explain import explain
from dither.collection.audit import _check_promise
from dither.collection.campaign import Campaign, Published
from dither.collection.web import words as page_words
from dither_device.campaign import Campaign as DeviceCampaign
from dither_device.consent import promise_of, words_of
from dither_device.rules import DAY, Policy, State, decide
from dither_device.total import Total, percent, total_of
from tests.collection.account.events import opened
from tests.collection.campaigns import KEY
from tests.support.terminal import run

BEGINS = datetime.date(2026, 1, 1)
REPEATS: dict[str, dict[str, Any]] = {
    "fresh": {},
    "same": {},
    "per value": {},
    "once": {"days": 30},
}
EPSILONS = (0.1, 0.5, 2.0, 12.5, 40.0)
CASES = list(itertools.product(REPEATS, (False, True), EPSILONS))


def campaign(repeat: str, optional: bool, epsilon: float, days: int = 325) -> Campaign:
    kinds: dict[str, Any] = {"trips": dt.KRR(dt.Categories(["none", "some"]), epsilon=epsilon / 2)}
    line = dt.Interval(0, 180)
    kinds["minutes"] = dt.PM(dt.Nullable(line) if optional else line, epsilon=epsilon / 2)
    return Campaign(
        **{"name": "n", "version": 1, "asker": "city", "contact": "c", "purpose": "p"},
        **{"begins": BEGINS, "ends": BEGINS + datetime.timedelta(days - 1), "repeat": repeat},
        **{"questions": kinds, **REPEATS[repeat]},
    )


def played(contract: Campaign, visits: int = 1) -> Fraction:
    """Return the ε that an account is charged which is asked every question on every day."""
    state = State(opened(1 << 20))
    policy = Policy(50.0, 0.0, contract.whole_guarantee.assumes)
    first = (contract.begins - datetime.date(1970, 1, 1)).days
    length = (contract.ends - contract.begins).days + 1
    number = itertools.count()
    for day, _, name in itertools.product(range(length), range(visits), contract.questions):
        at = {"wall": (first + day) * DAY, "boot": "b", "elapsed": day * DAY}
        event = {
            "do": "answer",
            "id": f"{next(number):032x}",
            "question": contract.asking(name).facts,
            "at": at,
        }
        decision = decide(state, event, policy, bytes)
        if decision.draws:
            decision = decision.with_report("00", "0" * 32)
        assert decision.refused is None
        state.apply(decision.effect)
    return sum(
        (Fraction(int(entry["epsilon"], 16), 1 << 64) for entry in state.entries.values()), Fraction(0)
    )


def numbers(text: str) -> list[float]:
    """Return the values of ε that a text names."""
    return [float(found) for found in re.findall(r"ε [=≤] ([0-9]+(?:[.][0-9]+)?)", text)]


def is_about(number: float, exact: float) -> bool:
    return exact * (1 - 1e-9) <= number <= exact * (1 + 1e-3) or math.isclose(number, exact, rel_tol=1e-3)


@pytest.mark.parametrize(("repeat", "optional", "epsilon"), CASES)
def test_every_text_names_what_an_account_is_charged(repeat: str, optional: bool, epsilon: float) -> None:
    contract = campaign(repeat, optional, epsilon)
    charged = float(played(contract))
    each = float(contract.guarantee.epsilon)
    published = Published.sign(contract, KEY)
    device = DeviceCampaign(published.to_json(), key=published.key)
    told = contract.explain()
    card = json.loads(contract.card)
    officer = told.officer.split("\n")
    whole = next(line for line in officer if line.startswith("All answers of a person"))
    texts = {
        "check": contract.total.words(),
        "officer": whole,
        "card": card["promise"]["words"],
        "page": " ".join(page_words.promise(contract)),
        "audit": _check_promise(contract, contract.whole_guarantee.assumes).words.split("\n")[0],
        "consent": promise_of(device, 1e6),
    }
    if repeat == "fresh":
        assert contract.total.epsilon is None
        assert math.isinf(contract.whole_guarantee.epsilon)
        assert charged == pytest.approx(325 * each)  # one visit a day; nothing limits visits
        for name, text in texts.items():
            if name != "consent":  # a device has a budget
                assert "no limit over the campaign except the person's own account" in text, name
                assert all(is_about(number, each) for number in numbers(text)), (name, text)
        assert "in total" not in told.person
        assert f"at most {percent(each)} sure after one answer" in told.person
        assert card["promise"]["epsilon"] is None
        return
    assert contract.total.epsilon is not None
    assert charged <= contract.total.epsilon <= charged * (1 + 1e-9)
    assert contract.whole_guarantee.epsilon == contract.total.epsilon
    assert card["promise"]["epsilon"] == contract.total.epsilon
    for name, text in texts.items():
        found = numbers(text)
        assert found, (name, text)
        assert is_about(found[0], charged), (name, text)
        assert all(is_about(number, charged) or is_about(number, each) for number in found), (name, text)
    sure = percent(charged)
    assert f"at most {sure} sure" in told.person
    assert f"50 % → {sure}" in told.officer
    assert f"at most {sure} sure" in texts["consent"]
    assert f"with one report, at most {percent(each / 2)}" in texts["consent"]


MORE: list[tuple[dict[str, Any], int]] = [
    ({"repeat": "fresh", "answers": 12}, 12),
    ({"repeat": "once", "every": "month"}, 11),
    ({"repeat": "once", "every": "week"}, 47),
    ({"repeat": "kept change", "days": 100, "changes": 2}, 4),
]


@pytest.mark.parametrize(("terms", "times"), MORE)
def test_further_terms_are_counted_in_every_text(terms: dict[str, Any], times: int) -> None:
    contract = Campaign(
        **{"name": "n", "version": 1, "asker": "city", "contact": "c", "purpose": "p", "begins": BEGINS},
        **{"ends": BEGINS + datetime.timedelta(324), **terms},
        questions={"moved": dt.KRR(dt.Categories(["no", "yes"]), epsilon=0.5)},
    )
    each = contract.guarantee.epsilon
    assert contract.total.epsilon == pytest.approx(times * each)
    device = DeviceCampaign(Published.sign(contract, KEY).to_json())
    told = contract.explain()
    sure = f"at most {percent(times * each)} sure"
    assert sure in told.person
    assert sure in promise_of(device, 1e6)
    assert f"{times} answers of ε = 0.5" in contract.total.words()
    assert f"({times} answers of ε = 0.5)" in json.loads(contract.card)["promise"]["words"]
    assert str(times) in next(line for line in told.officer.split("\n") if "total counts all" in line)
    if terms["repeat"] == "kept change":
        assert float(played(contract)) == pytest.approx(times * each)


@pytest.mark.parametrize("repeat", REPEATS)
def test_sentences_are_chosen_by_repeat(repeat: str) -> None:
    contract = campaign(repeat, True, 1.0)
    told = contract.explain()
    again = {"fresh": "spends its ε again", "same": "sends the same report again: a second answer spends"}
    again |= {"per value": "shows the change, and spends ε = 1 again", "once": "answers 11 times"}
    for kind, words in again.items():
        assert (words in told.officer) == (kind == repeat), (kind, told.officer)
    assert ("There are no assumptions" in told.officer) == (repeat != "per value")
    assert ("the value never changes" in told.officer) == (repeat == "per value")
    assert ("11 times in 325 days" in told.person) == (repeat == "once")
    assert "Whether you answer is hidden as well as what you answer, for minutes." in told.person
    assert len(told.person.split()) <= 120
    german = explain(contract.over_time, repeat=repeat, total=contract.total, language="de")
    assert "1000" not in german.person
    published = Published.sign(contract, KEY)
    words = words_of(DeviceCampaign(published.to_json()), 1.0)
    assert "In total, over the whole campaign" in " ".join(words.split())


def test_per_value_is_never_a_number_alone() -> None:
    contract = campaign("per value", False, 1.0)
    assert "if no value changes" in contract.total.words()
    assert "never changes" in str(contract.whole_guarantee)
    assert "This assumes that the value never changes." in page_words.promise(contract)


@pytest.mark.parametrize(
    ("terms", "times"),
    [
        ({"repeat": "once", "days": 30, "begins": "2026-01-01", "ends": "2026-01-30"}, 1),
        ({"repeat": "once", "days": 30, "begins": "2026-01-01", "ends": "2026-01-31"}, 2),
        ({"repeat": "kept change", "days": 365, "begins": "2026-01-01", "ends": "2030-12-31"}, 6),
        ({"repeat": "once", "every": "day", "begins": "2026-01-01", "ends": "2026-01-31"}, 31),
        ({"repeat": "once", "every": "week", "begins": "2026-01-04", "ends": "2026-01-05"}, 2),
        ({"repeat": "once", "every": "month", "begins": "2025-12-31", "ends": "2026-02-01"}, 3),
        ({"repeat": "fresh", "answers": 12, "begins": "2026-01-01", "ends": "2026-02-01"}, 12),
        ({"repeat": "fresh", "begins": "2026-01-01", "ends": "2026-02-01"}, None),
        ({"repeat": "present", "every": "week", "begins": "2026-01-01", "ends": "2026-02-01"}, 1),
    ],
)
def test_how_often_is_counted_from_the_terms(terms: dict[str, Any], times: int | None) -> None:
    total = total_of(terms, 0.5)
    assert total.times == times
    assert total.epsilon == (None if times is None else 0.5 * times)


def test_an_account_limits_the_total_on_its_device() -> None:
    free = Total(0.5, 0.0, None)
    assert free.within(2.0, 3).epsilon == pytest.approx(6.0)
    assert free.within(2.0, 3).epsilon >= 6.0
    assert Total(0.5, 0.0, 4).within(2.0, 3).epsilon == 2.0
    assert Total(0.5, 0.0, 40).within(2.0, 3).capped
    budget = State(opened(0.7)).allowed.epsilon / 2.0**64  # with its slack
    assert free.within(0.7, 1).epsilon >= budget


FRESH = """
[campaign]
name = "usage"
asker = "mytool"
contact = "mytool.example"
purpose = "Which commands are used."
begins = 2026-01-01
ends = 2026-11-21
repeat = "fresh"

[questions.command]
categories = ["build", "test"]
mechanism = "KRR"
epsilon = 0.5
"""


def test_a_limit_refuses_what_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Today's words stay away: a visit a day for a year is not "in total ε ≤ 0.5"."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dither.toml").write_text("largest_epsilon = 2\n", encoding="utf-8")
    file = tmp_path / "campaign.toml"
    for text, refused in (
        (FRESH, "nothing limits what one person reveals over the whole campaign"),
        (FRESH.replace('"fresh"', '"once"\ndays = 30'), "ε = 5.5 for one person over the whole campaign"),
        (FRESH.replace('"fresh"', '"same"'), None),
    ):
        file.write_text(text, encoding="utf-8")
        for words in (("campaign", "check", file), ("explain", file)):
            done = run(*words)
            assert (done.exit_code == 2) == (refused is not None), done.output
            assert refused is None or refused in " ".join(done.output.split())
    (tmp_path / "dither.toml").unlink()
    file.write_text(FRESH, encoding="utf-8")
    said = " ".join((run("campaign", "check", file).stdout + run("explain", file).stdout).split())
    assert "in total ε ≤ 0.5" not in said
    assert "no limit over the campaign except the person's own account" in said


def test_the_campaign_of_init_names_one_number_in_both_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("init", "--telemetry", "--app", "mytool", "--address", "https://telemetry.example")
    assert done.exit_code == 0, done.output
    file = tmp_path / "telemetry" / "campaign.json"
    device = DeviceCampaign(file.read_text(encoding="utf-8"))
    promise = device.terms["promise"]["epsilon"]
    total = total_of(device.terms, promise)
    assert total.epsilon is not None
    sure = f"at most {percent(total.epsilon)} sure"
    assert sure in " ".join(run("campaign", "check", file).stdout.split())
    assert sure in promise_of(device, total.epsilon)
