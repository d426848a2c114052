"""A ledger: what one person gave, what is left, and the refusal beyond it.

Policies and ledgers hold numbers of one kind, and refuse what is no number.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import dither as dt
from dither import Interval, Podium
from dither.errors import BudgetExceeded, InvalidParameter, Mismatch
from dither.privacy import PAC, Approximate, Guarantee, Ledger, Metric, Nothing, Pure

ONE = Guarantee(Pure(1.0))


def test_giving_makes_a_new_ledger():
    empty = Ledger(epsilon=2)
    full = empty.give(ONE, "age").give(ONE, "income")
    assert len(empty) == 0
    assert empty.remaining == 2.0
    assert full.spent.bound == Pure(2.0)
    assert full.spent.unit == "person"
    assert full.remaining == 0.0
    assert [entry.name for entry in full] == ["age", "income"]


def test_beyond_the_budget_is_refused_and_changes_nothing():
    ledger = Ledger(epsilon=2).give(ONE, times=2)
    assert not ledger.allows(Guarantee(Pure(1e-9)))
    with pytest.raises(BudgetExceeded, match="exceeds the remaining"):
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
        .give(
            Guarantee(PAC(1.0, 1e-4), "location", ("the key is secret",)),
            "where",
            times=1,
            assume=("the key is secret",),
        )
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


CITY = dt.Rectangle(Interval(0, 1), Interval(0, 1))


def test_a_promise_for_one_location_needs_their_number():
    tracs = dt.TraCSC(CITY, epsilon=1)
    with pytest.raises(InvalidParameter, match="one location"):
        Ledger(epsilon=100).give(tracs, "trip")
    ledger = Ledger(epsilon=100).give(tracs, "trip", times=50)
    assert ledger.spent.epsilon == tracs.guarantee.repeated(50).epsilon > 49
    (entry,) = ledger
    assert entry.guarantee.unit == "trajectory"
    with pytest.raises(BudgetExceeded):
        ledger.give(tracs, "trip", times=51)


def test_reports_are_charged_for_every_value():
    tracs = dt.TraCSC(CITY, epsilon=1)
    trip = tracs.perturb([(0.5, 0.5)] * 7)
    ledger = Ledger(epsilon=100).give(trip, "trip")
    assert ledger.spent.bound == tracs.guarantee.repeated(7).bound
    assert trip.guarantee.unit == "trajectory"
    one = tracs.perturb([(0.5, 0.5)])
    assert one.guarantee.bound == tracs.guarantee.bound
    assert Ledger(epsilon=1).allows(one)
    shared = dt.TraCSC(CITY, epsilon=4, unit="trajectory")
    trips = shared.perturb([[(0.5, 0.5)] * 3, [(0.1, 0.1)] * 2])
    assert trips.guarantee.bound == shared.guarantee.repeated(2).bound
    age = Podium(Interval(18, 100), epsilon=1)
    assert age.perturb([30.0, 40.0, 50.0, 60.0]).guarantee.bound == age.guarantee.repeated(4).bound
    assert age.perturb(30.0).guarantee == age.guarantee
    assert age.perturb([]).guarantee.bound == Pure(0.0)
    bits = dt.OUE(dt.Categories(9), epsilon=1)
    assert bits.perturb([1, 2]).guarantee.bound == bits.guarantee.repeated(2).bound


def test_assumptions_are_accepted_by_the_person():
    near = dt.BoundedLaplace(Interval(0, 1), epsilon=1, sensitivity=0.05)
    ledger = Ledger(epsilon=2)
    assert not ledger.allows(near)
    with pytest.raises(InvalidParameter, match="differ by at most"):
        ledger.give(near, "age")
    with pytest.raises(InvalidParameter, match="differ by at most"):
        ledger.give(near, "age", assume=("something else",))
    given = ledger.give(near, "age", assume=near.guarantee.assumes)
    assert given.spent.assumes == near.guarantee.assumes
    (entry,) = given
    assert entry.guarantee == near.guarantee
    assert ledger.allows(near, assume=near.guarantee.assumes[0])
    assert given.allows(Guarantee(Pure(1.0)))  # what was accepted is not asked for again


def test_a_permanent_answer_says_what_it_assumes():
    steps = dt.Memoised(Podium(Interval(0, 9), epsilon=1), bytes(32), name="steps")
    with pytest.raises(InvalidParameter, match="never changes"):
        Ledger(epsilon=2).give(steps, "steps")
    assert Ledger(epsilon=2).give(steps, "steps", assume=steps.guarantee.assumes).remaining >= 1.0


@pytest.mark.parametrize("most", [True, False, 0, -1, 1.5, "many", None])
def test_a_policy_counts_whole_bytes(most: Any) -> None:
    with pytest.raises(InvalidParameter, match="bytes of a policy"):
        dt.privacy.Policy(epsilon=1, bytes=most)


def test_one_byte_is_a_limit() -> None:
    assert dt.privacy.Policy(epsilon=1, bytes=1).bytes == 1


def test_the_numbers_of_a_ledger_are_doubles() -> None:
    whole, broken = dt.privacy.Ledger(epsilon=2, delta=0), dt.privacy.Ledger(epsilon=2.0, delta=0.0)
    assert (type(whole.epsilon), type(whole.delta)) == (float, float)
    assert whole == broken
    assert repr(whole) == repr(broken)


def test_the_entries_of_a_ledger_never_change() -> None:
    mine: list[Any] = []
    ledger = dt.privacy.Ledger(epsilon=1, entries=mine)  # type: ignore[arg-type]
    assert type(ledger.entries) is frozenset
    assert hash(ledger) == hash(dt.privacy.Ledger(epsilon=1))
