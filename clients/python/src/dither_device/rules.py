"""The rules of an account: a state, events, and their effects; docs/account.md is normative.

The one implementation in Python: `dt.Account` and `dither_device.Account` both decide by it. Nothing here
reads a clock, touches a file or is given a value. The order of the checks is normative, so that every
implementation refuses for the same reason.
"""

from __future__ import annotations

from datetime import date, timedelta

from dither_device.draws import below
from dither_device.state import (
    DAY,
    DELTA,
    EPSILON,
    State,
    charge,
    choice_key,
    epoch_of,
    key_of,
    named,
    pair_of,
    with_repeat,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from dither_device.state import Data

    Take = Callable[[int], bytes]

MOST_EPOCHS = 366  # epochs that the data of one answer may touch
PUBLIC_LENGTH = "how many locations a trajectory has, and when they were sent, is public"
UNCHANGED = "the value never changes"
SECRET = "the device's key stays on the device"
EPOCHS = {"day": 1, "week": 7, "year": 366, "lifetime": None}  # days by which a clock may be ahead
_TERMS = ("epsilon", "delta", "assumes", "data", "times", "campaign")  # the fields of a charge
ASIDE = "0" * 32  # the batch of a permanent answer that was dropped and waits for the next request
_KEPT_CHANGE = "kept change"


class Policy:
    """A device's conditions on a question: ε and δ of one answer, assumptions, mechanisms."""

    __slots__ = ("assumptions", "delta", "epsilon", "mechanisms")

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 0.0,
        assumptions: Iterable[str] = (),
        mechanisms: Iterable[str] | None = None,
    ) -> None:
        self.epsilon, self.delta, self.assumptions = epsilon, delta, tuple(assumptions)
        self.mechanisms = None if mechanisms is None else tuple(mechanisms)

    def accepts(self, question: Data) -> bool:
        """Return whether the facts of a question are within the policy."""
        listed = self.mechanisms is None or question["mechanism"] in self.mechanisms
        small = question["epsilon"] <= self.epsilon and question["delta"] <= self.delta
        return listed and small and set(assumptions_of(question)) <= set(self.assumptions)


def assumptions_of(question: Data) -> list[str]:
    """Return all that an answer assumes: what the question says, and what its kind always assumes."""
    length = [PUBLIC_LENGTH] if question.get("times", 1) > 1 else []
    permanent = [UNCHANGED, SECRET] if question["repeat"] == "per value" else []
    return list(dict.fromkeys([*question["assumes"], *length, *permanent]))


class Decision:
    """The result of an event: the reported outcome, and the effect that is kept.

    With `draws` a report has to be drawn, and put in by `with_report`, before the effect is kept. `marks` are
    those of the values whose reports were queued before, for a question with one report for each value.
    `owed` are the intervals to report, of a question about one kept change. `aside` are the identities of
    reports that were dropped, by report: one that is drawn again waits again.
    """

    __slots__ = ("aside", "draws", "effect", "marks", "outcome", "owed")

    def __init__(
        self,
        outcome: Data,
        effect: Data | None = None,
        draws: bool = False,
        marks: set[str] | None = None,
        owed: Data | None = None,
        aside: dict[str, list[str]] | None = None,
    ) -> None:
        self.outcome, self.effect, self.draws = outcome, effect or {}, draws
        self.marks, self.owed, self.aside = marks, owed, aside or {}

    @property
    def refused(self) -> str | None:
        """The reason of a refusal, or None."""
        reason: str | None = self.outcome.get("reason")
        return reason

    def without_report(self) -> Data:
        """Return the effect if no report can be drawn: a drawn day or group is kept, nothing else."""
        if "present" in self.effect:
            from dither_device.presence import without_label

            return without_label(self.effect)
        if not _is_drawn(self.effect):
            return {}
        kept: Data = {n: self.effect[n] for n in ("clock", "asker", "openings", "coins") if n in self.effect}
        choices = [{**choice, "answer": None} for choice in self.effect.get("choices", ())]
        return {**kept, **({"choices": choices} if choices else {})}

    def with_report(self, report: str, mark: str | None = None, tree: Data | None = None) -> Decision:
        """Return the decision with the drawn report, as hexadecimal text, wherever it is kept.

        `mark` is the mark of the value if `marks` is given, `tree` the record of the reported intervals.
        """
        effect = dict(self.effect) if tree is None else {**self.effect, "trees": [tree]}
        if self.marks is not None and mark is not None:
            item = effect.pop("queue")
            if mark not in self.marks:
                effect["queue"], effect["told"] = item, [mark]
            elif report in self.aside:
                effect["batch"] = {"id": None, "reports": self.aside[report]}
        if "queue" in effect:
            effect["queue"] = {**effect["queue"], "report": report}
        if "answers" in effect and effect["answers"][0]["permanent"] in ("same", "present"):
            effect["answers"] = [{**effect["answers"][0], "report": report}]
        return Decision({**self.outcome, "report": report}, effect)


