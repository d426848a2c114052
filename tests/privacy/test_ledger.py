"""A ledger: what one person gave, what is left, and the refusal beyond it."""

import json

import pytest

from dither import Interval, Ledger, Podium
from dither.errors import BudgetExceeded, InvalidParameter, Mismatch
from dither.privacy import PAC, Approximate, Guarantee, Metric, Nothing, Pure, Unit

ONE = Guarantee(Pure(1.0))


def test_giving_makes_a_new_ledger():
    empty = Ledger(epsilon=2)
    full = empty.give(ONE, "age").give(ONE, "income")
    assert len(empty) == 0
    assert empty.remaining == 2.0
    assert full.spent.bound == Pure(2.0)
    assert full.spent.unit is Unit.PERSON
    assert full.remaining == 0.0
    assert [entry.name for entry in full] == ["age", "income"]


def test_beyond_the_budget_is_refused_and_changes_nothing():
    ledger = Ledger(epsilon=2).give(ONE, times=2)
    assert not ledger.allows(Guarantee(Pure(1e-9)))
    with pytest.raises(BudgetExceeded, match="exceeds what is left"):
        ledger.give(Guarantee(Pure(1e-9)))
    assert ledger.spent.bound == Pure(2.0)


def test_the_last_bit_of_the_budget_counts():
    ledger = Ledger(epsilon=0.3).give(Guarantee(Pure(0.1)))
    assert 0.1 + 0.2 > 0.3
    assert not ledger.allows(Guarantee(Pure(0.2)))  # 0.1 + 0.2 is above 0.3 in exact arithmetic too
    assert ledger.allows(Guarantee(Pure(ledger.remaining)))


def test_mechanisms_are_charged_what_they_realise():
    age = Podium(Interval(18, 100), epsilon=1)
    ledger = Ledger(epsilon=2).give(age, "age", times=2)
    assert ledger.spent.epsilon == age.guarantee.repeated(2).epsilon <= 2.0


def test_failure_probabilities_have_a_budget_too():
    ledger = Ledger(2.0, 1e-6)
    assert ledger.allows(ONE)
    assert ledger.allows(Guarantee(PAC(1.0, 1e-7)))
    assert not ledger.allows(Guarantee(Approximate(1.0, 1e-5)))
    assert not Ledger(2.0).allows(Guarantee(Approximate(1.0, 1e-9)))


def test_what_has_no_bound_exceeds_every_budget():
    for bound in (Nothing("the coins are known"), Metric(0.1, "metre")):
        with pytest.raises(BudgetExceeded):
            Ledger(epsilon=50).give(Guarantee(bound))


def test_devices_merge_in_any_order_and_as_often_as_they_like():
    start = Ledger(epsilon=3).give(ONE, "age")
    phone, laptop = start.give(ONE, "steps"), start.give(ONE, "sleep")
    merged = phone.merge(laptop)
    assert merged == laptop.merge(phone) == merged.merge(phone, laptop, merged)
    assert merged.spent.bound == Pure(3.0)
    assert len(merged) == 3


def test_devices_that_gave_too_much_together_give_nothing_more():
    start = Ledger(epsilon=1)
    merged = start.give(ONE).merge(start.give(ONE))
    assert merged.spent.bound == Pure(2.0)
    assert merged.remaining == 0.0
    with pytest.raises(BudgetExceeded):
        merged.give(Guarantee(Pure(0.0)))


def test_two_people_do_not_merge():
    with pytest.raises(Mismatch):
        Ledger(epsilon=1).merge(Ledger(epsilon=2))


def test_a_ledger_travels():
    ledger = (
        Ledger(5.0, 1e-3)
        .give(Guarantee(PAC(1.0, 1e-4), Unit.LOCATION, ("the key is secret",)), "where")
        .give(ONE, "age")
    )
    assert Ledger.from_wire(json.loads(json.dumps(ledger.wire()))) == ledger


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"version": 1},
        {"version": 2, "entries": []},
        [],
        None,
        {"version": 1, "epsilon": "x", "delta": 0, "entries": []},
    ],
)
def test_what_is_not_a_ledger_is_refused(data):
    with pytest.raises(InvalidParameter):
        Ledger.from_wire(data)


@pytest.mark.parametrize("budget", [-1, float("nan"), "1", True, None])
def test_a_budget_is_a_number(budget):
    with pytest.raises(InvalidParameter):
        Ledger(epsilon=budget)


@pytest.mark.parametrize("promise", [1.0, None, "age"])
def test_only_guarantees_are_counted(promise):
    with pytest.raises(InvalidParameter):
        Ledger(epsilon=1).give(promise)
