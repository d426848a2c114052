"""An account in words: what is left, and why a question was refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from dither.account.clock import DAY, Epoch
from dither.account.state import State
from dither.account.units import DELTA, EPSILON, as_bound, shown


@final
@dataclass(frozen=True)
class Left:
    """What one device may still spend: of the present epoch, and of the lifetime if that is limited.

    The numbers are rounded down to six digits, and free of rounding dust.
    """

    epoch: str
    epsilon: float
    delta: float
    lifetime: float | None
    text: str

    def __str__(self) -> str:
        return self.text


def left(state: State, now: int) -> Left:
    """Return what is left at a moment, the smaller of this device's part and the whole."""
    index = state.epoch.index(max(now, state.clock["wall"]))
    whole = state.allowed
    mine, every = (totals.epochs.get(index, (0, 0)) for totals in (state.mine, state.all))
    epsilon = max(0, min(state.own.epsilon - mine[0], whole.epsilon - every[0]))
    delta = max(0, min(state.own.delta - mine[1], whole.delta - every[1]))
    lifetime = None
    if whole.lifetime is not None and state.own.lifetime is not None:
        parts = state.own.lifetime[0] - state.mine.lifetime[0], whole.lifetime[0] - state.all.lifetime[0]
        lifetime = max(0, min(parts))
    of_epoch = shown(epsilon, EPSILON, whole=whole.epsilon)
    words = f"ε = {of_epoch} of {shown(whole.epsilon, EPSILON)} left for {state.epoch.name_of(index)}"
    if whole.delta:
        words += f", δ = {shown(delta, DELTA, whole=whole.delta)} of {shown(whole.delta, DELTA)}"
    of_life = None
    if lifetime is not None and whole.lifetime is not None:
        of_life = shown(lifetime, EPSILON, whole=whole.lifetime[0])
        words += f"; ε = {of_life} of {shown(whole.lifetime[0], EPSILON)} left for all time"
    return Left(
        state.epoch.name_of(index),
        float(of_epoch),
        float(shown(delta, DELTA, whole=whole.delta)),
        None if of_life is None else float(of_life),
        words,
    )


def accepted(state: State) -> tuple[str, ...]:
    """Return what the answers that were given assume, each line once. The promise holds under these alone."""
    return tuple(dict.fromkeys(line for entry in state.entries.values() for line in entry["assumes"]))


def promise(state: State) -> str:
    """Return what the account promises, and what that assumes. Quotas of askers are no promise, not in it."""
    lines = accepted(state)
    return _budget(state) + (f" This assumes that {'; '.join(lines)}." if lines else "")


def _budget(state: State) -> str:
    whole = state.allowed
    budget = as_bound(whole.epsilon, whole.delta)  # its text is rounded up
    if state.epoch is Epoch.LIFETIME:
        return f"All askers together learn at most {budget} about this person."
    per = f"All askers together learn at most {budget} about what happened in one {state.epoch.value}"
    if whole.lifetime is None:
        return (
            f"{per}. This is per {state.epoch.value}: there is no cap for all time, and what stays the same "
            f"from {state.epoch.value} to {state.epoch.value} is told again in each."
        )
    return f"{per}, and at most {as_bound(*whole.lifetime)} in all time."


def per_epoch(state: State) -> str:
    """Return why there is no guarantee for all time: the budget is one for each epoch."""
    budget = as_bound(state.allowed.epsilon, state.allowed.delta)
    return f"the budget, {budget}, is per {state.epoch.value}, and there is no cap for all time"


def explained(state: State, reason: str, question: Mapping[str, Any], now: int) -> str:
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
            return f"the data lie in the future, or touch more than 366 epochs (a {state.epoch.value} each)"
        case "asker":
            return "no new asker is admitted until the person does something: call account.act() then"
        case "quota":
            return f"this answer ({epsilon}) exceeds what this asker may take of the budget"
        case "id":
            return "this identity belongs to an answer to another question; use a new one"
        case "changed":
            return (
                "the permanent answer to this question was charged for another ε, other data, another number "
                "of locations or other assumptions, or its charge is not known; ask under another name"
            )
        case "budget" | "lifetime":
            return f"this answer ({epsilon}) exceeds what is left: {left(state, now)}"
        case "spent":
            return "this device has spent more than it would keep; split first, or give a smaller part"
        case "person":
            return "this is the account of another person"
        case "limits":
            return "the accounts have different budgets, so they are not of one person"
        case "conflict":
            return "one identity stands for two different answers; one of the files was changed"
        case "rolled back":
            return "this device gave answers that its file does not know: an earlier copy was put back"
    return reason