def _is_drawn(effect: Data) -> bool:
    """Return whether a day, a group or a coin was drawn; it is kept in any case."""
    return "choices" in effect or "coins" in effect


def decide(state: State, event: Data, policy: Policy, take: Take | None = None) -> Decision:
    """Return the result of an event. Nothing is changed; apply the effect to the state to keep it.

    `take` returns random bytes, for the day or the group of an answer. Without it none is drawn.
    """
    kind = event["do"]
    if kind == "answer":
        return _answer(state, event, policy, take)
    if kind == "dry run":
        reported = _answer(state, event, policy, None).outcome
        return Decision({name: value for name, value in reported.items() if name != "report"})
    if kind == "act":
        clock = {**clock_after(state, event["at"]), "ahead": 0}
        return Decision({"is": "acted"}, {"clock": clock, "openings": state.limits["askers"]})
    if kind == "batch":
        return _batch(state, event)
    if kind in ("present", "message"):
        from dither_device.presence import decide_message, decide_present

        if kind == "message":
            return decide_message(state, event)
        return decide_present(state, event, policy, take)
    if kind == "acknowledge":
        return _acknowledge(state, event)
    if kind == "withdraw":
        return _withdraw(state, event["id"])
    if kind == "drop":
        return _drop(state, event["id"])
    if kind == "split":
        return _split(state, event)
    assert kind == "merge", kind
    return _merge(state, event["from"])


def _refuse(reason: str, effect: Data | None = None) -> Decision:
    return Decision({"is": "refused", "reason": reason}, effect)


def clock_after(state: State, at: Data) -> Data:
    """Return the clock after a moment. It never goes back; only a steady clock proves that time passed."""
    before = state.clock
    same = at["boot"] == before["boot"]
    elapsed = max(before["elapsed"], at["elapsed"]) if same else at["elapsed"]  # time is proved once
    proved = elapsed - before["elapsed"] if same else 0
    wall = max(before["wall"], at["wall"])
    ahead = before["ahead"] + (wall - before["wall"]) - proved
    return {"wall": wall, "boot": at["boot"], "elapsed": elapsed, "ahead": ahead}


def _answer(state: State, event: Data, policy: Policy, take: Take | None) -> Decision:
    question, identity = event["question"], event["id"]
    earlier = state.queue.get(identity) or state.entries.get(identity)
    if earlier is not None:
        return _again(state, question, identity, earlier)
    if not policy.accepts(question):
        return _refuse("policy")
    clock = clock_after(state, event["at"])
    days = EPOCHS[state.limits["epoch"]]
    if days is not None and clock["ahead"] > days * DAY:
        return _refuse("clock")
    epochs = _epochs(state, question, clock["wall"])
    if epochs is None:
        return _refuse("data")
    effect: Data = {"clock": clock}
    if question["asker"] not in state.askers:
        if state.openings == 0:
            return _refuse("asker")
        effect["asker"] = question["asker"]
        if state.openings is not None:
            effect["openings"] = state.openings - 1
    refused = _phase(state, question, effect, take)
    if refused is not None:
        return refused
    # One kind of permanent answer never replaces the other: "per value" keeps no report to repeat.
    kept = state.answers.get((*key_of(question), question["repeat"]))
    if kept is not None:
        return _repeat(state, question, identity, kept, effect)
    day = clock["wall"] // DAY
    if question["repeat"] == _KEPT_CHANGE:
        return _report_change(state, question, identity, epochs, effect, day, take)
    choice = None
    if question["repeat"] == "once":
        first, length = period_of(question, day)
        choice = _choice(state, question, first, effect, take, length, first)
        if choice is None or choice["day"] != day or choice["answer"] is not None:
            return Decision({"is": "silent"}, effect if _is_drawn(effect) else None)
    return _spend(state, question, identity, epochs, effect, choice)


