"""Account: the spent and remaining budgets of one person, durable in one file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from types import TracebackType
from typing import Self

from dither.collection.account.budget import (
    Data,
    Left,
    budget_left,
    explain_refusal,
    guarantee,
    ledger,
    limits,
    opening,
    say_promise,
)
from dither.collection.account.clock import ClockReading, EpochName
from dither.collection.account.exports import is_identity, read_export, read_invitation
from dither.collection.account.inquiry import Inquiry
from dither.collection.account.returns import Batch, Preview, Waiting, Withdrawable, waiting
from dither.core.memoised import check_key
from dither.core.repetition import ChangeReports
from dither.core.reports import Reports
from dither.errors import AccountUnusable, InvalidParameter, Mismatch, Refused, found
from dither.foundation.canonical import canonical
from dither.foundation.randomness import SYSTEM
from dither.privacy import Guarantee, Ledger, Policy
from dither_device import rules
from dither_device.rules import Decision, decide
from dither_device.state import State
from dither_device.store import Store, key_digest
from dither_device.text import AccountUnusable as FileUnusable


class Account:
    """The account of one person, in one file: charges, permanent answers, drawn days and waiting reports.

    Every call is one transaction. What was spent is on disk before a report is returned. Several processes
    and threads may use one file. `Account.create` makes a file, and `Account.open` opens one. Neither
    replaces an existing file. A damaged or missing file raises an error; it is never started anew.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from dither import Interval, Podium
    >>> path = Path(tempfile.mkdtemp()) / "me.account"
    >>> account = Account.create(path, epsilon=2)
    >>> age = Inquiry("age", Podium(Interval(18, 100), epsilon=0.5), asker="clinic.example")
    >>> account.answer(age, 41)
    Reports(1 of Podium on [18, 100], uint16)
    >>> print(account.left)
    ε = 1.5 of 2 left for all time
    """

    def __init__(
        self, store: Store, policy: Policy | None, key: bytes | None, now: Callable[[], ClockReading]
    ) -> None:
        """Use `Account.open` or `Account.create`."""
        self._store, self._now = store, now
        self.policy = Policy() if policy is None else policy
        with self._state() as state:
            self._key = store.key() if key is None else key
            if self._key is not None and key_digest(self._key) != state.key:
                wrong = "the secret key in it is damaged" if key is None else "this is another account's key"
                raise AccountUnusable(f"{store.path}: {wrong}, and permanent answers would be drawn again")

    # --- files

    @staticmethod
    def create(
        path: str | os.PathLike[str],
        *,
        epsilon: float,
        epoch: EpochName = "lifetime",
        delta: float = 0.0,
        lifetime: float | None = None,
        quota: float | None = None,
        quotas: Mapping[str, float] | None = None,
        askers: int | None = None,
        policy: Policy | None = None,
        key: bytes | None = None,
        now: Callable[[], ClockReading] = ClockReading.now,
    ) -> Account:
        """Make a new account and open it.

        `epsilon` and `delta` are the budget for each epoch, over all askers. `lifetime` is the largest ε over
        all epochs; with it, `delta` is also for all epochs together. `quota` is the largest part of an
        epoch's ε that one asker may take, `quotas` the same by name. `askers` is the number of new askers
        that are admitted until the person acts. `key` is a secret of 32 bytes for answers per value; by
        default a key is drawn and kept in the file. `now` is for tests.
        """
        most = limits(epsilon, delta, epoch, lifetime, quota, quotas or {}, askers)
        own = {name: most[name] for name in ("epsilon", "delta", "lifetime")}
        begun = opening(SYSTEM.take(16).hex(), SYSTEM.take(16).hex(), most, own, now())
        if key is not None:
            check_key(key)
            begun["key"] = key_digest(key)
        with _dither_errors():
            Store.create(path, begun, SYSTEM.take(32) if key is None else None)
        return Account.open(path, policy=policy, key=key, now=now)

    @staticmethod
    def join(
        path: str | os.PathLike[str],
        invitation: str,
        *,
        policy: Policy | None = None,
        now: Callable[[], ClockReading] = ClockReading.now,
    ) -> Account:
        """Make the account of another device of the same person, with the part that `split` gave it."""
        invited = read_invitation(invitation)
        begun = opening(
            invited["person"],
            invited["device"],
            invited["limits"],
            invited["own"],
            now(),
            invited["born"],
        )
        lists = ("entries", "answers", "choices", "coins")
        known: Data = {name: invited[name] for name in lists if name in invited}
        with _dither_errors():
            Store.create(path, begun, bytes.fromhex(invited["key"]), known)
        return Account.open(path, policy=policy, now=now)

    @staticmethod
    def open(
        path: str | os.PathLike[str],
        *,
        policy: Policy | None = None,
        key: bytes | None = None,
        expect: str | None = None,
        wait: float = 30.0,
        now: Callable[[], ClockReading] = ClockReading.now,
    ) -> Account:
        """Open an account; raise AccountUnusable if its file is missing, damaged or readable by others.

        `policy` restricts the questions of askers; by default it is `Policy()`: answers of ε ≤ 1, without
        δ, that assume nothing. `expect` is an earlier `account.mark`, kept elsewhere: a file that was rolled
        back behind it is refused. `wait` is how long another process may hold the file, in seconds.
        """
        if policy is not None and not isinstance(policy, Policy):
            raise InvalidParameter(f"expected policy to be a dt.privacy.Policy, got {found(policy)}")
        if key is not None:
            check_key(key)
        with _dither_errors():
            store = Store(path, wait)
        try:
            account = Account(store, policy, key, now)
            if expect is not None and not store.has(expect):
                raise AccountUnusable(
                    f"{store.path} was rolled back: it lacks later charges. Put the latest copy back"
                )
        except BaseException:
            store.close()  # an error that is kept refers to the file, and would keep its lock
            raise
        return account

    def close(self) -> None:
        """Close the file. Nothing waits to be written."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- answers

    def answer(
        self, asking: Inquiry, value: object, *, identity: str | None = None
    ) -> Reports | ChangeReports | None:
        """Answer a question: check the policy, spend, draw, store; return the report, or raise `Refused`.

        Return None on a day that was not drawn (`"once"`), while no interval is over (`"kept change"`, whose
        value is the list of all days' values so far), and for an `identity` whose report was acknowledged.
        With the `identity` of an earlier answer (32 hexadecimal digits) the stored report is returned:
        nothing is drawn, nothing is charged. The decision to refuse does not depend on the value.
        """
        request = self._event("answer", asking, identity)
        report = None
        with self._state() as state:
            event = {**request, "at": self._now().wire()}
            decision = self._store.settle(
                state, event, self._rules, lambda decision: self._draw_report(decision, asking, value)
            )
            if decision is not None:
                self._store.failed = self._refusal(state, decision, event, asking)
                report = decision.outcome.get("report")
        return None if report is None else asking.from_bytes(bytes.fromhex(report))

    def dry_run(self, asking: Inquiry) -> Preview:
        """Return what an answer would do now. Nothing is spent, drawn, stored or sent; no value is needed."""
        request = self._event("dry run", asking, None)
        with self._state() as state:
            event = {**request, "at": self._now().wire()}
            decision = decide(state, event, self._rules)
            now = event["at"]["wall"]
            refused = self._refusal(state, decision, event, asking)
            if refused is not None:
                return Preview("refused", refused.reason, 0.0, f"It would be refused: {refused}.")
            outcome = decision.outcome["is"]
            spends = 0.0 if decision.outcome.get("charged", "0") == "0" else asking.guarantee.epsilon
            text = {
                "drawn": f"It would be answered for ε = {spends:.6g}. Now {budget_left(state, now)}.",
                "repeated": "The permanent answer would be given again: nothing is spent or sent twice.",
                "silent": "Another day, or none yet, is drawn for the answer: nothing would be sent.",
            }[outcome]
        return Preview(outcome, None, spends, text)

    def act(self) -> None:
        """Record an act of the person: new askers may be admitted, and the clock is believed."""
        with self._state() as state:
            self._store.keep(
                state, decide(state, {"do": "act", "at": self._now().wire()}, self._rules).effect
            )

    # --- the queue

    @property
    def queue(self) -> tuple[Waiting, ...]:
        """The reports that are not acknowledged, in the order in which they were drawn."""
        with self._state() as state:
            return tuple(map(waiting, state.queue.values()))

    def batch(
        self, asker: str = "", *, most: int = 100, questions: Iterable[Inquiry] | None = None
    ) -> Batch | None:
        """Return the next batch to send to an asker, or None; it stays the same until it is acknowledged.

        It has at most one report to a question: call again after acknowledging, until None is returned.
        The composition of a batch is on disk before it is returned, so that a repeated request sends the same
        bytes. `questions` belong to one campaign: its collector accepts no batch with a report to another.
        """
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            raise InvalidParameter(
                "expected most, the largest number of reports in a batch, to be at least 1"
            )
        with self._state() as state:
            event: Data = {"do": "batch", "id": SYSTEM.take(16).hex(), "asker": asker, "most": most}
            if questions is not None:
                event["questions"] = [[asking.name, asking.fingerprint] for asking in questions]
            decision = decide(state, event, self._rules)
            self._store.keep(state, decision.effect)
            if decision.outcome["is"] == "empty":
                return None
            reports = tuple(waiting(state.queue[name]) for name in decision.outcome["reports"])
        return Batch(decision.outcome["id"], reports)

    def acknowledge(self, identity: str, sent: Data | None = None) -> int:
        """Remove a report, or a batch, that the collector has from the queue; return its number of reports.

        `sent` has the `campaign`, its `retry` and the `day` (since 1970), so that a batch can be taken back.
        """
        return self._leave({"do": "acknowledge", "id": identity, **({} if sent is None else {"sent": sent})})

    def withdraw(self, identity: str) -> int:
        """Forget a batch that its collector has deleted; return its number of reports."""
        return self._leave({"do": "withdraw", "id": identity})

    @property
    def withdrawable(self) -> tuple[Withdrawable, ...]:
        """The acknowledged batches that collectors can still delete: `Client.take_back`."""
        today = self._now().wall // 86_400
        with self._state() as state:
            return tuple(Withdrawable.of(entry) for entry in state.sent if entry["until"] >= today)

    def drop(self, identity: str) -> int:
        """Remove a report, or a batch, from the queue unsent; return its number of reports.

        Permanent answers are set aside: they wait again as soon as the question is answered again.
        """
        return self._leave({"do": "drop", "id": identity})

    def _leave(self, event: Data) -> int:
        """Apply an event that removes reports from the queue; return their number."""
        with self._state() as state:
            decision = decide(state, event, self._rules)
            self._store.keep(state, decision.effect)
        gone: int = decision.outcome.get("reports", 0)
        return gone

    # --- askers

    def remember_askers(self, change: Callable[[Data], Data]) -> None:
        """Replace the stored keys and lists of askers by the result of a function, atomically.

        If the function raises an error, nothing changes. None of these data are sent to other devices.
        """
        with self._state() as state:
            known = change(state.known)
            if known != state.known:
                self._store.keep(state, {"askers known": known})

    # --- several devices

    def split(self, share: Fraction | str) -> str:
        """Transfer a part of this device's budget to another device; return its invitation, a secret text.

        Devices that each keep to their part stay within the budget together, without any communication.
        """
        try:
            part = Fraction(share)
        except (TypeError, ValueError, ZeroDivisionError):
            part = Fraction(0)
        if not 0 < part < 1 or part.denominator > 1 << 20:
            raise InvalidParameter(
                f"expected a share to be a fraction such as '1/2', between 0 and 1, got {found(share)}"
            )
        event = {"do": "split", "device": SYSTEM.take(16).hex(), "share": [part.numerator, part.denominator]}
        with self._state() as state:
            decision = decide(state, event, self._rules)
            refused = self._refusal(state, decision, event, None)
            if refused is not None:
                raise refused
            self._store.keep(state, decision.effect)
            outcome = decision.outcome
            given = {name: outcome[name] for name in ("device", "own")} | {"born": state.born}
            given["key"] = self._secret().hex()
            return canonical({**state.export(), **given})

    def export(self) -> str:
        """Return the data for another device or an officer: charges, permanent answers, drawn days."""
        with self._state() as state:
            return canonical(state.export())

    def merge(self, export: str) -> int:
        """Add the export of another device of this person; return the number of new answers."""
        event = {"do": "merge", "from": read_export(export)}
        with self._state() as state:
            decision = decide(state, event, self._rules)
            if decision.refused is not None:
                message = explain_refusal(state, decision.refused, {"epsilon": 0.0}, 0)
                if decision.refused == "rolled back":
                    raise AccountUnusable(f"{self._store.path}: {message}")
                raise Mismatch(message)
            self._store.keep(state, decision.effect)
        new: int = decision.outcome["entries"]
        return new

    # --- the promise and the remaining budget

    @property
    def left(self) -> Left:
        """The budget that this device may still spend now, as numbers and as text."""
        with self._state() as state:
            return budget_left(state, self._now().wall)

    @property
    def promise(self) -> str:
        """The promise of the account, in one sentence."""
        with self._state() as state:
            return say_promise(state)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the person over all time and all askers; `Nothing` if only epochs are limited."""
        with self._state() as state:
            return guarantee(state)

    @property
    def ledger(self) -> Ledger:
        """All charges so far, as an immutable ledger; its budget is the account's for all time."""
        with self._state() as state:
            return ledger(state)

    @property
    def overspent(self) -> bool:
        """True if the devices of the person together spent more than the budget."""
        with self._state() as state:
            return not state.allowed.covers(state.all)

    @property
    def mark(self) -> str:
        """The mark of the file. Keep it elsewhere, and pass it to `open` as `expect`, to find a rollback."""
        with self._state():
            return self._store.mark()

    def wire(self) -> Data:
        """Return the complete state as plain data: see docs/account.md."""
        with self._state() as state:
            return state.wire()

    def _secret(self) -> bytes:
        if self._key is None:
            raise InvalidParameter(
                "expected the account's key because the file does not contain it; pass it when opening: "
                "Account.open(path, key=…)"
            )
        return self._key

    def __repr__(self) -> str:
        return f"Account({self._store.path!r}: {self.left})"

    # --- inside

    @property
    def _rules(self) -> rules.Policy:
        """The policy in the form that the rules take."""
        policy = self.policy
        names = None if policy.mechanisms is None else map(str, policy.mechanisms)
        return rules.Policy(policy.epsilon, policy.delta, policy.assumptions, names)

    @contextmanager
    def _state(self) -> Iterator[State]:
        with _dither_errors(), self._store.transaction() as state:
            yield state

    def _event(self, kind: str, asking: Inquiry, identity: str | None) -> Data:
        """Return an event without its moment: the clocks are read when the file is locked."""
        if not isinstance(asking, Inquiry):
            raise InvalidParameter(
                f"expected a question with a name: dt.Inquiry('age', question), got {found(asking)}"
            )
        if identity is None:
            identity = SYSTEM.take(16).hex()
        if not is_identity(identity):
            raise InvalidParameter(
                "expected identity to be 32 lower-case hexadecimal digits, drawn at random"
            )
        return {"do": kind, "id": identity, "question": asking.facts}

    def _draw_report(self, decision: Decision, asking: Inquiry, value: object) -> Decision:
        """Return a decision with the report that it needs, if it needs one."""
        if not decision.draws:
            return decision
        if decision.owed is None:
            mark = None if decision.marks is None else asking.mark(value, self._secret)
            report = asking.to_bytes(asking.draw(value, self._secret)).hex()
            return decision.with_report(report, mark)
        reports, tree = asking.draw_owed(value, decision.owed, self._secret)
        return decision.with_report(asking.to_bytes(reports).hex(), tree=tree)

    def _objection(self, asking: Inquiry) -> str | None:
        policy, name = self.policy, asking.question.name
        if not policy.lists(name):
            return f"the policy does not list the mechanism {name!r}"
        return policy.objection(asking.guarantee)

    def _refusal(
        self, state: State, decision: Decision, event: Data, asking: Inquiry | None
    ) -> Refused | None:
        reason = decision.refused
        if reason is None:
            return None
        objection = self._objection(asking) if reason == "policy" and asking is not None else None
        at = event.get("at", {"wall": 0})
        facts = event.get("question", {"epsilon": 0.0})
        return Refused(reason, objection or explain_refusal(state, reason, facts, at["wall"]))


@contextmanager
def _dither_errors() -> Iterator[None]:
    """Re-raise the errors of the account's file as `dither.errors.AccountUnusable`."""
    try:
        yield
    except FileUnusable as error:
        raise AccountUnusable(str(error)) from None
