"""Budgets of an account: their units, the remaining amounts and their texts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dither.collection.account.clock import ClockReading, Epoch, EpochName
from dither.collection.account.names import check_name
from dither.errors import InvalidParameter, check_choice, found
from dither.foundation.canonical import hexadecimal
from dither.privacy import Approximate, Guarantee, Ledger, Nothing, Pure
from dither.privacy.exact import float_at_least
from dither.privacy.ledger import Entry
from dither_device.state import DAY, DELTA, EPSILON, MOST_BUDGET, VERSION, State, limit

Data = dict[str, Any]  # plain data, the same in every language: docs/account.md


def check_limit(number: float, places: int) -> int:
    """Return the units that a budget admits; raise InvalidParameter if it is not in the valid range."""
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0.0 <= number <= MOST_BUDGET:
        raise InvalidParameter(
            f"expected a budget to be a number from 0 to {MOST_BUDGET:.0f}, got {found(number)}"
        )
    return limit(number, places)


def as_float(units: int, places: int) -> float:
    """Return the smallest double that is at least a number of units."""
    return float_at_least(Fraction(units, 1 << places))


def as_bound(epsilon: int, delta: int) -> Pure | Approximate:
    """Return the bound of two numbers of units, rounded up."""
    if not delta:
        return Pure(as_float(epsilon, EPSILON))
    return Approximate(as_float(epsilon, EPSILON), min(1.0, as_float(delta, DELTA)))


def show_amount(units: int, places: int, *, whole: int | None = None) -> str:
    """Return a remaining or spent amount as a decimal number of at most six digits.

    It is rounded down, unless the nearest such number differs by less than 2^−40 of the total.

    >>> from dither_device.state import charge
    >>> show_amount(charge(0.3, EPSILON) - charge(0.1, EPSILON), EPSILON, whole=charge(0.3, EPSILON))
    '0.2'
    """
    exact = Fraction(units, 1 << places)
    dust = Fraction(max(units, whole or 0), 1 << (places + 40))
    if exact <= dust:
        return "0"
    nearest = Fraction(f"{float(exact):.6g}")
    if abs(nearest - exact) > dust and nearest > exact:
        power = math.floor(math.log10(float(exact))) - 5
        step = Fraction(10) ** power
        nearest = (exact // step) * step
    text = f"{float(nearest):.6g}"
    return text if "e" in text or "." not in text else text.rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Left:
    """The budget that one device may still spend, in the present epoch and in its lifetime, if limited.

    The numbers are rounded down to six digits, without rounding errors of binary fractions.
    """

    epoch: str
    epsilon: float
    delta: float
    lifetime: float | None
    text: str

    def __str__(self) -> str:
        return self.text


def budget_left(state: State, now: int) -> Left:
    """Return the remaining budget at a moment: the smaller of this device's part and the total."""
    epoch = Epoch(state.limits["epoch"])
    index = epoch.index(max(now, state.clock["wall"]))
    total = state.allowed
    mine, every = (totals.epochs.get(index, (0, 0)) for totals in (state.mine, state.all))
    epsilon = max(0, min(state.own.epsilon - mine[0], total.epsilon - every[0]))
    delta = max(0, min(state.own.delta - mine[1], total.delta - every[1]))
    lifetime = None
    if total.lifetime is not None and state.own.lifetime is not None:
        parts = state.own.lifetime[0] - state.mine.lifetime[0], total.lifetime[0] - state.all.lifetime[0]
        lifetime = max(0, min(parts))
    of_epoch = show_amount(epsilon, EPSILON, whole=total.epsilon)
    words = f"ε = {of_epoch} of {show_amount(total.epsilon, EPSILON)} left for {epoch.name_of(index)}"
    if total.delta:
        words += f", δ = {show_amount(delta, DELTA, whole=total.delta)} of {show_amount(total.delta, DELTA)}"
    of_life = None
    if lifetime is not None and total.lifetime is not None:
        of_life = show_amount(lifetime, EPSILON, whole=total.lifetime[0])
        words += f"; ε = {of_life} of {show_amount(total.lifetime[0], EPSILON)} left for all time"
    return Left(
        epoch.name_of(index),
        float(of_epoch),
        float(show_amount(delta, DELTA, whole=total.delta)),
        None if of_life is None else float(of_life),
        words,
    )


def accepted_assumptions(state: State) -> tuple[str, ...]:
    """Return the assumptions of the given answers, each line once. The promise needs only these."""
    return tuple(dict.fromkeys(line for entry in state.entries.values() for line in entry["assumes"]))


def say_promise(state: State) -> str:
    """Return the account's promise with its assumptions. Quotas of askers are not part of it."""
    lines = accepted_assumptions(state)
    return _budget(state) + (f" This assumes that {'; '.join(lines)}." if lines else "")


def _budget(state: State) -> str:
    total = state.allowed
    budget = as_bound(total.epsilon, total.delta)  # its text is rounded up
    epoch = state.limits["epoch"]
    if epoch == "lifetime":
        return f"All askers together learn at most {budget} about this person."
    per = f"All askers together learn at most {budget} about what happened in one {epoch}"
    if total.lifetime is None:
        return (
            f"{per}. This is per {epoch}: there is no cap for all time, and what stays the same "
            f"from {epoch} to {epoch} is told again in each."
        )
    return f"{per}, and at most {as_bound(*total.lifetime)} in all time."


