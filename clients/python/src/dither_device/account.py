"""The answers of one person, in one SQLite file; `dt.Account` may use the same file in turns.

Every call is one transaction. What was spent is on disk before a report is returned.
"""

from __future__ import annotations

import os
import time

from dither_device.draws import Outside
from dither_device.question import Question, repeat_bound
from dither_device.rules import EPOCHS, Decision, Policy, decide
from dither_device.state import DAY, DELTA, EPSILON, MOST_BUDGET, MOST_SECOND, VERSION, State, epoch_of, limit
from dither_device.store import Store, key_digest
from dither_device.text import AccountUnusable, Malformed, Refused, day_text, is_digits, need

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from dither_device.campaign import Campaign
    from dither_device.state import Data
    from dither_device.store import Transaction
    from dither_device.words import Words

_REPEATS = ("fresh", "same", "per value", "once", "kept change", "present")


class Inquiry:
    """A question with its name, its asker and the number of answers. `Account.answer` takes it.

    `days` and `start` (a day since 1970) are the periods of `"once"` and `"kept change"`; `changes` is for
    the latter, whose value is the list of the values of all days so far. `"present"` is the permanent label
    of a campaign that counts devices, for `Account.present`. `times` is the number of locations
    of a path; one place may be given as a pair. `every` is a period of the calendar in place of `days`;
    `limit` and `phase` are terms of a campaign, `words` its texts for people, and `taken` turns a value
    into the question's. `data` are the seconds that the value is about, the second excluded. `otherwise` is
    the value that replaces all outside of the domain.
    """

    def __init__(
        self,
        name: str,
        question: Question,
        *,
        asker: str = "",
        repeat: str = "fresh",
        days: int | None = None,
        changes: int | None = None,
        start: int = 0,
        times: int | None = None,
        data: tuple[int, int] | None = None,
        otherwise: Any = None,
        every: str | None = None,
        limit: Data | None = None,
        phase: Data | None = None,
        taken: Callable[[Any], Any] | None = None,
        is_installed: bool = False,
        words: Words | None = None,
    ) -> None:
        once, change = repeat in ("once", "kept change", "present"), repeat == "kept change"
        for text, least in ((name, 1), (asker, 0)):
            need(isinstance(text, str) and least <= len(text) <= 200 and text.isprintable(), "asking")
        need(isinstance(question, Question) and repeat in _REPEATS, "asking")
        need(days is None or (type(days) is int and 1 <= days <= 36_600), "asking", "days")
        periods = (days is not None) + (every is not None)
        need(once == (periods == 1) and periods < 2 and type(start) is int, "asking", "days go with once")
        calendar = repeat in ("once", "present") and every in ("day", "week", "month")
        need(calendar or (every is None and repeat != "present"), "asking", "every")
        need(limit is None or repeat == "fresh", "asking", "a limit of answers goes with fresh ones")
        need(question.is_path == (times is not None), "asking", "times, the number of locations of a path")
        need(times is None or (type(times) is int and 1 <= times <= 1 << 16), "asking", "times")
        need(question.epsilon < float("inf") and not question.is_joint, "asking", "an account counts ε")
        need(change == (changes is not None), "asking", "changes go with a kept change")
        need(not change or (data is None and otherwise is None), "asking", "a kept change is about all days")
        self.name, self.question, self.asker, self.otherwise = name, question, asker, otherwise
        self.repeat, self.times, self.taken, self.words = repeat, times, taken, words
        self.is_installed = is_installed
        fingerprint = question.fingerprint
        if change:
            from dither_device.kept_change import check_change, fingerprint_of

            check_change(question, days, changes)  # type: ignore[arg-type]
            fingerprint = fingerprint_of(question, days, changes)  # type: ignore[arg-type]
        epsilon, delta = question.epsilon, question.delta
        if times is not None and times > 1:
            epsilon, delta = repeat_bound(epsilon, times), repeat_bound(delta, times)
        self.facts: Data = {
            "asker": asker,
            "question": name,
            "fingerprint": fingerprint,
            "mechanism": question.mechanism,
            "epsilon": epsilon,
            "delta": min(delta, 1.0),
            "assumes": [],
            "repeat": repeat,
            "days": days,
            "start": start if days is not None else None,
            "data": None if data is None else list(data),
            **({} if changes is None else {"changes": changes}),
            **({} if times is None else {"times": times}),
            **({} if every is None else {"every": every}),
            **({} if limit is None else {"limit": limit}),
            **({} if phase is None else {"phase": phase}),
        }

    def text(self, *languages: str) -> str:
        """Return the question's words for people, in the best of some languages, or in this computer's.

        It is the name of the question if the campaign has no words for it.
        """
        return self.name if self.words is None else self.words.text(*languages)

    def labels(self, *languages: str) -> list[tuple[Any, str]]:
        """Return each answer of a list, and its words in the best of some languages; nothing for others."""
        return [] if self.words is None else self.words.labels(*languages)

    def _take(self, value: Any) -> Any:
        """Return the question's input: converted by the terms of a campaign, with one place as a path."""
        if self.taken is not None:
            try:
                value = self.taken(value)
            except Malformed:
                raise Outside("the value cannot be read") from None
        one = self.times == 1 and isinstance(value, list | tuple) and len(value) == 2
        return [value] if one and not any(isinstance(part, list | tuple) for part in value) else value

    def place(self, value: object) -> Any:
        """Return the input of a value; raise Outside if nobody may answer with it."""
        try:
            placed = self.question.place(self._take(value))
        except Outside:
            if self.otherwise is None:
                raise
            placed = self.question.place(self.otherwise)
        if self.times is not None and len(placed) != self.times:
            raise Outside("another number of locations than is charged")
        return placed


