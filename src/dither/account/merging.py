"""Merging what two devices of one person know: idempotent, commutative, and never less than either knew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dither.account.state import Data, State, asked


def merged(state: State, other: Mapping[str, Any]) -> tuple[Data, Data]:
    """Return the outcome and the effect of merging another device's export into a state."""
    if other["person"] != state.person:
        return _refused("person")
    if other["limits"] != state.limits:
        return _refused("limits")
    entries = []
    for entry in other["entries"]:
        known = state.entries.get(entry["id"])
        if known is None:
            if entry["device"] == state.device:
                return _refused("rolled back")  # this device gave an answer that its own file does not know
            entries.append(entry)
        elif known != entry:
            return _refused("conflict")
    effect: Data = {}
    answers = [
        one
        for one in other["answers"]
        if _earlier(one, state.answers.get((*asked(one), one["permanent"])), _order_of_answer)
    ]
    choices = [
        one
        for one in other["choices"]
        if _earlier(one, state.choices.get((*asked(one), one["period"])), _order_of_choice)
    ]
    for name, new in (("entries", entries), ("answers", answers), ("choices", choices)):
        if new:
            effect[name] = new
    return {"is": "merged", "entries": len(entries)}, effect


def _refused(reason: str) -> tuple[Data, Data]:
    return {"is": "refused", "reason": reason}, {}


def _earlier(one: Data, other: Data | None, order: Any) -> bool:
    return other is None or order(one) < order(other)


def _order_of_answer(answer: Data) -> str:
    """Of two permanent answers the one with the smaller identity is kept, on every device."""
    identity: str = answer["id"]
    return identity


def _order_of_choice(choice: Data) -> tuple[bool, str, str]:
    """Of two kept days the answered one is kept; then the smaller identity, then the smaller device."""
    return choice["answer"] is None, choice["answer"] or "", choice["device"]
