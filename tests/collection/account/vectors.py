"""Write `clients/conformance/2/account.json`: the states of an account after given events.

    python -m tests.collection.account.vectors

Whoever implements an account in another language runs the events of every scenario and compares the outcome
and the state after each of them. docs/account.md says what the fields mean.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dither_device.kept_change import marked
from dither_device.rules import Policy, decide
from dither_device.state import State
from tests.collection.account.events import OPEN
from tests.collection.account.scenarios import SCENARIOS
from tests.support.sources import Scripted

FILE = Path(__file__).parents[3] / "clients" / "conformance" / "2" / "account.json"


def run(state: State, event: dict[str, Any], policy: dict[str, Any] | None) -> dict[str, Any]:
    """Let an event happen: change the state, and return the outcome. Without a policy it is the default."""
    source = Scripted(bytes.fromhex(event.get("random", "")))
    decision = decide(state, event, Policy(**(policy or {})), source.take)
    if decision.draws and decision.owed is not None:
        decision = decision.with_report(event["report"], tree=marked(decision.owed, event["mark"]))
    elif decision.draws:
        decision = decision.with_report(event["report"], mark=event.get("mark"))
    state.apply(decision.effect)
    return decision.outcome


def played(scenario: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario with the outcome of each event, and the state where the event changed it."""
    state = State(scenario["open"])
    told = scenario["open"]
    steps = []
    for event in scenario["events"]:
        outcome = run(state, event, scenario["policy"])
        step = {"event": event, "outcome": outcome}
        now = json.loads(json.dumps(state.wire()))
        if now != told:
            step["state"] = told = now
        steps.append(step)
    return {
        "name": scenario["name"], "about": scenario["about"], "policy": scenario["policy"],
        "open": scenario["open"], "steps": steps,
    }  # fmt: skip


def text() -> str:
    """Return the whole file: one line for each event, so that a change is easy to see."""
    parts = []
    for scenario in SCENARIOS:
        whole = played(scenario)
        steps = ",\n".join("   " + json.dumps(step, sort_keys=True) for step in whole.pop("steps"))
        head = ", ".join(
            f"{json.dumps(key)}: {json.dumps(value, sort_keys=True)}" for key, value in whole.items()
        )
        parts.append(f'  {{{head}, "steps": [\n{steps}\n  ]}}')
    return '{"account": 3, "scenarios": [\n' + ",\n".join(parts) + "\n]}\n"


def happen(state: State, event: dict[str, Any], policy: dict[str, Any] = OPEN) -> str:
    """Let an event happen, and return the reason of a refusal, or else what it is."""
    outcome = run(state, event, policy)
    word: str = outcome.get("reason", outcome["is"])
    return word


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
