"""What an account decides: from a state and an event to an outcome and an effect. Pure and public.

A decision depends on the question, the time and what was spent, never on a value: no value is passed here.
The order of the checks is normative (docs/account.md), so that every implementation refuses for the same
reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any, Final

from dither.collection.account.budget import DELTA, EPSILON, charge
from dither.collection.account.clock import DAY, MOST_EPOCHS
from dither.collection.account.exports import merge
from dither.collection.account.kept_change import KEPT_CHANGE, drawn_group, due, period, span
from dither.collection.account.state import Data, State, question_key
from dither.core.memoised import SECRET
from dither.foundation.canonical import from_hexadecimal, hexadecimal
from dither.foundation.randomness import SYSTEM, Source
from dither.privacy import Approximate, Guarantee, Policy, Pure
from dither.privacy.guarantee import PUBLIC_LENGTH, UNCHANGED

_ADMISSION: Final[tuple[str, ...]] = ("clock", "asker", "openings")  # what a kept choice is kept with
_TERMS: Final[tuple[str, ...]] = ("epsilon", "delta", "assumes", "data", "times")  # what is charged for


@dataclass(frozen=True)
class Decision:
    """What becomes of an event: the outcome that is told, and the effect that is kept.

    With `draws` a report has to be drawn, and put in by `with_report`, before the effect is kept. `owed` are
    the intervals that it is about, of a question about one kept change. `told` are the marks of the values
    whose reports were queued before, of a question that has one report for each value.
    """

    outcome: Data
    effect: Data = field(default_factory=dict)
    draws: bool = False
    owed: Data | None = None
    told: Set[str] | None = None

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

    def with_report(self, report: str, tree: Data | None = None, mark: str | None = None) -> Decision:
        """Return the decision with the drawn report, as hexadecimal text, wherever it is kept.

        `tree` is what is kept about intervals, `mark` the mark of the value where `told` needs one.
        """
        effect = dict(self.effect) if tree is None else {**self.effect, "trees": [tree]}
        if self.told is not None and mark is not None and effect.pop("queue") and mark not in self.told:
            effect["queue"], effect["told"] = self.effect["queue"], [mark]
        if "queue" in effect:
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
            gone = [
                report["id"] for report in state.queue.values() if name in (report["id"], report["batch"])
            ]
            if not gone:
                return Decision({"is": "unknown"})
            return Decision({"is": "acknowledged", "reports": len(gone)}, {"unqueue": gone})
        case "split":
            return _split(state, event)
        case "merge":
            return Decision(*merge(state, event["from"]))
    raise AssertionError(event["do"])


def _refuse(reason: str, effect: Data | None = None) -> Decision:
    return Decision({"is": "refused", "reason": reason}, effect or {})


def _clock(state: State, at: Mapping[str, Any]) -> Data:
    """Return the clock after a moment. It never goes back, and counts how far it is ahead of what is proved.

    Only a steady clock with the same start proves that time has passed.
    """
    before = state.clock
    # The larger reading of one start stands: an older one would let the same time be proved again.
    elapsed = max(before["elapsed"], at["elapsed"]) if at["boot"] == before["boot"] else at["elapsed"]
    proved = elapsed - before["elapsed"] if at["boot"] == before["boot"] else 0
    wall = max(before["wall"], at["wall"])
    ahead = before["ahead"] + (wall - before["wall"]) - proved
    return {"wall": wall, "boot": at["boot"], "elapsed": elapsed, "ahead": ahead}


def _answer(state: State, event: Mapping[str, Any], policy: Policy, source: Source | None) -> Decision:
    """Return what becomes of a question; without a source (a dry run) no day is drawn."""
    question, identity = event["question"], event["id"]
    earlier = state.queue.get(identity) or state.entries.get(identity)
    if earlier is not None:
        return _again(state, question, identity, earlier)
    if not _accepts(policy, question):
        return _refuse("policy")
    clock = _clock(state, event["at"])
    if clock["ahead"] > (state.epoch.most_ahead or clock["ahead"]):
        return _refuse("clock")
    epochs = _epochs(state, question, clock["wall"])
    if epochs is None:
        return _refuse("data")
    admitted = _admission(state, question["asker"])
    if admitted is None:
        return _refuse("asker")
    effect: Data = {"clock": clock, **admitted}
    # One kind of permanent answer never stands for the other: "per value" keeps no report to repeat.
    kept = state.answers.get((*question_key(question), question["repeat"]))
    if kept is not None:
        return _repeat_answer(state, question, identity, kept, effect)
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
    whole = {**question, "data": list(span(question, day))}
    if choice["answer"] is None:
        return replace(_spend(state, whole, identity, epochs, effect, choice), owed=owed)
    if not _is_paid(whole, state.entries.get(choice["answer"])):
        return _refuse("changed")
    effect["queue"] = {**_named_question(question), "id": identity, "report": None, "batch": None}
    return Decision({"is": "drawn", "charged": "0"}, effect, draws=True, owed=owed)


def _again(state: State, question: Mapping[str, Any], identity: str, earlier: Data) -> Decision:
    """Return what becomes of an identity that is known: the stored bytes, if they still wait."""
    kept = state.answers.get((*question_key(question), question["repeat"]))
    entry = state.entries.get(kept["id"] if kept and identity not in state.entries else identity)
    periodic = question["repeat"] == KEPT_CHANGE  # its span is that of its period, not of the present one
    terms = {**question, "data": entry.get("data")} if periodic and entry else question
    if question_key(earlier) != question_key(question) or (entry is not None and not _is_paid(terms, entry)):
        return _refuse("id")
    if "report" in earlier:
        return Decision({"is": "resent", "report": earlier["report"]})
    return Decision({"is": "acknowledged", "reports": 0})


def _admission(state: State, asker: str) -> Data | None:
    """Return what changes when an asker is admitted: nothing if it is known; None if none may be added."""
    if asker in state.askers:
        return {}
    if state.openings is None:
        return {"asker": asker}
    return {"asker": asker, "openings": state.openings - 1} if state.openings else None


def _accepts(policy: Policy, question: Mapping[str, Any]) -> bool:
    epsilon, delta = question["epsilon"], question["delta"]
    bound = Approximate(epsilon, delta) if delta else Pure(epsilon)
    guarantee = Guarantee(bound, assumes=tuple(_assumptions(question)))
    return policy.lists(question["mechanism"]) and policy.accepts(guarantee)


def _assumptions(question: Mapping[str, Any]) -> list[str]:
    """Return all that an answer assumes: what the question says, and what its kind always assumes."""
    length = [PUBLIC_LENGTH] if question.get("times", 1) > 1 else []
    permanent = [UNCHANGED, SECRET] if question["repeat"] == "per value" else []
    return list(dict.fromkeys([*question["assumes"], *length, *permanent]))


def _charge(question: Mapping[str, Any]) -> Data:
    """Return what an answer is charged for, as an entry holds it."""
    return {
        **_named_question(question),
        "epsilon": hexadecimal(charge(question["epsilon"], EPSILON)),
        "delta": hexadecimal(charge(question["delta"], DELTA)),
        "assumes": _assumptions(question),
        **{name: question[name] for name in ("data", "times") if question.get(name) is not None},
    }


def _is_paid(question: Mapping[str, Any], entry: Data | None) -> bool:
    """Return whether an entry was charged for exactly what is asked: nothing else is handed out uncharged."""
    due = _charge(question)
    names = {*due, *_TERMS}
    return entry is not None and all(entry.get(name) == due.get(name) for name in names)


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


def _kept_choice(state: State, question: Mapping[str, Any], day: int) -> Data | None:
    return state.choices.get((*question_key(question), period(question, day)))


def _drawn_choice(state: State, question: Mapping[str, Any], day: int, source: Source) -> Data:
    """Draw the day of the period on which a question is answered, without looking at any value."""
    first = period(question, day)
    drawn = first + source.below(question["days"])
    kept = {"period": first, "day": drawn, "device": state.device, "answer": None}
    return {**_named_question(question), **kept}


def _repeat_answer(
    state: State, question: Mapping[str, Any], identity: str, kept: Data, effect: Data
) -> Decision:
    """Return a permanent answer again. It is queued once: a person who is asked again counts once.

    It was charged once: permanent_once (proofs/Account.v). Sent again, it tells no more: permanent_answer
    (proofs/Combine.v).
    """
    entry, same = state.entries.get(kept["id"]), question["repeat"] == "same"
    if entry is None or not _is_paid(question, entry) or (same and kept["report"] is None):
        return _refuse("changed")
    outcome = {"is": "repeated", "charged": "0"}
    if same:
        return Decision({**outcome, "report": kept["report"]}, effect)
    if entry["device"] != state.device:  # the device that was charged sends
        return Decision(outcome, effect, draws=True)
    effect["queue"] = {**_named_question(question), "id": identity, "report": None, "batch": None}
    return Decision(outcome, effect, draws=True, told=state.told)


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
    mine = {"id": identity, "device": state.device, "first": epochs[0], "last": epochs[1]}
    entry = {**_charge(question), **mine}
    effect["entries"] = [entry]
    effect["queue"] = {**_named_question(question), "id": identity, "report": None, "batch": None}
    if question["repeat"] in ("same", "per value"):
        effect["answers"] = [
            {**_named_question(question), "id": identity, "permanent": question["repeat"], "report": None}
        ]
    if choice is not None:
        effect["choices"] = [{**choice, "answer": identity}]
    told = state.told if question["repeat"] == "per value" else None
    return Decision({"is": "drawn", "charged": entry["epsilon"]}, effect, draws=True, told=told)


def _short(state: State, asker: str, epochs: tuple[int, int], epsilon: int, delta: int) -> str | None:
    """Return what does not suffice for a charge: quota, budget or lifetime; None if all do.

    With the store's transactions no sequence of events exceeds a limit: never_exceeds and budget_with_slack
    (proofs/Account.v).
    """
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

    It has at most one report to a question, so that no collector takes a device for several people.
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
    first: dict[str, str] = {}
    for item in queued:
        first.setdefault(item["fingerprint"], item["id"])
    reports = list(first.values())[: event["most"]]
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


def _named_question(question: Mapping[str, Any]) -> Data:
    asker, name, fingerprint = question_key(question)
    return {"asker": asker, "question": name, "fingerprint": fingerprint}
