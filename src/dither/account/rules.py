"""What an account decides: from a state and an event to an outcome and an effect. Pure and public.

A decision depends on the question, the time and what was spent, never on a value: no value is passed here.
The order of the checks is normative (docs/account.md), so that every implementation refuses for the same
reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, final

from dither.account.changes import KEPT_CHANGE, drawn_group, due, span
from dither.account.clock import DAY, MOST_EPOCHS
from dither.account.merging import merged
from dither.account.state import Data, State, asked
from dither.account.units import DELTA, EPSILON, charge
from dither.device_text import from_hexadecimal, hexadecimal
from dither.privacy import Approximate, Guarantee, Policy, Pure
from dither.randomness import SYSTEM, Source

_ADMISSION: Final[tuple[str, ...]] = ("clock", "asker", "openings")  # what a kept choice is kept with


@final
@dataclass(frozen=True)
class Decision:
    """What becomes of an event: the outcome that is told, and the effect that is kept.

    With `draws` a report has to be drawn, and put in by `with_report`, before the effect is kept. `owed` are
    the intervals that it is about, of a question about one kept change.
    """

    outcome: Data
    effect: Data = field(default_factory=dict)
    draws: bool = False
    owed: Data | None = None

    @property
    def refused(self) -> str | None:
        """The reason of a refusal; None if there is none."""
        reason: str | None = self.outcome.get("reason")
        return reason

    @property
    def without_report(self) -> Data:
        """The effect if no report can be drawn: a drawn choice is kept all the same, and nothing else."""
        if "choices" not in self.effect:
            return {}
        kept = {name: self.effect[name] for name in _ADMISSION if name in self.effect}
        return {**kept, "choices": [{**self.effect["choices"][0], "answer": None}]}

    def with_report(self, report: str, tree: Data | None = None) -> Decision:
        """Return the decision with the drawn report, as hexadecimal text, wherever it is kept."""
        effect = dict(self.effect) if tree is None else {**self.effect, "trees": [tree]}
        effect["queue"] = {**effect["queue"], "report": report}
        if "answers" in effect and effect["answers"][0]["permanent"] == "same":
            effect["answers"] = [{**effect["answers"][0], "report": report}]
        return Decision({**self.outcome, "report": report}, effect)


def decide(state: State, event: Mapping[str, Any], policy: Policy, source: Source = SYSTEM) -> Decision:
    """Return what becomes of an event. Nothing is changed; apply the effect to the state to keep it."""
    match event["do"]:
        case "answer":
            return _answer(state, event, policy, source)
        case "dry run":
            told = _answer(state, event, policy, None).outcome
            return Decision({key: value for key, value in told.items() if key != "report"})
        case "act":
            clock = {**_clock(state, event["at"]), "ahead": 0}
            openings = state.limits["askers"]
            return Decision({"is": "acted"}, {"clock": clock, "openings": openings})
        case "batch":
            return _batch(state, event)
        case "acknowledge":
            name = event["id"]
            gone = [one["id"] for one in state.queue.values() if name in (one["id"], one["batch"])]
            if not gone:
                return Decision({"is": "unknown"})
            return Decision({"is": "acknowledged", "reports": len(gone)}, {"unqueue": gone})
        case "split":
            return _split(state, event)
        case "merge":
            return Decision(*merged(state, event["from"]))
    raise AssertionError(event["do"])


def _refuse(reason: str, effect: Data | None = None) -> Decision:
    return Decision({"is": "refused", "reason": reason}, effect or {})


def _clock(state: State, at: Mapping[str, Any]) -> Data:
    """Return the clock after a moment. It never goes back, and counts how far it is ahead of what is proved.

    Only a steady clock with the same start proves that time has passed.
    """
    before = state.clock
    proved = max(0, at["elapsed"] - before["elapsed"]) if at["boot"] == before["boot"] else 0
    wall = max(before["wall"], at["wall"])
    ahead = before["ahead"] + (wall - before["wall"]) - proved
    return {"wall": wall, "boot": at["boot"], "elapsed": at["elapsed"], "ahead": ahead}


def _answer(state: State, event: Mapping[str, Any], policy: Policy, source: Source | None) -> Decision:
    """Return what becomes of a question; without a source (a dry run) no day is drawn."""
    question, identity = event["question"], event["id"]
    earlier = state.queue.get(identity) or state.entries.get(identity)
    if earlier is not None:
        return _again(question, earlier)
    if not _accepted(policy, question):
        return _refuse("policy")
    clock = _clock(state, event["at"])
    if clock["ahead"] > (state.epoch.most_ahead or clock["ahead"]):
        return _refuse("clock")
    epochs = _epochs(state, question, clock["wall"])
    if epochs is None:
        return _refuse("data")
    admitted = _admitted(state, question["asker"])
    if admitted is None:
        return _refuse("asker")
    effect: Data = {"clock": clock, **admitted}
    # One kind of permanent answer never stands for the other: "per value" keeps no report to repeat.
    kept = state.answers.get((*asked(question), question["repeat"]))
    if kept is not None:
        return _repeated(question, identity, kept, effect)
    if question["repeat"] == KEPT_CHANGE:
        return _told_change(state, question, identity, epochs, effect, source)
    choice = None
    if question["repeat"] == "once":
        day = clock["wall"] // DAY
        choice = _kept_choice(state, question, day)
        if choice is None and source is not None:
            choice = _drawn_choice(state, question, day, source)
            effect["choices"] = [choice]  # kept whatever follows: it is not drawn again
        if choice is None or choice["day"] != day or choice["answer"] is not None:
            return Decision({"is": "silent"}, effect if "choices" in effect else {})
    return _spend(state, question, identity, epochs, effect, choice)


def _told_change(
    state: State,
    question: Mapping[str, Any],
    identity: str,
    epochs: tuple[int, int],
    effect: Data,
    source: Source | None,
) -> Decision:
    """Return what becomes of a question about one kept change: charged once in each period."""
    day = effect["clock"]["wall"] // DAY
    choice = _kept_choice(state, question, day)
    if choice is None and source is not None:
        choice = drawn_group(state, question, day, source)
        effect["choices"] = [choice]  # kept whatever follows: it is not drawn again
    owed = None if choice is None else due(state, question, choice, day)
    if choice is None or owed is None:
        return Decision({"is": "silent"}, effect if "choices" in effect else {})
    if choice["answer"] is None:
        return replace(_spend(state, question, identity, epochs, effect, choice), owed=owed)
    effect["queue"] = {**_named(question), "id": identity, "report": None, "batch": None}
    return Decision({"is": "drawn", "charged": "0"}, effect, draws=True, owed=owed)


def _again(question: Mapping[str, Any], earlier: Data) -> Decision:
    """Return what becomes of an identity that is known: the stored bytes, if they still wait."""
    if asked(earlier) != asked(question):
        return _refuse("id")
    if "report" in earlier:
        return Decision({"is": "resent", "report": earlier["report"]})
    return Decision({"is": "acknowledged", "reports": 0})


def _admitted(state: State, asker: str) -> Data | None:
    """Return what changes when an asker is admitted: nothing if it is known; None if none may be added."""
    if asker in state.askers:
        return {}
    if state.openings is None:
        return {"asker": asker}
    return {"asker": asker, "openings": state.openings - 1} if state.openings else None


def _accepted(policy: Policy, question: Mapping[str, Any]) -> bool:
    epsilon, delta = question["epsilon"], question["delta"]
    bound = Approximate(epsilon, delta) if delta else Pure(epsilon)
    guarantee = Guarantee(bound, assumes=tuple(question["assumes"]))
    return policy.lists(question["mechanism"]) and policy.accepts(guarantee)


def _epochs(state: State, question: Mapping[str, Any], now: int) -> tuple[int, int] | None:
    """Return the first and the last epoch that the data touch; None if data are from the future, or too long.

    All that happened before the account was opened belongs to the epoch in which it was opened.
    """
    since, until = question["data"] or (now, now + 1)
    if question["repeat"] == KEPT_CHANGE:  # charged at once for all days of the period, also those to come
        since, until = span(question, now // DAY)
    elif not since < until <= now + 1:
        return None
    first = state.epoch.index(max(since, state.born))
    last = state.epoch.index(max(until - 1, state.born))
    return (first, last) if last - first < MOST_EPOCHS else None


def _period(question: Mapping[str, Any], day: int) -> int:
    period: int = (day - question["start"]) // question["days"]
    return period


def _kept_choice(state: State, question: Mapping[str, Any], day: int) -> Data | None:
    return state.choices.get((*asked(question), _period(question, day)))


def _drawn_choice(state: State, question: Mapping[str, Any], day: int, source: Source) -> Data:
    """Draw the day of the period on which a question is answered, without looking at any value."""
    days, period = question["days"], _period(question, day)
    drawn = question["start"] + period * days + source.below(days)
    kept = {"period": period, "day": drawn, "device": state.device, "answer": None}
    return {**_named(question), **kept}


def _repeated(question: Mapping[str, Any], identity: str, kept: Data, effect: Data) -> Decision:
    effect["queue"] = {**_named(question), "id": identity, "report": kept["report"], "batch": None}
    outcome = {"is": "repeated", "charged": "0"}
    if kept["report"] is None:  # one answer per value: the report is made again from the key
        return Decision(outcome, effect, draws=True)
    return Decision({**outcome, "report": kept["report"]}, effect)


def _spend(
    state: State,
    question: Mapping[str, Any],
    identity: str,
    epochs: tuple[int, int],
    effect: Data,
    choice: Data | None,
) -> Decision:
    epsilon, delta = charge(question["epsilon"], EPSILON), charge(question["delta"], DELTA)
    short = _short(state, question["asker"], epochs, epsilon, delta)
    if short is not None:
        return _refuse(short, effect if "choices" in effect else None)
    entry = {
        **_named(question),
        "id": identity,
        "device": state.device,
        "epsilon": hexadecimal(epsilon),
        "delta": hexadecimal(delta),
        "assumes": list(question["assumes"]),
        "first": epochs[0],
        "last": epochs[1],
    }
    effect["entries"] = [entry]
    effect["queue"] = {**_named(question), "id": identity, "report": None, "batch": None}
    if question["repeat"] in ("same", "per value"):
        effect["answers"] = [
            {**_named(question), "id": identity, "permanent": question["repeat"], "report": None}
        ]
    if choice is not None:
        effect["choices"] = [{**choice, "answer": identity}]
    return Decision({"is": "drawn", "charged": entry["epsilon"]}, effect, draws=True)


def _short(state: State, asker: str, epochs: tuple[int, int], epsilon: int, delta: int) -> str | None:
    """Return what does not suffice for a charge: quota, budget or lifetime; None if all do."""
    quota = state.limits["quotas"].get(asker, state.limits["quota"])
    for epoch in range(epochs[0], epochs[1] + 1):
        spent = state.all.askers.get((asker, epoch), 0)
        if quota is not None and spent + epsilon > from_hexadecimal(quota):
            return "quota"
    # This device keeps to its own part, so that devices that do not hear of each other stay within the whole.
    for totals, allowed in ((state.mine, state.own), (state.all, state.allowed)):
        for epoch in range(epochs[0], epochs[1] + 1):
            before = totals.epochs.get(epoch, (0, 0))
            if before[0] + epsilon > allowed.epsilon or before[1] + delta > allowed.delta:
                return "budget"
        life = allowed.lifetime
        if life and (totals.lifetime[0] + epsilon > life[0] or totals.lifetime[1] + delta > life[1]):
            return "lifetime"
    return None


def _batch(state: State, event: Mapping[str, Any]) -> Decision:
    """Return the oldest batch of an asker that is not acknowledged, or a new one of what waits.

    With `questions`, pairs of a name and a fingerprint, it is one of reports to these alone: a collector
    refuses a whole batch for one report to a question of another campaign.
    """
    queued = [item for item in state.queue.values() if item["asker"] == event["asker"]]
    if (chosen := event.get("questions")) is not None:
        queued = [item for item in queued if [item["question"], item["fingerprint"]] in chosen]
    sent = next((item["batch"] for item in queued if item["batch"] is not None), None)
    if sent is not None:
        reports = [item["id"] for item in state.queue.values() if item["batch"] == sent]
        return Decision({"is": "resent", "id": sent, "reports": reports})
    reports = [item["id"] for item in queued][: event["most"]]
    if not reports:
        return Decision({"is": "empty"})
    batch = {"id": event["id"], "reports": reports}
    return Decision({"is": "batched", **batch}, {"batch": batch})


def _split(state: State, event: Mapping[str, Any]) -> Decision:
    """Transfer a part of this device's budget to another device, before either works alone."""
    gift = state.own.part(*event["share"])
    left = state.own.minus(gift)
    if not left.covers(state.mine):
        return _refuse("spent")
    return Decision({"is": "split", "device": event["device"], "own": gift.wire()}, {"own": left.wire()})


def _named(question: Mapping[str, Any]) -> Data:
    asker, name, fingerprint = asked(question)
    return {"asker": asker, "question": name, "fingerprint": fingerprint}