class Answer:
    """The result of an answer: `outcome` is drawn, repeated, resent, acknowledged or silent."""

    __slots__ = ("outcome", "report")

    def __init__(self, outcome: str, report: bytes | None) -> None:
        self.outcome, self.report = outcome, report

    def __repr__(self) -> str:
        return f"Answer({self.outcome!r})"


class Moment:
    """The times of this machine's clocks: `Moment.now()` is a moment as plain data."""

    _boot: tuple[str, int | None] | None = None

    @classmethod
    def now(cls) -> Data:
        """Read the clocks; years before 1970 and after 9999 count as errors of the clock."""
        if cls._boot is None:
            try:
                with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as stream:
                    cls._boot = stream.read().strip(), time.CLOCK_BOOTTIME  # counts in sleep, too
            except (OSError, ValueError, AttributeError):
                cls._boot = f"process {os.urandom(8).hex()}", None
        name, clock = cls._boot
        elapsed = int(time.monotonic() if clock is None else time.clock_gettime(clock))
        return {"boot": name, "elapsed": elapsed, "wall": min(max(int(time.time()), 0), MOST_SECOND)}


class Account:
    """The account of one person: entries, permanent answers, drawn days, reports that wait.

    `Account.create` makes a file, `Account(path)` opens one. A file that is damaged, missing or readable by
    others is refused (AccountUnusable). `policy` restricts the questions: by default answers of ε ≤ 1 without
    δ that assume nothing. `wait` is how long another process may hold the file, in seconds.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        policy: Policy | None = None,
        wait: float = 30.0,
        now: Callable[[], Data] = Moment.now,
    ) -> None:
        self.path, self.policy, self._now = os.fspath(path), policy or Policy(), now
        self._store = Store(self.path, wait)
        try:
            with self._store.transaction() as state:
                key = self._store.key()
                if key is not None and key_digest(key) != state.key:
                    raise AccountUnusable(f"{self.path}: the secret key in it is damaged")
        except BaseException:
            self._store.close()
            raise

    @staticmethod
    def create(
        path: str | os.PathLike[str],
        *,
        epsilon: float,
        epoch: str = "lifetime",
        delta: float = 0.0,
        lifetime: float | None = None,
        quota: float | None = None,
        askers: int | None = None,
        now: Callable[[], Data] = Moment.now,
        **more: Any,
    ) -> Account:
        """Make a new account and open it: `epsilon` and `delta` for each epoch, over all askers.

        `lifetime` is the most ε over all epochs, `quota` the most that one asker may take of an epoch,
        `askers` how many new askers are admitted until the person acts. The file appears when it is complete,
        readable only by its owner.
        """
        need(epoch in EPOCHS and (lifetime is None or epoch != "lifetime"), "epsilon", "no such epoch")
        for budget in (epsilon, delta, lifetime, quota):
            fine = budget is None or (type(budget) in (int, float) and 0 <= budget <= MOST_BUDGET)
            need(fine, "epsilon", "a budget is a number from 0 upwards")
        need(0 <= delta <= 1 and (askers is None or (type(askers) is int and askers >= 0)), "epsilon")
        moment = now()

        def units(most: float) -> Data:
            return {"epsilon": f"{limit(most, EPSILON):x}", "delta": f"{limit(delta, DELTA):x}"}

        own = {**units(epsilon), "lifetime": None if lifetime is None else units(lifetime)}
        limits = {
            **{"epoch": epoch, **own, "quotas": {}, "askers": askers},
            "quota": None if quota is None else f"{limit(quota, EPSILON):x}",
        }
        opened = {
            **{"account": VERSION, "person": os.urandom(16).hex(), "device": os.urandom(16).hex()},
            **{"limits": limits, "own": own, "born": moment["wall"], "clock": {**moment, "ahead": 0}},
            "openings": askers,
        }
        Store.create(path, opened, os.urandom(32))
        return Account(path, now=now, **more)

    # --- answers

    def answer(self, asking: Inquiry, value: object, *, identity: str | None = None) -> Answer:
        """Answer a question: check the policy, spend, draw, store; raise Refused if it is not answered.

        Whether it is refused does not depend on the value. A value outside the domain raises Outside, and
        nothing is spent.
        """
        with self._store.transaction() as state:
            return self.answer_in(state, asking, value, identity)

    def answer_in(self, state: State, asking: Inquiry, value: object, identity: str | None = None) -> Answer:
        """Answer within a transaction that is open."""
        need(identity is None or is_digits(identity, 32), "asking", "an identity")
        need(asking.repeat != "present", "asking", "presence is not an answer: use present")
        event = {
            **{"do": "answer", "id": identity or os.urandom(16).hex()},
            **{"question": asking.facts, "at": self._now()},
        }
        decision = self._store.settle(
            state, event, self.policy, lambda decision: self._draw(decision, asking, value)
        )
        if decision is None:
            return Answer("failed", None)
        if decision.refused is not None:
            self._store.failed = Refused(decision.refused)
            return Answer("refused", None)
        report = decision.outcome.get("report")
        return Answer(decision.outcome["is"], None if report is None else bytes.fromhex(report))

    def present(self, campaign: Campaign, value: object = None) -> str:
        """Queue a message that the program is used, unless this period has one; return the outcome.

        "drawn" if the permanent label was drawn with it, "present", or "silent" if the period has a message.
        `value` is what the label is about; without one it is the present day, the day of installation. Raise
        Refused, or Outside, as `answer` does.
        """
        with self._store.transaction() as state:
            return self.present_in(state, campaign, value)

    def present_in(
        self, state: State, campaign: Campaign, value: object = None, *, labels: bool = True
    ) -> str:
        """Say that the program is used within a transaction that is open.

        Without `labels` no coin is tossed and no label drawn: the device is only counted.
        """
        terms, label = campaign.presence()
        label = label if labels else None
        at = self._now()
        if value is None and label is not None and label.is_installed:
            value = day_text(max(at["wall"], state.clock["wall"]) // DAY)
        event = {
            **{"do": "present", "id": os.urandom(16).hex(), "at": at, "presence": terms},
            "question": None if label is None else label.facts,
        }

        def draw(decision: Decision) -> Decision:
            assert label is not None
            return decision.with_report(label.question.draw(label.place(value), os.urandom).hex())

        decision = self._store.settle(state, event, self.policy, draw)
        if decision is None:
            return "failed"
        if decision.refused is not None:
            self._store.failed = Refused(decision.refused)
        return str(decision.outcome["is"])

    def message(self, campaign: Campaign) -> Data | None:
        """Return the message of presence to send: its id, whether it may have a public label, its reports.

        None if none waits. One whose period is over is dropped.
        """
        terms, label = campaign.presence()
        question = None if label is None else label.facts
        event = {"do": "message", "at": self._now(), "presence": terms, "question": question}
        reported = self._happen(event)
        return None if reported["is"] == "empty" else reported

    def messages(self, asker: str | None = None) -> list[str]:
        """Return the identities of the messages of presence that wait, of one asker or of all."""
        with self._store.transaction() as state:
            kept = [one for one in state.present.values() if one["batch"] is not None]
            return [one["batch"] for one in kept if asker in (None, one["asker"])]

    def _draw(self, decision: Decision, asking: Inquiry, value: object) -> Decision:
        question = asking.question
        if decision.owed is not None:
            from dither_device.kept_change import draw_change

            rows, tree = draw_change(question, value, decision.owed, self._key(), os.urandom)
            return decision.with_report(rows.hex(), tree=tree)
        placed = asking.place(value)
        if asking.repeat != "per value":
            return decision.with_report(question.draw(placed, os.urandom).hex())
        from dither_device.keyed import MARK, REPORT, source_of

        key = self._key()
        reported = asking.asker, asking.name, question.fingerprint, question.mark(placed)
        report = question.draw(placed, source_of(key, *reported, REPORT))
        mark = None if decision.marks is None else source_of(key, *reported, MARK)(16).hex()
        return decision.with_report(report.hex(), mark)

    def _key(self) -> bytes:
        key = self._store.key()
        if key is None:
            raise AccountUnusable(f"{self.path}: the secret key is kept elsewhere; use dt.Account")
        return key

    def dry_run(self, asking: Inquiry) -> str:
        """Return what an answer would do: drawn, repeated, silent, or "refused: " and the reason."""
        with self._store.transaction() as state:
            event = {"do": "dry run", "id": os.urandom(16).hex(), "question": asking.facts, "at": self._now()}
            reported = decide(state, event, self.policy, None).outcome
            return f"refused: {reported['reason']}" if reported["is"] == "refused" else str(reported["is"])

    def act(self) -> None:
        """Record an act of the person: new askers are admitted, the clock is believed."""
        self._happen({"do": "act", "at": self._now()})

    def batch(
        self, asker: str = "", *, most: int = 100, questions: Iterable[Inquiry] | None = None
    ) -> tuple[str, list[Data]] | None:
        """Return the identity and the reports to send next; the same until they are acknowledged, or None."""
        with self._store.transaction() as state:
            event: Data = {"do": "batch", "id": os.urandom(16).hex(), "asker": asker, "most": most}
            if questions is not None:
                event["questions"] = [[asking.name, asking.facts["fingerprint"]] for asking in questions]
            return self.batch_in(state, event)

    def batch_in(self, state: State, event: Data) -> tuple[str, list[Data]] | None:
        """Return the reports of a batch within a transaction that is open."""
        decision = decide(state, event, self.policy, None)
        self._store.keep(state, decision.effect)
        if decision.outcome["is"] == "empty":
            return None
        return decision.outcome["id"], [state.queue[name] for name in decision.outcome["reports"]]

    def acknowledge(self, identity: str, sent: Data | None = None) -> int:
        """Remove a report, or a batch, that the collector has from the queue. Return its number of reports.

        `sent` (`campaign`, `day`, `retry`) is noted of a batch, so that it can be taken back.
        """
        event = {"do": "acknowledge", "id": identity, **({} if sent is None else {"sent": sent})}
        gone: int = self._happen(event).get("reports", 0)
        return gone

    def withdraw(self, identity: str) -> int:
        """Forget a batch that its collector has deleted; return its number of reports."""
        gone: int = self._happen({"do": "withdraw", "id": identity}).get("reports", 0)
        return gone

    @property
    def withdrawable(self) -> list[Data]:
        """The acknowledged batches that their collectors can still delete; `until` is the last day."""
        with self._store.transaction() as state:
            today = self._now()["wall"] // 86_400
            return [entry for entry in state.sent if entry["until"] >= today]

    def drop(self, identity: str) -> int:
        """Remove a report, or a batch, from the queue unsent; return its number of reports.

        Permanent answers are set aside: they wait again as soon as the question is answered again.
        """
        gone: int = self._happen({"do": "drop", "id": identity}).get("reports", 0)
        return gone

    @property
    def queue(self) -> list[Data]:
        """The reports that are not acknowledged, in the order in which they were drawn."""
        with self._store.transaction() as state:
            return list(state.queue.values())

    def remember(self, change: Callable[[Data], Data]) -> None:
        """Replace the stored facts about askers by the result of a function, atomically."""
        with self._store.transaction() as state:
            self.remember_in(state, change(state.known))

    def remember_in(self, state: State, known: Data) -> None:
        """Keep facts about askers within an open transaction."""
        if known != state.known:
            self._store.keep(state, {"askers known": known})

    @property
    def left(self) -> float:
        """The ε that this device may still spend now."""
        with self._store.transaction() as state:
            return left_of(state, self._now()["wall"])

    @property
    def mark(self) -> str:
        """The mark of the file: its length and its last digest."""
        with self._store.transaction():
            return self._store.mark()

    def wire(self) -> Data:
        """Return the complete state as plain data: see docs/account.md."""
        with self._store.transaction() as state:
            return state.wire()

    def _happen(self, event: Data) -> Data:
        with self._store.transaction() as state:
            decision = decide(state, event, self.policy, None)
            self._store.keep(state, decision.effect)
            return decision.outcome

    def transaction(self) -> Transaction:
        """Return a context that holds the file and yields its state, for several steps at once."""
        return self._store.transaction()

    def close(self) -> None:
        """Close the file. Nothing waits to be written."""
        self._store.close()

    def __enter__(self) -> Account:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def left_of(state: State, now: int) -> float:
    """Return the ε that this device may still spend: the smaller of its part and the total, rounded down."""
    index = epoch_of(state.limits["epoch"], max(now, state.clock["wall"]))
    parts = [(state.own, state.mine), (state.allowed, state.all)]
    units = [most.epsilon - spent.epochs.get(index, (0, 0))[0] for most, spent in parts]
    units += [most.lifetime[0] - spent.lifetime[0] for most, spent in parts if most.lifetime is not None]
    left = max(0, min(units)) / 2.0**64
    dust = state.allowed.epsilon / 2.0**104
    if left <= dust:
        return 0.0
    near = float(f"{left:.6g}")
    return near if near <= left + dust else near - 10.0 ** (int(f"{near:e}".partition("e")[2]) - 5)