def say_per_epoch(state: State) -> str:
    """Return why there is no guarantee for all time: the budget is one for each epoch."""
    budget = as_bound(state.allowed.epsilon, state.allowed.delta)
    return f"the budget, {budget}, is per {state.limits['epoch']}, and there is no cap for all time"


def explain_refusal(state: State, reason: str, question: Mapping[str, Any], now: int) -> str:
    """Return why a question is refused and what to do: public facts, never a value."""
    epsilon = f"ε = {question['epsilon']:.6g}"
    match reason:
        case "clock":
            ahead = max(now, state.clock["wall"]) - state.clock["wall"]
            return (
                f"the clock moved {ahead / DAY:.1f} days ahead of what is proved, and that refills nothing. "
                "If the date is right, call account.act() when the person does something"
            )
        case "data":
            epoch = state.limits["epoch"]
            return f"the data lie in the future, or touch more than 366 epochs (a {epoch} each)"
        case "quota":
            return f"this answer ({epsilon}) exceeds what this asker may take of the budget"
        case "budget" | "lifetime":
            return f"this answer ({epsilon}) exceeds the remaining budget: {budget_left(state, now)}"
    return _REASONS.get(reason, reason)


_REASONS: Final = {
    "asker": "no new asker is admitted until the person does something: call account.act() then",
    "answers": "this campaign was answered as often as its terms allow",
    "phase": "this campaign is answered by other devices: a coin that this one tossed decides",
    "id": "this identity belongs to an answer to another question; use a new one",
    "changed": (
        "the permanent answer to this question was charged for another ε, other data, another number "
        "of locations or other assumptions, or its charge is not known; ask under another name"
    ),
    "spent": "this device has spent more than it would keep; split first, or give a smaller part",
    "person": "this is the account of another person",
    "limits": "the accounts have different budgets, so they are not of one person",
    "conflict": "one identity stands for two different answers; one of the files was changed",
    "rolled back": "this device gave answers that its file does not know: an earlier copy was put back",
}


LATEST: Final = "no earlier copy of the account's file is put back"
PARTS: Final = "every device of the person keeps to the part that it was given, and uses its invitation once"
_MOST_ASKERS: Final = 1 << 20


def limits(
    epsilon: float,
    delta: float,
    epoch: EpochName,
    lifetime: float | None,
    quota: float | None,
    quotas: Mapping[str, float],
    askers: int | None,
) -> Data:
    """Return the limits of a person as plain data; raise InvalidParameter if one is not valid."""
    check_choice("epoch", epoch, EpochName)
    if epoch == "lifetime" and lifetime is not None:
        raise InvalidParameter(
            "expected epoch with lifetime, a limit for a budget per day, week or year; give epoch, or "
            "leave lifetime out (without epoch, epsilon is for life)"
        )
    if not isinstance(delta, int | float) or not 0.0 <= delta <= 1.0:
        raise InvalidParameter(f"expected delta of a budget to be a number from 0 to 1, got {found(delta)}")
    for name in quotas:
        check_name("the name of an asker", name, least=0)
    integral = isinstance(askers, int) and not isinstance(askers, bool)
    if askers is not None and not (integral and 0 <= askers <= _MOST_ASKERS):
        raise InvalidParameter(
            "expected askers, the number of new askers that an act of the person admits, to be an integer "
            f"from 0 to {_MOST_ASKERS}, got {found(askers)}"
        )
    return {
        "epoch": epoch,
        **_units(epsilon, delta),
        "lifetime": None if lifetime is None else _units(lifetime, delta),
        "quota": None if quota is None else hexadecimal(check_limit(quota, EPSILON)),
        "quotas": {name: hexadecimal(check_limit(most, EPSILON)) for name, most in quotas.items()},
        "askers": askers,
    }


def opening(
    person: str, device: str, limits: Data, own: Data, moment: ClockReading, born: int | None = None
) -> Data:
    """Return the initial state of an account."""
    begun = moment.wall if born is None else born  # the start of the person's first device
    clock = {**moment.wire(), "wall": max(begun, moment.wall), "ahead": 0}
    return {
        "account": VERSION,
        "person": person,
        "device": device,
        "limits": limits,
        "own": own,
        "born": begun,
        "clock": clock,
        "openings": limits["askers"],
    }


def guarantee(state: State) -> Guarantee:
    """Return the person's guarantee over all time and all askers; `Nothing` if only epochs are limited."""
    most = state.allowed
    life = (most.epsilon, most.delta) if state.limits["epoch"] == "lifetime" else most.lifetime
    integral = state.own.wire() == most.wire()  # no part was given to another device
    assumes = ((LATEST,) if integral else (LATEST, PARTS)) + accepted_assumptions(state)
    bound = Nothing(say_per_epoch(state)) if life is None else as_bound(*life)
    return Guarantee(bound, "person", assumes)


def ledger(state: State) -> Ledger:
    """Return all charges so far; the budget is the account's for all time, or infinite."""
    promised = guarantee(state)
    entries = [
        Entry(
            f"{entry['asker']} {entry['question']}".strip(),
            Guarantee(
                as_bound(int(entry["epsilon"], 16), int(entry["delta"], 16)), assumes=tuple(entry["assumes"])
            ),
            int(entry["id"], 16),
        )
        for entry in state.entries.values()
    ]
    return Ledger(promised.epsilon, promised.delta, entries=frozenset(entries))


def _units(epsilon: float, delta: float) -> Data:
    units = check_limit(epsilon, EPSILON), check_limit(delta, DELTA)
    return {"epsilon": hexadecimal(units[0]), "delta": hexadecimal(units[1])}