def _phase(state: State, question: Data, effect: Data, take: Take | None) -> Decision | None:
    """Return the refusal of a question that is for other devices; None if this one answers it.

    A coin is tossed once for an asker and a campaign's name, without looking at any value.
    """
    phase = question.get("phase")
    if phase is None:
        return None
    asker, name = question["asker"], phase["name"]
    coin = state.coins.get((asker, name))
    if "follows" in phase:
        heads = [c["name"] for c in state.coins.values() if c["asker"] == asker and c["heads"]]
        first = [c for c in state.coins.values() if c["asker"] == asker and c["campaign"] == phase["follows"]]
        if name in heads or any(c["heads"] for c in first):
            return _refuse("phase")
        if coin is None:  # who answers the second campaign does not answer the first one any more
            effect["coins"] = [{"asker": asker, "name": name, "campaign": phase["follows"], "heads": False}]
        return None
    if coin is None:
        if take is None:
            return Decision({"is": "silent"})
        heads_up = below(take, 1000) < phase["share"]
        coin = {"asker": asker, "name": name, "campaign": phase["campaign"], "heads": heads_up}
        effect["coins"] = [coin]
    return None if coin["heads"] else _refuse("phase", effect if _is_drawn(effect) else None)


def period_of(question: Data, day: int) -> tuple[int, int]:
    """Return the first day of a day's period (its name), and its length in days."""
    every = question.get("every")
    if every is None:
        return day - (day - question["start"]) % question["days"], question["days"]
    if every != "month":
        return (day, 1) if every == "day" else (day - (day + 3) % 7, 7)  # 1970-01-01 was a Thursday
    here = date(1970, 1, 1) + timedelta(days=day)
    first = day - here.day + 1
    if (here.year, here.month) == (9999, 12):
        return first, 31
    after = date(here.year + here.month // 12, here.month % 12 + 1, 1)
    return first, (after - here.replace(day=1)).days


def _choice(
    state: State, question: Data, period: int, effect: Data, take: Take | None, bound: int, least: int
) -> Data | None:
    """Return the kept choice of a period; draw a missing one independently of any value."""
    choice = state.choices.get((*key_of(question), question["repeat"], period))
    if choice is None and take is not None:
        day = least + below(take, bound)
        kept = {"repeat": question["repeat"], "period": period, "day": day, "device": state.device}
        choice = {**named(question), **kept, "answer": None}
        effect["choices"] = [choice]  # kept whatever follows: it is not drawn again
    return choice


def _report_change(
    state: State,
    question: Data,
    identity: str,
    epochs: tuple[int, int],
    effect: Data,
    day: int,
    take: Take | None,
) -> Decision:
    """Return the result of a question about one kept change: charged once in each period."""
    from dither_device.kept_change import choices_of, due, span

    period, _ = period_of(question, day)
    choice = _choice(state, question, period, effect, take, choices_of(question), 0)
    owed = None if choice is None else due(state, question, choice, day)
    if choice is None or owed is None:
        return Decision({"is": "silent"}, effect if _is_drawn(effect) else None)
    data = {**question, "data": list(span(question, day))}
    if choice["answer"] is None:
        decision = _spend(state, data, identity, epochs, effect, choice)
        decision.owed = owed
        return decision
    if not _is_paid(data, state.entries.get(choice["answer"])):
        return _refuse("changed")
    effect["queue"] = _waiting(question, identity)
    return Decision({"is": "drawn", "charged": "0"}, effect, True, owed=owed)


def _again(state: State, question: Data, identity: str, earlier: Data) -> Decision:
    kept = state.answers.get((*key_of(question), question["repeat"]))
    entry = state.entries.get(kept["id"] if kept and identity not in state.entries else identity)
    periodic = question["repeat"] == _KEPT_CHANGE  # its span is its own period's, not the present one's
    terms = {**question, "data": entry.get("data")} if periodic and entry else question
    if key_of(earlier) != key_of(question) or (entry is not None and not _is_paid(terms, entry)):
        return _refuse("id")
    if "report" in earlier:
        aside = earlier["batch"] == ASIDE  # it was dropped, and is requested again
        effect = {"batch": {"id": None, "reports": [identity]}} if aside else None
        return Decision({"is": "resent", "report": earlier["report"]}, effect)
    return Decision({"is": "acknowledged", "reports": 0})


def _charge(question: Data) -> Data:
    return {
        **named(question),
        "epsilon": f"{charge(question['epsilon'], EPSILON):x}",
        "delta": f"{charge(question['delta'], DELTA):x}",
        "assumes": assumptions_of(question),
        **{name: question[name] for name in ("data", "times") if question.get(name) is not None},
        **({"campaign": question["limit"]["campaign"]} if question.get("limit") else {}),
    }


def _is_paid(question: Data, entry: Data | None) -> bool:
    """Return whether an entry was charged for exactly this request: nothing else is given uncharged."""
    due = _charge(question)
    return entry is not None and all(entry.get(name) == due.get(name) for name in {*due, *_TERMS})


def _epochs(state: State, question: Data, now: int) -> tuple[int, int] | None:
    """Return the first and the last epoch that the data touch; None for data to come, or of too long a time.

    All that happened before the account was opened belongs to the epoch in which it was opened.
    """
    since, until = question["data"] or (now, now + 1)
    if question["repeat"] == _KEPT_CHANGE:  # charged at once for all days of the period, also those to come
        from dither_device.kept_change import span

        since, until = span(question, now // DAY)
    elif not since < until <= now + 1:
        return None
    kind = state.limits["epoch"]
    begin, end = epoch_of(kind, max(since, state.born)), epoch_of(kind, max(until - 1, state.born))
    return (begin, end) if end - begin < MOST_EPOCHS else None


def _waiting(question: Data, identity: str) -> Data:
    return {**named(question), "id": identity, "report": None, "batch": None}


def _repeat(state: State, question: Data, identity: str, kept: Data, effect: Data) -> Decision:
    """Return a permanent answer again. It is queued once, so the person counts once.

    It was charged once: permanent_once (proofs/Account.v). Sent again, it reveals no more: permanent_answer
    (proofs/Combine.v).
    """
    entry, same = state.entries.get(kept["id"]), question["repeat"] == "same"
    if entry is None or not _is_paid(question, entry) or (same and kept["report"] is None):
        return _refuse("changed")
    outcome = {"is": "repeated", "charged": "0"}
    aside = _set_aside(state, question)
    if same:
        if kept["report"] in aside:
            effect["batch"] = {"id": None, "reports": aside[kept["report"]]}
        return Decision({**outcome, "report": kept["report"]}, effect)
    if entry["device"] != state.device:  # the device that was charged sends
        return Decision(outcome, effect, True)
    effect["queue"] = _waiting(question, identity)
    return Decision(outcome, effect, True, state.told, aside=aside)


def _set_aside(state: State, question: Data) -> dict[str, list[str]]:
    """Return the identities of dropped reports to a question that wait for a request, by report."""
    found: dict[str, list[str]] = {}
    for item in state.queue.values():
        if item["batch"] == ASIDE and key_of(item) == key_of(question):
            found.setdefault(item["report"], []).append(item["id"])
    return found


def _spend(
    state: State, question: Data, identity: str, epochs: tuple[int, int], effect: Data, choice: Data | None
) -> Decision:
    epsilon, delta = charge(question["epsilon"], EPSILON), charge(question["delta"], DELTA)
    short: str | None = "answers"
    if not _is_answered_enough(state, question):
        short = _short(state, question["asker"], epochs, epsilon, delta)
    if short is not None:
        return _refuse(short, effect if _is_drawn(effect) else None)
    entry = _entry(state, question, identity, epochs)
    effect["entries"] = [entry]
    effect["queue"] = _waiting(question, identity)
    if question["repeat"] in ("same", "per value"):
        kept = {"id": identity, "permanent": question["repeat"], "report": None}
        effect["answers"] = [{**named(question), **kept}]
    if choice is not None:
        effect["choices"] = [{**choice, "answer": identity}]
    reported = state.told if question["repeat"] == "per value" else None
    return Decision({"is": "drawn", "charged": entry["epsilon"]}, effect, True, reported)


def _entry(state: State, question: Data, identity: str, epochs: tuple[int, int]) -> Data:
    position = {"id": identity, "device": state.device, "first": epochs[0], "last": epochs[1]}
    return {**_charge(question), **position}


def try_to_charge(state: State, question: Data, identity: str, clock: Data) -> Data | None:
    """Return the entry of a charge that the clock and the budget allow, else None."""
    days, epochs = EPOCHS[state.limits["epoch"]], _epochs(state, question, clock["wall"])
    if epochs is None or (days is not None and clock["ahead"] > days * DAY):
        return None
    entry = _entry(state, question, identity, epochs)
    short = _short(state, question["asker"], epochs, *pair_of(entry))
    return entry if short is None else None


def _is_answered_enough(state: State, question: Data) -> bool:
    """Return whether a person has reached the campaign's number of answers to a question."""
    limited = question.get("limit")
    if not limited:
        return False
    name = (*key_of(question), limited["campaign"])
    given = sum((*key_of(entry), entry.get("campaign")) == name for entry in state.entries.values())
    return bool(given >= limited["answers"])


def _short(state: State, asker: str, epochs: tuple[int, int], epsilon: int, delta: int) -> str | None:
    """Return what does not suffice for a charge: quota, budget or lifetime; None if all do.

    With the file's transactions no sequence of events exceeds a limit: never_exceeds and budget_with_slack
    (proofs/Account.v).
    """
    quota = state.limits["quotas"].get(asker, state.limits["quota"])
    every = range(epochs[0], epochs[1] + 1)
    if quota is not None and any(
        state.all.askers.get((asker, e), 0) + epsilon > int(quota, 16) for e in every
    ):
        return "quota"
    # Each device keeps to its part, so that all together stay within the budget.
    for totals, allowed in ((state.mine, state.own), (state.all, state.allowed)):
        for epoch in every:
            before = totals.epochs.get(epoch, (0, 0))
            if before[0] + epsilon > allowed.epsilon or before[1] + delta > allowed.delta:
                return "budget"
        life, spent = allowed.lifetime, totals.lifetime
        if life and (spent[0] + epsilon > life[0] or spent[1] + delta > life[1]):
            return "lifetime"
    return None


def _batch(state: State, event: Data) -> Decision:
    """Return the oldest batch of an asker that is not acknowledged, or a new one of what waits.

    It has at most one report to a question, so that no collector takes a device for several people. With
    `questions`, pairs of a name and a fingerprint, it has reports to these only: a collector refuses a batch
    with a report to a question of another campaign.
    """
    queued = [i for i in state.queue.values() if i["asker"] == event["asker"] and i["batch"] != ASIDE]
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


def _messages(state: State, batch: str) -> list[Data]:
    """Return what waits of presence under an identity, as items of a queue: by the campaign's name."""
    found = [one for one in state.present.values() if one["batch"] == batch]
    return [{"id": batch, "asker": one["asker"], "question": one["name"], "batch": batch} for one in found]


def _without_messages(state: State, batch: str) -> Data:
    """Return the effect by which a message of presence does not wait any more."""
    gone = [{**one, "batch": None} for one in state.present.values() if one["batch"] == batch]
    return {"present": gone} if gone else {}


def _acknowledge(state: State, event: Data) -> Decision:
    """Take a report or a batch off the queue; `sent` of the event says how long it can be withdrawn."""
    name, sent = event["id"], event.get("sent")
    queued = [item for item in state.queue.values() if name in (item["id"], item["batch"])]
    gone = [*queued, *_messages(state, name)]
    if not gone:
        return Decision({"is": "unknown"})
    effect: Data = {"unqueue": [item["id"] for item in queued]} if queued else {}
    effect |= _without_messages(state, name)
    if sent is not None and gone[0]["batch"] == name:
        entry = {
            **{"id": name, "asker": gone[0]["asker"], "campaign": sent["campaign"]},
            **{"until": sent["day"] + sent["retry"], "questions": [item["question"] for item in gone]},
        }
        effect["sent"] = [*(one for one in state.sent if one["until"] >= sent["day"]), entry]
    return Decision({"is": "acknowledged", "reports": len(gone)}, effect)


def _withdraw(state: State, batch: str) -> Decision:
    """Forget a batch after a request to delete it. Its loss stays charged.

    No report of it is sent again: also permanent answers leave the queue, and are not set aside. A period of
    presence gets no other message.
    """
    queued = [item["id"] for item in state.queue.values() if item["batch"] == batch != ASIDE]
    messages, sent = _messages(state, batch), [entry for entry in state.sent if entry["id"] == batch]
    if not queued and not messages and not sent:
        return Decision({"is": "unknown"})
    effect: Data = {"unqueue": queued} if queued else {}
    effect |= _without_messages(state, batch)
    if sent:
        effect["sent"] = [entry for entry in state.sent if entry["id"] != batch]
    reports = len(queued) + len(messages) + sum(len(entry["questions"]) for entry in sent)
    return Decision({"is": "withdrawn", "reports": reports}, effect)


def _drop(state: State, batch: str) -> Decision:
    """Return the result of a batch that a collector refused for good.

    Its reports leave the queue. Reports of permanent answers are set aside, to wait again when they are
    requested for again: nothing else would ever send them.
    """
    gone = [item for item in state.queue.values() if batch in (item["id"], item["batch"])]
    messages = _messages(state, batch)
    if messages:
        return Decision({"is": "dropped", "reports": len(messages)}, _without_messages(state, batch))
    if not gone or batch == ASIDE:
        return Decision({"is": "unknown"})
    permanent = {key[:3] for key in state.answers}
    aside = [item["id"] for item in gone if key_of(item) in permanent]
    left = [item["id"] for item in gone if key_of(item) not in permanent]
    effect: Data = {"unqueue": left} if left else {}
    if aside:
        effect["batch"] = {"id": ASIDE, "reports": aside}
    return Decision({"is": "dropped", "reports": len(gone)}, effect)


def _split(state: State, event: Data) -> Decision:
    """Transfer a part of this device's budget to another device."""
    gift = state.own.part(*event["share"])
    left = state.own.minus(gift)
    if not left.covers(state.mine):
        return _refuse("spent")
    return Decision({"is": "split", "device": event["device"], "own": gift.wire()}, {"own": left.wire()})


def _merge(state: State, other: Data) -> Decision:
    """Take in what another device of this person exported."""
    for name, own in (("person", state.person), ("limits", state.limits)):
        if other[name] != own:
            return _refuse(name)
    entries = []
    for entry in other["entries"]:
        known = state.entries.get(entry["id"])
        if known is None:
            if entry["device"] == state.device:
                return _refuse("rolled back")  # an answer of this device that its own file does not know
            entries.append(entry)
        elif known != entry:
            return _refuse("conflict")
    shared = [a for a in other["answers"] if a["permanent"] != "present"]
    answers = [a for a in shared if _is_earlier(a, state.answers.get((*key_of(a), a["permanent"])))]
    of_repeat = with_repeat(other["choices"])
    choices = [c for c in of_repeat if _is_earlier(c, state.choices.get(choice_key(c)))]
    coins = [c for c in other.get("coins", ()) if _is_decisive(c, state.coins.get((c["asker"], c["name"])))]
    new = (("entries", entries), ("answers", answers), ("choices", choices), ("coins", coins))
    return Decision({"is": "merged", "entries": len(entries)}, {name: some for name, some in new if some})


def _is_decisive(coin: Data, other: Data | None) -> bool:
    """Return whether a coin is kept, on every device: heads, for then the first phase was answered."""
    return other is None or (coin["heads"] and not other["heads"])


def _is_earlier(kept: Data, other: Data | None) -> bool:
    """Return whether this one is kept, on every device: the answered day, the smaller identity or device."""

    def order(item: Data) -> tuple[Any, ...]:
        if "permanent" in item:
            return (item["id"],)
        return item["answer"] is None, item["answer"] or "", item["device"]

    return other is None or order(kept) < order(other)
