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
from dither.advice.explain import Explanation, explain
from dither.advice.sheet import assessment, officer_sheet
from dither.collection.audit import _check_promise
from dither.collection.campaign import Campaign
from dither.collection.published import Published
from dither.collection.web import words as page_words
from dither_device.campaign import Campaign as DeviceCampaign
from dither_device.consent import promise_of, short_of, words_of
from dither_device.rules import Policy, decide
from dither_device.state import DAY, State
from dither_device.total import Total, percent, total_of
from tests.collection.account.events import opened
from tests.collection.campaigns import KEY
from tests.support.terminal import run

BEGINS = datetime.date(2026, 1, 1)
REPEATS: dict[str, dict[str, Any]] = {
    "fresh": {},
    "answers": {"repeat": "fresh", "answers": 12},
    "same": {},
    "per value": {},
    "once": {"days": 30},
    "every": {"repeat": "once", "every": "month"},
    "kept change": {"days": 100, "changes": 2},
    "present": {"every": "week", "expects": 10**6, "label_share": 0.5},
}
TIMES = {"fresh": None, "answers": 12, "once": 11, "every": 11, "kept change": 4}
EPSILONS = (0.1, 0.5, 2.0, 12.5, 40.0)
ALL = [
    case for case in itertools.product(REPEATS, (False, True), EPSILONS) if case[:2] != ("kept change", True)
]
CASES = [case for at, case in enumerate(ALL) if case[0] in ("fresh", "once") or (at + case[1]) % 2 == 0]
assert len(CASES) >= 40


def campaign(repeat: str, optional: bool, epsilon: float, days: int = 325) -> Campaign:
    """Return a campaign of two questions, or of the one that goes with the way of repeating."""
    answers, line = dt.Categories(["none", "some"]), dt.Interval(0, 180)
    kinds: dict[str, Any]
    if repeat in ("kept change", "present"):
        kinds = {"trips": dt.KRR(dt.Nullable(answers) if optional else answers, epsilon=epsilon)}
    else:
        kinds = {"trips": dt.KRR(answers, epsilon=epsilon / 2)}
        kinds["minutes"] = dt.PM(dt.Nullable(line) if optional else line, epsilon=epsilon / 2)
    return Campaign(
        **{"name": "n", "version": 1, "asker": "city", "contact": "c", "purpose": "p", "begins": BEGINS},
        **{"ends": BEGINS + datetime.timedelta(days - 1), "questions": kinds},
        **{"repeat": repeat, **REPEATS[repeat]},
    )


def facts_of(contract: Campaign, name: str) -> Any:
    """Return what an account is given about a question; a label of presence is drawn once, as `same` is."""
    if contract.repeat != "present":
        return contract.asking(name).facts
    return dt.Inquiry(name, contract.questions[name], asker=contract.asker, repeat="same").facts


def played(contract: Campaign, visits: int = 1) -> Fraction:
    """Return the ε that an account is charged which is asked every question on every day."""
    state = State(opened(1 << 20))
    policy = Policy(50.0, 0.0, contract.whole_guarantee.assumes)
    first = (contract.begins - datetime.date(1970, 1, 1)).days
    length = (contract.ends - contract.begins).days + 1
    facts = {name: facts_of(contract, name) for name in contract.questions}
    number = itertools.count()
    for day, _, name in itertools.product(range(length), range(visits), contract.questions):
        at = {"wall": (first + day) * DAY, "boot": "b", "elapsed": day * DAY}
        event = {"do": "answer", "id": f"{next(number):032x}", "question": facts[name], "at": at}
        decision = decide(state, event, policy, bytes)
        if decision.draws:
            decision = decision.with_report("00", "0" * 32)
        assert decision.refused in (None, "answers")
        state.apply(decision.effect)
    return sum(
        (Fraction(int(entry["epsilon"], 16), 1 << 64) for entry in state.entries.values()), Fraction(0)
    )


def numbers(text: str) -> list[float]:
    """Return the values of ε that a text names, with a decimal point or comma."""
    found = re.findall(r"ε [=≤] ([0-9]+(?:[.,][0-9]+)?)", text)
    return [float(number.replace(",", ".")) for number in found]


def is_about(number: float, exact: float) -> bool:
    return exact * (1 - 1e-9) <= number <= exact * (1 + 1e-3) or math.isclose(number, exact, rel_tol=1e-3)


def texts_of(contract: Campaign) -> dict[str, str]:
    """Return the sentences about the total, by the text that has them."""
    published = Published.sign(contract, KEY)
    device = DeviceCampaign(published.to_json(), key=published.key)
    told, german = (explain_in(contract, language) for language in ("en", "de"))
    facts = contract.facts(published)
    made = {
        "check": contract.total.words(),
        "officer": next(line for line in told.officer.split("\n") if line.startswith("All answers of a")),
        "card": json.loads(contract.card)["promise"]["words"],
        "page": " ".join(page_words.promise(contract)),
        "audit": _check_promise(contract, contract.whole_guarantee.assumes).words.split("\n")[0],
        "consent": promise_of(device, 1e6),
        "short": short_of(device, 1e6),
    }
    for language, said in (("en", told), ("de", german)):
        sheet = officer_sheet(facts, said, "n", "device", language)
        rows = {"en": "| total of one person |", "de": "| Summe für einen Menschen |"}
        made[f"sheet {language}"] = next(
            line for line in sheet.split("\n") if line.startswith(rows[language])
        )
        residual = {"en": "Residual risk", "de": "Restrisiko"}
        parts = assessment(facts, said, language).split("\n## ")
        made[f"dpia {language}"] = next(part for part in parts if part.startswith(residual[language]))
    return made


