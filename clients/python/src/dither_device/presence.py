"""Presence: one message on the first use in a calendar period, with no identity.

The two events of docs/account.md: `present` makes the message of the current period, `message` returns it
while that period lasts. A coin for life decides whether a device's messages carry one permanent label or the
public ones, never both.
"""

from __future__ import annotations

from dither_device.draws import below
from dither_device.rules import Decision, clock_after, period_of, try_to_charge
from dither_device.state import DAY, key_of, named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from dither_device.rules import Policy, Take
    from dither_device.state import State

    Data = dict[str, Any]

PERMANENT = "present"  # how `answers` names a label that is drawn once for life


def decide_present(state: State, event: Data, policy: Policy, take: Take | None) -> Decision:
    """Return the outcome of a use: a message for its period, unless the period has one already."""
    terms, question, now = event["presence"], event["question"], clock_after(state, event["at"])
    if question is not None and not policy.accepts(question):
        return Decision({"is": "refused", "reason": "policy"})
    effect: Data = {"clock": now}
    if terms["asker"] not in state.askers:
        if state.openings == 0:
            return Decision({"is": "refused", "reason": "asker"})
        effect["asker"] = terms["asker"]
        if state.openings is not None:
            effect["openings"] = state.openings - 1
    kept = state.present.get((terms["asker"], terms["name"]))
    period, _ = period_of(terms, now["wall"] // DAY)
    if kept is not None and kept["period"] is not None and period <= kept["period"]:
        return Decision({"is": "silent"})
    first = kept is None or kept["period"] is None
    if kept is None:
        permanent = question is not None and take is not None and below(take, 1000) < terms["share"]
        kept = {"asker": terms["asker"], "name": terms["name"], "permanent": permanent}
    effect["present"] = [{**kept, "period": period, "batch": event["id"]}]
    if first and kept["permanent"] and question is not None and _label(state, question) is None:
        entry = try_to_charge(state, question, event["id"], now)
        if entry is not None:
            effect["entries"] = [entry]
            label = {"id": event["id"], "permanent": PERMANENT, "report": None}
            effect["answers"] = [{**named(question), **label}]
            return Decision({"is": "drawn", "charged": entry["epsilon"]}, effect, True)
    return Decision({"is": "present"}, effect)


def _label(state: State, question: Data) -> Data | None:
    return state.answers.get((*key_of(question), PERMANENT))


def without_label(effect: Data) -> Data:
    """Return the effect if the label cannot be drawn: the coin, and no message."""
    kept: Data = {name: effect[name] for name in ("clock", "asker", "openings") if name in effect}
    return {**kept, "present": [{**one, "period": None, "batch": None} for one in effect["present"]]}


def decide_message(state: State, event: Data) -> Decision:
    """Return the message that waits; drop it if its period is over."""
    terms, question = event["presence"], event["question"]
    kept = state.present.get((terms["asker"], terms["name"]))
    if kept is None or kept["batch"] is None:
        return Decision({"is": "empty"})
    now = clock_after(state, event["at"])
    if period_of(terms, now["wall"] // DAY)[0] != kept["period"]:
        return Decision({"is": "empty"}, {"clock": now, "present": [{**kept, "batch": None}]})
    label = None
    if kept["permanent"] and question is not None:
        label = _label(state, question)
    reports = [] if label is None else [[label["fingerprint"], label["report"]]]
    return Decision(
        {"is": "message", "id": kept["batch"], "public": not kept["permanent"], "reports": reports}
    )
