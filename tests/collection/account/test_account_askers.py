"""Invariants 7 to 10 of an account: one budget, many names, refusals, what is printed."""

from __future__ import annotations

import inspect
import math
import random
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

import dither as dt
from dither.errors import OutsideDomain, Refused
from dither_device import rules
from dither_device.state import EPSILON, State, limit
from tests.collection.account import events as written
from tests.collection.account.devices import SetClock, label, make, number
from tests.collection.account.vectors import happen

FIRST, SECOND, THIRD = "1" * 32, "2" * 32, "3" * 32


# --- 7. one global budget


def test_7_all_askers_share_one_budget_and_quotas_only_restrict() -> None:
    restricted = 0
    for seed in range(30):
        draw = random.Random(seed)
        quota = draw.choice([0.1, 0.25, 0.5])
        with_quota, without = (State(written.opened(1, quota=one)) for one in (quota, None))
        for step in range(40):
            epsilon = draw.choice([0.01, 0.05, 0.1, 0.2])
            asked = written.question("q", epsilon, asker=f"asker {draw.randrange(12)}")
            outcomes = [happen(state, written.answer(step, asked)) for state in (with_quota, without)]
            restricted += outcomes == ["quota", "drawn"]
        for state in (with_quota, without):
            spent = sum(Fraction(int(entry["epsilon"], 16), 1 << 64) for entry in state.entries.values())
            assert spent <= 1 + Fraction(1, 1 << 52) + Fraction(1, 1 << 64)  # the budget, exactly
        for asker in with_quota.askers:
            mine = [one for one in with_quota.entries.values() if one["asker"] == asker]
            assert sum(int(one["epsilon"], 16) for one in mine) <= limit(quota, EPSILON)
    assert restricted > 50


def test_7_the_account_never_charges_less_than_the_ledger(tmp_path: Path) -> None:
    account = make(tmp_path)
    for epsilon in (0.1, 0.3, 1e-5, 0.25):
        account.answer(number(f"q {epsilon}", epsilon), 1)
    exact = sum(map(Fraction, (0.1, 0.3, 0.25)), Fraction(number(epsilon=1e-5).guarantee.epsilon))
    assert exact <= Fraction(account.ledger.spent.epsilon) < exact + Fraction(1, 1 << 52)
    assert len(account.ledger) == 4


# --- 8. many names of one asker


def test_8_a_thousand_names_get_no_more_than_the_budget() -> None:
    state = State(written.opened(1))
    outcomes = Counter(
        happen(state, written.answer(step, written.question("q", 0.1, asker=f"name {step}")))
        for step in range(1000)
    )
    assert outcomes == {"drawn": 10, "budget": 990}


def test_8_draining_is_bounded_by_the_acts_of_the_person() -> None:
    state = State(written.opened(1, quota=0.05, askers=2))
    for acts in range(1, 6):
        for name in range(1000):
            asked = written.question("q", 0.05, asker=f"{acts} {name}")
            happen(state, written.answer(acts * 1000 + name, asked))
        spent = Fraction(state.all.lifetime[0], 1 << 64)
        assert spent == acts * 2 * Fraction(0.05)  # two new names an act, a quota each
        happen(state, written.act(written.at()))


# --- 9. refusals from public facts


class Untouchable:
    """A value that must not be looked at."""

    def __getattribute__(self, name: str) -> object:
        raise AssertionError("a value was looked at")


def test_9_refusals_do_not_look_at_the_value(tmp_path: Path) -> None:
    clock = SetClock()
    account = make(tmp_path, clock, epoch="day", lifetime=1.5, quota=0.75, askers=2)
    account.answer(number("a", 0.75, asker="first"), 1, identity=FIRST)
    account.answer(number("a", 0.25, asker="second"), 1)
    asked = {
        "quota": number("b", 0.25, asker="first"),
        "budget": number("b", 0.25, asker="second"),
        "asker": number("b", 0.25, asker="third"),
        "policy": number("b", 5, asker="first"),
    }
    for reason, question in asked.items():
        with pytest.raises(Refused) as refusal:
            account.answer(question, Untouchable())
        assert refusal.value.reason == reason
    assert account.answer(number("a", 0.75, asker="first"), Untouchable(), identity=FIRST) is not None
    assert "value" not in inspect.signature(rules.decide).parameters


def test_9_equal_questions_have_equal_outcomes_whatever_the_values(tmp_path: Path) -> None:
    interval = dt.Inquiry("age", dt.Podium(dt.Interval(18, 100), epsilon=0.3), otherwise=18)
    circle = dt.Inquiry("heading", dt.OGPM(dt.Circle(360), epsilon=0.3))
    listed = label("browser", 0.3, otherwise="other")
    once = dt.Inquiry(
        "mood",
        dt.KRR(dt.Categories(["no", "yes"]), epsilon=0.3),
        repeat="once",
        days=1,
        otherwise="no",
    )
    values = {
        "ordinary": (40, 10, "fire", "yes"),
        "hostile": (math.nan, -1e300, "<script>", None),
        "outside": (-5, 725.0, 17, "perhaps"),
    }
    told = {}
    for name, answers in values.items():
        account = make(tmp_path, name=name)
        outcomes = []
        for question, value in zip(
            (interval, circle, listed, once, interval), (*answers, answers[0]), strict=True
        ):
            try:
                outcomes.append(account.answer(question, value) is not None)
            except Refused as error:
                outcomes.append(str(error))
        told[name] = outcomes
    assert told["ordinary"] == told["hostile"] == told["outside"]
    assert told["ordinary"][:3] == [True] * 3


def test_9_a_value_that_no_rule_brings_inside_is_an_error_that_does_not_show_it(tmp_path: Path) -> None:
    account = make(tmp_path)
    before = account.wire()
    with pytest.raises(OutsideDomain) as error:
        account.answer(label(), "a very rare disease")
    assert "disease" not in str(error.value)
    assert account.wire() == before


# --- 10. no guarantee for an asker


def test_10_numbers_of_askers_are_never_printed_as_a_guarantee(tmp_path: Path) -> None:
    account = make(tmp_path, quota=0.123, quotas={"clinic": 0.456}, askers=3)
    account.answer(number(epsilon=0.11, asker="clinic"), 1)
    told = [account.promise, str(account.left), str(account.guarantee), repr(account), str(account.ledger)]
    told += [str(account.dry_run(number(epsilon=0.9, asker="clinic")))]
    assert not re.search(r"0\.123|0\.456", " ".join(told))
    assert account.promise.startswith("All askers together learn at most ε ≤ 1 ")