def explain_in(contract: Campaign, language: str) -> Explanation:
    return explain(contract.over_time, language=language, **contract.spoken)


@pytest.mark.parametrize(("repeat", "optional", "epsilon"), CASES)
@pytest.mark.some(every=3)
def test_every_text_names_what_an_account_is_charged(repeat: str, optional: bool, epsilon: float) -> None:
    contract = campaign(repeat, optional, epsilon)
    charged = float(played(contract))
    each = float(contract.guarantee.epsilon)
    one = max(question.guarantee.epsilon for question in contract.questions.values())
    told, german = (explain_in(contract, language) for language in ("en", "de"))
    card, texts = json.loads(contract.card), texts_of(contract)
    for text in (told.person, told.officer, german.person, german.officer):
        known = (charged, each, one, one * (TIMES.get(repeat, 1) or 1))
        assert all(any(is_about(number, exact) for exact in known) for number in numbers(text)), text
    hidden = "Whether you answer is hidden as well as what you answer" in told.person
    assert hidden == optional
    if repeat == "fresh":
        assert contract.total.epsilon is None
        assert math.isinf(contract.whole_guarantee.epsilon)
        assert charged == pytest.approx(325 * each)  # one visit a day; nothing limits visits
        for name, text in texts.items():
            assert all(is_about(number, each) for number in numbers(text) if name not in BUDGETED), text
            if name not in BUDGETED and "de" not in name.split():
                assert "no limit over the campaign except the person's own account" in text, name
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
    many = "all your answers" if len(contract.questions) > 1 or TIMES.get(repeat, 1) != 1 else "your answer"
    assert f"at most {sure} sure after reading {many}" in told.person
    assert f"höchstens zu {sure.replace('.', ',')} sicher" in german.person
    for text in (told.officer, texts["dpia en"]):
        assert f"50 % → {sure}" in text
    assert f"50 % → {sure.replace('.', ',')}" in texts["dpia de"]
    assert f"at most {sure} sure" in texts["consent"]
    assert f"at most {sure} sure" in texts["short"]
    assert f"with one report, at most {percent(one)}" in texts["consent"]


BUDGETED = ("consent", "short")  # a device has a budget


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


AGAIN = {
    "fresh": "Every answer spends its ε again: ε = 1 each, and only the person's own account limits how many",
    "answers": "at most 12 answers with ε = 1 each",
    "same": "sends the same report again: a second answer spends nothing",
    "per value": "shows the change, and spends ε = 1 again without a limit",
    "once": "A person answers 11 times, once in each period, with ε = 1 each",
    "every": "A person answers 11 times, once in each period, with ε = 1 each",
    "kept change": "A person reports in 4 periods, with ε = 1 each",
    "present": "The label is drawn once and sent in every period: a second message spends nothing",
}
PERSON = {
    "answers": "You answer at most 12 times",
    "same": "If you are asked again, the same report is sent again.",
    "per value": "If your answer changes, another report is sent",
    "once": "11 times in 325 days",
    "every": "once in each month, 11 times in all",
    "kept change": "Over 100 days, at most 2 changes of your answer are reported on",
    "present": "That you use it is seen",
}


@pytest.mark.parametrize("repeat", REPEATS)
def test_sentences_are_chosen_by_repeat(repeat: str) -> None:
    contract = campaign(repeat, repeat != "kept change", 1.0)
    told = contract.explain()
    assert {kind for kind, words in AGAIN.items() if words in told.officer} >= {repeat}
    assert [words for words in {*AGAIN.values()} if words in told.officer] == [AGAIN[repeat]]
    expected = [PERSON[repeat]] if repeat in PERSON else []
    assert [words for words in PERSON.values() if words in told.person] == expected
    assert ("There are no assumptions" in told.officer) == (repeat != "per value")
    assert ("the value never changes" in told.officer) == (repeat == "per value")
    assert len(told.person.split()) <= 120
    german = explain(contract.over_time, language="de", **contract.spoken)
    assert "1000" not in german.person
    published = Published.sign(contract, KEY)
    words = words_of(DeviceCampaign(published.to_json()), 1.0)
    assert "In total, over the whole campaign" in " ".join(words.split())


def test_per_value_is_always_stated_with_its_assumption() -> None:
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


def test_a_limit_refuses_campaigns_without_a_total(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Today's words stay away: a visit a day for a year is not "in total ε ≤ 0.5"."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dither.toml").write_text("largest_epsilon = 2\n", encoding="utf-8")
    file = tmp_path / "campaign.toml"
    for text, refused in (
        (FRESH, "nothing limits one person's privacy loss over the campaign"),
        (FRESH.replace('"fresh"', '"once"\ndays = 30'), "ε = 5.5 for one person over the complete campaign"),
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
